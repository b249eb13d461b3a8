//! Address and port rules: which sockets may share a port, and which listener a SYN meets.
//!
//! One table a host. Knows no sockets beyond their file number and no segments. An IPv4 address
//! and its IPv4-mapped IPv6 form are one address here; a socket remembers which form it shows.

mod check;

use crate::clock::Instant;
use crate::errno::{Errno, Sys};
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::ops::RangeInclusive;
use std::time::Duration;

/// Ports that a host gives by itself (`net.ipv4.ip_local_port_range`).
pub(crate) const EPHEMERAL: RangeInclusive<u16> = 32_768..=60_999;

/// How long a connection that closed first keeps its port (`TCP_TIMEWAIT_LEN`).
const TIME_WAIT: Duration = Duration::from_secs(60);

/// The family of a socket.
///
/// ```
/// use hostsim::address::{Domain, canonical};
/// use hostsim::network::Network;
///
/// let mut network = Network::new();
/// let host = network.add_host("alone");
/// let socket = network.socket(host, Domain::V6, true)?;
/// network.bind(socket, "[::ffff:127.0.0.1]:7".parse().expect("it is one"))?;
/// let shown = network.local_address(socket)?;
/// assert_eq!(shown.to_string(), "[::ffff:127.0.0.1]:7", "in the form of its family");
/// assert_eq!(canonical(shown).to_string(), "127.0.0.1:7");
/// # Ok::<(), hostsim::errno::Errno>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Domain {
    /// `AF_INET`
    V4,
    /// `AF_INET6`; also takes IPv4 unless told not to.
    V6,
}

impl Domain {
    /// The wildcard address of the family.
    ///
    /// ```
    /// use hostsim::address::Domain;
    ///
    /// assert_eq!(Domain::V4.unspecified().to_string(), "0.0.0.0");
    /// assert_eq!(Domain::V6.unspecified().to_string(), "::");
    /// ```
    pub const fn unspecified(self) -> IpAddr {
        match self {
            Domain::V4 => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
            Domain::V6 => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
        }
    }

    /// The form in which a socket of this family shows an address.
    pub(crate) fn show(self, address: SocketAddr) -> SocketAddr {
        match (self, address) {
            (Domain::V6, SocketAddr::V4(v4)) => {
                SocketAddr::new(v4.ip().to_ipv6_mapped().into(), v4.port())
            }
            _ => address,
        }
    }
}

/// The one form of an address that the tables hold.
///
/// ```
/// use hostsim::address::canonical;
/// use std::net::SocketAddr;
///
/// let mapped: SocketAddr = "[::ffff:10.0.0.1]:7".parse()?;
/// let v6: SocketAddr = "[fd00::1]:7".parse()?;
/// assert_eq!(canonical(mapped), SocketAddr::from(([10, 0, 0, 1], 7)));
/// assert_eq!(canonical(v6), v6);
/// # Ok::<(), std::net::AddrParseError>(())
/// ```
pub fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

/// A socket's claim on a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Claim {
    /// The canonical address; a wildcard claims every address of its family.
    pub(crate) ip: IpAddr,
    /// Whether a socket of IPv6 takes IPv4 too.
    pub(crate) is_dual: bool,
    /// `SO_REUSEADDR`
    pub(crate) reuses_address: bool,
    /// `SO_REUSEPORT`
    pub(crate) reuses_port: bool,
    /// The listener's file, once it listens.
    pub(crate) listener: Option<u32>,
    /// The host chose the port for a dial: such ports are taken again before they are free.
    pub(crate) is_dialed: bool,
}

impl Claim {
    fn overlaps(&self, other: &Claim) -> bool {
        let is_covered = self.covers(other.ip) || other.covers(self.ip);
        self.ip == other.ip || is_covered || self.was_dual(other) || other.was_dual(self)
    }

    /// Whether a claim on every address of IPv4 meets one of IPv6 that takes IPv4 too, and that a
    /// dial has given an address (Linux `ipv4_rcv_saddr_equal`).
    fn was_dual(&self, other: &Claim) -> bool {
        self.is_dual && self.ip.is_ipv6() && other.ip == Domain::V4.unspecified()
    }

    /// Whether a connection to `ip` may meet this claim.
    fn covers(&self, ip: IpAddr) -> bool {
        match self.ip {
            IpAddr::V4(own) => own.is_unspecified() && ip.is_ipv4(),
            IpAddr::V6(own) => own.is_unspecified() && (ip.is_ipv6() || self.is_dual),
        }
    }

    /// Linux `inet_csk_bind_conflict`.
    fn conflicts(&self, other: &Claim) -> bool {
        let share_address = self.reuses_address && other.reuses_address && other.listener.is_none();
        let share_port = self.reuses_port && other.reuses_port;
        self.overlaps(other) && !share_address && !share_port
    }
}

