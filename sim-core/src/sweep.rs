//! A sweep: many seeds of one target.
//!
//! Each seed is a run of its own. Failures of the same class and origin are one bug: the first is
//! reported, the others are counted, and of their inputs the smallest is kept. A failing seed is
//! turned into bytes and checked again.

use crate::child;
use crate::failure::{Class, Failure};
use crate::identity::{Identity, Subject, say, warn_unseeded};
use crate::log;
use crate::mark::Marks;
use crate::replay::{OpenPin, test_input, test_pinned};
use crate::report;
use crate::run::{Input, Run, Target, refuse_nesting, run};
use crate::self_check;
use crate::settings::{Seeds, Settings};
use crate::shrink::{Found, Request, TIME_DEFAULT};
use crate::stage::Stage;
use crate::trace;
use crate::workspace::workspace;
use hostsim::seam::outside;
use progress::Progress;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

mod bar;
mod progress;
mod table;

/// Of the passing runs, one in so many is run again.
const CHECKED: u64 = 16;

/// Failures of one class and origin.
///
/// ```
/// use sim_core::Target;
/// use sim_core::settings::{Seeds, Settings, Shrinking};
/// use sim_core::sweep::{Bug, sweep};
///
/// let target = Target::new("kv", |sim| sim.fail("no"));
/// let folder = std::env::temp_dir().join(format!("bug-{}", std::process::id()));
/// let artifacts = Some(folder.clone());
/// let settings = Settings { shrink: Shrinking::Off, artifacts, ..Settings::default() };
/// let Bug { seed, count, failure, .. } = sweep(&target, &Seeds::range(3..6), &settings).bugs.remove(0);
/// assert_eq!((seed, count, failure.message.as_str()), (3, 3, "no"));
/// std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Bug {
    /// The first of them.
    pub failure: Failure,
    /// The seed that failed first, or by whose failure this one was met.
    pub seed: u64,
    /// The smallest input that is known to fail so, where it could be written.
    pub file: Option<PathBuf>,
    /// How long that is, in bytes.
    pub len: usize,
    /// The hash of the history of the first.
    pub hash: crate::history::Hash,
    /// How many runs failed so; none yet where it was met while another failure was shrunk.
    pub count: u64,
}

/// What came of a sweep.
///
/// ```
/// use sim_core::Target;
/// use sim_core::settings::{Seeds, Settings, Shrinking};
/// use sim_core::sweep::{Bug, Sweep, sweep, sweep_of};
///
/// let target = Target::new("batches", |sim| {
///     if sim.dimension("batch", 255) >= 250 {
///         sim.fail("a batch of 250 is lost");
///     } else if sim.dimension("envelope", 3) == 3 {
///         sim_core::excuse("the batch is past its envelope");
///     }
/// });
/// let folder = std::env::temp_dir().join(format!("swept-{}", std::process::id()));
/// let artifacts = Some(folder.clone());
/// let settings = Settings { shrink: Shrinking::Off, artifacts, ..Settings::default() };
/// let found: Sweep = sweep(&target, &Seeds::range(0..500), &settings);
/// let bug: &Bug = &found.bugs[0];
/// assert_eq!((found.runs, found.bugs.len(), bug.count), (500, 1, found.failures));
/// assert!(found.summary(&target).starts_with("sweep batches runs 500 failures "));
/// assert_eq!(found.exit_code(&target), 110);
/// assert_eq!((found.excused_lines().len(), found.too_excused(&target)), (1, None));
/// found.never_reached(&target).iter().for_each(|line| println!("{line}"));
///
/// // `SIM_SEEDS` comes before these.
/// assert_eq!(sweep_of(&target, 0..10, &settings).runs, 10);
/// std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Sweep {
    /// How many seeds were asked for.
    pub asked: u64,
    /// How many runs there were.
    pub runs: u64,
    /// How many failed.
    pub failures: u64,
    /// How many inputs had two histories.
    pub diverged: u64,
    /// How many the watchdog or a limit ended.
    pub inconclusive: u64,
    /// How many were excused.
    pub excused: u64,
    /// The reasons of that, and how many runs have each.
    pub excuses: BTreeMap<String, u64>,
    /// How many inputs ran again.
    pub checked: u64,
    /// What was found, in the order of finding.
    pub bugs: Vec<Bug>,
    /// The marks of all runs.
    pub marks: Marks,
    /// The virtual time of all runs.
    pub elapsed: Duration,
}

