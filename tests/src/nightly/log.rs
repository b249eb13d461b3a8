//! What a libFuzzer process says while it searches, line by line.
//!
//! It reads lines and keeps numbers, files and the last lines. It judges nothing.

use crate::kernel_fuzz;
use std::collections::{BTreeSet, VecDeque};
use std::path::PathBuf;

/// How many of the last lines are kept.
const TAIL_MAX: usize = 60;

/// What the lines so far say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Log {
    /// How many inputs were run.
    pub runs: u64,
    /// How many edges were covered.
    pub coverage: u64,
    /// The files of units that libFuzzer wrote, in order.
    pub units: Vec<PathBuf>,
    /// What the sanitizer, or libFuzzer in its place, says of the end of the process.
    pub summary: Option<String>,
    /// What [`kernel_fuzz`] says of its failure.
    pub kernel: Option<String>,
    /// What could not be kept.
    pub lost: Vec<String>,
    /// The reports of failures, each named once.
    reports: BTreeSet<String>,
    tail: VecDeque<String>,
}

impl Log {
    /// Reads a line; gives it where it is the first line of a report that is new.
    pub fn read<'l>(&mut self, line: &'l str) -> Option<&'l str> {
        if let Some(numbers) = line.strip_prefix('#') {
            self.read_numbers(numbers);
        } else if let Some(count) = line.strip_prefix("stat::number_of_executed_units:") {
            self.runs = count.trim().parse().unwrap_or(self.runs);
        } else if let Some((_, file)) = line.split_once("Test unit written to ") {
            self.units.push(PathBuf::from(file.trim()));
        } else if let Some(summary) = line.strip_prefix("SUMMARY: ") {
            self.summary = Some(summary.trim().to_owned());
        } else if line.starts_with("sim: cannot keep") {
            self.lost.push(line.to_owned());
        } else if self.tail.back().is_some_and(|last| is_of_kernel(last)) {
            self.kernel = Some(line.trim().to_owned());
        }
        if self.tail.len() == TAIL_MAX {
            self.tail.pop_front();
        }
        self.tail.push_back(line.to_owned());
        let is_new = line.starts_with("sim: FAILED ") && self.reports.insert(line.to_owned());
        is_new.then_some(line)
    }

    /// Reads `123 NEW cov: 45 ft: 67 …`.
    fn read_numbers(&mut self, numbers: &str) {
        let mut words = numbers.split_whitespace();
        self.runs = words.next().and_then(|word| word.parse().ok()).unwrap_or(self.runs);
        let mut words = words.skip_while(|word| *word != "cov:").skip(1);
        self.coverage = words.next().and_then(|word| word.parse().ok()).unwrap_or(self.coverage);
    }

    /// The last lines.
    pub fn tail(&self) -> String {
        self.tail.iter().map(|line| format!("{line}\n")).collect()
    }

    /// The last line that says something.
    pub fn last(&self) -> &str {
        let last = self.tail.iter().rev().find(|line| !line.trim().is_empty());
        last.map_or("it said nothing", String::as_str)
    }

    /// Where a crash comes from, in words that do not differ from one to the next of the same bug.
    pub fn crash_origin(&self) -> String {
        let is_clear = |summary: &&String| !summary.contains("deadly signal");
        let said = self.summary.as_ref().filter(is_clear).or(self.kernel.as_ref());
        kernel_fuzz::without_numbers(said.map_or("the process ended by a signal", String::as_str))
    }
}

fn is_of_kernel(line: &str) -> bool {
    line.starts_with(&format!("sim: FAILED target={} ", kernel_fuzz::NAME))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(text: &str) -> Log {
        let mut log = Log::default();
        for line in text.lines() {
            log.read(line);
        }
        log
    }

    #[test]
    fn the_numbers_are_the_last_that_were_said() {
        let log = log("INFO: Seed: 7\n#3\tINITED cov: 5 ft: 6 corp: 1/1b exec/s: 0 rss: 30Mb\n\
                       #64\tpulse  cov: 9 ft: 12 corp: 3/9b lim: 4 exec/s: 32 rss: 31Mb\n\
                       stat::number_of_executed_units: 70\nstat::peak_rss_mb: 31");
        assert_eq!((log.runs, log.coverage), (70, 9));
        assert_eq!(log.last(), "stat::peak_rss_mb: 31");
    }

    #[test]
    fn units_and_summaries_are_kept() {
        let log = log("SUMMARY: libFuzzer: timeout\n\
                       artifact_prefix='u/'; Test unit written to u/timeout-1\n");
        assert_eq!(log.units, [PathBuf::from("u/timeout-1")]);
        assert_eq!(log.summary.as_deref(), Some("libFuzzer: timeout"));
    }

    #[test]
    fn a_report_is_told_once() {
        let mut log = Log::default();
        let line = "sim: FAILED target=sim_echo class=panic";
        assert_eq!(log.read(line), Some(line));
        assert_eq!(log.read(line), None);
        assert_eq!(log.read("  some panic"), None);
    }

    #[test]
    fn crashes_of_one_place_have_one_origin() {
        let asan = |line: &str| log(&format!("SUMMARY: AddressSanitizer: {line}")).crash_origin();
        let first = asan("heap-use-after-free seam.rs:12 in f /x+0x1f2a");
        assert_eq!(first, "AddressSanitizer: heap-use-after-free seam.rs:# in f /x+#");
        assert_eq!(first, asan("heap-use-after-free seam.rs:12 in f /x+0x77"));
        assert_ne!(first, asan("stack-overflow seam.rs:12 in f /x+0x77"));
        let kernel = "sim: FAILED target=sim_kernel class=internal\n  gave 12, not legal\n  replay: x\n\
                      SUMMARY: libFuzzer: deadly signal";
        assert_eq!(log(kernel).crash_origin(), "gave #, not legal");
        let signal = log("SUMMARY: libFuzzer: deadly signal").crash_origin();
        assert_eq!(signal, "the process ended by a signal");
    }
}
