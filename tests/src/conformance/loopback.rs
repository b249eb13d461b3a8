//! Runs the table on real loopback, which is what it was measured on. Not a test: it judges.

use tokio::runtime;
use tokio::task::LocalSet;

use super::{Kind, Observation, Place, Row, judge, observe};

/// Runs rows one after another, each in a runtime of its own.
///
/// # Panics
///
/// If a runtime cannot be made.
pub fn run_on_loopback(rows: &[Row]) -> Vec<Observation> {
    rows.iter().map(run_one).collect()
}

fn run_one(row: &Row) -> Observation {
    let runtime = runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let observed = LocalSet::new().block_on(&runtime, observe(row, Place::loopback()));
    let verdict = judge(Kind::Loopback, row, &observed);
    Observation { row: *row, observed, verdict }
}
