//! The calls of programs on epoll files and counters, and on descriptors of any kind.

use super::{Network, WireId};
use crate::errno::{Errno, Sys};
use crate::kernel::{
    Counter, Descriptor, Epoll, FileId, HostId, Interest, Object, Ready, Role, Socket, Watch,
};
use crate::tcp::Readiness;

/// What `epoll_ctl(2)` does.
///
/// ```
/// use hostsim::kernel::Interest;
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
/// network.control(epoll, accepted.to_raw(), Change::Modify(Interest { data: 8, ..interest }))?;
/// network.control(epoll, accepted.to_raw(), Change::Delete)?;
/// # Ok::<(), hostsim::errno::Errno>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// `EPOLL_CTL_ADD`
    Add(Interest),
    /// `EPOLL_CTL_MOD`
    Modify(Interest),
    /// `EPOLL_CTL_DEL`
    Delete,
}

impl Network {
    /// Makes an epoll file, as `epoll_create1(2)`.
    ///
    /// # Errors
    /// `EMFILE`.
    ///
    /// ```
    /// use hostsim::tcp::Readiness;
    /// # use hostsim::{address::Domain, network::Network};
    /// # let mut network = Network::new();
    /// # let host = network.add_host("alone");
    /// let epoll = network.epoll(host)?;
    /// assert_eq!(network.poll(epoll), Ok(Readiness::NONE), "it watches nothing");
    /// # Ok::<(), hostsim::errno::Errno>(())
    /// ```
    pub fn epoll(&mut self, host: HostId) -> Sys<Descriptor> {
        let (number, _) = self.kernel(host).open(Object::Epoll(Epoll::default()), false)?;
        Ok(Descriptor { host, number })
    }

    /// Makes a counter, as `eventfd(2)`.
    ///
    /// # Errors
    /// `EMFILE`.
    pub(crate) fn counter(
        &mut self,
        host: HostId,
        counter: Counter,
        nonblocking: bool,
    ) -> Sys<Descriptor> {
        let (number, _) = self.kernel(host).open(Object::Counter(counter), nonblocking)?;
        Ok(Descriptor { host, number })
    }

    /// Changes what an epoll file watches, as `epoll_ctl(2)`, with the descriptor as the program
    /// holds it. A descriptor of the real kernel is taken and never becomes ready: what tokio
    /// registers for signals is one.
    ///
    /// # Errors
    /// `EBADF`, `EINVAL` for another epoll file or none, `EEXIST`, `ENOENT`.
    ///
    /// ```
    /// use hostsim::errno::Errno;
    /// use hostsim::kernel::Interest;
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
    /// let add = Change::Add(Interest { events: libc::EPOLLIN as u32, data: 7 });
    /// network.control(epoll, listener.to_raw(), add)?;
    /// assert_eq!(network.control(epoll, listener.to_raw(), add), Err(Errno::EEXIST));
    /// assert_eq!(network.control(epoll, dialer.to_raw(), Change::Delete), Err(Errno::ENOENT));
    /// # Ok::<(), hostsim::errno::Errno>(())
    /// ```
    pub fn control(&mut self, epoll: Descriptor, raw: i32, change: Change) -> Sys<()> {
        let watched = Descriptor::from_raw(raw);
        let file = match watched {
            Some(at) if at.host != epoll.host => return Err(Errno::EBADF),
            Some(at) => match self.object(at)? {
                (_, Object::Epoll(_)) => return Err(Errno::EINVAL),
                (file, _) => Some((at.host, file)),
            },
            None => None,
        };
        let (id, object) = self.object(epoll)?;
        let Object::Epoll(set) = object else { return Err(Errno::EINVAL) };
        let name = file.map_or(FileId::MAX, |(_, file)| file);
        let slot = match change {
            Change::Add(interest) => {
                let slot = set.add(raw, name, interest)?;
                if let Some((host, file)) = file {
                    self.kernel(host).file_mut(file).watchers.push((id, slot));
                }
                slot
            }
            Change::Modify(interest) => set.modify(raw, name, interest)?,
            Change::Delete => {
                let (slot, _) = set.delete(raw, name)?;
                if let Some((host, file)) = file {
                    let watchers = &mut self.kernel(host).file_mut(file).watchers;
                    watchers.retain(|watcher| *watcher != (id, slot));
                }
                return Ok(());
            }
        };
        if let Some((host, file)) = file {
            let bits = self.readiness(host, file);
            self.kernel(epoll.host).epoll_mut(id).ok_or(Errno::EINVAL)?.on_wake(slot, bits);
        }
        Ok(())
    }

