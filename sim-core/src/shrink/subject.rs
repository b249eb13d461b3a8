//! What is shrunk: something that runs an input and says how it failed.

use crate::failure::Class;
use crate::history::Hash;
use crate::run::{Input, Target, run};
use crate::tape::Tape;
use std::time::Duration;

/// Which bug a run failed with: class and origin, as in [`crate::failure::Failure`].
pub type Bug = (Class, String);

/// What came of a run.
///
/// ```
/// use sim_core::Target;
/// use sim_core::run::Input;
/// use sim_core::shrink::{Attempt, Subject, TargetSubject};
/// use std::time::Duration;
///
/// let target = Target::new("kv", |sim| drop(sim.dimension("batch", 9)));
/// let mut subject = TargetSubject { target: &target, watchdog: Duration::from_secs(60) };
/// let Attempt { tape, bug, .. } = subject.attempt(&Input::Seed(7));
/// assert!(bug.is_none() && !tape.is_empty());
/// ```
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
///
/// What is no system in a simulation is shrunk too: anything that draws.
/// ```
/// use sim_core::failure::Class;
/// use sim_core::history::Hash;
/// use sim_core::run::Input;
/// use sim_core::shrink::{Attempt, Budget, Bug, Subject, shrink};
/// use sim_core::source::{Choice, Lane};
/// use std::time::Duration;
///
/// struct Long;
///
/// impl Subject for Long {
///     fn attempt(&mut self, input: &Input) -> Attempt {
///         let mut source = input.source();
///         let length = source.draw(Lane::Workload, Choice::one("length"), 255);
///         let bug: Option<Bug> = (length > 20).then(|| (Class::Panic, "too long".to_owned()));
///         let tape = source.into_tape();
///         Attempt { tape, bug, hash: Hash([0; 32]), elapsed: Duration::ZERO, steps: 0 }
///     }
/// }
///
/// // The workload lane is the second; the first is empty.
/// let shrunk = shrink(&mut Long, &[0, 1, 200], Budget::default(), &mut |_| {}).expect("it fails");
/// assert_eq!(shrunk.bytes, [0, 1, 21]);
/// ```
pub trait Subject {
    /// Runs an input; twice the same is twice the same run.
    ///
    /// ```
    /// use sim_core::Target;
    /// use sim_core::run::Input;
    /// use sim_core::shrink::{Subject, TargetSubject};
    /// use std::time::Duration;
    ///
    /// let target = Target::new("kv", |sim| drop(sim.dimension("batch", 9)));
    /// let mut subject = TargetSubject { target: &target, watchdog: Duration::from_secs(60) };
    /// let mut hash = || subject.attempt(&Input::Seed(7)).hash;
    /// assert_eq!(hash(), hash());
    /// ```
    fn attempt(&mut self, input: &Input) -> Attempt;
}

/// A target's runs.
///
/// ```
/// use sim_core::Target;
/// use sim_core::run::Input;
/// use sim_core::shrink::{Subject, TargetSubject};
/// use std::time::Duration;
///
/// let target = Target::new("kv", |sim| sim.fail("no"));
/// let mut subject = TargetSubject { target: &target, watchdog: Duration::from_secs(60) };
/// let attempt = subject.attempt(&Input::Bytes(Vec::new()));
/// assert!(attempt.bug.is_some());
/// ```
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
