//! Shrinks the failure of a run, with the best so far in a file.

use super::{Budget, Shrunk, TargetSubject, shrink};
use crate::failure::{Class, Failure};
use crate::run::{Input, Run, Target, run};
use crate::settings::{Settings, Shrinking};
use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// How long a new failure is shrunk where nothing is said.
pub(crate) const TIME_DEFAULT: Duration = Duration::from_secs(5);

/// A failure and the run that it became.
pub(crate) struct Found {
    pub(crate) shrunk: Shrunk,
    pub(crate) run: Run,
    pub(crate) failure: Failure,
    /// Its input, where it could be written.
    pub(crate) file: Option<PathBuf>,
}

/// How long a failure may be shrunk; `unset` is meant where nothing is said.
fn time(settings: &Settings, unset: Option<Duration>) -> Option<Duration> {
    match settings.shrink {
        Shrinking::Unset => unset,
        Shrinking::Off => None,
        Shrinking::For(time) => Some(time),
    }
}

/// Whether a class is of the system under test: what the simulator or a limit did is not shrunk.
fn is_shrinkable(class: Class) -> bool {
    !matches!(class, Class::Diverged | Class::Excused | Class::Inconclusive | Class::Internal)
}

/// Shrinks a failing run, where that is asked for; nothing where it is as simple as it can be. The
/// simplest input so far is given to `save` each time, so that it is there whatever ends the process.
pub(crate) fn shrink_failure(
    target: &Target,
    first: &Run,
    failure: &Failure,
    settings: &Settings,
    unset: Option<Duration>,
    save: &mut dyn FnMut(&[u8]) -> io::Result<PathBuf>,
) -> Option<Found> {
    let time_max = time(settings, unset).filter(|_| is_shrinkable(failure.class))?;
    let bytes = first.tape.to_bytes();
    let mut subject = TargetSubject { target, watchdog: settings.watchdog };
    let budget = Budget { time_max, ..Budget::default() };
    let mut file = None;
    let shrunk = shrink(&mut subject, &bytes, budget, &mut |bytes| {
        file = save(bytes).ok();
    })?;
    if shrunk.bytes == bytes {
        return None;
    }
    let run = run(target, &Input::Bytes(shrunk.bytes.clone()), settings.watchdog);
    let failure = run.failure.clone().filter(|now| now.is_same_bug(failure))?;
    Some(Found { shrunk, run, failure, file })
}
