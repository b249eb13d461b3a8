//! What can happen next, and when: the one ordered set of pending events of a run.
//!
//! Holds events, does not apply them, and decides nothing. An event is in the set at most once a
//! [`Key`]. The order is canonical: by moment, then by class, then by identity, never by arrival.
//!
//! Invariants: `ready` is sorted and holds exactly the events that were due when time last moved on;
//! every other event is in `later`, which is sorted too. What is new is mostly the last to come, so a
//! queue takes it in for less than a tree would.

use crate::clock::Instant;
use std::collections::VecDeque;

/// The kinds of event, in canonical order.
///
/// ```
/// use hostsim::agenda::Class;
///
/// // At one moment the network comes before the machines, and both before the test.
/// assert!(Class::Delivery < Class::KernelTimer);
/// assert!(Class::KernelTimer < Class::MachineTimer && Class::MachineTimer < Class::Operation);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// The next segment of one direction of a connection reaches its host.
    Delivery,
    /// The next datagram of one host to another reaches its host.
    Datagram,
    /// A timer of a host's kernel.
    KernelTimer,
    /// The next deadline of a machine's runtime.
    MachineTimer,
    /// An operation of the workload.
    Operation,
    /// A start, stop, crash or restart.
    Lifecycle,
    /// A fault begins or ends.
    Fault,
}

/// Which event: its class and two numbers that the class gives their meaning.
///
/// ```
/// use hostsim::agenda::{Class, Key};
///
/// let timer = |host| Key { class: Class::MachineTimer, major: host, minor: 0 };
/// assert!(timer(1) < timer(2), "hosts in the order of their making");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// The kind of event.
    pub class: Class,
    /// The first part of its identity: a connection, a host, an operation.
    pub major: u32,
    /// The second part: a direction of a connection, the host that a datagram is for, else zero.
    pub minor: u32,
}

/// An event and its moment.
///
/// ```
/// use hostsim::agenda::{Class, Key, Scheduled};
/// use hostsim::clock::Instant;
///
/// let key = |major| Key { class: Class::Fault, major, minor: 0 };
/// let soon = Scheduled { due: Instant(5), key: key(9) };
/// let late = Scheduled { due: Instant(6), key: key(0) };
/// assert!(soon < late, "the moment comes first");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Scheduled {
    /// When it may happen first.
    pub due: Instant,
    /// Which event it is.
    pub key: Key,
}

/// The pending events of a run.
///
/// ```
/// use hostsim::agenda::{Class, Key};
/// use hostsim::clock::Instant;
/// use hostsim::network::Network;
///
/// // A driver schedules its own events beside those of the network.
/// let mut network = Network::new();
/// let key = |major| Key { class: Class::Operation, major, minor: 0 };
/// network.schedule(Instant(5), key(2));
/// network.schedule(Instant(5), key(1));
/// network.schedule(Instant(9), key(3));
///
/// // What is due is ready in the order of identities, whatever came first.
/// network.advance(network.agenda().earliest().expect("three are pending"));
/// let ready = network.agenda().ready();
/// assert_eq!((ready.len(), ready[0].key), (2, key(1)));
/// assert_eq!(network.take(1).key, key(2));
/// assert_eq!(network.agenda().iter().count(), 2);
/// ```
#[derive(Debug, Default)]
pub struct Agenda {
    ready: Vec<Scheduled>,
    later: VecDeque<Scheduled>,
    horizon: Option<Instant>,
}

impl Agenda {
    /// Adds an event. The caller keeps `due` and gives it to [`Agenda::cancel`] again.
    pub(crate) fn schedule(&mut self, due: Instant, key: Key) {
        let event = Scheduled { due, key };
        if self.horizon.is_some_and(|horizon| due <= horizon) {
            if let Err(at) = self.ready.binary_search(&event) {
                self.ready.insert(at, event);
            }
        } else if let Err(at) = self.later.binary_search(&event) {
            self.later.insert(at, event);
        }
    }

    /// Takes an event out before it happens; an event that is not there stays not there.
    pub(crate) fn cancel(&mut self, due: Instant, key: Key) {
        let event = Scheduled { due, key };
        if let Ok(at) = self.ready.binary_search(&event) {
            self.ready.remove(at);
        } else if let Ok(at) = self.later.binary_search(&event) {
            self.later.remove(at);
        }
    }

    /// The moment of the first event.
    ///
    /// ```
    /// use hostsim::agenda::{Class, Key};
    /// use hostsim::clock::Instant;
    /// # use hostsim::network::Network;
    /// # let mut network = Network::new();
    /// assert_eq!(network.agenda().earliest(), None);
    /// for due in [9, 5] {
    ///     network.schedule(Instant(due), Key { class: Class::Fault, major: 0, minor: 0 });
    /// }
    /// assert_eq!(network.agenda().earliest(), Some(Instant(5)));
    /// ```
    pub fn earliest(&self) -> Option<Instant> {
        self.ready.first().or_else(|| self.later.front()).map(|event| event.due)
    }

