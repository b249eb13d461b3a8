//! One UDP socket, as Linux `net/ipv4/udp.c` has it: what it is bound to, its peer, what waits.
//!
//! Knows no descriptors, no ports and no other socket: who gets a datagram and what becomes of it on
//! its way is in [`crate::network`].
//!
//! # Invariants
//! - A socket is charged with what waits in it, and with nothing else.
//! - What waits is what arrived, whole, in the order of its arrival.

use super::Options;
use crate::address::{ClaimId, Domain};
use crate::errno::{Errno, Sys};
use crate::tcp::{Direction, Readiness};
use std::collections::VecDeque;
use std::net::SocketAddr;

/// The bytes that a new socket keeps for reading, and what `SO_SNDBUF` says
/// (`net.core.rmem_default`, `wmem_default`).
pub(crate) const UDP_LIMIT: usize = 212_992;

/// Room to write, as datagram sockets report it (Linux `datagram_poll`).
const WRITABLE: Readiness = Readiness::OUT.with(Readiness(libc::EPOLLWRBAND as u32));

/// A datagram came (Linux `sock_def_readable`).
pub(crate) const READABLE: Readiness =
    Readiness::IN.with(Readiness((libc::EPOLLPRI | libc::EPOLLRDBAND) as u32));

/// What Linux counts of a datagram beside its bytes: the record of it, and what stands around the
/// bytes in their place, with the headers of the family.
const RECORD_COST: usize = 256;
const FRAME_COST_V4: usize = 379;
const FRAME_COST_V6: usize = 399;

/// The smallest place for bytes, and the largest; those between are powers of two.
const PLACE_MIN: usize = 576;
const PLACE_MAX: usize = 65_536;

/// A datagram that was sent.
///
/// ```
/// # use hostsim::{address::Domain, network::{Envelope, Network}};
/// # let mut network = Network::new();
/// # let host = network.add_host("alone");
/// # let address = std::net::SocketAddr::from(([127, 0, 0, 1], 7));
/// # let server = network.udp_socket(host, Domain::V4, true)?;
/// # network.bind(server, address)?;
/// # let client = network.udp_socket(host, Domain::V4, true)?;
/// network.connect(client, address)?;
/// network.send(client, b"hello")?;
/// let datagram = network.udp_take(server, false)?;
/// assert_eq!((datagram.from, datagram.to), (network.local_address(client)?, address));
/// assert_eq!(*datagram.bytes, *b"hello");
/// # Ok::<(), hostsim::errno::Errno>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Datagram {
    /// Who sent it, in canonical form.
    pub from: SocketAddr,
    /// To whom, in canonical form.
    pub to: SocketAddr,
    /// The traffic class, with the bits of ECN.
    pub traffic_class: u8,
    /// Its bytes.
    pub bytes: Box<[u8]>,
}

impl Datagram {
    /// What it takes of a limit of bytes (Linux `skb->truesize`, as measured on loopback).
    pub(crate) fn cost(&self) -> usize {
        let frame = if self.to.is_ipv4() { FRAME_COST_V4 } else { FRAME_COST_V6 };
        let place = match self.bytes.len() + frame {
            ..=PLACE_MIN => PLACE_MIN,
            more => more.next_power_of_two().min(PLACE_MAX),
        };
        place + RECORD_COST
    }
}

/// What a socket tells with each datagram, where it is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Told {
    /// `IP_PKTINFO`
    pub(crate) info_v4: bool,
    /// `IPV6_RECVPKTINFO`
    pub(crate) info_v6: bool,
    /// `IP_RECVTOS`
    pub(crate) class_v4: bool,
    /// `IPV6_RECVTCLASS`
    pub(crate) class_v6: bool,
}

/// What a socket does about the longest packet of its way (`IP_MTU_DISCOVER`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Discovery {
    /// The value for IPv4, 0 to 5.
    pub(crate) v4: i32,
    /// The value for IPv6, 0 to 5.
    pub(crate) v6: i32,
}

impl Discovery {
    /// Whether a packet may be sent in fragments.
    pub(crate) fn fragments(self, is_v4: bool) -> bool {
        let value = if is_v4 { self.v4 } else { self.v6 };
        value < libc::IP_PMTUDISC_DO || value == libc::IP_PMTUDISC_OMIT
    }
}

