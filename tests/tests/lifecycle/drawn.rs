//! Events that the run draws: within the bounds that the test gives, and none where the lane is empty.

use crate::{WATCHDOG, calm};
use sim_core::control::Units;
use sim_core::lifecycle::{Lifecycle, Rollout};
use sim_core::node::{Node, NodeSpec};
use sim_core::process::Signal;
use sim_core::run::{Input, Run, run};
use sim_core::{Checker, Sim, Target, Violation, always};
use std::collections::BTreeSet;
use tokio::net::TcpListener;
use tokio::time::sleep;

fn replicas(sim: &mut Sim) -> Node {
    sim.node(NodeSpec::new("db").replicas(5..=5), |process| async move {
        let mut signals = process.signals(&[Signal::Terminate]).unwrap();
        let listener = TcpListener::bind((process.address(), 7)).await.unwrap();
        loop {
            tokio::select! {
                _ = signals.recv() => return sleep(2.s()).await,
                _ = listener.accept() => {}
            }
        }
    })
}

fn every(node: &Node) -> Lifecycle {
    let rollout = Rollout::of(node).ready_on(7);
    Lifecycle::of(node)
        .crashes()
        .restarts()
        .rollouts(rollout)
        .partitions()
        .pauses()
        .skews()
        .count(20)
}

/// Judges that not too many are down at once, and none before its time.
struct Bound {
    node: Node,
    max: usize,
}

impl Checker for Bound {
    fn step(&mut self) -> Result<(), Violation> {
        let down = (0..5).filter(|replica| !self.node.is_up(*replica)).count();
        if down > self.max {
            return Err(Violation::new(format!("{down} are down, {} may be", self.max)));
        }
        Ok(())
    }
}

fn build(sim: &mut Sim) {
    let node = replicas(sim);
    sim.lifecycle(every(&node).quorum().not_before(1.s()).cool_down(1.s()));
    sim.check(Bound { node, max: 2 });
    sim.client("client", |_| sleep(120.s()));
}

fn text(run: &Run) -> String {
    run.history.trace().to_string()
}

#[test]
fn an_empty_lane_draws_none() {
    let run = calm(build);
    assert_eq!(run.failure, None);
    assert!(!text(&run).contains("control "), "{}", text(&run));
}

#[test]
fn every_kind_is_drawn_within_its_bounds() {
    let target = Target::new("drawn", build);
    let mut kinds = BTreeSet::new();
    for seed in 0..60 {
        let run = run(&target, &Input::Seed(seed), WATCHDOG);
        assert_eq!(run.failure, None, "seed {seed}:\n{}", text(&run));
        for line in text(&run).lines().filter(|line| line.contains(" control ")) {
            let words: Vec<&str> = line.split_whitespace().skip(2).take(2).collect();
            kinds.insert(words.join(" "));
            let at: f64 = line.split_whitespace().next().unwrap().parse().unwrap();
            assert!(at >= 1.0, "nothing comes before its time: {line}");
        }
    }
    let kinds: Vec<&str> = kinds.iter().map(String::as_str).collect();
    let begun =
        ["begin crash", "begin cut", "begin drift", "begin partition", "begin pause", "begin skew"];
    for kind in begun.into_iter().chain(["restart of", "rollout of"]) {
        assert!(kinds.contains(&kind), "{kind} is not among {kinds:?}");
    }
}

/// Crashes that would overlap, were they not bounded: each lasts longer than the waits before the
/// next ones.
fn build_crowded(sim: &mut Sim, max: usize, is_quorum: bool) {
    let node = replicas(sim);
    let crashes = Lifecycle::of(&node).crashes().count(40).pause(100.ms()).lasting(500.s());
    let bounded = if is_quorum { crashes.quorum() } else { crashes.down_at_most(max) };
    sim.lifecycle(bounded);
    sim.check(Bound { node, max });
    sim.client("client", |_| sleep(1_000.s()));
}

