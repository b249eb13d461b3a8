//! What went wrong in a run: its class, where it comes from, and what to show of it.
//!
//! A failure is data. It is never turned into an `io::Error` and never `?`-ed away. Two failures of
//! the same class and origin are the same bug.

use sha2::{Digest, Sha256};
use std::fmt;

/// The class of a failure.
///
/// ```
/// use sim_core::failure::Class;
///
/// assert_eq!(Class::from_name("deadlock"), Some(Class::Deadlock));
/// assert_eq!((Class::Deadlock.name(), Class::Deadlock.exit_code()), ("deadlock", 112));
/// assert_eq!(Class::ALL.len(), 9);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// A checker, `always!` or [`fail`](crate::check::fail) said so.
    Correctness,
    /// Code of a node panicked.
    Panic,
    /// Nothing is pending, no timer is set, and work is left.
    Deadlock,
    /// Tasks or threads stayed where the node said that it drains.
    Leak,
    /// A bound in virtual time passed.
    Liveness,
    /// Two runs of one input differ.
    Diverged,
    /// A stated precondition broke: not a failure.
    Excused,
    /// A limit or the watchdog ended the run: neither passed nor failed.
    Inconclusive,
    /// A bug of the simulator.
    Internal,
}

impl Class {
    /// Every class.
    pub const ALL: [Class; 9] = [
        Class::Correctness,
        Class::Panic,
        Class::Deadlock,
        Class::Leak,
        Class::Liveness,
        Class::Diverged,
        Class::Excused,
        Class::Inconclusive,
        Class::Internal,
    ];

    /// The class of this name.
    ///
    /// ```
    /// use sim_core::failure::Class;
    ///
    /// assert_eq!(Class::from_name("leak"), Some(Class::Leak));
    /// assert_eq!(Class::from_name("Leak"), None);
    /// ```
    pub fn from_name(name: &str) -> Option<Class> {
        Class::ALL.into_iter().find(|class| class.name() == name)
    }

    /// The exit code of sweeps and replays that end with this class.
    ///
    /// ```
    /// use sim_core::failure::Class;
    ///
    /// assert_eq!((Class::Correctness.exit_code(), Class::Excused.exit_code()), (110, 0));
    /// ```
    pub const fn exit_code(self) -> u8 {
        match self {
            Class::Correctness => 110,
            Class::Panic => 111,
            Class::Deadlock => 112,
            Class::Leak => 113,
            Class::Liveness => 114,
            Class::Diverged => 115,
            Class::Excused => 0,
            Class::Inconclusive => 116,
            Class::Internal => 117,
        }
    }

    /// The name in reports and files.
    ///
    /// ```
    /// use sim_core::failure::Class;
    ///
    /// assert_eq!(Class::Liveness.name(), "liveness");
    /// assert!(Class::ALL.into_iter().all(|class| Class::from_name(class.name()) == Some(class)));
    /// ```
    pub const fn name(self) -> &'static str {
        match self {
            Class::Correctness => "correctness",
            Class::Panic => "panic",
            Class::Deadlock => "deadlock",
            Class::Leak => "leak",
            Class::Liveness => "liveness",
            Class::Diverged => "diverged",
            Class::Excused => "excused",
            Class::Inconclusive => "inconclusive",
            Class::Internal => "internal",
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Why a run did not pass.
///
/// ```
/// use sim_core::failure::{Class, Failure};
///
/// let first = Failure::new(Class::Panic, "src/db.rs:7", "index out of bounds");
/// let again = Failure::new(Class::Panic, "src/db.rs:7", "index 9 out of bounds");
/// assert!(first.is_same_bug(&again), "the message does not count");
/// assert_eq!(first.fingerprint("db"), again.fingerprint("db"));
/// assert_eq!(first.to_string(), "panic at src/db.rs:7: index out of bounds");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The class.
    pub class: Class,
    /// Where it comes from: a place in the source, or a name that stays the same from run to run.
    pub origin: String,
    /// One line for a person.
    pub message: String,
    /// More lines: what each node waits for, the two sides of a difference.
    pub details: Vec<String>,
}

impl Failure {
    /// A failure without details.
    ///
    /// ```
    /// use sim_core::failure::{Class, Failure};
    ///
    /// let failure = Failure::new(Class::Correctness, "kv", "a reply is lost");
    /// assert_eq!(failure.to_string(), "correctness at kv: a reply is lost");
    /// assert!(failure.details.is_empty());
    /// ```
    pub fn new(class: Class, origin: impl Into<String>, message: impl Into<String>) -> Failure {
        Failure { class, origin: origin.into(), message: message.into(), details: Vec::new() }
    }

