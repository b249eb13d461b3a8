//! Datagrams between hosts: their way, what befalls them, and who gets them.

use hostsim::address::Domain;
use hostsim::agenda::Class;
use hostsim::errno::{Errno, Sys};
use hostsim::kernel::{Descriptor, HostId, Interest, Ready};
use hostsim::network::{
    Arrival, Census, Change, Envelope, Fate, Network, OptionName, OptionValue, SideIndex,
};
use std::cell::RefCell;
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;
use std::time::Duration;

const LATENCY: Duration = Duration::from_millis(1);

/// Two hosts a millisecond apart, and what was told of their datagrams.
struct Pair {
    network: Network,
    client: HostId,
    server: HostId,
    told: Rc<RefCell<Vec<(Arrival, usize)>>>,
}

impl Pair {
    fn new() -> Pair {
        let mut network = Network::new();
        let [client, server] = ["client", "server"].map(|name| network.add_host(name));
        for (from, to) in [(client, server), (server, client)] {
            network.set_latency(from, to, LATENCY);
        }
        let told = Rc::<RefCell<Vec<(Arrival, usize)>>>::default();
        let into = told.clone();
        network.observe_datagrams(Box::new(move |_, passed| {
            into.borrow_mut().push((passed.arrival, passed.datagram.bytes.len()));
        }));
        Pair { network, client, server, told }
    }

    fn bound(&mut self, host: HostId, address: &str) -> Descriptor {
        let address = at(address);
        let domain = if address.is_ipv4() { Domain::V4 } else { Domain::V6 };
        let socket = self.network.udp_socket(host, domain, true).unwrap();
        self.network.bind(socket, address).unwrap();
        socket
    }

    /// A socket of each host, on port 9 of the client and 7 of the server.
    fn sockets(&mut self) -> (Descriptor, Descriptor) {
        let (client, server) = (self.client, self.server);
        (self.bound(client, "0.0.0.0:9"), self.bound(server, "0.0.0.0:7"))
    }

    fn send(&mut self, from: Descriptor, len: usize, to: &str) -> Sys<usize> {
        let envelope = Envelope { to: Some(at(to)), ..Envelope::default() };
        self.network.udp_send(from, vec![len as u8; len], envelope)
    }

    /// The lengths of what a socket has.
    fn had(&mut self, socket: Descriptor) -> Vec<usize> {
        let mut place = [0; 70_000];
        std::iter::from_fn(|| self.network.receive(socket, &mut place, false).ok()).collect()
    }

    /// Runs until nothing is pending; gives the time that it took.
    fn rest(&mut self) -> Duration {
        let start = self.network.now().elapsed();
        while let Some(due) = self.network.agenda().earliest() {
            self.network.advance(due.max(self.network.now().next()));
            let event = self.network.take(0);
            self.network.deliver(event.key);
            self.network.check_invariants();
        }
        self.network.check_at_rest();
        self.network.now().elapsed() - start
    }

    /// Gives the datagrams that are sent from now on their fates, one after the other.
    fn fates(&mut self, fates: Vec<Fate>) {
        let mut fates = fates.into_iter();
        self.network.set_fates(Box::new(move |_, _, _| fates.next().unwrap_or_default()));
    }

    fn end(mut self, open: &[Descriptor]) {
        self.rest();
        for at in open {
            self.network.close(*at).unwrap();
            self.network.check_invariants();
        }
        assert_eq!(self.network.census(), Census::default(), "nothing is left");
    }
}

fn at(text: &str) -> SocketAddr {
    text.parse().expect("tests use addresses")
}

fn int(level: i32, name: i32) -> OptionName {
    OptionName { level, name }
}

#[test]
fn a_datagram_takes_as_long_as_its_way_and_says_where_it_is_from() {
    let mut pair = Pair::new();
    let (client, server) = pair.sockets();
    assert_eq!(pair.send(client, 5, "10.0.0.2:7"), Ok(5));
    let pending: Vec<_> = pair.network.pending().map(|event| event.key.class).collect();
    assert_eq!(pending, [Class::Datagram], "a way is an event");
    assert_eq!(pair.had(server), []);
    assert_eq!(pair.rest(), LATENCY);
    let datagram = pair.network.udp_take(server, false).unwrap();
    assert_eq!((datagram.from, datagram.to), (at("10.0.0.1:9"), at("10.0.0.2:7")));
    assert_eq!(pair.told.take(), [(Arrival::Received, 5)]);
    pair.end(&[client, server]);
}

