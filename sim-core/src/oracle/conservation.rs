//! Conservation: whether a total stays, whatever is moved below it.
//!
//! What is moved is not looked at: a transfer changes no total. What comes in and goes out may be
//! said, and then the total has to follow.
//!
//! Invariant: a sum that was read is right where some choice of the changes that may or may not have
//! been in it explains it.

use super::record::{Entry, Outcome, Recorder};
use super::table::table;
use crate::check::{Checker, Violation};
use std::collections::BTreeSet;
use std::fmt::{self, Debug};
use std::panic::Location;

/// How many totals are looked at, at most, that a sum might be.
const TOTALS_MAX: usize = 100_000;

/// What an operation tells of the total.
///
/// ```
/// use sim_core::oracle::Sum;
///
/// let all = [("alice", 30), ("bob", 70)];
/// assert_eq!(Sum::Read(all.iter().map(|(_, balance)| balance).sum()), Sum::Read(100));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sum {
    /// It read everything at one moment, and this is the sum.
    Read(i128),
    /// It adds this to the total where it is done, or takes it away.
    Change(i128),
}

/// How an operation is looked at, with its result where it has one.
type View<Op, Ret> = Box<dyn Fn(&Op, Option<&Ret>) -> Option<Sum>>;

/// Judges at the end whether every sum that was read is the total: what was there at the start, and
/// each change before it; and of changes that were under way, or are indeterminate, any.
///
/// ```
/// use sim_core::Checker;
/// use sim_core::oracle::{Conservation, Recorder, Sum};
///
/// /// Operations are deposits, and none is a look at all accounts, which returns their sum.
/// let record = Recorder::<Option<i128>, i128>::new();
/// let view = |op: &Option<i128>, ret: Option<&i128>| match op {
///     Some(amount) => Some(Sum::Change(*amount)),
///     None => ret.map(|sum| Sum::Read(*sum)),
/// };
/// let mut oracle = Conservation::new(100, &record, view);
/// record.invoke(0, Some(5)).indeterminate();
/// record.invoke(1, None).ok(100);
/// record.invoke(1, None).ok(105);
/// assert!(oracle.end().is_ok());
/// record.invoke(1, None).ok(95);
/// assert!(oracle.end().is_err());
/// ```
pub struct Conservation<Op, Ret> {
    total: i128,
    record: Recorder<Op, Ret>,
    view: View<Op, Ret>,
    place: &'static Location<'static>,
}

impl<Op, Ret> Debug for Conservation<Op, Ret> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Conservation").field("total", &self.total).finish_non_exhaustive()
    }
}

impl<Op: Debug, Ret: Debug> Conservation<Op, Ret> {
    /// Judges a record that begins with a total; `view` says what an operation tells of it. Without
    /// a result it is of an operation that may or may not have been done.
    ///
    /// ```
    /// use sim_core::Checker;
    /// use sim_core::oracle::{Conservation, Recorder, Sum};
    ///
    /// // Every operation reads the sum of all accounts.
    /// let record = Recorder::<(), i128>::new();
    /// let mut oracle = Conservation::new(100, &record, |_, sum| sum.map(|sum| Sum::Read(*sum)));
    /// record.invoke(0, ()).ok(100);
    /// assert!(oracle.end().is_ok());
    /// ```
    #[track_caller]
    pub fn new(
        total: i128,
        record: &Recorder<Op, Ret>,
        view: impl Fn(&Op, Option<&Ret>) -> Option<Sum> + 'static,
    ) -> Conservation<Op, Ret> {
        let place = Location::caller();
        Conservation { total, record: record.clone(), view: Box::new(view), place }
    }

    fn sum(&self, entry: &Entry<Op, Ret>) -> Option<Sum> {
        match entry.outcome {
            Outcome::Failed => None,
            Outcome::Ok(_) | Outcome::Indeterminate => (self.view)(&entry.op, entry.ret()),
        }
    }

    /// What a sum may be that was read from one moment to another, as long as that are not too many.
    fn totals(&self, record: &[Entry<Op, Ret>], from: u64, to: u64) -> Option<BTreeSet<i128>> {
        let mut certain = self.total;
        let mut open = Vec::new();
        for entry in record.iter().take_while(|entry| entry.invoked.index < to) {
            let Some(Sum::Change(amount)) = self.sum(entry) else { continue };
            match entry.done_by() {
                Some(by) if by < from => certain += amount,
                _ => open.push(amount),
            }
        }
        let mut totals = BTreeSet::from([certain]);
        for amount in open {
            let with: Vec<i128> = totals.iter().map(|total| total + amount).collect();
            totals.extend(with);
            if totals.len() > TOTALS_MAX {
                return None;
            }
        }
        Some(totals)
    }

    /// Judges a sum that was read; `before` is the last one that was right.
    fn judge(
        &self,
        record: &[Entry<Op, Ret>],
        (before, index, sum): (Option<usize>, usize, i128),
    ) -> Result<(), Violation> {
        let entry = &record[index];
        let Some(by) = entry.done_by() else { return Ok(()) };
        let Some(totals) = self.totals(record, entry.invoked.index, by) else {
            let text = format!("the total may be one of more than {TOTALS_MAX}");
            return Err(Violation::at(self.place, "total", text).into_inconclusive());
        };
        if totals.contains(&sum) {
            return Ok(());
        }
        let all: Vec<String> = totals.iter().take(4).map(i128::to_string).collect();
        let more = if totals.len() > all.len() { ", …" } else { "" };
        let text = format!("the total is {}{more}, and {sum} was read", all.join(" or "));
        let shown = before.into_iter().chain([index]).map(|index| &record[index]);
        Err(Violation::at(self.place, "total", text).with(table(&self.record, shown)))
    }
}

impl<Op: Debug, Ret: Debug> Checker for Conservation<Op, Ret> {
    fn end(&mut self) -> Result<(), Violation> {
        let record = self.record.entries();
        let mut before = None;
        for (index, entry) in record.iter().enumerate() {
            if let Some(Sum::Read(sum)) = self.sum(entry) {
                self.judge(&record, (before, index, sum))?;
                before = Some(index);
            }
        }
        Ok(())
    }
}
