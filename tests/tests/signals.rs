//! tokio's signals in runs, where the first runtime of the process is a machine's.
//!
//! tokio makes one pair of sockets a process, with the first runtime, and keeps it: it has to be a
//! real one, or it would be of a run that is over.

#[path = "signal/system.rs"]
mod system;

use sim_core::run::{Input, Run, run, run_reusing};
use std::time::Duration;
use system::{open_count, raised, target};

const WATCHDOG: Duration = Duration::from_secs(60);

#[track_caller]
fn passed(run: &Run) {
    assert_eq!(run.failure, None);
    assert!(run.history.len() > 20, "the clients were served");
}

#[test]
#[expect(clippy::disallowed_methods, reason = "two threads that have runs at once")]
fn signals_are_asked_for_in_runs_one_after_the_other_and_at_once() {
    let target = target();
    let inputs: Vec<_> = (0..20).map(Input::Seed).collect();
    // The first run of the process, and another on the same thread.
    let first: Vec<_> = inputs.iter().map(|input| run_reusing(&target, input, WATCHDOG)).collect();
    first.iter().for_each(passed);
    let before = open_count();
    let again: Vec<_> = inputs.iter().map(|input| run_reusing(&target, input, WATCHDOG)).collect();
    let own: Vec<_> = inputs.iter().map(|input| run(&target, input, WATCHDOG)).collect();
    assert_eq!(open_count(), before, "no run leaves a descriptor");
    let threads = [0; 2].map(|_| {
        let (target, inputs) = (target.clone(), inputs.clone());
        std::thread::spawn(move || -> Vec<Run> {
            inputs.iter().map(|input| run_reusing(&target, input, WATCHDOG)).collect()
        })
    });
    let [one, other] = threads.map(|thread| thread.join().expect("runs do not panic"));
    for index in 0..inputs.len() {
        for runs in [&again, &own, &one, &other] {
            assert_eq!(first[index].history.divergence(&runs[index].history), None);
            assert_eq!(first[index].hash, runs[index].hash);
        }
    }
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_all().build().expect("the system has a runtime");
    runtime.block_on(raised());
}
