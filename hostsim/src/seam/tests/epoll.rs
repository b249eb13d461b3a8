//! `epoll_create1`, `epoll_ctl`, `epoll_wait`, `epoll_pwait` and `epoll_pwait2`.

use super::{Log, Outcome, check, recv, send};
use expect_test::expect;
use libc::{
    EPOLL_CTL_ADD, EPOLL_CTL_DEL, EPOLL_CTL_MOD, EPOLLET, EPOLLIN, EPOLLONESHOT, EPOLLOUT, POLLIN,
    c_int, epoll_event, timespec,
};
use std::os::fd::AsRawFd;
use std::ptr::{null, null_mut};

const EVENTS_MAX: usize = 8;

pub(super) fn control(
    epoll: c_int,
    change: c_int,
    fd: c_int,
    events: c_int,
    datum: u64,
) -> Outcome {
    let mut event = epoll_event { events: events as u32, u64: datum };
    call!(epoll_ctl(epoll, change, fd, &mut event))
}

pub(super) fn add(epoll: c_int, fd: c_int, events: c_int, datum: u64) -> Outcome {
    control(epoll, EPOLL_CTL_ADD, fd, events, datum)
}

/// Up to `max` events that are ready: their data and their bits.
pub(super) fn ready(epoll: c_int, max: usize) -> String {
    let mut events = [epoll_event { events: 0, u64: 0 }; EVENTS_MAX];
    let count = call!(epoll_wait(epoll, events.as_mut_ptr(), max as c_int, 0));
    let count = count.0.expect("the descriptor is an epoll file") as usize;
    let told = events[..count].iter().map(|event| {
        let (events, datum) = (event.events, event.u64);
        format!("{datum}:{events:#x}")
    });
    told.collect::<Vec<_>>().join(" ")
}

pub(super) fn counter(log: &mut Log, value: u32) -> c_int {
    log.keep(call!(eventfd(value, libc::EFD_NONBLOCK)))
}

fn count(fd: c_int) {
    assert_eq!(call!(write(fd, 1_u64.to_ne_bytes().as_ptr().cast(), 8)), Outcome(Ok(8)));
}

fn empty(fd: c_int) {
    let mut word = 0_u64;
    assert_eq!(call!(read(fd, (&raw mut word).cast(), 8)), Outcome(Ok(8)));
}

#[test]
fn changes_of_a_watch_are_checked() {
    check(
        |log| {
            let epoll = log.keep(call!(epoll_create1(0)));
            let fd = counter(log, 0);
            let other = counter(log, 0);
            let mut event = epoll_event { events: EPOLLIN as u32, u64: 7 };
            say!(log, epoll_create1(1));
            say!(log, epoll_ctl(epoll, EPOLL_CTL_MOD, fd, &mut event));
            say!(log, epoll_ctl(epoll, EPOLL_CTL_DEL, fd, null_mut()));
            say!(log, epoll_ctl(epoll, EPOLL_CTL_ADD, fd, null_mut()));
            say!(log, epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &mut event));
            say!(log, epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &mut event));
            say!(log, epoll_ctl(epoll, EPOLL_CTL_MOD, fd, null_mut()));
            say!(log, epoll_ctl(epoll, EPOLL_CTL_MOD, fd, &mut event));
            say!(log, epoll_ctl(epoll, 4, fd, &mut event));
            say!(log, epoll_ctl(epoll, 0, fd, null_mut()));
            say!(log, epoll_ctl(epoll, EPOLL_CTL_ADD, epoll, &mut event));
            say!(log, epoll_ctl(epoll, EPOLL_CTL_ADD, -1, &mut event));
            say!(log, epoll_ctl(epoll, EPOLL_CTL_ADD, -1, null_mut()));
            say!(log, epoll_ctl(-1, EPOLL_CTL_ADD, fd, &mut event));
            say!(log, epoll_ctl(fd, EPOLL_CTL_ADD, other, &mut event));
            say!(log, epoll_ctl(fd, EPOLL_CTL_ADD, fd, &mut event));
            say!(log, epoll_ctl(epoll, EPOLL_CTL_DEL, fd, null_mut()));
            say!(log, epoll_ctl(epoll, EPOLL_CTL_DEL, fd, &mut event));
            // A file that is always ready.
            let program = std::fs::File::open("/proc/self/exe").expect("a program is a file");
            say!(log, epoll_ctl(epoll, EPOLL_CTL_ADD, program.as_raw_fd(), &mut event));
        },
        expect![[r#"
            epoll_create1(1) = EINVAL
            epoll_ctl(epoll, EPOLL_CTL_MOD, fd, &mut event) = ENOENT
            epoll_ctl(epoll, EPOLL_CTL_DEL, fd, null_mut()) = ENOENT
            epoll_ctl(epoll, EPOLL_CTL_ADD, fd, null_mut()) = EFAULT
            epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &mut event) = 0
            epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &mut event) = EEXIST
            epoll_ctl(epoll, EPOLL_CTL_MOD, fd, null_mut()) = EFAULT
            epoll_ctl(epoll, EPOLL_CTL_MOD, fd, &mut event) = 0
            epoll_ctl(epoll, 4, fd, &mut event) = EINVAL
            epoll_ctl(epoll, 0, fd, null_mut()) = EFAULT
            epoll_ctl(epoll, EPOLL_CTL_ADD, epoll, &mut event) = EINVAL
            epoll_ctl(epoll, EPOLL_CTL_ADD, -1, &mut event) = EBADF
            epoll_ctl(epoll, EPOLL_CTL_ADD, -1, null_mut()) = EFAULT
            epoll_ctl(-1, EPOLL_CTL_ADD, fd, &mut event) = EBADF
            epoll_ctl(fd, EPOLL_CTL_ADD, other, &mut event) = EINVAL
            epoll_ctl(fd, EPOLL_CTL_ADD, fd, &mut event) = EINVAL
            epoll_ctl(epoll, EPOLL_CTL_DEL, fd, null_mut()) = 0
            epoll_ctl(epoll, EPOLL_CTL_DEL, fd, &mut event) = ENOENT
            epoll_ctl(epoll, EPOLL_CTL_ADD, program.as_raw_fd(), &mut event) = EPERM
        "#]],
    );
}

