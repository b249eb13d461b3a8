//! Makes all of a span the simplest, but for the draw that says that there is one.

use super::super::{Cell, Shrinker};
use super::spans::from_end;

pub(super) fn pass(shrinker: &mut Shrinker<'_>) {
    from_end(shrinker, |shrinker, spans, at| {
        let choices = &spans[at].choices;
        let (first, rest) = (choices.start, choices.start + 1..choices.end);
        shrinker.consider_with(|cells| cells[rest].iter_mut().for_each(Cell::zero));
        if shrinker.cells().get(first).and_then(Cell::number).is_some_and(|value| value > 1) {
            shrinker.consider_number(first, 1);
        }
    });
}
