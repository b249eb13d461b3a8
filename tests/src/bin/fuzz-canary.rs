//! The planted bug under libFuzzer, as a user meets it: `fuzz-canary [SECONDS]`.
//!
//! The fuzz target is a process of its own in a folder of its own. What it says and leaves must be
//! whole: the identity line, class and fingerprint, the frame of its class on the stack, the input
//! and the simplest one, which is short, fails again, and is replayed and pinned by the commands of the
//! report. A target that is killed in the middle said
//! what it is before, and so did a program that is built to end at its first panic. Exit code: 1 and
//! a line where something is missing, 2 where nothing could be built or started.

use sim_core::failure::Class;
use sim_core::run::{Input, run};
use sim_tests::systems::echo_planted;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

/// The most bytes that the simplest input may have.
const SHRUNK_MAX: usize = 38;

const WATCHDOG: Duration = Duration::from_secs(60);

/// What is missing, or could not be done.
enum Fault {
    Missing(String),
    SetUp(String),
}

fn main() -> ExitCode {
    let seconds = std::env::args().nth(1).unwrap_or_else(|| "120".to_owned());
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace is above");
    let scratch = std::env::temp_dir().join(format!("sim-fuzz-canary-{}", std::process::id()));
    let outcome = all(root, &scratch, &seconds);
    drop(std::fs::remove_dir_all(&scratch));
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(Fault::Missing(text)) => {
            eprintln!("fuzz-canary: {text}");
            ExitCode::FAILURE
        }
        Err(Fault::SetUp(text)) => {
            eprintln!("fuzz-canary: {text}");
            ExitCode::from(2)
        }
    }
}

fn all(root: &Path, scratch: &Path, seconds: &str) -> Result<(), Fault> {
    std::fs::create_dir_all(scratch).map_err(|error| set_up(scratch.display(), error))?;
    cargo(root, &["fuzz", "build", "sim_echo_planted"])?;
    cargo(root, &["build", "-q", "-p", "sim-core", "--example", "aborts", "--profile", "abort"])?;
    let target = target_folder(root);
    let binary = target.join(format!("{}/release/sim_echo_planted", host()));
    finds(&binary, scratch, seconds)?;
    is_killed(&binary, scratch)?;
    aborts(&target.join("abort/examples/aborts"))?;
    println!("fuzz-canary: found, shrunk and replayed; killed and aborted with an identity");
    Ok(())
}

/// Lets libFuzzer search until it finds the bug, and looks at what it said and left.
fn finds(binary: &Path, scratch: &Path, seconds: &str) -> Result<(), Fault> {
    let (corpus, artifacts) = (scratch.join("corpus"), scratch.join("artifacts"));
    for folder in [&corpus, &artifacts] {
        std::fs::create_dir_all(folder).map_err(|error| set_up(folder.display(), error))?;
    }
    let mut command = prepared(binary, scratch);
    command.arg(&corpus).arg(format!("-max_total_time={seconds}"));
    command.arg("-seed=1").arg(format!("-artifact_prefix={}/", artifacts.display()));
    let output = command.output().map_err(|error| set_up(binary.display(), error))?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let needs = |is_there: bool, what: &str| match is_there {
        true => Ok(()),
        false => Err(Fault::Missing(format!("{what}; the process said:\n{text}"))),
    };
    let target = echo_planted::target();
    needs(text.starts_with("sim: target=sim_echo_planted "), "no identity line comes first")?;
    needs(text.contains(" class=deadlock bug="), "the planted bug is not found")?;
    needs(text.contains("sim_failed_deadlock"), "no frame is named after the class")?;
    for (prefix, bytes_max) in [("crash-", usize::MAX), ("min-deadlock-", SHRUNK_MAX)] {
        let Some(file) = file(&artifacts, prefix) else {
            return needs(false, &format!("there is no input {prefix}…"));
        };
        let bytes = std::fs::read(&file).map_err(|error| set_up(file.display(), error))?;
        needs(bytes.len() <= bytes_max, &format!("the input {prefix}… is long"))?;
        let failure = run(&target, &Input::Bytes(bytes), WATCHDOG).failure;
        let bug = failure.map(|failure| failure.fingerprint(target.name())).unwrap_or_default();
        let is_same = text.contains(&format!(" class=deadlock bug={bug} "));
        needs(is_same, &format!("the input {prefix}… fails otherwise"))?;
    }
    needs(text.contains(" search=libFuzzer "), "the identity is not that of a search")?;
    let min = file(&artifacts, "min-deadlock-").unwrap_or_default();
    // The process is in that folder, and there is no workspace above it.
    let shown = min.strip_prefix(scratch).unwrap_or(&min).display();
    let command = format!("SIM_INPUT={shown} cargo fuzz run {}\n", target.name());
    needs(text.contains(&format!("\n  replay: {command}")), "no command replays it")?;
    needs(text.contains(&format!("\n  pin:    SIM_PIN=NAME {command}")), "no command pins it")?;
    is_replayed(binary, scratch, &min)
}

