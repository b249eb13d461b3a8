//! The calls of programs on sockets.
//!
//! Each call does at once what Linux would do, or fails with what Linux would say; none waits. A
//! call that would wait fails with `EAGAIN` or `EINPROGRESS`, and who made it decides what then.

use super::Network;
use super::wire::{SideIndex, WireId};
use crate::address::{Claim, ClaimId, Domain, canonical};
use crate::errno::{Errno, Sys};
use crate::kernel::{
    Descriptor, File, FileId, HostId, Listener, Object, Options, Phase, Role, Socket,
};
use crate::tcp::{Direction, Readiness, State};
use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};

/// The most connections a backlog holds (`net.core.somaxconn`).
const BACKLOG_MAX: usize = 4096;

impl Network {
    /// Makes a TCP socket on a host, as `socket(2)`.
    ///
    /// # Errors
    /// `EMFILE`, and `ENETDOWN` where the host's process is over.
    ///
    /// ```
    /// # use hostsim::{address::Domain, network::Network};
    /// # let mut network = Network::new();
    /// # let host = network.add_host("alone");
    /// let socket = network.socket(host, Domain::V6, true)?;
    /// assert_eq!(network.domain(socket), Ok(Domain::V6));
    /// assert_eq!(network.local_address(socket)?.to_string(), "[::]:0");
    /// # Ok::<(), hostsim::errno::Errno>(())
    /// ```
    pub fn socket(&mut self, host: HostId, domain: Domain, nonblocking: bool) -> Sys<Descriptor> {
        self.check_process(host)?;
        let at = self.host(host);
        let options = Options::new(at.send_limit, at.receive_limit);
        let socket = Socket::new(domain, options);
        let (number, _) = self.kernel(host).open(Object::Socket(socket), nonblocking)?;
        Ok(Descriptor { host, number })
    }

    pub(super) fn socket_of(&mut self, at: Descriptor) -> Sys<&mut Socket> {
        Ok(self.kernel_of(at)?.socket_mut(at.number)?.1)
    }

    /// The connection that a socket is an end of, and which end.
    ///
    /// # Errors
    /// `EBADF`, `ENOTSOCK`.
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
    /// assert_eq!(network.wire_of(dialer), Ok(Some((WireId(0), 0))), "who dialed is the end 0");
    /// assert_eq!(network.wire_of(accepted), Ok(Some((WireId(0), 1))));
    /// assert_eq!(network.wire_of(listener), Ok(None));
    /// # Ok::<(), hostsim::errno::Errno>(())
    /// ```
    pub fn wire_of(&mut self, at: Descriptor) -> Sys<Option<(WireId, SideIndex)>> {
        Ok(match self.socket_of(at)?.role {
            Role::Connection { wire, side, .. } => Some((WireId(wire), side)),
            _ => None,
        })
    }

    /// Binds a socket, as `bind(2)`.
    ///
    /// # Errors
    /// `EINVAL` where it is bound, `EAFNOSUPPORT`, `EADDRNOTAVAIL` (row A22), `EADDRINUSE` (A16,
    /// A18, A20).
    ///
    /// ```
    /// use hostsim::errno::Errno;
    /// use std::net::SocketAddr;
    /// # use hostsim::{address::Domain, network::Network};
    /// # let mut network = Network::new();
    /// # let host = network.add_host("alone");
    /// let address = SocketAddr::from(([127, 0, 0, 1], 7));
    /// let [first, second] = [(); 2].map(|()| network.socket(host, Domain::V4, true).unwrap());
    /// network.bind(first, address)?;
    /// assert_eq!(network.bind(second, address), Err(Errno::EADDRINUSE));
    /// // Port 0 asks for one that is free.
    /// network.bind(second, SocketAddr::from(([127, 0, 0, 1], 0)))?;
    /// assert_ne!(network.local_address(second)?.port(), 0);
    /// # Ok::<(), hostsim::errno::Errno>(())
    /// ```
    pub fn bind(&mut self, at: Descriptor, address: SocketAddr) -> Sys<()> {
        let socket = match self.socket_of(at) {
            Err(Errno::EOPNOTSUPP) => return self.udp_bind(at, address),
            socket => socket?,
        };
        let (domain, options) = (socket.domain, socket.options);
        let is_bound = !self.is_unbound(at)?;
        let canonical = self.bindable(at.host, domain, is_bound, options.is_v6_only, address)?;
        let (ip, asked) = (canonical.ip(), canonical.port());
        let now = self.now;
        let mut claim = claim_of(ip, &options);
        // An address of IPv6 alone takes no IPv4 any more (Linux `__inet6_bind`).
        claim.is_dual &= !ip.is_ipv6() || ip.is_unspecified();
        let bound = self.host_mut(at.host).ports.bind(asked, claim, now);
        let socket = self.socket_of(at)?;
        let (port, claim) = bound.inspect_err(|_| socket.forget_address())?;
        socket.local = Some(SocketAddr::new(ip, port));
        socket.bound = Some(SocketAddr::new(ip, asked));
        socket.options.is_v6_only |= ip.is_ipv6() && !ip.is_unspecified();
        if let Some(gone) = socket.claim.replace(claim) {
            self.host_mut(at.host).ports.release(gone);
        }
        Ok(())
    }

