//! How far a long sweep is: one line in some seconds, between runs and never within a report.
//!
//! A sweep that ends before the first line is due prints none, so `cargo test` stays short. Time is
//! handed in; it decides nothing but when a line is printed.

use super::Sweep;
use crate::run::Target;
use std::time::Duration;

/// The time between two lines.
const INTERVAL: Duration = Duration::from_secs(10);

/// How many bugs a line names.
const NAMED_MAX: usize = 3;

/// When the lines of a sweep are due.
#[derive(Debug)]
pub(super) struct Progress {
    start: Duration,
    next: Duration,
}

impl Progress {
    /// Begins at a moment.
    pub(super) fn new(now: Duration) -> Progress {
        Progress { start: now, next: now + INTERVAL }
    }

    /// The line, where one is due. What a report took is waited for again from its end.
    pub(super) fn line(&mut self, now: Duration, sweep: &Sweep, target: &Target) -> Option<String> {
        if now < self.next {
            return None;
        }
        self.next = now + INTERVAL;
        Some(text(sweep, target, now - self.start))
    }
}

fn text(sweep: &Sweep, target: &Target, time: Duration) -> String {
    let Sweep { asked, runs, failures, elapsed, .. } = sweep;
    let rate = u128::from(*runs) * 1_000 / time.as_millis().max(1);
    let places = sweep.marks.of_target(target);
    let reached = places.iter().filter(|(_, tally)| tally.is_reached).count();
    let mut parts = vec![
        format!("sim: {} runs {runs} of {asked}, {rate} a second", target.name()),
        format!("virtual time {elapsed:.1?}"),
    ];
    if !places.is_empty() {
        parts.push(format!("marks {reached} of {}", places.len()));
    }
    parts.push(format!("failures {failures}{}", bugs(sweep)));
    parts.join(", ")
}

/// How often each bug was met, as far as there is room.
fn bugs(sweep: &Sweep) -> String {
    let named = sweep.bugs.iter().take(NAMED_MAX).map(|bug| {
        let (class, origin) = (bug.failure.class, &bug.failure.origin);
        format!("{class} at {origin}: {}", bug.count)
    });
    let mut named: Vec<String> = named.collect();
    let more = sweep.bugs.len().saturating_sub(NAMED_MAX);
    if more > 0 {
        named.push(format!("{more} more"));
    }
    if named.is_empty() { String::new() } else { format!(" ({})", named.join("; ")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::{Class, Failure};
    use crate::history::Hash;
    use crate::sweep::Bug;

    fn sweep(bugs: u64) -> Sweep {
        let bug = |number: u64| Bug {
            failure: Failure::new(Class::Panic, format!("a.rs:{number}"), "no"),
            seed: number,
            file: None,
            hash: Hash([0; 32]),
            count: number + 1,
        };
        let elapsed = Duration::from_millis(90_500);
        let bugs: Vec<Bug> = (0..bugs).map(bug).collect();
        Sweep { asked: 9_000, runs: 3_000, failures: 7, elapsed, bugs, ..Sweep::default() }
    }

    #[test]
    fn a_line_comes_once_an_interval_and_none_before_the_first() {
        let target = Target::new("far", |_| {});
        let (start, sweep) = (Duration::from_secs(1_000), sweep(0));
        let mut progress = Progress::new(start);
        let after = [0, 9, 10, 11, 19, 35, 44, 45];
        let lines = after.map(|seconds| {
            progress.line(start + Duration::from_secs(seconds), &sweep, &target).is_some()
        });
        assert_eq!(lines, [false, false, true, false, false, true, false, true]);
    }

    #[test]
    fn a_line_says_how_far_it_is_and_which_bugs_there_are() {
        let target = Target::new("far", |_| {});
        let line = text(&sweep(5), &target, Duration::from_secs(2));
        assert!(
            line.starts_with("sim: far runs 3000 of 9000, 1500 a second, virtual time 90.5s, ")
        );
        let bugs =
            "failures 7 (panic at a.rs:0: 1; panic at a.rs:1: 2; panic at a.rs:2: 3; 2 more)";
        assert!(line.ends_with(bugs), "{line}");
        assert!(text(&sweep(0), &target, Duration::ZERO).ends_with("failures 7"));
    }
}
