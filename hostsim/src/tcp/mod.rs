//! One end of a TCP connection, without input or output.
//!
//! Calls of the program and segments of the peer go in; segments to send come out, and so does what
//! a poll would see. The end knows no hosts, no addresses, no descriptors and no time, and it draws
//! nothing. Others see of it what goes in and out: a [`Segment`], its [`Payload`], the [`State`].
//!
//! Errors, their order and when they are forgotten follow Linux; the facts named in the comments
//! are rows of the measured table of TCP on loopback that the conformance tests run.
//!
//! Segments arrive in order and none is lost between two live ends: the network keeps them until
//! they are delivered. So there is no reassembly here.

mod check;
mod queue;
mod segment;
mod state;
#[cfg(test)]
mod tests;

pub use queue::Payload;
pub(crate) use queue::{ReceiveQueue, SendQueue};
pub use segment::{Flags, Segment};
pub(crate) use state::Cue;
pub use state::State;

use crate::errno::{Errno, Sys};

/// The most bytes a segment carries: what Linux hands down at once with segmentation offload.
pub(crate) const SEGMENT_MAX: u32 = 65_495;

/// What a poll of a descriptor would report, as bits of `epoll_event::events`.
///
/// ```
/// use hostsim::tcp::Readiness;
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
/// network.close(dialer)?;
/// let bits = network.poll(accepted)?;
/// assert!(bits.meets(Readiness::RDHUP) && !bits.meets(Readiness::HUP), "one direction ended");
/// # Ok::<(), hostsim::errno::Errno>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Readiness(pub u32);

impl Readiness {
    /// Nothing.
    pub const NONE: Readiness = Readiness(0);
    /// `EPOLLIN`, with `EPOLLRDNORM`.
    pub const IN: Readiness = Readiness((libc::EPOLLIN | libc::EPOLLRDNORM) as u32);
    /// `EPOLLOUT`, with `EPOLLWRNORM`.
    pub const OUT: Readiness = Readiness((libc::EPOLLOUT | libc::EPOLLWRNORM) as u32);
    /// `EPOLLRDHUP`: the peer ended its direction.
    pub const RDHUP: Readiness = Readiness(libc::EPOLLRDHUP as u32);
    /// `EPOLLHUP`: both directions ended.
    pub const HUP: Readiness = Readiness(libc::EPOLLHUP as u32);
    /// `EPOLLERR`: an error waits.
    pub const ERR: Readiness = Readiness(libc::EPOLLERR as u32);
    /// Every bit: a change of state wakes whoever waits for anything.
    pub const ALL: Readiness = Readiness(u32::MAX);

    /// Both sets of bits.
    ///
    /// ```
    /// use hostsim::tcp::Readiness;
    ///
    /// let both = Readiness::IN.with(Readiness::OUT);
    /// assert!(both.meets(Readiness::IN) && both.meets(Readiness::OUT));
    /// ```
    pub const fn with(self, other: Readiness) -> Readiness {
        Readiness(self.0 | other.0)
    }

    /// Whether a bit is in both.
    ///
    /// ```
    /// use hostsim::tcp::Readiness;
    ///
    /// let end = Readiness::IN.with(Readiness::RDHUP);
    /// assert!(end.meets(Readiness::RDHUP.with(Readiness::HUP)), "one of them is enough");
    /// assert!(!end.meets(Readiness::OUT));
    /// ```
    pub const fn meets(self, other: Readiness) -> bool {
        self.0 & other.0 != 0
    }
}

/// Which directions a call of `shutdown(2)` ends.
///
/// ```
/// use hostsim::errno::Errno;
/// use hostsim::tcp::Direction;
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
/// network.shutdown(accepted, Direction::Read)?;
/// assert_eq!(network.receive(accepted, &mut [0; 8], false), Ok(0));
/// network.shutdown(accepted, Direction::Both)?;
/// assert_eq!(network.send(accepted, b"hello"), Err(Errno::EPIPE));
/// # Ok::<(), hostsim::errno::Errno>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// `SHUT_RD`
    Read,
    /// `SHUT_WR`
    Write,
    /// `SHUT_RDWR`
    Both,
}

