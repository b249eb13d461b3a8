//! The calls of programs on sockets.
//!
//! Each call does at once what Linux would do, or fails with what Linux would say; none waits. A
//! call that would wait fails with `EAGAIN` or `EINPROGRESS`, and who made it decides what then.

use super::Network;
use super::wire::{Side, SideIndex, Wire, WireId};
use crate::address::{Claim, Domain, canonical};
use crate::errno::{Errno, Sys};
use crate::kernel::{Descriptor, File, HostId, Listener, Object, Options, Role, Socket};
use crate::tcp::{Connection, Direction, State};
use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// The most connections a backlog holds (`net.core.somaxconn`).
const BACKLOG_MAX: usize = 4096;

impl Network {
    /// Makes a TCP socket on a host, as `socket(2)`.
    ///
    /// # Errors
    /// `EMFILE`.
    pub fn socket(&mut self, host: HostId, domain: Domain, nonblocking: bool) -> Sys<Descriptor> {
        let at = self.host(host);
        let options = Options::new(at.send_limit, at.receive_limit);
        let socket = Socket { domain, options, local: None, claim: None, role: Role::Fresh };
        let (number, _) = self.kernel(host).open(Object::Socket(socket), nonblocking)?;
        Ok(Descriptor { host, number })
    }

    pub(super) fn socket_of(&mut self, at: Descriptor) -> Sys<&mut Socket> {
        Ok(self.kernel_of(at)?.socket_mut(at.number)?.1)
    }

