//! The driver: one run, from its source to its outcome.
//!
//! Settle every machine, look at what is pending, choose one event, move time on, make it happen,
//! record it, let the checkers judge; until no work is left. The choice is drawn only where several
//! events could come next, and nothing else of the schedule is.
//!
//! Invariants: events are in canonical order before one is chosen; two events are at least a
//! nanosecond apart; a run ends at a limit at the latest.

use crate::check::Checker;
use crate::control::fault_key;
use crate::datagram::{self, Odds};
use crate::dir;
use crate::failure::internal_assert;
use crate::failure::{Class, Failure};
use crate::history::{Event, History};
use crate::lifecycle::{App, Moment, Seat};
use crate::node::{Node, NodeSpec};
use crate::panics::{self, Scope, Witness};
use crate::seed::Seed;
use crate::sim::Sim;
use crate::source::{Choice, Lane};
use crate::swarm::{self, Dimension};
use crate::workload::{Next, OperationId, kind_of};
use hostsim::agenda::{Class as EventClass, Key, Scheduled};
use hostsim::clock::Instant;
use hostsim::kernel::HostId;
use hostsim::world::Trouble;
use rand_core::Rng;
use sim_process::system::Facts;
use std::future::Future;
use std::net::IpAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::rc::Rc;
use std::time::Duration;

/// A task of a machine.
pub(crate) type LocalFuture<T = ()> = Pin<Box<dyn Future<Output = T>>>;

/// Where a run ends at the latest. To reach a limit is inconclusive: neither passed nor failed.
///
/// ```
/// use sim_core::driver::Limits;
/// use sim_core::failure::Class;
/// use sim_core::run::{Input, run};
/// use sim_core::Target;
/// use std::time::Duration;
///
/// let target = Target::new("endless", |sim| {
///     sim.set_limits(Limits { time_max: Duration::from_secs(60), ..Limits::default() });
///     sim.client("client", |_| async {
///         loop {
///             tokio::time::sleep(Duration::from_secs(1)).await;
///         }
///     });
/// });
/// let run = run(&target, &Input::Bytes(Vec::new()), Duration::from_secs(60));
/// assert_eq!(run.class(), Some(Class::Inconclusive));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most events.
    pub events_max: u64,
    /// The most virtual time.
    pub time_max: Duration,
}

impl Default for Limits {
    /// A million events, a hundred days.
    fn default() -> Limits {
        Limits { events_max: 1_000_000, time_max: Duration::from_secs(100 * 86_400) }
    }
}

const NEXT: Choice = Choice::one("next");

/// The most events that a choice is made of: what its one byte can name.
const READY_MAX: usize = 256;

impl Sim {
    /// Makes the hosts of a node, as many as the swarm says.
    #[track_caller]
    pub(crate) fn seat(&mut self, spec: &NodeSpec, app: Option<&App>) -> Node {
        let (min, max) = (*spec.replicas.start(), *spec.replicas.end());
        let count = match max - min {
            0 => min,
            more => self.draw(swarm::REPLICAS, more, |extra| {
                let count = min + extra;
                (count, format!("{count} of {}", spec.name))
            }),
        };
        let settings = Rc::new(spec.settings.clone());
        let mut node = Node::default();
        for replica in 0..count as usize {
            let name =
                if max == 1 { spec.name.clone() } else { format!("{}-{replica}", spec.name) };
            let (host, [address, address_v6]) = self.add_host(&name);
            if name != spec.name {
                self.world.with(|network| network.add_name(&spec.name, host));
            }
            let args = [&[name.clone()][..], &settings.args].concat();
            let vars = settings.vars.clone();
            let facts = Facts { args, vars, name, replica, address, address_v6 };
            let seat = Seat::new(facts, settings.clone(), app.cloned());
            self.slot.allow(settings.allowed.clone(), seat.record.clone());
            node.records.push(seat.record.clone());
            self.seats.push(seat);
            if let Some((port, bound)) = settings.ready {
                let name = self.seat_of(host).facts.name.clone();
                self.await_ready(host, &name, port, bound);
            }
            node.hosts.push(host);
            node.addresses.push(address);
            node.addresses_v6.push(address_v6);
        }
        node
    }

