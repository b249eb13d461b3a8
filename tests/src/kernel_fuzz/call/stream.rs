//! Reading and writing.

use super::socket;
use crate::kernel_fuzz::address::{self, Purpose};
use crate::kernel_fuzz::args::Args;
use crate::kernel_fuzz::flow::{End, mix};
use crate::kernel_fuzz::rig::{Picked, Rig, Sort};
use hostsim::seam::raw::{self, Outcome, Piece, Use};
use libc::c_int;

/// Lengths that no buffer has.
const HUGE: [usize; 4] = [1 << 31, usize::MAX, usize::MAX >> 1, 1 << 40];

fn huge(rig: &Rig<'_>, args: &mut Args<'_>) -> usize {
    args.of(if rig.is_compared { &HUGE[..1] } else { &HUGE })
}

pub(super) fn has_bytes(sort: Sort) -> bool {
    sort == Sort::Connected
}

fn is_readable(sort: Sort) -> bool {
    matches!(sort, Sort::Connected | Sort::Counter)
}

/// Flags for a send; the compared ones do not delay.
pub(super) fn send_flags(rig: &Rig<'_>, args: &mut Args<'_>) -> c_int {
    let flags =
        args.flags(&[libc::MSG_DONTWAIT, libc::MSG_EOR, libc::MSG_CONFIRM, libc::MSG_DONTROUTE]);
    let odd = args.one_in(32) && !rig.is_compared;
    let more = if odd { args.of(&[libc::MSG_MORE, libc::MSG_OOB, -1, 1 << 30]) } else { 0 };
    flags | more | libc::MSG_NOSIGNAL
}

pub(super) fn receive_flags(args: &mut Args<'_>) -> c_int {
    let (is_urgent, is_error) = (args.one_in(8), args.one_in(8));
    args.flags(&[
        libc::MSG_PEEK,
        libc::MSG_DONTWAIT,
        libc::MSG_TRUNC,
        libc::MSG_WAITALL,
        libc::MSG_CMSG_CLOEXEC,
        if is_urgent { libc::MSG_OOB } else { 0 },
        if is_error { libc::MSG_ERRQUEUE } else { 0 },
    ])
}

/// A send, from its buffer to what came of it.
struct Sending<'a> {
    end: Option<End>,
    place: Option<Piece<'a>>,
    len: usize,
}

impl<'a> Sending<'a> {
    fn new(rig: &mut Rig<'a>, args: &mut Args<'_>, on: Picked) -> Sending<'a> {
        let end = rig.end_of(on);
        let is_counter =
            end.is_none() && rig.slot(on).is_some_and(|slot| slot.sort == Sort::Counter);
        let size = if is_counter { args.of(&[8, 8, 8, 0, 7, 9]) } else { rig.size(args) };
        let bytes = if is_counter { count(args, size) } else { rig.payload(end, size) };
        let place = rig.memory.put(Use::Bytes, &bytes);
        let (place, len) = match args.byte() {
            0..240 => (Some(place), size),
            240..248 => (None, size),
            _ => (None, huge(rig, args)),
        };
        rig.say(format_args!(", {}{len} B", place.map_or("null, ", |_| "")));
        Sending { end, place, len }
    }

    fn done(&self, rig: &mut Rig<'_>, outcome: Outcome) -> Outcome {
        on_sent(rig, self.end, self.len, outcome)
    }
}

/// A number for a counter.
fn count(args: &mut Args<'_>, size: usize) -> Vec<u8> {
    let value = args.of(&[1_u64, 0, 2, u64::MAX, u64::MAX - 1, 1 << 63]).to_ne_bytes();
    value.into_iter().chain([0]).take(size).collect()
}

pub(super) fn on_sent(
    rig: &mut Rig<'_>,
    end: Option<End>,
    len: usize,
    outcome: Outcome,
) -> Outcome {
    assert!(outcome.count() <= len, "no more is sent than was given");
    match (end, outcome.0) {
        (Some(end), Ok(_)) => rig.flows.on_sent(end, outcome.count()),
        (Some(end), Err(errno)) => rig.flows.on_error(end, errno),
        (None, _) => {}
    }
    outcome
}

pub(super) fn send(rig: &mut Rig<'_>, args: &mut Args<'_>) -> Outcome {
    rig.say(format_args!("send("));
    let on = rig.pick(args, has_bytes);
    let sending = Sending::new(rig, args, on);
    let flags = send_flags(rig, args);
    rig.say(format_args!(", {flags:#x})"));
    let outcome = call!(rig, send(on.raw, sending.place, sending.len, flags));
    sending.done(rig, outcome)
}

pub(super) fn sendto(rig: &mut Rig<'_>, args: &mut Args<'_>) -> Outcome {
    rig.say(format_args!("sendto("));
    let on = rig.pick(args, has_bytes);
    let sending = Sending::new(rig, args, on);
    let flags = send_flags(rig, args);
    let (place, len) = if args.one_in(2) {
        address::give(rig, args, on, Purpose::Bind)
    } else {
        (None, args.of(&[0, 16, u32::MAX]))
    };
    rig.say(format_args!(", length {}, {flags:#x})", len.cast_signed()));
    let outcome = call!(rig, sendto(on.raw, sending.place, sending.len, flags, place, len));
    sending.done(rig, outcome)
}

pub(super) fn write(rig: &mut Rig<'_>, args: &mut Args<'_>) -> Outcome {
    rig.say(format_args!("write("));
    let on = rig.pick(args, is_readable);
    let sending = Sending::new(rig, args, on);
    rig.say(format_args!(")"));
    let outcome = call!(rig, write(on.raw, sending.place, sending.len));
    sending.done(rig, outcome)
}

