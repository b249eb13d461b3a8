//! The report of a night, and its exit code.
//!
//! A bug is a failure of a run or a crash. Units that libFuzzer gave up are neither passed nor failed;
//! slow ones are only slow; faults are of the machinery. None of those is ever a row of the bugs.

use super::fuzzer::Build;
use super::log::Log;
use crate::search::features;
use sim_core::failure::Class;
use sim_core::fuzz::keep::Kept;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What libFuzzer keeps a unit for that is no crash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// It took too long, and ended its process.
    Timeout,
    /// It took too much memory, and ended its process.
    Memory,
    /// It was slow.
    Slow,
}

impl Unit {
    /// Every kind.
    const ALL: [Unit; 3] = [Unit::Timeout, Unit::Memory, Unit::Slow];

    /// The kind of a file by its name; none for one that crashed.
    pub fn of(file: &Path) -> Option<Unit> {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Unit::ALL.into_iter().find(|kind| name.starts_with(kind.prefix()))
    }

    const fn prefix(self) -> &'static str {
        match self {
            Unit::Timeout => "timeout-",
            Unit::Memory => "oom-",
            Unit::Slow => "slow-unit-",
        }
    }
}

/// How a bug stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// No night reported it yet.
    New,
    /// A night before reported it.
    Known,
    /// It is pinned as open, by this file.
    Pinned(String),
    /// It was planted.
    Planted,
}

impl Status {
    fn text(&self) -> &str {
        match self {
            Status::New => "new",
            Status::Known => "known",
            Status::Pinned(_) => "pinned",
            Status::Planted => "planted",
        }
    }
}

/// A bug that was met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bug {
    /// Its target.
    pub target: String,
    /// How it stands.
    pub status: Status,
    /// How often it was met this night.
    pub count: u64,
    /// What is kept of it.
    pub kept: Kept,
}

/// What a build did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Work {
    runs: u64,
    time: Duration,
}

impl Work {
    fn speed(self) -> u64 {
        (u128::from(self.runs) * 1_000 / self.time.as_millis().max(1)) as u64
    }
}

/// What a target did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Its name.
    pub target: String,
    /// Whether it has a bug that a night must find.
    pub is_planted: bool,
    /// How many inputs `corpus/` has.
    pub corpus_before: usize,
    /// How many it needs with what was found.
    pub corpus_after: usize,
    /// Units that are no bugs, with their files.
    pub units: Vec<(Unit, PathBuf)>,
    /// What went wrong around it.
    pub faults: Vec<String>,
    plain: Work,
    asan: Work,
    coverage: u64,
}

impl Row {
    /// A target that did nothing yet.
    pub fn new(target: &str, is_planted: bool) -> Row {
        Row {
            target: target.to_owned(),
            is_planted,
            corpus_before: 0,
            corpus_after: 0,
            units: Vec::new(),
            faults: Vec::new(),
            plain: Work::default(),
            asan: Work::default(),
            coverage: 0,
        }
    }

    /// Adds what a process did.
    pub fn add(&mut self, build: Build, log: &Log, time: Duration) {
        let work = match build {
            Build::Plain => &mut self.plain,
            Build::Asan => &mut self.asan,
        };
        work.runs += log.runs;
        work.time += time;
        // A sanitizer's build has other edges: they are counted where there is no other.
        if build == Build::Plain || self.plain.runs == 0 {
            self.coverage = self.coverage.max(log.coverage);
        }
    }

    /// How many inputs a build ran.
    pub fn runs(&self, build: Build) -> u64 {
        match build {
            Build::Plain => self.plain.runs,
            Build::Asan => self.asan.runs,
        }
    }

    fn count(&self, kind: Unit) -> usize {
        self.units.iter().filter(|(other, _)| *other == kind).count()
    }

    fn cells(&self, bugs: &[Bug]) -> Vec<String> {
        let of_target = |bug: &&Bug| bug.target == self.target;
        let new = bugs.iter().filter(of_target).filter(|bug| bug.status == Status::New).count();
        let other = bugs.iter().filter(of_target).count() - new;
        let numbers = [
            self.plain.runs + self.asan.runs,
            self.plain.speed(),
            self.asan.speed(),
            self.corpus_before as u64,
            self.corpus_after as u64,
            self.coverage,
            new as u64,
            other as u64,
            self.count(Unit::Timeout) as u64,
            self.count(Unit::Memory) as u64,
            self.count(Unit::Slow) as u64,
        ];
        let numbers = numbers.iter().map(u64::to_string);
        std::iter::once(self.target.clone()).chain(numbers).collect()
    }
}

const TITLES: [&str; 12] = [
    "target", "runs", "plain/s", "asan/s", "corpus", "after", "edges", "new", "known", "timeout",
    "memory", "slow",
];

