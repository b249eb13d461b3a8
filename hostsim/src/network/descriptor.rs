//! The calls of programs on descriptors of any kind.

use super::Network;
use crate::address::Domain;
use crate::errno::{Errno, Sys};
use crate::kernel::{DESCRIPTOR_MIN, Descriptor, Object, Role, Socket};

/// What a descriptor is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A socket.
    Socket,
    /// A set of watched files.
    Epoll,
    /// A counter.
    Counter,
}

/// What protocol a socket speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    /// TCP, over IPv4 or IPv6.
    Tcp,
    /// UDP, over IPv4 or IPv6.
    Udp,
    /// A stream within the host.
    Unix,
}

impl Network {
    /// What a descriptor is of.
    ///
    /// # Errors
    /// `EBADF`.
    pub(crate) fn kind(&mut self, at: Descriptor) -> Sys<Kind> {
        Ok(match self.object(at)?.1 {
            Object::Socket(_) | Object::Unix(_) | Object::Udp(_) => Kind::Socket,
            Object::Epoll(_) => Kind::Epoll,
            Object::Counter(_) => Kind::Counter,
            Object::Gone => return Err(Errno::EBADF),
        })
    }

    /// What protocol a socket speaks.
    ///
    /// # Errors
    /// `EBADF`, `ENOTSOCK`.
    pub(crate) fn protocol(&mut self, at: Descriptor) -> Sys<Protocol> {
        match self.object(at)?.1 {
            Object::Socket(_) => Ok(Protocol::Tcp),
            Object::Udp(_) => Ok(Protocol::Udp),
            Object::Unix(_) => Ok(Protocol::Unix),
            Object::Gone => Err(Errno::EBADF),
            _ => Err(Errno::ENOTSOCK),
        }
    }

    /// The domain of a socket of IP.
    ///
    /// # Errors
    /// `EBADF`, `ENOTSOCK`.
    ///
    /// ```
    /// # use hostsim::{address::Domain, network::Network};
    /// # let mut network = Network::new();
    /// # let host = network.add_host("alone");
    /// let socket = network.socket(host, Domain::V6, true)?;
    /// assert_eq!(network.domain(socket), Ok(Domain::V6));
    /// # Ok::<(), hostsim::errno::Errno>(())
    /// ```
    pub fn domain(&mut self, at: Descriptor) -> Sys<Domain> {
        match self.object(at)?.1 {
            Object::Socket(socket) => Ok(socket.domain),
            Object::Udp(udp) => Ok(udp.domain),
            Object::Gone => Err(Errno::EBADF),
            _ => Err(Errno::ENOTSOCK),
        }
    }

    /// Another descriptor of the same file, as `fcntl(2)` with `F_DUPFD`: the lowest free one from
    /// the number `from` on, as the program holds it.
    ///
    /// # Errors
    /// `EBADF`, `EMFILE`, `EINVAL` where the host has no number from `from` on.
    ///
    /// ```
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
    /// let copy = network.duplicate(dialer, 0)?;
    /// assert_ne!(copy, dialer);
    /// // The connection ends with its last descriptor.
    /// network.close(dialer)?;
    /// assert_eq!(network.send(copy, b"hello"), Ok(5));
    /// # Ok::<(), hostsim::errno::Errno>(())
    /// ```
    pub fn duplicate(&mut self, at: Descriptor, from: i32) -> Sys<Descriptor> {
        let kernel = self.kernel_of(at)?;
        let from = match Descriptor::from_raw(from) {
            Some(from) if from.host == at.host => from.number,
            None if (0..DESCRIPTOR_MIN).contains(&from) => 0,
            _ => return Err(Errno::EINVAL),
        };
        Ok(Descriptor { number: kernel.duplicate(at.number, from)?, ..at })
    }

    /// Whether a descriptor is closed by `execve(2)` (`FD_CLOEXEC`).
    ///
    /// # Errors
    /// `EBADF`.
    pub(crate) fn closes_on_exec(&mut self, at: Descriptor) -> Sys<bool> {
        self.kernel_of(at)?.closes_on_exec(at.number)
    }

    /// Sets whether a descriptor is closed by `execve(2)`.
    ///
    /// # Errors
    /// `EBADF`.
    pub(crate) fn set_closes_on_exec(&mut self, at: Descriptor, closes_on_exec: bool) -> Sys<()> {
        self.kernel_of(at)?.set_closes_on_exec(at.number, closes_on_exec)
    }

