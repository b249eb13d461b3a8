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
use crate::run::Target;
use std::collections::{BTreeMap, BTreeSet};

#[doc(hidden)]
pub use linkme;

/// A place of a mark in the source.
///
/// ```
/// use sim_core::mark::Place;
/// use sim_core::run::{Input, run};
/// use sim_core::{Target, reached};
/// use std::time::Duration;
///
/// let target = Target::new("marked", |_| reached!("the body is met"));
/// let run = run(&target, &Input::Bytes(Vec::new()), Duration::from_secs(60));
/// let (place, _): (&Place, _) = run.marks.places().next().expect("it was evaluated");
/// assert_eq!((place.name(), place.file()), ("the body is met", target.file()));
/// ```
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
    #[doc(hidden)]
    pub const fn new(name: &'static str, file: &'static str, line: u32, column: u32) -> Place {
        let texts = Fnv::EMPTY.add_text(name).add_text(file);
        let hash = texts.add(&line.to_le_bytes()).add(&column.to_le_bytes()).value();
        Place { hash, name, file, line, column }
    }

    /// The name of the mark.
    ///
    /// ```
    /// # use sim_core::Target;
    /// # use sim_core::run::{Input, run};
    /// # use std::time::Duration;
    /// # let minute = Duration::from_secs(60);
    /// let target = Target::new("marked", |_| sim_core::reached!("here"));
    /// let marks = run(&target, &Input::Seed(7), minute).marks;
    /// assert_eq!(marks.places().next().map(|(place, _)| place.name()), Some("here"));
    /// ```
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The file it is in, as the compiler was told of it.
    ///
    /// ```
    /// # use sim_core::Target;
    /// # use sim_core::run::{Input, run};
    /// # use std::time::Duration;
    /// # let minute = Duration::from_secs(60);
    /// let target = Target::new("marked", |_| sim_core::reached!("here"));
    /// let marks = run(&target, &Input::Seed(7), minute).marks;
    /// assert_eq!(marks.places().next().map(|(place, _)| place.file()), Some(target.file()));
    /// ```
    pub fn file(&self) -> &'static str {
        self.file
    }

    /// The line it is in.
    ///
    /// ```
    /// # use sim_core::Target;
    /// # use sim_core::run::{Input, run};
    /// # use std::time::Duration;
    /// # let minute = Duration::from_secs(60);
    /// let target = Target::new("marked", |_| {
    ///     sim_core::reached!("first");
    ///     sim_core::reached!("second");
    /// });
    /// let marks = run(&target, &Input::Seed(7), minute).marks;
    /// let lines: Vec<u32> = marks.places().map(|(place, _)| place.line()).collect();
    /// assert_eq!(lines[0].abs_diff(lines[1]), 1);
    /// ```
    pub fn line(&self) -> u32 {
        self.line
    }

    /// The run came here, and the condition of the mark held or not. Outside a run, nothing.
    #[doc(hidden)]
    pub fn evaluate(&'static self, holds: bool) {
        panics::cover(|coverage| coverage.on_mark(self, holds));
    }
}

/// Every mark of this binary, collected by the linker.
#[doc(hidden)]
#[linkme::distributed_slice]
pub static PLACES: [Place];

/// What came of a place in a run, or in several.
///
/// ```
/// use sim_core::mark::Tally;
/// use sim_core::run::{Input, run};
/// use sim_core::{Target, sometimes};
/// use std::time::Duration;
///
/// let target = Target::new("marked", |_| {
///     for attempt in 0..3 {
///         sometimes!(attempt > 5, "many attempts");
///     }
/// });
/// let run = run(&target, &Input::Bytes(Vec::new()), Duration::from_secs(60));
/// let (_, tally) = run.marks.places().next().expect("it was evaluated");
/// assert_eq!(tally, Tally { evaluated: 3, is_reached: false });
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// How often it was evaluated.
    pub evaluated: u64,
    /// Whether its condition ever held.
    pub is_reached: bool,
}

