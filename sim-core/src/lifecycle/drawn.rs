//! Lifecycles that a run draws: which events, of which hosts, within what the test allows.
//!
//! How many there are at most is a dimension of the swarm. Each is drawn when the one before began:
//! whether there is another and of which kind, when, of which host, and for how long. All zeros draw
//! none. Every event ends: a run is never left without its nodes by it. One that would break the
//! bounds at its moment does not come.

use super::{Crash, Moment, Rollout};
use crate::control::{Control, Handle, Hosts, Skew, Until};
use crate::failure::Failure;
use crate::sim::Sim;
use crate::source::{Choice, Lane, Source};
use crate::tape::SpanKind;
use hostsim::clock::Instant;
use hostsim::kernel::HostId;
use std::time::Duration;

/// The kinds of event.
#[derive(Clone, Debug)]
enum Kind {
    Kill,
    Power,
    Restart,
    Rollout(Box<Rollout>),
    Isolation,
    OneWay,
    Pause,
    Skew,
    Drift,
}

/// Which events of lifecycles a run may draw, for some hosts: how many, of which kinds, how long,
/// and how many hosts at once.
///
/// ```
/// use sim_core::Sim;
/// use sim_core::control::Units;
/// use sim_core::lifecycle::{Lifecycle, Rollout};
/// use sim_core::node::NodeSpec;
///
/// fn build(sim: &mut Sim) {
///     let db = sim.node(NodeSpec::new("db").replicas(3..=5), |_| std::future::pending::<()>());
///     let kinds = Lifecycle::of(&db).crashes().restarts().partitions().pauses().skews();
///     let bounds = kinds.quorum().not_before(1.s()).cool_down(5.s());
///     sim.lifecycle(bounds.count(8).lasting(30.s()).pause(10.s()));
///     sim.lifecycle(Lifecycle::of(&db).rollouts(Rollout::of(&db).grace(1.s())).down_at_most(1));
///     sim.client("clock", |_| async { tokio::time::sleep(60.s()).await });
/// }
/// # sim_core::sweep::test(&sim_core::Target::new("lifecycle", build), 0..4);
/// ```
#[derive(Clone, Debug)]
pub struct Lifecycle {
    pub(crate) hosts: Hosts,
    kinds: Vec<Kind>,
    down_max: usize,
    not_before: Duration,
    cool_down: Duration,
    pub(crate) count_max: u64,
    time_max: Duration,
    pause_max: Duration,
    skew_max: Duration,
}

impl Lifecycle {
    /// Up to four events, each for ten seconds at most, with waits of up to two seconds, at one host
    /// at a time. Which kinds there are is said by the calls below; without one there is none.
    ///
    /// ```
    /// use sim_core::control::Units;
    /// use sim_core::lifecycle::Lifecycle;
    /// # use sim_core::Sim;
    /// # fn build(sim: &mut Sim) {
    /// # let db = sim.node("db", |_| std::future::pending::<()>());
    /// sim.lifecycle(Lifecycle::of(&db)); // No kind is allowed, so nothing comes.
    /// sim.last_client("end", move |_| {
    ///     let db = db.clone();
    ///     async move {
    ///         tokio::time::sleep(60.s()).await;
    ///         assert_eq!(db.starts(0), 1);
    ///     }
    /// });
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    pub fn of(hosts: impl Into<Hosts>) -> Lifecycle {
        Lifecycle {
            hosts: hosts.into(),
            kinds: Vec::new(),
            down_max: 1,
            not_before: Duration::ZERO,
            cool_down: Duration::ZERO,
            count_max: 4,
            time_max: Duration::from_secs(10),
            pause_max: Duration::from_secs(2),
            skew_max: Duration::from_secs(3_600),
        }
    }

    /// Asserts that every host is of the run, which has so many.
    #[track_caller]
    pub(crate) fn check_hosts(&self, count: usize) {
        Control::pause(self.hosts.clone()).check_hosts(count);
        for kind in &self.kinds {
            if let Kind::Rollout(rollout) = kind {
                Control::pause(rollout.hosts()).check_hosts(count);
            }
        }
    }

