//! Odd orders: controls that overlap, come again, or are about who cannot take them.

use crate::{WATCHDOG, failed, passed};
use arbitrary::Arbitrary;
use hostsim::kernel::HostId;
use sim_core::control::{Control, Units, Until};
use sim_core::failure::Class;
use sim_core::lifecycle::{Crash, Rollout};
use sim_core::node::NodeSpec;
use sim_core::process::{Exit, Process, Signal};
use sim_core::run::{Input, run};
use sim_core::workload::{Operation, Outcome, WorkloadSpec};
use sim_core::{Target, always};
use std::panic::catch_unwind;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::time::sleep;

/// Listens, and ends some time after it is told to.
async fn linger(process: Process, time: Duration) {
    let mut signals = process.signals(&[Signal::Terminate]).unwrap();
    let _listener = TcpListener::bind((process.address(), 7)).await.unwrap();
    signals.recv().await;
    sleep(time).await;
}

#[test]
fn rollouts_of_the_same_hosts_come_one_after_the_other() {
    passed(|sim| {
        let node = sim.node(NodeSpec::new("node").replicas(3..=3), |p| linger(p, 1.s()));
        let orders = [0, 1].map(|_| sim.at(1.s(), Control::rollout((&node).into())));
        sim.client("client", move |_| {
            let (node, orders) = (node.clone(), orders.clone());
            async move {
                sleep(Duration::from_millis(4_500)).await;
                always!(!orders[0].is_active() && orders[1].is_active(), "the second goes on");
                sleep(5.s()).await;
                always!(!orders[1].is_active(), "both are over");
                let starts = [0, 1, 2].map(|replica| node.starts(replica));
                always!(starts == [3, 3, 3], "{starts:?}");
            }
        });
    });
}

/// Something starts the process that a rollout waits for.
#[track_caller]
fn rollout_meets(event: impl Fn(&sim_core::node::Node) -> Control + Send + Sync + 'static) {
    passed(move |sim| {
        let node = sim.node("node", |p| linger(p, 1.s()));
        let next = Rollout::of(&node).to(|p| async move {
            let _listener = TcpListener::bind((p.address(), 8)).await.unwrap();
            std::future::pending::<()>().await;
        });
        let order = sim.at(1.s(), Control::rollout(next.ready_on(8)));
        sim.at(Duration::from_millis(1_500), event(&node));
        sim.client("client", move |_| {
            let (node, order) = (node.clone(), order.clone());
            async move {
                sleep(9.s()).await;
                always!(!order.is_active(), "the rollout ended");
                always!(node.is_listening(0, 8), "the next version serves");
                always!(node.starts(0) == 2, "{}", node.starts(0));
            }
        });
    });
}

#[test]
fn a_rollout_goes_on_whoever_starts_its_process() {
    rollout_meets(|node| Control::restart(node, Crash::Kill));
    rollout_meets(|node| Control::crash(node, Crash::Power).until(Until::After(2.s())));
}

#[test]
fn a_replica_that_is_killed_before_it_is_ready_has_its_bound_still() {
    let failure = failed(|sim| {
        let node = sim.node("node", |p| linger(p, 0.s()));
        let next = Rollout::of(&node).to(|_| sleep(60.s())).ready_on(7).within(5.s());
        sim.at(1.s(), Control::rollout(next));
        sim.at(2.s(), Control::signal(&node, Signal::Interrupt));
        sim.client("client", |_| sleep(60.s()));
    });
    assert_eq!(failure.class, Class::Liveness);
    assert_eq!(failure.message, "node node was not ready within 5s of its start");
}

#[test]
fn a_signal_kills_a_paused_process_once_it_goes_on() {
    passed(|sim| {
        let node = sim.node("node", |_| std::future::pending::<()>());
        sim.at(1.s(), Control::pause(&node).until(Until::After(3.s())));
        sim.at(2.s(), Control::signal(&node, Signal::Terminate));
        sim.at(2.s(), Control::signal(&node, Signal::Interrupt));
        sim.at(3.s(), Control::pause(&node).until(Until::After(2.s())));
        sim.client("client", move |_| {
            let node = node.clone();
            async move {
                sleep(Duration::from_millis(4_900)).await;
                always!(node.is_up(0), "the second pause lasts");
                sleep(200.ms()).await;
                let exits = node.exits(0);
                always!(exits == [Exit::Signal(Signal::Interrupt)], "{exits:?}");
            }
        });
    });
}

