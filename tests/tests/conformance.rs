//! The conformance table on real loopback, on one simulated machine and on two simulated hosts.

use sim_tests::conformance::loopback::run_on_loopback;
use sim_tests::conformance::simulated::run_simulated;
use sim_tests::conformance::{Kind, Observation, Verdict, further_rows, rows};
fn main() {
    let mut rows = [rows(), further_rows()].concat();
    rows.retain(|r| r.id != "A28");
    for kind in [Kind::OneMachine, Kind::TwoHosts] {
        for seen in run_simulated(&rows, kind) {
            if !seen.verdict.is_green() {
                println!("{kind:?} {} {}:\n   {:?}", seen.row.id, seen.row.name, seen.verdict);
            }
        }
    }
}
