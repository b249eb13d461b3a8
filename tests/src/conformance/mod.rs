//! The conformance table: the rows of `tcp-facts/TABLE.md` as code.
//!
//! A row dials, listens, reads and closes with stock tokio and says what it saw, in one line of
//! text. The same row runs on real loopback and on the simulated kernel; what differs is a named
//! exception. It knows nothing of the simulator: a [`Place`] hides where the two ends live.
//!
//! Notation, as in the table: C dials, S accepts; `pending` is no result within 150 ms;
//! `Ok(5 "hello")` is five bytes; `os none` is an error without an errno.
//!
//! Invariants: an id names one row; an exception names a row that exists; an exception that is
//! no longer needed is a failure.

mod address;
mod backlog;
mod close;
pub mod crashed;
mod data;
mod dial;
mod half;
pub mod loopback;
mod names;
mod place;
mod probe;
mod ready;
mod reset;
mod silent;
pub mod simulated;
mod split;
pub mod table;
#[cfg(test)]
mod tests;
mod udp;

use std::sync::LazyLock;
use std::time::Duration;

use tokio::task::JoinError;

pub use place::{Agent, Far, Faults, Kind, LocalBoxFuture, Place, SocketFilter};
pub use udp::udp_rows;

/// How long a row may take before it is observed as `HANG`.
pub const ROW_TIME_MAX: Duration = Duration::from_secs(60);

/// One fact about TCP: how to look, and what is seen.
#[derive(Clone, Copy)]
pub struct Row {
    /// The id in `tcp-facts/TABLE.md`; `-std` marks the blocking half of a split row.
    pub id: &'static str,
    /// The fact, in a few words.
    pub name: &'static str,
    /// What Linux shows.
    pub expected: &'static str,
    /// Whether the row takes a second or more of real time.
    pub slow: bool,
    /// Performs the steps and returns what was seen.
    pub run: fn(Place) -> LocalBoxFuture<'static, String>,
}

impl Row {
    /// Marks a row that takes a second or more of real time.
    const fn slow(self) -> Row {
        Row { slow: true, ..self }
    }
}

/// Makes a [`Row`] of an id, a name, the expected observation and an async function.
macro_rules! row {
    ($id:literal, $name:literal, $expected:expr, $steps:path $(,)?) => {
        $crate::conformance::Row {
            id: $id,
            name: $name,
            expected: $expected,
            slow: false,
            run: |place| Box::pin($steps(place)),
        }
    };
}
use row;

/// A difference between a place and Linux that is known and accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exception {
    /// The row.
    pub id: &'static str,
    /// Where it differs.
    pub place: Kind,
    /// Why it may.
    pub reason: &'static str,
}

/// What an observation is worth.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The place behaves as Linux does.
    Passed,
    /// The place behaves otherwise.
    Failed {
        /// What Linux shows.
        expected: &'static str,
        /// What was seen.
        observed: String,
    },
    /// The place behaves otherwise, for this reason.
    Excepted(&'static str),
    /// The place behaves as Linux does although an exception says that it does not.
    StaleException,
}

impl Verdict {
    /// Says whether the run may be called green: passed, or excepted.
    pub fn is_green(&self) -> bool {
        matches!(self, Verdict::Passed | Verdict::Excepted(_))
    }
}

/// A row with what was seen and what that is worth.
#[derive(Clone)]
pub struct Observation {
    /// The row.
    pub row: Row,
    /// What was seen.
    pub observed: String,
    /// What it is worth.
    pub verdict: Verdict,
}

/// Returns the rows that every place must pass, sorted by id.
pub fn rows() -> Vec<Row> {
    sorted(&[
        dial::REQUIRED,
        backlog::REQUIRED,
        close::REQUIRED,
        reset::REQUIRED,
        half::REQUIRED,
        split::REQUIRED,
        data::REQUIRED,
        ready::REQUIRED,
    ])
}

/// Returns the rows beyond the required ones, sorted by id.
pub fn further_rows() -> Vec<Row> {
    sorted(&[
        dial::FURTHER,
        address::FURTHER,
        names::FURTHER,
        backlog::FURTHER,
        close::FURTHER,
        reset::FURTHER,
        half::FURTHER,
        split::FURTHER,
        data::FURTHER,
        ready::FURTHER,
        silent::FURTHER,
    ])
}

/// Runs a row in the current task's `LocalSet`, at most [`ROW_TIME_MAX`], and says what was seen.
///
/// A row that does not end is observed as `HANG`, one that panics as `PANIC` and its text.
pub async fn observe(row: &Row, place: Place) -> String {
    let mut steps = tokio::task::spawn_local((row.run)(place));
    match tokio::time::timeout(ROW_TIME_MAX, &mut steps).await {
        Ok(Ok(observed)) => observed,
        Ok(Err(error)) => format!("PANIC {}", panic_text(error)),
        Err(_) => {
            steps.abort();
            "HANG".into()
        }
    }
}

/// Judges what a row showed at a place.
pub fn judge(place: Kind, row: &Row, observed: &str) -> Verdict {
    let exception = exceptions().iter().find(|known| known.id == row.id && known.place == place);
    match (observed == row.expected, exception) {
        (true, None) => Verdict::Passed,
        (true, Some(_)) => Verdict::StaleException,
        (false, Some(known)) => Verdict::Excepted(known.reason),
        (false, None) => Verdict::Failed { expected: row.expected, observed: observed.to_owned() },
    }
}

/// Returns the named exceptions, sorted by id, then place.
pub fn exceptions() -> &'static [Exception] {
    &EXCEPTIONS
}

const WAITS_IN_A_CALL: &str =
    "a blocking call that has to wait stops the one thread that everything runs in";
const ANSWER_TAKES_TIME: &str =
    "only on loopback is the RST answered before the first write returns; a route has a latency";

const NO_SIMULTANEOUS_OPEN: &str = "the simulated kernel has no simultaneous open yet";

const fn both(id: &'static str, reason: &'static str) -> [Exception; 2] {
    [
        Exception { id, place: Kind::OneMachine, reason },
        Exception { id, place: Kind::TwoHosts, reason },
    ]
}

const fn far(id: &'static str, reason: &'static str) -> Exception {
    Exception { id, place: Kind::TwoHosts, reason }
}

static EXCEPTIONS: LazyLock<Vec<Exception>> = LazyLock::new(|| {
    let mut list = vec![far("A01-std", WAITS_IN_A_CALL), far("B04", ANSWER_TAKES_TIME)];
    list.extend(both("A32", NO_SIMULTANEOUS_OPEN));
    for id in ["A10", "D09-std", "D17", "F03-std", "F21"] {
        list.extend(both(id, WAITS_IN_A_CALL));
    }
    list.sort_by_key(|exception| (exception.id, exception.place));
    list
});

fn panic_text(error: JoinError) -> String {
    let Ok(payload) = error.try_into_panic() else {
        return "of a canceled task".into();
    };
    match (payload.downcast_ref::<&str>(), payload.downcast_ref::<String>()) {
        (Some(text), _) => (*text).into(),
        (None, Some(text)) => text.clone(),
        (None, None) => "without a text".into(),
    }
}

fn sorted(groups: &[&[Row]]) -> Vec<Row> {
    let mut rows = groups.concat();
    rows.sort_by_key(|row| row.id);
    rows
}