    /// The canonical form of an address that a socket of a host is to have.
    ///
    /// # Errors
    /// As [`Network::bind`], but for what other sockets have.
    pub(super) fn bindable(
        &self,
        host: HostId,
        domain: Domain,
        is_bound: bool,
        is_v6_only: bool,
        address: SocketAddr,
    ) -> Sys<SocketAddr> {
        if address.is_ipv6() != (domain == Domain::V6) {
            return Err(Errno::EAFNOSUPPORT);
        }
        let canonical = canonical(address);
        let is_mapped = address.is_ipv6() && canonical.is_ipv4();
        // IPv6 looks at the socket first, IPv4 at the address.
        if domain == Domain::V6 && (is_bound || is_mapped && is_v6_only) {
            return Err(Errno::EINVAL);
        }
        if !canonical.ip().is_unspecified() && !self.host(host).owns(canonical.ip()) {
            return Err(Errno::EADDRNOTAVAIL);
        }
        if is_bound { Err(Errno::EINVAL) } else { Ok(canonical) }
    }

    /// Whether a socket has no port: a connection that is over has given back the one that the host
    /// chose (Linux `tcp_set_state`).
    pub(super) fn is_unbound(&mut self, at: Descriptor) -> Sys<bool> {
        let socket = self.socket_of(at)?;
        let is_kept = socket.bound.is_some_and(|bound| bound.port() != 0);
        Ok(match socket.role {
            Role::Fresh => socket.local.is_none(),
            Role::Listener(_) => false,
            Role::Connection { wire, side, .. } if !is_kept => {
                let (wire, port) = (WireId(wire), socket.local.map(|local| local.port()));
                self.catch_up(wire, side ^ 1);
                let own = &self.wire(wire).sides[usize::from(side)];
                let is_over = own.end.as_ref().is_some_and(|end| end.state().is_over());
                // It may have been bound anew since.
                is_over && port == Some(own.local.port())
            }
            Role::Connection { .. } => false,
        })
    }

    /// Turns a socket into a listener, as `listen(2)`; a listener only changes its backlog.
    ///
    /// # Errors
    /// `EINVAL` for a connection, `EADDRINUSE`.
    ///
    /// ```
    /// use std::net::SocketAddr;
    /// # use hostsim::{address::Domain, network::Network};
    /// # let mut network = Network::new();
    /// # let host = network.add_host("alone");
    /// let listener = network.socket(host, Domain::V4, true)?;
    /// network.listen(listener, 8)?;
    /// let port = network.local_address(listener)?.port();
    /// assert!(port > 0, "who bound no port is given one");
    /// assert!(network.listens(host, SocketAddr::new(network.address(host), port)));
    /// # Ok::<(), hostsim::errno::Errno>(())
    /// ```
    pub fn listen(&mut self, at: Descriptor, backlog: i32) -> Sys<()> {
        let backlog = usize::try_from(backlog).unwrap_or(BACKLOG_MAX).min(BACKLOG_MAX);
        let socket = self.socket_of(at)?;
        match &mut socket.role {
            Role::Listener(listener) => {
                listener.backlog = backlog;
                return Ok(());
            }
            Role::Connection { .. } => return Err(Errno::EINVAL),
            Role::Fresh => {}
        }
        if socket.claim.is_none() {
            let any = SocketAddr::new(socket.domain.unspecified(), 0);
            let address = socket.bound.map_or(any, |bound| socket.domain.show(bound));
            self.bind(at, address)?;
        }
        let claim = self.socket_of(at)?.claim.expect("it is bound");
        let now = self.now;
        let host = self.host_mut(at.host);
        let file = host.kernel.file_id(at.number)?;
        host.ports.listen(claim, file, now)?;
        let queue = VecDeque::new();
        let listener = Listener { backlog, queue, handshaking: Vec::new(), is_deaf: false };
        let socket = self.socket_of(at)?;
        socket.error = None;
        socket.role = Role::Listener(listener);
        self.on_listener();
        Ok(())
    }

