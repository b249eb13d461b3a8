//! Dialing: `connect(2)`, where a dial goes, and from which address.

use super::call::claim_of;
use super::route::RouteId;
use super::wire::{Side, SideIndex, Wire, WireId};
use super::{Network, Protocol};
use crate::address::{Domain, canonical};
use crate::errno::{Errno, Sys};
use crate::kernel::{Descriptor, HostId, Phase, Role, Socket};
use crate::tcp::{Connection, Readiness, State};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Where a dial goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Destination {
    Host(HostId),
    /// To a host that is not known yet.
    Route(RouteId),
}

impl Network {
    /// Dials, as `connect(2)`. A UDP socket is connected at once.
    ///
    /// # Errors
    /// `EINPROGRESS` for a dial that now goes on, `EAFNOSUPPORT`, `ENETUNREACH` (row A30),
    /// `EADDRNOTAVAIL` where no port is free or the very connection stands, `EINVAL` from loopback to
    /// another host. Of a socket that dialed: `EALREADY` while that goes on, `EISCONN` once it is
    /// known to stand, the error of a dial that failed, which then is forgotten.
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
    /// let other = network.socket(client, Domain::V4, true)?;
    /// assert_eq!(network.connect(other, address), Err(Errno::EINPROGRESS));
    /// assert_eq!(network.connect(other, address), Err(Errno::EALREADY));
    /// run(&mut network);
    /// assert_eq!(network.connect(other, address), Ok(()));
    /// assert_eq!(network.connect(other, address), Err(Errno::EISCONN));
    /// # Ok::<(), hostsim::errno::Errno>(())
    /// ```
    pub fn connect(&mut self, at: Descriptor, address: SocketAddr) -> Sys<()> {
        if self.protocol(at)? == Protocol::Udp {
            return self.udp_connect(at, address);
        }
        if let Some(result) = self.connect_again(at)? {
            return result;
        }
        if address.is_ipv6() != (self.domain(at)? == Domain::V6) {
            return Err(Errno::EAFNOSUPPORT);
        }
        let address = self.in_family_of(at, address)?;
        let (to, remote) = self.destination(at, address)?;
        self.dial(at, to, remote)?;
        Err(Errno::EINPROGRESS)
    }

    /// What `connect(2)` says without a look at the address; nothing where the socket is to dial.
    ///
    /// # Errors
    /// `EBADF`, `ENOTSOCK`. What it says: `EALREADY` while a dial goes on, `EISCONN`, the error of a
    /// dial that failed, which then is forgotten: the socket may dial anew.
    pub(crate) fn connect_again(&mut self, at: Descriptor) -> Sys<Option<Sys<()>>> {
        Ok(match &self.socket_of(at)?.role {
            Role::Fresh => None,
            Role::Listener(_) => Some(Err(Errno::EISCONN)),
            Role::Connection { phase: Phase::Connected, .. } => Some(Err(Errno::EISCONN)),
            Role::Connection { phase: Phase::Disconnecting, .. } => Some(Err(Errno::EINVAL)),
            Role::Connection { wire, side, phase: Phase::Connecting } => {
                let (wire, side) = (WireId(*wire), *side);
                Some(self.on_second_connect(at, wire, side))
            }
        })
    }

    /// Linux `inet_stream_connect` on a socket that has dialed.
    fn on_second_connect(&mut self, at: Descriptor, wire: WireId, side: SideIndex) -> Sys<()> {
        let end = self.end(wire, side);
        match end.state() {
            State::SynSent => Err(Errno::EALREADY),
            state if state.is_over() => {
                let error = end.take_error().unwrap_or(Errno::ECONNABORTED);
                // The program knows now; the socket may dial anew.
                self.disconnect(at)?;
                // Linux `tcp_disconnect` reports an error, whether there is one or not.
                let (file, _) = self.kernel_of(at)?.socket_mut(at.number)?;
                self.wake(at.host, file, Readiness::ERR);
                Err(error)
            }
            _ => self.set_phase(at, Phase::Connected),
        }
    }

