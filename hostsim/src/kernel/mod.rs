//! A host's descriptors and the open files behind them.
//!
//! Calls in, errno out; knows no tokio, no other host and no connection beyond its number. What
//! needs both ends of a connection is in [`crate::network`].
//!
//! A descriptor names an open file; `dup` makes another name of the same file, and the file ends
//! with its last name. Numbers are the lowest free ones, as POSIX asks.

mod check;
mod epoll;
mod socket;
mod udp;
mod unix;

pub(crate) use epoll::{Epoll, Watch};
pub use epoll::{Interest, Ready};
pub use socket::Linger;
pub(crate) use socket::{HOPS, Listener, Options, Phase, Role, Socket};
pub use udp::Datagram;
pub(crate) use udp::{READABLE, Told, Udp};
pub(crate) use unix::{UNIX_LIMIT, Unix, UnixEntry, UnixId, UnixName};

use crate::errno::{Errno, Sys};
use crate::tcp::Readiness;

/// The first descriptor of the simulated hosts: past what a real kernel gives.
pub const DESCRIPTOR_MIN: i32 = 1 << 24;

/// How many descriptors a host has (`RLIMIT_NOFILE`).
pub const DESCRIPTOR_COUNT: i32 = 1 << 16;

/// A host of a network, by its number in the order of their making.
///
/// ```
/// use hostsim::kernel::HostId;
///
/// let mut network = hostsim::network::Network::new();
/// assert_eq!(network.add_host("first"), HostId(0));
/// assert_eq!(network.add_host("second"), HostId(1));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostId(pub u32);

/// A descriptor of a simulated host: which host, and its number there.
///
/// ```
/// use hostsim::kernel::Descriptor;
/// # use hostsim::{address::Domain, network::Network};
/// # let mut network = Network::new();
/// # let host = network.add_host("alone");
/// let [first, second] = [(); 2].map(|()| network.socket(host, Domain::V4, true).unwrap());
/// assert_eq!((first, second.number), (Descriptor { host, number: 0 }, 1));
/// network.close(first)?;
/// assert_eq!(network.socket(host, Domain::V4, true)?.number, 0, "the lowest free one");
/// # Ok::<(), hostsim::errno::Errno>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Descriptor {
    /// The host that opened it.
    pub host: HostId,
    /// Its number among the host's.
    pub number: u16,
}

impl Descriptor {
    /// The descriptor of a number that a program holds; `None` for one of the real kernel.
    ///
    /// ```
    /// use hostsim::kernel::Descriptor;
    /// use std::os::fd::AsRawFd;
    /// # use hostsim::{machine::Machine, seam, world::World};
    /// # let world = World::new();
    /// # let _entered = seam::enter(&world);
    /// # let host = world.with(|network| network.add_host("alone"));
    /// let socket = world.in_turn(host, || std::net::UdpSocket::bind("0.0.0.0:7"))?;
    /// let at = Descriptor::from_raw(socket.as_raw_fd()).expect("it is simulated");
    /// assert_eq!(at.host, host);
    /// assert_eq!(Descriptor::from_raw(2), None, "standard error is the real kernel's");
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub const fn from_raw(raw: i32) -> Option<Descriptor> {
        if raw < DESCRIPTOR_MIN {
            return None;
        }
        let offset = raw - DESCRIPTOR_MIN;
        let host = HostId((offset / DESCRIPTOR_COUNT) as u32);
        Some(Descriptor { host, number: (offset % DESCRIPTOR_COUNT) as u16 })
    }

    /// The number that a program holds.
    ///
    /// ```
    /// use hostsim::kernel::{DESCRIPTOR_MIN, Descriptor, HostId};
    ///
    /// let at = Descriptor { host: HostId(3), number: 8 };
    /// assert!(at.to_raw() > DESCRIPTOR_MIN);
    /// assert_eq!(Descriptor::from_raw(at.to_raw()), Some(at));
    /// ```
    pub const fn to_raw(self) -> i32 {
        DESCRIPTOR_MIN + self.host.0 as i32 * DESCRIPTOR_COUNT + self.number as i32
    }
}

/// An open file of a host, by its number there.
pub(crate) type FileId = u32;

/// What an open file is.
#[derive(Debug)]
#[allow(
    clippy::large_enum_variant,
    reason = "most files are sockets: a box would cost each of them"
)]
pub(crate) enum Object {
    /// A socket.
    Socket(Socket),
    /// A Unix socket, by its number among the host's.
    Unix(UnixId),
    /// A UDP socket, in a box: others are not to grow by it.
    Udp(Box<Udp>),
    /// A set of watched files.
    Epoll(Epoll),
    /// A counter (`eventfd(2)`).
    Counter(Counter),
    /// A socket of a process that is over: nothing is left of it but its descriptors, which name
    /// nothing to whoever still holds them.
    Gone,
}

