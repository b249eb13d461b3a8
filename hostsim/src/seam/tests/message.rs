//! `readv`, `writev`, `recvmsg` and `sendmsg`.

use super::stream::pair_with;
use super::{check, recv};
use crate::seam::raw::NO_MESSAGE;
use expect_test::expect;
use libc::{MSG_PEEK, iovec, msghdr};
use std::ptr::{null, null_mut};

/// A part of a buffer.
pub(super) fn part(bytes: &mut [u8]) -> iovec {
    iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() }
}

pub(super) fn null_part(iov_len: usize) -> iovec {
    iovec { iov_base: null_mut(), iov_len }
}

pub(super) fn header(parts: &mut [iovec]) -> msghdr {
    msghdr { msg_iov: parts.as_mut_ptr(), msg_iovlen: parts.len(), ..NO_MESSAGE }
}

#[test]
fn parts_are_filled_in_turn() {
    check(
        |log| {
            let [_, fd] = pair_with(log, b"abcdefghij");
            let (mut first, mut second) = ([b'.'; 3], [b'.'; 4]);
            let parts = [part(&mut first), null_part(0), part(&mut []), part(&mut second)];
            say!(log, readv(fd, parts.as_ptr(), 4));
            log.note("parts", format!("{} {}", first.escape_ascii(), second.escape_ascii()));
            let parts = [part(&mut second), part(&mut first)];
            // What is not there is not waited for, though the socket would wait.
            say!(log, readv(fd, parts.as_ptr(), 2));
            log.note("parts", format!("{} {}", first.escape_ascii(), second.escape_ascii()));
        },
        expect![[r#"
            readv(fd, parts.as_ptr(), 4) = 7
            parts = abc defg
            readv(fd, parts.as_ptr(), 2) = 3
            parts = abc hijg
        "#]],
    );
}

#[test]
fn parts_are_counted_and_checked() {
    check(
        |log| {
            let [to, fd] = pair_with(log, b"abc");
            let many = vec![null_part(0); 1025];
            say!(log, readv(fd, null(), 0));
            say!(log, readv(fd, null(), 1));
            say!(log, readv(fd, null(), -1));
            say!(log, readv(fd, many.as_ptr(), 1024));
            say!(log, readv(fd, many.as_ptr(), 1025));
            say!(log, readv(fd, [null_part(1)].as_ptr(), 1));
            say!(log, readv(fd, [null_part(usize::MAX)].as_ptr(), 1));
            say!(log, writev(to, null(), 0));
            say!(log, writev(to, null(), 1));
            say!(log, writev(to, null(), -1));
            say!(log, writev(to, many.as_ptr(), 1024));
            say!(log, writev(to, many.as_ptr(), 1025));
            say!(log, writev(to, [null_part(1)].as_ptr(), 1));
            say!(log, writev(to, [null_part(usize::MAX)].as_ptr(), 1));
            let mut bytes = *b"xyz";
            say!(log, writev(to, [part(&mut bytes), null_part(3)].as_ptr(), 2));
            say!(log, writev(to, [part(&mut bytes), null_part(0)].as_ptr(), 2));
            let mut place = [0; 8];
            let peeked = recv(fd, MSG_PEEK);
            log.note("what came", peeked.len() > 4);
            say!(log, readv(fd, [part(&mut place[..0]), part(&mut place)].as_ptr(), 2));
        },
        expect![[r#"
            readv(fd, null(), 0) = 0
            readv(fd, null(), 1) = EFAULT
            readv(fd, null(), -1) = EINVAL
            readv(fd, many.as_ptr(), 1024) = 0
            readv(fd, many.as_ptr(), 1025) = EINVAL
            readv(fd, [null_part(1)].as_ptr(), 1) = EFAULT
            readv(fd, [null_part(usize::MAX)].as_ptr(), 1) = EINVAL
            writev(to, null(), 0) = 0
            writev(to, null(), 1) = EFAULT
            writev(to, null(), -1) = EINVAL
            writev(to, many.as_ptr(), 1024) = 0
            writev(to, many.as_ptr(), 1025) = EINVAL
            writev(to, [null_part(1)].as_ptr(), 1) = EFAULT
            writev(to, [null_part(usize::MAX)].as_ptr(), 1) = EINVAL
            writev(to, [part(&mut bytes), null_part(3)].as_ptr(), 2) = EFAULT
            writev(to, [part(&mut bytes), null_part(0)].as_ptr(), 2) = 3
            what came = true
            readv(fd, [part(&mut place[..0]), part(&mut place)].as_ptr(), 2) = 6
        "#]],
    );
}

#[test]
fn a_message_has_no_address_and_no_control_data() {
    check(
        |log| {
            let [_, fd] = pair_with(log, b"abcdefgh");
            let mut bytes = [0; 2];
            let (mut place, mut control) = ([7_u8; 16], [7_u8; 64]);
            let mut parts = [part(&mut bytes)];
            for flags in [0, libc::MSG_CMSG_CLOEXEC] {
                for with_name in [true, false] {
                    let mut header = header(&mut parts);
                    header.msg_flags = -1;
                    header.msg_namelen = 16;
                    header.msg_controllen = 64;
                    header.msg_control = control.as_mut_ptr().cast();
                    if with_name {
                        header.msg_name = place.as_mut_ptr().cast();
                    }
                    let outcome = call!(recvmsg(fd, &mut header, flags));
                    let msghdr { msg_namelen, msg_controllen, msg_flags, .. } = header;
                    let said =
                        format!("{outcome}: {msg_namelen}, {msg_controllen}, {msg_flags:#x}");
                    log.note(&format!("flags {flags:#x}, name {with_name}"), said);
                }
            }
            log.note("places are not written", place == [7; 16] && control == [7; 64]);
        },
        expect![[r#"
            flags 0x0, name true = 2: 0, 0, 0x0
            flags 0x0, name false = 2: 16, 0, 0x0
            flags 0x40000000, name true = 2: 0, 0, 0x40000000
            flags 0x40000000, name false = 2: 16, 0, 0x40000000
            places are not written = true
        "#]],
    );
}

#[test]
fn messages_are_checked() {
    check(
        |log| {
            let [to, fd] = pair_with(log, b"abc");
            let mut place = [0_u8; 16];
            let mut many = vec![null_part(0); 1025];
            say!(log, recvmsg(fd, null_mut(), 0));
            say!(log, sendmsg(to, null(), 0));
            say!(log, recvmsg(fd, &mut header(&mut many), 0));
            say!(log, sendmsg(to, &header(&mut many), 0));
            say!(log, recvmsg(fd, &mut header(&mut many[..1024]), 0));
            say!(log, sendmsg(to, &header(&mut many[..1024]), 0));
            say!(log, recvmsg(fd, &mut header(&mut []), 0));
            say!(log, sendmsg(to, &header(&mut []), 0));
            say!(log, recvmsg(fd, &mut header(&mut [null_part(1)]), 0));
            say!(log, sendmsg(to, &header(&mut [null_part(1)]), 0));
            let mut negative = header(&mut []);
            negative.msg_namelen = u32::MAX;
            say!(log, sendmsg(to, &negative, 0));
            negative.msg_name = place.as_mut_ptr().cast();
            say!(log, sendmsg(to, &negative, 0));
            say!(log, recvmsg(fd, &mut negative, 0));
            let mut missing = header(&mut []);
            (missing.msg_iov, missing.msg_iovlen) = (null_mut(), 1);
            say!(log, recvmsg(fd, &mut missing, 0));
            log.note("the bytes are still there", recv(fd, 0));
        },
        expect![[r#"
            recvmsg(fd, null_mut(), 0) = EFAULT
            sendmsg(to, null(), 0) = EFAULT
            recvmsg(fd, &mut header(&mut many), 0) = EMSGSIZE
            sendmsg(to, &header(&mut many), 0) = EMSGSIZE
            recvmsg(fd, &mut header(&mut many[..1024]), 0) = 0
            sendmsg(to, &header(&mut many[..1024]), 0) = 0
            recvmsg(fd, &mut header(&mut []), 0) = 0
            sendmsg(to, &header(&mut []), 0) = 0
            recvmsg(fd, &mut header(&mut [null_part(1)]), 0) = EFAULT
            sendmsg(to, &header(&mut [null_part(1)]), 0) = EFAULT
            sendmsg(to, &negative, 0) = 0
            sendmsg(to, &negative, 0) = EINVAL
            recvmsg(fd, &mut negative, 0) = EINVAL
            recvmsg(fd, &mut missing, 0) = EFAULT
            the bytes are still there = "abc"
        "#]],
    );
}

#[test]
fn a_peek_of_parts_looks_at_each_byte_once() {
    check(
        |log| {
            let [_, fd] = pair_with(log, b"abcdef");
            let (mut first, mut second) = ([b'.'; 2], [b'.'; 3]);
            for flags in [MSG_PEEK, 0] {
                let mut parts = [part(&mut first), part(&mut second)];
                say!(log, recvmsg(fd, &mut header(&mut parts), flags));
                log.note("parts", format!("{} {}", first.escape_ascii(), second.escape_ascii()));
            }
            log.note("what is left", recv(fd, 0));
        },
        expect![[r#"
            recvmsg(fd, &mut header(&mut parts), flags) = 5
            parts = ab cde
            recvmsg(fd, &mut header(&mut parts), flags) = 5
            parts = ab cde
            what is left = "f"
        "#]],
    );
}

#[test]
fn parts_that_are_sent_arrive_in_turn() {
    check(
        |log| {
            let [to, fd] = log.pair();
            let (mut first, mut second) = (*b"ab", *b"cde");
            let parts = [part(&mut first), null_part(0), part(&mut second)];
            say!(log, writev(to, parts.as_ptr(), 3));
            super::poll(fd, libc::POLLIN);
            log.note("what came", recv(fd, 0));
            let mut parts = [part(&mut second), part(&mut first)];
            say!(log, sendmsg(to, &header(&mut parts), 0));
            super::poll(fd, libc::POLLIN);
            log.note("what came", recv(fd, 0));
        },
        expect![[r#"
            writev(to, parts.as_ptr(), 3) = 5
            what came = "abcde"
            sendmsg(to, &header(&mut parts), 0) = 5
            what came = "cdeab"
        "#]],
    );
}

#[test]
fn an_error_that_parts_of_one_call_make_is_told_by_the_next() {
    check(
        |log| {
            let [fd, peer] = log.pair();
            let copy = call!(dup(peer)).descriptor();
            log.note("close", call!(close(copy)));
            log.note("shutdown", call!(shutdown(peer, libc::SHUT_RDWR)));
            super::poll(fd, libc::POLLRDHUP);
            let (mut first, mut second) = (*b"ab", *b"cd");
            let parts = [part(&mut first), part(&mut second)];
            say!(log, writev(fd, parts.as_ptr(), 2));
            super::poll(fd, 0);
            say!(log, writev(fd, parts.as_ptr(), 2));
        },
        expect![[r#"
            close = 0
            shutdown = 0
            writev(fd, parts.as_ptr(), 2) = 4
            writev(fd, parts.as_ptr(), 2) = EPIPE
        "#]],
    );
}
