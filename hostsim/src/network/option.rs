//! Socket options (`socket(7)`, `tcp(7)`, `ip(7)`, `ipv6(7)`).
//!
//! An option that is not here is `ENOPROTOOPT`, as an unknown one is on Linux: never taken in
//! silence.

use super::Network;
use crate::address::Domain;
use crate::errno::{Errno, Sys};
use crate::kernel::{Descriptor, HOPS, Linger, Options, Role};
use std::ops::RangeInclusive;
use std::time::Duration;

/// An option, by level and name as `setsockopt(2)` takes them.
///
/// ```
/// use hostsim::network::{OptionName, OptionValue};
/// # use hostsim::{address::Domain, network::Network};
/// # let mut network = Network::new();
/// # let host = network.add_host("alone");
/// let no_delay = OptionName { level: libc::IPPROTO_TCP, name: libc::TCP_NODELAY };
/// let socket = network.socket(host, Domain::V4, true)?;
/// network.set_option(socket, no_delay, OptionValue::Int(1))?;
/// assert_eq!(network.option(socket, no_delay), Ok(OptionValue::Int(1)));
/// # Ok::<(), hostsim::errno::Errno>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OptionName {
    /// `SOL_SOCKET`, `IPPROTO_TCP`, …
    pub level: i32,
    /// `SO_REUSEADDR`, `TCP_NODELAY`, …
    pub name: i32,
}

/// The value of an option, by the shape it has in memory.
///
/// ```
/// use hostsim::kernel::Linger;
/// use hostsim::network::{OptionName, OptionValue};
/// use std::time::Duration;
/// # use hostsim::{address::Domain, network::Network};
/// # let mut network = Network::new();
/// # let host = network.add_host("alone");
/// let name = OptionName { level: libc::SOL_SOCKET, name: libc::SO_LINGER };
/// let value = OptionValue::Linger(Linger { is_on: true, time: Duration::ZERO });
/// let socket = network.socket(host, Domain::V4, true)?;
/// network.set_option(socket, name, value)?;
/// assert_eq!(network.option(socket, name), Ok(value));
/// # Ok::<(), hostsim::errno::Errno>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionValue {
    /// An `int`.
    Int(i32),
    /// A `struct linger`.
    Linger(Linger),
    /// A `struct timeval`.
    Time(Duration),
}

/// The smallest buffers that Linux gives (`SOCK_MIN_SNDBUF`, `SOCK_MIN_RCVBUF`), in bytes.
const SEND_LIMIT_MIN: usize = 4_608;
const RECEIVE_LIMIT_MIN: usize = 2_304;

/// The largest that a program may ask for (`net.core.wmem_max`, `rmem_max`), in bytes.
const ASKED_MAX: u32 = 212_992;

/// The bits of a traffic class that a program of TCP sets: the last two are the kernel's.
const TRAFFIC_CLASS: i32 = 0xfc;

impl Network {
    /// Sets an option, as `setsockopt(2)`.
    ///
    /// # Errors
    /// `ENOPROTOOPT` for one that is not known, `EINVAL` for a value out of its range.
    ///
    /// ```
    /// use hostsim::errno::Errno;
    /// use hostsim::network::{OptionName, OptionValue};
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
    /// let shared = OptionName { level: libc::SOL_SOCKET, name: libc::SO_REUSEPORT };
    /// network.set_option(listener, shared, OptionValue::Int(1))?;
    /// let unknown = OptionName { level: libc::IPPROTO_TCP, name: 9_999 };
    /// let result = network.set_option(listener, unknown, OptionValue::Int(1));
    /// assert_eq!(result, Err(Errno::ENOPROTOOPT));
    /// # Ok::<(), hostsim::errno::Errno>(())
    /// ```
    pub fn set_option(&mut self, at: Descriptor, name: OptionName, value: OptionValue) -> Sys<()> {
        let socket = match self.socket_of(at) {
            Err(Errno::EOPNOTSUPP) => return self.udp_set_option(at, name, value),
            socket => socket?,
        };
        let is_v6_only = (name.level, name.name) == (libc::IPPROTO_IPV6, libc::IPV6_V6ONLY);
        if name.level == libc::IPPROTO_IPV6 && socket.domain == Domain::V4 {
            return Err(Errno::ENOPROTOOPT);
        }
        if is_v6_only && !self.is_unbound(at)? {
            return Err(Errno::EINVAL);
        }
        set(&mut self.socket_of(at)?.options, name, value)?;
        if let Some((wire, _)) = self.wire_of(at)? {
            // Timers of a silent connection run by what is set now.
            self.rearm(wire);
        }
        match (name.level, name.name) {
            (libc::SOL_SOCKET, libc::SO_SNDBUF | libc::SO_RCVBUF) => self.resize(at),
            _ => Ok(()),
        }
    }

