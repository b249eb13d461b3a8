//! The tape: the choices of a run, in the order they were made, and back to bytes.
//!
//! A [`Source`](crate::source::Source) writes it, a shrinker and a report read it. It decides
//! nothing and does not know what a choice was for.
//!
//! Invariants:
//! - A value is at most its bound, and its bound fits its width.
//! - The bytes of the tape, given to the same calls, give the same values.
//! - Spans are nested: one that opens inside another closes inside it. They are in the order of
//!   opening, so an outer span is before its inner ones.

use core::fmt;
use core::ops::Range;

use crate::source::{Choice, Lane, Lanes, Width};

/// What a span of choices decided together.
///
/// ```
/// use sim_core::Target;
/// use sim_core::run::{Input, run};
/// use sim_core::tape::SpanKind;
/// use std::time::Duration;
///
/// let target = Target::new("kv", |sim| drop(sim.dimension("batch", 9)));
/// let tape = run(&target, &Input::Seed(7), Duration::from_secs(60)).tape;
/// assert!(tape.spans().any(|span| span.kind == SpanKind::Swarm));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SpanKind {
    /// The run's configuration, or one dimension of it.
    Swarm,
    /// One operation of the workload.
    Operation,
    /// One event.
    Event,
    /// One fault.
    Fault,
    /// One event of a lifecycle.
    Lifecycle,
}

impl SpanKind {
    /// Gives the name.
    ///
    /// ```
    /// use sim_core::tape::SpanKind;
    ///
    /// assert_eq!(SpanKind::Operation.name(), "operation");
    /// ```
    pub const fn name(self) -> &'static str {
        match self {
            SpanKind::Swarm => "swarm",
            SpanKind::Operation => "operation",
            SpanKind::Event => "event",
            SpanKind::Fault => "fault",
            SpanKind::Lifecycle => "lifecycle",
        }
    }
}

/// A run of choices that belong together.
///
/// ```
/// use sim_core::source::{Choice, Lane, Source};
/// use sim_core::tape::{Span, SpanKind};
///
/// let mut source = Source::from_bytes(&[]);
/// source.open(SpanKind::Fault, "reset");
/// source.draw(Lane::Fault, Choice::one("when"), 9);
/// source.close();
/// let Span { kind, label, choices } = source.tape().spans().next().expect("it was opened");
/// assert_eq!((kind, label, choices), (SpanKind::Fault, "reset", 0..1));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// What the choices decided.
    pub kind: SpanKind,
    /// What the opener called it.
    pub label: &'static str,
    /// The places of its choices on the tape; up to the last choice if it is still open.
    pub choices: Range<usize>,
}

/// One choice of the tape.
///
/// ```
/// use sim_core::source::{Choice, Lane, Source};
///
/// let mut source = Source::from_bytes(&[1, 7]);
/// source.draw(Lane::Swarm, Choice::one("batch"), 9);
/// let entry = source.tape().iter().next().expect("it was drawn");
/// assert_eq!((entry.lane, entry.label), (Lane::Swarm, "batch"));
/// assert_eq!(entry.to_string(), "swarm batch 7/9");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'t> {
    /// Which lane was read.
    pub lane: Lane,
    /// What the draw was called.
    pub label: &'static str,
    /// What was read.
    pub drawn: Drawn<'t>,
}

/// What a choice gave.
///
/// ```
/// use sim_core::source::{Lane, Source};
/// use sim_core::tape::Drawn;
///
/// let mut source = Source::from_bytes(&[2, 1, 2]);
/// source.window(Lane::Swarm, "key", 2);
/// let entry = source.tape().iter().next().expect("it was drawn");
/// assert_eq!(entry.drawn, Drawn::Bytes(&[1, 2]));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drawn<'t> {
    /// A value in `0..=max`.
    Value {
        /// How many bytes it read.
        width: Width,
        /// The bound of the moment; never 0.
        max: u64,
        /// The value.
        value: u64,
    },
    /// A window of bytes as they were; never empty.
    Bytes(&'t [u8]),
}