    /// Takes the first connection of a backlog, as `accept4(2)`, with the peer's address.
    ///
    /// # Errors
    /// `EMFILE` (row A44; the connection stays in the backlog), `EINVAL` where the socket does not
    /// listen, `EAGAIN`.
    ///
    /// ```
    /// use hostsim::errno::Errno;
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
    /// assert_eq!(network.accept(listener, true), Err(Errno::EAGAIN), "it was taken already");
    /// let other = network.socket(host, Domain::V4, true)?;
    /// network.connect(other, address).unwrap_err(); // EINPROGRESS
    /// let (_, peer) = network.accept(listener, true)?;
    /// assert_eq!(network.local_address(other), Ok(peer));
    /// # Ok::<(), hostsim::errno::Errno>(())
    /// ```
    pub fn accept(&mut self, at: Descriptor, nonblocking: bool) -> Sys<(Descriptor, SocketAddr)> {
        let is_accepting = self.hosts.get(at.host.0 as usize).is_some_and(|host| host.is_accepting);
        let kernel = self.kernel_of(at)?;
        let number = kernel.free_number();
        let (_, socket) = kernel.socket_mut(at.number)?;
        number?;
        let domain = socket.domain;
        let Role::Listener(listener) = &mut socket.role else { return Err(Errno::EINVAL) };
        let next = if is_accepting { listener.queue.pop_front() } else { None };
        let wire = next.ok_or(Errno::EAGAIN)?;
        let role = Role::Connection { wire, side: 1, phase: Phase::Connected };
        let (remote, local, options) = {
            let wire = self.wire(WireId(wire));
            (wire.remote(1), wire.sides[1].local, wire.sides[1].options)
        };
        let options = options.expect("a connection has options from its handshake on");
        let accepted = Socket { local: Some(local), role, ..Socket::new(domain, options) };
        let (number, file) = self.kernel(at.host).open(Object::Socket(accepted), nonblocking)?;
        let side = &mut self.wire(WireId(wire)).sides[1];
        side.file = Some(file);
        side.listener = None;
        Ok((Descriptor { host: at.host, number }, domain.show(remote)))
    }

    /// The socket's own address, as `getsockname(2)`.
    ///
    /// # Errors
    /// `EBADF`, `ENOTSOCK`.
    ///
    /// ```
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
    /// assert_eq!(network.local_address(accepted), Ok(address));
    /// assert_eq!(network.local_address(dialer)?.ip(), address.ip(), "loopback has one address");
    /// # Ok::<(), hostsim::errno::Errno>(())
    /// ```
    pub fn local_address(&mut self, at: Descriptor) -> Sys<SocketAddr> {
        let socket = match self.socket_of(at) {
            Err(Errno::EOPNOTSUPP) => return self.udp_local_address(at),
            socket => socket?,
        };
        let unbound = SocketAddr::new(socket.domain.unspecified(), 0);
        Ok(socket.domain.show(socket.local.or(socket.shown).unwrap_or(unbound)))
    }

