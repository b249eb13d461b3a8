//! Rollouts: the replicas of a node get new processes, one after the other, as a deployment does it.
//!
//! For each replica: out of the route, `SIGTERM`, the end of its process (by itself, or killed after
//! a time of grace), a start, perhaps of another version of the program, then what the test calls
//! ready, and back into the route. A crash that a control has in force is waited for, and so is a
//! rollout of one of the same hosts that was ordered earlier. A process that somebody ends before it
//! is ready is started again; one that is paused gets its whole time after.

use super::Moment;
use super::seat::App;
use crate::control::{Handle, Hosts, Look};
use crate::failure::{Class, Failure};
use crate::history::{Event, Phase};
use crate::node::{Node, wrap};
use crate::panics::ask;
use crate::process::{Exit, Process};
use crate::route::Route;
use crate::sim::Sim;
use crate::termination::Termination;
use hostsim::clock::Instant;
use hostsim::kernel::HostId;
use std::fmt;
use std::future::Future;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

/// Whether a replica is ready.
type Ready = Rc<dyn Fn(&Look<'_>, HostId) -> bool>;

/// What a rollout does.
///
/// ```
/// use sim_core::Sim;
/// use sim_core::control::{Control, Units};
/// use sim_core::lifecycle::Rollout;
/// use sim_core::node::NodeSpec;
///
/// fn build(sim: &mut Sim) {
///     let api = sim.node(NodeSpec::new("api").replicas(2..=2), |_| std::future::pending::<()>());
///     let route = sim.route("api.internal", &api);
///     let rollout = Rollout::of(&api)
///         .route(&route)
///         .to(|_| async { tokio::time::sleep(3_600.s()).await })
///         .grace(5.s())
///         .ready(|look, host| look.network.host(host).name.starts_with("api"))
///         .within(30.s());
///     sim.at(1.s(), Control::rollout(rollout));
///     sim.client("clock", |_| async { tokio::time::sleep(60.s()).await });
/// }
/// # sim_core::sweep::test(&sim_core::Target::new("rollout", build), 0..4);
/// ```
#[derive(Clone)]
pub struct Rollout {
    hosts: Hosts,
    route: Option<Route>,
    app: Option<App>,
    grace: Duration,
    ready: Option<Ready>,
    bound: Duration,
}

impl Rollout {
    /// A rollout of every replica of a node, or of some hosts: thirty seconds of grace, ready once
    /// started.
    ///
    /// ```
    /// use sim_core::control::{Control, Units};
    /// use sim_core::lifecycle::Rollout;
    /// # use sim_core::Sim;
    /// # fn build(sim: &mut Sim) {
    /// # let db = sim.node("db", |_| std::future::pending::<()>());
    /// sim.at(1.s(), Control::rollout(Rollout::of(&db)));
    /// sim.client("client", move |_| {
    ///     let db = db.clone();
    ///     async move {
    ///         tokio::time::sleep(60.s()).await;
    ///         assert_eq!((db.starts(0), db.is_up(0)), (2, true));
    ///     }
    /// });
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    pub fn of(hosts: impl Into<Hosts>) -> Rollout {
        Rollout {
            hosts: hosts.into(),
            route: None,
            app: None,
            grace: Duration::from_secs(30),
            ready: None,
            bound: Duration::from_secs(60),
        }
    }

    /// Takes each replica out of a route before it is told to end, and puts it back once ready.
    ///
    /// ```
    /// use sim_core::control::{Control, Units};
    /// use sim_core::lifecycle::Rollout;
    /// use sim_core::node::NodeSpec;
    /// # use sim_core::Sim;
    /// # fn build(sim: &mut Sim) {
    /// let api = sim.node(NodeSpec::new("api").replicas(2..=2), |_| std::future::pending::<()>());
    /// let route = sim.route("api.internal", &api);
    /// let warm = Rollout::of(&api).ready(|look, _host| look.now.elapsed() >= 20.s());
    /// sim.at(1.s(), Control::rollout(warm.route(&route)));
    /// # sim.client("clock", |_| async { tokio::time::sleep(30.s()).await });
    /// sim.client("client", move |_| {
    ///     let route = route.clone();
    ///     async move {
    ///         tokio::time::sleep(2.s()).await;
    ///         assert_eq!(route.hosts().len(), 1, "the first is not warm yet");
    ///         tokio::time::sleep(60.s()).await;
    ///         assert_eq!(route.hosts().len(), 2);
    ///     }
    /// });
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    #[must_use]
    pub fn route(mut self, route: &Route) -> Rollout {
        self.route = Some(route.clone());
        self
    }

    /// Starts another version of the program.
    ///
    /// ```
    /// use sim_core::control::{Control, Units};
    /// use sim_core::lifecycle::Rollout;
    /// use tokio::io::AsyncWriteExt;
    /// # use sim_core::Sim;
    /// # fn build(sim: &mut Sim) {
    /// # let db = sim.node("db", |_| std::future::pending::<()>());
    /// let next = Rollout::of(&db).grace(1.s()).to(|process| async move {
    ///     process.stdout().write_all(b"version 2\n").await.unwrap();
    /// });
    /// sim.at(1.s(), Control::rollout(next));
    /// sim.client("client", move |_| {
    ///     let db = db.clone();
    ///     async move {
    ///         tokio::time::sleep(9.s()).await;
    ///         assert_eq!(db.lines(0)[0].text, "version 2");
    ///     }
    /// });
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    #[must_use]
    pub fn to<A, F, T>(mut self, app: A) -> Rollout
    where
        A: Fn(Process) -> F + 'static,
        F: Future<Output = T> + 'static,
        T: Termination + 'static,
    {
        self.app = Some(wrap(app));
        self
    }

    /// Sets how long a process has to end before it is killed.
    ///
    /// ```
    /// use sim_core::control::{Control, Units};
    /// use sim_core::lifecycle::Rollout;
    /// use sim_core::process::{Exit, Signal};
    /// # use sim_core::Sim;
    /// # fn build(sim: &mut Sim) {
    /// # let db = sim.node("db", |_| std::future::pending::<()>());
    /// sim.at(1.s(), Control::rollout(Rollout::of(&db).grace(5.s())));
    /// sim.client("client", move |_| {
    ///     let db = db.clone();
    ///     async move {
    ///         tokio::time::sleep(9.s()).await;
    ///         // It listens for no signal, so it needs no grace.
    ///         assert_eq!(db.exits(0), [Exit::Signal(Signal::Terminate)]);
    ///     }
    /// });
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    #[must_use]
    pub fn grace(mut self, grace: Duration) -> Rollout {
        self.grace = grace;
        self
    }

    /// Waits until a replica listens on a port of its address.
    ///
    /// ```
    /// use sim_core::control::{Control, Units};
    /// use sim_core::lifecycle::Rollout;
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
    /// sim.at(1.s(), Control::rollout(Rollout::of(&server).grace(1.s()).ready_on(7)));
    /// sim.client("client", move |_| {
    ///     let server = server.clone();
    ///     async move {
    ///         tokio::time::sleep(9.s()).await;
    ///         assert!(server.is_listening(0, 7) && server.starts(0) == 2);
    ///     }
    /// });
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    #[must_use]
    pub fn ready_on(self, port: u16) -> Rollout {
        self.ready(move |look, host| {
            let address = SocketAddr::new(look.network.address(host), port);
            look.network.listens(host, address)
        })
    }

    /// Waits until a predicate holds for a replica; it is asked after each event.
    ///
    /// ```
    /// use sim_core::control::{Control, Units};
    /// use sim_core::lifecycle::Rollout;
    /// # use sim_core::Sim;
    /// # fn build(sim: &mut Sim) {
    /// # let db = sim.node("db", |_| std::future::pending::<()>());
    /// let warm = Rollout::of(&db).ready(|look, _host| look.now.elapsed() >= 20.s());
    /// let rollout = sim.at(1.s(), Control::rollout(warm.grace(1.s())));
    /// sim.client("clock", |_| async { tokio::time::sleep(60.s()).await });
    /// # drop(rollout);
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    #[must_use]
    pub fn ready(mut self, ready: impl Fn(&Look<'_>, HostId) -> bool + 'static) -> Rollout {
        self.ready = Some(Rc::new(ready));
        self
    }

    /// Sets within which time a replica that started must be ready: to be late is a failure of class
    /// `liveness`. A minute, if not set.
    ///
    /// ```
    /// use sim_core::Target;
    /// use sim_core::control::{Control, Units};
    /// use sim_core::failure::Class;
    /// use sim_core::lifecycle::Rollout;
    /// use sim_core::run::{Input, run};
    ///
    /// let target = Target::new("late", |sim| {
    ///     let db = sim.node("db", |_| std::future::pending::<()>());
    ///     // It never listens.
    ///     let rollout = Rollout::of(&db).grace(1.s()).ready_on(7).within(30.s());
    ///     sim.at(1.s(), Control::rollout(rollout));
    ///     sim.client("clock", |_| async { tokio::time::sleep(60.s()).await });
    /// });
    /// assert_eq!(run(&target, &Input::Seed(7), 60.s()).class(), Some(Class::Liveness));
    /// ```
    #[must_use]
    pub fn within(mut self, bound: Duration) -> Rollout {
        self.bound = bound;
        self
    }

    pub(crate) fn hosts(&self) -> Hosts {
        self.hosts.clone()
    }
}

impl From<&Node> for Rollout {
    fn from(node: &Node) -> Rollout {
        Rollout::of(node)
    }
}

impl fmt::Debug for Rollout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Rollout { hosts, grace, bound, .. } = self;
        let (has_app, has_ready) = (self.app.is_some(), self.ready.is_some());
        f.debug_struct("Rollout")
            .field("hosts", hosts)
            .field("grace", grace)
            .field("bound", bound)
            .field("has_app", &has_app)
            .field("has_ready", &has_ready)
            .finish()
    }
}

