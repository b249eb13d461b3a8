//! Random calls on the simulated kernel, from seeds and from the files of the fuzz target.

use sim_tests::kernel_fuzz::{expand, free};
use std::path::Path;

/// How many inputs, and how many calls each has.
const INPUTS: u64 = 2_000;
const CALLS: usize = 120;

#[test]
fn random_calls_break_no_promise() {
    let first: u64 = std::env::var("FIRST").map_or(0, |text| text.parse().unwrap());
    let count: u64 = std::env::var("COUNT").map_or(INPUTS, |text| text.parse().unwrap());
    for seed in first..first + count {
        if let Err(failure) = free::run(&expand(seed, CALLS), false) {
            panic!("seed {seed}:\n{failure}");
        }
    }
}

fn files(folder: &str) -> Vec<std::path::PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(folder);
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut files: Vec<_> = entries.map(|entry| entry.expect("a file").path()).collect();
    files.sort();
    files
}

#[test]
fn files_of_the_corpus_break_no_promise() {
    let files = [files("corpus/sim_kernel"), files("regressions/sim_kernel")].concat();
    assert!(!files.is_empty(), "there is a corpus");
    for file in files {
        let bytes = std::fs::read(&file).expect("the file can be read");
        if let Err(failure) = free::run(&bytes, false) {
            panic!("{}:\n{failure}", file.display());
        }
    }
}
