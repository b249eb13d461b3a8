//! A network under torture: its open files as the model sees them, and how time goes on.

use super::flow::Flow;
use super::random::Random;
use super::silence::Silence;
use hostsim::agenda::Scheduled;
use hostsim::clock::Instant;
use hostsim::kernel::{Descriptor, HostId, Interest, Ready};
use hostsim::network::{Change, Network};
use hostsim::tcp::Readiness;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::rc::Rc;
use std::time::Duration;

/// What a socket became, as the model sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Fresh,
    Listener,
    /// An end of a flow: which one, and which side.
    End {
        flow: usize,
        side: usize,
    },
}

/// A watch of a socket by its host's epoll file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Watch {
    pub(crate) raw: i32,
    pub(crate) events: u32,
}

/// An open socket.
#[derive(Debug)]
pub(crate) struct Open {
    /// The descriptors that name it.
    pub(crate) names: Vec<Descriptor>,
    pub(crate) kind: Kind,
    pub(crate) watch: Option<Watch>,
    /// Bits that a call could not have, and no event told of since.
    pub(crate) missing: u32,
    pub(crate) is_read_shut: bool,
    /// A shutdown that found no connection: it holds for the next one.
    pub(crate) is_shut_before: [bool; 2],
    /// A shutdown found a dial that had failed.
    pub(crate) is_settled: bool,
    pub(crate) is_linger_zero: bool,
    /// A call said why the connection ended.
    pub(crate) has_failed: bool,
}

impl Open {
    pub(crate) fn new(at: Descriptor, kind: Kind) -> Open {
        Open {
            names: vec![at],
            kind,
            watch: None,
            missing: 0,
            is_read_shut: false,
            is_shut_before: [false; 2],
            is_settled: false,
            is_linger_zero: false,
            has_failed: false,
        }
    }

    pub(crate) fn at(&self) -> Descriptor {
        self.names[0]
    }
}

/// What was done, for a report.
type Log = Rc<RefCell<Vec<String>>>;

/// A network, its model and what was done, for a report.
pub(crate) struct Rig {
    pub(crate) network: Network,
    pub(crate) random: Random,
    pub(crate) hosts: Vec<HostId>,
    /// The address of a route to some of them.
    pub(crate) route: IpAddr,
    pub(crate) epolls: Vec<Descriptor>,
    /// The open sockets, by a number that is never used again.
    pub(crate) opens: BTreeMap<u64, Open>,
    pub(crate) opened: u64,
    pub(crate) flows: Vec<Flow>,
    pub(crate) silence: Silence,
    pub(crate) silent_since: Option<Instant>,
    pub(crate) cuts: Vec<(HostId, HostId)>,
    seed: u64,
    log: Log,
}

pub(crate) const EDGE: u32 = (libc::EPOLLET | libc::EPOLLIN | libc::EPOLLOUT) as u32;

impl Rig {
    /// A network of some hosts with buffers and latencies that the seed decides.
    pub(crate) fn new(seed: u64, silence: Silence) -> Rig {
        let mut random = Random::new(seed);
        let mut network = Network::new();
        let count = 2 + random.below(3);
        let hosts: Vec<_> = (0..count).map(|id| network.add_host(&format!("h{id}"))).collect();
        for host in &hosts {
            let sizes = [1, 1, 2, 7, 100, 4_608, 70_000];
            network.host_mut(*host).send_limit = random.of(&sizes);
            network.host_mut(*host).receive_limit = random.of(&sizes);
        }
        let route = network.add_route("some", &hosts);
        let epolls = hosts.iter().map(|host| network.epoll(*host).unwrap()).collect();
        let (opens, flows) = (BTreeMap::new(), Vec::new());
        let log = Log::default();
        let told = log.clone();
        network.observe(Box::new(move |now, seen| {
            let (wire, side, segment) = (seen.wire, seen.side, seen.segment);
            told.borrow_mut().push(format!("{now} {wire:?} of {side}: {segment:?}"));
        }));
        let (opened, silent_since, cuts) = (0, None, Vec::new());
        let mut rig = Rig {
            network,
            random,
            hosts,
            route,
            epolls,
            opens,
            opened,
            flows,
            silence,
            silent_since,
            cuts,
            seed,
            log,
        };
        rig.change_latencies();
        rig
    }

    /// Keeps a line for the report of a case that fails.
    pub(crate) fn say(&mut self, line: String) {
        self.log.borrow_mut().push(line);
    }

    pub(crate) fn host(&mut self) -> HostId {
        self.random.of(&self.hosts)
    }

    /// One of the open sockets.
    pub(crate) fn pick(&mut self) -> Option<u64> {
        let index = self.random.below(self.opens.len().max(1));
        self.opens.keys().nth(index).copied()
    }

