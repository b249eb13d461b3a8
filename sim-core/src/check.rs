//! Judges of a run: checkers, and failures that any code under test may report.
//!
//! The first failure of a run stands: what comes after it is often its consequence.

use crate::failure::{Class, Failure};
use crate::panics;
use std::cell::RefCell;
use std::panic::Location;
use std::rc::Rc;

/// Why a checker is not content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    message: String,
    origin: String,
}

impl Violation {
    /// A violation found at the caller's place in the source.
    #[track_caller]
    pub fn new(message: impl Into<String>) -> Violation {
        Violation { message: message.into(), origin: place(Location::caller()) }
    }

    pub(crate) fn into_failure(self) -> Failure {
        Failure::new(Class::Correctness, self.origin, self.message)
    }
}

/// Judges a run.
pub trait Checker {
    /// Judges after each event.
    ///
    /// # Errors
    /// What is violated.
    fn step(&mut self) -> Result<(), Violation> {
        Ok(())
    }

    /// Judges at the end.
    ///
    /// # Errors
    /// What is violated.
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
#[track_caller]
pub fn fail(message: impl Into<String>) {
    let failure = Failure::new(Class::Correctness, place(Location::caller()), message);
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

/// A place in the source, without its column, so that it survives a reformatting of the line.
pub(crate) fn place(location: &Location<'_>) -> String {
    format!("{}:{}", location.file(), location.line())
}
