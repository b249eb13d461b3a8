//! Raises one early choice where that lets a span go: a longer pause in place of more operations.

use super::super::{Shrinker, Value};
use super::spans::deletable;
use crate::source::Lane;

/// How many higher values are tried.
const VALUES_MAX: u64 = 8;

/// How many spans are tried with each, from the end on.
const SPANS_MAX: usize = 8;

pub(super) fn pass(shrinker: &mut Shrinker<'_>) {
    for at in 0..shrinker.cells().len() {
        let Some(cell) = shrinker.cells().get(at) else { return };
        let Value::Number { max, value, .. } = cell.value else { continue };
        if cell.lane != Lane::Swarm || max > 255 {
            continue;
        }
        for new in (value + 1..=max).take(VALUES_MAX as usize) {
            if with_deletion(shrinker, at, new) || shrinker.is_over() {
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
