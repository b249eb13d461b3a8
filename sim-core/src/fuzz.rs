//! The libFuzzer front: one input a call.
//!
//! libfuzzer-sys ends the process on every panic. [`init`] takes that hook out, so that a panic of a
//! node becomes a failure, is reported, and ends the process only then, as a crash that libFuzzer
//! keeps the input of.

use crate::child;
use crate::failure::{Class, Failure};
use crate::identity::{Identity, Subject, warn_unseeded};
use crate::report;
use crate::run::{Input, Run, Target};
use crate::self_check;
use crate::settings::Settings;
use crate::shrink::shrink_failure;
use crate::stage::Stage;
use crate::sweep::settings_or_exit;
use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Of the passing inputs, one in so many runs again.
const CHECKED: u64 = 1024;

/// Prepares a fuzz target: called once, before the first input.
pub fn init(target: &Target) {
    drop(std::panic::take_hook());
    child::serve(target);
    settings();
    warn_unseeded();
    if !child::is_child() {
        Identity { target, subject: Subject::Seeds("libFuzzer") }.print();
    }
}

fn settings() -> &'static Settings {
    static SETTINGS: OnceLock<Settings> = OnceLock::new();
    SETTINGS.get_or_init(settings_or_exit)
}

/// Runs one input. A failure is reported in full, then the process ends as a crash.
pub fn one(target: &Target, bytes: &[u8]) {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let input = Input::Bytes(bytes.to_vec());
    let run = run_on_stage(target, input.clone());
    let is_checked = COUNT.fetch_add(1, Ordering::Relaxed) % CHECKED == 1;
    let times = if is_checked || run.failure.is_some() { self_check::RERUNS } else { 0 };
    let diverged = self_check::in_process(target, &input, &run, times, settings().watchdog);
    if let Some(failure) = diverged.or_else(|| run.failure.clone()) {
        if failure.class != Class::Inconclusive {
            report_and_crash(target, &run, &failure);
        }
        crate::identity::say(&format!("sim: target={} {failure}", target.name()));
    }
}

/// Makes a run on the stage of this thread. libFuzzer's own thread stays outside of every world: its
/// alarm reads the clock there.
fn run_on_stage(target: &Target, input: Input) -> Box<Run> {
    thread_local! {
        static STAGE: RefCell<Option<Stage>> = const { RefCell::new(None) };
    }
    STAGE.with_borrow_mut(|slot| {
        let stage = slot.get_or_insert_with(|| Stage::start(target, settings().watchdog));
        stage.ask(input);
        let (run, goes_on) = stage.take();
        if !goes_on {
            *slot = None;
        }
        run
    })
}

/// How long a failure is shrunk before the process ends; libFuzzer's own timeout is longer.
const SHRINK_TIME: Duration = Duration::from_secs(10);

fn report_and_crash(target: &Target, run: &Run, failure: &Failure) -> ! {
    let found_by = format!(
        "SIM_INPUT=fuzz/artifacts/{}/FILE cargo test --test replay, with the file that libFuzzer \
         names below",
        target.name()
    );
    // First as it is: nothing that comes after can lose it.
    let replay = format!("replay: {found_by}");
    crate::identity::say(&report::text(target, run, failure, &[replay]));
    let file = PathBuf::from(format!(
        "{}min-{}-{}",
        artifact_prefix(),
        failure.class,
        &run.hash.to_string()[..12]
    ));
    let save = &mut |bytes: &[u8]| report::write_whole(&file, bytes).map(|()| file.clone());
    let shrunk = shrink_failure(target, run, failure, settings(), Some(SHRINK_TIME), save);
    if let Some(found) = shrunk {
        report::print_shrunk(target, &found, &found_by, run.tape.to_bytes().len());
    }
    std::process::abort();
}

/// Where libFuzzer was told to put what it finds; cargo-fuzz lists what is new there.
fn artifact_prefix() -> String {
    let given = |arg: String| Some(arg.strip_prefix("-artifact_prefix=")?.to_owned());
    std::env::args().find_map(given).unwrap_or_default()
}

/// Makes the `main` of a libFuzzer target for a function that gives the [`Target`].
///
/// The crate that uses it depends on `libfuzzer-sys` and is `no_main`.
#[macro_export]
macro_rules! fuzz_target {
    ($target:path) => {
        ::libfuzzer_sys::fuzz_target!(
            init: { $crate::fuzz::init(&$target()); },
            |input: &[u8]| { $crate::fuzz::one(&$target(), input); }
        );
    };
}