impl fmt::Display for Entry<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} ", self.lane, self.label)?;
        match self.drawn {
            Drawn::Value { max, value, .. } => write!(f, "{value}/{max}"),
            Drawn::Bytes(bytes) => {
                f.write_str("0x")?;
                bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
            }
        }
    }
}

/// The choices of a run.
///
/// ```
/// use sim_core::source::{Choice, Lane, Source};
/// use sim_core::tape::{Drawn, Entry, Span, SpanKind, Tape};
///
/// let mut source = Source::from_bytes(&[3, 7, 1, 2]);
/// source.open(SpanKind::Swarm, "sizes");
/// source.draw(Lane::Swarm, Choice::one("batch"), 9);
/// source.window(Lane::Swarm, "key", 2);
/// source.close();
///
/// let tape: Tape = source.into_tape();
/// assert!(tape.len() == 2 && !tape.is_empty());
/// let entries: Vec<Entry<'_>> = tape.iter().collect();
/// assert!(matches!(entries[0].drawn, Drawn::Value { max: 9, value: 7, .. }));
/// assert_eq!(entries[1].drawn, Drawn::Bytes(&[1, 2]));
/// assert_eq!(tape.to_string(), "swarm batch 7/9\nswarm key 0x0102\n");
///
/// let span: Span = tape.spans().next().expect("it was opened");
/// assert_eq!((span.kind.name(), span.label, span.choices), ("swarm", "sizes", 0..2));
/// assert_eq!(tape.to_lanes().lane(Lane::Swarm), [7, 1, 2]);
/// assert_eq!(tape.to_bytes(), [3, 7, 1, 2]);
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Tape {
    records: Vec<Record>,
    /// The bytes of all windows, one after the other.
    windows: Vec<u8>,
    spans: Vec<SpanRecord>,
    /// The places in `spans` of those that are open, outermost first.
    open: Vec<usize>,
}

/// A choice as it is stored; small, because a run makes many.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Record {
    label: &'static str,
    /// The bound of a value, the length of a window.
    max: u64,
    /// The value, or where the window starts.
    value: u64,
    lane: Lane,
    /// None for a window.
    width: Option<Width>,
}

/// A span as it is stored.
#[derive(Clone, Copy, PartialEq, Eq)]
struct SpanRecord {
    kind: SpanKind,
    label: &'static str,
    start: usize,
    /// None while it is open.
    end: Option<usize>,
}

