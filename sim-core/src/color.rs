//! Color for reports on a terminal. Text that goes elsewhere is as it was written.
//!
//! It asks for nothing but whether standard error is a terminal, whether `TERM` says that it can do
//! more than letters, and whether `NO_COLOR` says something, as no-color.org has it. It changes no letter: without its escapes a report is the same.

use std::ffi::OsString;
use std::io::IsTerminal;
use std::sync::OnceLock;

const BAD: &str = "\x1b[1;31m";
const NAME: &str = "\x1b[1m";
const SOFT: &str = "\x1b[2m";
const PLAIN: &str = "\x1b[0m";

/// A report as it goes to standard error.
pub(crate) fn report(text: &str) -> String {
    static IS_ON: OnceLock<bool> = OnceLock::new();
    let is_on = IS_ON
        .get_or_init(|| is_wanted(|name| std::env::var_os(name), std::io::stderr().is_terminal()));
    if *is_on { painted(text) } else { text.to_owned() }
}

/// Whether there is color, by the variables that `lookup` gives and by whether somebody looks.
fn is_wanted(lookup: impl Fn(&str) -> Option<OsString>, is_terminal: bool) -> bool {
    let is_refused = lookup("NO_COLOR").is_some_and(|value| !value.is_empty());
    is_terminal && !is_refused && lookup("TERM").is_none_or(|terminal| terminal != "dumb")
}

/// The head in red, the names of its parts bold, the trace faint but for the failure in it.
fn painted(text: &str) -> String {
    let lines = text.lines().enumerate().map(|(index, line)| {
        if index == 0 {
            return format!("{BAD}{line}{PLAIN}");
        }
        match name(line) {
            Some((name, rest)) => format!("{NAME}{name}{PLAIN}{rest}"),
            None if is_of_trace(line) && line.contains(" failure ") => {
                format!("{BAD}{line}{PLAIN}")
            }
            None if is_of_trace(line) => format!("{SOFT}{line}{PLAIN}"),
            None => line.to_owned(),
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The name of a part, with its colon, and what is after it.
fn name(line: &str) -> Option<(&str, &str)> {
    let (name, rest) = line.split_at(line.find(':')? + 1);
    let word = name.strip_prefix("  ")?.strip_suffix(':')?;
    let is_word = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase());
    is_word.then_some((name, rest))
}

/// Whether a line begins as one of a trace does: with seconds and nanoseconds.
fn is_of_trace(line: &str) -> bool {
    let moment = line.trim_start().split(' ').next().unwrap_or_default();
    let parts = moment.split_once('.');
    parts.is_some_and(|(seconds, nanos)| {
        let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        !seconds.is_empty() && nanos.len() == 9 && is_number(seconds) && is_number(nanos)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    const REPORT: &str = "sim: FAILED target=upper class=correctness
  the reply is whole, not: \"H\"
  plan:   calm
  trace:  2 lines
      0.000000005 client       finish
    100.000000005 failure      correctness: no
  replay: SIM_INPUT=a cargo test
  or:     SIM_SEEDS=3 cargo test";

    #[test]
    fn the_head_the_names_and_the_failure_stand_out() {
        let shown = painted(REPORT).replace('\x1b', "^");
        expect![[r#"
            ^[1;31msim: FAILED target=upper class=correctness^[0m
              the reply is whole, not: "H"
            ^[1m  plan:^[0m   calm
            ^[1m  trace:^[0m  2 lines
            ^[2m      0.000000005 client       finish^[0m
            ^[1;31m    100.000000005 failure      correctness: no^[0m
            ^[1m  replay:^[0m SIM_INPUT=a cargo test
            ^[1m  or:^[0m     SIM_SEEDS=3 cargo test"#]]
        .assert_eq(&shown);
    }

    #[test]
    fn there_is_color_on_a_terminal_where_nobody_refuses_it() {
        let wanted = |is_terminal: bool, set: &[(&str, &str)]| {
            let lookup = |name: &str| {
                let (_, value) = set.iter().find(|(other, _)| *other == name)?;
                Some(OsString::from(value))
            };
            is_wanted(lookup, is_terminal)
        };
        assert!(wanted(true, &[]));
        assert!(wanted(true, &[("TERM", "xterm"), ("NO_COLOR", "")]));
        assert!(!wanted(true, &[("TERM", "dumb")]));
        assert!(!wanted(true, &[("TERM", "xterm"), ("NO_COLOR", "1")]));
        assert!(!wanted(false, &[]));
    }

    #[test]
    fn color_changes_no_letter() {
        let escapes = [BAD, NAME, SOFT, PLAIN];
        let bare = escapes.iter().fold(painted(REPORT), |text, escape| text.replace(escape, ""));
        assert_eq!(bare, REPORT);
    }
}
