//! Making, binding, dialing and accepting sockets.

use crate::kernel_fuzz::address::{self, Purpose};
use crate::kernel_fuzz::args::Args;
use crate::kernel_fuzz::memory::Use;
use crate::kernel_fuzz::outcome::Outcome;
use crate::kernel_fuzz::rig::{Family, Picked, Rig, Sort};
use libc::{c_int, c_void, sockaddr, socklen_t};
use std::mem::size_of;
use std::ptr::null_mut;

const V4: c_int = libc::AF_INET;
const V6: c_int = libc::AF_INET6;
const UNIX: c_int = libc::AF_UNIX;
const STREAM: c_int = libc::SOCK_STREAM;

pub(super) fn socket(rig: &mut Rig<'_>, args: &mut Args<'_>) -> Outcome {
    let mut family = args.of(&[V4, V4, V4, V4, V6, V4, V4, V6, UNIX, UNIX]);
    let (mut kind, mut protocol) = (STREAM, 0);
    let oddness = args.byte();
    if oddness >= 224 {
        family = if oddness & 1 != 0 { args.of(&[0, -1, 46, 255, c_int::MAX]) } else { family };
        let kinds = &[STREAM, 0, 4, 5, 11, 12, 15, 2, 3, 10];
        let protocols = &[0, 6, 17, 1, -1, 300, c_int::MAX, c_int::MIN];
        kind = if oddness & 2 != 0 {
            args.of(if rig.is_compared { &kinds[..7] } else { kinds })
        } else {
            kind
        };
        if rig.is_compared && family == UNIX && kind == libc::SOCK_SEQPACKET {
            kind = STREAM;
        }
        protocol = if oddness & 4 != 0 { args.of(protocols) } else { protocol };
        if !rig.is_compared && oddness & 24 == 24 {
            family = args.of(&[libc::AF_NETLINK, libc::AF_PACKET]);
        }
    }
    let mut flags = args.flags(&[libc::SOCK_CLOEXEC]);
    let is_blocking = args.one_in(8) && !rig.is_compared;
    flags |= if is_blocking { 0 } else { libc::SOCK_NONBLOCK };
    flags |= if args.one_in(64) { 0x10 } else { 0 };
    rig.say(format_args!("socket({family}, {kind}|{flags:#x}, {protocol})"));
    rig.begin();
    // SAFETY: three numbers.
    let value = unsafe { libc::socket(family, kind | flags, protocol) };
    let known = [(V6, Family::V6), (UNIX, Family::Unix)];
    let known = known.iter().find(|(number, _)| *number == family);
    let outcome =
        rig.end_open(value.into(), Sort::Fresh, known.map_or(Family::V4, |known| known.1));
    if rig.is_compared && outcome.0.is_ok() && family != UNIX {
        send_at_once(value);
    }
    outcome
}

/// Keeps small writes from waiting for an acknowledgment, whose moment nobody knows.
fn send_at_once(raw: c_int) {
    let on: c_int = 1;
    let (from, len) = ((&raw const on).cast::<c_void>(), size_of::<c_int>() as socklen_t);
    // SAFETY: an int to read.
    let value = unsafe { libc::setsockopt(raw, libc::IPPROTO_TCP, libc::TCP_NODELAY, from, len) };
    assert_eq!(value, 0, "a socket of TCP has the option");
}

pub(super) fn socketpair(rig: &mut Rig<'_>, args: &mut Args<'_>) -> Outcome {
    let family = args.of(&[UNIX, UNIX, UNIX, UNIX, V4, V6, 0, -1]);
    let kind = args.of(&[STREAM, STREAM, STREAM, STREAM, 0, 4, 11, STREAM]);
    let protocol = args.of(&[0, 0, 0, 0, 0, 0, 1, 300]);
    let flags = args.flags(&[libc::SOCK_CLOEXEC]) | libc::SOCK_NONBLOCK;
    let place: *mut c_int = rig.memory.put(Use::List, &[-7, -7]);
    let place = if args.one_in(16) { null_mut() } else { place };
    rig.say(format_args!("socketpair({family}, {kind}|{flags:#x}, {protocol}, "));
    rig.say(format_args!("null {})", place.is_null()));
    let outcome = call!(rig, socketpair(family, kind | flags, protocol, place));
    if outcome.0.is_ok() {
        for from_end in [2, 1] {
            let raw: c_int = rig.memory.get(Use::List, from_end);
            rig.end_open(raw.into(), Sort::Connected, Family::Unix);
        }
    }
    outcome
}

