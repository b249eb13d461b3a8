//! What a node's program may return: its exit code, as `main` has it.

use std::fmt::Debug;

/// How a program ends: what [`std::process::Termination`] is to `main`.
///
/// ```
/// use sim_core::termination::Termination;
///
/// assert_eq!(().end(), (0, None));
/// assert_eq!(7.end(), (7, None));
/// let refused: Result<(), &str> = Err("no port");
/// assert_eq!(refused.end(), (1, Some("Error: \"no port\"".to_owned())));
/// ```
pub trait Termination {
    /// The exit code, and what is printed to the standard error.
    ///
    /// ```
    /// use sim_core::termination::Termination;
    ///
    /// assert_eq!(3.end(), (3, None));
    /// ```
    fn end(self) -> (i32, Option<String>);
}

impl Termination for () {
    fn end(self) -> (i32, Option<String>) {
        (0, None)
    }
}

impl Termination for i32 {
    fn end(self) -> (i32, Option<String>) {
        (self, None)
    }
}

impl<T: Termination, E: Debug> Termination for Result<T, E> {
    fn end(self) -> (i32, Option<String>) {
        match self {
            Ok(value) => value.end(),
            Err(error) => (1, Some(format!("Error: {error:?}"))),
        }
    }
}

/// The type of what never returns, which has no name of its own on a stable compiler.
type Never = <fn() -> ! as Returns>::Output;

#[doc(hidden)]
pub trait Returns {
    type Output;
}

impl<T> Returns for fn() -> T {
    type Output = T;
}

/// A program that serves for ever.
impl Termination for Never {
    fn end(self) -> (i32, Option<String>) {
        self
    }
}
