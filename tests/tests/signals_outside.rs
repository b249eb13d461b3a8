//! tokio's signals in runs, where the first runtime of the process is outside of every run and has
//! signals while runs are made.

#[path = "signal/system.rs"]
mod system;

use sim_core::run::{Input, run};
use std::time::Duration;
use system::{open_count, raised, target};

const WATCHDOG: Duration = Duration::from_secs(60);

#[test]
fn a_runtime_outside_keeps_its_signals() {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_all().build().expect("the system has a runtime");
    runtime.block_on(raised());
    let target = target();
    let runs = [0; 2].map(|_| run(&target, &Input::Seed(3), WATCHDOG));
    let before = open_count();
    let again = run(&target, &Input::Seed(3), WATCHDOG);
    assert_eq!(open_count(), before, "no run leaves a descriptor");
    for run in &runs {
        assert_eq!(run.failure, None);
        assert_eq!(run.history.divergence(&again.history), None);
    }
    runtime.block_on(raised());
}