/// What a segment did to an end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Effect {
    /// Whom to wake: those who wait for one of these bits.
    pub(crate) wake: Readiness,
    /// The handshake of an accepted connection ended: it is to be queued for `accept`.
    pub(crate) is_accepted: bool,
}

/// The control segments that an end still has to send.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Owed {
    syn: bool,
    syn_ack: bool,
    ack: bool,
    reset: bool,
}

/// One end of a connection.
///
/// Contract: after every call that takes `&mut self`, ask [`Connection::poll_segment`] until it has
/// nothing more, and send what it gave in that order.
#[derive(Debug)]
pub(crate) struct Connection {
    state: State,
    send: SendQueue,
    receive: ReceiveQueue,
    owed: Owed,
    error: Option<Errno>,
    /// The program ended the direction, or the connection ended (Linux `sk_shutdown`).
    is_read_shut: bool,
    is_write_shut: bool,
    /// A FIN came: reads end with 0 before they would report an error (Linux `SOCK_DONE`).
    is_done: bool,
    is_fin_sent: bool,
    is_fin_acked: bool,
    /// Someone was told that there is no room to write, and is to be woken (`SOCK_NOSPACE`).
    is_blocked: bool,
    /// No descriptor of a program refers to this end any more.
    is_orphan: bool,
    /// The end is gone without a word to its peer, which is told once it says something.
    is_unsaid: bool,
}

impl Connection {
    /// An end that connects, with the limits of its buffers in bytes.
    pub(crate) fn connecting(send_limit: usize, receive_limit: usize) -> Connection {
        let mut end = Connection::new(send_limit, receive_limit);
        end.state = end.state.on(Cue::Connect);
        end.owed.syn = true;
        end
    }

    /// Begins with directions that the program ended before there was a connection: no FIN tells
    /// the peer so until the end is closed.
    pub(crate) fn begin_shut(&mut self, read: bool, write: bool) {
        (self.is_read_shut, self.is_write_shut) = (read, write);
    }

    /// The end of a listener's host for a SYN that came.
    pub(crate) fn accepting(syn: &Segment, send_limit: usize, receive_limit: usize) -> Connection {
        let mut end = Connection::new(send_limit, receive_limit);
        end.state = end.state.on(Cue::Syn);
        end.send.on_ack(0, u64::from(syn.window));
        end.owed.syn_ack = true;
        end
    }

    fn new(send_limit: usize, receive_limit: usize) -> Connection {
        Connection {
            state: State::Closed,
            send: SendQueue::new(send_limit),
            receive: ReceiveQueue::new(receive_limit),
            owed: Owed::default(),
            error: None,
            is_read_shut: false,
            is_write_shut: false,
            is_done: false,
            is_fin_sent: false,
            is_fin_acked: false,
            is_blocked: false,
            is_orphan: false,
            is_unsaid: false,
        }
    }

    /// The state of RFC 9293.
    pub(crate) fn state(&self) -> State {
        self.state
    }

