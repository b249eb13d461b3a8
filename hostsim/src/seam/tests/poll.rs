//! `poll`.

use super::epoll::{add, counter};
use super::{check, check_simulated, send};
use expect_test::expect;
use libc::{EPOLLIN, POLLIN, POLLOUT, c_int, pollfd};
use std::ptr::null_mut;

/// Polls these descriptors without waiting; gives the result and the bits of each.
fn poll_all<const N: usize>(entries: [(c_int, i16); N]) -> String {
    let mut entries = entries.map(|(fd, events)| pollfd { fd, events, revents: 0x55 });
    let outcome = call!(poll(entries.as_mut_ptr(), N as libc::nfds_t, 0));
    format!("{outcome}: {:x?}", entries.map(|entry| entry.revents))
}

#[test]
fn poll_tells_of_each_descriptor() {
    check(
        |log| {
            let (empty, full) = (counter(log, 0), counter(log, 1));
            let [from, to] = log.pair();
            let fresh = log.socket(0);
            let (listener, _) = log.listener(0);
            let epoll = log.keep(call!(epoll_create1(0)));
            log.note("counters", poll_all([(empty, POLLIN), (full, POLLIN), (full, POLLOUT)]));
            log.note("nothing asked", poll_all([(full, 0), (to, 0), (fresh, 0)]));
            log.note("negative", poll_all([(-1, POLLIN), (full, POLLIN), (-7, POLLIN)]));
            log.note("fresh, listener", poll_all([(fresh, -1), (listener, -1), (epoll, -1)]));
            add(epoll, full, EPOLLIN, 0);
            log.note("epoll", poll_all([(epoll, POLLIN | POLLOUT)]));
            log.note("connected", poll_all([(from, POLLIN | POLLOUT), (to, POLLIN)]));
            send(from, b"x");
            super::poll(to, POLLIN);
            log.note("bytes", poll_all([(from, POLLIN), (to, POLLIN | POLLOUT), (to, POLLIN)]));
            call!(shutdown(from, libc::SHUT_WR));
            super::poll(to, libc::POLLRDHUP);
            log.note("shut", poll_all([(to, POLLIN | libc::POLLRDHUP), (to, POLLOUT)]));
            log.note("none", poll_all([]));
            say!(log, poll(null_mut(), 0, 0));
            say!(log, poll(null_mut(), 1, 0));
        },
        expect![[r#"
            counters = 2: [0, 1, 4]
            nothing asked = 1: [0, 0, 10]
            negative = 1: [0, 1, 0]
            fresh, listener = 1: [114, 0, 0]
            epoll = 1: [1]
            connected = 1: [4, 0]
            bytes = 2: [0, 5, 1]
            shut = 2: [2001, 4]
            none = 0: []
            poll(null_mut(), 0, 0) = 0
            poll(null_mut(), 1, 0) = EFAULT
        "#]],
    );
}

#[test]
fn poll_calls_a_closed_descriptor_invalid() {
    check_simulated(
        |log| {
            let fd = call!(eventfd(1, 0)).descriptor();
            let full = counter(log, 1);
            call!(close(fd));
            log.note("closed", poll_all([(fd, 0), (fd, POLLIN), (full, POLLIN)]));
        },
        expect![[r#"
            closed = 3: [20, 20, 1]
        "#]],
    );
}
