//! What marks a run has, placed in a crate that forbids unsafe code.

#![forbid(unsafe_code)]

use sim_core::control::{Control, Units};
use sim_core::failure::Class;
use sim_core::lifecycle::Crash;
use sim_core::mark::Tally;
use sim_core::run::{Input, Run, run};
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