#[test]
fn within_a_host_a_datagram_is_there_at_once() {
    let mut pair = Pair::new();
    let (client, _) = pair.sockets();
    let host = pair.client;
    let other = pair.bound(host, "[::]:0");
    for (to, from) in
        [("127.0.0.1:9", "127.0.0.1"), ("127.0.0.3:9", "127.0.0.1"), ("10.0.0.1:9", "10.0.0.1")]
    {
        pair.send(other, 1, to).unwrap();
        let datagram = pair.network.udp_take(client, false).unwrap();
        assert_eq!(datagram.from.ip(), from.parse::<IpAddr>().unwrap(), "to {to}");
    }
    assert_eq!(pair.network.pending().count(), 0);
}

#[test]
fn a_way_keeps_its_order_also_where_its_latency_falls() {
    let mut pair = Pair::new();
    let (client, server) = pair.sockets();
    for len in 1..=3 {
        pair.send(client, len, "10.0.0.2:7").unwrap();
        let (from, to) = (pair.client, pair.server);
        pair.network.set_latency(from, to, LATENCY / (2 * len as u32));
    }
    pair.rest();
    assert_eq!(pair.had(server), [1, 2, 3]);
}

#[test]
fn fates_lose_double_and_delay() {
    let mut pair = Pair::new();
    let (client, server) = pair.sockets();
    let lost = Fate { is_lost: true, ..Fate::default() };
    let late = Fate { delay: LATENCY * 5, ..Fate::default() };
    let double = Fate { is_doubled: true, ..Fate::default() };
    let both = Fate { is_doubled: true, ..late };
    pair.fates(vec![lost, late, double, both]);
    for len in 1..=5 {
        pair.send(client, len, "10.0.0.2:7").unwrap();
    }
    pair.rest();
    assert_eq!(pair.had(server), [3, 3, 4, 5, 2, 4]);
    assert_eq!(pair.told.borrow()[0], (Arrival::Lost, 1));
    pair.end(&[client, server]);
}

#[test]
fn nobody_asks_for_the_fate_of_what_stays_within_a_host() {
    let mut pair = Pair::new();
    let (client, _) = pair.sockets();
    pair.fates(vec![Fate { is_lost: true, ..Fate::default() }; 9]);
    pair.send(client, 4, "127.0.0.1:9").unwrap();
    assert_eq!(pair.had(client), [4]);
}

#[test]
fn a_port_without_a_socket_answers_after_a_round_trip() {
    let mut pair = Pair::new();
    let (client, server) = pair.sockets();
    let (unconnected, to) = (pair.client, at("10.0.0.2:8"));
    let unconnected = pair.bound(unconnected, "0.0.0.0:0");
    pair.network.connect(client, to).unwrap();
    let epoll = pair.network.epoll(pair.client).unwrap();
    let events = (libc::EPOLLIN | libc::EPOLLET) as u32;
    let watch = Change::Add(Interest { events, data: 0 });
    pair.network.control(epoll, client.to_raw(), watch).unwrap();
    pair.send(unconnected, 1, "10.0.0.2:8").unwrap();
    assert_eq!(pair.network.send(client, b"hello"), Ok(5));
    assert_eq!(pair.network.send(client, b"hello"), Ok(5), "the answer is not there yet");
    assert_eq!(pair.rest().as_millis(), 2);
    let mut ready: Vec<Ready> = Vec::new();
    pair.network.collect(epoll, 8, &mut ready).unwrap();
    assert_eq!(ready.iter().map(|ready| ready.events).collect::<Vec<_>>(), [libc::EPOLLERR as u32]);
    assert_eq!(pair.network.receive(unconnected, &mut [0; 8], false), Err(Errno::EAGAIN));
    assert_eq!(pair.network.receive(client, &mut [0; 8], false), Err(Errno::ECONNREFUSED));
    assert_eq!(pair.network.receive(client, &mut [0; 8], false), Err(Errno::EAGAIN));
    pair.end(&[client, server, unconnected, epoll]);
}

#[test]
fn a_cut_loses_what_is_under_way_and_what_is_sent() {
    let mut pair = Pair::new();
    let (client, server) = pair.sockets();
    let (from, to) = (pair.client, pair.server);
    pair.send(client, 1, "10.0.0.2:7").unwrap();
    pair.network.cut(from, to);
    pair.network.check_invariants();
    pair.send(client, 2, "10.0.0.2:7").unwrap();
    pair.send(server, 3, "10.0.0.1:9").unwrap();
    pair.network.heal(from, to);
    pair.send(client, 4, "10.0.0.2:7").unwrap();
    pair.rest();
    assert_eq!((pair.had(server), pair.had(client)), (vec![4], vec![3]), "one way is cut");
    let lost = [(Arrival::Lost, 1), (Arrival::Lost, 2)];
    assert_eq!(pair.told.borrow()[..2], lost);
    pair.end(&[client, server]);
}