impl Sweep {
    /// The line that a sweep ends with.
    ///
    /// ```
    /// use sim_core::Target;
    /// use sim_core::settings::{Seeds, Settings};
    /// use sim_core::sweep::sweep;
    ///
    /// let target = Target::new("kv", |_| {});
    /// let found = sweep(&target, &Seeds::range(0..3), &Settings::default());
    /// assert!(found.summary(&target).starts_with("sweep kv runs 3 failures 0 diverged 0"));
    /// ```
    pub fn summary(&self, target: &Target) -> String {
        let inconclusive = match self.inconclusive {
            0 => String::new(),
            count => format!(" inconclusive {count}"),
        };
        let excused = match self.excused {
            0 => String::new(),
            count => format!(" excused {count} of {}", self.runs),
        };
        let budget = match self.asked > self.runs {
            true => format!(" of {} seeds, the budget ended", self.asked),
            false => String::new(),
        };
        let places = self.marks.of_target(target);
        let reached = places.iter().filter(|(_, tally)| tally.is_reached).count();
        let marks = match places.len() {
            0 => String::new(),
            count => format!(" marks {reached} of {count}"),
        };
        format!(
            "sweep {} runs {} failures {} diverged {}{inconclusive}{excused}{marks}{budget}",
            target.name(),
            self.runs,
            self.failures,
            self.diverged
        )
    }

    /// A line for each mark of the target that no run reached.
    ///
    /// ```
    /// use sim_core::Target;
    /// use sim_core::settings::{Seeds, Settings};
    /// use sim_core::sweep::sweep;
    ///
    /// let target = Target::new("kv", |_| sim_core::sometimes!(1 > 2, "one is more than two"));
    /// let found = sweep(&target, &Seeds::range(0..3), &Settings::default());
    /// let is_meant = |line: &String| line.contains("one is more than two");
    /// assert!(found.never_reached(&target).iter().any(is_meant));
    /// ```
    pub fn never_reached(&self, target: &Target) -> Vec<String> {
        let places = self.marks.of_target(target).into_iter();
        let missed = places.filter(|(_, tally)| !tally.is_reached).map(|(place, tally)| {
            let (name, file, line) = (place.name(), place.file(), place.line());
            format!(
                "sim: never reached: \"{name}\" at {file}:{line} (evaluated {} times)",
                tally.evaluated
            )
        });
        missed.collect()
    }

    /// A line for each reason for which runs were excused, the most frequent first.
    ///
    /// ```
    /// use sim_core::Target;
    /// use sim_core::settings::{Seeds, Settings};
    /// use sim_core::sweep::sweep;
    ///
    /// let target = Target::new("kv", |_| sim_core::excuse("out of space"));
    /// let found = sweep(&target, &Seeds::range(0..3), &Settings::default());
    /// assert_eq!(found.excused_lines(), ["sim: excused: 3 of 3 runs: out of space"]);
    /// ```
    pub fn excused_lines(&self) -> Vec<String> {
        let mut reasons: Vec<_> = self.excuses.iter().collect();
        reasons.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        let line =
            |(reason, count)| format!("sim: excused: {count} of {} runs: {reason}", self.runs);
        reasons.into_iter().map(line).collect()
    }

    /// The line on why the sweep fails where too many of its runs were excused; one run alone is
    /// looked at for its own sake.
    ///
    /// ```
    /// use sim_core::Target;
    /// use sim_core::settings::{Seeds, Settings};
    /// use sim_core::sweep::sweep;
    ///
    /// let target = Target::new("kv", |_| sim_core::excuse("out of space"));
    /// let found = sweep(&target, &Seeds::range(0..3), &Settings::default());
    /// let line = found.too_excused(&target).expect("nothing was tested");
    /// assert_eq!(line, "3 of 3 runs of kv were excused, more than 1/2");
    /// ```
    pub fn too_excused(&self, target: &Target) -> Option<String> {
        let (max, name) = (target.excused_share_max(), target.name());
        let (excused, runs) = (u128::from(self.excused), u128::from(self.runs));
        let most = u128::from(max.numerator()) * runs;
        let is_over = runs > 1 && excused * u128::from(max.denominator()) > most;
        is_over.then(|| format!("{excused} of {runs} runs of {name} were excused, more than {max}"))
    }

