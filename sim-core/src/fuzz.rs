//! The libFuzzer front: one input a call.
//!
//! libfuzzer-sys ends the process on every panic. [`init`] takes that hook out, so that a panic of a
//! node becomes a failure, is reported, and ends the process only then, as a crash that libFuzzer
//! keeps the input of.

use crate::child;
use crate::failure::{Class, Failure};
use crate::identity::{Identity, Subject, warn_unseeded};
use crate::report;
use crate::run::{Input, Run, Target, run_reusing};
use crate::self_check;
use crate::settings::Settings;
use crate::sweep::settings_or_exit;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

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
    let run = run_reusing(target, &input, settings().watchdog);
    let is_checked = COUNT.fetch_add(1, Ordering::Relaxed) % CHECKED == 1;
    let times = if is_checked || run.failure.is_some() { self_check::RERUNS } else { 0 };
    let diverged = self_check::in_process(target, &input, &run, times, settings().watchdog);
    if let Some(failure) = diverged.or_else(|| run.failure.clone()) {
        if failure.class == Class::Inconclusive {
            return;
        }
        report_and_crash(target, &run, &failure);
    }
}

fn report_and_crash(target: &Target, run: &Run, failure: &Failure) -> ! {
    let replay = format!(
        "replay: SIM_INPUT=fuzz/artifacts/{}/FILE cargo test --test replay, with the file that \
         libFuzzer names below",
        target.name()
    );
    crate::identity::say(&report::text(target, run, failure, &[replay]));
    std::process::abort();
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
