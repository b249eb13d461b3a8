//! The report of a failure, for a person.
//!
//! In this order: class and what; the facts that contradict each other; the plan where it is not calm;
//! the trace, or its excerpt where it is long; how to run it again; where the input is and how it was
//! found. What is told is the same wherever the run was made.

use crate::color;
use crate::failure::Failure;
use crate::history::Excerpt;
use crate::identity::{Identity, Subject, below_workspace, of_bytes, say};
use crate::run::{Run, Target};
use crate::settings::Settings;
use crate::shrink::{Found, Outcome};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// How many lines of details a report shows.
const DETAILS_MAX: usize = 60;

/// A part of a report: its name, and what it says.
pub type Part = (&'static str, String);

/// Writes the report of a run as text; `parts` are what comes after the trace, the way to run it again
/// first.
///
/// ```
/// use sim_core::run::{Input, run};
/// use sim_core::{Target, report};
/// use std::time::Duration;
///
/// let target = Target::new("kv", |sim| sim.fail("no"));
/// let run = run(&target, &Input::Bytes(Vec::new()), Duration::from_secs(60));
/// let failure = run.failure.as_ref().expect("it fails");
/// let text = report::text(&target, &run, failure, &[("replay", "cargo test".to_owned())]);
/// assert!(text.starts_with("sim: FAILED target=kv class=correctness"));
/// assert!(text.contains("\n  no\n") && text.contains("\n  replay: cargo test\n  hash:   "));
/// ```
pub fn text(target: &Target, run: &Run, failure: &Failure, parts: &[Part]) -> String {
    let mut lines = above(target, run, failure);
    let excerpt = Excerpt::new(&run.trace());
    lines.push(part("trace", &excerpt.what));
    lines.extend(excerpt.lines.iter().map(|line| format!("    {line}")));
    lines.extend(below(run, parts));
    lines.join("\n")
}

/// What comes before the trace.
fn above(target: &Target, run: &Run, failure: &Failure) -> Vec<String> {
    let mut lines = vec![head(target, failure), format!("  {}", failure.message)];
    let shown = failure.details.iter().take(DETAILS_MAX);
    lines.extend(shown.map(|line| format!("    {line}")));
    let left_out = failure.details.len().saturating_sub(DETAILS_MAX);
    if left_out > 0 {
        lines.push(format!("    … {left_out} lines are left out"));
    }
    lines.push(part("plan", &run.plan.to_string()));
    lines
}

/// What comes after the trace. Beside the way to run it again stands what tells that it is the same.
fn below(run: &Run, parts: &[Part]) -> Vec<String> {
    let ways = parts.iter().take_while(|(name, _)| WAYS.contains(name)).count();
    let (events, time) = (run.history.len(), run.elapsed);
    let hash = format!("{} after {events} events and {time:?} of virtual time", run.hash);
    let (ways, others) = parts.split_at(ways);
    let show = |parts: &[Part]| -> Vec<String> {
        parts.iter().map(|(name, text)| part(name, text)).collect()
    };
    [show(ways), vec![part("hash", &hash)], show(others)].concat()
}

/// The parts that say how to run it again.
const WAYS: [&str; 2] = ["replay", "or"];

/// One line, whose text is in one column with that of every other part.
fn part(name: &str, text: &str) -> String {
    format!("  {:<8}{text}", format!("{name}:"))
}

/// The first line of a report.
fn head(target: &Target, failure: &Failure) -> String {
    let Failure { class, origin, .. } = failure;
    let (name, bug) = (target.name(), failure.fingerprint(target.name()));
    format!("sim: FAILED target={name} class={class} bug={bug} origin=\"{origin}\"")
}

/// Writes a failing input to the artifacts of its target; gives the file.
///
/// # Errors
/// What the file system says.
pub(crate) fn save(
    settings: &Settings,
    target: &Target,
    run: &Run,
    failure: &Failure,
) -> io::Result<PathBuf> {
    write(settings, target, &name(run, failure), &run.tape.to_bytes())
}

/// Writes what a failing input was shrunk to so far, beside it; gives the file.
///
/// # Errors
/// What the file system says.
pub(crate) fn save_shrunk(
    settings: &Settings,
    target: &Target,
    first: &Run,
    failure: &Failure,
    bytes: &[u8],
) -> io::Result<PathBuf> {
    write(settings, target, &format!("{}-min", name(first, failure)), bytes)
}

fn name(run: &Run, failure: &Failure) -> String {
    format!("{}-{}", failure.class, &run.hash.to_string()[..12])
}

/// Writes a file among the artifacts of a target; gives its path.
pub(crate) fn write(
    settings: &Settings,
    target: &Target,
    name: &str,
    bytes: &[u8],
) -> io::Result<PathBuf> {
    let folder = settings.artifacts_folder().join(target.name());
    std::fs::create_dir_all(&folder)?;
    let file = folder.join(name);
    write_whole(&file, bytes)?;
    Ok(file)
}

/// Writes a file that is there whole or not at all, whenever the process is killed: under a name
/// that is no input's and no other writer's, then renamed.
pub(crate) fn write_whole(file: &Path, bytes: &[u8]) -> io::Result<()> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let half = file.with_file_name(format!(".{name}.{}-{number}", std::process::id()));
    let written = std::fs::write(&half, bytes).and_then(|()| std::fs::rename(&half, file));
    if written.is_err() {
        // What the file system said first is what counts.
        let _ = std::fs::remove_file(&half);
    }
    written
}

