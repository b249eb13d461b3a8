//! The verdicts of the oracles and of a published checker, `stateright`, on random histories.
//!
//! It has no indeterminate operations; calls that never return stand for them, each the last of its
//! thread, as one may take effect at any time after its call there too.
//!
//! `cargo test -p sim-tests --test oracles_compared -- --nocapture` prints how many histories were
//! compared, and how many of them have no order.

#[path = "oracles_compared/history.rs"]
mod history;
#[path = "oracles_compared/object.rs"]
mod object;

use history::{Event, drawn, relaxed};
use object::Object;
use sim_core::oracle::{
    AppendList, Keyed, Linearizable, Model, Queue, Recorder, Register, Sequential, Verdict,
};
use stateright::semantics::{
    ConsistencyTester, LinearizabilityTester, SequentialConsistencyTester,
};
use std::collections::BTreeMap;

/// How many histories of each object are compared.
const HISTORIES: u64 = 5_000;

/// A record of a history; a client is a thread.
fn record<O: Object>(history: &[Event<O>]) -> Recorder<O::Op, O::Ret> {
    let record = Recorder::new();
    let mut open = BTreeMap::new();
    for event in history {
        match event.clone() {
            Event::Call(thread, op) => drop(open.insert(thread, record.invoke(thread, op))),
            Event::Return(thread, ret) => open.remove(&thread).expect("it was called").ok(ret),
        }
    }
    record
}

fn told<O: Object, T: ConsistencyTester<usize, O>>(mut tester: T, history: &[Event<O>]) -> bool {
    for event in history {
        let taken = match event.clone() {
            Event::Call(thread, op) => tester.on_invoke(thread, op).map(drop),
            Event::Return(thread, ret) => tester.on_return(thread, ret).map(drop),
        };
        taken.expect("each thread has one call at a time");
    }
    tester.is_consistent()
}

fn is_linearizable<O: Object>(history: &[Event<O>]) -> bool {
    told(LinearizabilityTester::new(O::default()), history)
}

/// Whether a verdict says that there is an order; an oracle must decide histories as short as these.
fn is_ordered(verdict: &Verdict) -> bool {
    assert_ne!(*verdict, Verdict::Inconclusive);
    *verdict == Verdict::Ordered
}

/// Compares both verdicts on many histories.
fn compare<O: Object, M: Model<Op = O::Op, Ret = O::Ret>>(name: &str, model: &M) {
    let (mut unordered, mut unsequential) = (0, 0);
    for seed in 0..HISTORIES {
        let (is_right, history) = drawn::<O>(seed, 8);
        let record = record(&history);
        let ours = is_ordered(&Linearizable::new(model.clone(), &record).verdict());
        assert_eq!(ours, is_linearizable(&history), "{name} {seed}: {history:?}");
        assert!(ours || !is_right, "{name} {seed} was made by a right object: {history:?}");
        let sequential = is_ordered(&Sequential::new(model.clone(), &record).verdict());
        let theirs = told(SequentialConsistencyTester::new(O::default()), &history);
        assert_eq!(sequential, theirs, "{name} {seed}: {history:?}");
        unordered += u64::from(!ours);
        unsequential += u64::from(!sequential);
    }
    println!(
        "compared {name}: {HISTORIES} histories, {unordered} not linearizable, {unsequential} not \
         sequentially consistent"
    );
    assert!(HISTORIES / 20 < unordered && unordered < HISTORIES / 2);
    assert!(HISTORIES / 50 < unsequential && unsequential < unordered);
}

#[test]
fn registers_have_the_same_verdicts() {
    compare::<object::Cell, _>("register", &Register::new(0));
}

#[test]
fn lists_have_the_same_verdicts() {
    compare::<object::List, _>("list", &AppendList::new());
}

#[test]
fn queues_have_the_same_verdicts() {
    compare::<object::Fifo, _>("queue", &Queue::new());
}

#[test]
fn registers_of_several_keys_have_the_same_verdicts() {
    compare::<object::Cells, _>("registers", &Keyed::new(Register::new(0)));
}

/// The other checker agrees that the smallest set cannot be ordered, whatever the others did, and
/// that it can where one of it is left out.
#[test]
fn the_smallest_set_is_at_odds_and_no_part_of_it_is() {
    let mut sizes = BTreeMap::<usize, u64>::new();
    for seed in 0..HISTORIES {
        let (_, history) = drawn::<object::Cell>(seed, 6);
        let verdict = Linearizable::new(Register::new(0), &record(&history)).verdict();
        let Verdict::Unordered { smallest } = verdict else { continue };
        assert!(!is_linearizable(&relaxed(&history, &smallest)), "{seed}: {history:?}");
        for left_out in &smallest {
            let fewer: Vec<usize> =
                smallest.iter().copied().filter(|index| index != left_out).collect();
            assert!(is_linearizable(&relaxed(&history, &fewer)), "{seed}: {history:?}");
        }
        *sizes.entry(smallest.len()).or_default() += 1;
    }
    println!("smallest sets, by their size: {sizes:?}");
    assert!(sizes.len() > 2, "sets of several sizes, not {sizes:?}");
}
