//! Oracles: which one to take, and what a record is worth.
//!
//! | promised | oracle |
//! |---|---|
//! | every operation at one moment between its call and its return | [`Linearizable`] |
//! | one order for all, each client's operations in its own | [`Sequential`] |
//! | a client sees its own writes, and never goes back | [`Sessions`] |
//! | what was accepted arrives, once or at least once | [`Delivery`] |
//! | what a producer sent first arrives first | [`KeyOrder`] |
//! | a total stays | [`Conservation`] |
//!
//! An oracle is as good as what it is told. Three mistakes make one blind, or have it blame a system
//! that is right:
//!
//! - **An error taken for "not done".** A request may have been executed, though its reply was lost;
//!   one that was abandoned may be executed later. Only what struck before the first byte was given
//!   to a socket is certain ([`Struck`]). So a client that asks again until it is answered has one
//!   operation, and its record begins with the first attempt.
//! - **A call that is recorded late.** [`Recorder::invoke`] comes before anything of the operation
//!   may have an effect, and the end of the call after the reply was read.
//! - **Values that repeat.** Where two writes write the same, a read does not tell which of them it
//!   saw, and bugs hide. The identity of an operation is a good value.
//!
//! Whether a record has an order is a hard problem in general, and easy in most runs: an operation
//! competes only with those of its key that overlap it. Indeterminate operations overlap everything
//! after them, so records in which most are so are costly; reads in between make them cheap. Of
//! sequential consistency the search is long where the record is not linearizable. A search that
//! would take more than its steps ends the run as inconclusive. What records cost is printed by
//! `cargo run --release -p sim-tests --bin oracle-cost`.
//!
//! A failure shows operations that cannot be ordered whatever all the others did; where every search
//! for fewer came to an end, as few as there can be. What is left out may have been done at any time,
//! or never: the write that a stale read is of is often not needed to see that two reads contradict
//! each other.
//!
//! ```
//! use sim_core::oracle::{Linearizable, Recorder, Register, RegisterOp, RegisterRet, Struck};
//! use sim_core::run::{Input, run};
//! use sim_core::{Sim, Target};
//! use std::io;
//! use std::time::Duration;
//!
//! /// A system that loses what it acknowledged.
//! fn build(sim: &mut Sim) {
//!     let record = Recorder::new();
//!     sim.check(Linearizable::new(Register::new(0), &record));
//!     sim.client("client", move |_| {
//!         let record = record.clone();
//!         async move {
//!             record.invoke(0, RegisterOp::Write(1)).ok(RegisterRet::Written);
//!             let unknown = record.invoke(0, RegisterOp::Write(2));
//!             let error = io::Error::from(io::ErrorKind::ConnectionReset);
//!             unknown.io_error(Struck::After, &error); // It may be done yet.
//!             record.invoke(0, RegisterOp::Read).ok(RegisterRet::Value(0));
//!         }
//!     });
//! }
//!
//! let target = Target::new("forgets", build);
//! let run = run(&target, &Input::Bytes(Vec::new()), Duration::from_secs(60));
//! let failure = run.failure.expect("a write that was acknowledged is lost");
//! assert!(failure.details.iter().any(|line| line.contains("Write(1)")));
//! assert!(!failure.details.iter().any(|line| line.contains("Write(2)")), "it is not needed");
//! ```
//!
//! [`Linearizable`]: crate::oracle::Linearizable
//! [`Sequential`]: crate::oracle::Sequential
//! [`Sessions`]: crate::oracle::Sessions
//! [`Delivery`]: crate::oracle::Delivery
//! [`KeyOrder`]: crate::oracle::KeyOrder
//! [`Conservation`]: crate::oracle::Conservation
//! [`Struck`]: crate::oracle::Struck
//! [`Recorder::invoke`]: crate::oracle::Recorder::invoke
