//! Runs that are remembered: shrinks of many inputs of one bug propose the same runs again and
//! again, and a run is a function of its input.
//!
//! For measuring alone: where a run is to show that it does the same again, this shows nothing.

use sha2::{Digest, Sha256};
use sim_core::run::Input;
use sim_core::shrink::{Attempt, Subject};
use sim_core::tape::Tape;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What came of each input so far, by its hash; threads share it.
#[derive(Debug, Default)]
pub struct Memory(Mutex<BTreeMap<[u8; 32], Attempt>>);

impl Memory {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<[u8; 32], Attempt>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many runs were made.
    pub fn runs(&self) -> usize {
        self.lock().len()
    }
}

/// A subject whose runs are made once.
#[derive(Debug)]
pub struct Remembering<'m, S> {
    /// Who makes them.
    pub subject: S,
    /// Where they are kept.
    pub memory: &'m Memory,
}

impl<S: Subject> Subject for Remembering<'_, S> {
    fn attempt(&mut self, input: &Input) -> Attempt {
        let key: [u8; 32] = Sha256::digest(format!("{input:?}")).into();
        if let Some(known) = self.memory.lock().get(&key) {
            return known.clone();
        }
        let mut made = self.subject.attempt(input);
        if made.bug.is_none() {
            // Nobody asks what a run chose that did not fail.
            made.tape = Tape::default();
        }
        self.memory.lock().insert(key, made.clone());
        made
    }
}