    pub(crate) fn open(&mut self, at: Descriptor, kind: Kind) -> u64 {
        self.opened += 1;
        self.opens.insert(self.opened, Open::new(at, kind));
        self.opened
    }

    pub(crate) fn change_latencies(&mut self) {
        for (from, to) in pairs(&self.hosts) {
            let micros = self.random.of(&[0, 0, 1, 500, 80_000, 3_000_000]);
            self.network.set_latency(from, to, Duration::from_micros(micros));
        }
    }

    pub(crate) fn change_route(&mut self) {
        let count = self.random.below(self.hosts.len() + 1);
        let hosts: Vec<_> = (0..count).map(|_| self.host()).collect();
        self.say(format!("route to {hosts:?}"));
        self.network.set_route(self.route, &hosts);
    }

    /// Makes one event happen that is ready, after a jump of time where none is.
    pub(crate) fn step(&mut self) -> bool {
        if self.has_silence_to_end() {
            self.hear_all();
        }
        if self.network.agenda().ready().is_empty() {
            let Some(earliest) = self.network.agenda().earliest() else { return false };
            let jump = self.random.of(&[0, 0, 10, 1_000_000, 5_000_000_000]);
            let due = earliest.max(self.network.now().next());
            self.network.advance(due + Duration::from_nanos(jump));
        }
        let count = self.network.agenda().ready().len();
        let index = self.random.below(count);
        let Scheduled { key, .. } = self.network.take(index);
        let bytes = self.random.below(self.network.next_length(key) as usize + 1);
        if self.silence != Silence::Never && self.random.one_in(3) {
            self.network.cut_next(key, bytes as u32);
        }
        self.say(format!("deliver {key:?}"));
        self.network.deliver(key);
        true
    }

    /// Runs until nothing is pending; then nothing may be stuck.
    pub(crate) fn rest(&mut self) {
        if self.silence == Silence::Short {
            self.hear_all();
        }
        let start: Instant = self.network.now();
        for steps in 0.. {
            if !self.step() {
                break;
            }
            assert!(steps < 100_000, "it rests after so many events");
            self.network.check_invariants();
            let elapsed = self.network.now().0 - start.0;
            assert!(elapsed < 25_000_000_000_000, "it rests within seven hours");
        }
        self.network.check_at_rest();
        self.collect_all();
    }

    /// Takes every event of every epoll file, then looks for one that should have been there.
    pub(crate) fn collect_all(&mut self) {
        for index in 0..self.epolls.len() {
            let mut events: Vec<Ready> = Vec::new();
            self.network.collect(self.epolls[index], 1_000, &mut events).unwrap();
            for event in events {
                self.say(format!("event {:#x} of {}", event.events, event.data));
                let open = self.opens.get_mut(&event.data).expect("events are of open sockets");
                let watch = open.watch.as_mut().expect("events are of watched sockets");
                if watch.events & libc::EPOLLONESHOT as u32 != 0 {
                    watch.events = 0;
                }
                open.missing &= !event.events;
            }
        }
        self.check_edges();
    }

    /// Nobody waits for what is there: an edge-triggered watch told of it.
    fn check_edges(&mut self) {
        let watched: Vec<_> = self
            .opens
            .iter()
            .filter_map(|(id, open)| Some((*id, open.at(), open.missing, open.watch?.events)))
            .collect();
        for (id, at, missing, events) in watched {
            let Readiness(now) = self.network.poll(at).unwrap();
            let lost = missing & events & now;
            assert_eq!(lost, 0, "socket {id} at {at:?} waits for {lost:#x}, which is there");
        }
    }

    /// Has a host's epoll file watch a socket; what is ready then is told anew.
    pub(crate) fn watch(&mut self, id: u64, change: fn(Interest) -> Change, events: u32) -> bool {
        let open = &self.opens[&id];
        let at = open.at();
        let raw = open.watch.map_or(at.to_raw(), |watch| watch.raw);
        let epoll = self.epolls[at.host.0 as usize];
        let result = self.network.control(epoll, raw, change(Interest { events, data: id }));
        if result.is_ok() {
            self.opens.get_mut(&id).unwrap().watch = Some(Watch { raw, events });
        }
        result.is_ok()
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let log = self.log.borrow();
            let last = log.len().saturating_sub(60);
            eprintln!("case {:#x}, the last steps:\n{}", self.seed, log[last..].join("\n"));
            eprintln!("{:#?}", self.opens);
        }
    }
}

fn pairs(hosts: &[HostId]) -> Vec<(HostId, HostId)> {
    hosts.iter().flat_map(|from| hosts.iter().map(move |to| (*from, *to))).collect()
}
