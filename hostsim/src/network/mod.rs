//! Hosts, their kernels, and the links and connections between them.
//!
//! The network is the world below the programs: calls of programs go in ([`Network::connect`],
//! [`Network::send`], …), segments wait on their link until someone delivers them
//! ([`Network::deliver`]). It decides nothing and draws nothing: latencies and limits are handed to
//! it, and which of the pending events comes next is the caller's choice.
//!
//! # Determinism
//! Everything is in canonical order: hosts by the order of their making, connections by the order
//! of their dials. The same calls in the same order give the same network.
//!
//! # Example
//! ```
//! use hostsim::network::Network;
//! use hostsim::address::Domain;
//!
//! let mut network = Network::new();
//! let (client, server) = (network.add_host("client"), network.add_host("server"));
//! let address = std::net::SocketAddr::new(network.address(server), 7);
//!
//! let listener = network.socket(server, Domain::V4, true).unwrap();
//! network.bind(listener, address).unwrap();
//! network.listen(listener, 8).unwrap();
//! let dial = network.socket(client, Domain::V4, true).unwrap();
//! network.connect(dial, address).unwrap_err(); // EINPROGRESS
//! while let Some(now) = network.agenda().earliest() {
//!     network.advance(now);
//!     let event = network.take(0);
//!     network.deliver(event.key);
//! }
//! network.accept(listener, true).unwrap();
//! network.send(dial, b"hello").unwrap();
//! ```
//!
//! # A driver of one's own
//! A driver is a loop around the network: it looks at what is pending, chooses, moves time on, and
//! makes the one event happen. Cuts, fences and routes are calls between two events. This one takes
//! the last of what is ready; where the order matters, another choice is another run. Programs are
//! not needed for that; with them a driver also runs each [`Machine`](crate::machine::Machine) that
//! [`Network::take_runnable`] names and schedules the deadline that it gives, as
//! [`fleet`](crate::fleet) does in a few lines.
//! ```
//! use hostsim::address::Domain;
//! use hostsim::agenda::Class;
//! use hostsim::errno::Errno;
//! use hostsim::kernel::{Descriptor, HostId};
//! use hostsim::network::Network;
//! use std::net::SocketAddr;
//! use std::time::Duration;
//!
//! /// Makes one pending event happen; whether there was one.
//! fn step(network: &mut Network) -> bool {
//!     let Some(due) = network.agenda().earliest() else { return false };
//!     // Time moves on with each event; it may jump as far as nothing happens.
//!     network.advance(due.max(network.now().next()));
//!     // What is ready is in canonical order: a choice is an index, and the same next time.
//!     let index = network.agenda().ready().len() - 1;
//!     let event = network.take(index);
//!     assert!(matches!(event.key.class, Class::Delivery | Class::KernelTimer));
//!     network.deliver(event.key);
//!     network.check_invariants();
//!     true
//! }
//!
//! fn listen(network: &mut Network, host: HostId) -> Descriptor {
//!     let listener = network.socket(host, Domain::V4, true).unwrap();
//!     network.bind(listener, SocketAddr::from(([0, 0, 0, 0], 7))).unwrap();
//!     network.listen(listener, 8).unwrap();
//!     listener
//! }
//!
//! fn dial(network: &mut Network, host: HostId, to: SocketAddr) -> Descriptor {
//!     let dialer = network.socket(host, Domain::V4, true).unwrap();
//!     assert_eq!(network.connect(dialer, to), Err(Errno::EINPROGRESS));
//!     dialer
//! }
//!
//! // Three hosts, a millisecond apart, and one name for the two servers.
//! let mut network = Network::new();
//! let [client, first, second] = ["client", "first", "second"].map(|name| network.add_host(name));
//! for server in [first, second] {
//!     network.set_latency(client, server, Duration::from_millis(1));
//!     network.set_latency(server, client, Duration::from_millis(1));
//! }
//! let api = SocketAddr::new(network.add_route("api", &[first, second]), 7);
//! assert_eq!(network.resolve("api"), [api.ip()]);
//! let listeners = [first, second].map(|host| listen(&mut network, host));
//!
//! // Connections to a route take turns. A call never waits: what it began is pending.
//! let dialers = [(); 2].map(|()| dial(&mut network, client, api));
//! assert_eq!(network.pending().count(), 2);
//! while step(&mut network) {}
//! assert_eq!(network.now().elapsed().as_millis(), 3, "SYN, SYN-ACK and ACK");
//! let accepted = listeners.map(|listener| network.accept(listener, true).unwrap().0);
//!
//! // The last was the first to arrive, by the driver's choice.
//! assert_eq!(network.peer_address(accepted[0]), network.local_address(dialers[1]));
//! let (to_first, to_second) = (dialers[1], dialers[0]);
//!
//! // A cut loses what is sent. TCP sends it again, so after the heal it comes late, and whole.
//! network.cut(client, first);
//! network.send(to_first, b"hello").unwrap();
//! assert_eq!(network.pending().count(), 1, "the moment at which the client gives up");
//! network.heal(client, first);
//! let cut_at = network.now();
//! while step(&mut network) {}
//! assert_eq!(network.now().since(cut_at).as_millis(), 203);
//! assert_eq!(network.receive(accepted[0], &mut [0; 8], false), Ok(5));
//!
//! // A fence is a loss of power: the connections of the host end, and nobody is told. Dials that
//! // the route sends there wait for an answer; so the route gets another set.
//! network.fence(second);
//! network.set_route(api.ip(), &[first]);
//! let dialer = dial(&mut network, client, api);
//! while step(&mut network) {}
//! assert_eq!(network.connect(dialer, api), Ok(()));
//!
//! // Once the host is back it knows nothing of the connection, and says so.
//! network.unfence(second);
//! network.send(to_second, b"hello?").unwrap();
//! while step(&mut network) {}
//! assert_eq!(network.receive(to_second, &mut [0; 8], false), Err(Errno::ECONNRESET));
//! ```

