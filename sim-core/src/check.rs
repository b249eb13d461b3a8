//! Judges of a run: checkers, and failures that any code under test may report.
//!
//! The first failure of a run stands: what comes after it is often its consequence.

use crate::failure::{Class, Failure};
use crate::identity::below_workspace;
use crate::panics;
use hostsim::place::portable;
use hostsim::seam::outside::outside_of_run;
use std::cell::RefCell;
use std::panic::Location;
use std::path::Path;
use std::rc::Rc;

/// Why a checker is not content.
///
/// ```
/// use sim_core::{Checker, Violation};
///
/// struct Total(i64);
///
/// impl Checker for Total {
///     fn end(&mut self) -> Result<(), Violation> {
///         match self.0 {
///             100 => Ok(()),
///             other => Err(Violation::new(format!("the total is {other}, not 100"))),
///         }
///     }
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation(Failure);

impl Violation {
    /// A violation found at the caller's place in the source.
    ///
    /// ```
    /// use sim_core::Violation;
    ///
    /// let violation = |total: u64| Violation::new(format!("the total is {total}, not 100"));
    /// assert_eq!(violation(99), violation(99), "one place in the source, one bug");
    /// ```
    #[track_caller]
    pub fn new(message: impl Into<String>) -> Violation {
        Violation(Failure::new(Class::Correctness, place(Location::caller()), message))
    }

    /// The checker cannot tell: the run neither passed nor failed.
    ///
    /// ```
    /// use sim_core::Violation;
    ///
    /// let steps = 1_000_000;
    /// let violation = Violation::inconclusive(format!("no order was found in {steps} steps"));
    /// assert_ne!(violation, Violation::new(format!("no order was found in {steps} steps")));
    /// ```
    #[track_caller]
    pub fn inconclusive(message: impl Into<String>) -> Violation {
        Violation::new(message).into_inconclusive()
    }

    /// Says more, a line each, below the message.
    ///
    /// ```
    /// use sim_core::Violation;
    ///
    /// let read = ["client 0 wrote 1", "client 1 read 0 after that"].map(str::to_owned);
    /// let violation = Violation::new("a read is stale").with(read.to_vec());
    /// assert_ne!(violation, Violation::new("a read is stale"));
    /// ```
    pub fn with(mut self, lines: Vec<String>) -> Violation {
        self.0.details = lines;
        self
    }

    /// What it is as the failure of a run, for tests of a checker.
    ///
    /// ```
    /// assert_eq!(sim_core::Violation::new("a read is stale").failure().message, "a read is stale");
    /// ```
    pub fn failure(&self) -> &Failure {
        &self.0
    }

    /// A violation found for the place where its checker was made, of one of its kinds.
    pub(crate) fn at(place_made: &Location<'_>, kind: &str, message: String) -> Violation {
        let origin = format!("{} {kind}", place(place_made));
        Violation(Failure::new(Class::Correctness, origin, message))
    }

    pub(crate) fn into_inconclusive(mut self) -> Violation {
        self.0.class = Class::Inconclusive;
        self
    }

    pub(crate) fn into_failure(self) -> Failure {
        self.0
    }
}

/// Judges a run.
///
/// ```
/// use sim_core::{Checker, Violation};
///
/// /// A lock that one client at a time may hold.
/// #[derive(Default)]
/// struct Lock(Vec<usize>);
///
/// impl Checker for Lock {
///     fn step(&mut self) -> Result<(), Violation> {
///         match self.0[..] {
///             [] | [_] => Ok(()),
///             ref all => Err(Violation::new(format!("{} clients hold the lock", all.len()))),
///         }
///     }
///
///     fn end(&mut self) -> Result<(), Violation> {
///         if self.0.is_empty() { Ok(()) } else { Err(Violation::new("the lock is never let go")) }
///     }
/// }
///
/// let mut lock = Lock(vec![1]);
/// assert!(lock.step().is_ok() && lock.end().is_err());
/// ```
pub trait Checker {
    /// Judges after each event.
    ///
    /// # Errors
    /// What is violated.
    ///
    /// ```
    /// use sim_core::{Checker, Violation};
    ///
    /// /// The versions that a replica has shown.
    /// struct Versions(Vec<u64>);
    ///
    /// impl Checker for Versions {
    ///     fn step(&mut self) -> Result<(), Violation> {
    ///         if self.0.is_sorted() { Ok(()) } else { Err(Violation::new("a version went back")) }
    ///     }
    /// }
    ///
    /// assert!(Versions(vec![1, 2]).step().is_ok());
    /// assert!(Versions(vec![2, 1]).step().is_err());
    /// ```
    fn step(&mut self) -> Result<(), Violation> {
        Ok(())
    }

