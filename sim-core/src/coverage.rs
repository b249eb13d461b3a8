//! What a run reached, as features for a search: libFuzzer keeps an input that shows a new one.
//!
//! Code coverage does not tell a system's states apart where the same code takes it from each to the
//! next. A run's features do: the marks that held (see [`crate::mark`]), the abstract states that it
//! told by [`observe`], which kind of event met which state of TCP, and which control began while
//! which operation was under way. They are guidance and nothing else: no decision of a run and no
//! event of its history depends on them, and a run has features of its own, whoever shares its
//! process.
//!
//! Each feature is a counter of one fixed table. Pairs of an event and a state of TCP have counters
//! of their own. All others share the rest by a fixed hash, so two may have the same counter: of a
//! hundred features one such pair is to be expected. It hides one of the two from the search, and
//! can do no more harm. What a counter stands for is the same in every process.
//!
//! Invariants: a counter is 0 or 1, so it is one feature to libFuzzer, however often it was met; the
//! table of the process changes in `publish` alone.

use crate::fnv::Fnv;
use crate::mark::{Marks, Place};
use crate::panics;
use hostsim::tcp::{Flags, Segment, State};
use std::hash::Hash;
use std::sync::atomic::{AtomicU8, Ordering};

/// How many counters there are.
const COUNTERS: usize = 4096;

/// How many of them are kept for pairs of an event and a state of TCP.
const PAIRS: usize = 128;

/// How many states of TCP there are, and none.
const STATES: usize = State::TimeWait as usize + 2;

const _: () = assert!((Event::Timer as usize + 1) * STATES <= PAIRS, "every pair has a counter");

/// The counters, as libFuzzer finds them: whole words, which it clears before each input.
#[repr(C, align(64))]
struct Table([AtomicU8; COUNTERS]);

const _: () = assert!(size_of::<Table>().is_multiple_of(8), "libFuzzer clears whole words");

// SAFETY: everything in this section is atomic bytes, for which any value is valid; libFuzzer reads
// and clears them between inputs, while no thread publishes. Other programs ignore the section.
#[used]
#[expect(unsafe_code, reason = "libFuzzer finds the counters by their section")]
#[unsafe(link_section = "__libfuzzer_extra_counters")]
static TABLE: Table = Table([const { AtomicU8::new(0) }; COUNTERS]);

/// What meets an end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    Syn,
    SynAck,
    Ack,
    Bytes,
    Fin,
    Rst,
    Timer,
}

impl Event {
    fn of(segment: &Segment) -> Event {
        let flags = segment.flags;
        match segment.len {
            _ if flags.has(Flags::RST) => Event::Rst,
            _ if flags.has(Flags::SYN | Flags::ACK) => Event::SynAck,
            _ if flags.has(Flags::SYN) => Event::Syn,
            _ if flags.has(Flags::FIN) => Event::Fin,
            0 => Event::Ack,
            _ => Event::Bytes,
        }
    }
}

/// What the hash of a feature begins with, so that equal names of two kinds are two features.
#[derive(Clone, Copy, Debug)]
#[repr(u8)]
enum Kind {
    Mark,
    State,
    Control,
    Operation,
}

/// The counters that a run set.
///
/// ```
/// use sim_core::Target;
/// use sim_core::run::{Input, run};
/// use std::time::Duration;
///
/// let run = |state: u32| {
///     let target = Target::new("observed", move |sim| sim.observe(state));
///     run(&target, &Input::Bytes(Vec::new()), Duration::from_secs(60)).features
/// };
/// assert_eq!(run(1).iter().count(), 1);
/// assert_ne!(run(1), run(2), "another state is another counter");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Features {
    /// A bit for each counter; empty where none is set.
    words: Vec<u64>,
}

