//! Linearizability and sequential consistency: whether a record has an order that a model allows.
//!
//! Linearizability is local: a record has it where the operations of each key have it alone (Herlihy
//! and Wing, 1990), so keys are judged apart. Sequential consistency is not: all keys have to agree
//! on one order of each client's operations, and the search is of all of them together.
//!
//! Invariants: a failed operation is not in the order; an indeterminate one may be, anywhere after
//! its call; a verdict is never a guess.

use super::minimal::smallest;
use super::model::Model;
use super::record::{Entry, Outcome, Recorder};
use super::search::{Found, Item, search};
use super::table::table;
use crate::check::{Checker, Violation};
use std::collections::{BTreeMap, BTreeSet};
use std::panic::Location;

/// How many steps a search takes at most, where the test does not say.
const STEPS_MAX: u64 = 1_000_000;

/// How many steps each search takes at most that looks for a smaller set. It may give up: then the
/// operation that it was about stays in the set.
const STEPS_MAX_SMALLER: u64 = 10_000;

/// Whether a record can be ordered.
///
/// ```
/// use sim_core::oracle::{Linearizable, Recorder, Register, RegisterOp, RegisterRet, Verdict};
///
/// let record = Recorder::new();
/// for value in 0..6 {
///     drop(record.invoke(value, RegisterOp::Write(value)));
/// }
/// record.invoke(9, RegisterOp::Read).ok(RegisterRet::Value(7));
/// let oracle = Linearizable::new(Register::new(0), &record);
/// assert_eq!(oracle.verdict(), Verdict::Unordered { smallest: vec![6] });
/// // Nobody can know that within a step.
/// assert_eq!(oracle.steps(1).verdict(), Verdict::Inconclusive);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// There is an order that explains every result.
    Ordered,
    /// There is none.
    Unordered {
        /// Operations that already cannot be ordered, whatever the others did: their indexes in the
        /// record. None of them can be left out, as far as the steps sufficed.
        smallest: Vec<usize>,
    },
    /// The steps did not suffice to tell.
    Inconclusive,
}

/// Judges at the end whether a record is linearizable: as if each operation had been done at one
/// moment between its call and its return, for each key of the model alone.
///
/// ```
/// use sim_core::Checker;
/// use sim_core::oracle::{Linearizable, Recorder, Register, RegisterOp, RegisterRet};
///
/// let record = Recorder::new();
/// record.invoke(0, RegisterOp::Write(1)).ok(RegisterRet::Written);
/// let late = record.invoke(0, RegisterOp::Write(2));
/// record.invoke(1, RegisterOp::Read).ok(RegisterRet::Value(2)); // It was done already,
/// record.invoke(2, RegisterOp::Read).ok(RegisterRet::Value(1)); // so this is stale.
/// late.ok(RegisterRet::Written);
/// assert!(Linearizable::new(Register::new(0), &record).end().is_err());
/// ```
#[derive(Debug)]
pub struct Linearizable<M: Model>(Judge<M>);

impl<M: Model> Linearizable<M> {
    /// Judges a record by a model; each key begins with this state.
    ///
    /// ```
    /// use sim_core::Checker;
    /// use sim_core::oracle::{Linearizable, Recorder, Register, RegisterOp, RegisterRet};
    ///
    /// let record = Recorder::new();
    /// record.invoke(0, RegisterOp::Read).ok(RegisterRet::Value(0));
    /// assert!(Linearizable::new(Register::new(0), &record).end().is_ok());
    /// assert!(Linearizable::new(Register::new(1), &record).end().is_err(), "it began with another");
    /// ```
    #[track_caller]
    pub fn new(model: M, record: &Recorder<M::Op, M::Ret>) -> Linearizable<M> {
        Linearizable(Judge::new(model, record))
    }

