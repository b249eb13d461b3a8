//! Deletes whole spans: operations, faults, events of a lifecycle.

use super::super::{Shrinker, find_integer};
use crate::tape::{Span, SpanKind};

/// The spans that may go, in their order: those of the swarm stay, their draws always come.
pub(super) fn deletable(shrinker: &Shrinker<'_>) -> Vec<Span> {
    let spans = shrinker.best.draft.spans.iter();
    let may_go = |span: &&Span| span.kind != SpanKind::Swarm && !span.choices.is_empty();
    spans.filter(may_go).cloned().collect()
}

/// Calls `step` for each place of a span, from the last on, with the spans as they are by then.
pub(super) fn from_end(
    shrinker: &mut Shrinker<'_>,
    mut step: impl FnMut(&mut Shrinker<'_>, &[Span], usize),
) {
    for at in (0..deletable(shrinker).len()).rev() {
        let spans = deletable(shrinker);
        if at < spans.len() {
            step(shrinker, &spans, at);
        }
        if shrinker.is_over() {
            return;
        }
    }
}

/// Deletes as many as it can from each place on toward the front, beginning at the end.
pub(super) fn pass(shrinker: &mut Shrinker<'_>) {
    let mut end = deletable(shrinker).len();
    while end > 0 {
        let before = deletable(shrinker);
        end = end.min(before.len());
        if end == 0 {
            return;
        }
        let kind = before[end - 1].kind;
        let from: Vec<usize> = (0..end).rev().filter(|at| before[*at].kind == kind).collect();
        // Each proposal is about the run as it was: the largest that holds is what stays.
        let deleted = find_integer(|count| {
            let Some(gone) = from.get(..count) else { return false };
            delete(shrinker, &before, gone)
        });
        end = end.saturating_sub(deleted.max(1));
        if shrinker.is_over() {
            return;
        }
    }
}

/// Deletes what is between two spans of one kind that are alike, with the first of them.
pub(super) fn between(shrinker: &mut Shrinker<'_>) {
    let mut at = 0;
    loop {
        let spans = deletable(shrinker);
        let Some(first) = spans.get(at) else { return };
        let cells = |span: &Span| shrinker.cells()[span.choices.clone()].to_vec();
        let same = |other: &&usize| {
            spans[**other].kind == first.kind && cells(&spans[**other]) == cells(first)
        };
        let later: Vec<usize> = (at + 2..spans.len()).collect();
        if let Some(last) = later.iter().rev().find(same).copied() {
            let gone: Vec<usize> = (at..last).collect();
            delete(shrinker, &spans, &gone);
        }
        at += 1;
        if shrinker.is_over() {
            return;
        }
    }
}

/// Proposes the run that `spans` are of without some of them.
fn delete(shrinker: &mut Shrinker<'_>, spans: &[Span], gone: &[usize]) -> bool {
    if deletable(shrinker) != spans {
        // It is another run by now: what was asked for less of went already.
        return retry(shrinker, spans, gone);
    }
    shrinker.consider_with(|cells| {
        let is_gone = |at: usize| gone.iter().any(|span| spans[*span].choices.contains(&at));
        let mut at = 0;
        cells.retain(|_| {
            at += 1;
            !is_gone(at - 1)
        });
    })
}

/// As many more as were asked for now than are gone already.
fn retry(shrinker: &mut Shrinker<'_>, before: &[Span], gone: &[usize]) -> bool {
    let now = deletable(shrinker);
    let went = before.len().saturating_sub(now.len());
    let more = gone.len().saturating_sub(went);
    let Some(first) = gone.first().map(|first| (first + 1).saturating_sub(went)) else {
        return false;
    };
    let gone: Vec<usize> = (0..first.min(now.len())).rev().take(more).collect();
    if gone.len() < more || more == 0 {
        return false;
    }
    delete(shrinker, &now, &gone)
}
