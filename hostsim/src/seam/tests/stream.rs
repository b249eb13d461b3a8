//! `recv`, `send`, `recvfrom`, `sendto`, `read` and `write`.

use super::message::{header, part};
use super::{Log, NO_ADDRESS, NOTHING, check, check_trouble, recv, send};
use expect_test::expect;
use libc::{MSG_DONTWAIT, MSG_NOSIGNAL, MSG_OOB, MSG_PEEK, c_int, c_void};
use std::ptr::{null, null_mut};

/// Two ends of which the second has `bytes` to read.
pub(super) fn pair_with(log: &mut Log, bytes: &[u8]) -> [c_int; 2] {
    let [from, to] = log.pair();
    send(from, bytes);
    super::poll(to, libc::POLLIN);
    [from, to]
}

#[test]
fn a_peek_leaves_the_bytes() {
    check(
        |log| {
            let [_, fd] = pair_with(log, b"hello");
            log.note("peek", recv(fd, MSG_PEEK));
            log.note("peek", recv(fd, MSG_PEEK | MSG_DONTWAIT));
            log.note("recv", recv(fd, 0));
            log.note("peek", recv(fd, MSG_PEEK | MSG_DONTWAIT));
        },
        expect![[r#"
            peek = "hello"
            peek = "hello"
            recv = "hello"
            peek = EAGAIN
        "#]],
    );
}

#[test]
fn a_call_that_is_told_not_to_wait_does_not() {
    check(
        |log| {
            let [fd, _] = log.pair();
            log.note("recv", recv(fd, MSG_DONTWAIT));
            say!(log, recv(fd, null_mut(), 0, MSG_DONTWAIT));
            let mut byte = [0_u8];
            let mut parts = [part(&mut byte)];
            say!(log, recvmsg(fd, &mut header(&mut parts), MSG_DONTWAIT));
            say!(log, recvfrom(fd, null_mut(), 1, MSG_DONTWAIT, NO_ADDRESS, null_mut()));
            let bytes = vec![0_u8; 64 << 20];
            let flags = MSG_DONTWAIT;
            let sent = call!(send(fd, bytes.as_ptr().cast(), bytes.len(), flags));
            log.note("a send takes a part", sent.0.is_ok_and(|sent| 0 < sent && sent < 64 << 20));
            while call!(send(fd, bytes.as_ptr().cast(), bytes.len(), flags)).0.is_ok() {}
            say!(log, send(fd, bytes.as_ptr().cast(), bytes.len(), flags));
            say!(log, send(fd, NOTHING, 0, flags));
        },
        expect![[r#"
            recv = EAGAIN
            recv(fd, null_mut(), 0, MSG_DONTWAIT) = EAGAIN
            recvmsg(fd, &mut header(&mut parts), MSG_DONTWAIT) = EAGAIN
            recvfrom(fd, null_mut(), 1, MSG_DONTWAIT, NO_ADDRESS, null_mut()) = EAGAIN
            a send takes a part = true
            send(fd, bytes.as_ptr().cast(), bytes.len(), flags) = EAGAIN
            send(fd, NOTHING, 0, flags) = 0
        "#]],
    );
}

#[test]
fn there_is_no_urgent_byte_to_read() {
    check(
        |log| {
            let [_, fd] = pair_with(log, b"hello");
            log.note("recv", recv(fd, MSG_OOB));
            let fresh = log.socket(0);
            log.note("recv of a fresh socket", recv(fresh, MSG_OOB));
            log.note("the error queue is empty", recv(fd, libc::MSG_ERRQUEUE));
        },
        expect![[r#"
            recv = EINVAL
            recv of a fresh socket = EINVAL
            the error queue is empty = EAGAIN
        "#]],
    );
}

#[test]
fn an_urgent_byte_to_send_is_not_simulated() {
    check_trouble(
        |log| {
            let [fd, _] = log.pair();
            say!(log, send(fd, b"x".as_ptr().cast(), 1, MSG_OOB));
        },
        expect![[r#"
            send(fd, b"x".as_ptr().cast(), 1, MSG_OOB) = EOPNOTSUPP
            not simulated: send: an urgent byte"#]],
    );
}

#[test]
fn sockets_that_are_not_connected_carry_nothing() {
    check(
        |log| {
            let (listener, _) = log.listener(0);
            let fresh = log.socket(0);
            for fd in [fresh, listener] {
                log.note("recv", recv(fd, 0));
                log.note("send", send(fd, b"x"));
                say!(log, read(fd, null_mut(), 0));
                say!(log, readv(fd, null(), 0));
                say!(log, recv(fd, null_mut(), 0, 0));
                say!(log, send(fd, NOTHING, 0, MSG_NOSIGNAL));
                say!(log, write(fd, NOTHING, 0));
                say!(log, writev(fd, null(), 0));
            }
        },
        expect![[r#"
            recv = ENOTCONN
            send = EPIPE
            read(fd, null_mut(), 0) = 0
            readv(fd, null(), 0) = 0
            recv(fd, null_mut(), 0, 0) = ENOTCONN
            send(fd, NOTHING, 0, MSG_NOSIGNAL) = EPIPE
            write(fd, NOTHING, 0) = EPIPE
            writev(fd, null(), 0) = 0
            recv = ENOTCONN
            send = EPIPE
            read(fd, null_mut(), 0) = 0
            readv(fd, null(), 0) = 0
            recv(fd, null_mut(), 0, 0) = ENOTCONN
            send(fd, NOTHING, 0, MSG_NOSIGNAL) = EPIPE
            write(fd, NOTHING, 0) = EPIPE
            writev(fd, null(), 0) = 0
        "#]],
    );
}

#[test]
fn null_buffers_are_a_fault_where_bytes_would_move() {
    check(
        |log| {
            let [to, fd] = pair_with(log, b"hello");
            say!(log, recv(fd, null_mut(), 4, 0));
            say!(log, recv(fd, null_mut(), 0, 0));
            say!(log, read(fd, null_mut(), 4));
            say!(log, read(fd, null_mut(), 0));
            say!(log, send(to, NOTHING, 4, 0));
            say!(log, send(to, NOTHING, 0, 0));
            say!(log, write(to, NOTHING, 4));
            say!(log, write(to, NOTHING, 0));
            log.note("the bytes are still there", recv(fd, 0));
        },
        expect![[r#"
            recv(fd, null_mut(), 4, 0) = EFAULT
            recv(fd, null_mut(), 0, 0) = 0
            read(fd, null_mut(), 4) = EFAULT
            read(fd, null_mut(), 0) = 0
            send(to, NOTHING, 4, 0) = EFAULT
            send(to, NOTHING, 0, 0) = 0
            write(to, NOTHING, 4) = EFAULT
            write(to, NOTHING, 0) = 0
            the bytes are still there = "hello"
        "#]],
    );
}

#[test]
fn recvfrom_has_no_address() {
    check(
        |log| {
            let [_, fd] = pair_with(log, b"abcdef");
            let mut bytes = [0_u8; 1];
            let into: *mut c_void = bytes.as_mut_ptr().cast();
            let mut place = [7_u8; 16];
            let address = place.as_mut_ptr().cast();
            let mut len = 16;
            say!(log, recvfrom(fd, into, 1, 0, address, &mut len));
            log.note("its length", len);
            log.note("its bytes", format!("{place:?}"));
            len = 16;
            say!(log, recvfrom(fd, into, 1, 0, NO_ADDRESS, &mut len));
            log.note("its length", len);
            say!(log, recvfrom(fd, into, 1, 0, NO_ADDRESS, null_mut()));
            say!(log, recvfrom(fd, into, 1, 0, address, null_mut()));
            len = u32::MAX;
            say!(log, recvfrom(fd, into, 1, 0, address, &mut len));
            log.note("what is left", recv(fd, 0));
        },
        expect![[r#"
            recvfrom(fd, into, 1, 0, address, &mut len) = 1
            its length = 0
            its bytes = [7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7]
            recvfrom(fd, into, 1, 0, NO_ADDRESS, &mut len) = 1
            its length = 16
            recvfrom(fd, into, 1, 0, NO_ADDRESS, null_mut()) = 1
            recvfrom(fd, into, 1, 0, address, null_mut()) = EFAULT
            recvfrom(fd, into, 1, 0, address, &mut len) = EINVAL
            what is left = "f"
        "#]],
    );
}

#[test]
fn sendto_ignores_an_address() {
    check(
        |log| {
            let [from, to] = log.pair();
            let place = [255_u8; 200];
            let (bytes, address) = (b"x".as_ptr().cast(), place.as_ptr().cast());
            say!(log, sendto(from, bytes, 1, 0, address, 16));
            say!(log, sendto(from, bytes, 1, 0, address, 0));
            say!(log, sendto(from, bytes, 1, 0, null(), 16));
            say!(log, sendto(from, bytes, 1, 0, address, 129));
            say!(log, sendto(from, bytes, 1, 0, address, u32::MAX));
            super::poll(to, libc::POLLIN);
            log.note("what came", recv(to, 0));
        },
        expect![[r#"
            sendto(from, bytes, 1, 0, address, 16) = 1
            sendto(from, bytes, 1, 0, address, 0) = 1
            sendto(from, bytes, 1, 0, null(), 16) = 1
            sendto(from, bytes, 1, 0, address, 129) = EINVAL
            sendto(from, bytes, 1, 0, address, u32::MAX) = EINVAL
            what came = "xxx"
        "#]],
    );
}

#[test]
fn bytes_are_discarded_where_that_is_asked_for() {
    check(
        |log| {
            let [_, fd] = pair_with(log, b"abcdef");
            let mut bytes = *b"..";
            let place: *mut c_void = bytes.as_mut_ptr().cast();
            say!(log, recv(fd, place, 2, libc::MSG_TRUNC | MSG_PEEK));
            say!(log, recv(fd, place, 2, libc::MSG_TRUNC));
            log.note("the place", bytes.escape_ascii());
            say!(log, recv(fd, null_mut(), 1, libc::MSG_TRUNC));
            log.note("what is left", recv(fd, 0));
            say!(log, recv(fd, null_mut(), 1, libc::MSG_TRUNC | MSG_DONTWAIT));
        },
        expect![[r#"
            recv(fd, place, 2, libc::MSG_TRUNC | MSG_PEEK) = 2
            recv(fd, place, 2, libc::MSG_TRUNC) = 2
            the place = ..
            recv(fd, null_mut(), 1, libc::MSG_TRUNC) = 1
            what is left = "def"
            recv(fd, null_mut(), 1, libc::MSG_TRUNC | MSG_DONTWAIT) = EAGAIN
        "#]],
    );
}
