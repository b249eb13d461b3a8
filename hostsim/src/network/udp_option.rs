//! The options of UDP sockets (`udp(7)`, `ip(7)`, `ipv6(7)`).
//!
//! Of `udp(7)` itself there is none: `UDP_SEGMENT`, `UDP_GRO` and `UDP_CORK` are `ENOPROTOOPT`, as
//! on a kernel before they came. No group of multicast can be joined, as on a host without an
//! interface for it.

use super::Network;
use super::option::{self, OptionName, OptionValue};
use crate::address::Domain;
use crate::errno::{Errno, Sys};
use crate::kernel::{Descriptor, Udp};

impl Network {
    /// # Errors
    /// `ENOPROTOOPT` for an option that is not known, `EINVAL` for a value out of its range, `ENODEV`
    /// for a group of multicast.
    pub(super) fn udp_set_option(
        &mut self,
        at: Descriptor,
        name: OptionName,
        value: OptionValue,
    ) -> Sys<()> {
        let (_, udp) = self.udp_of(at)?;
        if name.level == libc::IPPROTO_IPV6 && udp.domain == Domain::V4 {
            return Err(Errno::ENOPROTOOPT);
        }
        let OptionValue::Int(int) = value else {
            return option::set(&mut udp.options, name, value);
        };
        let of = |min: i32, max: i32| match int {
            int if (min..=max).contains(&int) => Ok(int),
            _ => Err(Errno::EINVAL),
        };
        let is_on = int != 0;
        match (name.level, name.name) {
            (libc::IPPROTO_TCP | libc::IPPROTO_UDP, _) => return Err(Errno::ENOPROTOOPT),
            (libc::IPPROTO_IP, libc::IP_PKTINFO) => udp.told.info_v4 = is_on,
            (libc::IPPROTO_IP, libc::IP_RECVTOS) => udp.told.class_v4 = is_on,
            (libc::IPPROTO_IPV6, libc::IPV6_RECVPKTINFO) => udp.told.info_v6 = is_on,
            (libc::IPPROTO_IPV6, libc::IPV6_RECVTCLASS) => udp.told.class_v6 = is_on,
            (libc::IPPROTO_IP, libc::IP_MTU_DISCOVER) => udp.discovery.v4 = of(0, 5)?,
            (libc::IPPROTO_IPV6, libc::IPV6_MTU_DISCOVER) => udp.discovery.v6 = of(0, 5)?,
            // The bits of ECN are the program's here.
            (libc::IPPROTO_IP, libc::IP_TOS) => udp.options.traffic_class = int & 0xff,
            (libc::IPPROTO_IPV6, libc::IPV6_TCLASS) => {
                udp.options.traffic_class_v6 = of(-1, 255)?.max(0);
            }
            (libc::IPPROTO_IP, libc::IP_ADD_MEMBERSHIP)
            | (libc::IPPROTO_IPV6, libc::IPV6_ADD_MEMBERSHIP) => return Err(Errno::ENODEV),
            (libc::IPPROTO_IPV6, libc::IPV6_V6ONLY) if udp.local.is_some() => {
                return Err(Errno::EINVAL);
            }
            _ => return option::set(&mut udp.options, name, value),
        }
        Ok(())
    }

    /// # Errors
    /// `ENOPROTOOPT`; IPv4 says `EOPNOTSUPP` for a level that is not known.
    pub(super) fn udp_option(&mut self, at: Descriptor, name: OptionName) -> Sys<OptionValue> {
        let (_, udp) = self.udp_of(at)?;
        let is_v4 = udp.domain == Domain::V4;
        match name.level {
            libc::IPPROTO_UDP => return Err(Errno::ENOPROTOOPT),
            libc::SOL_SOCKET | libc::IPPROTO_IP => {}
            _ if is_v4 => return Err(Errno::EOPNOTSUPP),
            libc::IPPROTO_IPV6 => {}
            _ => return Err(Errno::ENOPROTOOPT),
        }
        match own_option(udp, name) {
            Some(value) => Ok(OptionValue::Int(value)),
            None => option::get(&udp.options, name),
        }
    }
}

/// The value of an option that a UDP socket has in a way of its own.
fn own_option(udp: &mut Udp, name: OptionName) -> Option<i32> {
    Some(match (name.level, name.name) {
        (libc::SOL_SOCKET, libc::SO_ERROR) => udp.error.take().map_or(0, |error| error.0),
        (libc::SOL_SOCKET, libc::SO_TYPE) => libc::SOCK_DGRAM,
        (libc::SOL_SOCKET, libc::SO_PROTOCOL) => libc::IPPROTO_UDP,
        (libc::SOL_SOCKET, libc::SO_DOMAIN) if udp.domain == Domain::V4 => libc::AF_INET,
        (libc::SOL_SOCKET, libc::SO_DOMAIN) => libc::AF_INET6,
        (libc::SOL_SOCKET, libc::SO_ACCEPTCONN) => 0,
        (libc::IPPROTO_IP, libc::IP_PKTINFO) => i32::from(udp.told.info_v4),
        (libc::IPPROTO_IP, libc::IP_RECVTOS) => i32::from(udp.told.class_v4),
        (libc::IPPROTO_IPV6, libc::IPV6_RECVPKTINFO) => i32::from(udp.told.info_v6),
        (libc::IPPROTO_IPV6, libc::IPV6_RECVTCLASS) => i32::from(udp.told.class_v6),
        (libc::IPPROTO_IP, libc::IP_MTU_DISCOVER) => udp.discovery.v4,
        (libc::IPPROTO_IPV6, libc::IPV6_MTU_DISCOVER) => udp.discovery.v6,
        _ => return None,
    })
}
