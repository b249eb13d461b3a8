//! Raises one early choice where that lets a span go: a longer pause in place of more operations.

use super::super::{Shrinker, Value};
use super::spans::deletable;
use crate::source::Lane;

/// How many higher values are tried.
const VALUES_MAX: u64 = 8;

/// How many spans are tried with each, from the end on.
const SPANS_MAX: usize = 8;

/// Of at most so many spans each order of neighbors is tried as well.
const REORDERED_MAX: usize = 5;

pub(super) fn pass(shrinker: &mut Shrinker<'_>) {
    each_value(shrinker, |now| now + 1, with_deletion);
}

/// Gives an early choice another value, exchanges two spans and may take one out: what goes on at
/// once now has to begin in another order.
pub(super) fn reorder(shrinker: &mut Shrinker<'_>) {
    if deletable(shrinker).len() <= REORDERED_MAX {
        each_value(shrinker, |_| 0, with_reorder);
    }
}

/// Calls `step` with each early choice and each of some values, from the first on, up to where it
/// gains; whether it did somewhere.
pub(super) fn each_value(
    shrinker: &mut Shrinker<'_>,
    first: impl Fn(u64) -> u64,
    mut step: impl FnMut(&mut Shrinker<'_>, usize, u64) -> bool,
) -> bool {
    let mut gains = false;
    for at in 0..shrinker.cells().len() {
        let Some(cell) = shrinker.cells().get(at) else { return gains };
        let Value::Number { max, value, .. } = cell.value else { continue };
        if cell.lane != Lane::Swarm || max > 255 {
            continue;
        }
        for new in (first(value)..=max).take(VALUES_MAX as usize) {
            if step(shrinker, at, new) {
                gains = true;
                break;
            }
            if shrinker.is_over() {
                return gains;
            }
        }
    }
    gains
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
    let spans: Vec<_> = deletable(shrinker).into_iter().map(|span| span.choices).collect();
    // The place after the last is that of none.
    (0..=spans.len()).rev().any(|gone| {
        let is_kept = |place: &usize| *place != gone;
        let kept: Vec<usize> = (0..spans.len()).filter(is_kept).collect();
        kept.windows(2).any(|pair| {
            let (one, other) = (spans[pair[0]].clone(), spans[pair[1]].clone());
            one.end <= other.start
                && shrinker.consider_with(|cells| {
                    cells[at].set_number(new);
                    one.zip(other).for_each(|(one, other)| cells.swap(one, other));
                    spans.get(gone).cloned().into_iter().for_each(|gone| drop(cells.drain(gone)));
                })
        })
    })
}
