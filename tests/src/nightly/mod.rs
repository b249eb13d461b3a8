//! The nightly search: every fuzz target for its share of the time, one report, one exit code.
//!
//! A target searches in two builds, most of its time without a sanitizer and the rest under
//! AddressSanitizer, with [`sim_core::fuzz::KEEP_GOING`]: no failure ends it, each bug is kept in a
//! folder of its own. What an earlier night reported, or is pinned in `regressions/` as open, is
//! known. Slow units, units that libFuzzer gave up, and faults of the machinery are told apart from
//! bugs.
//!
//! It needs cargo, cargo-fuzz and this workspace. It changes `corpus/` only where it is told to.
//!
//! Invariants:
//! - What was found is on disk as soon as it is found; a night that is killed loses its end alone.
//! - One process at a time works in the folder of a target.

pub mod corpus;
pub mod fuzzer;
pub mod known;
pub mod log;
pub mod options;
pub mod report;

use crate::systems;
use fuzzer::{Build, Fuzzer};
use options::Options;
use report::{Bug, Night, Row, Status};
use sim_core::fuzz::keep;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Where everything is.
#[derive(Clone, Debug)]
pub struct Places {
    /// The workspace.
    pub root: PathBuf,
    /// Where cargo-fuzz leaves the binaries of the fuzz targets.
    pub fuzz_binaries: PathBuf,
    /// Where they are kept, a folder a build.
    pub builds: PathBuf,
    /// The artifact folder: a folder a target, and `report.txt`.
    pub artifacts: PathBuf,
}

impl Places {
    /// A file as it is written below the workspace, where it is there.
    fn shown(&self, file: &Path) -> PathBuf {
        file.strip_prefix(&self.root).unwrap_or(file).to_owned()
    }
}

/// Whether a target has a planted bug that a night must find.
pub fn is_planted(target: &str) -> bool {
    systems::planted().iter().any(|planted| planted.name() == target)
}

/// Searches; gives the whole night.
pub fn run(places: &Places, options: &Options) -> Night {
    let mut night = Night::default();
    let names = match fuzzer::targets(places, options) {
        Ok(names) => names,
        Err(fault) => {
            night.faults.push(fault);
            return night;
        }
    };
    let mut builds = Vec::new();
    for build in Build::ALL {
        match fuzzer::build(places, build, &names) {
            Ok(()) => builds.push(build),
            Err(fault) => night.faults.push(fault),
        }
    }
    search_all(places, (&names, &builds), options, night)
}

/// Searches with all targets, some at a time, so that the time of all is that of the options.
fn search_all(
    places: &Places,
    (names, builds): (&[String], &[Build]),
    options: &Options,
    night: Night,
) -> Night {
    let rounds = names.len().div_ceil(options.jobs).max(1) as u32;
    let time = Duration::from_secs(options.seconds) / rounds;
    let (next, night) = (AtomicUsize::new(0), Mutex::new(night));
    let work = || {
        while let Some(name) = names.get(next.fetch_add(1, Ordering::Relaxed)) {
            let result = search(places, name, (builds, time), options);
            let mut night = night.lock().expect("nobody panics with the night");
            match result {
                Ok((row, bugs)) => night.add(row, bugs),
                Err(error) => night.faults.push(format!("{name}: {error}")),
            }
            night.save(&places.artifacts);
        }
    };
    std::thread::scope(|scope| (0..options.jobs).for_each(|_| drop(scope.spawn(work))));
    night.into_inner().expect("nobody panics with the night")
}

/// Searches with one target; what it did and which bugs it met.
fn search(
    places: &Places,
    name: &str,
    (builds, time): (&[Build], Duration),
    options: &Options,
) -> io::Result<(Row, Vec<Bug>)> {
    let folder = places.artifacts.join(name);
    std::fs::create_dir_all(folder.join(fuzzer::UNITS))?;
    std::fs::create_dir_all(folder.join(fuzzer::CORPUS))?;
    let pinned = known::pinned(&places.root, name, &folder)?;
    let before = met(&folder)?;
    let mut row = Row::new(name, is_planted(name));
    row.corpus_before = corpus::count(&places.root.join("corpus").join(name));
    for build in builds {
        let fuzzer = Fuzzer { places, name, build: *build, folder: &folder };
        fuzzer.search(time, &mut row)?;
    }
    if builds.contains(&Build::Plain) {
        let merged = corpus::minimize(places, name, &folder, options.is_updating);
        row.faults.extend(merged.err());
    }
    row.corpus_after = corpus::count(&folder.join(fuzzer::CORPUS));
    let mut bugs = bugs(&folder, &row, &before, &pinned)?;
    bugs.iter_mut().for_each(|bug| bug.kept.file = places.shown(&bug.kept.file));
    Ok((row, bugs))
}

