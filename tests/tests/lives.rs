//! What befalls the systems that live and die, and what comes of it: each kind of event and each
//! ending of an operation is seen, and one input has one history in any process.

use sim_core::run::{Input, run};
use sim_core::{Target, child};
use sim_tests::systems::{echo_lives, kv, queue};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

const WATCHDOG: Duration = Duration::from_secs(60);

/// How many seeds are looked at, and how many of them run in another process too.
const SEEDS: u64 = 150;
const PROCESSES: u64 = 6;

/// What a run's trace says of lives, by the words of its lines.
const WORDS: [&str; 13] = [
    "begin crash of",
    ": Kill",
    ": Power",
    " control      restart of",
    "rollout of",
    "begin partition",
    "begin cut",
    "begin pause of",
    "begin skew of",
    "begin drift of",
    " stop exit code=0",
    " stop killed",
    " stop power lost",
];

fn check(target: &Target, endings: &[&str]) {
    child::serve(target);
    let words: Vec<&str> = WORDS.iter().chain(endings).copied().collect();
    let mut seen: BTreeMap<&str, u64> = words.iter().map(|word| (*word, 0)).collect();
    let file = std::env::temp_dir().join(format!("{}-{}", target.name(), std::process::id()));
    let mut compared = 0;
    for seed in 0..SEEDS {
        let first = run(target, &Input::Seed(seed), WATCHDOG);
        assert_eq!(first.failure, None, "seed {seed} of {}", target.name());
        let trace = first.history.trace().to_string();
        for (word, count) in &mut seen {
            *count += u64::from(trace.contains(word));
        }
        if compared == PROCESSES || !trace.contains("begin crash of") {
            continue;
        }
        compared += 1;
        let bytes = first.tape.to_bytes();
        std::fs::write(&file, &bytes).expect("the folder for temporary files is there");
        let here = (0..3).map(|_| run(target, &Input::Bytes(bytes.clone()), WATCHDOG).hash);
        let mut hashes: BTreeSet<_> = here.chain([first.hash]).collect();
        hashes.insert(child::hash_in_child(target, &file).expect("a child runs the input"));
        assert_eq!(hashes.len(), 1, "seed {seed} of {}", target.name());
    }
    let _ = std::fs::remove_file(&file);
    println!("lives {} of {SEEDS} runs: {seen:?}", target.name());
    let unseen: Vec<_> = seen.iter().filter(|(_, count)| **count == 0).collect();
    assert!(unseen.is_empty(), "never seen: {unseen:?}");
    assert_eq!(compared, PROCESSES);
}

#[test]
fn echo_lives() {
    check(&echo_lives::target(), &["done", "failed", "indeterminate"]);
}

#[test]
fn kv() {
    check(&kv::target(), &["done", "failed", "indeterminate"]);
}

#[test]
fn queue() {
    check(&queue::target(), &["done", "failed", "indeterminate"]);
}
