//! A set of watched files (`epoll(7)`): who waits for what, and which files may be ready.
//!
//! Whether a file is ready now is asked of the file when events are collected, as Linux does: a
//! wake only queues the watch. Edge-triggered watches leave the queue once they are reported.

mod check;

use super::FileId;
use crate::errno::{Errno, Sys};
use crate::tcp::Readiness;
use std::collections::{BTreeMap, VecDeque};

/// What a program asked of a watch: `epoll_event::events` and its own datum.
///
/// ```
/// use hostsim::kernel::{Interest, Ready};
/// use hostsim::network::Change;
/// # use hostsim::{address::Domain, network::Network};
/// # let mut network = Network::new();
/// # let host = network.add_host("alone");
/// # let address = std::net::SocketAddr::from(([127, 0, 0, 1], 7));
/// # let listener = network.socket(host, Domain::V4, true)?;
/// # network.bind(listener, address)?;
/// # network.listen(listener, 8)?;
/// # let dialer = network.socket(host, Domain::V4, true)?;
/// # network.connect(dialer, address).unwrap_err();
/// # let (accepted, _) = network.accept(listener, true)?;
/// let epoll = network.epoll(host)?;
/// // As mio asks: both directions, told of changes alone.
/// let events = (libc::EPOLLIN | libc::EPOLLOUT | libc::EPOLLET) as u32;
/// network.control(epoll, dialer.to_raw(), Change::Add(Interest { events, data: 7 }))?;
/// let mut ready = Vec::new();
/// network.collect(epoll, 16, &mut ready)?;
/// network.collect(epoll, 16, &mut ready)?;
/// assert_eq!(ready, [Ready { events: libc::EPOLLOUT as u32, data: 7 }], "it is told once");
/// # Ok::<(), hostsim::errno::Errno>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interest {
    /// The bits, `EPOLLET` and `EPOLLONESHOT` among them.
    pub events: u32,
    /// What is reported with them.
    pub data: u64,
}

impl Interest {
    /// The bits that are reported.
    pub(crate) fn wanted(&self) -> Readiness {
        Readiness(self.events & !FLAGS)
    }

    /// As a watch keeps it: errors and hang-ups are always reported, but for one shot that is over.
    fn armed(self) -> Interest {
        Interest { events: self.events | (libc::EPOLLERR | libc::EPOLLHUP) as u32, ..self }
    }

    fn is_exclusive(&self) -> bool {
        self.events & libc::EPOLLEXCLUSIVE as u32 != 0
    }
}

const FLAGS: u32 =
    (libc::EPOLLET | libc::EPOLLONESHOT | libc::EPOLLWAKEUP | libc::EPOLLEXCLUSIVE) as u32;

/// What may be asked of an exclusive watch.
const EXCLUSIVE: u32 =
    Readiness::IN.with(Readiness::OUT).with(Readiness::ERR).with(Readiness::HUP).0
        | (libc::EPOLLET | libc::EPOLLWAKEUP | libc::EPOLLEXCLUSIVE) as u32;

/// One event that is reported.
///
/// ```
/// use hostsim::kernel::{Interest, Ready};
/// use hostsim::network::Change;
/// # use hostsim::{address::Domain, network::Network};
/// # let mut network = Network::new();
/// # let host = network.add_host("alone");
/// # let address = std::net::SocketAddr::from(([127, 0, 0, 1], 7));
/// # let listener = network.socket(host, Domain::V4, true)?;
/// # network.bind(listener, address)?;
/// # network.listen(listener, 8)?;
/// # let dialer = network.socket(host, Domain::V4, true)?;
/// # network.connect(dialer, address).unwrap_err();
/// # let (accepted, _) = network.accept(listener, true)?;
/// let epoll = network.epoll(host)?;
/// let interest = Interest { events: libc::EPOLLIN as u32, data: 7 };
/// network.control(epoll, accepted.to_raw(), Change::Add(interest))?;
/// network.close(dialer)?;
/// let mut ready = Vec::new();
/// network.collect(epoll, 16, &mut ready)?;
/// assert_eq!(ready, [Ready { events: libc::EPOLLIN as u32, data: 7 }], "the end can be read");
/// # Ok::<(), hostsim::errno::Errno>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ready {
    /// The bits that are set.
    pub events: u32,
    /// The program's datum.
    pub data: u64,
}

/// One watched file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Watch {
    /// The descriptor it was added by.
    pub(crate) raw: i32,
    /// The file; unused for a descriptor of the real kernel.
    pub(crate) file: FileId,
    interest: Interest,
    is_queued: bool,
}

impl Watch {
    /// What is reported with its events.
    pub(crate) fn data(&self) -> u64 {
        self.interest.data
    }

    /// Whether the watch waits for one of `bits`.
    pub(crate) fn meets(&self, bits: Readiness) -> bool {
        self.interest.wanted().meets(bits)
    }
}

