//! The systems under test, each a [`Target`] with a name of its own.

pub mod broker;
pub mod broker_planted;
pub mod echo;
pub mod echo_lives;
pub mod echo_planted;
pub mod gateway;
pub mod gateway_planted;
pub mod kv;
pub mod kv_planted;
pub mod leaks;
pub mod lease;
pub mod lease_planted;
pub mod maze;
pub mod parts;
pub mod ping;
pub mod queue;
pub mod queue_planted;
#[cfg(feature = "raft")]
pub mod raft;
#[cfg(feature = "raft")]
pub mod raft_planted;
pub mod streams;

use sim_core::Target;

/// The systems that must never fail.
pub fn correct() -> Vec<Target> {
    vec![
        broker::target(),
        echo::target(),
        echo_lives::target(),
        gateway::target(),
        kv::target(),
        lease::target(),
        queue::target(),
        streams::target(),
        ping::target(),
    ]
}

/// The systems with a planted bug that must be found.
pub fn planted() -> Vec<Target> {
    vec![
        broker_planted::target(),
        echo_planted::target(),
        gateway_planted::target(),
        kv_planted::target(),
        lease_planted::target(),
        queue_planted::target(),
    ]
}

/// The systems with a planted bug that a sweep does not find, and a search does.
pub fn deep() -> Vec<Target> {
    vec![maze::target()]
}

/// Every system that files of inputs may belong to.
pub fn all() -> Vec<Target> {
    [correct(), planted(), deep()].concat()
}
