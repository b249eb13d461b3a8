//! The record of what clients asked for and what came of it.
//!
//! It judges nothing. Its order is that of the calls into it, which is the order in which a run,
//! having one thread, did them; times are kept for the eye only.
//!
//! Invariants: entries are in the order of their calls; a return is after its call; an entry ends
//! once at most.

use crate::workload;
use hostsim::seam;
use std::cell::{Ref, RefCell};
use std::collections::BTreeMap;
use std::fmt::{self, Debug};
use std::io;
use std::rc::Rc;
use std::time::Duration;

/// What came of an operation: [`workload::Outcome`] with its result.
///
/// ```
/// use sim_core::oracle::{Outcome, Struck};
///
/// assert_eq!(Outcome::<u8>::of_io(Struck::Before), Outcome::Failed);
/// assert_eq!(Outcome::<u8>::of_io(Struck::After), Outcome::Indeterminate);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome<Ret> {
    /// It was done, and this is what it returned.
    Ok(Ret),
    /// It was certainly not done, and never will be.
    Failed,
    /// It may or may not have been done, and may yet be.
    Indeterminate,
}

impl<Ret> Outcome<Ret> {
    /// What an error makes of an operation, by where it struck.
    ///
    /// ```
    /// use sim_core::oracle::{Outcome, Struck};
    ///
    /// let never_sent = Outcome::<u8>::of_io(Struck::Before);
    /// assert_eq!(never_sent, Outcome::Failed);
    /// ```
    pub fn of_io(struck: Struck) -> Outcome<Ret> {
        match struck {
            Struck::Before => Outcome::Failed,
            Struck::After => Outcome::Indeterminate,
        }
    }
}

/// What the workload is told, with the result as its word on it.
///
/// ```
/// use sim_core::{oracle, workload};
///
/// let outcome = oracle::Outcome::Ok(7);
/// assert_eq!(workload::Outcome::from(&outcome), workload::Outcome::done().with("7"));
/// ```
impl<Ret: Debug> From<&Outcome<Ret>> for workload::Outcome {
    fn from(outcome: &Outcome<Ret>) -> workload::Outcome {
        match outcome {
            Outcome::Ok(ret) => workload::Outcome::done().with(format!("{ret:?}")),
            Outcome::Failed => workload::Outcome::failed(""),
            Outcome::Indeterminate => workload::Outcome::indeterminate(""),
        }
    }
}

/// Where in an operation an error struck.
///
/// ```
/// use sim_core::oracle::{Recorder, Struck};
/// use std::io;
/// use tokio::io::{AsyncReadExt, AsyncWriteExt};
/// use tokio::net::TcpStream;
///
/// async fn dialed(to: &str) -> Result<u8, (Struck, io::Error)> {
///     let mut stream = TcpStream::connect(to).await.map_err(|error| (Struck::Before, error))?;
///     // A write that failed may have sent a part, and the system may have taken that for all.
///     stream.write_all(b"get\n").await.map_err(|error| (Struck::After, error))?;
///     stream.read_u8().await.map_err(|error| (Struck::After, error))
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Struck {
    /// Before a byte of it was given to a socket: looking for the name, dialing, waiting for a
    /// connection of a pool.
    Before,
    /// At the first write or later, whatever the error is.
    After,
}

/// A place in the order of a record.
///
/// ```
/// use sim_core::oracle::Recorder;
///
/// let record = Recorder::<&str, ()>::new();
/// record.invoke(0, "first").ok(());
/// record.invoke(0, "second").ok(());
/// let entries = record.entries();
/// assert!(entries[0].returned < Some(entries[1].invoked));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stamp {
    /// How many calls and returns came before. Only this decides.
    pub index: u64,
    /// The virtual time of the run; none outside of runs.
    pub time: Option<Duration>,
}

impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.index)?;
        match self.time {
            Some(time) => write!(f, " at {}.{:09}", time.as_secs(), time.subsec_nanos()),
            None => Ok(()),
        }
    }
}

/// An operation of a record.
///
/// ```
/// use sim_core::oracle::{Outcome, Recorder};
///
/// let record = Recorder::<&str, u8>::new();
/// let open = record.invoke(3, "get");
/// assert_eq!(record.entries()[0].client, 3);
/// assert_eq!(record.entries()[0].outcome, Outcome::Indeterminate);
/// open.ok(5);
/// assert_eq!(record.entries()[0].outcome, Outcome::Ok(5));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry<Op, Ret> {
    /// Who asked.
    pub client: usize,
    /// For what.
    pub op: Op,
    /// What came of it; indeterminate while nothing has.
    pub outcome: Outcome<Ret>,
    /// When it was called.
    pub invoked: Stamp,
    /// When that was known; none where it never was.
    pub returned: Option<Stamp>,
}