    pub(super) fn set_phase(&mut self, at: Descriptor, to: Phase) -> Sys<()> {
        if let Role::Connection { phase, .. } = &mut self.socket_of(at)?.role {
            *phase = to;
        }
        Ok(())
    }

    /// The canonical form of the address to dial, which is of the family that the socket is bound to.
    fn in_family_of(&mut self, at: Descriptor, address: SocketAddr) -> Sys<SocketAddr> {
        let Socket { bound, options, .. } = self.socket_of(at)?;
        let is_bound_to_v4 = bound.is_some_and(|bound| bound.is_ipv4());
        let to = canonical(address);
        match (address.is_ipv6(), to.is_ipv4()) {
            (true, true) if options.is_v6_only => Err(Errno::ENETUNREACH),
            (true, false) if is_bound_to_v4 && to.ip().is_unspecified() => {
                Ok(SocketAddr::new(Ipv4Addr::LOCALHOST.into(), to.port()))
            }
            (true, false) if is_bound_to_v4 => Err(Errno::EAFNOSUPPORT),
            _ => Ok(to),
        }
    }

    /// Where a dial goes, and to which address. The wildcard means oneself (row A23): of IPv4 the
    /// very address that the socket is bound to.
    fn destination(
        &mut self,
        at: Descriptor,
        address: SocketAddr,
    ) -> Sys<(Destination, SocketAddr)> {
        let from = at.host;
        let bound = self.socket_of(at)?.bound.map(|bound| bound.ip());
        let ip = match address.ip() {
            ip if !ip.is_unspecified() => ip,
            IpAddr::V4(_) => match bound.filter(|ip| ip.is_ipv4() && !ip.is_unspecified()) {
                Some(ip) => ip,
                None => IpAddr::V4(Ipv4Addr::LOCALHOST),
            },
            IpAddr::V6(_) => IpAddr::V6(Ipv6Addr::LOCALHOST),
        };
        let address = SocketAddr::new(ip, address.port());
        let host = self.reached(from, ip).map(Destination::Host);
        let route = || self.routes.at(ip).map(Destination::Route);
        Ok((host.or_else(route).ok_or(Errno::ENETUNREACH)?, address))
    }

    fn dial(&mut self, at: Descriptor, to: Destination, remote: SocketAddr) -> Sys<()> {
        let is_within = to == Destination::Host(at.host);
        let socket = self.socket_of(at)?;
        let (options, bound) = (socket.options, socket.local);
        let chosen = bound.or(socket.bound).map(|local| local.ip());
        let source = match chosen {
            Some(ip) if !ip.is_unspecified() => ip,
            _ => self.host(at.host).source_for(remote.ip()),
        };
        // IPv6 sends from loopback, and nobody takes it.
        let is_martian = source.is_ipv4() && source.is_loopback() && !is_within;
        if is_martian || source.is_ipv4() != remote.is_ipv4() {
            return Err(Errno::EINVAL);
        }
        let port = match bound {
            Some(local) if self.has_wire(SocketAddr::new(source, local.port()), remote) => {
                return Err(Errno::EADDRNOTAVAIL);
            }
            Some(local) => {
                let claim = self.socket_of(at)?.claim;
                let ports = &mut self.host_mut(at.host).ports;
                claim.into_iter().for_each(|claim| ports.set_address(claim, source));
                local.port()
            }
            None => {
                let claim = claim_of(source, &options);
                let (port, claim) = self.host_mut(at.host).ports.dial(claim)?;
                self.socket_of(at)?.claim = Some(claim);
                port
            }
        };
        let local = SocketAddr::new(source, port);
        let wire = WireId(self.wires.len() as u32);
        let mut end = Connection::connecting(options.send_limit, options.receive_limit);
        let socket = self.socket_of(at)?;
        end.begin_shut(socket.is_read_shut, socket.is_write_shut);
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
        socket.role = Role::Connection { wire: wire.0, side: 0, phase: Phase::Connecting };
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
