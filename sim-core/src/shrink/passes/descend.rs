//! Puts a span in place of the span of its kind that it is in: a part of an expression for the
//! whole.

use super::super::Shrinker;
use super::spans::from_end;
use crate::tape::Span;

/// How many inner spans are tried for each outer one.
const INNER_MAX: usize = 8;

pub(super) fn pass(shrinker: &mut Shrinker<'_>) {
    from_end(shrinker, |shrinker, spans, at| {
        let outer = &spans[at];
        let is_inner = |inner: &&Span| {
            inner.kind == outer.kind
                && inner.label == outer.label
                && inner.choices.end <= outer.choices.end
                && inner.choices.len() < outer.choices.len()
        };
        let inner =
            spans[at + 1..].iter().take_while(|inner| inner.choices.end <= outer.choices.end);
        inner.filter(is_inner).take(INNER_MAX).any(|inner| {
            shrinker.consider_with(|cells| {
                let kept = cells[inner.choices.clone()].to_vec();
                cells.splice(outer.choices.clone(), kept);
            })
        });
    });
}
