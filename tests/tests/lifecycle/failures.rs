//! The classes of failure that come from processes: panic, leak, deadlock.

use crate::{failed, passed};
use sim_core::always;
use sim_core::control::{Control, Units};
use sim_core::driver::Limits;
use sim_core::failure::Class;
use sim_core::lifecycle::Crash;
use sim_core::node::NodeSpec;
use sim_core::process::Exit;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::sleep;

#[test]
fn an_allowed_panic_of_the_program_is_its_end() {
    let trace = passed(|sim| {
        let spec = NodeSpec::new("node").allow_panics(|panic| panic.message.contains("bad config"));
        let node = sim.node(spec, |_| async { panic!("a bad config") });
        sim.client("client", move |_| {
            let node = node.clone();
            async move {
                sleep(1.s()).await;
                always!(node.exits(0) == [Exit::Code(101)], "{:?}", node.exits(0));
                always!(node.lines(0)[0].is_error, "it says why: {:?}", node.lines(0));
            }
        });
    });
    assert!(trace.contains("node         stderr panicked at tests/tests/lifecycle/failures.rs:"));
    assert!(trace.contains(": a bad config\n"), "{trace}");
}

#[test]
fn an_allowed_panic_of_a_task_ends_the_task() {
    passed(|sim| {
        let spec = NodeSpec::new("node").allow_panics(|panic| panic.message == "one request");
        let node = sim.node(spec, |_| async {
            let task = tokio::spawn(async { panic!("one request") });
            assert!(task.await.is_err());
            std::future::pending::<()>().await;
        });
        sim.client("client", move |_| {
            let node = node.clone();
            async move {
                sleep(1.s()).await;
                always!(node.is_up(0), "the process goes on");
            }
        });
    });
}

#[test]
fn a_panic_that_is_not_allowed_names_node_and_task() {
    let failure = failed(|sim| {
        let spec = NodeSpec::new("node").allow_panics(|panic| panic.node == "other");
        sim.node(spec, |_| async {
            tokio::spawn(async { panic!("not this one") }).await.unwrap_err();
        });
        sim.client("client", |_| sleep(1.s()));
    });
    assert_eq!(failure.class, Class::Panic);
    assert!(failure.message.starts_with("node node panicked in a task of tests/"), "{failure}");
    assert!(failure.origin.starts_with("tests/tests/lifecycle/failures.rs:"), "{failure}");
    let frame = failure.details.first().expect("the program's own frames are shown");
    assert!(frame.contains("failures"), "{frame}");
    assert!(frame.contains("lifecycle/failures.rs:"), "{frame}");
}

#[test]
fn a_node_that_drains_leaves_no_task_and_no_socket() {
    let failure = failed(|sim| {
        sim.node(NodeSpec::new("node").drains(), |_| async {
            tokio::spawn(sleep(100.s()));
        });
        sim.client("client", |_| sleep(1.s()));
    });
    assert_eq!(failure.class, Class::Leak);
    assert_eq!(failure.message, "node node ended with exit code=0 and left 1 tasks and 0 sockets");
    let failure = failed(|sim| {
        sim.node(NodeSpec::new("node").drains(), |_| async {
            let listener = TcpListener::bind("0.0.0.0:7").await.unwrap();
            std::mem::forget(listener);
        });
        sim.client("client", |_| sleep(1.s()));
    });
    assert_eq!(failure.class, Class::Leak);
    assert_eq!(failure.origin, "node left a socket");
}

#[test]
fn a_node_that_drains_may_crash_at_any_time() {
    passed(|sim| {
        let node = sim.node(NodeSpec::new("node").drains(), |_| async {
            tokio::spawn(sleep(100.s()));
            std::future::pending::<()>().await;
        });
        sim.at(1.s(), Control::crash(&node, Crash::Kill));
        sim.client("client", |_| sleep(2.s()));
    });
}

#[test]
fn a_deadlock_names_who_does_not_run_and_what_each_task_waits_for() {
    let failure = failed(|sim| {
        let node = sim.node("server", |_| async {
            let listener = TcpListener::bind("0.0.0.0:7").await.unwrap();
            let mut streams = Vec::new();
            while let Ok(accepted) = listener.accept().await {
                streams.push(accepted);
            }
        });
        let other = sim.node("idle", |_| async {
            let listener = TcpListener::bind("0.0.0.0:9").await.unwrap();
            let _accepts = tokio::spawn(async move { listener.accept().await.map(drop) });
            let (_sender, receiver) = tokio::sync::oneshot::channel::<()>();
            drop(receiver.await);
        });
        drop(other);
        sim.at(1.s(), Control::crash(&node, Crash::Power));
        sim.client("client", |_| async {
            let stream = TcpStream::connect("server:7").await.unwrap();
            stream.readable().await.unwrap();
            let mut bytes = [0; 1];
            while stream.try_read(&mut bytes).is_err() {
                stream.readable().await.unwrap();
            }
        });
    });
    assert_eq!(failure.class, Class::Deadlock);
    let details = failure.details.join("\n");
    assert!(details.contains("server: does not run (power lost)"), "{details}");
    let reads = "client: the program waits in recv: 10.0.0.3:";
    assert!(details.contains(reads), "{details}");
    let idle = "idle: the program waits for no socket: a channel, a lock or a task";
    assert!(details.contains(idle), "{details}");
    let accepts = "idle: a task of tests/tests/lifecycle/failures.rs:";
    assert!(
        details.contains(accepts) && details.contains("waits in accept: listens on"),
        "{details}"
    );
}

#[test]
fn a_limit_names_who_did_not_end() {
    let failure = failed(|sim| {
        sim.set_limits(Limits { time_max: 60.s(), ..Limits::default() });
        sim.node("beat", |_| async {
            loop {
                sleep(1.s()).await;
            }
        });
        let client = sim.client("client", |_| sleep(10.s()));
        sim.at(1.s(), Control::crash(&client, Crash::Kill));
    });
    assert_eq!(failure.class, Class::Inconclusive);
    assert!(failure.message.ends_with(", and 1 client has not ended"), "{failure}");
    let details = [
        "client: the client has not ended",
        "client: does not run (killed)",
        "in force: crash of client: Kill until the end",
    ];
    assert_eq!(failure.details, details);
}
