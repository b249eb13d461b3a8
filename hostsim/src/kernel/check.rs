//! What must be so of a host's descriptors and open files, between two calls. For tests.

use super::{DESCRIPTOR_COUNT, FileId, Kernel, Object, Role};
use std::collections::BTreeSet;

impl Kernel {
    /// Asserts what the module promises.
    ///
    /// # Panics
    /// Where it is not so.
    pub(crate) fn check_invariants(&self) {
        self.check_numbers();
        self.check_files();
        self.check_watches();
        self.check_unix();
    }

    /// Each descriptor is of an open file, and a file counts its descriptors.
    fn check_numbers(&self) {
        assert!(self.descriptors.len() <= DESCRIPTOR_COUNT as usize, "a host has so many numbers");
        let taken = self.descriptors.iter().take_while(|name| name.is_some()).count();
        assert_eq!(self.lowest_free, taken, "the lowest free number is known");
        let mut counts = vec![0; self.files.len()];
        for name in self.descriptors.iter().flatten() {
            assert!(self.is_open(name.file), "a descriptor is of an open file");
            counts[name.file as usize] += 1;
        }
        for (id, file) in self.files() {
            assert_eq!(file.references, counts[id as usize], "file {id} counts its descriptors");
            assert!(file.references > 0, "file {id} ends with its last descriptor");
        }
    }

    fn is_open(&self, id: FileId) -> bool {
        self.files.get(id as usize).is_some_and(Option::is_some)
    }

    fn check_files(&self) {
        let free: BTreeSet<_> = self.free_files.iter().collect();
        assert_eq!(free.len(), self.free_files.len(), "a number is free once");
        let is_free = |id: &FileId| !self.is_open(*id) && (*id as usize) < self.files.len();
        assert!(self.free_files.iter().all(is_free), "a free number is of no file");
        assert_eq!(self.files().count() + free.len(), self.files.len(), "no number is lost");
        for (id, file) in self.files() {
            if let Object::Counter(counter) = &file.object {
                assert!(counter.value < u64::MAX, "counter {id} holds {}", counter.value);
            }
        }
    }

    /// A watch and its file know each other; what is closed is in no watch.
    fn check_watches(&self) {
        for (id, file) in self.files() {
            let unique: BTreeSet<_> = file.watchers.iter().collect();
            assert_eq!(unique.len(), file.watchers.len(), "file {id} has each watch once");
            for (epoll, slot) in &file.watchers {
                let watched = self.epoll(*epoll).and_then(|set| set.watched(*slot));
                assert_eq!(watched, Some(id), "the watch {slot} of {epoll} is of file {id}");
            }
            let Object::Epoll(set) = &file.object else { continue };
            set.check_invariants();
            // A descriptor of the real kernel has no file here.
            for (slot, watched) in set.slots().filter(|(_, watched)| *watched != FileId::MAX) {
                let watched = self.files.get(watched as usize).and_then(Option::as_ref);
                let knows = watched.is_some_and(|file| file.watchers.contains(&(id, slot)));
                assert!(knows, "the file that {id} watches in {slot} is open and knows it");
            }
        }
    }

    fn epoll(&self, id: FileId) -> Option<&super::Epoll> {
        match &self.files.get(id as usize)?.as_ref()?.object {
            Object::Epoll(set) => Some(set),
            _ => None,
        }
    }

    /// A Unix socket is of one file, or waits in one backlog.
    fn check_unix(&self) {
        self.unix.check_invariants();
        let mut of_files = BTreeSet::new();
        for (id, file) in self.files() {
            if let Object::Unix(socket) = &file.object {
                assert_eq!(self.unix.file(*socket), Some(id), "a file's socket knows it");
                of_files.insert(*socket);
            }
        }
        let waiting = self.unix.waiting();
        let unique: BTreeSet<_> = waiting.iter().copied().collect();
        assert_eq!(unique.len(), waiting.len(), "a socket waits in one backlog");
        assert!(unique.is_disjoint(&of_files), "a socket that waits has no file");
        let known: BTreeSet<_> = of_files.union(&unique).copied().collect();
        assert_eq!(known.len(), self.unix.len(), "a socket has a file or waits");
    }
}

impl Kernel {
    /// Whether a file is the socket of an end of a connection.
    pub(crate) fn is_end(&self, file: FileId, wire: u32, side: u8) -> bool {
        let role = self.socket_of_file(file).map(|socket| &socket.role);
        matches!(role, Some(Role::Connection { wire: id, side: at, .. }) if (*id, *at) == (wire, side))
    }

    /// Whether a connection waits in the backlog of a file.
    pub(crate) fn has_waiting(&self, file: FileId, wire: u32) -> bool {
        match self.socket_of_file(file).map(|socket| &socket.role) {
            Some(Role::Listener(listener)) => {
                listener.queue.contains(&wire) || listener.handshaking.contains(&wire)
            }
            _ => false,
        }
    }
}
