//! Reading and writing descriptors.

use super::message::{self, Parts};
use super::{address, answer, datagram, fail, file, real, unix, without_waiting};
use crate::errno::{Errno, Sys};
use crate::kernel::Descriptor;
use crate::network::{Envelope, Kind, Network, Protocol};
use crate::tcp::Readiness;
use crate::world::{Trouble, World};
use libc::{c_int, c_void, iovec, msghdr, size_t, sockaddr, socklen_t, ssize_t};

fn receive(world: &World, at: Descriptor, into: Parts<'_>, flags: c_int) -> Sys<isize> {
    let special = libc::MSG_OOB | libc::MSG_ERRQUEUE | libc::MSG_TRUNC | libc::MSG_WAITALL;
    let protocol = match flags & special {
        0 => Protocol::Tcp,
        _ => world.with(|network| network.protocol(at))?,
    };
    if protocol == Protocol::Udp {
        return datagram::receive(world, at, into, flags);
    }
    let is_unix = protocol == Protocol::Unix;
    if flags & libc::MSG_ERRQUEUE != 0 && !is_unix {
        return Err(Errno::EAGAIN);
    }
    if flags & libc::MSG_OOB != 0 {
        // There is no urgent byte; a listener of TCP looks at what it is first.
        let listens = !is_unix && world.with(|network| network.unread(at)).is_err();
        return Err(if listens { Errno::ENOTCONN } else { Errno::EINVAL });
    }
    let is_peek = flags & libc::MSG_PEEK != 0;
    let is_told_not_to = flags & libc::MSG_DONTWAIT != 0;
    let discards = flags & libc::MSG_TRUNC != 0 && !is_unix;
    let take = |place: &mut [u8]| {
        without_waiting(world, at, "recv", is_told_not_to, |network| {
            match network.receive(at, place, is_peek) {
                Err(Errno::EAGAIN) if !is_told_not_to && network.is_udp_ended(at) == Ok(true) => {
                    Ok(0)
                }
                received => received,
            }
        })
    };
    let count = match into.place().filter(|_| !discards) {
        Some(place) => take(place)?,
        None => {
            // A listener has nothing to count; it says what it has to say below.
            let unread = world.with(|network| network.unread(at)).unwrap_or(0);
            if unread > 0 && !discards && into.is_fault() {
                return Err(Errno::EFAULT);
            }
            let mut bytes = vec![0; into.len().min(unread)];
            let count = take(&mut bytes)?;
            if count > 0 && !discards {
                into.fill(&bytes[..count])?;
            }
            count
        }
    };
    let wants_all = flags & libc::MSG_WAITALL != 0 && !is_peek && !is_told_not_to;
    if wants_all && 0 < count && count < into.len() {
        let ended = Readiness::IN.with(Readiness::ERR).with(Readiness::HUP);
        if !world.with(|network| network.poll(at))?.meets(ended) {
            on_short(world, at, "recv")?;
        }
    }
    Ok(count as isize)
}

fn transmit(world: &World, at: Descriptor, from: Parts<'_>, flags: c_int) -> Sys<isize> {
    if flags & libc::MSG_OOB != 0 || from.is_fault() {
        if world.with(|network| network.protocol(at))? == Protocol::Udp {
            return datagram::send(world, at, from, flags, None, Envelope::default());
        }
        // What the connection has to say comes first.
        world.with(|network| network.send(at, &[]))?;
    }
    if flags & libc::MSG_OOB != 0 {
        world.record(Trouble::Unsupported { host: at.host, call: "send: an urgent byte" });
        return Err(Errno::EOPNOTSUPP);
    }
    let is_told_not_to = flags & libc::MSG_DONTWAIT != 0;
    let bytes = from.bytes()?;
    let count = without_waiting(world, at, "send", is_told_not_to, |network| {
        network.send_parts(at, bytes)
    })?;
    if count < from.len() && !is_told_not_to {
        on_short(world, at, "send")?;
    }
    Ok(count as isize)
}

/// A call moved less than it was asked to: on a socket in blocking mode it would wait for the rest.
fn on_short(world: &World, at: Descriptor, call: &'static str) -> Sys<()> {
    if !world.with(|network| network.is_nonblocking(at))? {
        world.record(Trouble::WouldBlock { host: at.host, call });
    }
    Ok(())
}

/// Reads from what a descriptor is of, as `read(2)`.
fn read_any(world: &World, at: Descriptor, into: Parts<'_>) -> Sys<isize> {
    match world.with(|network| network.kind(at))? {
        Kind::Epoll => Err(Errno::EINVAL),
        Kind::Socket if into.len() == 0 => Ok(0),
        Kind::Socket => receive(world, at, into, 0),
        Kind::Counter if into.len() < size_of::<u64>() => Err(Errno::EINVAL),
        Kind::Counter => {
            let take = |network: &mut Network| network.take_count(at);
            let value = without_waiting(world, at, "read", false, take)?;
            into.fill(&value.to_ne_bytes())?;
            Ok(size_of::<u64>() as isize)
        }
    }
}

