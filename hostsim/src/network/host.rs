//! A host: its name, address, kernel and what was handed to it.

use super::order::Dials;
use super::reach;
use super::udp::Sockets;
use crate::address::Ports;
use crate::clock::{HostClock, Instant};
use crate::kernel::{HostId, Kernel};
use std::net::IpAddr;
use std::time::Duration;

/// The bytes that a new socket keeps for sending. Linux starts at 16 KiB and grows the buffer with
/// the connection, to 4 MiB (`tcp_wmem`); here it is one size between.
pub const SEND_LIMIT: usize = 256 << 10;

/// The bytes that a new socket keeps for reading, where Linux starts (`tcp_rmem`).
pub const RECEIVE_LIMIT: usize = 128 << 10;

/// A source of a host's random bytes, handed in: the kernel has none of its own.
pub type Entropy = Box<dyn FnMut(&mut [u8])>;

/// The way from one host to another.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Link {
    pub(super) latency: Duration,
    /// What is sent on it is lost.
    pub(super) is_cut: bool,
}

/// A host of a network.
///
/// ```
/// use hostsim::network::RECEIVE_LIMIT;
/// # use hostsim::network::Network;
/// # let mut network = Network::new();
/// let db = network.add_host("db");
/// // What a driver may set: buffers, clocks, whether it runs.
/// let host = network.host_mut(db);
/// host.receive_limit = RECEIVE_LIMIT / 2;
/// host.clock.set_skew(-3_000_000_000);
/// host.is_paused = true;
/// let host = network.host(db);
/// assert_eq!((host.name.as_str(), host.is_paused, host.is_down()), ("db", true, false));
/// ```
pub struct Host {
    /// Its name.
    pub name: String,
    /// Its IPv4 address, beside loopback.
    pub address: IpAddr,
    /// Its IPv6 address, beside loopback.
    pub address_v6: IpAddr,
    /// The bytes that new sockets keep for sending.
    pub send_limit: usize,
    /// The bytes that new sockets keep for reading.
    pub receive_limit: usize,
    /// Until when a call that slept keeps the host's machine from doing anything.
    pub busy_until: Instant,
    /// What its clocks show.
    pub clock: HostClock,
    /// Its machine does not run, as a stopped process; its kernel goes on.
    pub is_paused: bool,
    /// Its process is over: what is left of it makes no sockets and changes no files.
    pub(super) is_down: bool,
    pub(crate) entropy: Entropy,
    pub(super) kernel: Kernel,
    /// The ports of TCP.
    pub(super) ports: Ports,
    /// The ports of UDP and who has them.
    pub(super) udp: Sockets,
    /// The way to each host.
    pub(super) links: Vec<Link>,
    /// Nothing leaves it or reaches it.
    pub(super) is_fenced: bool,
    pub(super) dials: Dials,
    /// Its programs may accept.
    pub(super) is_accepting: bool,
    pub(super) is_runnable: bool,
}

impl Host {
    pub(super) fn new(name: &str, id: HostId) -> Host {
        let address = reach::v4_of(id);
        Host {
            name: name.to_owned(),
            address: IpAddr::V4(address),
            address_v6: IpAddr::V6(reach::v6_of(id)),
            send_limit: SEND_LIMIT,
            receive_limit: RECEIVE_LIMIT,
            busy_until: Instant::START,
            clock: HostClock::default(),
            is_paused: false,
            is_down: false,
            entropy: fixed_entropy(u64::from(u32::from(address))),
            kernel: Kernel::default(),
            ports: Ports::default(),
            udp: Sockets::default(),
            links: Vec::new(),
            is_fenced: false,
            dials: Dials::Open,
            is_accepting: true,
            is_runnable: false,
        }
    }

    /// Gives the host its random bytes.
    ///
    /// ```
    /// use hostsim::{seam, world::World};
    /// use std::hash::{BuildHasher, RandomState};
    ///
    /// // std makes the keys of its hash maps once a thread.
    /// let hash = |byte: u8| {
    ///     let program = move || {
    ///         let world = World::new();
    ///         let _entered = seam::enter(&world);
    ///         let host = world.with(|network| network.add_host("alone"));
    ///         let bytes = Box::new(move |into: &mut [u8]| into.fill(byte));
    ///         world.with(|network| network.host_mut(host).set_entropy(bytes));
    ///         world.in_turn(host, || RandomState::new().hash_one("a key"))
    ///     };
    ///     std::thread::spawn(program).join().expect("it does not panic")
    /// };
    /// assert_eq!(hash(1), hash(1));
    /// assert_ne!(hash(1), hash(2));
    /// ```
    pub fn set_entropy(&mut self, entropy: Entropy) {
        self.entropy = entropy;
    }

    /// Whether its process is over.
    ///
    /// ```
    /// # use hostsim::network::Network;
    /// # let mut network = Network::new();
    /// let db = network.add_host("db");
    /// network.end_process(db);
    /// assert!(network.host(db).is_down());
    /// ```
    pub fn is_down(&self) -> bool {
        self.is_down
    }

    /// Whether the host is off the network.
    ///
    /// ```
    /// # use hostsim::network::Network;
    /// # let mut network = Network::new();
    /// let db = network.add_host("db");
    /// network.fence(db);
    /// assert!(network.host(db).is_fenced());
    /// ```
    pub fn is_fenced(&self) -> bool {
        self.is_fenced
    }
}

impl std::fmt::Debug for Host {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.name, self.address)
    }
}

/// Random bytes for whoever hands none in: SplitMix64, the same in every run.
pub(crate) fn fixed_entropy(seed: u64) -> Entropy {
    let mut state = seed;
    Box::new(move |into| {
        for chunk in into.chunks_mut(8) {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut word = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            word ^= word >> 31;
            chunk.copy_from_slice(&word.to_le_bytes()[..chunk.len()]);
        }
    })
}
