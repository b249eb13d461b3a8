//! Controls of processes and their machines, beside those of the network.

use super::{Action, Control, Handle, Hosts};
use crate::lifecycle::{Crash, Rollout};
use crate::process::{Exit, Signal};
use hostsim::kernel::HostId;
use hostsim::network::Network;
use std::rc::Rc;
use std::time::Duration;

/// How far the wall clock of a machine is off.
///
/// ```
/// # use sim_core::Sim;
/// use sim_core::control::{Control, Skew, Units, Until};
///
/// # fn build(sim: &mut Sim) {
/// let db = sim.node("db", |_| async {});
/// sim.at(1.s(), Control::skew(&db, Skew::Behind(3_600.s())).until(Until::After(10.s())));
/// # }
/// # sim_core::sweep::test(&sim_core::Target::new("skew", build), 0..4);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Skew {
    /// It shows a later date.
    Ahead(Duration),
    /// It shows an earlier date.
    Behind(Duration),
}

impl Skew {
    fn nanos(self) -> i64 {
        let nanos = |time: Duration| i64::try_from(time.as_nanos()).unwrap_or(i64::MAX);
        match self {
            Skew::Ahead(time) => nanos(time),
            Skew::Behind(time) => -nanos(time),
        }
    }
}

/// What happens to processes or machines.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    Start,
    Signal(Signal),
    KillAfter(Duration),
    Crash(Crash),
    Restart(Crash),
    Pause,
    Skew(Skew),
    Drift(i32),
    Rollout(Rc<Rollout>),
}

/// What a control asks of the run, past the network.
#[derive(Clone, Debug)]
pub(crate) enum Order {
    Start(HostId),
    Stop(HostId, Exit),
    /// A crash is over: its process starts again.
    Recover(HostId),
    Signal(HostId, Signal),
    KillAfter(HostId, Duration),
    /// A pause is over, unless another one lasts.
    Resume(HostId),
    Rollout(Rc<Rollout>, Handle),
}

impl Control {
    fn life(on: impl Into<Hosts>, act: Act) -> Control {
        Control::new(Action::Life { on: on.into(), act })
    }

    /// Processes start, where they do not run.
    ///
    /// ```
    /// use sim_core::Sim;
    /// use sim_core::control::{Control, Units, Until};
    /// use sim_core::lifecycle::{Crash, Rollout};
    /// use sim_core::process::Signal;
    ///
    /// fn build(sim: &mut Sim) {
    ///     let db = sim.node("db", |_| std::future::pending::<()>());
    ///     sim.at(1.s(), Control::crash(&db, Crash::Kill).until(Until::After(2.s())));
    ///     sim.at(5.s(), Control::restart(&db, Crash::Power));
    ///     sim.at(6.s(), Control::pause(&db).until(Until::After(3.s())));
    ///     sim.at(7.s(), Control::drift(&db, 500).until(Until::After(60.s())));
    ///     sim.at(10.s(), Control::kill_after(&db, 2.s()));
    ///     sim.at(20.s(), Control::start(&db));
    ///     sim.at(30.s(), Control::rollout(Rollout::of(&db).grace(1.s())));
    ///     sim.at(40.s(), Control::signal(&db, Signal::Hangup));
    ///     sim.last_client("end", |_| async { tokio::time::sleep(60.s()).await });
    /// }
    /// # sim_core::sweep::test(&sim_core::Target::new("lives", build), 0..2);
    /// ```
    pub fn start(on: impl Into<Hosts>) -> Control {
        Control::life(on, Act::Start)
    }

    /// Processes are sent a signal. One that none listens for takes its default action and kills
    /// (`signal(7)`), a paused process once it goes on.
    ///
    /// ```
    /// use sim_core::control::{Control, Units};
    /// use sim_core::process::{Exit, Signal};
    /// # use sim_core::Sim;
    /// # fn build(sim: &mut Sim) {
    /// # let db = sim.node("db", |_| std::future::pending::<()>());
    /// sim.at(1.s(), Control::signal(&db, Signal::Hangup));
    /// sim.client("client", move |_| {
    ///     let db = db.clone();
    ///     async move {
    ///         tokio::time::sleep(2.s()).await;
    ///         assert_eq!(db.exits(0), [Exit::Signal(Signal::Hangup)], "it did not listen for it");
    ///     }
    /// });
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    pub fn signal(on: impl Into<Hosts>, signal: Signal) -> Control {
        Control::life(on, Act::Signal(signal))
    }

