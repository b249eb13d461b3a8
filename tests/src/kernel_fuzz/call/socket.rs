//! Making, binding, dialing and accepting sockets.

use crate::kernel_fuzz::address::{self, Purpose};
use crate::kernel_fuzz::args::Args;
use crate::kernel_fuzz::rig::{Family, Picked, Rig, Sort};
use hostsim::seam::raw::{self, Outcome, Piece, Use};
use libc::{c_int, socklen_t};
use std::mem::size_of;

const V4: c_int = libc::AF_INET;
const V6: c_int = libc::AF_INET6;
const UNIX: c_int = libc::AF_UNIX;
const STREAM: c_int = libc::SOCK_STREAM;

pub(super) fn socket(rig: &mut Rig<'_>, args: &mut Args<'_>) -> Outcome {
    let mut family = args.of(&[V4, V4, V4, V4, V6, V4, V4, V6, UNIX, UNIX]);
    let (mut kind, mut protocol) = (STREAM, 0);
    let oddness = args.byte();
    if (192..224).contains(&oddness) && !rig.is_compared && family != UNIX {
        kind = libc::SOCK_DGRAM;
    }
    if oddness >= 224 {
        family = if oddness & 1 != 0 { args.of(&[0, -1, 46, 255, c_int::MAX]) } else { family };
        let kinds = &[STREAM, 0, 4, 5, 11, 12, 15, 3, 3, 10];
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
    let outcome = raw::socket(family, kind | flags, protocol);
    let known = [(V6, Family::V6), (UNIX, Family::Unix)];
    let known = known.iter().find(|(number, _)| *number == family);
    rig.end_open(outcome, Sort::Fresh, known.map_or(Family::V4, |known| known.1));
    if rig.is_compared && outcome.0.is_ok() && family != UNIX {
        send_at_once(rig, outcome.descriptor());
    }
    outcome
}

/// Keeps small writes from waiting for an acknowledgment, whose moment nobody knows.
fn send_at_once(rig: &Rig<'_>, raw: c_int) {
    let on = rig.memory.put(Use::Address, &c_int::to_ne_bytes(1));
    let set = raw::setsockopt(raw, libc::IPPROTO_TCP, libc::TCP_NODELAY, Some(on), 4);
    assert_eq!(set, Outcome(Ok(0)), "a socket of TCP has the option");
}

pub(super) fn socketpair(rig: &mut Rig<'_>, args: &mut Args<'_>) -> Outcome {
    let family = args.of(&[UNIX, UNIX, UNIX, UNIX, V4, V6, 0, -1]);
    let kind = args.of(&[STREAM, STREAM, STREAM, STREAM, 0, 4, 11, STREAM]);
    let protocol = args.of(&[0, 0, 0, 0, 0, 0, 1, 300]);
    let flags = args.flags(&[libc::SOCK_CLOEXEC]) | libc::SOCK_NONBLOCK;
    let place = rig.memory.put(Use::List, &[-7, -7].map(c_int::to_ne_bytes).concat());
    let place = Some(place).filter(|_| !args.one_in(16));
    rig.say(format_args!("socketpair({family}, {kind}|{flags:#x}, {protocol}, "));
    rig.say(format_args!("null {})", place.is_none()));
    let outcome = call!(rig, socketpair(family, kind | flags, protocol, place));
    if outcome.0.is_ok() {
        for from_end in [8, 4] {
            let raw = c_int::from_ne_bytes(rig.memory.array(Use::List, from_end));
            rig.end_open(Outcome(Ok(raw.into())), Sort::Connected, Family::Unix);
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
    let outcome = raw::accept(on.raw, room.place, room.len);
    accepted(rig, on, outcome, &room);
    if rig.is_compared && outcome.0.is_ok() {
        let set = raw::fcntl(outcome.descriptor(), libc::F_SETFL, libc::O_NONBLOCK);
        assert_eq!(set, Outcome(Ok(0)), "a socket has the mode");
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
    let outcome = raw::accept4(on.raw, room.place, room.len, flags);
    accepted(rig, on, outcome, &room)
}

fn accepted(rig: &mut Rig<'_>, on: Picked, outcome: Outcome, room: &Room<'_>) -> Outcome {
    let family = rig.slot(on).map_or(Family::V4, |slot| slot.family);
    rig.end_open(outcome, Sort::Connected, family);
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
pub(super) struct Room<'a> {
    pub(super) place: Option<Piece<'a>>,
    pub(super) len: Option<Piece<'a>>,
    size: usize,
}

/// A place for an address, said.
pub(super) fn room<'a>(rig: &mut Rig<'a>, args: &mut Args<'_>) -> Room<'a> {
    let oddness = args.byte();
    let sizes: [socklen_t; 10] = [0, 1, 2, 15, 16, 27, 28, 128, u32::MAX, 1 << 31];
    let said = if oddness < 128 { 128 } else { args.of(&sizes) };
    let size = said.min(128) as usize;
    let place = rig.memory.fill(Use::Address, size, 0xee);
    let len = rig.memory.put(Use::Length, &said.to_ne_bytes());
    let (place, len) = match oddness {
        192..=207 => (None, None),
        208..=223 => (None, Some(len)),
        224..=231 => (Some(place), None),
        _ => (Some(place), Some(len)),
    };
    match (place.is_none(), len.is_none()) {
        (false, false) => rig.say(format_args!(", room {}", said.cast_signed())),
        (true, false) => rig.say(format_args!(", null {}", said.cast_signed())),
        (is_null, true) => rig.say(format_args!(", null {is_null}, no length")),
    }
    Room { place, len, size }
}

impl Room<'_> {
    /// Says what a call wrote.
    pub(super) fn tell(&self, rig: &mut Rig<'_>) {
        if self.len.is_none() {
            return;
        }
        rig.check(&[(Use::Address, self.size), (Use::Length, size_of::<socklen_t>())]);
        let len = rig.number(Use::Length);
        let count = self.size.min(len as usize);
        let bytes = rig.memory.bytes(Use::Address, self.size, self.size);
        if self.place.is_none() {
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
    let len = rig.memory.put(Use::Length, &28_u32.to_ne_bytes());
    let outcome = raw::getsockname(raw, Some(place), Some(len));
    let whole = rig.number(Use::Length) as usize;
    outcome.0.is_ok().then(|| rig.memory.bytes(Use::Address, 28, whole.min(28)))
}
