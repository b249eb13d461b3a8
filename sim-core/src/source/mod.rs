//! The source: lanes of bytes, and the one primitive that decides from them.
//!
//! [`Source::draw`] gives a value in `0..=max` from the next bytes of a lane, and everything
//! else here is derived from it. It is not a random number generator: the bytes may come from
//! a fuzzer, a file, a shrinker or a seed, and the same bytes give the same run.
//!
//! Invariants:
//! - Zero is calm. A lane that has no bytes left draws 0, so whoever draws puts the simplest
//!   outcome at 0: no fault, no latency, first in order, stop.
//! - A draw of a kind reads a fixed number of bytes, whatever its bound is at the moment.
//! - Bytes are never mixed or hashed. The value is the little-endian word modulo `max + 1`, so
//!   a small byte is the value itself. Where `max + 1` does not divide the number of words, the
//!   lower values are slightly likelier; they are the calmer ones.
//! - Every draw is on the [`Tape`], and the tape's bytes replay it.

use crate::recording::Recording;
use crate::tape::{SpanKind, Tape};

mod answers;
mod choice;
mod derived;
mod feed;
mod lane;
mod rng;
mod script;

pub use choice::{Choice, Ratio, Width};
pub use lane::{FORMAT, Lane, Lanes};
pub use rng::LaneRng;
pub use script::Script;

use feed::Feed;

/// The decisions of one run, one lane a dimension.
///
/// # Determinism
///
/// Two sources of the same bytes, or of the same seed, give the same values to the same calls.
/// Lanes are independent: calls on one lane do not change what another gives.
///
/// # Examples
///
/// ```
/// use sim_core::source::{Choice, Lane, Source};
///
/// const NODES: Choice = Choice::one("nodes");
///
/// // The first varint is the length of the swarm lane.
/// let mut source = Source::from_bytes(&[1, 4]);
/// assert_eq!(source.draw(Lane::Swarm, NODES, 6), 4);
/// assert_eq!(source.draw(Lane::Swarm, NODES, 6), 0);
///
/// let mut sweep = Source::from_seed(7);
/// let nodes = sweep.draw(Lane::Swarm, NODES, 6);
/// let mut replay = Source::from_bytes(&sweep.tape().to_bytes());
/// assert_eq!(replay.draw(Lane::Swarm, NODES, 6), nodes);
/// ```
#[derive(Clone, Debug)]
pub struct Source {
    feed: Feed,
    tape: Tape,
}

impl Source {
    /// Makes the source of an input; every string of bytes is one.
    ///
    /// ```
    /// use sim_core::source::{Choice, Lane, Source};
    ///
    /// // The swarm lane has one byte, the others none.
    /// let mut source = Source::from_bytes(&[1, 42]);
    /// assert_eq!(source.draw(Lane::Swarm, Choice::one("batch"), 255), 42);
    /// assert_eq!(source.draw(Lane::Workload, Choice::one("go on"), 255), 0);
    /// ```
    pub fn from_bytes(input: &[u8]) -> Source {
        Source::from_lanes(Lanes::decode(input))
    }

    /// Makes the source of one string of bytes that all lanes are drawn from. Its tape replays on
    /// lanes. It is for the comparison of searches ([`manual::search`](crate::manual::search)), not
    /// for inputs that are kept.
    ///
    /// ```
    /// use sim_core::source::{Choice, Lane, Lanes, Source};
    ///
    /// const ONE: Choice = Choice::one("one");
    ///
    /// let mut flat = Source::from_flat(&[7, 8]);
    /// assert_eq!((flat.draw(Lane::App, ONE, 255), flat.draw(Lane::Swarm, ONE, 255)), (7, 8));
    ///
    /// let mut lanes = Lanes::default();
    /// lanes.lane_mut(Lane::App).push(7);
    /// let mut source = Source::from_lanes(lanes);
    /// assert!(source.is_exhausted(Lane::Swarm) && !source.is_exhausted(Lane::App));
    /// assert_eq!(source.draw(Lane::App, ONE, 255), 7);
    /// assert_eq!(source.into_tape().len(), 1);
    /// ```
    pub fn from_flat(bytes: &[u8]) -> Source {
        Source { feed: Feed::flat(bytes), tape: Tape::default() }
    }

    /// Makes the source of lanes that are decoded already.
    ///
    /// ```
    /// use sim_core::source::{Choice, Lane, Lanes, Source};
    ///
    /// let mut lanes = Lanes::default();
    /// lanes.lane_mut(Lane::Fault).push(3);
    /// let mut source = Source::from_lanes(lanes);
    /// assert_eq!(source.draw(Lane::Fault, Choice::one("kind"), 9), 3);
    /// ```
    pub fn from_lanes(lanes: Lanes) -> Source {
        Source { feed: Feed::from_lanes(lanes), tape: Tape::default() }
    }