/// A UDP socket.
#[derive(Debug)]
pub(crate) struct Udp {
    /// Its family.
    pub(crate) domain: Domain,
    /// Its options.
    pub(crate) options: Options,
    /// What it tells with each datagram.
    pub(crate) told: Told,
    /// What it does about the longest packet of its way.
    pub(crate) discovery: Discovery,
    /// The address at which it hears, once it has a port, in canonical form.
    pub(crate) local: Option<SocketAddr>,
    /// The address that the program bound it to; port 0 where the host was to choose one.
    pub(crate) bound: Option<SocketAddr>,
    /// Its claim on a port.
    pub(crate) claim: Option<ClaimId>,
    /// Whom it is connected to, in canonical form.
    pub(crate) peer: Option<SocketAddr>,
    /// The error that waits.
    pub(crate) error: Option<Errno>,
    /// What was shut down.
    pub(crate) is_read_shut: bool,
    /// What was shut down.
    pub(crate) is_write_shut: bool,
    queue: VecDeque<Datagram>,
    charged: usize,
}

impl Udp {
    /// A socket that is neither bound nor connected.
    pub(crate) fn new(domain: Domain) -> Udp {
        Udp {
            domain,
            options: Options::new(UDP_LIMIT, UDP_LIMIT),
            told: Told::default(),
            discovery: Discovery { v4: libc::IP_PMTUDISC_WANT, v6: libc::IPV6_PMTUDISC_WANT },
            local: None,
            bound: None,
            claim: None,
            peer: None,
            error: None,
            is_read_shut: false,
            is_write_shut: false,
            queue: VecDeque::new(),
            charged: 0,
        }
    }

    /// How well the socket fits a datagram (Linux `compute_score`): its very address before the
    /// wildcard, its peer before anybody, IPv4 before IPv6; `None` where it does not.
    pub(crate) fn fit(&self, to: SocketAddr, from: SocketAddr) -> Option<(bool, bool, bool)> {
        let local = self.local.filter(|local| local.port() == to.port())?;
        let is_exact = local.ip() == to.ip();
        let is_wild = local.ip().is_unspecified() && (local.is_ipv4() == to.is_ipv4());
        let is_dual = self.is_dual() && to.is_ipv4();
        let hears = is_exact || is_wild || is_dual;
        let is_peer = self.peer == Some(from);
        let is_own = self.peer.is_none() || is_peer;
        (hears && is_own).then_some((is_exact, is_peer, self.domain == Domain::V4))
    }

    /// Whether the socket is on the wildcard of IPv6 and takes IPv4 too.
    fn is_dual(&self) -> bool {
        let is_wild = |local: SocketAddr| local.is_ipv6() && local.ip().is_unspecified();
        !self.options.is_v6_only && self.local.is_some_and(is_wild)
    }

    /// Whether there is room for a datagram. The first always has some.
    pub(crate) fn has_room(&self, datagram: &Datagram) -> bool {
        self.charged == 0 || self.charged + datagram.cost() <= self.options.receive_limit
    }

    /// Puts a datagram to what waits.
    pub(crate) fn push(&mut self, datagram: Datagram) {
        self.charged += datagram.cost();
        self.queue.push_back(datagram);
    }

