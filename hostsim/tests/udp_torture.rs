//! Torture of datagrams: random calls, random deliveries and fates, and a model that counts.
//!
//! A case is its seed. Each datagram has a number as its bytes. The model knows to whom it was sent,
//! how many of it there are, and how each of those ended, as the network tells; a socket has what
//! the network said it got, in that order, and is woken where it waits.

#[path = "torture/random.rs"]
mod random;

use hostsim::address::Domain;
use hostsim::errno::Errno;
use hostsim::kernel::{Descriptor, HostId, Interest, Ready};
use hostsim::network::{Arrival, Census, Change, Envelope, Fate, Network, OptionName, OptionValue};
use random::Random;
use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;
use std::time::Duration;

const CASES: u64 = 1_000;
const EDGE: u32 = (libc::EPOLLIN | libc::EPOLLET) as u32;

/// What the network said of datagrams: how many of each are under way, and what ended how.
#[derive(Default)]
struct Told {
    under_way: BTreeMap<u32, usize>,
    received: VecDeque<(u32, SocketAddr)>,
}

struct Socket {
    at: Descriptor,
    epoll: Descriptor,
    /// The program was told that there is nothing.
    waits: bool,
}

struct Rig {
    network: Network,
    hosts: Vec<HostId>,
    random: Random,
    sockets: Vec<Socket>,
    told: Rc<RefCell<Told>>,
    number: u32,
    had: usize,
}

fn number(bytes: &[u8]) -> u32 {
    u32::from_le_bytes(*bytes.first_chunk().expect("datagrams have a number"))
}

impl Rig {
    fn new(seed: u64) -> Rig {
        let mut network = Network::new();
        let hosts: Vec<_> = ["a", "b", "c"].iter().map(|name| network.add_host(name)).collect();
        let told = Rc::<RefCell<Told>>::default();
        let into = told.clone();
        network.observe_datagrams(Box::new(move |_, passed| {
            let number = number(&passed.datagram.bytes);
            let mut told = into.borrow_mut();
            let left = told.under_way.get_mut(&number).expect("only what was sent arrives");
            *left = left.checked_sub(1).expect("each ends once");
            if passed.arrival == Arrival::Received {
                told.received.push_back((number, passed.datagram.from));
            }
        }));
        let (mut random, into) = (Random::new(seed ^ 0x5eed), told.clone());
        network.set_fates(Box::new(move |_, _, datagram| {
            let delay = if random.one_in(4) { random.below(5_000) as u64 } else { 0 };
            let is_lost = random.one_in(8);
            let is_doubled = random.one_in(8);
            if is_doubled && !is_lost {
                *into.borrow_mut().under_way.get_mut(&number(&datagram.bytes)).unwrap() += 1;
            }
            Fate { is_lost, is_doubled, delay: Duration::from_micros(delay) }
        }));
        let random = Random::new(seed);
        Rig { network, hosts, random, sockets: Vec::new(), told, number: 0, had: 0 }
    }

    fn address(&mut self) -> SocketAddr {
        let host = self.random.of(&self.hosts);
        let (v4, v6) = (self.network.address(host), self.network.address_v6(host));
        let all = ["127.0.0.1", "0.0.0.0", "::1", "::", "192.0.2.1"];
        let rest = self.random.of(&all).parse::<IpAddr>().unwrap();
        let mapped = match v4 {
            IpAddr::V4(v4) => v4.to_ipv6_mapped().into(),
            v6 => v6,
        };
        let ip = self.random.of(&[v4, v4, v6, mapped, rest]);
        SocketAddr::new(ip, self.random.of(&[7, 7, 8, 9, 0]))
    }

    fn call(&mut self) {
        if self.sockets.is_empty() || self.random.one_in(12) {
            return self.open();
        }
        let index = self.random.below(self.sockets.len());
        let at = self.sockets[index].at;
        let address = self.address();
        match self.random.below(40) {
            0..6 => {
                let reuse = OptionName { level: libc::SOL_SOCKET, name: libc::SO_REUSEADDR };
                let is_on = i32::from(self.random.one_in(2));
                self.network.set_option(at, reuse, OptionValue::Int(is_on)).unwrap();
                let result = self.network.bind(at, address);
                let known =
                    [Errno::EINVAL, Errno::EAFNOSUPPORT, Errno::EADDRNOTAVAIL, Errno::EADDRINUSE];
                assert!(result.is_ok() || known.contains(&result.unwrap_err()), "{result:?}");
            }
            6..10 => {
                let result = self.network.connect(at, address);
                let known = [Errno::EINVAL, Errno::EAFNOSUPPORT, Errno::ENETUNREACH];
                assert!(result.is_ok() || known.contains(&result.unwrap_err()), "{result:?}");
                if result.is_ok() && address.port() != 0 {
                    assert!(self.network.peer_address(at).is_ok());
                }
            }
            10..11 => {
                self.network.udp_disconnect(at).unwrap();
                assert_eq!(self.network.peer_address(at), Err(Errno::ENOTCONN));
            }
            11..13 => {
                let socket = self.sockets.swap_remove(index);
                self.drain(&socket);
                self.network.close(socket.at).unwrap();
                self.network.close(socket.epoll).unwrap();
            }
            13..15 => self.cut(),
            15..27 => self.send(at, address),
            _ => self.receive(index),
        }
    }