/// The classes of bugs, the worst first: where runs cannot be trusted, the rest says less.
const WORST_FIRST: [Class; 7] = [
    Class::Internal,
    Class::Diverged,
    Class::Correctness,
    Class::Panic,
    Class::Deadlock,
    Class::Liveness,
    Class::Leak,
];

/// A whole night, or what there is of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Night {
    /// What went wrong around the search.
    pub faults: Vec<String>,
    rows: Vec<Row>,
    bugs: Vec<Bug>,
}

impl Night {
    /// Adds what a target did and met.
    pub fn add(&mut self, row: Row, bugs: Vec<Bug>) {
        if row.is_planted && bugs.is_empty() {
            self.faults.push(format!("{}: its planted bug was not found", row.target));
        }
        self.faults.extend(row.faults.iter().cloned());
        self.rows.push(row);
        self.rows.sort_by(|one, other| one.target.cmp(&other.target));
        self.bugs.extend(bugs);
        self.bugs.sort_by(|one, other| {
            (&one.target, &one.kept.fingerprint).cmp(&(&other.target, &other.kept.fingerprint))
        });
    }

    /// The bugs that were met, by target and fingerprint.
    pub fn bugs(&self) -> &[Bug] {
        &self.bugs
    }

    fn new_classes(&self) -> impl Iterator<Item = Class> {
        let new = self.bugs.iter().filter(|bug| bug.status == Status::New);
        new.map(|bug| bug.kept.failure.class)
    }

    /// The code of the worst class that is new; else that of an inconclusive run or unit; else 2 where
    /// something went wrong around the search; else 0.
    pub fn exit_code(&self) -> u8 {
        let is_met = |class: &Class| self.new_classes().any(|met| met == *class);
        let has_ended = |row: &Row| row.units.iter().any(|(kind, _)| *kind != Unit::Slow);
        match WORST_FIRST.into_iter().find(is_met) {
            Some(class) => class.exit_code(),
            None if is_met(&Class::Inconclusive) || self.rows.iter().any(has_ended) => {
                Class::Inconclusive.exit_code()
            }
            None if !self.faults.is_empty() => 2,
            None => 0,
        }
    }

    /// Writes the report as it is now. A night goes on where that fails: it is printed in the end.
    pub fn save(&self, artifacts: &Path) {
        drop(std::fs::write(artifacts.join("report.txt"), self.text()));
    }

    /// The report.
    pub fn text(&self) -> String {
        let mut table = vec![TITLES.map(str::to_owned).to_vec()];
        table.extend(self.rows.iter().map(|row| row.cells(&self.bugs)));
        let mut lines = aligned(&table);
        lines.extend(self.bugs.iter().flat_map(lines_of));
        for (kind, file) in self.rows.iter().flat_map(|row| &row.units) {
            lines.push(format!("unit {}: {}", kind.prefix().trim_end_matches('-'), file.display()));
        }
        lines.extend(self.faults.iter().map(|fault| format!("fault: {fault}")));
        let (bugs, new) = (self.bugs.len(), self.new_classes().count());
        let (faults, code) = (self.faults.len(), self.exit_code());
        lines
            .push(format!("nightly: {bugs} bugs, {new} of them new, {faults} faults, code {code}"));
        lines.push(String::new());
        lines.join("\n")
    }
}

/// The lines of a bug.
fn lines_of(bug: &Bug) -> Vec<String> {
    let Bug { target, status, count, kept } = bug;
    let (class, file) = (kept.failure.class, kept.file.display());
    let mut lines = vec![format!(
        "bug {}: {} target={target} class={class} origin=\"{}\" bytes={} met={count}",
        kept.fingerprint,
        status.text(),
        kept.failure.origin,
        kept.len
    )];
    match status {
        Status::Pinned(pin) => lines.push(format!("  pinned: {pin}")),
        _ => {
            let features: String =
                features([target.as_str()]).iter().map(|word| format!(" {word}")).collect();
            lines.push(format!(
                "  replay: SIM_INPUT={file} SIM_TARGET={target} cargo test{features} --test replay"
            ));
        }
    }
    lines
}

/// Lines of cells as wide as the widest of their column: the first to the left, others to the right.
fn aligned(table: &[Vec<String>]) -> Vec<String> {
    let width = |column: usize| table.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..TITLES.len()).map(width).collect();
    let line = |row: &Vec<String>| {
        let mut line = format!("{:<1$}", row[0], widths[0]);
        for (cell, width) in row.iter().zip(&widths).skip(1) {
            line.push_str(&format!("  {cell:>width$}"));
        }
        line
    };
    table.iter().map(line).collect()
}

#[cfg(test)]
mod tests;