    /// Sets how many steps the search takes for each key at most; past them the run is
    /// inconclusive. It is a million where this is not called.
    ///
    /// ```
    /// use sim_core::oracle::{Linearizable, Recorder, Register, RegisterOp, Verdict};
    ///
    /// let record = Recorder::new();
    /// (0..20).for_each(|value| drop(record.invoke(0, RegisterOp::Write(value))));
    /// let oracle = Linearizable::new(Register::new(0), &record).steps(10_000);
    /// assert_eq!(oracle.verdict(), Verdict::Ordered);
    /// ```
    pub fn steps(mut self, max: u64) -> Linearizable<M> {
        self.0.steps_max = max;
        self
    }

    /// What the record is so far. Of several keys the first that cannot be ordered tells.
    ///
    /// ```
    /// use sim_core::oracle::{Linearizable, Recorder, Register, RegisterOp, RegisterRet, Verdict};
    ///
    /// let record = Recorder::new();
    /// record.invoke(0, RegisterOp::Read).ok(RegisterRet::Value(7));
    /// let oracle = Linearizable::new(Register::new(0), &record);
    /// assert_eq!(oracle.verdict(), Verdict::Unordered { smallest: vec![0] });
    /// ```
    pub fn verdict(&self) -> Verdict {
        let record = self.0.record.entries();
        let verdicts = self.0.by_key(&record, |_| 0).map(|key| key.verdict(self.0.steps_max));
        worst(verdicts)
    }
}

impl<M: Model> Checker for Linearizable<M> {
    fn end(&mut self) -> Result<(), Violation> {
        self.0.end(self.verdict(), "linearizable")
    }
}

/// Judges at the end whether a record is sequentially consistent: as if the operations had been done
/// one at a time, each client's in its order. Clients may be behind each other.
///
/// Of operations that a client has under way at once, either may come first.
///
/// ```
/// use sim_core::Checker;
/// use sim_core::oracle::{Recorder, Register, RegisterOp, RegisterRet, Sequential};
///
/// let record = Recorder::new();
/// record.invoke(0, RegisterOp::Write(1)).ok(RegisterRet::Written);
/// record.invoke(1, RegisterOp::Read).ok(RegisterRet::Value(0)); // Stale, and allowed here.
/// let mut oracle = Sequential::new(Register::new(0), &record);
/// assert!(oracle.end().is_ok());
/// record.invoke(0, RegisterOp::Read).ok(RegisterRet::Value(0)); // Not its own write.
/// assert!(oracle.end().is_err());
/// ```
#[derive(Debug)]
pub struct Sequential<M: Model>(Judge<M>);

impl<M: Model> Sequential<M> {
    /// Judges a record by a model; each key begins with this state.
    ///
    /// ```
    /// use sim_core::oracle::{Recorder, Register, RegisterOp, RegisterRet, Sequential, Verdict};
    ///
    /// let record = Recorder::new();
    /// record.invoke(0, RegisterOp::Write(1)).ok(RegisterRet::Written);
    /// record.invoke(1, RegisterOp::Read).ok(RegisterRet::Value(0)); // It may be behind.
    /// let oracle = Sequential::new(Register::new(0), &record);
    /// assert_eq!(oracle.verdict(), Verdict::Ordered);
    /// ```
    #[track_caller]
    pub fn new(model: M, record: &Recorder<M::Op, M::Ret>) -> Sequential<M> {
        Sequential(Judge::new(model, record))
    }

    /// Sets how many steps the search takes at most; past them the run is inconclusive. It is a
    /// million where this is not called.
    ///
    /// ```
    /// use sim_core::oracle::{Recorder, Register, RegisterOp, RegisterRet, Sequential, Verdict};
    ///
    /// let record = Recorder::new();
    /// record.invoke(0, RegisterOp::Write(1)).ok(RegisterRet::Written);
    /// record.invoke(1, RegisterOp::Read).ok(RegisterRet::Value(0)); // Stale, but another's.
    /// let oracle = Sequential::new(Register::new(0), &record).steps(10_000);
    /// assert_eq!(oracle.verdict(), Verdict::Ordered);
    /// ```
    pub fn steps(mut self, max: u64) -> Sequential<M> {
        self.0.steps_max = max;
        self
    }

