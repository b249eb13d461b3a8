//! Silence: what a host sends and nobody hears.
//!
//! A direction of a connection is *silent* while the way between its hosts is cut, a host is
//! fenced, the end that would hear it is deaf, or someone holds it; and where it comes from `::1` of
//! another host, which every host drops (RFC 4291, 2.5.3). What would arrive meanwhile is lost. Its sender sends it again with growing waits, as TCP does, and an end that hears nothing
//! for long enough gives up (`timer`). Bytes are never lost for good while both ends live: TCP
//! delivers in order, so nothing behind the first lost byte arrives before it.
//!
//! Not each retransmission is an event. What was lost waits in its queue, and once the way is open
//! it is due with the first retransmission that finds it so (rows F01, F19, F20). A SYN is an event
//! each time, since it may meet a listener or none. A RST is sent once only: where it is lost its
//! peer learns of the end with the next segment that it sends itself (row F18).
//!
//! Datagrams are no part of this: what a cut or a fence loses of them stays lost (`datagram`).

use super::Network;
use super::order::Pace;
use super::timer::{HANDSHAKE_TIMEOUT, Schedule};
use super::wire::{InFlight, SideIndex, WireId};
use crate::errno::Sys;
use crate::kernel::{Descriptor, HostId, Role};
use crate::tcp::{Connection, Flags, Segment, State};

/// What a person ordered for the segments that an end sends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Orders {
    /// The end hears nothing.
    pub(super) is_deaf: bool,
    /// What the end sends is lost.
    pub(super) is_held: bool,
    /// What the end sends is lost from this offset of its stream on.
    pub(super) held_from: Option<u64>,
    /// How fast what the end sends arrives.
    pub(super) pace: Option<Pace>,
}

impl Network {
    /// Cuts the way from one host to another: what is sent on it from now on is lost, and so is
    /// what is under way, until [`Network::heal`]. The way back is another (row F08).
    ///
    /// ```
    /// use hostsim::errno::Errno;
    /// # use hostsim::{address::Domain, network::Network};
    /// # let mut network = Network::new();
    /// # let (client, server) = (network.add_host("client"), network.add_host("server"));
    /// # let run = |network: &mut Network| {
    /// #     while let Some(due) = network.agenda().earliest() {
    /// #         network.advance(due.max(network.now().next()));
    /// #         let event = network.take(0);
    /// #         network.deliver(event.key);
    /// #     }
    /// # };
    /// # let address = std::net::SocketAddr::new(network.address(server), 7);
    /// # let listener = network.socket(server, Domain::V4, true)?;
    /// # network.bind(listener, address)?;
    /// # network.listen(listener, 8)?;
    /// # let dialer = network.socket(client, Domain::V4, true)?;
    /// # network.connect(dialer, address).unwrap_err();
    /// # run(&mut network);
    /// # let (accepted, _) = network.accept(listener, true)?;
    /// network.cut(client, server);
    /// network.send(dialer, b"hello")?;
    /// run(&mut network);
    /// assert_eq!(network.receive(accepted, &mut [0; 8], false), Err(Errno::EAGAIN));
    /// assert_eq!(network.receive(dialer, &mut [0; 8], false), Err(Errno::ETIMEDOUT), "it gave up");
    /// # Ok::<(), hostsim::errno::Errno>(())
    /// ```
    pub fn cut(&mut self, from: HostId, to: HostId) {
        self.set_cut(from, to, true);
    }