    /// Makes every event that is due at `now` ready.
    pub(crate) fn collect(&mut self, now: Instant) {
        self.horizon = Some(now);
        while let Some(&event) = self.later.front() {
            if event.due > now {
                break;
            }
            self.later.pop_front();
            self.ready.push(event);
        }
    }

    /// The events that are ready, in canonical order.
    ///
    /// ```
    /// use hostsim::agenda::{Class, Key};
    /// use hostsim::clock::Instant;
    /// # use hostsim::network::Network;
    /// # let mut network = Network::new();
    /// for (due, major) in [(5, 2), (5, 1), (9, 0)] {
    ///     network.schedule(Instant(due), Key { class: Class::Fault, major, minor: 0 });
    /// }
    /// assert!(network.agenda().ready().is_empty(), "time has not come");
    /// network.advance(Instant(5));
    /// let ready: Vec<u32> = network.agenda().ready().iter().map(|event| event.key.major).collect();
    /// assert_eq!(ready, [1, 2]);
    /// ```
    pub fn ready(&self) -> &[Scheduled] {
        &self.ready
    }

    /// Every pending event, in canonical order.
    ///
    /// ```
    /// use hostsim::agenda::{Class, Key};
    /// use hostsim::clock::Instant;
    /// # use hostsim::network::Network;
    /// # let mut network = Network::new();
    /// for (due, major) in [(9, 0), (5, 1)] {
    ///     network.schedule(Instant(due), Key { class: Class::Fault, major, minor: 0 });
    /// }
    /// network.advance(Instant(5));
    /// let all: Vec<u64> = network.agenda().iter().map(|event| event.due.0).collect();
    /// assert_eq!(all, [5, 9], "what is ready and what is later");
    /// ```
    pub fn iter(&self) -> impl Iterator<Item = Scheduled> + '_ {
        self.ready.iter().chain(self.later.iter()).copied()
    }

    /// Takes the `index`th ready event out, so that the caller applies it.
    ///
    /// # Panics
    /// Where `index` is not below the number of ready events.
    #[track_caller]
    pub(crate) fn take(&mut self, index: usize) -> Scheduled {
        self.ready.remove(index)
    }

    /// Asserts what the module promises, at a moment.
    ///
    /// # Panics
    /// Where it is not so.
    pub(crate) fn check_invariants(&self, now: Instant) {
        assert!(self.ready.is_sorted(), "ready events are in canonical order");
        assert!(self.later.iter().is_sorted(), "later events are in canonical order");
        let horizon = self.horizon.unwrap_or_default();
        assert!(self.ready.iter().all(|event| event.due <= horizon), "ready events are due");
        let last = self.ready.last();
        assert!(self.later.front().is_none_or(|first| last.is_none_or(|last| last < first)));
        assert!(horizon <= now, "what is ready is due by now");
        let is_ahead = |first: &Scheduled| self.horizon.is_none_or(|horizon| first.due > horizon);
        assert!(self.later.front().is_none_or(is_ahead), "what is not ready is ahead");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(major: u32) -> Key {
        Key { class: Class::Delivery, major, minor: 0 }
    }

    #[test]
    fn order_is_by_moment_then_identity_whatever_the_order_of_arrival() {
        let mut agenda = Agenda::default();
        for (due, id) in [(5, 2), (3, 9), (5, 1), (8, 0)] {
            agenda.schedule(Instant(due), key(id));
        }
        assert_eq!(agenda.earliest(), Some(Instant(3)));
        agenda.collect(Instant(5));
        let ids: Vec<u32> = agenda.ready().iter().map(|event| event.key.major).collect();
        assert_eq!(ids, [9, 1, 2]);
        agenda.check_invariants(Instant(5));
    }

    #[test]
    fn an_event_scheduled_for_the_past_is_ready_at_once() {
        let mut agenda = Agenda::default();
        agenda.collect(Instant(10));
        agenda.schedule(Instant(10), key(1));
        agenda.schedule(Instant(7), key(2));
        assert_eq!(agenda.take(0).key, key(2));
        agenda.check_invariants(Instant(10));
    }

    #[test]
    fn a_cancelled_event_does_not_happen() {
        let mut agenda = Agenda::default();
        agenda.schedule(Instant(4), key(1));
        agenda.schedule(Instant(4), key(2));
        agenda.cancel(Instant(4), key(1));
        agenda.collect(Instant(4));
        agenda.cancel(Instant(4), key(2));
        assert_eq!(agenda.ready(), []);
        assert_eq!(agenda.earliest(), None);
    }
}