impl Features {
    /// The indexes of the counters that are set, in order.
    ///
    /// ```
    /// # use sim_core::Target;
    /// # use sim_core::run::{Input, run};
    /// # use std::time::Duration;
    /// # let minute = Duration::from_secs(60);
    /// let target = Target::new("kv", |sim| sim.observe("leader"));
    /// let features = run(&target, &Input::Bytes(Vec::new()), minute).features;
    /// assert!(features.iter().is_sorted());
    /// ```
    pub fn iter(&self) -> impl Iterator<Item = usize> {
        let bits = |word: u64| (0..64).filter(move |bit| word >> bit & 1 == 1);
        self.words
            .iter()
            .enumerate()
            .flat_map(move |(at, word)| bits(*word).map(move |b| at * 64 + b))
    }

    fn set(&mut self, index: usize) {
        if self.words.is_empty() {
            self.words = vec![0; COUNTERS / 64];
        }
        self.words[index / 64] |= 1 << (index % 64);
    }

    fn set_hashed(&mut self, hash: Fnv) {
        let hash = hash.value() ^ hash.value() >> 32;
        self.set(PAIRS + (hash % (COUNTERS - PAIRS) as u64) as usize);
    }

    fn set_pair(&mut self, event: Event, state: Option<State>) {
        self.set(event as usize * STATES + state.map_or(0, |state| state as usize + 1));
    }
}

/// What a run reached: the one thing that its code, and the driver, add to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Coverage {
    pub(crate) marks: Marks,
    pub(crate) features: Features,
}

impl Coverage {
    /// The run came to a mark.
    pub(crate) fn on_mark(&mut self, place: &'static Place, holds: bool) {
        if self.marks.evaluate(place, holds) {
            self.features.set_hashed(start(Kind::Mark).add_text(place.name()));
        }
    }

    /// A segment meets an end in a state, or none.
    pub(crate) fn on_segment(&mut self, segment: &Segment, state: Option<State>) {
        self.features.set_pair(Event::of(segment), state);
    }

    /// A timer of a kernel meets an end in a state.
    pub(crate) fn on_timer(&mut self, state: Option<State>) {
        self.features.set_pair(Event::Timer, state);
    }

    /// An operation of a kind begins.
    pub(crate) fn on_operation(&mut self, kind: &str) {
        self.marks.add_operation(kind);
        self.features.set_hashed(start(Kind::Operation).add_text(kind));
    }

    /// A control begins while operations of some kinds are under way.
    pub(crate) fn on_control<'a>(
        &mut self,
        mark: &'static str,
        under_way: impl Iterator<Item = &'a str>,
    ) {
        self.marks.add_control(mark);
        let control = start(Kind::Control).add_text(mark);
        let mut is_alone = true;
        for kind in under_way {
            is_alone = false;
            self.features.set_hashed(control.add_text(kind));
        }
        if is_alone {
            self.features.set_hashed(control);
        }
    }
}

fn start(kind: Kind) -> Fnv {
    Fnv::EMPTY.add(&[kind as u8])
}

/// Tells an abstract state of the application, as guidance for a search: an input that comes to a
/// state that no input came to before is kept and built upon.
///
/// Callable anywhere in a run, cheap, and never in the history; outside a run it does nothing. A
/// state is few values that stand for many: the role and phase of a node, the length of a queue up
/// to three, which step of a protocol comes next. Tens to hundreds in all: with clocks, counters or
/// identities in it every input is new, and the search drowns. It is hashed by a fixed hash, so its
/// `Hash` must say the same in every process.
///
/// ```
/// # #[derive(Hash)] enum Role { Leader }
/// # let (role, queued) = (Role::Leader, 7_usize);
/// sim_core::observe((role, queued.min(3)));
/// ```
pub fn observe(state: impl Hash) {
    let mut hash = start(Kind::State);
    state.hash(&mut hash);
    panics::cover(|coverage| coverage.features.set_hashed(hash));
}

/// Tells libFuzzer the features of a run: of an input's first run alone, once, so that what an input
/// shows is the same whether it is checked, shrunk or only run.
pub(crate) fn publish(features: &Features) {
    for index in features.iter() {
        TABLE.0[index].store(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests;
