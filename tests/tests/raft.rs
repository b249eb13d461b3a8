//! The system on openraft: seeds that must not fail, and the planted store, which must.
//!
//! It is built with `--features raft` alone: openraft takes minutes to build.

use sim_core::failure::Class;
use sim_core::sweep::{self, Sweep};
use sim_tests::search::hunt;
use sim_tests::systems::{raft, raft_planted};

#[test]
fn raft() {
    sweep::test(&raft::target(), 0..200);
}

fn classes(found: &Sweep) -> Vec<Class> {
    found.bugs.iter().map(|bug| bug.failure.class).collect()
}

/// What is lost is seen by clients, or by openraft's own assertions, which end a node.
#[test]
fn raft_planted() {
    let Some(found) = hunt(&raft_planted::target(), 0..1_000) else { return };
    let classes = classes(&found);
    assert!(classes.contains(&Class::Correctness), "the planted bug is found");
    assert!(classes.iter().all(|class| [Class::Correctness, Class::Panic].contains(class)));
    assert_eq!(found.diverged, 0);
}

#[test]
fn a_leader_without_a_successor_is_found() {
    let Some(found) = hunt(&raft::without_elections(), 0..100) else { return };
    assert_eq!(classes(&found), [Class::Liveness]);
    assert_eq!(found.diverged, 0);
}
