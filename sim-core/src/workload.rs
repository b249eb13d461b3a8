//! The workload: typed operations that clients do to the system, drawn from the source.
//!
//! Every operation has an identity and an outcome. Clients run on hosts of their own, so what they
//! send crosses the network like anything else. Which operation, by which client and when is drawn
//! from the workload lane as the run goes on: an exhausted lane means stop.
//!
//! # Determinism
//! An operation costs a byte that says go on, a byte for its client where there are several, a byte
//! for the pause before it where the swarm has pauses, and the window of its type.
//!
//! # Example
//! ```
//! use arbitrary::Arbitrary;
//! use sim_core::control::Units;
//! use sim_core::workload::{Client, Operation, OperationId, Outcome, WorkloadSpec};
//! use sim_core::{Sim, always};
//! use std::cell::Cell;
//! use std::rc::Rc;
//!
//! #[derive(Arbitrary, Clone, Debug)]
//! enum Op {
//!     Add(u8),
//!     Clear,
//! }
//!
//! /// What a client keeps.
//! struct Counter(Client, Cell<u64>);
//!
//! async fn act(counter: Rc<Counter>, operation: Operation<Op>) -> Outcome {
//!     let OperationId(id) = operation.id;
//!     always!(id > 0, "identities begin with one");
//!     match operation.op {
//!         Op::Add(0) => return Outcome::failed("nothing to add"),
//!         Op::Add(255) => return Outcome::indeterminate("too much to know"),
//!         Op::Add(value) => counter.1.set(counter.1.get() + u64::from(value)),
//!         Op::Clear => counter.1.set(0),
//!     }
//!     Outcome::done().with(format!("client {} has {}", counter.0.index, counter.1.get()))
//! }
//!
//! fn build(sim: &mut Sim) {
//!     let spec = WorkloadSpec::new().clients(1..=2).operations(20).in_flight(3).pause(2.s());
//!     sim.workload(&spec, |client| Counter(client, Cell::new(0)), act);
//! }
//! # sim_core::sweep::test(&sim_core::Target::new("counters", build), 0..10);
//! ```

use crate::driver::LocalFuture;
use crate::history::Ending;
use crate::source::{Choice, Lane, Source};
use crate::tape::SpanKind;
use arbitrary::Arbitrary;
use hostsim::kernel::HostId;
use std::cell::RefCell;
use std::fmt::Debug;
use std::future::Future;
use std::net::IpAddr;
use std::ops::RangeInclusive;
use std::rc::Rc;
use std::time::Duration;

/// The identity of an operation, unique in its run, from one.
///
/// ```
/// use arbitrary::Arbitrary;
/// use sim_core::Sim;
/// use sim_core::workload::{OperationId, Outcome, WorkloadSpec};
/// use std::cell::Cell;
/// use std::rc::Rc;
///
/// #[derive(Arbitrary, Clone, Debug)]
/// struct Get(u8);
///
/// fn build(sim: &mut Sim) {
///     let last = Rc::new(Cell::new(OperationId(0)));
///     sim.workload(&WorkloadSpec::new(), |_| last.clone(), async |last, operation| {
///         let Get(_key) = operation.op;
///         assert!(operation.id > last.replace(operation.id), "they are counted");
///         Outcome::done()
///     });
/// }
/// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OperationId(pub u64);

/// An operation that a client is to do.
///
/// ```
/// use sim_core::workload::{Operation, OperationId};
///
/// let operation = Operation { id: OperationId(3), op: "get" };
/// assert_eq!(format!("{:?}: {}", operation.id, operation.op), "OperationId(3): get");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation<T> {
    /// Its identity.
    pub id: OperationId,
    /// What to do.
    pub op: T,
}

/// How an operation ended, with a word on it for the trace.
///
/// ```
/// use sim_core::workload::Outcome;
/// use std::io;
///
/// let outcome = |result: io::Result<u64>| match result {
///     Ok(count) => Outcome::done().with(format!("{count} bytes")),
///     Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
///         Outcome::failed("nobody listens")
///     }
///     // The request may have been processed, and its reply lost.
///     Err(error) => Outcome::indeterminate(error.to_string()),
/// };
/// assert_eq!(outcome(Ok(5)), Outcome::done().with("5 bytes"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    pub(crate) ending: Ending,
    pub(crate) text: String,
}

impl Outcome {
    /// It was done.
    ///
    /// ```
    /// use sim_core::workload::Outcome;
    ///
    /// assert_ne!(Outcome::done(), Outcome::failed(""));
    /// ```
    pub fn done() -> Outcome {
        Outcome { ending: Ending::Done, text: String::new() }
    }

    /// It was certainly not done.
    ///
    /// ```
    /// use sim_core::workload::Outcome;
    ///
    /// assert_eq!(Outcome::failed("refused"), Outcome::failed("").with("refused"));
    /// ```
    pub fn failed(text: impl Into<String>) -> Outcome {
        Outcome { ending: Ending::Failed, text: text.into() }
    }

