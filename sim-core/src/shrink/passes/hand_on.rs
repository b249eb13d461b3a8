//! Deletes a span and hands one of its numbers on to the next of its kind: a delay, mostly, whose
//! sum the failure needs.

use super::super::{Cell, Shrinker};
use super::spans::from_end;
use crate::tape::Span;

pub(super) fn pass(shrinker: &mut Shrinker<'_>) {
    from_end(shrinker, |shrinker, spans, at| {
        let span = &spans[at];
        if let Some(next) = spans[at + 1..].iter().find(|next| next.kind == span.kind) {
            hand_on(shrinker, span, next);
        }
    });
}

fn hand_on(shrinker: &mut Shrinker<'_>, span: &Span, next: &Span) -> bool {
    let cells = shrinker.cells();
    let given: Vec<(&'static str, u64)> = cells[span.choices.clone()]
        .iter()
        .filter_map(|cell| Some((cell.label, cell.number().filter(|value| *value > 0)?)))
        .collect();
    given.into_iter().any(|(label, value)| {
        let is_place = |at: &usize| shrinker.cells()[*at].label == label;
        let Some(place) = next.choices.clone().find(is_place) else { return false };
        let gone = span.choices.clone();
        shrinker.consider_with(|cells| {
            add(&mut cells[place], value);
            cells.drain(gone);
        })
    })
}

fn add(cell: &mut Cell, value: u64) {
    if let (Some(number), Some(max)) = (cell.number(), cell.max()) {
        cell.set_number(number.saturating_add(value).min(max));
    }
}