    /// The peer's address, as `getpeername(2)`: the one that was dialed, or who dialed.
    ///
    /// # Errors
    /// `ENOTCONN` before the connection stands and once it is over (rows A04, B27).
    ///
    /// ```
    /// use hostsim::errno::Errno;
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
    /// assert_eq!(network.peer_address(dialer), Ok(address));
    /// assert_eq!(network.peer_address(accepted), network.local_address(dialer));
    /// assert_eq!(network.peer_address(listener), Err(Errno::ENOTCONN));
    /// # Ok::<(), hostsim::errno::Errno>(())
    /// ```
    pub fn peer_address(&mut self, at: Descriptor) -> Sys<SocketAddr> {
        let domain = match self.socket_of(at) {
            Err(Errno::EOPNOTSUPP) => return self.udp_peer_address(at),
            socket => socket?.domain,
        };
        let (wire, side) = self.wire_of(at)?.ok_or(Errno::ENOTCONN)?;
        self.catch_up(wire, side ^ 1);
        let state = self.end(wire, side).state();
        if state.is_over() || state == State::SynSent {
            return Err(Errno::ENOTCONN);
        }
        Ok(domain.show(self.wire(wire).remote(side)))
    }

    /// Writes to a connection, as `send(2)`; a Unix socket is one too, and a UDP socket sends one
    /// datagram to its peer.
    ///
    /// # Errors
    /// The error that waits (rows B09, B16), else `EPIPE` after an end of this direction (B01, C02),
    /// whatever the length (B24), and for a socket that never was connected; `EAGAIN` while
    /// connecting or without room (D13).
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
    /// assert_eq!(network.send(dialer, b"hello"), Ok(5));
    /// network.shutdown(dialer, Direction::Write)?;
    /// assert_eq!(network.send(dialer, b"?"), Err(Errno::EPIPE));
    /// # Ok::<(), hostsim::errno::Errno>(())
    /// ```
    pub fn send(&mut self, at: Descriptor, bytes: &[u8]) -> Sys<usize> {
        self.send_parts(at, std::iter::once(bytes))
    }

