//! The calls of programs on UDP sockets.
//!
//! Each does at once what Linux would do. Nothing waits for room: a datagram is on its way, or in
//! the socket of its receiver, before the call returns (`datagram`).

use super::call::claim_of;
use super::{Network, Protocol};
use crate::address::{Domain, Ports, canonical};
use crate::errno::{Errno, Sys};
use crate::kernel::{Datagram, Descriptor, FileId, HostId, Kernel, Object, Udp};
use crate::tcp::{Direction, Readiness};
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// The longest packet between hosts, in bytes, as on Ethernet.
const PACKET_MAX: usize = 1_500;

/// The headers of UDP and IPv4, and of UDP and IPv6.
const HEADERS_V4: usize = 28;
const HEADERS_V6: usize = 48;

/// The most bytes of a datagram over IPv4, and over IPv6 (whose header does not count).
const LEN_MAX_V4: usize = 65_507;
const LEN_MAX_V6: usize = 65_527;

/// The UDP ports of a host and the sockets that have them.
#[derive(Debug, Default)]
pub(super) struct Sockets {
    ports: Ports,
    /// In the order in which they got it.
    by_port: BTreeMap<u16, Vec<FileId>>,
}

impl Sockets {
    pub(super) fn on_port(&self, port: u16) -> &[FileId] {
        self.by_port.get(&port).map_or(&[], Vec::as_slice)
    }

    /// How many ports are taken, each as often as it is.
    pub(super) fn len(&self) -> usize {
        self.ports.len()
    }

    fn add(&mut self, port: u16, file: FileId) {
        self.by_port.entry(port).or_default().push(file);
    }

    fn remove(&mut self, port: u16, file: FileId) {
        if let Some(files) = self.by_port.get_mut(&port) {
            files.retain(|other| *other != file);
            if files.is_empty() {
                self.by_port.remove(&port);
            }
        }
    }

    /// Asserts that each socket is on its port, and each once.
    pub(super) fn check(&self, kernel: &Kernel) {
        let known: usize = self.by_port.values().map(Vec::len).sum();
        assert_eq!(known, self.ports.len(), "who has a port claims it");
        for (file, udp) in kernel.udp_files() {
            udp.check_invariants();
            let local = udp.local.map(|local| local.port());
            let count = |port: u16| self.on_port(port).iter().filter(|id| **id == file).count();
            assert!(local.is_none_or(|port| count(port) == 1), "a socket is on its port");
        }
    }
}

/// What a call says beside the bytes that it sends.
///
/// ```
/// use hostsim::network::Envelope;
/// # use hostsim::{address::Domain, network::Network};
/// # let mut network = Network::new();
/// # let host = network.add_host("alone");
/// # let address = std::net::SocketAddr::from(([127, 0, 0, 1], 7));
/// # let server = network.udp_socket(host, Domain::V4, true)?;
/// # network.bind(server, address)?;
/// # let client = network.udp_socket(host, Domain::V4, true)?;
/// let envelope = Envelope { to: Some(address), class_v4: Some(0b10), ..Envelope::default() };
/// network.udp_send(client, b"hello".to_vec(), envelope)?;
/// assert_eq!(network.udp_take(server, false)?.traffic_class, 0b10, "ECN-capable");
/// # Ok::<(), hostsim::errno::Errno>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Envelope {
    /// To whom; a connected socket sends to its peer where nothing is said.
    pub to: Option<SocketAddr>,
    /// From which address of the host (`IP_PKTINFO`, `IPV6_PKTINFO`).
    pub source: Option<IpAddr>,
    /// The traffic class over IPv4 in place of the socket's (`IP_TOS`).
    pub class_v4: Option<u8>,
    /// The traffic class over IPv6 in place of the socket's (`IPV6_TCLASS`).
    pub class_v6: Option<u8>,
}