/// The marks of a run.
///
/// ```
/// use sim_core::run::{Input, run};
/// use sim_core::{Target, reached, sometimes};
/// use std::time::Duration;
///
/// fn body(sim: &mut sim_core::Sim) {
///     reached!("the body is met");
///     sometimes!(sim.dimension("rare", 255) > 0, "it is rare");
/// }
///
/// let target = Target::new("marked", body);
/// let marks = run(&target, &Input::Bytes(Vec::new()), Duration::from_secs(60)).marks;
/// assert!(marks.contains("the body is met") && !marks.contains("it is rare"));
/// assert_eq!(marks.placed().chain(marks.built_in()).collect::<Vec<_>>(), ["the body is met"]);
/// assert_eq!(marks.iter().count(), 1);
///
/// let (place, tally) = marks.places().find(|(place, _)| place.name() == "it is rare").unwrap();
/// assert_eq!((tally.evaluated, tally.is_reached), (1, false));
/// assert!(place.line() > 0 && place.file() == target.file());
/// assert!(marks.of_target(&target).len() >= 2, "with those that no run came to");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    places: BTreeMap<&'static Place, Tally>,
    controls: BTreeSet<&'static str>,
    /// The names of the marks of operations, by their kind.
    operations: BTreeMap<String, String>,
}

impl Marks {
    /// The names of the marks that held, in order: those that were placed and those built in.
    ///
    /// ```
    /// # use sim_core::Target;
    /// # use sim_core::run::{Input, run};
    /// # use std::time::Duration;
    /// # let minute = Duration::from_secs(60);
    /// let target = Target::new("marked", |_| {
    ///     sim_core::reached!("here");
    ///     sim_core::reached!("after");
    /// });
    /// let marks = run(&target, &Input::Seed(7), minute).marks;
    /// assert_eq!(marks.iter().collect::<Vec<_>>(), ["after", "here"]);
    /// ```
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        let names: BTreeSet<&str> = self.placed().chain(self.built_in()).collect();
        names.into_iter()
    }

    /// Whether a mark of this name held.
    ///
    /// ```
    /// # use sim_core::Target;
    /// # use sim_core::run::{Input, run};
    /// # use std::time::Duration;
    /// # let minute = Duration::from_secs(60);
    /// let target = Target::new("marked", |_| sim_core::sometimes!(1 > 2, "never"));
    /// assert!(!run(&target, &Input::Seed(7), minute).marks.contains("never"));
    /// ```
    pub fn contains(&self, name: &str) -> bool {
        self.placed().chain(self.built_in()).any(|held| held == name)
    }

    /// The names of the `sometimes!` and `reached!` that held, in the order of their places.
    ///
    /// ```
    /// # use sim_core::Target;
    /// # use sim_core::run::{Input, run};
    /// # use std::time::Duration;
    /// # let minute = Duration::from_secs(60);
    /// let target = Target::new("marked", |_| sim_core::reached!("here"));
    /// assert_eq!(run(&target, &Input::Seed(7), minute).marks.placed().collect::<Vec<_>>(), ["here"]);
    /// ```
    pub fn placed(&self) -> impl Iterator<Item = &str> {
        let reached = self.places.iter().filter(|(_, tally)| tally.is_reached);
        reached.map(|(place, _)| place.name)
    }

    /// The names of what the simulator marks by itself, in order: `control crash` for a control that
    /// began and that [`Control::crash`](crate::control::Control::crash) makes, `operation Send` for
    /// an operation that began and whose `Debug` text begins with that word.
    ///
    /// ```
    /// # use sim_core::Target;
    /// # use sim_core::run::{Input, run};
    /// # use std::time::Duration;
    /// # let minute = Duration::from_secs(60);
    /// use sim_core::control::Control;
    /// let target = Target::new("marked", |sim| {
    ///     let db = sim.node("db", |_| std::future::pending::<()>());
    ///     sim.at(Duration::ZERO, Control::pause(&db));
    ///     sim.client("clock", |_| async { tokio::time::sleep(Duration::from_secs(1)).await });
    /// });
    /// let marks = run(&target, &Input::Seed(7), minute).marks;
    /// assert_eq!(marks.built_in().collect::<Vec<_>>(), ["control pause"]);
    /// ```
    pub fn built_in(&self) -> impl Iterator<Item = &str> {
        self.controls.iter().copied().chain(self.operations.values().map(String::as_str))
    }

    /// What came of each place that was evaluated.
    ///
    /// ```
    /// # use sim_core::Target;
    /// # use sim_core::run::{Input, run};
    /// # use std::time::Duration;
    /// # let minute = Duration::from_secs(60);
    /// let target = Target::new("marked", |_| sim_core::sometimes!(1 > 2, "never"));
    /// let marks = run(&target, &Input::Seed(7), minute).marks;
    /// let (_, tally) = marks.places().next().expect("it was evaluated");
    /// assert!(!tally.is_reached);
    /// ```
    pub fn places(&self) -> impl Iterator<Item = (&'static Place, Tally)> {
        self.places.iter().map(|(place, tally)| (*place, *tally))
    }

    /// What came of each mark of a target, in the order of the source.
    ///
    /// Its marks are those in the file that made the target, those in files below the folder that
    /// is named like that file (`kv.rs`, `kv/replica.rs`), and those that were evaluated.
    ///
    /// ```
    /// # use sim_core::Target;
    /// # use sim_core::run::{Input, run};
    /// # use std::time::Duration;
    /// # let minute = Duration::from_secs(60);
    /// let target = Target::new("marked", |sim| {
    ///     if sim.dimension("rare", 255) > 0 {
    ///         sim_core::reached!("it is rare");
    ///     }
    /// });
    /// let marks = run(&target, &Input::Bytes(Vec::new()), minute).marks;
    /// let missed = |name: &str| marks.of_target(&target).iter().any(|(place, _)| place.name() == name);
    /// assert!(missed("it is rare"), "though no run came there");
    /// ```
    pub fn of_target(&self, target: &Target) -> Vec<(&'static Place, Tally)> {
        let own = PLACES.iter().filter(|place| is_of(target.file(), place.file));
        let own = own.map(|place| (place, Tally::default()));
        let all: BTreeMap<_, _> = own.chain(self.places()).collect();
        let mut all: Vec<_> = all.into_iter().collect();
        all.sort_by_key(|(place, _)| (place.file, place.line, place.column));
        all
    }

    /// Adds the marks of another run of the same target.
    pub(crate) fn merge(&mut self, other: &Marks) {
        for (place, tally) in other.places() {
            let sum = self.places.entry(place).or_default();
            sum.evaluated += tally.evaluated;
            sum.is_reached |= tally.is_reached;
        }
        self.controls.extend(&other.controls);
        other.operations.keys().for_each(|kind| self.add_operation(kind));
    }

    /// Adds what came of a place; whether it is reached for the first time.
    pub(crate) fn evaluate(&mut self, place: &'static Place, holds: bool) -> bool {
        let tally = self.places.entry(place).or_default();
        tally.evaluated += 1;
        let is_new = holds && !tally.is_reached;
        tally.is_reached |= holds;
        is_new
    }

    /// A control began: its mark.
    pub(crate) fn add_control(&mut self, mark: &'static str) {
        self.controls.insert(mark);
    }

    /// An operation of a kind began, or one whose text begins with no word.
    pub(crate) fn add_operation(&mut self, kind: &str) {
        if !self.operations.contains_key(kind) {
            let mark =
                if kind.is_empty() { "operation".to_owned() } else { format!("operation {kind}") };
            self.operations.insert(kind.to_owned(), mark);
        }
    }
}