/// Where the rollout of a replica stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// It has not begun.
    Waiting,
    /// Its process was told to end; whether the replica was in the route, and how many starts there
    /// had been.
    Ending { was_routed: bool, starts: u64 },
    /// Its process starts; by when it must be ready.
    Starting { was_routed: bool, bound: Option<Instant> },
}

/// A rollout that goes on.
pub(crate) struct Running {
    rollout: Rc<Rollout>,
    handle: Handle,
    index: usize,
    stage: Stage,
}

impl Running {
    fn host(&self) -> Option<HostId> {
        self.rollout.hosts.0.get(self.index).copied()
    }
}

impl Sim {
    pub(crate) fn begin_rollout(&mut self, rollout: Rc<Rollout>, handle: Handle) {
        handle.set_active(true);
        self.rollouts.push(Some(Running { rollout, handle, index: 0, stage: Stage::Waiting }));
    }

    /// Goes on with every rollout as far as it can.
    pub(crate) fn look_at_rollouts(&mut self) -> Option<Failure> {
        for number in 0..self.rollouts.len() {
            while let Some(running) = self.rollouts[number].take() {
                let Some(host) = running.host() else {
                    running.handle.set_active(false);
                    let names = running.rollout.hosts.describe(&self.world.network());
                    let hosts = running.rollout.hosts.0.iter().map(|host| host.0).collect();
                    self.record(Event::Control {
                        phase: Phase::End,
                        kind: "rollout",
                        hosts,
                        others: Vec::new(),
                        text: &format!("end rollout of {names}"),
                    });
                    break;
                };
                let before = (running.index, running.stage);
                match self.go_on(number, running, host) {
                    Ok(running) => {
                        let after = (running.index, running.stage);
                        self.rollouts[number] = Some(running);
                        if before == after {
                            break;
                        }
                    }
                    Err(failure) => return Some(failure),
                }
            }
        }
        None
    }

