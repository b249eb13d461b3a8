//! The tapes of inputs, kept for the mutator, which edits choices and not bytes.
//!
//! It is a cache: what it holds changes how long a mutation takes, never what comes of it.
//!
//! Invariant: it holds no more choices than [`CHOICES_MAX`], but for the tape used last.

use crate::tape::Tape;
use std::collections::BTreeMap;
use std::rc::Rc;

/// How many choices are kept in all: some tens of megabytes.
const CHOICES_MAX: usize = 1 << 19;

/// Tapes by their inputs.
#[derive(Debug, Default)]
pub(super) struct Tapes {
    /// The input that ran last: mostly it is the one that is mutated next.
    last: Option<(Vec<u8>, Rc<Tape>)>,
    kept: BTreeMap<Vec<u8>, Kept>,
    choices: usize,
    uses: u64,
}

#[derive(Debug)]
struct Kept {
    tape: Rc<Tape>,
    /// The number of its last use.
    used: u64,
}

impl Tapes {
    /// An input was run.
    pub(super) fn on_run(&mut self, bytes: Vec<u8>, tape: Tape) {
        self.last = Some((bytes, Rc::new(tape)));
    }

    /// The tape of an input, where it is known.
    pub(super) fn find(&mut self, bytes: &[u8]) -> Option<Rc<Tape>> {
        self.uses += 1;
        if let Some(kept) = self.kept.get_mut(bytes) {
            kept.used = self.uses;
            return Some(kept.tape.clone());
        }
        let (last, tape) = self.last.as_ref()?;
        (last == bytes).then(|| tape.clone())
    }

    /// Keeps a tape, and forgets those that were not used for longest where there are too many.
    pub(super) fn keep(&mut self, bytes: &[u8], tape: Rc<Tape>) {
        self.choices += tape.len();
        let kept = Kept { tape, used: self.uses };
        if let Some(before) = self.kept.insert(bytes.to_vec(), kept) {
            self.choices -= before.tape.len();
        }
        while self.choices > CHOICES_MAX && self.kept.len() > 1 {
            let oldest = self.kept.iter().min_by_key(|(_, kept)| kept.used);
            let Some(bytes) = oldest.map(|(bytes, _)| bytes.clone()) else { return };
            let gone = self.kept.remove(&bytes);
            self.choices -= gone.map_or(0, |gone| gone.tape.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{Choice, Lane};

    fn tape(len: usize) -> Tape {
        let mut tape = Tape::default();
        (0..len).for_each(|_| tape.push_value(Lane::App, Choice::one("one"), 255, 0));
        tape
    }

    #[test]
    fn the_last_is_known_and_what_is_kept_stays_known() {
        let mut tapes = Tapes::default();
        assert!(tapes.find(b"a").is_none());
        tapes.on_run(b"a".to_vec(), tape(1));
        let found = tapes.find(b"a").expect("it ran last");
        tapes.keep(b"a", found);
        tapes.on_run(b"b".to_vec(), tape(2));
        assert_eq!(tapes.find(b"a").expect("it is kept").len(), 1);
        assert_eq!(tapes.find(b"b").expect("it ran last").len(), 2);
        tapes.on_run(b"c".to_vec(), tape(3));
        assert!(tapes.find(b"b").is_none());
    }

    #[test]
    fn those_that_were_not_used_for_longest_are_forgotten() {
        let mut tapes = Tapes::default();
        let large = Rc::new(tape(CHOICES_MAX / 2));
        for name in [b"a", b"b"] {
            tapes.find(name);
            tapes.keep(name, large.clone());
        }
        assert!(tapes.find(b"a").is_some());
        tapes.keep(b"c", large.clone());
        assert!(tapes.find(b"b").is_none());
        assert!(tapes.find(b"a").is_some() && tapes.find(b"c").is_some());
        tapes.keep(b"c", large);
        assert_eq!(tapes.choices, CHOICES_MAX / 2 * 2);
    }
}
