//! Random calls, asked of the real kernel and of the simulated one: the answers are the same.
//!
//! One test in a process of its own: the calls are on descriptors by their numbers.

use sim_tests::kernel_fuzz::{compared, expand};

/// How many inputs, and how many calls each has.
const INPUTS: u64 = 400;
const CALLS: usize = 100;

#[test]
fn both_kernels_answer_the_same() {
    let first: u64 = std::env::var("FIRST").map_or(0, |text| text.parse().unwrap());
    let count: u64 = std::env::var("COUNT").map_or(INPUTS, |text| text.parse().unwrap());
    let mut differences = Vec::new();
    for seed in first..first + count {
        if let Err(difference) = compared::run(&expand(seed, CALLS)) {
            differences.push(format!("seed {seed}:\n{difference}"));
        }
    }
    let count = differences.len();
    assert!(differences.is_empty(), "{count} differ:\n{}", differences.join("\n"));
}
