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
mod heal;
mod life;
mod select;
mod turn;

pub use drawn::{FaultKind, FaultSpec};
pub use life::Skew;
pub use select::{Connections, Hosts};

pub(crate) use active::Active;
pub(crate) use drawn::{Drawn, NextFault};
pub(crate) use life::{Act, Order};
pub(crate) use turn::fault_key;

use crate::history::Phase;
use hostsim::clock::Instant;
use hostsim::network::{Dials, Network, Pace};
use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::Rc;
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
    fn s(self) -> Duration;
    /// So many milliseconds.
    fn ms(self) -> Duration;
    /// So many microseconds.
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The one that dialed: what it sends are requests, mostly.
    Dialer,
    /// The one that accepted: what it sends are replies, mostly.
    Acceptor,
}

/// What a predicate looks at.
pub struct Look<'a> {
    /// The moment it is.
    pub now: Instant,
    /// The network: its hosts and connections.
    pub network: &'a Network,
}

/// When a control ends.
///
/// ```
/// # use sim_core::Sim;
/// use sim_core::control::{Connections, Control, End, Look, Units, Until};
///
/// # fn build(sim: &mut Sim) {
/// let server = sim.node("server", |_| async {});
/// let replies = || Control::hold(End::Acceptor, Connections::to(&server));
/// sim.at(1.s(), replies().until(Until::Bytes(16)));
/// sim.at(2.s(), replies().until(Until::GivenUp));
/// let is_late = |look: &Look<'_>| look.now.elapsed() > 9.s() && look.network.hosts().count() > 0;
/// sim.at(3.s(), replies().until(Until::when(is_late)));
/// # }
/// # sim_core::sweep::test(&sim_core::Target::new("until", build), 0..4);
/// ```
#[derive(Clone)]
pub enum Until {
    /// With the run.
    TheEnd,
    /// So long after its beginning.
    After(Duration),
    /// Once the ends whose bytes are held have so many bytes in sum that are not acknowledged. For
    /// controls that hold bytes; others have none.
    Bytes(usize),
    /// Once a predicate holds; it is asked after each event.
    When(Rc<dyn Fn(&Look<'_>) -> bool>),
    /// Once every end that it holds has given up: bytes that nobody
    /// acknowledges are given up after 924.6 seconds where no option says less (`tcp_retries2`). For
    /// controls that hold bytes; any other does not end by it.
    GivenUp,
    /// Once its [`Handle`] is released.
    Released,
}

impl Until {
    /// Once a predicate holds.
    pub fn when(predicate: impl Fn(&Look<'_>) -> bool + 'static) -> Until {
        Until::When(Rc::new(predicate))
    }
}

impl fmt::Debug for Until {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Until::TheEnd => f.write_str("until the end"),
            Until::After(time) => write!(f, "for {time:?}"),
            Until::Bytes(bytes) => write!(f, "until {bytes} B wait"),
            Until::When(_) => f.write_str("until a predicate holds"),
            Until::GivenUp => f.write_str("until given up"),
            Until::Released => f.write_str("until released"),
        }
    }
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

    /// Nothing passes between two sets of hosts, either way: bytes wait and are sent again with
    /// growing waits (RFC 6298, 5.5; rows F05, F06, F19), dials send their SYN again (F01), and
    /// who waits for too long is told `ETIMEDOUT` (F02, F11, F12).
    pub fn partition(some: impl Into<Hosts>, others: impl Into<Hosts>) -> Control {
        Control::new(Action::Cut { from: some.into(), to: others.into(), is_both: true })
    }

    /// Nothing passes from some hosts to others; the way back is open (rows F08, F09).
    pub fn one_way(from: impl Into<Hosts>, to: impl Into<Hosts>) -> Control {
        Control::new(Action::Cut { from: from.into(), to: to.into(), is_both: false })
    }

    /// What an end of the connections sends waits, as where a firewall forgot one direction of a
    /// flow; a handshake is let through. Connections that are dialed later are held too. Facts as
    /// for a partition.
    pub fn hold(from: End, on: Connections) -> Control {
        Control::new(Action::Hold { on, from: from.alone(), after: 0 })
    }

    /// Replies wait: "the request was processed and the reply was lost" (rows F08, F09).
    pub fn hold_replies(on: Connections) -> Control {
        Control::hold(End::Acceptor, on)
    }

    /// The connections are silent: they stand, and nothing passes either way (rows F05, F13).
    pub fn silence(on: Connections) -> Control {
        Control::new(Action::Hold { on, from: &End::BOTH, after: 0 })
    }

    /// Lets so many bytes of a held direction arrive first, counted from the beginning of the
    /// control, or of the connection where that is later.
    #[must_use]
    pub fn after_bytes(mut self, bytes: u64) -> Control {
        if let Action::Hold { after, .. } = &mut self.action {
            *after = bytes;
        }
        self
    }

    /// Resets both ends of the connections that stand then, as a box on the way that lost its
    /// table (RFC 9293, 3.10.7.4; rows B16, B18).
    pub fn reset(on: Connections) -> Control {
        Control::new(Action::Reset { on, ends: &End::BOTH })
    }

    /// Resets one end; the other learns of it when it sends (row F18).
    pub fn reset_end(end: End, on: Connections) -> Control {
        Control::new(Action::Reset { on, ends: end.alone() })
    }

    /// Dials to the hosts are refused, as by a firewall that rejects (row A01).
    pub fn refuse(to: impl Into<Hosts>) -> Control {
        Control::new(Action::Dials { to: to.into(), dials: Dials::Refused })
    }

    /// Dials to the hosts vanish: each SYN is sent again after 1, 3, 7, … seconds (rows F01, F02).
    pub fn black_hole(to: impl Into<Hosts>) -> Control {
        Control::new(Action::Dials { to: to.into(), dials: Dials::Dropped })
    }

    /// Programs of the hosts are late to accept: dials succeed until the backlog is full (rows A06,
    /// A08, A09).
    pub fn stop_accepting(on: impl Into<Hosts>) -> Control {
        Control::new(Action::StopAccepting { on: on.into() })
    }

    /// What an end of the connections sends arrives at so many bytes each so often, as where its
    /// peer is slow to read (rows D05, D13).
    pub fn throttle(from: End, on: Connections, bytes: u32, every: Duration) -> Control {
        Control::new(Action::Pace { on, from, pace: Pace { bytes, every } })
    }

    /// Segments take so long from some hosts to others.
    pub fn latency(from: impl Into<Hosts>, to: impl Into<Hosts>, latency: Duration) -> Control {
        Control::new(Action::Latency { from: from.into(), to: to.into(), latency })
    }

    /// Sets when it ends. A reset is over at once.
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

/// A control that was given to a run.
#[derive(Clone, Debug, Default)]
pub struct Handle {
    is_released: Rc<Cell<bool>>,
    is_active: Rc<Cell<bool>>,
}

impl Handle {
    /// Ends the control, whatever it was to wait for; one that has not begun never does.
    pub fn release(&self) {
        self.is_released.set(true);
    }

    /// Whether the control is in force.
    pub fn is_active(&self) -> bool {
        self.is_active.get()
    }

    pub(crate) fn is_released(&self) -> bool {
        self.is_released.get()
    }

    pub(crate) fn set_active(&self, is_active: bool) {
        self.is_active.set(is_active);
    }
}

/// Gives controls from inside a run: from operations, checkers and nodes.
///
/// ```
/// # use sim_core::Sim;
/// use sim_core::control::{Control, Controls, Handle, Units};
///
/// # fn build(sim: &mut Sim) {
/// let db = sim.node("db", |_| std::future::pending::<()>());
/// let controls: Controls = sim.controls();
/// sim.client("operator", move |_| {
///     let (db, controls) = (db.clone(), controls.clone());
///     async move {
///         let isolated: Handle = controls.apply(Control::refuse(&db));
///         tokio::time::sleep(1.s()).await;
///         assert!(isolated.is_active());
///         isolated.release();
///     }
/// });
/// # }
/// # sim_core::sweep::test(&sim_core::Target::new("operator", build), 0..4);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Controls(Rc<RefCell<Vec<(Control, Handle)>>>);

impl Controls {
    /// Puts a control in force once every machine is idle, before the next event.
    ///
    /// What the destructors of a process that is over ask for does not come.
    ///
    /// # Panics
    /// Where it is about a host that is not of the run.
    #[track_caller]
    pub fn apply(&self, control: Control) -> Handle {
        let handle = Handle::default();
        let world = hostsim::seam::current();
        if world.as_ref().is_some_and(|world| world.is_over()) {
            return handle;
        }
        if let Some(world) = world {
            let count = world.network().hosts().count();
            control.check_hosts(count);
        }
        self.0.borrow_mut().push((control, handle.clone()));
        handle
    }

    pub(crate) fn take_all(&self) -> Vec<(Control, Handle)> {
        std::mem::take(&mut self.0.borrow_mut())
    }
}
