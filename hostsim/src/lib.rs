//! Simulated hosts for programs written with stock tokio.
#![cfg_attr(not(test), deny(missing_docs))]

pub mod address;
pub mod agenda;
pub mod clock;
pub mod errno;
pub mod fleet;
pub mod kernel;
pub mod machine;
pub mod network;
pub mod seam;
pub mod tcp;
pub mod world;
