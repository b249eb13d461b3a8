//! A program under the fuzzer: what it has open, what it said, and the memory of its calls.
//!
//! The same calls are made on either kernel. What differs from run to run and means nothing, the
//! numbers of descriptors and of ports that a kernel chose, has names in the text of a call.

use super::args::Args;
use super::flow::{End, Flows, mix};
use hostsim::kernel::{DESCRIPTOR_COUNT, DESCRIPTOR_MIN, Descriptor};
use hostsim::seam::raw::{Memory, Outcome, Use};
use hostsim::world::World;
use libc::c_int;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// What a descriptor is of, as far as results of calls told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    /// A socket that neither listens nor connects, as far as is known.
    Fresh,
    /// A socket that listens.
    Listener,
    /// A socket that dialed or was accepted.
    Connected,
    /// A set of watched files.
    Epoll,
    /// A counter.
    Counter,
}

impl Sort {
    pub(super) fn is_socket(self) -> bool {
        matches!(self, Sort::Fresh | Sort::Listener | Sort::Connected)
    }
}

/// The family of a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    V4,
    V6,
    Unix,
}

/// A descriptor that a call gave.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    pub(super) raw: c_int,
    pub(super) sort: Sort,
    pub(super) family: Family,
    pub(super) is_open: bool,
    /// Which file it names: copies name the same.
    pub(super) file: usize,
}

/// What a file did that makes its next calls depend on more than the simulated kernel has.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Past {
    /// A socket of IPv6 dialed IPv4: on Linux it does not dial IPv6 well any more.
    pub(super) dialed_v4: bool,
    /// It was shut down: on Linux the connections of its backlog are, where it listens.
    pub(super) was_shut: bool,
}

/// A descriptor for a call: its number, and its slot where it has one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Picked {
    pub(super) raw: c_int,
    pub(super) slot: Option<usize>,
}

/// A number that no call gives.
const NEVER: c_int = 1_000_000;

/// Numbers that name nothing: of no kernel, of the real one, of a host, of no host.
const STRANGE: [c_int; 6] = [
    -1,
    NEVER,
    c_int::MIN,
    c_int::MAX,
    DESCRIPTOR_MIN + DESCRIPTOR_COUNT - 1,
    DESCRIPTOR_MIN + 2 * DESCRIPTOR_COUNT,
];

/// A program and what it did.
pub(super) struct Rig<'a> {
    /// The simulated world that it runs in; none for the real kernel.
    pub(super) world: Option<&'a World>,
    /// Whether the two kernels are compared: then calls are those with one possible result.
    pub(super) is_compared: bool,
    pub(super) memory: &'a Memory,
    pub(super) slots: Vec<Slot>,
    /// By file.
    pub(super) pasts: BTreeMap<usize, Past>,
    /// The ports that calls name.
    pub(super) ports: [u16; 4],
    chosen: Vec<u16>,
    pub(super) flows: Flows,
    /// The call that is being made, as text.
    pub(super) line: String,
    /// The number of the call.
    pub(super) serial: u64,
    /// Whether each call is printed before it is made.
    pub(super) is_told: bool,
}

