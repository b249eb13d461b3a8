//! A socket: its family, options and what it became.

use crate::address::{ClaimId, Domain};
use crate::errno::Errno;
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::Duration;

/// `SO_LINGER`
///
/// ```
/// use hostsim::errno::Errno;
/// use hostsim::kernel::Linger;
/// use hostsim::network::{OptionName, OptionValue};
/// use std::time::Duration;
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
/// let linger = Linger { is_on: true, time: Duration::ZERO };
/// let name = OptionName { level: libc::SOL_SOCKET, name: libc::SO_LINGER };
/// network.set_option(dialer, name, OptionValue::Linger(linger))?;
/// network.close(dialer)?;
/// assert_eq!(network.receive(accepted, &mut [0; 8], false), Err(Errno::ECONNRESET));
/// # Ok::<(), hostsim::errno::Errno>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Linger {
    /// Whether it is on.
    pub is_on: bool,
    /// For how long, in whole seconds; kept when it is turned off.
    pub time: Duration,
}

impl Linger {
    /// Whether a close resets the connection (row B15).
    ///
    /// ```
    /// use hostsim::kernel::Linger;
    /// use std::time::Duration;
    ///
    /// assert!(Linger { is_on: true, time: Duration::ZERO }.is_reset());
    /// assert!(!Linger { is_on: true, time: Duration::from_secs(1) }.is_reset());
    /// assert!(!Linger::default().is_reset());
    /// ```
    pub fn is_reset(self) -> bool {
        self.is_on && self.time.is_zero()
    }
}

/// What `setsockopt(2)` set, with the defaults of Linux.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Options {
    /// `SO_REUSEADDR`
    pub(crate) reuses_address: bool,
    /// `SO_REUSEPORT`
    pub(crate) reuses_port: bool,
    /// `SO_KEEPALIVE`
    pub(crate) keeps_alive: bool,
    /// `SO_BROADCAST`
    pub(crate) is_broadcast: bool,
    /// `SO_LINGER`
    pub(crate) linger: Linger,
    /// `SO_RCVTIMEO`, in whole microseconds; zero waits for ever.
    pub(crate) receive_timeout: Duration,
    /// `SO_SNDTIMEO`, in whole microseconds; zero waits for ever.
    pub(crate) send_timeout: Duration,
    /// `TCP_NODELAY`
    pub(crate) is_undelayed: bool,
    /// `TCP_QUICKACK`
    pub(crate) is_quick: bool,
    /// `TCP_KEEPIDLE`, in seconds.
    pub(crate) keep_idle: i32,
    /// `TCP_KEEPINTVL`, in seconds.
    pub(crate) keep_interval: i32,
    /// `TCP_KEEPCNT`
    pub(crate) keep_count: i32,
    /// `TCP_USER_TIMEOUT`, in milliseconds.
    pub(crate) user_timeout: i32,
    /// `TCP_SYNCNT`
    pub(crate) syn_count: i32,
    /// `IPV6_V6ONLY`
    pub(crate) is_v6_only: bool,
    /// `IP_TOS`
    pub(crate) traffic_class: i32,
    /// `IPV6_TCLASS`
    pub(crate) traffic_class_v6: i32,
    /// `IP_TTL`
    pub(crate) hops: i32,
    /// `IPV6_UNICAST_HOPS`
    pub(crate) hops_v6: i32,
    /// The bytes kept for sending; `SO_SNDBUF` reports twice what was asked, which is this.
    pub(crate) send_limit: usize,
    /// The bytes kept for reading; `SO_RCVBUF` likewise.
    pub(crate) receive_limit: usize,
}

/// How many hops a segment takes at most where nothing else is asked for.
pub(crate) const HOPS: i32 = 64;

impl Options {
    /// How often a SYN is sent again (`tcp_syn_retries`).
    pub(crate) const SYN_COUNT: u32 = 6;

