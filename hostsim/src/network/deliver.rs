//! Delivery: a segment reaches its host.

use super::order::Dials;
use super::wire::{Side, SideIndex, WireId};
use super::{Network, dial_key};
use crate::address::Claim;
use crate::agenda::{Class, Key};
use crate::clock::Instant;
use crate::kernel::{FileId, HostId};
use crate::tcp::{Connection, Flags, Payload, Segment, State};

/// A segment that reached its host.
///
/// ```
/// use hostsim::tcp::Flags;
/// use std::cell::RefCell;
/// use std::rc::Rc;
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
/// let seen = Rc::new(RefCell::new(Vec::new()));
/// let trace = seen.clone();
/// network.observe(Box::new(move |_now, delivery| {
///     trace.borrow_mut().push((delivery.side, delivery.segment.flags));
/// }));
/// run(&mut network);
/// let handshake = [(0, Flags::SYN), (1, Flags::SYN | Flags::ACK), (0, Flags::ACK)];
/// assert_eq!(*seen.borrow(), handshake);
/// # Ok::<(), hostsim::errno::Errno>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Delivery<'a> {
    /// The connection.
    pub wire: WireId,
    /// Which end sent it.
    pub side: SideIndex,
    /// The sender's host.
    pub from: HostId,
    /// The receiver's host.
    pub to: HostId,
    /// When the sender let it go.
    pub sent: Instant,
    /// The state of the receiver's end before it came; `None` where there is no end.
    pub state: Option<State>,
    /// The segment.
    pub segment: &'a Segment,
    /// The bytes it carries.
    pub payload: Payload<'a>,
}

