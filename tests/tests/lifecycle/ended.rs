//! What a process does after its own end counts for nothing, and what it printed before is whole.

use crate::{failed, passed};
use sim_core::control::{Control, Units};
use sim_core::failure::Class;
use sim_core::lifecycle::Crash;
use sim_core::process::{Exit, Process};
use sim_core::{always, fail};
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::spawn_blocking;
use tokio::time::sleep;

/// A program that ends with code 3, whatever follows.
#[track_caller]
fn exits(program: impl AsyncFn(Process) + Clone + Send + Sync + 'static) {
    passed(move |sim| {
        let program = program.clone();
        let node = sim.node("node", move |process| {
            let program = program.clone();
            async move { program(process).await }
        });
        sim.client("client", move |_| {
            let node = node.clone();
            async move {
                sleep(1.s()).await;
                always!(node.exits(0) == [Exit::Code(3)], "{:?}", node.exits(0));
                always!(node.lines(0).is_empty(), "{:?}", node.lines(0));
            }
        });
    });
}

#[test]
fn who_joins_a_task_or_thread_that_exits_may_unwrap() {
    exits(async |process| tokio::spawn(async move { process.exit(3) }).await.unwrap());
    exits(async |process| spawn_blocking(move || process.exit(3)).await.unwrap());
}

#[test]
fn other_tasks_meet_the_end_of_their_process_without_a_failure() {
    exits(async |process| {
        let (sender, receiver) = watch::channel(());
        for is_first in [true, false] {
            let (mut receiver, process) = (receiver.clone(), process.clone());
            tokio::spawn(async move {
                receiver.changed().await.unwrap();
                if is_first {
                    process.exit(3);
                }
                TcpListener::bind("0.0.0.0:9").await.expect("there is a network");
            });
        }
        sender.send_replace(());
        sleep(1.s()).await;
    });
}

#[test]
fn a_program_that_catches_its_exit_says_nothing_more() {
    exits(async |process| {
        let _ = catch_unwind(AssertUnwindSafe(|| process.exit(3)));
        process.stdout().write_all(b"still here\n").await.unwrap();
        fail("after the end");
    });
}

#[test]
fn a_program_that_exits_does_not_keep_the_turn() {
    exits(async |process| {
        tokio::spawn(async move { process.exit(3) });
        loop {
            tokio::task::yield_now().await;
        }
    });
}

#[test]
fn a_process_is_ended_by_its_own_program_alone() {
    let failure = failed(|sim| {
        let others = Rc::new(RefCell::new(None));
        let given = others.clone();
        sim.node("one", move |process| {
            given.replace(Some(process));
            sleep(9.s())
        });
        sim.node("other", move |_| {
            let process = others.take();
            async move { process.unwrap().exit(1) }
        });
        sim.client("client", |_| sleep(1.s()));
    });
    assert_eq!(failure.class, Class::Panic);
    let text = "node other panicked: only its own program ends the process of one by `exit`";
    assert!(failure.message.starts_with(text), "{failure}");
}

#[test]
fn an_exit_code_has_eight_bits() {
    passed(|sim| {
        let exits = sim.node("exits", |process| async move { process.exit(256) });
        let returns = sim.node("returns", |_| async { -1 });
        sim.client("client", move |_| {
            let nodes = [exits.clone(), returns.clone()];
            async move {
                sleep(1.s()).await;
                let exits = nodes.map(|node| node.exits(0)[0]);
                always!(exits == [Exit::Code(0), Exit::Code(255)], "{exits:?}");
            }
        });
    });
}

#[test]
fn lines_are_of_the_process_whatever_handle_writes_them() {
    passed(|sim| {
        let node = sim.node("node", |process| async move {
            process.stdout().write_all(b"one ").await.unwrap();
            process.stderr().write_all(b"no ").await.unwrap();
            process.stdout().write_all(b"line\nlast words").await.unwrap();
            process.stderr().write_all(b"such\n").await.unwrap();
            sleep(9.s()).await;
        });
        sim.at(1.s(), Control::crash(&node, Crash::Kill));
        sim.client("client", move |_| {
            let node = node.clone();
            async move {
                sleep(2.s()).await;
                let lines: Vec<String> = node.lines(0).into_iter().map(|line| line.text).collect();
                always!(lines == ["one line", "no such", "last words"], "{lines:?}");
            }
        });
    });
}

#[test]
fn a_client_ends_once_by_a_return_or_an_exit() {
    let trace = passed(|sim| {
        let first = sim.client("first", |_| sleep(1.s()));
        sim.client("second", |process| async move {
            sleep(5.s()).await;
            process.exit(0);
        });
        sim.at(2.s(), Control::start(&first));
    });
    assert_eq!(trace.matches(" finish").count(), 2, "{trace}");
    assert!(trace.contains("5.000000000 second       finish"), "{trace}");
}

#[test]
fn a_panic_does_not_tell_the_numbers_of_tasks() {
    let failure = failed(|sim| {
        sim.node("node", |_| async {
            let task = tokio::spawn(sleep(1.s()));
            task.abort();
            task.await.unwrap();
        });
        sim.client("client", |_| sleep(1.s()));
    });
    assert!(failure.message.ends_with("JoinError::Cancelled(Id(_))"), "{failure}");
}

#[test]
fn a_process_whose_thread_slept_ends_afterwards() {
    passed(|sim| {
        let returns = sim.node("returns", |_| async { stall(3.s()) });
        let pool = sim.node("pool", |process| async move {
            for _ in 0..3 {
                spawn_blocking(|| stall(1.s())).await.unwrap();
                process.stdout().write_all(b"slept\n").await.unwrap();
            }
        });
        sim.at(Duration::from_millis(1_500), Control::crash(&pool, Crash::Kill));
        sim.client("client", move |_| {
            let (returns, pool) = (returns.clone(), pool.clone());
            async move {
                sleep(2.s()).await;
                always!(returns.is_up(0), "it sleeps still");
                always!(pool.lines(0).len() == 1, "{:?}", pool.lines(0));
                sleep(2.s()).await;
                always!(returns.exits(0) == [Exit::Code(0)], "{:?}", returns.exits(0));
            }
        });
    });
}

#[expect(clippy::disallowed_methods, reason = "a program that blocks its thread")]
fn stall(time: Duration) {
    std::thread::sleep(time);
}