mod call;
mod census;
mod check;
mod datagram;
mod deliver;
mod describe;
mod descriptor;
mod dial;
mod host;
mod listening;
mod name;
mod option;
mod order;
mod poll;
mod process;
mod reach;
mod route;
mod silence;
mod timer;
mod udp;
mod udp_option;
mod unix;
mod wire;

pub use census::Census;
pub use datagram::{Arrival, DatagramObserver, Fate, Fates, Passed};
pub use deliver::{Delivery, Observer};
pub(crate) use descriptor::{Kind, Protocol};
pub(crate) use host::fixed_entropy;
pub use host::{Entropy, Host, RECEIVE_LIMIT, SEND_LIMIT};
pub use listening::Listening;
pub use option::{OptionName, OptionValue};
pub use order::{ConnectionView, Dials, Pace};
pub use poll::Change;
pub use route::Chooser;
pub use udp::Envelope;
pub use wire::{SideIndex, WireId};

use crate::agenda::{Agenda, Class, Key, Scheduled};
use crate::clock::Instant;
use crate::kernel::{Descriptor, FileId, HostId, Kernel, Object};
use crate::tcp::{Connection, Readiness, Segment, State};
use host::Link;
use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;
use std::task::Waker;
use std::time::Duration;
use wire::Wire;

/// The hosts of a run and what is under way between them.
///
/// ```
/// use hostsim::address::Domain;
/// use hostsim::network::Network;
///
/// let mut network = Network::new();
/// let host = network.add_host("alone");
/// let address = "127.0.0.1:7".parse().expect("it is one");
///
/// // A call does what it can do at once; within a host that is all there is to do.
/// let listener = network.socket(host, Domain::V4, true)?;
/// network.bind(listener, address)?;
/// network.listen(listener, 8)?;
/// let dialer = network.socket(host, Domain::V4, true)?;
/// network.connect(dialer, address).unwrap_err(); // EINPROGRESS
/// let (accepted, _) = network.accept(listener, true)?;
///
/// network.send(dialer, b"hello")?;
/// let mut bytes = [0; 8];
/// assert_eq!(network.receive(accepted, &mut bytes, false), Ok(5));
/// assert_eq!(&bytes[..5], b"hello");
/// # Ok::<(), hostsim::errno::Errno>(())
/// ```
#[derive(Default)]
pub struct Network {
    now: Instant,
    hosts: Vec<Host>,
    by_address: BTreeMap<IpAddr, HostId>,
    /// The hosts of each name, in canonical order; names in lower case.
    names: BTreeMap<String, Vec<HostId>>,
    routes: route::Routes,
    waits: listening::Waits,
    /// Who waited for a listener that is there now.
    woken: Vec<Waker>,
    wires: Vec<Option<Box<Wire>>>,
    agenda: Agenda,
    /// Hosts whose machine has something to do.
    runnable: Vec<HostId>,
    /// Directions within one host that have something to deliver at once.
    local: VecDeque<(WireId, SideIndex)>,
    is_delivering_locally: bool,
    observer: Option<Observer>,
    ways: datagram::Ways,
}

