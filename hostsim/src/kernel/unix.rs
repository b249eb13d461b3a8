//! The Unix stream sockets of one host, as Linux `net/unix/af_unix.c` has them.
//!
//! Calls in, errno out, and whom to wake in [`Unix::take_woken`]. A socket's bytes go straight into
//! its peer's queue: nothing is under way, so nothing here is an event. Knows no descriptors and no
//! other host, and neither datagram sockets nor descriptors that are sent along.
//!
//! # Invariants
//! - Two connected sockets name each other, until one is closed.
//! - A socket is charged with what its peer has not read, and with nothing else.

mod look;
mod socket;

use super::{FileId, Options};
use crate::errno::{Errno, Sys};
use crate::tcp::{Direction, Readiness};
use socket::{UnixRole, UnixSocket, WRITABLE};
use std::collections::{BTreeMap, VecDeque};

/// A Unix socket of a host, by its number there.
pub(crate) type UnixId = u32;

/// The bytes that a new Unix socket sends ahead of its reader at most, and what `SO_RCVBUF` says
/// (`net.core.wmem_default`, `rmem_default`).
pub(crate) const UNIX_LIMIT: usize = 212_992;

/// The most connections a backlog holds (`net.core.somaxconn`).
const BACKLOG_MAX: usize = 4096;

/// Bytes came (Linux `sock_def_readable`).
const READABLE: Readiness =
    Readiness::IN.with(Readiness((libc::EPOLLPRI | libc::EPOLLRDBAND) as u32));

/// A name that a socket is bound to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UnixName {
    /// The bytes of `sun_path` as calls show them: a path with its last zero, or a zero and an
    /// abstract name.
    pub(crate) shown: Vec<u8>,
    /// What the name is found by: the absolute path, or the abstract name as it is shown.
    pub(crate) key: Vec<u8>,
}

impl UnixName {
    /// The name that is no path and has these bytes (`unix(7)`, abstract).
    pub(crate) fn of_abstract(name: &[u8]) -> UnixName {
        let shown = [&[0], name].concat();
        UnixName { key: shown.clone(), shown }
    }

    fn is_abstract(&self) -> bool {
        self.key.first() == Some(&0)
    }
}

/// What a name is of. A path outlives its socket until it is removed, as its file does on Linux.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UnixEntry {
    socket: Option<UnixId>,
    /// The permission bits that were set; nothing is checked against them.
    pub(crate) mode: u32,
}

/// The Unix sockets of a host and the names that they are bound to.
#[derive(Debug, Default)]
pub(crate) struct Unix {
    sockets: Vec<Option<UnixSocket>>,
    free: Vec<UnixId>,
    names: BTreeMap<Vec<u8>, UnixEntry>,
    woken: Vec<(FileId, Readiness)>,
}

impl Unix {
    /// Makes a socket; its file is told later.
    pub(crate) fn socket(&mut self, options: Options) -> UnixId {
        self.add(UnixSocket::new(options, None))
    }

    fn add(&mut self, socket: UnixSocket) -> UnixId {
        let id = self.free.pop().unwrap_or_else(|| {
            self.sockets.push(None);
            (self.sockets.len() - 1) as UnixId
        });
        self.sockets[id as usize] = Some(socket);
        id
    }

    /// Connects two fresh sockets, as `socketpair(2)`.
    pub(crate) fn pair(&mut self, first: UnixId, second: UnixId) {
        for (id, peer) in [(first, second), (second, first)] {
            self.at(id).role = UnixRole::Connected { peer: Some(peer), last_name: None };
        }
    }

    /// Tells a socket its open file.
    pub(crate) fn set_file(&mut self, id: UnixId, file: FileId) {
        self.at(id).file = Some(file);
    }

    /// The open file of a socket; none while it waits for `accept`.
    pub(crate) fn file(&self, id: UnixId) -> Option<FileId> {
        self.see(id).file
    }

    #[track_caller]
    fn at(&mut self, id: UnixId) -> &mut UnixSocket {
        self.sockets[id as usize].as_mut().expect("the socket is open")
    }

    #[track_caller]
    fn see(&self, id: UnixId) -> &UnixSocket {
        self.sockets[id as usize].as_ref().expect("the socket is open")
    }

