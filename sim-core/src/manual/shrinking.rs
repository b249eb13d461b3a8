//! How failures are shrunk.
//!
//! [`crate::shrink`] edits the choices of a failing run: it takes out whole operations, faults and
//! events, cuts lanes, hands a wait on to the operation after, lowers numbers alone, in groups of
//! one value and in pairs, exchanges values, and puts siblings in order. Each proposal is run, and
//! the choices that its run made are what counts. A proposal is taken where it fails with the same
//! class and origin, is simpler, and does the same when it is run once more.
//!
//! A proposal is run by labels ([`crate::source::Script`]): a draw takes the next choice of its own
//! label. So a dimension of the swarm goes together with the draws that it called up, and what is
//! taken out does not make the bytes after it mean something else. What the run drew becomes bytes
//! again, and those are what is kept.
//!
//! Simpler is: fewer bytes as an input; then less virtual time; then fewer events; then lower values.
//! So a shrunk run is mostly a short one, and what of its plan is not calm is there for a reason:
//! each dimension was tried at zero.
//!
//! Where no pass gains, the search begins anew: the first 3,000 seeds are run until 40 of them failed
//! in the same way. Each of those is shrunk for a few runs; of what they became the first three, the
//! simplest seven and the simplest of up to four other kinds are shrunk for some more, and of that the
//! simplest three and the simplest of up to three other kinds to the end. Of one kind are runs of
//! which the same dimensions are not calm: a bug that shows by a crash of one node and by a pause of
//! another has two, and which of them is the simpler in the end does not show at first. The seeds are
//! the same whatever the search began with, so what they become is too: that is where inputs of one
//! bug meet, which would each end at a fault or a time of its own. A bug that so few seeds do not
//! find is not helped by it, and it takes thirty thousand runs: five seconds in `cargo test` end
//! before it where a run takes a millisecond, and `SIM_SHRINK=2m` gives it time.
//!
//! Then the search leaves its place: random small edits, by a stream that is keyed by the input, are
//! shrunk for some runs each, and taken where they end simpler. A run without operations or without a
//! swarm has nothing to exchange and ends before either.
//!
//! Other failures that are met on the way are kept. Up to four that are of the system under test
//! and not reported yet are shrunk afterwards, each within a quarter of the time and runs, with a
//! file and a short report of its own. A sweep counts seeds that fail so to them.
//!
//! A failure that has another history when it is run again is `diverged`, is not shrunk, and its
//! report says in how many of its runs it failed the same way.
//!
//! [`crate::shrink`] can be had by itself, of what is no simulation too:
//! ```
//! use sim_core::Target;
//! use sim_core::run::{Input, run};
//! use sim_core::shrink::{Budget, TargetSubject, shrink};
//! use std::time::Duration;
//!
//! let target = Target::new("pairs", |sim| {
//!     let (left, right) = (sim.dimension("left", 255), sim.dimension("right", 255));
//!     sim.dimension("other", 255);
//!     if left + right > 300 {
//!         sim.fail("their sum is more than 300");
//!     }
//! });
//! let watchdog = Duration::from_secs(60);
//! let fails = |seed: &u64| run(&target, &Input::Seed(*seed), watchdog).failure.is_some();
//! let seed = (0..).find(fails).expect("one of them is large enough");
//! let found = run(&target, &Input::Seed(seed), watchdog).tape.to_bytes();
//!
//! let mut subject = TargetSubject { target: &target, watchdog };
//! let shrunk = shrink(&mut subject, &found, Budget::default(), &mut |_| {}).expect("it fails");
//! let simplest = run(&target, &Input::Bytes(shrunk.bytes), watchdog);
//! let active: Vec<_> = simplest.plan.active().map(|one| (one.name, one.value)).collect();
//! assert!(matches!(active[..], [("left", left), ("right", right)] if left + right == 301));
//! ```
//!
//! Measured by `cargo run --release -p sim-tests --bin shrink-table` (100 failing inputs a case):
//! each of the twelve cases of the shrinking challenge becomes one result, and so do the two of a
//! toy with a swarm. The mean of the runs is below what is published of Hypothesis for calculator
//! (195 to 341) and length list (73 to 85), above it for bound5 (532 to 137), large union list (604
//! to 341) and reverse (62 to 46); the encodings are not the same. And so do a hundred failing inputs
//! of each planted system:
//!
//! | planted system | failing inputs | results | bytes, from and to | runs |
//! |---|---|---|---|---|
//! | echo | 100 | 1 | 126, 23 | 22,637 |
//! | kv | 100 | 1 | 154, 25 | 37,669 |
//! | queue | 100 | 1 | 133, 25 | 30,975 |
//! | lease | 100 | 1 | 151, 26 | 35,652 |
//! | broker | 100 | 1 | 149, 25 | 33,057 |
//! | gateway | 100 | 1 | 163, 26 | 32,481 |
//!
//! That is measured, and no promise for the next system. The budget is the default's in runs, without
//! its two minutes: one of these takes three seconds (echo) to forty (gateway).