    /// Makes the source of a seed, whose lanes never run out.
    ///
    /// Each lane has its own stream, the one at `lane`, then the lane's name, below
    /// [`Seed::root`](crate::seed::Seed::root). A draw takes one word of it and keeps the low
    /// bytes that the bytes feed would have read.
    ///
    /// ```
    /// use sim_core::source::{Choice, Lane, Source};
    ///
    /// let first = |seed| Source::from_seed(seed).draw(Lane::App, Choice::eight("key"), u64::MAX);
    /// assert_eq!(first(7), first(7));
    /// assert_ne!(first(7), first(8));
    /// ```
    pub fn from_seed(seed: u64) -> Source {
        Source { feed: Feed::from_seed(seed), tape: Tape::default() }
    }

    /// Makes the source that answers draws as a recording does, by lane, label and span.
    ///
    /// A draw that the recording does not have gives 0, and a value that is too large for the draw
    /// is clipped to its bound.
    ///
    /// ```
    /// use sim_core::recording::Recording;
    /// use sim_core::source::{Choice, Lane, Source};
    ///
    /// let mut source = Source::from_recording(&Recording::default());
    /// assert_eq!(source.draw(Lane::App, Choice::one("new"), 9), 0, "it knows nothing");
    /// ```
    pub fn from_recording(recording: &Recording) -> Source {
        Source { feed: Feed::from_recording(recording), tape: Tape::default() }
    }

    /// Makes the source of choices that are found by their labels.
    ///
    /// ```
    /// use sim_core::source::{Choice, Lane, Script, Source};
    ///
    /// let mut script = Script::default();
    /// script.push(Lane::App, "batch", &[3]);
    /// let mut source = Source::from_script(script);
    /// assert_eq!(source.draw(Lane::App, Choice::one("other"), 9), 0, "it has no such choice");
    /// assert_eq!(source.draw(Lane::App, Choice::one("batch"), 9), 3);
    /// ```
    pub fn from_script(script: Script) -> Source {
        Source { feed: Feed::Script(Box::new(script)), tape: Tape::default() }
    }

    /// Draws a value in `0..=max`.
    ///
    /// A `max` of 0 leaves nothing to decide: it reads no bytes and is not on the tape.
    ///
    /// # Determinism
    ///
    /// One choice; reads `choice.width` bytes of the lane. An exhausted lane gives 0; a draw
    /// that straddles the end of the lane reads the missing high bytes as 0.
    ///
    /// # Panics
    ///
    /// If `max` does not fit the choice's width.
    ///
    /// ```
    /// use sim_core::source::{Choice, Lane, Source};
    ///
    /// let mut source = Source::from_bytes(&[2, 7, 12]);
    /// let dice = Choice::one("dice");
    /// assert_eq!(source.draw(Lane::Swarm, dice, 9), 7, "a small byte is the value itself");
    /// assert_eq!(source.draw(Lane::Swarm, dice, 9), 2, "what is past the bound is taken into it");
    /// ```
    #[inline]
    #[track_caller]
    pub fn draw(&mut self, lane: Lane, choice: Choice, max: u64) -> u64 {
        if max == 0 {
            return 0;
        }
        assert!(
            max <= choice.width.value_max(),
            "the choice `{}` reads {} bytes, which cannot say 0..={max}",
            choice.label,
            choice.width.bytes(),
        );
        let word = self.feed.take_word(lane, choice, max);
        // A word above `max` means that `max + 1` does not overflow.
        let value = if word <= max { word } else { word % (max + 1) };
        self.tape.push_value(lane, choice, max, value);
        value
    }

    /// Reads the next `length` bytes of a lane as they are.
    ///
    /// # Determinism
    ///
    /// One choice, none if `length` is 0; bytes that the lane no longer has are 0.
    ///
    /// ```
    /// use rand_core::Rng;
    /// use sim_core::source::{Lane, LaneRng, Source};
    /// use sim_core::tape::SpanKind;
    ///
    /// let mut source = Source::from_bytes(&[5, 1, 2, 3, 4, 5]);
    /// assert_eq!(source.window(Lane::Swarm, "head", 2), [1, 2]);
    /// let mut buffer = [0; 2];
    /// source.window_into(Lane::Swarm, "next", &mut buffer);
    /// assert_eq!(buffer, [3, 4]);
    ///
    /// source.open(SpanKind::Swarm, "rest");
    /// let mut rng: LaneRng<'_> = source.rng(Lane::Swarm, "number");
    /// assert_eq!(rng.next_u32(), 5);
    /// source.close();
    /// assert_eq!(source.tape().spans().next().map(|span| span.choices), Some(2..3));
    /// ```
    pub fn window(&mut self, lane: Lane, label: &'static str, length: usize) -> Vec<u8> {
        self.take_window(lane, label, length).to_vec()
    }

