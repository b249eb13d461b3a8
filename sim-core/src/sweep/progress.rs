//! How far a long sweep is: on a terminal a bar, else one line in some seconds, between runs and never
//! within a report.
//!
//! A sweep that ends before the first of them is due shows none, so `cargo test` stays short. Time is
//! handed in; it decides nothing but when something is shown.

use super::Sweep;
use super::bar::Bar;
use crate::identity::say;
use crate::run::Target;
use crate::screen::bars;
use std::time::Duration;

/// The time between two lines.
const INTERVAL: Duration = Duration::from_secs(10);

/// When a bar comes, and the time between two drawings of it.
const BAR_AFTER: Duration = Duration::from_secs(1);
const BAR_INTERVAL: Duration = Duration::from_millis(100);

/// How many bugs are named.
const NAMED_MAX: usize = 3;

/// What a sweep shows of how far it is, and when that is due.
#[derive(Debug)]
pub(super) struct Progress {
    start: Duration,
    next: Duration,
    has_bar: bool,
    bar: Option<Bar>,
}

impl Progress {
    /// Begins at a moment, with a bar where standard error is a terminal.
    pub(super) fn new(now: Duration) -> Progress {
        Progress::of(now, bars().is_some())
    }

    fn of(start: Duration, has_bar: bool) -> Progress {
        let first = if has_bar { BAR_AFTER } else { INTERVAL };
        Progress { start, next: start + first, has_bar, bar: None }
    }

    /// Shows how far a sweep is, where that is due.
    pub(super) fn show(&mut self, now: Duration, sweep: &Sweep, target: &Target) {
        if !self.is_due(now) {
            return;
        }
        let rate = rate(sweep, now - self.start);
        if self.has_bar {
            self.bar = self.bar.take().or_else(|| Bar::new(sweep, target));
            self.bar.iter().for_each(|bar| bar.show(sweep, target, rate));
        } else {
            say(&text(sweep, target, rate));
        }
    }

    /// Whether something is due. What a report took is waited for again from its end.
    fn is_due(&mut self, now: Duration) -> bool {
        let is_due = now >= self.next;
        if is_due {
            self.next = now + if self.has_bar { BAR_INTERVAL } else { INTERVAL };
        }
        is_due
    }
}

/// How many runs there were a second.
fn rate(sweep: &Sweep, time: Duration) -> u128 {
    u128::from(sweep.runs) * 1_000 / time.as_millis().max(1)
}

fn text(sweep: &Sweep, target: &Target, rate: u128) -> String {
    let (name, facts) = (target.name(), facts(sweep, target, rate).join(", "));
    let failures = failures(sweep).join("; ");
    format!("sim: {name} runs {} of {}, {facts}, {failures}", sweep.runs, sweep.asked)
}

/// What there is to say of a sweep beside its failures.
pub(super) fn facts(sweep: &Sweep, target: &Target, rate: u128) -> Vec<String> {
    let places = sweep.marks.of_target(target);
    let reached = places.iter().filter(|(_, tally)| tally.is_reached).count();
    let mut facts =
        vec![format!("{rate} a second"), format!("virtual time {}", rounded(sweep.elapsed))];
    if !places.is_empty() {
        facts.push(format!("marks {reached} of {}", places.len()));
    }
    if sweep.excused > 0 {
        facts.push(format!("excused {}", share(sweep.excused, sweep.runs)));
    }
    facts
}

/// How many runs failed, and for each bug, as far as there is room, how many of them failed so.
pub(super) fn failures(sweep: &Sweep) -> Vec<String> {
    let named = sweep.bugs.iter().take(NAMED_MAX).map(|bug| {
        let (class, origin) = (bug.failure.class, &bug.failure.origin);
        format!("{} {class} at {origin}", bug.count)
    });
    let more = sweep.bugs.len().saturating_sub(NAMED_MAX);
    let more = (more > 0).then(|| format!("{more} bugs more"));
    let count = format!("failures {}", sweep.failures);
    [count].into_iter().chain(named).chain(more).collect()
}

/// A part of a whole in hundredths, with one digit more.
fn share(part: u64, whole: u64) -> String {
    let thousandths = u128::from(part) * 1_000 / u128::from(whole.max(1));
    format!("{}.{} %", thousandths / 10, thousandths % 10)
}

