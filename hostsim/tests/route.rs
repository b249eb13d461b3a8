//! Routes, without programs: which host takes a connection, what both ends see, and what a SYN meets.

use hostsim::address::Domain;
use hostsim::errno::Errno;
use hostsim::kernel::{Descriptor, HostId};
use hostsim::network::{Census, Network, OptionName, OptionValue};
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

const PORT: u16 = 7;

/// How far each server is from the client, in milliseconds.
const WAYS: [u64; 3] = [1, 2, 5];

/// A client, three servers and a route to them.
struct Rig {
    network: Network,
    client: HostId,
    servers: Vec<HostId>,
    ip: IpAddr,
    open: Vec<Descriptor>,
}

impl Rig {
    fn new() -> Rig {
        let mut network = Network::new();
        let client = network.add_host("client");
        let servers: Vec<_> = (0..3).map(|id| network.add_host(&format!("server-{id}"))).collect();
        for (server, way) in servers.iter().zip(WAYS) {
            for (from, to) in [(client, *server), (*server, client)] {
                network.set_latency(from, to, Duration::from_millis(way));
            }
        }
        let ip = network.add_route("Api", &servers);
        Rig { network, client, servers, ip, open: Vec::new() }
    }

    /// With a listener on each server.
    fn listening() -> (Rig, Vec<Descriptor>) {
        let mut rig = Rig::new();
        let listeners = rig.servers.clone().into_iter().map(|host| rig.listen(host, 8)).collect();
        (rig, listeners)
    }

    fn socket(&mut self, host: HostId) -> Descriptor {
        let at = self.network.socket(host, Domain::V4, true).unwrap();
        self.open.push(at);
        at
    }

    fn listen(&mut self, host: HostId, backlog: i32) -> Descriptor {
        let listener = self.socket(host);
        self.network.bind(listener, SocketAddr::new(Domain::V4.unspecified(), PORT)).unwrap();
        self.network.listen(listener, backlog).unwrap();
        listener
    }

    fn route(&self) -> SocketAddr {
        SocketAddr::new(self.ip, PORT)
    }

    fn dial(&mut self) -> Descriptor {
        self.dial_from(self.client)
    }

    fn dial_from(&mut self, host: HostId) -> Descriptor {
        let dialer = self.socket(host);
        assert_eq!(self.network.connect(dialer, self.route()), Err(Errno::EINPROGRESS));
        self.network.check_invariants();
        dialer
    }

    fn set(&mut self, servers: &[usize]) {
        let hosts: Vec<_> = servers.iter().map(|index| self.servers[*index]).collect();
        self.network.set_route(self.ip, &hosts);
        self.network.check_invariants();
    }

    fn accept(&mut self, listener: Descriptor) -> Result<(Descriptor, SocketAddr), Errno> {
        let accepted = self.network.accept(listener, true)?;
        self.open.push(accepted.0);
        Ok(accepted)
    }

    /// Which of the listeners has a connection to accept.
    fn takers(&mut self, listeners: &[Descriptor]) -> Vec<usize> {
        let takes = |index: &usize| self.accept(listeners[*index]).is_ok();
        (0..listeners.len()).filter(takes).collect()
    }

    fn step(&mut self) -> bool {
        let Some(due) = self.network.agenda().earliest() else { return false };
        self.network.advance(due.max(self.network.now().next()));
        let event = self.network.take(0);
        self.network.deliver(event.key);
        self.network.check_invariants();
        true
    }

    /// Lets time pass, with what happens meanwhile.
    fn pass(&mut self, time: Duration) {
        let end = self.network.now() + time;
        while self.network.agenda().earliest().is_some_and(|due| due <= end) {
            self.step();
        }
        self.network.advance(end);
    }

    /// Runs until nothing is pending; gives the whole milliseconds that it took.
    fn rest(&mut self) -> u128 {
        let start = self.network.now();
        while self.step() {}
        self.network.check_at_rest();
        self.network.now().since(start).as_millis()
    }

    /// Closes everything; nothing is left.
    fn end(mut self) {
        for at in std::mem::take(&mut self.open) {
            self.network.close(at).unwrap();
            self.network.check_invariants();
        }
        self.rest();
        assert_eq!(self.network.census(), Census::default(), "nothing is left");
    }
}

