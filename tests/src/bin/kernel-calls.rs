//! Random calls on the simulated kernel for as long as one likes.
//!
//! `cargo run --release -p sim-tests --bin kernel-calls free FIRST COUNT [CALLS]` makes the calls of
//! COUNT seeds from FIRST on, on two simulated hosts; `compared` asks the real kernel the same. It
//! prints what went wrong, the seeds with it, and how long a seed took.

use sim_tests::kernel_fuzz::{compared, expand, free};
use std::process::ExitCode;

/// How many calls a seed has where nothing else is asked for.
const CALLS: usize = 100;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize| arguments.get(at).and_then(|text| text.parse::<u64>().ok());
    let mode = arguments.first().map(String::as_str);
    let (Some(mode @ ("free" | "compared")), Some(first), Some(count)) =
        (mode, number(1), number(2))
    else {
        eprintln!("kernel-calls: needs free or compared, the first seed, and how many");
        return ExitCode::from(2);
    };
    let calls = number(3).map_or(CALLS, |calls| calls as usize);
    let start = hostsim::seam::outside::monotonic();
    let mut failures = 0_u32;
    for seed in first..first + count {
        let bytes = expand(seed, calls);
        let wrong = match mode {
            "free" => free::run(&bytes, false).err().map(|failure| failure.to_string()),
            _ => compared::run(&bytes).err().map(|difference| difference.to_string()),
        };
        if let Some(wrong) = wrong {
            println!("seed {seed}:\n{wrong}");
            failures += 1;
        }
    }
    let each =
        (hostsim::seam::outside::monotonic() - start) / u32::try_from(count.max(1)).unwrap_or(1);
    println!("{failures} of {count} seeds failed, {each:?} a seed");
    ExitCode::from(u8::from(failures > 0))
}
