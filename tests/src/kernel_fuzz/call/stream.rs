//! Reading and writing.

use super::socket;
use crate::kernel_fuzz::address::{self, Purpose};
use crate::kernel_fuzz::args::Args;
use crate::kernel_fuzz::flow::{End, mix};
use crate::kernel_fuzz::memory::Use;
use crate::kernel_fuzz::outcome::Outcome;
use crate::kernel_fuzz::rig::{Picked, Rig, Sort};
use libc::{c_int, c_void, iovec, msghdr, socklen_t};
use std::mem::size_of;
use std::ptr::{null, null_mut};

/// Lengths that no buffer has.
const HUGE: [usize; 4] = [1 << 31, usize::MAX, usize::MAX >> 1, 1 << 40];

fn huge(rig: &Rig<'_>, args: &mut Args<'_>) -> usize {
    args.of(if rig.is_compared { &HUGE[..1] } else { &HUGE })
}

fn has_bytes(sort: Sort) -> bool {
    sort == Sort::Connected
}

fn is_readable(sort: Sort) -> bool {
    matches!(sort, Sort::Connected | Sort::Counter)
}

/// Flags for a send; the compared ones do not delay.
fn send_flags(rig: &Rig<'_>, args: &mut Args<'_>) -> c_int {
    let flags =
        args.flags(&[libc::MSG_DONTWAIT, libc::MSG_EOR, libc::MSG_CONFIRM, libc::MSG_DONTROUTE]);
    let odd = args.one_in(32) && !rig.is_compared;
    let more = if odd { args.of(&[libc::MSG_MORE, libc::MSG_OOB, -1, 1 << 30]) } else { 0 };
    flags | more | libc::MSG_NOSIGNAL
}