#[test]
fn hosts_take_turns_in_canonical_order_and_each_end_sees_what_nat_shows() {
    let (mut rig, listeners) = Rig::listening();
    rig.set(&[2, 0, 1, 0]);
    assert_eq!(rig.network.route_hosts(rig.ip), Some(rig.servers.as_slice()));
    for turn in 0..5 {
        let dialer = rig.dial();
        assert_eq!(rig.network.peer_address(dialer), Err(Errno::ENOTCONN));
        rig.rest();
        let local = rig.network.local_address(dialer).unwrap();
        assert_eq!(local.ip(), rig.network.address(rig.client));
        let (accepted, peer) = rig.accept(listeners[turn % 3]).unwrap();
        let own = SocketAddr::new(rig.network.address(rig.servers[turn % 3]), PORT);
        assert_eq!((rig.network.local_address(accepted), peer), (Ok(own), local));
        assert_eq!(rig.network.peer_address(accepted), Ok(local));
        assert_eq!(rig.network.peer_address(dialer), Ok(rig.route()));
        rig.network.send(dialer, b"to").unwrap();
        rig.network.send(accepted, b"fro").unwrap();
        rig.rest();
        assert_eq!(rig.network.receive(accepted, &mut [0; 8], false), Ok(2));
        assert_eq!(rig.network.receive(dialer, &mut [0; 8], false), Ok(3));
        let shown = rig.network.describe(rig.client).pop().unwrap();
        assert!(shown.starts_with(&format!("{local} to {} established", rig.route())), "{shown}");
    }
    rig.end();
}

#[test]
fn a_name_of_a_route_is_its_address_alone() {
    let mut rig = Rig::new();
    assert_eq!(rig.ip, IpAddr::from([10, 96, 0, 1]));
    assert_eq!(rig.network.resolve("aPI"), [rig.ip]);
    let second = rig.network.add_route("server-1", &[]);
    assert_eq!(second, IpAddr::from([10, 96, 0, 2]));
    assert_eq!(rig.network.resolve("server-1"), [second]);
    rig.network.add_name("api", rig.client);
    assert_eq!(rig.network.resolve("api"), [rig.ip]);
    assert_eq!(rig.network.route_hosts(second), Some(&[][..]));
    let own = rig.network.address(rig.client);
    assert_eq!(rig.network.route_hosts(own), None);
    assert_eq!(rig.network.route_hosts(IpAddr::from([10, 96, 0, 3])), None);
}

#[test]
#[should_panic(expected = "a route has the name API already")]
fn a_name_is_of_one_route() {
    Rig::new().network.add_route("API", &[]);
}

