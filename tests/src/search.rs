//! How many runs it takes to find the bug of a target, by seeds and by libFuzzer.
//!
//! libFuzzer runs as a process of its own, in a folder of its own, with a corpus that is empty. Its
//! binary is built by `cargo fuzz build -s none`.

use crate::systems;
use sim_core::run::{Input, run_reusing};
use sim_core::sweep::{Sweep, settings_or_exit, sweep_of};
use sim_core::{Target, child};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

const WATCHDOG: Duration = Duration::from_secs(60);

/// The folder of the workspace.
pub fn workspace() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here)
}

/// The options of cargo that build fuzz targets of these names: the features that they need.
pub fn features<'n>(names: impl IntoIterator<Item = &'n str>) -> Vec<&'static str> {
    let features: BTreeSet<_> = names.into_iter().filter_map(systems::feature_of).collect();
    features.into_iter().flat_map(|feature| ["--features", feature]).collect()
}

/// Builds a fuzz target; gives its binary, and nothing where it cannot be built.
pub fn build(name: &str) -> Option<PathBuf> {
    let mut cargo = Command::new("cargo");
    cargo.args(["fuzz", "build", "-s", "none", name]).current_dir(workspace());
    cargo.args(features([name]));
    let triple = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let binary = workspace().join("target").join(triple).join("release").join(name);
    (cargo.status().ok()?.success() && binary.is_file()).then_some(binary)
}

/// The seeds of a sample, without an end; no two samples below a thousand have one in common.
pub fn seeds(sample: u64) -> impl Iterator<Item = u64> {
    sample * 1_000_000..
}

/// Runs the seeds of a sample until one fails, at most so many; how many ran.
pub fn sweep(target: &Target, sample: u64, cap: u64) -> Option<u64> {
    let fails = |seed: u64| run_reusing(target, &Input::Seed(seed), WATCHDOG).failure.is_some();
    let place = seeds(sample).take(cap as usize).position(fails);
    place.map(|place| place as u64 + 1)
}

/// Sweeps a system in which something must be found; seeds of the user's own promise nothing.
pub fn hunt(target: &Target, seeds: std::ops::Range<u64>) -> Option<Sweep> {
    child::serve(target);
    let settings = settings_or_exit();
    if settings.input.is_some() {
        return None;
    }
    let found = sweep_of(target, seeds, &settings);
    println!("{}", found.summary(target));
    settings.seeds.is_none().then_some(found)
}

/// Has libFuzzer search by a seed of its own, for at most so many runs; how many it made.
pub fn fuzz(binary: &Path, arguments: &[&str], seed: u64, cap: u64) -> Option<u64> {
    let name = binary.file_name()?.to_str()?;
    let own = format!("sim-search-{name}-{}-{seed}", std::process::id());
    let folder = std::env::temp_dir().join(own);
    std::fs::create_dir_all(&folder).ok()?;
    let mut command = Command::new(binary);
    command.arg(&folder).args(arguments).env("SIM_SHRINK", "off");
    command.args([format!("-runs={cap}"), format!("-seed={seed}")]);
    command.arg(format!("-artifact_prefix={}/", folder.display()));
    let output = command.stdin(Stdio::null()).output();
    std::fs::remove_dir_all(&folder).ok()?;
    let output = output.ok()?;
    let text = String::from_utf8_lossy(&output.stderr);
    let count = text.lines().find_map(|line| line.strip_prefix("  effort: found after "))?;
    count.split(' ').next()?.parse().ok().filter(|runs| *runs <= cap)
}

/// The median, where nothing found counts as the cap.
pub fn median(found: &[Option<u64>], cap: u64) -> u64 {
    let mut runs: Vec<u64> = found.iter().map(|runs| runs.unwrap_or(cap)).collect();
    runs.sort_unstable();
    let (low, high) = (runs[(runs.len() - 1) / 2], runs[runs.len() / 2]);
    low.midpoint(high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_found_counts_as_the_cap() {
        assert_eq!(median(&[Some(1), None, Some(5)], 10), 5);
        assert_eq!(median(&[Some(2), None], 10), 6);
        assert_eq!(median(&[None, None, Some(1)], 10), 10);
    }

    #[test]
    fn each_feature_is_named_once_where_a_target_needs_it() {
        assert_eq!(features(["sim_echo", "sim_kernel"]), Vec::<&str>::new());
        let names = ["sim_echo", "sim_raft", "sim_raft_planted"];
        assert_eq!(features(names), ["--features", "raft"]);
    }

    #[test]
    fn samples_have_no_seed_in_common() {
        assert_eq!(seeds(3).nth(999_999).map(|last| last + 1), seeds(4).next());
    }
}