    /// The connection that a socket is an end of.
    pub(super) fn wire_of(&mut self, at: Descriptor) -> Sys<Option<(WireId, SideIndex)>> {
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
    pub fn bind(&mut self, at: Descriptor, address: SocketAddr) -> Sys<()> {
        let socket = self.socket_of(at)?;
        if address.is_ipv6() != (socket.domain == Domain::V6) {
            return Err(Errno::EAFNOSUPPORT);
        }
        let is_bound = socket.local.is_some() || !matches!(socket.role, Role::Fresh);
        let options = socket.options;
        let address = canonical(address);
        let ip = address.ip();
        let host = self.host_mut(at.host);
        if !ip.is_unspecified() && !host.owns(ip) {
            return Err(Errno::EADDRNOTAVAIL);
        }
        if is_bound {
            return Err(Errno::EINVAL);
        }
        let (port, claim) = host.ports.bind(address.port(), claim_of(ip, &options))?;
        let socket = self.socket_of(at)?;
        socket.local = Some(SocketAddr::new(ip, port));
        socket.claim = Some(claim);
        Ok(())
    }

    /// Turns a socket into a listener, as `listen(2)`; a listener only changes its backlog.
    ///
    /// # Errors
    /// `EINVAL` for a connection, `EADDRINUSE`.
    pub fn listen(&mut self, at: Descriptor, backlog: i32) -> Sys<()> {
        let backlog = usize::try_from(backlog).unwrap_or(BACKLOG_MAX).min(BACKLOG_MAX);
        let domain = match self.socket_of(at)? {
            Socket { role: Role::Listener(listener), .. } => {
                listener.backlog = backlog;
                return Ok(());
            }
            Socket { role: Role::Connection { .. }, .. } => return Err(Errno::EINVAL),
            socket => socket.domain,
        };
        if self.socket_of(at)?.claim.is_none() {
            self.bind(at, SocketAddr::new(domain.unspecified(), 0))?;
        }
        let claim = self.socket_of(at)?.claim.expect("it is bound");
        let host = self.host_mut(at.host);
        let file = host.kernel.file_id(at.number)?;
        host.ports.listen(claim, file)?;
        let queue = VecDeque::new();
        let listener = Listener { backlog, queue, handshaking: Vec::new(), is_shut: false };
        self.socket_of(at)?.role = Role::Listener(listener);
        Ok(())
    }

    /// Takes the first connection of a backlog, as `accept4(2)`, with the peer's address.
    ///
    /// # Errors
    /// `EINVAL` where the socket does not listen, `EMFILE` (row A44; the connection stays in the
    /// backlog), `EAGAIN`.
    pub fn accept(&mut self, at: Descriptor, nonblocking: bool) -> Sys<(Descriptor, SocketAddr)> {
        let kernel = self.kernel_of(at)?;
        let number = kernel.free_number();
        let (_, socket) = kernel.socket_mut(at.number)?;
        let (domain, options) = (socket.domain, socket.options);
        let Role::Listener(listener) = &mut socket.role else { return Err(Errno::EINVAL) };
        if listener.is_shut {
            return Err(Errno::EINVAL);
        }
        if listener.queue.is_empty() {
            return Err(Errno::EAGAIN);
        }
        number?;
        let wire = listener.queue.pop_front().expect("it is not empty");
        let role = Role::Connection { wire, side: 1, is_connecting: false };
        let (remote, local) = {
            let wire = self.wire(WireId(wire));
            (wire.sides[0].local, wire.sides[1].local)
        };
        let accepted = Socket { domain, options, local: Some(local), claim: None, role };
        let (number, file) = self.kernel(at.host).open(Object::Socket(accepted), nonblocking)?;
        let side = &mut self.wire(WireId(wire)).sides[1];
        side.file = Some(file);
        side.listener = None;
        Ok((Descriptor { host: at.host, number }, domain.show(remote)))
    }

    /// Dials, as `connect(2)`.
    ///
    /// # Errors
    /// `EINPROGRESS` for a dial that now goes on, `EAFNOSUPPORT`, `ENETUNREACH` (row A30),
    /// `EADDRNOTAVAIL`, those of [`Network::connect_again`].
    pub fn connect(&mut self, at: Descriptor, address: SocketAddr) -> Sys<()> {
        if let Some(result) = self.connect_again(at)? {
            return result;
        }
        if address.is_ipv6() != (self.domain(at)? == Domain::V6) {
            return Err(Errno::EAFNOSUPPORT);
        }
        let remote = self.route(at.host, canonical(address))?;
        self.dial(at, remote.0, remote.1)?;
        Err(Errno::EINPROGRESS)
    }

    /// What `connect(2)` says without a look at the address; nothing where the socket is to dial.
    ///
    /// # Errors
    /// `EBADF`, `ENOTSOCK`. What it says: `EALREADY` while a dial goes on, `EISCONN`, the error of a
    /// dial that failed.
    pub fn connect_again(&mut self, at: Descriptor) -> Sys<Option<Sys<()>>> {
        Ok(match &mut self.socket_of(at)?.role {
            Role::Fresh => None,
            Role::Listener(_) => Some(Err(Errno::EISCONN)),
            Role::Connection { wire, side, is_connecting } => {
                let (wire, side) = (WireId(*wire), *side);
                let was_connecting = std::mem::take(is_connecting);
                Some(self.on_second_connect(at, wire, side, was_connecting))
            }
        })
    }

    fn on_second_connect(
        &mut self,
        at: Descriptor,
        wire: WireId,
        side: SideIndex,
        was_connecting: bool,
    ) -> Sys<()> {
        let end = self.end(wire, side);
        let result = match end.state() {
            State::SynSent => Err(Errno::EALREADY),
            State::Closed => Err(end.take_error().unwrap_or(Errno::ECONNREFUSED)),
            _ if was_connecting => return Ok(()),
            _ => return Err(Errno::EISCONN),
        };
        if let Role::Connection { is_connecting, .. } = &mut self.socket_of(at)?.role {
            *is_connecting = true;
        }
        result
    }

    /// The host and address that a dial reaches. The wildcard means oneself (row A23).
    fn route(&self, from: HostId, address: SocketAddr) -> Sys<(HostId, SocketAddr)> {
        let ip = match address.ip() {
            ip if !ip.is_unspecified() => ip,
            IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::LOCALHOST),
            IpAddr::V6(_) => IpAddr::V6(std::net::Ipv6Addr::LOCALHOST),
        };
        let address = SocketAddr::new(ip, address.port());
        if self.host(from).owns(ip) {
            return Ok((from, address));
        }
        let host = self.by_address.get(&ip).ok_or(Errno::ENETUNREACH)?;
        Ok((*host, address))
    }

