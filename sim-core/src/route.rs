//! A route: a name with one address, and the hosts that take its connections.
//!
//! As a service of Kubernetes or a balancer of layer 4: programs dial the name, each connection
//! goes to one host, and the set of hosts may change in a run, by any code of it. What of a
//! connection follows from that is in [`hostsim::network`]'s module `route`.
//!
//! # Determinism
//! The host of a connection is drawn when its SYN arrives, by one byte of the network lane, where
//! the set has more than one; zero is the first. A change of the set is an event of the history.

use crate::history::Event;
use crate::panics;
use crate::source::{Choice, Lane, Source};
use hostsim::kernel::HostId;
use hostsim::network::Chooser;
use hostsim::seam;
use hostsim::world::World;
use std::cell::RefCell;
use std::net::IpAddr;
use std::rc::Rc;

/// A route of the run, for node code, operations and checkers; copies are the same route.
///
/// ```
/// # use sim_core::{Sim, node::NodeSpec};
/// # fn test(sim: &mut Sim) {
/// let api = sim.node(NodeSpec::new("api").replicas(2..=3), |_| async {
///     let listener = tokio::net::TcpListener::bind("0.0.0.0:80").await.unwrap();
///     while listener.accept().await.is_ok() {}
/// });
/// let route = sim.route("api.internal", &api);
/// assert_eq!(route.name(), "api.internal");
/// sim.client("operator", move |_| {
///     let (api, route) = (api.clone(), route.clone());
///     async move {
///         api.listening(0, 80).await;
///         route.set([api.hosts()[0]]);
///         tokio::net::TcpStream::connect("api.internal:80").await.unwrap();
///     }
/// });
/// # }
/// # sim_core::sweep::test(&sim_core::Target::new("route", test), 0..4);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    name: String,
    address: IpAddr,
}

impl Route {
    #[track_caller]
    pub(crate) fn add(world: &World, name: &str, hosts: &[HostId]) -> Route {
        let address = world.with(|network| network.add_route(name, hosts));
        let route = Route { name: name.to_owned(), address };
        route.record(world);
        route
    }

    /// The name.
    ///
    /// ```
    /// # use sim_core::Sim;
    /// # fn build(sim: &mut Sim) {
    /// let api = sim.node("api", |_| async {});
    /// assert_eq!(sim.route("api.internal", &api).name(), "api.internal");
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The virtual address that the name resolves to.
    ///
    /// ```
    /// # use sim_core::Sim;
    /// # fn build(sim: &mut Sim) {
    /// let api = sim.node("api", |_| async {});
    /// let route = sim.route("api.internal", &api);
    /// sim.client("client", move |_| {
    ///     let address = route.address();
    ///     async move {
    ///         let mut found = tokio::net::lookup_host("api.internal:7").await.unwrap();
    ///         assert_eq!(found.next(), Some((address, 7).into()));
    ///     }
    /// });
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    pub fn address(&self) -> IpAddr {
        self.address
    }

    /// The hosts that take its connections, in the order of their making.
    ///
    /// # Panics
    /// Outside of its run.
    ///
    /// ```
    /// # use sim_core::Sim;
    /// # fn build(sim: &mut Sim) {
    /// let api = sim.node("api", |_| async {});
    /// let route = sim.route("api.internal", &api);
    /// assert_eq!(route.hosts(), api.hosts());
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    #[track_caller]
    pub fn hosts(&self) -> Vec<HostId> {
        let world = world();
        let network = world.network();
        network.route_hosts(self.address).expect("a route stays in its run").to_vec()
    }

    /// Sets the hosts that take connections from now on; those that stand go on. Without hosts every
    /// dial is refused. What the destructors of a process that is over ask for does not come.
    ///
    /// # Panics
    /// Outside of its run, and where a host is not of it.
    ///
    /// ```
    /// use tokio::net::TcpStream;
    /// # use sim_core::Sim;
    /// # fn build(sim: &mut Sim) {
    /// let api = sim.node("api", |_| async {});
    /// let route = sim.route("api.internal", &api);
    /// sim.client("operator", move |_| {
    ///     let route = route.clone();
    ///     async move {
    ///         route.set([]);
    ///         let error = TcpStream::connect("api.internal:7").await.unwrap_err();
    ///         assert_eq!(error.kind(), std::io::ErrorKind::ConnectionRefused);
    ///     }
    /// });
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    #[track_caller]
    pub fn set(&self, hosts: impl AsRef<[HostId]>) {
        let world = world();
        if world.is_over() {
            return;
        }
        world.with(|network| network.set_route(self.address, hosts.as_ref()));
        self.record(&world);
    }

    fn record(&self, world: &World) {
        let network = world.network();
        let hosts = network.route_hosts(self.address).unwrap_or_default();
        let hosts = hosts.iter().map(|host| host.0).collect();
        panics::record(network.now().0, Event::Route { name: &self.name, hosts });
    }
}

#[track_caller]
fn world() -> Rc<World> {
    seam::current().expect("a route is asked and set inside of its run")
}

const HOST: Choice = Choice::one("host");

/// The most hosts that a choice is made of: what its one byte can name.
const HOSTS_MAX: usize = 256;

/// Draws the hosts of connections.
pub(crate) fn chooser(source: Rc<RefCell<Source>>) -> Chooser {
    Box::new(move |hosts| {
        let count = hosts.len().min(HOSTS_MAX) as u64;
        source.borrow_mut().below(Lane::Network, HOST, count) as usize
    })
}
