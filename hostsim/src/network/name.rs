//! Names of hosts, as every host of the network resolves them.
//!
//! A name is the address of its route, else its hosts' addresses, wherever it is asked; only
//! `localhost` is each one's own, and it is 127.0.0.1. The addresses of IPv4 come first, as the
//! policy of RFC 6724 has them that ranks unique-local addresses below IPv4. A real glibc does so
//! where its `gai.conf` has that policy; the one that is built into it is older (RFC 3484) and ranks
//! IPv6 above. Names compare without regard to ASCII case. There are no domains,
//! and asking takes no time.

use super::Network;
use crate::kernel::HostId;
use std::net::{IpAddr, Ipv4Addr};

/// The name of loopback.
const LOCALHOST: &str = "localhost";

impl Network {
    /// Gives a host one more name; several hosts of one name give all their addresses.
    ///
    /// ```
    /// # use hostsim::network::Network;
    /// # let mut network = Network::new();
    /// let hosts = ["first", "second"].map(|name| network.add_host(name));
    /// for host in hosts {
    ///     network.add_name("api.example", host);
    /// }
    /// assert_eq!(network.resolve("api.example")[..2], hosts.map(|host| network.address(host)));
    /// ```
    pub fn add_name(&mut self, name: &str, host: HostId) {
        let hosts = self.names.entry(name.to_ascii_lowercase()).or_default();
        if let Err(place) = hosts.binary_search(&host) {
            hosts.insert(place, host);
        }
    }

    /// The addresses of a name, or that of the route of this name; none where nobody has it (row
    /// A27). Those of IPv4 in the order in which their hosts were made, then those of IPv6.
    ///
    /// ```
    /// # use hostsim::network::Network;
    /// # let mut network = Network::new();
    /// let db = network.add_host("db");
    /// assert_eq!(network.resolve("DB"), [network.address(db), network.address_v6(db)]);
    /// assert_eq!(network.resolve("cache"), [] as [std::net::IpAddr; 0]);
    /// ```
    pub fn resolve(&self, name: &str) -> Vec<IpAddr> {
        if let Some((ip, _)) = self.routes.named(name) {
            return vec![ip];
        }
        let name = name.to_ascii_lowercase();
        match self.names.get(&name) {
            Some(hosts) => {
                let of = |address: fn(&Network, HostId) -> IpAddr| {
                    hosts.iter().map(move |host| address(self, *host))
                };
                of(Network::address).chain(of(Network::address_v6)).collect()
            }
            None if name == LOCALHOST => vec![IpAddr::V4(Ipv4Addr::LOCALHOST)],
            None => Vec::new(),
        }
    }

    /// The name that a route or host of this name goes by: its own, where the name is of that host
    /// alone.
    pub(crate) fn canonical_name(&self, name: &str) -> String {
        if let Some((_, name)) = self.routes.named(name) {
            return name.to_owned();
        }
        let name = name.to_ascii_lowercase();
        match self.names.get(&name).map(Vec::as_slice) {
            Some([host]) => self.host(*host).name.clone(),
            _ => name,
        }
    }

    /// The name of an address.
    pub(crate) fn name_of(&self, ip: IpAddr) -> Option<&str> {
        let ip = ip.to_canonical();
        if ip.is_loopback() {
            return Some(LOCALHOST);
        }
        let host = self.by_address.get(&ip).map(|host| self.host(*host).name.as_str());
        host.or_else(|| self.routes.at(ip).map(|route| self.routes.name(route)))
    }
}
