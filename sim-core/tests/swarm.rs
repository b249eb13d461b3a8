//! Every dimension has a name, a range, a zero and an override, and none moves another.

#![forbid(unsafe_code)]

use arbitrary::Arbitrary;
use sim_core::control::{FaultSpec, Units};
use sim_core::failure::Class;
use sim_core::lifecycle::Lifecycle;
use sim_core::node::NodeSpec;
use sim_core::retry::{Backoff, Exponential};
use sim_core::run::{Input, Run, run};
use sim_core::source::{Lane, Lanes, Ratio};
use sim_core::swarm::{DECLARED, Dimension};
use sim_core::workload::{Operation, Outcome, WorkloadSpec};
use sim_core::{Sim, Target};
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Op {
    Get,
}

/// Asks for every dimension, and for two of its own.
fn everything(sim: &mut Sim) {
    sim.dimension("own", 200);
    sim.tune("batch", 7, 10..=500);
    let node = sim.node(NodeSpec::new("node").replicas(2..=9), |_| async {});
    sim.faults(FaultSpec::new().count(9));
    sim.lifecycle(Lifecycle::of(&node).crashes().count(9));
    let spec = WorkloadSpec::new().clients(2..=9).operations(300).in_flight(9);
    sim.workload(&spec, |_| (), |_, _: Operation<Op>| async { Outcome::done() });
}

/// The names of the dimensions of [`everything`] in the order of their draws, and their bytes.
const ORDER: [(&str, usize); 17] = [
    ("entropy", 2),
    ("latency", 1),
    ("send buffer", 1),
    ("receive buffer", 1),
    ("pieces", 1),
    ("own", 1),
    ("batch", 2),
    ("replicas", 1),
    ("faults", 1),
    ("lifecycle", 1),
    ("clients", 1),
    ("operations", 2),
    ("in flight", 1),
    ("pause", 1),
    ("loss", 1),
    ("duplication", 1),
    ("reordering", 1),
];

const SWARM: [u8; 20] = [9, 8, 3, 5, 4, 2, 77, 200, 1, 6, 5, 4, 3, 44, 1, 6, 2, 3, 4, 5];

fn run_of(body: impl Fn(&mut Sim) + Send + Sync + 'static, swarm: &[u8], app: &[u8]) -> Run {
    let mut lanes = Lanes::default();
    *lanes.lane_mut(Lane::Swarm) = swarm.to_vec();
    *lanes.lane_mut(Lane::App) = app.to_vec();
    let target = Target::new("swarm", body);
    run(&target, &Input::Bytes(lanes.encode()), Duration::from_secs(60))
}

fn plan(body: impl Fn(&mut Sim) + Send + Sync + 'static, swarm: &[u8]) -> Vec<Dimension> {
    let run = run_of(body, swarm, &[]);
    assert_eq!(run.failure, None);
    run.plan.dimensions
}

/// Asserts that two plans differ in one dimension alone.
#[track_caller]
fn differs_in(name: &str, one: &[Dimension], other: &[Dimension]) {
    let pairs = one.iter().zip(other);
    let differ: Vec<_> = pairs.filter(|(one, other)| one.value != other.value).collect();
    let names: Vec<&str> = differ.iter().map(|(one, _)| one.name).collect();
    assert_eq!((names, one.len()), (vec![name], other.len()));
}

#[test]
fn every_dimension_is_declared_with_its_range_and_its_zero() {
    let (calm, full) = (plan(everything, &[]), plan(everything, &[255; 20]));
    let names: Vec<&str> = calm.iter().map(|one| one.name).collect();
    assert_eq!(names, ORDER.map(|(name, _)| name));
    for declared in DECLARED {
        let name = declared.choice.label;
        let of = |plan: &[Dimension]| plan.iter().find(|one| one.name == name).cloned();
        let (calm, full) = (of(&calm).expect(name), of(&full).expect(name));
        assert_eq!(calm.value, 0, "{name}");
        assert!(declared.zero.is_none_or(|zero| zero == calm.meaning), "{name}: {calm:?}");
        // Each largest value is one less than a power of two, so all ones are that.
        assert!(declared.max.is_none_or(|max| full.value == max), "{name}: {full:?}");
        assert_eq!(Some((name, declared.choice.width.bytes())), {
            ORDER.into_iter().find(|(other, _)| *other == name)
        });
        assert!(!declared.text.is_empty(), "{name}");
    }
    let own: BTreeSet<&str> = ORDER.iter().map(|(name, _)| *name).collect();
    assert_eq!(own.len(), DECLARED.len() + 2, "a dimension of the harness is not declared");
}

