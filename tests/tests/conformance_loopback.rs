//! The conformance table on real loopback: what it says is what this machine's kernel does.

use std::io::{self, Write};

use sim_tests::conformance::loopback::run_on_loopback;
use sim_tests::conformance::{Observation, further_rows, rows};

#[test]
fn every_row_holds_on_loopback() {
    let observations = run_on_loopback(&[rows(), further_rows()].concat());
    // Straight to the stream, so that it shows when the test passes as well.
    let mut out = io::stdout().lock();
    let failed: Vec<&Observation> =
        observations.iter().filter(|seen| !seen.verdict.is_green()).collect();
    for seen in &failed {
        writeln!(out, "{} {}: {:?}", seen.row.id, seen.row.name, seen.verdict).expect("stdout");
    }
    writeln!(out, "conformance: loopback {}", observations.len()).expect("stdout");
    assert!(failed.is_empty(), "{} of {} rows differ", failed.len(), observations.len());
}