impl<Op, Ret> Entry<Op, Ret> {
    /// The index of its return, where it certainly was done by then.
    pub(super) fn done_by(&self) -> Option<u64> {
        match self.outcome {
            Outcome::Ok(_) => self.returned.map(|stamp| stamp.index),
            Outcome::Failed | Outcome::Indeterminate => None,
        }
    }

    /// Its result, where it was done.
    pub(super) fn ret(&self) -> Option<&Ret> {
        match &self.outcome {
            Outcome::Ok(ret) => Some(ret),
            Outcome::Failed | Outcome::Indeterminate => None,
        }
    }
}

/// A record of operations; clones share it.
///
/// ```
/// use sim_core::Checker;
/// use sim_core::oracle::{Linearizable, Recorder, Register, RegisterOp, RegisterRet};
///
/// let record = Recorder::new();
/// let mut oracle = Linearizable::new(Register::new(0), &record); // `sim.check(oracle)` in a test
/// let call = record.invoke(0, RegisterOp::Write(1));
/// // The system is asked here.
/// call.ok(RegisterRet::Written);
/// record.invoke(1, RegisterOp::Read).ok(RegisterRet::Value(1));
/// assert!(oracle.end().is_ok());
/// ```
#[derive(Debug)]
pub struct Recorder<Op, Ret>(Rc<RefCell<Record<Op, Ret>>>);

#[derive(Debug)]
struct Record<Op, Ret> {
    entries: Vec<Entry<Op, Ret>>,
    next: u64,
    /// The clients that have a name.
    names: BTreeMap<usize, &'static str>,
}

impl<Op, Ret> Record<Op, Ret> {
    fn stamp(&mut self) -> Stamp {
        let index = self.next;
        self.next += 1;
        Stamp { index, time: seam::current().map(|world| world.now().elapsed()) }
    }
}

impl<Op, Ret> Clone for Recorder<Op, Ret> {
    fn clone(&self) -> Recorder<Op, Ret> {
        Recorder(self.0.clone())
    }
}

impl<Op, Ret> Default for Recorder<Op, Ret> {
    fn default() -> Recorder<Op, Ret> {
        Recorder::new()
    }
}

impl<Op, Ret> Recorder<Op, Ret> {
    /// An empty record.
    ///
    /// ```
    /// use sim_core::oracle::Recorder;
    ///
    /// let record = Recorder::<&str, u8>::new();
    /// assert!(record.entries().is_empty());
    /// ```
    pub fn new() -> Recorder<Op, Ret> {
        let record = Record { entries: Vec::new(), next: 0, names: BTreeMap::new() };
        Recorder(Rc::new(RefCell::new(record)))
    }

    /// Names a client: reports show the name in place of its number.
    ///
    /// ```
    /// use sim_core::Checker;
    /// use sim_core::oracle::{Linearizable, Recorder, Register, RegisterOp, RegisterRet};
    ///
    /// let record = Recorder::new();
    /// record.name(9, "auditor");
    /// record.invoke(9, RegisterOp::Read).ok(RegisterRet::Value(7));
    /// let violation = Linearizable::new(Register::new(0), &record).end().unwrap_err();
    /// assert!(violation.failure().details[1].starts_with("auditor  Read "));
    /// ```
    pub fn name(&self, client: usize, name: &'static str) {
        self.0.borrow_mut().names.insert(client, name);
    }

    /// A client in words.
    pub(super) fn named(&self, client: usize) -> String {
        let name = self.0.borrow().names.get(&client).copied();
        name.map_or_else(|| client.to_string(), str::to_owned)
    }

    /// An operation begins: call this before anything of it may have an effect.
    ///
    /// ```
    /// use sim_core::oracle::Recorder;
    ///
    /// let record = Recorder::<&str, u8>::new();
    /// let call = record.invoke(3, "get");
    /// call.ok(5);
    /// assert_eq!((record.entries()[0].client, record.entries()[0].op), (3, "get"));
    /// ```
    pub fn invoke(&self, client: usize, op: Op) -> Call<Op, Ret> {
        let mut record = self.0.borrow_mut();
        let invoked = record.stamp();
        let outcome = Outcome::Indeterminate;
        record.entries.push(Entry { client, op, outcome, invoked, returned: None });
        Call { record: self.clone(), index: record.entries.len() - 1 }
    }

