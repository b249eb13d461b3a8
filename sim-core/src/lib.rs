//! The harness: one finite string of bytes decides a whole run of a distributed system.
//!
//! A test describes a run with [`Sim`]: nodes, a workload, checkers. [`mod@run`] runs one input,
//! [`sweep`] many seeds, [`replay`] pinned files, and [`fuzz`] lets libFuzzer search. Programs run
//! unmodified on the hosts of [`hostsim`].
//!
//! The guide is [`manual`]; [`manual::first_test`] is where to begin.
//!
//! # Example
//! ```
//! use sim_core::{Sim, Target};
//! use tokio::io::AsyncReadExt;
//! use tokio::net::{TcpListener, TcpStream};
//!
//! fn build(sim: &mut Sim) {
//!     sim.node("server", |_| async {
//!         let listener = TcpListener::bind("0.0.0.0:7").await.unwrap();
//!         while listener.accept().await.is_ok() {}
//!     });
//!     sim.client("client", |_| async {
//!         let mut stream = TcpStream::connect("server:7").await.unwrap();
//!         assert_eq!(stream.read(&mut [0]).await.unwrap(), 0);
//!     });
//! }
//!
//! sim_core::sweep::test(&Target::new("closes", build), 0..100);
//! ```

pub mod check;
pub mod child;
mod color;
pub mod control;
pub mod coverage;
pub mod datagram;
mod deadlock;
mod dir;
pub mod driver;
pub mod failure;
mod fnv;
mod frames;
pub mod fuzz;
pub mod history;
mod identity;
pub mod lifecycle;
pub mod liveness;
pub mod log;
pub mod manual;
pub mod mark;
pub mod node;
pub mod oracle;
mod panics;
pub mod pin;
pub mod process;
pub mod recording;
pub mod reencode;
pub mod replay;
pub mod report;
pub mod route;
pub mod run;
mod running;
mod screen;
pub mod seed;
mod self_check;
pub mod settings;
pub mod shrink;
pub mod sim;
pub mod source;
mod stage;
pub mod swarm;
pub mod sweep;
pub mod tape;
pub mod termination;
pub mod trace;
pub mod workload;
mod workspace;

pub use check::{Checker, Violation, excuse, fail};
pub use coverage::observe;
pub use process::Process;
pub use route::Route;
pub use run::Target;
pub use sim::Sim;
pub use sim_process::retry;

/// The example of the README compiles.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