/// Adds to a counter.
fn add(world: &World, at: Descriptor, bytes: &[u8]) -> Sys<isize> {
    let value = u64::from_ne_bytes(bytes.try_into().map_err(|_| Errno::EINVAL)?);
    without_waiting(world, at, "write", false, |network| network.count(at, value))?;
    Ok(size_of::<u64>() as isize)
}

/// `recv(2)`
#[unsafe(no_mangle)]
unsafe extern "C" fn recv(fd: c_int, into: *mut c_void, len: size_t, flags: c_int) -> ssize_t {
    let Some(at) = Descriptor::from_raw(fd) else {
        // SAFETY: the caller's arguments go on as they came.
        return unsafe { real::recv(fd, into, len, flags) };
    };
    answer(|world| receive(world, at, Parts::of(&message::one(into, len)), flags))
}

/// `send(2)`
#[unsafe(no_mangle)]
unsafe extern "C" fn send(fd: c_int, from: *const c_void, len: size_t, flags: c_int) -> ssize_t {
    let Some(at) = Descriptor::from_raw(fd) else {
        // SAFETY: the caller's arguments go on as they came.
        return unsafe { real::send(fd, from, len, flags) };
    };
    answer(|world| transmit(world, at, Parts::of(&message::one(from, len)), flags))
}

/// `recvfrom(2)`; a connection of TCP gives no address with its bytes, a UDP socket its sender's.
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
        let part = message::one(into, len);
        let into = Parts::of(&part);
        if address.is_null() {
            return receive(world, at, into, flags);
        }
        let protocol = world.with(|network| network.protocol(at))?;
        if protocol == Protocol::Udp {
            return datagram::receive_from(world, at, into, flags, address, address_len);
        }
        let count = receive(world, at, into, flags)?;
        match protocol == Protocol::Unix && count > 0 {
            true => unix::write_sender(world, at, address, address_len)?,
            false => address::write_none(address, address_len)?,
        }
        Ok(count)
    })
}

/// `sendto(2)`; a connection of TCP ignores the address, a UDP socket sends there.
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
    answer(|world| {
        let protocol = world.with(|network| network.protocol(at))?;
        let part = message::one(from, len);
        let from = Parts::of(&part);
        let to = match address.is_null() {
            true => None,
            false => Some(address::take(address, address_len)?),
        };
        if protocol == Protocol::Udp {
            return datagram::send(world, at, from, flags, to, Envelope::default());
        }
        if protocol == Protocol::Unix && to.is_some_and(|to| !to.is_empty()) {
            unix::check_unaddressed(world, at)?;
        }
        transmit(world, at, from, flags)
    })
}

/// `read(2)`
#[unsafe(no_mangle)]
unsafe extern "C" fn read(fd: c_int, into: *mut c_void, len: size_t) -> ssize_t {
    let Some(at) = Descriptor::from_raw(fd) else {
        // SAFETY: the caller's arguments go on as they came.
        return unsafe { real::read(fd, into, len) };
    };
    answer(|world| read_any(world, at, Parts::of(&message::one(into, len))))
}

/// `write(2)`
#[unsafe(no_mangle)]
unsafe extern "C" fn write(fd: c_int, from: *const c_void, len: size_t) -> ssize_t {
    let Some(at) = Descriptor::from_raw(fd) else {
        if file::refuses_write(fd) {
            return fail(Errno::EIO);
        }
        // SAFETY: the caller's arguments go on as they came.
        return unsafe { real::write(fd, from, len) };
    };
    answer(|world| {
        if world.is_waking.get() {
            return Ok(len as isize);
        }
        let from = message::one(from, len);
        match world.with(|network| network.kind(at))? {
            Kind::Epoll => Err(Errno::EINVAL),
            Kind::Socket => transmit(world, at, Parts::of(&from), 0),
            Kind::Counter if len != size_of::<u64>() => Err(Errno::EINVAL),
            Kind::Counter => add_each(world, at, Parts::of(&from)),
        }
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
        let into = take_parts(world, at, parts, count)?;
        if into.len() == 0 { Ok(0) } else { read_any(world, at, into) }
    })
}

/// `writev(2)`
#[unsafe(no_mangle)]
unsafe extern "C" fn writev(fd: c_int, parts: *const iovec, count: c_int) -> ssize_t {
    let Some(at) = Descriptor::from_raw(fd) else {
        if file::refuses_write(fd) {
            return fail(Errno::EIO);
        }
        // SAFETY: the caller's arguments go on as they came.
        return unsafe { real::writev(fd, parts, count) };
    };
    answer(|world| {
        let from = take_parts(world, at, parts, count)?;
        match world.with(|network| network.kind(at))? {
            _ if from.len() == 0 => Ok(0),
            Kind::Counter => add_each(world, at, from),
            _ => transmit(world, at, from, 0),
        }
    })
}