pub(super) fn bind(rig: &mut Rig<'_>, args: &mut Args<'_>) -> Outcome {
    rig.say(format_args!("bind("));
    let on = rig.pick(args, |sort| sort == Sort::Fresh);
    let (place, len) = address::give(rig, args, on, Purpose::Bind);
    rig.say(format_args!(")"));
    call!(rig, bind(on.raw, place, len))
}

pub(super) fn listen(rig: &mut Rig<'_>, args: &mut Args<'_>) -> Outcome {
    rig.say(format_args!("listen("));
    let mut on = rig.pick(args, |sort| sort == Sort::Fresh);
    if rig.is_compared && rig.past(on).was_shut {
        rig.say(format_args!(" or rather none"));
        on.raw = -1;
    }
    let backlog = args.of(&[8, 0, 1, 2, -1, 4096, c_int::MAX, c_int::MIN]);
    rig.say(format_args!(", {backlog})"));
    let outcome = call!(rig, listen(on.raw, backlog));
    if let (Ok(_), Some(slot)) = (outcome.0, rig.slot_mut(on)) {
        slot.sort = Sort::Listener;
    }
    outcome
}

pub(super) fn accept(rig: &mut Rig<'_>, args: &mut Args<'_>) -> Outcome {
    rig.say(format_args!("accept("));
    let on = rig.pick(args, |sort| sort == Sort::Listener);
    let room = room(rig, args);
    rig.say(format_args!(")"));
    rig.begin();
    // SAFETY: null, or places as long as they say.
    let value = unsafe { libc::accept(on.raw, room.place, room.len) };
    let outcome = accepted(rig, on, value, &room);
    if rig.is_compared && outcome.0.is_ok() {
        // SAFETY: numbers.
        unsafe { libc::fcntl(value, libc::F_SETFL, libc::O_NONBLOCK) };
    }
    outcome
}

pub(super) fn accept4(rig: &mut Rig<'_>, args: &mut Args<'_>) -> Outcome {
    rig.say(format_args!("accept4("));
    let on = rig.pick(args, |sort| sort == Sort::Listener);
    let room = room(rig, args);
    let is_blocking = !rig.is_compared && args.one_in(8);
    let mut flags = args.flags(&[libc::SOCK_CLOEXEC]);
    flags |= if is_blocking { 0 } else { libc::SOCK_NONBLOCK };
    flags |= if args.one_in(64) { 4 } else { 0 };
    rig.say(format_args!(", {flags:#x})"));
    rig.begin();
    // SAFETY: null, or places as long as they say.
    let value = unsafe { libc::accept4(on.raw, room.place, room.len, flags) };
    accepted(rig, on, value, &room)
}

fn accepted(rig: &mut Rig<'_>, on: Picked, value: c_int, room: &Room) -> Outcome {
    let family = rig.slot(on).map_or(Family::V4, |slot| slot.family);
    let outcome = rig.end_open(value.into(), Sort::Connected, family);
    if outcome.0.is_ok() {
        room.tell(rig);
    }
    outcome
}

pub(super) fn connect(rig: &mut Rig<'_>, args: &mut Args<'_>) -> Outcome {
    rig.say(format_args!("connect("));
    let on = rig.pick(args, |sort| sort == Sort::Fresh || sort == Sort::Connected);
    let (place, len) = address::give(rig, args, on, Purpose::Dial);
    rig.say(format_args!(")"));
    let outcome = call!(rig, connect(on.raw, place, len));
    let dials = matches!(outcome.0, Ok(_) | Err(libc::EINPROGRESS));
    if let (true, Some(slot)) = (dials, rig.slot_mut(on)) {
        slot.sort = Sort::Connected;
    }
    if let (true, Some(end)) = (dials && rig.past(on).was_shut, rig.end_of(on)) {
        // A shutdown before there was a connection holds for it.
        rig.flows.on_shutdown(end, libc::SHUT_RDWR);
    }
    outcome
}

