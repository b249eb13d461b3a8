//! Deletes a span and lowers by one what numbers the spans after it: an operation that names another
//! by its place, a list of places in itself.

use super::super::{Cell, Shrinker};
use super::spans::from_end;

pub(super) fn pass(shrinker: &mut Shrinker<'_>) {
    from_end(shrinker, |shrinker, spans, at| {
        let span = &spans[at];
        // Its place among its kind is what others call it.
        let place = spans[..at].iter().filter(|other| other.kind == span.kind).count() as u64;
        // But for the first draw, which says that there is one.
        let rest = span.choices.start + 1..span.choices.end;
        let labels: Vec<&'static str> =
            shrinker.cells()[rest].iter().map(|cell| cell.label).collect();
        shrinker.consider_with(|cells| {
            cells.drain(span.choices.clone());
            let names = |cell: &&mut Cell| {
                labels.contains(&cell.label) && cell.number().is_some_and(|name| name > place)
            };
            for cell in cells.iter_mut().filter(names) {
                cell.set_number(cell.number().map_or(0, |name| name - 1));
            }
        });
    });
}
