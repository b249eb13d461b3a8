//! Two hosts and the calls that most tests of a network make on them.

use hostsim::address::Domain;
use hostsim::errno::Errno;
use hostsim::kernel::{Descriptor, HostId, Interest, Ready};
use hostsim::network::{Census, Change, Network};
use std::net::SocketAddr;
use std::time::Duration;

pub(crate) const EDGE: u32 = (libc::EPOLLET | libc::EPOLLIN | libc::EPOLLOUT) as u32;
/// A client and a server, and a millisecond between them.
pub(crate) struct Pair {
    pub(crate) network: Network,
    pub(crate) client: HostId,
    pub(crate) server: HostId,
    pub(crate) address: SocketAddr,
}

impl Pair {
    pub(crate) fn new() -> Pair {
        let mut network = Network::new();
        let (client, server) = (network.add_host("client"), network.add_host("server"));
        for (from, to) in [(client, server), (server, client)] {
            network.set_latency(from, to, Duration::from_millis(1));
        }
        let address = SocketAddr::new(network.address(server), 7);
        Pair { network, client, server, address }
    }

    /// With buffers of so many bytes on both hosts.
    pub(crate) fn with_buffers(send: usize, receive: usize) -> Pair {
        let mut pair = Pair::new();
        for host in [pair.client, pair.server] {
            pair.network.host_mut(host).send_limit = send;
            pair.network.host_mut(host).receive_limit = receive;
        }
        pair
    }

    pub(crate) fn socket(&mut self, host: HostId) -> Descriptor {
        self.network.socket(host, Domain::V4, true).unwrap()
    }

    pub(crate) fn listen(&mut self, backlog: i32) -> Descriptor {
        let listener = self.socket(self.server);
        self.network.bind(listener, self.address).unwrap();
        self.network.listen(listener, backlog).unwrap();
        listener
    }

    pub(crate) fn dial(&mut self) -> Descriptor {
        let dialer = self.socket(self.client);
        assert_eq!(self.network.connect(dialer, self.address), Err(Errno::EINPROGRESS));
        dialer
    }

    pub(crate) fn step(&mut self) -> bool {
        let Some(due) = self.network.agenda().earliest() else { return false };
        self.network.advance(due.max(self.network.now().next()));
        let event = self.network.take(0);
        self.network.deliver(event.key);
        self.network.check_invariants();
        true
    }

    /// Runs until nothing is pending; gives the seconds that it took.
    pub(crate) fn rest(&mut self) -> u64 {
        let start = self.network.now().elapsed();
        while self.step() {}
        self.network.check_at_rest();
        (self.network.now().elapsed() - start).as_secs()
    }

    /// An established connection: the listener and both ends.
    pub(crate) fn connect(&mut self) -> (Descriptor, Descriptor, Descriptor) {
        let (listener, dialer) = (self.listen(8), self.dial());
        self.rest();
        let (accepted, _) = self.network.accept(listener, true).unwrap();
        (listener, dialer, accepted)
    }

    pub(crate) fn watch(&mut self, at: Descriptor) -> Descriptor {
        let epoll = self.network.epoll(at.host).unwrap();
        let interest = Interest { events: EDGE, data: 0 };
        self.network.control(epoll, at.to_raw(), Change::Add(interest)).unwrap();
        epoll
    }

    /// The bits of the one event that an epoll file has.
    pub(crate) fn collect(&mut self, epoll: Descriptor) -> u32 {
        let mut events: Vec<Ready> = Vec::new();
        self.network.collect(epoll, 8, &mut events).unwrap();
        events.iter().fold(0, |bits, event| bits | event.events)
    }

    pub(crate) fn read(&mut self, at: Descriptor) -> Result<usize, Errno> {
        self.network.receive(at, &mut [0; 100_000], false)
    }

    /// Closes everything that is open; nothing is left.
    pub(crate) fn end(mut self, open: &[Descriptor]) {
        for at in open {
            self.network.close(*at).unwrap();
            self.network.check_invariants();
        }
        self.rest();
        assert_eq!(self.network.census(), Census::default(), "nothing is left");
    }
}
