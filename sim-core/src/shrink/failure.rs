//! Shrinks the failure of a run, and other failures that are met on the way, each with the best so
//! far in a file of its own.
//!
//! It decides which failures are shrunk and for how long; how is the business of [`shrink`].

use super::{Budget, Shrunk, TargetSubject, shrink};
use crate::failure::{Class, Failure};
use crate::identity::{below_workspace, say};
use crate::log;
use crate::run::{Input, Run, Target, run};
use crate::settings::{Settings, Shrinking};
use hostsim::seam::outside;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// How long a new failure is shrunk where nothing is said.
pub(crate) const TIME_DEFAULT: Duration = Duration::from_secs(5);

/// How many other failures are shrunk at most.
const OTHERS_MAX: usize = 4;

/// The part of the time and of the runs that each of them has: all together double it at most.
const OTHERS_SHARE: u32 = 4;

/// A failure that is to be shrunk.
pub(crate) struct Request<'a> {
    pub(crate) target: &'a Target,
    pub(crate) first: &'a Run,
    pub(crate) failure: &'a Failure,
    pub(crate) settings: &'a Settings,
    /// How long, where nothing is said; none is not at all.
    pub(crate) unset: Option<Duration>,
    /// Whether a failure that is met on the way is reported already.
    pub(crate) is_known: &'a dyn Fn(&Failure) -> bool,
}

/// Writes the simplest input so far of a failure that was first seen in a run.
pub(crate) type Save<'a> = &'a mut dyn FnMut(&Run, &Failure, &[u8]) -> io::Result<PathBuf>;

/// A failure and the run that it became.
pub(crate) struct Found {
    pub(crate) shrunk: Shrunk,
    pub(crate) run: Run,
    pub(crate) failure: Failure,
    /// Its input, where it could be written.
    pub(crate) file: Option<PathBuf>,
}

/// What came of shrinking.
#[derive(Default)]
pub(crate) struct Outcome {
    /// What the failure became, where that is simpler.
    pub(crate) found: Option<Found>,
    /// What others became that were met on the way.
    pub(crate) others: Vec<Found>,
    /// How often the failure came again, of how many times, where it did not each time.
    pub(crate) unsteady: Option<(u64, u64)>,
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

/// When to tell how far a search is: one that takes long, and not too often.
struct News {
    next: Duration,
}

impl News {
    /// How long a search may be silent.
    const PERIOD: Duration = Duration::from_secs(3);

    fn new(now: Duration) -> News {
        News { next: now + News::PERIOD }
    }

    /// Whether there should be a line now.
    fn is_due(&mut self, now: Duration) -> bool {
        let is_due = now >= self.next;
        if is_due {
            self.next = now + News::PERIOD;
        }
        is_due
    }
}

impl Request<'_> {
    /// Shrinks the failure, where that is asked for, and then others that were met. The simplest
    /// input so far is given to `save` each time, so that it is there whatever ends the process.
    pub(crate) fn shrink(&self, save: Save<'_>) -> Outcome {
        let time_max = time(self.settings, self.unset);
        let Some(time_max) = time_max.filter(|_| is_shrinkable(self.failure.class)) else {
            return Outcome::default();
        };
        let budget = Budget { time_max, ..Budget::default() };
        let bytes = self.first.tape.to_bytes();
        let Some((shrunk, file)) = self.search(self.first, self.failure, budget, save) else {
            return Outcome::default();
        };
        let (same, times) = shrunk.replays;
        let unsteady = (same < times).then_some(shrunk.replays);
        let others = self.others(&shrunk, budget, save);
        let is_simpler = shrunk.bytes != bytes;
        let found = is_simpler.then(|| self.found(shrunk, self.failure, file)).flatten();
        Outcome { found, others, unsteady }
    }

    /// Shrinks the failures that were met on the way and are not known, each in its own share.
    fn others(&self, shrunk: &Shrunk, budget: Budget, save: Save<'_>) -> Vec<Found> {
        let share = Budget {
            runs_max: budget.runs_max / u64::from(OTHERS_SHARE),
            time_max: budget.time_max / OTHERS_SHARE,
        };
        let mut found = Vec::new();
        for ((class, _), bytes) in &shrunk.others {
            if found.len() == OTHERS_MAX {
                break;
            }
            if !is_shrinkable(*class) {
                continue;
            }
            let first = self.run(bytes);
            let Some(failure) = first.failure.clone().filter(|now| !(self.is_known)(now)) else {
                continue;
            };
            // First as it was met: it need not become simpler.
            let met = save(&first, &failure, bytes).ok();
            let Some((shrunk, file)) = self.search(&first, &failure, share, save) else { continue };
            found.extend(self.found(shrunk, &failure, file.or(met)));
        }
        found
    }

    fn search(
        &self,
        first: &Run,
        failure: &Failure,
        budget: Budget,
        save: Save<'_>,
    ) -> Option<(Shrunk, Option<PathBuf>)> {
        let watchdog = self.settings.watchdog;
        let mut subject = TargetSubject { target: self.target, watchdog };
        let (mut file, input) = (None, first.tape.to_bytes());
        let mut news = News::new(outside::monotonic());
        let shrunk = shrink(&mut subject, &input, budget, &mut |bytes| {
            file = save(first, failure, bytes).ok();
            if let Some(file) = file.as_deref().filter(|_| news.is_due(outside::monotonic())) {
                let (name, bug) = (self.target.name(), failure.fingerprint(self.target.name()));
                let (from, to, file) = (input.len(), bytes.len(), below_workspace(file));
                say(&format!(
                    "sim: shrinking bug={bug} of {name}: from {from} to {to} bytes so far, in {}",
                    file.display()
                ));
            }
        });
        Some((shrunk?, file))
    }

    fn found(&self, shrunk: Shrunk, before: &Failure, file: Option<PathBuf>) -> Option<Found> {
        let mut run = self.run(&shrunk.bytes);
        log::add_to(self.target, &mut run, self.settings);
        let failure = run.failure.clone().filter(|now| now.is_same_bug(before))?;
        Some(Found { shrunk, run, failure, file })
    }

    fn run(&self, bytes: &[u8]) -> Run {
        run(self.target, &Input::Bytes(bytes.to_vec()), self.settings.watchdog)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_that_takes_long_says_now_and_then_how_far_it_is() {
        let seconds = [1, 100, 102, 103, 104, 110, 111];
        let mut news = News::new(Duration::from_secs(100));
        let said = seconds.map(|at| news.is_due(Duration::from_secs(at)));
        assert_eq!(said, [false, false, false, true, false, true, false]);
    }
}