    /// Processes are killed or lose their power, and start again.
    ///
    /// ```
    /// use sim_core::control::Units;
    /// use sim_core::lifecycle::Lifecycle;
    /// # use sim_core::Sim;
    /// # fn build(sim: &mut Sim) {
    /// # let db = sim.node("db", |_| std::future::pending::<()>());
    /// sim.lifecycle(Lifecycle::of(&db).crashes().count(2));
    /// sim.last_client("end", move |_| {
    ///     let db = db.clone();
    ///     async move {
    ///         tokio::time::sleep(60.s()).await;
    ///         assert!(db.exits(0).iter().all(|exit| exit.is_crash()), "killed, or without power");
    ///     }
    /// });
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    #[must_use]
    pub fn crashes(self) -> Lifecycle {
        self.with([Kind::Kill, Kind::Power])
    }

    /// Processes are told to end, or killed, and start again at once.
    ///
    /// ```
    /// use sim_core::control::Units;
    /// use sim_core::lifecycle::Lifecycle;
    /// # use sim_core::Sim;
    /// # fn build(sim: &mut Sim) {
    /// # let db = sim.node("db", |_| std::future::pending::<()>());
    /// sim.lifecycle(Lifecycle::of(&db).restarts().count(2));
    /// sim.last_client("end", move |_| {
    ///     let db = db.clone();
    ///     async move {
    ///         tokio::time::sleep(60.s()).await;
    ///         assert!(db.is_up(0) && db.starts(0) <= 3);
    ///     }
    /// });
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    #[must_use]
    pub fn restarts(self) -> Lifecycle {
        self.with([Kind::Restart])
    }

    /// Every replica gets a new process, one after the other; nothing else of this lifecycle comes
    /// meanwhile.
    ///
    /// ```
    /// use sim_core::control::Units;
    /// use sim_core::lifecycle::{Lifecycle, Rollout};
    /// use sim_core::node::NodeSpec;
    /// # use sim_core::Sim;
    /// # fn build(sim: &mut Sim) {
    /// let db = sim.node(NodeSpec::new("db").replicas(3..=3), |_| std::future::pending::<()>());
    /// sim.lifecycle(Lifecycle::of(&db).rollouts(Rollout::of(&db).grace(1.s())).count(1));
    /// sim.last_client("end", move |_| {
    ///     let db = db.clone();
    ///     async move {
    ///         tokio::time::sleep(60.s()).await;
    ///         assert!((0..3).all(|replica| db.starts(replica) == db.starts(0)), "all or none");
    ///     }
    /// });
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    #[must_use]
    pub fn rollouts(self, rollout: Rollout) -> Lifecycle {
        self.with([Kind::Rollout(Box::new(rollout))])
    }

    /// A host is cut off from all others, both ways or one way.
    ///
    /// ```
    /// use sim_core::control::Units;
    /// use sim_core::lifecycle::Lifecycle;
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
    /// sim.lifecycle(Lifecycle::of(&server).partitions().count(2).lasting(5.s()));
    /// sim.client("client", |_| async {
    ///     TcpStream::connect("server:7").await.expect("it heals before a dial gives up");
    /// });
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    #[must_use]
    pub fn partitions(self) -> Lifecycle {
        self.with([Kind::Isolation, Kind::OneWay])
    }

    /// Machines stand still.
    ///
    /// ```
    /// use sim_core::control::Units;
    /// use sim_core::lifecycle::Lifecycle;
    /// # use sim_core::Sim;
    /// # fn build(sim: &mut Sim) {
    /// # let db = sim.node("db", |_| std::future::pending::<()>());
    /// sim.lifecycle(Lifecycle::of(&db).pauses().count(3));
    /// sim.last_client("end", move |_| {
    ///     let db = db.clone();
    ///     async move {
    ///         tokio::time::sleep(60.s()).await;
    ///         assert_eq!(db.exits(0), [], "a pause ends no process");
    ///     }
    /// });
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    #[must_use]
    pub fn pauses(self) -> Lifecycle {
        self.with([Kind::Pause])
    }

    /// Clocks are off and drift; at as many hosts as it comes to.
    ///
    /// ```
    /// use sim_core::control::Units;
    /// use sim_core::lifecycle::Lifecycle;
    /// use tokio::time::Instant;
    /// # use sim_core::Sim;
    /// # fn build(sim: &mut Sim) {
    /// let lease = sim.node("lease", |_| async {
    ///     let start = Instant::now();
    ///     tokio::time::sleep(30.s()).await;
    ///     assert!(start.elapsed() >= 30.s(), "whatever the date says");
    /// });
    /// sim.lifecycle(Lifecycle::of(&lease).skews());
    /// # sim.client("clock", |_| async { tokio::time::sleep(60.s()).await });
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    #[must_use]
    pub fn skews(self) -> Lifecycle {
        self.with([Kind::Skew, Kind::Drift])
    }