    /// Takes the first datagram, or a copy of it for a peek.
    ///
    /// # Errors
    /// The error that waits, which comes first; `EAGAIN`.
    pub(crate) fn take(&mut self, is_peek: bool) -> Sys<Datagram> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        if is_peek {
            return self.queue.front().cloned().ok_or(Errno::EAGAIN);
        }
        let first = self.queue.pop_front().ok_or(Errno::EAGAIN)?;
        self.charged -= first.cost();
        Ok(first)
    }

    /// The bytes of the first datagram, as `FIONREAD`.
    pub(crate) fn unread(&self) -> usize {
        self.queue.front().map_or(0, |first| first.bytes.len())
    }

    /// Ends directions; the peer hears nothing of it.
    ///
    /// # Errors
    /// `ENOTCONN` where it has no peer; the directions end all the same (Linux `inet_shutdown`).
    pub(crate) fn shutdown(&mut self, direction: Direction) -> Sys<()> {
        self.is_read_shut |= direction != Direction::Write;
        self.is_write_shut |= direction != Direction::Read;
        self.peer.map(|_| ()).ok_or(Errno::ENOTCONN)
    }

    /// Linux `datagram_poll`. There is always room to write: what is sent is gone at once.
    pub(crate) fn readiness(&self) -> Readiness {
        let is_hung_up = self.is_read_shut && self.is_write_shut;
        [
            (self.error.is_some(), Readiness::ERR),
            (is_hung_up, Readiness::HUP),
            (self.is_read_shut, Readiness::RDHUP.with(Readiness::IN)),
            (!self.queue.is_empty(), Readiness::IN),
        ]
        .into_iter()
        .filter(|(is_so, _)| *is_so)
        .fold(WRITABLE, |all, (_, bits)| all.with(bits))
    }

    /// The socket in words.
    pub(crate) fn describe(&self) -> String {
        let shown = |address: Option<SocketAddr>, none: &str| {
            address.map_or_else(|| none.to_owned(), |address| self.domain.show(address).to_string())
        };
        let (local, peer) = (shown(self.local, "unbound"), shown(self.peer, "anybody"));
        format!("udp {local} to {peer}, {} datagrams unread", self.queue.len())
    }

    /// Asserts what the module promises.
    ///
    /// # Panics
    /// Where it is not so.
    pub(crate) fn check_invariants(&self) {
        let cost: usize = self.queue.iter().map(Datagram::cost).sum();
        assert_eq!(cost, self.charged, "a socket is charged with what waits in it");
        assert_eq!(self.local.is_some(), self.claim.is_some(), "who has a port claims it");
        assert!(self.peer.is_none() || self.local.is_some(), "who is connected has a port");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn datagram(len: usize, to: &str) -> Datagram {
        let from = "10.0.0.1:1".parse().expect("an address");
        let to = to.parse().expect("an address");
        Datagram { from, to, traffic_class: 0, bytes: vec![0; len].into() }
    }

    /// How many datagrams of a length find room, as counted on Linux 6.18.
    #[track_caller]
    fn check(len: usize, limit: usize, to: &str, expected: usize) {
        let mut socket = Udp::new(Domain::V4);
        socket.options.receive_limit = limit;
        let is_taken = |_: &i32| {
            let datagram = datagram(len, to);
            let has_room = socket.has_room(&datagram);
            if has_room {
                socket.push(datagram);
            }
            has_room
        };
        let count = (0..1_000).take_while(is_taken).count();
        assert_eq!(count, expected, "{len} bytes in {limit}");
        socket.check_invariants();
    }

    #[test]
    fn as_many_datagrams_wait_as_on_linux() {
        let v4 = "127.0.0.1:7";
        for (len, default, small, least) in [
            (0, 256, 19, 2),
            (160, 256, 19, 2),
            (200, 166, 12, 1),
            (640, 166, 12, 1),
            (800, 92, 7, 1),
            (1_472, 92, 7, 1),
            (2_000, 48, 3, 1),
            (4_000, 25, 1, 1),
            (9_000, 12, 1, 1),
            (32_000, 6, 1, 1),
            (65_507, 3, 1, 1),
        ] {
            check(len, UDP_LIMIT, v4, default);
            check(len, 16_384, v4, small);
            check(len, 2_304, v4, least);
        }
        check(160, UDP_LIMIT, "[::1]:7", 256);
        check(192, UDP_LIMIT, "[::1]:7", 166);
        check(640, UDP_LIMIT, "[::1]:7", 92);
    }

    #[test]
    fn an_error_comes_before_what_waits_and_is_told_once() {
        let mut socket = Udp::new(Domain::V4);
        socket.push(datagram(3, "127.0.0.1:7"));
        socket.error = Some(Errno::ECONNREFUSED);
        assert_eq!(socket.take(true), Err(Errno::ECONNREFUSED));
        assert_eq!(socket.take(true).map(|first| first.bytes.len()), Ok(3));
        assert_eq!(socket.take(false).map(|first| first.bytes.len()), Ok(3));
        assert_eq!(socket.take(false), Err(Errno::EAGAIN));
    }
}