    /// The exit code of the worst class that was found; of a sweep that tests too little, because
    /// too many runs were excused, that of what is inconclusive.
    ///
    /// ```
    /// use sim_core::Target;
    /// use sim_core::settings::{Seeds, Settings};
    /// use sim_core::sweep::sweep;
    ///
    /// let target = Target::new("kv", |_| {});
    /// assert_eq!(sweep(&target, &Seeds::range(0..3), &Settings::default()).exit_code(&target), 0);
    /// ```
    pub fn exit_code(&self, target: &Target) -> u8 {
        let untested = self.too_excused(target).map(|_| Class::Inconclusive);
        let classes = self.bugs.iter().map(|bug| bug.failure.class).chain(untested);
        classes.map(Class::exit_code).max().unwrap_or(0)
    }
}

/// Runs every seed, until the budget of time is used up where there is one. In a process that a
/// parent started for one run of the target, it makes that run and ends the process.
///
/// # Panics
/// Inside a run.
///
/// ```
/// use sim_core::Target;
/// use sim_core::settings::{Seeds, Settings};
/// use sim_core::sweep::sweep;
///
/// let target = Target::new("kv", |sim| drop(sim.dimension("batch", 9)));
/// let found = sweep(&target, &Seeds::range(0..100), &Settings::default());
/// assert_eq!((found.runs, found.failures), (100, 0));
/// ```
#[track_caller]
pub fn sweep(target: &Target, seeds: &Seeds, settings: &Settings) -> Sweep {
    sweep_beside(seeds, Asked { target, settings, open: &[] })
}

/// What a sweep is of.
#[derive(Clone, Copy)]
struct Asked<'a> {
    target: &'a Target,
    settings: &'a Settings,
    /// The bugs that are pinned as open: nothing more is searched of them.
    open: &'a [OpenPin],
}

/// As [`sweep`], which may have bugs that are pinned as open.
#[track_caller]
fn sweep_beside(seeds: &Seeds, asked: Asked<'_>) -> Sweep {
    let Asked { target, settings, .. } = asked;
    refuse_nesting();
    child::serve(target);
    warn_unseeded();
    let text = seeds.to_string();
    Identity { target, subject: Subject::Seeds(&text) }.print();
    let start = outside::monotonic();
    let is_over = |budget| outside::monotonic() - start >= budget;
    let mut sweep = Sweep { asked: seeds.len(), ..Sweep::default() };
    let mut progress = Progress::new(start);
    let mut stage = Stage::start(target, settings.watchdog);
    let mut ahead = seeds.iter();
    for seed in ahead.by_ref().take(AHEAD) {
        stage.ask(Input::Seed(seed));
    }
    for (index, seed) in seeds.iter().enumerate() {
        if settings.budget.is_some_and(is_over) {
            break;
        }
        if let Some(next) = ahead.next() {
            stage.ask(Input::Seed(next));
        }
        let (run, goes_on) = stage.take();
        sweep.add(asked, seed, &run);
        progress.show(outside::monotonic(), &sweep, target);
        if !goes_on {
            // A stage that a run does not leave is left behind; another one goes on after that run.
            stage = Stage::start(target, settings.watchdog);
            ahead = seeds.iter();
            let next = ahead.by_ref().skip(index + 1).take(AHEAD);
            next.for_each(|seed| stage.ask(Input::Seed(seed)));
        }
    }
    drop(progress);
    if let (1, true, Some(seed)) = (sweep.runs, sweep.bugs.is_empty(), seeds.iter().next()) {
        show_passed(target, seed, settings);
    }
    if sweep.runs > 1 {
        sweep.table(target).iter().for_each(|row| say(&format!("sim: {row}")));
        // One run is looked at for its own sake, and shows little.
        sweep.never_reached(target).iter().for_each(|line| say(line));
        sweep.excused_lines().iter().for_each(|line| say(line));
    }
    sweep
}

