//! Makes a small corpus of passing inputs for a target from a sweep.
//!
//! `cargo run --release -p sim-tests --bin seed-corpus TARGET COUNT` writes `corpus/TARGET/seed-N`
//! for the first COUNT seeds that pass, do something, and whose plan is like no other's.

use sim_core::run::{Input, run};
use sim_tests::systems;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

/// Inputs are at most so long, in bytes: a corpus is mutated, not admired.
const BYTES_MAX: usize = 120;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (Some(name), Some(Ok(count))) =
        (arguments.first(), arguments.get(1).map(|count| count.parse::<usize>()))
    else {
        eprintln!("seed-corpus: needs the name of a target and how many inputs to make");
        return ExitCode::from(2);
    };
    let target = match systems::find(name) {
        Ok(target) => target,
        Err(why) => {
            eprintln!("seed-corpus: {why}");
            return ExitCode::from(2);
        }
    };
    let folder = Path::new("corpus").join(name);
    std::fs::create_dir_all(&folder).expect("the folder can be made");
    let mut plans = BTreeSet::new();
    for seed in 0..10_000 {
        let run = run(&target, &Input::Seed(seed), Duration::from_secs(60));
        let bytes = run.tape.to_bytes();
        let mut plan: Vec<u64> = run.plan.dimensions.iter().map(|one| one.value.min(3)).collect();
        plan[0] = 0;
        let fits = bytes.len() <= BYTES_MAX && run.failure.is_none() && run.steps > 20;
        if fits && plans.insert(plan) {
            std::fs::write(folder.join(format!("seed-{seed}")), &bytes).expect("it can be written");
        }
        if plans.len() == count {
            break;
        }
    }
    println!("{} inputs in {}", plans.len(), folder.display());
    ExitCode::SUCCESS
}
