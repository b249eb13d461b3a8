//! Delivery: whether items that are sent arrive, and how often.
//!
//! Items are counted, as multisets: the same item may be sent many times. In which order they arrive
//! is no part of it; see [`KeyOrder`](super::KeyOrder).
//!
//! Invariants: of an item no more were accepted and rejected than were submitted; one that is neither
//! may or may not have been sent.

use crate::check::{Checker, Violation};
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::panic::Location;

/// How often an item that was sent may arrive.
///
/// ```
/// use sim_core::oracle::Times;
///
/// assert!(Times::AtLeastOnce != Times::ExactlyOnce);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Times {
    /// Once, or not at all.
    AtMostOnce,
    /// Once, or more often.
    AtLeastOnce,
    /// Once.
    ExactlyOnce,
}

/// Judges how often items arrive: too often at once, too seldom at the end. Share it as
/// `Rc<RefCell<…>>` among those who send, those who receive, and the run.
///
/// ```
/// use sim_core::Checker;
/// use sim_core::oracle::{Delivery, Times};
///
/// let mut oracle = Delivery::new(Times::ExactlyOnce);
/// oracle.submit("paid");
/// oracle.accept("paid"); // The sender was told that it will arrive.
/// oracle.submit("maybe"); // Nobody told its sender anything.
/// oracle.deliver("paid");
/// assert!(oracle.end().is_ok());
/// oracle.deliver("maybe");
/// assert!(oracle.end().is_ok());
/// oracle.deliver("paid");
/// assert!(oracle.step().is_err());
/// ```
#[derive(Debug)]
pub struct Delivery<T> {
    times: Times,
    items: BTreeMap<T, Count>,
    broken: Option<Violation>,
    place: &'static Location<'static>,
}

/// How often something befell an item.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    submitted: u64,
    accepted: u64,
    rejected: u64,
    delivered: u64,
}

impl<T: Ord + Debug> Delivery<T> {
    /// Nothing was sent yet.
    ///
    /// ```
    /// use sim_core::Checker;
    /// use sim_core::oracle::{Delivery, Times};
    ///
    /// let mut oracle = Delivery::<&str>::new(Times::AtLeastOnce);
    /// assert!(oracle.step().is_ok() && oracle.end().is_ok(), "nothing was sent");
    /// ```
    #[track_caller]
    pub fn new(times: Times) -> Delivery<T> {
        let place = Location::caller();
        Delivery { times, items: BTreeMap::new(), broken: None, place }
    }

    /// An item is about to be sent; from now on it may arrive.
    ///
    /// ```
    /// use sim_core::Checker;
    /// use sim_core::oracle::{Delivery, Times};
    ///
    /// let mut oracle = Delivery::new(Times::ExactlyOnce);
    /// oracle.submit("maybe");
    /// assert!(oracle.end().is_ok(), "nobody was told that it will arrive");
    /// ```
    pub fn submit(&mut self, item: T) {
        self.items.entry(item).or_default().submitted += 1;
    }

    /// The system said that an item will arrive.
    ///
    /// # Panics
    /// Where as many were accepted and rejected as submitted.
    ///
    /// ```
    /// use sim_core::Checker;
    /// use sim_core::oracle::{Delivery, Times};
    ///
    /// let mut oracle = Delivery::new(Times::AtLeastOnce);
    /// oracle.submit("paid");
    /// oracle.accept("paid");
    /// assert!(oracle.end().is_err(), "it never arrived");
    /// ```
    #[track_caller]
    pub fn accept(&mut self, item: T) {
        self.open(item).accepted += 1;
    }

    /// An item was certainly not sent.
    ///
    /// # Panics
    /// Where as many were accepted and rejected as submitted.
    ///
    /// ```
    /// use sim_core::Checker;
    /// use sim_core::oracle::{Delivery, Times};
    ///
    /// let mut oracle = Delivery::new(Times::AtLeastOnce);
    /// oracle.submit("order");
    /// oracle.reject("order"); // The sender was told that it will not be done.
    /// assert!(oracle.end().is_ok());
    /// oracle.deliver("order");
    /// assert!(oracle.step().is_err());
    /// ```
    #[track_caller]
    pub fn reject(&mut self, item: T)
    where
        T: Clone,
    {
        self.open(item.clone()).rejected += 1;
        self.look(item);
    }

    /// An item arrived.
    ///
    /// ```
    /// use sim_core::Checker;
    /// use sim_core::oracle::{Delivery, Times};
    ///
    /// let mut oracle = Delivery::new(Times::AtLeastOnce);
    /// oracle.submit("paid");
    /// oracle.deliver("paid");
    /// oracle.deliver("paid");
    /// assert!(oracle.step().is_ok());
    /// ```
    pub fn deliver(&mut self, item: T)
    where
        T: Clone,
    {
        self.items.entry(item.clone()).or_default().delivered += 1;
        self.look(item);
    }

    #[track_caller]
    fn open(&mut self, item: T) -> &mut Count {
        let count = self.items.entry(item).or_default();
        let is_open = count.accepted + count.rejected < count.submitted;
        assert!(is_open, "an item is submitted before it is accepted or rejected");
        count
    }

    /// Whether an item arrived too often. The first that did stands.
    fn look(&mut self, item: T) {
        let count = self.items[&item];
        let may_be = count.submitted - count.rejected;
        let kind = match self.times {
            _ if count.delivered > 0 && count.submitted == 0 => "invented",
            _ if count.delivered > 0 && may_be == 0 => "rejected",
            Times::AtMostOnce | Times::ExactlyOnce if count.delivered > may_be => "again",
            _ => return,
        };
        let text = match kind {
            "invented" => format!("{item:?} arrived and was never sent"),
            "rejected" => format!("{item:?} arrived and was certainly not sent"),
            _ => format!(
                "{item:?} arrived {} and was sent {}",
                times(count.delivered),
                times(may_be)
            ),
        };
        let violation = Violation::at(self.place, kind, text);
        self.broken.get_or_insert(violation);
    }
}

impl<T: Ord + Debug> Checker for Delivery<T> {
    fn step(&mut self) -> Result<(), Violation> {
        self.broken.clone().map_or(Ok(()), Err)
    }

    fn end(&mut self) -> Result<(), Violation> {
        self.step()?;
        if self.times == Times::AtMostOnce {
            return Ok(());
        }
        let mut items = self.items.iter();
        match items.find(|(_, count)| count.delivered < count.accepted) {
            None => Ok(()),
            Some((item, Count { accepted, delivered, .. })) => {
                let (accepted, delivered) = (times(*accepted), times(*delivered));
                let text = format!("{item:?} was accepted {accepted} and arrived {delivered}");
                Err(Violation::at(self.place, "lost", text))
            }
        }
    }
}

fn times(count: u64) -> String {
    match count {
        0 => "never".to_owned(),
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        _ => format!("{count} times"),
    }
}