#[test]
fn no_more_are_down_at_once_than_may_be() {
    let bounded = |max, is_quorum| {
        Target::new("drawn-crowded", move |sim: &mut Sim| build_crowded(sim, max, is_quorum))
    };
    let most = |target: &Target| {
        let runs = (0..40).map(|seed| run(target, &Input::Seed(seed), WATCHDOG));
        let failures = runs.filter_map(|run| run.failure).count();
        assert_eq!(failures, 0);
    };
    for (max, is_quorum) in [(1, false), (2, true), (3, false)] {
        most(&bounded(max, is_quorum));
    }
    // Were one more allowed, one more would be down: the bound is what keeps it.
    let loose = Target::new("drawn-crowded", |sim: &mut Sim| {
        let node = replicas(sim);
        let crashes = Lifecycle::of(&node).crashes().count(40).pause(100.ms()).lasting(500.s());
        sim.lifecycle(crashes.down_at_most(3));
        sim.check(Bound { node, max: 2 });
        sim.client("client", |_| sleep(1_000.s()));
    });
    let failed =
        (0..40).filter(|seed| run(&loose, &Input::Seed(*seed), WATCHDOG).failure.is_some());
    assert!(failed.count() > 0, "three are down at once where three may be");
}

#[test]
fn a_host_is_left_alone_for_as_long_as_it_is_to_cool_down() {
    let target = Target::new("drawn-cool", |sim: &mut Sim| {
        let node = sim.node("db", |_| std::future::pending::<()>());
        let crashes = Lifecycle::of(&node).crashes().count(200).pause(4.s()).lasting(1.s());
        sim.lifecycle(crashes.cool_down(20.s()));
        sim.client("client", |_| sleep(500.s()));
    });
    let (mut crashes, mut shortest) = (0, f64::MAX);
    for seed in 0..20 {
        let run = run(&target, &Input::Seed(seed), WATCHDOG);
        assert_eq!(run.failure, None);
        let mut up_since = None;
        for line in text(&run).lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let at: f64 = words[0].parse().unwrap();
            match words[1..3] {
                ["db", "start"] => up_since = Some(at),
                ["db", "stop"] => {
                    crashes += 1;
                    // The first process was never down before.
                    let since = up_since.filter(|since| *since > 0.0);
                    shortest = since.map_or(shortest, |since| shortest.min(at - since));
                }
                _ => {}
            }
        }
    }
    assert!(crashes > 50, "{crashes} crashes");
    assert!((20.0..25.0).contains(&shortest), "{shortest} s is the shortest rest");
}

#[test]
fn one_input_has_one_history() {
    let target = Target::new("drawn", build);
    for seed in 0..5 {
        let hashes: BTreeSet<_> =
            (0..3).map(|_| run(&target, &Input::Seed(seed), WATCHDOG).hash).collect();
        assert_eq!(hashes.len(), 1, "seed {seed}");
    }
}

/// Two lifecycles of one node know nothing of each other.
fn build_two(sim: &mut Sim) {
    let node = replicas(sim);
    for _ in 0..2 {
        sim.lifecycle(every(&node).down_at_most(5).lasting(70.s()));
    }
    sim.client("client", move |_| {
        let node = node.clone();
        async move {
            sleep(10_000.s()).await;
            for replica in 0..5 {
                always!(node.is_listening(replica, 7), "replica {replica} is back in the end");
            }
        }
    });
}

#[test]
fn whatever_meets_every_replica_is_back_and_every_rollout_ends() {
    let target = Target::new("drawn-two", build_two);
    for seed in 0..150 {
        let run = run(&target, &Input::Seed(seed), WATCHDOG);
        let text = text(&run);
        assert_eq!(run.failure, None, "seed {seed}:\n{text}");
        let count = |word: &str| text.matches(word).count();
        let begun = count("control      rollout of");
        assert_eq!(begun, count("control      end rollout of"), "seed {seed}:\n{text}");
    }
}
