//! The libFuzzer front of [`super::free`]: one input a call.
//!
//! `cargo fuzz run sim_kernel FILE` and `SIM_INPUT=FILE cargo test --test replay` make the calls of a
//! file again; with `SIM_TRACE=text` each is printed before it is made, for those that end the
//! process.

use super::free::{self, Failure};
use sim_core::fuzz::{KEEP_GOING, keep};
use sim_core::sweep::settings_or_exit;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, OnceLock, PoisonError};

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

/// Runs one input. A failure is reported with every call, then the process ends as a crash; where
/// the search goes on past failures, each is kept instead.
///
/// # Panics
/// Where [`init`] was not called.
pub fn one(bytes: &[u8]) {
    let stage = STAGE.lock().unwrap_or_else(PoisonError::into_inner);
    let (ask, given) = stage.as_ref().expect("the target is prepared");
    ask.send(bytes.to_vec()).expect("the stage waits for inputs");
    let Err(failure) = given.recv().expect("the stage answers") else { return };
    let Some(folder) = kept_in() else {
        eprintln!("{failure}");
        let folder = format!("fuzz/artifacts/{}", super::NAME);
        eprintln!("  replay: SIM_INPUT={folder}/FILE cargo test --test replay");
        std::process::abort();
    };
    if let Err(error) = keep(folder, bytes, &failure) {
        eprintln!("sim: cannot keep a failure of {}: {error}", super::NAME);
    }
}

/// Where failures are kept, where the search goes on past them.
fn kept_in() -> Option<&'static Path> {
    static FOLDER: OnceLock<Option<PathBuf>> = OnceLock::new();
    let new = || {
        let folder = settings_or_exit().artifacts_folder().join(super::NAME);
        std::env::args().any(|argument| argument == KEEP_GOING).then_some(folder)
    };
    FOLDER.get_or_init(new).as_deref()
}

/// Keeps a failure in the folder of its bug, and reports it where the bug is new.
fn keep(folder: &Path, bytes: &[u8], failure: &Failure) -> io::Result<()> {
    let bug = failure.bug();
    let folder = folder.join(bug.fingerprint(super::NAME));
    if !keep::is_kept(&folder) {
        keep::write(&folder, &bug, bytes, || format!("{failure}\n"), &failure.lines.join("\n"))?;
        eprintln!(
            "{failure}\n  replay: SIM_INPUT={} SIM_TARGET={} cargo test --test replay",
            folder.join("input").display(),
            super::NAME
        );
    }
    keep::count(&folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(what: &str) -> Failure {
        Failure { what: what.to_owned(), lines: vec!["socket gave 3".to_owned()] }
    }

    #[test]
    fn failures_of_one_kind_are_one_bug_that_is_counted() {
        let name = format!("kernel-kept-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        for (bytes, what) in [(b"a", "gave 12, not legal"), (b"b", "gave 7, not legal")] {
            keep(&folder, bytes, &failure(what)).expect("it can be kept");
        }
        keep(&folder, b"c", &failure("a byte came that was not sent")).expect("it can be kept");
        let mut bugs = keep::read(&folder).expect("they are there");
        bugs.sort_by_key(|bug| bug.met);
        assert_eq!(bugs.iter().map(|bug| bug.met).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(bugs[1].failure.origin, "gave #, not legal");
        assert_eq!(std::fs::read(&bugs[1].file).expect("it is kept"), b"a");
        std::fs::remove_dir_all(&folder).expect("it is ours");
    }
}
