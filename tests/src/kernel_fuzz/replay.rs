//! `SIM_INPUT` of a file of calls: for the `replay` test, and for the fuzz target itself.
//!
//! There is nothing to pin: such a file has no class and no marks, and is copied as it is.

use super::{NAME, free};
use sim_core::failure::Class;
use sim_core::settings::{Settings, TraceForm};
use std::path::Path;

/// Makes the calls of a file; with `SIM_TRACE=text` each is printed before it is made. The exit code.
pub fn input(file: &Path, settings: &Settings) -> u8 {
    if let Some(pin) = &settings.pin {
        eprintln!("sim: SIM_PIN={pin}: a file of {NAME} has no marks and no class; copy it");
        return 2;
    }
    let bytes = match std::fs::read(file) {
        Ok(bytes) => bytes,
        Err(error) => {
            eprintln!("sim: {}: {error}", file.display());
            return 2;
        }
    };
    match free::run(&bytes, settings.trace == Some(TraceForm::Text)) {
        Ok(lines) => {
            let (text, count) = (lines.join("\n"), lines.len());
            println!("{text}\nsim: {count} calls and events broke no promise");
            0
        }
        Err(failure) => {
            eprintln!("{failure}");
            Class::Internal.exit_code()
        }
    }
}
