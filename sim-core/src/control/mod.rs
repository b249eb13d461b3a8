//! Controls: what a test orders, or the fault lane draws, against the network and the machines of a
//! run.
//!
//! A [`Control`] is what happens, to which hosts or connections, and until when. It is given to
//! [`crate::Sim::at`] for a moment of the run, or to [`Controls::apply`] from inside it, and its
//! beginning and end are events of the history. [`FaultSpec`] has the run draw controls of its own.
//!
//! Every one is something that may befall a correct program on Linux; each says which fact of TCP
//! allows it. None loses, repeats, reorders or changes bytes within a stream: what is held queues
//! at its sender, is sent again as TCP does, and arrives in order after the end of the control.
//! The facts are rows of the table of measured facts that the conformance suite runs.
//!
//! A partition loses datagrams, and a latency is theirs too; what is about connections is not about
//! datagrams (see [`crate::manual::network`]).
//!
//! # Example
//! ```
//! use sim_core::Sim;
//! use sim_core::control::{Connections, Control, Units, Until};
//! # fn test(sim: &mut Sim) {
//! let server = sim.node("server", |_| async {});
//! let client = sim.client("client", |_| async {});
//! // Nothing passes between them from 2 s to 5 s.
//! sim.at(2.s(), Control::partition(&client, &server).until(Until::After(3.s())));
//! // The request is processed and the reply is lost, until the test says otherwise.
//! let held = Control::hold_replies(Connections::to(&server).port(7)).after_bytes(16);
//! let hold = sim.at(0.s(), held.until(Until::Released));
//! // Later, in an operation or a checker:
//! hold.release();
//! # }
//! # sim_core::sweep::test(&sim_core::Target::new("controls", test), 0..4);
//! ```

mod active;
mod drawn;
mod handle;
mod heal;
mod life;
mod network;
mod select;
mod turn;
mod until;

pub use drawn::{FaultKind, FaultSpec};
pub use handle::{Controls, Handle};
pub use life::Skew;
pub use select::{Connections, Hosts};
pub use until::{Look, Until};

pub(crate) use active::Active;
pub(crate) use drawn::{Drawn, NextFault};
pub(crate) use life::{Act, Order};
pub(crate) use turn::fault_key;

use crate::history::Phase;
use hostsim::network::{Dials, Network, Pace};
use std::time::Duration;

/// Lengths of time, as a test writes them: `2.s()`, `100.ms()`.
///
/// ```
/// use sim_core::control::Units;
///
/// assert_eq!(2.s(), 2_000.ms());
/// assert_eq!(3.ms(), 3_000.us());
/// ```
pub trait Units {
    /// So many seconds.
    ///
    /// ```
    /// use sim_core::control::Units;
    ///
    /// assert_eq!(90.s().as_secs(), 90);
    /// ```
    fn s(self) -> Duration;
    /// So many milliseconds.
    ///
    /// ```
    /// use sim_core::control::Units;
    ///
    /// assert_eq!(1_500.ms(), 1.s() + 500.ms());
    /// ```
    fn ms(self) -> Duration;
    /// So many microseconds.
    ///
    /// ```
    /// use sim_core::control::Units;
    ///
    /// assert_eq!(1_000.us(), 1.ms());
    /// ```
    fn us(self) -> Duration;
}

impl Units for u64 {
    fn s(self) -> Duration {
        Duration::from_secs(self)
    }

    fn ms(self) -> Duration {
        Duration::from_millis(self)
    }

    fn us(self) -> Duration {
        Duration::from_micros(self)
    }
}

/// Which end of a connection.
///
/// ```
/// use sim_core::control::{Connections, Control, End, Units};
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
/// // Requests are slow, replies are not.
/// sim.at(0.s(), Control::throttle(End::Dialer, Connections::to(&server), 1, 10.ms()));
/// # }
/// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The one that dialed: what it sends are requests, mostly.
    Dialer,
    /// The one that accepted: what it sends are replies, mostly.
    Acceptor,
}

/// What happens.
#[derive(Clone, Debug)]
pub(crate) enum Action {
    Cut { from: Hosts, to: Hosts, is_both: bool },
    Hold { on: Connections, from: &'static [End], after: u64 },
    Reset { on: Connections, ends: &'static [End] },
    Dials { to: Hosts, dials: Dials },
    StopAccepting { on: Hosts },
    Pace { on: Connections, from: End, pace: Pace },
    Latency { from: Hosts, to: Hosts, latency: Duration },
    Life { on: Hosts, act: Act },
}

impl Action {
    /// The name of what makes it, as the history has it.
    pub(crate) fn kind(&self) -> &'static str {
        self.mark().trim_start_matches("control ")
    }

    /// The name of its mark: that of what makes it.
    fn mark(&self) -> &'static str {
        match self {
            Action::Cut { is_both: true, .. } => "control partition",
            Action::Cut { .. } => "control one_way",
            Action::Hold { from: [_, _], .. } => "control silence",
            Action::Hold { .. } => "control hold",
            Action::Reset { .. } => "control reset",
            Action::Dials { dials: Dials::Open, .. } => "control dials",
            Action::Dials { dials: Dials::Refused, .. } => "control refuse",
            Action::Dials { dials: Dials::Dropped, .. } => "control black_hole",
            Action::StopAccepting { .. } => "control stop_accepting",
            Action::Pace { .. } => "control throttle",
            Action::Latency { .. } => "control latency",
            Action::Life { act, .. } => act.mark(),
        }
    }
}

