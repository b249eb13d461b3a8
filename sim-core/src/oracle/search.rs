//! The search for an order: whether operations can be done one at a time.
//!
//! It is the algorithm of Wing and Gong with the memory of Lowe ("Testing for linearizability",
//! 2017): depth first, and no configuration, which is a set of operations that were done and the
//! state after them, is tried twice. It knows no models and no records: operations are numbers.
//!
//! Three rules keep it small, and none changes what it finds:
//! - A read that must be done and can be done now is done now: it changes nothing, so any order that
//!   has it later is as good with it here.
//! - One that may be left out, and leaves the state as it is, is left out.
//! - Of two configurations with the same state and the same operations of those that must be done,
//!   the one that used fewer of the others can do whatever the other can.
//!
//! Invariants: items are in the order of their calls; a step is counted for each state that is
//! made or looked at, and at the limit the search gives up.

use std::collections::BTreeMap;

/// An operation to be ordered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item {
    /// Among which others the order of time counts.
    pub(super) group: usize,
    /// The index of its call.
    pub(super) invoked: u64,
    /// The index of the return that it was done by; none where it may be done at any time after its
    /// call, or never.
    pub(super) done_by: Option<u64>,
    /// Whether it changes no state, whichever it is done in.
    pub(super) is_read: bool,
}

/// What a search found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// There is an order.
    Order,
    /// There is none.
    NoOrder,
    /// The steps did not suffice.
    GaveUp,
}

/// Searches for an order of `items`, beginning with a state; `step` gives the state after an item,
/// where it can be done.
pub(super) fn search<S: Clone + Ord>(
    items: &[Item],
    start: S,
    steps_max: u64,
    step: impl Fn(&S, usize) -> Option<S>,
) -> Found {
    let mut search = Search {
        items,
        step,
        done: Bits::new(items.len()),
        used: Bits::new(items.len()),
        left: items.iter().filter(|item| item.done_by.is_some()).count(),
        ends: vec![u64::MAX; items.iter().map(|item| item.group + 1).max().unwrap_or(0)],
        seen: BTreeMap::new(),
        steps: 0,
    };
    search.run(start, steps_max)
}

/// A configuration on the way, and what may come next from it.
struct Frame<S> {
    /// The item that led here; none at the start.
    item: Option<usize>,
    /// What was not tried yet, the last one next, each with the state after it.
    branches: Vec<(usize, S)>,
}

struct Search<'a, S, F> {
    items: &'a [Item],
    step: F,
    /// The items that were done, of those that must be.
    done: Bits,
    /// The items that were done, of the others.
    used: Bits,
    /// How many must still be done.
    left: usize,
    /// The earliest end of what must still be done in each group; scratch of [`Search::ready`].
    ends: Vec<u64>,
    /// Configurations that were tried: for each, the smallest sets of others that it used.
    seen: BTreeMap<(Bits, S), Vec<Bits>>,
    steps: u64,
}

impl<S: Clone + Ord, F: Fn(&S, usize) -> Option<S>> Search<'_, S, F> {
    fn run(&mut self, start: S, steps_max: u64) -> Found {
        let mut stack = vec![Frame { item: None, branches: self.branches(&start) }];
        while self.left > 0 {
            if self.steps > steps_max {
                return Found::GaveUp;
            }
            let Some(frame) = stack.last_mut() else { return Found::NoOrder };
            let Some((item, state)) = frame.branches.pop() else {
                let item = frame.item;
                stack.pop();
                item.into_iter().for_each(|item| self.undo(item));
                continue;
            };
            self.apply(item);
            if self.is_new(&state) {
                let branches = self.branches(&state);
                stack.push(Frame { item: Some(item), branches });
            } else {
                self.undo(item);
            }
        }
        Found::Order
    }

    /// What may come next in a state. What must be done comes last, to be tried first.
    fn branches(&mut self, state: &S) -> Vec<(usize, S)> {
        let (mut must, mut may) = (Vec::new(), Vec::new());
        for item in self.ready() {
            self.steps += 1;
            let Some(after) = (self.step)(state, item) else { continue };
            match self.items[item] {
                Item { done_by: Some(_), is_read: true, .. } => return vec![(item, after)],
                Item { done_by: Some(_), .. } => must.push((item, after)),
                _ if after == *state => {}
                _ => may.push((item, after)),
            }
        }
        must.reverse();
        may.append(&mut must);
        may
    }

    /// The items that were not done, and before whose call nothing ended that was not done.
    fn ready(&mut self) -> Vec<usize> {
        self.ends.fill(u64::MAX);
        let (mut ready, mut blocked_count) = (Vec::new(), 0);
        for (index, item) in self.items.iter().enumerate().skip(self.first()) {
            if self.is_done(index) {
                continue;
            }
            let end = &mut self.ends[item.group];
            if item.invoked < *end {
                ready.push(index);
                *end = item.done_by.map_or(*end, |by| by.min(*end));
            } else if *end > 0 {
                // Calls are in order, so nothing later of this group is ready.
                *end = 0;
                blocked_count += 1;
                if blocked_count == self.ends.len() {
                    break;
                }
            }
        }
        ready
    }

    /// The first item that was not done.
    fn first(&self) -> usize {
        (0..self.items.len()).find(|index| !self.is_done(*index)).unwrap_or(self.items.len())
    }

    fn is_done(&self, index: usize) -> bool {
        self.done.has(index) || self.used.has(index)
    }

    fn apply(&mut self, item: usize) {
        match self.items[item].done_by {
            Some(_) => {
                self.done.set(item, true);
                self.left -= 1;
            }
            None => self.used.set(item, true),
        }
    }

    fn undo(&mut self, item: usize) {
        match self.items[item].done_by {
            Some(_) => {
                self.done.set(item, false);
                self.left += 1;
            }
            None => self.used.set(item, false),
        }
    }

    /// Whether no configuration was tried that could do all that this one can.
    fn is_new(&mut self, state: &S) -> bool {
        let seen = self.seen.entry((self.done.clone(), state.clone())).or_default();
        self.steps += seen.len() as u64;
        if seen.iter().any(|used| used.is_part_of(&self.used)) {
            return false;
        }
        seen.retain(|used| !self.used.is_part_of(used));
        seen.push(self.used.clone());
        true
    }
}

/// A set of small numbers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Bits(Vec<u64>);

impl Bits {
    fn new(len: usize) -> Bits {
        Bits(vec![0; len.div_ceil(64)])
    }

    fn has(&self, index: usize) -> bool {
        self.0[index / 64] >> (index % 64) & 1 == 1
    }

    fn set(&mut self, index: usize, is_in: bool) {
        let bit = 1 << (index % 64);
        let word = &mut self.0[index / 64];
        *word = if is_in { *word | bit } else { *word & !bit };
    }

    fn is_part_of(&self, other: &Bits) -> bool {
        self.0.iter().zip(&other.0).all(|(mine, theirs)| mine & !theirs == 0)
    }
}
