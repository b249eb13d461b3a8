//! Liveness: what to promise, and how to bound it.
//!
//! A system that does nothing is safe. What it is for comes about only while enough of it works, so
//! that is asked for once the core is healed ([`crate::liveness`]). Three questions find the goals:
//!
//! - **What comes back by itself?** A replica that crashed, a connection that was cut, a leader that
//!   stood still: a probe asks the system as a client would, and returns once it is answered.
//! - **What ends, however it ends?** Operations that were under way when the faults ended:
//!   [`Sim::work_ends_within`](crate::Sim::work_ends_within).
//! - **What fails fast?** With a dependency outside of the core, which stays as it is, the same
//!   probe returns once it has its error. One that waits for ever has found a missing timeout.
//!
//! A bound is computed from the program's own settings: the timeouts of the attempts and
//! [`Backoff::bound`](crate::retry::Backoff::bound) for the waits between them. A bound that was
//! found by trying says nothing, and breaks with the next setting that the swarm tunes.
//!
//! ```
//! use sim_core::Target;
//! use sim_core::control::{Control, Units};
//! use sim_core::lifecycle::Crash;
//! use sim_core::retry::{Backoff, Exponential};
//! use std::time::Duration;
//! use tokio::net::{TcpListener, TcpStream};
//!
//! const BACKOFF: Backoff = Backoff::new(Duration::from_millis(100), Duration::from_secs(2));
//!
//! let target = Target::new("waits", |sim| {
//!     let db = sim.node("db", |_| async {
//!         let listener = TcpListener::bind("0.0.0.0:7").await.unwrap();
//!         while listener.accept().await.is_ok() {}
//!     });
//!     sim.at(0.s(), Control::crash(&db, Crash::Kill));
//!     sim.client("work", |_| async { tokio::time::sleep(1.s()).await });
//!     // Five attempts, each of which is answered at once, and the waits between them.
//!     sim.probe("db lets in", BACKOFF.bound(5) + 1.s(), |_| async {
//!         let dial = || TcpStream::connect("db:7");
//!         Exponential::new(BACKOFF).retry(5, dial).await.unwrap();
//!     });
//! });
//! sim_core::sweep::test(&target, 0..10);
//! ```
//!
//! Faults are not all there is in the way. Clocks stay as late as a pause made them, bytes that
//! waited are sent again after their retransmission timer, a program that ended by itself stays
//! down, and latency, small buffers and pieces are the run's own to its end.
//!
//! # Excuses
//! Where a dependency is outside of what the system was promised of it, there is nothing to judge:
//! [`excuse`](crate::excuse) ends the run. It is for what the test sees for sure, at the moment at
//! which it breaks; to excuse a run after it failed is to hide the failure.