/// What happens to which hosts or connections, and until when.
///
/// ```
/// use sim_core::Sim;
/// use sim_core::control::{Connections, Control, End, Units, Until};
///
/// fn build(sim: &mut Sim) {
///     let (a, b) = (sim.node("a", |_| async {}), sim.node("b", |_| async {}));
///     let both = || Connections::from(&a).that(|connection| connection.wire.0 < 100);
///     let for_a_second = |control: Control| control.until(Until::After(1.s()));
///     // The way between two hosts.
///     sim.at(1.s(), for_a_second(Control::one_way(&a, &b)));
///     sim.at(1.s(), for_a_second(Control::latency(&a, &b, 80.ms())));
///     // Dials to a host.
///     sim.at(2.s(), for_a_second(Control::refuse(&b)));
///     sim.at(3.s(), for_a_second(Control::black_hole(&b)));
///     sim.at(4.s(), for_a_second(Control::stop_accepting(&b)));
///     // Connections.
///     sim.at(5.s(), for_a_second(Control::silence(both())));
///     sim.at(6.s(), for_a_second(Control::throttle(End::Dialer, both(), 16, 10.ms())));
///     sim.at(7.s(), Control::reset(Connections::all()));
///     sim.at(8.s(), Control::reset_end(End::Acceptor, Connections::one(0)));
///     sim.at(9.s(), Control::reset(Connections::to(&b).dialed_by(&a).port(7)));
/// }
/// # sim_core::sweep::test(&sim_core::Target::new("controls", build), 0..4);
/// ```
#[derive(Clone, Debug)]
pub struct Control {
    pub(crate) action: Action,
    pub(crate) until: Until,
}

impl Control {
    fn new(action: Action) -> Control {
        Control { action, until: Until::TheEnd }
    }

    /// Sets when it ends. A reset is over at once.
    ///
    /// ```
    /// use sim_core::control::{Control, Units, Until};
    /// # use sim_core::Sim;
    /// # fn build(sim: &mut Sim) {
    /// # let db = sim.node("db", |_| std::future::pending::<()>());
    /// let pause = sim.at(1.s(), Control::pause(&db).until(Until::After(2.s())));
    /// sim.client("client", move |_| {
    ///     let pause = pause.clone();
    ///     async move {
    ///         tokio::time::sleep(4.s()).await;
    ///         assert!(!pause.is_active());
    ///     }
    /// });
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    #[must_use]
    pub fn until(mut self, until: Until) -> Control {
        self.until = until;
        self
    }

    /// It in words, with the names of hosts.
    pub(crate) fn describe(&self, network: &Network) -> String {
        let names = |hosts: &Hosts| hosts.describe(network);
        let what = match &self.action {
            Action::Cut { from, to, is_both: true } => {
                format!("partition {} | {}", names(from), names(to))
            }
            Action::Cut { from, to, .. } => format!("cut {} -> {}", names(from), names(to)),
            Action::Hold { on, from, after: 0 } => {
                format!("hold {from:?} of {}", on.describe(network))
            }
            Action::Hold { on, from, after } => {
                format!("hold {from:?} after {after} B of {}", on.describe(network))
            }
            Action::Reset { on, ends } => format!("reset {ends:?} of {}", on.describe(network)),
            Action::Dials { to, dials } => format!("dials to {}: {dials:?}", names(to)),
            Action::StopAccepting { on } => format!("no accept on {}", names(on)),
            Action::Pace { on, from, pace } => {
                let Pace { bytes, every } = pace;
                format!("throttle {from:?} of {} to {bytes} B per {every:?}", on.describe(network))
            }
            Action::Life { on, act } => act.describe(&names(on)),
            Action::Latency { from, to, latency } => {
                format!("latency {} -> {} {latency:?}", names(from), names(to))
            }
        };
        if self.is_moment() { what } else { format!("{what} {:?}", self.until) }
    }

    /// Asserts that every host that it names is of the run, which has so many.
    #[track_caller]
    pub(crate) fn check_hosts(&self, count: usize) {
        let named = match &self.action {
            Action::Cut { from, to, .. } | Action::Latency { from, to, .. } => vec![from, to],
            Action::Dials { to, .. } => vec![to],
            Action::StopAccepting { on } | Action::Life { on, .. } => vec![on],
            Action::Hold { .. } | Action::Reset { .. } | Action::Pace { .. } => Vec::new(),
        };
        for host in named.into_iter().flat_map(|hosts| &hosts.0) {
            assert!(
                (host.0 as usize) < count,
                "{host:?} is no host of this run, which has {count}"
            );
        }
    }

    /// The hosts that it names, and those on the other side where it has two.
    pub(crate) fn sides(&self) -> [Vec<u32>; 2] {
        let numbers = |hosts: Option<&Hosts>| -> Vec<u32> {
            hosts.into_iter().flat_map(|hosts| &hosts.0).map(|host| host.0).collect()
        };
        match &self.action {
            Action::Cut { from, to, .. } | Action::Latency { from, to, .. } => {
                [numbers(Some(from)), numbers(Some(to))]
            }
            Action::Dials { to: on, .. }
            | Action::StopAccepting { on }
            | Action::Life { on, .. } => [numbers(Some(on)), Vec::new()],
            Action::Hold { on, .. } | Action::Reset { on, .. } | Action::Pace { on, .. } => {
                on.sides().map(numbers)
            }
        }
    }

    /// What the history says of it when it begins: a rollout is over at once as a control, and
    /// goes on by itself.
    pub(crate) fn first_phase(&self) -> Phase {
        let is_rollout = matches!(&self.action, Action::Life { act: Act::Rollout(_), .. });
        if self.is_moment() && !is_rollout { Phase::Moment } else { Phase::Begin }
    }

    /// Whether it is over at once.
    pub(crate) fn is_moment(&self) -> bool {
        match &self.action {
            Action::Life { act, .. } => act.is_moment(),
            action => matches!(action, Action::Reset { .. }),
        }
    }
}