pub(super) fn shutdown(rig: &mut Rig<'_>, args: &mut Args<'_>) -> Outcome {
    rig.say(format_args!("shutdown("));
    let on = rig.pick(args, |sort| sort == Sort::Connected || sort == Sort::Listener);
    let how = args.of(&[libc::SHUT_WR, libc::SHUT_RD, libc::SHUT_RDWR, libc::SHUT_WR, 3, -1]);
    rig.say(format_args!(", {how})"));
    let end = rig.end_of(on);
    let outcome = call!(rig, shutdown(on.raw, how));
    rig.past(on).was_shut = true;
    if let (Ok(_), Some(end)) = (outcome.0, end) {
        rig.flows.on_shutdown(end, how);
    }
    outcome
}

pub(super) fn getsockname(rig: &mut Rig<'_>, args: &mut Args<'_>) -> Outcome {
    rig.say(format_args!("getsockname("));
    let on = rig.pick(args, Sort::is_socket);
    let room = room(rig, args);
    rig.say(format_args!(")"));
    let outcome = call!(rig, getsockname(on.raw, room.place, room.len));
    if outcome.0.is_ok() {
        room.tell(rig);
    }
    outcome
}

pub(super) fn getpeername(rig: &mut Rig<'_>, args: &mut Args<'_>) -> Outcome {
    rig.say(format_args!("getpeername("));
    let on = rig.pick(args, |sort| sort == Sort::Connected);
    let room = room(rig, args);
    rig.say(format_args!(")"));
    let outcome = call!(rig, getpeername(on.raw, room.place, room.len));
    if outcome.0.is_ok() {
        room.tell(rig);
    }
    outcome
}

/// A place for an address.
pub(super) struct Room {
    pub(super) place: *mut sockaddr,
    pub(super) len: *mut socklen_t,
    size: usize,
}

/// A place for an address, said.
pub(super) fn room(rig: &mut Rig<'_>, args: &mut Args<'_>) -> Room {
    let oddness = args.byte();
    let sizes: [socklen_t; 10] = [0, 1, 2, 15, 16, 27, 28, 128, u32::MAX, 1 << 31];
    let said = if oddness < 128 { 128 } else { args.of(&sizes) };
    let size = said.min(128) as usize;
    let place: *mut sockaddr = rig.memory.fill(Use::Address, size, 0xee).cast();
    let len = rig.memory.put(Use::Length, &[said]);
    let (place, len) = match oddness {
        192..=207 => (null_mut(), null_mut()),
        208..=223 => (null_mut(), len),
        224..=231 => (place, null_mut()),
        _ => (place, len),
    };
    match (place.is_null(), len.is_null()) {
        (false, false) => rig.say(format_args!(", room {}", said.cast_signed())),
        (true, false) => rig.say(format_args!(", null {}", said.cast_signed())),
        (is_null, true) => rig.say(format_args!(", null {is_null}, no length")),
    }
    Room { place, len, size }
}

impl Room {
    /// Says what a call wrote.
    pub(super) fn tell(&self, rig: &mut Rig<'_>) {
        if self.len.is_null() {
            return;
        }
        rig.check(&[(Use::Address, self.size), (Use::Length, size_of::<socklen_t>())]);
        let len = rig.memory.get::<socklen_t>(Use::Length, 1);
        let count = self.size.min(len as usize);
        let bytes = rig.memory.bytes(Use::Address, self.size, self.size).to_vec();
        if self.place.is_null() {
            return rig.say(format_args!(", length {len}"));
        }
        let past = bytes[count..].iter().all(|byte| *byte == 0xee);
        assert!(past, "nothing is written past an address");
        let whole = Some(&bytes[..count]).filter(|_| count == len as usize);
        match whole.and_then(|whole| address::describe(rig, whole)) {
            Some(text) => rig.say(format_args!(", {text}/{len}")),
            None => rig.say(format_args!(", {:x?}/{len}", &bytes[..count.min(2)])),
        }
    }
}

/// The bytes of a socket's own address, beside the calls that are told of.
pub(in crate::kernel_fuzz) fn name_of_socket(rig: &Rig<'_>, raw: c_int) -> Option<Vec<u8>> {
    let place = rig.memory.fill(Use::Address, 28, 0);
    let len = rig.memory.put::<socklen_t>(Use::Length, &[28]);
    // SAFETY: places as long as they say.
    let value = unsafe { libc::getsockname(raw, place.cast(), len) };
    let whole = rig.memory.get::<socklen_t>(Use::Length, 1) as usize;
    (value == 0).then(|| rig.memory.bytes(Use::Address, 28, whole.min(28)).to_vec())
}