    fn with(mut self, kinds: impl IntoIterator<Item = Kind>) -> Lifecycle {
        self.kinds.extend(kinds);
        self
    }

    /// Sets how many hosts may be down, paused or cut off at once.
    ///
    /// ```
    /// use sim_core::control::Units;
    /// use sim_core::lifecycle::Lifecycle;
    /// use sim_core::node::NodeSpec;
    /// # use sim_core::Sim;
    /// # fn build(sim: &mut Sim) {
    /// let db = sim.node(NodeSpec::new("db").replicas(5..=5), |_| std::future::pending::<()>());
    /// sim.lifecycle(Lifecycle::of(&db).crashes().down_at_most(2));
    /// sim.client("watch", move |_| {
    ///     let db = db.clone();
    ///     async move {
    ///         for _ in 0..60 {
    ///             tokio::time::sleep(1.s()).await;
    ///             assert!((0..5).filter(|replica| db.is_up(*replica)).count() >= 3);
    ///         }
    ///     }
    /// });
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    #[must_use]
    pub fn down_at_most(mut self, count: usize) -> Lifecycle {
        self.down_max = count;
        self
    }

    /// Leaves more than half of the hosts alone.
    ///
    /// ```
    /// use sim_core::control::Units;
    /// use sim_core::lifecycle::Lifecycle;
    /// use sim_core::node::NodeSpec;
    /// # use sim_core::Sim;
    /// # fn build(sim: &mut Sim) {
    /// let db = sim.node(NodeSpec::new("db").replicas(3..=3), |_| std::future::pending::<()>());
    /// sim.lifecycle(Lifecycle::of(&db).crashes().quorum());
    /// sim.client("watch", move |_| {
    ///     let db = db.clone();
    ///     async move {
    ///         for _ in 0..60 {
    ///             tokio::time::sleep(1.s()).await;
    ///             assert!((0..3).filter(|replica| db.is_up(*replica)).count() >= 2);
    ///         }
    ///     }
    /// });
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    #[must_use]
    pub fn quorum(mut self) -> Lifecycle {
        self.down_max = self.hosts.0.len().saturating_sub(1) / 2;
        self
    }

    /// Sets before which moment of the run nothing comes.
    ///
    /// ```
    /// use sim_core::control::Units;
    /// use sim_core::lifecycle::Lifecycle;
    /// # use sim_core::Sim;
    /// # fn build(sim: &mut Sim) {
    /// # let db = sim.node("db", |_| std::future::pending::<()>());
    /// sim.lifecycle(Lifecycle::of(&db).crashes().not_before(10.s()));
    /// sim.client("watch", move |_| {
    ///     let db = db.clone();
    ///     async move {
    ///         tokio::time::sleep(9.s()).await;
    ///         assert_eq!((db.starts(0), db.is_up(0)), (1, true), "it has time to begin");
    ///     }
    /// });
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    #[must_use]
    pub fn not_before(mut self, moment: Duration) -> Lifecycle {
        self.not_before = moment;
        self
    }

    /// Sets for how long a host is left alone after an event.
    ///
    /// ```
    /// use sim_core::control::Units;
    /// use sim_core::lifecycle::Lifecycle;
    /// # use sim_core::Sim;
    /// # fn build(sim: &mut Sim) {
    /// # let db = sim.node("db", |_| std::future::pending::<()>());
    /// // Between two crashes of a replica it has a minute to catch up.
    /// sim.lifecycle(Lifecycle::of(&db).crashes().cool_down(60.s()).count(9));
    /// sim.last_client("end", move |_| {
    ///     let db = db.clone();
    ///     async move {
    ///         tokio::time::sleep(30.s()).await;
    ///         assert!(db.exits(0).len() <= 1);
    ///     }
    /// });
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    #[must_use]
    pub fn cool_down(mut self, time: Duration) -> Lifecycle {
        self.cool_down = time;
        self
    }