    /// Gives a connection the buffers that its options say. Whoever waits for room is told where
    /// there is some now, the peer of a larger window too: on Linux its next probe finds it.
    fn resize(&mut self, at: Descriptor) -> Sys<()> {
        let (file, socket) = self.kernel_of(at)?.socket_mut(at.number)?;
        let (send, receive) = (socket.options.send_limit, socket.options.receive_limit);
        let Some((wire, side)) = self.wire_of(at)? else { return Ok(()) };
        let wake = self.end(wire, side).set_send_limit(send);
        self.end(wire, side).set_receive_limit(receive);
        self.wake(at.host, file, wake);
        self.flush(wire, side);
        Ok(())
    }

    /// Reads an option, as `getsockopt(2)`.
    ///
    /// # Errors
    /// `ENOPROTOOPT` for one that is not known; IPv4 says `EOPNOTSUPP` for a level that is not.
    ///
    /// ```
    /// use hostsim::errno::Errno;
    /// use hostsim::network::{Dials, OptionName, OptionValue};
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
    /// network.set_dials(server, Dials::Refused);
    /// run(&mut network);
    /// let name = OptionName { level: libc::SOL_SOCKET, name: libc::SO_ERROR };
    /// let refused = OptionValue::Int(Errno::ECONNREFUSED.0);
    /// assert_eq!(network.option(dialer, name), Ok(refused));
    /// assert_eq!(network.option(dialer, name), Ok(OptionValue::Int(0)), "it is told once");
    /// # Ok::<(), hostsim::errno::Errno>(())
    /// ```
    pub fn option(&mut self, at: Descriptor, name: OptionName) -> Sys<OptionValue> {
        let socket = match self.socket_of(at) {
            Err(Errno::EOPNOTSUPP) => return self.udp_option(at, name),
            socket => socket?,
        };
        let (options, domain) = (socket.options, socket.domain);
        let listens = matches!(socket.role, Role::Listener(_));
        if domain == Domain::V4
            && ![libc::SOL_SOCKET, libc::IPPROTO_TCP, libc::IPPROTO_IP].contains(&name.level)
        {
            return Err(Errno::EOPNOTSUPP);
        }
        let value = match (name.level, name.name) {
            (libc::SOL_SOCKET, libc::SO_ERROR) => self.take_error(at)?,
            (libc::SOL_SOCKET, libc::SO_TYPE) => libc::SOCK_STREAM,
            (libc::SOL_SOCKET, libc::SO_PROTOCOL) => libc::IPPROTO_TCP,
            (libc::SOL_SOCKET, libc::SO_DOMAIN) if domain == Domain::V4 => libc::AF_INET,
            (libc::SOL_SOCKET, libc::SO_DOMAIN) => libc::AF_INET6,
            (libc::SOL_SOCKET, libc::SO_ACCEPTCONN) => i32::from(listens),
            _ => return get(&options, name),
        };
        Ok(OptionValue::Int(value))
    }

    fn take_error(&mut self, at: Descriptor) -> Sys<i32> {
        let error = match self.wire_of(at)? {
            Some((wire, side)) => {
                self.catch_up(wire, side ^ 1);
                self.end(wire, side).take_error()
            }
            None => self.socket_of(at)?.error.take(),
        };
        Ok(error.map_or(0, |error| error.0))
    }
}

/// Sets what `setsockopt(2)` only keeps.
pub(super) fn set(options: &mut Options, name: OptionName, value: OptionValue) -> Sys<()> {
    match value {
        OptionValue::Int(value) => set_int(options, name, value)?,
        OptionValue::Linger(linger) if linger.is_on => options.linger = linger,
        OptionValue::Linger(_) => options.linger.is_on = false,
        OptionValue::Time(time) if name.name == libc::SO_RCVTIMEO => {
            options.receive_timeout = time;
        }
        OptionValue::Time(time) => options.send_timeout = time,
    }
    Ok(())
}