    fn go_on(
        &mut self,
        number: usize,
        mut running: Running,
        host: HostId,
    ) -> Result<Running, Failure> {
        match running.stage {
            Stage::Waiting if self.has_earlier_rollout(number, &running.rollout) => {}
            // The host of a workload's client has no program.
            Stage::Waiting if self.seat_of(host).app.is_none() => running.index += 1,
            Stage::Waiting => {
                let was_routed = self.unroute(&running.rollout, host);
                // Whoever starts it next starts the version that is rolled out.
                let seat = self.seat_of(host);
                seat.app = running.rollout.app.clone().or(seat.app.take());
                running.stage = Stage::Ending { was_routed, starts: seat.starts() };
                if let Some(failure) = self.kill_after(host, running.rollout.grace) {
                    return Err(failure);
                }
            }
            Stage::Ending { was_routed, starts } => {
                if !self.seat_of(host).is_up() && !self.active.keeps_down(host) {
                    self.start(host);
                }
                // It may be a control that started it.
                if self.seat_of(host).starts() > starts {
                    running.stage = Stage::Starting { was_routed, bound: None };
                }
            }
            Stage::Starting { was_routed, bound } => {
                self.look_at_start(number, &mut running, host, was_routed, bound)?;
            }
        }
        Ok(running)
    }

