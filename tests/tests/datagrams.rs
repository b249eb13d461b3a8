//! What befalls datagrams in a run: the odds of the swarm and of a test, controls, the history.
//!
//! A scenario is a server that counts what comes and a client that sends it numbered datagrams.

use sim_core::control::{Control, Units, Until};
use sim_core::node::Node;
use sim_core::run::{Input, Run, run};
use sim_core::source::{Lane, Lanes, Ratio};
use sim_core::{Sim, Target};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::UdpSocket;
use tokio::time::sleep;

const WATCHDOG: Duration = Duration::from_secs(60);
const ALWAYS: Ratio = Ratio::new(1, 1);

/// How many datagrams the client sends, one every millisecond.
const COUNT: u8 = 50;

/// Runs a scenario on an input; gives what the server received.
fn play(order: fn(&mut Sim, &Node, &Node), network: &[u8], swarm: &[u8]) -> (Run, Vec<u8>) {
    let received = Arc::<Mutex<Vec<u8>>>::default();
    let into = received.clone();
    let target = Target::new("scenario", move |sim| {
        let into = into.clone();
        into.lock().unwrap().clear();
        sim.set_latency(1.ms());
        let server = sim.node("server", move |_| {
            let into = into.clone();
            async move {
                let socket = UdpSocket::bind("0.0.0.0:7").await.unwrap();
                let mut buffer = [0; 8];
                while socket.recv(&mut buffer).await.is_ok() {
                    into.lock().unwrap().push(buffer[0]);
                }
            }
        });
        let client = sim.client("client", |_| async {
            let socket = UdpSocket::bind("0.0.0.0:0").await.unwrap();
            for number in 0..COUNT {
                socket.send_to(&[number], "10.0.0.1:7").await.unwrap();
                sleep(1.ms()).await;
            }
            sleep(50.ms()).await;
        });
        order(sim, &server, &client);
    });
    let mut lanes = Lanes::default();
    *lanes.lane_mut(Lane::Network) = network.to_vec();
    *lanes.lane_mut(Lane::Swarm) = swarm.to_vec();
    let run = run(&target, &Input::Bytes(lanes.encode()), WATCHDOG);
    assert_eq!(run.failure, None);
    let received = received.lock().unwrap().clone();
    (run, received)
}

fn all() -> Vec<u8> {
    (0..COUNT).collect()
}

fn draws(run: &Run) -> usize {
    let labels = ["lost", "doubled", "late"];
    run.tape.iter().filter(|entry| labels.contains(&entry.label)).count()
}

#[test]
fn a_calm_run_draws_nothing_and_loses_nothing() {
    let (run, received) = play(|_, _, _| {}, &[255; 300], &[]);
    assert_eq!((received, draws(&run)), (all(), 0));
}

#[test]
fn the_last_dimensions_of_the_swarm_are_the_odds() {
    // Entropy in two bytes, latency, two buffers, pieces, then the odds of 64/256.
    let top: Vec<u8> = (0..150).map(|at| if at % 3 == 0 { 0 } else { 255 }).collect();
    let (run, received) = play(|_, _, _| {}, &top, &[0, 0, 0, 0, 0, 0, 7, 7, 7]);
    let names: Vec<_> = run.plan.active().map(|one| one.name).collect();
    assert_eq!(names, ["loss", "duplication", "reordering"]);
    assert_eq!(draws(&run), 3 * usize::from(COUNT));
    // Each is doubled, and one of the two is late: others overtake it.
    assert!(!received.is_sorted(), "{received:?}");
    let mut sorted = received;
    sorted.sort_unstable();
    let twice: Vec<u8> = all().into_iter().flat_map(|number| [number; 2]).collect();
    assert_eq!(sorted, twice);
}

#[test]
fn orders_of_a_test_win_over_the_swarm() {
    let (run, received) = play(|sim, _, _| sim.set_loss(ALWAYS), &[], &[]);
    assert!(received.is_empty());
    // Odds of one draw nothing: their denominator is one.
    assert_eq!(draws(&run), 0);
    let (_, received) = play(|sim, _, _| sim.set_duplication(ALWAYS), &[], &[]);
    let twice: Vec<u8> = all().into_iter().flat_map(|number| [number; 2]).collect();
    assert_eq!(received, twice);
    let late = |sim: &mut Sim, _: &Node, _: &Node| sim.set_reordering(Ratio::new(1, 4));
    let (_, mut received) = play(late, &[3, 0, 0, 0, 0, 0], &[]);
    assert_ne!(received, all(), "the first is overtaken");
    received.sort_unstable();
    assert_eq!(received, all(), "and nothing is lost");
    let calm = |sim: &mut Sim, _: &Node, _: &Node| {
        sim.set_loss(Ratio::NEVER);
        sim.set_duplication(Ratio::NEVER);
        sim.set_reordering(Ratio::NEVER);
    };
    let (_, received) = play(calm, &[255; 300], &[0, 0, 0, 0, 0, 0, 7, 7, 7]);
    assert_eq!(received, all());
}

#[test]
fn a_partition_loses_datagrams_for_good_and_the_history_says_so() {
    let (run, received) = play(
        |sim, server, client| {
            sim.at(2.ms(), Control::partition(client, server).until(Until::After(2.ms())));
        },
        &[],
        &[],
    );
    let (count, text) = (received.len(), run.history.trace().to_string());
    assert!((40..50).contains(&count), "{count} arrived");
    assert_eq!(text.matches(" datagram lost ").count(), usize::from(COUNT) - count);
    let line = "server       datagram from=client 10.0.0.2:32769 > 10.0.0.1:7 len=1 \"\\x00\"";
    assert!(text.contains(line), "{text}");
}
