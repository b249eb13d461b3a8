//! Orders: what else may befall a connection between correct kernels.
//!
//! Each is something that TCP lets happen: a box on the way resets a connection that it forgot
//! (RFC 9293, 3.10.7), a host refuses dials or drops them (rows A01, F01), a program is late to
//! accept (row A08) or to read (row D05), and a segment arrives in pieces (RFC 9293, 3.8). None
//! loses, repeats, reorders or changes bytes within a stream. What makes a way silent is
//! `silence`.

use super::Network;
use super::wire::{InFlight, SideIndex, WireId};
use crate::agenda::{Class, Key};
use crate::kernel::{HostId, Object, Role, Socket};
use crate::tcp::{Connection, Flags, Payload, Readiness, Segment, State};
use std::net::SocketAddr;
use std::time::Duration;

/// What becomes of the SYNs that reach a host.
///
/// ```
/// use hostsim::errno::Errno;
/// use hostsim::network::Dials;
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
/// network.set_dials(server, Dials::Dropped);
/// run(&mut network);
/// assert_eq!(network.connect(dialer, address), Err(Errno::ETIMEDOUT));
/// network.set_dials(server, Dials::Open);
/// network.connect(dialer, address).unwrap_err(); // EINPROGRESS
/// run(&mut network);
/// assert_eq!(network.connect(dialer, address), Ok(()));
/// # Ok::<(), hostsim::errno::Errno>(())
/// ```
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
///
/// ```
/// use hostsim::network::{Pace, WireId};
/// use std::time::Duration;
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
/// let pace = Pace { bytes: 1, every: Duration::from_secs(1) };
/// network.set_pace(WireId(0), 0, Some(pace));
/// network.send(dialer, b"slowly")?;
/// run(&mut network);
/// assert_eq!(network.now().elapsed().as_secs(), 5, "the first byte waits for nothing");
/// # Ok::<(), hostsim::errno::Errno>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// Bytes at a time, at least one.
    pub bytes: u32,
    /// The time between two deliveries.
    pub every: Duration,
}

/// A connection, as those see it who give orders.
///
/// ```
/// use hostsim::address::Domain;
/// use hostsim::errno::Errno;
/// use hostsim::network::{Dials, Network, Pace};
/// use hostsim::tcp::State;
/// use std::net::SocketAddr;
/// use std::time::Duration;
///
/// /// Lets a second pass.
/// fn pass(network: &mut Network) {
///     let end = network.now() + Duration::from_secs(1);
///     while let Some(due) = network.agenda().earliest().filter(|due| *due <= end) {
///         network.advance(due.max(network.now().next()));
///         let event = network.take(0);
///         network.deliver(event.key);
///     }
///     network.advance(end.max(network.now()));
/// }
///
/// let mut network = Network::new();
/// let (client, server) = (network.add_host("client"), network.add_host("server"));
/// let address = SocketAddr::new(network.address(server), 7);
/// let listener = network.socket(server, Domain::V4, true).unwrap();
/// network.bind(listener, address).unwrap();
/// network.listen(listener, 8).unwrap();
/// assert!(network.listens(server, address));
///
/// let dialer = network.socket(client, Domain::V4, true).unwrap();
/// network.connect(dialer, address).unwrap_err(); // EINPROGRESS
/// pass(&mut network);
/// network.set_accepting(server, false);
/// assert_eq!(network.accept(listener, true).unwrap_err(), Errno::EAGAIN);
/// network.set_accepting(server, true);
/// let (accepted, _) = network.accept(listener, true).unwrap();
///
/// // The dialer is the end 0, the acceptor the end 1.
/// let view = network.connections().next().expect("it stands");
/// assert_eq!((view.hosts, view.states), ([client, server], [State::Established; 2]));
/// network.hold(view.wire, 0);
/// network.send(dialer, b"held").unwrap();
/// pass(&mut network);
/// assert_eq!(network.connection(view.wire).unwrap().unacknowledged, [4, 0]);
/// network.release(view.wire, 0);
/// pass(&mut network);
/// assert_eq!(network.receive(accepted, &mut [0; 9], false), Ok(4));
///
/// // The rest of a reply is late; then replies are slow.
/// network.hold_after(view.wire, 1, 2);
/// network.send(accepted, b"reply").unwrap();
/// pass(&mut network);
/// assert_eq!(network.receive(dialer, &mut [0; 9], false), Ok(2));
/// network.release(view.wire, 1);
/// pass(&mut network);
/// assert_eq!(network.receive(dialer, &mut [0; 9], false), Ok(3));
/// network.set_pace(view.wire, 1, Some(Pace { bytes: 1, every: Duration::from_millis(400) }));
/// network.send(accepted, b"slowly").unwrap();
/// pass(&mut network);
/// assert_eq!(network.receive(dialer, &mut [0; 9], false), Ok(3));
///
/// network.reset(view.wire);
/// pass(&mut network);
/// assert_eq!(network.receive(dialer, &mut [0; 9], false), Err(Errno::ECONNRESET));
/// network.set_dials(server, Dials::Refused);
/// let again = network.socket(client, Domain::V4, true).unwrap();
/// network.connect(again, address).unwrap_err(); // EINPROGRESS
/// pass(&mut network);
/// assert_eq!(network.connect(again, address), Err(Errno::ECONNREFUSED));
/// assert_eq!(network.dialed(), 2);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionView {
    /// Its number, in the order of the dials.
    pub wire: WireId,
    /// The hosts: who dialed, who was dialed.
    pub hosts: [HostId; 2],
    /// Whether the second is known. Until a route has chosen one, the dialer's stands for it, with
    /// the address of the route.
    pub has_host: bool,
    /// Their addresses, in canonical form.
    pub addresses: [SocketAddr; 2],
    /// The states of the ends; closed where there is none yet or any more.
    pub states: [State; 2],
    /// The bytes that each end wrote and that are not acknowledged.
    pub unacknowledged: [usize; 2],
}