    /// Whether calls on a descriptor never wait (`O_NONBLOCK`).
    ///
    /// # Errors
    /// `EBADF`.
    pub(crate) fn is_nonblocking(&mut self, at: Descriptor) -> Sys<bool> {
        let (id, _) = self.object(at)?;
        Ok(self.kernel(at.host).file_mut(id).is_nonblocking)
    }

    /// Sets whether calls on a descriptor never wait.
    ///
    /// # Errors
    /// `EBADF`.
    pub(crate) fn set_nonblocking(&mut self, at: Descriptor, is_nonblocking: bool) -> Sys<()> {
        let (id, _) = self.object(at)?;
        self.kernel(at.host).file_mut(id).is_nonblocking = is_nonblocking;
        Ok(())
    }

    /// How many bytes wait to be read, as `FIONREAD`: of a UDP socket those of the first datagram.
    ///
    /// # Errors
    /// `EINVAL` for a listener (`tcp(7)`) and for an epoll file, `ENOTTY` for a counter.
    ///
    /// ```
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
    /// network.send(dialer, b"hello")?;
    /// network.receive(accepted, &mut [0; 2], false)?;
    /// assert_eq!(network.unread(accepted), Ok(3));
    /// # Ok::<(), hostsim::errno::Errno>(())
    /// ```
    pub fn unread(&mut self, at: Descriptor) -> Sys<usize> {
        match self.object(at)?.1 {
            Object::Socket(Socket { role: Role::Listener(_), .. }) => Err(Errno::EINVAL),
            Object::Socket(_) => Ok(match self.wire_of(at)? {
                Some((wire, side)) => self.end(wire, side).unread(),
                None => 0,
            }),
            Object::Unix(id) => {
                let id = *id;
                let unix = &self.kernel(at.host).unix;
                if unix.listens(id) { Err(Errno::EINVAL) } else { Ok(unix.unread(id)) }
            }
            Object::Udp(udp) => Ok(udp.unread()),
            Object::Epoll(_) => Err(Errno::EINVAL),
            Object::Counter(_) => Err(Errno::ENOTTY),
            Object::Gone => Err(Errno::EBADF),
        }
    }

    /// How many written bytes are not acknowledged, as `SIOCOUTQ`; of a Unix socket what they take
    /// of its limit.
    ///
    /// # Errors
    /// As [`Network::unread`].
    ///
    /// ```
    /// # use hostsim::{address::Domain, network::Network};
    /// # let mut network = Network::new();
    /// # let (client, server) = (network.add_host("client"), network.add_host("server"));
    /// # let run = |network: &mut Network| {
    /// #     while let Some(due) = network.agenda().earliest() {
    /// #         network.advance(due.max(network.now().next()));
    /// #         let event = network.take(0);
    /// #         network.deliver(event.key);
    /// #     }
    /// # };
    /// # let address = std::net::SocketAddr::new(network.address(server), 7);
    /// # let listener = network.socket(server, Domain::V4, true)?;
    /// # network.bind(listener, address)?;
    /// # network.listen(listener, 8)?;
    /// # let dialer = network.socket(client, Domain::V4, true)?;
    /// # network.connect(dialer, address).unwrap_err();
    /// # run(&mut network);
    /// # let (accepted, _) = network.accept(listener, true)?;
    /// network.send(dialer, b"hello")?;
    /// assert_eq!(network.unacknowledged(dialer), Ok(5));
    /// run(&mut network);
    /// assert_eq!(network.unacknowledged(dialer), Ok(0));
    /// # Ok::<(), hostsim::errno::Errno>(())
    /// ```
    pub fn unacknowledged(&mut self, at: Descriptor) -> Sys<usize> {
        if let Object::Unix(id) = self.object(at)?.1 {
            let id = *id;
            return Ok(self.kernel(at.host).unix.charged(id));
        }
        self.unread(at)?;
        if self.protocol(at)? == Protocol::Udp {
            return Ok(0);
        }
        Ok(match self.wire_of(at)? {
            Some((wire, side)) => {
                self.catch_up(wire, side ^ 1);
                self.end(wire, side).unacknowledged()
            }
            None => 0,
        })
    }
}