/// A receive, from its buffer to what came of it.
struct Receiving<'a> {
    end: Option<End>,
    place: Option<Piece<'a>>,
    /// What is asked for, and what there really is.
    len: usize,
    size: usize,
}

impl<'a> Receiving<'a> {
    fn new(rig: &mut Rig<'a>, args: &mut Args<'_>, on: Picked) -> Receiving<'a> {
        let end = rig.end_of(on);
        let is_counter =
            end.is_none() && rig.slot(on).is_some_and(|slot| slot.sort == Sort::Counter);
        let mut size = if is_counter { args.of(&[8, 8, 9, 0, 7]) } else { rig.size(args) };
        let mut len = size;
        let oddness = args.byte();
        if oddness >= 240 {
            len = huge(rig, args);
            size = rig.memory.size(Use::Bytes);
            // The buffer is shorter than is said, but longer than what there is.
            len = if raw::unread(rig.memory, on.raw) < size { len } else { size };
        }
        let place = rig.memory.take(Use::Bytes, size);
        let place = Some(place).filter(|_| !(232..244).contains(&oddness));
        rig.say(format_args!(", {}{len} B", place.map_or("null, ", |_| "")));
        Receiving { end, place, len, size }
    }

    fn done(&self, rig: &mut Rig<'_>, outcome: Outcome, flags: c_int) -> Outcome {
        rig.check(&[(Use::Bytes, self.size)]);
        let count = outcome.count();
        let has_place = self.place.is_some() && flags & libc::MSG_TRUNC == 0;
        let count = if has_place { count } else { 0 };
        assert!(count <= self.size, "no more is received than there is room for");
        let bytes = rig.memory.bytes(Use::Bytes, self.size, count);
        on_received(rig, self.end, self.len, &bytes, outcome, flags)
    }
}

/// Says and judges what a receive of up to `len` bytes gave.
pub(super) fn on_received(
    rig: &mut Rig<'_>,
    end: Option<End>,
    len: usize,
    bytes: &[u8],
    outcome: Outcome,
    flags: c_int,
) -> Outcome {
    // Of a datagram the flag tells how long it was, whatever of it there is room for.
    let is_length = end.is_none() && flags & libc::MSG_TRUNC != 0;
    assert!(outcome.count() <= len || is_length, "no more is received than was asked for");
    if !bytes.is_empty() {
        let hash = bytes.iter().fold(0, |hash, byte| mix(hash ^ u64::from(*byte)));
        rig.say(format_args!(" #{:06x}", hash >> 40));
    }
    let Some(end) = end else { return outcome };
    match outcome.0 {
        Ok(0) if len > 0 => rig.flows.on_end(end),
        Ok(_) => {
            rig.flows.on_received(end, bytes);
            let is_taken = flags & libc::MSG_PEEK == 0;
            rig.flows.on_taken(end, if is_taken { outcome.count() } else { 0 });
        }
        Err(errno) => rig.flows.on_error(end, errno),
    }
    outcome
}

pub(super) fn recv(rig: &mut Rig<'_>, args: &mut Args<'_>) -> Outcome {
    rig.say(format_args!("recv("));
    let on = rig.pick(args, has_bytes);
    let receiving = Receiving::new(rig, args, on);
    let flags = receive_flags(args);
    rig.say(format_args!(", {flags:#x})"));
    let outcome = call!(rig, recv(on.raw, receiving.place, receiving.len, flags));
    receiving.done(rig, outcome, flags)
}

pub(super) fn recvfrom(rig: &mut Rig<'_>, args: &mut Args<'_>) -> Outcome {
    rig.say(format_args!("recvfrom("));
    let on = rig.pick(args, has_bytes);
    let receiving = Receiving::new(rig, args, on);
    let flags = receive_flags(args);
    let room = socket::room(rig, args);
    rig.say(format_args!(", {flags:#x})"));
    let (place, len) = (room.place, room.len);
    let outcome = call!(rig, recvfrom(on.raw, receiving.place, receiving.len, flags, place, len));
    if outcome.0.is_ok() && place.is_some() {
        room.tell(rig);
    }
    // Where there is no place for the address, the bytes are gone all the same.
    let is_lost = matches!(outcome.0, Err(libc::EFAULT | libc::EINVAL)) && place.is_some();
    if is_lost && rig.end_of(on).is_some() {
        rig.abandon(on);
        return outcome;
    }
    receiving.done(rig, outcome, flags)
}

pub(super) fn read(rig: &mut Rig<'_>, args: &mut Args<'_>) -> Outcome {
    rig.say(format_args!("read("));
    let on = rig.pick(args, is_readable);
    let receiving = Receiving::new(rig, args, on);
    rig.say(format_args!(")"));
    let outcome = call!(rig, read(on.raw, receiving.place, receiving.len));
    let is_counter = rig.slot(on).is_some_and(|slot| slot.sort == Sort::Counter);
    if is_counter && receiving.end.is_none() {
        return told_count(rig, outcome, receiving.size);
    }
    receiving.done(rig, outcome, 0)
}

fn told_count(rig: &mut Rig<'_>, outcome: Outcome, size: usize) -> Outcome {
    if outcome.count() == 8 && size >= 8 {
        let value = rig.memory.bytes(Use::Bytes, size, 8);
        rig.say(format_args!(" {value:x?}"));
    }
    outcome
}