/// Replays and pins an input by the fuzz target, in place of a search.
fn is_replayed(binary: &Path, scratch: &Path, input: &Path) -> Result<(), Fault> {
    let run = |variables: &[(&str, &str)]| {
        let mut command = prepared(binary, scratch);
        command.env("SIM_INPUT", input).envs(variables.iter().copied());
        let output = command.output().map_err(|error| set_up(binary.display(), error))?;
        Ok((output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned()))
    };
    let says = |(code, text): &(Option<i32>, String), expected: i32, words: &str| match () {
        () if *code == Some(expected) && text.contains(words) => Ok(()),
        () => Err(Fault::Missing(format!("no code {expected} and {words:?}: {code:?}\n{text}"))),
    };
    let class = Class::Deadlock.exit_code().into();
    says(&run(&[])?, class, "sim: FAILED target=sim_echo_planted class=deadlock ")?;
    says(&run(&[("SIM_PIN", "cut")])?, 0, "sim: PINNED target=sim_echo_planted name=cut ")?;
    match scratch.join("regressions/sim_echo_planted/cut.toml").is_file() {
        true => says(&run(&[("SIM_TARGET", "sim_echo")])?, 2, "sim: SIM_TARGET=sim_echo: "),
        false => Err(Fault::Missing("the pin is not there".to_owned())),
    }
}

/// Kills a search as soon as it said what it is.
fn is_killed(binary: &Path, scratch: &Path) -> Result<(), Fault> {
    let mut command = prepared(binary, scratch);
    let child = command.stderr(Stdio::piped()).spawn();
    let mut child = child.map_err(|error| set_up(binary.display(), error))?;
    let stderr = BufReader::new(child.stderr.take().expect("it is piped"));
    let first = stderr.lines().next().and_then(Result::ok).unwrap_or_default();
    let killed = child.kill().and_then(|()| child.wait());
    killed.map_err(|error| set_up(binary.display(), error))?;
    match first.starts_with("sim: target=sim_echo_planted ") && first.contains("replay=`") {
        true => Ok(()),
        false => Err(Fault::Missing(format!("a killed process said {first:?} first"))),
    }
}

/// Runs a program that is built to end at its first panic.
fn aborts(binary: &Path) -> Result<(), Fault> {
    let output = Command::new(binary).output().map_err(|error| set_up(binary.display(), error))?;
    let text = String::from_utf8_lossy(&output.stderr);
    let says = |words: &str| text.lines().any(|line| line.starts_with(words));
    let is_told = says("sim: target=aborts ") && says("sim: FAILED class=panic ");
    match is_told && !output.status.success() {
        true => Ok(()),
        false => Err(Fault::Missing(format!("a program that aborts said only:\n{text}"))),
    }
}

/// A process that no variable of ours steers.
fn prepared(binary: &Path, folder: &Path) -> Command {
    let mut command = Command::new(binary);
    command.current_dir(folder).stdin(Stdio::null()).stdout(Stdio::null());
    let ours = std::env::vars_os().map(|(name, _)| name);
    for name in ours.filter(|name| name.as_encoded_bytes().starts_with(b"SIM_")) {
        command.env_remove(name);
    }
    command
}

/// The file of a folder whose name begins so.
fn file(folder: &Path, prefix: &str) -> Option<PathBuf> {
    let entries = std::fs::read_dir(folder).ok()?.filter_map(Result::ok);
    let name = |file: &PathBuf| {
        file.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(prefix.as_bytes()))
    };
    entries.map(|entry| entry.path()).find(name)
}

fn cargo(root: &Path, arguments: &[&str]) -> Result<(), Fault> {
    let status = Command::new("cargo").args(arguments).current_dir(root).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(Fault::SetUp(format!("cargo {} {status}", arguments.join(" ")))),
        Err(error) => Err(set_up("cargo", error)),
    }
}

/// Cargo's target folder: this program is in it.
fn target_folder(root: &Path) -> PathBuf {
    let own = std::env::current_exe().unwrap_or_default();
    own.ancestors().nth(2).map_or_else(|| root.join("target"), Path::to_path_buf)
}

fn host() -> String {
    format!("{}-unknown-linux-gnu", std::env::consts::ARCH)
}

fn set_up(what: impl std::fmt::Display, error: std::io::Error) -> Fault {
    Fault::SetUp(format!("{what}: {error}"))
}
