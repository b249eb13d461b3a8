//! Deletes spans and hands one of their numbers on to the next of their kind: a delay, mostly,
//! whose sum the failure needs.

use super::super::{Cell, Shrinker};
use super::raise::each_value;
use super::spans::{deletable, from_end};
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

/// The most spans that go at once where an early choice is raised.
const WINDOW_MAX: usize = 6;

/// The same for several spans at once, with a higher value of an early choice: it may be what
/// bounds the number that is handed on.
pub(super) fn raised(shrinker: &mut Shrinker<'_>) {
    let mut start = 0;
    while start < deletable(shrinker).len() {
        let gains = (1..=WINDOW_MAX).rev().any(|count| {
            each_value(
                shrinker,
                |now| now + 1,
                |shrinker, at, new| hand_on_all(shrinker, at, new, start, count),
            )
        });
        start += usize::from(!gains);
        if shrinker.is_over() {
            return;
        }
    }
}

fn hand_on_all(
    shrinker: &mut Shrinker<'_>,
    at: usize,
    new: u64,
    start: usize,
    count: usize,
) -> bool {
    let spans = deletable(shrinker);
    let Some((next, gone)) = spans.get(start..=start + count).and_then(<[Span]>::split_last) else {
        return false;
    };
    if gone.iter().any(|span| span.kind != next.kind || span.choices.end > next.choices.start) {
        return false;
    }
    let cells = shrinker.cells();
    let sum = |label: &str| -> u64 {
        let all = gone.iter().flat_map(|span| &cells[span.choices.clone()]);
        all.filter(|cell| cell.label == label).filter_map(Cell::number).sum()
    };
    // Ones say that there is an operation, or which.
    let given = next.choices.clone().map(|place| (place, sum(cells[place].label)));
    let given: Vec<(usize, u64)> = given.filter(|(_, sum)| *sum > count as u64).collect();
    given.into_iter().any(|(place, sum)| {
        shrinker.consider_with(|cells| {
            let number = cells[place].number().unwrap_or(0).saturating_add(sum);
            let number = number.min(cells[place].highest());
            cells[at].set_number(new);
            cells[place].set_number(number);
            gone.iter().rev().for_each(|span| drop(cells.drain(span.choices.clone())));
        })
    })
}

fn add(cell: &mut Cell, value: u64) {
    if let (Some(number), Some(max)) = (cell.number(), cell.max()) {
        cell.set_number(number.saturating_add(value).min(max));
    }
}
