//! Programs with a panic hook of their own, in a process of their own: hooks are the process's.

use sim_core::failure::{Class, Failure};
use sim_core::run::{Input, run};
use sim_core::{Sim, Target};
use std::time::Duration;

#[track_caller]
fn failure(body: fn(&mut Sim)) -> Failure {
    let run = run(&Target::new("hooks", body), &Input::Bytes(Vec::new()), Duration::from_secs(60));
    run.failure.expect("the run fails")
}

#[track_caller]
fn expect_in_task(failure: &Failure, text: &str) {
    let place = format!("node client panicked in a task of {}:", file!());
    let message = &failure.message;
    assert!(message.starts_with(&place) && message.ends_with(&format!(": {text}")), "{message}");
}

/// One test, as a hook of one would be in the way of another.
#[test]
fn a_panic_is_seen_whatever_hooks_programs_install() {
    let chained = failure(|sim| {
        sim.client("client", |_| async {
            let before = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |info| before(info)));
            drop(tokio::spawn(async { panic!("with a chained hook") }).await);
        });
    });
    expect_in_task(&chained, "with a chained hook");

    let at_once = failure(|sim| {
        sim.client("client", |_| async {
            std::panic::set_hook(Box::new(|_| {}));
            panic!("the hook is another's");
        });
    });
    assert_eq!(at_once.class, Class::Panic);
    assert_eq!(at_once.message, "node client panicked; its own hook has the message");

    let later = failure(|sim| {
        sim.client("client", |_| async {
            std::panic::set_hook(Box::new(|_| {}));
            tokio::time::sleep(Duration::from_secs(1)).await;
            drop(tokio::spawn(async { panic!("a turn later") }).await);
        });
    });
    expect_in_task(&later, "a turn later");

    let in_another_run = failure(|sim| {
        sim.client("client", |_| async {
            drop(tokio::spawn(async { panic!("a run later") }).await);
        });
    });
    expect_in_task(&in_another_run, "a run later");
}
