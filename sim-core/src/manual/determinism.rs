//! What is exact, why, and where it ends.
//!
//! A run is a function of its bytes and its binary. Three things make it one:
//!
//! - **One thread has the turn.** A machine is a current-thread runtime that runs until it is idle;
//!   idle is when the runtime asks its driver to wait. Threads that a program makes run to their
//!   end, one after the other, when their machine is idle. Nothing runs beside anything else.
//! - **The world is answered.** Clocks, random bytes, sockets, epoll, counters and names come from
//!   the simulated kernel, by symbols of libc that the program defines (see `hostsim::seam`). A
//!   program that asks how many processors there are is told one.
//! - **Order is canonical before it is chosen.** Pending events are sorted by moment, class and
//!   identity; only where several are due is one drawn. Equal moments are kept apart by a
//!   nanosecond.
//!
//! What a thread keeps is new in each run, because a run has a thread of its own. Where runs share
//! one, as in sweeps and fuzzing, each is proved to have left nothing in it: std's `RandomState`s
//! are counted, and a program that takes random bytes gives its thread up. A failure is never
//! taken from a shared thread: the run is made again on one of its own.
//!
//! The self-check is the net below all of that. It cannot find what is constant in a process, such
//! as the addresses that `foldhash` and `ahash` mix in; a child process finds those.
//!
//! ```
//! use sim_core::Target;
//! use sim_core::run::{Input, run};
//! use std::collections::HashMap;
//! use std::time::{Duration, SystemTime};
//! use tokio::io::AsyncWriteExt;
//!
//! // What no two processes have in common elsewhere; what is printed is in the history.
//! let target = Target::new("exact", |sim| {
//!     sim.client("client", |process| async move {
//!         let map: HashMap<u32, ()> = (0..9).map(|key| (key, ())).collect();
//!         let order: Vec<u32> = map.into_keys().collect();
//!         let first = tokio::select! {
//!             () = async {} => "first",
//!             () = async {} => "second",
//!         };
//!         let text = format!("{order:?} {first} {:?}\n", SystemTime::now());
//!         process.stdout().write_all(text.as_bytes()).await.unwrap();
//!     });
//! });
//! let minute = Duration::from_secs(60);
//! let first = run(&target, &Input::Seed(7), minute);
//! assert_eq!(run(&target, &Input::Seed(7), minute).hash, first.hash);
//! ```
//!
//! What a program must not do, and how it is found where it does, is in
//! [`app_code`](super::app_code).