    /// Makes a host and what is handed to it. Two of one name would have the same entropy and files,
    /// and nobody could tell them apart in a trace.
    #[track_caller]
    fn add_host(&mut self, name: &str) -> (HostId, [IpAddr; 2]) {
        let is_taken = self.seats.iter().any(|seat| seat.facts.name == name);
        assert!(!is_taken, "a node has the name {name} already; replicas make several of one name");
        let shape = &self.shape;
        let mut stream = self.entropy.child("node").child(name).stream();
        let (host, addresses) = self.world.with(|network| {
            let id = network.add_host(name);
            let host = network.host_mut(id);
            host.set_entropy(Box::new(move |into| stream.fill_bytes(into)));
            if shape.send_buffer > 0 {
                host.send_limit = shape.send_buffer;
            }
            if shape.receive_buffer > 0 {
                host.receive_limit = shape.receive_buffer;
            }
            (id, [host.address, host.address_v6])
        });
        for other in (0..host.0).map(HostId) {
            for (from, to) in [(other, host), (host, other)] {
                let latency = swarm::link(&mut self.source.borrow_mut(), &self.shape);
                self.world.with(|network| network.set_latency(from, to, latency));
            }
        }
        self.slot.add_name(name);
        self.watch.add_name(name);
        self.history.borrow_mut().record(0, Event::Host { host: host.0, name });
        (host, addresses)
    }

    /// Runs to the end; the failure, if there was one.
    pub(crate) fn drive(&mut self) -> Option<Failure> {
        self.draw_odds();
        if let Some(failure) = self.misnamed() {
            return Some(failure);
        }
        for dimension in &self.plan.dimensions {
            let Dimension { name: dimension, value, ref meaning } = *dimension;
            self.history.borrow_mut().record(0, Event::Plan { dimension, value, meaning });
        }
        if let Some(failure) = self.start_all() {
            return Some(failure);
        }
        self.plan_operation();
        self.plan_fault();
        (0..self.lifecycles.len() as u32).for_each(|number| self.plan_lifecycle(number));
        self.plan_heal();
        let failure = loop {
            if let Some(failure) = self.settle() {
                break Some(failure);
            }
            if let Some(failure) = self.judge(|checker| checker.step()) {
                break Some(failure);
            }
            self.look_at_goals();
            if self.is_done() {
                match self.end_safety() {
                    Err(failure) => break Some(failure),
                    Ok(true) => continue,
                    Ok(false) if self.start_last() || !self.liveness.is_reached() => {}
                    Ok(false) => break self.judge(|checker| checker.end()),
                }
            }
            if let Err(failure) = self.step() {
                break Some(failure);
            }
        };
        if let Some(failure) = &failure {
            let (class, text) = (failure.class.name(), failure.message.as_str());
            self.record(Event::Failure { class, text });
        }
        failure
    }

    /// Drops what the test made, once the run is over. What destructors do comes after the end: it
    /// is neither recorded nor judged, but for a rule that the simulated kernel breaks.
    pub(crate) fn let_go(&mut self) -> Option<Failure> {
        self.odds.set(Odds::CALM);
        self.world.with(|network| {
            network.observe(Box::new(|_, _| {}));
            network.observe_datagrams(Box::new(|_, _| {}));
        });
        self.slot.end_history();
        std::mem::take(&mut self.seats).into_iter().for_each(Seat::let_go);
        self.lifecycles.clear();
        self.rollouts.clear();
        drop_apart(std::mem::take(&mut self.liveness));
        drop_apart(self.next.take());
        drop_apart(self.workload.take());
        self.checkers.drain(..).for_each(drop_apart);
        self.folder.clear();
        let trouble = self.world.take_trouble();
        let trouble = trouble.filter(|trouble| matches!(trouble, Trouble::Internal(_)))?;
        Some(Failure::new(Class::Internal, "end", trouble.describe(|host| format!("{host:?}"))))
    }

