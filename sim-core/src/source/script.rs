//! Choices to be made again by what they were called: a draw takes the next one of its label.
//!
//! It is how edited choices are run. Where an edit changes which draws come, bytes would be read by
//! draws that they were not meant for; here such a draw finds its own, or gives zero. It is not a
//! stored form: what a script's run drew is on its tape, whose bytes make the same run.
//!
//! Invariants:
//! - A draw takes choices of its lane and label only, in their order, and none twice.
//! - A draw that finds none within [`AHEAD`] choices takes none and gives zero; one whose label the
//!   lane never had gives what the script was told to fill in.

use super::lane::Lane;
use crate::seed::Seed;

/// How many choices that nobody asks for are passed over to find one of the right label: those of
/// an operation or a fault.
const AHEAD: usize = 8;

/// Choices by lane and label.
///
/// ```
/// use sim_core::seed::Seed;
/// use sim_core::source::{Choice, Lane, Script, Source};
///
/// let mut script = Script::default();
/// script.push(Lane::App, "first", &[7]);
/// script.push(Lane::App, "second", &[8]);
/// // The first is gone, say: what is left is found by its label, and what is new is filled in.
/// let mut source = Source::from_script(script.filled(Seed::root(1)));
/// assert_eq!(source.draw(Lane::App, Choice::one("second"), 255), 8);
/// let filled = source.draw(Lane::App, Choice::two("third"), 65_535);
/// assert_ne!(filled, source.draw(Lane::App, Choice::two("third"), 65_535));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    parts: [Part; Lane::COUNT],
    fill: Option<Seed>,
    /// How many draws were filled in.
    filled: u64,
}

/// The choices of one lane and how far they are made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Part {
    lines: Vec<Line>,
    bytes: Vec<u8>,
    /// The first line that was not passed.
    next: usize,
}

/// One choice: its label and where its bytes are.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Line {
    label: &'static str,
    start: usize,
    end: usize,
}

impl Script {
    /// Appends a choice: the little-endian bytes of a value, or a window's as they are.
    ///
    /// ```
    /// use sim_core::source::{Choice, Lane, Script, Source};
    ///
    /// let mut script = Script::default();
    /// script.push(Lane::Swarm, "latency", &300_u16.to_le_bytes());
    /// let mut source = Source::from_script(script);
    /// assert_eq!(source.draw(Lane::Swarm, Choice::two("latency"), 1_000), 300);
    /// ```
    pub fn push(&mut self, lane: Lane, label: &'static str, bytes: &[u8]) {
        let part = &mut self.parts[lane.index()];
        let start = part.bytes.len();
        part.bytes.extend_from_slice(bytes);
        part.lines.push(Line { label, start, end: part.bytes.len() });
    }

    /// Has draws that are new to the script give random bytes: what an edit calls up is not always
    /// calm.
    ///
    /// ```
    /// use sim_core::seed::Seed;
    /// use sim_core::source::{Choice, Lane, Script, Source};
    ///
    /// let first = |script| Source::from_script(script).draw(Lane::App, Choice::eight("new"), u64::MAX);
    /// assert_eq!(first(Script::default()), 0);
    /// assert_ne!(first(Script::default().filled(Seed::root(1))), 0);
    /// ```
    #[must_use]
    pub fn filled(mut self, fill: Seed) -> Script {
        self.fill = Some(fill);
        self
    }

    /// Copies the next choice of a label into a buffer of zeros, as much as there is.
    pub(super) fn take(&mut self, lane: Lane, label: &'static str, into: &mut [u8]) {
        let part = &mut self.parts[lane.index()];
        let ahead = part.lines[part.next..].iter().take(AHEAD);
        let Some(passed) = ahead.map(|line| line.label).position(|other| other == label) else {
            return self.fill_in(lane, label, into);
        };
        let Line { start, end, .. } = part.lines[part.next + passed];
        part.next += passed + 1;
        let count = (end - start).min(into.len());
        into[..count].copy_from_slice(&part.bytes[start..start + count]);
    }

    fn fill_in(&mut self, lane: Lane, label: &'static str, into: &mut [u8]) {
        let is_new = self.parts[lane.index()].lines.iter().all(|line| line.label != label);
        if let Some(fill) = self.fill.filter(|_| is_new) {
            self.filled += 1;
            let bytes = fill.child_n(label, self.filled).bytes();
            let count = bytes.len().min(into.len());
            into[..count].copy_from_slice(&bytes[..count]);
        }
    }

    /// Says whether no choice of a lane is left.
    pub(super) fn is_exhausted(&self, lane: Lane) -> bool {
        let part = &self.parts[lane.index()];
        part.next == part.lines.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn expect(script: &mut Script, label: &'static str, value: u8) {
        let mut byte = [0];
        script.take(Lane::Workload, label, &mut byte);
        assert_eq!(byte, [value], "{label}");
    }

    #[test]
    fn a_draw_finds_its_own_where_others_are_gone_or_new() {
        let mut script = Script::default();
        for (label, value) in [("more", 1), ("client", 2), ("op", 3), ("more", 4), ("op", 5)] {
            script.push(Lane::Workload, label, &[value]);
        }
        expect(&mut script, "more", 1);
        expect(&mut script, "op", 3); // The client is passed over.
        expect(&mut script, "wait", 0); // Nothing is taken.
        expect(&mut script, "more", 4);
        expect(&mut script, "op", 5);
        assert!(script.is_exhausted(Lane::Workload));
        expect(&mut script, "more", 0);
    }

    #[test]
    fn what_is_too_far_ahead_stays() {
        let mut script = Script::default();
        (0..AHEAD).for_each(|_| script.push(Lane::Workload, "one", &[1]));
        script.push(Lane::Workload, "other", &[2]);
        expect(&mut script, "other", 0);
        expect(&mut script, "one", 1);
        expect(&mut script, "other", 2);
    }

    #[test]
    fn only_what_is_new_is_filled_in() {
        let mut script = Script::default().filled(Seed::root(1));
        script.push(Lane::Workload, "more", &[7]);
        expect(&mut script, "more", 7);
        expect(&mut script, "more", 0);
        let bytes = [0; 2].map(|_| {
            let mut byte = [0; 8];
            script.take(Lane::Workload, "wait", &mut byte);
            byte
        });
        assert!(bytes[0] != bytes[1] && bytes[0] != [0; 8], "{bytes:?}");
    }

    #[test]
    fn a_wider_draw_reads_zeros() {
        let mut script = Script::default();
        script.push(Lane::Fault, "wait", &[7]);
        let mut word = [0; 2];
        script.take(Lane::Fault, "wait", &mut word);
        assert_eq!(word, [7, 0]);
    }
}