fn receive_flags(args: &mut Args<'_>) -> c_int {
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
struct Sending {
    end: Option<End>,
    place: *const c_void,
    len: usize,
}

impl Sending {
    fn new(rig: &mut Rig<'_>, args: &mut Args<'_>, on: Picked) -> Sending {
        let end = rig.end_of(on);
        let is_counter =
            end.is_none() && rig.slot(on).is_some_and(|slot| slot.sort == Sort::Counter);
        let size = if is_counter { args.of(&[8, 8, 8, 0, 7, 9]) } else { rig.size(args) };
        let bytes = if is_counter { count(args, size) } else { rig.payload(end, size) };
        let place: *const c_void = rig.memory.put(Use::Bytes, &bytes).cast();
        let (place, len) = match args.byte() {
            0..240 => (place, size),
            240..248 => (null(), size),
            _ => (null(), huge(rig, args)),
        };
        rig.say(format_args!(", {}{len} B", if place.is_null() { "null, " } else { "" }));
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

fn on_sent(rig: &mut Rig<'_>, end: Option<End>, len: usize, outcome: Outcome) -> Outcome {
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
        (null(), args.of(&[0, 16, u32::MAX]))
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
struct Receiving {
    end: Option<End>,
    place: *mut c_void,
    /// What is asked for, and what there really is.
    len: usize,
    size: usize,
}

impl Receiving {
    fn new(rig: &mut Rig<'_>, args: &mut Args<'_>, on: Picked) -> Receiving {
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
            len = if unread(on) < size { len } else { size };
        }
        let place: *mut c_void = rig.memory.take(Use::Bytes, size).cast();
        let place = if (232..244).contains(&oddness) { null_mut() } else { place };
        rig.say(format_args!(", {}{len} B", if place.is_null() { "null, " } else { "" }));
        Receiving { end, place, len, size }
    }

    fn done(&self, rig: &mut Rig<'_>, outcome: Outcome, flags: c_int) -> Outcome {
        rig.check(&[(Use::Bytes, self.size)]);
        let count = outcome.count();
        let has_place = !self.place.is_null() && flags & libc::MSG_TRUNC == 0;
        let count = if has_place { count } else { 0 };
        assert!(count <= self.size, "no more is received than there is room for");
        let bytes = rig.memory.bytes(Use::Bytes, self.size, count).to_vec();
        on_received(rig, self.end, self.len, &bytes, outcome, flags)
    }
}

/// How many bytes wait, beside the calls that are told of.
fn unread(on: Picked) -> usize {
    let mut count: c_int = 0;
    // SAFETY: an int to write.
    unsafe { libc::ioctl(on.raw, libc::FIONREAD, &raw mut count) };
    count.unsigned_abs() as usize
}

/// Says and judges what a receive of up to `len` bytes gave.
fn on_received(
    rig: &mut Rig<'_>,
    end: Option<End>,
    len: usize,
    bytes: &[u8],
    outcome: Outcome,
    flags: c_int,
) -> Outcome {
    assert!(outcome.count() <= len, "no more is received than was asked for");
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
    if outcome.0.is_ok() && !place.is_null() {
        room.tell(rig);
    }
    // Where there is no place for the address, the bytes are gone all the same.
    let is_lost = matches!(outcome.0, Err(libc::EFAULT | libc::EINVAL)) && !place.is_null();
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
        let value = rig.memory.bytes(Use::Bytes, size, 8).to_vec();
        rig.say(format_args!(" {value:x?}"));
    }
    outcome
}

/// Buffers in parts.
struct Parts {
    list: *const iovec,
    count: usize,
    lens: Vec<usize>,
    /// The bytes of all of them.
    size: usize,
    is_null: bool,
}

impl Parts {
    /// Parts of bytes: the next of the stream for a send, marks for a receive.
    fn new(rig: &mut Rig<'_>, args: &mut Args<'_>, end: Option<End>, sends: bool) -> Parts {
        let lens: Vec<usize> = (0..args.below(4)).map(|_| args.of(&[1, 3, 0, 50, 300])).collect();
        let size = lens.iter().sum();
        let bytes = if sends { rig.payload(end, size) } else { vec![0xee; size] };
        let mut at = rig.memory.put(Use::Bytes, &bytes);
        let mut list: Vec<iovec> = Vec::new();
        for len in &lens {
            list.push(iovec { iov_base: at.cast(), iov_len: *len });
            at = at.wrapping_add(*len);
        }
        let (oddness, mut count) = (args.byte(), lens.len());
        match oddness {
            // How much moves before a later part is found to be null depends on segments.
            224..232 if count > 0 => {
                list[if rig.is_compared { 0 } else { count - 1 }].iov_base = null_mut();
            }
            232..236 if count > 0 => list[0].iov_len = usize::MAX,
            236..240 => {
                count = args.of(&[1024, 1025]);
                let empty = iovec { iov_base: null_mut(), iov_len: 0 };
                list.resize(count, empty);
            }
            _ => {}
        }
        let is_null = list.iter().any(|part| part.iov_base.is_null() && part.iov_len > 0);
        let mut place: *const iovec = rig.memory.put(Use::List, &list);
        if oddness >= 240 {
            count = args.of(&[1, 0, 1024, 1025, c_int::MAX as usize, u32::MAX as usize, 1 << 31]);
            place = null();
        }
        rig.say(format_args!(", {count} parts {lens:?} odd {oddness}"));
        Parts { list: place, count, lens, size, is_null }
    }

    fn len(&self) -> usize {
        if self.list.is_null() { 0 } else { self.lens.iter().sum() }
    }

    fn done(&self, rig: &mut Rig<'_>, end: Option<End>, outcome: Outcome, flags: c_int) -> Outcome {
        rig.check(&[(Use::Bytes, self.size)]);
        let is_kept = !self.is_null && flags & libc::MSG_TRUNC == 0;
        let count = if is_kept { outcome.count() } else { 0 };
        let bytes = rig.memory.bytes(Use::Bytes, self.size, count).to_vec();
        // A part of negative length fails the call, so no length is more than the sum.
        on_received(rig, end, self.len(), &bytes, outcome, flags)
    }
}

pub(super) fn writev(rig: &mut Rig<'_>, args: &mut Args<'_>) -> Outcome {
    rig.say(format_args!("writev("));
    let on = rig.pick(args, has_bytes);
    let end = rig.end_of(on);
    let parts = Parts::new(rig, args, end, true);
    rig.say(format_args!(")"));
    let outcome = call!(rig, writev(on.raw, parts.list, parts.count as c_int));
    on_sent(rig, end, parts.len(), outcome)
}

pub(super) fn readv(rig: &mut Rig<'_>, args: &mut Args<'_>) -> Outcome {
    rig.say(format_args!("readv("));
    let on = rig.pick(args, has_bytes);
    let end = rig.end_of(on);
    let parts = Parts::new(rig, args, end, false);
    rig.say(format_args!(")"));
    let outcome = call!(rig, readv(on.raw, parts.list, parts.count as c_int));
    parts.done(rig, end, outcome, 0)
}

/// A header of a message; where `name` has a place, a call may write there.
fn header(parts: &Parts, name: *mut c_void, name_len: socklen_t) -> msghdr {
    // SAFETY: zeros are a header that asks for nothing.
    let mut header: msghdr = unsafe { std::mem::zeroed() };
    (header.msg_name, header.msg_namelen) = (name, name_len);
    (header.msg_iov, header.msg_iovlen) = (parts.list.cast_mut(), parts.count);
    header
}

pub(super) fn sendmsg(rig: &mut Rig<'_>, args: &mut Args<'_>) -> Outcome {
    rig.say(format_args!("sendmsg("));
    let on = rig.pick(args, has_bytes);
    let end = rig.end_of(on);
    let parts = Parts::new(rig, args, end, true);
    let flags = send_flags(rig, args);
    let (name, name_len) = if args.one_in(4) {
        address::give(rig, args, on, Purpose::Bind)
    } else {
        (null(), args.of(&[0, 16, u32::MAX]))
    };
    let header = header(&parts, name.cast_mut().cast(), name_len);
    let place = rig.memory.put(Use::Header, &[header]);
    let place = if args.one_in(32) { null_mut() } else { place };
    let is_null = place.is_null();
    rig.say(format_args!(", name {name_len}, null {is_null}, {flags:#x})"));
    let outcome = call!(rig, sendmsg(on.raw, place, flags));
    on_sent(rig, end, parts.len(), outcome)
}

pub(super) fn recvmsg(rig: &mut Rig<'_>, args: &mut Args<'_>) -> Outcome {
    rig.say(format_args!("recvmsg("));
    let on = rig.pick(args, has_bytes);
    let end = rig.end_of(on);
    let parts = Parts::new(rig, args, end, false);
    let flags = receive_flags(args);
    let name_len = args.of(&[0, 28, 1, 128, u32::MAX]);
    let name: *mut u8 = rig.memory.fill(Use::Address, name_len.min(128) as usize, 0xee);
    let name = if args.one_in(2) { name } else { null_mut() };
    let mut header = header(&parts, name.cast(), name_len);
    if args.one_in(2) {
        header.msg_control = rig.memory.fill(Use::Control, 64, 0xee).cast();
        header.msg_controllen = 64;
    }
    let place = rig.memory.put(Use::Header, &[header]);
    let place = if args.one_in(32) { null_mut() } else { place };
    let what = (name.is_null(), name_len.cast_signed(), header.msg_controllen, place.is_null());
    rig.say(format_args!(
        ", name null {}, {}, control {}, null {}, {flags:#x})",
        what.0, what.1, what.2, what.3
    ));
    let outcome = call!(rig, recvmsg(on.raw, place, flags));
    if outcome.0.is_ok() {
        let after: msghdr = rig.memory.get(Use::Header, 1);
        let lens = (after.msg_namelen.cast_signed(), after.msg_controllen, after.msg_flags);
        rig.say(format_args!(" {lens:?}"));
    }
    rig.check(&[(Use::Header, size_of::<msghdr>())]);
    parts.done(rig, end, outcome, flags)
}
