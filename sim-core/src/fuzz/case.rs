//! One input as a type, so that cargo-fuzz shows what it means.
//!
//! cargo-fuzz prints the input with `Debug` after a crash, in `fmt` and in `tmin`. Bytes say nothing
//! to a person, so this runs them and shows what came of it. It decides nothing: as an
//! [`Arbitrary`] it is the bytes as they are.

use crate::run::{Input, Run, Target, run_logged};
use crate::settings::Settings;
use arbitrary::{Arbitrary, Result, Unstructured};
use std::fmt;

/// How many lines of a trace are shown, from its beginning and from its end.
const LINES_MAX: usize = 100;

/// An input of a fuzz target.
///
/// ```
/// use arbitrary::{Arbitrary, Unstructured};
/// use sim_core::fuzz::Case;
///
/// let case = Case::arbitrary_take_rest(Unstructured::new(&[1, 2]))?;
/// assert_eq!(case, Case(&[1, 2]));
/// # Ok::<(), arbitrary::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Case<'a>(pub &'a [u8]);

impl<'a> Arbitrary<'a> for Case<'a> {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Case<'a>> {
        u.bytes(u.len()).map(Case)
    }

    fn arbitrary_take_rest(u: Unstructured<'a>) -> Result<Case<'a>> {
        Ok(Case(u.take_rest()))
    }

    fn size_hint(_depth: usize) -> (usize, Option<usize>) {
        (0, None)
    }
}

impl fmt::Debug for Case<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match super::known_target() {
            Some(target) => f.write_str(&describe(target, self.0)),
            None => f.debug_tuple("Case").field(&self.0).finish(),
        }
    }
}

/// Runs an input and says what it decides: the plan where it is not calm, and the trace. A run that
/// hangs is given up by the watchdog, and that is what is shown.
///
/// ```
/// use sim_core::Target;
/// use sim_core::fuzz::describe;
///
/// let target = Target::new("kv", |sim| sim.note("here"));
/// let text = describe(&target, &[]);
/// assert!(text.starts_with("kv of 0 bytes: passed\nplan: calm\n"));
/// ```
pub fn describe(target: &Target, bytes: &[u8]) -> String {
    let Settings { watchdog, log, .. } = super::settings();
    let run = run_logged(target, &Input::Bytes(bytes.to_vec()), *watchdog, log);
    let came = match &run.failure {
        Some(failure) => format!("{failure} (bug={})", failure.fingerprint(target.name())),
        None => "passed".to_owned(),
    };
    let mut lines = vec![format!("{} of {} bytes: {came}", target.name(), bytes.len())];
    lines.push(format!("plan: {}", run.plan));
    lines.push(format!("{} events in {:?} of virtual time:", run.history.len(), run.elapsed));
    lines.extend(trace(&run));
    lines.join("\n")
}

/// The lines of a trace, without the middle where it is long.
fn trace(run: &Run) -> Vec<String> {
    let trace = run.trace();
    let len = trace.len();
    let left_out = len.saturating_sub(2 * LINES_MAX);
    let mut lines: Vec<String> = trace.lines().take(LINES_MAX).collect();
    if left_out > 0 {
        lines.push(format!("… {left_out} lines are left out"));
    }
    lines.extend(trace.last(len.saturating_sub(LINES_MAX).min(LINES_MAX)));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_type_is_the_bytes_as_they_are() {
        let bytes = [7, 0, 255, 0];
        assert_eq!(Case::size_hint(0), (0, None));
        assert_eq!(Case::arbitrary_take_rest(Unstructured::new(&bytes)), Ok(Case(&bytes)));
        assert_eq!(Case::arbitrary(&mut Unstructured::new(&bytes)), Ok(Case(&bytes)));
        assert_eq!(Case::arbitrary_take_rest(Unstructured::new(&[])), Ok(Case(&[])));
    }

    #[test]
    fn what_is_shown_is_the_plan_and_the_trace_without_its_middle() {
        let target = Target::new("shown", |sim| {
            let notes = sim.dimension("notes", 255);
            (0..notes).for_each(|note| sim.note(&note.to_string()));
        });
        let input = |notes: u8| {
            let mut lanes = crate::source::Lanes::default();
            let swarm = lanes.lane_mut(crate::source::Lane::Swarm);
            swarm.extend([0; 6]);
            swarm.push(notes);
            lanes.encode()
        };
        let short = describe(&target, &input(2));
        assert!(short.starts_with("shown of 8 bytes: passed\nplan: notes=2\n"), "{short}");
        assert!(short.contains("note 0") && short.contains("note 1"), "{short}");
        assert!(!short.contains("left out"), "{short}");
        let calm = describe(&target, &[]);
        assert!(calm.starts_with("shown of 0 bytes: passed\nplan: calm\n"), "{calm}");

        let long = describe(&target, &input(255));
        let events: u64 = long.lines().nth(2).unwrap().split(' ').next().unwrap().parse().unwrap();
        assert!(long.contains(&format!("\n… {} lines are left out\n", events - 200)), "{long}");
        assert_eq!(long.lines().count(), 3 + 201, "{long}");
        assert!(long.contains("note 0\n") && long.contains("note 254"), "{long}");
        assert!(!long.contains("note 120"), "{long}");
    }

    #[test]
    fn what_failed_is_shown_with_its_bug() {
        let target = Target::new("shown", |sim| sim.fail("no"));
        let shown = describe(&target, &[]);
        assert!(shown.starts_with("shown of 0 bytes: correctness at sim-core/src/fuzz/case.rs:"));
        assert!(shown.contains("(bug="), "{shown}");
    }
}