    fn dial(&mut self, at: Descriptor, to: HostId, remote: SocketAddr) -> Sys<()> {
        let socket = self.socket_of(at)?;
        let (options, bound) = (socket.options, socket.local);
        let source = match bound {
            Some(local) if !local.ip().is_unspecified() => local.ip(),
            // The loopback interface has one address of its own (row A24).
            _ if to == at.host && remote.is_ipv4() && remote.ip().is_loopback() => {
                IpAddr::V4(Ipv4Addr::LOCALHOST)
            }
            _ if to == at.host => remote.ip(),
            _ => self.host(at.host).address,
        };
        let port = match bound {
            Some(local) => local.port(),
            None => {
                let claim = claim_of(source, &options);
                let (port, claim) = self.host_mut(at.host).ports.dial(claim)?;
                self.socket_of(at)?.claim = Some(claim);
                port
            }
        };
        let local = SocketAddr::new(source, port);
        let wire = WireId(self.wires.len() as u32);
        let end = Connection::connecting(options.send_limit, options.receive_limit);
        let mut dialer = Side::new(at.host, local, Some(end));
        dialer.file = Some(self.kernel_of(at)?.file_id(at.number)?);
        dialer.dial.first = self.now;
        dialer.dial.retries_max = options.syn_count.unsigned_abs();
        let sides = [dialer, Side::new(to, remote, None)];
        self.wires.push(Some(Box::new(Wire { sides })));
        let socket = self.socket_of(at)?;
        socket.local = Some(local);
        socket.role = Role::Connection { wire: wire.0, side: 0, is_connecting: true };
        self.flush(wire, 0);
        Ok(())
    }

    /// The socket's own address, as `getsockname(2)`.
    ///
    /// # Errors
    /// `EBADF`, `ENOTSOCK`.
    pub fn local_address(&mut self, at: Descriptor) -> Sys<SocketAddr> {
        let socket = self.socket_of(at)?;
        let unbound = SocketAddr::new(socket.domain.unspecified(), 0);
        let local = socket.local.unwrap_or(unbound);
        if socket.domain == Domain::V6 && local.ip() == IpAddr::V4(Ipv4Addr::UNSPECIFIED) {
            return Ok(SocketAddr::new(socket.domain.unspecified(), local.port()));
        }
        Ok(socket.domain.show(local))
    }

    /// The peer's address, as `getpeername(2)`.
    ///
    /// # Errors
    /// `ENOTCONN` before the connection stands and once it is over (rows A04, B27).
    pub fn peer_address(&mut self, at: Descriptor) -> Sys<SocketAddr> {
        let domain = self.socket_of(at)?.domain;
        let (wire, side) = self.wire_of(at)?.ok_or(Errno::ENOTCONN)?;
        self.catch_up(wire, side ^ 1);
        let state = self.end(wire, side).state();
        if state.is_over() || state == State::SynSent {
            return Err(Errno::ENOTCONN);
        }
        let remote = self.wire(wire).sides[usize::from(side ^ 1)].local;
        Ok(domain.show(remote))
    }

    /// Writes to a connection, as `send(2)`.
    ///
    /// # Errors
    /// Those of [`Connection::write`]; `EPIPE` for a socket that never was connected.
    pub fn send(&mut self, at: Descriptor, bytes: &[u8]) -> Sys<usize> {
        self.send_parts(at, std::iter::once(bytes))
    }