/// Shows the trace of the one seed that was asked for and passed, where `SIM_TRACE` asks for it.
fn show_passed(target: &Target, seed: u64, settings: &Settings) {
    if settings.trace.is_some() {
        let mut run = run(target, &Input::Seed(seed), settings.watchdog);
        log::add_to(target, &mut run, settings);
        trace::show(target, &run, &format!("seed-{seed}"), settings);
    }
}

/// How many runs a stage is ahead of who takes them.
const AHEAD: usize = 16;

impl Sweep {
    fn add(&mut self, asked: Asked<'_>, seed: u64, run: &Run) {
        let Asked { target, settings, .. } = asked;
        self.runs += 1;
        self.elapsed = self.elapsed.saturating_add(run.elapsed);
        self.marks.merge(&run.marks);
        if let Some(reason) = &run.excuse {
            self.excused += 1;
            *self.excuses.entry(reason.clone()).or_default() += 1;
        }
        match run.failure.clone() {
            Some(failure) => self.on_failure(asked, seed, run, failure),
            None if self.runs % CHECKED == 1 => {
                self.checked += 1;
                // The bytes of the tape are a second door to the same run: both are checked.
                let bytes = Input::Bytes(run.tape.to_bytes());
                let differs = self_check::in_process(target, &bytes, run, 1, settings.watchdog);
                if let Some(failure) = differs {
                    self.diverged += 1;
                    self.on_failure(asked, seed, run, failure);
                }
            }
            None => {}
        }
    }

    fn on_failure(&mut self, asked: Asked<'_>, seed: u64, run: &Run, failure: Failure) {
        let Asked { target, settings, .. } = asked;
        if failure.class == Class::Inconclusive {
            self.inconclusive += 1;
        } else {
            self.failures += 1;
        }
        if let Some(bug) = self.bugs.iter_mut().find(|bug| bug.failure.is_same_bug(&failure)) {
            bug.count += 1;
            bug.keep_smaller(target, run, &failure, settings);
            return;
        }
        let file = saved(settings, target, run, &failure);
        let failure = match confirm(target, run, &failure, file.as_deref(), settings) {
            Some(diverged) => {
                self.diverged += 1;
                diverged
            }
            None => failure,
        };
        let len = run.tape.to_bytes().len();
        let mut bug = Bug { failure, seed, file, len, hash: run.hash, count: 1 };
        let others = self.shrink(asked, run, &mut bug);
        self.bugs.push(bug);
        self.bugs.extend(others);
    }

    /// Shrinks a new failure and reports it; gives the others that were met and are new as well.
    fn shrink(&self, asked: Asked<'_>, run: &Run, bug: &mut Bug) -> Vec<Bug> {
        let Asked { target, settings, open } = asked;
        let pinned = open.iter().find(|open| open.failure.is_same_bug(&bug.failure));
        let unset = if pinned.is_none() { Some(TIME_DEFAULT) } else { None };
        let text = bug.seed.to_string();
        let subject = Subject::Seeds(&text);
        let found_by = Identity { target, subject }.replay();
        let reported = self.bugs.iter().map(|bug| &bug.failure);
        let known = reported.chain(open.iter().map(|open| &open.failure));
        let is_known = |met: &Failure| known.clone().any(|known| known.is_same_bug(met));
        let (first, failure, is_known) = (run, &bug.failure, &is_known);
        let request = Request { target, first, failure, settings, unset, is_known };
        let outcome = request.shrink(&mut |first, failure, bytes| {
            report::save_shrunk(settings, target, first, failure, bytes)
        });
        if !report::print_outcome(target, failure, &outcome, &found_by, bug.len) {
            let mut run = run.clone();
            log::add_to(target, &mut run, settings);
            report::print(target, &run, failure, subject, bug.file.as_deref());
            if let Some(OpenPin { name, .. }) = pinned {
                say(&format!("sim: not shrunk: it is pinned already, as {name}"));
            }
            trace::show(target, &run, &trace::name(bug.file.as_deref(), failure), settings);
        }
        if let Some(Found { run, file, .. }) = &outcome.found {
            trace::show(target, run, &trace::name(file.as_deref(), failure), settings);
        }
        if let Some(Found { shrunk, file: Some(file), .. }) = outcome.found {
            (bug.file, bug.len) = (Some(file), shrunk.bytes.len());
        }
        let bug_of = |other: Found| {
            let Found { failure, file, run, shrunk } = other;
            let (len, hash) = (shrunk.bytes.len(), run.hash);
            Bug { failure, seed: bug.seed, file, len, hash, count: 0 }
        };
        outcome.others.into_iter().map(bug_of).collect()
    }
}

