//! Every call on two simulated hosts, with random events between the calls.
//!
//! After each call: what it gave is legal on Linux, the network keeps its invariants, and no byte
//! came that was not sent. In the end everything is closed and delivered, and nothing is left.

use super::args::Args;
use super::call::{self, CALLS};
use super::rig::Rig;
use super::{windows, with_memory};
use hostsim::agenda::Class;
use hostsim::clock::Instant;
use hostsim::kernel::{Descriptor, HostId};
use hostsim::network::Census;
use hostsim::seam;
use hostsim::world::{Trouble, World};
use sim_core::failure;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::OnceLock;
use std::time::Duration;

/// The buffers that hosts give to new sockets, in bytes.
const LIMITS: [usize; 8] = [256 << 10, 4_608, 1, 2, 7, 100, 20_000, 70_000];

/// How long segments take, in microseconds.
const LATENCIES: [u64; 6] = [0, 10, 1, 500, 80_000, 3_000_000];

/// The most events that pending ones may lead to.
const EVENTS_MAX: usize = 100_000;

/// The most calls of an input; what comes after them is left out.
const CALLS_MAX: usize = 400;

/// What an input did that the kernel may not do.
#[derive(Clone, Debug)]
pub struct Failure {
    /// What was wrong.
    pub what: String,
    /// The calls and events, a line each, up to where it went wrong.
    pub lines: Vec<String>,
}

impl Failure {
    /// The bug of it: one of the simulator, whose origin is what was wrong, without numbers.
    pub fn bug(&self) -> failure::Failure {
        let origin = super::without_numbers(self.what.lines().next().unwrap_or_default());
        failure::Failure::new(failure::Class::Internal, origin, self.what.as_str())
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (index, line) in self.lines.iter().enumerate() {
            writeln!(f, "{index:4} {line}")?;
        }
        write!(f, "sim: FAILED target={} class=internal\n  {}", super::NAME, self.what)
    }
}

/// Runs an input; `is_told` prints each call before it is made.
///
/// # Errors
/// What went wrong, with every call.
///
/// # Panics
/// Where the program's calls do not reach the simulated kernel.
pub fn run(bytes: &[u8], is_told: bool) -> Result<Vec<String>, Failure> {
    static PROBED: OnceLock<()> = OnceLock::new();
    PROBED.get_or_init(|| seam::probe().expect("the seam is live"));
    let mut lines = Vec::new();
    let result = catch_unwind(AssertUnwindSafe(|| play(bytes, is_told, &mut lines)));
    match result {
        Ok(()) => Ok(lines),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
            Err(Failure { what: text.unwrap_or("a panic").to_owned(), lines })
        }
    }
}

fn play(bytes: &[u8], is_told: bool, lines: &mut Vec<String>) {
    let world = World::new();
    let _entered = seam::enter(&world);
    let hosts = ["one", "two"].map(|name| world.with(|network| network.add_host(name)));
    with_memory(|memory| {
        let mut rig = Rig::new(Some(&world), false, memory);
        rig.is_told = is_told;
        let mut case = Case { world: &world, hosts, rig, lines, buffer: vec![0; 20_000] };
        let mut windows = windows(bytes);
        case.set_up(&mut Args::new(windows.next().unwrap_or_default()));
        windows.take(CALLS_MAX).for_each(|window| case.step(window));
        case.read_all();
        case.close_all();
    });
}

/// A run of an input.
struct Case<'a> {
    world: &'a Rc<World>,
    hosts: [HostId; 2],
    rig: Rig<'a>,
    lines: &'a mut Vec<String>,
    /// Where what is left is read to in the end.
    buffer: Vec<u8>,
}

