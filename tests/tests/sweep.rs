//! Sweeps: correct systems never fail, planted bugs are found, leaks are reported.
//!
//! `SIM_SEEDS=0..2000 cargo test -p sim-tests --test sweep -- --nocapture` widens them.

use sim_core::Target;
use sim_core::failure::Class;
use sim_core::sweep::{self, Sweep};
use sim_tests::search::hunt;
use sim_tests::systems::{
    broker, broker_planted, echo, echo_lives, echo_planted, gateway, gateway_planted, kv,
    kv_planted, leaks, lease, lease_planted, ping, queue, queue_planted, streams,
};

#[test]
fn broker() {
    sweep::test(&broker::target(), 0..200);
}

#[test]
fn broker_planted() {
    assert_found(&broker_planted::target(), 0..2_000);
}

#[test]
fn echo() {
    sweep::test(&echo::target(), 0..200);
}

#[test]
fn streams() {
    sweep::test(&streams::target(), 0..300);
}

#[test]
fn ping() {
    sweep::test(&ping::target(), 0..300);
}

#[test]
fn echo_lives() {
    sweep::test(&echo_lives::target(), 0..200);
}

#[test]
fn gateway() {
    sweep::test(&gateway::target(), 0..200);
}

#[test]
fn gateway_planted() {
    assert_found(&gateway_planted::target(), 0..1_000);
}

#[test]
fn kv() {
    sweep::test(&kv::target(), 0..200);
}

#[test]
fn queue() {
    sweep::test(&queue::target(), 0..200);
}

#[test]
fn lease() {
    sweep::test(&lease::target(), 0..200);
}

#[test]
fn kv_planted() {
    assert_found(&kv_planted::target(), 0..1_000);
}

#[test]
fn lease_planted() {
    assert_found(&lease_planted::target(), 0..1_000);
}

#[test]
fn queue_planted() {
    assert_found(&queue_planted::target(), 0..1_000);
}

/// The planted bug is found, as a wrong answer, and nothing else is.
#[track_caller]
fn assert_found(target: &Target, seeds: std::ops::Range<u64>) {
    let Some(found) = hunt(target, seeds) else { return };
    assert!(!found.bugs.is_empty(), "the planted bug is found");
    assert!(found.bugs.iter().all(|bug| bug.failure.class == Class::Correctness));
    assert_eq!(found.diverged, 0);
}

#[test]
fn echo_planted() {
    let Some(found) = hunt(&echo_planted::target(), 0..100) else { return };
    let classes: Vec<Class> = found.bugs.iter().map(|bug| bug.failure.class).collect();
    assert!(!classes.is_empty(), "the planted bug is found");
    assert!(classes.iter().all(|class| [Class::Deadlock, Class::Correctness].contains(class)));
    assert_eq!(found.diverged, 0);
}

#[test]
fn leak_map() {
    let Some(found) = hunt(&leaks::map(), 0..2) else { return };
    assert_diverged(&found);
}

#[test]
fn leak_clock() {
    let Some(found) = hunt(&leaks::clock(), 0..2) else { return };
    assert_diverged(&found);
}

/// The first passing run is run again at once, so the second run of this process finds the leak.
#[track_caller]
fn assert_diverged(found: &Sweep) {
    let bug = found.bugs.first().expect("the leak is found");
    assert_eq!(bug.failure.class, Class::Diverged);
    assert_eq!(bug.failure.details.len(), 2, "both sides are shown");
}
