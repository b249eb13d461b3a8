//! The addresses of hosts, and from which of them a host reaches another.
//!
//! Each host has an IPv4 address and a unique-local IPv6 address (RFC 4193), both by its number, and
//! the loopback addresses of its own. Every other address is nobody's: there is no way there
//! (`ENETUNREACH`), as on a host without a default route. That goes for broadcast and multicast too.

use super::{Host, Network};
use crate::kernel::HostId;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The address of the first host; those of the others follow.
const FIRST_V4: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const FIRST_V6: Ipv6Addr = Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 1);

/// The IPv4 address of a host by its number.
pub(super) fn v4_of(HostId(number): HostId) -> Ipv4Addr {
    Ipv4Addr::from(u32::from(FIRST_V4) + number)
}

/// The IPv6 address of a host by its number.
pub(super) fn v6_of(HostId(number): HostId) -> Ipv6Addr {
    Ipv6Addr::from(u128::from(FIRST_V6) + u128::from(number))
}

impl Host {
    /// Whether an address is one of the host's own.
    pub(crate) fn owns(&self, ip: IpAddr) -> bool {
        ip == self.address || ip == self.address_v6 || ip.is_loopback()
    }

    /// The address that the host has toward others in the family of `ip`.
    pub(super) fn address_like(&self, ip: IpAddr) -> IpAddr {
        if ip.is_ipv4() { self.address } else { self.address_v6 }
    }

    /// The address from which the host sends to `to`, where nothing else is asked for. The loopback
    /// interface has one address of each family (row A24).
    pub(super) fn source_for(&self, to: IpAddr) -> IpAddr {
        match to {
            IpAddr::V4(v4) if v4.is_loopback() => IpAddr::V4(Ipv4Addr::LOCALHOST),
            to if self.owns(to) => to,
            to => self.address_like(to),
        }
    }
}

impl Network {
    /// The IPv4 address of a host.
    ///
    /// ```
    /// # use hostsim::network::Network;
    /// # let mut network = Network::new();
    /// let host = network.add_host("alone");
    /// assert_eq!(network.address(host).to_string(), "10.0.0.1");
    /// ```
    pub fn address(&self, id: HostId) -> IpAddr {
        self.host(id).address
    }

    /// The IPv6 address of a host.
    ///
    /// ```
    /// # use hostsim::network::Network;
    /// # let mut network = Network::new();
    /// let host = network.add_host("alone");
    /// assert_eq!(network.address_v6(host).to_string(), "fd00::1");
    /// ```
    pub fn address_v6(&self, id: HostId) -> IpAddr {
        self.host(id).address_v6
    }

    /// The host that an address of `from` reaches: itself by its own; none where it is nobody's.
    pub(super) fn reached(&self, from: HostId, ip: IpAddr) -> Option<HostId> {
        if self.host(from).owns(ip) {
            return Some(from);
        }
        self.by_address.get(&ip).copied()
    }
}
