//! The calls of programs on Unix stream sockets.
//!
//! Both ends are of one host, and bytes are there as soon as they are written: nothing of this is
//! an event. What a call does is in [`crate::kernel::Unix`]; here are its descriptors and its wakes.

use super::option::{self, OptionName, OptionValue};
use super::{Network, SEND_LIMIT};
use crate::errno::{Errno, Sys};
use crate::kernel::{
    Descriptor, HostId, Object, Options, UNIX_LIMIT, Unix, UnixEntry, UnixId, UnixName,
};
use crate::tcp::Direction;

impl Network {
    /// Makes a Unix stream socket on a host, as `socket(2)`.
    ///
    /// # Errors
    /// `EMFILE`, and `ENETDOWN` where the host's process is over.
    pub(crate) fn unix_socket(&mut self, host: HostId, nonblocking: bool) -> Sys<Descriptor> {
        self.check_process(host)?;
        self.kernel(host).free_number()?;
        let options = self.unix_options(host);
        let id = self.kernel(host).unix.socket(options);
        self.open_unix(host, id, nonblocking)
    }

    /// Makes two that are connected, as `socketpair(2)`.
    ///
    /// # Errors
    /// `EMFILE`.
    pub(crate) fn unix_pair(&mut self, host: HostId, nonblocking: bool) -> Sys<[Descriptor; 2]> {
        let first = self.unix_socket(host, nonblocking)?;
        let second = match self.unix_socket(host, nonblocking) {
            Ok(second) => second,
            Err(errno) => {
                self.close(first)?;
                return Err(errno);
            }
        };
        let (one, other) = (self.unix_of(first)?, self.unix_of(second)?);
        self.kernel(host).unix.pair(one, other);
        Ok([first, second])
    }

    /// The options of a new socket: a host whose buffers for sending are small has small ones here.
    fn unix_options(&self, host: HostId) -> Options {
        let small = Some(self.host(host).send_limit).filter(|limit| *limit < SEND_LIMIT);
        Options::new(small.map_or(UNIX_LIMIT, |small| small.min(UNIX_LIMIT)), UNIX_LIMIT)
    }

    fn open_unix(&mut self, host: HostId, id: UnixId, nonblocking: bool) -> Sys<Descriptor> {
        let kernel = self.kernel(host);
        let (number, file) = kernel.open(Object::Unix(id), nonblocking)?;
        kernel.unix.set_file(id, file);
        Ok(Descriptor { host, number })
    }

    /// Whether a descriptor is of a Unix socket.
    ///
    /// # Errors
    /// `EBADF`, `ENOTSOCK`.
    pub(crate) fn is_unix(&mut self, at: Descriptor) -> Sys<bool> {
        match self.object(at)?.1 {
            Object::Unix(_) => Ok(true),
            Object::Socket(_) | Object::Udp(_) => Ok(false),
            Object::Gone => Err(Errno::EBADF),
            _ => Err(Errno::ENOTSOCK),
        }
    }

    /// The Unix socket of a descriptor.
    fn unix_of(&mut self, at: Descriptor) -> Sys<UnixId> {
        match self.object(at)?.1 {
            Object::Unix(id) => Ok(*id),
            Object::Gone => Err(Errno::EBADF),
            _ => Err(Errno::ENOTSOCK),
        }
    }

    /// Makes a call on a Unix socket, then wakes whom it wakes.
    fn with_unix<T>(
        &mut self,
        at: Descriptor,
        call: impl FnOnce(&mut Unix, UnixId) -> Sys<T>,
    ) -> Sys<T> {
        let id = self.unix_of(at)?;
        let result = call(&mut self.kernel(at.host).unix, id);
        self.wake_unix(at.host);
        result
    }

    fn wake_unix(&mut self, host: HostId) {
        for (file, bits) in self.kernel(host).unix.take_woken() {
            self.wake(host, file, bits);
        }
    }

    /// Binds a Unix socket to a name, or to one that is free where it is given none.
    ///
    /// # Errors
    /// As [`Unix::bind`] and [`Unix::bind_any`].
    pub(crate) fn unix_bind(&mut self, at: Descriptor, name: Option<UnixName>) -> Sys<()> {
        self.with_unix(at, |unix, id| match name {
            Some(name) => unix.bind(id, name),
            None => unix.bind_any(id),
        })
    }

    /// Turns a Unix socket into a listener.
    ///
    /// # Errors
    /// As [`Unix::listen`].
    pub(crate) fn unix_listen(&mut self, at: Descriptor, backlog: i32) -> Sys<()> {
        self.with_unix(at, |unix, id| unix.listen(id, backlog))
    }

    /// Connects a Unix socket to the listener of a name, by the key of the name.
    ///
    /// # Errors
    /// As [`Unix::connect`].
    pub(crate) fn unix_connect(&mut self, at: Descriptor, key: &[u8]) -> Sys<()> {
        let options = self.unix_options(at.host);
        self.with_unix(at, |unix, id| unix.connect(id, key, options))
    }