impl Network {
    /// The connections of which something is left, in the order of their dials.
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
    /// let view = network.connections().next().expect("one stands");
    /// assert_eq!(view.hosts, [client, server]);
    /// network.close(dialer)?;
    /// network.close(accepted)?;
    /// run(&mut network);
    /// assert_eq!(network.connections().count(), 0, "nothing is left of it");
    /// # Ok::<(), hostsim::errno::Errno>(())
    /// ```
    pub fn connections(&self) -> impl Iterator<Item = ConnectionView> + '_ {
        let wires = self.wires.iter().enumerate();
        wires.filter_map(|(id, _)| self.connection(WireId(id as u32)))
    }

    /// One of them.
    ///
    /// ```
    /// use hostsim::network::WireId;
    /// use hostsim::tcp::State;
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
    /// let view = network.connection(WireId(0)).expect("it was dialed");
    /// assert_eq!(view.states, [State::SynSent, State::Closed]);
    /// run(&mut network);
    /// let view = network.connection(WireId(0)).expect("it stands");
    /// assert_eq!((view.states, view.addresses[1]), ([State::Established; 2], address));
    /// # Ok::<(), hostsim::errno::Errno>(())
    /// ```
    pub fn connection(&self, id: WireId) -> Option<ConnectionView> {
        let wire = self.wires.get(id.0 as usize)?.as_ref()?;
        let sides = &wire.sides;
        let end = |side: usize| sides[side].end.as_ref();
        Some(ConnectionView {
            wire: id,
            hosts: [0, 1].map(|side| sides[side].host),
            has_host: wire.route.is_none(),
            addresses: [0, 1].map(|side| sides[side].local),
            states: [0, 1].map(|side| end(side).map_or(State::Closed, |end| end.state())),
            unacknowledged: [0, 1].map(|side| end(side).map_or(0, |end| end.unacknowledged())),
        })
    }

    /// How many connections were dialed so far.
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
    /// network.reset(WireId(0));
    /// network.close(dialer)?;
    /// network.close(accepted)?;
    /// assert_eq!((network.dialed(), network.connections().count()), (1, 0));
    /// # Ok::<(), hostsim::errno::Errno>(())
    /// ```
    pub fn dialed(&self) -> u32 {
        self.wires.len() as u32
    }

    /// Resets an end of a connection, as a box on the way does that forgot it: what the end sent and
    /// has not arrived is lost with it. The other end learns of it when it sends. An end that is
    /// over hears nothing.
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
    /// network.reset_end(WireId(0), 1);
    /// run(&mut network);
    /// let mut bytes = [0; 8];
    /// assert_eq!(network.receive(accepted, &mut bytes, false), Err(Errno::ECONNRESET));
    /// assert_eq!(network.receive(dialer, &mut bytes, false), Err(Errno::EAGAIN), "not told yet");
    /// network.send(dialer, b"hello?")?;
    /// run(&mut network);
    /// assert_eq!(network.receive(dialer, &mut bytes, false), Err(Errno::ECONNRESET));
    /// # Ok::<(), hostsim::errno::Errno>(())
    /// ```
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
    /// network.reset(WireId(0));
    /// for end in [dialer, accepted] {
    ///     assert_eq!(network.receive(end, &mut [0; 8], false), Err(Errno::ECONNRESET));
    /// }
    /// # Ok::<(), hostsim::errno::Errno>(())
    /// ```
    pub fn reset(&mut self, id: WireId) {
        self.reset_end(id, 0);
        self.reset_end(id, 1);
    }

    /// Sets what becomes of the SYNs that reach a host from now on. Its connections live on.
    ///
    /// ```
    /// use hostsim::errno::Errno;
    /// use hostsim::network::Dials;
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
    /// network.set_dials(server, Dials::Refused);
    /// let other = network.socket(client, Domain::V4, true)?;
    /// network.connect(other, address).unwrap_err(); // EINPROGRESS
    /// run(&mut network);
    /// assert_eq!(network.connect(other, address), Err(Errno::ECONNREFUSED));
    /// assert_eq!(network.send(dialer, b"hello"), Ok(5), "what stands lives on");
    /// # Ok::<(), hostsim::errno::Errno>(())
    /// ```
    pub fn set_dials(&mut self, host: HostId, dials: Dials) {
        self.host_mut(host).dials = dials;
    }

    /// Keeps the programs of a host from accepting, or lets them: connections then wait in their
    /// backlogs.
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
    /// network.set_accepting(server, false);
    /// run(&mut network);
    /// assert_eq!(network.connect(dialer, address), Ok(()), "the backlog has room");
    /// assert_eq!(network.accept(listener, true), Err(Errno::EAGAIN));
    /// network.set_accepting(server, true);
    /// assert!(network.accept(listener, true).is_ok());
    /// # Ok::<(), hostsim::errno::Errno>(())
    /// ```
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
    ///
    /// ```
    /// use hostsim::network::{Pace, WireId};
    /// use std::time::Duration;
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
    /// let pace = Pace { bytes: 2, every: Duration::from_secs(1) };
    /// network.set_pace(WireId(0), 1, Some(pace));
    /// network.send(accepted, b"reply")?;
    /// network.advance(network.agenda().earliest().expect("a segment is under way"));
    /// let event = network.take(0);
    /// network.deliver(event.key);
    /// assert_eq!(network.receive(dialer, &mut [0; 8], false), Ok(2));
    /// network.set_pace(WireId(0), 1, None);
    /// run(&mut network);
    /// assert_eq!(network.receive(dialer, &mut [0; 8], false), Ok(3));
    /// # Ok::<(), hostsim::errno::Errno>(())
    /// ```
    pub fn set_pace(&mut self, id: WireId, from: SideIndex, pace: Option<Pace>) {
        if self.is_alive(id) {
            self.wire(id).sides[usize::from(from)].orders.pace = pace;
        }
    }

    /// How many bytes the segment carries that an event of the network would deliver; zero for what
    /// carries none.
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
    /// network.send(dialer, b"hello")?;
    /// network.advance(network.agenda().earliest().expect("a segment is under way"));
    /// let key = network.agenda().ready()[0].key;
    /// assert_eq!(network.next_length(key), 5);
    /// # Ok::<(), hostsim::errno::Errno>(())
    /// ```
    pub fn next_length(&self, event: Key) -> u32 {
        self.next_segment(event).map_or(0, |(_, _, at)| at.segment.len)
    }

    /// Cuts the segment that an event of the network would deliver: so many bytes of it come first,
    /// the rest is another.
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
    /// network.send(dialer, b"hello")?;
    /// network.advance(network.agenda().earliest().expect("a segment is under way"));
    /// let key = network.agenda().ready()[0].key;
    /// // A short read: the first two bytes come alone.
    /// network.cut_next(key, 2);
    /// network.take(0);
    /// network.deliver(key);
    /// assert_eq!(network.receive(accepted, &mut [0; 8], false), Ok(2));
    /// # Ok::<(), hostsim::errno::Errno>(())
    /// ```
    pub fn cut_next(&mut self, event: Key, bytes: u32) {
        let next = self.next_segment(event).filter(|(.., at)| (1..at.segment.len).contains(&bytes));
        if let Some((index, from, _)) = next {
            self.wire(WireId(event.major)).ends(from).0.split(index, bytes);
        }
    }

    /// The first segment of a direction that somebody could see arrive: which, and whose.
    fn next_segment(&self, event: Key) -> Option<(usize, SideIndex, InFlight)> {
        let from = SideIndex::try_from(event.minor).ok().filter(|from| *from < 2)?;
        let is_delivery = event.class == Class::Delivery;
        let wire = self.wires.get(event.major as usize)?.as_ref().filter(|_| is_delivery)?;
        let [sender, receiver] = [from, from ^ 1].map(|side| &wire.sides[usize::from(side)]);
        let wants_ack = receiver.end.as_ref().is_some_and(Connection::wants_ack);
        let index = sender.flight.iter().position(|next| wants_ack || !next.is_quiet)?;
        Some((index, from, sender.flight[index]))
    }

    /// Cuts the next segment of a direction as its pace says.
    pub(super) fn cut_to_pace(&mut self, id: WireId, from: SideIndex, pace: Pace) {
        let wire = self.wire(id);
        let is_local = wire.is_local();
        let sender = wire.ends(from).0;
        let len = sender.flight.front().map_or(0, |next| next.segment.len);
        if !is_local && pace.bytes.max(1) < len {
            sender.split(0, pace.bytes.max(1));
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