    /// It may or may not have been done.
    ///
    /// ```
    /// use sim_core::workload::Outcome;
    ///
    /// assert_ne!(Outcome::indeterminate("no reply"), Outcome::failed("no reply"));
    /// ```
    pub fn indeterminate(text: impl Into<String>) -> Outcome {
        Outcome { ending: Ending::Indeterminate, text: text.into() }
    }

    /// Says more in the trace.
    ///
    /// ```
    /// use sim_core::workload::Outcome;
    ///
    /// assert_ne!(Outcome::done().with("3 items"), Outcome::done());
    /// ```
    pub fn with(mut self, text: impl Into<String>) -> Outcome {
        self.text = text.into();
        self
    }
}

/// A client: where its operations run.
///
/// ```
/// use sim_core::workload::{Client, Operation, Outcome, WorkloadSpec};
/// # use sim_core::Sim;
/// # fn build(sim: &mut Sim) {
/// let spec = WorkloadSpec::new().clients(2..=2);
/// sim.workload(&spec, |client: Client| client, async |client, operation: Operation<u8>| {
///     assert!(client.index < 2, "which of the two does it");
///     Outcome::done().with(format!("{} by {}", operation.op, client.address))
/// });
/// # }
/// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Client {
    /// Which client, from zero.
    pub index: usize,
    /// The address of its host.
    pub address: IpAddr,
}

/// How many clients and operations there may be, and how they may overlap.
///
/// ```
/// use sim_core::workload::{Operation, Outcome, WorkloadSpec};
/// use std::cell::Cell;
/// use std::rc::Rc;
/// # use sim_core::Sim;
/// # fn build(sim: &mut Sim) {
/// let spec = WorkloadSpec::new().clients(1..=1).operations(3).in_flight(1);
/// let count = Rc::new(Cell::new(0));
/// sim.workload(&spec, |_| count.clone(), async |count, _: Operation<u8>| {
///     count.set(count.get() + 1);
///     assert!(count.get() <= 3);
///     Outcome::done()
/// });
/// # }
/// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkloadSpec {
    pub(crate) clients: RangeInclusive<u64>,
    pub(crate) operations_max: u64,
    pub(crate) in_flight_max: u64,
    pub(crate) pause_max: Duration,
}

impl WorkloadSpec {
    /// One to three clients, up to forty operations, up to four at once, pauses up to a second.
    ///
    /// ```
    /// use sim_core::workload::WorkloadSpec;
    ///
    /// assert_eq!(WorkloadSpec::new(), WorkloadSpec::default());
    /// ```
    pub fn new() -> WorkloadSpec {
        WorkloadSpec {
            clients: 1..=3,
            operations_max: 40,
            in_flight_max: 4,
            pause_max: Duration::from_secs(1),
        }
    }

    /// Sets how many clients there may be.
    ///
    /// # Panics
    /// Where the range is empty, begins at zero or ends past 256.
    ///
    /// ```
    /// use sim_core::workload::{Operation, Outcome, WorkloadSpec};
    /// # use sim_core::Sim;
    /// # fn build(sim: &mut Sim) {
    /// let spec = WorkloadSpec::new().clients(2..=4);
    /// sim.workload(&spec, |client| client.index, async |index, _: Operation<u8>| {
    ///     assert!(*index < 4);
    ///     Outcome::done()
    /// });
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    #[track_caller]
    pub fn clients(mut self, clients: RangeInclusive<u64>) -> WorkloadSpec {
        let (min, max) = (*clients.start(), *clients.end());
        assert!(1 <= min && min <= max && max <= 256, "clients are 1..=256, not {min}..={max}");
        self.clients = clients;
        self
    }

    /// Sets how many operations there may be at most.
    ///
    /// ```
    /// use sim_core::workload::{Operation, Outcome, WorkloadSpec};
    /// # use sim_core::Sim;
    /// # fn build(sim: &mut Sim) {
    /// let spec = WorkloadSpec::new().operations(5);
    /// sim.workload(&spec, |_| (), async |_, operation: Operation<u8>| {
    ///     assert!(operation.id.0 <= 5);
    ///     Outcome::done()
    /// });
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    pub fn operations(mut self, max: u64) -> WorkloadSpec {
        self.operations_max = max.min(65_535);
        self
    }

    /// Sets how many operations may be under way at once.
    ///
    /// # Panics
    /// Where it is not in 1..=256.
    ///
    /// ```
    /// use sim_core::workload::{Operation, Outcome, WorkloadSpec};
    /// use std::cell::Cell;
    /// use std::rc::Rc;
    /// # use sim_core::Sim;
    /// # fn build(sim: &mut Sim) {
    /// let busy = Rc::new(Cell::new(false));
    /// let spec = WorkloadSpec::new().in_flight(1);
    /// sim.workload(&spec, |_| busy.clone(), async |busy, _: Operation<u8>| {
    ///     assert!(!busy.replace(true), "one at a time");
    ///     tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    ///     busy.set(false);
    ///     Outcome::done()
    /// });
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    #[track_caller]
    pub fn in_flight(mut self, max: u64) -> WorkloadSpec {
        assert!((1..=256).contains(&max), "operations under way are 1..=256, not {max}");
        self.in_flight_max = max;
        self
    }