/// Who is told of deliveries.
///
/// ```
/// use hostsim::network::Observer;
/// use std::cell::Cell;
/// use std::rc::Rc;
/// # use hostsim::{address::Domain, network::Network};
/// # let mut network = Network::new();
/// # let host = network.add_host("alone");
/// # let address = std::net::SocketAddr::from(([127, 0, 0, 1], 7));
/// # let listener = network.socket(host, Domain::V4, true)?;
/// # network.bind(listener, address)?;
/// # network.listen(listener, 8)?;
/// # let dialer = network.socket(host, Domain::V4, true)?;
/// let count = Rc::new(Cell::new(0));
/// let counted = count.clone();
/// let observer: Observer = Box::new(move |_now, _delivery| counted.set(counted.get() + 1));
/// network.observe(observer);
/// network.connect(dialer, address).unwrap_err(); // EINPROGRESS
/// assert_eq!(count.get(), 3, "SYN, SYN-ACK and ACK, at once within a host");
/// # Ok::<(), hostsim::errno::Errno>(())
/// ```
pub type Observer = Box<dyn FnMut(Instant, &Delivery<'_>)>;

impl Network {
    /// Makes an event of the network happen that was taken from the agenda.
    ///
    /// # Panics
    /// Where the event is not one of the network's.
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
    /// network.advance(network.agenda().earliest().expect("a SYN is under way"));
    /// let event = network.take(0);
    /// network.deliver(event.key);
    /// let answer = network.pending().next().expect("the SYN-ACK is under way");
    /// assert_eq!((answer.key.major, answer.key.minor), (event.key.major, 1), "the way back");
    /// # Ok::<(), hostsim::errno::Errno>(())
    /// ```
    pub fn deliver(&mut self, key: Key) {
        let wire = WireId(key.major);
        match key.class {
            Class::Delivery => {
                let side = key.minor as SideIndex;
                self.wire(wire).ends(side).0.scheduled = None;
                while self.has_next(wire, side) && !self.deliver_next(wire, side) {}
                self.reschedule(wire, side);
            }
            Class::Datagram => self.deliver_datagram(key),
            Class::KernelTimer if key == dial_key(wire) => self.on_dial_timer(wire),
            Class::KernelTimer => self.on_vigil(wire, (key.minor - 1) as SideIndex),
            class => panic!("an event of class {class:?} is not the network's"),
        }
    }

    /// Delivers what is under way within a host, which takes no time and no choice.
    pub(super) fn deliver_locally(&mut self) {
        if self.is_delivering_locally {
            return;
        }
        self.is_delivering_locally = true;
        while let Some((wire, side)) = self.local.pop_front() {
            while self.has_next(wire, side) && !self.has_lost(wire, side) {
                self.deliver_next(wire, side);
            }
        }
        self.is_delivering_locally = false;
    }

    fn has_next(&self, wire: WireId, side: SideIndex) -> bool {
        let wire = self.wires[wire.0 as usize].as_ref();
        wire.is_some_and(|wire| wire.sides[usize::from(side)].has_next())
    }

    fn has_lost(&self, wire: WireId, side: SideIndex) -> bool {
        let wire = self.wires[wire.0 as usize].as_ref();
        wire.is_some_and(|wire| wire.sides[usize::from(side)].lost_since.is_some())
    }

    /// Lets quiet segments that arrived by now take effect, before a call looks.
    pub(super) fn catch_up(&mut self, id: WireId, from: SideIndex) {
        let now = self.now;
        let is_due = |side: &Side| side.flight.front().is_some_and(|f| f.is_quiet && f.due <= now);
        loop {
            let (sender, receiver) = self.wire(id).ends(from);
            let is_event = receiver.end.as_ref().is_some_and(Connection::wants_ack);
            if is_event || sender.is_silent || !is_due(sender) {
                return;
            }
            self.deliver_next(id, from);
        }
    }

    /// Delivers the next segment of a direction; whether somebody could see it arrive.
    fn deliver_next(&mut self, id: WireId, side: SideIndex) -> bool {
        let now = self.now;
        if self.wire(id).route.is_some() {
            self.choose_host(id, side);
        }
        let orders = self.wire(id).ends(side).0.orders;
        if orders.held_from.is_some() {
            self.split_at_hold(id, side);
        }
        if let Some(pace) = orders.pace {
            self.cut_to_pace(id, side, pace);
        }
        let (sender, receiver) = self.wire(id).ends(side);
        let next = sender.flight.pop_front().expect("the caller looked");
        if sender.is_silent {
            self.on_dropped_syn(id, side);
            self.collect_wire(id);
            return true;
        }
        receiver.heard = now;
        let segment = next.segment;
        let to = receiver.host;
        if sender.lost_since.take().is_some() {
            // What waited behind it within a host follows at once.
            self.local.push_back((id, side));
        }
        let (_, receiver) = self.wire(id).ends(side);
        let wants_ack = receiver.end.as_ref().is_some_and(Connection::wants_ack);
        let is_seen = !next.is_quiet || wants_ack;
        if is_seen {
            self.tell(id, side, next.sent, &segment);
        }
        let (sender, receiver) = self.wire(id).ends(side);
        let Some(end) = &mut receiver.end else {
            self.on_stray(id, side, to, &segment);
            self.collect_wire(id);
            return true;
        };
        let payload = sender.end.as_ref().map_or(Payload::default(), |end| end.payload(&segment));
        let effect = end.on_segment(&segment, payload);
        if effect.is_accepted {
            self.on_accepted(id, side ^ 1, to);
        }
        if let Some(file) = self.wire(id).ends(side).1.file {
            self.wake(to, file, effect.wake);
        }
        self.on_end_of_handshake(id, side ^ 1);
        self.flush(id, side ^ 1);
        if orders.pace.is_some() {
            self.keep_pace(id, side);
        }
        if self.is_alive(id) && self.wire(id).ends(side).0.orders.held_from.is_some() {
            self.update_way(id, side);
        }
        is_seen
    }

    fn tell(&mut self, id: WireId, side: SideIndex, sent: Instant, segment: &Segment) {
        let Some(mut observer) = self.observer.take() else { return };
        let now = self.now;
        let (sender, receiver) = self.wire(id).ends(side);
        let payload = sender.end.as_ref().map_or(Payload::default(), |end| end.payload(segment));
        let (from, to) = (sender.host, receiver.host);
        let state = receiver.end.as_ref().map(Connection::state);
        observer(now, &Delivery { wire: id, side, from, to, sent, state, segment, payload });
        self.observer = Some(observer);
    }

    /// A segment for which its host has no end: a SYN may meet a listener.
    fn on_stray(&mut self, id: WireId, side: SideIndex, to: HostId, segment: &Segment) {
        if segment.flags.has(Flags::RST) {
            return;
        }
        let is_to_nobody = self.wire(id).route.is_some();
        if segment.flags != Flags::SYN || is_to_nobody {
            return self.refuse(id, side, segment);
        }
        match self.host(to).dials {
            Dials::Open => {}
            Dials::Refused => return self.refuse(id, side, segment),
            Dials::Dropped => return self.on_dropped_syn(id, side),
        }
        let address = self.wire(id).ends(side).1.local;
        match self.host(to).ports.listener(address) {
            Some(file) => self.on_syn(id, side, to, file, segment),
            None => self.refuse(id, side, segment),
        }
    }

    /// Answers with a RST (row A01).
    fn refuse(&mut self, id: WireId, side: SideIndex, segment: &Segment) {
        let flags = Flags::RST | Flags::ACK;
        let ack = segment.seq + u64::from(segment.len);
        self.transmit(id, side ^ 1, Segment { flags, seq: segment.ack, ack, window: 0, len: 0 });
        self.deliver_locally();
    }

    fn on_syn(&mut self, id: WireId, side: SideIndex, to: HostId, file: FileId, syn: &Segment) {
        let Some((listener, options)) = self.kernel(to).listener_mut(file) else {
            return self.refuse(id, side, syn);
        };
        if listener.is_full() || listener.is_deaf {
            return self.on_dropped_syn(id, side);
        }
        listener.handshaking.push(id.0);
        let receiver = self.wire(id).ends(side).1;
        let end = Connection::accepting(syn, options.send_limit, options.receive_limit);
        receiver.end = Some(end);
        receiver.listener = Some(file);
        let local = receiver.local;
        let claim = Claim {
            ip: local.ip(),
            is_dual: !options.is_v6_only,
            reuses_address: options.reuses_address,
            reuses_port: options.reuses_port,
            listener: None,
            is_dialed: false,
        };
        let claim = self.host_mut(to).ports.insert(local.port(), claim);
        self.wire(id).ends(side).1.claim = Some(claim);
        self.flush(id, side ^ 1);
    }

    /// A connection is established: it waits to be accepted.
    fn on_accepted(&mut self, id: WireId, side: SideIndex, host: HostId) {
        let Some(file) = self.wire(id).sides[usize::from(side)].listener else { return };
        let Some((listener, options)) = self.kernel(host).listener_mut(file) else { return };
        listener.handshaking.retain(|wire| *wire != id.0);
        listener.queue.push_back(id.0);
        self.wire(id).sides[usize::from(side)].options = Some(options);
        self.wake(host, file, crate::tcp::Readiness::IN);
    }

    /// Forgets a connection that was reset while its handshake went on.
    pub(super) fn on_end_of_handshake(&mut self, id: WireId, side: SideIndex) {
        let receiver = &mut self.wire(id).sides[usize::from(side)];
        let is_over = receiver.end.as_ref().is_some_and(|end| end.state() == State::Closed);
        let (Some(file), true) = (receiver.listener, is_over) else { return };
        let host = receiver.host;
        let Some((listener, _)) = self.kernel(host).listener_mut(file) else { return };
        if let Some(at) = listener.handshaking.iter().position(|wire| *wire == id.0) {
            listener.handshaking.remove(at);
            let receiver = &mut self.wire(id).sides[usize::from(side)];
            receiver.listener = None;
            receiver.end.as_mut().expect("it was there").close(false);
        }
    }

    /// The events of the network that are pending, in canonical order.
    ///
    /// ```
    /// use hostsim::agenda::{Class, Key};
    /// use hostsim::clock::Instant;
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
    /// network.schedule(Instant(5), Key { class: Class::Operation, major: 0, minor: 0 });
    /// assert_eq!((network.pending().count(), network.agenda().iter().count()), (1, 2));
    /// assert_eq!(network.pending().next().map(|event| event.key.class), Some(Class::Delivery));
    /// # Ok::<(), hostsim::errno::Errno>(())
    /// ```
    pub fn pending(&self) -> impl Iterator<Item = crate::agenda::Scheduled> + '_ {
        let is_own =
            |class| matches!(class, Class::Delivery | Class::Datagram | Class::KernelTimer);
        self.agenda.iter().filter(move |event| is_own(event.key.class))
    }
}