impl Network {
    /// Makes a UDP socket on a host, as `socket(2)`.
    ///
    /// # Errors
    /// `EMFILE`, `ENETDOWN` where the host's process is over.
    ///
    /// ```
    /// use std::net::SocketAddr;
    /// # use hostsim::{address::Domain, network::Network};
    /// # let mut network = Network::new();
    /// # let host = network.add_host("alone");
    /// let socket = network.udp_socket(host, Domain::V4, true)?;
    /// network.bind(socket, SocketAddr::from(([0, 0, 0, 0], 53)))?;
    /// assert_eq!(network.local_address(socket)?.port(), 53);
    /// # Ok::<(), hostsim::errno::Errno>(())
    /// ```
    pub fn udp_socket(
        &mut self,
        host: HostId,
        domain: Domain,
        nonblocking: bool,
    ) -> Sys<Descriptor> {
        self.check_process(host)?;
        let socket = Box::new(Udp::new(domain));
        let (number, _) = self.kernel(host).open(Object::Udp(socket), nonblocking)?;
        Ok(Descriptor { host, number })
    }

    /// Whether a descriptor is of a UDP socket.
    ///
    /// # Errors
    /// `EBADF`, `ENOTSOCK`.
    pub(crate) fn is_udp(&mut self, at: Descriptor) -> Sys<bool> {
        Ok(self.protocol(at)? == Protocol::Udp)
    }

    pub(super) fn udp_of(&mut self, at: Descriptor) -> Sys<(FileId, &mut Udp)> {
        match self.object(at)? {
            (file, Object::Udp(udp)) => Ok((file, udp)),
            _ => Err(Errno::ENOTSOCK),
        }
    }

    pub(super) fn udp_bind(&mut self, at: Descriptor, address: SocketAddr) -> Sys<()> {
        let (_, udp) = self.udp_of(at)?;
        let (domain, is_bound, is_v6_only) =
            (udp.domain, udp.local.is_some(), udp.options.is_v6_only);
        let asked = self.bindable(at.host, domain, is_bound, is_v6_only, address)?;
        self.take_port(at, asked)?;
        let (_, udp) = self.udp_of(at)?;
        udp.bound = Some(asked);
        udp.options.is_v6_only |= asked.is_ipv6() && !asked.ip().is_unspecified();
        Ok(())
    }

    /// Gives a socket a port of its host, or the one that is asked for.
    fn take_port(&mut self, at: Descriptor, asked: SocketAddr) -> Sys<()> {
        let now = self.now;
        let (file, udp) = self.udp_of(at)?;
        let mut claim = claim_of(asked.ip(), &udp.options);
        claim.is_dual &= !asked.is_ipv6() || asked.ip().is_unspecified();
        let sockets = &mut self.host_mut(at.host).udp;
        let (port, claim) = sockets.ports.bind(asked.port(), claim, now)?;
        sockets.add(port, file);
        let (_, udp) = self.udp_of(at)?;
        udp.local = Some(SocketAddr::new(asked.ip(), port));
        udp.claim = Some(claim);
        Ok(())
    }

    /// Gives a socket a port that has none (Linux `inet_autobind`).
    fn autobind(&mut self, at: Descriptor) -> Sys<()> {
        let (_, udp) = self.udp_of(at)?;
        if udp.local.is_some() {
            return Ok(());
        }
        let any = SocketAddr::new(udp.domain.unspecified(), 0);
        let asked = udp.bound.unwrap_or(any);
        self.take_port(at, asked).map_err(|_| Errno::EAGAIN)
    }

    /// Connects a UDP socket: from now on it hears its peer alone, and sends to it by default. A
    /// socket of IPv6 takes addresses of either family.
    ///
    /// # Errors
    /// `EAGAIN` where no port is free, `EAFNOSUPPORT`, `ENETUNREACH`, `EINVAL` from loopback to
    /// another host.
    pub(super) fn udp_connect(&mut self, at: Descriptor, address: SocketAddr) -> Sys<()> {
        let (_, udp) = self.udp_of(at)?;
        match (udp.domain, address.is_ipv4()) {
            (Domain::V4, false) => return Err(Errno::EAFNOSUPPORT),
            (Domain::V6, true) if udp.options.is_v6_only => return Err(Errno::EAFNOSUPPORT),
            _ => {}
        }
        self.autobind(at)?;
        let peer = self.udp_destination(at, address)?;
        let (source, _) = self.udp_way(at, peer.ip(), None)?;
        let (_, udp) = self.udp_of(at)?;
        udp.peer = Some(peer);
        self.set_udp_address(at, source)
    }