    /// Ends a cut.
    ///
    /// ```
    /// # use hostsim::{address::Domain, network::Network};
    /// # let mut network = Network::new();
    /// # let (client, server) = (network.add_host("client"), network.add_host("server"));
    /// # let run = |network: &mut Network| {
    /// #     while let Some(due) = network.agenda().earliest() {
    /// #         network.advance(due.max(network.now().next()));
    /// #         let event = network.take(0);
    /// #         network.deliver(event.key);
    /// #     }
    /// # };
    /// # let address = std::net::SocketAddr::new(network.address(server), 7);
    /// # let listener = network.socket(server, Domain::V4, true)?;
    /// # network.bind(listener, address)?;
    /// # network.listen(listener, 8)?;
    /// # let dialer = network.socket(client, Domain::V4, true)?;
    /// # network.connect(dialer, address).unwrap_err();
    /// # run(&mut network);
    /// # let (accepted, _) = network.accept(listener, true)?;
    /// network.cut(client, server);
    /// network.send(dialer, b"hello")?;
    /// network.heal(client, server);
    /// run(&mut network);
    /// assert!(network.now().elapsed().as_millis() >= 200, "it was sent again");
    /// assert_eq!(network.receive(accepted, &mut [0; 8], false), Ok(5));
    /// # Ok::<(), hostsim::errno::Errno>(())
    /// ```
    pub fn heal(&mut self, from: HostId, to: HostId) {
        self.set_cut(from, to, false);
    }

    fn set_cut(&mut self, from: HostId, to: HostId, is_cut: bool) {
        self.host_mut(from).links[to.0 as usize].is_cut = is_cut;
        if is_cut {
            self.lose_datagrams(|sender, receiver| (sender, receiver) == (from, to));
        }
        self.update_ways(|sender, receiver| (sender, receiver) == (from, to));
    }

    /// Takes a host off the network without a word, as a loss of power does: its connections end,
    /// and no segment leaves or reaches it until [`Network::unfence`]. What its program does
    /// meanwhile reaches nobody. Its peers learn of it by their timers, or by a RST for what they
    /// send once the host is back.
    ///
    /// ```
    /// use hostsim::errno::Errno;
    /// # use hostsim::{address::Domain, network::Network};
    /// # let mut network = Network::new();
    /// # let (client, server) = (network.add_host("client"), network.add_host("server"));
    /// # let run = |network: &mut Network| {
    /// #     while let Some(due) = network.agenda().earliest() {
    /// #         network.advance(due.max(network.now().next()));
    /// #         let event = network.take(0);
    /// #         network.deliver(event.key);
    /// #     }
    /// # };
    /// # let address = std::net::SocketAddr::new(network.address(server), 7);
    /// # let listener = network.socket(server, Domain::V4, true)?;
    /// # network.bind(listener, address)?;
    /// # network.listen(listener, 8)?;
    /// # let dialer = network.socket(client, Domain::V4, true)?;
    /// # network.connect(dialer, address).unwrap_err();
    /// # run(&mut network);
    /// # let (accepted, _) = network.accept(listener, true)?;
    /// network.fence(server);
    /// network.send(dialer, b"hello?")?;
    /// run(&mut network);
    /// assert_eq!(network.receive(dialer, &mut [0; 8], false), Err(Errno::ETIMEDOUT));
    /// # Ok::<(), hostsim::errno::Errno>(())
    /// ```
    pub fn fence(&mut self, host: HostId) {
        self.host_mut(host).is_fenced = true;
        self.lose_datagrams(|sender, receiver| sender == host || receiver == host);
        self.update_ways(|sender, receiver| sender == host || receiver == host);
        for id in (0..self.wires.len() as u32).map(WireId) {
            for side in 0..2 {
                self.vanish(id, side, host);
            }
        }
    }

    fn vanish(&mut self, id: WireId, side: SideIndex, host: HostId) {
        let Some(wire) = &mut self.wires[id.0 as usize] else { return };
        let own = &mut wire.sides[usize::from(side)];
        if own.host != host {
            return;
        }
        let listener = own.listener.take();
        match (&mut own.end, own.file) {
            (Some(end), Some(_)) => end.vanish(),
            (Some(end), None) => end.vanish_as_orphan(),
            (None, _) => {}
        }
        self.forget_sent(id, side);
        if let Some((backlog, _)) = listener.and_then(|file| self.kernel(host).listener_mut(file)) {
            backlog.handshaking.retain(|wire| *wire != id.0);
            backlog.queue.retain(|wire| *wire != id.0);
        }
        self.flush(id, side);
    }

