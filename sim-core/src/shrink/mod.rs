//! The shrinker: a failing input becomes the simplest one that fails in the same way.
//!
//! It works on the choices of the failing run, not on its bytes: whole operations, faults and events
//! go, values fall to zero, times are handed on. What it proposes is run, and what that run really
//! chose is what counts: a proposal that goes astray still may be simpler. One function, `consider`, is
//! the only door to a run, and takes only what fails with the same class and origin; so it cannot
//! slip to another bug, and other bugs that are met on the way are kept apart.
//!
//! Simpler is shorter as an input, then less virtual time, then fewer events, then lower values in
//! the order of the lanes. That order is total, so there is one simplest input; passes are greedy
//! and need not find it (`manual::shrinking` tells what was measured). So once none of them gains,
//! failing runs of the first seeds are shrunk too and the simplest of all is taken: where the budget
//! lasts, many inputs of one bug become one and the same.
//!
//! A failure that does not fail again is not shrunk: the report says how often it did.
//!
//! # Determinism
//! The same failing input gives the same result, where no limit of real time ends the search.

mod draft;
mod failure;
mod passes;
mod subject;

use passes::Pass;

pub use subject::{Attempt, Bug, Subject, TargetSubject};

pub(crate) use draft::{Cell, Draft, Rank, Value};
pub(crate) use failure::{Found, Outcome, Request, TIME_DEFAULT};

use crate::history::Hash;
use crate::run::Input;
use crate::seed::Seed;
use hostsim::seam::outside;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Where a search ends at the latest.
///
/// ```
/// use sim_core::shrink::Budget;
///
/// let short = Budget { runs_max: 100, ..Budget::default() };
/// assert_eq!(short.time_max, Budget::default().time_max);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// The most runs.
    pub runs_max: u64,
    /// The most real time.
    pub time_max: Duration,
}

impl Default for Budget {
    /// Fifty thousand runs, two minutes.
    fn default() -> Budget {
        Budget { runs_max: 50_000, time_max: Duration::from_secs(120) }
    }
}

/// How many times a failure is run again before it is shrunk.
const REPLAYS: u64 = 3;

/// What a search found.
///
/// ```
/// use sim_core::Target;
/// use sim_core::shrink::{Budget, Shrunk, TargetSubject, shrink};
/// use std::time::Duration;
///
/// let target = Target::new("batches", |sim| {
///     if sim.dimension("batch", 255) >= 10 {
///         sim.fail("a batch of ten is lost");
///     }
/// });
/// let mut subject = TargetSubject { target: &target, watchdog: Duration::from_secs(60) };
/// let found = shrink(&mut subject, &[255; 64], Budget::default(), &mut |_bytes| {});
/// let Shrunk { bytes, replays, is_cut, .. } = found.expect("it fails");
/// assert!(bytes.len() < 64 && !is_cut);
/// assert_eq!(replays.0, replays.1, "it failed each time");
/// ```
#[derive(Clone, Debug)]
pub struct Shrunk {
    /// The simplest input.
    pub bytes: Vec<u8>,
    /// What it failed with.
    pub bug: Bug,
    /// How many runs the search took.
    pub runs: u64,
    /// How much real time.
    pub time: Duration,
    /// How often the input that was given failed again, of how many times.
    pub replays: (u64, u64),
    /// Other bugs that were met: for each the simplest input seen.
    pub others: BTreeMap<Bug, Vec<u8>>,
    /// Whether the budget ended it.
    pub is_cut: bool,
}

/// Shrinks a failing input; nothing where it does not fail. `on_gain` is given each simpler input as
/// soon as it is known, so that an interrupt loses nothing.
///
/// ```
/// use sim_core::Target;
/// use sim_core::run::{Input, run};
/// use sim_core::shrink::{Budget, TargetSubject, shrink};
/// use std::time::Duration;
///
/// let target = Target::new("batches", |sim| {
///     let batch = sim.dimension("batch", 255);
///     if batch >= 10 {
///         sim.fail("a batch of ten is lost");
///     }
/// });
/// let watchdog = Duration::from_secs(60);
/// let found = run(&target, &Input::Seed(1), watchdog).tape.to_bytes();
/// let mut subject = TargetSubject { target: &target, watchdog };
/// let shrunk = shrink(&mut subject, &found, Budget::default(), &mut |_| {}).expect("it fails");
/// let run = run(&target, &Input::Bytes(shrunk.bytes), watchdog);
/// assert_eq!(run.plan.to_string(), "batch=10");
/// ```
pub fn shrink(
    subject: &mut dyn Subject,
    bytes: &[u8],
    budget: Budget,
    on_gain: &mut dyn FnMut(&[u8]),
) -> Option<Shrunk> {
    let start = outside::monotonic();
    let input = Input::Bytes(bytes.to_vec());
    let first = subject.attempt(&input);
    let bug = first.bug.clone()?;
    let mut same = 0;
    for _ in 0..REPLAYS {
        let again = subject.attempt(&input);
        same += u64::from(again.bug == first.bug && again.hash == first.hash);
    }
    let mut shrinker = Shrinker::new(subject, bug, first, budget, start, on_gain);
    shrinker.runs += REPLAYS + 1;
    if same == REPLAYS {
        shrinker.go();
    }
    let bytes = if same == REPLAYS { shrinker.best.bytes } else { bytes.to_vec() };
    Some(Shrunk {
        bytes,
        bug: shrinker.bug,
        runs: shrinker.runs,
        time: outside::monotonic() - start,
        replays: (same, REPLAYS),
        others: shrinker.others,
        is_cut: shrinker.is_cut,
    })
}