    fn wake(&mut self, id: UnixId, bits: Readiness) {
        if let Some(file) = self.see(id).file {
            self.woken.push((file, bits));
        }
    }

    /// Takes whom the calls since the last one are to wake, and for what.
    pub(crate) fn take_woken(&mut self) -> Vec<(FileId, Readiness)> {
        std::mem::take(&mut self.woken)
    }

    /// Binds a socket, as `bind(2)`.
    ///
    /// # Errors
    /// `EADDRINUSE`, also for a path whose socket is closed; `EINVAL` where it is bound.
    pub(crate) fn bind(&mut self, id: UnixId, name: UnixName) -> Sys<()> {
        let is_bound = self.see(id).name.is_some();
        if is_bound && name.is_abstract() {
            return Err(Errno::EINVAL);
        }
        if self.names.contains_key(&name.key) {
            return Err(Errno::EADDRINUSE);
        }
        if is_bound {
            return Err(Errno::EINVAL);
        }
        self.names.insert(name.key.clone(), UnixEntry { socket: Some(id), mode: 0o755 });
        self.at(id).name = Some(name);
        Ok(())
    }

    /// Binds a socket that has no name to the first of the abstract names of five hexadecimal
    /// digits that is free (`unix(7)`, autobind); Linux begins anywhere.
    ///
    /// # Errors
    /// `EADDRINUSE` where none is free; Linux says `ENOSPC`.
    pub(crate) fn bind_any(&mut self, id: UnixId) -> Sys<()> {
        if self.see(id).name.is_some() {
            return Ok(());
        }
        let name = |number: u32| UnixName::of_abstract(format!("{number:05x}").as_bytes());
        let is_free = |name: &UnixName| !self.names.contains_key(&name.key);
        let name = (0..=0xf_ffff).map(name).find(is_free).ok_or(Errno::EADDRINUSE)?;
        self.bind(id, name)
    }

    /// Turns a socket into a listener, as `listen(2)`.
    ///
    /// # Errors
    /// `EINVAL` for a socket without a name or one that is connected.
    pub(crate) fn listen(&mut self, id: UnixId, backlog: i32) -> Sys<()> {
        let most = usize::try_from(backlog).unwrap_or(BACKLOG_MAX).min(BACKLOG_MAX);
        let socket = self.at(id);
        if socket.name.is_none() {
            return Err(Errno::EINVAL);
        }
        match &mut socket.role {
            UnixRole::Connected { .. } => Err(Errno::EINVAL),
            UnixRole::Listener { backlog, .. } => {
                *backlog = most;
                Ok(())
            }
            UnixRole::Fresh => {
                socket.role = UnixRole::Listener { backlog: most, queue: VecDeque::new() };
                Ok(())
            }
        }
    }

    /// Connects a socket to the listener of a name, as `connect(2)`: at once. `options` are those of
    /// the other end.
    ///
    /// # Errors
    /// `ENOENT` for a path that is not there; `ECONNREFUSED` where nobody listens; `EAGAIN` where
    /// the backlog is full; `EISCONN`; `EINVAL` for a listener.
    pub(crate) fn connect(&mut self, id: UnixId, key: &[u8], options: Options) -> Sys<()> {
        let is_path = key.first() != Some(&0);
        let missing = if is_path { Errno::ENOENT } else { Errno::ECONNREFUSED };
        let entry = self.names.get(key).ok_or(missing)?;
        let listener = entry.socket.ok_or(Errno::ECONNREFUSED)?;
        let other = self.see(listener);
        let UnixRole::Listener { backlog, queue } = &other.role else {
            return Err(Errno::ECONNREFUSED);
        };
        if other.is_read_shut {
            return Err(Errno::ECONNREFUSED);
        }
        if queue.len() > *backlog {
            return Err(Errno::EAGAIN);
        }
        let name = other.name.clone();
        match self.see(id).role {
            UnixRole::Fresh => {}
            UnixRole::Connected { .. } => return Err(Errno::EISCONN),
            UnixRole::Listener { .. } => return Err(Errno::EINVAL),
        }
        let accepted = self.add(UnixSocket { name, ..UnixSocket::new(options, None) });
        self.pair(id, accepted);
        if let UnixRole::Listener { queue, .. } = &mut self.at(listener).role {
            queue.push_back(accepted);
        }
        self.wake(listener, READABLE);
        Ok(())
    }