impl Bug {
    /// Another run failed so: keeps its input where that is smaller than what is kept.
    fn keep_smaller(&mut self, target: &Target, run: &Run, failure: &Failure, settings: &Settings) {
        let len = run.tape.to_bytes().len();
        if len >= self.len || run.history.is_empty() {
            return;
        }
        // Where it cannot be written, what is kept stays.
        if let Ok(file) = report::save(settings, target, run, failure) {
            (self.file, self.len) = (Some(file), len);
        }
    }
}

/// Writes a failing input, where that can be done. A run that was given up told none of its choices:
/// bytes without any would be another run, and its seed alone makes it again.
fn saved(settings: &Settings, target: &Target, run: &Run, failure: &Failure) -> Option<PathBuf> {
    if run.history.is_empty() {
        return None;
    }
    let file = report::save(settings, target, run, failure);
    let tell = |error: &_| say(&report::not_written(settings, "the failing input", error));
    file.inspect_err(tell).ok()
}

/// Runs a failing input again, here and in another process; what differs.
pub(crate) fn confirm(
    target: &Target,
    run: &Run,
    failure: &Failure,
    file: Option<&Path>,
    settings: &Settings,
) -> Option<Failure> {
    if failure.class == Class::Diverged || run.history.is_empty() {
        return None;
    }
    let bytes = Input::Bytes(run.tape.to_bytes());
    let here = self_check::in_process(target, &bytes, run, self_check::RERUNS, settings.watchdog);
    here.or_else(|| self_check::in_child(target, file?, run, settings.watchdog))
}

/// The settings of this process.
///
/// Bad ones end it before anything runs, with one line and exit code 2.
///
/// ```
/// let settings = sim_core::sweep::settings_or_exit();
/// assert_eq!(settings.input, None);
/// ```
pub fn settings_or_exit() -> Settings {
    Settings::from_env().unwrap_or_else(|error| {
        say(&format!("sim: {error}"));
        std::process::exit(2);
    })
}

/// A whole test of a target: its `SIM_INPUT` where one is given, else its seeds.
///
/// With `SIM_INPUT` of another target it says so and does nothing. Before its seeds come the files
/// in `regressions/<target>` of the workspace. Without `SIM_SEEDS` it runs `seeds`.
///
/// # Panics
/// Where a run failed, at the place of the caller.
///
/// ```
/// use sim_core::{Sim, Target};
///
/// fn build(sim: &mut Sim) {
///     sim.node("server", |_| async {});
/// }
///
/// // #[test]
/// fn serves() {
///     sim_core::sweep::test(&Target::new("serves", build), 0..100);
/// }
/// # serves();
/// ```
#[track_caller]
pub fn test(target: &Target, seeds: std::ops::Range<u64>) {
    child::serve(target);
    let settings = settings_or_exit();
    if let Some(file) = &settings.input {
        test_input(target, file, &settings);
        return;
    }
    let open = test_pinned(target, &workspace(), &settings);
    let default = Seeds::range(seeds);
    let seeds = settings.seeds.as_ref().unwrap_or(&default);
    let found = sweep_beside(seeds, Asked { target, settings: &settings, open: &open });
    println!("{}", found.summary(target));
    assert!(found.bugs.is_empty(), "{}; the reports are above", found.summary(target));
    if let Some(text) = found.too_excused(target) {
        panic!("{text}");
    }
}

/// Sweeps the seeds of `SIM_SEEDS`, else `seeds`.
///
/// ```
/// use sim_core::Target;
/// use sim_core::settings::Settings;
/// use sim_core::sweep::sweep_of;
///
/// let target = Target::new("kv", |_| {});
/// assert_eq!(sweep_of(&target, 0..5, &Settings::default()).runs, 5);
/// ```
pub fn sweep_of(target: &Target, seeds: std::ops::Range<u64>, settings: &Settings) -> Sweep {
    let default = Seeds::range(seeds);
    sweep(target, settings.seeds.as_ref().unwrap_or(&default), settings)
}
