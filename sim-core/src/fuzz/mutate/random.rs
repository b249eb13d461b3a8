//! The random numbers of one mutation: a stream of the seed tree, keyed by libFuzzer's seed.
//!
//! Not a source: what is drawn here decides nothing in a run.

use crate::seed::{Seed, Stream};
use rand_core::Rng;

#[derive(Debug)]
pub(super) struct Random(Stream);

impl Random {
    pub(super) fn new(seed: u32) -> Random {
        Random(Seed::root(seed.into()).child("mutation").stream())
    }

    /// A number below `count`, which is above zero.
    pub(super) fn below(&mut self, count: usize) -> usize {
        (self.0.next_u64() % count as u64) as usize
    }

    /// A number in `0..=max`.
    pub(super) fn up_to(&mut self, max: u64) -> u64 {
        let word = self.0.next_u64();
        max.checked_add(1).map_or(word, |count| word % count)
    }

    pub(super) fn one_in(&mut self, count: u64) -> bool {
        self.0.next_u64().is_multiple_of(count)
    }

    /// A count in `1..=max`: half of the time one, a quarter two, and so on.
    pub(super) fn few(&mut self, max: usize) -> usize {
        (1 + self.0.next_u64().trailing_ones() as usize).min(max)
    }

    /// One of the items, none of none.
    pub(super) fn pick<'i, T>(&mut self, items: &'i [T]) -> Option<&'i T> {
        if items.is_empty() { None } else { items.get(self.below(items.len())) }
    }

    /// One of the items, each as often as its weight is to the sum, which is above zero.
    pub(super) fn weighted<'i, T>(&mut self, items: &'i [(T, u64)]) -> &'i T {
        let mut value = self.0.next_u64() % items.iter().map(|(_, weight)| weight).sum::<u64>();
        for (item, weight) in items {
            if value < *weight {
                return item;
            }
            value -= weight;
        }
        unreachable!("a value below the sum is inside one of the weights")
    }
}
