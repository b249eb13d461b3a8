//! Oracles in runs: each finds the bugs that it is for, and none fails a right system, whatever the
//! network does.
//!
//! `cargo test -p sim-tests --test oracles -- --nocapture` prints for each oracle and each planted
//! bug how many seeds it took.

#[path = "oracles/ask.rs"]
mod ask;
#[path = "oracles/bank.rs"]
mod bank;
#[path = "oracles/list.rs"]
mod list;

use list::{Flaw, Oracle};
use sim_core::failure::{Class, Failure};
use sim_core::oracle::{Guarantee, Times};
use sim_core::run::{Input, run_reusing};
use sim_core::{Sim, Target};
use std::time::Duration;

/// How many seeds a right system passes, and a bug is found within.
const SEEDS: u64 = 150;

const WATCHDOG: Duration = Duration::from_secs(60);

/// The first seed whose run fails, and how.
fn first_failure(target: &Target) -> Option<(u64, Failure)> {
    (0..SEEDS).find_map(|seed| {
        let run = run_reusing(target, &Input::Seed(seed), WATCHDOG);
        run.failure.map(|failure| (seed, failure))
    })
}

#[track_caller]
fn finds(name: &str, kind: &str, build: impl Fn(&mut Sim) + Send + Sync + 'static) {
    let (seed, failure) = first_failure(&Target::new("oracles", build)).expect("it is found");
    println!("oracle {name}: {} at seed {seed}: {}", failure.origin, failure.message);
    failure.details.iter().for_each(|line| println!("  {line}"));
    assert_eq!(failure.class, Class::Correctness, "{failure}");
    let (place, found) = failure.origin.split_once(' ').expect("a place and a kind");
    assert_eq!(found, kind, "{failure}");
    assert!(place.starts_with("tests/tests/oracles/"), "{place} is where the oracle was made");
}

#[track_caller]
fn passes(build: impl Fn(&mut Sim) + Send + Sync + 'static) {
    assert_eq!(first_failure(&Target::new("oracles", build)), None);
}

#[test]
fn each_oracle_finds_the_bugs_that_it_is_for() {
    let rows = [
        (Flaw::Lagging, Oracle::Linearizable, "linearizable"),
        (Flaw::Lagging, Oracle::Sequential, "sequentially consistent"),
        (Flaw::Lagging, Oracle::Session(Guarantee::ReadYourWrites), "read-your-writes"),
        (Flaw::Lagging, Oracle::Session(Guarantee::MonotonicReads), "monotonic reads"),
        (Flaw::Twice, Oracle::Linearizable, "linearizable"),
        (Flaw::Twice, Oracle::Delivery(Times::ExactlyOnce), "again"),
        (Flaw::Twice, Oracle::Delivery(Times::AtMostOnce), "again"),
        (Flaw::Forgets, Oracle::Linearizable, "linearizable"),
        (Flaw::Forgets, Oracle::Delivery(Times::ExactlyOnce), "lost"),
        (Flaw::Forgets, Oracle::Delivery(Times::AtLeastOnce), "lost"),
        (Flaw::Forgets, Oracle::Session(Guarantee::MonotonicWrites), "monotonic writes"),
        (Flaw::Swaps, Oracle::KeyOrder, "order"),
        (Flaw::Swaps, Oracle::Linearizable, "linearizable"),
        (Flaw::Certain, Oracle::Linearizable, "linearizable"),
        (Flaw::Certain, Oracle::Delivery(Times::AtLeastOnce), "rejected"),
    ];
    for (flaw, oracle, kind) in rows {
        finds(&format!("{flaw:?}"), kind, move |sim| list::build(sim, flaw, oracle));
    }
}

#[test]
fn no_oracle_fails_a_right_list() {
    let oracles = [
        Oracle::Linearizable,
        Oracle::Sequential,
        Oracle::Session(Guarantee::ReadYourWrites),
        Oracle::Session(Guarantee::MonotonicReads),
        Oracle::Session(Guarantee::MonotonicWrites),
        Oracle::Session(Guarantee::WritesFollowReads),
        Oracle::Delivery(Times::AtMostOnce),
        Oracle::Delivery(Times::AtLeastOnce),
        Oracle::Delivery(Times::ExactlyOnce),
        Oracle::KeyOrder,
    ];
    for oracle in oracles {
        passes(move |sim| list::build(sim, Flaw::None, oracle));
    }
}

#[test]
fn an_oracle_says_nothing_of_what_is_not_its_own() {
    passes(|sim| list::build(sim, Flaw::Twice, Oracle::Delivery(Times::AtLeastOnce)));
    passes(|sim| list::build(sim, Flaw::Forgets, Oracle::Delivery(Times::AtMostOnce)));
    passes(|sim| list::build(sim, Flaw::Swaps, Oracle::Delivery(Times::ExactlyOnce)));
    passes(|sim| list::build(sim, Flaw::Forgets, Oracle::KeyOrder));
}

#[test]
fn a_total_that_is_read_amid_a_transfer_is_found() {
    finds("Torn", "total", |sim| bank::build(sim, true));
}

#[test]
fn no_total_of_a_right_bank_fails() {
    passes(|sim| bank::build(sim, false));
}
