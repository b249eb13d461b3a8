//! The self-check: the same input again, and the same history.
//!
//! A failing input runs again several times in this process and once in another; of the passing
//! ones a sweep checks a part. Two histories that differ are class `diverged`: something reached
//! the world past the seam, and until it is found nothing else that the run says can be trusted.

use crate::child;
use crate::failure::{Class, Failure};
use crate::identity::{below_workspace, say};
use crate::run::{Input, Run, Target, run};
use std::path::Path;
use std::time::Duration;

/// How many times a failing input runs again in this process.
pub(crate) const RERUNS: u32 = 3;

/// Runs an input again in this process, `times` times; what differs from the first run. Where that
/// one failed, the difference says how often the others did in the same way.
pub(crate) fn in_process(
    target: &Target,
    input: &Input,
    first: &Run,
    times: u32,
    watchdog: Duration,
) -> Option<Failure> {
    let Some(failure) = &first.failure else {
        return (0..times).find_map(|_| compare(first, &run(target, input, watchdog)));
    };
    let (mut same, mut difference) = (1, None);
    for _ in 0..times {
        let again = run(target, input, watchdog);
        same += u32::from(again.failure.as_ref().is_some_and(|now| now.is_same_bug(failure)));
        difference = difference.or_else(|| compare(first, &again));
    }
    let mut difference = difference?;
    let runs = times + 1;
    difference.details.push(format!("failed the same way in {same} of {runs} runs: {failure}"));
    Some(difference)
}

/// Runs a file again in another process; what differs from the first run.
///
/// The other process says only its hash. Where that differs, this process runs the file once more: a
/// sweep in the same folder may have put a simpler input in its place meanwhile.
pub(crate) fn in_child(
    target: &Target,
    file: &Path,
    first: &Run,
    watchdog: Duration,
) -> Option<Failure> {
    if child::is_child() {
        return None;
    }
    let unrun = |why: &str| {
        let file = below_workspace(file);
        say(&format!("sim: not run in another process: {} {why}", file.display()));
    };
    let Some(hash) = child::hash_in_child(target, file) else {
        unrun("has no history there");
        return None;
    };
    if hash == first.hash {
        return None;
    }
    if is_replaced(target, file, first, watchdog) {
        unrun("has other bytes now");
        return None;
    }
    let text = "another process made another history of the same input".to_owned();
    let mut failure = Failure::new(Class::Diverged, "another process", text);
    failure.details =
        vec![format!("this process    {}", first.hash), format!("another process {hash}")];
    Some(failure)
}

/// Whether a file no longer has the input of a run.
fn is_replaced(target: &Target, file: &Path, first: &Run, watchdog: Duration) -> bool {
    let Ok(bytes) = std::fs::read(file) else { return true };
    let now = run(target, &Input::Bytes(bytes), watchdog);
    !is_lost(&now) && now.hash != first.hash && now.tape.to_bytes() != first.tape.to_bytes()
}

/// The difference of two runs of one input, as a failure.
pub(crate) fn compare(first: &Run, second: &Run) -> Option<Failure> {
    if is_lost(first) || is_lost(second) {
        return None;
    }
    let divergence = first.history.divergence(&second.history)?;
    let text = format!("two runs of one input differ from event {} on", divergence.index);
    let mut failure = Failure::new(Class::Diverged, "two runs", text);
    failure.details = vec![
        format!("first run:  {}", divergence.first),
        format!("second run: {}", divergence.second),
    ];
    Some(failure)
}

/// Whether the watchdog gave the run up: then there is no history to compare.
fn is_lost(run: &Run) -> bool {
    run.history.is_empty()
}
