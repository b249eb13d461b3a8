//! What the tests of judges have in common: logs written by hand, and what a violation says.

use super::log::Log;
use sim_core::Violation;
use sim_core::failure::Failure;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

/// A folder of its own, with a log of these lines.
pub fn folder(lines: &[&str]) -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("sim-judged-{}-{number}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mut log = Log::open(&folder).unwrap();
    lines.iter().for_each(|line| log.append(line));
    folder
}

/// The message of a violation, and its last fact.
pub fn text(violation: Violation) -> String {
    let Failure { message, details, .. } = violation.failure();
    [Some(message), details.last()].into_iter().flatten().cloned().collect::<Vec<_>>().join("; ")
}