    /// Writes bytes in parts to a connection, as `writev(2)`: nothing comes between two parts.
    ///
    /// # Errors
    /// As [`Network::send`].
    pub fn send_parts<'a>(
        &mut self,
        at: Descriptor,
        parts: impl Iterator<Item = &'a [u8]>,
    ) -> Sys<usize> {
        let (wire, side) = self.wire_of(at)?.ok_or(Errno::EPIPE)?;
        self.catch_up(wire, side ^ 1);
        let end = self.end(wire, side);
        let mut parts = parts.filter(|part| !part.is_empty());
        let first = end.write(parts.next().unwrap_or_default());
        let rest = || parts.map_while(|part| end.write(part).ok()).sum::<usize>();
        let result = first.map(|count| count + rest());
        self.flush(wire, side);
        result
    }

    /// Reads from a connection, as `recv(2)`; a peek leaves the bytes.
    ///
    /// # Errors
    /// Those of [`Connection::read`]; `ENOTCONN` for a socket that never was connected.
    pub fn receive(&mut self, at: Descriptor, into: &mut [u8], is_peek: bool) -> Sys<usize> {
        let (wire, side) = self.wire_of(at)?.ok_or(Errno::ENOTCONN)?;
        let result = self.end(wire, side).read(into, is_peek);
        if result.is_ok() && !is_peek {
            self.flush(wire, side);
        }
        result
    }

    /// Ends directions of a connection, as `shutdown(2)`; a listener takes no more (row A37).
    ///
    /// # Errors
    /// `ENOTCONN`.
    pub fn shutdown(&mut self, at: Descriptor, direction: Direction) -> Sys<()> {
        let (file, socket) = self.kernel_of(at)?.socket_mut(at.number)?;
        if let Role::Listener(listener) = &mut socket.role {
            if direction != Direction::Write {
                listener.is_shut = true;
                self.abort_backlog(at.host, file);
                self.wake(at.host, file, crate::tcp::Readiness::ALL);
            }
            return Ok(());
        }
        let (wire, side) = self.wire_of(at)?.ok_or(Errno::ENOTCONN)?;
        self.catch_up(wire, side ^ 1);
        let result = self.end(wire, side).shutdown(direction);
        if result.is_ok() {
            self.wake(at.host, file, crate::tcp::Readiness::ALL);
        }
        self.flush(wire, side);
        result
    }

    /// Drops a descriptor, as `close(2)`.
    ///
    /// # Errors
    /// `EBADF`.
    pub fn close(&mut self, at: Descriptor) -> Sys<()> {
        if let Some((_, file)) = self.kernel_of(at)?.close(at.number)? {
            self.on_closed(at.host, file);
        }
        Ok(())
    }

    fn on_closed(&mut self, host: HostId, file: File) {
        let Object::Socket(socket) = file.object else { return };
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

    fn abort_backlog(&mut self, host: HostId, file: u32) {
        let Some((listener, _)) = self.kernel(host).listener_mut(file) else { return };
        let queue = std::mem::take(&mut listener.queue);
        let handshaking = std::mem::take(&mut listener.handshaking);
        let taken = Listener { backlog: 0, queue, handshaking, is_shut: true };
        self.reset_children(&taken);
    }

    /// Resets what waits in a backlog (row A13); a handshake is refused when it goes on (A41).
    fn reset_children(&mut self, listener: &Listener) {
        for &wire in listener.queue.iter().chain(&listener.handshaking) {
            let id = WireId(wire);
            let side = &mut self.wire(id).sides[1];
            side.listener = None;
            let end = side.end.as_mut().expect("a backlog holds ends");
            let is_queued = end.state() != State::SynReceived;
            end.close(true);
            if !is_queued {
                end.forget_owed();
            }
            self.flush(id, 1);
        }
    }
}

fn claim_of(ip: IpAddr, options: &Options) -> Claim {
    Claim {
        ip,
        is_dual: !options.is_v6_only,
        reuses_address: options.reuses_address,
        reuses_port: options.reuses_port,
        listener: None,
    }
}
