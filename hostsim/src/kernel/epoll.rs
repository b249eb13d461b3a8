//! A set of watched files (`epoll(7)`): who waits for what, and which files may be ready.
//!
//! Whether a file is ready now is asked of the file when events are collected, as Linux does: a
//! wake only queues the watch. Edge-triggered watches leave the queue once they are reported.

use super::FileId;
use crate::errno::{Errno, Sys};
use crate::tcp::Readiness;
use std::collections::{BTreeMap, VecDeque};

/// What a program asked of a watch: `epoll_event::events` and its own datum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interest {
    /// The bits, `EPOLLET` and `EPOLLONESHOT` among them.
    pub events: u32,
    /// What is reported with them.
    pub data: u64,
}

impl Interest {
    /// The bits that are reported: errors and hang-ups always are.
    pub fn wanted(&self) -> Readiness {
        if self.events & !FLAGS == 0 {
            return Readiness::NONE;
        }
        Readiness(self.events & !FLAGS).with(Readiness::ERR).with(Readiness::HUP)
    }
}

const FLAGS: u32 = (libc::EPOLLET | libc::EPOLLONESHOT | libc::EPOLLWAKEUP) as u32 | 1 << 28;

/// One event that is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ready {
    /// The bits that are set.
    pub events: u32,
    /// The program's datum.
    pub data: u64,
}

/// One watched file.
#[derive(Clone, Copy, Debug)]
pub struct Watch {
    /// The descriptor it was added by.
    pub raw: i32,
    /// The file; unused for a descriptor of the real kernel.
    pub file: FileId,
    interest: Interest,
    is_queued: bool,
}

/// The watched files, by the descriptors they were added by.
#[derive(Debug, Default)]
pub struct Epoll {
    watches: Vec<Option<Watch>>,
    free: Vec<u32>,
    slots: BTreeMap<i32, u32>,
    ready: VecDeque<u32>,
}

impl Epoll {
    /// Adds a watch; gives its slot.
    ///
    /// # Errors
    /// `EEXIST`.
    pub fn add(&mut self, raw: i32, file: FileId, interest: Interest) -> Sys<u32> {
        if self.slots.contains_key(&raw) {
            return Err(Errno::EEXIST);
        }
        let slot = self.free.pop().unwrap_or_else(|| {
            self.watches.push(None);
            (self.watches.len() - 1) as u32
        });
        self.watches[slot as usize] = Some(Watch { raw, file, interest, is_queued: false });
        self.slots.insert(raw, slot);
        Ok(slot)
    }

    /// Changes what a watch waits for; gives its slot.
    ///
    /// # Errors
    /// `ENOENT`.
    pub fn modify(&mut self, raw: i32, interest: Interest) -> Sys<u32> {
        let slot = *self.slots.get(&raw).ok_or(Errno::ENOENT)?;
        self.watch_mut(slot).interest = interest;
        Ok(slot)
    }

    /// Takes a watch out by its descriptor; gives it back with its slot.
    ///
    /// # Errors
    /// `ENOENT`.
    pub fn delete(&mut self, raw: i32) -> Sys<(u32, Watch)> {
        let slot = *self.slots.get(&raw).ok_or(Errno::ENOENT)?;
        Ok((slot, self.remove(slot)))
    }

    /// Takes a watch out by its slot.
    pub fn remove(&mut self, slot: u32) -> Watch {
        let watch = self.watches[slot as usize].take().expect("the watch is there");
        self.slots.remove(&watch.raw);
        self.free.push(slot);
        if watch.is_queued {
            self.ready.retain(|queued| *queued != slot);
        }
        watch
    }

    /// The file may be ready for `bits`; whether the watch waits for one of them.
    pub fn on_wake(&mut self, slot: u32, bits: Readiness) -> bool {
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
    pub fn pop(&mut self) -> Option<(u32, Watch)> {
        let slot = self.ready.pop_front()?;
        let watch = self.watch_mut(slot);
        watch.is_queued = false;
        Some((slot, *watch))
    }

    /// A watch was reported with `bits`: what the program gets, and whether it stays queued.
    pub fn report(&mut self, slot: u32, bits: Readiness) -> (Option<Ready>, bool) {
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
    pub fn requeue(&mut self, slot: u32) {
        let watch = self.watch_mut(slot);
        if !watch.is_queued {
            watch.is_queued = true;
            self.ready.push_back(slot);
        }
    }

    /// How many watches may be ready.
    pub fn queued(&self) -> usize {
        self.ready.len()
    }

    /// The watches, in the order of their slots.
    pub fn watches(&self) -> impl Iterator<Item = &Watch> {
        self.watches.iter().flatten()
    }

    #[track_caller]
    fn watch_mut(&mut self, slot: u32) -> &mut Watch {
        self.watches[slot as usize].as_mut().expect("the watch is there")
    }
}
