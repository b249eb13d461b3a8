//! Liveness: what must come about once nothing stands in its way any more.
//!
//! A run has two phases. In the safety phase everything may befall it that the test allows. It ends
//! when no work is left; at the latest when no operation began or ended for
//! [`Sim::set_safety`](crate::Sim::set_safety), or nothing at all is pending. Then the core is
//! healed, and each goal has its bound of virtual time from that moment: to miss it is a failure of
//! class `liveness`, which names the goal and what everybody waits for.
//!
//! Only a run that has a goal or names its core is healed: any other has no such phase, and nothing
//! of this is in its history.
//!
//! # The core
//! It is the nodes that the test names by [`Sim::core`](crate::Sim::core), or all, and the hosts of
//! every client. To heal it is to end each control in force among its hosts, drawn or ordered, to
//! start its crashed processes again, and to lose no more datagrams. Controls that were to begin
//! later do not; those that are given from inside the run afterwards do. What hosts outside of the
//! core are in stays as it is to the end of the run, and so does what lies between them and the core:
//! a dependency that is down stays down. Then a goal asks for its error in time, not for its success.
//!
//! # Bounds
//! A bound is what the program promises: the sum of its own timeouts and waits, such as
//! [`Backoff::bound`](sim_process::retry::Backoff::bound). A connection whose bytes waited sends them
//! again after up to as long as they waited already, two minutes at most (RFC 6298, 5.5; row F19).
//!
//! # Example
//! ```
//! use sim_core::Sim;
//! use sim_core::control::{Control, Units};
//! use sim_core::lifecycle::Crash;
//! use sim_core::node::NodeSpec;
//! use tokio::net::TcpStream;
//! # fn test(sim: &mut Sim) {
//! let spec = NodeSpec::new("db").ready_on(7, 5.s());
//! let db = sim.node(spec, |process| async move {
//!     let listener = process.host().listen((process.address(), 7)).await.unwrap();
//!     while listener.accept().await.is_ok() {}
//! });
//! // It stays down, until the core is healed.
//! sim.at(1.s(), Control::crash(&db, Crash::Power));
//! sim.probe("db lets in", 10.s(), |_| async {
//!     while TcpStream::connect("db:7").await.is_err() {
//!         tokio::time::sleep(1.s()).await;
//!     }
//! });
//! # }
//! # sim_core::sweep::test(&sim_core::Target::new("goals", test), 0..4);
//! ```

mod heal;

use crate::control::{Hosts, Look};
use crate::failure::{Class, Failure};
use crate::lifecycle::Moment;
use crate::node::{Node, NodeSpec};
use crate::panics::ask;
use crate::process::Process;
use crate::sim::Sim;
use hostsim::clock::Instant;
use hostsim::kernel::HostId;
use std::future::Future;
use std::net::SocketAddr;
use std::time::Duration;

/// How long the safety phase of a run with a workload goes on while no operation begins or ends.
///
/// ```
/// assert_eq!(sim_core::liveness::SAFETY.as_secs(), 30);
/// ```
pub const SAFETY: Duration = Duration::from_secs(30);