    /// Processes are sent `SIGTERM`, and are killed where they still run after some time.
    ///
    /// ```
    /// use sim_core::control::{Control, Units};
    /// use sim_core::process::{Exit, Signal};
    /// # use sim_core::Sim;
    /// # fn build(sim: &mut Sim) {
    /// let stubborn = sim.node("stubborn", |process| async move {
    ///     let mut signals = process.signals(&[Signal::Terminate]).unwrap();
    ///     signals.recv().await;
    ///     std::future::pending::<()>().await // It was told to end, and does not.
    /// });
    /// sim.at(1.s(), Control::kill_after(&stubborn, 5.s()));
    /// sim.client("client", move |_| {
    ///     let stubborn = stubborn.clone();
    ///     async move {
    ///         tokio::time::sleep(7.s()).await;
    ///         assert_eq!(stubborn.exits(0), [Exit::Kill]);
    ///     }
    /// });
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    pub fn kill_after(on: impl Into<Hosts>, time: Duration) -> Control {
        Control::life(on, Act::KillAfter(time))
    }

    /// Processes crash (rows F15, F18), and start again at the end of the control; one that is to
    /// last to the end of the run leaves them down.
    ///
    /// ```
    /// use sim_core::control::{Control, Units, Until};
    /// use sim_core::lifecycle::Crash;
    /// # use sim_core::Sim;
    /// # fn build(sim: &mut Sim) {
    /// # let db = sim.node("db", |_| std::future::pending::<()>());
    /// sim.at(1.s(), Control::crash(&db, Crash::Kill).until(Until::After(5.s())));
    /// sim.client("client", move |_| {
    ///     let db = db.clone();
    ///     async move {
    ///         tokio::time::sleep(2.s()).await;
    ///         assert!(!db.is_up(0));
    ///         tokio::time::sleep(5.s()).await;
    ///         assert!(db.is_up(0) && db.starts(0) == 2);
    ///     }
    /// });
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    pub fn crash(on: impl Into<Hosts>, crash: Crash) -> Control {
        Control::life(on, Act::Crash(crash))
    }

    /// Processes crash and start again at once.
    ///
    /// ```
    /// use sim_core::control::{Control, Units};
    /// use sim_core::lifecycle::Crash;
    /// use sim_core::process::Exit;
    /// # use sim_core::Sim;
    /// # fn build(sim: &mut Sim) {
    /// # let db = sim.node("db", |_| std::future::pending::<()>());
    /// sim.at(1.s(), Control::restart(&db, Crash::Power));
    /// sim.client("client", move |_| {
    ///     let db = db.clone();
    ///     async move {
    ///         tokio::time::sleep(2.s()).await;
    ///         assert_eq!((db.exits(0), db.starts(0)), (vec![Exit::Power], 2));
    ///     }
    /// });
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    pub fn restart(on: impl Into<Hosts>, crash: Crash) -> Control {
        Control::life(on, Act::Restart(crash))
    }

    /// Machines stand still as a stopped process does (`SIGSTOP`, row F17): their kernels go on,
    /// and dials and bytes wait. Afterwards their timers are late. A process that starts meanwhile is
    /// not paused. For a host that stalls as a
    /// whole, partition it for the same time.
    ///
    /// ```
    /// use sim_core::control::{Control, Units, Until};
    /// # use sim_core::Sim;
    /// # fn build(sim: &mut Sim) {
    /// let lease = sim.node("lease", |_| async {
    ///     let start = tokio::time::Instant::now();
    ///     tokio::time::sleep(2.s()).await;
    ///     assert!(start.elapsed() >= 9.s(), "its timer is late");
    /// });
    /// sim.at(1.s(), Control::pause(&lease).until(Until::After(8.s())));
    /// sim.client("clock", |_| async { tokio::time::sleep(20.s()).await });
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    pub fn pause(on: impl Into<Hosts>) -> Control {
        Control::life(on, Act::Pause)
    }

    /// The wall clocks of machines are stepped, and stepped back at the end. Monotonic clocks and
    /// timers do not see it.
    ///
    /// ```
    /// use sim_core::control::{Control, Skew, Units};
    /// use std::time::SystemTime;
    /// # use sim_core::Sim;
    /// # fn build(sim: &mut Sim) {
    /// let client = sim.client("client", |_| async {
    ///     let start = SystemTime::now();
    ///     tokio::time::sleep(2.s()).await;
    ///     assert!(SystemTime::now() < start, "the clock was put back an hour");
    /// });
    /// sim.at(1.s(), Control::skew(&client, Skew::Behind(3_600.s())));
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    pub fn skew(on: impl Into<Hosts>, skew: Skew) -> Control {
        Control::life(on, Act::Skew(skew))
    }

    /// The time of machines passes faster by so many parts per million, or slower where negative,
    /// at most by a tenth: clocks and timers alike.
    ///
    /// ```
    /// use sim_core::control::{Control, Units};
    /// # use sim_core::Sim;
    /// # fn build(sim: &mut Sim) {
    /// # let db = sim.node("db", |_| std::future::pending::<()>());
    /// // A clock that gains a second in two thousand.
    /// sim.at(1.s(), Control::drift(&db, 500));
    /// sim.client("clock", |_| async { tokio::time::sleep(10.s()).await });
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    pub fn drift(on: impl Into<Hosts>, parts_per_million: i32) -> Control {
        Control::life(on, Act::Drift(parts_per_million))
    }