    /// The options of a new socket on a host with these buffers, in bytes.
    pub(crate) const fn new(send_limit: usize, receive_limit: usize) -> Options {
        Options {
            reuses_address: false,
            reuses_port: false,
            keeps_alive: false,
            is_broadcast: false,
            linger: Linger { is_on: false, time: Duration::ZERO },
            receive_timeout: Duration::ZERO,
            send_timeout: Duration::ZERO,
            is_undelayed: false,
            is_quick: true,
            keep_idle: 7200,
            keep_interval: 75,
            keep_count: 9,
            user_timeout: 0,
            syn_count: Options::SYN_COUNT as i32,
            is_v6_only: false,
            traffic_class: 0,
            traffic_class_v6: 0,
            hops: HOPS,
            hops_v6: HOPS,
            send_limit,
            receive_limit,
        }
    }
}

/// Connections that wait for `accept`, and those whose handshake goes on.
#[derive(Debug)]
pub(crate) struct Listener {
    /// How many wait at most; one more is let in (row A08).
    pub(crate) backlog: usize,
    /// Established and not yet accepted, first come first.
    pub(crate) queue: VecDeque<u32>,
    /// Connections whose handshake goes on.
    pub(crate) handshaking: Vec<u32>,
    /// It hears no SYN.
    pub(crate) is_deaf: bool,
}

impl Listener {
    /// Whether another SYN is dropped.
    pub(crate) fn is_full(&self) -> bool {
        self.queue.len() + self.handshaking.len() > self.backlog
    }
}

/// What a program was told of a connection (Linux `socket_state`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// It dialed, and no call has told how that went.
    Connecting,
    /// It is connected.
    Connected,
    /// It was shut down after its dial failed: no call will tell.
    Disconnecting,
}

/// What a socket became.
#[derive(Debug)]
pub(crate) enum Role {
    /// Neither listens nor connects.
    Fresh,
    /// Listens.
    Listener(Listener),
    /// One end of the connection with this number.
    Connection {
        /// The number of the connection in its network.
        wire: u32,
        /// Which end: 0 dialed, 1 was accepted.
        side: u8,
        /// What the program was told of it.
        phase: Phase,
    },
}

impl Socket {
    /// A bind that found its port taken leaves no address, but for a port of the program's choice.
    pub(crate) fn forget_address(&mut self) {
        let any = self.domain.unspecified();
        self.bound = self.bound.filter(|bound| bound.port() != 0);
        for address in [&mut self.local, &mut self.shown].into_iter().flatten() {
            address.set_ip(any);
        }
    }
}

/// A socket of TCP.
#[derive(Debug)]
pub(crate) struct Socket {
    /// Its family.
    pub(crate) domain: Domain,
    /// Its options.
    pub(crate) options: Options,
    /// Its own address, once bound, in canonical form.
    pub(crate) local: Option<SocketAddr>,
    /// Its claim on a port.
    pub(crate) claim: Option<ClaimId>,
    /// The address that the program bound it to; port 0 where the host was to choose one.
    pub(crate) bound: Option<SocketAddr>,
    /// What it shows as its address while it has none: a port that the host chose goes with the
    /// connection, and its number stays to be seen.
    pub(crate) shown: Option<SocketAddr>,
    /// A shutdown that found no connection ended reading: it holds for the next one.
    pub(crate) is_read_shut: bool,
    /// A shutdown that found no connection ended writing.
    pub(crate) is_write_shut: bool,
    /// The error that waits on a socket without a connection.
    pub(crate) error: Option<Errno>,
    /// What it became.
    pub(crate) role: Role,
}

impl Socket {
    /// A socket that is neither bound nor anything else.
    pub(crate) const fn new(domain: Domain, options: Options) -> Socket {
        Socket {
            domain,
            options,
            local: None,
            claim: None,
            bound: None,
            shown: None,
            is_read_shut: false,
            is_write_shut: false,
            error: None,
            role: Role::Fresh,
        }
    }
}