/// Whether something came about.
type Predicate = Box<dyn Fn(&Look<'_>) -> bool>;

/// What must come about.
enum Goal {
    /// A predicate holds.
    Eventually(Predicate),
    /// The program of a probe ends.
    Probe(HostId),
    /// What was under way at the heal ends.
    Work,
    /// A process listens on a port of its host's address.
    Ready(HostId, u16),
}

/// A goal and whether it was reached.
struct Awaited {
    name: String,
    goal: Goal,
    bound: Duration,
    is_reached: bool,
}

/// The liveness of a run: its core, its goals and where it stands.
#[derive(Default)]
pub(crate) struct Liveness {
    goals: Vec<Awaited>,
    /// The hosts of the core that the test named; none where it is all.
    core: Option<Vec<HostId>>,
    safety: Option<Duration>,
    /// When an operation began or ended last.
    moved: Instant,
    /// When it is looked at next whether the safety phase is over.
    look: Option<Instant>,
    healed: Option<Instant>,
}

impl Liveness {
    /// Whether the core was healed: nothing that was drawn befalls the run from then on.
    pub(crate) fn is_healed(&self) -> bool {
        self.healed.is_some()
    }

    /// Whether the run is yet to be healed.
    fn is_ahead(&self) -> bool {
        self.healed.is_none() && (!self.goals.is_empty() || self.core.is_some())
    }

    /// An operation began or ended.
    pub(crate) fn on_progress(&mut self, now: Instant) {
        self.moved = now;
    }

    /// Whether every goal was reached.
    pub(crate) fn is_reached(&self) -> bool {
        self.goals.iter().all(|awaited| awaited.is_reached)
    }
}

impl Sim {
    /// Adds hosts to the core, which is healed for the goals of [`crate::liveness`]; without it every
    /// node is of the core.
    ///
    /// # Panics
    /// Where it is about a host that is not of the run.
    ///
    /// ```
    /// # use sim_core::Sim;
    /// use sim_core::control::{Control, Units};
    /// use tokio::net::{TcpListener, TcpStream};
    ///
    /// # fn test(sim: &mut Sim) {
    /// let listen = |_| async {
    ///     let listener = TcpListener::bind("0.0.0.0:7").await.unwrap();
    ///     while listener.accept().await.is_ok() {}
    /// };
    /// let (api, cache) = (sim.node("api", listen), sim.node("cache", listen));
    /// sim.at(0.s(), Control::refuse(&api));
    /// sim.at(0.s(), Control::refuse(&cache));
    /// sim.client("work", |_| async { tokio::time::sleep(1.s()).await });
    /// // The cache stays as it is; what is asked of the program is that it does without.
    /// sim.core(&api);
    /// sim.set_safety(60.s());
    /// sim.probe("the api answers", 10.s(), |_| async {
    ///     assert!(TcpStream::connect("cache:7").await.is_err());
    ///     TcpStream::connect("api:7").await.unwrap();
    /// });
    /// sim.work_ends_within(10.s());
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("core", test), 0..4);
    /// ```
    #[track_caller]
    pub fn core(&mut self, hosts: impl Into<Hosts>) {
        let Hosts(hosts) = hosts.into();
        crate::control::Control::pause(hosts.clone()).check_hosts(self.seats.len());
        self.liveness.core.get_or_insert_default().extend(hosts);
    }

    /// Sets how long the safety phase goes on while no operation begins or ends, before the core is
    /// healed. Without it that is [`SAFETY`] in a run with a workload, and for ever in another one,
    /// whose work is its clients.
    ///
    /// ```
    /// use sim_core::control::{Control, Units};
    /// use tokio::net::TcpStream;
    /// # use sim_core::Sim;
    /// # fn build(sim: &mut Sim) {
    /// # let server = sim.node("server", |process| async move {
    /// #     let listener = process.host().listen((process.address(), 7)).await.unwrap();
    /// #     while let Ok((mut stream, _)) = listener.accept().await {
    /// #         tokio::task::spawn_local(async move {
    /// #             let (mut from, mut to) = stream.split();
    /// #             let _ = tokio::io::copy(&mut from, &mut to).await;
    /// #         });
    /// #     }
    /// # });
    /// // The server is cut off for good; after a minute it is healed all the same.
    /// let client = sim.client("client", |_| async {
    ///     while TcpStream::connect("server:7").await.is_err() {}
    /// });
    /// sim.at(0.s(), Control::partition(&client, &server));
    /// sim.core(&server);
    /// sim.set_safety(60.s());
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    pub fn set_safety(&mut self, max: Duration) {
        self.liveness.safety = Some(max);
    }

    /// Asks that a predicate holds at some moment within a bound, from the heal on. It is asked after
    /// each event, until it held.
    ///
    /// ```
    /// # use sim_core::{Sim, control::Units};
    /// # use std::{cell::Cell, rc::Rc};
    /// # fn test(sim: &mut Sim) {
    /// let leader: Rc<Cell<Option<usize>>> = Rc::default();
    /// let seen = leader.clone();
    /// sim.eventually("a leader is elected", 10.s(), move |_| seen.get().is_some());
    /// sim.node("replica", move |_| {
    ///     let leader = leader.clone();
    ///     async move { leader.set(Some(0)) }
    /// });
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("goals", test), 0..4);
    /// ```
    pub fn eventually(
        &mut self,
        name: &str,
        bound: Duration,
        progress: impl Fn(&Look<'_>) -> bool + 'static,
    ) {
        self.await_goal(name, Goal::Eventually(Box::new(progress)), bound);
    }

    /// Adds a program that starts at the heal, on a host of its own, and must end within a bound: it
    /// asks the system for something and returns once it has it. Beside a dependency that stays down,
    /// it returns once it has its error.
    ///
    /// ```
    /// use sim_core::control::{Control, Units};
    /// use tokio::net::TcpStream;
    /// # use sim_core::Sim;
    /// # fn build(sim: &mut Sim) {
    /// # let server = sim.node("server", |process| async move {
    /// #     let listener = process.host().listen((process.address(), 7)).await.unwrap();
    /// #     while let Ok((mut stream, _)) = listener.accept().await {
    /// #         tokio::task::spawn_local(async move {
    /// #             let (mut from, mut to) = stream.split();
    /// #             let _ = tokio::io::copy(&mut from, &mut to).await;
    /// #         });
    /// #     }
    /// # });
    /// sim.at(1.s(), Control::black_hole(&server));
    /// sim.client("clock", |_| async { tokio::time::sleep(9.s()).await });
    /// // Once nothing is in its way any more, the server lets in.
    /// sim.probe("the server lets in", 5.s(), |_| async {
    ///     TcpStream::connect("server:7").await.unwrap();
    /// });
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    pub fn probe<A, F>(&mut self, name: &str, bound: Duration, app: A) -> Node
    where
        A: Fn(Process) -> F + 'static,
        F: Future<Output = ()> + 'static,
    {
        let host = HostId(self.seats.len() as u32);
        // A property may have any letter; a host has a folder of its name.
        let host_name = name.replace('/', "-");
        let node = self.add_client(NodeSpec::new(&host_name).stopped(), app);
        self.await_goal(name, Goal::Probe(host), bound);
        node
    }

    /// Asks that the operations and clients that are under way at the heal end within a bound,
    /// whatever comes of them.
    ///
    /// ```
    /// use sim_core::Target;
    /// use sim_core::control::Units;
    /// use sim_core::failure::Class;
    /// use sim_core::run::{Input, run};
    ///
    /// let target = Target::new("stuck", |sim| {
    ///     sim.client("client", |_| async { tokio::time::sleep(3_600.s()).await });
    ///     sim.set_safety(1.s());
    ///     sim.work_ends_within(60.s());
    /// });
    /// assert_eq!(run(&target, &Input::Seed(7), 60.s()).class(), Some(Class::Liveness));
    /// ```
    pub fn work_ends_within(&mut self, bound: Duration) {
        self.await_goal("the work that was under way ends", Goal::Work, bound);
    }

    /// Asks that a replica listens, after the heal and where a start is calm.
    pub(crate) fn await_ready(&mut self, host: HostId, name: &str, port: u16, bound: Duration) {
        let name = format!("{name} listens on port {port}");
        self.await_goal(&name, Goal::Ready(host, port), bound);
    }

    fn await_goal(&mut self, name: &str, goal: Goal, bound: Duration) {
        let name = name.to_owned();
        self.liveness.goals.push(Awaited { name, goal, bound, is_reached: false });
    }

    /// Has the end of the safety phase looked at, once the run began.
    pub(crate) fn plan_heal(&mut self) {
        let default = self.workload.is_some().then_some(SAFETY);
        self.liveness.safety = self.liveness.safety.or(default);
        if let Some(max) = self.liveness.safety.filter(|_| self.liveness.is_ahead()) {
            self.look_at_safety_at(self.now() + max);
        }
    }

    fn look_at_safety_at(&mut self, due: Instant) {
        self.liveness.look = Some(due);
        self.world.with(|network| network.schedule(due, Moment::Safety.key(0)));
    }

    /// The safety phase may have lasted for long enough.
    pub(crate) fn on_safety(&mut self) -> Option<Failure> {
        self.liveness.look = None;
        let due = self.liveness.moved + self.liveness.safety.unwrap_or(SAFETY);
        if due <= self.now() && self.next.is_none() {
            return self.heal();
        }
        let due = due.max(self.now() + Duration::from_millis(1));
        self.look_at_safety_at(due);
        None
    }

    /// Ends the safety phase where there is one to end; whether it did, or why the run failed.
    pub(crate) fn end_safety(&mut self) -> Result<bool, Failure> {
        if !self.liveness.is_ahead() {
            return Ok(false);
        }
        self.heal().map_or(Ok(true), Err)
    }

    /// Begins the goals: probes start, bounds count.
    fn begin_goals(&mut self) {
        for number in 0..self.liveness.goals.len() {
            let awaited = &self.liveness.goals[number];
            let (due, probe) = match awaited.goal {
                Goal::Probe(host) => (self.now() + awaited.bound, Some(host)),
                _ => (self.now() + awaited.bound, None),
            };
            self.world.with(|network| network.schedule(due, Moment::Goal.key(number as u32)));
            if let Some(host) = probe {
                self.work.begin(host);
                self.start(host);
            }
        }
    }

    /// Looks which goals are reached; their bounds count no more.
    pub(crate) fn look_at_goals(&mut self) {
        let Some(healed) = self.liveness.healed else { return };
        for number in 0..self.liveness.goals.len() {
            if self.liveness.goals[number].is_reached || !self.is_goal_reached(number) {
                continue;
            }
            let awaited = &mut self.liveness.goals[number];
            awaited.is_reached = true;
            let due = healed + awaited.bound;
            self.world.with(|network| network.cancel(due, Moment::Goal.key(number as u32)));
        }
    }

    fn is_goal_reached(&self, number: usize) -> bool {
        let network = self.world.network();
        match &self.liveness.goals[number].goal {
            Goal::Eventually(progress) => {
                ask(|| progress(&Look { now: network.now(), network: &network }))
            }
            Goal::Probe(host) => !self.work.has(*host),
            Goal::Work => self.is_work_over(),
            Goal::Ready(host, port) => {
                !self.is_core(*host)
                    || self.seats[host.0 as usize].starts() == 0
                    || network.listens(*host, SocketAddr::new(network.address(*host), *port))
            }
        }
    }

    /// Whether all that was under way at the heal ended.
    fn is_work_over(&self) -> bool {
        let goals = self.liveness.goals.iter();
        let running = goals.filter(|awaited| match awaited.goal {
            Goal::Probe(host) => self.work.has(host),
            _ => false,
        });
        self.outstanding == 0 && self.work.clients() == running.count() as u64
    }

    /// The bound of a goal came, and it is not reached.
    pub(crate) fn on_goal(&mut self, number: u32) -> Failure {
        let Awaited { name, bound, .. } = &self.liveness.goals[number as usize];
        let (name, bound) = (name.clone(), *bound);
        let healed = self.liveness.healed.unwrap_or_default().elapsed();
        let text = format!("not within {bound:?} of the heal at {healed:?}: {name}");
        let mut failure = Failure::new(Class::Liveness, format!("eventually {name}"), text);
        failure.details = self.everybody();
        failure
    }

    /// A process started that should be ready within a bound: where nothing befalls the run
    /// meanwhile, that is looked at.
    pub(crate) fn plan_ready(&mut self, host: HostId) {
        let seat = self.seat_of(host);
        let Some((_, bound)) = seat.settings.ready else { return };
        let due = self.now() + bound;
        let controls = self.active.begun();
        let seat = self.seat_of(host);
        let before = seat.ready.replace((due, controls));
        let key = Moment::Ready.key(host.0);
        self.world.with(|network| {
            if let Some((before, _)) = before {
                network.cancel(before, key);
            }
            network.schedule(due, key);
        });
    }

    /// A process had its time to be ready.
    pub(crate) fn on_ready(&mut self, host: HostId) -> Option<Failure> {
        let (begun, is_idle) = (self.active.begun(), self.active.is_idle());
        let seat = self.seat_of(host);
        let ((_, controls), (port, bound)) = (seat.ready.take()?, seat.settings.ready?);
        let (name, exit) = (seat.facts.name.clone(), seat.last_exit());
        let how = match exit.filter(|_| !seat.is_up()) {
            Some(exit) => format!("it ended with {exit}"),
            None => "it runs".to_owned(),
        };
        let network = self.world.network();
        let address = SocketAddr::new(network.address(host), port);
        if begun != controls || !is_idle || network.listens(host, address) {
            return None;
        }
        drop(network);
        let text =
            format!("node {name} does not listen on port {port} {bound:?} after its start; {how}");
        let mut failure = Failure::new(Class::Liveness, format!("readiness of {name}"), text);
        failure.details = self.everybody();
        Some(failure)
    }
}
