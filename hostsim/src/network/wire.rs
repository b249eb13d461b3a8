//! A wire: the two ends of one connection and the segments between them.
//!
//! Segments of one direction arrive in their order. Each waits in its direction's queue until it is
//! delivered; the bytes it carries stay in the sender's end. A segment that only acknowledges is
//! *quiet* where nobody could see it arrive: it makes no event of its own, and takes effect with
//! the next call or segment that could tell the difference.

use super::route::RouteId;
use super::silence::Orders;
use super::timer::Vigil;
use crate::address::ClaimId;
use crate::clock::Instant;
use crate::kernel::{FileId, HostId, Options};
use crate::tcp::{Connection, Flags, Segment};
use std::collections::VecDeque;
use std::net::SocketAddr;

/// A connection, by its number in the order in which they were dialed.
///
/// ```
/// use hostsim::network::WireId;
/// # use hostsim::{address::Domain, network::Network};
/// # let mut network = Network::new();
/// # let host = network.add_host("alone");
/// # let address = std::net::SocketAddr::from(([127, 0, 0, 1], 7));
/// # let listener = network.socket(host, Domain::V4, true)?;
/// # network.bind(listener, address)?;
/// # network.listen(listener, 8)?;
/// # let dialer = network.socket(host, Domain::V4, true)?;
/// # network.connect(dialer, address).unwrap_err();
/// # let (accepted, _) = network.accept(listener, true)?;
/// assert_eq!(network.wire_of(dialer)?.expect("it dialed").0, WireId(0));
/// let other = network.socket(host, Domain::V4, true)?;
/// network.connect(other, address).unwrap_err(); // EINPROGRESS
/// assert_eq!(network.wire_of(other)?.expect("it dialed").0, WireId(1));
/// # Ok::<(), hostsim::errno::Errno>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WireId(pub u32);

/// A direction of a wire, named by the end that sends: 0 dialed, 1 was dialed.
///
/// ```
/// use hostsim::network::SideIndex;
///
/// let (dialed, was_dialed): (SideIndex, SideIndex) = (0, 1);
/// assert_eq!((dialed ^ 1, was_dialed ^ 1), (1, 0), "the other end");
/// ```
pub type SideIndex = u8;

/// A segment on its way.
#[derive(Clone, Copy, Debug)]
pub(super) struct InFlight {
    pub(super) due: Instant,
    /// When its sender let it go.
    pub(super) sent: Instant,
    pub(super) segment: Segment,
    pub(super) is_quiet: bool,
}

/// SYNs of a dial that found a full backlog.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Dial {
    pub(super) first: Instant,
    pub(super) retries: u32,
    pub(super) retries_max: u32,
    pub(super) timer: Option<Instant>,
}

/// One end of a wire, and what it sent.
#[derive(Debug)]
pub(super) struct Side {
    pub(super) host: HostId,
    /// Its own address, in canonical form.
    pub(super) local: SocketAddr,
    /// The end; `None` before a SYN made it.
    pub(super) end: Option<Connection>,
    /// The open file of the program, while it has one.
    pub(super) file: Option<FileId>,
    /// The listener whose backlog holds it.
    pub(super) listener: Option<FileId>,
    /// The options of an accepted end: those that the listener had when the handshake ended.
    pub(super) options: Option<Options>,
    /// The claim on the port that the end holds beside a socket's.
    pub(super) claim: Option<ClaimId>,
    pub(super) flight: VecDeque<InFlight>,
    /// When the next segment is due, as the agenda has it.
    pub(super) scheduled: Option<Instant>,
    pub(super) dial: Dial,
    /// What was ordered for what it sends and hears.
    pub(super) orders: Orders,
    /// What it sends is lost.
    pub(super) is_silent: bool,
    /// Since when something that it sent is lost and has not been sent again with success.
    pub(super) lost_since: Option<Instant>,
    /// When a segment reached it last.
    pub(super) heard: Instant,
    pub(super) vigil: Vigil,
}

impl Side {
    pub(super) fn new(host: HostId, local: SocketAddr, end: Option<Connection>) -> Side {
        Side {
            host,
            local,
            end,
            file: None,
            listener: None,
            options: None,
            claim: None,
            flight: VecDeque::new(),
            scheduled: None,
            dial: Dial::default(),
            orders: Orders::default(),
            is_silent: false,
            lost_since: None,
            heard: Instant::START,
            vigil: Vigil::default(),
        }
    }