    /// What the record is so far.
    ///
    /// ```
    /// use sim_core::oracle::{Recorder, Register, RegisterOp, RegisterRet, Sequential, Verdict};
    ///
    /// let record = Recorder::new();
    /// record.invoke(0, RegisterOp::Read).ok(RegisterRet::Value(7));
    /// let oracle = Sequential::new(Register::new(0), &record);
    /// assert_eq!(oracle.verdict(), Verdict::Unordered { smallest: vec![0] });
    /// ```
    pub fn verdict(&self) -> Verdict {
        let record = self.0.record.entries();
        // What has an order in time has one for each client: mostly that is seen sooner.
        let mut in_time = self.0.by_key(&record, |_| 0);
        if in_time.all(|key| key.found_all(self.0.steps_max) == Found::Order) {
            return Verdict::Ordered;
        }
        let clients = sorted(record.iter().map(|entry| entry.client));
        let group = |client| clients.binary_search(&client).expect("it is of the record");
        // What has none for one key has none for all, and that takes fewer operations to show.
        let by_key = self.0.by_key(&record, group);
        let by_key = worst(by_key.map(|key| key.verdict(self.0.steps_max)));
        match by_key {
            Verdict::Unordered { .. } => by_key,
            Verdict::Ordered | Verdict::Inconclusive => self.of_all_keys(&record, group),
        }
    }

    /// Searches for one order of all keys.
    fn of_all_keys(
        &self,
        record: &[Entry<M::Op, M::Ret>],
        group: impl Fn(usize) -> usize,
    ) -> Verdict {
        let keys = sorted(record.iter().map(|entry| M::key(&entry.op)));
        let parts = record.iter().enumerate();
        let whole = Problem::<M, _, _>::new(
            parts.map(|(index, entry)| (index, entry, group(entry.client))),
            vec![self.0.model.clone(); keys.len()],
            |states: &Vec<M>, op: &M::Op, ret: Option<&M::Ret>| {
                let key = keys.binary_search(&M::key(op)).expect("it is of the record");
                let after = states[key].step(op, ret)?;
                let mut states = states.clone();
                states[key] = after;
                Some(states)
            },
        );
        whole.verdict(self.0.steps_max)
    }
}

impl<M: Model> Checker for Sequential<M> {
    fn end(&mut self) -> Result<(), Violation> {
        self.0.end(self.verdict(), "sequentially consistent")
    }
}

/// The worst of some verdicts; what certainly failed is worse than what nobody knows.
fn worst(verdicts: impl Iterator<Item = Verdict>) -> Verdict {
    let mut worst = Verdict::Ordered;
    for verdict in verdicts {
        match verdict {
            Verdict::Ordered => {}
            Verdict::Inconclusive => worst = verdict,
            Verdict::Unordered { .. } => return verdict,
        }
    }
    worst
}

/// What both have.
#[derive(Debug)]
struct Judge<M: Model> {
    model: M,
    record: Recorder<M::Op, M::Ret>,
    steps_max: u64,
    place: &'static Location<'static>,
}

impl<M: Model> Judge<M> {
    #[track_caller]
    fn new(model: M, record: &Recorder<M::Op, M::Ret>) -> Judge<M> {
        let place = Location::caller();
        Judge { model, record: record.clone(), steps_max: STEPS_MAX, place }
    }

