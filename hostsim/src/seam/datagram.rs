//! Sending and receiving datagrams, and the calls that move several messages.

use super::message::Parts;
use super::{address, answer_int, control, real, stream, without_waiting};
use crate::address::Domain;
use crate::errno::{Errno, Sys};
use crate::kernel::{Datagram, Descriptor};
use crate::network::Envelope;
use crate::seam::socket::unsupported;
use crate::world::World;
use libc::{c_int, c_uint, mmsghdr, msghdr, sockaddr, socklen_t, timespec};
use std::net::SocketAddr;

/// The most messages of one call (`UIO_MAXIOV`); more are not looked at.
const MESSAGES_MAX: c_uint = 1024;

/// Takes the first datagram; nothing where a call that may wait finds that reading was shut down.
fn take(world: &World, at: Descriptor, flags: c_int) -> Sys<Option<Datagram>> {
    if flags & libc::MSG_ERRQUEUE != 0 {
        return Err(Errno::EAGAIN);
    }
    let (is_peek, is_told_not_to) = (flags & libc::MSG_PEEK != 0, flags & libc::MSG_DONTWAIT != 0);
    without_waiting(world, at, "recv", is_told_not_to, |network| {
        match network.udp_take(at, is_peek) {
            Err(Errno::EAGAIN) if !is_told_not_to && network.is_udp_ended(at)? => Ok(None),
            taken => taken.map(Some),
        }
    })
}

/// Puts the bytes of a datagram into their place; gives what a call says of their number, and
/// whether some found none.
fn put(datagram: &Datagram, into: Parts<'_>, flags: c_int) -> Sys<(isize, bool)> {
    let (whole, room) = (datagram.bytes.len(), into.len());
    into.fill(&datagram.bytes[..whole.min(room)])?;
    let told = if flags & libc::MSG_TRUNC != 0 { whole } else { whole.min(room) };
    Ok((told as isize, whole > room))
}

/// As `recv(2)` with any flags.
pub(super) fn receive(world: &World, at: Descriptor, into: Parts<'_>, flags: c_int) -> Sys<isize> {
    let Some(datagram) = take(world, at, flags)? else { return Ok(0) };
    Ok(put(&datagram, into, flags)?.0)
}

/// As `recvfrom(2)`.
pub(super) fn receive_from(
    world: &World,
    at: Descriptor,
    into: Parts<'_>,
    flags: c_int,
    from: *mut sockaddr,
    len: *mut socklen_t,
) -> Sys<isize> {
    let Some(datagram) = take(world, at, flags)? else { return Ok(0) };
    let (count, _) = put(&datagram, into, flags)?;
    let domain = world.with(|network| network.domain(at))?;
    address::write(domain.show(datagram.from), from, len)?;
    Ok(count)
}

/// As `recvmsg(2)`.
pub(super) fn receive_message(
    world: &World,
    at: Descriptor,
    header: &mut msghdr,
    into: Parts<'_>,
    flags: c_int,
) -> Sys<isize> {
    let told = world.with(|network| Ok::<_, Errno>(network.udp_look(at)?.told))?;
    let taken = take(world, at, flags)?;
    let room = if header.msg_control.is_null() { 0 } else { header.msg_controllen };
    let name_room = header.msg_namelen;
    (header.msg_controllen, header.msg_namelen) = (0, 0);
    header.msg_flags = flags & libc::MSG_CMSG_CLOEXEC;
    let Some(datagram) = taken else { return Ok(0) };
    let (count, is_cut) = put(&datagram, into, flags)?;
    let domain = world.with(|network| network.domain(at))?;
    if !header.msg_name.is_null() {
        header.msg_namelen = name_room;
        let from = domain.show(datagram.from);
        address::write(from, header.msg_name.cast(), &mut header.msg_namelen)?;
    }
    let is_from_own = world.network().host(at.host).owns(datagram.from.ip());
    let place: &mut [u8] = match room {
        0 => &mut [],
        // SAFETY: so many bytes to write, as the man page asks, for the time of the call.
        _ => unsafe { std::slice::from_raw_parts_mut(header.msg_control.cast::<u8>(), room) },
    };
    let mut writer = control::Writer::new(place);
    writer.tell(told, &datagram, is_from_own);
    let (used, is_control_cut) = writer.end();
    header.msg_controllen = used;
    let flag = |is_so: bool, flag: c_int| if is_so { flag } else { 0 };
    header.msg_flags |= flag(is_cut, libc::MSG_TRUNC) | flag(is_control_cut, libc::MSG_CTRUNC);
    Ok(count)
}

/// Sends a datagram to whom the bytes of an address say, or to the peer where there are none.
pub(super) fn send(
    world: &World,
    at: Descriptor,
    from: Parts<'_>,
    flags: c_int,
    to: Option<&[u8]>,
    mut envelope: Envelope,
) -> Sys<isize> {
    if flags & libc::MSG_OOB != 0 {
        return Err(Errno::EOPNOTSUPP);
    }
    let domain = world.with(|network| network.domain(at))?;
    envelope.to = match to {
        Some(to) => destination(to, domain)?,
        None => None,
    };
    if let Some(to) = envelope.to {
        refuse_route(world, at, to)?;
    }
    let mut bytes = Vec::with_capacity(from.len());
    from.bytes()?.for_each(|part| bytes.extend_from_slice(part));
    world.with(|network| network.udp_send(at, bytes, envelope)).map(|count| count as isize)
}

