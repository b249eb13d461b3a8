//! A recording: the choices of a run by their names, kept in a file for another build to follow.
//!
//! The bytes of an input say nothing of what they are for, so a change of what a target draws gives
//! them another meaning. A recording says of each choice which lane, label and span it belongs to;
//! [`Source::from_recording`](crate::source::Source::from_recording) answers draws from it by those
//! names, and the tape of that run has the bytes that now mean the same. It is made for one move
//! and is no format to keep inputs in: those are bytes.
//!
//! Invariants:
//! - A recording that is followed by the code it was made with gives the same choices.
//! - A file is read whole or refused: another kind of file, a newer version, a limit, and what comes
//!   after the end are errors.

mod encoding;

use crate::run::Run;
use crate::tape::{Drawn, Entry, Span};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The version of the file of a recording; it is no version of the input format.
pub const VERSION: u32 = 1;

/// What a run chose, and what came of it.
///
/// ```
/// use sim_core::Target;
/// use sim_core::recording::{RecordedChoice, RecordedDrawn, RecordedSpan};
/// use sim_core::recording::{Recording, RecordingError, VERSION};
/// use sim_core::run::{Input, run};
/// use std::time::Duration;
///
/// let target = Target::new("kv", |sim| drop(sim.dimension("batch", 9)));
/// let minute = Duration::from_secs(60);
/// let first = run(&target, &Input::Seed(7), minute);
///
/// let bytes = Recording::of(&first).to_bytes();
/// let recording = Recording::from_bytes(&bytes)?;
/// let is_batch = |choice: &&RecordedChoice| choice.label == "batch";
/// let batch = recording.choices.iter().find(is_batch).expect("it was drawn");
/// assert!(matches!(batch.drawn, RecordedDrawn::Value { max: 9, .. }));
/// let is_batch = |span: &RecordedSpan| span.label == "batch";
/// assert!(recording.spans.iter().any(is_batch));
/// assert_eq!(run(&target, &Input::Recording(recording), minute).hash, first.hash);
///
/// assert_eq!((VERSION, Recording::from_bytes(b"else")), (1, Err(RecordingError::Foreign)));
/// # Ok::<(), RecordingError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recording {
    /// The class that the run failed with; none where it passed.
    pub class: Option<String>,
    /// The names of the marks that it reached, in order.
    pub marks: Vec<String>,
    /// Its choices, in order.
    pub choices: Vec<RecordedChoice>,
    /// The spans of the choices, in the order they were opened.
    pub spans: Vec<RecordedSpan>,
}

/// A choice of a recording.
///
/// ```
/// # use sim_core::Target;
/// # use sim_core::run::{Input, run};
/// # use std::time::Duration;
/// # let minute = Duration::from_secs(60);
/// use sim_core::recording::Recording;
/// let target = Target::new("kv", |sim| drop(sim.dimension("batch", 9)));
/// let recording = Recording::of(&run(&target, &Input::Seed(7), minute));
/// let choice = recording.choices.iter().find(|choice| choice.label == "batch");
/// assert_eq!(choice.expect("it was drawn").lane, "swarm");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedChoice {
    /// The name of the lane.
    pub lane: String,
    /// What the draw was called.
    pub label: String,
    /// What it gave.
    pub drawn: RecordedDrawn,
}

/// What a choice of a recording gave.
///
/// ```
/// use sim_core::recording::RecordedDrawn;
///
/// let value = |drawn: &RecordedDrawn| match drawn {
///     RecordedDrawn::Value { value, .. } => Some(*value),
///     RecordedDrawn::Bytes(_) => None,
/// };
/// assert_eq!(value(&RecordedDrawn::Value { max: 9, value: 3 }), Some(3));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RecordedDrawn {
    /// A value in `0..=max`.
    Value {
        /// The bound of then.
        max: u64,
        /// The value.
        value: u64,
    },
    /// A window of bytes.
    Bytes(Vec<u8>),
}

