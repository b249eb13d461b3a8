//! What is shrunk: something that runs an input and says how it failed.

use crate::failure::Class;
use crate::history::Hash;
use crate::run::{Input, Target, run};
use crate::tape::Tape;
use std::time::Duration;

/// Which bug a run failed with: class and origin, as in [`crate::failure::Failure`].
pub type Bug = (Class, String);

/// What came of a run.
#[derive(Clone, Debug)]
pub struct Attempt {
    /// Its choices.
    pub tape: Tape,
    /// How it failed; none where it passed.
    pub bug: Option<Bug>,
    /// The hash of its history.
    pub hash: Hash,
    /// Its virtual time.
    pub elapsed: Duration,
    /// How many events it had.
    pub steps: u64,
}

/// Runs inputs.
pub trait Subject {
    /// Runs an input; twice the same is twice the same run.
    fn attempt(&mut self, input: &Input) -> Attempt;
}

/// A target's runs.
#[derive(Clone, Debug)]
pub struct TargetSubject<'t> {
    /// The target.
    pub target: &'t Target,
    /// The most real time of a run.
    pub watchdog: Duration,
}

impl Subject for TargetSubject<'_> {
    fn attempt(&mut self, input: &Input) -> Attempt {
        let run = run(self.target, input, self.watchdog);
        Attempt {
            bug: run.failure.map(|failure| (failure.class, failure.origin)),
            tape: run.tape,
            hash: run.hash,
            elapsed: run.elapsed,
            steps: run.steps,
        }
    }
}