    /// Ends what [`Network::connect`] began, as `connect(2)` to an address of no family: a port that
    /// the host chose is given back, and so is an address (Linux `__udp_disconnect`).
    ///
    /// # Errors
    /// `EBADF`, `ENOTSOCK`.
    ///
    /// ```
    /// use hostsim::errno::Errno;
    /// # use hostsim::{address::Domain, network::Network};
    /// # let mut network = Network::new();
    /// # let host = network.add_host("alone");
    /// # let address = std::net::SocketAddr::from(([127, 0, 0, 1], 7));
    /// # let server = network.udp_socket(host, Domain::V4, true)?;
    /// # network.bind(server, address)?;
    /// # let client = network.udp_socket(host, Domain::V4, true)?;
    /// network.connect(client, address)?;
    /// network.send(client, b"hello")?;
    /// network.udp_disconnect(client)?;
    /// assert_eq!(network.send(client, b"hello"), Err(Errno::EDESTADDRREQ));
    /// # Ok::<(), hostsim::errno::Errno>(())
    /// ```
    pub fn udp_disconnect(&mut self, at: Descriptor) -> Sys<()> {
        let (_, udp) = self.udp_of(at)?;
        udp.peer = None;
        let bound = udp.bound.unwrap_or(SocketAddr::new(udp.domain.unspecified(), 0));
        if bound.port() != 0 {
            return self.set_udp_address(at, bound.ip());
        }
        self.release_udp(at)
    }

    /// Moves a socket that has a port to another address.
    fn set_udp_address(&mut self, at: Descriptor, ip: IpAddr) -> Sys<()> {
        let (_, udp) = self.udp_of(at)?;
        let claim = udp.claim;
        if let Some(local) = &mut udp.local {
            local.set_ip(ip);
        }
        let ports = &mut self.host_mut(at.host).udp.ports;
        claim.into_iter().for_each(|claim| ports.set_address(claim, ip));
        Ok(())
    }

    fn release_udp(&mut self, at: Descriptor) -> Sys<()> {
        let (file, udp) = self.udp_of(at)?;
        let (local, claim) = (udp.local.take(), udp.claim.take());
        self.forget_udp(at.host, file, local, claim);
        Ok(())
    }

    fn forget_udp(
        &mut self,
        host: HostId,
        file: FileId,
        local: Option<SocketAddr>,
        claim: Option<crate::address::ClaimId>,
    ) {
        let sockets = &mut self.host_mut(host).udp;
        local.into_iter().for_each(|local| sockets.remove(local.port(), file));
        claim.into_iter().for_each(|claim| sockets.ports.release(claim));
    }

    pub(super) fn on_udp_closed(&mut self, host: HostId, file: FileId, udp: &Udp) {
        self.forget_udp(host, file, udp.local, udp.claim);
    }

    /// The canonical form of an address to send to, of the family that the socket has an address of.
    /// The wildcard means oneself: of IPv4 the very address that the socket is bound to.
    fn udp_destination(&mut self, at: Descriptor, address: SocketAddr) -> Sys<SocketAddr> {
        let (_, udp) = self.udp_of(at)?;
        let own = udp.local.map(|local| local.ip()).filter(|ip| ip.is_ipv4());
        let is_v4_alone = udp.domain == Domain::V6 && own.is_some();
        let to = canonical(address);
        let v4 = own.filter(|ip| !ip.is_unspecified()).unwrap_or(Ipv4Addr::LOCALHOST.into());
        let ip = match to.ip() {
            IpAddr::V4(_) if udp.domain == Domain::V6 && udp.options.is_v6_only => {
                return Err(Errno::ENETUNREACH);
            }
            IpAddr::V6(ip) if is_v4_alone && ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(_) if is_v4_alone => return Err(Errno::EAFNOSUPPORT),
            IpAddr::V4(ip) if ip.is_unspecified() => v4,
            IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
            ip => ip,
        };
        Ok(SocketAddr::new(ip, to.port()))
    }