    /// Draws what datagrams may meet: the last dimensions of the swarm.
    fn draw_odds(&mut self) {
        let latency = self.shape.fixed_latency.unwrap_or(self.shape.latency);
        let mut source = self.source.borrow_mut();
        let odds = datagram::draw(&mut source, &mut self.plan, latency, self.ordered);
        self.odds.set(odds);
    }

    pub(crate) fn record(&self, event: Event<'_>) {
        self.history.borrow_mut().record(self.now().0, event);
    }

    pub(crate) fn now(&self) -> Instant {
        self.world.network().now()
    }

    fn start_all(&mut self) -> Option<Failure> {
        for host in (0..self.seats.len() as u32).map(HostId) {
            if let Err(failure) = self.write_files(host) {
                return Some(failure);
            }
            if !self.seat_of(host).settings.is_stopped {
                self.start(host);
            }
        }
        None
    }

    /// Puts the files of a node into its host's folder. Without a folder for them there is no run.
    fn write_files(&mut self, host: HostId) -> Result<(), Failure> {
        let seat = &self.seats[host.0 as usize];
        for (path, bytes) in &seat.settings.files {
            let folder = self.folder.of(&seat.facts.name);
            let written = folder.and_then(|folder| dir::write(&folder, path, bytes));
            written.map_err(|error| {
                let (name, root) = (&seat.facts.name, dir::root());
                let text = format!(
                    "the file {path:?} of node {name} cannot be written below {}: {error}",
                    root.display()
                );
                Failure::new(Class::Inconclusive, "files of nodes", text)
            })?;
        }
        Ok(())
    }

    /// Runs every machine that has something to do until none has.
    fn settle(&mut self) -> Option<Failure> {
        let mut runnable = std::mem::take(&mut self.runnable);
        let mut failure = None;
        while failure.is_none() && self.world.network().has_runnable() {
            self.world.with(|network| network.take_runnable(&mut runnable));
            failure = runnable.iter().find_map(|host| self.run_machine(*host));
        }
        self.runnable = runnable;
        self.record_outcomes();
        failure.or_else(|| self.slot.take())
    }

    fn run_machine(&mut self, host: HostId) -> Option<Failure> {
        let (now, busy_until) = {
            let network = self.world.network();
            let at = network.host(host);
            if at.is_paused {
                return None;
            }
            (network.now(), at.busy_until)
        };
        let machine = self.seats[host.0 as usize].machine.as_mut()?;
        self.watch.set_host(Some(host));
        let deadline = if busy_until > now { Some(busy_until) } else { machine.run() };
        self.watch.set_host(None);
        self.set_deadline(host, deadline);
        panics::install();
        // A call that broke the run comes before what the program said of its result; a machine
        // that does not rest may do so because of what it said.
        let reported = self.slot.take();
        let trouble = self.world.take_trouble();
        let is_last = matches!(trouble, None | Some(Trouble::Restless { .. }));
        let trouble = trouble.map(|trouble| self.on_trouble(&trouble));
        let failure = if is_last { reported.or(trouble) } else { trouble };
        if failure.is_some() || self.world.network().host(host).busy_until > now {
            // What ended after it slept has not ended yet.
            return failure;
        }
        self.stop_ended(host)
    }

    fn on_trouble(&self, trouble: &Trouble) -> Failure {
        let name = |host: &HostId| self.seats[host.0 as usize].facts.name.clone();
        let (class, origin) = match trouble {
            Trouble::WouldBlock { call, .. } => (Class::Deadlock, format!("blocking {call}")),
            Trouble::Unsupported { call, .. } => (Class::Inconclusive, (*call).to_owned()),
            Trouble::Restless { host, .. } => {
                (Class::Inconclusive, format!("restless {}", name(host)))
            }
            Trouble::Internal(text) => (Class::Internal, text.clone()),
        };
        Failure::new(class, origin, trouble.describe(name))
    }