    /// The operations of each key; time counts in groups of clients.
    fn by_key<'a>(
        &self,
        record: &'a [Entry<M::Op, M::Ret>],
        group: impl Fn(usize) -> usize,
    ) -> impl Iterator<Item = Problem<'a, M, M, Step<M, M>>> {
        let mut keys = BTreeMap::<_, Vec<Part<'a, M>>>::new();
        for (index, entry) in record.iter().enumerate() {
            keys.entry(M::key(&entry.op)).or_default().push((index, entry, group(entry.client)));
        }
        let start = self.model.clone();
        let step: Step<M, M> = M::step;
        keys.into_values().map(move |parts| Problem::new(parts.into_iter(), start.clone(), step))
    }

    fn end(&self, verdict: Verdict, what: &str) -> Result<(), Violation> {
        let smallest = match verdict {
            Verdict::Ordered => return Ok(()),
            Verdict::Inconclusive => {
                let text =
                    format!("whether this is {what} is not known after {} steps", self.steps_max);
                return Err(Violation::at(self.place, what, text).into_inconclusive());
            }
            Verdict::Unordered { smallest } => smallest,
        };
        let record = self.record.entries();
        let (count, all) = (smallest.len(), record.len());
        let text = match count {
            1 => format!("not {what}: no order explains 1 of {all} operations"),
            _ => format!("not {what}: no order explains these {count} of {all} operations"),
        };
        let mut lines = table(&self.record, smallest.iter().map(|index| &record[*index]));
        if count < all {
            lines.push("whatever the others did between their calls and the end".to_owned());
        }
        Err(Violation::at(self.place, what, text).with(lines))
    }
}

/// An operation that is judged: its index in the record, itself, and among which others the order of
/// time counts.
type Part<'a, M> = (usize, &'a Entry<<M as Model>::Op, <M as Model>::Ret>, usize);

/// How an operation changes what is ordered.
type Step<M, S> = fn(&S, &<M as Model>::Op, Option<&<M as Model>::Ret>) -> Option<S>;

/// Operations to be ordered: all of a record, or those of a key.
struct Problem<'a, M: Model, S, F> {
    parts: Vec<Part<'a, M>>,
    start: S,
    step: F,
}

impl<'a, M: Model, S: Clone + Ord, F> Problem<'a, M, S, F>
where
    F: Fn(&S, &M::Op, Option<&M::Ret>) -> Option<S>,
{
    fn new(parts: impl Iterator<Item = Part<'a, M>>, start: S, step: F) -> Problem<'a, M, S, F> {
        let is_open = |part: &Part<'_, M>| !matches!(part.1.outcome, Outcome::Failed);
        Problem { parts: parts.filter(is_open).collect(), start, step }
    }

    /// Searches for an order in which only the ends of those count that are kept.
    fn found(&self, kept: &[bool], steps_max: u64) -> Found {
        let items: Vec<Item> = self.parts.iter().zip(kept).map(item::<M>).collect();
        search(&items, self.start.clone(), steps_max, |state, index| {
            let (_, entry, _) = self.parts[index];
            (self.step)(state, &entry.op, entry.ret().filter(|_| kept[index]))
        })
    }

    fn found_all(&self, steps_max: u64) -> Found {
        self.found(&vec![true; self.parts.len()], steps_max)
    }

    /// Searches for an order, and where there is none, for what is at odds.
    fn verdict(&self, steps_max: u64) -> Verdict {
        match self.found_all(steps_max) {
            Found::Order => return Verdict::Ordered,
            Found::GaveUp => return Verdict::Inconclusive,
            Found::NoOrder => {}
        }
        let count = self.parts.len();
        let done_by = |index: &usize| self.parts[*index].1.done_by();
        let mut must: Vec<usize> = (0..count).filter(|index| done_by(index).is_some()).collect();
        must.sort_by_key(done_by);
        let steps_max = steps_max.min(STEPS_MAX_SMALLER);
        let fails = |kept: &[bool]| self.found(kept, steps_max) == Found::NoOrder;
        let smallest = smallest(count, &must, fails);
        Verdict::Unordered { smallest: smallest.iter().map(|index| self.parts[*index].0).collect() }
    }
}

/// What the search knows of an operation; one that is not kept is as if nobody knew its end.
fn item<M: Model>((part, is_kept): (&Part<'_, M>, &bool)) -> Item {
    let (_, entry, group) = *part;
    let done_by = entry.done_by().filter(|_| *is_kept);
    let is_read = entry.ret().is_some_and(|ret| M::is_read(&entry.op, ret));
    Item { group, invoked: entry.invoked.index, done_by, is_read }
}

/// Each value once, in order.
fn sorted<T: Ord>(values: impl Iterator<Item = T>) -> Vec<T> {
    values.collect::<BTreeSet<T>>().into_iter().collect()
}