/// As `sendmsg(2)`.
pub(super) fn send_message(
    world: &World,
    at: Descriptor,
    header: &msghdr,
    from: Parts<'_>,
    flags: c_int,
) -> Sys<isize> {
    let mut envelope = Envelope::default();
    if !header.msg_control.is_null() && header.msg_controllen > 0 {
        let (place, len) = (header.msg_control.cast::<u8>(), header.msg_controllen);
        // SAFETY: so many bytes to read, as the man page asks, for the time of the call.
        let bytes = unsafe { std::slice::from_raw_parts(place.cast_const(), len) };
        control::read(bytes, &mut envelope)?;
    }
    let has_name = !header.msg_name.is_null() && header.msg_namelen > 0;
    let name = || address::take(header.msg_name.cast_const().cast(), header.msg_namelen);
    let to = if has_name { Some(name()?) } else { None };
    send(world, at, from, flags, to, envelope)
}

/// Reads whom a datagram is for. A socket of IPv6 sends to addresses of IPv4 too, and takes one of
/// no family for none; a socket of IPv4 takes that for its own.
///
/// # Errors
/// As Linux `udp_sendmsg` and `udpv6_sendmsg`.
fn destination(bytes: &[u8], domain: Domain) -> Sys<Option<SocketAddr>> {
    match (domain, address::family(bytes)) {
        (Domain::V4, Some(libc::AF_UNSPEC)) => address::read_unspecified(bytes).map(Some),
        (Domain::V4, _) => address::read_of(bytes, Domain::V4).map(Some),
        (Domain::V6, Some(libc::AF_INET6)) => address::read_of(bytes, Domain::V6).map(Some),
        (Domain::V6, Some(libc::AF_INET)) => address::read_of(bytes, Domain::V4).map(Some),
        (Domain::V6, Some(libc::AF_UNSPEC)) => Ok(None),
        (Domain::V6, _) => Err(Errno::EINVAL),
    }
}

/// Connects a socket to what the bytes of an address say; one of no family ends that.
///
/// # Errors
/// As `connect(2)`.
pub(super) fn connect(world: &World, at: Descriptor, bytes: &[u8], domain: Domain) -> Sys<c_int> {
    let to = match address::family(bytes) {
        None => return Err(Errno::EINVAL),
        Some(libc::AF_UNSPEC) => {
            return world.with(|network| network.udp_disconnect(at)).map(|()| 0);
        }
        Some(libc::AF_INET) => address::read_of(bytes, Domain::V4)?,
        Some(_) => address::read_of(bytes, domain)?,
    };
    refuse_route(world, at, to)?;
    world.with(|network| network.connect(at, to)).map(|()| 0)
}

/// A route carries connections; what a balancer does with datagrams is not simulated.
fn refuse_route(world: &World, at: Descriptor, to: SocketAddr) -> Sys<()> {
    let is_route = world.network().route_hosts(to.ip().to_canonical()).is_some();
    if is_route { Err(unsupported(world, at.host, "send: a datagram to a route")) } else { Ok(()) }
}

/// `recvmmsg(2)`; a timeout is not looked at, since no call waits.
#[unsafe(no_mangle)]
unsafe extern "C" fn recvmmsg(
    fd: c_int,
    messages: *mut mmsghdr,
    count: c_uint,
    flags: c_int,
    timeout: *mut timespec,
) -> c_int {
    let Some(at) = Descriptor::from_raw(fd) else {
        // SAFETY: the caller's arguments go on as they came.
        return unsafe { real::recvmmsg(fd, messages, count, flags, timeout) };
    };
    let mut flags = flags;
    move_each(at, messages, count, |world, header| {
        let count = stream::receive_message(world, at, header, flags & !libc::MSG_WAITFORONE)?;
        if flags & libc::MSG_WAITFORONE != 0 {
            flags |= libc::MSG_DONTWAIT;
        }
        Ok(count)
    })
}

/// `sendmmsg(2)`
#[unsafe(no_mangle)]
unsafe extern "C" fn sendmmsg(
    fd: c_int,
    messages: *mut mmsghdr,
    count: c_uint,
    flags: c_int,
) -> c_int {
    let Some(at) = Descriptor::from_raw(fd) else {
        // SAFETY: the caller's arguments go on as they came.
        return unsafe { real::sendmmsg(fd, messages, count, flags) };
    };
    move_each(at, messages, count, |world, header| stream::send_message(world, at, header, flags))
}

/// Moves messages one after the other; what was moved counts more than an error that comes after.
fn move_each(
    at: Descriptor,
    messages: *mut mmsghdr,
    count: c_uint,
    mut call: impl FnMut(&World, &mut msghdr) -> Sys<isize>,
) -> c_int {
    answer_int(|world| {
        world.with(|network| network.protocol(at))?;
        let count = count.min(MESSAGES_MAX) as usize;
        if count == 0 {
            return Ok(0);
        }
        if messages.is_null() {
            return Err(Errno::EFAULT);
        }
        // SAFETY: so many messages, as the man page asks, for the time of the call.
        let messages = unsafe { std::slice::from_raw_parts_mut(messages, count) };
        let mut moved = 0;
        for message in messages {
            match call(world, &mut message.msg_hdr) {
                Ok(len) => message.msg_len = len as c_uint,
                Err(errno) if moved == 0 => return Err(errno),
                Err(_) => break,
            }
            moved += 1;
        }
        Ok(moved)
    })
}
