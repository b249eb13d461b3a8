//! The search for an order: whether operations can be done one at a time.
//!
//! It is the algorithm of Wing and Gong with the memory of Lowe ("Testing for linearizability",
//! 2017): no configuration, which is a set of operations that were done and the state after them, is
//! looked at twice, and the one that did the most is next. It knows no models and no records:
//! operations are numbers.
//!
//! Three rules keep it small, and none changes what it finds:
//! - A read that must be done and can be done now is done now: it changes nothing, so any order that
//!   has it later is as good with it here.
//! - One that may be left out, and leaves the state as it is, is left out.
//! - Of two configurations with the same state and the same operations of those that must be done,
//!   the one that used fewer of the others can do whatever the other can.
//!
//! Invariants: items are in the order of their calls; a step is counted for each state that is
//! made and each set that is compared, and at the limit the search gives up.

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
    let none = Bits::new(items.len());
    let start = Config { done: none.clone(), used: none, state: start };
    let mut search = Search {
        items,
        step,
        ends: vec![u64::MAX; items.iter().map(|item| item.group + 1).max().unwrap_or(0)],
        open: BTreeMap::new(),
        seen: BTreeMap::new(),
        found_count: 0,
        steps: 0,
    };
    search.open(start);
    search.run(steps_max)
}

/// What was done, and the state after it.
#[derive(Clone, Debug)]
struct Config<S> {
    /// The items that were done, of those that must be.
    done: Bits,
    /// The items that were done, of the others.
    used: Bits,
    state: S,
}

struct Search<'a, S, F> {
    items: &'a [Item],
    step: F,
    /// The earliest end of what must still be done in each group; scratch of [`Search::ready`].
    ends: Vec<u64>,
    /// Configurations to go on from, by how many items are left, how many others they used, and
    /// when they were found. The first is next: what did the most, with the fewest others.
    open: BTreeMap<(usize, usize, u64), Config<S>>,
    /// Configurations that were found: for each, the smallest sets of others that it used.
    seen: BTreeMap<(Bits, S), Vec<Bits>>,
    found_count: u64,
    steps: u64,
}

impl<S: Clone + Ord, F: Fn(&S, usize) -> Option<S>> Search<'_, S, F> {
    fn run(&mut self, steps_max: u64) -> Found {
        while let Some(((left, ..), config)) = self.open.pop_first() {
            if left == 0 {
                return Found::Order;
            }
            if self.steps >= steps_max {
                return Found::GaveUp;
            }
            self.go_on(&config);
        }
        Found::NoOrder
    }

    /// Finds what may come next.
    fn go_on(&mut self, config: &Config<S>) {
        let mut next = Vec::new();
        for index in self.ready(config) {
            self.steps += 1;
            let Some(state) = (self.step)(&config.state, index) else { continue };
            let Item { done_by, is_read, .. } = self.items[index];
            let mut after = Config { state, ..config.clone() };
            match done_by {
                Some(_) => after.done.add(index),
                None if after.state == config.state => continue,
                None => after.used.add(index),
            }
            if is_read && done_by.is_some() {
                next = vec![after];
                break;
            }
            next.push(after);
        }
        next.into_iter().for_each(|config| self.open(config));
    }

    /// Remembers a configuration, unless one was found that can do all that it can.
    fn open(&mut self, config: Config<S>) {
        let seen = self.seen.entry((config.done.clone(), config.state.clone())).or_default();
        self.steps += seen.len() as u64;
        if seen.iter().any(|used| used.is_part_of(&config.used)) {
            return;
        }
        seen.retain(|used| !config.used.is_part_of(used));
        seen.push(config.used.clone());
        let must = self.items.iter().filter(|item| item.done_by.is_some()).count();
        let key = (must - config.done.len(), config.used.len(), self.found_count);
        self.found_count += 1;
        self.open.insert(key, config);
    }

    /// The items that were not done, and before whose call nothing ended that was not done.
    fn ready(&mut self, config: &Config<S>) -> Vec<usize> {
        self.ends.fill(u64::MAX);
        let (mut ready, mut blocked_count) = (Vec::new(), 0);
        for (index, item) in self.items.iter().enumerate() {
            if config.done.has(index) || config.used.has(index) {
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

    fn add(&mut self, index: usize) {
        self.0[index / 64] |= 1 << (index % 64);
    }

    fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    fn is_part_of(&self, other: &Bits) -> bool {
        self.0.iter().zip(&other.0).all(|(mine, theirs)| mine & !theirs == 0)
    }
}