    /// Writes bytes, as `send(2)` without waiting.
    ///
    /// # Errors
    /// The error that waits (rows B09, B16), else `EPIPE` after an end of this direction (B01,
    /// C02), whatever the length (B24); `EAGAIN` while connecting or without room (D13).
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Sys<usize> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        match self.state {
            State::SynSent | State::SynReceived => return Err(Errno::EAGAIN),
            state if self.is_write_shut || !state.takes_bytes() => return Err(Errno::EPIPE),
            _ => {}
        }
        let count = self.send.write(bytes);
        if count < bytes.len() {
            self.is_blocked = true;
        }
        if count == 0 && !bytes.is_empty() { Err(Errno::EAGAIN) } else { Ok(count) }
    }

    /// Reads bytes, as `recv(2)` without waiting; a peek leaves them.
    ///
    /// # Errors
    /// Bytes that arrived come first (B07, B29), then the end that a FIN made (B03), then the error
    /// that waits (B15), then the end that a shutdown made, then `EAGAIN`.
    pub(crate) fn read(&mut self, into: &mut [u8], is_peek: bool) -> Sys<usize> {
        if self.receive.unread() > 0 {
            let count = self.receive.read(into, is_peek);
            self.update_window();
            return Ok(count);
        }
        if self.is_done {
            return Ok(0);
        }
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        if self.is_read_shut {
            return Ok(0);
        }
        Err(if self.state == State::Closed { Errno::ENOTCONN } else { Errno::EAGAIN })
    }

    /// Owes a window update once a read opened half the buffer.
    fn update_window(&mut self) {
        self.owed.ack |= !self.state.is_over() && self.owes_window();
    }

    fn owes_window(&self) -> bool {
        self.receive.unadvertised() >= (self.receive.limit() as u64 / 2).max(1)
    }

    /// Ends directions, as `shutdown(2)`.
    ///
    /// # Errors
    /// `ENOTCONN` once the connection is over (C04, C06).
    pub(crate) fn shutdown(&mut self, direction: Direction) -> Sys<()> {
        if self.state.is_over() {
            return Err(Errno::ENOTCONN);
        }
        self.is_read_shut |= direction != Direction::Write;
        if direction != Direction::Read {
            self.is_write_shut = true;
            self.state = self.state.on(Cue::Shutdown);
        }
        Ok(())
    }

    /// The last descriptor goes, as `close(2)`.
    ///
    /// Unread bytes (B07) or a linger of zero (B15) reset the connection; a FIN that is unread does
    /// not (B13). Else what was written is still sent, then a FIN (B11).
    pub(crate) fn close(&mut self, is_linger_zero: bool) {
        self.is_orphan = true;
        if self.receive.unread() > 0 || is_linger_zero || self.state == State::SynSent {
            return self.abort();
        }
        self.is_read_shut = true;
        if !self.state.is_over() {
            self.is_write_shut = true;
            self.state = self.state.on(Cue::Shutdown);
        }
    }

    /// Resets the connection from this end.
    pub(crate) fn abort(&mut self) {
        // A FIN that is not sent yet will never be (Linux `tcp_disconnect`).
        let is_fin_due = matches!(self.state, State::Closing | State::LastAck) && !self.is_fin_sent;
        self.owed = Owed { reset: self.state.needs_reset() || is_fin_due, ..Owed::default() };
        self.end_all();
    }

    /// Resets the connection without a word: the next segment of the peer is answered as one to a
    /// closed port. The program may still hold the end.
    pub(crate) fn vanish(&mut self) {
        self.abort();
        self.owed = Owed::default();
        self.is_unsaid = true;
    }

    /// The same for an end that no program holds or will hold.
    pub(crate) fn vanish_as_orphan(&mut self) {
        self.is_orphan = true;
        self.vanish();
    }

    /// Gives the connection up because the peer is silent. An end that only probed it sends a RST
    /// (Linux `tcp_keepalive_timer`).
    pub(crate) fn time_out(&mut self, error: Errno) -> Readiness {
        let is_probing = !matches!(self.state, State::SynSent) && !self.awaits_ack();
        let wake = self.fail(error);
        self.owed.reset = is_probing;
        self.is_unsaid = true;
        wake
    }

    /// The RST that the end sent is lost: the peer is told once it says something.
    pub(crate) fn unsay(&mut self) {
        self.is_unsaid |= self.state == State::Closed;
    }

    /// Gives the connection up with an error that the program will see, as a timer does.
    pub(crate) fn fail(&mut self, error: Errno) -> Readiness {
        self.owed = Owed::default();
        self.error = Some(error);
        self.end_all();
        Readiness::ALL
    }

    /// Sends the SYN again, as a timer does.
    pub(crate) fn retry(&mut self) {
        self.owed.syn = self.state == State::SynSent;
    }

    fn end_all(&mut self) {
        self.state = self.state.on(Cue::Reset);
        self.is_read_shut = true;
        self.is_write_shut = true;
        self.send.drop_unsent();
    }

    /// A segment of the peer arrived.
    pub(crate) fn on_segment(&mut self, segment: &Segment, payload: Payload<'_>) -> Effect {
        if segment.flags.has(Flags::RST) {
            return self.on_reset();
        }
        match self.state {
            State::Closed => {
                self.owed.reset = true;
                self.is_unsaid = false;
                Effect::default()
            }
            State::SynSent => self.on_answer(segment),
            _ => self.on_established(segment, payload),
        }
    }

    /// Linux `tcp_reset`: what arrived stays readable, the error depends on the state.
    fn on_reset(&mut self) -> Effect {
        if self.state.is_over() {
            return Effect::default();
        }
        let error = match self.state {
            State::SynSent => Errno::ECONNREFUSED,
            State::CloseWait => Errno::EPIPE,
            _ => Errno::ECONNRESET,
        };
        Effect { wake: self.fail(error), is_accepted: false }
    }

    fn on_answer(&mut self, segment: &Segment) -> Effect {
        if !segment.flags.has(Flags::SYN | Flags::ACK) {
            return Effect::default();
        }
        self.state = self.state.on(Cue::SynAck);
        self.send.on_ack(0, u64::from(segment.window));
        self.owed.ack = true;
        Effect { wake: Readiness::ALL, is_accepted: false }
    }

    fn on_established(&mut self, segment: &Segment, payload: Payload<'_>) -> Effect {
        let mut effect = Effect::default();
        if self.state == State::SynReceived && segment.flags.has(Flags::ACK) {
            self.state = self.state.on(Cue::AckOfSyn);
            effect.is_accepted = true;
        }
        if self.is_read_shut && !self.state.takes_bytes() && !payload.is_empty() {
            // Nobody will ever read these bytes: Linux answers with a RST (B14, C14, C20, C27).
            self.owed = Owed { reset: true, ..Owed::default() };
            self.error = (!self.is_orphan).then_some(Errno::ECONNRESET);
            self.end_all();
            effect.wake = Readiness::ALL;
            return effect;
        }
        effect.wake = self.on_ack(segment);
        if !payload.is_empty() {
            self.receive.on_payload(payload);
            self.owed.ack = true;
            effect.wake = effect.wake.with(Readiness::IN);
        }
        if segment.flags.has(Flags::FIN) {
            effect.wake = effect.wake.with(self.on_fin());
        }
        effect
    }

    fn on_ack(&mut self, segment: &Segment) -> Readiness {
        let edge = segment.ack + u64::from(segment.window);
        self.send.on_ack(segment.ack, edge);
        if self.is_fin_sent && !self.is_fin_acked && segment.ack > self.send.end() {
            self.is_fin_acked = true;
            self.state = self.state.on(Cue::AckOfFin);
        }
        self.unblock()
    }

    /// Wakes who was told that there is no room, where there is now.
    fn unblock(&mut self) -> Readiness {
        if self.is_blocked && self.send.is_writable() {
            self.is_blocked = false;
            return Readiness::OUT;
        }
        Readiness::NONE
    }

    fn on_fin(&mut self) -> Readiness {
        if self.is_done {
            return Readiness::NONE;
        }
        self.is_done = true;
        self.is_read_shut = true;
        self.state = self.state.on(Cue::Fin);
        self.owed.ack = true;
        Readiness::ALL
    }

    /// The next segment to send, if there is one.
    pub(crate) fn poll_segment(&mut self) -> Option<Segment> {
        if self.owed.reset {
            self.owed = Owed::default();
            return Some(self.segment(Flags::RST | Flags::ACK, 0));
        }
        if self.owed.syn {
            self.owed.syn = false;
            return Some(self.segment(Flags::SYN, 0));
        }
        if self.owed.syn_ack {
            self.owed.syn_ack = false;
            return Some(self.segment(Flags::SYN | Flags::ACK, 0));
        }
        if matches!(self.state, State::Closed | State::SynSent | State::SynReceived) {
            return None;
        }
        let len = self.send.take(SEGMENT_MAX);
        if len > 0 {
            return Some(self.segment(Flags::ACK, len));
        }
        if self.owes_fin() {
            self.is_fin_sent = true;
            return Some(self.segment(Flags::FIN | Flags::ACK, 0));
        }
        self.owed.ack.then(|| self.segment(Flags::ACK, 0))
    }

    /// Whether the FIN is the next to send.
    fn owes_fin(&self) -> bool {
        let has_ended = self.is_write_shut && !self.state.takes_bytes();
        has_ended && !self.is_fin_sent && !self.send.has_unsent()
    }

    /// A segment with `len` bytes that were just taken; it acknowledges what arrived.
    fn segment(&mut self, flags: Flags, len: u32) -> Segment {
        self.owed.ack = false;
        // A SYN stands before the first byte; whatever follows a FIN stands after it.
        let past_fin = u64::from(self.is_fin_sent && !flags.has(Flags::FIN));
        Segment {
            flags,
            seq: self.send.sent() - u64::from(len) + past_fin,
            ack: self.receive.next() + u64::from(self.is_done),
            window: self.receive.advertise(),
            len,
        }
    }

    /// The bytes of a segment of this end that is under way.
    pub(crate) fn payload(&self, segment: &Segment) -> Payload<'_> {
        if segment.len == 0 {
            return Payload::default();
        }
        self.send.payload(segment.seq, segment.len)
    }

    /// Whether something that the end sends, or would send into the peer's window, is not yet
    /// acknowledged.
    pub(crate) fn awaits_ack(&self) -> bool {
        let is_open = self.state == State::SynReceived || self.is_write_shut && !self.is_fin_acked;
        !self.state.is_over() && (is_open || self.send.queued() > 0)
    }

    /// The offset before which the peer acknowledged everything.
    pub(crate) fn acknowledged(&self) -> u64 {
        self.send.acknowledged()
    }

    /// The offset before which everything of the peer arrived.
    pub(crate) fn arrived(&self) -> u64 {
        self.receive.next()
    }

    /// A segment that asks the peer again for what the end waits for, as the retransmission and the
    /// persist timer send it; nothing where the end waits for nothing.
    pub(crate) fn probe(&mut self) -> Option<Segment> {
        self.awaits_ack().then(|| self.segment(Flags::ACK, 0))
    }

    /// Whether an acknowledgment that comes now could be seen by the program or sends more.
    pub(crate) fn wants_ack(&self) -> bool {
        if self.state.is_over() {
            return self.is_unsaid;
        }
        self.is_blocked
            || self.send.has_unsent()
            || self.state == State::SynReceived
            || (self.is_orphan && self.is_fin_sent && !self.is_fin_acked)
    }

    /// What a poll reports now (Linux `tcp_poll`).
    pub(crate) fn readiness(&mut self) -> Readiness {
        let mut bits = Readiness::NONE;
        if self.state.is_over() || (self.is_read_shut && self.is_write_shut) {
            bits = bits.with(Readiness::HUP);
        }
        if self.is_read_shut {
            bits = bits.with(Readiness::IN).with(Readiness::RDHUP);
        }
        if self.state != State::SynSent {
            if self.receive.unread() > 0 {
                bits = bits.with(Readiness::IN);
            }
            if self.is_write_shut || self.send.is_writable() {
                bits = bits.with(Readiness::OUT);
            } else {
                self.is_blocked = true;
            }
        }
        if self.error.is_some() { bits.with(Readiness::ERR) } else { bits }
    }

    /// Reports the error that waits and forgets it (`SO_ERROR`).
    pub(crate) fn take_error(&mut self) -> Option<Errno> {
        self.error.take()
    }

    /// How many bytes wait to be read (`FIONREAD`).
    pub(crate) fn unread(&self) -> usize {
        self.receive.unread()
    }

    /// How many written bytes are not acknowledged (`SIOCOUTQ`).
    pub(crate) fn unacknowledged(&self) -> usize {
        self.send.queued()
    }

    /// Whether no program holds this end and it has nothing left to do.
    pub(crate) fn is_gone(&self) -> bool {
        self.is_orphan && self.state.is_over()
    }

    /// Whether no program holds this end and it waits for nothing but the peer's FIN, if for that:
    /// Linux keeps a stub of it, which does not stand in the way of another dial.
    pub(crate) fn is_left(&self) -> bool {
        self.is_orphan && (self.state.is_over() || self.state == State::FinWait2)
    }

    /// Sets how many written bytes the end keeps; whom to wake.
    pub(crate) fn set_send_limit(&mut self, limit: usize) -> Readiness {
        self.send.set_limit(limit);
        self.unblock()
    }

    /// Sets how many bytes the end keeps for the program to read.
    pub(crate) fn set_receive_limit(&mut self, limit: usize) {
        self.receive.set_limit(limit);
        self.update_window();
    }
}
