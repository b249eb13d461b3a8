//! Orders: what else may befall a connection between correct kernels.
//!
//! Each is something that TCP lets happen: a box on the way resets a connection that it forgot
//! (RFC 9293, 3.10.7), a host refuses dials or drops them (rows A01, F01), a program is late to
//! accept (row A08) or to read (row D05), and a segment arrives in pieces (RFC 9293, 3.8). None
//! loses, repeats, reorders or changes bytes within a stream. What makes a way silent is
//! `silence`.

use super::Network;
use super::wire::{SideIndex, WireId};
use crate::kernel::{HostId, Object, Role, Socket};
use crate::tcp::{Flags, Payload, Readiness, Segment, State};
use std::net::SocketAddr;
use std::time::Duration;

/// What becomes of the SYNs that reach a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dials {
    /// Each meets a listener or none.
    Open,
    /// Each is answered with a RST, as a firewall does that rejects.
    Refused,
    /// Each is lost, as with a firewall that drops.
    Dropped,
}

/// How fast a direction delivers, at most: so many bytes each so often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// Bytes at a time, at least one.
    pub bytes: u32,
    /// The time between two deliveries.
    pub every: Duration,
}

/// Says how many bytes of a segment of so many arrive at first: the rest comes as another.
pub type Cutter = Box<dyn FnMut(u32) -> u32>;

/// A connection, as those see it who give orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionView {
    /// Its number, in the order of the dials.
    pub wire: WireId,
    /// The hosts: who dialed, who was dialed.
    pub hosts: [HostId; 2],
    /// Their addresses, in canonical form.
    pub addresses: [SocketAddr; 2],
    /// The states of the ends; closed where there is none yet or any more.
    pub states: [State; 2],
    /// The bytes that each end wrote and that are not acknowledged.
    pub unacknowledged: [usize; 2],
}

impl Network {
    /// The connections of which something is left, in the order of their dials.
    pub fn connections(&self) -> impl Iterator<Item = ConnectionView> + '_ {
        let wires = self.wires.iter().enumerate();
        wires.filter_map(|(id, _)| self.connection(WireId(id as u32)))
    }

    /// One of them.
    pub fn connection(&self, id: WireId) -> Option<ConnectionView> {
        let sides = &self.wires.get(id.0 as usize)?.as_ref()?.sides;
        let end = |side: usize| sides[side].end.as_ref();
        Some(ConnectionView {
            wire: id,
            hosts: [0, 1].map(|side| sides[side].host),
            addresses: [0, 1].map(|side| sides[side].local),
            states: [0, 1].map(|side| end(side).map_or(State::Closed, |end| end.state())),
            unacknowledged: [0, 1].map(|side| end(side).map_or(0, |end| end.unacknowledged())),
        })
    }

    /// How many connections were dialed so far.
    pub fn dialed(&self) -> u32 {
        self.wires.len() as u32
    }

    /// Resets an end of a connection, as a box on the way does that forgot it: what the end sent and
    /// has not arrived is lost with it. The other end learns of it when it sends. An end that is
    /// over hears nothing.
    pub fn reset_end(&mut self, id: WireId, side: SideIndex) {
        if !self.is_alive(id) {
            return;
        }
        let own = &mut self.wire(id).sides[usize::from(side)];
        let (host, file) = (own.host, own.file);
        let Some(end) = own.end.as_mut().filter(|end| !end.state().is_over()) else { return };
        let flags = Flags::RST;
        let reset = Segment { flags, seq: 0, ack: 0, window: 0, len: 0 };
        let effect = end.on_segment(&reset, Payload::default());
        end.unsay();
        self.forget_sent(id, side);
        if let Some(file) = file {
            self.wake(host, file, effect.wake);
        }
        self.on_end_of_handshake(id, side);
        self.flush(id, side);
    }

    /// Resets both ends of a connection.
    pub fn reset(&mut self, id: WireId) {
        self.reset_end(id, 0);
        self.reset_end(id, 1);
    }

    /// Sets what becomes of the SYNs that reach a host from now on. Its connections live on.
    pub fn set_dials(&mut self, host: HostId, dials: Dials) {
        self.host_mut(host).dials = dials;
    }

    /// Keeps the programs of a host from accepting, or lets them: connections then wait in their
    /// backlogs.
    pub fn set_accepting(&mut self, host: HostId, is_accepting: bool) {
        self.host_mut(host).is_accepting = is_accepting;
        if !is_accepting {
            return;
        }
        let has_waiting = |object: &Object| {
            let Object::Socket(Socket { role: Role::Listener(listener), .. }) = object else {
                return false;
            };
            !listener.queue.is_empty()
        };
        let files = self.host(host).kernel.files();
        let waiting: Vec<_> =
            files.filter(|(_, file)| has_waiting(&file.object)).map(|(id, _)| id).collect();
        for file in waiting {
            self.wake(host, file, Readiness::IN);
        }
    }

    /// Sets how fast what an end sends arrives; within a host it arrives at once whatever is set.
    pub fn set_pace(&mut self, id: WireId, from: SideIndex, pace: Option<Pace>) {
        if self.is_alive(id) {
            self.wire(id).sides[usize::from(from)].orders.pace = pace;
        }
    }

    /// Has `cutter` say how segments between hosts arrive in pieces.
    pub fn set_cutter(&mut self, cutter: Option<Cutter>) {
        self.cutter = cutter;
    }

    /// Cuts the next segment of a direction as its pace or the cutter says.
    pub(super) fn cut_next(&mut self, id: WireId, from: SideIndex) {
        let wire = self.wires[id.0 as usize].as_mut().expect("the caller looked");
        if wire.is_local() {
            return;
        }
        let sender = wire.ends(from).0;
        let Some(next) = sender.flight.front().copied().filter(|next| next.segment.len > 1) else {
            return;
        };
        let len = next.segment.len;
        let first = self.cutter.as_mut().map_or(len, |cut| cut(len));
        let first = sender.orders.pace.map_or(first, |pace| first.min(pace.bytes)).max(1);
        if first < len {
            sender.split_first(first);
        }
    }

    /// Makes what follows a delivery wait as its pace says.
    pub(super) fn keep_pace(&mut self, id: WireId, from: SideIndex) {
        let now = self.now;
        let Some(wire) = &mut self.wires[id.0 as usize] else { return };
        let sender = wire.ends(from).0;
        let Some(pace) = sender.orders.pace else { return };
        for next in &mut sender.flight {
            next.due = next.due.max(now + pace.every);
        }
        self.reschedule(id, from);
    }
}
