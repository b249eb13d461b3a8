//! Datagrams between hosts: what is under way, what may befall it, and who gets it.
//!
//! A datagram takes as long as a segment and is an event of its way: the next of what one host sent
//! another. A way keeps the order of what is sent on it, unless a [`Fate`] says otherwise. UDP sends
//! nothing again, so what a cut or a fence loses stays lost, and what was under way with it. Orders
//! that are about connections (holds, resets, paces, dials) are not about datagrams.
//!
//! At a port of another host that nobody has it is answered by an ICMP message, which comes back as
//! an error of the socket that sent it, where that is connected (RFC 1122, 4.1.3.3). Within a host
//! all of this takes no time and loses nothing; a full socket drops what comes anywhere.
//!
//! # Determinism
//! Nothing is drawn. A datagram between hosts that is not lost already has its fate asked for, once,
//! when it is sent; within a host, and where nobody handed [`Fates`] in, nothing is asked.

use super::Network;
use crate::agenda::{Class, Key};
use crate::clock::Instant;
use crate::errno::Errno;
use crate::kernel::{Datagram, FileId, HostId, READABLE, Udp};
use crate::tcp::Readiness;
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

/// What befalls a datagram on its way. All zeros is calm.
///
/// ```
/// use hostsim::network::Fate;
/// use std::time::Duration;
/// # use hostsim::{address::Domain, network::Network};
/// # let mut network = Network::new();
/// # let hosts = ["client", "server"].map(|name| network.add_host(name));
/// # let address = std::net::SocketAddr::new(network.address(hosts[1]), 7);
/// # let [client, server] = hosts.map(|host| network.udp_socket(host, Domain::V4, true).unwrap());
/// # network.bind(server, address)?;
/// network.connect(client, address)?;
/// // The second to be sent is the first to arrive.
/// let mut delays = [Duration::from_secs(1), Duration::ZERO].into_iter();
/// network.set_fates(Box::new(move |_from, _to, _datagram| Fate {
///     delay: delays.next().unwrap_or_default(),
///     ..Fate::default()
/// }));
/// network.send(client, b"first")?;
/// network.send(client, b"second")?;
/// # while let Some(due) = network.agenda().earliest() {
/// #     network.advance(due.max(network.now().next()));
/// #     let event = network.take(0);
/// #     network.deliver(event.key);
/// # }
/// assert_eq!(*network.udp_take(server, false)?.bytes, *b"second");
/// assert_eq!(*network.udp_take(server, false)?.bytes, *b"first");
/// # Ok::<(), hostsim::errno::Errno>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fate {
    /// It never arrives.
    pub is_lost: bool,
    /// It arrives twice.
    pub is_doubled: bool,
    /// So much longer it takes, and what is sent after it does not wait.
    pub delay: Duration,
}

/// Decides what befalls a datagram from one host to another. The network is being worked on
/// meanwhile, so it must not ask for it.
///
/// ```
/// use hostsim::kernel::{Datagram, HostId};
/// use hostsim::network::{Fate, Fates};
/// use std::net::SocketAddr;
///
/// // Every third is lost.
/// let mut count = 0;
/// let mut thirds: Fates = Box::new(move |_from, _to, _datagram| {
///     count += 1;
///     Fate { is_lost: count % 3 == 0, ..Fate::default() }
/// });
/// # let [from, to] = [1, 2].map(|host| SocketAddr::from(([10, 0, 0, host], 7)));
/// # let datagram = Datagram { from, to, traffic_class: 0, bytes: Box::default() };
/// let are_lost = [(); 3].map(|()| thirds(HostId(0), HostId(1), &datagram).is_lost);
/// assert_eq!(are_lost, [false, false, true]);
/// ```
pub type Fates = Box<dyn FnMut(HostId, HostId, &Datagram) -> Fate>;

/// How the way of a datagram ended.
///
/// ```
/// use hostsim::network::Arrival;
/// use std::cell::Cell;
/// use std::rc::Rc;
/// # use hostsim::{address::Domain, network::Network};
/// # let mut network = Network::new();
/// # let host = network.add_host("alone");
/// # let address = std::net::SocketAddr::from(([127, 0, 0, 1], 7));
/// # let server = network.udp_socket(host, Domain::V4, true)?;
/// # network.bind(server, address)?;
/// # let client = network.udp_socket(host, Domain::V4, true)?;
/// let seen = Rc::new(Cell::new(None));
/// let last = seen.clone();
/// network.observe_datagrams(Box::new(move |_now, passed| last.set(Some(passed.arrival))));
/// network.connect(client, address)?;
/// network.send(client, b"hello")?;
/// assert_eq!(seen.get(), Some(Arrival::Received));
/// network.close(server)?;
/// network.send(client, b"hello?")?;
/// assert_eq!(seen.get(), Some(Arrival::Refused), "nobody has the port");
/// # Ok::<(), hostsim::errno::Errno>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// A socket has it.
    Received,
    /// The socket that it was for is full.
    Full,
    /// Nobody has the port.
    Refused,
    /// It was lost on its way.
    Lost,
}