#[test]
fn waits_are_checked() {
    check(
        |log| {
            let epoll = log.keep(call!(epoll_create1(0)));
            let fd = counter(log, 1);
            let mut events = [epoll_event { events: 0, u64: 0 }; 1];
            let into = events.as_mut_ptr();
            let time = |tv_sec, tv_nsec| timespec { tv_sec, tv_nsec };
            say!(log, epoll_wait(epoll, into, 0, 0));
            say!(log, epoll_wait(epoll, into, -1, 0));
            say!(log, epoll_wait(epoll, into, i32::MAX, 0));
            say!(log, epoll_wait(epoll, into, 1, 0));
            say!(log, epoll_wait(fd, into, 1, 0));
            say!(log, epoll_pwait(epoll, into, 0, 0, null()));
            say!(log, epoll_pwait(epoll, into, 1, 0, null()));
            say!(log, epoll_pwait2(epoll, into, 1, &time(0, 0), null()));
            say!(log, epoll_pwait2(epoll, into, 0, &time(0, 0), null()));
            say!(log, epoll_pwait2(epoll, into, 1, &time(0, 1_000_000_000), null()));
            say!(log, epoll_pwait2(epoll, into, 1, &time(-1, 0), null()));
            say!(log, epoll_pwait2(epoll, into, 1, &time(0, -1), null()));
            add(epoll, fd, EPOLLIN, 1);
            say!(log, epoll_wait(epoll, null_mut(), 1, 0));
            say!(log, epoll_wait(epoll, into, 1, -1));
            say!(log, epoll_pwait(epoll, into, 1, -1, null()));
            say!(log, epoll_pwait2(epoll, into, 1, null(), null()));
            say!(log, epoll_pwait2(epoll, into, 1, &time(i64::MAX, 999_999_999), null()));
        },
        expect![[r#"
            epoll_wait(epoll, into, 0, 0) = EINVAL
            epoll_wait(epoll, into, -1, 0) = EINVAL
            epoll_wait(epoll, into, i32::MAX, 0) = EINVAL
            epoll_wait(epoll, into, 1, 0) = 0
            epoll_wait(fd, into, 1, 0) = EINVAL
            epoll_pwait(epoll, into, 0, 0, null()) = EINVAL
            epoll_pwait(epoll, into, 1, 0, null()) = 0
            epoll_pwait2(epoll, into, 1, &time(0, 0), null()) = 0
            epoll_pwait2(epoll, into, 0, &time(0, 0), null()) = EINVAL
            epoll_pwait2(epoll, into, 1, &time(0, 1_000_000_000), null()) = EINVAL
            epoll_pwait2(epoll, into, 1, &time(-1, 0), null()) = EINVAL
            epoll_pwait2(epoll, into, 1, &time(0, -1), null()) = EINVAL
            epoll_wait(epoll, null_mut(), 1, 0) = EFAULT
            epoll_wait(epoll, into, 1, -1) = 1
            epoll_pwait(epoll, into, 1, -1, null()) = 1
            epoll_pwait2(epoll, into, 1, null(), null()) = 1
            epoll_pwait2(epoll, into, 1, &time(i64::MAX, 999_999_999), null()) = 1
        "#]],
    );
}

#[test]
fn a_level_is_told_for_as_long_as_it_stands() {
    check(
        |log| {
            let epoll = log.keep(call!(epoll_create1(0)));
            let fd = counter(log, 0);
            add(epoll, fd, EPOLLIN, 1);
            log.note("not yet", ready(epoll, 8));
            count(fd);
            log.note("counted", ready(epoll, 8));
            log.note("still", ready(epoll, 8));
            empty(fd);
            log.note("emptied", ready(epoll, 8));
            control(epoll, EPOLL_CTL_MOD, fd, EPOLLIN | EPOLLOUT, 2);
            log.note("changed", ready(epoll, 8));
            control(epoll, EPOLL_CTL_MOD, fd, EPOLLIN, 2);
            log.note("changed back", ready(epoll, 8));
        },
        expect![[r#"
            not yet = 
            counted = 1:0x1
            still = 1:0x1
            emptied = 
            changed = 2:0x4
            changed back = 
        "#]],
    );
}

#[test]
fn an_edge_is_told_once() {
    check(
        |log| {
            let epoll = log.keep(call!(epoll_create1(0)));
            let fd = counter(log, 1);
            add(epoll, fd, EPOLLIN | EPOLLET, 1);
            log.note("ready when added", ready(epoll, 8));
            log.note("told", ready(epoll, 8));
            count(fd);
            log.note("counted again", ready(epoll, 8));
            log.note("told", ready(epoll, 8));
            control(epoll, EPOLL_CTL_MOD, fd, EPOLLIN | EPOLLET, 2);
            log.note("changed, which is an edge", ready(epoll, 8));
            empty(fd);
            log.note("emptied", ready(epoll, 8));
            count(fd);
            empty(fd);
            log.note("counted and emptied", ready(epoll, 8));
        },
        expect![[r#"
            ready when added = 1:0x1
            told = 
            counted again = 1:0x1
            told = 
            changed, which is an edge = 2:0x1
            emptied = 
            counted and emptied = 
        "#]],
    );
}

#[test]
fn an_edge_of_a_connection_comes_with_each_segment() {
    check(
        |log| {
            let epoll = log.keep(call!(epoll_create1(0)));
            let [from, to] = log.pair();
            add(epoll, to, EPOLLIN | EPOLLOUT | libc::EPOLLRDHUP | EPOLLET, 1);
            log.note("added", ready(epoll, 8));
            for _ in 0..2 {
                send(from, b"ab");
                super::poll(to, POLLIN);
                log.note("sent", ready(epoll, 8));
                log.note("told", ready(epoll, 8));
            }
            log.note("recv", recv(to, 0));
            log.note("read", ready(epoll, 8));
            call!(shutdown(from, libc::SHUT_WR));
            super::poll(to, POLLIN);
            log.note("shut", ready(epoll, 8));
            log.note("told", ready(epoll, 8));
        },
        expect![[r#"
            added = 1:0x4
            sent = 1:0x5
            told = 
            sent = 1:0x5
            told = 
            recv = "abab"
            read = 
            shut = 1:0x2005
            told = 
        "#]],
    );
}

#[test]
fn a_watch_for_one_shot_rests_until_it_is_changed() {
    check(
        |log| {
            let epoll = log.keep(call!(epoll_create1(0)));
            let fd = counter(log, 1);
            add(epoll, fd, EPOLLIN | EPOLLONESHOT, 1);
            log.note("added", ready(epoll, 8));
            count(fd);
            log.note("counted", ready(epoll, 8));
            log.note("change", control(epoll, EPOLL_CTL_MOD, fd, EPOLLIN | EPOLLONESHOT, 2));
            log.note("armed", ready(epoll, 8));
            log.note("told", ready(epoll, 8));
            log.note("add", add(epoll, fd, EPOLLIN, 3));
        },
        expect![[r#"
            added = 1:0x1
            counted = 
            change = 0
            armed = 2:0x1
            told = 
            add = EEXIST
        "#]],
    );
}

#[test]
fn a_watch_for_nothing_is_told_of_errors_and_hang_ups() {
    check(
        |log| {
            let epoll = log.keep(call!(epoll_create1(0)));
            let [fd, peer] = log.pair();
            add(epoll, fd, 0, 1);
            send(peer, b"x");
            super::poll(fd, POLLIN);
            log.note("bytes", ready(epoll, 8));
            send(fd, b"unread");
            super::poll(peer, POLLIN);
            call!(shutdown(peer, libc::SHUT_WR));
            call!(shutdown(fd, libc::SHUT_WR));
            super::poll(fd, libc::POLLHUP);
            log.note("both directions ended", ready(epoll, 8));
            let fresh = log.socket(0);
            add(epoll, fresh, 0, 2);
            log.note("a fresh socket", ready(epoll, 8));
        },
        expect![[r#"
            bytes = 
            both directions ended = 1:0x10
            a fresh socket = 1:0x10 2:0x10
        "#]],
    );
}

#[test]
fn events_take_turns_where_there_is_room_for_few() {
    check(
        |log| {
            let epoll = log.keep(call!(epoll_create1(0)));
            for datum in 1..=3 {
                let fd = counter(log, 1);
                add(epoll, fd, EPOLLIN, datum);
            }
            let turns: Vec<_> = (0..5).map(|_| ready(epoll, 1)).collect();
            log.note("one at a time", turns.join(", "));
            log.note("two", ready(epoll, 2));
            log.note("all", ready(epoll, 8));
        },
        expect![[r#"
            one at a time = 1:0x1, 2:0x1, 3:0x1, 1:0x1, 2:0x1
            two = 3:0x1 1:0x1
            all = 2:0x1 3:0x1 1:0x1
        "#]],
    );
}
