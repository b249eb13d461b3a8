//! What marks a run has, placed in a crate that forbids unsafe code.

#![forbid(unsafe_code)]

use arbitrary::Arbitrary;
use sim_core::control::{Control, Units, Until};
use sim_core::failure::Class;
use sim_core::lifecycle::Crash;
use sim_core::mark::Tally;
use sim_core::run::{Input, Run, run};
use sim_core::settings::{Seeds, Settings};
use sim_core::sweep::sweep;
use sim_core::workload::{Operation, Outcome, WorkloadSpec};
use sim_core::{Sim, Target, reached, sometimes};
use std::time::Duration;

fn run_of(body: fn(&mut Sim)) -> Run {
    run(&Target::new("marked", body), &Input::Bytes(Vec::new()), Duration::from_secs(60))
}

/// A mark in a function that is made once a type.
fn generic<T: Default + PartialEq>(value: T) {
    sometimes!(value == T::default(), "a default");
}

#[test]
fn a_run_has_the_marks_that_held() {
    let run = run_of(|sim| {
        sim.client("client", |_| async {
            for number in 0..3 {
                sometimes!(number == 2, "two");
                sometimes!(number == 7, "seven");
            }
            reached!("the end");
            generic(0_u8);
            generic("text");
        });
    });
    assert_eq!(run.failure, None);
    let names: Vec<&str> = run.marks.iter().collect();
    assert_eq!(names, ["a default", "the end", "two"]);
    assert!(run.marks.contains("two") && !run.marks.contains("seven"));
    let tally = |name| run.marks.places().find(|(place, _)| place.name() == name).map(|(_, t)| t);
    assert_eq!(tally("seven"), Some(Tally { evaluated: 3, is_reached: false }));
    assert_eq!(tally("a default"), Some(Tally { evaluated: 2, is_reached: true }));
}

/// What destructors do as their process ends is not the run's.
#[test]
fn a_dying_process_marks_nothing() {
    struct Last;
    impl Drop for Last {
        fn drop(&mut self) {
            reached!("dropped");
        }
    }
    let run = run_of(|sim| {
        let node = sim.node("node", |_| async {
            let _last = Last;
            std::future::pending::<()>().await;
        });
        sim.at(1.s(), Control::crash(&node, Crash::Kill));
        sim.client("client", |_| tokio::time::sleep(2.s()));
    });
    assert_eq!(run.failure, None);
    assert!(!run.marks.contains("dropped"));
}

/// What comes after the end of a run is not its own either.
#[test]
fn what_the_end_drops_marks_nothing() {
    struct Last;
    impl Drop for Last {
        fn drop(&mut self) {
            reached!("dropped at the end");
        }
    }
    let run = run_of(|sim| {
        let last = Last;
        sim.client("client", move |_| {
            let _ = &last;
            async { reached!("lived") }
        });
    });
    assert_eq!(run.marks.iter().collect::<Vec<_>>(), ["lived"]);
}

#[test]
fn outside_a_run_a_mark_does_nothing() {
    reached!("outside");
    let run = run_of(|sim| drop(sim.client("client", |_| async {})));
    assert_eq!(run.marks.iter().count(), 0);
}

#[test]
fn what_is_unreachable_fails_the_run() {
    let run = run_of(|sim| {
        sim.client("client", |_| async { sim_core::unreachable!("door {}", 7) });
    });
    let failure = run.failure.expect("it was reached");
    assert_eq!((failure.class, failure.message.as_str()), (Class::Correctness, "door 7"));
}

/// A place that nothing calls; the linker knows of it.
pub fn nobody_calls_this() {
    reached!("nobody comes here");
}

/// The marks of this file are those of its targets, also the ones that no run evaluated.
#[test]
fn a_sweep_ends_with_the_marks_that_no_run_reached() {
    let target = Target::new("marked", |sim: &mut Sim| {
        sim.client("client", |_| async {
            sometimes!(true, "in each run");
            sometimes!(false, "in no run");
        });
    });
    let found = sweep(&target, &Seeds::range(0..3), &Settings::default());
    let lines = found.never_reached(&target);
    let line = |name: &str| lines.iter().find(|line| line.contains(name));
    assert_eq!(line("in each run"), None);
    let missed = line("in no run").expect("no run reached it");
    assert!(missed.starts_with("sim: never reached: \"in no run\" at sim-core/tests/marks.rs:"));
    assert!(missed.ends_with(" (evaluated 3 times)"), "{missed}");
    let unseen = line("nobody comes here").expect("the linker knows of it");
    assert!(unseen.ends_with(" (evaluated 0 times)"), "{unseen}");
    let all = found.marks.of_target(&target).len();
    let count = format!(" marks {} of {all}", all - lines.len());
    assert!(found.summary(&target).ends_with(&count), "{}", found.summary(&target));
}

/// What the simulator does to a system, and what the workload asked of it, are marks too.
#[test]
fn controls_and_operations_are_marks() {
    let target = Target::new("marked", |sim: &mut Sim| {
        let node = sim.node("node", |_| std::future::pending::<()>());
        sim.at(1.ms(), Control::restart(&node, Crash::Kill));
        sim.at(2.ms(), Control::partition(&node, &node).until(Until::After(1.ms())));
        sim.at(3.s(), Control::pause(&node));
        sim.workload(
            &WorkloadSpec::new().clients(1..=1),
            |_| (),
            |_, _: Operation<Op>| async { Outcome::done() },
        );
        sim.client("client", |_| tokio::time::sleep(1.s()));
    });
    let marks = |input| run(&target, &input, Duration::from_secs(60)).marks;
    let calm = marks(Input::Bytes(Vec::new()));
    assert_eq!(calm.built_in().collect::<Vec<_>>(), ["control partition", "control restart"]);
    assert!((0..20).any(|seed| marks(Input::Seed(seed)).contains("operation Nod")));
}

/// An operation that says its name.
#[derive(Debug, Arbitrary)]
enum Op {
    Nod,
}
