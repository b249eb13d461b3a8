//! The feed of a recording: a draw is answered by name, not by its place.
//!
//! A recording is a tree of spans. The spans of one kind and label that open inside the same span
//! are told apart by their order, and so are the choices of one lane and label inside a span; that
//! is all the order that counts. So it needs no search for the place where two sequences meet
//! again: a draw that the recording does not have gives 0, one that nobody makes any more is never
//! asked for, and what follows either in another span, lane or label stays where it was.
//!
//! Invariants:
//! - A value is at most the bound of the draw it answers: what is larger is clipped, so it stays as
//!   far from calm as it can.
//! - Code that draws as it did when it was recorded gets what it got then.

use super::lane::Lane;
use crate::recording::{RecordedDrawn, RecordedSpan, Recording};
use std::collections::{BTreeMap, VecDeque};

/// A lane or kind of span, and a label.
type Name = (String, String);

/// What a recording has to say, and how much of it was said.
#[derive(Clone, Debug)]
pub(super) struct Answers {
    /// The first is what is in no span.
    spans: Vec<Answered>,
    /// The spans that the run has open, outermost first; none where the recording lacks it.
    open: Vec<Option<usize>>,
}

/// What is left to say in one span.
#[derive(Clone, Debug, Default)]
struct Answered {
    inner: BTreeMap<Name, VecDeque<usize>>,
    values: BTreeMap<Name, VecDeque<u64>>,
    windows: BTreeMap<Name, VecDeque<Vec<u8>>>,
}

impl Answers {
    pub(super) fn new(recording: &Recording) -> Answers {
        let mut spans = vec![Answered::default()];
        let mut around: Vec<(usize, u64)> = Vec::new();
        let mut next = recording.spans.iter().peekable();
        for (place, choice) in (0..).zip(&recording.choices) {
            while let Some(span) = next.next_if(|span| span.start <= place) {
                open(&mut spans, &mut around, span);
            }
            let span = innermost(&mut around, place);
            let name = (choice.lane.clone(), choice.label.clone());
            match &choice.drawn {
                RecordedDrawn::Value { value, .. } => {
                    spans[span].values.entry(name).or_default().push_back(*value);
                }
                RecordedDrawn::Bytes(bytes) => {
                    spans[span].windows.entry(name).or_default().push_back(bytes.clone());
                }
            }
        }
        Answers { spans, open: Vec::new() }
    }

    /// The run opened a span.
    pub(super) fn open(&mut self, kind: &str, label: &str) {
        let name = (kind.to_owned(), label.to_owned());
        let inner = self.current().and_then(|span| span.inner.get_mut(&name)?.pop_front());
        self.open.push(inner);
    }

    /// The run closed the span that it opened last.
    pub(super) fn close(&mut self) {
        self.open.pop();
    }

    /// The answer to a draw.
    pub(super) fn value(&mut self, lane: Lane, label: &str, max: u64) -> u64 {
        let name = (lane.name().to_owned(), label.to_owned());
        let value = self.current().and_then(|span| span.values.get_mut(&name)?.pop_front());
        value.unwrap_or(0).min(max)
    }

    /// Fills a window of zeros; of one that was longer it takes the front.
    pub(super) fn fill(&mut self, lane: Lane, label: &str, window: &mut [u8]) {
        if window.is_empty() {
            // A window of no bytes is no choice, so it has no answer either.
            return;
        }
        let name = (lane.name().to_owned(), label.to_owned());
        let bytes = self.current().and_then(|span| span.windows.get_mut(&name)?.pop_front());
        for (to, from) in window.iter_mut().zip(bytes.unwrap_or_default()) {
            *to = from;
        }
    }

    fn current(&mut self) -> Option<&mut Answered> {
        match self.open.last() {
            Some(span) => span.map(|span| &mut self.spans[span]),
            None => self.spans.first_mut(),
        }
    }
}

/// Adds a span inside those that are around its start.
fn open(spans: &mut Vec<Answered>, around: &mut Vec<(usize, u64)>, span: &RecordedSpan) {
    let outer = innermost(around, span.start);
    let place = spans.len();
    spans.push(Answered::default());
    let name = (span.kind.clone(), span.label.clone());
    spans[outer].inner.entry(name).or_default().push_back(place);
    around.push((place, span.end));
}

/// The innermost span around a choice; those that ended before it are left.
fn innermost(around: &mut Vec<(usize, u64)>, choice: u64) -> usize {
    while around.pop_if(|(_, end)| *end <= choice).is_some() {}
    around.last().map_or(0, |(place, _)| *place)
}

#[cfg(test)]
mod tests;