    /// Fills a buffer with the next bytes of a lane, like [`window`](Source::window).
    ///
    /// ```
    /// use sim_core::source::{Lane, Source};
    ///
    /// let mut buffer = [9; 3];
    /// Source::from_bytes(&[2, 1, 2]).window_into(Lane::Swarm, "key", &mut buffer);
    /// assert_eq!(buffer, [1, 2, 0], "bytes that the lane has not are zero");
    /// ```
    pub fn window_into(&mut self, lane: Lane, label: &'static str, buffer: &mut [u8]) {
        let length = buffer.len();
        buffer.copy_from_slice(self.take_window(lane, label, length));
    }

    /// Gives a view of one lane for what takes a random number generator.
    ///
    /// ```
    /// use rand_core::Rng;
    /// use sim_core::source::{Lane, Source};
    ///
    /// let mut source = Source::from_bytes(&[4, 1, 0, 0, 0]);
    /// assert_eq!(source.rng(Lane::Swarm, "number").next_u32(), 1);
    /// ```
    pub fn rng(&mut self, lane: Lane, label: &'static str) -> LaneRng<'_> {
        LaneRng::new(self, lane, label)
    }

    /// Opens a span: the draws until its [`close`](Source::close) belong together.
    ///
    /// ```
    /// use sim_core::source::{Choice, Lane, Source};
    /// use sim_core::tape::SpanKind;
    ///
    /// let mut source = Source::from_bytes(&[]);
    /// source.open(SpanKind::Operation, "put");
    /// source.draw(Lane::Workload, Choice::one("key"), 9);
    /// source.draw(Lane::Workload, Choice::one("value"), 9);
    /// source.close();
    /// let span = source.tape().spans().next().expect("it was opened");
    /// assert_eq!((span.label, span.choices), ("put", 0..2));
    /// ```
    pub fn open(&mut self, kind: SpanKind, label: &'static str) {
        self.feed.open(kind, label);
        self.tape.open(kind, label);
    }

    /// Closes the span that was opened last.
    ///
    /// # Panics
    ///
    /// If no span is open.
    ///
    /// ```
    /// use sim_core::source::{Choice, Lane, Source};
    /// use sim_core::tape::SpanKind;
    ///
    /// let mut source = Source::from_bytes(&[]);
    /// source.open(SpanKind::Operation, "put");
    /// source.close();
    /// source.draw(Lane::App, Choice::one("later"), 9);
    /// let span = source.tape().spans().next().expect("it was opened");
    /// assert_eq!(span.choices, 0..0, "what came later is not of it");
    /// ```
    #[track_caller]
    pub fn close(&mut self) {
        self.feed.close();
        self.tape.close();
    }

    /// Says whether every further draw on a lane is sure to give 0.
    ///
    /// It is for reports. It must not decide: a tape does not keep the zeros at the end of a
    /// lane, so a replay is exhausted earlier than its original, and a seeded lane never is.
    /// A loop ends by a draw whose 0 means stop.
    ///
    /// ```
    /// use sim_core::source::{Choice, Lane, Source};
    ///
    /// let mut source = Source::from_bytes(&[1, 5]);
    /// assert!(!source.is_exhausted(Lane::Swarm) && source.is_exhausted(Lane::App));
    /// source.draw(Lane::Swarm, Choice::one("batch"), 9);
    /// assert!(source.is_exhausted(Lane::Swarm));
    /// assert!(!Source::from_seed(7).is_exhausted(Lane::Swarm));
    /// ```
    pub fn is_exhausted(&self, lane: Lane) -> bool {
        self.feed.is_exhausted(lane)
    }

    /// Gives the choices so far.
    ///
    /// ```
    /// use sim_core::source::{Choice, Lane, Source};
    ///
    /// let mut source = Source::from_seed(7);
    /// source.draw(Lane::Swarm, Choice::one("batch"), 9);
    /// assert_eq!(source.tape().len(), 1);
    /// ```
    pub fn tape(&self) -> &Tape {
        &self.tape
    }

    /// Gives the choices of the run that is over.
    ///
    /// ```
    /// use sim_core::source::{Choice, Lane, Source};
    ///
    /// let mut source = Source::from_seed(7);
    /// let batch = source.draw(Lane::Swarm, Choice::one("batch"), 9);
    /// let mut replay = Source::from_bytes(&source.into_tape().to_bytes());
    /// assert_eq!(replay.draw(Lane::Swarm, Choice::one("batch"), 9), batch);
    /// ```
    pub fn into_tape(self) -> Tape {
        self.tape
    }

    /// Reads a window straight into the tape, which saves a copy.
    fn take_window(&mut self, lane: Lane, label: &'static str, length: usize) -> &[u8] {
        let window = self.tape.push_window(lane, label, length);
        self.feed.fill(lane, label, window);
        window
    }
}

#[cfg(test)]
mod tests;
