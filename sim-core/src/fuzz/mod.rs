//! The libFuzzer front: one input a call.
//!
//! libfuzzer-sys ends the process on every panic. `init` takes that hook out, so that a panic of a
//! node becomes a failure, is reported, and ends the process only then, as a crash that libFuzzer
//! keeps the input of. With `--keep-going` among the arguments, which libFuzzer ignores, it ends for
//! none: each bug is kept in a folder of its own ([`keep`]), and the search goes on. What fails never
//! becomes part of a corpus.
//!
//! In a step of `tmin` only the bug of the input that is made smaller counts: libFuzzer takes any
//! crash, and would end with another bug than it began with.

mod case;
mod end;
mod front;
pub mod keep;
mod mutate;
mod search;
mod tapes;

pub use case::{Case, describe};
pub use mutate::{crossover, mutate};

use crate::child;
use crate::color;
use crate::coverage;
use crate::failure::{Class, Failure};
use crate::identity::{self, Identity, Subject, say, warn_unseeded};
use crate::log;
use crate::replay::{command, fuzz_input};
use crate::report;
use crate::run::{Input, Run, Target};
use crate::self_check;
use crate::settings::{Settings, Shrinking};
use crate::shrink::Request;
use crate::sweep::settings_or_exit;
use crate::trace;
use front::Front;
use keep::Keeper;
use search::{Search, search};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

/// The argument with which a search goes on past failures.
///
/// ```
/// assert_eq!(sim_core::fuzz::KEEP_GOING, "--keep-going"); // cargo fuzz run kv -- --keep-going
/// ```
pub const KEEP_GOING: &str = "--keep-going";

/// Of the passing inputs, one in so many runs again.
const CHECKED: u64 = 1024;

static TARGET: OnceLock<Target> = OnceLock::new();
static SETTINGS: OnceLock<Settings> = OnceLock::new();

/// Prepares a fuzz target: called once, before the first input. `manifest` is that of its package.
///
/// With `SIM_INPUT` it makes that run in place of a search, and ends the process.
#[doc(hidden)]
pub fn init(target: &Target, manifest: &str) {
    drop(std::panic::take_hook());
    identity::set_manifest(manifest);
    child::serve(target);
    let settings = SETTINGS.get_or_init(settings_or_exit);
    if let Some(file) = &settings.input {
        std::process::exit(fuzz_input(target, file, settings).into());
    }
    search();
    warn_unseeded();
    TARGET.get_or_init(|| target.clone());
    if !child::is_child() {
        Identity { target, subject: Subject::Search }.print();
        minimized();
    }
}

/// The target of this process.
///
/// # Panics
/// Before [`init`].
#[doc(hidden)]
pub fn target() -> &'static Target {
    known_target().expect("a fuzz target is prepared before its first input")
}

fn known_target() -> Option<&'static Target> {
    TARGET.get()
}

/// What the `SIM_*` variables said when the target was prepared.
fn settings() -> &'static Settings {
    SETTINGS.get_or_init(Settings::default)
}

/// Runs one input; whether it may become part of a corpus. A failure is reported in full, then the
/// process ends as a crash; where the search goes on past failures, each is kept instead.
#[doc(hidden)]
pub fn one(target: &Target, case: Case<'_>) -> bool {
    let input = match search() {
        Search::Flat => Input::Flat(case.0.to_vec()),
        _ => Input::Bytes(case.0.to_vec()),
    };
    let (run, count) = Front::with(target, |front| (front.run(input.clone()), front.runs));
    if search() == Search::Marks {
        coverage::publish(&run.features);
    }
    let keeps = keeper(target).is_some();
    if let Some(failure) = run.failure.as_ref().filter(|_| keeps)
        && with_keeper(target, failure, |keeper| keeper.meet(target, failure)).unwrap_or(true)
    {
        return false;
    }
    let is_checked = count % CHECKED == 2;
    let times = if is_checked || run.failure.is_some() { self_check::RERUNS } else { 0 };
    let diverged = self_check::in_process(target, &input, &run, times, settings().watchdog);
    let Some(failure) = diverged.or_else(|| run.failure.clone()) else {
        if run.excuse.is_some() {
            return false;
        }
        Front::with(target, |front| front.on_passed(input, run));
        return true;
    };
    if keeps {
        let (settings, time, mut run) = (settings(), SHRINK_TIME, *run);
        log::add_to(target, &mut run, settings);
        let keep =
            |keeper: &mut Keeper| keeper.keep(target, &run, case.0, &failure, settings, time);
        with_keeper(target, &failure, keep);
        return false;
    }
    if counts(&failure) {
        let mut run = *run;
        log::add_to(target, &mut run, settings());
        report_and_crash(target, &run, &failure);
    }
    say(&format!("sim: target={} {failure}", target.name()));
    true
}

