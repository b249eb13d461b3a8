//! Routes: one address for many hosts, and one host for each connection.
//!
//! A route is a name with a virtual address, as a service of Kubernetes or a balancer of layer 4
//! has one. A connection to that address goes to one of the route's hosts, on the same port. The
//! host is chosen when the SYN arrives and stays: a SYN that is dropped there comes to it again,
//! and a change of the set moves no connection.
//!
//! Programs see what destination NAT shows them: to the dialer its peer is the virtual address; to
//! the server its own address was dialed, by the dialer's. The virtual address is no host's own:
//! nobody can bind it, and only connections go there. It is of IPv4 alone: a name of a route has no
//! IPv6 address.
//!
//! Until it arrives a SYN has no host. It takes as long as the longest way from its dialer to a host
//! of the set, as that is when it is sent, and only what silences the dialer keeps it back; cuts
//! and fences of the chosen host are met on arrival. A set without hosts refuses at the dialer's own
//! host, as kube-proxy does, and a host without a listener refuses as ever.
//!
//! # Determinism
//! The hosts of a route take turns in canonical order, unless a [`Chooser`] was handed in.

use super::Network;
use super::wire::{SideIndex, WireId};
use crate::kernel::HostId;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

/// The address of the first route; those of the others follow.
const FIRST: Ipv4Addr = Ipv4Addr::new(10, 96, 0, 1);

/// The most routes of a network.
const ROUTES_MAX: usize = 65_534;

/// Chooses the host of a connection, by its index in a set of two or more in canonical order. The
/// network is being worked on meanwhile, so it must not ask for it.
///
/// ```
/// use hostsim::network::Chooser;
///
/// // Takes the last.
/// let mut last: Chooser = Box::new(|hosts| hosts.len() - 1);
/// let hosts = [3, 5].map(hostsim::kernel::HostId);
/// assert_eq!(hosts[last(&hosts)], hosts[1]);
/// ```
pub type Chooser = Box<dyn FnMut(&[HostId]) -> usize>;

/// A route, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RouteId(u32);

/// A name, and the hosts behind it.
#[derive(Debug)]
struct Route {
    name: String,
    /// In canonical order, each once.
    hosts: Vec<HostId>,
    /// How many connections took their turn.
    turn: usize,
}

/// The routes of a network.
#[derive(Default)]
pub(super) struct Routes {
    routes: Vec<Route>,
    chooser: Option<Chooser>,
}

impl Routes {
    /// The route at an address.
    pub(super) fn at(&self, ip: IpAddr) -> Option<RouteId> {
        let IpAddr::V4(ip) = ip else { return None };
        let id = u32::from(ip).checked_sub(u32::from(FIRST))?;
        ((id as usize) < self.routes.len()).then_some(RouteId(id))
    }

    /// The address and the name of the route that goes by a name.
    pub(super) fn named(&self, name: &str) -> Option<(IpAddr, &str)> {
        let is_named = |route: &Route| route.name.eq_ignore_ascii_case(name);
        let id = self.routes.iter().position(is_named)?;
        Some((address(id), &self.routes[id].name))
    }

    pub(super) fn name(&self, id: RouteId) -> &str {
        &self.route(id).name
    }

    fn route(&self, RouteId(id): RouteId) -> &Route {
        &self.routes[id as usize]
    }

    /// Chooses a host; none where there is none.
    fn choose(&mut self, RouteId(id): RouteId) -> Option<HostId> {
        let Route { hosts, turn, .. } = &mut self.routes[id as usize];
        let index = match (hosts.len(), &mut self.chooser) {
            (0, _) => return None,
            (1, _) => 0,
            (_, Some(chooser)) => chooser(hosts),
            (count, None) => {
                *turn += 1;
                (*turn - 1) % count
            }
        };
        Some(hosts[index])
    }
}

impl Network {
    /// Adds a route to some hosts; its address follows from its number: 10.96.0.1, 10.96.0.2, ….
    ///
    /// Every host resolves the name to that address, also where hosts go by it. Names compare
    /// without regard to ASCII case.
    ///
    /// # Panics
    /// Where a route has the name, a host is not one of the network's, and past 65,534 routes.
    ///
    /// ```
    /// # use hostsim::network::Network;
    /// # let mut network = Network::new();
    /// let hosts = ["first", "second"].map(|name| network.add_host(name));
    /// let api = network.add_route("api", &hosts);
    /// assert_eq!(network.resolve("API"), [api]);
    /// ```
    #[track_caller]
    pub fn add_route(&mut self, name: &str, hosts: &[HostId]) -> IpAddr {
        assert!(self.routes.named(name).is_none(), "a route has the name {name} already");
        let id = self.routes.routes.len();
        assert!(id < ROUTES_MAX, "a network has {ROUTES_MAX} routes at most");
        let hosts = self.canonical_set(hosts);
        self.routes.routes.push(Route { name: name.to_owned(), hosts, turn: 0 });
        address(id)
    }