    /// The replicas of a node get new processes, one after the other.
    ///
    /// ```
    /// use sim_core::control::{Control, Units};
    /// use sim_core::lifecycle::Rollout;
    /// use sim_core::node::NodeSpec;
    /// # use sim_core::Sim;
    /// # fn build(sim: &mut Sim) {
    /// let spec = NodeSpec::new("api").replicas(2..=2);
    /// let api = sim.node(spec, |_| std::future::pending::<()>());
    /// sim.at(1.s(), Control::rollout(Rollout::of(&api).grace(1.s())));
    /// sim.client("client", move |_| {
    ///     let api = api.clone();
    ///     async move {
    ///         tokio::time::sleep(9.s()).await;
    ///         assert_eq!((api.starts(0), api.starts(1)), (2, 2));
    ///     }
    /// });
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    pub fn rollout(rollout: Rollout) -> Control {
        Control::life(rollout.hosts(), Act::Rollout(Rc::new(rollout)))
    }
}

impl Act {
    /// Whether it is over at once; a rollout goes on by itself.
    pub(super) fn is_moment(&self) -> bool {
        !matches!(self, Act::Crash(_) | Act::Pause | Act::Skew(_) | Act::Drift(_))
    }

    /// The name of its mark: that of what makes it.
    pub(super) fn mark(&self) -> &'static str {
        match self {
            Act::Start => "control start",
            Act::Signal(_) => "control signal",
            Act::KillAfter(_) => "control kill_after",
            Act::Crash(_) => "control crash",
            Act::Restart(_) => "control restart",
            Act::Pause => "control pause",
            Act::Skew(_) => "control skew",
            Act::Drift(_) => "control drift",
            Act::Rollout(_) => "control rollout",
        }
    }

    /// Whether another that is in force asks for the same still, once this one ended.
    pub(super) fn is_state_like(&self, other: &Act) -> bool {
        let is_state = matches!(self, Act::Pause | Act::Skew(_) | Act::Drift(_));
        is_state && std::mem::discriminant(self) == std::mem::discriminant(other)
    }

    pub(super) fn describe(&self, on: &str) -> String {
        match self {
            Act::Start => format!("start {on}"),
            Act::Signal(signal) => format!("{signal} to {on}"),
            Act::KillAfter(time) => format!("SIGTERM to {on}, kill after {time:?}"),
            Act::Crash(crash) => format!("crash of {on}: {crash:?}"),
            Act::Restart(crash) => format!("restart of {on}: {crash:?}"),
            Act::Pause => format!("pause of {on}"),
            Act::Skew(skew) => format!("skew of {on}: {skew:?}"),
            Act::Drift(drift) => format!("drift of {on}: {drift} ppm"),
            Act::Rollout(_) => format!("rollout of {on}"),
        }
    }

    /// Makes machines as the control says, or as they were; what needs the run goes to `orders`.
    pub(super) fn set(
        &self,
        on: &Hosts,
        network: &mut Network,
        is_on: bool,
        handle: &Handle,
        orders: &mut Vec<Order>,
    ) {
        if let (Act::Rollout(rollout), true) = (self, is_on) {
            orders.push(Order::Rollout(rollout.clone(), handle.clone()));
            return;
        }
        for host in &on.0 {
            self.set_host(*host, network, is_on, orders);
        }
    }

    fn set_host(&self, host: HostId, network: &mut Network, is_on: bool, orders: &mut Vec<Order>) {
        let now = network.now();
        match self {
            Act::Start => orders.push(Order::Start(host)),
            Act::Signal(signal) => orders.push(Order::Signal(host, *signal)),
            Act::KillAfter(time) => orders.push(Order::KillAfter(host, *time)),
            Act::Crash(crash) if is_on => orders.push(Order::Stop(host, crash.exit())),
            Act::Crash(_) => orders.push(Order::Recover(host)),
            Act::Restart(crash) => {
                orders.extend([Order::Stop(host, crash.exit()), Order::Recover(host)]);
            }
            Act::Pause => {
                network.host_mut(host).is_paused = is_on;
                if !is_on {
                    network.mark_runnable(host);
                    orders.push(Order::Resume(host));
                }
            }
            Act::Skew(skew) => {
                network.host_mut(host).clock.set_skew(if is_on { skew.nanos() } else { 0 });
            }
            Act::Drift(drift) => {
                let drift = if is_on { *drift } else { 0 };
                network.host_mut(host).clock.set_drift(now, drift);
                // Its next timer comes at another moment now.
                network.mark_runnable(host);
            }
            Act::Rollout(_) => {}
        }
    }
}
