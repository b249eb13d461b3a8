//! Makes all of a span the simplest, but for the draw that says that there is one.

use super::super::{Cell, Shrinker};
use super::spans::deletable;

pub(super) fn pass(shrinker: &mut Shrinker<'_>) {
    for at in (0..deletable(shrinker).len()).rev() {
        let Some(span) = deletable(shrinker).get(at).cloned() else { continue };
        let rest = span.choices.start + 1..span.choices.end;
        shrinker.consider_with(|cells| cells[rest].iter_mut().for_each(Cell::zero));
        let first = span.choices.start;
        if shrinker.cells().get(first).and_then(Cell::number).is_some_and(|value| value > 1) {
            shrinker.consider_number(first, 1);
        }
        if shrinker.is_over() {
            return;
        }
    }
}