/// A counter that programs add to and take from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counter {
    /// What it holds, below `u64::MAX`.
    pub(crate) value: u64,
    /// `EFD_SEMAPHORE`: a read takes one, not all.
    pub(crate) is_semaphore: bool,
}

impl Counter {
    /// What a read takes now.
    pub(crate) fn take(&mut self) -> u64 {
        let taken = if self.is_semaphore { self.value.min(1) } else { self.value };
        self.value -= taken;
        taken
    }
}

/// What a descriptor of a host names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Name {
    file: FileId,
    /// `FD_CLOEXEC`
    closes_on_exec: bool,
}

/// An open file.
#[derive(Debug)]
pub(crate) struct File {
    /// What it is.
    pub(crate) object: Object,
    /// `O_NONBLOCK`
    pub(crate) is_nonblocking: bool,
    /// The epoll files that watch it, with the slot of the watch.
    pub(crate) watchers: Vec<(FileId, u32)>,
    references: u32,
}

/// The files and descriptors of one host.
#[derive(Debug, Default)]
pub(crate) struct Kernel {
    files: Vec<Option<File>>,
    free_files: Vec<FileId>,
    descriptors: Vec<Option<Name>>,
    lowest_free: usize,
    pub(crate) unix: Unix,
}

impl Kernel {
    /// Opens a file under the lowest free descriptor.
    ///
    /// # Errors
    /// `EMFILE` where every descriptor is taken (row A44).
    pub(crate) fn open(&mut self, object: Object, is_nonblocking: bool) -> Sys<(u16, FileId)> {
        let number = self.free_number()?;
        let file = File { object, is_nonblocking, watchers: Vec::new(), references: 1 };
        let id = match self.free_files.pop() {
            Some(id) => id,
            None => {
                self.files.push(None);
                (self.files.len() - 1) as FileId
            }
        };
        self.files[id as usize] = Some(file);
        self.set(number, id);
        Ok((number, id))
    }

    /// Whether another descriptor may be opened.
    ///
    /// # Errors
    /// `EMFILE` where not.
    pub(crate) fn free_number(&self) -> Sys<u16> {
        u16::try_from(self.lowest_free).map_err(|_| Errno::EMFILE)
    }

    fn set(&mut self, number: u16, id: FileId) {
        let at = usize::from(number);
        if at >= self.descriptors.len() {
            self.descriptors.resize(at + 1, None);
        }
        self.descriptors[at] = Some(Name { file: id, closes_on_exec: false });
        if at == self.lowest_free {
            let taken = self.descriptors[at..].iter().take_while(|name| name.is_some()).count();
            self.lowest_free = at + taken;
        }
    }

    /// Another descriptor of the same file, the lowest free one that is not below `from`.
    ///
    /// # Errors
    /// `EBADF`, `EMFILE`.
    pub(crate) fn duplicate(&mut self, number: u16, from: u16) -> Sys<u16> {
        let id = self.file_id(number)?;
        let is_free = |number: &usize| self.descriptors.get(*number).is_none_or(Option::is_none);
        let first = self.lowest_free.max(usize::from(from));
        let copy = (first..DESCRIPTOR_COUNT as usize).find(is_free).ok_or(Errno::EMFILE)? as u16;
        self.set(copy, id);
        self.file_mut(id).references += 1;
        Ok(copy)
    }

    /// Drops a descriptor; gives the file back where that was its last one.
    ///
    /// # Errors
    /// `EBADF`.
    pub(crate) fn close(&mut self, number: u16) -> Sys<Option<(FileId, File)>> {
        let id = self.file_id(number)?;
        self.descriptors[usize::from(number)] = None;
        self.lowest_free = self.lowest_free.min(usize::from(number));
        let file = self.file_mut(id);
        file.references -= 1;
        if file.references > 0 {
            return Ok(None);
        }
        let file = self.files[id as usize].take().expect("a referenced file is open");
        self.free_files.push(id);
        self.forget(id, &file);
        Ok(Some((id, file)))
    }

    /// Takes a closed file out of every watch it was in or had.
    fn forget(&mut self, id: FileId, file: &File) {
        for &(epoll, slot) in &file.watchers {
            if let Some(epoll) = self.epoll_mut(epoll) {
                epoll.remove(slot);
            }
        }
        if let Object::Epoll(epoll) = &file.object {
            for watch in epoll.watches() {
                if let Some(Some(watched)) = self.files.get_mut(watch.file as usize) {
                    watched.watchers.retain(|(watcher, _)| *watcher != id);
                }
            }
        }
    }