/// What is said where something cannot be written among the artifacts.
pub(crate) fn not_written(settings: &Settings, what: &str, error: &io::Error) -> String {
    let folder = settings.artifacts_folder();
    format!("sim: {what} cannot be written below {}: {error}", below_workspace(&folder).display())
}

/// Prints the report of a failing run whose input is in `file`, with the lines to replay it.
pub(crate) fn print(
    target: &Target,
    run: &Run,
    failure: &Failure,
    subject: Subject<'_>,
    file: Option<&Path>,
) {
    // A run that was given up told no choices: what its file has is what it was made of.
    let lost = file.filter(|_| run.history.is_empty());
    let lost = lost.and_then(|file| std::fs::metadata(file).ok());
    let len = lost.map_or_else(|| run.tape.to_bytes().len(), |file| file.len() as usize);
    say(&color::report(&file_text(target, run, len, failure, subject, file)));
}

/// Writes the report of a failing run whose input of `len` bytes is in `file`, with the lines to
/// replay it.
pub(crate) fn file_text(
    target: &Target,
    run: &Run,
    len: usize,
    failure: &Failure,
    subject: Subject<'_>,
    file: Option<&Path>,
) -> String {
    let mut parts = vec![("replay", Identity { target, subject }.replay())];
    if let Some(file) = file {
        let same = Identity { target, subject: Subject::File(file) };
        if !matches!(subject, Subject::File(_)) {
            parts.push(("or", same.replay()));
        }
        parts.push(input(file, len));
        let pinned = format!("regressions/{}", target.name());
        if !file.parent().is_some_and(|folder| folder.ends_with(&pinned)) {
            parts.push(("pin", same.pin("NAME")));
        }
    }
    text(target, run, failure, &parts)
}

/// Where an input is.
fn input(file: &Path, len: usize) -> Part {
    ("input", format!("{} ({len} bytes)", below_workspace(file).display()))
}

/// Prints what came of shrinking a failure: the report of what it became, then a short one of each
/// other failure that was met; whether there was one of the failure itself.
pub(crate) fn print_outcome(
    target: &Target,
    failure: &Failure,
    outcome: &Outcome,
    found_by: &str,
    len: usize,
) -> bool {
    if let Some(found) = &outcome.found {
        say(&color::report(&shrunk_text(target, found, found_by, len)));
    } else if let Some((same, times)) = outcome.unsteady {
        say(&format!("sim: not shrunk: failed the same way in {same} of {times} runs: {failure}"));
    }
    for other in &outcome.others {
        say(&color::report(&other_text(target, other, found_by)));
    }
    outcome.found.is_some()
}

/// Writes the report of what a failure was shrunk to, with the lines to replay it, and the failure
/// as it was found.
pub(crate) fn shrunk_text(target: &Target, found: &Found, found_by: &str, len: usize) -> String {
    let Found { shrunk, run, failure, .. } = found;
    let mut parts = found_parts(target, found, found_by);
    parts.push(("found", found_by.to_owned()));
    parts.push(effort(found, &format!("from {len} ")));
    for (class, origin) in shrunk.others.keys() {
        parts.push(("met", format!("another failure on the way, {class} at {origin}")));
    }
    text(target, run, failure, &parts)
}

/// Writes the short report of a failure that was met while another one was shrunk.
fn other_text(target: &Target, found: &Found, found_by: &str) -> String {
    let Found { run, failure, .. } = found;
    let mut parts = found_parts(target, found, found_by);
    parts.push(("met", format!("on the way from {found_by}")));
    parts.push(effort(found, ""));
    [above(target, run, failure), below(run, &parts)].concat().join("\n")
}

/// How to replay what was found, and where the input is. Where that could not be written, the way is
/// the input itself, or what it was found by.
fn found_parts(target: &Target, found: &Found, found_by: &str) -> Vec<Part> {
    let bytes = &found.shrunk.bytes;
    let Some(file) = &found.file else {
        let spelled = of_bytes(target.name(), bytes);
        let replay = spelled.unwrap_or_else(|| format!("{found_by}  # as it was found"));
        let input = format!("could not be written ({} bytes)", bytes.len());
        return vec![("replay", replay), ("input", input)];
    };
    let same = Identity { target, subject: Subject::File(file) };
    vec![("replay", same.replay()), input(file, bytes.len()), ("pin", same.pin("NAME"))]
}

/// What it took to shrink what was found.
fn effort(found: &Found, from: &str) -> Part {
    let shrunk = &found.shrunk;
    let (len, runs, time) = (shrunk.bytes.len(), shrunk.runs, shrunk.time);
    let cut = if shrunk.is_cut { ", where the time for it ended" } else { "" };
    ("shrunk", format!("{from}to {len} bytes in {runs} runs and {time:.1?}{cut}"))
}

#[cfg(test)]
mod tests;
