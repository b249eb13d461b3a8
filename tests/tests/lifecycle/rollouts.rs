//! Rollouts: replicas are replaced one after the other.

use crate::{failed, passed};
use sim_core::control::{Control, Units, Until};
use sim_core::failure::Class;
use sim_core::lifecycle::{Crash, Rollout};
use sim_core::node::NodeSpec;
use sim_core::process::{Exit, Process, Signal};
use sim_core::{Sim, always};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::sleep;

/// Says its version to whoever dials, from some time after its start on; ends once told to.
async fn say(process: Process, version: u8, warm_up: Duration) {
    let mut signals = process.signals(&[Signal::Terminate]).unwrap();
    sleep(warm_up).await;
    let listener = TcpListener::bind((process.address(), 7)).await.unwrap();
    loop {
        tokio::select! {
            biased;
            _ = signals.recv() => return,
            accepted = listener.accept() => {
                accepted.unwrap().0.write_u8(version).await.unwrap();
            }
        }
    }
}

fn versions(sim: &mut Sim, first: u8) -> sim_core::node::Node {
    let spec = NodeSpec::new("api").replicas(3..=3).drains();
    sim.node(spec, move |process| say(process, first, 300.ms()))
}

#[test]
pub(crate) fn replicas_are_replaced_one_after_the_other_behind_their_route() {
    let trace = passed(|sim| {
        let api = versions(sim, 1);
        let route = sim.route("api.internal", &api);
        sim.at(1.s(), Control::rollout(Rollout::of(&api).route(&route).ready_on(7)));
        sim.client("client", move |_| {
            let (api, route) = (api.clone(), route.clone());
            async move {
                sleep(500.ms()).await;
                for _ in 0..200 {
                    sleep(10.ms()).await;
                    // The route never leads to a replica that is not there.
                    let mut stream = TcpStream::connect("api.internal:7").await.unwrap();
                    always!(stream.read_u8().await.unwrap() == 1, "a replica answers");
                    always!(route.hosts().len() >= 2, "one at a time: {:?}", route.hosts());
                }
                for replica in 0..3 {
                    let exits = api.exits(replica);
                    always!(exits == [Exit::Code(0)] && api.starts(replica) == 2, "{exits:?}");
                }
                always!(route.hosts() == api.hosts(), "all are back");
            }
        });
    });
    assert!(trace.contains("control      end rollout of api-0,api-1,api-2"), "{trace}");
}

#[test]
pub(crate) fn a_rollout_brings_another_version() {
    passed(|sim| {
        let api = versions(sim, 1);
        let next = Rollout::of(&api).to(|process| say(process, 2, 100.ms())).ready_on(7);
        sim.at(1.s(), Control::rollout(next));
        sim.client("client", move |_| {
            let api = api.clone();
            async move {
                sleep(5.s()).await;
                for address in api.addresses() {
                    let mut stream = TcpStream::connect((*address, 7)).await.unwrap();
                    always!(stream.read_u8().await.unwrap() == 2, "the next version answers");
                }
            }
        });
    });
}

#[test]
pub(crate) fn a_replica_that_is_not_ready_in_time_fails_the_run() {
    let failure = failed(|sim| {
        let api = versions(sim, 1);
        let slow = Rollout::of(&api).to(|process| say(process, 2, 20.s())).ready_on(7);
        sim.at(1.s(), Control::rollout(slow.within(10.s())));
        sim.client("client", |_| sleep(60.s()));
    });
    assert_eq!(failure.class, Class::Liveness);
    assert_eq!(failure.message, "node api-0 was not ready within 10s of its start");
}

#[test]
fn a_replica_that_ends_before_it_is_ready_fails_the_run() {
    let failure = failed(|sim| {
        let api = versions(sim, 1);
        let broken = Rollout::of(&api).to(|_| async { Err::<(), _>("no disk") }).ready_on(7);
        sim.at(1.s(), Control::rollout(broken));
        sim.client("client", |_| sleep(60.s()));
    });
    assert_eq!(failure.class, Class::Liveness);
    assert_eq!(failure.message, "node api-0 ended with exit code=1 before it was ready");
}

#[test]
fn a_replica_that_is_told_to_end_before_it_is_ready_starts_again() {
    for signal in [Signal::Terminate, Signal::Hangup] {
        passed(move |sim| {
            let api = versions(sim, 1);
            let next = Rollout::of(&api).to(|process| say(process, 2, 500.ms())).ready_on(7);
            sim.at(1.s(), Control::rollout(next));
            // The first replica listens for the one signal and dies of the other, as it warms up.
            sim.at(1_200.ms(), Control::signal(api.hosts()[0], signal));
            sim.client("client", move |_| {
                let api = api.clone();
                async move {
                    sleep(20.s()).await;
                    for address in api.addresses() {
                        let mut stream = TcpStream::connect((*address, 7)).await.unwrap();
                        always!(stream.read_u8().await.unwrap() == 2, "the next version answers");
                    }
                }
            });
        });
    }
}

#[test]
fn two_rollouts_of_one_node_both_end() {
    let trace = passed(|sim| {
        let api = versions(sim, 1);
        for moment in [1_000, 1_100] {
            sim.at(moment.ms(), Control::rollout(Rollout::of(&api).ready_on(7)));
        }
        sim.client("client", move |_| sleep(60.s()));
    });
    assert_eq!(trace.matches("end rollout of").count(), 2, "{trace}");
}

#[test]
fn a_crash_of_a_replica_that_drains_does_not_stop_the_rollout() {
    let trace = passed(|sim| {
        let slow = |process: Process| async move {
            let mut signals = process.signals(&[Signal::Terminate]).unwrap();
            let _listener = TcpListener::bind((process.address(), 7)).await.unwrap();
            signals.recv().await;
            sleep(10.s()).await;
        };
        let api = sim.node(NodeSpec::new("api"), slow);
        let next = Rollout::of(&api).to(|process| say(process, 2, 0.ms())).ready_on(7);
        sim.at(1.s(), Control::rollout(next));
        sim.at(2.s(), Control::restart(&api, Crash::Power));
        sim.client("client", move |_| {
            let api = api.clone();
            async move {
                sleep(60.s()).await;
                let mut stream = TcpStream::connect((api.addresses()[0], 7)).await.unwrap();
                always!(stream.read_u8().await.unwrap() == 2, "the next version answers");
            }
        });
    });
    assert!(trace.contains("end rollout of api"), "{trace}");
}

#[test]
fn a_pause_does_not_count_against_the_bound_of_readiness() {
    passed(|sim| {
        let api = versions(sim, 1);
        let slow = |process| async move {
            for _ in 0..10 {
                sleep(500.ms()).await;
            }
            say(process, 2, 0.ms()).await;
        };
        let slow = Rollout::of(&api).to(slow).ready_on(7).within(10.s());
        sim.at(1.s(), Control::rollout(slow));
        let first = api.hosts()[0];
        sim.at(2.s(), Control::pause(first).until(Until::After(8_500.ms())));
        sim.client("client", |_| sleep(60.s()));
    });
}