/// A handle to a claim, to change or drop it by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ClaimId {
    port: u16,
    serial: u32,
}

/// What a connection in TIME_WAIT claims; one stands for all that claim the same.
#[derive(Debug)]
struct Waiting {
    port: u16,
    claim: Claim,
    until: Instant,
}

/// The claims of one host.
#[derive(Debug, Default)]
pub(crate) struct Ports {
    claims: BTreeMap<ClaimId, Claim>,
    waiting: Vec<Waiting>,
    serial: u32,
    dialed: u16,
    bound: u16,
}

impl Ports {
    /// Claims a port; port 0 asks for one that is free.
    ///
    /// # Errors
    /// `EADDRINUSE` on a conflict, and where no port is free.
    pub(crate) fn bind(&mut self, port: u16, claim: Claim, now: Instant) -> Sys<(u16, ClaimId)> {
        self.waiting.retain(|waiting| waiting.until > now);
        let port = if port == 0 { self.free_for_bind(&claim)? } else { port };
        let mut waiting = self.waiting.iter().filter(|waiting| waiting.port == port);
        if self.on_port(port).any(|(_, other)| claim.conflicts(other))
            || waiting.any(|waiting| claim.conflicts(&waiting.claim))
        {
            return Err(Errno::EADDRINUSE);
        }
        Ok((port, self.insert(port, claim)))
    }

    /// Claims an even port for a dial (row A33): Linux keeps the odd ones for `bind`.
    ///
    /// # Errors
    /// `EADDRNOTAVAIL` where none is free, as `connect(2)` says.
    pub(crate) fn dial(&mut self, claim: Claim) -> Sys<(u16, ClaimId)> {
        let port = self.free(self.dialed, 0, &claim).ok_or(Errno::EADDRNOTAVAIL)?;
        self.dialed = (port - EPHEMERAL.start()) / 2 + 1;
        Ok((port, self.insert(port, Claim { is_dialed: true, ..claim })))
    }

    fn free_for_bind(&mut self, claim: &Claim) -> Sys<u16> {
        let port = self.free(self.bound, 1, claim).ok_or(Errno::EADDRINUSE)?;
        self.bound = (port - EPHEMERAL.start()) / 2 + 1;
        Ok(port)
    }

    fn free(&self, from: u16, parity: u16, claim: &Claim) -> Option<u16> {
        let count = (EPHEMERAL.end() - EPHEMERAL.start()).div_ceil(2);
        (0..count).map(|step| EPHEMERAL.start() + 2 * ((from + step) % count) + parity).find(
            |&port| {
                let mut waiting = self.waiting.iter().filter(|waiting| waiting.port == port);
                !self.on_port(port).any(|(_, other)| claim.overlaps(other))
                    && !waiting.any(|waiting| claim.overlaps(&waiting.claim))
            },
        )
    }

    /// A further claim beside one that stands: an accepted connection on its listener's port.
    pub(crate) fn insert(&mut self, port: u16, claim: Claim) -> ClaimId {
        self.serial += 1;
        let id = ClaimId { port, serial: self.serial };
        self.claims.insert(id, claim);
        id
    }

    /// Turns a claim into a listener's. It has to stand against the others as when it was made:
    /// connections of an earlier listener may be among them.
    ///
    /// # Errors
    /// `EADDRINUSE` on a conflict.
    pub(crate) fn listen(&mut self, id: ClaimId, file: u32, now: Instant) -> Sys<()> {
        self.waiting.retain(|waiting| waiting.until > now);
        let claim = self.claims[&id];
        let mut others = self.on_port(id.port).filter(|(other, _)| **other != id);
        let mut waiting = self.waiting.iter().filter(|waiting| waiting.port == id.port);
        let is_taken = others.any(|(_, other)| claim.conflicts(other))
            || waiting.any(|waiting| claim.conflicts(&waiting.claim));
        drop(others);
        if is_taken {
            return Err(Errno::EADDRINUSE);
        }
        self.claims.insert(id, Claim { listener: Some(file), ..claim });
        Ok(())
    }

    /// Moves a claim to the address that a dial chose, or back.
    pub(crate) fn set_address(&mut self, id: ClaimId, ip: IpAddr) {
        if let Some(claim) = self.claims.get_mut(&id) {
            claim.ip = ip;
        }
    }

    /// Turns a listener's claim into that of a bound socket.
    pub(crate) fn end_listening(&mut self, id: ClaimId) {
        if let Some(claim) = self.claims.get_mut(&id) {
            claim.listener = None;
        }
    }

