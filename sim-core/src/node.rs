//! A node: a program on a machine of its own.

use crate::driver::LocalFuture;
use hostsim::clock::Instant;
use hostsim::kernel::HostId;
use hostsim::machine::Machine;
use hostsim::network::Listening;
use hostsim::seam;
use hostsim::world::World;
use std::net::IpAddr;
use std::ops::RangeInclusive;
use std::rc::Rc;

/// What a node is called, and how many replicas of it there may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeSpec {
    pub(crate) name: String,
    pub(crate) replicas: RangeInclusive<u64>,
}

impl NodeSpec {
    /// A node with one replica.
    pub fn new(name: &str) -> NodeSpec {
        NodeSpec { name: name.to_owned(), replicas: 1..=1 }
    }

    /// Lets the swarm choose how many replicas there are; its calm choice is the fewest.
    ///
    /// # Panics
    /// Where the range is empty, begins at zero or ends past 256.
    #[track_caller]
    pub fn replicas(mut self, replicas: RangeInclusive<u64>) -> NodeSpec {
        let (min, max) = (*replicas.start(), *replicas.end());
        assert!(1 <= min && min <= max && max <= 256, "replicas are 1..=256, not {min}..={max}");
        self.replicas = replicas;
        self
    }
}

impl From<&str> for NodeSpec {
    fn from(name: &str) -> NodeSpec {
        NodeSpec::new(name)
    }
}

/// The replicas of a node, as the swarm made them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    pub(crate) hosts: Vec<HostId>,
    pub(crate) addresses: Vec<IpAddr>,
}

impl Node {
    /// The addresses of the replicas, in their order.
    pub fn addresses(&self) -> &[IpAddr] {
        &self.addresses
    }

    /// The hosts of the replicas, in their order.
    pub fn hosts(&self) -> &[HostId] {
        &self.hosts
    }

    /// Waits until a replica listens on a port of its address: a future for a task of any node.
    ///
    /// A program would dial until it is let in; this is for tests, which then need no retries.
    ///
    /// # Panics
    /// Where there is no such replica, and outside of a run.
    #[track_caller]
    pub fn listening(&self, replica: usize, port: u16) -> Listening {
        world().listening(self.hosts[replica], (self.addresses[replica], port).into())
    }

    /// Whether a replica listens on a port of its address.
    ///
    /// # Panics
    /// Where there is no such replica, and outside of a run.
    #[track_caller]
    pub fn is_listening(&self, replica: usize, port: u16) -> bool {
        let address = (self.addresses[replica], port).into();
        world().network().listens(self.hosts[replica], address)
    }
}

/// A node is where its replicas are.
impl AsRef<[HostId]> for Node {
    fn as_ref(&self) -> &[HostId] {
        &self.hosts
    }
}

#[track_caller]
fn world() -> Rc<World> {
    seam::current().expect("a node listens inside of its run")
}

/// What a program knows of its own process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    pub(crate) name: String,
    pub(crate) replica: usize,
    pub(crate) address: IpAddr,
}

impl Process {
    /// The name of the node.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Which replica of the node this is, from zero.
    pub fn replica(&self) -> usize {
        self.replica
    }

    /// The address of the process's host.
    pub fn address(&self) -> IpAddr {
        self.address
    }
}

/// Makes the program of a node at each start.
pub(crate) type App = Rc<dyn Fn(Process) -> LocalFuture>;

/// A host with its machine, as the driver holds it.
pub(crate) struct Seat {
    pub(crate) process: Process,
    pub(crate) app: App,
    pub(crate) machine: Option<Machine>,
    pub(crate) deadline: Option<Instant>,
}