impl Tape {
    /// Gives the number of choices.
    ///
    /// ```
    /// use sim_core::source::{Choice, Lane, Source};
    ///
    /// let mut source = Source::from_bytes(&[]);
    /// source.draw(Lane::App, Choice::one("batch"), 9);
    /// source.draw(Lane::App, Choice::one("nothing to decide"), 0);
    /// assert_eq!(source.tape().len(), 1);
    /// ```
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Says whether there is no choice.
    ///
    /// ```
    /// use sim_core::source::Source;
    ///
    /// assert!(Source::from_seed(7).tape().is_empty(), "nothing is drawn yet");
    /// ```
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Iterates over the choices in the order they were made.
    ///
    /// ```
    /// use sim_core::Target;
    /// use sim_core::run::{Input, run};
    /// use std::time::Duration;
    ///
    /// let target = Target::new("kv", |sim| drop(sim.dimension("batch", 9)));
    /// let tape = run(&target, &Input::Seed(7), Duration::from_secs(60)).tape;
    /// assert!(tape.iter().any(|entry| entry.label == "batch"));
    /// ```
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Entry<'_>> + DoubleEndedIterator {
        self.records.iter().map(|record| self.entry(record))
    }

    /// Iterates over the spans in the order they were opened.
    ///
    /// ```
    /// use sim_core::source::Source;
    /// use sim_core::tape::SpanKind;
    ///
    /// let mut source = Source::from_bytes(&[]);
    /// source.open(SpanKind::Operation, "outer");
    /// source.open(SpanKind::Event, "inner");
    /// let labels: Vec<&str> = source.tape().spans().map(|span| span.label).collect();
    /// assert_eq!(labels, ["outer", "inner"]);
    /// ```
    pub fn spans(&self) -> impl ExactSizeIterator<Item = Span> + DoubleEndedIterator {
        self.spans.iter().map(|span| Span {
            kind: span.kind,
            label: span.label,
            choices: span.start..span.end.unwrap_or(self.records.len()),
        })
    }

    /// Gives the bytes of each lane, every choice at its full width.
    ///
    /// So the bytes of a lane's choices follow each other without a gap; zeros at the end stay.
    ///
    /// ```
    /// use sim_core::source::{Choice, Lane, Source};
    ///
    /// let mut source = Source::from_bytes(&[]);
    /// source.draw(Lane::App, Choice::two("size"), 999);
    /// assert_eq!(source.tape().to_lanes().lane(Lane::App), [0, 0], "at its full width");
    /// ```
    pub fn to_lanes(&self) -> Lanes {
        let mut lanes = Lanes::default();
        for entry in self.iter() {
            let lane = lanes.lane_mut(entry.lane);
            match entry.drawn {
                Drawn::Value { width, value, .. } => {
                    lane.extend_from_slice(&value.to_le_bytes()[..width.bytes()]);
                }
                Drawn::Bytes(bytes) => lane.extend_from_slice(bytes),
            }
        }
        lanes
    }

    /// Gives the canonical input of these choices: no zeros at the end of a lane.
    ///
    /// ```
    /// use sim_core::Target;
    /// use sim_core::run::{Input, run};
    /// use std::time::Duration;
    ///
    /// let target = Target::new("kv", |sim| drop(sim.dimension("batch", 9)));
    /// let minute = Duration::from_secs(60);
    /// let found = run(&target, &Input::Seed(7), minute);
    /// let again = run(&target, &Input::Bytes(found.tape.to_bytes()), minute);
    /// assert_eq!(again.hash, found.hash, "the bytes make the run that the seed made");
    /// ```
    pub fn to_bytes(&self) -> Vec<u8> {
        self.to_lanes().canonical().encode()
    }

    /// Opens a span inside those that are open.
    pub(crate) fn open(&mut self, kind: SpanKind, label: &'static str) {
        self.open.push(self.spans.len());
        self.spans.push(SpanRecord { kind, label, start: self.records.len(), end: None });
    }

    /// Closes the innermost open span.
    ///
    /// # Panics
    ///
    /// If no span is open.
    #[track_caller]
    pub(crate) fn close(&mut self) {
        let Some(innermost) = self.open.pop() else { panic!("no span is open") };
        self.spans[innermost].end = Some(self.records.len());
    }

    /// Appends a value, which is at most `max`.
    #[inline]
    pub(crate) fn push_value(&mut self, lane: Lane, choice: Choice, max: u64, value: u64) {
        let Choice { label, width } = choice;
        self.records.push(Record { label, max, value, lane, width: Some(width) });
    }

    /// Appends a window of zeros and gives it to be filled; one of no bytes is no choice.
    pub(crate) fn push_window(
        &mut self,
        lane: Lane,
        label: &'static str,
        length: usize,
    ) -> &mut [u8] {
        let start = self.windows.len();
        if length > 0 {
            let (max, value) = (length as u64, start as u64);
            self.records.push(Record { label, max, value, lane, width: None });
            self.windows.resize(start + length, 0);
        }
        &mut self.windows[start..]
    }

    fn entry(&self, record: &Record) -> Entry<'_> {
        let &Record { label, max, value, lane, width } = record;
        let drawn = match width {
            Some(width) => Drawn::Value { width, max, value },
            None => Drawn::Bytes(&self.windows[value as usize..][..max as usize]),
        };
        Entry { lane, label, drawn }
    }
}

impl fmt::Display for Tape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.iter().try_for_each(|entry| writeln!(f, "{entry}"))
    }
}

impl fmt::Debug for Tape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests;
