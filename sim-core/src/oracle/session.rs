//! Session guarantees: what a client may count on from one operation of its own to the next.
//!
//! They are those of Terry and others ("Session guarantees for weakly consistent replicated data",
//! 1994), for systems whose values have versions: any type whose order is that of the writes. What
//! clients owe each other is no part of it; see [`Sequential`](super::Sequential).
//!
//! Invariant: of two operations of a client, the first counts for the second only where it returned
//! before the second was called.

use super::record::{Entry, Recorder};
use super::table::table;
use crate::check::{Checker, Violation};
use std::collections::BTreeMap;
use std::fmt::{self, Debug};
use std::panic::Location;

/// What an operation that was done says of a version.
///
/// ```
/// use sim_core::oracle::Access;
///
/// let read: Access<&str, u64> = Access::Read { key: "k", version: 3 };
/// assert_ne!(read, Access::Wrote { key: "k", version: 3 });
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Access<K, V> {
    /// It read this version of a key.
    Read {
        /// The key.
        key: K,
        /// The version.
        version: V,
    },
    /// It wrote this version of a key.
    Wrote {
        /// The key.
        key: K,
        /// The version.
        version: V,
    },
}

/// A promise to a session.
///
/// ```
/// use sim_core::oracle::Guarantee;
///
/// assert_eq!(Guarantee::ReadYourWrites.to_string(), "read-your-writes");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Guarantee {
    /// A read has the version of every write before it, or a later one.
    ReadYourWrites,
    /// A read has the version of every read before it, or a later one.
    MonotonicReads,
    /// A write has a later version than every write before it.
    MonotonicWrites,
    /// A write has a later version than every read before it.
    WritesFollowReads,
}

impl Guarantee {
    /// Whether the operation before is a write, and whether the one after is.
    fn writes(self) -> (bool, bool) {
        match self {
            Guarantee::ReadYourWrites => (true, false),
            Guarantee::MonotonicReads => (false, false),
            Guarantee::MonotonicWrites => (true, true),
            Guarantee::WritesFollowReads => (false, true),
        }
    }
}

impl fmt::Display for Guarantee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Guarantee::ReadYourWrites => "read-your-writes",
            Guarantee::MonotonicReads => "monotonic reads",
            Guarantee::MonotonicWrites => "monotonic writes",
            Guarantee::WritesFollowReads => "writes follow reads",
        })
    }
}

/// How a session's operations are looked at.
type View<Op, Ret, K, V> = Box<dyn Fn(&Op, &Ret) -> Option<Access<K, V>>>;

/// Judges at the end whether a promise to sessions was kept. A client is a session.
///
/// ```
/// use sim_core::Checker;
/// use sim_core::oracle::{Access, Guarantee, Recorder, Sessions};
///
/// // Operations are keys, results are versions: all of them reads.
/// let record = Recorder::<&str, u64>::new();
/// let view = |key: &&'static str, version: &u64| {
///     Some(Access::Read { key: *key, version: *version })
/// };
/// let mut oracle = Sessions::new(Guarantee::MonotonicReads, &record, view);
/// record.invoke(0, "k").ok(2);
/// record.invoke(1, "k").ok(1); // Another client may be behind,
/// assert!(oracle.end().is_ok());
/// record.invoke(0, "k").ok(1); // the same one may not.
/// assert!(oracle.end().is_err());
/// ```
pub struct Sessions<Op, Ret, K, V> {
    guarantee: Guarantee,
    record: Recorder<Op, Ret>,
    view: View<Op, Ret, K, V>,
    place: &'static Location<'static>,
}

impl<Op, Ret, K, V> Debug for Sessions<Op, Ret, K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Sessions").field(&self.guarantee).finish()
    }
}

impl<Op, Ret, K: Clone + Ord + Debug, V: Clone + Ord> Sessions<Op, Ret, K, V> {
    /// Judges a record; `view` says what an operation with its result tells of a version.
    ///
    /// ```
    /// use sim_core::Checker;
    /// use sim_core::oracle::{Access, Guarantee, Recorder, Sessions};
    ///
    /// // Every operation writes the version that it returns.
    /// let record = Recorder::<&str, u64>::new();
    /// let view = |key: &&'static str, version: &u64| {
    ///     Some(Access::Wrote { key: *key, version: *version })
    /// };
    /// let mut oracle = Sessions::new(Guarantee::MonotonicWrites, &record, view);
    /// record.invoke(0, "k").ok(2);
    /// record.invoke(0, "k").ok(1);
    /// assert!(oracle.end().is_err());
    /// ```
    #[track_caller]
    pub fn new(
        guarantee: Guarantee,
        record: &Recorder<Op, Ret>,
        view: impl Fn(&Op, &Ret) -> Option<Access<K, V>> + 'static,
    ) -> Sessions<Op, Ret, K, V> {
        let place = Location::caller();
        Sessions { guarantee, record: record.clone(), view: Box::new(view), place }
    }

    /// What an entry tells: whether it wrote, the key, and the version.
    fn access(&self, entry: &Entry<Op, Ret>) -> Option<(bool, K, V)> {
        Some(match (self.view)(&entry.op, entry.ret()?)? {
            Access::Read { key, version } => (false, key, version),
            Access::Wrote { key, version } => (true, key, version),
        })
    }

    /// Two operations of one session that contradict each other, and their key.
    fn contradiction(&self, record: &[Entry<Op, Ret>]) -> Option<(usize, usize, K)> {
        let (is_first_write, is_second_write) = self.guarantee.writes();
        let mut moments: Vec<(u64, usize)> = Vec::new();
        for (index, entry) in record.iter().enumerate() {
            let Some(done_by) = entry.done_by() else { continue };
            moments.extend([(entry.invoked.index, index), (done_by, index)]);
        }
        moments.sort_unstable();
        // The latest version that a session knows of a key, and of which operation.
        let mut known = BTreeMap::<(usize, K), (V, usize)>::new();
        for (moment, index) in moments {
            let entry = &record[index];
            let Some((is_write, key, version)) = self.access(entry) else { continue };
            let before = known.get(&(entry.client, key.clone()));
            let is_call = moment == entry.invoked.index;
            if is_call && is_write == is_second_write {
                let broken = before.filter(|(before, _)| match is_write {
                    true => version <= *before,
                    false => version < *before,
                });
                if let Some((_, first)) = broken {
                    return Some((*first, index, key));
                }
            } else if !is_call && is_write == is_first_write {
                let is_later = before.is_none_or(|(before, _)| version > *before);
                if is_later {
                    known.insert((entry.client, key), (version, index));
                }
            }
        }
        None
    }
}

impl<Op: Debug, Ret: Debug, K: Clone + Ord + Debug, V: Clone + Ord> Checker
    for Sessions<Op, Ret, K, V>
{
    fn end(&mut self) -> Result<(), Violation> {
        let record = self.record.entries();
        let Some((first, second, key)) = self.contradiction(&record) else { return Ok(()) };
        let (name, client) = (self.guarantee, self.record.named(record[second].client));
        let text = format!("not {name}: client {client} went back to an older version of {key:?}");
        let lines = table(&self.record, [&record[first], &record[second]]);
        Err(Violation::at(self.place, &name.to_string(), text).with(lines))
    }
}