impl Case<'_> {
    fn set_up(&mut self, args: &mut Args<'_>) {
        for host in self.hosts {
            let (send, receive) = (args.of(&LIMITS), args.of(&LIMITS));
            self.lines.push(format!("host {}: buffers {send} {receive}", host.0));
            self.world.with(|network| {
                let host = network.host_mut(host);
                (host.send_limit, host.receive_limit) = (send, receive);
            });
        }
        self.set_latencies(args);
    }

    fn set_latencies(&mut self, args: &mut Args<'_>) {
        let [one, two] = self.hosts;
        for (from, to) in [(one, two), (two, one)] {
            let micros = args.of(&LATENCIES);
            self.lines.push(format!("latency from {} {micros} us", from.0));
            let latency = Duration::from_micros(micros);
            self.world.with(|network| network.set_latency(from, to, latency));
        }
    }

    /// Makes a call, or changes the links, then some events happen.
    fn step(&mut self, window: &[u8]) {
        let mut args = Args::new(window);
        let (what, how) = (args.byte(), args.byte());
        if how == 0xff {
            self.set_latencies(&mut args);
        } else {
            self.call(what, self.hosts[usize::from(how & 1)], &mut args);
        }
        self.check();
        let events = [0, 1, 0, 2, 1, 5, 0, 40][usize::from(how >> 1 & 7)];
        for _ in 0..events {
            if !self.event(how >> 4) {
                break;
            }
            self.check();
        }
    }

    fn call(&mut self, what: u8, host: HostId, args: &mut Args<'_>) {
        let call = call::choose(what, false);
        let rig = &mut self.rig;
        rig.line.clear();
        rig.say(format_args!("h{} ", host.0));
        let made =
            catch_unwind(AssertUnwindSafe(|| self.world.in_turn(host, || (call.make)(rig, args))));
        self.lines.push(std::mem::take(&mut rig.line));
        rig.serial += 1;
        match made {
            Ok(outcome) => {
                let wrong = call::judge(call, outcome);
                assert!(wrong.is_none(), "{} gave {outcome}, which it never does", call.name);
            }
            Err(panic) => std::panic::resume_unwind(panic),
        }
        if let Some(Trouble::Internal(text)) = self.world.take_trouble() {
            panic!("inside the kernel: {text}");
        }
    }

    /// Makes one of the events happen that are ready, after a jump of time where none is.
    fn event(&mut self, choice: u8) -> bool {
        let Some(earliest) = self.world.network().agenda().earliest() else { return false };
        if self.world.network().agenda().ready().is_empty() {
            let now: Instant = self.world.network().now();
            let jump = if choice == 15 { Duration::from_secs(5) } else { Duration::ZERO };
            self.world.advance(earliest.max(now.next()) + jump);
        }
        let event = self.world.with(|network| {
            let count = network.agenda().ready().len();
            network.take(usize::from(choice) % count)
        });
        let is_own =
            [Class::Delivery, Class::Datagram, Class::KernelTimer].contains(&event.key.class);
        assert!(is_own, "nobody scheduled {event:?}");
        let (due, key) = (event.due, event.key);
        self.lines.push(format!("    {due} {:?} {}.{}", key.class, key.major, key.minor));
        self.world.with(|network| network.deliver(event.key));
        true
    }

    fn check(&self) {
        self.world.network().check_invariants();
    }

    /// Delivers until nothing is pending; then nothing may be stuck.
    fn rest(&mut self) {
        for count in 0.. {
            if !self.event(0) {
                break;
            }
            assert!(count < EVENTS_MAX, "it rests after so many events");
        }
        self.check();
        self.world.network().check_at_rest();
    }

    /// Reads all that there is; what was sent and not lost is there to its end.
    fn read_all(&mut self) {
        loop {
            self.rest();
            let ends = self.ends();
            let counts: Vec<_> = ends.iter().map(|at| (*at, self.receive(*at))).collect();
            if counts.iter().all(|(_, count)| *count == Some(0) || count.is_none()) {
                break;
            }
        }
    }

    /// The descriptors of connections that are open, one each.
    fn ends(&self) -> Vec<Descriptor> {
        let mut ends: Vec<(_, Descriptor)> = Vec::new();
        for slot in self.rig.slots.iter().filter(|slot| slot.is_open) {
            let Some(at) = Descriptor::from_raw(slot.raw) else { continue };
            let end = self.world.with(|network| network.wire_of(at)).ok().flatten();
            ends.extend(end.map(|end| (end, at)));
        }
        ends.sort_unstable_by_key(|(end, _)| *end);
        ends.dedup_by_key(|(end, _)| *end);
        ends.into_iter().map(|(_, at)| at).collect()
    }

    /// Takes what there is to read; how much, or nothing where the call failed.
    fn receive(&mut self, at: Descriptor) -> Option<usize> {
        let end = self.world.with(|network| network.wire_of(at)).ok()??;
        let bytes = &mut self.buffer;
        let result = self.world.with(|network| network.receive(at, bytes, false));
        self.lines.push(format!("read of {at:?}, {end:?} = {result:?}"));
        let flows = &mut self.rig.flows;
        match result {
            Ok(0) => flows.on_end(end),
            Ok(count) => {
                flows.on_received(end, &bytes[..count]);
                flows.on_taken(end, count);
            }
            Err(errno) => {
                if errno.0 == libc::EAGAIN {
                    flows.on_dry(end);
                }
                flows.on_error(end, errno.0);
                return None;
            }
        }
        self.check();
        result.ok()
    }

    /// Closes everything, one after the other with events between; nothing is left.
    fn close_all(&mut self) {
        let open: Vec<_> = self.rig.slots.iter().filter(|slot| slot.is_open).copied().collect();
        for slot in open {
            if !self.rig.slots.iter().any(|other| other.raw == slot.raw && other.is_open) {
                continue;
            }
            let at = Descriptor::from_raw(slot.raw).expect("a simulated descriptor");
            self.lines.push(format!("close of {at:?}"));
            self.world.with(|network| network.close(at)).expect("it was open");
            self.rig.on_closed(slot.raw);
            self.event(1);
            self.check();
        }
        self.rest();
        assert_eq!(self.world.network().census(), Census::default(), "nothing is left");
    }
}

/// How many calls the table has.
pub fn call_count() -> usize {
    CALLS.len()
}
