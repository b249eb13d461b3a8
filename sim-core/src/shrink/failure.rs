//! Shrinks the failure of a run, and other failures that are met on the way, each with the best so
//! far in a file of its own.
//!
//! It decides which failures are shrunk and for how long; how is the business of [`shrink`].

use super::{Attempt, Budget, Shrunk, Subject, TargetSubject, shrink};
use crate::failure::{Class, Failure};
use crate::identity::{below_workspace, say};
use crate::log;
use crate::run::{Input, Run, Target, run};
use crate::settings::{Settings, Shrinking};
use hostsim::seam::outside;
use std::cell::RefCell;
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

/// What is told of a search that takes long: its best input, soon after it was found and not too
/// often, so that whoever kills the process knows where that is.
struct News {
    next: Duration,
    /// The length of the best input so far and its file, where there is one that was not told.
    untold: Option<(usize, PathBuf)>,
}

impl News {
    /// How long a search may be silent.
    const PERIOD: Duration = Duration::from_secs(3);

    fn new(now: Duration) -> News {
        News { next: now + News::PERIOD, untold: None }
    }

    /// What there is to tell now.
    fn poll(&mut self, now: Duration) -> Option<(usize, PathBuf)> {
        let news = self.untold.take_if(|_| now >= self.next)?;
        self.next = now + News::PERIOD;
        Some(news)
    }
}

/// The runs of a search that tells how far it is.
struct Telling<'a> {
    runs: TargetSubject<'a>,
    news: &'a RefCell<News>,
    /// What is searched for, in words.
    what: String,
}

impl Subject for Telling<'_> {
    fn attempt(&mut self, input: &Input) -> Attempt {
        // A search may go on for long after its last gain: each run is a moment to tell of it.
        if let Some((len, file)) = self.news.borrow_mut().poll(outside::monotonic()) {
            let file = below_workspace(&file);
            say(&format!("sim: {} to {len} bytes so far, in {}", self.what, file.display()));
        }
        self.runs.attempt(input)
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
        let (target, watchdog) = (self.target, self.settings.watchdog);
        let (mut file, input) = (None, first.tape.to_bytes());
        let (bug, from) = (failure.fingerprint(target.name()), input.len());
        let what = format!("shrinking bug={bug} of {}: from {from}", target.name());
        let news = RefCell::new(News::new(outside::monotonic()));
        let runs = TargetSubject { target, watchdog };
        let mut subject = Telling { runs, news: &news, what };
        let shrunk = shrink(&mut subject, &input, budget, &mut |bytes| {
            file = save(first, failure, bytes).ok();
            news.borrow_mut().untold = file.clone().map(|file| (bytes.len(), file));
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
    fn a_search_tells_its_best_input_once_and_now_and_then() {
        let mut news = News::new(Duration::from_secs(100));
        let mut told = |at, gain: Option<usize>| {
            if let Some(len) = gain {
                news.untold = Some((len, PathBuf::new()));
            }
            news.poll(Duration::from_secs(at)).map(|(len, _)| len)
        };
        assert_eq!([told(100, Some(9)), told(102, Some(8))], [None; 2], "it is not long yet");
        assert_eq!(told(103, None), Some(8), "after the last gain too");
        assert_eq!([told(104, Some(7)), told(105, None)], [None; 2], "it was told just now");
        assert_eq!([told(106, None), told(109, None), told(999, None)], [Some(7), None, None]);
    }
}