    /// Puts a segment on its way. An acknowledgment that would arrive at the same moment says less
    /// than the segment after it, and goes; a reset says something else.
    pub(super) fn push(&mut self, sent: Instant, due: Instant, segment: Segment, is_quiet: bool) {
        if let Some(last) = self.flight.back_mut() {
            if last.due == due && last.segment.is_pure_ack() && !segment.flags.has(Flags::RST) {
                let is_quiet = is_quiet && last.is_quiet;
                *last = InFlight { due, sent, segment, is_quiet };
                return;
            }
            if last.due == due && continues(&last.segment, &segment) {
                last.segment.len += segment.len;
                last.segment.ack = segment.ack;
                last.segment.window = segment.window;
                return;
            }
        }
        self.flight.push_back(InFlight { due, sent, segment, is_quiet });
    }

    /// Cuts a segment in two, the first of so many bytes.
    pub(super) fn split(&mut self, index: usize, bytes: u32) {
        let Some(next) = self.flight.get_mut(index) else { return };
        let (head, tail) = next.segment.split(bytes);
        let rest = InFlight { segment: tail, ..*next };
        next.segment = head;
        self.flight.insert(index + 1, rest);
    }

    /// Whether the next segment may be delivered: of what is lost, only a SYN comes so far, to be
    /// dropped there.
    pub(super) fn has_next(&self) -> bool {
        let next = self.flight.front();
        next.is_some_and(|next| !self.is_silent || next.segment.flags == Flags::SYN)
    }

    /// When the next segment that somebody could see arrive is due.
    fn next_due(&self, peer_wants_ack: bool) -> Option<Instant> {
        if !self.has_next() {
            return None;
        }
        let mut flight = self.flight.iter();
        flight.find(|next| peer_wants_ack || !next.is_quiet).map(|next| next.due)
    }

    /// Whether nothing refers to the end, and nothing of what it sent could still be seen to arrive.
    pub(super) fn is_gone(&self) -> bool {
        let is_lost = self.is_silent && !self.has_next();
        let is_quiet = is_lost || self.flight.iter().all(|next| next.is_quiet);
        is_quiet && self.end.as_ref().is_none_or(Connection::is_gone)
    }
}

/// Whether `next` may travel with `last`, as Linux joins small writes.
fn continues(last: &Segment, next: &Segment) -> bool {
    last.len > 0
        && next.len > 0
        && last.flags == next.flags
        && last.seq + u64::from(last.len) == next.seq
        && last.len + next.len <= crate::tcp::SEGMENT_MAX
}

/// The two ends of a connection.
#[derive(Debug)]
pub(super) struct Wire {
    pub(super) sides: [Side; 2],
    /// The address that was dialed, in canonical form: the host's, or that of a route.
    pub(super) dialed: SocketAddr,
    /// The route that is to give it its host; until then its dialer's stands for it.
    pub(super) route: Option<RouteId>,
    /// Since when a direction is silent, or has something lost.
    pub(super) troubled_since: Option<Instant>,
}

impl Wire {
    /// The sender and the receiver of a direction.
    pub(super) fn ends(&mut self, from: SideIndex) -> (&mut Side, &mut Side) {
        let [dialed, accepted] = &mut self.sides;
        if from == 0 { (dialed, accepted) } else { (accepted, dialed) }
    }

    /// When a direction delivers next, as an event: within a host only what was lost is one.
    pub(super) fn next_due(&self, from: SideIndex) -> Option<Instant> {
        let [sender, receiver] = [from, from ^ 1].map(|side| &self.sides[usize::from(side)]);
        if self.is_local() && sender.lost_since.is_none() {
            return None;
        }
        sender.next_due(receiver.end.as_ref().is_some_and(Connection::wants_ack))
    }

    /// Whether a direction is silent, or has something lost.
    pub(super) fn is_troubled(&self) -> bool {
        self.sides.iter().any(Side::is_troubled)
    }

    pub(super) fn is_local(&self) -> bool {
        self.sides[0].host == self.sides[1].host && self.route.is_none()
    }

    /// The address at which an end sees its peer.
    pub(super) fn remote(&self, side: SideIndex) -> SocketAddr {
        if side == 0 { self.dialed } else { self.sides[0].local }
    }

    /// Whether nothing refers to the connection any more. An end that its program left and that
    /// waits for the FIN of a peer which is gone without a word would hear nothing ever.
    pub(super) fn is_gone(&self) -> bool {
        let is_unsaid = |side: &Side| side.end.as_ref().is_some_and(Connection::is_unsaid);
        let is_left = |side: &Side| {
            side.flight.is_empty() && side.end.as_ref().is_some_and(Connection::is_left)
        };
        let [dialed, accepted] = &self.sides;
        match (dialed.is_gone(), accepted.is_gone()) {
            (true, true) => true,
            (true, false) => is_unsaid(dialed) && is_left(accepted),
            (false, true) => is_unsaid(accepted) && is_left(dialed),
            (false, false) => false,
        }
    }
}