    pub(crate) fn set_deadline(&mut self, host: HostId, deadline: Option<Instant>) {
        let seat = &mut self.seats[host.0 as usize];
        let before = std::mem::replace(&mut seat.deadline, deadline);
        if before == deadline {
            return;
        }
        let key = Key { class: EventClass::MachineTimer, major: host.0, minor: 0 };
        self.world.with(|network| {
            if let Some(due) = before {
                network.cancel(due, key);
            }
            if let Some(due) = deadline {
                network.schedule(due, key);
            }
        });
    }

    fn judge(
        &mut self,
        call: fn(&mut dyn Checker) -> Result<(), crate::check::Violation>,
    ) -> Option<Failure> {
        let checkers = &mut self.checkers;
        let judged = self.slot.within(Scope::Checker, || {
            checkers.iter_mut().try_for_each(|checker| call(checker.as_mut()))
        });
        let reported = self.slot.take();
        reported.or_else(|| judged.err().map(crate::check::Violation::into_failure))
    }

    /// Whether no work is left: the workload ended and so did each operation and client.
    fn is_done(&self) -> bool {
        self.is_planned && self.next.is_none() && self.outstanding == 0 && self.work.clients() == 0
    }

    /// Starts the clients that come last; whether there were any.
    fn start_last(&mut self) -> bool {
        let last = std::mem::take(&mut self.last);
        for host in &last {
            self.work.begin(*host);
            self.start(*host);
        }
        !last.is_empty()
    }

    /// Makes one event happen.
    fn step(&mut self) -> Result<(), Failure> {
        if let Some(failure) = self.look_at_controls() {
            return Err(failure);
        }
        if self.world.network().has_runnable() {
            return Ok(());
        }
        let (now, earliest) = {
            let network = self.world.network();
            (network.now(), network.agenda().earliest())
        };
        let Some(due) = earliest else {
            let healed = self.end_safety()?;
            return if healed { Ok(()) } else { Err(self.deadlock()) };
        };
        let now = due.max(now.next());
        self.steps += 1;
        if self.steps > self.limits.events_max {
            let text = format!("the run has more than {} events", self.limits.events_max);
            return Err(self.at_limit("limit of events", &text));
        }
        if now.elapsed() > self.limits.time_max {
            let text =
                format!("the run takes more than {:?} of virtual time", self.limits.time_max);
            return Err(self.at_limit("limit of time", &text));
        }
        self.world.advance(now);
        let event = self.choose();
        internal_assert!(event.due <= now, "an event of {} came at {now}", event.due);
        self.apply(event).map_or(Ok(()), Err)
    }

    /// Chooses among the events that are due.
    fn choose(&mut self) -> Scheduled {
        let count = self.world.network().agenda().ready().len().min(READY_MAX);
        let index = match count {
            1 => 0,
            count => self.source.borrow_mut().below(Lane::Schedule, NEXT, count as u64),
        };
        self.world.with(|network| network.take(index as usize))
    }

    fn apply(&mut self, event: Scheduled) -> Option<Failure> {
        match event.key.class {
            EventClass::Delivery => self.deliver(event.key),
            EventClass::Datagram => self.world.with(|network| network.deliver(event.key)),
            EventClass::KernelTimer => {
                self.record(Event::KernelTimer { wire: event.key.major });
                let state = self.world.network().state_at_timer(event.key);
                self.slot.cover(|coverage| coverage.on_timer(state));
                self.world.with(|network| network.deliver(event.key));
            }
            EventClass::MachineTimer => {
                let host = HostId(event.key.major);
                self.record(Event::MachineTimer { host: host.0 });
                self.seats[host.0 as usize].deadline = None;
                self.world.with(|network| network.mark_runnable(host));
            }
            EventClass::Operation => self.begin_operation(),
            EventClass::Fault if event.key == fault_key() => return self.begin_fault(),
            EventClass::Fault => return self.on_control(event.key),
            EventClass::Lifecycle => {
                let number = event.key.major;
                return match Moment::of(event.key) {
                    Moment::Kill => self.on_kill(HostId(number)),
                    Moment::Drawn => self.begin_drawn(number),
                    Moment::Bound => self.on_bound(number),
                    Moment::Safety => self.on_safety(),
                    Moment::Goal => Some(self.on_goal(number)),
                    Moment::Ready => self.on_ready(HostId(number)),
                };
            }
        }
        None
    }

