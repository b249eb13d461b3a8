//! Reading and writing descriptors.

use super::{answer, message, real, without_waiting};
use crate::errno::{Errno, Sys};
use crate::kernel::Descriptor;
use crate::world::World;
use libc::{c_int, c_void, iovec, msghdr, size_t, sockaddr, socklen_t, ssize_t};

/// A buffer of the program to fill.
fn to_fill<'a>(into: *mut c_void, len: size_t) -> Sys<&'a mut [u8]> {
    match (into.is_null(), len) {
        (_, 0) => Ok(&mut []),
        (true, _) => Err(Errno::EFAULT),
        // SAFETY: `len` bytes to write, as the man pages ask, for the time of the call.
        (false, _) => Ok(unsafe { std::slice::from_raw_parts_mut(into.cast::<u8>(), len) }),
    }
}

/// Bytes of the program to take.
fn to_take<'a>(from: *const c_void, len: size_t) -> Sys<&'a [u8]> {
    match (from.is_null(), len) {
        (_, 0) => Ok(&[]),
        (true, _) => Err(Errno::EFAULT),
        // SAFETY: `len` bytes to read, as the man pages ask, for the time of the call.
        (false, _) => Ok(unsafe { std::slice::from_raw_parts(from.cast::<u8>(), len) }),
    }
}

fn receive(world: &World, at: Descriptor, into: &mut [u8], flags: c_int) -> Sys<isize> {
    if flags & libc::MSG_OOB != 0 {
        return Err(Errno::EINVAL);
    }
    let is_peek = flags & libc::MSG_PEEK != 0;
    let is_told_not_to = flags & libc::MSG_DONTWAIT != 0;
    let count = without_waiting(world, at, "recv", is_told_not_to, |network| {
        network.receive(at, into, is_peek)
    })?;
    Ok(count as isize)
}

fn transmit(world: &World, at: Descriptor, bytes: &[u8], flags: c_int) -> Sys<isize> {
    if flags & libc::MSG_OOB != 0 {
        return Err(Errno::EOPNOTSUPP);
    }
    let is_told_not_to = flags & libc::MSG_DONTWAIT != 0;
    let count =
        without_waiting(world, at, "send", is_told_not_to, |network| network.send(at, bytes))?;
    Ok(count as isize)
}

/// `recv(2)`
#[unsafe(no_mangle)]
unsafe extern "C" fn recv(fd: c_int, into: *mut c_void, len: size_t, flags: c_int) -> ssize_t {
    let Some(at) = Descriptor::from_raw(fd) else {
        // SAFETY: the caller's arguments go on as they came.
        return unsafe { real::recv(fd, into, len, flags) };
    };
    answer(|world| receive(world, at, to_fill(into, len)?, flags))
}

/// `send(2)`
#[unsafe(no_mangle)]
unsafe extern "C" fn send(fd: c_int, from: *const c_void, len: size_t, flags: c_int) -> ssize_t {
    let Some(at) = Descriptor::from_raw(fd) else {
        // SAFETY: the caller's arguments go on as they came.
        return unsafe { real::send(fd, from, len, flags) };
    };
    answer(|world| transmit(world, at, to_take(from, len)?, flags))
}

/// `recvfrom(2)`; a connection gives no address with its bytes.
#[unsafe(no_mangle)]
unsafe extern "C" fn recvfrom(
    fd: c_int,
    into: *mut c_void,
    len: size_t,
    flags: c_int,
    address: *mut sockaddr,
    address_len: *mut socklen_t,
) -> ssize_t {
    let Some(at) = Descriptor::from_raw(fd) else {
        // SAFETY: the caller's arguments go on as they came.
        return unsafe { real::recvfrom(fd, into, len, flags, address, address_len) };
    };
    answer(|world| {
        let count = receive(world, at, to_fill(into, len)?, flags)?;
        if !address.is_null() && !address_len.is_null() {
            // SAFETY: a length to write, as the man page asks.
            unsafe { address_len.write(0) };
        }
        Ok(count)
    })
}

/// `sendto(2)`; a connection ignores the address.
#[unsafe(no_mangle)]
unsafe extern "C" fn sendto(
    fd: c_int,
    from: *const c_void,
    len: size_t,
    flags: c_int,
    address: *const sockaddr,
    address_len: socklen_t,
) -> ssize_t {
    let Some(at) = Descriptor::from_raw(fd) else {
        // SAFETY: the caller's arguments go on as they came.
        return unsafe { real::sendto(fd, from, len, flags, address, address_len) };
    };
    answer(|world| transmit(world, at, to_take(from, len)?, flags))
}