    /// Takes the sockets out of their files, in the order of their descriptors, as the kernel does
    /// for a process that is over. The descriptors stay taken until whoever holds them lets go, so
    /// that a late `close(2)` meets nothing of the next process.
    pub(crate) fn take_sockets(&mut self) -> Vec<(FileId, File)> {
        let mut taken = Vec::new();
        for number in self.open_numbers() {
            let id = self.file_id(number).expect("the descriptor is open");
            let file = self.file_mut(id);
            if !matches!(file.object, Object::Socket(_) | Object::Unix(_) | Object::Udp(_)) {
                continue;
            }
            let (references, is_nonblocking) = (file.references, file.is_nonblocking);
            let gone =
                File { object: Object::Gone, is_nonblocking, watchers: Vec::new(), references };
            let socket = std::mem::replace(file, gone);
            self.forget(id, &socket);
            taken.push((id, socket));
        }
        taken
    }

    /// The file of a descriptor.
    ///
    /// # Errors
    /// `EBADF`.
    pub(crate) fn file_id(&self, number: u16) -> Sys<FileId> {
        self.name(number).map(|name| name.file)
    }

    fn name(&self, number: u16) -> Sys<Name> {
        self.descriptors.get(usize::from(number)).copied().flatten().ok_or(Errno::EBADF)
    }

    /// Whether a descriptor is closed by `execve(2)`.
    ///
    /// # Errors
    /// `EBADF`.
    pub(crate) fn closes_on_exec(&self, number: u16) -> Sys<bool> {
        self.name(number).map(|name| name.closes_on_exec)
    }

    /// Sets whether a descriptor is closed by `execve(2)`.
    ///
    /// # Errors
    /// `EBADF`.
    pub(crate) fn set_closes_on_exec(&mut self, number: u16, closes_on_exec: bool) -> Sys<()> {
        let name = self.descriptors.get_mut(usize::from(number)).and_then(Option::as_mut);
        name.ok_or(Errno::EBADF)?.closes_on_exec = closes_on_exec;
        Ok(())
    }

    /// An open file.
    ///
    /// # Panics
    /// Where the file is closed: numbers of files do not leave the kernel.
    #[track_caller]
    pub(crate) fn file_mut(&mut self, id: FileId) -> &mut File {
        self.files[id as usize].as_mut().expect("the file is open")
    }

    /// The socket of a descriptor.
    ///
    /// # Errors
    /// `EBADF`, `ENOTSOCK`; `EOPNOTSUPP` for a UDP socket.
    pub(crate) fn socket_mut(&mut self, number: u16) -> Sys<(FileId, &mut Socket)> {
        let id = self.file_id(number)?;
        match &mut self.file_mut(id).object {
            Object::Socket(socket) => Ok((id, socket)),
            Object::Gone => Err(Errno::EBADF),
            Object::Udp(_) => Err(Errno::EOPNOTSUPP),
            _ => Err(Errno::ENOTSOCK),
        }
    }

    /// The socket that a file is, if it is one.
    pub(crate) fn socket_of_file(&self, id: FileId) -> Option<&Socket> {
        match &self.files.get(id as usize)?.as_ref()?.object {
            Object::Socket(socket) => Some(socket),
            _ => None,
        }
    }

    /// The listener that a file is, if it is one.
    pub(crate) fn listener_mut(&mut self, id: FileId) -> Option<(&mut Listener, Options)> {
        match &mut self.files.get_mut(id as usize)?.as_mut()?.object {
            Object::Socket(Socket { role: Role::Listener(listener), options, .. }) => {
                Some((listener, *options))
            }
            _ => None,
        }
    }

    /// The UDP socket that a file is.
    ///
    /// # Panics
    /// Where it is none: who asks got the number from a port.
    #[track_caller]
    pub(crate) fn udp(&self, id: FileId) -> &Udp {
        match self.files[id as usize].as_ref().map(|file| &file.object) {
            Some(Object::Udp(udp)) => udp,
            _ => panic!("a port is a UDP socket's"),
        }
    }

    /// The UDP socket that a file is, to change it.
    ///
    /// # Panics
    /// As [`Kernel::udp`].
    #[track_caller]
    pub(crate) fn udp_mut(&mut self, id: FileId) -> &mut Udp {
        match &mut self.file_mut(id).object {
            Object::Udp(udp) => udp,
            _ => panic!("a port is a UDP socket's"),
        }
    }

    /// The UDP sockets with the numbers of their files.
    pub(crate) fn udp_files(&self) -> impl Iterator<Item = (FileId, &Udp)> {
        self.files().filter_map(|(id, file)| match &file.object {
            Object::Udp(udp) => Some((id, &**udp)),
            _ => None,
        })
    }