/// Whether a file is the one that made a target, or in the folder beside it that has its name. The
/// folder of `mod.rs` is the one it is in.
fn is_of(made_in: &str, file: &str) -> bool {
    let stem = made_in.strip_suffix(".rs").unwrap_or(made_in);
    let folder = stem.strip_suffix("/mod").unwrap_or(stem);
    file == made_in || file.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
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

#[cfg(test)]
mod tests {
    use super::{Marks, Place, Tally, is_of};

    #[test]
    fn marks_are_of_the_target_beside_them() {
        let cases = [
            ("src/kv.rs", true),
            ("src/kv/replica.rs", true),
            ("src/kv/store/log.rs", true),
            ("src/kv_planted.rs", false),
            ("src/echo.rs", false),
            ("src/kv", false),
        ];
        for (file, is_own) in cases {
            assert_eq!(is_of("src/kv.rs", file), is_own, "{file}");
        }
        assert!(is_of("src/kv/mod.rs", "src/kv/replica.rs"));
        assert!(!is_of("src/kv/mod.rs", "src/echo.rs"));
    }

    /// The marks of two runs are what either reached.
    #[test]
    fn marks_of_runs_add_up() {
        static ONE: Place = Place::new("one", "src/a.rs", 1, 1);
        static TWO: Place = Place::new("two", "src/a.rs", 2, 1);
        let (mut first, mut second) = (Marks::default(), Marks::default());
        assert!(first.evaluate(&ONE, true));
        assert!(!first.evaluate(&ONE, true), "it was reached before");
        assert!(!second.evaluate(&ONE, false));
        assert!(!second.evaluate(&TWO, false));
        first.add_control("control crash");
        second.add_operation("Send");
        second.add_operation("");
        first.merge(&second);
        let tallies: Vec<Tally> = first.places().map(|(_, tally)| tally).collect();
        assert!(tallies.contains(&Tally { evaluated: 3, is_reached: true }));
        assert!(tallies.contains(&Tally { evaluated: 1, is_reached: false }));
        let names: Vec<&str> = first.iter().collect();
        assert_eq!(names, ["control crash", "one", "operation", "operation Send"]);
    }
}
