//! Waiting for many descriptors, and counters.

use crate::kernel_fuzz::args::Args;
use crate::kernel_fuzz::memory::Use;
use crate::kernel_fuzz::outcome::Outcome;
use crate::kernel_fuzz::rig::{Family, Rig, Sort};
use libc::{c_int, c_uint, epoll_event, nfds_t, pollfd};
use std::mem::size_of;
use std::ptr::null_mut;

pub(super) fn epoll_create1(rig: &mut Rig<'_>, args: &mut Args<'_>) -> Outcome {
    let flags = args.of(&[libc::EPOLL_CLOEXEC, 0, libc::EPOLL_CLOEXEC, 0, 1, -1]);
    rig.say(format_args!("epoll_create1({flags:#x})"));
    rig.begin();
    // SAFETY: a number.
    let value = unsafe { libc::epoll_create1(flags) };
    rig.end_open(value.into(), Sort::Epoll, Family::V4)
}

pub(super) fn eventfd(rig: &mut Rig<'_>, args: &mut Args<'_>) -> Outcome {
    let initial: c_uint = args.of(&[0, 1, 5, c_uint::MAX]);
    let mut flags = args.flags(&[libc::EFD_CLOEXEC, libc::EFD_SEMAPHORE]);
    flags |= if !rig.is_compared && args.one_in(8) { 0 } else { libc::EFD_NONBLOCK };
    flags |= if args.one_in(16) { 2 << 4 } else { 0 };
    rig.say(format_args!("eventfd({initial}, {flags:#x})"));
    rig.begin();
    // SAFETY: numbers.
    let value = unsafe { libc::eventfd(initial, flags) };
    rig.end_open(value.into(), Sort::Counter, Family::V4)
}

/// What may be asked of a watch.
fn interest(args: &mut Args<'_>) -> u32 {
    let base = args.of(&[
        libc::EPOLLIN | libc::EPOLLOUT | libc::EPOLLRDHUP,
        libc::EPOLLIN,
        libc::EPOLLOUT,
        libc::EPOLLIN | libc::EPOLLOUT,
        libc::EPOLLRDHUP,
        libc::EPOLLPRI,
        0,
    ]);
    let how = args.of(&[0, libc::EPOLLET, libc::EPOLLET, libc::EPOLLONESHOT, libc::EPOLLEXCLUSIVE]);
    (base | how) as u32
}

pub(super) fn epoll_ctl(rig: &mut Rig<'_>, args: &mut Args<'_>) -> Outcome {
    rig.say(format_args!("epoll_ctl("));
    let on = rig.pick(args, |sort| sort == Sort::Epoll);
    let changes = [
        libc::EPOLL_CTL_ADD,
        libc::EPOLL_CTL_ADD,
        libc::EPOLL_CTL_MOD,
        libc::EPOLL_CTL_DEL,
        libc::EPOLL_CTL_ADD,
        libc::EPOLL_CTL_MOD,
        0,
        -1,
    ];
    let change = args.of(&changes);
    rig.say(format_args!(", {change}, "));
    let mut watched = rig.pick(args, |sort| sort != Sort::Epoll);
    if rig.is_compared && rig.slot(watched).is_some_and(|slot| slot.sort == Sort::Epoll) {
        // One in another is not simulated.
        rig.say(format_args!(" or rather the same"));
        watched = on;
    }
    let events = interest(args);
    let data = watched.slot.map_or(u64::MAX, |slot| slot as u64);
    let place = rig.memory.put(Use::List, &[epoll_event { events, u64: data }]);
    let place = if args.one_in(32) { null_mut() } else { place };
    rig.say(format_args!(", {events:#x}, null {})", place.is_null()));
    call!(rig, epoll_ctl(on.raw, change, watched.raw, place))
}

pub(super) fn epoll_wait(rig: &mut Rig<'_>, args: &mut Args<'_>) -> Outcome {
    rig.say(format_args!("epoll_wait("));
    let on = rig.pick(args, |sort| sort == Sort::Epoll);
    let max: c_int = args.of(&[8, 8, 1, 2, 8, 0, -1, c_int::MAX]);
    let size = max.clamp(0, 64) as usize;
    let place = rig.memory.fill(Use::List, size * size_of::<epoll_event>(), 0xee);
    let place: *mut epoll_event = if args.one_in(32) { null_mut() } else { place.cast() };
    let timeout =
        if !rig.is_compared && args.one_in(8) { args.of(&[-1, 5, c_int::MAX]) } else { 0 };
    rig.say(format_args!(", null {}, {max}, {timeout})", place.is_null()));
    let outcome = call!(rig, epoll_wait(on.raw, place, max, timeout));
    rig.check(&[(Use::List, size * size_of::<epoll_event>())]);
    assert!(outcome.count() <= size, "no more events than there is room for");
    for index in 0..outcome.count() {
        let event: epoll_event = rig.memory.get(Use::List, size - index);
        let (events, data) = (event.events, event.u64.cast_signed());
        rig.say(format_args!(" s{data} {events:#x}"));
    }
    outcome
}

pub(super) fn poll(rig: &mut Rig<'_>, args: &mut Args<'_>) -> Outcome {
    rig.say(format_args!("poll("));
    let count = args.below(4);
    let mut entries = Vec::new();
    for _ in 0..count {
        let fd = rig.pick(args, |_| true).raw;
        let events = args.of(&[-1_i16, libc::POLLIN, libc::POLLOUT, 0, libc::POLLRDHUP]);
        entries.push(pollfd { fd, events, revents: 0x55 });
        rig.say(format_args!(" {events:#x}, "));
    }
    let place = rig.memory.put(Use::List, &entries);
    let is_odd = args.one_in(16);
    let said: nfds_t =
        if is_odd { args.of(&[0xffff_ffff, 1 << 32, 1 << 31]) } else { count as nfds_t };
    let place = if args.one_in(16) { null_mut() } else { place };
    let timeout =
        if !rig.is_compared && args.one_in(8) { args.of(&[-1, 5, c_int::MAX]) } else { 0 };
    rig.say(format_args!("null {}, {said:#x}, {timeout})", place.is_null()));
    let outcome = call!(rig, poll(place, said, timeout));
    rig.check(&[(Use::List, count * size_of::<pollfd>())]);
    for index in 0..count {
        let entry: pollfd = rig.memory.get(Use::List, count - index);
        rig.say(format_args!(" {:#x}", entry.revents));
    }
    outcome
}
