//! The calls that have one possible result, on the real kernel's loopback and on the simulated one.
//!
//! Both kernels are asked the same, call by call, and what they say is compared as text. Not asked
//! is what depends on time or on what a kernel may choose:
//!
//! - calls that would wait: every file is in non-blocking mode;
//! - buffers that fill (`SO_SNDBUF`, `SO_RCVBUF`): how much fits is the kernel's own accounting;
//! - what an acknowledgment decides: `SIOCOUTQ`, `TCP_QUICKACK`, and, as `TCP_NODELAY` is on, the
//!   wait of small writes; `MSG_MORE` and `TCP_CORK` likewise;
//! - parts of a second in `SO_RCVTIMEO` and `SO_SNDTIMEO`, which Linux keeps in ticks;
//! - `SO_REUSEPORT`, which spreads connections by a hash;
//! - a socket that dials itself (row A32), and one of IPv6 that dials IPv6 after IPv4, whose answers
//!   Linux does not see;
//! - a socket that was shut down and listens then: Linux ends the connections of its backlog;
//! - urgent bytes, `connect` with `AF_UNSPEC`, one epoll file in another, families and types other
//!   than TCP over IP, and options that the simulated kernel does not know: it says so itself.

use super::args::Args;
use super::call::{self, CALLS};
use super::rig::Rig;
use super::{BEGINNING, windows, with_memory};
use hostsim::kernel::HostId;
use hostsim::seam;
use hostsim::seam::raw::Outcome;
use hostsim::world::World;
use std::net::{Ipv6Addr, TcpListener};
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;

/// A call that the two kernels answer differently.
#[derive(Clone, Debug)]
pub struct Difference {
    /// The calls before it, on which they agree.
    pub before: Vec<String>,
    /// The call on the simulated kernel, and on the real one.
    pub simulated: String,
    /// The call on the real kernel.
    pub real: String,
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.before.iter().enumerate().try_for_each(|(at, line)| writeln!(f, "{at:4} {line}"))?;
        writeln!(f, "simulated: {}", self.simulated)?;
        write!(f, "really:    {}", self.real)
    }
}

/// How long the real kernel has between two calls to deliver what is under way. Where a difference
/// does not stay with a longer pause, it was the pause.
const PAUSES: [Duration; 3] =
    [Duration::from_micros(20), Duration::from_millis(2), Duration::from_millis(20)];

/// Compares the answers to the calls of an input.
///
/// # Errors
/// The first difference that stays.
///
/// # Panics
/// Where a call gave what no kernel may give.
pub fn run(bytes: &[u8]) -> Result<usize, Box<Difference>> {
    let mut last = None;
    for pause in PAUSES {
        let ports = free_ports();
        let (simulated, real) = (simulated(bytes, ports), really(bytes, ports, pause));
        let Some(at) = (0..real.len()).find(|at| simulated[*at] != real[*at]) else {
            return Ok(real.len());
        };
        let [simulated, said] = [&simulated[at], &real[at]].map(Clone::clone);
        last = Some(Difference { before: real[..at].to_vec(), simulated, real: said });
    }
    Err(Box::new(last.expect("there was one in each try")))
}

/// Four ports in a row that nobody has, and that no kernel gives by itself.
fn free_ports() -> [u16; 4] {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    loop {
        let first = 10_000 + 4 * (NEXT.fetch_add(1, Ordering::Relaxed) % 5_000);
        let ports = [first, first + 1, first + 2, first + 3];
        let is_free = |port: &u16| TcpListener::bind((Ipv6Addr::UNSPECIFIED, *port)).is_ok();
        if ports.iter().all(is_free) {
            return ports;
        }
    }
}

fn simulated(bytes: &[u8], ports: [u16; 4]) -> Vec<String> {
    let world = World::new();
    let _entered = seam::enter(&world);
    let host: HostId = world.with(|network| network.add_host("one"));
    with_memory(|memory| {
        let mut rig = Rig::new(Some(&world), true, memory);
        rig.ports = ports;
        rig.is_told = super::is_told();
        let make = |rig: &mut Rig<'_>, window: &[u8]| {
            let outcome = world.in_turn(host, || make(rig, window));
            if let Some(trouble) = world.take_trouble() {
                rig.say(format_args!(" {trouble:?}"));
            }
            world.network().check_invariants();
            outcome
        };
        let lines = windows(bytes).map(|window| line(&mut rig, window, &make)).collect();
        world.in_turn(host, || close_all(&rig));
        lines
    })
}

fn really(bytes: &[u8], ports: [u16; 4], pause: Duration) -> Vec<String> {
    with_memory(|memory| {
        let mut rig = Rig::new(None, true, memory);
        rig.ports = ports;
        rig.is_told = super::is_told();
        let make = |rig: &mut Rig<'_>, window: &[u8]| {
            let outcome = make(rig, window);
            wait(pause);
            outcome
        };
        let lines = windows(bytes).map(|window| line(&mut rig, window, &make)).collect();
        close_all(&rig);
        lines
    })
}

type Make<'a> = &'a dyn Fn(&mut Rig<'_>, &[u8]) -> Outcome;

fn line(rig: &mut Rig<'_>, window: &[u8], make: Make<'_>) -> String {
    rig.line.clear();
    make(rig, window);
    rig.serial += 1;
    std::mem::take(&mut rig.line)
}

fn make(rig: &mut Rig<'_>, window: &[u8]) -> Outcome {
    let mut args = Args::new(window);
    let begins = BEGINNING.get(rig.serial as usize).filter(|_| args.byte() > 31);
    let call = begins.map_or_else(|| call::choose(args.byte(), true), |name| call::named(name));
    let args = &mut if begins.is_some() { Args::new(&[]) } else { args };
    let outcome = (call.make)(rig, args);
    if let Some(wrong) = call::judge(call, outcome) {
        rig.say(format_args!(", which {wrong}"));
    }
    outcome
}

fn close_all(rig: &Rig<'_>) {
    for slot in rig.slots.iter().filter(|slot| slot.is_open) {
        call::close_at_once(rig, slot.raw);
    }
}

#[expect(clippy::disallowed_methods, reason = "the real kernel takes real time")]
fn wait(pause: Duration) {
    std::thread::sleep(pause);
}

/// How many calls are compared, of how many there are.
pub fn call_counts() -> (usize, usize) {
    (CALLS.iter().filter(|call| call.is_compared).count(), CALLS.len())
}
