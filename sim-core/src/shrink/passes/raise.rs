//! Raises one early choice where that lets a span go: a longer pause in place of more operations.

use super::super::{Shrinker, Value};
use super::spans::deletable;
use crate::source::Lane;
use crate::tape::Span;

/// How many higher values are tried.
const VALUES_MAX: u64 = 8;

/// How many spans are tried with each, from the end on.
const SPANS_MAX: usize = 8;

/// Of at most so many spans each order of neighbors is tried as well.
const REORDERED_MAX: usize = 5;

pub(super) fn pass(shrinker: &mut Shrinker<'_>) {
    each_raise(shrinker, with_deletion);
}

/// Raises an early choice, takes a span out and exchanges two others: what now goes on at once has
/// to begin in another order.
pub(super) fn reorder(shrinker: &mut Shrinker<'_>) {
    if deletable(shrinker).len() <= REORDERED_MAX {
        each_raise(shrinker, with_reorder);
    }
}

/// Calls `step` with each early choice and each of some higher values, up to where it gains.
fn each_raise(
    shrinker: &mut Shrinker<'_>,
    mut step: impl FnMut(&mut Shrinker<'_>, usize, u64) -> bool,
) {
    for at in 0..shrinker.cells().len() {
        let Some(cell) = shrinker.cells().get(at) else { return };
        let Value::Number { max, value, .. } = cell.value else { continue };
        if cell.lane != Lane::Swarm || max > 255 {
            continue;
        }
        for new in (value + 1..=max).take(VALUES_MAX as usize) {
            if step(shrinker, at, new) || shrinker.is_over() {
                break;
            }
        }
    }
}

fn with_deletion(shrinker: &mut Shrinker<'_>, at: usize, new: u64) -> bool {
    let spans = deletable(shrinker);
    spans.iter().rev().take(SPANS_MAX).any(|span| {
        let gone = span.choices.clone();
        shrinker.consider_with(|cells| {
            cells[at].set_number(new);
            cells.drain(gone);
        })
    })
}

fn with_reorder(shrinker: &mut Shrinker<'_>, at: usize, new: u64) -> bool {
    let spans = deletable(shrinker);
    (0..spans.len()).any(|gone| {
        let kept: Vec<&Span> = spans.iter().filter(|span| **span != spans[gone]).collect();
        kept.windows(2).any(|pair| {
            let (one, other) = (pair[0].choices.clone(), pair[1].choices.clone());
            one.end <= other.start
                && shrinker.consider_with(|cells| {
                    cells[at].set_number(new);
                    one.zip(other).for_each(|(one, other)| cells.swap(one, other));
                    cells.drain(spans[gone].choices.clone());
                })
        })
    })
}
