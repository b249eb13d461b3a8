//! Tests of reports: what they say, in which order and columns.

use super::*;
use crate::control::Units;
use crate::run::{Input, run_logged};
use crate::{Sim, Violation};
use expect_test::expect;
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
        for number in 0..30 {
            tokio::time::sleep(1.s()).await;
            tracing::info!(number, "awake");
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
    assert!(lines[6].contains("INFO awake number=2"), "{text}");
    lines.splice(6..32, ["    …"]);
    expect![[r#"
        sim: FAILED target=noted class=correctness bug=4b6bbaa3 origin="sim-core/src/report/tests.rs:15"
          a note is there
            expected: nothing
            got:      a note, of operation 1
          plan:   notes=2
          trace:  the last 30 of 34 lines
            …
             29.000000000 client       INFO awake number=28
             30.000000000 client       INFO awake number=29
             30.000000000 client       finish
             30.000000000 failure      correctness: a note is there
          replay: SIM_SEEDS=3 cargo test -p sim-core --lib report::tests::a_report_is_in_its_order_and_in_columns -- --exact
          or:     SIM_INPUT=/somewhere/noted/correctness-1 cargo test -p sim-core --lib report::tests::a_report_is_in_its_order_and_in_columns -- --exact
          hash:   5fedf278691772b6165d9d90ed1b5ccf8efdaa08407e1b8e240396790596e97d after 78 events and 30s of virtual time
          input:  /somewhere/noted/correctness-1 (8 bytes)
          pin:    SIM_PIN=NAME SIM_INPUT=/somewhere/noted/correctness-1 cargo test -p sim-core --lib report::tests::a_report_is_in_its_order_and_in_columns -- --exact"#]].assert_eq(&lines.join("\n"));
}
