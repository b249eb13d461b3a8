//! Making, binding, dialing and accepting sockets.

use super::{address, answer_int, datagram, machine_world, real, unix, without_waiting};
use crate::address::Domain;
use crate::errno::{Errno, Sys};
use crate::kernel::{Descriptor, HostId};
use crate::network::Protocol;
use crate::tcp::Direction;
use crate::world::{Trouble, World};
use libc::{c_int, sockaddr, socklen_t};
use std::net::SocketAddr;

/// `socket(2)`
#[unsafe(no_mangle)]
unsafe extern "C" fn socket(domain: c_int, kind: c_int, protocol: c_int) -> c_int {
    if machine_world().is_none() {
        // SAFETY: the caller's arguments go on as they came.
        return unsafe { real::socket(domain, kind, protocol) };
    }
    answer_int(|world| {
        let host = world.host().ok_or(Errno::EIO)?;
        let flags = kind & !TYPE_MASK;
        if flags & !FLAGS != 0 {
            return Err(Errno::EINVAL);
        }
        if !(0..FAMILY_COUNT).contains(&domain) {
            return Err(Errno::EAFNOSUPPORT);
        }
        if kind & TYPE_MASK >= TYPE_COUNT {
            return Err(Errno::EINVAL);
        }
        let domain = match domain {
            libc::AF_UNIX => return unix::make(world, host, kind, protocol),
            libc::AF_INET => Domain::V4,
            libc::AF_INET6 => Domain::V6,
            libc::AF_UNSPEC => return Err(Errno::EAFNOSUPPORT),
            _ => {
                let call = "socket: a family other than AF_INET, AF_INET6 and AF_UNIX";
                return Err(unsupported(world, host, call));
            }
        };
        let protocol = check_type(world, host, kind & TYPE_MASK, protocol)?;
        let is_nonblocking = flags & libc::SOCK_NONBLOCK != 0;
        let socket = world.with(|network| match protocol {
            Protocol::Udp => network.udp_socket(host, domain, is_nonblocking),
            _ => network.socket(host, domain, is_nonblocking),
        })?;
        world.with(|net| net.set_closes_on_exec(socket, flags & libc::SOCK_CLOEXEC != 0))?;
        Ok(socket.to_raw())
    })
}

/// The bits of a socket's type that are no flags (`SOCK_TYPE_MASK`), and what all types are below.
pub(super) const TYPE_MASK: c_int = 0xf;
pub(super) const TYPE_COUNT: c_int = 11;

/// The flags of a new socket.
pub(super) const FLAGS: c_int = libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;

/// What all families (`AF_MAX`) and all protocols of IP (`IPPROTO_MAX`) are below.
pub(super) const FAMILY_COUNT: c_int = 46;
const PROTOCOL_COUNT: c_int = 263;

/// The protocol of a socket of IP by the type and protocol that are asked for.
///
/// # Errors
/// As Linux `inet_create`.
pub(super) fn check_type(
    world: &World,
    host: HostId,
    kind: c_int,
    protocol: c_int,
) -> Sys<Protocol> {
    if kind >= TYPE_COUNT || !(0..PROTOCOL_COUNT).contains(&protocol) {
        return Err(Errno::EINVAL);
    }
    match (kind, protocol) {
        (libc::SOCK_STREAM, 0 | libc::IPPROTO_TCP) => Ok(Protocol::Tcp),
        (libc::SOCK_DGRAM, 0 | libc::IPPROTO_UDP) => Ok(Protocol::Udp),
        (libc::SOCK_DGRAM, libc::IPPROTO_ICMP | libc::IPPROTO_ICMPV6 | libc::IPPROTO_UDPLITE) => {
            Err(unsupported(world, host, "socket: datagrams of a protocol other than UDP"))
        }
        (libc::SOCK_STREAM | libc::SOCK_DGRAM, _) => Err(Errno::EPROTONOSUPPORT),
        (libc::SOCK_RAW, _) => {
            let call = "socket: a type other than SOCK_STREAM and SOCK_DGRAM";
            Err(unsupported(world, host, call))
        }
        _ => Err(Errno::ESOCKTNOSUPPORT),
    }
}