    /// Drops the claim of a connection that goes into TIME_WAIT: for a minute its port is taken for
    /// whoever does not share addresses.
    pub(crate) fn wait(&mut self, id: ClaimId, now: Instant) {
        let Some(claim) = self.claims.remove(&id).filter(|claim| !claim.is_dialed) else { return };
        let (port, until) = (id.port, now + TIME_WAIT);
        self.waiting.retain(|waiting| {
            waiting.until > now && (waiting.port, waiting.claim) != (port, claim)
        });
        self.waiting.push(Waiting { port, claim, until });
    }

    /// Drops a claim.
    pub(crate) fn release(&mut self, id: ClaimId) {
        self.claims.remove(&id);
    }

    /// How many claims there are.
    pub(crate) fn len(&self) -> usize {
        self.claims.len()
    }

    /// The listener that a SYN to `address` meets: of its very address, else of a wildcard.
    pub(crate) fn listener(&self, address: SocketAddr) -> Option<u32> {
        let exact = |claim: &Claim| claim.ip == address.ip();
        let wild = |claim: &Claim| claim.covers(address.ip());
        let find = |fits: &dyn Fn(&Claim) -> bool| {
            self.on_port(address.port())
                .filter(|(_, claim)| fits(claim))
                .find_map(|(_, claim)| claim.listener)
        };
        find(&exact).or_else(|| find(&wild))
    }

    fn on_port(&self, port: u16) -> impl Iterator<Item = (&ClaimId, &Claim)> {
        let id = |serial| ClaimId { port, serial };
        self.claims.range(id(0)..=id(u32::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(ip: &str) -> Claim {
        let ip = ip.parse().expect("tests use addresses");
        let is_dual = true;
        Claim {
            ip,
            is_dual,
            reuses_address: true,
            reuses_port: false,
            listener: None,
            is_dialed: false,
        }
    }

    #[track_caller]
    fn check(first: &str, second: &str, expected: Sys<()>) {
        let mut ports = Ports::default();
        let (_, id) = ports.bind(7, claim(first), Instant::START).expect("the first claim stands");
        ports.listen(id, 1, Instant::START).expect("the first listens");
        assert_eq!(
            ports.bind(7, claim(second), Instant::START).map(|_| ()),
            expected,
            "{first} then {second}"
        );
    }

    #[test]
    fn conflicts_of_a_listener_are_those_of_row_a18() {
        check("127.0.0.1", "0.0.0.0", Err(Errno::EADDRINUSE));
        check("127.0.0.1", "127.0.0.2", Ok(()));
        check("127.0.0.1", "::1", Ok(()));
        check("127.0.0.1", "::", Err(Errno::EADDRINUSE));
        check("0.0.0.0", "127.0.0.1", Err(Errno::EADDRINUSE));
        check("0.0.0.0", "::", Err(Errno::EADDRINUSE));
    }

    #[test]
    fn the_exact_address_wins_over_the_wildcard() {
        let mut ports = Ports::default();
        let mut wild = claim("0.0.0.0");
        wild.reuses_port = true;
        let exact = Claim { ip: "10.0.0.1".parse().unwrap(), ..wild };
        let (_, wild) = ports.bind(7, wild, Instant::START).unwrap();
        ports.listen(wild, 1, Instant::START).unwrap();
        let (_, exact) = ports.bind(7, exact, Instant::START).unwrap();
        ports.listen(exact, 2, Instant::START).unwrap();
        assert_eq!(ports.listener("10.0.0.1:7".parse().unwrap()), Some(2));
        assert_eq!(ports.listener("10.0.0.2:7".parse().unwrap()), Some(1));
        assert_eq!(ports.listener("10.0.0.2:8".parse().unwrap()), None);
    }

    #[test]
    fn dials_take_even_ports_and_binds_odd_ones() {
        let mut ports = Ports::default();
        let dialed: Vec<u16> = (0..3).map(|_| ports.dial(claim("10.0.0.1")).unwrap().0).collect();
        let bound: Vec<u16> =
            (0..2).map(|_| ports.bind(0, claim("10.0.0.1"), Instant::START).unwrap().0).collect();
        assert_eq!((dialed, bound), (vec![32_768, 32_770, 32_772], vec![32_769, 32_771]));
    }

    #[test]
    fn a_host_has_only_so_many_ports() {
        let mut ports = Ports::default();
        let dials = (0..).take_while(|_| ports.dial(claim("10.0.0.1")).is_ok()).count();
        assert_eq!(dials, 14_116);
        assert_eq!(ports.dial(claim("10.0.0.1")).map(|_| ()), Err(Errno::EADDRNOTAVAIL));
    }
}
