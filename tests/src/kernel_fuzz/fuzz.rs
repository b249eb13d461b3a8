//! The libFuzzer front of [`super::free`]: one input a call.
//!
//! `cargo fuzz run sim_kernel FILE` and `SIM_INPUT=FILE cargo test --test replay` make the calls of a
//! file again; with `SIM_TRACE=text` each is printed before it is made, for those that end the
//! process.

use super::free::{self, Failure};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};

/// What a run gave.
type Result = std::result::Result<Vec<String>, Failure>;

/// Inputs to the thread, and what came of them.
type Stage = (Sender<Vec<u8>>, Receiver<Result>);

/// The thread that makes the calls. libFuzzer's own thread stays outside of every world: its alarm
/// reads the clock there.
static STAGE: Mutex<Option<Stage>> = Mutex::new(None);

/// Prepares the target: called once, before the first input.
#[expect(clippy::disallowed_methods, reason = "the one thread of the fuzzer's own")]
pub fn init() {
    // libfuzzer-sys ends the process on every panic; here one is reported with its calls.
    drop(std::panic::take_hook());
    let (ask, asked) = channel::<Vec<u8>>();
    let (give, given) = channel();
    let is_told = super::is_told();
    std::thread::spawn(move || {
        for bytes in asked {
            if give.send(free::run(&bytes, is_told)).is_err() {
                return;
            }
        }
    });
    *STAGE.lock().unwrap_or_else(PoisonError::into_inner) = Some((ask, given));
}

/// Runs one input. A failure is reported with every call, then the process ends as a crash.
///
/// # Panics
/// Where [`init`] was not called.
pub fn one(bytes: &[u8]) {
    let stage = STAGE.lock().unwrap_or_else(PoisonError::into_inner);
    let (ask, given) = stage.as_ref().expect("the target is prepared");
    ask.send(bytes.to_vec()).expect("the stage waits for inputs");
    if let Err(failure) = given.recv().expect("the stage answers") {
        eprintln!("{failure}");
        let folder = format!("fuzz/artifacts/{}", super::NAME);
        eprintln!("  replay: SIM_INPUT={folder}/FILE cargo test --test replay");
        std::process::abort();
    }
}
