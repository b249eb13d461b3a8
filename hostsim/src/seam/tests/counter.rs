//! `eventfd`, and `read` and `write` on what is no socket.

use super::message::part;
use super::{NOTHING, Outcome, check, check_simulated};
use expect_test::expect;
use libc::{EFD_NONBLOCK, EFD_SEMAPHORE, c_int, c_void};
use std::ptr::{null, null_mut};

/// Adds to a counter.
fn count(fd: c_int, value: u64) -> Outcome {
    call!(write(fd, value.to_ne_bytes().as_ptr().cast(), 8))
}

/// Takes the value of a counter: as text, or the error.
fn take(fd: c_int) -> String {
    let mut bytes = [0; 8];
    match call!(read(fd, bytes.as_mut_ptr().cast(), 8)) {
        Outcome(Ok(8)) => u64::from_ne_bytes(bytes).to_string(),
        other => other.to_string(),
    }
}

#[test]
fn a_counter_is_eight_bytes() {
    check(
        |log| {
            let fd = log.keep(call!(eventfd(3, EFD_NONBLOCK)));
            let mut words = [0_u64; 2];
            let place: *mut c_void = words.as_mut_ptr().cast();
            say!(log, read(fd, place, 7));
            say!(log, read(fd, place, 0));
            say!(log, read(fd, null_mut(), 0));
            say!(log, read(fd, place, 16));
            log.note("value", words[0]);
            say!(log, read(fd, place, 8));
            say!(log, read(fd, place, 7));
            words[0] = 5;
            say!(log, write(fd, place, 7));
            say!(log, write(fd, place, 0));
            say!(log, write(fd, NOTHING, 8));
            say!(log, read(fd, null_mut(), 8));
            say!(log, read(fd, place, 8));
            log.note("value", words[0]);
        },
        expect![[r#"
            read(fd, place, 7) = EINVAL
            read(fd, place, 0) = EINVAL
            read(fd, null_mut(), 0) = EINVAL
            read(fd, place, 16) = 8
            value = 3
            read(fd, place, 8) = EAGAIN
            read(fd, place, 7) = EINVAL
            write(fd, place, 7) = EINVAL
            write(fd, place, 0) = EINVAL
            write(fd, NOTHING, 8) = EFAULT
            read(fd, null_mut(), 8) = EAGAIN
            read(fd, place, 8) = EAGAIN
            value = 5
        "#]],
    );
}

#[test]
fn a_counter_takes_eight_bytes_and_no_more() {
    // As seen on Linux 6.18. The man page says so of fewer than eight only.
    check_simulated(
        |log| {
            let fd = log.keep(call!(eventfd(0, EFD_NONBLOCK)));
            say!(log, write(fd, [1_u64; 2].as_ptr().cast(), 16));
            log.note("value", take(fd));
        },
        expect![[r#"
            write(fd, [1_u64; 2].as_ptr().cast(), 16) = EINVAL
            value = EAGAIN
        "#]],
    );
}

#[test]
fn a_counter_does_not_overflow() {
    check(
        |log| {
            let fd = log.keep(call!(eventfd(0, EFD_NONBLOCK)));
            log.note("the value past all", count(fd, u64::MAX));
            log.note("the largest", count(fd, u64::MAX - 1));
            log.note("events when full", super::poll(fd, libc::POLLIN | libc::POLLOUT));
            log.note("nothing more", count(fd, 0));
            log.note("one more", count(fd, 1));
            log.note("value", take(fd));
            log.note("events when empty", super::poll(fd, libc::POLLIN | libc::POLLOUT));
        },
        expect![[r#"
            the value past all = EINVAL
            the largest = 8
            events when full = 1
            nothing more = 8
            one more = EAGAIN
            value = 18446744073709551614
            events when empty = 4
        "#]],
    );
}

#[test]
fn a_semaphore_gives_one_at_a_time() {
    check(
        |log| {
            let fd = log.keep(call!(eventfd(2, EFD_SEMAPHORE | EFD_NONBLOCK)));
            for _ in 0..3 {
                log.note("value", take(fd));
            }
            for flags in [4, EFD_NONBLOCK | 1 << 30] {
                log.note("unknown flags", call!(eventfd(0, flags)));
            }
        },
        expect![[r#"
            value = 1
            value = 1
            value = EAGAIN
            unknown flags = EINVAL
            unknown flags = EINVAL
        "#]],
    );
}

#[test]
fn a_counter_takes_its_bytes_in_parts() {
    check(
        |log| {
            let fd = log.keep(call!(eventfd(7, EFD_NONBLOCK)));
            let (mut low, mut high) = ([0_u8; 3], [0_u8; 5]);
            say!(log, readv(fd, [part(&mut low)].as_ptr(), 1));
            say!(log, readv(fd, [part(&mut low), part(&mut high)].as_ptr(), 2));
            log.note("parts", format!("{low:?} {high:?}"));
            let (mut one, mut two) = (1_u64.to_ne_bytes(), 2_u64.to_ne_bytes());
            say!(log, writev(fd, [part(&mut one), part(&mut two)].as_ptr(), 2));
            say!(log, writev(fd, [part(&mut one), part(&mut low)].as_ptr(), 2));
            say!(log, writev(fd, [part(&mut low), part(&mut high)].as_ptr(), 2));
            say!(log, readv(fd, [part(&mut one)].as_ptr(), 1));
            log.note("value", u64::from_ne_bytes(one));
            say!(log, readv(fd, null(), 0));
            say!(log, writev(fd, null(), 0));
        },
        expect![[r#"
            readv(fd, [part(&mut low)].as_ptr(), 1) = EINVAL
            readv(fd, [part(&mut low), part(&mut high)].as_ptr(), 2) = 8
            parts = [7, 0, 0] [0, 0, 0, 0, 0]
            writev(fd, [part(&mut one), part(&mut two)].as_ptr(), 2) = 16
            writev(fd, [part(&mut one), part(&mut low)].as_ptr(), 2) = 8
            writev(fd, [part(&mut low), part(&mut high)].as_ptr(), 2) = EINVAL
            readv(fd, [part(&mut one)].as_ptr(), 1) = 8
            value = 4
            readv(fd, null(), 0) = 0
            writev(fd, null(), 0) = 0
        "#]],
    );
}

#[test]
fn an_epoll_file_has_no_bytes() {
    check(
        |log| {
            let fd = log.keep(call!(epoll_create1(0)));
            let mut word = 0_u64;
            let place = (&raw mut word).cast();
            say!(log, read(fd, place, 8));
            say!(log, write(fd, place, 8));
            say!(log, read(fd, null_mut(), 0));
            say!(log, readv(fd, null(), 0));
            say!(log, recv(fd, place, 8, 0));
            say!(log, send(fd, place, 8, 0));
        },
        expect![[r#"
            read(fd, place, 8) = EINVAL
            write(fd, place, 8) = EINVAL
            read(fd, null_mut(), 0) = EINVAL
            readv(fd, null(), 0) = EINVAL
            recv(fd, place, 8, 0) = ENOTSOCK
            send(fd, place, 8, 0) = ENOTSOCK
        "#]],
    );
}
