//! Socket options (`socket(7)`, `tcp(7)`, `ip(7)`, `ipv6(7)`).
//!
//! An option that is not here is `ENOPROTOOPT`, as an unknown one is on Linux: never taken in
//! silence.

use super::Network;
use crate::address::Domain;
use crate::errno::{Errno, Sys};
use crate::kernel::{Descriptor, Options, Role};
use std::time::Duration;

/// An option, by level and name as `setsockopt(2)` takes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OptionName {
    /// `SOL_SOCKET`, `IPPROTO_TCP`, …
    pub level: i32,
    /// `SO_REUSEADDR`, `TCP_NODELAY`, …
    pub name: i32,
}

/// The value of an option, by the shape it has in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionValue {
    /// An `int`.
    Int(i32),
    /// A `struct linger`: off, or on for so long.
    Linger(Option<Duration>),
    /// A `struct timeval`.
    Time(Duration),
}

/// The smallest buffers that Linux gives (`SOCK_MIN_SNDBUF`, `SOCK_MIN_RCVBUF`), in bytes.
const SEND_LIMIT_MIN: usize = 4_608;
const RECEIVE_LIMIT_MIN: usize = 2_304;

/// The largest that a program may ask for (`net.core.wmem_max`, `rmem_max`), in bytes.
const ASKED_MAX: i32 = 212_992;

impl Network {
    /// Sets an option, as `setsockopt(2)`.
    ///
    /// # Errors
    /// `ENOPROTOOPT` for one that is not known, `EINVAL` for a value out of its range.
    pub fn set_option(&mut self, at: Descriptor, name: OptionName, value: OptionValue) -> Sys<()> {
        let socket = self.socket_of(at)?;
        let options = &mut socket.options;
        match value {
            OptionValue::Int(value) => set_int(options, name, value)?,
            OptionValue::Linger(linger) => options.linger = linger,
            OptionValue::Time(time) if name.name == libc::SO_RCVTIMEO => {
                options.receive_timeout = time;
            }
            OptionValue::Time(time) => options.send_timeout = time,
        }
        let (send, receive) = (options.send_limit, options.receive_limit);
        if let Some((wire, side)) = self.wire_of(at)? {
            self.end(wire, side).set_send_limit(send);
            self.end(wire, side).set_receive_limit(receive);
        }
        Ok(())
    }

    /// Reads an option, as `getsockopt(2)`.
    ///
    /// # Errors
    /// `ENOPROTOOPT` for one that is not known.
    pub fn option(&mut self, at: Descriptor, name: OptionName) -> Sys<OptionValue> {
        let socket = self.socket_of(at)?;
        let (options, domain) = (socket.options, socket.domain);
        let listens = matches!(socket.role, Role::Listener(_));
        let value = match (name.level, name.name) {
            (libc::SOL_SOCKET, libc::SO_LINGER) => return Ok(OptionValue::Linger(options.linger)),
            (libc::SOL_SOCKET, libc::SO_RCVTIMEO) => {
                return Ok(OptionValue::Time(options.receive_timeout));
            }
            (libc::SOL_SOCKET, libc::SO_SNDTIMEO) => {
                return Ok(OptionValue::Time(options.send_timeout));
            }
            (libc::SOL_SOCKET, libc::SO_ERROR) => self.take_error(at)?,
            (libc::SOL_SOCKET, libc::SO_TYPE) => libc::SOCK_STREAM,
            (libc::SOL_SOCKET, libc::SO_PROTOCOL) => libc::IPPROTO_TCP,
            (libc::SOL_SOCKET, libc::SO_DOMAIN) if domain == Domain::V4 => libc::AF_INET,
            (libc::SOL_SOCKET, libc::SO_DOMAIN) => libc::AF_INET6,
            (libc::SOL_SOCKET, libc::SO_ACCEPTCONN) => i32::from(listens),
            (libc::SOL_SOCKET, libc::SO_SNDBUF) => options.send_limit as i32,
            (libc::SOL_SOCKET, libc::SO_RCVBUF) => options.receive_limit as i32,
            _ => get_int(&options, name)?,
        };
        Ok(OptionValue::Int(value))
    }

    fn take_error(&mut self, at: Descriptor) -> Sys<i32> {
        let Some((wire, side)) = self.wire_of(at)? else { return Ok(0) };
        self.catch_up(wire, side ^ 1);
        Ok(self.end(wire, side).take_error().map_or(0, |error| error.0))
    }
}

fn set_int(options: &mut Options, name: OptionName, value: i32) -> Sys<()> {
    let is_on = value != 0;
    let at_least = |min: i32, max: i32| match value {
        value if (min..=max).contains(&value) => Ok(value),
        _ => Err(Errno::EINVAL),
    };
    // Linux doubles what is asked, for its own bookkeeping, and reports the double.
    let doubled = 2 * value.clamp(0, ASKED_MAX) as usize;
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
        (libc::IPPROTO_IP, libc::IP_TOS) | (libc::IPPROTO_IPV6, libc::IPV6_TCLASS) => {
            options.traffic_class = value & 0xff;
        }
        (libc::IPPROTO_IP, libc::IP_TTL) => options.hops = at_least(1, 255)?,
        (libc::IPPROTO_IPV6, libc::IPV6_UNICAST_HOPS) => options.hops = at_least(0, 255)?,
        _ => return Err(Errno::ENOPROTOOPT),
    }
    Ok(())
}

fn get_int(options: &Options, name: OptionName) -> Sys<i32> {
    Ok(match (name.level, name.name) {
        (libc::SOL_SOCKET, libc::SO_REUSEADDR) => i32::from(options.reuses_address),
        (libc::SOL_SOCKET, libc::SO_REUSEPORT) => i32::from(options.reuses_port),
        (libc::SOL_SOCKET, libc::SO_KEEPALIVE) => i32::from(options.keeps_alive),
        (libc::SOL_SOCKET, libc::SO_BROADCAST) => i32::from(options.is_broadcast),
        (libc::IPPROTO_TCP, libc::TCP_NODELAY) => i32::from(options.is_undelayed),
        (libc::IPPROTO_TCP, libc::TCP_QUICKACK) => i32::from(options.is_quick),
        (libc::IPPROTO_TCP, libc::TCP_KEEPIDLE) => options.keep_idle,
        (libc::IPPROTO_TCP, libc::TCP_KEEPINTVL) => options.keep_interval,
        (libc::IPPROTO_TCP, libc::TCP_KEEPCNT) => options.keep_count,
        (libc::IPPROTO_TCP, libc::TCP_USER_TIMEOUT) => options.user_timeout,
        (libc::IPPROTO_TCP, libc::TCP_SYNCNT) => options.syn_count,
        (libc::IPPROTO_IPV6, libc::IPV6_V6ONLY) => i32::from(options.is_v6_only),
        (libc::IPPROTO_IP, libc::IP_TOS) | (libc::IPPROTO_IPV6, libc::IPV6_TCLASS) => {
            options.traffic_class
        }
        (libc::IPPROTO_IP, libc::IP_TTL) | (libc::IPPROTO_IPV6, libc::IPV6_UNICAST_HOPS) => {
            options.hops
        }
        _ => return Err(Errno::ENOPROTOOPT),
    })
}
