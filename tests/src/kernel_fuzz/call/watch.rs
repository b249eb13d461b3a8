//! Waiting for many descriptors, and counters.

use crate::kernel_fuzz::args::Args;
use crate::kernel_fuzz::rig::{Family, Rig, Sort};
use hostsim::seam::raw::{self, EVENT_LEN, Outcome, Use};
use libc::{c_int, c_uint, nfds_t, pollfd};
use std::mem::{offset_of, size_of};

pub(super) fn epoll_create1(rig: &mut Rig<'_>, args: &mut Args<'_>) -> Outcome {
    let flags = args.of(&[libc::EPOLL_CLOEXEC, 0, libc::EPOLL_CLOEXEC, 0, 1, -1]);
    rig.say(format_args!("epoll_create1({flags:#x})"));
    rig.begin();
    let outcome = raw::epoll_create1(flags);
    rig.end_open(outcome, Sort::Epoll, Family::V4)
}

pub(super) fn eventfd(rig: &mut Rig<'_>, args: &mut Args<'_>) -> Outcome {
    let initial: c_uint = args.of(&[0, 1, 5, c_uint::MAX]);
    let mut flags = args.flags(&[libc::EFD_CLOEXEC, libc::EFD_SEMAPHORE]);
    flags |= if !rig.is_compared && args.one_in(8) { 0 } else { libc::EFD_NONBLOCK };
    flags |= if args.one_in(16) { 2 << 4 } else { 0 };
    rig.say(format_args!("eventfd({initial}, {flags:#x})"));
    rig.begin();
    let outcome = raw::eventfd(initial, flags);
    rig.end_open(outcome, Sort::Counter, Family::V4)
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
    let place = rig.memory.put(Use::List, &raw::event(events, data));
    let place = Some(place).filter(|_| !args.one_in(32));
    rig.say(format_args!(", {events:#x}, null {})", place.is_none()));
    call!(rig, epoll_ctl(on.raw, change, watched.raw, place))
}

pub(super) fn epoll_wait(rig: &mut Rig<'_>, args: &mut Args<'_>) -> Outcome {
    rig.say(format_args!("epoll_wait("));
    let on = rig.pick(args, |sort| sort == Sort::Epoll);
    let max: c_int = args.of(&[8, 8, 1, 2, 8, 0, -1, c_int::MAX]);
    let size = max.clamp(0, 64) as usize;
    let place = rig.memory.fill(Use::List, size * EVENT_LEN, 0xee);
    let place = Some(place).filter(|_| !args.one_in(32));
    let timeout =
        if !rig.is_compared && args.one_in(8) { args.of(&[-1, 5, c_int::MAX]) } else { 0 };
    rig.say(format_args!(", null {}, {max}, {timeout})", place.is_none()));
    let outcome = call!(rig, epoll_wait(on.raw, place, max, timeout));
    rig.check(&[(Use::List, size * EVENT_LEN)]);
    assert!(outcome.count() <= size, "no more events than there is room for");
    for index in 0..outcome.count() {
        let event = rig.memory.array(Use::List, (size - index) * EVENT_LEN);
        let (events, data) = raw::read_event(event);
        rig.say(format_args!(" s{} {events:#x}", data.cast_signed()));
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
        entries.extend(fd.to_ne_bytes());
        entries.extend([events, 0x55].map(i16::to_ne_bytes).concat());
        rig.say(format_args!(" {events:#x}, "));
    }
    let place = rig.memory.put(Use::List, &entries);
    let is_odd = args.one_in(16);
    let said: nfds_t =
        if is_odd { args.of(&[0xffff_ffff, 1 << 32, 1 << 31]) } else { count as nfds_t };
    let place = Some(place).filter(|_| !args.one_in(16));
    let timeout =
        if !rig.is_compared && args.one_in(8) { args.of(&[-1, 5, c_int::MAX]) } else { 0 };
    rig.say(format_args!("null {}, {said:#x}, {timeout})", place.is_none()));
    let outcome = call!(rig, poll(place, said, timeout));
    rig.check(&[(Use::List, count * size_of::<pollfd>())]);
    for index in 0..count {
        let from_end = (count - index) * size_of::<pollfd>() - offset_of!(pollfd, revents);
        let revents = i16::from_ne_bytes(rig.memory.array(Use::List, from_end));
        rig.say(format_args!(" {revents:#x}"));
    }
    outcome
}