impl<'a> Rig<'a> {
    pub(super) fn new(world: Option<&'a World>, is_compared: bool, memory: &'a Memory) -> Rig<'a> {
        Rig {
            world,
            is_compared,
            memory,
            slots: Vec::new(),
            pasts: BTreeMap::new(),
            ports: [7001, 7002, 7003, 7004],
            chosen: Vec::new(),
            flows: Flows::default(),
            line: String::new(),
            serial: 0,
            is_told: false,
        }
    }

    /// Adds to the text of the call.
    pub(super) fn say(&mut self, text: std::fmt::Arguments<'_>) {
        self.line.write_fmt(text).expect("a string takes all");
    }

    /// The call is made now.
    pub(super) fn begin(&mut self) {
        if self.is_told {
            eprintln!("{:4} {}", self.serial, self.line);
        }
    }

    /// The call gave this.
    pub(super) fn end(&mut self, outcome: Outcome) -> Outcome {
        self.say(format_args!(" = {outcome}"));
        outcome
    }

    /// The call gave this descriptor.
    pub(super) fn end_open(&mut self, outcome: Outcome, sort: Sort, family: Family) -> Outcome {
        let file = self.slots.len();
        self.end_copy(outcome, Slot { raw: -1, sort, family, is_open: true, file })
    }

    /// The call gave another descriptor of a file.
    pub(super) fn end_copy(&mut self, outcome: Outcome, like: Slot) -> Outcome {
        match outcome.0 {
            Ok(raw) => {
                self.say(format_args!(" = s{}", self.slots.len()));
                self.slots.push(Slot { raw: raw as c_int, is_open: true, ..like });
            }
            Err(_) => self.say(format_args!(" = {outcome}")),
        }
        outcome
    }

    /// A descriptor for a call: mostly an open one of a sort that it is for, the newest first.
    pub(super) fn pick(&mut self, args: &mut Args<'_>, wanted: fn(Sort) -> bool) -> Picked {
        let byte = args.byte();
        let (is_strange, is_any) = (byte >= 250, byte >= 224);
        let fits = |slot: &Slot| is_any || slot.is_open && wanted(slot.sort);
        let fitting: Vec<usize> =
            (0..self.slots.len()).rev().filter(|index| fits(&self.slots[*index])).collect();
        if is_strange || fitting.is_empty() {
            let known = if self.is_compared { &STRANGE[..2] } else { &STRANGE[..] };
            let raw = known[usize::from(byte) % known.len()];
            self.say(format_args!("{raw}"));
            return Picked { raw, slot: None };
        }
        let index = fitting[usize::from(byte) % fitting.len()];
        self.say(format_args!("s{index}"));
        let slot = self.slots[index];
        // A closed number may be another file's by now, of whoever else is in the process.
        let is_gone = self.is_compared && !slot.is_open;
        Picked { raw: if is_gone { NEVER } else { slot.raw }, slot: Some(index) }
    }

    /// The slot of a picked descriptor, while it is open.
    pub(super) fn slot_mut(&mut self, picked: Picked) -> Option<&mut Slot> {
        self.slots.get_mut(picked.slot?).filter(|slot| slot.is_open)
    }

    pub(super) fn slot(&self, picked: Picked) -> Option<Slot> {
        self.slots.get(picked.slot?).copied()
    }

    /// A descriptor was closed: every slot of its number is.
    pub(super) fn on_closed(&mut self, raw: c_int) {
        for slot in self.slots.iter_mut().filter(|slot| slot.raw == raw) {
            slot.is_open = false;
        }
    }

    /// A call may have taken bytes that nobody saw: the model of its direction ends.
    pub(super) fn abandon(&mut self, picked: Picked) {
        if let Some(end) = self.end_of(picked) {
            self.flows.on_abandoned(end);
        }
    }

    /// What a picked descriptor's file did.
    pub(super) fn past(&mut self, picked: Picked) -> &mut Past {
        let file = self.slot(picked).map_or(usize::MAX, |slot| slot.file);
        self.pasts.entry(file).or_default()
    }

    /// The end of a connection that a descriptor is, for the model of streams.
    pub(super) fn end_of(&self, picked: Picked) -> Option<End> {
        let at = Descriptor::from_raw(picked.raw)?;
        let world = self.world.filter(|_| !self.is_compared)?;
        world.with(|network| network.wire_of(at)).ok()?
    }

    /// Bytes for a descriptor to send.
    pub(super) fn payload(&mut self, end: Option<End>, count: usize) -> Vec<u8> {
        match end {
            Some(end) => self.flows.next(end, count),
            None => (0..count as u64).map(|at| mix(self.serial << 32 | at) as u8).collect(),
        }
    }

    /// The name of a port in the text.
    pub(super) fn port(&mut self, port: u16) -> String {
        if port == 0 {
            return "0".to_owned();
        }
        if let Some(index) = self.ports.iter().position(|known| *known == port) {
            return format!("p{index}");
        }
        let index = self.chosen.iter().position(|known| *known == port).unwrap_or_else(|| {
            self.chosen.push(port);
            self.chosen.len() - 1
        });
        format!("e{index}")
    }

    /// A length for a call, of the sizes that it may have.
    pub(super) fn size(&mut self, args: &mut Args<'_>) -> usize {
        let sizes: &[usize] = &[1, 5, 50, 0, 2, 300, 3, 1000, 4_000, 20_000, 70_000];
        args.of(if self.is_compared { &sizes[..8] } else { sizes })
    }

    /// The number at the end of a piece.
    pub(super) fn number(&self, piece: Use) -> u32 {
        u32::from_ne_bytes(self.memory.array(piece, 4))
    }

    /// Asserts that the pieces of a call have their margins.
    pub(super) fn check(&self, pieces: &[(Use, usize)]) {
        pieces.iter().for_each(|(piece, len)| self.memory.check(*piece, *len));
    }
}
