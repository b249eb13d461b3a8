//! What a program must do, what leaks into its runs, and how that is found.
//!
//! A program needs no changes where it is built of tokio and of libraries that reach the world
//! through libc. These habits keep its runs exact and its failures its own:
//!
//! - **Take the process as an argument.** `async fn serve(process: Process)` has arguments,
//!   environment, streams, signals and files; over the real system `main` is
//!   `serve(Process::os())` (see [`lives`](super::lives)).
//! - **Listen on the process's address, dial by name.** A node's name resolves to its replicas'
//!   hosts, as `db:7` or by [`Node::addresses`](crate::node::Node::addresses).
//! - **Have a timeout for whatever waits for another host.** One who only reads waits for ever where
//!   the other end is gone without a word, here as on Linux. One that is shorter than a reply takes
//!   with small buffers on long links, and always tries again, makes runs without an end;
//!   [`swarms`](super::swarms) says how slow a stream may be.
//! - **Wait with tokio.** A node has one thread: a blocking call that would wait fails the run and
//!   names the call. A thread that a node makes, as by `spawn_blocking`, has the turn until it ends:
//!   one that waits for the runtime meanwhile, as a worker in a loop of `blocking_recv`, waits for
//!   ever, and the watchdog ends the run as inconclusive. Work in pieces that end does well.
//! - **Keep state in the program's own values.** A static stays from one life of a node to the next,
//!   and from one run to the next.
//! - **End by returning.** [`Process::exit`](crate::Process::exit) ends the node,
//!   `std::process::exit` the test, which then says in which run.
//!
//! # What leaks
//! | what a program does | what comes of it |
//! |---|---|
//! | `tokio::select!` without `--cfg tokio_unstable` | the run says so at its start; its branches begin by a counter of the process |
//! | random bytes or time past libc: `RDRAND` (`aws-lc-rs`), `RDTSC`, inline system calls | class `diverged`, with the first event that differs |
//! | a static that changes what a later run does | class `diverged`, where a run is made again in the process |
//! | an order by addresses: `foldhash`, `ahash`, a map keyed by pointers | the same all over a process; of a failing input another process makes another history: `diverged` |
//! | a `HashMap` that was filled outside of the run | its keys are the thread's: `diverged`. One that the run makes is the run's own |
//! | files outside of [`Process::dir`](crate::Process::dir), `std::env` | they are the test's; nothing finds it but a difference |
//! | `tokio::signal` | it hears nothing; [`Process::signals`](crate::Process::signals) does |
//! | a thread that does not end, or has a runtime of its own | the watchdog ends the run as inconclusive and names the node |
//! | a blocking call on a socket that would wait | class `deadlock`, with the name of the call |
//! | a system call that this crate does not answer on a simulated socket | class `inconclusive`, with its name |
//! | libc linked statically, or symbols that are not reached | an error before the run that names the call |
//!
//! The self-check runs each failing input again, three times in its process and once in another, and
//! one in sixteen passing runs of a sweep once. Here a static is found:
//! ```
//! use sim_core::Target;
//! use sim_core::failure::Class;
//! use sim_core::settings::{Seeds, Settings, Shrinking};
//! use sim_core::sweep::sweep;
//! use std::sync::atomic::{AtomicU64, Ordering};
//! use tokio::io::AsyncWriteExt;
//!
//! static REQUESTS: AtomicU64 = AtomicU64::new(0);
//!
//! let target = Target::new("static", |sim| {
//!     sim.node("server", |process| async move {
//!         let number = REQUESTS.fetch_add(1, Ordering::Relaxed);
//!         process.stdout().write_all(format!("request {number}\n").as_bytes()).await.unwrap();
//!     });
//!     sim.client("client", |_| async {});
//! });
//! # let folder = std::env::temp_dir().join(format!("leaks-{}", std::process::id()));
//! # let artifacts = Some(folder.clone());
//! let settings = Settings { shrink: Shrinking::Off, ..Settings::default() };
//! # let settings = Settings { artifacts, ..settings };
//! let found = sweep(&target, &Seeds::range(0..1), &settings);
//! assert_eq!(found.bugs[0].failure.class, Class::Diverged);
//! assert!(found.bugs[0].failure.details[0].ends_with("stdout request 0"));
//! # drop(std::fs::remove_dir_all(folder));
//! ```
