//! The system on openraft: seeds that must not fail, and the planted store, which must.
//!
//! It is built with `--features raft` alone: openraft takes minutes to build.

use sim_core::failure::Class;
use sim_core::settings::{Seeds, Settings};
use sim_core::sweep;
use sim_tests::systems::{raft, raft_planted};

#[test]
fn raft() {
    sweep::test(&raft::target(), 0..200);
}

/// What is lost is seen by clients; where openraft's own assertions are built, they may see it first.
#[test]
fn raft_planted() {
    let seeds = Seeds::range(0..300);
    let found = sweep::sweep(&raft_planted::target(), &seeds, &Settings::default());
    println!("{}", found.summary(&raft_planted::target()));
    let classes: Vec<Class> = found.bugs.iter().map(|bug| bug.failure.class).collect();
    assert!(classes.contains(&Class::Correctness), "the planted bug is found");
    assert!(classes.iter().all(|class| [Class::Correctness, Class::Panic].contains(class)));
    assert_eq!(found.diverged, 0);
}