/// Who keeps failures, where the search goes on past them.
fn keeper(target: &Target) -> Option<&'static Mutex<Keeper>> {
    static KEEPER: OnceLock<Option<Mutex<Keeper>>> = OnceLock::new();
    let new = || {
        let folder = settings().artifacts_folder().join(target.name());
        let keeper = || Mutex::new(Keeper::new(folder));
        std::env::args().any(|argument| argument == KEEP_GOING).then(keeper)
    };
    KEEPER.get_or_init(new).as_ref()
}

/// Lets the keeper work on a failure. Where it cannot, that and the failure are said, as nothing else
/// tells of it, and the search goes on.
fn with_keeper<T>(
    target: &Target,
    failure: &Failure,
    work: impl FnOnce(&mut Keeper) -> io::Result<T>,
) -> Option<T> {
    let mut keeper = keeper(target)?.lock().unwrap_or_else(PoisonError::into_inner);
    let name = target.name();
    let tell = |error| say(&format!("sim: cannot keep a failure of {name}: {error}: {failure}"));
    work(&mut keeper).map_err(tell).ok()
}

/// Whether a failure ends the process.
fn counts(failure: &Failure) -> bool {
    let is_other = minimized().is_some_and(|first| !first.is_same_bug(failure));
    failure.class != Class::Inconclusive && !is_other
}

/// The failure of the input that this process is to make smaller, where it is a step of `tmin`.
fn minimized() -> Option<&'static Failure> {
    static FIRST: OnceLock<Option<Failure>> = OnceLock::new();
    let first = FIRST.get_or_init(|| {
        let arguments: Vec<String> = std::env::args().skip(1).collect();
        if !arguments.iter().any(|argument| argument == "-minimize_crash_internal_step=1") {
            return None;
        }
        let bytes = std::fs::read(unit_given()?).ok()?;
        crate::run::run(target(), &Input::Bytes(bytes), settings().watchdog).failure
    });
    first.as_ref()
}

/// How long a failure is shrunk before the process ends; libFuzzer's own timeout is longer.
const SHRINK_TIME: Duration = Duration::from_secs(10);

fn report_and_crash(target: &Target, run: &Run, failure: &Failure) -> ! {
    let found_by = replay_line(target.name());
    let mut settings = settings().clone();
    if minimized().is_some() {
        settings.shrink = Shrinking::Off;
    }
    let min = min_file(run, failure);
    let is_new = settings.shrink != Shrinking::Off && keep_first(run, &min);
    // First as it is: nothing that comes after can lose it.
    let (runs, extra) = Front::with(target, |front| (front.runs, front.extra));
    let effort = format!("found after {runs} runs, {extra} of them to know what is mutated");
    let parts = [("replay", found_by.clone()), ("effort", effort)];
    say(&color::report(&report::text(target, run, failure, &parts)));
    let (first, settings, unset) = (run, &settings, Some(SHRINK_TIME));
    let request = Request { target, first, failure, settings, unset, is_known: &|_| false };
    let outcome = request.shrink(&mut |first, failure, bytes| {
        let file = min_file(first, failure);
        report::write_whole(&file, bytes).map(|()| file)
    });
    if is_new && outcome.found.is_none() {
        // Nothing is simpler than what libFuzzer is about to write.
        let _ = std::fs::remove_file(&min);
    }
    report::print_outcome(target, failure, &outcome, &found_by, run.tape.to_bytes().len());
    let file = outcome.found.as_ref().and_then(|found| found.file.as_deref());
    let run = outcome.found.as_ref().map_or(run, |found| &found.run);
    trace::show(target, run, &trace::name(file, failure), settings);
    end::end(target.name(), failure)
}