    /// From which address a socket sends to another one, and the host that this reaches.
    fn udp_way(
        &mut self,
        at: Descriptor,
        to: IpAddr,
        asked: Option<IpAddr>,
    ) -> Sys<(IpAddr, HostId)> {
        match asked.filter(|ip| !self.host(at.host).owns(*ip)) {
            Some(IpAddr::V4(_)) => return Err(Errno::ENETUNREACH),
            Some(IpAddr::V6(_)) => return Err(Errno::EINVAL),
            None => {}
        }
        let (_, udp) = self.udp_of(at)?;
        let local = udp.local.map(|local| local.ip()).filter(|ip| !ip.is_unspecified());
        let host = self.reached(at.host, to).ok_or(Errno::ENETUNREACH)?;
        let source = asked.or(local).unwrap_or_else(|| self.host(at.host).source_for(to));
        let is_martian = source.is_ipv4() && source.is_loopback() && host != at.host;
        if is_martian || source.is_ipv4() != to.is_ipv4() {
            return Err(Errno::EINVAL);
        }
        Ok((source, host))
    }

    /// Sends one datagram, as `sendmsg(2)`. A source that is not the host's is `ENETUNREACH` over IPv4
    /// and `EINVAL` over IPv6.
    ///
    /// # Errors
    /// In this order, as Linux `udp_sendmsg`: `EAGAIN` where no port is free, `EMSGSIZE` past 65,535
    /// bytes over IPv4, `EINVAL` for port 0, `EDESTADDRREQ`, `EAFNOSUPPORT`, `ENETUNREACH`, `EINVAL`
    /// from loopback to another host, `EMSGSIZE` past what a datagram holds, or past the longest
    /// packet where it may not be sent in fragments, the error that waits, `EPIPE` after a shutdown.
    ///
    /// ```
    /// use hostsim::errno::Errno;
    /// use hostsim::network::Envelope;
    /// # use hostsim::{address::Domain, network::Network};
    /// # let mut network = Network::new();
    /// # let host = network.add_host("alone");
    /// # let address = std::net::SocketAddr::from(([127, 0, 0, 1], 7));
    /// # let server = network.udp_socket(host, Domain::V4, true)?;
    /// # network.bind(server, address)?;
    /// # let client = network.udp_socket(host, Domain::V4, true)?;
    /// let to = |to| Envelope { to: Some(to), ..Envelope::default() };
    /// assert_eq!(network.udp_send(client, b"hello".to_vec(), to(address)), Ok(5));
    /// assert_eq!(network.unread(server), Ok(5));
    /// let nowhere = std::net::SocketAddr::from(([192, 0, 2, 1], 7));
    /// let result = network.udp_send(client, b"hello".to_vec(), to(nowhere));
    /// assert_eq!(result, Err(Errno::ENETUNREACH));
    /// # Ok::<(), hostsim::errno::Errno>(())
    /// ```
    pub fn udp_send(&mut self, at: Descriptor, bytes: Vec<u8>, envelope: Envelope) -> Sys<usize> {
        self.autobind(at)?;
        let (_, udp) = self.udp_of(at)?;
        let len = bytes.len();
        if udp.domain == Domain::V4 && len > usize::from(u16::MAX) {
            return Err(Errno::EMSGSIZE);
        }
        let to = match envelope.to {
            Some(to) if to.port() == 0 => return Err(Errno::EINVAL),
            Some(to) if to.is_ipv6() && udp.domain == Domain::V4 => {
                return Err(Errno::EAFNOSUPPORT);
            }
            Some(to) => self.udp_destination(at, to)?,
            None => udp.peer.ok_or(Errno::EDESTADDRREQ)?,
        };
        // What is said of IPv4 is not said to IPv6.
        let asked = envelope.source.filter(|ip| ip.is_ipv6() || to.is_ipv4());
        let (source, host) = self.udp_way(at, to.ip(), asked)?;
        let (_, udp) = self.udp_of(at)?;
        check_len(len, to.is_ipv4(), host == at.host || udp.discovery.fragments(to.is_ipv4()))?;
        if let Some(error) = udp.error.take() {
            return Err(error);
        }
        if udp.is_write_shut {
            return Err(Errno::EPIPE);
        }
        let options = &udp.options;
        let (asked, own) = match to.is_ipv4() {
            true => (envelope.class_v4, options.traffic_class),
            false => (envelope.class_v6, options.traffic_class_v6),
        };
        let traffic_class = asked.unwrap_or(own as u8);
        let from = SocketAddr::new(source, udp.local.map_or(0, |local| local.port()));
        let datagram = Datagram { from, to, traffic_class, bytes: bytes.into() };
        self.send_datagram(at.host, host, datagram);
        Ok(len)
    }