/// Records that a call is not simulated; gives its error.
pub(super) fn unsupported(world: &World, host: HostId, call: &'static str) -> Errno {
    world.record(Trouble::Unsupported { host, call });
    Errno::EAFNOSUPPORT
}

/// `bind(2)`
#[unsafe(no_mangle)]
unsafe extern "C" fn bind(fd: c_int, to: *const sockaddr, len: socklen_t) -> c_int {
    let Some(at) = Descriptor::from_raw(fd) else {
        // SAFETY: the caller's arguments go on as they came.
        return unsafe { real::bind(fd, to, len) };
    };
    answer_int(|world| {
        if world.with(|network| network.is_unix(at))? {
            return unix::bind(world, at, address::take(to, len)?);
        }
        let domain = world.with(|network| network.domain(at))?;
        let to = address::read_to_bind(address::take(to, len)?, domain)?;
        world.with(|network| network.bind(at, to)).map(|()| 0)
    })
}

/// `listen(2)`
#[unsafe(no_mangle)]
unsafe extern "C" fn listen(fd: c_int, backlog: c_int) -> c_int {
    let Some(at) = Descriptor::from_raw(fd) else {
        // SAFETY: the caller's arguments go on as they came.
        return unsafe { real::listen(fd, backlog) };
    };
    answer_int(|world| {
        world.with(|network| match network.is_unix(at)? {
            true => network.unix_listen(at, backlog),
            false => network.listen(at, backlog),
        })?;
        Ok(0)
    })
}

/// `accept(2)`
#[unsafe(no_mangle)]
unsafe extern "C" fn accept(fd: c_int, peer: *mut sockaddr, len: *mut socklen_t) -> c_int {
    let Some(at) = Descriptor::from_raw(fd) else {
        // SAFETY: the caller's arguments go on as they came.
        return unsafe { real::accept(fd, peer, len) };
    };
    take(at, peer, len, 0)
}

/// `accept4(2)`
#[unsafe(no_mangle)]
unsafe extern "C" fn accept4(
    fd: c_int,
    peer: *mut sockaddr,
    len: *mut socklen_t,
    flags: c_int,
) -> c_int {
    let Some(at) = Descriptor::from_raw(fd) else {
        // SAFETY: the caller's arguments go on as they came.
        return unsafe { real::accept4(fd, peer, len, flags) };
    };
    take(at, peer, len, flags)
}

fn take(at: Descriptor, peer: *mut sockaddr, len: *mut socklen_t, flags: c_int) -> c_int {
    answer_int(|world| {
        world.with(|network| network.kind(at))?;
        if flags & !FLAGS != 0 {
            return Err(Errno::EINVAL);
        }
        let is_nonblocking = flags & libc::SOCK_NONBLOCK != 0;
        let (accepted, from) = without_waiting(world, at, "accept", false, |network| {
            if network.is_unix(at)? {
                return Ok((network.unix_accept(at, is_nonblocking)?, None));
            }
            network.accept(at, is_nonblocking).map(|(accepted, from)| (accepted, Some(from)))
        })?;
        world.with(|net| net.set_closes_on_exec(accepted, flags & libc::SOCK_CLOEXEC != 0))?;
        let told = match from {
            _ if peer.is_null() => Ok(()),
            Some(from) => address::write(from, peer, len),
            None => unix::write_peer(world, accepted, peer, len),
        };
        if let Err(errno) = told {
            world.with(|network| network.close(accepted))?;
            return Err(errno);
        }
        Ok(accepted.to_raw())
    })
}