    /// The operations so far, in the order of their calls.
    ///
    /// ```
    /// use sim_core::oracle::Recorder;
    ///
    /// let record = Recorder::<&str, u8>::new();
    /// record.invoke(0, "get").ok(5);
    /// record.invoke(0, "put").failed();
    /// assert_eq!(record.entries().len(), 2);
    /// ```
    pub fn entries(&self) -> Ref<'_, [Entry<Op, Ret>]> {
        Ref::map(self.0.borrow(), |record| &record.entries[..])
    }
}

/// An operation under way. One that is dropped, or open at the end, is indeterminate.
///
/// ```
/// use sim_core::oracle::{Outcome, Recorder};
///
/// let record = Recorder::<&str, ()>::new();
/// record.invoke(0, "refused").failed();
/// record.invoke(0, "timed out").indeterminate();
/// drop(record.invoke(0, "crashed"));
/// let outcomes: Vec<_> = record.entries().iter().map(|entry| entry.outcome.clone()).collect();
/// assert_eq!(outcomes, [Outcome::Failed, Outcome::Indeterminate, Outcome::Indeterminate]);
/// ```
#[derive(Debug)]
#[must_use = "a call that is dropped is indeterminate"]
pub struct Call<Op, Ret> {
    record: Recorder<Op, Ret>,
    index: usize,
}

impl<Op, Ret> Call<Op, Ret> {
    /// It was done and returned this.
    ///
    /// ```
    /// use sim_core::oracle::{Outcome, Recorder};
    ///
    /// let record = Recorder::<&str, u8>::new();
    /// record.invoke(0, "get").ok(5);
    /// assert_eq!(record.entries()[0].outcome, Outcome::Ok(5));
    /// ```
    pub fn ok(self, ret: Ret) {
        self.end(Outcome::Ok(ret));
    }

    /// It was certainly not done.
    ///
    /// ```
    /// use sim_core::oracle::{Outcome, Recorder};
    ///
    /// let record = Recorder::<&str, u8>::new();
    /// record.invoke(0, "put").failed();
    /// assert_eq!(record.entries()[0].outcome, Outcome::Failed);
    /// ```
    pub fn failed(self) {
        self.end(Outcome::Failed);
    }

    /// It may or may not have been done.
    ///
    /// ```
    /// use sim_core::oracle::{Outcome, Recorder};
    ///
    /// let record = Recorder::<&str, u8>::new();
    /// record.invoke(0, "put").indeterminate();
    /// assert_eq!(record.entries()[0].outcome, Outcome::Indeterminate);
    /// ```
    pub fn indeterminate(self) {
        self.end(Outcome::Indeterminate);
    }

    /// It ended so.
    ///
    /// ```
    /// use sim_core::oracle::{Outcome, Recorder};
    ///
    /// let record = Recorder::<&str, u8>::new();
    /// record.invoke(0, "get").end(Outcome::Ok(7));
    /// assert_eq!(record.entries()[0].outcome, Outcome::Ok(7));
    /// ```
    pub fn end(self, outcome: Outcome<Ret>) {
        let mut record = self.record.0.borrow_mut();
        let returned = record.stamp();
        let entry = &mut record.entries[self.index];
        (entry.outcome, entry.returned) = (outcome, Some(returned));
    }

    /// It ended with an error; gives what the workload is told.
    ///
    /// ```
    /// use sim_core::oracle::{Recorder, Struck};
    /// use sim_core::workload::Outcome;
    /// use std::io;
    ///
    /// let record = Recorder::<&str, ()>::new();
    /// let call = record.invoke(0, "get");
    /// let error = io::Error::from(io::ErrorKind::ConnectionReset);
    /// assert_eq!(call.io_error(Struck::After, &error), Outcome::indeterminate("connection reset"));
    /// ```
    pub fn io_error(self, struck: Struck, error: &io::Error) -> workload::Outcome {
        let outcome = Outcome::of_io(struck);
        let told = match struck {
            Struck::Before => workload::Outcome::failed(error.to_string()),
            Struck::After => workload::Outcome::indeterminate(error.to_string()),
        };
        self.end(outcome);
        told
    }
}