    /// Takes up to `max` events that are ready, as `epoll_wait(2)` without waiting.
    ///
    /// # Errors
    /// `EBADF`, `EINVAL` where the descriptor is no epoll file.
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
    /// let interest = Interest { events: (libc::EPOLLIN | libc::EPOLLET) as u32, data: 7 };
    /// network.control(epoll, accepted.to_raw(), Change::Add(interest))?;
    /// network.send(dialer, b"hello")?;
    /// let mut events = Vec::new();
    /// network.collect(epoll, 16, &mut events)?;
    /// assert_eq!(events, [Ready { events: libc::EPOLLIN as u32, data: 7 }]);
    /// # Ok::<(), hostsim::errno::Errno>(())
    /// ```
    pub fn collect(&mut self, epoll: Descriptor, max: usize, into: &mut Vec<Ready>) -> Sys<()> {
        let (id, Object::Epoll(set)) = self.object(epoll)? else { return Err(Errno::EINVAL) };
        let mut again = Vec::new();
        for _ in 0..set.queued() {
            if into.len() >= max {
                break;
            }
            let Some((slot, watch)) = self.set(epoll.host, id).pop() else { break };
            let bits = self.readiness(epoll.host, watch.file);
            let (ready, stays) = self.set(epoll.host, id).report(slot, bits);
            into.extend(ready);
            if stays {
                again.push(slot);
            }
        }
        for slot in again {
            self.set(epoll.host, id).requeue(slot);
        }
        Ok(())
    }

    fn set(&mut self, host: HostId, id: FileId) -> &mut Epoll {
        self.kernel(host).epoll_mut(id).expect("the file is an epoll file")
    }

    /// What a poll of a descriptor reports now, as `poll(2)` without waiting.
    ///
    /// # Errors
    /// `EBADF`.
    ///
    /// ```
    /// use hostsim::tcp::Readiness;
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
    /// assert!(!network.poll(accepted)?.meets(Readiness::IN));
    /// network.send(dialer, b"hello")?;
    /// assert!(network.poll(accepted)?.meets(Readiness::IN));
    /// # Ok::<(), hostsim::errno::Errno>(())
    /// ```
    pub fn poll(&mut self, at: Descriptor) -> Sys<Readiness> {
        self.kind(at)?;
        let (file, _) = self.object(at)?;
        Ok(self.readiness(at.host, file))
    }

    /// What a poll of a file reports now.
    fn readiness(&mut self, host: HostId, file: FileId) -> Readiness {
        let is_accepting = self.host(host).is_accepting;
        let (wire, side) = match &self.kernel(host).file_mut(file).object {
            Object::Counter(Counter { value, .. }) => {
                // Counters know no bands.
                let input = if *value > 0 { libc::EPOLLIN } else { 0 };
                let output = if *value < u64::MAX - 1 { libc::EPOLLOUT } else { 0 };
                return Readiness((input | output) as u32);
            }
            Object::Gone => return Readiness::NONE,
            Object::Epoll(set) => {
                let queued: Vec<Watch> = set.queued_watches().copied().collect();
                let mut any = queued.iter();
                let is_ready = any.any(|watch| watch.meets(self.readiness(host, watch.file)));
                return if is_ready { Readiness::IN } else { Readiness::NONE };
            }
            Object::Unix(id) => {
                let id = *id;
                return self.kernel(host).unix.readiness(id);
            }
            Object::Udp(udp) => return udp.readiness(),
            Object::Socket(Socket { role: Role::Fresh, error, is_read_shut, .. }) => {
                let shut = Readiness::IN.with(Readiness::RDHUP);
                let shut = if *is_read_shut { shut } else { Readiness::NONE };
                let error = if error.is_some() { Readiness::ERR } else { Readiness::NONE };
                return Readiness::OUT.with(Readiness::HUP).with(shut).with(error);
            }
            Object::Socket(Socket { role: Role::Listener(listener), .. }) => {
                let is_ready = !listener.queue.is_empty() && is_accepting;
                return if is_ready { Readiness::IN } else { Readiness::NONE };
            }
            Object::Socket(Socket { role: Role::Connection { wire, side, .. }, .. }) => {
                (WireId(*wire), *side)
            }
        };
        self.catch_up(wire, side ^ 1);
        let bits = self.end(wire, side).readiness();
        self.reschedule(wire, side ^ 1);
        bits
    }

    /// Adds to a counter, as `write(2)`.
    ///
    /// # Errors
    /// `EAGAIN` where it would pass its largest value, `EINVAL` for `u64::MAX`.
    pub(crate) fn count(&mut self, at: Descriptor, value: u64) -> Sys<()> {
        let (id, Object::Counter(counter)) = self.object(at)? else { return Err(Errno::EINVAL) };
        if value == u64::MAX {
            return Err(Errno::EINVAL);
        }
        let sum = counter.value.checked_add(value).filter(|sum| *sum < u64::MAX);
        counter.value = sum.ok_or(Errno::EAGAIN)?;
        self.wake(at.host, id, Readiness::IN);
        Ok(())
    }

    /// Takes a counter's value, or one of it where it is a semaphore, as `read(2)`.
    ///
    /// # Errors
    /// `EAGAIN` where it is zero.
    pub(crate) fn take_count(&mut self, at: Descriptor) -> Sys<u64> {
        let (id, Object::Counter(counter)) = self.object(at)? else { return Err(Errno::EINVAL) };
        let value = counter.take();
        if value == 0 {
            return Err(Errno::EAGAIN);
        }
        self.wake(at.host, id, Readiness::OUT);
        Ok(value)
    }
}