    /// Delivers the next segment of a direction, in pieces where the swarm says so.
    fn deliver(&mut self, key: Key) {
        let (source, shape) = (&self.source, &self.shape);
        self.world.with(|network| {
            if shape.piece > 0 {
                let length = network.next_length(key);
                let first = swarm::cut(&mut source.borrow_mut(), shape, length);
                first.into_iter().for_each(|bytes| network.cut_next(key, bytes));
            }
            network.deliver(key);
        });
    }

    /// Draws the operation that comes next, as far as as many are under way as may be.
    fn plan_operation(&mut self) {
        let Some(workload) = &mut self.workload else {
            self.is_planned = true;
            return;
        };
        if self.is_planned || self.next.is_some() || self.outstanding >= self.frame.in_flight_max {
            return;
        }
        let id = OperationId(self.operations + 1);
        let (mut source, frame) = (self.source.borrow_mut(), &self.frame);
        let next = self.slot.within(Scope::Body, || workload.next(&mut source, frame, id));
        drop(source);
        match next {
            None => self.is_planned = true,
            Some(next) => {
                let due = self.world.network().now() + next.wait;
                self.world.with(|network| network.schedule(due, operation_key()));
                self.operations += 1;
                self.next = Some(next);
            }
        }
    }

    fn begin_operation(&mut self) {
        let Next { id, host, text, task, .. } = self.next.take().expect("it was scheduled");
        self.record(Event::Operation { id: id.0, host: host.0, text: &text });
        self.outstanding += 1;
        self.liveness.on_progress(self.world.now());
        let kind = kind_of(&text);
        self.slot.cover(|coverage| coverage.on_operation(kind));
        self.under_way.push((id, kind.to_owned()));
        let machine = self.seats[host.0 as usize].machine.as_ref();
        machine.expect("clients live as long as the run").spawn(async move {
            let _witness = Witness(None);
            task.await;
        });
        self.plan_operation();
    }

    fn record_outcomes(&mut self) {
        let mut ended = self.ended.take();
        for (id, outcome) in ended.drain(..) {
            let (ending, text) = (outcome.ending, outcome.text.as_str());
            self.record(Event::Outcome { id: id.0, ending, text });
            self.outstanding -= 1;
            self.liveness.on_progress(self.world.now());
            self.under_way.retain(|(other, _)| *other != id);
            self.plan_operation();
        }
        self.ended.replace(ended);
        for host in self.work.take_finished() {
            self.record(Event::Finish { host: host.0 });
        }
    }
}

/// Drops what a test made; a panic of it leaves the rest to be dropped.
pub(crate) fn drop_apart<T>(value: T) {
    let _ = catch_unwind(AssertUnwindSafe(|| drop(value)));
}

fn operation_key() -> Key {
    Key { class: EventClass::Operation, major: 0, minor: 0 }
}

/// The streams of the seed tree that a run's nodes take random bytes from.
pub(crate) fn entropy_root(entropy: u64) -> Seed {
    Seed::root(entropy).child("entropy")
}

/// Tells the history of every delivery and every datagram.
pub(crate) fn observe(sim: &Sim) {
    let history: Rc<std::cell::RefCell<History>> = sim.history.clone();
    let (datagrams, slot) = (history.clone(), sim.slot.clone());
    sim.world.with(|network| {
        network.observe(Box::new(move |now, delivery| {
            history.borrow_mut().record_delivery(now.0, delivery);
            slot.cover(|coverage| coverage.on_segment(delivery.segment, delivery.state));
        }));
        network.observe_datagrams(Box::new(move |now, passed| {
            datagrams.borrow_mut().record_datagram(now.0, passed);
        }));
    });
}