#[test]
fn who_asked_first_kills_in_its_own_time() {
    passed(|sim| {
        let node = sim.node("node", |p| linger(p, 100.s()));
        sim.at(1.s(), Control::kill_after(&node, 5.s()));
        sim.at(2.s(), Control::kill_after(&node, 50.s()));
        sim.client("client", move |_| {
            let node = node.clone();
            async move {
                sleep(Duration::from_millis(5_900)).await;
                always!(node.is_up(0), "not yet");
                sleep(200.ms()).await;
                always!(node.exits(0) == [Exit::Kill], "{:?}", node.exits(0));
            }
        });
    });
}

#[test]
fn a_timer_that_was_set_before_a_drift_follows_it() {
    passed(|sim| {
        let node = sim.node("node", |_| sleep(111.s()));
        sim.at(1.s(), Control::drift(&node, 100_000));
        sim.client("client", move |_| {
            let node = node.clone();
            async move {
                sleep(Duration::from_millis(100_900)).await;
                always!(node.is_up(0), "not yet");
                sleep(200.ms()).await;
                always!(!node.is_up(0), "1 s, and 110 s in 100");
            }
        });
    });
}

/// Whether a test's own predicate may ask its node, and whose fault its panic is.
#[test]
fn predicates_look_at_nodes_and_their_panics_are_the_tests() {
    passed(|sim| {
        let node = sim.node("node", |p| linger(p, 0.s()));
        let [seen, asked] = [node.clone(), node.clone()];
        let until = Until::when(move |_| seen.is_listening(0, 7) && seen.is_up(0));
        sim.at(1.s(), Control::pause(&node).until(until));
        let ready = Rollout::of(&node).ready(move |_, _| asked.is_listening(0, 7));
        sim.at(2.s(), Control::rollout(ready));
        sim.client("client", |_| sleep(3.s()));
    });
    let until = failed(|sim| {
        let node = sim.node("node", |_| sleep(9.s()));
        sim.at(1.s(), Control::pause(&node).until(Until::when(|_| panic!("mine"))));
        sim.client("client", |_| sleep(3.s()));
    });
    let ready = failed(|sim| {
        let node = sim.node("node", |_| sleep(9.s()));
        sim.at(1.s(), Control::rollout(Rollout::of(&node).ready(|_, _| panic!("mine"))));
        sim.client("client", |_| sleep(3.s()));
    });
    for failure in [until, ready] {
        assert_eq!(failure.class, Class::Panic);
        assert_eq!(failure.message, "a predicate of the test panicked: mine");
        assert!(failure.origin.starts_with("tests/tests/lifecycle/orders.rs:"), "{failure}");
    }
}

#[derive(Arbitrary, Debug)]
struct Request;

#[test]
fn the_host_of_a_workloads_client_does_not_die() {
    let target = Target::new("clients", |sim| {
        let spec = WorkloadSpec::new().clients(1..=1).operations(9);
        let run = async |_, _: Operation<Request>| {
            sleep(1.s()).await;
            Outcome::done()
        };
        sim.workload(&spec, |_| (), run);
        let client = HostId(0);
        sim.at(1.ms(), Control::kill_after(client, 1.ms()));
        sim.at(2.ms(), Control::rollout(Rollout::of(client).grace(1.ms())));
        sim.at(3.ms(), Control::restart(client, Crash::Power));
        sim.at(4.ms(), Control::signal(client, Signal::Terminate));
    });
    let run = run(&target, &Input::Seed(1), WATCHDOG);
    assert_eq!(run.failure, None, "{}", run.history.trace());
    assert!(run.elapsed > 1.s(), "it has operations");
}

#[test]
fn a_host_of_another_run_is_refused() {
    let failure = failed(|sim| {
        sim.client("client", |_| sleep(1.s()));
        sim.at(1.s(), Control::pause(HostId(9)));
    });
    assert_eq!(failure.class, Class::Panic);
    let text = "the test's body panicked: HostId(9) is no host of this run, which has 1";
    assert_eq!(failure.message, text);
}

#[test]
fn a_file_stays_below_the_folder_of_its_host() {
    for path in ["/etc/app.toml", "../app.toml", "etc/../../app.toml"] {
        let spec = catch_unwind(|| NodeSpec::new("node").file(path, b"x".as_slice()));
        assert!(spec.is_err(), "{path}");
    }
}