    /// Sets the hosts of the route at an address, for connections whose SYN arrives from now on.
    ///
    /// # Panics
    /// Where no route has the address, and where a host is not one of the network's.
    ///
    /// ```
    /// # use hostsim::network::Network;
    /// # let mut network = Network::new();
    /// let [first, second] = ["first", "second"].map(|name| network.add_host(name));
    /// let api = network.add_route("api", &[first, second]);
    /// // The first is to be replaced: it gets no connections any more.
    /// network.set_route(api, &[second]);
    /// assert_eq!(network.route_hosts(api), Some(&[second][..]));
    /// ```
    #[track_caller]
    pub fn set_route(&mut self, ip: IpAddr, hosts: &[HostId]) {
        let hosts = self.canonical_set(hosts);
        let route = self.routes.at(ip);
        let RouteId(id) = route.unwrap_or_else(|| panic!("no route has the address {ip}"));
        self.routes.routes[id as usize].hosts = hosts;
    }

    /// The hosts of the route at an address, in canonical order; `None` where there is no route.
    ///
    /// ```
    /// # use hostsim::network::Network;
    /// # let mut network = Network::new();
    /// let [first, second] = ["first", "second"].map(|name| network.add_host(name));
    /// let api = network.add_route("api", &[second, first, second]);
    /// assert_eq!(network.route_hosts(api), Some(&[first, second][..]), "each once, in order");
    /// assert_eq!(network.route_hosts(network.address(first)), None, "it is no route's");
    /// ```
    pub fn route_hosts(&self, ip: IpAddr) -> Option<&[HostId]> {
        self.routes.at(ip).map(|id| self.routes.route(id).hosts.as_slice())
    }

    /// Has `chooser` choose the hosts of connections from now on.
    ///
    /// ```
    /// use std::net::SocketAddr;
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
    /// let other = network.add_host("other");
    /// let api = SocketAddr::new(network.add_route("api", &[other, server]), 7);
    /// // Where each would have its turn, this one always takes the first.
    /// network.set_chooser(Box::new(|_hosts| 0));
    /// let dials = [(); 2].map(|()| network.socket(client, Domain::V4, true).unwrap());
    /// for dial in dials {
    ///     network.connect(dial, api).unwrap_err(); // EINPROGRESS
    /// }
    /// run(&mut network);
    /// assert!(dials.into_iter().all(|dial| network.peer_address(dial) == Ok(api)));
    /// let hosts: Vec<_> = network.connections().map(|view| view.hosts[1]).collect();
    /// assert_eq!(hosts, [server; 3]);
    /// # Ok::<(), hostsim::errno::Errno>(())
    /// ```
    pub fn set_chooser(&mut self, chooser: Chooser) {
        self.routes.chooser = Some(chooser);
    }

    #[track_caller]
    fn canonical_set(&self, hosts: &[HostId]) -> Vec<HostId> {
        let mut hosts = hosts.to_vec();
        hosts.sort_unstable();
        hosts.dedup();
        let is_known = hosts.last().is_none_or(|last| (last.0 as usize) < self.hosts.len());
        assert!(is_known, "the hosts of a route are the network's");
        hosts
    }

    /// How long a SYN takes to a route. The way to oneself takes no time.
    pub(super) fn way_to(&self, route: RouteId, from: HostId) -> Duration {
        let links = &self.host(from).links;
        let hosts = self.routes.route(route).hosts.iter().filter(|host| **host != from);
        hosts.map(|host| links[host.0 as usize].latency).max().unwrap_or_default()
    }

    /// Gives a connection its host, where its SYN is to arrive and it has none.
    pub(super) fn choose_host(&mut self, id: WireId, from: SideIndex) {
        let wire = self.wire(id);
        let arrives = from == 0 && !wire.sides[0].is_silent;
        let Some(route) = wire.route.filter(|_| arrives) else { return };
        let Some(host) = self.routes.choose(route) else { return };
        // A route has an address of IPv4.
        let ip = self.address(host);
        let wire = self.wire(id);
        wire.route = None;
        wire.sides[1].host = host;
        wire.sides[1].local.set_ip(ip);
        for side in 0..2 {
            self.update_way(id, side);
        }
    }

    /// Asserts what the module promises.
    pub(super) fn check_routes(&self) {
        for Route { name, hosts, .. } in &self.routes.routes {
            assert!(hosts.is_sorted_by(|a, b| a < b), "route {name}: a set is in canonical order");
        }
        for wire in self.wires.iter().flatten().filter(|wire| wire.route.is_some()) {
            let [dialed, accepted] = &wire.sides;
            assert!(accepted.end.is_none(), "an end is on a host");
            assert_eq!(dialed.host, accepted.host, "who has no host is refused by its own");
        }
    }
}

fn address(id: usize) -> IpAddr {
    IpAddr::V4(Ipv4Addr::from(u32::from(FIRST) + id as u32))
}
