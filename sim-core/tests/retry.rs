//! A run seeds the jitter of retries, and their waits pass in virtual time.

#![forbid(unsafe_code)]

use sim_core::control::Units;
use sim_core::retry::{Backoff, Exponential};
use sim_core::run::{Input, Run, run};
use sim_core::source::{Lane, Lanes};
use sim_core::{Sim, Target, always};
use std::io;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::Instant;

/// Two clients that dial in vain, and say when each of their five attempts was.
fn dial(sim: &mut Sim) {
    sim.node("down", |_| async {});
    for name in ["first", "second"] {
        sim.client(name, |process| async move {
            let backoff = Backoff::new(1.s(), 3.s());
            let (start, mut moments) = (Instant::now(), Vec::new());
            let result: io::Result<TcpStream> = Exponential::new(backoff)
                .retry(5, || {
                    moments.push(start.elapsed());
                    TcpStream::connect("down:7")
                })
                .await;
            always!(result.is_err() && moments.len() == 5, "five attempts fail: {moments:?}");
            // Tokio counts a sleep in whole milliseconds, up.
            always!(start.elapsed() <= backoff.bound(5) + 4.ms(), "within 9 s: {moments:?}");
            let text = format!("{moments:?}\n");
            let mut out = process.stdout();
            tokio::io::AsyncWriteExt::write_all(&mut out, text.as_bytes()).await.unwrap();
        });
    }
}

fn run_with(entropy: u8) -> Run {
    let mut lanes = Lanes::default();
    *lanes.lane_mut(Lane::Swarm) = vec![entropy];
    let target = Target::new("dials", dial);
    let run = run(&target, &Input::Bytes(lanes.encode()), Duration::from_secs(60));
    assert_eq!(run.failure, None);
    run
}

fn moments(run: &Run) -> Vec<String> {
    let trace = run.history.trace().to_string();
    let lines = trace.lines().filter_map(|line| line.split_once("stdout "));
    lines.map(|(_, moments)| moments.to_owned()).collect()
}

/// The wait after so many attempts failed is that of so many: the next one may be a thousand times as
/// long.
#[test]
fn the_first_wait_is_the_shortest() {
    let target = Target::new("waits", |sim| {
        sim.client("client", |_| async {
            let backoff = Backoff::new(1.s(), 1_000_000.s()).factor(1_000);
            let (start, mut moments) = (Instant::now(), Vec::new());
            let attempt = || {
                moments.push(start.elapsed());
                std::future::ready(Err::<(), ()>(()))
            };
            let result = Exponential::new(backoff).retry(3, attempt).await;
            let waits = [moments[1] - moments[0], moments[2] - moments[1]];
            always!(result.is_err() && waits[0] <= 1.s() + 1.ms(), "{waits:?}");
            always!(waits[1] > 1.s() && waits[1] <= 1_000.s() + 1.ms(), "{waits:?}");
        });
    });
    let run = run(&target, &Input::Bytes(Vec::new()), Duration::from_secs(60));
    assert_eq!(run.failure, None);
}

#[test]
fn a_run_seeds_the_waits_of_each_client() {
    let first = run_with(1);
    let [one, other] = moments(&first).try_into().expect("both clients say their moments");
    assert_ne!(one, other, "clients are spread");
    assert_eq!(first.hash, run_with(1).hash);
    assert_ne!(moments(&first), moments(&run_with(2)), "entropy chooses the waits");
}