/// The simplest failing run so far.
#[derive(Clone, Debug)]
pub(crate) struct Best {
    pub(crate) draft: Draft,
    bytes: Vec<u8>,
    rank: Rank,
    hash: Hash,
}

impl Best {
    fn of(attempt: &Attempt) -> Best {
        let draft = Draft::of(&attempt.tape);
        let bytes = draft.to_bytes();
        let rank = Rank::of(&draft, bytes.len(), attempt.elapsed, attempt.steps);
        Best { draft, bytes, rank, hash: attempt.hash }
    }
}

/// How many runs are made from a run that is not simpler.
const EXCURSION_RUNS: u64 = 60;

/// How many rounds may gain and not make the input shorter.
const CRAWLS_MAX: u64 = 3;

/// How much longer it may be.
const EXCURSION_BYTES: usize = 6;

/// A search.
pub(crate) struct Shrinker<'s> {
    subject: &'s mut dyn Subject,
    bug: Bug,
    pub(crate) best: Best,
    /// The keys of drafts that were run already.
    seen: BTreeSet<[u8; 32]>,
    others: BTreeMap<Bug, Vec<u8>>,
    runs: u64,
    budget: Budget,
    start: Duration,
    is_cut: bool,
    /// The number of runs at which an excursion ends, while there is one.
    excursion: Option<u64>,
    /// Where excursions came to.
    visited: BTreeSet<Vec<u8>>,
    on_gain: &'s mut dyn FnMut(&[u8]),
}

