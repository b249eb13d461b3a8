//! The tapes of inputs, kept for the mutator, which edits choices and not bytes.
//!
//! It is a cache: what it holds changes how long a mutation takes, never what comes of it. Every
//! input that ran comes in, since libFuzzer does not tell which it keeps; what was not asked for
//! since longest goes out.
//!
//! Invariants: it holds no more choices than [`CHOICES_MAX`], but for the tape that came last. Every
//! input that is kept has its place in the order of uses, and no other has one.

use crate::tape::Tape;
use std::collections::BTreeMap;
use std::rc::Rc;

/// How many choices are kept in all: some tens of megabytes.
const CHOICES_MAX: usize = 1 << 19;

/// Tapes by their inputs.
#[derive(Debug, Default)]
pub(super) struct Tapes {
    kept: BTreeMap<Rc<[u8]>, Kept>,
    /// The inputs by the number of their last use.
    order: BTreeMap<u64, Rc<[u8]>>,
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
    /// The tape of an input, where it is known.
    pub(super) fn find(&mut self, bytes: &[u8]) -> Option<Rc<Tape>> {
        let kept = self.kept.get_mut(bytes)?;
        self.uses += 1;
        if let Some(bytes) = self.order.remove(&kept.used) {
            self.order.insert(self.uses, bytes);
        }
        kept.used = self.uses;
        Some(kept.tape.clone())
    }

    /// Keeps the tape of an input.
    pub(super) fn keep(&mut self, bytes: &[u8], tape: Rc<Tape>) {
        if self.find(bytes).is_some() {
            return;
        }
        self.uses += 1;
        self.choices += tape.len();
        let bytes: Rc<[u8]> = bytes.into();
        self.order.insert(self.uses, bytes.clone());
        self.kept.insert(bytes, Kept { tape, used: self.uses });
        while self.choices > CHOICES_MAX && self.order.len() > 1 {
            let Some((_, oldest)) = self.order.pop_first() else { return };
            let gone = self.kept.remove(&oldest);
            self.choices -= gone.map_or(0, |gone| gone.tape.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{Choice, Lane};

    fn tape(len: usize) -> Rc<Tape> {
        let mut tape = Tape::default();
        (0..len).for_each(|_| tape.push_value(Lane::App, Choice::one("one"), 255, 0));
        Rc::new(tape)
    }

    #[test]
    fn what_is_kept_is_known() {
        let mut tapes = Tapes::default();
        assert!(tapes.find(b"a").is_none());
        tapes.keep(b"a", tape(1));
        tapes.keep(b"b", tape(2));
        tapes.keep(b"a", tape(3));
        assert_eq!(tapes.find(b"a").expect("it is kept").len(), 1);
        assert_eq!(tapes.find(b"b").expect("it is kept").len(), 2);
        assert_eq!((tapes.choices, tapes.order.len()), (3, 2));
    }

    #[test]
    fn those_that_were_not_used_for_longest_are_forgotten() {
        let mut tapes = Tapes::default();
        let large = tape(CHOICES_MAX / 2);
        tapes.keep(b"a", large.clone());
        tapes.keep(b"b", large.clone());
        assert!(tapes.find(b"a").is_some());
        tapes.keep(b"c", large.clone());
        assert!(tapes.find(b"b").is_none());
        assert!(tapes.find(b"a").is_some() && tapes.find(b"c").is_some());
        assert_eq!((tapes.choices, tapes.order.len()), (CHOICES_MAX / 2 * 2, 2));
        tapes.keep(b"d", tape(CHOICES_MAX + 1));
        assert!(tapes.find(b"d").is_some() && tapes.find(b"a").is_none());
    }
}
