//! What must be so of a set of watched files, between two calls. For tests.

use super::Epoll;
use crate::kernel::FileId;
use std::collections::BTreeSet;

impl Epoll {
    /// The slots that are taken, with the file of each.
    pub(in crate::kernel) fn slots(&self) -> impl Iterator<Item = (u32, FileId)> {
        let watches = (0..).zip(&self.watches);
        watches.filter_map(|(slot, watch)| Some((slot, watch.as_ref()?.file)))
    }

    /// The file of the watch in a slot.
    pub(in crate::kernel) fn watched(&self, slot: u32) -> Option<FileId> {
        self.watches.get(slot as usize)?.as_ref().map(|watch| watch.file)
    }

    /// Asserts what the type promises.
    ///
    /// # Panics
    /// Where it is not so.
    pub(in crate::kernel) fn check_invariants(&self) {
        let names = |slot: u32| {
            let watch = self.watches[slot as usize].as_ref();
            watch.map(|watch| (watch.raw, watch.file))
        };
        let is_named = self.slots.iter().all(|(name, slot)| names(*slot) == Some(*name));
        assert!(is_named, "a watch is found by its name");
        assert_eq!(self.slots.len(), self.watches().count(), "each watch has a name");
        let free: BTreeSet<_> = self.free.iter().collect();
        assert!(free.iter().all(|slot| names(**slot).is_none()), "a free slot has no watch");
        assert_eq!(free.len() + self.slots.len(), self.watches.len(), "no slot is lost");
        assert_eq!(free.len(), self.free.len(), "a slot is free once");
        let queued: BTreeSet<u32> = self.ready.iter().copied().collect();
        assert_eq!(queued.len(), self.ready.len(), "a watch is queued once");
        for (slot, watch) in (0..).zip(&self.watches) {
            let is_queued = watch.as_ref().is_some_and(|watch| watch.is_queued);
            assert_eq!(is_queued, queued.contains(&slot), "the watch in {slot} knows its place");
        }
    }
}