    /// Writes bytes in parts to a connection, as `writev(2)`: nothing comes between two parts.
    ///
    /// # Errors
    /// As [`Network::send`].
    pub(crate) fn send_parts<'a>(
        &mut self,
        at: Descriptor,
        parts: impl Iterator<Item = &'a [u8]>,
    ) -> Sys<usize> {
        let (wire, side) = match self.wire_of(at) {
            Ok(Some(end)) => end,
            Ok(None) => return Err(self.socket_of(at)?.error.take().unwrap_or(Errno::EPIPE)),
            Err(Errno::ENOTSOCK) => return self.unix_send(at, parts),
            Err(Errno::EOPNOTSUPP) => return self.udp_send_parts(at, parts),
            Err(errno) => return Err(errno),
        };
        self.catch_up(wire, side ^ 1);
        let end = self.end(wire, side);
        let mut parts = parts.filter(|part| !part.is_empty());
        let first = end.write(parts.next().unwrap_or_default());
        let rest = || parts.map_while(|part| end.write(part).ok()).sum::<usize>();
        let result = first.map(|count| count + rest());
        self.flush(wire, side);
        result
    }

    /// Reads from a connection, as `recv(2)`; a peek leaves the bytes. A Unix socket is one too, and a
    /// UDP socket gives one datagram, cut to the place.
    ///
    /// # Errors
    /// Bytes that arrived come first (rows B07, B29), then the end that a FIN made (B03), then the
    /// error that waits (B15), then the end that a shutdown made, then `EAGAIN`; `ENOTCONN` for a
    /// socket that never was connected.
    ///
    /// ```
    /// use hostsim::errno::Errno;
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
    /// let mut bytes = [0; 8];
    /// assert_eq!(network.receive(accepted, &mut bytes, false), Err(Errno::EAGAIN));
    /// network.send(dialer, b"hello")?;
    /// assert_eq!(network.receive(accepted, &mut bytes, true), Ok(5), "a peek leaves the bytes");
    /// assert_eq!(network.receive(accepted, &mut bytes, false), Ok(5));
    /// network.close(dialer)?;
    /// assert_eq!(network.receive(accepted, &mut bytes, false), Ok(0), "the end of the stream");
    /// # Ok::<(), hostsim::errno::Errno>(())
    /// ```
    pub fn receive(&mut self, at: Descriptor, into: &mut [u8], is_peek: bool) -> Sys<usize> {
        let (wire, side) = match self.wire_of(at) {
            Ok(Some(end)) => end,
            Ok(None) => return self.receive_unconnected(at),
            Err(Errno::ENOTSOCK) => return self.unix_receive(at, into, is_peek),
            Err(Errno::EOPNOTSUPP) => return self.udp_receive(at, into, is_peek),
            Err(errno) => return Err(errno),
        };
        let result = self.end(wire, side).read(into, is_peek);
        if result.is_ok() && !is_peek {
            self.flush(wire, side);
        }
        result
    }

    /// Reads from a socket without a connection: the error that waits, the end that a shutdown made.
    fn receive_unconnected(&mut self, at: Descriptor) -> Sys<usize> {
        let socket = self.socket_of(at)?;
        match socket.error.take() {
            Some(error) => Err(error),
            None if socket.is_read_shut && matches!(socket.role, Role::Fresh) => Ok(0),
            None => Err(Errno::ENOTCONN),
        }
    }

    /// Ends directions of a connection, as `shutdown(2)`. A listener (row A37) and a dial that goes
    /// on are given up, and the socket is as it was before (Linux `inet_shutdown`).
    ///
    /// # Errors
    /// `ENOTCONN`.
    ///
    /// ```
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
    /// network.shutdown(dialer, Direction::Write)?;
    /// let mut bytes = [0; 8];
    /// assert_eq!(network.receive(accepted, &mut bytes, false), Ok(0), "the peer sees the end");
    /// network.send(accepted, b"bye")?;
    /// assert_eq!(network.receive(dialer, &mut bytes, false), Ok(3), "the other way goes on");
    /// # Ok::<(), hostsim::errno::Errno>(())
    /// ```
    pub fn shutdown(&mut self, at: Descriptor, direction: Direction) -> Sys<()> {
        let (file, socket) = match self.kernel_of(at)?.socket_mut(at.number) {
            Err(Errno::EOPNOTSUPP) => return self.udp_shutdown(at, direction),
            socket => socket?,
        };
        if let Role::Listener(_) = &socket.role {
            if direction != Direction::Write {
                self.disconnect(at)?;
            }
            self.wake(at.host, file, Readiness::ALL);
            return Ok(());
        }
        if let Role::Fresh = &socket.role {
            socket.is_read_shut |= direction != Direction::Write;
            socket.is_write_shut |= direction != Direction::Read;
            self.wake(at.host, file, Readiness::ALL);
            return Err(Errno::ENOTCONN);
        }
        let (wire, side) = self.wire_of(at)?.ok_or(Errno::ENOTCONN)?;
        self.catch_up(wire, side ^ 1);
        if self.end(wire, side).state() == State::SynSent {
            self.disconnect(at)?;
            self.socket_of(at)?.error = Some(Errno::ECONNRESET);
            self.wake(at.host, file, Readiness::ALL);
            return Ok(());
        }
        self.on_told(at, wire, side)?;
        let result = self.end(wire, side).shutdown(direction);
        self.wake(at.host, file, Readiness::ALL);
        self.flush(wire, side);
        result
    }

    /// A shutdown settles what a program was told of its dial.
    fn on_told(&mut self, at: Descriptor, wire: WireId, side: SideIndex) -> Sys<()> {
        let is_over = self.end(wire, side).state().is_over();
        let Role::Connection { phase: Phase::Connecting, .. } = self.socket_of(at)?.role else {
            return Ok(());
        };
        self.set_phase(at, if is_over { Phase::Disconnecting } else { Phase::Connected })
    }

    /// Drops a descriptor, as `close(2)`.
    ///
    /// # Errors
    /// `EBADF`.
    ///
    /// ```
    /// use hostsim::errno::Errno;
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
    /// network.send(dialer, b"hello")?;
    /// // Whoever closes with bytes unread resets the connection.
    /// network.close(accepted)?;
    /// assert_eq!(network.receive(dialer, &mut [0; 8], false), Err(Errno::ECONNRESET));
    /// assert_eq!(network.close(accepted), Err(Errno::EBADF));
    /// # Ok::<(), hostsim::errno::Errno>(())
    /// ```
    pub fn close(&mut self, at: Descriptor) -> Sys<()> {
        if let Some((id, file)) = self.kernel_of(at)?.close(at.number)? {
            self.on_closed(at.host, id, file);
        }
        Ok(())
    }

    pub(super) fn on_closed(&mut self, host: HostId, id: FileId, file: File) {
        let socket = match file.object {
            Object::Socket(socket) => socket,
            Object::Unix(id) => return self.on_unix_closed(host, id),
            Object::Udp(udp) => return self.on_udp_closed(host, id, &udp),
            Object::Epoll(_) | Object::Counter(_) | Object::Gone => return,
        };
        match socket.role {
            Role::Listener(listener) => self.reset_children(&listener),
            Role::Connection { wire, side, .. } => {
                let id = WireId(wire);
                self.catch_up(id, side ^ 1);
                let end = &mut self.wire(id).sides[usize::from(side)];
                end.file = None;
                // The port stays taken for as long as the connection does (row A20).
                end.claim = end.claim.or(socket.claim);
                self.end(id, side).close(socket.options.linger.is_reset());
                self.cancel_dial(id);
                return self.flush(id, side);
            }
            Role::Fresh => {}
        }
        if let Some(claim) = socket.claim {
            self.host_mut(host).ports.release(claim);
        }
    }

    /// A program leaves an end of a connection, with the claim that goes with the connection.
    fn leave(&mut self, id: WireId, at: SideIndex, claim: Option<ClaimId>, is_linger_zero: bool) {
        self.catch_up(id, at ^ 1);
        let side = &mut self.wire(id).sides[usize::from(at)];
        side.file = None;
        side.claim = side.claim.or(claim);
        self.end(id, at).close(is_linger_zero);
        if at == 0 {
            self.cancel_dial(id);
        }
        self.flush(id, at);
    }

    /// Makes a socket what it was before it listened or dialed (Linux `tcp_disconnect`): a port
    /// that the program chose stays its own.
    pub(super) fn disconnect(&mut self, at: Descriptor) -> Sys<()> {
        let socket = self.socket_of(at)?;
        let role = std::mem::replace(&mut socket.role, Role::Fresh);
        (socket.is_read_shut, socket.is_write_shut) = (false, false);
        let was = socket.local.take();
        let bound = socket.bound.map_or(socket.domain.unspecified(), |bound| bound.ip());
        let claim = socket.claim.take();
        let is_kept = socket.bound.is_some_and(|bound| bound.port() != 0);
        let (kept, gone) = if is_kept { (claim, None) } else { (None, claim) };
        socket.local = socket.bound.filter(|_| is_kept);
        socket.shown = was.map(|was| SocketAddr::new(bound, was.port()));
        socket.claim = kept;
        match role {
            Role::Listener(listener) => {
                self.reset_children(&listener);
                let ports = &mut self.host_mut(at.host).ports;
                kept.into_iter().for_each(|claim| ports.end_listening(claim));
                gone.into_iter().for_each(|claim| ports.release(claim));
            }
            Role::Connection { wire, side, .. } => {
                let ports = &mut self.host_mut(at.host).ports;
                kept.into_iter().for_each(|claim| ports.set_address(claim, bound));
                self.leave(WireId(wire), side, gone, false);
            }
            Role::Fresh => {}
        }
        Ok(())
    }

    /// Resets what waits in a backlog (row A13); a handshake is refused when it goes on (A41).
    fn reset_children(&mut self, listener: &Listener) {
        for &wire in listener.queue.iter().chain(&listener.handshaking) {
            let id = WireId(wire);
            let side = &mut self.wire(id).sides[1];
            side.listener = None;
            let end = side.end.as_mut().expect("a backlog holds ends");
            match end.state() {
                State::SynReceived => end.vanish_as_orphan(),
                _ => end.close(true),
            }
            self.flush(id, 1);
        }
    }
}

pub(super) fn claim_of(ip: IpAddr, options: &Options) -> Claim {
    Claim {
        ip,
        is_dual: !options.is_v6_only,
        reuses_address: options.reuses_address,
        reuses_port: options.reuses_port,
        listener: None,
        is_dialed: false,
    }
}
