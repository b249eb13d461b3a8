//! Leaves a place where no pass gains: random small edits of the best run, and what still fails in
//! the same way is shrunk from there, though it was no simpler at first.
//!
//! The edits are those of a stream that is keyed by the best input, so the same input wanders the
//! same way. A run without a configuration, or without operations and events, has nothing to
//! exchange, and does not wander.

use super::super::{Cell, Shrinker, Value};
use super::spans::deletable;
use crate::seed::{Seed, Stream};
use crate::source::Lane;
use rand_core::Rng;
use sha2::{Digest, Sha256};

/// How many edited runs are tried on an excursion.
const TRIES: u64 = 150;

/// How many from the simplest run of all.
const TRIES_LAST: u64 = 400;

/// The most edits at once.
const EDITS_MAX: u64 = 4;

/// Numbers that are set are mostly below this.
const FEW: u64 = 12;

pub(super) fn pass(shrinker: &mut Shrinker<'_>) {
    if shrinker.best.draft.lane(Lane::Swarm).is_empty() || deletable(shrinker).is_empty() {
        return;
    }
    let key: [u8; 32] = Sha256::digest(shrinker.best.draft.to_bytes()).into();
    let key = Seed::from_bytes(key);
    let mut dice = Dice(key.child("wander").stream());
    let tries = if shrinker.excursion.is_some() { TRIES } else { TRIES_LAST };
    for number in 0..tries {
        let mut cells = shrinker.cells().to_vec();
        let spans: Vec<_> = deletable(shrinker).into_iter().map(|span| span.choices).collect();
        let mut edit = Edit { cells: &mut cells, spans };
        for _ in 0..=dice.below(EDITS_MAX) {
            edit.once(&mut dice);
        }
        shrinker.consider_anew(cells, key.child_n("fill", number));
        if shrinker.is_over() {
            return;
        }
    }
}

/// Random numbers.
struct Dice(Stream);

impl Dice {
    fn below(&mut self, count: u64) -> u64 {
        self.0.next_u64() % count.max(1)
    }

    fn pick<'t, T>(&mut self, items: &'t [T]) -> Option<&'t T> {
        items.get(self.below(items.len() as u64) as usize)
    }
}

/// Choices that are edited, and what belongs together of them.
struct Edit<'c> {
    cells: &'c mut Vec<Cell>,
    spans: Vec<std::ops::Range<usize>>,
}

impl Edit<'_> {
    fn once(&mut self, dice: &mut Dice) {
        match dice.below(6) {
            0 | 1 => self.set(dice, true),
            2 => self.set(dice, false),
            3 => self.delete(dice),
            4 => self.swap(dice),
            _ => self.copy(dice),
        }
    }

    /// Sets a number, of the swarm or not of it.
    fn set(&mut self, dice: &mut Dice, is_swarm: bool) {
        let places: Vec<usize> = (0..self.cells.len())
            .filter(|at| (self.cells[*at].lane == Lane::Swarm) == is_swarm)
            .collect();
        let Some(at) = dice.pick(&places) else { return };
        match &mut self.cells[*at].value {
            Value::Number { max, value, .. } => {
                let is_few = dice.below(4) > 0;
                let count = if is_few { FEW.min(*max + 1) } else { (*max).min(255) + 1 };
                *value = dice.below(count);
            }
            Value::Bytes(bytes) => {
                let at = dice.below(bytes.len() as u64) as usize;
                bytes[at] = dice.below(FEW) as u8;
            }
        }
    }

    /// Takes a span out.
    fn delete(&mut self, dice: &mut Dice) {
        let Some(gone) = dice.pick(&self.spans).cloned() else { return };
        self.cells.drain(gone.clone());
        self.spans.retain(|span| span.end <= gone.start || span.start >= gone.end);
        for span in self.spans.iter_mut().filter(|span| span.start >= gone.end) {
            *span = span.start - gone.len()..span.end - gone.len();
        }
    }

    /// Exchanges the choices of two neighbors, one by one.
    fn swap(&mut self, dice: &mut Dice) {
        let pairs: Vec<_> = self.spans.windows(2).collect();
        let Some([one, other]) = dice.pick(&pairs) else { return };
        if one.end <= other.start {
            one.clone().zip(other.clone()).for_each(|(one, other)| self.cells.swap(one, other));
        }
    }

    /// Puts the choices of one span into another, one by one.
    fn copy(&mut self, dice: &mut Dice) {
        let (Some(from), Some(to)) =
            (dice.pick(&self.spans).cloned(), dice.pick(&self.spans).cloned())
        else {
            return;
        };
        from.zip(to).for_each(|(from, to)| {
            if self.cells[from].label == self.cells[to].label {
                self.cells[to] = self.cells[from].clone();
            }
        });
    }
}