    /// Takes the first socket of a backlog, as `accept(2)`.
    ///
    /// # Errors
    /// `EINVAL` where the socket does not listen; `EAGAIN` where none is there, which a call that
    /// may wait finds `EINVAL` after a shutdown.
    pub(crate) fn accept(&mut self, id: UnixId, may_wait: bool) -> Sys<UnixId> {
        let socket = self.at(id);
        let is_shut = socket.is_read_shut && may_wait;
        let UnixRole::Listener { queue, .. } = &mut socket.role else { return Err(Errno::EINVAL) };
        queue.pop_front().ok_or(if is_shut { Errno::EINVAL } else { Errno::EAGAIN })
    }

    /// The name that a socket is bound to.
    pub(crate) fn name(&self, id: UnixId) -> Option<&UnixName> {
        self.see(id).name.as_ref()
    }

    /// The name of a socket's peer, closed or not.
    ///
    /// # Errors
    /// `ENOTCONN`
    pub(crate) fn peer_name(&self, id: UnixId) -> Sys<Option<&UnixName>> {
        match &self.see(id).role {
            UnixRole::Connected { peer: Some(peer), .. } => Ok(self.name(*peer)),
            UnixRole::Connected { peer: None, last_name } => Ok(last_name.as_ref()),
            _ => Err(Errno::ENOTCONN),
        }
    }

    /// Whether it is known whose process the peer is of (`SO_PEERCRED`).
    pub(crate) fn has_credentials(&self, id: UnixId) -> bool {
        !matches!(self.see(id).role, UnixRole::Fresh)
    }

    /// Whether a socket listens.
    pub(crate) fn listens(&self, id: UnixId) -> bool {
        matches!(self.see(id).role, UnixRole::Listener { .. })
    }

    /// A socket's options.
    pub(crate) fn options(&mut self, id: UnixId) -> &mut Options {
        &mut self.at(id).options
    }

    /// A socket has more room to write than before, perhaps (Linux `unix_write_space`).
    pub(crate) fn on_room(&mut self, id: UnixId) {
        if self.see(id).is_writable() {
            self.wake(id, WRITABLE);
        }
    }

    /// Takes the error that waits on a socket, as `SO_ERROR`.
    pub(crate) fn take_error(&mut self, id: UnixId) -> Option<Errno> {
        self.at(id).error.take()
    }