#[test]
fn an_address_of_a_route_is_nobody_s_own() {
    let (mut rig, _) = Rig::listening();
    for host in [rig.client, rig.servers[0]] {
        let at = rig.socket(host);
        assert_eq!(rig.network.bind(at, rig.route()), Err(Errno::EADDRNOTAVAIL));
    }
    let beyond = rig.socket(rig.client);
    let unknown = SocketAddr::from(([10, 96, 0, 2], PORT));
    assert_eq!(rig.network.connect(beyond, unknown), Err(Errno::ENETUNREACH));
    let within = rig.socket(rig.client);
    rig.network.bind(within, SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
    assert_eq!(rig.network.connect(within, rig.route()), Err(Errno::EINVAL));
    rig.end();
}

#[test]
fn a_route_to_nobody_refuses_also_where_the_dialer_listens() {
    let (mut rig, listeners) = Rig::listening();
    let own = rig.listen(rig.client, 8);
    rig.set(&[]);
    let dialer = rig.dial();
    assert_eq!(rig.rest(), 0);
    assert_eq!(rig.network.connect(dialer, rig.route()), Err(Errno::ECONNREFUSED));
    assert_eq!(rig.takers(&listeners), [0; 0]);
    assert_eq!(rig.accept(own).map(|_| ()), Err(Errno::EAGAIN));
    rig.set(&[1]);
    // The socket may dial anew.
    assert_eq!(rig.network.connect(dialer, rig.route()), Err(Errno::EINPROGRESS));
    rig.rest();
    assert_eq!(rig.takers(&listeners), [1]);
    rig.end();
}

#[test]
fn a_host_without_a_listener_refuses() {
    let mut rig = Rig::new();
    let listener = rig.listen(rig.servers[1], 8);
    let dialers = [rig.dial(), rig.dial()];
    rig.rest();
    assert_eq!(rig.network.connect(dialers[0], rig.route()), Err(Errno::ECONNREFUSED));
    assert_eq!(rig.network.connect(dialers[1], rig.route()), Ok(()));
    assert_eq!(rig.takers(&[listener]), [0]);
    rig.end();
}

#[test]
fn a_syn_takes_the_longest_way_to_the_set_and_the_rest_the_way_to_its_host() {
    for (host, way) in WAYS.into_iter().enumerate() {
        let (mut rig, listeners) = Rig::listening();
        rig.network.set_chooser(Box::new(move |_| host));
        let dialer = rig.dial();
        let start = rig.network.now();
        while rig.network.peer_address(dialer).is_err() {
            assert!(rig.step(), "it goes on");
        }
        let elapsed = rig.network.now().since(start).as_millis();
        assert_eq!(elapsed, u128::from(WAYS[2] + way));
        rig.rest();
        assert_eq!(rig.takers(&listeners), [host]);
        rig.end();
    }
}

#[test]
fn a_host_dials_itself_through_a_route() {
    let (mut rig, listeners) = Rig::listening();
    rig.set(&[1]);
    let dialer = rig.dial_from(rig.servers[1]);
    assert_eq!(rig.accept(listeners[1]).map(|_| ()), Err(Errno::EAGAIN), "a SYN is an event");
    assert_eq!(rig.rest(), 0);
    let (accepted, peer) = rig.accept(listeners[1]).unwrap();
    assert_eq!(rig.network.local_address(dialer), Ok(peer));
    assert_eq!(peer.ip(), rig.network.address(rig.servers[1]));
    assert_eq!(rig.network.peer_address(dialer), Ok(rig.route()));
    // As within any host, no delivery is needed.
    rig.network.send(dialer, b"x").unwrap();
    assert_eq!(rig.network.receive(accepted, &mut [0; 8], false), Ok(1));
    assert_eq!(rig.network.pending().count(), 0);
    rig.end();
}

#[test]
fn a_syn_meets_the_set_of_its_arrival_and_a_change_moves_no_connection() {
    let (mut rig, listeners) = Rig::listening();
    rig.set(&[0]);
    let first = rig.dial();
    rig.rest();
    let (accepted, _) = rig.accept(listeners[0]).unwrap();
    let second = rig.dial();
    rig.set(&[2]);
    rig.rest();
    assert_eq!(rig.takers(&listeners), [2]);
    rig.set(&[]);
    rig.network.send(first, b"x").unwrap();
    rig.network.send(second, b"y").unwrap();
    rig.rest();
    assert_eq!(rig.network.receive(accepted, &mut [0; 8], false), Ok(1));
    rig.end();
}

#[test]
fn a_syn_that_a_full_backlog_drops_comes_to_the_same_host_again() {
    let mut rig = Rig::new();
    let small = rig.listen(rig.servers[0], 0);
    let other = rig.listen(rig.servers[1], 8);
    rig.set(&[0]);
    let _first = rig.dial();
    rig.rest();
    let second = rig.dial();
    rig.pass(Duration::from_millis(500));
    rig.set(&[1]);
    rig.accept(small).unwrap();
    // Sent again a second after the first time; then three ways of 1 ms.
    assert_eq!(rig.rest(), 500 + 3);
    assert_eq!(rig.network.connect(second, rig.route()), Ok(()));
    assert_eq!(rig.takers(&[small, other]), [0]);
    rig.end();
}

#[test]
fn a_syn_on_a_cut_way_keeps_its_host() {
    let (mut rig, listeners) = Rig::listening();
    let (client, server) = (rig.client, rig.servers[0]);
    rig.network.cut(client, server);
    let first = rig.dial();
    let second = rig.dial();
    rig.pass(Duration::from_millis(1_500));
    // The first has met the cut twice; the second has another host.
    assert_eq!(rig.takers(&listeners), [1]);
    assert_eq!(rig.network.connect(second, rig.route()), Ok(()));
    rig.set(&[2]);
    rig.network.heal(client, server);
    rig.rest();
    assert_eq!(rig.network.connect(first, rig.route()), Ok(()));
    assert_eq!(rig.takers(&listeners), [0]);
    rig.end();
}

#[test]
fn a_dial_whose_host_stays_away_times_out() {
    let (mut rig, listeners) = Rig::listening();
    let server = rig.servers[0];
    rig.network.fence(server);
    let dialer = rig.dial();
    assert_eq!(rig.rest() / 1_000, 127);
    assert_eq!(rig.network.connect(dialer, rig.route()), Err(Errno::ETIMEDOUT));
    assert_eq!(rig.takers(&listeners), [0; 0]);
    rig.network.unfence(server);
    rig.end();
}

#[test]
fn a_cut_within_the_dialer_s_host_is_not_the_way_to_a_route() {
    let (mut rig, listeners) = Rig::listening();
    let client = rig.client;
    rig.network.cut(client, client);
    let dialer = rig.dial();
    rig.rest();
    assert_eq!(rig.network.connect(dialer, rig.route()), Ok(()));
    assert_eq!(rig.takers(&listeners), [0]);
    rig.end();
}

#[test]
fn a_syn_that_does_not_arrive_has_no_host() {
    let (mut rig, listeners) = Rig::listening();
    let client = rig.client;
    rig.network.fence(client);
    let dialer = rig.dial();
    rig.pass(Duration::from_millis(1_500));
    rig.set(&[2]);
    rig.network.unfence(client);
    rig.rest();
    assert_eq!(rig.network.connect(dialer, rig.route()), Ok(()));
    assert_eq!(rig.takers(&listeners), [2]);
    rig.end();
}

#[test]
fn a_dialer_that_is_gone_leaves_nothing() {
    for is_fenced in [false, true] {
        let (mut rig, listeners) = Rig::listening();
        let dialer = rig.dial();
        match is_fenced {
            true => rig.network.fence(rig.client),
            false => rig.network.close(dialer).unwrap(),
        }
        rig.network.check_invariants();
        if !is_fenced {
            rig.open.retain(|at| *at != dialer);
        }
        rig.rest();
        assert_eq!(rig.takers(&listeners), [0; 0]);
        rig.end();
    }
}

#[test]
fn a_chooser_gets_the_set_in_canonical_order_where_there_is_a_choice() {
    let (mut rig, listeners) = Rig::listening();
    let (asked, servers) = (std::rc::Rc::new(std::cell::Cell::new(0)), rig.servers.clone());
    let count = asked.clone();
    rig.network.set_chooser(Box::new(move |hosts| {
        count.set(count.get() + 1);
        assert_eq!(hosts, &servers[1..]);
        1
    }));
    rig.set(&[2, 1]);
    rig.dial();
    rig.rest();
    assert_eq!((rig.takers(&listeners), asked.get()), (vec![2], 1));
    rig.set(&[0]);
    rig.dial();
    rig.rest();
    assert_eq!((rig.takers(&listeners), asked.get()), (vec![0], 1));
    rig.end();
}

#[test]
fn a_port_dials_a_route_once_and_its_host_beside_it() {
    let (mut rig, listeners) = Rig::listening();
    rig.set(&[1]);
    let reuse = OptionName { level: libc::SOL_SOCKET, name: libc::SO_REUSEADDR };
    let mut bound = || {
        let at = rig.socket(rig.client);
        rig.network.set_option(at, reuse, OptionValue::Int(1)).unwrap();
        rig.network.bind(at, SocketAddr::new(rig.network.address(rig.client), 5_000)).unwrap();
        at
    };
    let (first, second, third) = (bound(), bound(), bound());
    assert_eq!(rig.network.connect(first, rig.route()), Err(Errno::EINPROGRESS));
    assert_eq!(rig.network.connect(second, rig.route()), Err(Errno::EADDRNOTAVAIL));
    rig.rest();
    assert_eq!(rig.network.connect(second, rig.route()), Err(Errno::EADDRNOTAVAIL));
    let other = SocketAddr::new(rig.network.address(rig.servers[0]), PORT);
    assert_eq!(rig.network.connect(third, other), Err(Errno::EINPROGRESS));
    rig.rest();
    assert_eq!(rig.takers(&listeners), [0, 1]);
    rig.end();
}