impl std::fmt::Debug for Network {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Network").field("now", &self.now).field("hosts", &self.hosts.len()).finish()
    }
}

impl Network {
    /// A network without hosts, at the start of time.
    ///
    /// ```
    /// use hostsim::clock::Instant;
    /// use hostsim::network::Network;
    ///
    /// let network = Network::new();
    /// assert_eq!((network.hosts().count(), network.now()), (0, Instant::START));
    /// ```
    pub fn new() -> Network {
        Network::default()
    }

    /// Adds a host; its addresses follow from its number: 10.0.0.1 and fd00::1, 10.0.0.2 and fd00::2, ….
    ///
    /// ```
    /// # use hostsim::network::Network;
    /// # let mut network = Network::new();
    /// let (first, second) = (network.add_host("api"), network.add_host("db"));
    /// assert!(first < second);
    /// assert_eq!(network.address(second).to_string(), "10.0.0.2");
    /// assert_eq!(network.resolve("db").len(), 2, "one address of each family");
    /// ```
    pub fn add_host(&mut self, name: &str) -> HostId {
        let id = HostId(self.hosts.len() as u32);
        let host = Host::new(name, id);
        for address in [host.address, host.address_v6] {
            self.by_address.insert(address, id);
        }
        self.hosts.push(host);
        for host in &mut self.hosts {
            host.links.resize(id.0 as usize + 1, Link::default());
        }
        self.add_name(name, id);
        id
    }

    /// The hosts, in the order of their making.
    ///
    /// ```
    /// # use hostsim::network::Network;
    /// # let mut network = Network::new();
    /// network.add_host("api");
    /// network.add_host("db");
    /// let names: Vec<&str> = network.hosts().map(|(_, host)| host.name.as_str()).collect();
    /// assert_eq!(names, ["api", "db"]);
    /// ```
    pub fn hosts(&self) -> impl Iterator<Item = (HostId, &Host)> {
        self.hosts.iter().enumerate().map(|(id, host)| (HostId(id as u32), host))
    }

    /// A host.
    ///
    /// ```
    /// # use hostsim::network::Network;
    /// # let mut network = Network::new();
    /// let db = network.add_host("db");
    /// assert_eq!(network.host(db).name, "db");
    /// ```
    pub fn host(&self, id: HostId) -> &Host {
        &self.hosts[id.0 as usize]
    }

    /// A host, to change what is handed to it.
    ///
    /// ```
    /// # use hostsim::{address::Domain, network::Network};
    /// # let mut network = Network::new();
    /// # let host = network.add_host("alone");
    /// # let address = std::net::SocketAddr::from(([127, 0, 0, 1], 7));
    /// // Sockets that are made from now on keep so little that writes are partial.
    /// network.host_mut(host).send_limit = 100;
    /// # let listener = network.socket(host, Domain::V4, true)?;
    /// # network.bind(listener, address)?;
    /// # network.listen(listener, 8)?;
    /// let dialer = network.socket(host, Domain::V4, true)?;
    /// network.connect(dialer, address).unwrap_err(); // EINPROGRESS
    /// assert_eq!(network.send(dialer, &[0; 1_000]), Ok(100));
    /// # Ok::<(), hostsim::errno::Errno>(())
    /// ```
    pub fn host_mut(&mut self, id: HostId) -> &mut Host {
        &mut self.hosts[id.0 as usize]
    }