    /// Sets the longest pause before an operation.
    ///
    /// ```
    /// use sim_core::control::Units;
    /// use sim_core::workload::{Operation, Outcome, WorkloadSpec};
    /// # use sim_core::Sim;
    /// # fn build(sim: &mut Sim) {
    /// let spec = WorkloadSpec::new().pause(0.s()); // As fast as they come.
    /// sim.workload(&spec, |_| (), async |_, operation: Operation<u8>| {
    ///     Outcome::done().with(operation.op.to_string())
    /// });
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    pub fn pause(mut self, max: Duration) -> WorkloadSpec {
        self.pause_max = max;
        self
    }
}

impl Default for WorkloadSpec {
    fn default() -> WorkloadSpec {
        WorkloadSpec::new()
    }
}

const GO_ON: Choice = Choice::one("go on");
const CLIENT: Choice = Choice::one("client");
const WAIT: Choice = Choice::one("wait");

/// What the swarm made of a workload.
#[derive(Clone, Debug, Default)]
pub(crate) struct Frame {
    pub(crate) clients: Vec<HostId>,
    pub(crate) operations_max: u64,
    pub(crate) in_flight_max: u64,
    pub(crate) pause_max: Duration,
}

/// The pauses that the swarm chooses from, as parts of the longest one; the first is none.
pub(crate) fn pause_of(spec: &WorkloadSpec, level: u64) -> Duration {
    match level {
        0 => Duration::ZERO,
        1 => spec.pause_max / 1000,
        2 => spec.pause_max / 30,
        _ => spec.pause_max,
    }
}

/// The number of levels of [`pause_of`], less one.
pub(crate) const PAUSE_LEVEL_MAX: u64 = 3;

/// The operation that comes next, drawn and not begun.
pub(crate) struct Next {
    pub(crate) id: OperationId,
    pub(crate) host: HostId,
    pub(crate) text: String,
    pub(crate) wait: Duration,
    pub(crate) task: LocalFuture,
}

/// The kind of an operation: the word that its `Debug` text begins with, which of an enum is the
/// name of its variant; empty where there is none.
pub(crate) fn kind_of(text: &str) -> &str {
    let is_in_word = |c: char| c.is_alphanumeric() || c == '_';
    let end = text.find(|c| !is_in_word(c)).unwrap_or(text.len());
    if text.starts_with(|c: char| c.is_ascii_digit()) { "" } else { &text[..end] }
}

/// Operations that ended and were not recorded yet.
pub(crate) type Ended = Rc<RefCell<Vec<(OperationId, Outcome)>>>;

/// A workload, with the types of its operations and clients forgotten.
pub(crate) trait Work {
    /// Draws the next operation; `None` means stop.
    fn next(&mut self, source: &mut Source, frame: &Frame, id: OperationId) -> Option<Next>;
}

/// A workload with its types.
pub(crate) struct Typed<T, S, R> {
    pub(crate) states: Vec<Rc<S>>,
    pub(crate) run: Rc<R>,
    pub(crate) ended: Ended,
    pub(crate) operation: std::marker::PhantomData<T>,
}

impl<T, S, R, F> Work for Typed<T, S, R>
where
    T: for<'a> Arbitrary<'a> + Debug + 'static,
    S: 'static,
    R: Fn(Rc<S>, Operation<T>) -> F + 'static,
    F: Future<Output = Outcome> + 'static,
{
    fn next(&mut self, source: &mut Source, frame: &Frame, id: OperationId) -> Option<Next> {
        if id.0 > frame.operations_max {
            return None;
        }
        source.open(SpanKind::Operation, "operation");
        if source.draw(Lane::Workload, GO_ON, 255) == 0 {
            source.close();
            return None;
        }
        let client = source.below(Lane::Workload, CLIENT, self.states.len() as u64) as usize;
        let wait = match frame.pause_max.is_zero() {
            true => Duration::ZERO,
            false => source.part(Lane::Workload, WAIT, frame.pause_max),
        };
        let op: T = source.arbitrary(Lane::Workload, "op");
        source.close();
        let text = format!("{op:?}");
        let (state, run, ended) = (self.states[client].clone(), self.run.clone(), &self.ended);
        let ended = ended.clone();
        let task = Box::pin(async move {
            let outcome = run(state, Operation { id, op }).await;
            ended.borrow_mut().push((id, outcome));
        });
        Some(Next { id, host: frame.clients[client], text, wait, task })
    }
}

#[cfg(test)]
mod tests {
    use super::kind_of;

    #[test]
    fn the_kind_of_an_operation_is_the_first_word() {
        let kinds = ["Put(3, 4)", "Send { on: 1 }", "Close", "7", "(1, 2)", "\"text\"", ""];
        assert_eq!(kinds.map(kind_of), ["Put", "Send", "Close", "", "", "", ""]);
    }
}