    pub(super) fn udp_send_parts<'a>(
        &mut self,
        at: Descriptor,
        parts: impl Iterator<Item = &'a [u8]>,
    ) -> Sys<usize> {
        let mut bytes = Vec::new();
        parts.for_each(|part| bytes.extend_from_slice(part));
        self.udp_send(at, bytes, Envelope::default())
    }

    /// Takes the first datagram that waits, as `recvmsg(2)`, or a copy of it for a peek.
    ///
    /// # Errors
    /// The error that waits, which comes first; `EAGAIN`.
    ///
    /// ```
    /// use hostsim::errno::Errno;
    /// # use hostsim::{address::Domain, network::Network};
    /// # let mut network = Network::new();
    /// # let host = network.add_host("alone");
    /// # let address = std::net::SocketAddr::from(([127, 0, 0, 1], 7));
    /// # let server = network.udp_socket(host, Domain::V4, true)?;
    /// # network.bind(server, address)?;
    /// # let client = network.udp_socket(host, Domain::V4, true)?;
    /// network.connect(client, address)?;
    /// network.send(client, b"hello")?;
    /// let datagram = network.udp_take(server, false)?;
    /// assert_eq!((datagram.to, &*datagram.bytes), (address, &b"hello"[..]));
    /// assert_eq!(network.udp_take(server, false), Err(Errno::EAGAIN));
    /// # Ok::<(), hostsim::errno::Errno>(())
    /// ```
    pub fn udp_take(&mut self, at: Descriptor, is_peek: bool) -> Sys<Datagram> {
        self.udp_of(at)?.1.take(is_peek)
    }

    /// Whether a call that may wait finds that reading was shut down, and so nothing to wait for.
    ///
    /// # Errors
    /// `EBADF`, `ENOTSOCK`.
    pub(crate) fn is_udp_ended(&mut self, at: Descriptor) -> Sys<bool> {
        Ok(self.udp_of(at)?.1.is_read_shut && !self.is_nonblocking(at)?)
    }

    /// As `recv(2)`: what of a datagram finds no place is dropped.
    pub(super) fn udp_receive(
        &mut self,
        at: Descriptor,
        into: &mut [u8],
        is_peek: bool,
    ) -> Sys<usize> {
        let datagram = self.udp_take(at, is_peek)?;
        let count = datagram.bytes.len().min(into.len());
        into[..count].copy_from_slice(&datagram.bytes[..count]);
        Ok(count)
    }

    pub(super) fn udp_local_address(&mut self, at: Descriptor) -> Sys<SocketAddr> {
        let (_, udp) = self.udp_of(at)?;
        let any = SocketAddr::new(udp.domain.unspecified(), 0);
        Ok(udp.domain.show(udp.local.or(udp.bound).unwrap_or(any)))
    }

    pub(super) fn udp_peer_address(&mut self, at: Descriptor) -> Sys<SocketAddr> {
        let (_, udp) = self.udp_of(at)?;
        let peer = udp.peer.filter(|peer| peer.port() != 0).ok_or(Errno::ENOTCONN)?;
        Ok(udp.domain.show(peer))
    }

    pub(super) fn udp_shutdown(&mut self, at: Descriptor, direction: Direction) -> Sys<()> {
        let (file, udp) = self.udp_of(at)?;
        let result = udp.shutdown(direction);
        self.wake(at.host, file, Readiness::ALL);
        result
    }

    /// What a UDP socket tells with each datagram, and whether reading was shut down.
    ///
    /// # Errors
    /// `EBADF`, `ENOTSOCK`.
    pub(crate) fn udp_look(&mut self, at: Descriptor) -> Sys<&Udp> {
        Ok(self.udp_of(at)?.1)
    }
}

/// Whether a datagram may be so long.
fn check_len(len: usize, is_v4: bool, may_be_long: bool) -> Sys<()> {
    let (most, headers) = if is_v4 { (LEN_MAX_V4, HEADERS_V4) } else { (LEN_MAX_V6, HEADERS_V6) };
    let is_long = len + headers > PACKET_MAX;
    if len > most || is_long && !may_be_long { Err(Errno::EMSGSIZE) } else { Ok(()) }
}