    /// Sets how long a segment takes from one host to another, from the next one on.
    ///
    /// Segments of one connection stay in order whatever the change. The way to oneself takes no
    /// time and needs no delivery, as on loopback (row B04).
    ///
    /// ```
    /// use std::time::Duration;
    /// # use hostsim::fleet::Fleet;
    /// # let mut fleet = Fleet::start(&["client", "server"])?;
    /// # let (client, server) = (fleet.host("client"), fleet.host("server"));
    /// # let world = fleet.world().clone();
    /// let second = Duration::from_secs(1);
    /// world.with(|network| network.set_latency(client, server, second));
    /// let address = (fleet.address("server"), 7);
    /// fleet.spawn("client", async move {
    ///     // The SYN takes a second, the RST comes at once.
    ///     tokio::net::TcpStream::connect(address).await.unwrap_err();
    /// });
    /// fleet.run();
    /// assert_eq!(world.now().elapsed().as_secs(), 1);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn set_latency(&mut self, from: HostId, to: HostId, latency: Duration) {
        self.host_mut(from).links[to.0 as usize].latency = latency;
    }

    /// How long a segment takes from one host to another.
    ///
    /// ```
    /// use std::time::Duration;
    /// # use hostsim::network::Network;
    /// # let mut network = Network::new();
    /// let (client, server) = (network.add_host("client"), network.add_host("server"));
    /// network.set_latency(client, server, Duration::from_millis(5));
    /// assert_eq!(network.link_latency(client, server).as_millis(), 5);
    /// assert!(network.link_latency(server, client).is_zero(), "each direction has its own");
    /// ```
    pub fn link_latency(&self, from: HostId, to: HostId) -> Duration {
        self.host(from).links[to.0 as usize].latency
    }

    /// Calls `observer` for every segment that reaches a host and that somebody could see arrive.
    ///
    /// ```
    /// use std::cell::Cell;
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
    /// # run(&mut network);
    /// # let (accepted, _) = network.accept(listener, true)?;
    /// let seen = Rc::new(Cell::new(0));
    /// let count = seen.clone();
    /// network.observe(Box::new(move |_, delivery| {
    ///     count.set(count.get() + delivery.payload.len());
    /// }));
    /// network.send(dialer, b"hello")?;
    /// run(&mut network);
    /// assert_eq!(seen.get(), 5);
    /// # Ok::<(), hostsim::errno::Errno>(())
    /// ```
    pub fn observe(&mut self, observer: Observer) {
        self.observer = Some(observer);
    }

    /// The moment it is.
    ///
    /// ```
    /// use hostsim::clock::Instant;
    /// # use hostsim::network::Network;
    /// # let mut network = Network::new();
    /// let moment = Instant::START.next();
    /// network.advance(moment);
    /// assert_eq!(network.now(), moment);
    /// ```
    pub fn now(&self) -> Instant {
        self.now
    }

    /// Moves time on and makes what is due ready.
    ///
    /// # Panics
    /// Where `now` is in the past.
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
    /// let due = network.agenda().earliest().expect("a SYN is under way");
    /// network.advance(due);
    /// assert_eq!(network.agenda().ready().len(), 1);
    /// # Ok::<(), hostsim::errno::Errno>(())
    /// ```
    #[track_caller]
    pub fn advance(&mut self, now: Instant) {
        assert!(now >= self.now, "time moves forward");
        self.now = now;
        self.agenda.collect(now);
    }

    /// The pending events: the network's own, and those that the caller schedules.
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
    /// let pending: Vec<_> = network.agenda().iter().collect();
    /// assert_eq!(pending.len(), 1, "a SYN is under way");
    /// # Ok::<(), hostsim::errno::Errno>(())
    /// ```
    pub fn agenda(&self) -> &Agenda {
        &self.agenda
    }

    /// Schedules an event of the caller.
    ///
    /// ```
    /// use hostsim::agenda::{Class, Key};
    /// use std::time::Duration;
    /// # use hostsim::network::Network;
    /// # let mut network = Network::new();
    /// let key = Key { class: Class::Operation, major: 3, minor: 0 };
    /// let due = network.now() + Duration::from_secs(1);
    /// network.schedule(due, key);
    /// network.advance(due);
    /// assert_eq!(network.take(0).key, key, "the caller knows what it is");
    /// ```
    pub fn schedule(&mut self, due: Instant, key: Key) {
        self.agenda.schedule(due, key);
    }

    /// Takes back an event of the caller.
    ///
    /// ```
    /// use hostsim::agenda::{Class, Key};
    /// use std::time::Duration;
    /// # use hostsim::network::Network;
    /// # let mut network = Network::new();
    /// let key = Key { class: Class::Lifecycle, major: 0, minor: 0 };
    /// let due = network.now() + Duration::from_secs(1);
    /// network.schedule(due, key);
    /// network.cancel(due, key);
    /// assert_eq!(network.agenda().earliest(), None);
    /// ```
    pub fn cancel(&mut self, due: Instant, key: Key) {
        self.agenda.cancel(due, key);
    }

    /// Takes the `index`th ready event out of the agenda; the caller applies it.
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
    /// assert!(network.agenda().ready().is_empty());
    /// network.deliver(event.key);
    /// # Ok::<(), hostsim::errno::Errno>(())
    /// ```
    pub fn take(&mut self, index: usize) -> Scheduled {
        self.agenda.take(index)
    }

    /// Takes the hosts whose machine has something to do, in canonical order.
    ///
    /// ```
    /// # use hostsim::network::Network;
    /// # let mut network = Network::new();
    /// let (first, second) = (network.add_host("api"), network.add_host("db"));
    /// network.mark_runnable(second);
    /// network.mark_runnable(first);
    /// let mut hosts = Vec::new();
    /// network.take_runnable(&mut hosts);
    /// assert_eq!(hosts, [first, second], "whatever came first");
    /// assert!(!network.has_runnable());
    /// ```
    pub fn take_runnable(&mut self, into: &mut Vec<HostId>) {
        into.clear();
        std::mem::swap(&mut self.runnable, into);
        into.sort_unstable();
        for host in into {
            self.host_mut(*host).is_runnable = false;
        }
    }

    /// Whether a machine has something to do.
    ///
    /// ```
    /// # use hostsim::{machine::Machine, seam, world::World};
    /// # let world = World::new();
    /// # let _entered = seam::enter(&world);
    /// # let host = world.with(|network| network.add_host("alone"));
    /// let machine = Machine::start(&world, host, 7)?;
    /// machine.spawn(async {});
    /// assert!(world.network().has_runnable(), "there is a task to run");
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn has_runnable(&self) -> bool {
        !self.runnable.is_empty()
    }

    /// Marks a host's machine as having something to do.
    ///
    /// ```
    /// # use hostsim::network::Network;
    /// # let mut network = Network::new();
    /// let host = network.add_host("paused");
    /// // What a driver does when a machine may go on.
    /// network.host_mut(host).is_paused = false;
    /// network.mark_runnable(host);
    /// assert!(network.has_runnable());
    /// ```
    pub fn mark_runnable(&mut self, id: HostId) {
        let host = self.host_mut(id);
        if !host.is_runnable {
            host.is_runnable = true;
            self.runnable.push(id);
        }
    }

    /// The number that the next descriptor of a host will have.
    pub(crate) fn next_descriptor(&mut self, id: HostId) -> u16 {
        self.kernel(id).free_number().unwrap_or(u16::MAX)
    }

    /// Marks a host's machine as idle.
    pub(crate) fn mark_idle(&mut self, id: HostId) {
        let host = self.host_mut(id);
        if host.is_runnable {
            host.is_runnable = false;
            self.runnable.retain(|runnable| *runnable != id);
        }
    }

    pub(crate) fn kernel_mut(&mut self, id: HostId) -> &mut Kernel {
        self.kernel(id)
    }

    fn kernel(&mut self, id: HostId) -> &mut Kernel {
        &mut self.host_mut(id).kernel
    }

    fn wire(&mut self, id: WireId) -> &mut Wire {
        self.wires[id.0 as usize].as_mut().expect("a wire stays while something refers to it")
    }

    fn end(&mut self, wire: WireId, side: SideIndex) -> &mut Connection {
        let end = self.wire(wire).sides[usize::from(side)].end.as_mut();
        end.expect("an end that a file refers to was made")
    }

    /// Wakes whoever watches a file.
    fn wake(&mut self, host: HostId, file: FileId, bits: Readiness) {
        if bits != Readiness::NONE && self.kernel(host).wake(file, bits) {
            self.mark_runnable(host);
        }
    }

    /// Sends what an end has to send, then lets go of a wire that both ends left.
    fn flush(&mut self, id: WireId, side: SideIndex) {
        while let Some(segment) = self.poll_segment(id, side) {
            self.transmit(id, side, segment);
        }
        self.probe(id, side);
        self.probe(id, side ^ 1);
        if self.wire(id).troubled_since.is_some() {
            self.rearm(id);
        }
        self.reschedule(id, side ^ 1);
        self.deliver_locally();
        self.collect_wire(id);
    }

    fn poll_segment(&mut self, id: WireId, side: SideIndex) -> Option<Segment> {
        self.wire(id).sides[usize::from(side)].end.as_mut()?.poll_segment()
    }

    /// Puts a segment on its link.
    fn transmit(&mut self, id: WireId, side: SideIndex, segment: Segment) {
        let (sender, _) = self.wire(id).ends(side);
        let from = sender.host;
        if sender.is_troubled() && self.is_lost(id, side, segment.flags) {
            self.reschedule(id, side);
            return;
        }
        let sent = self.now.max(self.host(from).busy_until);
        let latency = self.latency(id, side);
        let (sender, receiver) = self.wire(id).ends(side);
        // A change of latency does not let a segment overtake the one before it.
        let due = sender.flight.back().map_or(Instant::START, |last| last.due).max(sent + latency);
        let wants_ack = receiver.end.as_ref().is_none_or(Connection::wants_ack);
        sender.push(sent, due, segment, segment.is_pure_ack() && !wants_ack);
        if self.wire(id).is_local() {
            self.local.push_back((id, side));
        }
        self.reschedule(id, side);
    }

    /// Brings the agenda up to date with what a direction delivers next.
    fn reschedule(&mut self, id: WireId, from: SideIndex) {
        let Some(wire) = &mut self.wires[id.0 as usize] else { return };
        let due = wire.next_due(from);
        let scheduled = std::mem::replace(&mut wire.ends(from).0.scheduled, due);
        if due == scheduled {
            return;
        }
        let key = delivery_key(id, from);
        if let Some(at) = scheduled {
            self.agenda.cancel(at, key);
        }
        if let Some(at) = due {
            self.agenda.schedule(at, key);
        }
    }

    /// Drops a wire that neither a program nor a segment refers to. An end that is over
    /// gives its port back before, whoever holds it (Linux `tcp_set_state`).
    fn collect_wire(&mut self, id: WireId) {
        let Some(wire) = &mut self.wires[id.0 as usize] else { return };
        let is_gone = wire.is_gone();
        for side in 0..2 {
            let own = &self.wire(id).sides[side];
            if is_gone || own.end.as_ref().is_some_and(|end| end.state().is_over()) {
                self.release_port(id, side);
            }
        }
        if !is_gone {
            return;
        }
        let wire = self.wires[id.0 as usize].take().expect("it was there");
        for (from, side) in (0..).zip(&wire.sides) {
            if let Some(at) = side.scheduled {
                self.cancel(at, delivery_key(id, from));
            }
        }
    }

    /// Lets go of the port of an end that is over.
    fn release_port(&mut self, id: WireId, side: usize) {
        let now = self.now;
        let own = &mut self.wire(id).sides[side];
        let Some(claim) = own.claim.take() else { return };
        let state = own.end.as_ref().map(Connection::state);
        let host = own.host;
        let ports = &mut self.host_mut(host).ports;
        match state {
            Some(State::TimeWait | State::FinWait2) => ports.wait(claim, now),
            _ => ports.release(claim),
        }
    }

    /// Takes the file of a descriptor.
    fn object(&mut self, at: Descriptor) -> crate::errno::Sys<(FileId, &mut Object)> {
        let kernel = self.kernel_of(at)?;
        let id = kernel.file_id(at.number)?;
        Ok((id, &mut kernel.file_mut(id).object))
    }

    fn kernel_of(&mut self, at: Descriptor) -> crate::errno::Sys<&mut Kernel> {
        let host = self.hosts.get_mut(at.host.0 as usize).ok_or(crate::errno::Errno::EBADF)?;
        Ok(&mut host.kernel)
    }
}

fn delivery_key(id: WireId, from: SideIndex) -> Key {
    Key { class: Class::Delivery, major: id.0, minor: u32::from(from) }
}

fn dial_key(id: WireId) -> Key {
    Key { class: Class::KernelTimer, major: id.0, minor: 0 }
}

fn vigil_key(id: WireId, side: SideIndex) -> Key {
    Key { class: Class::KernelTimer, major: id.0, minor: 1 + u32::from(side) }
}