/// `read(2)`
#[unsafe(no_mangle)]
unsafe extern "C" fn read(fd: c_int, into: *mut c_void, len: size_t) -> ssize_t {
    let Some(at) = Descriptor::from_raw(fd) else {
        // SAFETY: the caller's arguments go on as they came.
        return unsafe { real::read(fd, into, len) };
    };
    answer(|world| {
        let into = to_fill(into, len)?;
        if !world.with(|network| network.is_counter(at))? {
            return receive(world, at, into, 0);
        }
        let into = into.first_chunk_mut::<8>().ok_or(Errno::EINVAL)?;
        let take = |network: &mut crate::network::Network| network.take_count(at);
        *into = without_waiting(world, at, "read", false, take)?.to_ne_bytes();
        Ok(8)
    })
}

/// `write(2)`
#[unsafe(no_mangle)]
unsafe extern "C" fn write(fd: c_int, from: *const c_void, len: size_t) -> ssize_t {
    let Some(at) = Descriptor::from_raw(fd) else {
        // SAFETY: the caller's arguments go on as they came.
        return unsafe { real::write(fd, from, len) };
    };
    answer(|world| {
        let bytes = to_take(from, len)?;
        if world.is_waking.get() {
            return Ok(len as isize);
        }
        if !world.with(|network| network.is_counter(at))? {
            return transmit(world, at, bytes, 0);
        }
        let value = u64::from_ne_bytes(*bytes.first_chunk::<8>().ok_or(Errno::EINVAL)?);
        let add = |network: &mut crate::network::Network| network.count(at, value);
        without_waiting(world, at, "write", false, add)?;
        Ok(8)
    })
}

/// `readv(2)`
#[unsafe(no_mangle)]
unsafe extern "C" fn readv(fd: c_int, parts: *const iovec, count: c_int) -> ssize_t {
    let Some(at) = Descriptor::from_raw(fd) else {
        // SAFETY: the caller's arguments go on as they came.
        return unsafe { real::readv(fd, parts, count) };
    };
    answer(|world| {
        let count = usize::try_from(count).map_err(|_| Errno::EINVAL)?;
        message::scatter(parts, count, |part| receive(world, at, part, 0))
    })
}

/// `writev(2)`
#[unsafe(no_mangle)]
unsafe extern "C" fn writev(fd: c_int, parts: *const iovec, count: c_int) -> ssize_t {
    let Some(at) = Descriptor::from_raw(fd) else {
        // SAFETY: the caller's arguments go on as they came.
        return unsafe { real::writev(fd, parts, count) };
    };
    answer(|world| {
        let count = usize::try_from(count).map_err(|_| Errno::EINVAL)?;
        message::gather(parts, count, |part| transmit(world, at, part, 0))
    })
}

/// `recvmsg(2)`; a connection gives neither an address nor control messages.
#[unsafe(no_mangle)]
unsafe extern "C" fn recvmsg(fd: c_int, header: *mut msghdr, flags: c_int) -> ssize_t {
    let Some(at) = Descriptor::from_raw(fd) else {
        // SAFETY: the caller's arguments go on as they came.
        return unsafe { real::recvmsg(fd, header, flags) };
    };
    answer(|world| {
        // SAFETY: null, or a header, as the man page asks.
        let header = unsafe { header.as_mut() }.ok_or(Errno::EFAULT)?;
        let (parts, count) = (header.msg_iov.cast_const(), header.msg_iovlen);
        let total = message::scatter(parts, count, |part| receive(world, at, part, flags))?;
        (header.msg_namelen, header.msg_controllen, header.msg_flags) = (0, 0, 0);
        Ok(total)
    })
}

/// `sendmsg(2)`
#[unsafe(no_mangle)]
unsafe extern "C" fn sendmsg(fd: c_int, header: *const msghdr, flags: c_int) -> ssize_t {
    let Some(at) = Descriptor::from_raw(fd) else {
        // SAFETY: the caller's arguments go on as they came.
        return unsafe { real::sendmsg(fd, header, flags) };
    };
    answer(|world| {
        // SAFETY: null, or a header, as the man page asks.
        let header = unsafe { header.as_ref() }.ok_or(Errno::EFAULT)?;
        let (parts, count) = (header.msg_iov.cast_const(), header.msg_iovlen);
        message::gather(parts, count, |part| transmit(world, at, part, flags))
    })
}
