//! Tests of reports: what they say, in which order and columns.

use super::*;
use crate::control::Units;
use crate::failure::Class;
use crate::run::{Input, run, run_logged};
use crate::shrink::Shrunk;
use crate::{Sim, Violation};
use expect_test::expect;
use std::collections::BTreeMap;
use std::time::Duration;

struct Never;

impl crate::Checker for Never {
    fn end(&mut self) -> Result<(), Violation> {
        let facts = ["expected: nothing", "got:      a note, of operation 1"].map(str::to_owned);
        Err(Violation::new("a note is there").with(facts.to_vec()))
    }
}

fn noted(sim: &mut Sim) {
    sim.dimension("notes", 255);
    sim.check(Never);
    sim.note("a note");
    sim.client("client", |_| async {
        for number in 0..60 {
            tokio::time::sleep(1.s()).await;
            if number == 2 {
                tracing::warn!(number, "awake");
            } else {
                tracing::info!(number, "awake");
            }
        }
    });
}

/// The middle of the trace is of no interest here.
#[test]
fn a_report_is_in_its_order_and_in_columns() {
    let target = Target::new("noted", noted);
    let log = "info".parse().expect("a filter");
    let input = Input::Bytes(vec![7, 0, 0, 0, 0, 0, 0, 2]);
    let run = run_logged(&target, &input, Duration::from_secs(60), &log);
    let failure = run.failure.clone().expect("it fails");
    let file = Path::new("/somewhere/noted/correctness-1");
    let text = file_text(&target, &run, 8, &failure, Subject::Seeds("3"), Some(file));
    let mut lines: Vec<&str> = text.lines().collect();
    assert!(lines[9].contains("INFO awake number=32"), "{text}");
    lines.splice(9..35, ["    …"]);
    expect![[r#"
        sim: FAILED target=noted class=correctness bug=a7b728cc origin="sim-core/src/report/tests.rs:18"
          a note is there
            expected: nothing
            got:      a note, of operation 1
          plan:   notes=2
          trace:  the last 30 of 64 lines; before them controls, warnings and errors: 1; SIM_TRACE=text has all
            …
              3.000000000 client       WARN awake number=2
            …
            …
             59.000000000 client       INFO awake number=58
             60.000000000 client       INFO awake number=59
             60.000000000 client       finish
             60.000000000 failure      correctness: a note is there
          replay: SIM_SEEDS=3 cargo test -p sim-core --lib report::tests::a_report_is_in_its_order_and_in_columns -- --exact
          or:     SIM_INPUT=/somewhere/noted/correctness-1 cargo test -p sim-core --lib report::tests::a_report_is_in_its_order_and_in_columns -- --exact
          hash:   a510ff9a6f877a0799e0466dd679f31239e510da71ae0e64324127a3b1406770 after 140 events and 60s of virtual time
          input:  /somewhere/noted/correctness-1 (8 bytes)
          pin:    SIM_PIN=NAME SIM_INPUT=/somewhere/noted/correctness-1 cargo test -p sim-core --lib report::tests::a_report_is_in_its_order_and_in_columns -- --exact"#]].assert_eq(&lines.join("\n"));
}

/// The run of [`noted`] that fails, as what a failure was shrunk to by a search that was cut or not.
fn found(is_cut: bool) -> (Target, Found) {
    let target = Target::new("noted", noted);
    let bytes = vec![7, 0, 0, 0, 0, 0, 0, 2];
    let run = run(&target, &Input::Bytes(bytes.clone()), Duration::from_secs(60));
    let failure = run.failure.clone().expect("it fails");
    let shrunk = Shrunk {
        bytes,
        bug: (failure.class, failure.origin.clone()),
        runs: 70,
        time: Duration::from_millis(1_500),
        replays: (3, 3),
        others: BTreeMap::from([((Class::Panic, "a.rs:1".to_owned()), Vec::new())]),
        is_cut,
    };
    let file = Some("/somewhere/noted/correctness-1-min".into());
    (target, Found { shrunk, run, failure, file })
}

/// The names of the parts of a report, in their order.
fn names(text: &str) -> Vec<&str> {
    let parts = text.lines().filter_map(|line| line.strip_prefix("  ")?.split_once(':'));
    let is_name = |name: &&str| name.bytes().all(|byte| byte.is_ascii_lowercase());
    parts.map(|(name, _)| name).filter(is_name).collect()
}

/// What a report says in its part of a name.
fn says<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let part = |line: &'t str| line.strip_prefix(&format!("  {name}:")).map(str::trim_start);
    text.lines().find_map(part)
}

#[test]
fn what_was_shrunk_says_from_what_and_whether_time_ended_it() {
    let texts = [false, true].map(|is_cut| {
        let (target, found) = found(is_cut);
        shrunk_text(&target, &found, "SIM_SEEDS=3 cargo test", 90)
    });
    let order =
        ["plan", "trace", "replay", "hash", "input", "pin", "found", "shrunk", "met"].to_vec();
    assert_eq!(texts.each_ref().map(|text| names(text)), [order.clone(), order]);
    let effort = "from 90 to 8 bytes in 70 runs and 1.5s";
    assert_eq!(says(&texts[0], "shrunk"), Some(effort));
    let cut = format!("{effort}, where the time for it ended");
    assert_eq!(says(&texts[1], "shrunk"), Some(&*cut));
    assert_eq!(says(&texts[0], "found"), Some("SIM_SEEDS=3 cargo test"));
    assert_eq!(says(&texts[0], "met"), Some("another failure on the way, panic at a.rs:1"));
}

#[test]
fn a_failure_that_was_met_has_a_short_report_of_where_it_was_met() {
    let (target, found) = found(false);
    let text = other_text(&target, &found, "SIM_SEEDS=3 cargo test");
    assert_eq!(names(&text), ["plan", "replay", "hash", "input", "pin", "met", "shrunk"]);
    assert_eq!(says(&text, "met"), Some("on the way from SIM_SEEDS=3 cargo test"));
    assert_eq!(says(&text, "shrunk"), Some("to 8 bytes in 70 runs and 1.5s"));
}

#[test]
fn an_input_that_could_not_be_written_has_a_way_to_replay_it() {
    let (target, mut found) = found(false);
    found.file = None;
    let texts = |found: &Found| {
        let by = "SIM_SEEDS=3 cargo test";
        [shrunk_text(&target, found, by, 90), other_text(&target, found, by)]
    };
    for text in texts(&found) {
        let replay = says(&text, "replay").expect("there is a way");
        let spelled =
            r"printf '\007\000\000\000\000\000\000\002' > FILE && SIM_INPUT=FILE SIM_TARGET=noted ";
        assert!(replay.starts_with(spelled), "{replay}");
        assert_eq!(says(&text, "input"), Some("could not be written (8 bytes)"));
        assert_eq!(says(&text, "pin"), None);
    }
    found.shrunk.bytes = vec![0; 500];
    for text in texts(&found) {
        assert_eq!(says(&text, "replay"), Some("SIM_SEEDS=3 cargo test  # as it was found"));
    }
}

#[test]
fn a_file_is_replayed_in_one_way_and_a_pinned_one_is_not_pinned() {
    let (target, Found { run, failure, .. }) = found(false);
    let text = |file: &str| {
        let file = Path::new(file);
        file_text(&target, &run, 8, &failure, Subject::File(file), Some(file))
    };
    let known = text("/somewhere/noted/correctness-1");
    assert_eq!(names(&known), ["plan", "trace", "replay", "hash", "input", "pin"]);
    let pinned = text("/somewhere/regressions/noted/name");
    assert_eq!(names(&pinned), ["plan", "trace", "replay", "hash", "input"]);
}

#[test]
fn many_details_are_shown_in_part() {
    let (target, Found { run, mut failure, .. }) = found(false);
    let lines = |failure: &Failure| {
        let text = text(&target, &run, failure, &[]);
        let details: Vec<String> = text.lines().skip(2).map(str::to_owned).collect();
        details.into_iter().take_while(|line| line.starts_with("    ")).collect::<Vec<_>>()
    };
    failure.details = (0..60).map(|number| format!("{number}")).collect();
    assert_eq!(lines(&failure).len(), 60);
    failure.details = (0..62).map(|number| format!("{number}")).collect();
    assert_eq!(lines(&failure)[59..], ["    59", "    … 2 lines are left out"]);
}

#[test]
fn a_file_that_cannot_be_written_leaves_nothing() {
    let folder = std::env::temp_dir().join(format!("sim-report-{}", std::process::id()));
    let taken = folder.join("taken");
    std::fs::create_dir_all(&taken).expect("the folder is new");
    write_whole(&folder.join("whole"), b"bytes").expect("nothing is in its way");
    write_whole(&taken, b"bytes").expect_err("a folder has its name");
    let left = std::fs::read_dir(&folder).expect("it is there").flatten();
    let mut left: Vec<_> = left.map(|entry| entry.file_name()).collect();
    left.sort();
    assert_eq!(left, ["taken", "whole"]);
    std::fs::remove_dir_all(folder).expect("it is ours");
}

#[test]
fn what_cannot_be_written_names_the_folder() {
    let settings = Settings { artifacts: Some("/proc/night".into()), ..Settings::default() };
    let target = Target::new("kv", |sim| sim.fail("no"));
    let error = write(&settings, &target, "input", &[]).expect_err("nobody writes there");
    let text = not_written(&settings, "the failing input", &error);
    let start = "sim: the failing input cannot be written below /proc/night: ";
    assert!(text.starts_with(start), "{text}");
}