/// The watched files. A watch has the name of its file and of the descriptor it was added by: once
/// that is closed and another has it, the number means another file.
#[derive(Debug, Default)]
pub(crate) struct Epoll {
    watches: Vec<Option<Watch>>,
    free: Vec<u32>,
    slots: BTreeMap<(i32, FileId), u32>,
    ready: VecDeque<u32>,
}

impl Epoll {
    /// Adds a watch; gives its slot.
    ///
    /// # Errors
    /// `EEXIST`, `EINVAL` for what an exclusive watch cannot do.
    pub(crate) fn add(&mut self, raw: i32, file: FileId, interest: Interest) -> Sys<u32> {
        let interest = interest.armed();
        if interest.is_exclusive() && interest.events & !EXCLUSIVE != 0 {
            return Err(Errno::EINVAL);
        }
        if self.slots.contains_key(&(raw, file)) {
            return Err(Errno::EEXIST);
        }
        let slot = self.free.pop().unwrap_or_else(|| {
            self.watches.push(None);
            (self.watches.len() - 1) as u32
        });
        self.watches[slot as usize] = Some(Watch { raw, file, interest, is_queued: false });
        self.slots.insert((raw, file), slot);
        Ok(slot)
    }

    /// Changes what a watch waits for; gives its slot.
    ///
    /// # Errors
    /// `ENOENT`, `EINVAL` where it is to be exclusive or is.
    pub(crate) fn modify(&mut self, raw: i32, file: FileId, interest: Interest) -> Sys<u32> {
        if interest.is_exclusive() {
            return Err(Errno::EINVAL);
        }
        let slot = *self.slots.get(&(raw, file)).ok_or(Errno::ENOENT)?;
        let watch = self.watch_mut(slot);
        if watch.interest.is_exclusive() {
            return Err(Errno::EINVAL);
        }
        watch.interest = interest.armed();
        Ok(slot)
    }

    /// Takes a watch out by its descriptor; gives it back with its slot.
    ///
    /// # Errors
    /// `ENOENT`.
    pub(crate) fn delete(&mut self, raw: i32, file: FileId) -> Sys<(u32, Watch)> {
        let slot = *self.slots.get(&(raw, file)).ok_or(Errno::ENOENT)?;
        Ok((slot, self.remove(slot)))
    }

    /// Takes a watch out by its slot.
    pub(crate) fn remove(&mut self, slot: u32) -> Watch {
        let watch = self.watches[slot as usize].take().expect("the watch is there");
        self.slots.remove(&(watch.raw, watch.file));
        self.free.push(slot);
        if watch.is_queued {
            self.ready.retain(|queued| *queued != slot);
        }
        watch
    }

    /// The file may be ready for `bits`; whether the watch waits for one of them.
    pub(crate) fn on_wake(&mut self, slot: u32, bits: Readiness) -> bool {
        let watch = self.watch_mut(slot);
        if !watch.interest.wanted().meets(bits) {
            return false;
        }
        if !watch.is_queued {
            watch.is_queued = true;
            self.ready.push_back(slot);
        }
        true
    }

    /// Takes the next watch that may be ready, with what it waits for.
    pub(crate) fn pop(&mut self) -> Option<(u32, Watch)> {
        let slot = self.ready.pop_front()?;
        let watch = self.watch_mut(slot);
        watch.is_queued = false;
        Some((slot, *watch))
    }

    /// A watch was reported with `bits`: what the program gets, and whether it stays queued.
    pub(crate) fn report(&mut self, slot: u32, bits: Readiness) -> (Option<Ready>, bool) {
        let watch = self.watch_mut(slot);
        let events = bits.0 & watch.interest.wanted().0;
        if events == 0 {
            return (None, false);
        }
        let ready = Ready { events, data: watch.interest.data };
        let is_edge = watch.interest.events & libc::EPOLLET as u32 != 0;
        if watch.interest.events & libc::EPOLLONESHOT as u32 != 0 {
            watch.interest.events &= FLAGS;
            return (Some(ready), false);
        }
        (Some(ready), !is_edge)
    }

    /// Queues a level-triggered watch again.
    pub(crate) fn requeue(&mut self, slot: u32) {
        let watch = self.watch_mut(slot);
        if !watch.is_queued {
            watch.is_queued = true;
            self.ready.push_back(slot);
        }
    }

    /// How many watches may be ready.
    pub(crate) fn queued(&self) -> usize {
        self.ready.len()
    }

    /// The watches that may be ready, first come first.
    pub(crate) fn queued_watches(&self) -> impl Iterator<Item = &Watch> {
        self.ready.iter().filter_map(|slot| self.watches[*slot as usize].as_ref())
    }

    /// The watches, in the order of their slots.
    pub(crate) fn watches(&self) -> impl Iterator<Item = &Watch> {
        self.watches.iter().flatten()
    }

    #[track_caller]
    fn watch_mut(&mut self, slot: u32) -> &mut Watch {
        self.watches[slot as usize].as_mut().expect("the watch is there")
    }
}
