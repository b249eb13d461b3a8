//! Planted bugs: each is found, as what it is, and shrunk to an input that fails in the same way.
//!
//! `cargo test --release -p sim-tests --test planted -- --nocapture` prints for each system
//! `planted NAME class C seeds-to-find N executions-to-find N shrunk-bytes N`: medians of ten
//! samples of seeds and of ten searches of libFuzzer, `-` where `cargo fuzz` builds nothing; and
//! how often the broker's bug shows by default and in a churn region. A build without optimization
//! takes one sample and no search; one with `--features raft` has the system on openraft too.

use sim_core::Target;
use sim_core::failure::Class;
use sim_core::run::{Input, run_reusing};
use sim_core::shrink::{Attempt, Budget, Subject, TargetSubject, shrink};
use sim_tests::search;
use sim_tests::systems::{
    broker_planted, echo_planted, gateway_planted, kv_planted, lease_planted, planted,
    queue_planted,
};
use std::time::Duration;

const WATCHDOG: Duration = Duration::from_secs(60);

/// A search that did not find its bug in so many runs counts as this.
const CAP: u64 = 10_000;

/// Whether this build is fast enough for medians.
const IS_FAST: bool = !cfg!(debug_assertions);

/// How many samples a median is of.
const SAMPLES: u64 = if IS_FAST { 10 } else { 1 };

/// How many runs a shrink may take: a bound of runs and not of time, so that it ends in one way.
const SHRINK_RUNS: u64 = if IS_FAST { 40_000 } else { 100 };

/// How many seeds a rate is of.
const RATE_SEEDS: u64 = if IS_FAST { 10_000 } else { 300 };

/// Measures a system whose bug is of some class.
#[track_caller]
fn check(target: &Target, class: Class) {
    let seeds: Vec<_> = (1..=SAMPLES).map(|at| search::sweep(target, at, CAP)).collect();
    assert!(seeds[0].is_some(), "the bug is found");
    let shrunk = shrunk(target, class);
    let runs = if IS_FAST { executions(target) } else { None };
    let runs = runs.map_or("-".to_owned(), |runs| runs.to_string());
    let (name, seeds) = (target.name(), search::median(&seeds, CAP));
    println!(
        "planted {name} class {class} seeds-to-find {seeds} executions-to-find {runs} \
         shrunk-bytes {shrunk}"
    );
}

/// How long the input of the first seed that fails as a class is once it is shrunk; it fails in the
/// same way.
#[track_caller]
fn shrunk(target: &Target, class: Class) -> usize {
    let runs = search::seeds(1).take(CAP as usize);
    let mut runs = runs.map(|seed| run_reusing(target, &Input::Seed(seed), WATCHDOG));
    let found = runs.find(|run| run.class() == Some(class)).expect("a seed fails as this class");
    let failure = found.failure.expect("it has a class");
    let bytes = found.tape.to_bytes();
    let mut subject = TargetSubject { target, watchdog: WATCHDOG };
    let budget = Budget { runs_max: SHRINK_RUNS, time_max: Duration::from_secs(3_600) };
    let shrunk = shrink(&mut subject, &bytes, budget, &mut |_| {}).expect("it fails again");
    assert!(shrunk.bytes.len() < bytes.len(), "{} of {} bytes", shrunk.bytes.len(), bytes.len());
    let Attempt { bug, .. } = subject.attempt(&Input::Bytes(shrunk.bytes.clone()));
    assert_eq!(bug, Some((failure.class, failure.origin)), "the simpler input is of the same bug");
    shrunk.bytes.len()
}

/// The median of how many runs libFuzzer takes; none where its target cannot be built.
fn executions(target: &Target) -> Option<u64> {
    let binary = search::build(target.name())?;
    let find = |seed| search::fuzz(&binary, &["--search=marks"], seed, CAP);
    let found: Vec<_> = (1..=SAMPLES).map(find).collect();
    Some(search::median(&found, CAP))
}

#[test]
fn sim_broker_planted() {
    check(&broker_planted::target(), Class::Correctness);
}

#[test]
fn sim_echo_planted() {
    check(&echo_planted::target(), Class::Deadlock);
}

#[test]
fn sim_gateway_planted() {
    check(&gateway_planted::target(), Class::Correctness);
}

#[test]
fn sim_kv_planted() {
    check(&kv_planted::target(), Class::Correctness);
}

#[test]
fn sim_lease_planted() {
    check(&lease_planted::target(), Class::Correctness);
}

#[test]
fn sim_queue_planted() {
    check(&queue_planted::target(), Class::Correctness);
}

/// Of what its seeds fail as, some are panics of openraft, whose assertions see the loss first.
#[cfg(feature = "raft")]
#[test]
fn sim_raft_planted() {
    check(&sim_tests::systems::raft_planted::target(), Class::Correctness);
}

#[test]
fn every_planted_system_is_measured_here() {
    let names: Vec<_> = planted().iter().map(Target::name).collect();
    let here = [
        "sim_broker_planted",
        "sim_echo_planted",
        "sim_gateway_planted",
        "sim_kv_planted",
        "sim_lease_planted",
        "sim_queue_planted",
        #[cfg(feature = "raft")]
        "sim_raft_planted",
    ];
    assert_eq!(names, here);
}

/// How many of the first seeds fail.
fn failures(target: &Target) -> usize {
    let fails = |seed: &u64| run_reusing(target, &Input::Seed(*seed), WATCHDOG).failure.is_some();
    (0..RATE_SEEDS).filter(fails).count()
}

#[test]
fn a_churn_region_rewinds_the_broker_more_often() {
    let (wide, churn) = (broker_planted::target(), broker_planted::churn());
    let (wide, churn) = (failures(&wide), failures(&churn));
    println!("rate sim_broker_planted of {RATE_SEEDS} seeds default {wide} churn {churn}");
    assert!(churn > wide, "{churn} in the churn region, {wide} by default");
}
