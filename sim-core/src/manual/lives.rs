//! Lives of nodes: what is simulated of a process, and what is the real thing.
//!
//! A process is a runtime on a host: it starts, is told to end, ends, and starts again (see
//! [`crate::lifecycle`] for how exact its death is). Of its surroundings
//!
//! - the network, clocks, random bytes, threads and names are simulated, as everywhere;
//! - arguments, environment, standard streams, signals and exit are simulated where a program uses
//!   its [`Process`](crate::Process). `std::env`, `println!`, `tokio::signal` and
//!   `std::process::exit` are those of the test's process: tokio keeps one registry of signals a
//!   process, which cannot tell one node from another;
//! - files are real, in a folder a host that is emptied at the end of the run. A crash keeps what
//!   was written, flushed or not; that is for a simulated disk;
//! - statics are the test process's.
//!
//! A pause stops a machine as `SIGSTOP` does: its kernel acknowledges and accepts, its timers are
//! late. Clocks of a machine may be skewed (the wall clock alone) and drift (all of them, and its
//! timers); the kernel's own timers of TCP go by the true time.
//!
//! A call that sleeps (`std::thread::sleep`) stalls its machine: nothing else of it runs until it is
//! over. What the same task does after it, up to its next await, is done when the sleep begins, at
//! the later time that it then is for it: a crash meanwhile comes too late to prevent that, though
//! what it sends is late as it should be.
//!
//! The path of a host's folder may differ from run to run where several runs go on at once on a
//! machine: a program that prints it, or sends it, makes runs that diverge.
//!
//! A program with timeouts must be right whatever of this comes: a lease by a machine's own clock
//! has to allow for drift, and work that began before a pause may end long after it.
//!
//! ```
//! use sim_core::control::{Control, Units, Until};
//! use sim_core::lifecycle::{Crash, Lifecycle};
//! use sim_core::process::{Exit, Signal};
//! use sim_core::{Process, Sim, Target};
//!
//! /// Over the real system `main` is `serve(Process::os())`.
//! async fn serve(process: Process) -> std::io::Result<()> {
//!     let mut signals = process.signals(&[Signal::Terminate])?;
//!     let listener = process.host().listen((process.address(), 7)).await?;
//!     loop {
//!         tokio::select! {
//!             accepted = listener.accept() => drop(accepted?),
//!             _ = signals.recv() => return Ok(()),
//!         }
//!     }
//! }
//!
//! fn build(sim: &mut Sim) {
//!     let db = sim.node("db", serve);
//!     sim.at(1.s(), Control::crash(&db, Crash::Power).until(Until::After(2.s())));
//!     sim.at(5.s(), Control::kill_after(&db, 1.s()));
//!     sim.client("operator", move |_| {
//!         let db = db.clone();
//!         async move {
//!             tokio::time::sleep(10.s()).await;
//!             assert_eq!(db.exits(0), [Exit::Power, Exit::Code(0)]);
//!         }
//!     });
//! }
//! # sim_core::sweep::test(&Target::new("db", build), 0..10);
//!
//! // And drawn: whatever may befall it, within bounds.
//! fn drawn(sim: &mut Sim) {
//!     let db = sim.node("db", serve);
//!     sim.lifecycle(Lifecycle::of(&db).crashes().restarts().pauses().skews());
//!     sim.client("clock", |_| async { tokio::time::sleep(30.s()).await });
//! }
//! sim_core::sweep::test(&Target::new("drawn", drawn), 0..10);
//! ```