    /// Sets how many events there may be.
    ///
    /// # Panics
    /// Where it is past 255.
    ///
    /// ```
    /// use sim_core::control::Units;
    /// use sim_core::lifecycle::Lifecycle;
    /// # use sim_core::Sim;
    /// # fn build(sim: &mut Sim) {
    /// # let db = sim.node("db", |_| std::future::pending::<()>());
    /// sim.lifecycle(Lifecycle::of(&db).restarts().count(1));
    /// sim.last_client("end", move |_| {
    ///     let db = db.clone();
    ///     async move {
    ///         tokio::time::sleep(60.s()).await;
    ///         assert!(db.starts(0) <= 2);
    ///     }
    /// });
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    #[must_use]
    #[track_caller]
    pub fn count(mut self, max: u64) -> Lifecycle {
        assert!(max <= 255, "a lifecycle has 255 events at most, not {max}");
        self.count_max = max;
        self
    }

    /// Sets how long an event lasts at most.
    ///
    /// ```
    /// use sim_core::control::Units;
    /// use sim_core::lifecycle::Lifecycle;
    /// # use sim_core::Sim;
    /// # fn build(sim: &mut Sim) {
    /// # let db = sim.node("db", |_| std::future::pending::<()>());
    /// sim.lifecycle(Lifecycle::of(&db).crashes().count(1).lasting(3.s()).pause(2.s()));
    /// sim.last_client("end", move |_| {
    ///     let db = db.clone();
    ///     async move {
    ///         tokio::time::sleep(10.s()).await;
    ///         assert!(db.is_up(0), "it is back by then");
    ///     }
    /// });
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    #[must_use]
    pub fn lasting(mut self, max: Duration) -> Lifecycle {
        self.time_max = max;
        self
    }

    /// Sets the longest wait before an event.
    ///
    /// ```
    /// use sim_core::control::Units;
    /// use sim_core::lifecycle::Lifecycle;
    /// # use sim_core::Sim;
    /// # fn build(sim: &mut Sim) {
    /// # let db = sim.node("db", |_| std::future::pending::<()>());
    /// // One after the other, at once.
    /// sim.lifecycle(Lifecycle::of(&db).restarts().pause(1.ms()).count(20));
    /// # sim.client("clock", |_| async { tokio::time::sleep(60.s()).await });
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    #[must_use]
    pub fn pause(mut self, max: Duration) -> Lifecycle {
        self.pause_max = max;
        self
    }
}

const KIND: Choice = Choice::one("kind");
const WAIT: Choice = Choice::one("wait");
const HOST: Choice = Choice::one("host");
const EXTENT: Choice = Choice::one("extent");
const TIME: Choice = Choice::one("time");

/// The most parts per million that a drawn clock drifts by: what `adjtimex(2)` allows.
const DRIFT: i32 = 500;

/// An event that comes next: what of it does not depend on the moment.
#[derive(Clone, Debug)]
struct Next {
    kind: Kind,
    who: u64,
    extent: u64,
    time: Duration,
}

/// An event that was begun, and how long its host is left alone.
#[derive(Clone, Debug)]
struct Begun {
    host: HostId,
    handle: Handle,
    /// Whether the host is down by it.
    is_down: bool,
    rested: Instant,
}

/// A lifecycle of a run.
#[derive(Debug)]
pub(crate) struct Drawn {
    spec: Lifecycle,
    left: u64,
    next: Option<Next>,
    begun: Vec<Begun>,
}

impl Drawn {
    pub(crate) fn new(spec: Lifecycle, left: u64) -> Drawn {
        let left = if spec.kinds.is_empty() { 0 } else { left };
        Drawn { spec, left, next: None, begun: Vec::new() }
    }

    /// Draws the next event; gives the wait before it. Zero draws none, and none after it.
    fn plan(&mut self, source: &mut Source) -> Option<Duration> {
        if self.left == 0 {
            return None;
        }
        self.left -= 1;
        source.open(SpanKind::Lifecycle, "event");
        let kind = match source.draw(Lane::Lifecycle, KIND, 255) {
            0 => {
                source.close();
                self.left = 0;
                return None;
            }
            value => self.spec.kinds[(value - 1) as usize % self.spec.kinds.len()].clone(),
        };
        let wait = source.part(Lane::Lifecycle, WAIT, self.spec.pause_max);
        let who = source.draw(Lane::Lifecycle, HOST, 255);
        let extent = source.draw(Lane::Lifecycle, EXTENT, 255);
        let time = source.doubling(Lane::Lifecycle, TIME, self.spec.time_max);
        source.close();
        self.next = Some(Next { kind, who, extent, time });
        Some(wait)
    }