/// The file in the folder of a bug that a whole night reported.
const KNOWN: &str = "known";

/// Makes the bugs of a night known to the next one, once its report was printed.
///
/// # Errors
/// What the file system says.
pub fn make_known(places: &Places, night: &Night) -> io::Result<()> {
    night.bugs().iter().try_for_each(|bug| {
        let folder = places.artifacts.join(&bug.target).join(&bug.kept.fingerprint);
        std::fs::write(folder.join(KNOWN), "")
    })
}

/// The bugs of a target that were met since `before`, and those that are still to be reported.
fn bugs(
    folder: &Path,
    row: &Row,
    before: &BTreeMap<String, u64>,
    pinned: &BTreeMap<String, String>,
) -> io::Result<Vec<Bug>> {
    let mut bugs = Vec::new();
    for kept in keep::read(folder)? {
        let (met, pin) = (before.get(&kept.fingerprint), pinned.get(&kept.fingerprint));
        let is_known = folder.join(&kept.fingerprint).join(KNOWN).is_file();
        let status = match pin {
            _ if row.is_planted => Status::Planted,
            Some(pin) => Status::Pinned(pin.clone()),
            None if is_known => Status::Known,
            None => Status::New,
        };
        let count = kept.met.saturating_sub(met.copied().unwrap_or(0));
        // One that a night found which was killed is still to be reported.
        if count > 0 || status == Status::New {
            bugs.push(Bug { target: row.target.clone(), status, count, kept });
        }
    }
    Ok(bugs)
}

/// How often each bug that is there was met so far.
fn met(folder: &Path) -> io::Result<BTreeMap<String, u64>> {
    let bugs = keep::read(folder)?;
    Ok(bugs.into_iter().map(|kept| (kept.fingerprint, kept.met)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_core::failure::{Class, Failure};

    #[test]
    fn a_bug_is_new_until_a_whole_night_reported_it() {
        let artifacts = std::env::temp_dir().join(format!("nightly-new-{}", std::process::id()));
        let folder = artifacts.join("sim_a");
        let failure = Failure::new(Class::Panic, "a.rs:1", "wrong");
        let of_bug = folder.join(failure.fingerprint("sim_a"));
        keep::write(&of_bug, &failure, b"bytes", String::new, "").expect("it can be kept");
        let bugs = |is_planted: bool, before: u64, pin: Option<&str>| {
            let row = Row::new("sim_a", is_planted);
            let of = |fingerprint: &Failure| fingerprint.fingerprint("sim_a");
            let before = BTreeMap::from([(of(&failure), before)]);
            let pinned = pin.map(|pin| (of(&failure), pin.to_owned())).into_iter().collect();
            let bugs = bugs(&folder, &row, &before, &pinned).expect("the folder is there");
            bugs.into_iter().map(|bug| (bug.status, bug.count)).collect::<Vec<_>>()
        };
        assert_eq!(bugs(false, 0, None), [(Status::New, 0)]);
        keep::count(&of_bug).expect("it is kept");
        assert_eq!(bugs(false, 0, None), [(Status::New, 1)]);
        assert_eq!(bugs(true, 0, None), [(Status::Planted, 1)]);
        assert_eq!(bugs(false, 0, Some("pin")), [(Status::Pinned("pin".to_owned()), 1)]);
        let mut night = Night::default();
        let row = Row::new("sim_a", false);
        let found = super::bugs(&folder, &row, &BTreeMap::new(), &BTreeMap::new());
        night.add(row, found.expect("the folder is there"));
        let other = artifacts.clone();
        let places = Places {
            root: other.clone(),
            fuzz_binaries: other.clone(),
            builds: other,
            artifacts: artifacts.clone(),
        };
        make_known(&places, &night).expect("the folder is there");
        assert_eq!(bugs(false, 0, None), [(Status::Known, 1)]);
        assert_eq!(bugs(false, 1, None), []);
        std::fs::remove_dir_all(artifacts).expect("it is ours");
    }
}
