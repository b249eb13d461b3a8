//! Bugs that are known before a night: those that are pinned as open.

use crate::systems;
use sim_core::fuzz::keep;
use sim_core::log::LogFilter;
use sim_core::replay::{Case, cases};
use sim_core::run::{Input, run_logged};
use sim_core::{Target, report};
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::time::Duration;

/// The most real time of a run.
const WATCHDOG: Duration = Duration::from_secs(60);

/// Makes the open bugs of a target known, see [`of_target`]. A planted bug stays unknown: a night has
/// to find it; and `sim_kernel` has no pins of runs.
///
/// # Errors
/// What the file system says, and pins that cannot be read.
pub fn pinned(root: &Path, name: &str, folder: &Path) -> io::Result<BTreeMap<String, String>> {
    let target = systems::correct().into_iter().find(|target| target.name() == name);
    target.map_or(Ok(BTreeMap::new()), |target| of_target(&target, root, folder))
}

/// Runs the inputs of a target that are pinned with a class that they still have, and makes a folder
/// of each bug below `folder`, so that a search knows it; gives the name of the pin of each.
///
/// # Errors
/// What the file system says, and pins that cannot be read.
pub fn of_target(
    target: &Target,
    root: &Path,
    folder: &Path,
) -> io::Result<BTreeMap<String, String>> {
    let names = systems::folders(&systems::all());
    let cases = cases(root, "regressions", &names).map_err(io::Error::other)?;
    let mut pins = BTreeMap::new();
    for case in cases.iter().filter(|case| case.target == target.name()) {
        if let Some(fingerprint) = write(target, case, folder)? {
            pins.insert(fingerprint, case.name.clone());
        }
    }
    Ok(pins)
}

/// Makes the folder of the bug of a pin, where the pin is open; its fingerprint.
fn write(target: &Target, case: &Case, folder: &Path) -> io::Result<Option<String>> {
    if case.expectation.class.is_none() {
        return Ok(None);
    }
    let bytes = std::fs::read(&case.file)?;
    let log = LogFilter::default();
    let run = run_logged(target, &Input::Bytes(bytes.clone()), WATCHDOG, &log);
    let Some(failure) = &run.failure else { return Ok(None) };
    let fingerprint = failure.fingerprint(target.name());
    let folder = folder.join(&fingerprint);
    if !keep::is_kept(&folder) {
        let (text, trace) = (report::text(target, &run, failure, &[]), run.trace());
        keep::write(&folder, failure, &bytes, || text, &trace.to_string())?;
    }
    Ok(Some(fingerprint))
}
