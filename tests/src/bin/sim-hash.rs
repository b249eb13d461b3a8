//! Prints the hash of the history of one input: `sim-hash TARGET FILE [TIMES]`.
//!
//! With TIMES it makes so many runs on one thread and sees that all have the same hash. Under
//! `strace -f -c` the number of system calls does not grow with TIMES: a run makes none.

use sim_core::run::{Input, run_reusing};
use sim_tests::systems;
use std::process::ExitCode;
use std::time::Duration;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let times = arguments.get(2).map_or(Ok(1), |times| times.parse::<u64>());
    let ([name, file, ..], Ok(times)) = (arguments.as_slice(), times) else {
        eprintln!("sim-hash: needs the name of a target and a file, and may have a number of runs");
        return ExitCode::from(2);
    };
    let target = match systems::find(name) {
        Ok(target) => target,
        Err(why) => {
            eprintln!("sim-hash: {why}");
            return ExitCode::from(2);
        }
    };
    match std::fs::read(file) {
        Ok(bytes) => {
            let input = Input::Bytes(bytes);
            let hash = || run_reusing(&target, &input, Duration::from_secs(600)).hash;
            let first = hash();
            let is_same = (1..times).all(|_| hash() == first);
            println!("{first}");
            if is_same { ExitCode::SUCCESS } else { ExitCode::from(115) }
        }
        Err(error) => {
            eprintln!("sim-hash: {file}: {error}");
            ExitCode::from(2)
        }
    }
}