    /// Puts a fenced host back on the network.
    ///
    /// ```
    /// use hostsim::errno::Errno;
    /// # use hostsim::{address::Domain, network::Network};
    /// # let mut network = Network::new();
    /// # let (client, server) = (network.add_host("client"), network.add_host("server"));
    /// # let run = |network: &mut Network| {
    /// #     while let Some(due) = network.agenda().earliest() {
    /// #         network.advance(due.max(network.now().next()));
    /// #         let event = network.take(0);
    /// #         network.deliver(event.key);
    /// #     }
    /// # };
    /// # let address = std::net::SocketAddr::new(network.address(server), 7);
    /// # let listener = network.socket(server, Domain::V4, true)?;
    /// # network.bind(listener, address)?;
    /// # network.listen(listener, 8)?;
    /// # let dialer = network.socket(client, Domain::V4, true)?;
    /// # network.connect(dialer, address).unwrap_err();
    /// # run(&mut network);
    /// # let (accepted, _) = network.accept(listener, true)?;
    /// network.fence(server);
    /// network.unfence(server);
    /// network.send(dialer, b"hello?")?;
    /// run(&mut network);
    /// let result = network.receive(dialer, &mut [0; 8], false);
    /// assert_eq!(result, Err(Errno::ECONNRESET), "the host knows nothing of the connection");
    /// # Ok::<(), hostsim::errno::Errno>(())
    /// ```
    pub fn unfence(&mut self, host: HostId) {
        self.host_mut(host).is_fenced = false;
        self.update_ways(|sender, receiver| sender == host || receiver == host);
    }

    /// Makes an end lose every segment that reaches it, or hear again: a listener then hears no
    /// SYN. Both ends of its connection live on.
    ///
    /// # Errors
    /// `EBADF`, `ENOTSOCK`.
    ///
    /// ```
    /// use hostsim::errno::Errno;
    /// # use hostsim::{address::Domain, network::Network};
    /// # let mut network = Network::new();
    /// # let (client, server) = (network.add_host("client"), network.add_host("server"));
    /// # let run = |network: &mut Network| {
    /// #     while let Some(due) = network.agenda().earliest() {
    /// #         network.advance(due.max(network.now().next()));
    /// #         let event = network.take(0);
    /// #         network.deliver(event.key);
    /// #     }
    /// # };
    /// # let address = std::net::SocketAddr::new(network.address(server), 7);
    /// # let listener = network.socket(server, Domain::V4, true)?;
    /// # network.bind(listener, address)?;
    /// # network.listen(listener, 8)?;
    /// # let dialer = network.socket(client, Domain::V4, true)?;
    /// # network.connect(dialer, address).unwrap_err();
    /// network.set_deaf(listener, true)?;
    /// run(&mut network);
    /// assert_eq!(network.connect(dialer, address), Err(Errno::ETIMEDOUT), "each SYN was lost");
    /// # Ok::<(), hostsim::errno::Errno>(())
    /// ```
    pub fn set_deaf(&mut self, at: Descriptor, is_deaf: bool) -> Sys<()> {
        if let Role::Listener(listener) = &mut self.socket_of(at)?.role {
            listener.is_deaf = is_deaf;
        } else if let Some((id, side)) = self.wire_of(at)? {
            self.wire(id).sides[usize::from(side)].orders.is_deaf = is_deaf;
            self.update_way(id, side ^ 1);
        }
        Ok(())
    }

