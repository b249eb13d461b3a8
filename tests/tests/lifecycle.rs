//! Processes and their lifecycles: every event with the test that pins it, and how exact death is.
//!
//! `cargo test -p sim-tests --test lifecycle -- --nocapture` prints the table of events.

#[path = "lifecycle/death.rs"]
mod death;
#[path = "lifecycle/drawn.rs"]
mod drawn;
#[path = "lifecycle/ended.rs"]
mod ended;
#[path = "lifecycle/events.rs"]
mod events;
#[path = "lifecycle/failures.rs"]
mod failures;
#[path = "lifecycle/orders.rs"]
mod orders;
#[path = "lifecycle/process.rs"]
mod process;
#[path = "lifecycle/rollouts.rs"]
mod rollouts;
#[path = "lifecycle/storm.rs"]
mod storm;

use sim_core::failure::Failure;
use sim_core::run::{Input, Run, run};
use sim_core::{Sim, Target};
use std::time::Duration;

const WATCHDOG: Duration = Duration::from_secs(60);

/// The calm run of a test's body.
fn calm(body: impl Fn(&mut Sim) + Send + Sync + 'static) -> Run {
    run(&Target::new("lifecycle", body), &Input::Bytes(Vec::new()), WATCHDOG)
}

/// The calm run, which passes; its trace.
#[track_caller]
fn passed(body: impl Fn(&mut Sim) + Send + Sync + 'static) -> String {
    let run = calm(body);
    assert_eq!(run.failure, None, "{}", run.history.trace());
    run.history.trace().to_string()
}

/// The failure of the calm run.
#[track_caller]
fn failed(body: impl Fn(&mut Sim) + Send + Sync + 'static) -> Failure {
    let run = calm(body);
    run.failure.unwrap_or_else(|| panic!("the run passes:\n{}", run.history.trace()))
}

macro_rules! table {
    ($($event:literal $($name:ident)::+;)*) => {
        [$(($event, concat!($("::", stringify!($name)),+), $($name)::+ as fn())),*]
    };
}

#[test]
fn every_event_has_a_test_that_pins_it() {
    let table = table! {
        "start" events::a_node_starts_when_it_is_told_to;
        "signal, listened for" events::a_signal_reaches_the_program_that_listens;
        "signal, default action" events::a_signal_that_nobody_listens_for_kills;
        "kill after" events::a_process_that_does_not_end_in_time_is_killed;
        "crash: kill" events::a_killed_process_closes_its_connections_as_its_kernel_does;
        "crash: power" events::a_host_without_power_says_nothing;
        "restart" events::a_restart_makes_the_program_anew;
        "rollout" rollouts::replicas_are_replaced_one_after_the_other_behind_their_route;
        "rollout, another version" rollouts::a_rollout_brings_another_version;
        "rollout, not ready" rollouts::a_replica_that_is_not_ready_in_time_fails_the_run;
        "partition, both ways" events::a_partition_stops_both_ways;
        "partition, one way" events::a_one_way_partition_lets_the_other_way_through;
        "pause, resume" events::a_paused_machine_stands_still_and_its_timers_are_late;
        "skew" events::a_skewed_wall_clock_steps_and_timers_do_not_see_it;
        "drift" events::a_drifting_clock_passes_faster_and_never_back;
        "stall (nanosleep)" events::a_sleep_of_a_thread_stalls_its_machine_only;
        "ended by a crash token" process::a_crash_token_ends_at_a_crash_and_not_at_an_exit;
    };
    for (event, test, _) in table {
        println!("{event:<26} {}", test.trim_start_matches("::"));
    }
}
