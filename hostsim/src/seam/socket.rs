//! Making, binding, dialing and accepting sockets.

use super::{address, answer_int, machine_world, real, without_waiting};
use crate::address::Domain;
use crate::errno::{Errno, Sys};
use crate::kernel::Descriptor;
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
        let flags = libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
        let host = world.host().ok_or(Errno::EIO)?;
        let domain = match domain {
            libc::AF_INET => Domain::V4,
            libc::AF_INET6 => Domain::V6,
            _ => return unsupported(world, "socket: a family other than AF_INET and AF_INET6"),
        };
        if kind & !flags != libc::SOCK_STREAM {
            return unsupported(world, "socket: a type other than SOCK_STREAM");
        }
        if protocol != 0 && protocol != libc::IPPROTO_TCP {
            return Err(Errno::EPROTONOSUPPORT);
        }
        let is_nonblocking = kind & libc::SOCK_NONBLOCK != 0;
        Ok(world.with(|network| network.socket(host, domain, is_nonblocking))?.to_raw())
    })
}

fn unsupported(world: &World, call: &'static str) -> Sys<c_int> {
    let host = world.host().ok_or(Errno::EIO)?;
    world.record(Trouble::Unsupported { host, call });
    Err(Errno::EAFNOSUPPORT)
}

/// `bind(2)`
#[unsafe(no_mangle)]
unsafe extern "C" fn bind(fd: c_int, to: *const sockaddr, len: socklen_t) -> c_int {
    let Some(at) = Descriptor::from_raw(fd) else {
        // SAFETY: the caller's arguments go on as they came.
        return unsafe { real::bind(fd, to, len) };
    };
    answer_int(|world| {
        let to = address::read(to, len)?;
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
    answer_int(|world| world.with(|network| network.listen(at, backlog)).map(|()| 0))
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
        if flags & !(libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC) != 0 {
            return Err(Errno::EINVAL);
        }
        let is_nonblocking = flags & libc::SOCK_NONBLOCK != 0;
        let accept = |network: &mut crate::network::Network| network.accept(at, is_nonblocking);
        let (accepted, from) = without_waiting(world, at, "accept", false, accept)?;
        if let Err(errno) = address::write(from, peer, len) {
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
    answer_int(|world| dial(world, at, address::read(to, len)?).map(|()| 0))
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

fn tell(at: Descriptor, into: *mut sockaddr, len: *mut socklen_t, call: AddressCall) -> c_int {
    answer_int(|world| {
        let value = world.with(|network| call(network, at))?;
        if into.is_null() {
            return Err(Errno::EFAULT);
        }
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
    tell(at, into, len, crate::network::Network::local_address)
}

/// `getpeername(2)`
#[unsafe(no_mangle)]
unsafe extern "C" fn getpeername(fd: c_int, into: *mut sockaddr, len: *mut socklen_t) -> c_int {
    let Some(at) = Descriptor::from_raw(fd) else {
        // SAFETY: the caller's arguments go on as they came.
        return unsafe { real::getpeername(fd, into, len) };
    };
    tell(at, into, len, crate::network::Network::peer_address)
}

/// `shutdown(2)`
#[unsafe(no_mangle)]
unsafe extern "C" fn shutdown(fd: c_int, how: c_int) -> c_int {
    let Some(at) = Descriptor::from_raw(fd) else {
        // SAFETY: the caller's arguments go on as they came.
        return unsafe { real::shutdown(fd, how) };
    };
    answer_int(|world| {
        let direction = match how {
            libc::SHUT_RD => Direction::Read,
            libc::SHUT_WR => Direction::Write,
            libc::SHUT_RDWR => Direction::Both,
            _ => return Err(Errno::EINVAL),
        };
        world.with(|network| network.shutdown(at, direction)).map(|()| 0)
    })
}