#[test]
fn knocking_a_dimension_out_moves_no_other() {
    let all = plan(everything, &SWARM);
    let mut at = 0;
    for (name, bytes) in ORDER {
        let mut swarm = SWARM;
        swarm[at..at + bytes].fill(0);
        at += bytes;
        let knocked_out = plan(everything, &swarm);
        differs_in(name, &all, &knocked_out);
        assert_eq!(knocked_out.iter().find(|one| one.name == name).map(|one| one.value), Some(0));
    }
    assert_eq!(at, SWARM.len());
}

#[test]
fn each_dimension_can_be_set_and_no_other_moves() {
    let all = plan(everything, &SWARM);
    for (name, _) in ORDER {
        let set = move |sim: &mut Sim| {
            sim.set_dimension(name, 1);
            everything(sim);
        };
        let before = all.iter().find(|one| one.name == name).map(|one| one.value);
        let after = plan(set, &SWARM);
        assert_eq!(after.iter().find(|one| one.name == name).map(|one| one.value), Some(1));
        if before != Some(1) {
            differs_in(name, &all, &after);
        }
    }
}

/// What is set is what the run has, not only what the plan says.
#[test]
fn a_dimension_that_is_set_is_in_force() {
    let random = |sim: &mut Sim| {
        sim.client("client", |process| async move {
            let wait = Exponential::new(Backoff::new(100.s(), 100.s())).wait(1);
            let line = format!("key {wait:?}\n");
            process.stdout().write_all(line.as_bytes()).await.unwrap();
        });
        // The random bytes of what is no node.
        let wait = Exponential::new(Backoff::new(100.s(), 100.s())).wait(1);
        sim.note(&format!("body {wait:?}"));
    };
    let drawn = run_of(random, &[5], &[]).history.trace().to_string();
    let set = move |sim: &mut Sim| {
        sim.set_dimension("entropy", 5);
        random(sim);
    };
    let key = |trace: &str| {
        let of = |name: &str| Some(trace.split_once(name)?.1.lines().next()?.to_owned());
        [of("key "), of("body ")]
    };
    assert!(key(&drawn).iter().all(Option::is_some));
    assert_eq!(key(&drawn), key(&run_of(set, &[9], &[]).history.trace().to_string()));
    assert_ne!(key(&drawn), key(&run_of(random, &[9], &[]).history.trace().to_string()));
}

/// The latency that a test gives stays, whatever it narrows after that.
#[test]
fn a_setting_of_another_kind_outlives_a_dimension_that_is_set() {
    let asked = |sim: &mut Sim| {
        sim.set_latency(7.ms());
        sim.set_dimension("pieces", 1);
        sim.set_dimension("latency", 1);
        sim.node("server", |_| async {
            let listener = TcpListener::bind("0.0.0.0:7").await.unwrap();
            while listener.accept().await.is_ok() {}
        });
        sim.client("client", |_| async { drop(TcpStream::connect("server:7").await.unwrap()) });
    };
    let run = run_of(asked, &[], &[]);
    assert_eq!(run.failure, None);
    assert_eq!(run.elapsed.as_millis(), 14, "there and back");
}