    /// Takes the first connection of a Unix backlog, as `accept4(2)`.
    ///
    /// # Errors
    /// `EMFILE`, and as [`Unix::accept`].
    pub(crate) fn unix_accept(&mut self, at: Descriptor, nonblocking: bool) -> Sys<Descriptor> {
        self.kernel_of(at)?.free_number()?;
        let may_wait = !self.is_nonblocking(at)?;
        let accepted = self.with_unix(at, |unix, id| unix.accept(id, may_wait))?;
        self.open_unix(at.host, accepted, nonblocking)
    }

    /// The name of a Unix socket, as `getsockname(2)`.
    ///
    /// # Errors
    /// `EBADF`, `ENOTSOCK`.
    pub(crate) fn unix_name(&mut self, at: Descriptor) -> Sys<Option<UnixName>> {
        self.with_unix(at, |unix, id| Ok(unix.name(id).cloned()))
    }

    /// The name of a Unix socket's peer, as `getpeername(2)`.
    ///
    /// # Errors
    /// `ENOTCONN`
    pub(crate) fn unix_peer_name(&mut self, at: Descriptor) -> Sys<Option<UnixName>> {
        self.with_unix(at, |unix, id| unix.peer_name(id).map(|name| name.cloned()))
    }

    /// Whether a Unix socket knows whose its peer is (`SO_PEERCRED`).
    ///
    /// # Errors
    /// `EBADF`, `ENOTSOCK`.
    pub(crate) fn unix_has_credentials(&mut self, at: Descriptor) -> Sys<bool> {
        self.with_unix(at, |unix, id| Ok(unix.has_credentials(id)))
    }

    pub(super) fn unix_send<'a>(
        &mut self,
        at: Descriptor,
        parts: impl Iterator<Item = &'a [u8]>,
    ) -> Sys<usize> {
        self.with_unix(at, |unix, id| unix.write(id, parts))
    }

    pub(super) fn unix_receive(
        &mut self,
        at: Descriptor,
        into: &mut [u8],
        is_peek: bool,
    ) -> Sys<usize> {
        self.with_unix(at, |unix, id| unix.read(id, into, is_peek))
    }

    /// Ends directions of a Unix socket, as `shutdown(2)`.
    ///
    /// # Errors
    /// `EBADF`, `ENOTSOCK`.
    pub(crate) fn unix_shutdown(&mut self, at: Descriptor, direction: Direction) -> Sys<()> {
        self.with_unix(at, |unix, id| {
            unix.shutdown(id, direction);
            Ok(())
        })
    }

    pub(super) fn on_unix_closed(&mut self, host: HostId, id: UnixId) {
        self.kernel(host).unix.close(id);
        self.wake_unix(host);
    }

    /// Sets an option of a Unix socket.
    ///
    /// # Errors
    /// `EOPNOTSUPP` for a level that is not `SOL_SOCKET` and for `SO_REUSEPORT`, `ENOPROTOOPT` for
    /// an option that is not known.
    pub(crate) fn unix_set_option(
        &mut self,
        at: Descriptor,
        name: OptionName,
        value: OptionValue,
    ) -> Sys<()> {
        let is_shared_port = name.name == libc::SO_REUSEPORT && value != OptionValue::Int(0);
        if name.level != libc::SOL_SOCKET || is_shared_port {
            return Err(Errno::EOPNOTSUPP);
        }
        self.with_unix(at, |unix, id| {
            option::set(unix.options(id), name, value)?;
            if name.name == libc::SO_SNDBUF {
                unix.on_room(id);
            }
            Ok(())
        })
    }

    /// Reads an option of a Unix socket.
    ///
    /// # Errors
    /// As [`Network::unix_set_option`].
    pub(crate) fn unix_option(&mut self, at: Descriptor, name: OptionName) -> Sys<OptionValue> {
        if name.level != libc::SOL_SOCKET {
            return Err(Errno::EOPNOTSUPP);
        }
        self.with_unix(at, |unix, id| {
            let value = match name.name {
                libc::SO_ERROR => unix.take_error(id).map_or(0, |error| error.0),
                libc::SO_TYPE => libc::SOCK_STREAM,
                libc::SO_PROTOCOL => 0,
                libc::SO_DOMAIN => libc::AF_UNIX,
                libc::SO_ACCEPTCONN => i32::from(unix.listens(id)),
                _ => return option::get(unix.options(id), name),
            };
            Ok(OptionValue::Int(value))
        })
    }

    /// What a path of a host is of, where a Unix socket was bound to it.
    pub(crate) fn unix_entry(&mut self, host: HostId, key: &[u8]) -> Option<&mut UnixEntry> {
        self.kernel(host).unix.entry_mut(key)
    }

    /// Removes a path of a host that a Unix socket was bound to, as `unlink(2)`; whether there was
    /// one.
    pub(crate) fn unix_remove(&mut self, host: HostId, key: &[u8]) -> bool {
        self.kernel(host).unix.remove(key)
    }
}