/// A datagram whose way ended.
///
/// ```
/// use std::cell::RefCell;
/// use std::rc::Rc;
/// # use hostsim::{address::Domain, network::Network};
/// # let mut network = Network::new();
/// # let host = network.add_host("alone");
/// # let address = std::net::SocketAddr::from(([127, 0, 0, 1], 7));
/// # let server = network.udp_socket(host, Domain::V4, true)?;
/// # network.bind(server, address)?;
/// # let client = network.udp_socket(host, Domain::V4, true)?;
/// let seen = Rc::new(RefCell::new(Vec::new()));
/// let trace = seen.clone();
/// network.observe_datagrams(Box::new(move |now, passed| {
///     let len = passed.datagram.bytes.len();
///     trace.borrow_mut().push(format!("{now} {len} B, {:?}", passed.arrival));
/// }));
/// network.connect(client, address)?;
/// network.send(client, b"hello")?;
/// assert_eq!(*seen.borrow(), ["0.000000000 5 B, Received"]);
/// # Ok::<(), hostsim::errno::Errno>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Passed<'a> {
    /// The sender's host.
    pub from: HostId,
    /// The receiver's host.
    pub to: HostId,
    /// When the sender let it go.
    pub sent: Instant,
    /// The datagram.
    pub datagram: &'a Datagram,
    /// How.
    pub arrival: Arrival,
}