/// `connect(2)`
#[unsafe(no_mangle)]
unsafe extern "C" fn connect(fd: c_int, to: *const sockaddr, len: socklen_t) -> c_int {
    let Some(at) = Descriptor::from_raw(fd) else {
        // SAFETY: the caller's arguments go on as they came.
        return unsafe { real::connect(fd, to, len) };
    };
    answer_int(|world| {
        world.with(|network| network.kind(at))?;
        let bytes = address::take(to, len)?;
        if world.with(|network| network.is_unix(at))? {
            return unix::connect(world, at, bytes);
        }
        let domain = world.with(|network| network.domain(at))?;
        if world.with(|network| network.is_udp(at))? {
            return datagram::connect(world, at, bytes, domain);
        }
        match address::family(bytes) {
            None => return Err(Errno::EINVAL),
            Some(libc::AF_UNSPEC) => return dissolve(world, at),
            Some(_) => {}
        }
        match address::read_of(bytes, domain) {
            Ok(to) => dial(world, at, to)?,
            // A socket that is past its dial does not look at the address.
            Err(errno) => world.with(|net| net.connect_again(at))?.unwrap_or(Err(errno))?,
        }
        Ok(0)
    })
}

/// An address of no family ends what a socket is: a fresh one is nothing yet.
fn dissolve(world: &World, at: Descriptor) -> Sys<c_int> {
    let again = world.with(|network| network.connect_again(at))?;
    let call = "connect: AF_UNSPEC for a socket that listens or is connected";
    if again.is_some() { Err(unsupported(world, at.host, call)) } else { Ok(0) }
}

/// Dials; a blocking dial within the host is over at once, another one would wait.
fn dial(world: &World, at: Descriptor, to: SocketAddr) -> Sys<()> {
    let result = world.with(|network| network.connect(at, to));
    let is_waiting = matches!(result, Err(Errno::EINPROGRESS | Errno::EALREADY));
    if !is_waiting || world.with(|network| network.is_nonblocking(at))? {
        return result;
    }
    let result = world.with(|network| network.connect(at, to));
    if matches!(result, Err(Errno::EALREADY)) {
        world.record(Trouble::WouldBlock { host: at.host, call: "connect" });
    }
    result
}

type AddressCall = fn(&mut crate::network::Network, Descriptor) -> Sys<SocketAddr>;

type UnixCall = fn(&World, Descriptor, *mut sockaddr, *mut socklen_t) -> Sys<()>;

fn tell(
    at: Descriptor,
    into: *mut sockaddr,
    len: *mut socklen_t,
    call: AddressCall,
    unix_call: UnixCall,
) -> c_int {
    answer_int(|world| {
        if world.with(|network| network.is_unix(at))? {
            return unix_call(world, at, into, len).map(|()| 0);
        }
        let value = world.with(|network| call(network, at))?;
        address::write(value, into, len).map(|()| 0)
    })
}

/// `getsockname(2)`
#[unsafe(no_mangle)]
unsafe extern "C" fn getsockname(fd: c_int, into: *mut sockaddr, len: *mut socklen_t) -> c_int {
    let Some(at) = Descriptor::from_raw(fd) else {
        // SAFETY: the caller's arguments go on as they came.
        return unsafe { real::getsockname(fd, into, len) };
    };
    tell(at, into, len, crate::network::Network::local_address, unix::write_own)
}

/// `getpeername(2)`
#[unsafe(no_mangle)]
unsafe extern "C" fn getpeername(fd: c_int, into: *mut sockaddr, len: *mut socklen_t) -> c_int {
    let Some(at) = Descriptor::from_raw(fd) else {
        // SAFETY: the caller's arguments go on as they came.
        return unsafe { real::getpeername(fd, into, len) };
    };
    tell(at, into, len, crate::network::Network::peer_address, unix::write_peer)
}

/// `shutdown(2)`
#[unsafe(no_mangle)]
unsafe extern "C" fn shutdown(fd: c_int, how: c_int) -> c_int {
    let Some(at) = Descriptor::from_raw(fd) else {
        // SAFETY: the caller's arguments go on as they came.
        return unsafe { real::shutdown(fd, how) };
    };
    answer_int(|world| {
        let is_unix = world.with(|network| network.is_unix(at))?;
        let direction = match how {
            libc::SHUT_RD => Direction::Read,
            libc::SHUT_WR => Direction::Write,
            libc::SHUT_RDWR => Direction::Both,
            _ => return Err(Errno::EINVAL),
        };
        world.with(|network| match is_unix {
            true => network.unix_shutdown(at, direction),
            false => network.shutdown(at, direction),
        })?;
        Ok(0)
    })
}
