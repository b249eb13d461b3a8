//! Where the decisions of a source come from: a string of bytes, seeded streams, a recording, or a
//! script.
//!
//! It gives raw little-endian words and windows, and keeps no tape. Only a recording and a script
//! look at what a draw is called, and a recording at its bound.
//!
//! Invariants:
//! - Bytes and streams give the same number of bytes at the same call, so a tape of one replays on
//!   the other.
//! - A lane never reads another lane's bytes, but in the flat feed, which has no lanes.
//! - An exhausted lane gives zeros; a seeded lane is never exhausted.

use rand_core::Rng;

use super::answers::Answers;
use super::choice::{Choice, Width};
use super::lane::{Lane, Lanes};
use super::script::Script;
use crate::recording::Recording;
use crate::seed::{Seed, Stream};
use crate::tape::SpanKind;

/// The bytes behind a source, one place a lane.
#[derive(Clone, Debug)]
pub(super) enum Feed {
    /// A decoded input.
    Bytes([Cursor; Lane::COUNT]),
    /// One string for all lanes: what searching without lanes is measured with.
    Flat(Cursor),
    /// A stream a lane, keyed by the lane's path in the seed tree.
    Streams([Stream; Lane::COUNT]),
    /// What another run chose, by name.
    Answers(Box<Answers>),
    /// Choices by their labels.
    Script(Box<Script>),
}

impl Feed {
    /// Makes the feed of bytes that all lanes are read from.
    pub(super) fn flat(bytes: &[u8]) -> Feed {
        let length = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
        Feed::Flat(Cursor { bytes: bytes[..length].to_vec(), position: 0 })
    }

    /// Makes the feed of an input.
    pub(super) fn from_lanes(lanes: Lanes) -> Feed {
        let lanes = lanes.canonical().into_array();
        Feed::Bytes(lanes.map(|bytes| Cursor { bytes, position: 0 }))
    }

    /// Makes the feed of a seed.
    pub(super) fn from_seed(seed: u64) -> Feed {
        let lanes = Seed::root(seed).child("lane");
        Feed::Streams(Lane::ALL.map(|lane| lanes.child(lane.name()).stream()))
    }

    /// Makes the feed of a recording.
    pub(super) fn from_recording(recording: &Recording) -> Feed {
        Feed::Answers(Box::new(Answers::new(recording)))
    }

    /// Takes the next word of a lane, in `0..=choice.width.value_max()`.
    #[inline]
    pub(super) fn take_word(&mut self, lane: Lane, choice: Choice, max: u64) -> u64 {
        let width = choice.width;
        match self {
            Feed::Bytes(cursors) => cursors[lane.index()].take_word(width),
            Feed::Flat(cursor) => cursor.take_word(width),
            Feed::Streams(streams) => streams[lane.index()].next_u64() & width.value_max(),
            Feed::Answers(answers) => answers.value(lane, choice.label, max),
            Feed::Script(script) => {
                let mut word = [0; 8];
                script.take(lane, choice.label, &mut word[..width.bytes()]);
                u64::from_le_bytes(word)
            }
        }
    }

    /// Fills a window of zeros with the next bytes of a lane; what is missing stays zero.
    pub(super) fn fill(&mut self, lane: Lane, label: &'static str, window: &mut [u8]) {
        match self {
            Feed::Bytes(cursors) => cursors[lane.index()].fill(window),
            Feed::Flat(cursor) => cursor.fill(window),
            Feed::Streams(streams) => streams[lane.index()].fill_bytes(window),
            Feed::Answers(answers) => answers.fill(lane, label, window),
            Feed::Script(script) => script.take(lane, label, window),
        }
    }

    /// A span opens.
    pub(super) fn open(&mut self, kind: SpanKind, label: &str) {
        if let Feed::Answers(answers) = self {
            answers.open(kind.name(), label);
        }
    }

    /// The span that opened last closes.
    pub(super) fn close(&mut self) {
        if let Feed::Answers(answers) = self {
            answers.close();
        }
    }

    /// Says whether nothing but zeros can come.
    pub(super) fn is_exhausted(&self, lane: Lane) -> bool {
        match self {
            Feed::Bytes(cursors) => cursors[lane.index()].rest().is_empty(),
            Feed::Flat(cursor) => cursor.rest().is_empty(),
            Feed::Streams(_) | Feed::Answers(_) => false,
            Feed::Script(script) => script.is_exhausted(lane),
        }
    }
}

/// The bytes of one lane and how far they are read.
#[derive(Clone, Debug)]
pub(super) struct Cursor {
    /// Does not end in a zero.
    bytes: Vec<u8>,
    /// At most the length of `bytes`.
    position: usize,
}

impl Cursor {
    #[inline]
    fn rest(&self) -> &[u8] {
        &self.bytes[self.position..]
    }

    #[inline]
    fn take_word(&mut self, width: Width) -> u64 {
        let rest = self.rest();
        if rest.is_empty() {
            return 0;
        }
        let Some(word) = rest.first_chunk::<8>() else { return self.take_last_word(width) };
        let word = u64::from_le_bytes(*word) & width.value_max();
        self.position += width.bytes();
        word
    }

    /// Takes a word where fewer than eight bytes are left; the missing high bytes are zero.
    fn take_last_word(&mut self, width: Width) -> u64 {
        let mut word = [0; 8];
        self.fill(&mut word[..width.bytes()]);
        u64::from_le_bytes(word)
    }

    /// Copies what there is; the window comes as zeros, and the rest of it stays so.
    fn fill(&mut self, window: &mut [u8]) {
        let rest = self.rest();
        let count = rest.len().min(window.len());
        window[..count].copy_from_slice(&rest[..count]);
        self.position += count;
    }
}
