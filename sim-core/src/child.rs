//! A run in another process: the same binary is started with `SIM_CHILD`, makes one run, prints
//! what came of it and ends.
//!
//! The child is this very test, fuzz target or program with the same arguments, so it reaches the
//! same target. It knows nothing of reports and shrinking.
//!
//! # Example
//! ```
//! use sim_core::{Target, child};
//!
//! let targets = [Target::new("kv", |_| {}), Target::new("queue", |_| {})];
//! // First in the `main` of a binary that is no test: in a child it makes the run and ends here.
//! child::serve_any(&targets);
//! assert!(!child::is_child());
//! ```

use crate::history::Hash;
use crate::identity::test_name;
use crate::run::{Input, Target, run};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The variable that makes a process a child; its value is the target.
const VARIABLE: &str = "SIM_CHILD";

/// What a child's line begins with.
const MARK: &str = "sim-child";

/// Whether this process serves children in `main`, before any test harness.
static IS_SERVED_BY_MAIN: AtomicBool = AtomicBool::new(false);

/// Serves a parent that asked for one of `targets`; for binaries that reach it first in `main`.
///
/// ```
/// use sim_core::{Target, child};
///
/// let targets = [Target::new("kv", |_| {}), Target::new("queue", |_| {})];
/// child::serve_any(&targets); // No parent asked for one: it goes on.
/// assert!(!child::is_child());
/// ```
pub fn serve_any(targets: &[Target]) {
    IS_SERVED_BY_MAIN.store(true, Ordering::Relaxed);
    targets.iter().for_each(serve);
}

/// Serves a parent that asked for this target: makes the run, prints its hash and ends the process.
///
/// ```
/// # let target = sim_core::Target::new("kv", |_| {});
/// sim_core::child::serve(&target); // `sweep::test` does it by itself.
/// ```
pub fn serve(target: &Target) {
    if std::env::var(VARIABLE).is_ok_and(|name| name == target.name()) {
        let code = match std::env::var("SIM_INPUT").map(std::fs::read) {
            Ok(Ok(bytes)) => {
                let run = run(target, &Input::Bytes(bytes), Duration::from_secs(600));
                println!("\n{MARK} {}", run.hash);
                0
            }
            _ => 1,
        };
        std::process::exit(code);
    }
}

/// Whether this process is a child.
///
/// ```
/// assert!(!sim_core::child::is_child(), "nobody started this for a run");
/// ```
pub fn is_child() -> bool {
    std::env::var_os(VARIABLE).is_some()
}

/// Runs a file of bytes in another process; the hash of its history, where there is one.
///
/// A child has no children of its own: what it was started for is one run.
///
/// ```
/// use sim_core::run::{Input, run};
/// use sim_core::{Target, child};
/// use std::time::Duration;
///
/// let target = Target::new("kv", |sim| sim.note("here"));
/// child::serve(&target);
/// let file = std::env::temp_dir().join(format!("kv-{}", std::process::id()));
/// std::fs::write(&file, [])?;
/// let here = run(&target, &Input::Bytes(Vec::new()), Duration::from_secs(60)).hash;
/// assert_eq!(child::hash_in_child(&target, &file), Some(here));
/// std::fs::remove_file(&file)?;
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn hash_in_child(target: &Target, file: &Path) -> Option<Hash> {
    if is_child() {
        return None;
    }
    let mut command = Command::new(std::env::current_exe().ok()?);
    if !IS_SERVED_BY_MAIN.load(Ordering::Relaxed) {
        match test_name() {
            Some(name) => command.args([name.as_str(), "--exact", "--nocapture"]),
            None => command.args(std::env::args_os().skip(1)),
        };
    }
    let file = std::path::absolute(file).ok()?;
    command.env(VARIABLE, target.name()).env("SIM_INPUT", file);
    command.env_remove("SIM_SEEDS").stdin(Stdio::null()).stderr(Stdio::null());
    let output = command.output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().rev().find_map(|line| line.strip_prefix(MARK))?;
    parse(line.trim())
}

fn parse(text: &str) -> Option<Hash> {
    let mut hash = [0; 32];
    if text.len() != 64 || !text.is_ascii() {
        return None;
    }
    for (byte, pair) in hash.iter_mut().zip(text.as_bytes().chunks(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(Hash(hash))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_reads_back_as_it_is_printed() {
        let hash = Hash(std::array::from_fn(|index| index as u8 * 7));
        assert_eq!(parse(&hash.to_string()), Some(hash));
        assert_eq!(parse("12"), None);
        assert_eq!(parse(&"g".repeat(64)), None);
    }
}
