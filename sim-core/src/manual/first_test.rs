//! The first test: from nothing to a bug that is found, shrunk, pinned and fixed.
//!
//! # A program
//! ```text
//! cargo new --lib counter
//! cd counter
//! cargo add tokio --features io-util,net,rt,time
//! cargo add --dev --path ../PATH/TO/sim-core
//! ```
//! Two files of configuration. The first seeds `tokio::select!`, as [`determinism`] says:
//! ```toml
//! # .cargo/config.toml
//! [build]
//! rustflags = ["--cfg", "tokio_unstable"]
//! ```
//! The second makes runs fast: a sweep is work, and most of it is that of dependencies.
//! ```toml
//! # Cargo.toml
//! [profile.dev.package."*"]
//! opt-level = 2
//! ```
//! The program is a counter behind TCP, and its client does not give up. Nothing in it knows of a
//! simulator. The test makes a run of it, and lets the swarm befall it as a network may.
//! ```
//! // src/lib.rs
//! # mod counter {
//! use std::io;
//! use std::sync::Arc;
//! use std::sync::atomic::{AtomicU8, Ordering};
//! use std::time::Duration;
//! use tokio::io::{AsyncReadExt, AsyncWriteExt};
//! use tokio::net::{TcpListener, TcpStream};
//!
//! /// Serves a counter: each byte that comes adds one, and the total goes back.
//! pub async fn serve(port: u16) -> io::Result<()> {
//!     let listener = TcpListener::bind(("0.0.0.0", port)).await?;
//!     let total = Arc::new(AtomicU8::new(0));
//!     loop {
//!         let (mut stream, _) = listener.accept().await?;
//!         let total = total.clone();
//!         tokio::spawn(async move {
//!             while stream.read_u8().await.is_ok() {
//!                 let total = 1 + total.fetch_add(1, Ordering::Relaxed);
//!                 stream.write_u8(total).await?;
//!             }
//!             io::Result::Ok(())
//!         });
//!     }
//! }
//!
//! /// Adds one and gives the total, however often that takes another attempt.
//! pub async fn add(address: &str) -> u8 {
//!     loop {
//!         let attempt = tokio::time::timeout(Duration::from_secs(1), attempt(address));
//!         if let Ok(Ok(total)) = attempt.await {
//!             return total;
//!         }
//!         tokio::time::sleep(Duration::from_millis(100)).await;
//!     }
//! }
//!
//! async fn attempt(address: &str) -> io::Result<u8> {
//!     let mut stream = TcpStream::connect(address).await?;
//!     stream.write_u8(1).await?;
//!     stream.read_u8().await
//! }
//! # }
//!
//! // tests/counter.rs
//! use sim_core::control::FaultSpec;
//! use sim_core::{Sim, Target, always};
//!
//! fn build(sim: &mut Sim) {
//!     sim.node("counter", |_| counter::serve(7));
//!     sim.client("client", |_| async {
//!         for expected in 1..=3 {
//!             let total = counter::add("counter:7").await;
//!             always!(total == expected, "{expected} additions make {total}");
//!         }
//!     });
//!     sim.faults(FaultSpec::new());
//! }
//!
//! #[test]
//! fn additions_count_once() {
//!     sim_core::sweep::test(&Target::new("counter", build), 0..1_000);
//! }
//! # let folder = std::env::temp_dir().join(format!("first-test-{}", std::process::id()));
//! # let settings = sim_core::settings::Settings {
//! #     shrink: sim_core::settings::Shrinking::Off,
//! #     artifacts: Some(folder.clone()),
//! #     ..Default::default()
//! # };
//! # let target = Target::new("counter", build);
//! # let found = sim_core::sweep::sweep_of(&target, 0..1_000, &settings);
//! # assert_eq!((found.bugs.len(), found.exit_code(&target)), (1, 110));
//! # std::fs::remove_dir_all(folder).unwrap();
//! ```
//! A node has a name, and the name has addresses; the client finds it as it would anywhere.
//! [`Sim::faults`] is the one line that makes trouble. [`always!`] says what must hold, here where
//! it is seen; checkers and [oracles] see a whole run.
//!
//! # A bug
//! ```text
//! cargo test
//! ```
//! Five of the thousand seeds fail, all of them in one way, so there is one report. It begins with
//! what went wrong, and what of the run's plan is not calm:
//! ```text
//! sim: FAILED target=counter class=correctness bug=671c885f origin="tests/counter.rs:9"
//!   3 additions make 4
//!   plan:   latency=100ms, faults=1
//! ```
//! then has the trace, in whose last lines the reason is: the third request arrived, its
//! connection was reset before the reply, and the next attempt counted again.
//! ```text
//!       0.100000010 counter      deliver from=client connection=2 ACK seq=0 ack=0 len=1 "\x01"
//!       0.101960784 control      reset [Dialer, Acceptor] of connection 2
//!       0.202960785 counter      deliver from=client connection=3 SYN seq=0 ack=0
//!       0.222960785 client       deliver from=counter connection=3 SYN-ACK seq=0 ack=0
//!       0.222960786 counter      deliver from=client connection=3 ACK seq=0 ack=0 len=1 "\x01"
//!       0.242960786 client       deliver from=counter connection=3 ACK seq=0 ack=1 len=1 "\x04"
//!       0.242960786 client       finish
//!       0.242960786 failure      correctness: 3 additions make 4
//! ```
//! and ends with commands to paste. What failed was shrunk already: the input of 29 bytes that seed
//! 352 means became one of 15. [Shrinking](super::shrinking) takes five seconds at most for a new
//! failure, so a faster or a busier machine may end at other times and latencies; `SIM_SHRINK=1m`
//! before the `replay` line gives it longer.
//! ```text
//!   replay: SIM_INPUT=target/sim/counter/correctness-7df3436b210d-min cargo test -p counter additions_count_once -- --exact
//!   input:  target/sim/counter/correctness-7df3436b210d-min (15 bytes)
//!   pin:    SIM_PIN=NAME SIM_INPUT=target/sim/counter/correctness-7df3436b210d-min cargo test -p counter additions_count_once -- --exact
//!   found:  SIM_SEEDS=352 cargo test -p counter additions_count_once -- --exact
//! ```
//!
//! # A look
//! The replay line makes the same run as often as one likes, event for event, also with a debugger
//! or with more output in the program. `SIM_TRACE=text` before it prints every event, and
//! `SIM_TRACE=html` writes a page to look at in a browser ([`trace`](super::trace)):
//! ```text
//! sim: trace of correctness-7df3436b210d-min: target/sim/counter/correctness-7df3436b210d-min.html
//! ```
//!
//! # A pin
//! The `pin` line makes a test of it, for ever. The name is `counted-twice` here:
//! ```text
//! sim: PINNED target=counter name=counted-twice class=correctness marks=1
//!   input:  regressions/counter/counted-twice (15 bytes)
//!   beside: regressions/counter/counted-twice.toml
//!   next:   commit both; when the bug is fixed: SIM_PIN=counted-twice SIM_INPUT=regressions/counter/counted-twice cargo test -p counter additions_count_once -- --exact
//! ```
//! Both files are committed. [`sweep::test`](crate::sweep::test) replays what is pinned for its
//! target before its seeds. While the bug is there, the file beside the bytes says which class is
//! expected, and the mark that the run must reach to be the same situation still:
//! ```toml
//! class = "correctness"
//! marks = [
//!     "control reset",
//! ]
//! format = 1
//! ```
//!
//! # A fix
//! A request that may come twice needs an identity. Here the total is how many there were:
//! ```
//! # mod counter {
//! # use std::collections::BTreeSet;
//! # use std::io;
//! # use std::sync::{Arc, Mutex};
//! # use std::time::Duration;
//! # use tokio::io::{AsyncReadExt, AsyncWriteExt};
//! # use tokio::net::{TcpListener, TcpStream};
//! # pub async fn serve(port: u16) -> io::Result<()> {
//! #     let listener = TcpListener::bind(("0.0.0.0", port)).await?;
//! #     let seen = Arc::new(Mutex::new(BTreeSet::new()));
//! #     loop {
//! #         let (mut stream, _) = listener.accept().await?;
//! #         let seen = seen.clone();
//! #         tokio::spawn(async move {
//! while let Ok(id) = stream.read_u8().await {
//!     let total = {
//!         let mut seen = seen.lock().unwrap(); // An Arc<Mutex<BTreeSet<u8>>>.
//!         seen.insert(id);
//!         seen.len() as u8
//!     };
//!     stream.write_u8(total).await?;
//! }
//! #             io::Result::Ok(())
//! #         });
//! #     }
//! # }
//! # pub async fn add(address: &str, id: u8) -> u8 {
//! #     loop {
//! #         let attempt = tokio::time::timeout(Duration::from_secs(1), attempt(address, id));
//! #         if let Ok(Ok(total)) = attempt.await {
//! #             return total;
//! #         }
//! #         tokio::time::sleep(Duration::from_millis(100)).await;
//! #     }
//! # }
//! # async fn attempt(address: &str, id: u8) -> io::Result<u8> {
//! #     let mut stream = TcpStream::connect(address).await?;
//! #     stream.write_u8(id).await?;
//! #     stream.read_u8().await
//! # }
//! # }
//! # use sim_core::control::FaultSpec;
//! # use sim_core::{Sim, Target, always};
//! # fn build(sim: &mut Sim) {
//! #     sim.node("counter", |_| counter::serve(7));
//! #     sim.client("client", |_| async {
//! #         for expected in 1..=3 {
//! #             let total = counter::add("counter:7", expected).await;
//! #             always!(total == expected, "{expected} additions make {total}");
//! #         }
//! #     });
//! #     sim.faults(FaultSpec::new());
//! # }
//! # sim_core::sweep::test(&Target::new("counter", build), 0..1_000);
//! ```
//! The client sends the identity in place of `1`. Now `cargo test` fails once more, with what there
//! is left to do:
//! ```text
//! regressions/counter/counted-twice: fixed: the run passes and
//! regressions/counter/counted-twice.toml still expects class = "correctness"; remove that line, or
//! let `SIM_PIN=counted-twice SIM_INPUT=regressions/counter/counted-twice cargo test …` do it
//! ```
//! The command says `fixed: it was correctness; from now on it must pass`, and the thousand seeds
//! pass too.
//!
//! # From here
//! More of a workload, drawn operation by operation, is in [`workload`](crate::workload); crashes,
//! restarts and rollouts are in [`lives`](super::lives), long searches in
//! [`fuzzing`](super::fuzzing).
//!
//! [`Sim::faults`]: crate::Sim::faults
//! [`always!`]: crate::always
//! [`determinism`]: super::determinism
//! [oracles]: super::oracles
#![expect(
    clippy::test_attr_in_doctest,
    reason = "the test is shown as it is in its file, and its sweep is run below it"
)]
