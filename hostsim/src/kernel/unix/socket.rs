//! One Unix socket: what it became, what it has to read and what it may still send.

use super::{UnixEntry, UnixId, UnixName};
use crate::errno::Errno;
use crate::kernel::{FileId, Options};
use crate::tcp::Readiness;
use std::collections::{BTreeMap, VecDeque};

/// The most bytes of one packet: a head and pages (Linux `SKB_MAX_HEAD(0) + UNIX_SKB_FRAGS_SZ`).
const PACKET_MAX: usize = 36_544;

/// What a packet takes of the send limit beside its bytes, and the step in which those count: as
/// Linux counts a packet of few bytes, 768 for the smallest.
const PACKET_COST: usize = 704;
const PACKET_STEP: usize = 64;

/// Room to write, as Unix sockets report it.
pub(super) const WRITABLE: Readiness = Readiness::OUT.with(Readiness(libc::EPOLLWRBAND as u32));

/// What a socket became.
#[derive(Debug)]
pub(super) enum UnixRole {
    Fresh,
    Listener {
        backlog: usize,
        /// The sockets that wait for `accept`, first come first.
        queue: VecDeque<UnixId>,
    },
    Connected {
        /// The peer, until it is closed.
        peer: Option<UnixId>,
        /// The name of a peer that is closed.
        last_name: Option<UnixName>,
    },
}

/// A Unix stream socket.
#[derive(Debug)]
pub(super) struct UnixSocket {
    pub(super) options: Options,
    /// The open file; `None` while the socket waits for `accept`.
    pub(super) file: Option<FileId>,
    pub(super) name: Option<UnixName>,
    pub(super) role: UnixRole,
    /// What was shut down (Linux `sk_shutdown`).
    pub(super) is_read_shut: bool,
    pub(super) is_write_shut: bool,
    pub(super) error: Option<Errno>,
    /// What it has to read: the bytes, and how many of them are left of each packet and were in it.
    pub(super) bytes: VecDeque<u8>,
    pub(super) packets: VecDeque<Packet>,
    /// What the packets that it sent and that are not read take of its send limit.
    pub(super) charged: usize,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Packet {
    pub(super) left: usize,
    pub(super) len: usize,
}

impl Packet {
    pub(super) fn cost(self) -> usize {
        self.len.next_multiple_of(PACKET_STEP) + PACKET_COST
    }
}

impl UnixSocket {
    pub(super) fn new(options: Options, file: Option<FileId>) -> UnixSocket {
        UnixSocket {
            options,
            file,
            name: None,
            role: UnixRole::Fresh,
            is_read_shut: false,
            is_write_shut: false,
            error: None,
            bytes: VecDeque::new(),
            packets: VecDeque::new(),
            charged: 0,
        }
    }

    /// Linux `unix_writable`: a quarter of the limit is taken at most.
    pub(super) fn is_writable(&self) -> bool {
        let is_listener = matches!(self.role, UnixRole::Listener { .. });
        !is_listener && self.charged * 4 <= self.options.send_limit
    }

    /// The most bytes that one packet takes.
    pub(super) fn packet_max(&self) -> usize {
        match self.options.send_limit {
            small @ ..4_608 => small.max(1),
            limit => (limit / 2 - 64).min(PACKET_MAX),
        }
    }

    pub(super) fn shut(&mut self, reading: bool, writing: bool) {
        self.is_read_shut |= reading;
        self.is_write_shut |= writing;
    }

    /// Begins a packet; gives what it takes of the sender's limit.
    pub(super) fn begin(&mut self) -> usize {
        let packet = Packet { left: 0, len: 0 };
        self.packets.push_back(packet);
        packet.cost()
    }

    /// Takes bytes out of the queue; gives what of the peer's send limit is free again.
    pub(super) fn take(&mut self, mut count: usize) -> usize {
        self.bytes.drain(..count);
        let mut freed = 0;
        while count > 0 {
            let first = self.packets.front_mut().expect("every byte is in a packet");
            let taken = first.left.min(count);
            first.left -= taken;
            count -= taken;
            if first.left == 0 {
                freed += self.packets.pop_front().map_or(0, Packet::cost);
            }
        }
        freed
    }

    /// Adds bytes to the last packet; gives what more of the sender's limit it takes.
    pub(super) fn append(&mut self, bytes: &[u8]) -> usize {
        let last = self.packets.back_mut().expect("a packet was begun");
        let before = last.cost();
        last.left += bytes.len();
        last.len += bytes.len();
        self.bytes.extend(bytes);
        last.cost() - before
    }

    /// Whether a name that the socket has is its own: one that was accepted has its listener's, and
    /// one whose path was removed has none that is found.
    pub(super) fn owned_name(
        &self,
        id: UnixId,
        names: &BTreeMap<Vec<u8>, UnixEntry>,
    ) -> Option<&UnixName> {
        let name = self.name.as_ref()?;
        names.get(&name.key).is_some_and(|entry| entry.socket == Some(id)).then_some(name)
    }

    /// Linux `unix_poll`.
    pub(super) fn readiness(&self) -> Readiness {
        let readable = match &self.role {
            UnixRole::Listener { queue, .. } => !queue.is_empty(),
            _ => !self.bytes.is_empty(),
        };
        let is_hung_up =
            self.is_read_shut && self.is_write_shut || matches!(self.role, UnixRole::Fresh);
        [
            (self.error.is_some(), Readiness::ERR),
            (is_hung_up, Readiness::HUP),
            (self.is_read_shut, Readiness::RDHUP.with(Readiness::IN)),
            (readable, Readiness::IN),
            (self.is_writable(), WRITABLE),
        ]
        .into_iter()
        .filter(|(is_so, _)| *is_so)
        .fold(Readiness::NONE, |all, (_, bits)| all.with(bits))
    }
}