fn set_int(options: &mut Options, name: OptionName, value: i32) -> Sys<()> {
    let is_on = value != 0;
    let at_least = |min: i32, max: i32| match value {
        value if (min..=max).contains(&value) => Ok(value),
        _ => Err(Errno::EINVAL),
    };
    // Linux doubles what is asked, for its own bookkeeping, and reports the double. It takes what is
    // negative for something large.
    let doubled = 2 * value.cast_unsigned().min(ASKED_MAX) as usize;
    let or_default = |default: i32, range: RangeInclusive<i32>| match value {
        -1 => Ok(default),
        value if range.contains(&value) => Ok(value),
        _ => Err(Errno::EINVAL),
    };
    match (name.level, name.name) {
        (libc::SOL_SOCKET, libc::SO_REUSEADDR) => options.reuses_address = is_on,
        (libc::SOL_SOCKET, libc::SO_REUSEPORT) => options.reuses_port = is_on,
        (libc::SOL_SOCKET, libc::SO_KEEPALIVE) => options.keeps_alive = is_on,
        (libc::SOL_SOCKET, libc::SO_BROADCAST) => options.is_broadcast = is_on,
        (libc::SOL_SOCKET, libc::SO_SNDBUF) => options.send_limit = doubled.max(SEND_LIMIT_MIN),
        (libc::SOL_SOCKET, libc::SO_RCVBUF) => {
            options.receive_limit = doubled.max(RECEIVE_LIMIT_MIN);
        }
        (libc::IPPROTO_TCP, libc::TCP_NODELAY) => options.is_undelayed = is_on,
        (libc::IPPROTO_TCP, libc::TCP_QUICKACK) => options.is_quick = is_on,
        (libc::IPPROTO_TCP, libc::TCP_KEEPIDLE) => options.keep_idle = at_least(1, 32_767)?,
        (libc::IPPROTO_TCP, libc::TCP_KEEPINTVL) => options.keep_interval = at_least(1, 32_767)?,
        (libc::IPPROTO_TCP, libc::TCP_KEEPCNT) => options.keep_count = at_least(1, 127)?,
        (libc::IPPROTO_TCP, libc::TCP_USER_TIMEOUT) => {
            options.user_timeout = at_least(0, i32::MAX)?;
        }
        (libc::IPPROTO_TCP, libc::TCP_SYNCNT) => options.syn_count = at_least(1, 127)?,
        (libc::IPPROTO_IPV6, libc::IPV6_V6ONLY) => options.is_v6_only = is_on,
        (libc::IPPROTO_IP, libc::IP_TOS) => options.traffic_class = value & TRAFFIC_CLASS,
        (libc::IPPROTO_IPV6, libc::IPV6_TCLASS) => {
            options.traffic_class_v6 = or_default(0, 0..=255)? & TRAFFIC_CLASS;
        }
        (libc::IPPROTO_IP, libc::IP_TTL) => options.hops = or_default(HOPS, 1..=255)?,
        (libc::IPPROTO_IPV6, libc::IPV6_UNICAST_HOPS) => {
            options.hops_v6 = or_default(HOPS, 0..=255)?;
        }
        _ => return Err(Errno::ENOPROTOOPT),
    }
    Ok(())
}

/// Reads what `setsockopt(2)` set.
pub(super) fn get(options: &Options, name: OptionName) -> Sys<OptionValue> {
    Ok(match (name.level, name.name) {
        (libc::SOL_SOCKET, libc::SO_LINGER) => OptionValue::Linger(options.linger),
        (libc::SOL_SOCKET, libc::SO_RCVTIMEO) => OptionValue::Time(options.receive_timeout),
        (libc::SOL_SOCKET, libc::SO_SNDTIMEO) => OptionValue::Time(options.send_timeout),
        _ => OptionValue::Int(get_int(options, name)?),
    })
}

fn get_int(options: &Options, name: OptionName) -> Sys<i32> {
    Ok(match (name.level, name.name) {
        (libc::SOL_SOCKET, libc::SO_REUSEADDR) => i32::from(options.reuses_address),
        (libc::SOL_SOCKET, libc::SO_REUSEPORT) => i32::from(options.reuses_port),
        (libc::SOL_SOCKET, libc::SO_KEEPALIVE) => i32::from(options.keeps_alive),
        (libc::SOL_SOCKET, libc::SO_BROADCAST) => i32::from(options.is_broadcast),
        (libc::SOL_SOCKET, libc::SO_SNDBUF) => options.send_limit.max(SEND_LIMIT_MIN) as i32,
        (libc::SOL_SOCKET, libc::SO_RCVBUF) => options.receive_limit.max(RECEIVE_LIMIT_MIN) as i32,
        (libc::IPPROTO_TCP, libc::TCP_NODELAY) => i32::from(options.is_undelayed),
        (libc::IPPROTO_TCP, libc::TCP_QUICKACK) => i32::from(options.is_quick),
        (libc::IPPROTO_TCP, libc::TCP_KEEPIDLE) => options.keep_idle,
        (libc::IPPROTO_TCP, libc::TCP_KEEPINTVL) => options.keep_interval,
        (libc::IPPROTO_TCP, libc::TCP_KEEPCNT) => options.keep_count,
        (libc::IPPROTO_TCP, libc::TCP_USER_TIMEOUT) => options.user_timeout,
        (libc::IPPROTO_TCP, libc::TCP_SYNCNT) => options.syn_count,
        (libc::IPPROTO_IPV6, libc::IPV6_V6ONLY) => i32::from(options.is_v6_only),
        (libc::IPPROTO_IP, libc::IP_TOS) => options.traffic_class,
        (libc::IPPROTO_IPV6, libc::IPV6_TCLASS) => options.traffic_class_v6,
        (libc::IPPROTO_IP, libc::IP_TTL) => options.hops,
        (libc::IPPROTO_IPV6, libc::IPV6_UNICAST_HOPS) => options.hops_v6,
        _ => return Err(Errno::ENOPROTOOPT),
    })
}
