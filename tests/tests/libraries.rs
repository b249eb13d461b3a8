//! Network libraries as published, unmodified, on the simulated kernel: one input has one history,
//! and no seed finds a failure.
//!
//! `cargo test --release -p sim-tests --test libraries -- --nocapture` prints a line for each: its
//! name and version, how many runs of one input and how many histories these had, how many seeds
//! and how many of them failed. `SIM_SEEDS=0..5000` widens them. A build without optimizations runs
//! fewer.

mod libraries {
    pub(crate) mod axum_reqwest;
    pub(crate) mod hyper;
    pub(crate) mod quinn;
    mod random;
    pub(crate) mod redis;
    pub(crate) mod rustls;
    pub(crate) mod script;
    pub(crate) mod tonic;
    pub(crate) mod tungstenite;
}

use libraries::{axum_reqwest, hyper, quinn, redis, rustls, tonic, tungstenite};
use sim_core::run::{Input, Run, run, run_logged};
use sim_core::settings::Settings;
use sim_core::source::{Lane, Lanes};
use sim_core::sweep::{settings_or_exit, sweep_of};
use sim_core::{Target, child, sweep};
use std::collections::BTreeSet;

/// How many runs of the input there are in this process, and how many in others.
const RUNS: u32 = if cfg!(debug_assertions) { 10 } else { 300 };
const PROCESSES: u32 = if cfg!(debug_assertions) { 1 } else { 3 };

/// How many seeds there are.
const SEEDS: u64 = if cfg!(debug_assertions) { 30 } else { 1000 };

/// The versions that were built.
const LOCK: &str = include_str!("../../Cargo.lock");

#[test]
fn axum_and_reqwest() {
    check(&axum_reqwest::target(), "axum+reqwest", &["axum", "reqwest"]);
}

#[test]
fn hyper_http1() {
    check(&hyper::http1(), "hyper-http1", &["hyper"]);
}

#[test]
fn hyper_http2() {
    check(&hyper::http2(), "hyper-http2", &["hyper", "h2"]);
}

#[test]
fn quinn_over_faulty_ways() {
    let target = quinn::target();
    child::serve(&target);
    let mut input = lanes();
    // The odds of datagrams come last; bytes of every size decide about each.
    input.lane_mut(Lane::Swarm).extend([5, 5, 5]);
    *input.lane_mut(Lane::Network) =
        (0..4_000_u32).map(|at| (at.wrapping_mul(0x9e37_79b9) >> 24) as u8).collect();
    let input = input.encode();
    let first = run(&target, &Input::Bytes(input.clone()), settings_or_exit().watchdog);
    let lost = first.history.trace().to_string().matches(" datagram lost ").count();
    assert!(lost > 5, "{lost} datagrams were lost");
    check_input(&target, "quinn", &["quinn", "quinn-proto", "rustls", "ring"], input);
}

#[test]
fn redis_and_mini_redis() {
    check(&redis::target(), "redis+mini-redis", &["redis", "mini-redis"]);
}

#[test]
fn tokio_rustls_tls12() {
    check(&rustls::tls12(), "tokio-rustls-tls12", &["tokio-rustls", "rustls", "ring"]);
}

#[test]
fn tokio_rustls_tls13() {
    check(&rustls::tls13(), "tokio-rustls-tls13", &["tokio-rustls", "rustls", "ring"]);
}

#[test]
fn tokio_tungstenite() {
    check(&tungstenite::target(), "tokio-tungstenite", &["tokio-tungstenite"]);
}

#[test]
fn tonic_and_prost() {
    check(&tonic::target(), "tonic+prost", &["tonic", "prost"]);
}

/// Checks a target that is made of published crates.
fn check(target: &Target, name: &str, crates: &[&str]) {
    check_input(target, name, crates, lanes().encode());
}

/// Checks a target, with an input that is run many times.
fn check_input(target: &Target, name: &str, crates: &[&str], input: Vec<u8>) {
    child::serve(target);
    let settings = settings_or_exit();
    if settings.input.is_some() {
        sweep::test(target, 0..0);
        return;
    }
    let hashes = hashes(target, &settings, input);
    let found = sweep_of(target, 0..SEEDS, &settings);
    let versions = crates.iter().map(|name| version(name)).collect::<Vec<_>>().join("+");
    let (runs, seeds) = (RUNS + PROCESSES + 1, found.runs);
    let inconclusive = match found.inconclusive {
        0 => String::new(),
        count => format!(" inconclusive {count}"),
    };
    let (hashes, failures) = (hashes.len(), found.failures);
    println!(
        "library {name} {versions} runs {runs} hashes {hashes} seeds {seeds} false {failures}\
         {inconclusive}"
    );
    assert_eq!(hashes, 1, "one input has one history");
    assert!(found.bugs.is_empty(), "{}; the reports are above", found.summary(target));
}

/// The hashes of all histories of one input.
fn hashes(target: &Target, settings: &Settings, input: Vec<u8>) -> BTreeSet<String> {
    let first = run(target, &Input::Bytes(input), settings.watchdog);
    assert_eq!(first.failure, None);
    assert_work(&first);
    let bytes = first.tape.to_bytes();
    let mut hashes = BTreeSet::from([first.hash.to_string()]);
    let everything = "trace".parse().expect("a filter");
    for index in 0..RUNS {
        let input = Input::Bytes(bytes.clone());
        // In the first of them all that the library says by `tracing` is heard.
        let again = match index {
            0 => run_logged(target, &input, settings.watchdog, &everything),
            _ => run(target, &input, settings.watchdog),
        };
        if hashes.insert(again.hash.to_string()) {
            let difference = first.history.divergence(&again.history);
            println!("run {index} of {} differs: {difference:?}", target.name());
        }
    }
    let file = std::env::temp_dir().join(format!("{}-{}", target.name(), std::process::id()));
    std::fs::write(&file, &bytes).expect("the folder for temporary files is there");
    for _ in 0..PROCESSES {
        let hash = child::hash_in_child(target, &file).expect("a child runs the input");
        hashes.insert(hash.to_string());
    }
    std::fs::remove_file(&file).expect("it was written");
    hashes
}

/// The lanes of an input with latency, small buffers, two clients and several steps of each.
fn lanes() -> Lanes {
    let mut lanes = Lanes::default();
    // Entropy in two bytes, latency, two buffers, pieces, clients, steps.
    *lanes.lane_mut(Lane::Swarm) = vec![3, 1, 4, 3, 5, 3, 1, 7];
    *lanes.lane_mut(Lane::Network) = (1..=250).rev().step_by(3).collect();
    *lanes.lane_mut(Lane::Schedule) = (1..=100).collect();
    lanes
}

/// A run of which one history says something.
#[track_caller]
fn assert_work(run: &Run) {
    let active = run.plan.active().map(|dimension| dimension.name).collect::<Vec<_>>();
    let expected = ["entropy", "latency", "send buffer", "receive buffer", "clients", "steps"];
    assert!(expected.iter().all(|name| active.contains(name)), "{active:?}");
    assert!(run.history.len() > 100, "{} events", run.history.len());
}

/// The version of a crate that cargo chose.
#[track_caller]
fn version(name: &str) -> &'static str {
    let start = format!("name = \"{name}\"\nversion = \"");
    let (_, rest) = LOCK.split_once(&start).unwrap_or_else(|| panic!("{name} is not built"));
    rest.split_once('"').expect("a version ends").0
}