impl<'s> Shrinker<'s> {
    fn new(
        subject: &'s mut dyn Subject,
        bug: Bug,
        first: Attempt,
        budget: Budget,
        start: Duration,
        on_gain: &'s mut dyn FnMut(&[u8]),
    ) -> Shrinker<'s> {
        let best = Best::of(&first);
        Shrinker {
            subject,
            bug,
            best,
            seen: BTreeSet::new(),
            others: BTreeMap::new(),
            runs: 0,
            budget,
            start,
            is_cut: false,
            excursion: None,
            visited: BTreeSet::new(),
            on_gain,
        }
    }

    /// Runs the passes, and once begins anew.
    fn go(&mut self) {
        self.settle();
        passes::anew(self);
        self.refine();
    }

    /// Runs the passes until none gains.
    fn refine(&mut self) {
        loop {
            self.settle();
            let gains = passes::LAST.iter().any(|pass| self.gains(*pass));
            if !gains || self.is_over() {
                return;
            }
        }
    }

    /// Runs the passes, but for the last ones, those that gain first, until none makes the input
    /// shorter. Rounds that do not are few: what is left to gain there are times, by nanoseconds.
    fn settle(&mut self) {
        let mut order = passes::CHEAP.to_vec();
        let mut crawled = 0;
        while crawled < CRAWLS_MAX && !self.is_over() {
            let before = self.best.bytes.len();
            let (gains, rest): (Vec<Pass>, Vec<Pass>) =
                order.iter().partition(|pass| self.gains(**pass));
            // Numbers that hang together are lowered by steps where each is lowered alone.
            let crawls = self.best.bytes.len() == before;
            let has_dear = crawls && passes::DEAR.iter().any(|pass| self.gains(*pass));
            if gains.is_empty() && !has_dear {
                return;
            }
            crawled = if self.best.bytes.len() < before { 0 } else { crawled + 1 };
            order = [gains, rest].concat();
        }
    }

    /// Runs those that take away, then the cheap ones until none gains.
    fn take_away(&mut self) {
        for pass in passes::SHORT {
            self.gains(pass);
        }
        while passes::CHEAP.iter().any(|pass| self.gains(*pass)) {}
    }

    /// Runs a pass; whether it found something simpler.
    fn gains(&mut self, pass: Pass) -> bool {
        let before = self.best.rank.clone();
        pass(self);
        self.best.rank < before
    }

    /// Whether the budget is used up.
    pub(crate) fn is_over(&mut self) -> bool {
        let is_over = self.runs >= self.budget.runs_max
            || outside::monotonic() - self.start >= self.budget.time_max;
        self.is_cut |= is_over;
        is_over || self.excursion.is_some_and(|runs_max| self.runs >= runs_max)
    }

    /// The cells of the best run so far.
    pub(crate) fn cells(&self) -> &[Cell] {
        &self.best.draft.cells
    }

    /// Proposes choices. Whether their run fails in the same way, is simpler than the best so far,
    /// and does the same when it is run again; then it is the best.
    pub(crate) fn consider(&mut self, cells: Vec<Cell>) -> bool {
        self.consider_filled(cells, None)
    }

    /// As [`Shrinker::consider`]; draws that the choices have nothing for are filled in.
    fn consider_filled(&mut self, cells: Vec<Cell>, fill: Option<Seed>) -> bool {
        let draft = Draft { cells, spans: Vec::new() };
        if draft.cells == self.best.draft.cells || self.is_over() || !self.seen.insert(draft.key())
        {
            return false;
        }
        let mut script = draft.to_script();
        if let Some(fill) = fill {
            script = script.filled(fill);
        }
        let Some(best) = self.fails(&Input::Script(Box::new(script))) else { return false };
        self.take(best)
    }

    /// Takes a run that is simpler than the best, where it does the same again. Those on the way of
    /// an excursion are not run again; where that ends is.
    fn take(&mut self, found: Best) -> bool {
        let is_gain =
            found.rank < self.best.rank && (self.excursion.is_some() || self.is_confirmed(&found));
        if is_gain {
            self.best = found;
        }
        is_gain
    }

    /// Runs an input; what it did where it fails in the same way.
    fn fails(&mut self, input: &Input) -> Option<Best> {
        self.runs += 1;
        let attempt = self.subject.attempt(input);
        if attempt.bug.as_ref() != Some(&self.bug) {
            self.keep_other(&attempt);
            return None;
        }
        Some(Best::of(&attempt))
    }

    /// Searches from another run on, for so many runs, and gives what is the best there; the search
    /// itself stays where it is.
    fn apart(&mut self, start: Best, runs_max: u64, search: impl FnOnce(&mut Self)) -> Best {
        let home = std::mem::replace(&mut self.best, start);
        let outer = self.excursion;
        let runs_max = self.runs + runs_max;
        self.excursion = Some(outer.map_or(runs_max, |outer| outer.min(runs_max)));
        search(self);
        self.excursion = outer;
        std::mem::replace(&mut self.best, home)
    }

    /// Whether the bytes of a run do the same again: what the run really chose is the input from
    /// here on. Then it is told.
    fn is_confirmed(&mut self, best: &Best) -> bool {
        self.runs += 1;
        let again = self.subject.attempt(&Input::Bytes(best.bytes.clone()));
        let is_same = again.hash == best.hash && again.bug.as_ref() == Some(&self.bug);
        if is_same {
            (self.on_gain)(&best.bytes);
        }
        is_same
    }

    /// Proposes choices whose run need not be simpler: where it fails in the same way and is not
    /// much longer, it is shrunk for a while, and taken where it became simpler than the best.
    pub(crate) fn consider_anew(&mut self, cells: Vec<Cell>, fill: Seed) -> bool {
        let len = self.best.bytes.len();
        // Whatever is not too long is simpler than this.
        let rank = Rank::longest(len + EXCURSION_BYTES);
        let start = Best { bytes: Vec::new(), rank, ..self.best.clone() };
        let found = self.apart(start, EXCURSION_RUNS, |search| {
            if search.consider_filled(cells, Some(fill)) {
                search.explore(len);
            }
        });
        self.take(found)
    }

    /// Shrinks a run that is not simpler than one of `len` bytes: first only so far that it shows
    /// whether it is worth it.
    fn explore(&mut self, len: usize) {
        for pass in passes::SHORT {
            self.gains(pass);
        }
        if self.best.bytes.len() == len && self.visited.insert(self.best.bytes.clone()) {
            while passes::CHEAP.iter().any(|pass| self.gains(*pass)) {}
        }
    }

    fn keep_other(&mut self, attempt: &Attempt) {
        if let Some(bug) = attempt.bug.clone() {
            let bytes = attempt.tape.to_bytes();
            let kept = self.others.entry(bug).or_insert_with(|| bytes.clone());
            if bytes.len() < kept.len() {
                *kept = bytes;
            }
        }
    }

    /// Proposes the best run with some cells changed.
    pub(crate) fn consider_with(&mut self, change: impl FnOnce(&mut Vec<Cell>)) -> bool {
        let mut cells = self.cells().to_vec();
        change(&mut cells);
        self.consider(cells)
    }

    /// Proposes the best run with one number in place of another.
    pub(crate) fn consider_number(&mut self, at: usize, value: u64) -> bool {
        let max = match self.cells().get(at).map(|cell| &cell.value) {
            Some(Value::Number { max, value: now, .. }) if *now != value => *max,
            _ => return false,
        };
        value <= max && self.consider_with(|cells| cells[at].set_number(value))
    }
}

/// The largest `count` for which `holds`, or nearly: doubles while it does, then bisects. What
/// holds stays done, so `holds(count)` is about the state that `holds` of less left.
pub(crate) fn find_integer(mut holds: impl FnMut(usize) -> bool) -> usize {
    for count in 1..5 {
        if !holds(count) {
            return count - 1;
        }
    }
    let (mut low, mut high) = (4, 8);
    while holds(high) {
        (low, high) = (high, high * 2);
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if holds(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

#[cfg(test)]
mod tests;