/// The parts of a call on a descriptor that has bytes.
fn take_parts<'a>(
    world: &World,
    at: Descriptor,
    parts: *const iovec,
    count: c_int,
) -> Sys<Parts<'a>> {
    if world.with(|network| network.kind(at))? == Kind::Epoll {
        return Err(Errno::EINVAL);
    }
    let count = usize::try_from(count).map_err(|_| Errno::EINVAL)?;
    Parts::take(parts, count, Errno::EINVAL)
}

/// Adds each part to a counter; what was added counts more than an error that comes after it.
fn add_each(world: &World, at: Descriptor, from: Parts<'_>) -> Sys<isize> {
    if from.first_len().is_some_and(|len| len != size_of::<u64>()) {
        return Err(Errno::EINVAL);
    }
    let mut total = 0;
    for bytes in from.bytes()? {
        match add(world, at, bytes) {
            Ok(count) => total += count,
            Err(errno) if total == 0 => return Err(errno),
            Err(_) => break,
        }
    }
    Ok(total)
}

/// `recvmsg(2)`; a connection gives no control messages, and one of TCP no address. A UDP socket
/// gives both.
#[unsafe(no_mangle)]
unsafe extern "C" fn recvmsg(fd: c_int, header: *mut msghdr, flags: c_int) -> ssize_t {
    let Some(at) = Descriptor::from_raw(fd) else {
        // SAFETY: the caller's arguments go on as they came.
        return unsafe { real::recvmsg(fd, header, flags) };
    };
    answer(|world| {
        world.with(|network| network.protocol(at))?;
        // SAFETY: null, or a header, as the man page asks.
        let header = unsafe { header.as_mut() }.ok_or(Errno::EFAULT)?;
        receive_message(world, at, header, flags)
    })
}

/// Receives a message into what its header says.
///
/// # Errors
/// As `recvmsg(2)`.
pub(super) fn receive_message(
    world: &World,
    at: Descriptor,
    header: &mut msghdr,
    flags: c_int,
) -> Sys<isize> {
    let protocol = world.with(|network| network.protocol(at))?;
    let into = parts_of(header)?;
    if protocol == Protocol::Udp {
        return datagram::receive_message(world, at, header, into, flags);
    }
    let total = receive(world, at, into, flags)?;
    if !header.msg_name.is_null() && protocol == Protocol::Unix && total > 0 {
        unix::write_sender(world, at, header.msg_name.cast(), &mut header.msg_namelen)?;
    } else if !header.msg_name.is_null() {
        header.msg_namelen = 0;
    }
    (header.msg_controllen, header.msg_flags) = (0, flags & libc::MSG_CMSG_CLOEXEC);
    Ok(total)
}

/// `sendmsg(2)`
#[unsafe(no_mangle)]
unsafe extern "C" fn sendmsg(fd: c_int, header: *const msghdr, flags: c_int) -> ssize_t {
    let Some(at) = Descriptor::from_raw(fd) else {
        // SAFETY: the caller's arguments go on as they came.
        return unsafe { real::sendmsg(fd, header, flags) };
    };
    answer(|world| {
        world.with(|network| network.protocol(at))?;
        // SAFETY: null, or a header, as the man page asks.
        let header = unsafe { header.as_ref() }.ok_or(Errno::EFAULT)?;
        send_message(world, at, header, flags)
    })
}

/// Sends the message of a header.
///
/// # Errors
/// As `sendmsg(2)`.
pub(super) fn send_message(
    world: &World,
    at: Descriptor,
    header: &msghdr,
    flags: c_int,
) -> Sys<isize> {
    let protocol = world.with(|network| network.protocol(at))?;
    let parts = parts_of(header)?;
    if protocol == Protocol::Udp {
        return datagram::send_message(world, at, header, parts, flags);
    }
    let is_unix = protocol == Protocol::Unix;
    if is_unix && !header.msg_control.is_null() && header.msg_controllen > 0 {
        unix::refuse_control(world, at)?;
    }
    if is_unix && !header.msg_name.is_null() && header.msg_namelen > 0 {
        unix::check_unaddressed(world, at)?;
    }
    transmit(world, at, parts, flags)
}

/// The parts of a message.
fn parts_of<'a>(header: &msghdr) -> Sys<Parts<'a>> {
    if !header.msg_name.is_null() && header.msg_namelen.cast_signed() < 0 {
        return Err(Errno::EINVAL);
    }
    Parts::take(header.msg_iov, header.msg_iovlen, Errno::EMSGSIZE)
}