/// A time in the largest unit of which there are two.
fn rounded(time: Duration) -> String {
    match time.as_secs() {
        0..120 => format!("{time:.1?}"),
        seconds @ 120..7_200 => format!("{} min", seconds / 60),
        seconds @ 7_200..172_800 => format!("{} h", seconds / 3_600),
        seconds => format!("{} days", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::{Class, Failure};
    use crate::history::Hash;
    use crate::mark::Place;
    use crate::sweep::Bug;
    use expect_test::expect;

    fn sweep(bugs: u64) -> Sweep {
        let bug = |number: u64| Bug {
            failure: Failure::new(Class::Panic, format!("a.rs:{number}"), "no"),
            seed: number,
            file: None,
            len: 5,
            hash: Hash([0; 32]),
            count: number + 1,
        };
        let elapsed = Duration::from_millis(90_500);
        let bugs: Vec<Bug> = (0..bugs).map(bug).collect();
        Sweep { asked: 9_000, runs: 3_000, failures: 7, elapsed, bugs, ..Sweep::default() }
    }

    #[test]
    fn a_line_comes_once_an_interval_and_none_before_the_first() {
        let start = Duration::from_secs(1_000);
        let mut progress = Progress::of(start, false);
        let after = [0, 9, 10, 11, 19, 35, 44, 45];
        let due = after.map(|seconds| progress.is_due(start + Duration::from_secs(seconds)));
        assert_eq!(due, [false, false, true, false, false, true, false, true]);
    }

    #[test]
    fn a_bar_comes_after_a_second_and_is_drawn_a_few_times_in_one() {
        let start = Duration::from_secs(1_000);
        let mut progress = Progress::of(start, true);
        let after = [0, 999, 1_000, 1_099, 1_100, 5_000, 5_099];
        let due = after.map(|millis| progress.is_due(start + Duration::from_millis(millis)));
        assert_eq!(due, [false, false, true, false, true, true, false]);
    }

    #[test]
    fn a_line_says_how_far_it_is_and_which_bugs_there_are() {
        let target = Target::new("far", |_| {});
        let mut found = sweep(5);
        found.excused = 12;
        assert_eq!(
            text(&found, &target, rate(&found, Duration::from_secs(2))),
            "sim: far runs 3000 of 9000, 1500 a second, virtual time 90.5s, excused 0.4 %, \
             failures 7; 1 panic at a.rs:0; 2 panic at a.rs:1; 3 panic at a.rs:2; 2 bugs more"
        );
        assert!(text(&sweep(0), &target, 0).ends_with("virtual time 90.5s, failures 7"));
    }

    #[test]
    fn a_line_says_how_many_marks_were_reached() {
        static PLACES: [Place; 2] =
            [Place::new("so", "a.rs", 1, 1), Place::new("no", "a.rs", 2, 1)];
        let mut marked = sweep(0);
        let [so, no] = &PLACES;
        marked.marks.evaluate(so, true);
        marked.marks.evaluate(no, false);
        assert_eq!(facts(&marked, &Target::new("far", |_| {}), 7)[2..], ["marks 1 of 2"]);
    }

    #[test]
    fn times_are_in_a_unit_that_fits() {
        let rounded = [0, 119, 120, 7_199, 7_200, 172_799, 172_800, 8_640_000]
            .map(|seconds| rounded(Duration::from_secs(seconds)));
        let texts = ["0.0ns", "119.0s", "2 min", "119 min", "2 h", "47 h", "2 days", "100 days"];
        assert_eq!(rounded, texts);
    }

    #[test]
    fn a_bug_is_one_row_with_its_smallest_input() {
        let mut found = sweep(2);
        found.bugs[1].file = Some("/somewhere/far/panic-min".into());
        found.bugs[1].count = 1_234;
        expect![[r#"
            runs  bytes  class  bug       origin  smallest input
               1      5  panic  c61d9389  a.rs:0  not written
            1234      5  panic  ac6aed7a  a.rs:1  /somewhere/far/panic-min"#]]
        .assert_eq(&found.table(&Target::new("far", |_| {})).join("\n"));
        assert!(sweep(0).table(&Target::new("far", |_| {})).is_empty());
    }
}
