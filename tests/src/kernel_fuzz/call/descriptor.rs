//! Descriptors of any kind.

use crate::kernel_fuzz::args::Args;
use crate::kernel_fuzz::rig::{Family, Picked, Rig, Slot, Sort};
use hostsim::seam::raw::{self, Outcome, Use};
use libc::c_int;
use std::mem::size_of;

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
pub(in crate::kernel_fuzz) fn close_at_once(rig: &Rig<'_>, raw: c_int) {
    let linger = [1, 0].map(c_int::to_ne_bytes).concat();
    let value = rig.memory.put(Use::Address, &linger);
    // What is no socket does not linger.
    let _ = raw::setsockopt(raw, libc::SOL_SOCKET, libc::SO_LINGER, Some(value), 8);
    let _ = raw::close(raw);
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
    let outcome = raw::dup(on.raw);
    rig.end_copy(outcome, like)
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
    let outcome = raw::fcntl(on.raw, command, argument);
    match command {
        libc::F_DUPFD | libc::F_DUPFD_CLOEXEC => rig.end_copy(outcome, like),
        _ => rig.end(outcome),
    }
}

pub(super) fn ioctl(rig: &mut Rig<'_>, args: &mut Args<'_>) -> Outcome {
    rig.say(format_args!("ioctl("));
    let on = rig.pick(args, |_| true);
    let requests =
        [libc::FIONREAD, libc::FIONBIO, libc::FIOCLEX, libc::FIONCLEX, 0x1234_5678, libc::TIOCOUTQ];
    let request = args.of(if rig.is_compared { &requests[..5] } else { &requests });
    let is_on = rig.is_compared || args.one_in(2);
    let place = rig.memory.put(Use::Length, &c_int::from(is_on).to_ne_bytes());
    let place = Some(place).filter(|_| !args.one_in(16));
    rig.say(format_args!(", {request:#x}, {})", place.map_or("null", |_| "a place")));
    let outcome = call!(rig, ioctl(on.raw, request, place));
    let value = rig.number(Use::Length).cast_signed();
    rig.check(&[(Use::Length, size_of::<c_int>())]);
    if outcome.0.is_ok() {
        rig.say(format_args!(", {value}"));
    }
    outcome
}
