//! Prints the hash of the history of one input: `sim-hash TARGET FILE`.

use sim_core::run::{Input, run};
use sim_tests::systems;
use std::process::ExitCode;
use std::time::Duration;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, file] = arguments.as_slice() else {
        eprintln!("sim-hash: needs the name of a target and a file");
        return ExitCode::from(2);
    };
    let Some(target) = systems::all().into_iter().find(|target| target.name() == name) else {
        eprintln!("sim-hash: {name} is the name of no target");
        return ExitCode::from(2);
    };
    match std::fs::read(file) {
        Ok(bytes) => {
            println!("{}", run(&target, &Input::Bytes(bytes), Duration::from_secs(600)).hash);
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("sim-hash: {file}: {error}");
            ExitCode::from(2)
        }
    }
}