/// Where the simplest input goes of a failure that was first seen in a run.
fn min_file(first: &Run, failure: &Failure) -> PathBuf {
    let name = format!("min-{}-{}", failure.class, &first.hash.to_string()[..12]);
    PathBuf::from(artifact_prefix() + &name)
}

/// Writes the input of a failing run where the simplest one is to be: libFuzzer writes it only as the
/// process ends, and whoever interrupts that loses it. Whether it is there by this; an earlier search
/// may have left a simpler one, which stays.
fn keep_first(run: &Run, min: &Path) -> bool {
    let is_lost = run.history.is_empty() || unit_given().is_some() || min.exists();
    !is_lost && report::write_whole(min, &run.tape.to_bytes()).is_ok()
}

/// The command that makes the run of the failing unit again: of the file that libFuzzer was given, or
/// of the one that it is about to write.
///
/// ```
/// let line = sim_core::fuzz::replay_line("kv");
/// assert!(line.ends_with("  # FILE as libFuzzer names it below"), "{line}");
/// ```
pub fn replay_line(target: &str) -> String {
    match unit_given() {
        Some(file) => command(target, &file),
        None => {
            let file = PathBuf::from(artifact_prefix() + "FILE");
            command(target, &file) + "  # FILE as libFuzzer names it below"
        }
    }
}

/// The one file that libFuzzer is to run in place of a search.
fn unit_given() -> Option<PathBuf> {
    let given = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    given.map(PathBuf::from).filter(|file| file.is_file())
}

/// Where libFuzzer was told to put what it finds; cargo-fuzz lists what is new there.
fn artifact_prefix() -> String {
    let given = |arg: String| Some(arg.strip_prefix("-artifact_prefix=")?.to_owned());
    std::env::args().find_map(given).unwrap_or_default()
}

/// Makes the `main` of a libFuzzer target for a function that gives the [`Target`], with a mutator
/// and a crossover that know lanes, choices and spans.
///
/// The crate that uses it depends on `libfuzzer-sys` and is `no_main`.
///
/// The whole of `fuzz/fuzz_targets/kv.rs`, where `my_tests::kv` makes the target of the tests:
/// ```text
/// #![no_main]
///
/// sim_core::fuzz_target!(my_tests::kv);
/// ```
#[macro_export]
macro_rules! fuzz_target {
    ($target:path) => {
        ::libfuzzer_sys::fuzz_target!(
            init: {
                let manifest = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"));
                $crate::fuzz::init(&$target(), manifest);
            },
            |case: $crate::fuzz::Case<'_>| -> ::libfuzzer_sys::Corpus {
                match $crate::fuzz::one($crate::fuzz::target(), case) {
                    true => ::libfuzzer_sys::Corpus::Keep,
                    false => ::libfuzzer_sys::Corpus::Reject,
                }
            }
        );
        ::libfuzzer_sys::fuzz_mutator!(
            |data: &mut [u8], size: usize, max_size: usize, seed: u32| {
                let base = ::libfuzzer_sys::fuzzer_mutate;
                $crate::fuzz::mutate($crate::fuzz::target(), data, size, max_size, seed, base)
            }
        );
        ::libfuzzer_sys::fuzz_crossover!(
            |first: &[u8], second: &[u8], out: &mut [u8], seed: u32| {
                $crate::fuzz::crossover($crate::fuzz::target(), first, second, out, seed)
            }
        );
    };
}