    /// Writes bytes in parts, as `send(2)` without waiting.
    ///
    /// # Errors
    /// `ENOTCONN`; `EPIPE` after an end of this direction, whatever the length; `EAGAIN`.
    pub(crate) fn write<'a>(
        &mut self,
        id: UnixId,
        parts: impl Iterator<Item = &'a [u8]>,
    ) -> Sys<usize> {
        let UnixRole::Connected { peer, .. } = self.see(id).role else {
            return Err(Errno::ENOTCONN);
        };
        let peer = peer.filter(|_| !self.see(id).is_write_shut).ok_or(Errno::EPIPE)?;
        let (max, limit) = (self.see(id).packet_max(), self.see(id).options.send_limit);
        let (mut sent, mut room, mut is_full) = (0, 0, false);
        for mut part in parts {
            while !part.is_empty() {
                if room == 0 {
                    is_full = self.see(id).charged >= limit;
                    if is_full {
                        break;
                    }
                    if self.see(peer).is_read_shut {
                        return if sent > 0 { Ok(sent) } else { Err(Errno::EPIPE) };
                    }
                    room = max;
                    self.at(id).charged += self.at(peer).begin();
                }
                let (now, later) = part.split_at(part.len().min(room));
                self.at(id).charged += self.at(peer).append(now);
                (sent, room, part) = (sent + now.len(), room - now.len(), later);
            }
        }
        if sent > 0 {
            self.wake(peer, READABLE);
        }
        if sent == 0 && is_full { Err(Errno::EAGAIN) } else { Ok(sent) }
    }

    /// Reads bytes, as `recv(2)` without waiting; a peek leaves them.
    ///
    /// # Errors
    /// Bytes come first, then the error that waits, then the end; `EAGAIN`; `EINVAL` for a socket
    /// that never was connected.
    pub(crate) fn read(&mut self, id: UnixId, into: &mut [u8], is_peek: bool) -> Sys<usize> {
        let socket = self.at(id);
        let UnixRole::Connected { peer, .. } = socket.role else { return Err(Errno::EINVAL) };
        if socket.bytes.is_empty() {
            return match socket.error.take() {
                Some(error) => Err(error),
                None if socket.is_read_shut => Ok(0),
                None => Err(Errno::EAGAIN),
            };
        }
        let count = into.len().min(socket.bytes.len());
        let (front, back) = socket.bytes.as_slices();
        let split = front.len().min(count);
        into[..split].copy_from_slice(&front[..split]);
        into[split..count].copy_from_slice(&back[..count - split]);
        if !is_peek {
            let freed = socket.take(count);
            if let Some(peer) = peer.filter(|_| freed > 0) {
                self.at(peer).charged -= freed;
                self.on_room(peer);
            }
        }
        Ok(count)
    }

    /// How many bytes wait to be read.
    pub(crate) fn unread(&self, id: UnixId) -> usize {
        self.see(id).bytes.len()
    }

    /// What the packets take that the peer has not read, with what Linux adds to each (`SIOCOUTQ`).
    pub(crate) fn charged(&self, id: UnixId) -> usize {
        self.see(id).charged
    }

    /// Ends directions of a socket, of whatever role, and of its peer, as `shutdown(2)`.
    pub(crate) fn shutdown(&mut self, id: UnixId, direction: Direction) {
        let (reading, writing) = (direction != Direction::Write, direction != Direction::Read);
        self.at(id).shut(reading, writing);
        self.wake(id, Readiness::ALL);
        if let UnixRole::Connected { peer: Some(peer), .. } = self.see(id).role {
            self.at(peer).shut(writing, reading);
            self.wake(peer, Readiness::ALL);
        }
    }

    /// The last descriptor of a socket goes, as `close(2)`: its peer is told at once, with
    /// `ECONNRESET` where bytes are unread here; whoever waits in a backlog is reset.
    pub(crate) fn close(&mut self, id: UnixId) {
        self.release(id, false);
    }

    /// Linux `unix_release_sock`.
    fn release(&mut self, id: UnixId, is_unaccepted: bool) {
        let socket = self.sockets[id as usize].take().expect("the socket is open");
        self.free.push(id);
        if let Some(name) = socket.owned_name(id, &self.names) {
            match self.names.get_mut(&name.key) {
                Some(entry) if !name.is_abstract() => entry.socket = None,
                _ => drop(self.names.remove(&name.key)),
            }
        }
        match socket.role {
            UnixRole::Fresh => {}
            UnixRole::Listener { queue, .. } => queue.iter().for_each(|id| self.release(*id, true)),
            UnixRole::Connected { peer: None, .. } => {}
            UnixRole::Connected { peer: Some(peer), .. } => {
                let other = self.at(peer);
                other.shut(true, true);
                if is_unaccepted || !socket.bytes.is_empty() {
                    other.error = Some(Errno::ECONNRESET);
                }
                other.charged = 0;
                other.role = UnixRole::Connected { peer: None, last_name: socket.name };
                self.wake(peer, Readiness::ALL);
            }
        }
    }

    /// What a poll of a socket reports now.
    pub(crate) fn readiness(&self, id: UnixId) -> Readiness {
        self.see(id).readiness()
    }

    /// What a path is of, if a socket was bound to it and it was not removed since.
    pub(crate) fn entry_mut(&mut self, key: &[u8]) -> Option<&mut UnixEntry> {
        self.names.get_mut(key)
    }

    /// Removes a path, as `unlink(2)`; whether it was there. Its socket goes on.
    pub(crate) fn remove(&mut self, key: &[u8]) -> bool {
        self.names.remove(key).is_some()
    }

    /// How many sockets there are, those in backlogs too.
    pub(crate) fn len(&self) -> usize {
        self.sockets.iter().flatten().count()
    }
}
