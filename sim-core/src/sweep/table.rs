//! What a sweep found, as a table: a row for each bug, however many of its runs failed so.

use super::{Bug, Sweep};
use crate::identity::below_workspace;
use crate::run::Target;

const TITLES: [&str; 6] = ["runs", "bytes", "class", "bug", "origin", "smallest input"];

/// How many columns are numbers, which stand at the right.
const NUMBERS: usize = 2;

impl Sweep {
    /// The rows of the table, the titles first; none where nothing was found.
    ///
    /// ```
    /// use sim_core::Target;
    /// use sim_core::sweep::Sweep;
    ///
    /// assert!(Sweep::default().table(&Target::new("kv", |_| {})).is_empty());
    /// ```
    pub fn table(&self, target: &Target) -> Vec<String> {
        if self.bugs.is_empty() {
            return Vec::new();
        }
        let titles = TITLES.map(str::to_owned);
        let rows: Vec<_> =
            [titles].into_iter().chain(self.bugs.iter().map(|bug| row(bug, target))).collect();
        let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
        let widths: [usize; TITLES.len()] = std::array::from_fn(|at| width(at).unwrap_or(0));
        rows.iter().map(|row| aligned(row, &widths)).collect()
    }
}

fn row(bug: &Bug, target: &Target) -> [String; TITLES.len()] {
    let file = bug.file.as_ref().map(|file| below_workspace(file).display().to_string());
    [
        bug.count.to_string(),
        bug.len.to_string(),
        bug.failure.class.to_string(),
        bug.failure.fingerprint(target.name()),
        bug.failure.origin.clone(),
        file.unwrap_or_else(|| "not written".to_owned()),
    ]
}

fn aligned(row: &[String], widths: &[usize]) -> String {
    let cells = row.iter().zip(widths).enumerate().map(|(at, (cell, &width))| match at < NUMBERS {
        true => format!("{cell:>width$}"),
        false => format!("{cell:<width$}"),
    });
    cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
}
