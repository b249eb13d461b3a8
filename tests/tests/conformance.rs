//! The conformance table on real loopback, on one simulated machine and on two simulated hosts.

use sim_tests::conformance::crashed::{CRASHES, observe};
use sim_tests::conformance::loopback::run_on_loopback;
use sim_tests::conformance::simulated::{run_simulated, run_simulated_v6};
use sim_tests::conformance::table::{CRASHED, IDS, TRANSLATED};
use sim_tests::conformance::{
    Kind, Observation, Verdict, exceptions, further_rows, rows, udp_rows,
};

#[test]
fn every_row_holds_at_every_place() {
    let rows = [rows(), further_rows()].concat();
    let places = [
        run_on_loopback(&rows),
        run_simulated(&rows, Kind::OneMachine),
        run_simulated(&rows, Kind::TwoHosts),
    ];
    for exception in exceptions() {
        let (id, place, reason) = (exception.id, exception.place, exception.reason);
        println!("exception {id} {place:?}: {reason}");
    }
    let failed: Vec<&Observation> =
        places.iter().flatten().filter(|seen| !seen.verdict.is_green()).collect();
    for seen in &failed {
        println!("{} {}: {:?}", seen.row.id, seen.row.name, seen.verdict);
    }
    let [loopback, machine, hosts] = places.each_ref().map(|place| passed(place));
    let excepted = exceptions().len();
    println!(
        "conformance: loopback {loopback}, one machine {machine}, two hosts {hosts}, \
         exceptions {excepted}"
    );
    print_table(rows.len());
    assert!(failed.is_empty(), "{} observations differ", failed.len());
}

#[test]
fn every_row_holds_between_hosts_over_ipv6() {
    let rows = [rows(), further_rows()].concat();
    let seen = run_simulated_v6(&rows);
    let failed: Vec<&Observation> = seen.iter().filter(|seen| !seen.verdict.is_green()).collect();
    for seen in &failed {
        println!("{} {}: {:?}", seen.row.id, seen.row.name, seen.verdict);
    }
    println!("conformance over IPv6: two hosts {}", passed(&seen));
    assert!(failed.is_empty(), "{} observations differ", failed.len());
}

#[test]
fn datagrams_are_the_same_at_every_place() {
    let rows = udp_rows();
    let places = [
        run_on_loopback(&rows),
        run_simulated(&rows, Kind::OneMachine),
        run_simulated(&rows, Kind::TwoHosts),
        run_simulated_v6(&rows),
    ];
    let failed: Vec<&Observation> =
        places.iter().flatten().filter(|seen| !seen.verdict.is_green()).collect();
    for seen in &failed {
        println!("{} {}: {:?}", seen.row.id, seen.row.name, seen.verdict);
    }
    let [loopback, machine, hosts, hosts_v6] = places.each_ref().map(|place| passed(place));
    println!(
        "conformance of UDP: loopback {loopback}, one machine {machine}, two hosts {hosts}, \
         over IPv6 {hosts_v6}, of {} rows",
        rows.len()
    );
    assert!(failed.is_empty(), "{} observations differ", failed.len());
}

fn print_table(rows: usize) {
    for note in TRANSLATED {
        println!("translated {}: {}", note.id, note.reason);
    }
    for note in CRASHED {
        println!("translated {}: {}", note.id, note.reason);
    }
    println!(
        "table: {} facts, {} translated, 0 left out; {rows} rows",
        IDS.len(),
        TRANSLATED.len() + CRASHED.len()
    );
}

fn passed(place: &[Observation]) -> usize {
    place.iter().filter(|seen| seen.verdict == Verdict::Passed).count()
}

#[test]
fn crashes_are_seen_as_they_were_measured() {
    for crash in CRASHES {
        assert_eq!(observe(crash), crash.expected, "{} {}", crash.id, crash.name);
    }
}