    /// Holds what an end of a connection sends, until [`Network::release`]; a handshake is let
    /// through. A connection that is over is left alone.
    ///
    /// ```
    /// use hostsim::errno::Errno;
    /// use hostsim::network::WireId;
    /// # use hostsim::{address::Domain, network::Network};
    /// # let mut network = Network::new();
    /// # let (client, server) = (network.add_host("client"), network.add_host("server"));
    /// # let run = |network: &mut Network| {
    /// #     while let Some(due) = network.agenda().earliest() {
    /// #         network.advance(due.max(network.now().next()));
    /// #         let event = network.take(0);
    /// #         network.deliver(event.key);
    /// #     }
    /// # };
    /// # let address = std::net::SocketAddr::new(network.address(server), 7);
    /// # let listener = network.socket(server, Domain::V4, true)?;
    /// # network.bind(listener, address)?;
    /// # network.listen(listener, 8)?;
    /// # let dialer = network.socket(client, Domain::V4, true)?;
    /// # network.connect(dialer, address).unwrap_err();
    /// # run(&mut network);
    /// # let (accepted, _) = network.accept(listener, true)?;
    /// network.hold(WireId(0), 1);
    /// network.send(accepted, b"late")?;
    /// // What the other end sends arrives; but it hears nothing, no acknowledgment either.
    /// network.send(dialer, b"request")?;
    /// run(&mut network);
    /// assert_eq!(network.receive(accepted, &mut [0; 8], false), Ok(7));
    /// assert_eq!(network.receive(dialer, &mut [0; 8], false), Err(Errno::ETIMEDOUT));
    /// # Ok::<(), hostsim::errno::Errno>(())
    /// ```
    pub fn hold(&mut self, id: WireId, from: SideIndex) {
        self.hold_after(id, from, 0);
    }

    /// Holds what an end of a connection sends once so many more bytes of it arrived: "the request
    /// was processed and the reply was lost".
    ///
    /// ```
    /// use hostsim::network::WireId;
    /// # use hostsim::{address::Domain, network::Network};
    /// # let mut network = Network::new();
    /// # let (client, server) = (network.add_host("client"), network.add_host("server"));
    /// # let run = |network: &mut Network| {
    /// #     while let Some(due) = network.agenda().earliest() {
    /// #         network.advance(due.max(network.now().next()));
    /// #         let event = network.take(0);
    /// #         network.deliver(event.key);
    /// #     }
    /// # };
    /// # let address = std::net::SocketAddr::new(network.address(server), 7);
    /// # let listener = network.socket(server, Domain::V4, true)?;
    /// # network.bind(listener, address)?;
    /// # network.listen(listener, 8)?;
    /// # let dialer = network.socket(client, Domain::V4, true)?;
    /// # network.connect(dialer, address).unwrap_err();
    /// # run(&mut network);
    /// # let (accepted, _) = network.accept(listener, true)?;
    /// network.hold_after(WireId(0), 1, 2);
    /// network.send(accepted, b"reply")?;
    /// run(&mut network);
    /// assert_eq!(network.receive(dialer, &mut [0; 8], false), Ok(2), "the rest is lost");
    /// # Ok::<(), hostsim::errno::Errno>(())
    /// ```
    pub fn hold_after(&mut self, id: WireId, from: SideIndex, bytes: u64) {
        if !self.is_alive(id) {
            return;
        }
        let (sender, receiver) = self.wire(id).ends(from);
        let arrived = receiver.end.as_ref().map_or(0, Connection::arrived);
        sender.orders.held_from = Some(arrived + bytes);
        self.update_way(id, from);
    }

    /// Ends a hold, and the deafness of who should hear.
    ///
    /// ```
    /// use hostsim::network::WireId;
    /// # use hostsim::{address::Domain, network::Network};
    /// # let mut network = Network::new();
    /// # let (client, server) = (network.add_host("client"), network.add_host("server"));
    /// # let run = |network: &mut Network| {
    /// #     while let Some(due) = network.agenda().earliest() {
    /// #         network.advance(due.max(network.now().next()));
    /// #         let event = network.take(0);
    /// #         network.deliver(event.key);
    /// #     }
    /// # };
    /// # let address = std::net::SocketAddr::new(network.address(server), 7);
    /// # let listener = network.socket(server, Domain::V4, true)?;
    /// # network.bind(listener, address)?;
    /// # network.listen(listener, 8)?;
    /// # let dialer = network.socket(client, Domain::V4, true)?;
    /// # network.connect(dialer, address).unwrap_err();
    /// # run(&mut network);
    /// # let (accepted, _) = network.accept(listener, true)?;
    /// network.hold_after(WireId(0), 1, 2);
    /// network.send(accepted, b"reply")?;
    /// network.release(WireId(0), 1);
    /// run(&mut network);
    /// assert_eq!(network.receive(dialer, &mut [0; 8], false), Ok(5));
    /// # Ok::<(), hostsim::errno::Errno>(())
    /// ```
    pub fn release(&mut self, id: WireId, from: SideIndex) {
        if self.is_alive(id) {
            let (sender, receiver) = self.wire(id).ends(from);
            (sender.orders.is_held, sender.orders.held_from) = (false, None);
            receiver.orders.is_deaf = false;
            self.update_way(id, from);
        }
    }

