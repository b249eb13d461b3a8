//! The harness: one finite string of bytes decides a whole run of a distributed system.
//!
//! A test describes a run with [`Sim`]: nodes, a workload, checkers. [`mod@run`] runs one input,
//! [`sweep`] many seeds, [`replay`] pinned files, and [`fuzz`] lets libFuzzer search. Programs run
//! unmodified on the hosts of [`hostsim`].

pub mod check;
pub mod driver;
pub mod failure;
pub mod history;
pub mod node;
mod panics;
pub mod run;
pub mod seed;
pub mod settings;
pub mod sim;
pub mod source;
pub mod swarm;
pub mod tape;
pub mod workload;

pub use check::{Checker, Violation, fail};
pub use run::Target;
pub use sim::Sim;
