//! Dialing: `connect(2)`, where a dial goes, and from which address.

use super::Network;
use super::call::claim_of;
use super::route::RouteId;
use super::wire::{Side, SideIndex, Wire, WireId};
use crate::address::{Domain, canonical};
use crate::errno::{Errno, Sys};
use crate::kernel::{Descriptor, HostId, Role};
use crate::tcp::{Connection, State};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Where a dial goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Destination {
    Host(HostId),
    /// To a host that is not known yet.
    Route(RouteId),
}

impl Network {
    /// Dials, as `connect(2)`.
    ///
    /// # Errors
    /// `EINPROGRESS` for a dial that now goes on, `EAFNOSUPPORT`, `ENETUNREACH` (row A30),
    /// `EADDRNOTAVAIL` where no port is free or the very connection stands, `EINVAL` from loopback to
    /// another host, those of [`Network::connect_again`].
    pub fn connect(&mut self, at: Descriptor, address: SocketAddr) -> Sys<()> {
        if let Some(result) = self.connect_again(at)? {
            return result;
        }
        if address.is_ipv6() != (self.domain(at)? == Domain::V6) {
            return Err(Errno::EAFNOSUPPORT);
        }
        let (to, remote) = self.destination(at.host, canonical(address))?;
        self.dial(at, to, remote)?;
        Err(Errno::EINPROGRESS)
    }

    /// What `connect(2)` says without a look at the address; nothing where the socket is to dial.
    ///
    /// # Errors
    /// `EBADF`, `ENOTSOCK`. What it says: `EALREADY` while a dial goes on, `EISCONN`, the error of a
    /// dial that failed, which then is forgotten: the socket may dial anew.
    pub fn connect_again(&mut self, at: Descriptor) -> Sys<Option<Sys<()>>> {
        Ok(match &self.socket_of(at)?.role {
            Role::Fresh => None,
            Role::Listener(_) => Some(Err(Errno::EISCONN)),
            Role::Connection { wire, side, is_connecting } => {
                let (wire, side, was_connecting) = (WireId(*wire), *side, *is_connecting);
                Some(self.on_second_connect(at, wire, side, was_connecting))
            }
        })
    }

    /// Linux `inet_stream_connect` on a socket that has dialed, or that was accepted.
    fn on_second_connect(
        &mut self,
        at: Descriptor,
        wire: WireId,
        side: SideIndex,
        was_connecting: bool,
    ) -> Sys<()> {
        let end = self.end(wire, side);
        match end.state() {
            _ if !was_connecting => Err(Errno::EISCONN),
            State::SynSent => Err(Errno::EALREADY),
            state if state.is_over() => {
                let error = end.take_error().unwrap_or(Errno::ECONNABORTED);
                // The program knows now; the socket may dial anew.
                self.disconnect(at)?;
                Err(error)
            }
            _ => {
                if let Role::Connection { is_connecting, .. } = &mut self.socket_of(at)?.role {
                    *is_connecting = false;
                }
                Ok(())
            }
        }
    }

    /// Where a dial goes, and to which address. The wildcard means oneself (row A23).
    fn destination(&self, from: HostId, address: SocketAddr) -> Sys<(Destination, SocketAddr)> {
        let ip = match address.ip() {
            ip if !ip.is_unspecified() => ip,
            IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::LOCALHOST),
            IpAddr::V6(_) => IpAddr::V6(Ipv6Addr::LOCALHOST),
        };
        let address = SocketAddr::new(ip, address.port());
        if self.host(from).owns(ip) {
            return Ok((Destination::Host(from), address));
        }
        let host = self.by_address.get(&ip).map(|host| Destination::Host(*host));
        let route = || self.routes.at(ip).map(Destination::Route);
        Ok((host.or_else(route).ok_or(Errno::ENETUNREACH)?, address))
    }

    fn dial(&mut self, at: Descriptor, to: Destination, remote: SocketAddr) -> Sys<()> {
        let is_within = to == Destination::Host(at.host);
        let socket = self.socket_of(at)?;
        let (options, bound) = (socket.options, socket.local);
        let source = match bound {
            Some(local) if !local.ip().is_unspecified() => local.ip(),
            // The loopback interface has one address of its own (row A24).
            _ if is_within && remote.is_ipv4() && remote.ip().is_loopback() => {
                IpAddr::V4(Ipv4Addr::LOCALHOST)
            }
            _ if is_within => remote.ip(),
            _ => self.host(at.host).address,
        };
        if source.is_loopback() && !is_within || source.is_ipv4() != remote.is_ipv4() {
            return Err(Errno::EINVAL);
        }
        let port = match bound {
            Some(local) if self.has_wire(SocketAddr::new(source, local.port()), remote) => {
                return Err(Errno::EADDRNOTAVAIL);
            }
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
        let (to, route) = match to {
            Destination::Host(host) => (host, None),
            Destination::Route(route) => (at.host, Some(route)),
        };
        let sides = [dialer, Side::new(to, remote, None)];
        let wire_of_dial = Wire { sides, dialed: remote, route, troubled_since: None };
        self.wires.push(Some(Box::new(wire_of_dial)));
        for side in 0..2 {
            self.update_way(wire, side);
        }
        let socket = self.socket_of(at)?;
        socket.local = Some(local);
        socket.error = None;
        socket.role = Role::Connection { wire: wire.0, side: 0, is_connecting: true };
        self.flush(wire, 0);
        Ok(())
    }

    /// Whether a connection of these addresses stands. One that its dialer left and that only waits
    /// for the peer's end does not (row A35).
    fn has_wire(&self, local: SocketAddr, remote: SocketAddr) -> bool {
        self.wires.iter().flatten().any(|wire| {
            let dialer = &wire.sides[0];
            let is_left = dialer.end.as_ref().is_none_or(Connection::is_left);
            (dialer.local, wire.dialed) == (local, remote) && !is_left
        })
    }
}