    /// Whether something of a connection is left.
    pub(crate) fn is_alive(&self, id: WireId) -> bool {
        self.wires.get(id.0 as usize).is_some_and(Option::is_some)
    }

    fn update_ways(&mut self, is_meant: impl Fn(HostId, HostId) -> bool) {
        for id in (0..self.wires.len() as u32).map(WireId) {
            for from in 0..2 {
                let Some(wire) = &mut self.wires[id.0 as usize] else { continue };
                let (sender, receiver) = wire.ends(from);
                if is_meant(sender.host, receiver.host) {
                    self.update_way(id, from);
                }
            }
        }
    }

    /// Whether what an end sends is lost.
    pub(super) fn is_way_silent(&self, id: WireId, from: SideIndex) -> bool {
        let Some(wire) = &self.wires[id.0 as usize] else { return false };
        let [sender, receiver] = [from, from ^ 1].map(|side| &wire.sides[usize::from(side)]);
        let way = self.host(sender.host).links[receiver.host.0 as usize];
        let is_fenced = self.host(sender.host).is_fenced || self.host(receiver.host).is_fenced;
        let is_cut = way.is_cut && wire.route.is_none();
        let is_foreign = sender.host != receiver.host && sender.local.ip().is_loopback();
        is_cut || is_fenced || is_foreign || receiver.orders.is_deaf || sender.orders.is_held
    }

    /// Brings a direction up to date with what is ordered for it.
    pub(super) fn update_way(&mut self, id: WireId, from: SideIndex) {
        self.catch_up(id, from);
        self.update_hold(id, from);
        let is_silent = self.is_way_silent(id, from);
        let now = self.now;
        let wire = self.wire(id);
        let sender = wire.ends(from).0;
        if sender.is_silent == is_silent {
            return;
        }
        sender.is_silent = is_silent;
        if is_silent {
            wire.troubled_since.get_or_insert(now);
            self.lose(id, from);
        } else {
            self.recover(id, from);
        }
        self.reschedule(id, from);
        self.rearm(id);
        self.collect_wire(id);
    }

    /// Turns "held from an offset on" into "held" once the bytes before it arrived. A handshake is
    /// let through.
    fn update_hold(&mut self, id: WireId, from: SideIndex) {
        let (sender, receiver) = self.wire(id).ends(from);
        let is_open = |end: &&Connection| !end.state().is_handshaking();
        let Some(end) = receiver.end.as_ref().filter(is_open) else { return };
        let arrived = end.arrived();
        if sender.orders.held_from.is_some_and(|offset| arrived >= offset) {
            (sender.orders.is_held, sender.orders.held_from) = (true, None);
        }
    }

    /// What is under way is lost: a RST for good.
    fn lose(&mut self, id: WireId, from: SideIndex) {
        let now = self.now;
        let sender = self.wire(id).ends(from).0;
        let is_reset = |segment: &Segment| segment.flags.has(Flags::RST);
        if sender.flight.iter().any(|next| is_reset(&next.segment)) {
            self.lose_reset(id, from);
        } else if sender.flight.iter().any(|next| next.segment.flags != Flags::SYN) {
            sender.lost_since.get_or_insert(now);
        }
    }

    /// What an end sent and has not arrived never will, and is not sent again: the end is gone. Who
    /// dials it asks again.
    pub(super) fn forget_sent(&mut self, id: WireId, side: SideIndex) {
        let (own, peer) = self.wire(id).ends(side);
        own.flight.clear();
        own.lost_since = None;
        let is_dialed = peer.end.as_ref().is_some_and(|end| end.state() == State::SynSent);
        if side == 0 {
            self.cancel_dial(id);
        }
        if is_dialed {
            self.on_dropped_syn(id, side ^ 1);
        }
        self.reschedule(id, side);
    }

