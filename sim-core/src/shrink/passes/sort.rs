//! Puts spans of one kind in the order of their values.

use super::super::{Cell, Shrinker, Value};
use super::spans::deletable;
use crate::tape::Span;

pub(super) fn pass(shrinker: &mut Shrinker<'_>) {
    let mut at = 0;
    loop {
        let spans = deletable(shrinker);
        let Some(first) = spans.get(at) else { return };
        let next = spans[at + 1..].iter().find(|next| next.kind == first.kind);
        let is_gain = next.is_some_and(|next| swap(shrinker, first, next));
        // What was moved forward may go further.
        at = if is_gain { at.saturating_sub(1) } else { at + 1 };
        if shrinker.is_over() {
            return;
        }
    }
}

fn swap(shrinker: &mut Shrinker<'_>, first: &Span, next: &Span) -> bool {
    let cells = shrinker.cells();
    let (one, other) = (&cells[first.choices.clone()], &cells[next.choices.clone()]);
    if first.choices.end > next.choices.start || values(other) >= values(one) {
        return false;
    }
    let (head, middle) =
        (&cells[..first.choices.start], &cells[first.choices.end..next.choices.start]);
    let rest = &cells[next.choices.end..];
    let swapped = [head, other, middle, one, rest].concat();
    shrinker.consider(swapped)
}

fn values(cells: &[Cell]) -> Vec<u64> {
    let values = cells.iter().flat_map(|cell| match &cell.value {
        Value::Number { value, .. } => vec![*value],
        Value::Bytes(bytes) => bytes.iter().map(|byte| u64::from(*byte)).collect(),
    });
    values.collect()
}
