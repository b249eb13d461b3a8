//! Descriptors of any kind.

use crate::kernel_fuzz::args::Args;
use crate::kernel_fuzz::memory::Use;
use crate::kernel_fuzz::outcome::Outcome;
use crate::kernel_fuzz::rig::{Family, Picked, Rig, Slot, Sort};
use libc::{c_int, socklen_t};
use std::mem::size_of;
use std::ptr::null_mut;

pub(super) fn close(rig: &mut Rig<'_>, args: &mut Args<'_>) -> Outcome {
    rig.say(format_args!("close("));
    let on = rig.pick(args, |_| true);
    rig.say(format_args!(")"));
    let outcome = call!(rig, close(on.raw));
    if outcome.0.is_ok() {
        rig.on_closed(on.raw);
    }
    outcome
}

/// Closes a descriptor with a reset, beside the calls that are told of: nothing of it is left.
pub(in crate::kernel_fuzz) fn close_at_once(raw: c_int) {
    let linger = libc::linger { l_onoff: 1, l_linger: 0 };
    let (from, len) = ((&raw const linger).cast(), size_of::<libc::linger>() as socklen_t);
    // SAFETY: a linger to read.
    unsafe { libc::setsockopt(raw, libc::SOL_SOCKET, libc::SO_LINGER, from, len) };
    // SAFETY: a number.
    unsafe { libc::close(raw) };
}

/// What a copy is like.
fn like(rig: &Rig<'_>, on: Picked) -> Slot {
    let file = rig.slots.len();
    let unknown = Slot { raw: on.raw, sort: Sort::Fresh, family: Family::V4, is_open: true, file };
    rig.slot(on).unwrap_or(unknown)
}

pub(super) fn dup(rig: &mut Rig<'_>, args: &mut Args<'_>) -> Outcome {
    rig.say(format_args!("dup("));
    let on = rig.pick(args, |_| true);
    rig.say(format_args!(")"));
    let like = like(rig, on);
    rig.begin();
    // SAFETY: a number.
    let value = unsafe { libc::dup(on.raw) };
    rig.end_copy(value.into(), like)
}

pub(super) fn fcntl(rig: &mut Rig<'_>, args: &mut Args<'_>) -> Outcome {
    rig.say(format_args!("fcntl("));
    let on = rig.pick(args, |_| true);
    let (get, set) = (libc::F_GETFL, libc::F_SETFL);
    let commands =
        [get, libc::F_GETFD, libc::F_SETFD, libc::F_DUPFD, libc::F_DUPFD_CLOEXEC, set, 9999, -1];
    let command = args.of(&commands);
    let argument: c_int = match command {
        libc::F_DUPFD | libc::F_DUPFD_CLOEXEC => args.of(&[0, 3, -1, c_int::MIN, c_int::MAX]),
        libc::F_SETFL if rig.is_compared => libc::O_NONBLOCK,
        libc::F_SETFL => args.of(&[libc::O_NONBLOCK, 0, libc::O_RDWR, -1]),
        _ => args.of(&[0, 1, 2, -1]),
    };
    rig.say(format_args!(", {command}, {argument})"));
    let like = like(rig, on);
    rig.begin();
    // SAFETY: numbers; none of the commands takes a pointer.
    let value = unsafe { libc::fcntl(on.raw, command, argument) };
    match command {
        libc::F_DUPFD | libc::F_DUPFD_CLOEXEC => rig.end_copy(value.into(), like),
        _ => rig.end(value.into()),
    }
}

pub(super) fn ioctl(rig: &mut Rig<'_>, args: &mut Args<'_>) -> Outcome {
    rig.say(format_args!("ioctl("));
    let on = rig.pick(args, |_| true);
    let requests =
        [libc::FIONREAD, libc::FIONBIO, libc::FIOCLEX, libc::FIONCLEX, 0x1234_5678, libc::TIOCOUTQ];
    let request = args.of(if rig.is_compared { &requests[..5] } else { &requests });
    let is_on = rig.is_compared || args.one_in(2);
    let place = rig.memory.put::<c_int>(Use::Length, &[c_int::from(is_on)]);
    let place = if args.one_in(16) { null_mut() } else { place };
    rig.say(format_args!(", {request:#x}, {})", if place.is_null() { "null" } else { "a place" }));
    let outcome = call!(rig, ioctl(on.raw, request, place.cast::<libc::c_void>()));
    let value: c_int = rig.memory.get(Use::Length, 1);
    rig.check(&[(Use::Length, size_of::<c_int>())]);
    if outcome.0.is_ok() {
        rig.say(format_args!(", {value}"));
    }
    outcome
}
