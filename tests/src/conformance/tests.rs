//! Tests of the table itself: its lists, the judge, and the way to the far machine.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;

use tokio::runtime;
use tokio::task::{LocalSet, spawn_local};

use super::table::{CRASHED, IDS, TRANSLATED};
use super::{Far, Kind, Place, Row, Verdict, exceptions, further_rows, judge, observe, rows};

fn all_rows() -> Vec<Row> {
    [rows(), further_rows()].concat()
}

fn row_of(id: &str) -> Row {
    all_rows().into_iter().find(|row| row.id == id).expect("the row")
}

#[test]
fn each_list_is_sorted_and_each_id_is_once() {
    for list in [rows(), further_rows()] {
        assert!(list.is_sorted_by_key(|row| row.id));
    }
    let ids: BTreeSet<_> = all_rows().iter().map(|row| row.id).collect();
    assert_eq!(ids.len(), all_rows().len());
}

#[test]
fn each_exception_names_a_row_and_is_once() {
    let keys: Vec<_> = exceptions().iter().map(|known| (known.id, known.place)).collect();
    assert!(keys.is_sorted_by(|a, b| a < b));
    for (id, _) in keys {
        row_of(id);
    }
}

#[test]
fn each_fact_of_the_table_is_a_row_or_has_a_reason() {
    let facts: BTreeSet<&str> = IDS.iter().copied().collect();
    assert_eq!((facts.len(), IDS.is_sorted()), (IDS.len(), true), "each id is once, in order");
    let rows: BTreeSet<&str> =
        all_rows().iter().map(|row| row.id.strip_suffix("-std").unwrap_or(row.id)).collect();
    let crashed: BTreeSet<&str> = CRASHED.iter().map(|note| note.id).collect();
    assert_eq!(rows.union(&crashed).copied().collect::<BTreeSet<_>>(), facts);
    assert_eq!(rows.intersection(&crashed).count(), 0, "what is excluded has no row");
    for note in TRANSLATED {
        assert!(rows.contains(note.id), "{} is translated to a row", note.id);
    }
}

#[test]
fn loopback_has_no_exception() {
    assert!(exceptions().iter().all(|known| known.place != Kind::Loopback));
}

#[test]
fn the_judge_tells_four_cases_apart() {
    let (plain, known) = (row_of("A02"), row_of("B04"));
    assert_eq!(judge(Kind::TwoHosts, &plain, plain.expected), Verdict::Passed);
    let failed = Verdict::Failed { expected: plain.expected, observed: "x".into() };
    assert_eq!(judge(Kind::TwoHosts, &plain, "x"), failed);
    assert!(matches!(judge(Kind::TwoHosts, &known, "x"), Verdict::Excepted(_)));
    assert_eq!(judge(Kind::TwoHosts, &known, known.expected), Verdict::StaleException);
    assert!(matches!(judge(Kind::OneMachine, &known, "x"), Verdict::Failed { .. }));
}

/// The far machine is here a task beside the row: the way to it is what is under test.
#[test]
fn required_rows_hold_through_an_agent() {
    for row in rows() {
        let observed = run_through_agent(&row);
        assert_eq!(observed, row.expected, "{}", row.id);
    }
}

#[test]
fn a_far_accept_that_is_dropped_takes_no_connection() {
    let row = row_of("A07");
    assert_eq!(run_through_agent(&row), row.expected);
}

#[test]
fn a_row_that_panics_is_observed() {
    let row = Row {
        id: "X",
        name: "panics",
        expected: "",
        slow: false,
        run: |_| Box::pin(async { panic!("on purpose") }),
    };
    assert_eq!(run_through_agent(&row), "PANIC on purpose");
}

fn run_through_agent(row: &Row) -> String {
    let runtime = runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    LocalSet::new().block_on(&runtime, async {
        let (far, agent) = Far::channel();
        let serving = spawn_local(agent.serve());
        let observed = observe(row, Place::two_hosts(far, Ipv4Addr::LOCALHOST.into())).await;
        serving.await.expect("the agent ends with the last place");
        observed
    })
}
