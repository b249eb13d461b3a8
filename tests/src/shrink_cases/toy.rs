//! A toy of a store with a memory that is flushed at times: two bugs that need a crash, one of them
//! with enough time before it.
//!
//! It is as a simulation is: a swarm draw says how long delays are at most, then operations come,
//! each with a delay of its own.

use sim_core::source::{Choice, Lane, Source};
use sim_core::tape::SpanKind;

const DELAY_MAX: Choice = Choice::one("delay max");
const MORE: Choice = Choice::one("more");
const DELAY: Choice = Choice::two("delay");
const OP: Choice = Choice::one("op");
const KEY: Choice = Choice::one("key");
const NOTHING: Choice = Choice::one("nothing");

/// The longest delays that a run may have, in ticks.
const DELAYS_MAX: [u64; 4] = [10, 100, 1_000, 60_000];

/// After so many ticks memory is flushed to the disk.
const FLUSHED_AFTER: u64 = 500;

const OPS_MAX: usize = 100;

const KEYS: usize = 4;

/// The values of keys: the number of the write that made each.
type Values = [u32; KEYS];

#[derive(Default)]
struct Store {
    memory: Values,
    disk: Values,
    /// The last that was acknowledged.
    written: Values,
    /// When the memory was flushed last.
    flushed: u64,
    now: u64,
    is_down: bool,
}

/// What a read finds wrong.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bug {
    /// Nothing is left of a key that was written.
    Lost,
    /// An older value than the last is left.
    Stale,
}

impl Store {
    fn pass(&mut self, ticks: u64) {
        self.now += ticks;
        if !self.is_down && self.now - self.flushed >= FLUSHED_AFTER {
            self.disk = self.memory;
            self.flushed = self.now;
        }
    }

    fn act(&mut self, op: u64, key: usize) -> Option<Bug> {
        match op {
            0 if !self.is_down => {
                self.written[key] += 1;
                self.memory[key] = self.written[key];
            }
            1 if !self.is_down => return self.read(key),
            2 => self.is_down = true,
            3 if self.is_down => {
                self.memory = self.disk;
                self.flushed = self.now;
                self.is_down = false;
            }
            _ => {}
        }
        None
    }

    fn read(&self, key: usize) -> Option<Bug> {
        match self.memory[key] {
            0 if self.written[key] > 0 => Some(Bug::Lost),
            value if value < self.written[key] => Some(Bug::Stale),
            _ => None,
        }
    }
}

fn found(source: &mut Source) -> Option<Bug> {
    source.open(SpanKind::Swarm, "delay max");
    let delay_max = source.draw(Lane::Swarm, DELAY_MAX, DELAYS_MAX.len() as u64 - 1);
    source.close();
    let delay_max = DELAYS_MAX[delay_max as usize];
    let mut store = Store::default();
    for _ in 0..OPS_MAX {
        source.open(SpanKind::Operation, "op");
        let bug = step(source, &mut store, delay_max);
        source.close();
        match bug {
            Some(None) => {}
            Some(bug) => return bug,
            None => return None,
        }
    }
    None
}

/// Makes one operation; what it finds wrong, none where there is no further one.
fn step(source: &mut Source, store: &mut Store, delay_max: u64) -> Option<Option<Bug>> {
    if source.draw(Lane::Workload, MORE, 7) == 0 {
        return None;
    }
    let delay = source.draw(Lane::Workload, DELAY, delay_max);
    let op = source.draw(Lane::Workload, OP, 4);
    let key = match op {
        0 | 1 => source.draw(Lane::Workload, KEY, KEYS as u64 - 1),
        4 => source.draw(Lane::Workload, NOTHING, 255),
        _ => 0,
    };
    store.pass(delay);
    Some(store.act(op, key as usize))
}

/// A write is gone after a crash.
pub(super) fn lost_write(source: &mut Source) -> bool {
    found(source) == Some(Bug::Lost)
}

/// A crash leaves an older value than the last: one was flushed, the next was not.
pub(super) fn stale_read(source: &mut Source) -> bool {
    found(source) == Some(Bug::Stale)
}