    fn open(&mut self) {
        let host = self.random.of(&self.hosts);
        let domain = self.random.of(&[Domain::V4, Domain::V6]);
        let at = self.network.udp_socket(host, domain, true).unwrap();
        let epoll = self.network.epoll(host).unwrap();
        let watch = Change::Add(Interest { events: EDGE, data: 0 });
        self.network.control(epoll, at.to_raw(), watch).unwrap();
        self.sockets.push(Socket { at, epoll, waits: false });
    }

    fn cut(&mut self) {
        let (from, to) = (self.random.of(&self.hosts), self.random.of(&self.hosts));
        if from != to && self.random.one_in(4) {
            self.network.cut(from, to);
        } else if from != to {
            self.network.heal(from, to);
        }
        let latency = Duration::from_micros(self.random.of(&[0, 10, 1_000]));
        self.network.set_latency(from, to, latency);
    }

    fn send(&mut self, at: Descriptor, to: SocketAddr) {
        self.number += 1;
        let mut bytes = self.number.to_le_bytes().to_vec();
        bytes.resize(4 + self.random.of(&[0, 0, 100, 1_400, 60_000]), 0);
        let to = if self.random.one_in(3) { None } else { Some(to) };
        self.told.borrow_mut().under_way.insert(self.number, 1);
        let result = self.network.udp_send(at, bytes, Envelope { to, ..Envelope::default() });
        if let Err(errno) = result {
            let is_whole = self.told.borrow_mut().under_way.remove(&self.number) == Some(1);
            assert!(is_whole, "a call that fails sends nothing");
            let known = [
                Errno::EINVAL,
                Errno::EAFNOSUPPORT,
                Errno::ENETUNREACH,
                Errno::EDESTADDRREQ,
                Errno::ECONNREFUSED,
            ];
            assert!(known.contains(&errno), "{errno:?}");
        }
    }

    fn receive(&mut self, index: usize) {
        let socket = &mut self.sockets[index];
        let mut ready: Vec<Ready> = Vec::new();
        self.network.collect(socket.epoll, 1, &mut ready).unwrap();
        match self.network.udp_take(socket.at, false) {
            Ok(datagram) => {
                assert!(!socket.waits || !ready.is_empty(), "who waits is woken");
                socket.waits = false;
                self.had += 1;
                assert!(number(&datagram.bytes) <= self.number);
            }
            Err(Errno::EAGAIN) => socket.waits = true,
            Err(errno) => {
                assert_eq!(errno, Errno::ECONNREFUSED);
                assert!(!socket.waits || !ready.is_empty(), "who waits is woken");
                // What came meanwhile may be behind the error.
                socket.waits = false;
            }
        }
    }

    /// Reads all that a socket has.
    fn drain(&mut self, socket: &Socket) {
        loop {
            match self.network.udp_take(socket.at, false) {
                Ok(_) => self.had += 1,
                Err(Errno::EAGAIN) => return,
                Err(errno) => assert_eq!(errno, Errno::ECONNREFUSED),
            }
        }
    }

    fn step(&mut self) -> bool {
        let Some(due) = self.network.agenda().earliest() else { return false };
        self.network.advance(due.max(self.network.now().next()));
        let count = self.network.agenda().ready().len();
        let event = self.network.take(self.random.below(count));
        self.network.deliver(event.key);
        true
    }
}

fn torture(seed: u64, calls: usize) {
    let mut rig = Rig::new(seed);
    for _ in 0..calls {
        match rig.random.one_in(3) {
            true => drop(rig.step()),
            false => rig.call(),
        }
        rig.network.check_invariants();
    }
    while rig.step() {
        rig.network.check_invariants();
    }
    rig.network.check_at_rest();
    for socket in std::mem::take(&mut rig.sockets) {
        rig.drain(&socket);
        rig.network.close(socket.at).unwrap();
        rig.network.close(socket.epoll).unwrap();
        rig.network.check_invariants();
    }
    assert_eq!(rig.network.census(), Census::default(), "seed {seed}: nothing is left");
    let told = rig.told.borrow();
    assert!(told.under_way.values().all(|left| *left == 0), "seed {seed}: each ends");
    assert_eq!(told.received.len(), rig.had, "seed {seed}: what was received was read");
}

#[test]
fn datagrams_are_counted() {
    for seed in 0..CASES {
        torture(seed, 300);
    }
}

#[test]
fn long_lives() {
    for seed in 0..20 {
        torture(seed, 10_000);
    }
}
