//! Dialing: `connect(2)`, where a dial goes, and from which address.

use super::Network;
use super::call::claim_of;
use super::wire::{Side, SideIndex, Wire, WireId};
use crate::address::{Domain, canonical};
use crate::errno::{Errno, Sys};
use crate::kernel::{Descriptor, HostId, Role};
use crate::tcp::{Connection, State};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

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
        let remote = self.route(at.host, canonical(address))?;
        self.dial(at, remote.0, remote.1)?;
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

    /// The host and address that a dial reaches. The wildcard means oneself (row A23).
    fn route(&self, from: HostId, address: SocketAddr) -> Sys<(HostId, SocketAddr)> {
        let ip = match address.ip() {
            ip if !ip.is_unspecified() => ip,
            IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::LOCALHOST),
            IpAddr::V6(_) => IpAddr::V6(Ipv6Addr::LOCALHOST),
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
        if source.is_loopback() && to != at.host || source.is_ipv4() != remote.is_ipv4() {
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
        let sides = [dialer, Side::new(to, remote, None)];
        self.wires.push(Some(Box::new(Wire { sides, troubled_since: None })));
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
        let mut wires = self.wires.iter().flatten().map(|wire| &wire.sides);
        wires.any(|[dialed, accepted]| {
            let is_left = dialed.end.as_ref().is_none_or(Connection::is_left);
            (dialed.local, accepted.local) == (local, remote) && !is_left
        })
    }
}
