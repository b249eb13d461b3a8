//! Marks: places that a run should pass, named in the program or its test.
//!
//! A mark is no judge: a run that misses one has not failed. It says what a run has shown, so that a
//! sweep can tell what no run of it did, and a pinned input that it no longer does what it was
//! pinned for. How to place marks is in [`crate::manual::marks`].
//!
//! Invariants: what a mark says changes nothing of a run and is not in its history. Each run has
//! marks of its own. What a process does that is over, or dying, is no mark.

use crate::fnv::Fnv;
use crate::panics;
use std::collections::{BTreeMap, BTreeSet};

#[doc(hidden)]
pub use linkme;

/// A place of a mark in the source.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Of all the rest, so that two places are told apart by one number, mostly.
    hash: u64,
    name: &'static str,
    file: &'static str,
    line: u32,
    column: u32,
}

impl Place {
    /// The place of a mark; what [`sometimes!`](crate::sometimes) is made of.
    pub const fn new(name: &'static str, file: &'static str, line: u32, column: u32) -> Place {
        let texts = Fnv::EMPTY.add_text(name).add_text(file);
        let hash = texts.add(&line.to_le_bytes()).add(&column.to_le_bytes()).value();
        Place { hash, name, file, line, column }
    }

    /// The name of the mark.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The file it is in, as the compiler was told of it.
    pub fn file(&self) -> &'static str {
        self.file
    }

    /// The line it is in.
    pub fn line(&self) -> u32 {
        self.line
    }

    /// The run came here, and the condition of the mark held or not. Outside a run, nothing.
    pub fn evaluate(&'static self, holds: bool) {
        panics::cover(|marks| marks.evaluate(self, holds));
    }
}

/// Every mark of this binary, collected by the linker.
#[linkme::distributed_slice]
pub static PLACES: [Place];

/// What came of a place in a run, or in several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// How often it was evaluated.
    pub evaluated: u64,
    /// Whether its condition ever held.
    pub is_reached: bool,
}

/// The marks of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    places: BTreeMap<&'static Place, Tally>,
    built_in: BTreeSet<String>,
}

impl Marks {
    /// The names of the marks that held, in order: those that were placed and those built in.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        let names: BTreeSet<&str> = self.placed().chain(self.built_in()).collect();
        names.into_iter()
    }

    /// Whether a mark of this name held.
    pub fn contains(&self, name: &str) -> bool {
        self.built_in.contains(name) || self.placed().any(|placed| placed == name)
    }

    /// The names of the `sometimes!` and `reached!` that held, in the order of their places.
    pub fn placed(&self) -> impl Iterator<Item = &str> {
        let reached = self.places.iter().filter(|(_, tally)| tally.is_reached);
        reached.map(|(place, _)| place.name)
    }

    /// The names of what the simulator marks by itself, in order: `control crash` for a control of
    /// that kind that began, `operation Send` for an operation whose `Debug` text begins so.
    pub fn built_in(&self) -> impl Iterator<Item = &str> {
        self.built_in.iter().map(String::as_str)
    }

    /// What came of each place that was evaluated.
    pub fn places(&self) -> impl Iterator<Item = (&'static Place, Tally)> {
        self.places.iter().map(|(place, tally)| (*place, *tally))
    }

    fn evaluate(&mut self, place: &'static Place, holds: bool) {
        let tally = self.places.entry(place).or_default();
        tally.evaluated += 1;
        tally.is_reached |= holds;
    }
}

/// Marks that a condition held, by a name: a literal, and one name a thing to be seen.
///
/// In node code, an operation or a checker; outside a run it does nothing.
///
/// ```
/// # let (replies, crashes) = (1, 0);
/// sim_core::sometimes!(replies > 0 && crashes > 0, "a reply after a crash");
/// ```
#[macro_export]
macro_rules! sometimes {
    ($condition:expr, $name:literal $(,)?) => {{
        #[$crate::mark::linkme::distributed_slice($crate::mark::PLACES)]
        #[linkme(crate = $crate::mark::linkme)]
        static PLACE: $crate::mark::Place =
            $crate::mark::Place::new($name, file!(), line!(), column!());
        PLACE.evaluate($condition);
    }};
}

/// Marks that a place was reached, by a name.
///
/// ```
/// # let is_behind = true;
/// if is_behind {
///     sim_core::reached!("a backup is behind");
/// }
/// ```
#[macro_export]
macro_rules! reached {
    ($name:literal $(,)?) => {
        $crate::sometimes!(true, $name)
    };
}

/// Fails the run where it is met, as [`always!`](crate::always) does; the code goes on.
///
/// Outside a run it panics with the message. It shares its name with std's macro, which ends the
/// program: write the path of the one that is meant.
///
/// ```
/// # let reply = "ok";
/// match reply {
///     "ok" | "no" => {}
///     other => sim_core::unreachable!("no server says {other:?}"),
/// }
/// ```
#[macro_export]
macro_rules! unreachable {
    ($($text:tt)+) => {
        $crate::check::fail(format!($($text)+))
    };
}