    /// Judges at the end.
    ///
    /// # Errors
    /// What is violated.
    ///
    /// ```
    /// use sim_core::{Checker, Violation};
    ///
    /// /// How many jobs are not done.
    /// struct Jobs(usize);
    ///
    /// impl Checker for Jobs {
    ///     fn end(&mut self) -> Result<(), Violation> {
    ///         if self.0 == 0 { Ok(()) } else { Err(Violation::new("a job is lost")) }
    ///     }
    /// }
    ///
    /// assert!(Jobs(1).step().is_ok(), "there is time yet");
    /// assert!(Jobs(1).end().is_err());
    /// ```
    fn end(&mut self) -> Result<(), Violation> {
        Ok(())
    }
}

/// A model that nodes and operations write to is shared with its checker.
impl<C: Checker> Checker for Rc<RefCell<C>> {
    fn step(&mut self) -> Result<(), Violation> {
        self.borrow_mut().step()
    }

    fn end(&mut self) -> Result<(), Violation> {
        self.borrow_mut().end()
    }
}

/// Fails the run, from node code, an operation or a checker; the code goes on.
///
/// Outside a run it panics with the message.
///
/// ```
/// use sim_core::Target;
/// use sim_core::failure::Class;
/// use sim_core::run::{Input, run};
/// use std::time::Duration;
///
/// let target = Target::new("broken", |sim| {
///     sim.client("client", |_| async { sim_core::fail("the reply is not the request") });
/// });
/// let run = run(&target, &Input::Bytes(Vec::new()), Duration::from_secs(60));
/// assert_eq!(run.class(), Some(Class::Correctness));
/// ```
#[track_caller]
pub fn fail(message: impl Into<String>) {
    let failure = Failure::new(Class::Correctness, place(Location::caller()), message);
    if let Err(failure) = panics::report(failure) {
        panic!("{failure}");
    }
}

/// Ends the run without a verdict, for a reason: a precondition that the test states broke, so that
/// the system is not asked for what it promises. From node code, an operation or a checker; the
/// code goes on to its next await.
///
/// An excused run is no failure. A sweep counts such runs and fails where they are too many
/// ([`Target::excused_max`](crate::Target::excused_max)): what is always excused is never tested.
/// What failed before stands. Outside a run it panics with the reason.
///
/// ```
/// use sim_core::Target;
/// use sim_core::failure::Class;
/// use sim_core::run::{Input, run};
/// use std::time::Duration;
///
/// let target = Target::new("late", |sim| {
///     let (late, envelope) = (sim.dimension("late", 9), 5);
///     if late > envelope {
///         sim_core::excuse("the clock service is slower than it promises");
///     }
/// });
/// let minute = Duration::from_secs(60);
/// let mut classes = (0..20).map(|seed| run(&target, &Input::Seed(seed), minute).class());
/// assert!(classes.any(|class| class == Some(Class::Excused)));
/// ```
#[track_caller]
pub fn excuse(reason: impl Into<String>) {
    let failure = Failure::new(Class::Excused, place(Location::caller()), reason);
    if let Err(failure) = panics::report(failure) {
        panic!("{failure}");
    }
}

/// Fails the run where a condition does not hold. The message names the property.
///
/// ```
/// # let (sent, received) = (2, 2);
/// sim_core::always!(received <= sent, "no reply without a request: {received} of {sent}");
/// ```
#[macro_export]
macro_rules! always {
    ($condition:expr, $($text:tt)+) => {
        if !$condition {
            $crate::check::fail(format!($($text)+));
        }
    };
}

/// A place in the source, without its column, so that it survives a reformatting of the line, and
/// without the folders of this machine: cargo tells the compiler the whole path of a package that is
/// not of its workspace, such as the one beside a package of fuzz targets.
pub(crate) fn place(location: &Location<'_>) -> String {
    place_of(location.file(), location.line())
}

fn place_of(file: &str, line: u32) -> String {
    let mut file = portable(file);
    if file.starts_with('/') {
        let below = outside_of_run(|| below_workspace(Path::new(&*file)));
        file = below.to_string_lossy().into_owned().into();
    }
    format!("{file}:{line}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::workspace;

    #[test]
    fn a_place_is_told_from_the_folder_of_the_workspace() {
        let whole = workspace().join("fuzz/../src/kv.rs");
        assert_eq!(place_of(&whole.to_string_lossy(), 7), "src/kv.rs:7");
        assert_eq!(place_of("/elsewhere/src/kv.rs", 7), "/elsewhere/src/kv.rs:7");
        assert_eq!(place_of("../tests/kv.rs", 7), "tests/kv.rs:7");
    }
}