#[test]
fn a_fenced_host_is_silent() {
    let mut pair = Pair::new();
    let (client, server) = pair.sockets();
    pair.send(server, 1, "10.0.0.1:9").unwrap();
    let host = pair.server;
    pair.network.fence(host);
    pair.send(server, 2, "10.0.0.1:9").unwrap();
    pair.send(client, 3, "10.0.0.2:7").unwrap();
    pair.send(server, 4, "127.0.0.1:7").unwrap();
    pair.network.unfence(host);
    pair.rest();
    assert_eq!((pair.had(server), pair.had(client)), (vec![4], vec![]));
    pair.end(&[client, server]);
}

#[test]
fn the_longest_packet_of_a_way_is_that_of_ethernet() {
    let mut pair = Pair::new();
    let (client, server) = pair.sockets();
    assert_eq!(pair.send(client, 1_473, "10.0.0.2:7"), Ok(1_473), "in fragments");
    for mode in [libc::IP_PMTUDISC_DO, libc::IP_PMTUDISC_PROBE] {
        let name = int(libc::IPPROTO_IP, libc::IP_MTU_DISCOVER);
        pair.network.set_option(client, name, OptionValue::Int(mode)).unwrap();
        assert_eq!(pair.send(client, 1_472, "10.0.0.2:7"), Ok(1_472));
        assert_eq!(pair.send(client, 1_473, "10.0.0.2:7"), Err(Errno::EMSGSIZE));
        assert_eq!(pair.send(client, 1_473, "10.0.0.1:9"), Ok(1_473), "within the host");
    }
    let host = pair.client;
    let six = pair.bound(host, "[::]:0");
    let name = int(libc::IPPROTO_IPV6, libc::IPV6_MTU_DISCOVER);
    pair.network.set_option(six, name, OptionValue::Int(libc::IPV6_PMTUDISC_DO)).unwrap();
    assert_eq!(pair.send(six, 1_452, "[fd00::2]:7"), Ok(1_452));
    assert_eq!(pair.send(six, 1_453, "[fd00::2]:7"), Err(Errno::EMSGSIZE));
    pair.end(&[client, server, six]);
}

#[test]
fn addresses_that_no_host_has_are_out_of_reach() {
    let mut pair = Pair::new();
    let (client, server) = pair.sockets();
    for to in ["10.0.0.3:7", "192.0.2.1:7", "255.255.255.255:7", "224.0.0.1:7"] {
        assert_eq!(pair.send(client, 1, to), Err(Errno::ENETUNREACH), "{to}");
        assert_eq!(pair.network.connect(client, at(to)), Err(Errno::ENETUNREACH), "{to}");
    }
    let host = pair.client;
    let six = pair.bound(host, "[::]:0");
    for to in ["[fd00::3]:7", "[ff02::1]:7", "[::ffff:10.0.0.3]:7"] {
        assert_eq!(pair.send(six, 1, to), Err(Errno::ENETUNREACH), "{to}");
    }
    // IPv4 does not let loopback go out; IPv6 does, and nobody takes it.
    let (local, local_v6) = (pair.bound(host, "127.0.0.1:0"), pair.bound(host, "[::1]:0"));
    assert_eq!(pair.send(local, 1, "10.0.0.2:7"), Err(Errno::EINVAL));
    assert_eq!(pair.network.connect(local, at("10.0.0.2:7")), Err(Errno::EINVAL));
    assert_eq!(pair.send(local_v6, 1, "[fd00::2]:7"), Ok(1));
    assert_eq!(pair.told.take(), [(Arrival::Lost, 1)]);
    pair.end(&[client, server, six, local, local_v6]);
}

#[test]
fn both_families_reach_a_socket_of_ipv6() {
    let mut pair = Pair::new();
    let (host, client) = (pair.server, pair.client);
    let six = pair.bound(host, "[::]:7");
    let (four, other) = (pair.bound(client, "0.0.0.0:9"), pair.bound(client, "[::]:8"));
    pair.send(four, 1, "10.0.0.2:7").unwrap();
    pair.send(other, 2, "[fd00::2]:7").unwrap();
    pair.send(other, 3, "[::ffff:10.0.0.2]:7").unwrap();
    pair.rest();
    let from = [(); 3].map(|()| pair.network.udp_take(six, false).unwrap().from.to_string());
    assert_eq!(from, ["10.0.0.1:9", "[fd00::1]:8", "10.0.0.1:8"]);
    pair.end(&[six, four, other]);
}

