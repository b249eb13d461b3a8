//! The libFuzzer front of [`super::free`]: one input a call.
//!
//! `SIM_INPUT=FILE` before `cargo fuzz run sim_kernel` or `cargo test --test replay` makes the calls of
//! a file again, and so does `cargo fuzz run sim_kernel FILE`; with `SIM_TRACE=text` each is printed before it is made, for those that end the
//! process.

use super::free::{self, Failure};
use super::replay;
use sim_core::fuzz::{KEEP_GOING, keep, replay_line};
use sim_core::replay::command;
use sim_core::sweep::settings_or_exit;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// What a run gave.
type Result = std::result::Result<Vec<String>, Failure>;

/// Inputs to the thread, and what came of them.
type Stage = (Sender<Vec<u8>>, Receiver<Result>);

/// The thread that makes the calls. libFuzzer's own thread stays outside of every world: its alarm
/// reads the clock there.
static STAGE: Mutex<Option<Stage>> = Mutex::new(None);

/// The panics of the input that is run, where the search goes on past failures. What the kernel makes
/// of one is an error of its call: only here is what panicked.
static PANICS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Prepares the target: called once, before the first input. With `SIM_INPUT` it makes those calls in
/// place of a search, and ends the process.
#[expect(clippy::disallowed_methods, reason = "the one thread of the fuzzer's own")]
pub fn init() {
    // libfuzzer-sys ends the process on every panic; here one is reported with its calls.
    drop(std::panic::take_hook());
    let settings = settings_or_exit();
    if let Some(file) = &settings.input {
        std::process::exit(replay::input(file, &settings).into());
    }
    if kept_in().is_some() {
        // A known bug is only counted: what its panics say would be a log without end.
        std::panic::set_hook(Box::new(|panic| panics().push(panic.to_string())));
    }
    let (ask, asked) = channel::<Vec<u8>>();
    let (give, given) = channel();
    let is_told = super::is_told();
    std::thread::spawn(move || {
        for bytes in asked {
            let result = free::run(&bytes, is_told);
            let panics = std::mem::take(&mut *panics());
            if give.send(result.map_err(|failure| with_panics(failure, panics))).is_err() {
                return;
            }
        }
    });
    *STAGE.lock().unwrap_or_else(PoisonError::into_inner) = Some((ask, given));
}

fn panics() -> MutexGuard<'static, Vec<String>> {
    PANICS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Adds the panics of a failing input to its calls.
fn with_panics(mut failure: Failure, panics: Vec<String>) -> Failure {
    let line = |text: String| text.split('\n').collect::<Vec<_>>().join(" ");
    failure.lines.extend(panics.into_iter().map(line));
    failure
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
        eprintln!("  replay: {}", replay_line(super::NAME));
        std::process::abort();
    };
    if let Err(error) = keep(folder, bytes, &failure) {
        eprintln!("sim: cannot keep a failure of {}: {error}: {}", super::NAME, failure.what);
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
        let text =
            format!("{failure}\n  replay: {}\n", command(super::NAME, &folder.join("input")));
        keep::write(&folder, &bug, bytes, || text.clone(), &failure.lines.join("\n"))?;
        eprint!("{text}");
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
        let report = bugs[1].file.with_file_name("report.txt");
        let report = std::fs::read_to_string(report).expect("it is kept");
        let command = command(super::super::NAME, &bugs[1].file);
        assert!(report.ends_with(&format!("  replay: {command}\n")), "{report}");
        assert_eq!(std::fs::read(&bugs[1].file).expect("it is kept"), b"a");
        std::fs::remove_dir_all(&folder).expect("it is ours");
    }

    #[test]
    fn a_report_has_what_panicked() {
        let panics = vec!["panicked at kernel.rs:1:2:\nno such socket".to_owned()];
        let lines = with_panics(failure("connect gave EIO"), panics).lines;
        assert_eq!(lines, ["socket gave 3", "panicked at kernel.rs:1:2: no such socket"]);
    }
}