    /// The set of watched files that a file is, if it is one.
    pub(crate) fn epoll_mut(&mut self, id: FileId) -> Option<&mut Epoll> {
        match &mut self.files.get_mut(id as usize)?.as_mut()?.object {
            Object::Epoll(epoll) => Some(epoll),
            _ => None,
        }
    }

    /// Tells those who watch a file for one of `bits`; whether there was one.
    pub(crate) fn wake(&mut self, id: FileId, bits: Readiness) -> bool {
        let Some(Some(file)) = self.files.get_mut(id as usize) else { return false };
        let watchers = std::mem::take(&mut file.watchers);
        let mut any = false;
        for &(epoll, slot) in &watchers {
            if let Some(epoll) = self.epoll_mut(epoll) {
                any |= epoll.on_wake(slot, bits);
            }
        }
        self.file_mut(id).watchers = watchers;
        any
    }

    /// What is reported for each socket that is watched, in the order of their descriptors.
    pub(crate) fn watched_sockets(&self) -> Vec<u64> {
        let is_socket = |watch: &&Watch| {
            let file = self.files.get(watch.file as usize).and_then(Option::as_ref);
            file.is_some_and(|file| {
                matches!(file.object, Object::Socket(_) | Object::Unix(_) | Object::Udp(_))
            })
        };
        let mut watches = Vec::new();
        for (_, file) in self.files() {
            if let Object::Epoll(epoll) = &file.object {
                let sockets = epoll.watches().filter(is_socket);
                watches.extend(sockets.map(|watch| (watch.raw, watch.data())));
            }
        }
        watches.sort_unstable();
        watches.into_iter().map(|(_, data)| data).collect()
    }

    /// The open files with their numbers, in the order of the numbers.
    pub(crate) fn files(&self) -> impl Iterator<Item = (FileId, &File)> {
        self.files.iter().enumerate().filter_map(|(id, file)| Some((id as FileId, file.as_ref()?)))
    }

    /// The descriptors that are open, in their order.
    pub(crate) fn open_numbers(&self) -> Vec<u16> {
        let open = self.descriptors.iter().enumerate().filter(|(_, file)| file.is_some());
        open.map(|(number, _)| number as u16).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counter(kernel: &mut Kernel) -> u16 {
        kernel.open(Object::Counter(Counter::default()), true).expect("there is room").0
    }

    #[test]
    fn the_lowest_free_number_is_given() {
        let mut kernel = Kernel::default();
        let numbers: Vec<u16> = (0..4).map(|_| counter(&mut kernel)).collect();
        assert_eq!(numbers, [0, 1, 2, 3]);
        for number in [2, 0] {
            kernel.close(number).unwrap();
        }
        assert_eq!([counter(&mut kernel), counter(&mut kernel), counter(&mut kernel)], [0, 2, 4]);
    }

    #[test]
    fn a_copy_leaves_the_numbers_below_it_free() {
        let mut kernel = Kernel::default();
        let first = counter(&mut kernel);
        let copies = [7, 7, 0].map(|from| kernel.duplicate(first, from).unwrap());
        assert_eq!(copies, [7, 8, 1]);
        let numbers: Vec<u16> = (0..6).map(|_| counter(&mut kernel)).collect();
        assert_eq!(numbers, [2, 3, 4, 5, 6, 9]);
        assert_eq!(kernel.duplicate(first, u16::MAX), Ok(u16::MAX));
        assert_eq!(kernel.duplicate(first, u16::MAX), Err(Errno::EMFILE));
    }

    #[test]
    fn a_file_ends_with_its_last_descriptor() {
        let mut kernel = Kernel::default();
        let first = counter(&mut kernel);
        let second = kernel.duplicate(first, 0).unwrap();
        assert!(kernel.close(first).unwrap().is_none());
        assert!(kernel.close(second).unwrap().is_some());
        assert_eq!(kernel.close(second).unwrap_err(), Errno::EBADF);
    }

    #[test]
    fn descriptors_run_out_at_the_limit() {
        let mut kernel = Kernel::default();
        for _ in 0..DESCRIPTOR_COUNT {
            counter(&mut kernel);
        }
        assert_eq!(
            kernel.open(Object::Counter(Counter::default()), true).unwrap_err(),
            Errno::EMFILE
        );
    }

    #[test]
    fn raw_numbers_name_host_and_number() {
        for (host, number) in [(0, 0), (0, 65_535), (3, 17), (30_000, 1)] {
            let descriptor = Descriptor { host: HostId(host), number };
            assert_eq!(Descriptor::from_raw(descriptor.to_raw()), Some(descriptor));
        }
        assert_eq!(Descriptor::from_raw(1023), None);
        assert_eq!(Descriptor::from_raw(-1), None);
    }
}