    fn look_at_start(
        &mut self,
        number: usize,
        running: &mut Running,
        host: HostId,
        was_routed: bool,
        bound: Option<Instant>,
    ) -> Result<(), Failure> {
        let key = Moment::Bound.key(number as u32);
        let seat = self.seat_of(host);
        let (is_up, is_told, last_exit) = (seat.is_up(), seat.is_told, seat.last_exit());
        let is_paused = self.world.network().host(host).is_paused;
        if !is_up || is_paused {
            self.cancel_bound(key, bound);
            running.stage = Stage::Starting { was_routed, bound: None };
        }
        if !is_up {
            match last_exit {
                Some(exit @ Exit::Code(_)) if !is_told => {
                    let text = format!("ended with {exit} before it was ready");
                    return Err(self.unready(host, &text));
                }
                _ if self.active.keeps_down(host) => {}
                _ => self.start(host),
            }
        }
        if !is_up || is_paused {
            return Ok(());
        }
        let is_ready = self.is_ready(&running.rollout, host);
        if is_ready {
            self.cancel_bound(key, bound);
            self.reroute(&running.rollout, host, was_routed);
            (running.index, running.stage) = (running.index + 1, Stage::Waiting);
        } else if bound.is_none() {
            let due = self.now() + running.rollout.bound;
            self.world.with(|network| network.schedule(due, key));
            running.stage = Stage::Starting { was_routed, bound: Some(due) };
        }
        Ok(())
    }

    fn is_ready(&self, rollout: &Rollout, host: HostId) -> bool {
        let network = self.world.network();
        let look = Look { now: network.now(), network: &network };
        rollout.ready.as_ref().is_none_or(|ready| ask(|| ready(&look, host)))
    }

    /// Whether a rollout that was ordered earlier goes on, of one of the same hosts: they come one
    /// after the other.
    fn has_earlier_rollout(&self, number: usize, rollout: &Rollout) -> bool {
        let shares = |other: &Running| {
            other.rollout.hosts.0.iter().any(|host| rollout.hosts.0.contains(host))
        };
        self.rollouts[..number].iter().flatten().any(shares)
    }

    fn cancel_bound(&mut self, key: hostsim::agenda::Key, bound: Option<Instant>) {
        if let Some(due) = bound {
            self.world.with(|network| network.cancel(due, key));
        }
    }

    /// The bound of a rollout came, and its replica is not ready.
    pub(crate) fn on_bound(&mut self, number: u32) -> Option<Failure> {
        let running = self.rollouts[number as usize].as_mut()?;
        let host = running.host()?;
        let bound = running.rollout.bound;
        if let Stage::Starting { bound, .. } = &mut running.stage {
            *bound = None;
        }
        Some(self.unready(host, &format!("was not ready within {bound:?} of its start")))
    }

    fn unready(&self, host: HostId, what: &str) -> Failure {
        let name = &self.seats[host.0 as usize].facts.name;
        Failure::new(Class::Liveness, format!("rollout of {name}"), format!("node {name} {what}"))
    }

    /// Takes a host out of the route; whether it was in it.
    fn unroute(&mut self, rollout: &Rollout, host: HostId) -> bool {
        let Some(route) = &rollout.route else { return false };
        let mut hosts = route.hosts();
        let was_routed = hosts.contains(&host);
        if was_routed {
            hosts.retain(|other| *other != host);
            route.set(hosts);
        }
        was_routed
    }

    fn reroute(&mut self, rollout: &Rollout, host: HostId, was_routed: bool) {
        let Some(route) = rollout.route.as_ref().filter(|_| was_routed) else { return };
        let mut hosts = route.hosts();
        if !hosts.contains(&host) {
            hosts.push(host);
            hosts.sort_unstable();
            route.set(hosts);
        }
    }
}
