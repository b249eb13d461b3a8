//! Order: whether items of a key arrive in the order that they were sent in.
//!
//! Items of different keys have no order. Whether items arrive at all, and how often, is no part of
//! it; see [`Delivery`](super::Delivery). An item that nobody sent has no place in an order and is
//! not judged.
//!
//! Invariant: one item was sent before another only where it was accepted before the other was
//! submitted.

use crate::check::{Checker, Violation};
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::panic::Location;

/// What counts where an item arrives more than once.
///
/// ```
/// use sim_core::oracle::Repeats;
///
/// assert!(Repeats::Ignored != Repeats::Judged);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Repeats {
    /// Only the first time: a system that delivers again begins where it was before.
    Ignored,
    /// Every time: what was delivered is never gone back to.
    Judged,
}

/// Judges in which order items arrive, for each key. A key and an item are sent once.
///
/// ```
/// use sim_core::Checker;
/// use sim_core::oracle::{KeyOrder, Repeats};
///
/// let mut oracle = KeyOrder::new(Repeats::Ignored);
/// for item in [1, 2] {
///     oracle.submit("k", item);
///     oracle.accept("k", item);
/// }
/// [1, 2, 1, 2].into_iter().for_each(|item| oracle.deliver("k", item));
/// assert!(oracle.step().is_ok());
///
/// let mut oracle = KeyOrder::new(Repeats::Judged);
/// for item in [1, 2] {
///     oracle.submit("k", item);
///     oracle.accept("k", item);
/// }
/// [1, 2, 1].into_iter().for_each(|item| oracle.deliver("k", item));
/// assert!(oracle.step().is_err());
/// ```
#[derive(Debug)]
pub struct KeyOrder<K, T> {
    repeats: Repeats,
    keys: BTreeMap<K, Line<T>>,
    /// How many items were submitted and accepted.
    next: u64,
    broken: Option<Violation>,
    place: &'static Location<'static>,
}

/// The items of a key.
#[derive(Debug)]
struct Line<T> {
    items: BTreeMap<T, Sent>,
    /// Of the items that arrived, the one that was submitted last, and when that was.
    last: Option<(u64, T)>,
}

#[derive(Clone, Copy, Debug)]
struct Sent {
    submitted: u64,
    /// None where it may have been sent at any time since.
    accepted: Option<u64>,
    has_arrived: bool,
}

impl<K: Clone + Ord + Debug, T: Clone + Ord + Debug> KeyOrder<K, T> {
    /// Nothing was sent yet.
    ///
    /// ```
    /// use sim_core::Checker;
    /// use sim_core::oracle::{KeyOrder, Repeats};
    ///
    /// let mut oracle = KeyOrder::<&str, u8>::new(Repeats::Judged);
    /// assert!(oracle.step().is_ok());
    /// ```
    #[track_caller]
    pub fn new(repeats: Repeats) -> KeyOrder<K, T> {
        let place = Location::caller();
        KeyOrder { repeats, keys: BTreeMap::new(), next: 0, broken: None, place }
    }

    /// An item is about to be sent.
    ///
    /// # Panics
    /// Where it was submitted before.
    ///
    /// ```
    /// use sim_core::Checker;
    /// use sim_core::oracle::{KeyOrder, Repeats};
    ///
    /// let mut oracle = KeyOrder::new(Repeats::Judged);
    /// oracle.submit("k", 1);
    /// oracle.submit("k", 2); // Both are under way: either may be first.
    /// [2, 1].into_iter().for_each(|item| oracle.deliver("k", item));
    /// assert!(oracle.step().is_ok());
    /// ```
    #[track_caller]
    pub fn submit(&mut self, key: K, item: T) {
        let submitted = self.stamp();
        let line = self.keys.entry(key).or_insert(Line { items: BTreeMap::new(), last: None });
        let sent = Sent { submitted, accepted: None, has_arrived: false };
        assert!(line.items.insert(item, sent).is_none(), "an item of a key is submitted once");
    }

    /// The system said that it has an item: what is submitted later comes after it.
    ///
    /// # Panics
    /// Where it was not submitted.
    ///
    /// ```
    /// use sim_core::Checker;
    /// use sim_core::oracle::{KeyOrder, Repeats};
    ///
    /// let mut oracle = KeyOrder::new(Repeats::Judged);
    /// oracle.submit("k", 1);
    /// oracle.accept("k", 1); // So this one is before what is sent later.
    /// oracle.submit("k", 2);
    /// [2, 1].into_iter().for_each(|item| oracle.deliver("k", item));
    /// assert!(oracle.step().is_err());
    /// ```
    #[track_caller]
    pub fn accept(&mut self, key: K, item: T) {
        let stamp = self.stamp();
        let sent = self.keys.get_mut(&key).and_then(|line| line.items.get_mut(&item));
        sent.expect("an item is submitted before it is accepted").accepted = Some(stamp);
    }

    /// An item arrived.
    ///
    /// ```
    /// use sim_core::Checker;
    /// use sim_core::oracle::{KeyOrder, Repeats};
    ///
    /// let mut oracle = KeyOrder::new(Repeats::Judged);
    /// for (key, item) in [("a", 1), ("b", 2)] {
    ///     oracle.submit(key, item);
    ///     oracle.accept(key, item);
    /// }
    /// oracle.deliver("b", 2);
    /// oracle.deliver("a", 1);
    /// assert!(oracle.step().is_ok(), "keys have no order among each other");
    /// ```
    pub fn deliver(&mut self, key: K, item: T) {
        let Some(line) = self.keys.get_mut(&key) else { return };
        let Some(sent) = line.items.get_mut(&item) else { return };
        let is_repeat = std::mem::replace(&mut sent.has_arrived, true);
        if is_repeat && self.repeats == Repeats::Ignored {
            return;
        }
        match &line.last {
            Some((submitted, last)) if sent.accepted.is_some_and(|by| by < *submitted) => {
                let text = format!(
                    "of {key:?}, {item:?} arrived after {last:?}, and was accepted before \
                     {last:?} was submitted"
                );
                self.broken.get_or_insert(Violation::at(self.place, "order", text));
            }
            Some((submitted, _)) if sent.submitted <= *submitted => {}
            _ => line.last = Some((sent.submitted, item)),
        }
    }

    fn stamp(&mut self) -> u64 {
        self.next += 1;
        self.next
    }
}

impl<K, T> Checker for KeyOrder<K, T> {
    fn step(&mut self) -> Result<(), Violation> {
        self.broken.clone().map_or(Ok(()), Err)
    }

    fn end(&mut self) -> Result<(), Violation> {
        self.step()
    }
}