#[test]
fn an_envelope_gives_source_and_class() {
    let mut pair = Pair::new();
    let (client, server) = pair.sockets();
    let to = Some(at("10.0.0.2:7"));
    let own = Some("10.0.0.1".parse().unwrap());
    let envelope = Envelope { to, source: own, class_v4: Some(3), class_v6: Some(7) };
    pair.network.udp_send(client, vec![1], envelope).unwrap();
    pair.rest();
    assert_eq!(pair.network.udp_take(server, false).unwrap().traffic_class, 3);
    for (foreign, errno) in [
        ("10.0.0.2", Errno::ENETUNREACH),
        ("fd00::1", Errno::EINVAL),
        ("fd00::2", Errno::EINVAL),
        ("127.0.0.1", Errno::EINVAL),
    ] {
        let envelope = Envelope { source: Some(foreign.parse().unwrap()), ..envelope };
        assert_eq!(pair.network.udp_send(client, vec![1], envelope), Err(errno), "{foreign}");
    }
    pair.end(&[client, server]);
}

#[test]
fn sockets_that_share_a_port_each_have_their_flows() {
    let mut pair = Pair::new();
    let (client, _) = pair.sockets();
    let (host, port) = (pair.server, int(libc::SOL_SOCKET, libc::SO_REUSEPORT));
    let sockets: Vec<_> = (0..3)
        .map(|_| {
            let socket = pair.network.udp_socket(host, Domain::V4, true).unwrap();
            pair.network.set_option(socket, port, OptionValue::Int(1)).unwrap();
            pair.network.bind(socket, at("0.0.0.0:5")).unwrap();
            socket
        })
        .collect();
    for _ in 0..2 {
        let mut had = [0; 3];
        for source in 100..164 {
            let own = pair.client;
            let socket = pair.bound(own, &format!("0.0.0.0:{source}"));
            pair.send(socket, 1, "10.0.0.2:5").unwrap();
            pair.network.close(socket).unwrap();
        }
        pair.rest();
        for (count, socket) in had.iter_mut().zip(&sockets) {
            *count = pair.had(*socket).len();
        }
        assert_eq!(had.iter().sum::<usize>(), 64);
        assert!(had.iter().all(|count| *count > 8), "{had:?}");
    }
    let _ = client;
}

#[test]
fn what_was_sent_before_a_close_arrives() {
    let mut pair = Pair::new();
    let (client, server) = pair.sockets();
    pair.send(client, 6, "10.0.0.2:7").unwrap();
    pair.network.close(client).unwrap();
    pair.rest();
    assert_eq!(pair.had(server), [6]);
    // What comes for a socket that was closed meets nobody.
    pair.send(server, 7, "10.0.0.1:9").unwrap();
    pair.rest();
    assert_eq!(pair.told.borrow().last(), Some(&(Arrival::Refused, 7)));
    pair.end(&[server]);
}

#[test]
fn the_end_of_a_process_closes_its_sockets() {
    let mut pair = Pair::new();
    let (client, server) = pair.sockets();
    let host = pair.server;
    pair.network.connect(client, at("10.0.0.2:7")).unwrap();
    pair.network.send(client, b"waits").unwrap();
    pair.rest();
    pair.network.end_process(host);
    assert_eq!(pair.network.receive(server, &mut [0; 8], false), Err(Errno::EBADF));
    assert_eq!(pair.network.udp_socket(host, Domain::V4, true), Err(Errno::ENETDOWN));
    pair.network.send(client, b"meets nobody").unwrap();
    pair.rest();
    assert_eq!(pair.network.send(client, b"x"), Err(Errno::ECONNREFUSED));
    pair.network.begin_process(host);
    let next = pair.bound(host, "10.0.0.2:7");
    pair.network.send(client, b"meets the next").unwrap();
    pair.rest();
    assert_eq!(pair.had(next), [14]);
    pair.end(&[client, server, next]);
}

#[test]
fn orders_about_connections_are_not_about_datagrams() {
    let mut pair = Pair::new();
    let (client, server) = pair.sockets();
    assert_eq!(pair.network.wire_of(client), Err(Errno::EOPNOTSUPP));
    assert_eq!(pair.network.set_deaf(client, true), Err(Errno::EOPNOTSUPP));
    for side in 0..2 as SideIndex {
        pair.network.hold(hostsim::network::WireId(0), side);
    }
    pair.send(client, 1, "10.0.0.2:7").unwrap();
    pair.rest();
    assert_eq!(pair.had(server), [1]);
    pair.end(&[client, server]);
}