    /// A RST is lost, and with it all that its sender would have sent again. A peer that waits for
    /// an acknowledgment asks again and is answered again: for it the RST is only late.
    ///
    /// Says whether it is.
    pub(super) fn lose_reset(&mut self, id: WireId, from: SideIndex) -> bool {
        let now = self.now;
        let (sender, receiver) = self.wire(id).ends(from);
        let peer = receiver.end.as_ref();
        let is_late = peer.is_some_and(Connection::awaits_ack) && sender.end.is_some();
        let is_dialing = peer.is_some_and(|end| end.state() == State::SynSent);
        sender.flight.retain(|next| is_late && next.segment.flags.has(Flags::RST));
        sender.lost_since = is_late.then(|| sender.lost_since.unwrap_or(now));
        if let (Some(end), false) = (&mut sender.end, is_late) {
            end.unsay();
        }
        self.reschedule(id, from ^ 1);
        if is_dialing {
            self.on_dropped_syn(id, from ^ 1);
        }
        is_late
    }

    /// The way is open: what was lost arrives with its next retransmission.
    fn recover(&mut self, id: WireId, from: SideIndex) {
        let (sender, receiver) = self.wire(id).ends(from);
        let wants_ack = receiver.end.as_ref().is_some_and(Connection::wants_ack);
        // Acknowledgments that nobody waits for come with whatever is sent next.
        let is_seen = sender.flight.iter().any(|f| wants_ack || !f.segment.is_pure_ack());
        let Some(since) = sender.lost_since.filter(|_| is_seen) else {
            sender.lost_since = None;
            return;
        };
        let is_answer = sender.end.as_ref().is_some_and(|end| end.state() == State::SynReceived);
        let schedule = match is_answer {
            true => Schedule::doubling(HANDSHAKE_TIMEOUT),
            false => Schedule::retransmission(self.round_trip(id)),
        };
        let sent = schedule.first_from(since, self.now);
        let latency = self.latency(id, from);
        for next in &mut self.wire(id).ends(from).0.flight {
            next.due = next.due.max(sent + latency);
        }
    }

    /// Whether a segment that is sent now is lost; what follows from that is done here.
    pub(super) fn is_lost(&mut self, id: WireId, from: SideIndex, flags: Flags) -> bool {
        let now = self.now;
        let sender = self.wire(id).ends(from).0;
        if !sender.is_silent {
            // Acknowledgments say no more than the one that is sent now, and a RST says the last.
            let is_ack_only = sender.flight.iter().all(|next| next.segment.is_pure_ack());
            if sender.lost_since.is_some() && (is_ack_only || flags.has(Flags::RST)) {
                sender.flight.clear();
                sender.lost_since = None;
            }
            return false;
        }
        if flags.has(Flags::RST) {
            return !self.lose_reset(id, from);
        }
        if flags != Flags::SYN {
            sender.lost_since.get_or_insert(now);
        }
        false
    }

    /// Cuts the next segment of a direction in two where a hold begins within it. Bytes that came
    /// with the end of a handshake are cut from it.
    pub(super) fn split_at_hold(&mut self, id: WireId, from: SideIndex) {
        let (sender, receiver) = self.wire(id).ends(from);
        let (Some(offset), Some(next)) = (sender.orders.held_from, sender.flight.front().copied())
        else {
            return;
        };
        let head = offset.saturating_sub(next.segment.seq);
        let state = receiver.end.as_ref().map(Connection::state);
        if head == 0 && !next.segment.is_pure_ack() && state == Some(State::SynReceived) {
            let segment = Segment { flags: Flags::ACK, len: 0, ..next.segment };
            sender.flight.push_front(InFlight { segment, ..next });
            return;
        }
        if next.segment.len == 0 || head == 0 || head >= u64::from(next.segment.len) {
            return;
        }
        sender.split(0, head as u32);
    }
}