#[test]
fn what_cannot_be_set_fails_the_run_with_a_line_on_why() {
    type Body = fn(&mut Sim);
    let rows: [(Body, &str); 4] = [
        (
            |sim| {
                sim.node("early", |_| async {});
                sim.set_dimension("latency", 1);
            },
            "dimensions are set before the first node of a run",
        ),
        (
            #[expect(clippy::reversed_empty_ranges, reason = "an empty range is what fails")]
            |sim| sim.churn("busy", Ratio::new(1, 2), |region| region.narrow("latency", 2..=1)),
            "the range of \"latency\" in a region is empty",
        ),
        (|sim| _ = sim.tune("wide", 0, 0..=65_535), "the range of \"wide\" is 1..=65,535 long"),
        (
            #[expect(clippy::reversed_empty_ranges, reason = "an empty range is what fails")]
            |sim| _ = sim.tune("none", 0, 2..=1),
            "the range of \"none\" is 1..=65,535 long",
        ),
    ];
    for (body, text) in rows {
        let failure = run_of(body, &[], &[]).failure.expect(text);
        assert_eq!(failure.class, Class::Panic);
        assert!(failure.message.ends_with(text), "{failure}");
    }
    let widest = run_of(|sim| _ = sim.tune("wide", 0, 1..=65_535), &[], &[]);
    assert_eq!(widest.failure, None);
}

fn churning(sim: &mut Sim) {
    sim.churn("busy", Ratio::new(1, 8), |region| {
        region.narrow("faults", 7..=8);
        region.narrow("latency", 1..=2);
        region.narrow("batch", 1..=1);
        region.narrow("loss", 6..=99);
    });
    everything(sim);
}

#[test]
fn a_churn_region_draws_from_narrower_ranges() {
    let whole = plan(everything, &SWARM);
    // The calm choice is the whole swarm, and so is an input from before the region.
    for app in [&[][..], &[0], &[6]] {
        let run = run_of(churning, &SWARM, app);
        let (own, rest): (Vec<_>, Vec<_>) =
            run.plan.dimensions.into_iter().partition(|one| one.name == "busy");
        assert_eq!((own[0].value, own[0].meaning.as_str()), (0, "the whole swarm"));
        assert_eq!(rest, whole);
    }
    let run = run_of(churning, &SWARM, &[7]);
    assert_eq!(run.failure, None);
    assert!(run.plan.to_string().contains("busy=in"), "{}", run.plan);
    let narrow = [("faults", 7, 8), ("latency", 1, 2), ("batch", 1, 1), ("loss", 6, 7)];
    for one in run.plan.dimensions.iter().filter(|one| one.name != "busy") {
        let range = narrow.iter().find(|(name, ..)| *name == one.name);
        let before = whole.iter().find(|other| other.name == one.name).expect("it is there");
        match range {
            // Each value of a range is as likely as it was that its remainder was drawn.
            Some((name, min, max)) => {
                assert_eq!(one.value, min + before.value % (max - min + 1), "{name}");
            }
            None => assert_eq!(one, before),
        }
    }
}

#[test]
fn the_first_region_that_a_run_is_in_counts() {
    let two = |sim: &mut Sim| {
        for (name, value) in [("first", 3), ("second", 5)] {
            sim.churn(name, Ratio::new(1, 2), |region| region.narrow("latency", value..=value));
        }
    };
    let latency = |app: &[u8]| run_of(two, &[], app).plan.dimensions[1].value;
    assert_eq!([[0, 0], [1, 0], [0, 1], [1, 1]].map(|app| latency(&app)), [0, 3, 5, 3]);
}

#[test]
fn a_name_of_no_dimension_fails_the_run() {
    let misnamed = |sim: &mut Sim| {
        sim.churn("busy", Ratio::new(1, 2), |region| region.narrow("fault", 1..=2));
        everything(sim);
    };
    let failure = run_of(misnamed, &[], &[]).failure.expect("it fails in the region or not");
    assert_eq!((failure.class, &*failure.origin), (Class::Panic, "swarm"));
    assert!(failure.message.starts_with("\"fault\" is no dimension of this run"), "{failure}");
}

#[test]
fn a_setting_is_its_default_or_in_its_range() {
    let tuned = |bytes: [u8; 2]| {
        let plan = plan(|sim| _ = sim.tune("batch", 7, 10..=500), &[&[0; 6], &bytes[..]].concat());
        plan[5].clone()
    };
    assert_eq!(tuned([0, 0]).meaning, "7 by default");
    assert_eq!(tuned([1, 0]).meaning, "10");
    assert_eq!(tuned([235, 1]).meaning, "500");
    assert_eq!(tuned([236, 1]).meaning, "7 by default");
}
