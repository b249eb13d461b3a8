//! Torture of the simulated network: random calls, random deliveries, and a model that knows what
//! may come of them.
//!
//! No program and no tokio: the calls go straight into [`hostsim::network::Network`]. A case is its
//! seed. After each step the network's own invariants hold; whenever nothing is pending any more
//! nothing is stuck; and once every descriptor is closed nothing is left.

#[path = "torture/call.rs"]
mod call;
#[path = "torture/flow.rs"]
mod flow;
#[path = "torture/look.rs"]
mod look;
#[path = "torture/random.rs"]
mod random;
#[path = "torture/rig.rs"]
mod rig;
#[path = "torture/silence.rs"]
mod silence;

use hostsim::network::Census;
use rig::{Kind, Rig};
use silence::Silence;

/// How many cases a test has.
const CASES: u64 = 1_000;

fn torture(seed: u64, calls: usize, patience: usize) {
    torture_in(Silence::Never, seed, calls, patience);
}

fn torture_in(silence: Silence, seed: u64, calls: usize, patience: usize) {
    let mut rig = Rig::new(seed, silence);
    for _ in 0..calls {
        match rig.random.below(patience) {
            0 => drop(rig.step()),
            1 => rig.collect_all(),
            _ => rig.call(),
        }
        rig.network.check_invariants();
        if rig.random.one_in(60) {
            rig.rest();
        }
    }
    rig.hear_all();
    read_all(&mut rig);
    close_all(&mut rig);
}

/// Reads everything that can be read; what was written and ended well is there to its end.
fn read_all(rig: &mut Rig) {
    loop {
        rig.rest();
        let ids: Vec<u64> = rig.opens.keys().copied().collect();
        let mut has_read = false;
        for id in ids {
            if matches!(rig.opens[&id].kind, Kind::End { .. }) {
                has_read |= matches!(rig.receive(id, 100_000, false), Ok(1..));
                rig.network.check_invariants();
            }
        }
        if !has_read {
            break;
        }
    }
    for (id, open) in &rig.opens {
        let Kind::End { flow, side } = open.kind else { continue };
        let flow = &rig.flows[flow];
        let lane = flow.lanes[side ^ 1];
        let is_well = !flow.resets() && !open.has_failed && rig.silence != Silence::Long;
        assert!(!is_well || lane.read == lane.written, "socket {id} of {flow:?} misses bytes");
    }
}

/// Closes everything in a random order; nothing is left.
fn close_all(rig: &mut Rig) {
    while let Some(id) = rig.pick() {
        rig.call_close(id);
        rig.network.check_invariants();
        if rig.random.one_in(3) {
            rig.step();
        }
    }
    rig.rest();
    let files = rig.epolls.len();
    assert_eq!(rig.network.census(), Census { files, ..Census::default() }, "nothing is left");
}

#[test]
fn random_calls_keep_every_promise_of_the_network() {
    (0..CASES).for_each(|seed| torture(seed, 150, 6));
}

#[test]
fn random_calls_that_outrun_the_network_keep_every_promise() {
    (0..CASES).for_each(|seed| torture(1 << 32 | seed, 150, 20));
}

#[test]
fn random_calls_on_a_network_that_outruns_them_keep_every_promise() {
    (0..CASES).for_each(|seed| torture(2 << 32 | seed, 200, 3));
}

#[test]
fn long_random_conversations_keep_every_promise() {
    (0..6).for_each(|seed| torture(3 << 32 | seed, 4_000, 4));
}

#[test]
fn silence_that_ends_loses_nothing() {
    (0..CASES).for_each(|seed| torture_in(Silence::Short, 4 << 32 | seed, 200, 4));
    (0..CASES).for_each(|seed| torture_in(Silence::Short, 5 << 32 | seed, 150, 15));
}

#[test]
fn silence_that_lasts_breaks_no_promise() {
    (0..CASES).for_each(|seed| torture_in(Silence::Long, 6 << 32 | seed, 200, 4));
    (0..CASES).for_each(|seed| torture_in(Silence::Long, 7 << 32 | seed, 150, 15));
}
