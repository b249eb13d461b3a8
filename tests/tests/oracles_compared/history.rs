//! Random histories of an object: of one that is right, and of three that are not.

use super::object::{Object, below};
use sim_core::seed::{Seed, Stream};
use stateright::semantics::SequentialSpec;
use std::collections::BTreeMap;

/// How many threads call at once.
const THREADS: usize = 3;

/// An event of a history.
#[derive(Clone, Debug)]
pub(crate) enum Event<O: SequentialSpec> {
    /// A thread called.
    Call(usize, O::Op),
    /// Its call returned.
    Return(usize, O::Ret),
}

/// How the object of a history goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flaw {
    None,
    /// Some operations are done twice.
    Twice,
    /// Some results are those of an old state, and the operation is lost.
    Stale,
    /// Some operations return before they are done, and are done later or never.
    Late,
}

/// A call under way.
#[derive(Clone, Debug)]
struct Pending<O: SequentialSpec> {
    op: O::Op,
    ret: Option<O::Ret>,
}

/// An object at work.
struct Maker<O: Object> {
    random: Stream,
    flaw: Flaw,
    object: O,
    old: O,
    events: Vec<Event<O>>,
    pending: BTreeMap<usize, Pending<O>>,
    /// Operations whose caller is gone, and that may yet be done.
    lost: Vec<O::Op>,
}

/// A history that a seed decides, of so many operations, and whether its object is right.
pub(crate) fn drawn<O: Object>(seed: u64, count_max: u64) -> (bool, Vec<Event<O>>) {
    let mut random = Seed::root(seed).child("history").stream();
    let flaws = [Flaw::None, Flaw::Twice, Flaw::Stale, Flaw::Late];
    let flaw = flaws[below(&mut random, flaws.len() as u64) as usize];
    let count = 3 + below(&mut random, count_max - 2);
    let mut maker = Maker {
        random,
        flaw,
        object: O::default(),
        old: O::default(),
        events: Vec::new(),
        pending: BTreeMap::new(),
        lost: Vec::new(),
    };
    maker.run(count);
    (flaw == Flaw::None, maker.events)
}

impl<O: Object> Maker<O> {
    fn one_in(&mut self, count: u64) -> bool {
        below(&mut self.random, count) == 0
    }

    fn run(&mut self, mut left: u64) {
        let mut threads: Vec<usize> = (0..THREADS).collect();
        while left > 0 || !self.pending.is_empty() {
            let at = below(&mut self.random, THREADS as u64) as usize;
            let thread = threads[at];
            let Some(pending) = self.pending.remove(&thread) else {
                if left > 0 {
                    left -= 1;
                    let op = O::draw(&mut self.random);
                    self.events.push(Event::Call(thread, op.clone()));
                    self.pending.insert(thread, Pending { op, ret: None });
                }
                continue;
            };
            if self.one_in(8) {
                self.lost.extend(pending.ret.is_none().then_some(pending.op));
                threads[at] = threads.iter().max().expect("there are threads") + 1;
                continue;
            }
            self.go_on(thread, pending);
            if self.one_in(6) {
                self.lost.pop().into_iter().for_each(|op| drop(self.object.invoke(&op)));
            }
        }
    }

    /// Does the operation of a call, or has it return.
    fn go_on(&mut self, thread: usize, mut pending: Pending<O>) {
        if let Some(ret) = pending.ret {
            self.events.push(Event::Return(thread, ret));
            return;
        }
        let flaw = if self.one_in(2) { self.flaw } else { Flaw::None };
        let ret = match flaw {
            Flaw::Twice => {
                self.object.invoke(&pending.op);
                self.object.invoke(&pending.op)
            }
            Flaw::Stale => self.old.clone().invoke(&pending.op),
            Flaw::Late => {
                self.lost.push(pending.op.clone());
                self.object.clone().invoke(&pending.op)
            }
            Flaw::None => {
                if self.one_in(3) {
                    self.old = self.object.clone();
                }
                self.object.invoke(&pending.op)
            }
        };
        pending.ret = Some(ret);
        self.pending.insert(thread, pending);
    }
}

/// The history in which only some operations return, and each other is of a thread of its own.
/// Operations are numbered in the order of their calls.
pub(crate) fn relaxed<O: Object>(history: &[Event<O>], kept: &[usize]) -> Vec<Event<O>> {
    let mut numbers = BTreeMap::new();
    let mut count = 0;
    let mut relaxed = Vec::new();
    for event in history {
        match event.clone() {
            Event::Call(thread, op) => {
                numbers.insert(thread, count);
                // A thread of a history has a number that is far below.
                let thread = if kept.contains(&count) { thread } else { 1_000 + count };
                relaxed.push(Event::Call(thread, op));
                count += 1;
            }
            Event::Return(thread, ret) if kept.contains(&numbers[&thread]) => {
                relaxed.push(Event::Return(thread, ret));
            }
            Event::Return(..) => {}
        }
    }
    relaxed
}