/// Who is told of datagrams.
pub type DatagramObserver = Box<dyn FnMut(Instant, &Passed<'_>)>;

/// What is under way.
#[derive(Clone, Debug)]
enum Packet {
    Datagram {
        datagram: Datagram,
        /// When its sender let it go.
        sent: Instant,
    },
    /// ICMP: what `sender` sent to `port` met nobody.
    Unreachable { sender: SocketAddr, port: SocketAddr },
}

/// What one host sent another.
#[derive(Debug, Default)]
struct Way {
    /// By the moment it is due and the order in which it was sent.
    packets: BTreeMap<(Instant, u64), Packet>,
    /// When the last one is due that nothing delays.
    last: Instant,
    /// When the next one is due, as the agenda has it.
    scheduled: Option<Instant>,
}

/// Everything of datagrams that is between hosts.
#[derive(Default)]
pub(super) struct Ways {
    ways: BTreeMap<(HostId, HostId), Way>,
    sent: u64,
    fates: Option<Fates>,
    observer: Option<DatagramObserver>,
}

impl Network {
    /// Has `fates` decide what befalls datagrams that are sent from now on.
    ///
    /// ```
    /// use hostsim::errno::Errno;
    /// use hostsim::network::{Envelope, Fate};
    /// # use hostsim::network::Network;
    /// # let mut network = Network::new();
    /// let (client, server) = (network.add_host("client"), network.add_host("server"));
    /// let address = std::net::SocketAddr::new(network.address(server), 7);
    /// let [receiver, sender] = [server, client]
    ///     .map(|host| network.udp_socket(host, hostsim::address::Domain::V4, true).unwrap());
    /// network.bind(receiver, address)?;
    /// network.set_fates(Box::new(|_, _, _| Fate { is_lost: true, ..Fate::default() }));
    /// network.udp_send(sender, b"hello".to_vec(), Envelope { to: Some(address), ..Envelope::default() })?;
    /// assert_eq!(network.pending().count(), 0, "it never arrives");
    /// assert_eq!(network.udp_take(receiver, false), Err(Errno::EAGAIN));
    /// # Ok::<(), hostsim::errno::Errno>(())
    /// ```
    pub fn set_fates(&mut self, fates: Fates) {
        self.ways.fates = Some(fates);
    }

    /// Calls `observer` for every datagram whose way ended, within hosts and between them.
    ///
    /// ```
    /// use std::cell::Cell;
    /// use std::rc::Rc;
    /// # use hostsim::{address::Domain, network::Network};
    /// # let mut network = Network::new();
    /// # let host = network.add_host("alone");
    /// # let address = std::net::SocketAddr::from(([127, 0, 0, 1], 7));
    /// # let server = network.udp_socket(host, Domain::V4, true)?;
    /// # network.bind(server, address)?;
    /// # let client = network.udp_socket(host, Domain::V4, true)?;
    /// let count = Rc::new(Cell::new(0));
    /// let counted = count.clone();
    /// network.observe_datagrams(Box::new(move |_, _| counted.set(counted.get() + 1)));
    /// network.connect(client, address)?;
    /// network.send(client, b"hello")?;
    /// assert_eq!(count.get(), 1);
    /// # Ok::<(), hostsim::errno::Errno>(())
    /// ```
    pub fn observe_datagrams(&mut self, observer: DatagramObserver) {
        self.ways.observer = Some(observer);
    }

    /// How many datagrams and answers of ICMP are under way.
    pub(crate) fn datagrams_under_way(&self) -> usize {
        self.ways.ways.values().map(|way| way.packets.len()).sum()
    }

    /// Sends a datagram on its way.
    pub(super) fn send_datagram(&mut self, from: HostId, to: HostId, datagram: Datagram) {
        let sent = self.sent_now(from);
        if from == to {
            return self.arrive(from, to, datagram, sent);
        }
        // Every host drops what comes from the loopback of another (RFC 4291, 2.5.3).
        let is_martian = datagram.from.ip().is_loopback();
        if is_martian || self.is_way_lost(from, to) {
            return self.tell_passed(from, to, &datagram, sent, Arrival::Lost);
        }
        let fate = match &mut self.ways.fates {
            Some(fates) => fates(from, to, &datagram),
            None => Fate::default(),
        };
        if fate.is_lost {
            return self.tell_passed(from, to, &datagram, sent, Arrival::Lost);
        }
        if fate.is_doubled {
            let datagram = datagram.clone();
            self.put(from, to, Packet::Datagram { datagram, sent }, Duration::ZERO);
        }
        self.put(from, to, Packet::Datagram { datagram, sent }, fate.delay);
    }

    fn is_way_lost(&self, from: HostId, to: HostId) -> bool {
        let is_cut = self.host(from).links[to.0 as usize].is_cut;
        is_cut || self.host(from).is_fenced || self.host(to).is_fenced
    }

    /// When a host lets go what its program sends now: what it does while it sleeps comes later.
    fn sent_now(&self, from: HostId) -> Instant {
        self.now.max(self.host(from).busy_until)
    }

    fn put(&mut self, from: HostId, to: HostId, packet: Packet, delay: Duration) {
        let due = self.sent_now(from) + self.link_latency(from, to);
        self.ways.sent += 1;
        let number = self.ways.sent;
        let way = self.ways.ways.entry((from, to)).or_default();
        // A change of latency does not let a datagram overtake the one before it.
        let due = due.max(way.last);
        if delay.is_zero() {
            way.last = due;
        }
        way.packets.insert((due + delay, number), packet);
        self.reschedule_way(from, to);
    }

    /// Brings the agenda up to date with what a way delivers next.
    fn reschedule_way(&mut self, from: HostId, to: HostId) {
        let Some(way) = self.ways.ways.get_mut(&(from, to)) else { return };
        let due = way.packets.first_key_value().map(|((due, _), _)| *due);
        let scheduled = std::mem::replace(&mut way.scheduled, due);
        if due == scheduled {
            return;
        }
        let key = way_key(from, to);
        if let Some(at) = scheduled {
            self.agenda.cancel(at, key);
        }
        if let Some(at) = due {
            self.agenda.schedule(at, key);
        }
    }

    /// Delivers the next of what one host sent another.
    pub(super) fn deliver_datagram(&mut self, key: Key) {
        let (from, to) = (HostId(key.major), HostId(key.minor));
        let way = self.ways.ways.get_mut(&(from, to)).expect("a way that is pending is there");
        way.scheduled = None;
        let (_, packet) = way.packets.pop_first().expect("a way that is pending has something");
        self.reschedule_way(from, to);
        match packet {
            Packet::Datagram { datagram, sent } => self.arrive(from, to, datagram, sent),
            Packet::Unreachable { sender, port } => self.on_unreachable(to, sender, port),
        }
    }

    /// A datagram reaches its host.
    fn arrive(&mut self, from: HostId, to: HostId, datagram: Datagram, sent: Instant) {
        let Some(file) = self.hearer(to, datagram.to, datagram.from) else {
            self.tell_passed(from, to, &datagram, sent, Arrival::Refused);
            return self.refuse_datagram(from, to, datagram.from, datagram.to);
        };
        let has_room = self.kernel(to).udp_mut(file).has_room(&datagram);
        let arrival = if has_room { Arrival::Received } else { Arrival::Full };
        self.tell_passed(from, to, &datagram, sent, arrival);
        if has_room {
            self.kernel(to).udp_mut(file).push(datagram);
            self.wake(to, file, READABLE);
        }
    }

    fn tell_passed(
        &mut self,
        from: HostId,
        to: HostId,
        datagram: &Datagram,
        sent: Instant,
        arrival: Arrival,
    ) {
        let now = self.now;
        if let Some(observer) = &mut self.ways.observer {
            observer(now, &Passed { from, to, sent, datagram, arrival });
        }
    }

    /// Answers a datagram that met nobody.
    fn refuse_datagram(&mut self, from: HostId, to: HostId, sender: SocketAddr, port: SocketAddr) {
        if from == to {
            self.on_unreachable(from, sender, port);
        } else if !self.is_way_lost(to, from) {
            self.put(to, from, Packet::Unreachable { sender, port }, Duration::ZERO);
        }
    }

    /// The answer is back: a socket that is connected to the port has an error (Linux
    /// `__udp4_lib_err`).
    fn on_unreachable(&mut self, host: HostId, sender: SocketAddr, port: SocketAddr) {
        let Some(file) = self.hearer(host, sender, port) else { return };
        let socket = self.kernel(host).udp_mut(file);
        if socket.peer == Some(port) {
            socket.error = Some(Errno::ECONNREFUSED);
            self.wake(host, file, Readiness::ERR);
        }
    }

    /// The socket of a host that a datagram is for: of those that fit best the one that has its port
    /// for the shortest time, or one of those that share it.
    fn hearer(&self, host: HostId, to: SocketAddr, from: SocketAddr) -> Option<FileId> {
        let host = self.host(host);
        let fit = |file: &FileId| Some((host.kernel.udp(*file).fit(to, from)?, *file));
        let files = host.udp.on_port(to.port());
        let (best, file) = files.iter().filter_map(fit).max_by_key(|(fit, _)| *fit)?;
        let shares = |udp: &Udp| udp.options.reuses_port && udp.peer.is_none();
        if !shares(host.kernel.udp(file)) {
            return Some(file);
        }
        let is_of_group = |file: &&FileId| {
            let udp = host.kernel.udp(**file);
            shares(udp) && udp.fit(to, from) == Some(best)
        };
        let count = files.iter().filter(is_of_group).count();
        files.iter().filter(is_of_group).nth(spread(to, from) as usize % count).copied()
    }

    /// What was under way from one host to another is lost.
    pub(super) fn lose_datagrams(&mut self, is_meant: impl Fn(HostId, HostId) -> bool) {
        let keys: Vec<_> = self.ways.ways.keys().copied().collect();
        for (from, to) in keys.into_iter().filter(|(from, to)| is_meant(*from, *to)) {
            let Some(way) = self.ways.ways.get_mut(&(from, to)) else { continue };
            let lost = std::mem::take(&mut way.packets);
            way.last = Instant::START;
            self.reschedule_way(from, to);
            for packet in lost.into_values() {
                if let Packet::Datagram { datagram, sent } = packet {
                    self.tell_passed(from, to, &datagram, sent, Arrival::Lost);
                }
            }
        }
    }

    /// What the agenda has of ways.
    pub(super) fn scheduled_ways(&self) -> impl Iterator<Item = (Key, Instant)> + '_ {
        let scheduled = |((from, to), way): (&(HostId, HostId), &Way)| {
            Some((way_key(*from, *to), way.scheduled?))
        };
        self.ways.ways.iter().filter_map(scheduled)
    }

    /// Asserts what the module promises.
    pub(super) fn check_datagrams(&self) {
        for ((from, to), way) in &self.ways.ways {
            let due = way.packets.first_key_value().map(|((due, _), _)| *due);
            assert_eq!(way.scheduled, due, "a way waits for the first that is on it");
            let is_lost = self.is_way_lost(*from, *to);
            assert!(!is_lost || way.packets.is_empty(), "nothing is under way where all is lost");
        }
        self.hosts.iter().for_each(|host| host.udp.check(&host.kernel));
    }
}

fn way_key(from: HostId, to: HostId) -> Key {
    Key { class: Class::Datagram, major: from.0, minor: to.0 }
}

/// A number by which the datagrams of one flow meet the same of several sockets (FNV-1a).
fn spread(to: SocketAddr, from: SocketAddr) -> u32 {
    let octets = |ip: IpAddr| match ip {
        IpAddr::V4(v4) => v4.to_ipv6_mapped().octets(),
        IpAddr::V6(v6) => v6.octets(),
    };
    let step = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    let of = |hash: u32, address: SocketAddr| {
        let bytes = octets(address.ip()).into_iter().chain(address.port().to_be_bytes());
        bytes.fold(hash, step)
    };
    of(of(0x811c_9dc5, from), to) >> 8
}