    /// Whether both are the same bug.
    ///
    /// ```
    /// use sim_core::failure::{Class, Failure};
    ///
    /// let lost = Failure::new(Class::Correctness, "kv", "reply 3 is lost");
    /// assert!(lost.is_same_bug(&Failure::new(Class::Correctness, "kv", "reply 5 is lost")));
    /// assert!(!lost.is_same_bug(&Failure::new(Class::Panic, "kv", "reply 3 is lost")));
    /// ```
    pub fn is_same_bug(&self, other: &Failure) -> bool {
        self.class == other.class && self.origin == other.origin
    }

    /// Names the bug in eight hex digits, for tools that group reports: the same target, class and
    /// origin give the same name in every process and build.
    ///
    /// ```
    /// use sim_core::failure::{Class, Failure};
    ///
    /// let failure = Failure::new(Class::Correctness, "kv", "reply 3 is lost");
    /// assert_eq!(failure.fingerprint("kv").len(), 8);
    /// assert_ne!(failure.fingerprint("kv"), failure.fingerprint("queue"), "another target");
    /// ```
    pub fn fingerprint(&self, target: &str) -> String {
        let mut hash = Sha256::new();
        for part in [target, self.class.name(), &self.origin] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        hash.finalize().iter().take(4).map(|byte| format!("{byte:02x}")).collect()
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}: {}", self.class, self.origin, self.message)
    }
}

/// Asserts a rule of the simulator itself: its breach is class `internal`, never the user's bug.
macro_rules! internal_assert {
    ($condition:expr, $($text:tt)+) => {
        if !$condition {
            panic!("{}{}", $crate::failure::INTERNAL_PREFIX, format_args!($($text)+));
        }
    };
}

pub(crate) use internal_assert;

/// What the panic of an [`internal_assert!`] begins with.
pub(crate) const INTERNAL_PREFIX: &str = "internal: ";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes_are_those_of_the_contract() {
        let codes = [
            (Class::Correctness, 110),
            (Class::Panic, 111),
            (Class::Deadlock, 112),
            (Class::Leak, 113),
            (Class::Liveness, 114),
            (Class::Diverged, 115),
            (Class::Excused, 0),
            (Class::Inconclusive, 116),
            (Class::Internal, 117),
        ];
        assert_eq!(codes.map(|(class, _)| class), Class::ALL);
        for (class, code) in codes {
            assert_eq!(class.exit_code(), code, "{class}");
            assert_eq!(Class::from_name(class.name()), Some(class));
        }
        assert_eq!(Class::from_name("dead"), None);
    }

    #[test]
    fn the_same_bug_has_the_same_class_and_origin() {
        let first = Failure::new(Class::Panic, "a.rs:1", "one");
        let second = Failure::new(Class::Panic, "a.rs:1", "two");
        assert!(first.is_same_bug(&second));
        assert!(!first.is_same_bug(&Failure::new(Class::Deadlock, "a.rs:1", "one")));
    }

    #[test]
    fn a_fingerprint_is_of_target_class_and_origin_for_ever() {
        let name = |target, class, origin: &str, message: &str| {
            Failure::new(class, origin, message).fingerprint(target)
        };
        let first = name("db", Class::Panic, "a.rs:1", "one");
        assert_eq!(first, "7db8b611");
        assert_eq!(first, name("db", Class::Panic, "a.rs:1", "two"));
        let others = [
            name("kv", Class::Panic, "a.rs:1", "one"),
            name("db", Class::Deadlock, "a.rs:1", "one"),
            name("db", Class::Panic, "a.rs:2", "one"),
        ];
        assert!(!others.contains(&first));
    }
}