    /// The hosts that are down by what was begun.
    fn down(&self) -> usize {
        let hosts = &self.spec.hosts.0;
        hosts.iter().filter(|host| self.is_down(**host)).count()
    }

    fn is_down(&self, host: HostId) -> bool {
        let is_down = |begun: &Begun| begun.is_down && begun.handle.is_active();
        self.begun.iter().any(|begun| begun.host == host && is_down(begun))
    }

    /// Whether a host is left alone by now.
    fn is_free(&self, host: HostId, now: Instant) -> bool {
        let is_over = |begun: &Begun| !begun.handle.is_active() && begun.rested <= now;
        self.begun.iter().filter(|begun| begun.host == host).all(is_over)
    }
}

impl Next {
    /// Whether the host is down meanwhile.
    fn is_down(&self) -> bool {
        !matches!(self.kind, Kind::Skew | Kind::Drift)
    }

    fn control(&self, host: HostId, others: Vec<HostId>, spec: &Lifecycle) -> Control {
        let is_even = self.extent.is_multiple_of(2);
        let control = match &self.kind {
            Kind::Kill => Control::crash(host, Crash::Kill),
            Kind::Power => Control::crash(host, Crash::Power),
            Kind::Restart if is_even => Control::restart(host, Crash::Kill),
            Kind::Restart => Control::rollout(Rollout::of(host).grace(self.time)),
            Kind::Rollout(rollout) => Control::rollout((**rollout).clone()),
            Kind::Isolation => Control::partition(host, others),
            Kind::OneWay if is_even => Control::one_way(host, others),
            Kind::OneWay => Control::one_way(others, host),
            Kind::Pause => Control::pause(host),
            Kind::Skew => {
                let by = spec.skew_max.saturating_mul(self.extent as u32 / 2) / 127;
                Control::skew(host, if is_even { Skew::Ahead(by) } else { Skew::Behind(by) })
            }
            Kind::Drift => Control::drift(host, DRIFT * (self.extent as i32 - 127) / 128),
        };
        control.until(Until::After(self.time))
    }
}

impl Sim {
    /// Draws the next event of a lifecycle.
    pub(crate) fn plan_lifecycle(&mut self, number: u32) {
        let now = self.now();
        let drawn = &mut self.lifecycles[number as usize];
        let Some(wait) = drawn.plan(&mut self.source.borrow_mut()) else { return };
        let due = (now + wait).max(Instant::START + drawn.spec.not_before);
        self.world.with(|network| network.schedule(due, Moment::Drawn.key(number)));
    }

    pub(crate) fn begin_drawn(&mut self, number: u32) -> Option<Failure> {
        if self.liveness.is_healed() {
            return None;
        }
        let failure = self.begin_next(number);
        self.plan_lifecycle(number);
        failure
    }

    fn begin_next(&mut self, number: u32) -> Option<Failure> {
        let now = self.now();
        let drawn = &mut self.lifecycles[number as usize];
        let next = drawn.next.take().expect("it was scheduled");
        let is_up = |host: &HostId| self.seats[host.0 as usize].is_up();
        let is_free = |host: &HostId| drawn.is_free(*host, now) && is_up(host);
        let free: Vec<HostId> = drawn.spec.hosts.0.iter().copied().filter(is_free).collect();
        let is_rollout = matches!(next.kind, Kind::Rollout(_));
        let is_all_free = free.len() == drawn.spec.hosts.0.len();
        let is_room = !next.is_down() || drawn.down() < drawn.spec.down_max;
        if free.is_empty() || !is_room || is_rollout && !is_all_free {
            return None;
        }
        let host = free[next.who as usize % free.len()];
        let all = self.world.network().hosts().map(|(host, _)| host).collect::<Vec<_>>();
        let others = all.into_iter().filter(|other| *other != host).collect();
        let handle = self.controls.apply(next.control(host, others, &drawn.spec));
        let rested = now + next.time + drawn.spec.cool_down;
        let on = if is_rollout { drawn.spec.hosts.0.clone() } else { vec![host] };
        drawn.begun.extend(on.into_iter().map(|host| Begun {
            host,
            handle: handle.clone(),
            is_down: next.is_down(),
            rested,
        }));
        self.look_at_controls()
    }
}
