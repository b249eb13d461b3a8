//! Moves the stored inputs over a change that gives their bytes another meaning.
//!
//! `cargo run --release -p sim-tests --bin reencode -- save DIR` before the change writes what each
//! run chose to DIR; `… load DIR` after it writes each input anew, so that its run chooses the same,
//! and says of each whether it is the same, was moved, or is lost. Exit code: 0, 1 where one is
//! lost, 2 where something cannot be read or written. Inputs of systems that this build is without
//! stay as they are, and that is said: `--features raft` has them moved too.

use sim_core::reencode::{Fate, Reencode, ReencodeError};
use sim_core::sweep::settings_or_exit;
use sim_tests::{kernel_fuzz, systems};
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace is above");
    let (targets, absent) = (systems::all(), systems::absent());
    absent.iter().for_each(|name| eprintln!("reencode: {}", systems::why_none(name)));
    let others = [absent, vec![kernel_fuzz::NAME]].concat();
    let reencode = |tapes| Reencode {
        root,
        tapes: Path::new(tapes),
        targets: &targets,
        others: &others,
        watchdog: settings_or_exit().watchdog,
    };
    let code = match arguments[..] {
        ["save", tapes] => save(reencode(tapes)),
        ["load", tapes] => load(reencode(tapes)),
        _ => {
            eprintln!("reencode: needs save or load, and the folder of the tapes");
            return ExitCode::from(2);
        }
    };
    code.unwrap_or_else(|error| {
        eprintln!("reencode: {error}");
        ExitCode::from(2)
    })
}

fn save(reencode: Reencode<'_>) -> Result<ExitCode, ReencodeError> {
    let names = reencode.save()?;
    println!("reencode: {} tapes in {}", names.len(), reencode.tapes.display());
    Ok(ExitCode::SUCCESS)
}

fn load(reencode: Reencode<'_>) -> Result<ExitCode, ReencodeError> {
    let fates = reencode.load()?;
    for (name, fate) in &fates {
        println!("{name} {fate}");
    }
    let count = |is: fn(&Fate) -> bool| fates.iter().filter(|(_, fate)| is(fate)).count();
    let lost = count(|fate| matches!(fate, Fate::Lost(_)));
    println!(
        "reencode: {} same, {} moved, {lost} lost",
        count(|fate| *fate == Fate::Same),
        count(|fate| matches!(fate, Fate::Moved { .. })),
    );
    Ok(ExitCode::from(u8::from(lost > 0)))
}