/// A span of a recording.
///
/// ```
/// # use sim_core::Target;
/// # use sim_core::run::{Input, run};
/// # use std::time::Duration;
/// # let minute = Duration::from_secs(60);
/// use sim_core::recording::Recording;
/// let target = Target::new("kv", |sim| drop(sim.dimension("batch", 9)));
/// let recording = Recording::of(&run(&target, &Input::Seed(7), minute));
/// let span = recording.spans.iter().find(|span| span.label == "batch").expect("it was drawn");
/// assert_eq!((span.kind.as_str(), span.end - span.start), ("swarm", 1));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedSpan {
    /// The name of its kind.
    pub kind: String,
    /// What the opener called it.
    pub label: String,
    /// The place of its first choice.
    pub start: u64,
    /// The place after its last choice.
    pub end: u64,
}

/// Why bytes are no recording.
///
/// ```
/// use sim_core::recording::{Recording, RecordingError};
///
/// let mut bytes = Recording::default().to_bytes();
/// bytes.push(0);
/// assert_eq!(Recording::from_bytes(&bytes), Err(RecordingError::Trailing { count: 1 }));
/// ```
#[derive(Debug, PartialEq, Eq, Error)]
pub enum RecordingError {
    /// They do not begin as one does.
    #[error("not the tape of a run")]
    Foreign,
    /// They are of a version that this build does not know.
    #[error("a tape of version {version}; this build reads version {VERSION}")]
    UnknownVersion {
        /// The version they name.
        version: u32,
    },
    /// They break off, say what cannot be, or are longer than a tape may be.
    #[error("the tape is damaged")]
    Damaged,
    /// Something comes after the end.
    #[error("{count} bytes come after the end of the tape")]
    Trailing {
        /// How many bytes.
        count: usize,
    },
}

impl Recording {
    /// The recording of a run.
    ///
    /// ```
    /// # use sim_core::Target;
    /// # use sim_core::run::{Input, run};
    /// # use std::time::Duration;
    /// # let minute = Duration::from_secs(60);
    /// use sim_core::recording::Recording;
    /// let target = Target::new("kv", |sim| sim.fail("no"));
    /// let recording = Recording::of(&run(&target, &Input::Seed(7), minute));
    /// assert_eq!(recording.class.as_deref(), Some("correctness"));
    /// ```
    pub fn of(run: &Run) -> Recording {
        Recording {
            class: run.class().map(|class| class.name().to_owned()),
            marks: run.marks.iter().map(str::to_owned).collect(),
            choices: run.tape.iter().map(RecordedChoice::of).collect(),
            spans: run.tape.spans().map(RecordedSpan::of).collect(),
        }
    }

    /// Writes it as a file.
    ///
    /// ```
    /// use sim_core::recording::Recording;
    ///
    /// let recording = Recording { marks: vec!["a crash".to_owned()], ..Recording::default() };
    /// assert_eq!(Recording::from_bytes(&recording.to_bytes()), Ok(recording));
    /// ```
    pub fn to_bytes(&self) -> Vec<u8> {
        encoding::encode(self)
    }

    /// Reads a file.
    ///
    /// # Errors
    /// See [`RecordingError`].
    ///
    /// ```
    /// use sim_core::recording::{Recording, RecordingError};
    ///
    /// assert_eq!(Recording::from_bytes(b""), Err(RecordingError::Foreign));
    /// ```
    pub fn from_bytes(bytes: &[u8]) -> Result<Recording, RecordingError> {
        encoding::decode(bytes)
    }
}

impl RecordedChoice {
    fn of(entry: Entry<'_>) -> RecordedChoice {
        let drawn = match entry.drawn {
            Drawn::Value { max, value, .. } => RecordedDrawn::Value { max, value },
            Drawn::Bytes(bytes) => RecordedDrawn::Bytes(bytes.to_vec()),
        };
        let (lane, label) = (entry.lane.name().to_owned(), entry.label.to_owned());
        RecordedChoice { lane, label, drawn }
    }
}

impl RecordedSpan {
    fn of(span: Span) -> RecordedSpan {
        RecordedSpan {
            kind: span.kind.name().to_owned(),
            label: span.label.to_owned(),
            start: span.choices.start as u64,
            end: span.choices.end as u64,
        }
    }
}

#[cfg(test)]
mod tests;
