//! One input, one history: many runs in one process, one in each of many processes, and runs whose
//! nodes are heard by `tracing`.

use sim_core::run::{Input, run, run_logged};
use sim_core::sweep::settings_or_exit;
use sim_core::{Target, child};
use sim_tests::systems::{all, echo, echo_planted};
use std::collections::BTreeSet;

/// How many runs there are in this process, and how many in others.
const RUNS: u32 = 300;
const PROCESSES: u32 = 20;

/// A run with latency, small buffers and several clients.
const INPUT: &[u8] = include_bytes!("../../corpus/sim_echo/seed-3");

fn check(target: &Target) {
    child::serve(target);
    let settings = settings_or_exit();
    let first = run(target, &Input::Bytes(INPUT.to_vec()), settings.watchdog);
    let bytes = first.tape.to_bytes();
    assert!(first.history.len() > 100, "the run is worth looking at");
    let mut hashes = BTreeSet::from([first.hash]);
    for index in 0..RUNS {
        let again = run(target, &Input::Bytes(bytes.clone()), settings.watchdog);
        hashes.insert(again.hash);
        let difference = first.history.divergence(&again.history);
        assert_eq!(difference, None, "run {index} of {}", target.name());
    }
    let file = std::env::temp_dir().join(format!("{}-{}", target.name(), std::process::id()));
    std::fs::write(&file, &bytes).expect("the folder for temporary files is there");
    for _ in 0..PROCESSES {
        let hash = child::hash_in_child(target, &file);
        hashes.insert(hash.expect("a child runs the input"));
    }
    std::fs::remove_file(&file).expect("it was written");
    let (name, count) = (target.name(), hashes.len());
    println!("determinism {name} runs {RUNS} processes {PROCESSES} hashes {count}");
    assert_eq!(count, 1);
}

#[test]
fn echo() {
    check(&echo::target());
}

#[test]
fn echo_planted() {
    check(&echo_planted::target());
}

/// Whatever of it is heard: the traces of the libraries below a program too.
#[test]
fn what_nodes_say_is_in_no_history() {
    let settings = settings_or_exit();
    let everything = "trace".parse().expect("a filter");
    for target in all() {
        let mut said = 0;
        for seed in 0..5 {
            let input = Input::Seed(seed);
            let quiet = run(&target, &input, settings.watchdog);
            let heard = run_logged(&target, &input, settings.watchdog, &everything);
            let difference = quiet.history.divergence(&heard.history);
            assert_eq!(difference, None, "seed {seed} of {}", target.name());
            assert_eq!(quiet.hash, heard.hash);
            assert!(quiet.log.is_empty());
            said += heard.log.len();
        }
        println!("determinism {} lines of tracing {said}", target.name());
    }
}
