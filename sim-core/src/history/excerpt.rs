//! The lines of a trace that a report shows: a short trace whole, of a long one its end, and of what
//! came before that what often explains it.
//!
//! What says nothing to whoever knows the plan counts as no line here: the plan itself, the numbers of
//! hosts, and timers of machines.

use super::{Entry, Event, Trace};

/// The most lines of a trace that is shown whole.
const WHOLE_MAX: usize = 60;

/// How many of the last lines of a longer one are shown.
const LAST: usize = 30;

/// The most lines that are shown of what came before those.
const BEFORE_MAX: usize = 20;

/// What stands where lines are left out.
const GAP: &str = "…";

/// Lines of a trace, and in words which.
pub(crate) struct Excerpt {
    pub(crate) what: String,
    pub(crate) lines: Vec<String>,
}

impl Excerpt {
    /// The excerpt of a trace.
    pub(crate) fn new(trace: &Trace<'_>) -> Excerpt {
        let telling = || trace.entries().filter(is_telling);
        let all = telling().count();
        if all <= WHOLE_MAX {
            let lines = telling().map(|entry| trace.entry(&entry)).collect();
            let what = if all == 1 { "1 line".to_owned() } else { format!("{all} lines") };
            return Excerpt { what, lines };
        }
        let last = all - LAST;
        let before = telling().enumerate().take(last).filter(|(_, entry)| is_notable(entry));
        let before: Vec<_> = before.collect();
        let shown = &before[before.len().saturating_sub(BEFORE_MAX)..];
        let before_them = what_of(before.len());
        let what = format!("the last {LAST} of {all} lines{before_them}; SIM_TRACE=text has all");
        let (mut lines, mut next) = (Vec::new(), 0);
        for (index, entry) in shown.iter().cloned().chain(telling().enumerate().skip(last)) {
            if index > next {
                lines.push(GAP.to_owned());
            }
            lines.push(trace.entry(&entry));
            next = index + 1;
        }
        Excerpt { what, lines }
    }
}

/// What is said of so many notable lines before the last ones.
fn what_of(before: usize) -> String {
    match before {
        0 => String::new(),
        1..=BEFORE_MAX => format!("; before them controls, warnings and errors: {before}"),
        _ => format!(
            "; before them controls, warnings and errors: the last {BEFORE_MAX} of {before}"
        ),
    }
}

fn is_telling(entry: &Entry<'_>) -> bool {
    let Entry::Event(_, record) = entry else { return true };
    !matches!(record.event, Event::Plan { .. } | Event::Host { .. } | Event::MachineTimer { .. })
}

/// Whether a line may explain what comes long after it.
fn is_notable(entry: &Entry<'_>) -> bool {
    match entry {
        Entry::Event(_, record) => matches!(record.event, Event::Control { .. }),
        Entry::Said(line) => ["WARN", "ERROR"].contains(&line.level),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::{History, Phase};
    use crate::log::{Log, LogLine};
    use expect_test::expect;

    /// A history of notes, or of controls at these numbers.
    fn history(count: u64, controls: &[u64]) -> History {
        let mut history = History::default();
        for number in 0..count {
            let text = &number.to_string();
            let (phase, hosts, others) = (Phase::Moment, Vec::new(), Vec::new());
            let event = match controls.contains(&number) {
                true => Event::Control { phase, kind: "reset", hosts, others, text },
                false => Event::Note { text },
            };
            history.record(number, event);
            history.record(number, Event::MachineTimer { host: 0 });
        }
        history
    }

    /// What each line is about and says.
    fn words(excerpt: &Excerpt) -> Vec<String> {
        let short = |line: &String| line.split_whitespace().skip(1).collect::<Vec<_>>().join(" ");
        let lines = excerpt.lines.iter();
        lines.map(|line| if line == GAP { line.clone() } else { short(line) }).collect()
    }

    #[test]
    fn a_trace_that_is_not_long_is_whole() {
        let excerpt = Excerpt::new(&history(60, &[3]).trace());
        assert_eq!((excerpt.what.as_str(), excerpt.lines.len()), ("60 lines", 60));
        let excerpt = Excerpt::new(&history(61, &[]).trace());
        assert_eq!(
            (excerpt.what.as_str(), excerpt.lines.len()),
            ("the last 30 of 61 lines; SIM_TRACE=text has all", 31)
        );
        assert_eq!(words(&excerpt)[..2], ["…", "test note 31"]);
    }

    #[test]
    fn what_explains_the_end_of_a_long_trace_stands_before_it() {
        let said = |after: u64, level| LogLine {
            after,
            at: after,
            host: None,
            level,
            target: "test".into(),
            spans: Vec::new(),
            message: after.to_string(),
            fields: Vec::new(),
        };
        let mut log = Log::default();
        for line in [said(10, "WARN"), said(20, "INFO"), said(30, "ERROR"), said(200, "WARN")] {
            log.push(line);
        }
        let history = history(100, &[0, 1, 69, 80]);
        let mut excerpt = Excerpt::new(&Trace::with_log(&history, &log));
        let end = excerpt.lines.split_off(9);
        expect![[r#"
            the last 30 of 104 lines; before them controls, warnings and errors: 5; SIM_TRACE=text has all
            control 0
            control 1
            …
            test WARN 10
            …
            test ERROR 30
            …
            control 69
            …"#]]
        .assert_eq(&[vec![excerpt.what.clone()], words(&excerpt)].concat().join("\n"));
        assert_eq!(end.len(), 30);
    }

    #[test]
    fn of_many_such_lines_the_last_are_shown() {
        let controls: Vec<u64> = (0..50).collect();
        let excerpt = Excerpt::new(&history(100, &controls).trace());
        let what = "the last 30 of 100 lines; before them controls, warnings and errors: the last 20 \
                    of 50; SIM_TRACE=text has all";
        assert_eq!(excerpt.what, what);
        assert_eq!(words(&excerpt)[..2], ["…", "control 30"]);
        assert_eq!(words(&excerpt)[20..23], ["control 49", "…", "test note 70"]);
    }
}
