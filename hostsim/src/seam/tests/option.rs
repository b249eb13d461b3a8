//! `getsockopt` and `setsockopt`: which options there are, and how long their values.

use super::{Outcome, check};
use expect_test::expect;
use libc::{
    AF_INET6, IPPROTO_IP, IPPROTO_IPV6, IPPROTO_TCP, SO_LINGER, SO_RCVTIMEO, SO_SNDBUF,
    SOCK_STREAM, SOL_SOCKET, c_int, socklen_t,
};
use std::mem::size_of;
use std::ptr::{null, null_mut};

pub(super) fn set<T>(fd: c_int, level: c_int, name: c_int, value: T) -> Outcome {
    let len = size_of::<T>() as socklen_t;
    call!(setsockopt(fd, level, name, (&raw const value).cast(), len))
}

pub(super) fn get<T>(
    fd: c_int,
    level: c_int,
    name: c_int,
    mut value: T,
) -> (Outcome, T, socklen_t) {
    let mut len = size_of::<T>() as socklen_t;
    let outcome = call!(getsockopt(fd, level, name, (&raw mut value).cast(), &mut len));
    (outcome, value, len)
}

/// The value of an option that is an `int`, or the error.
pub(super) fn int(fd: c_int, level: c_int, name: c_int) -> String {
    match get(fd, level, name, -77) {
        (Outcome(Ok(0)), value, 4) => value.to_string(),
        (outcome, value, len) => format!("{outcome} ({value}, length {len})"),
    }
}

#[test]
fn unknown_options_are_no_option() {
    check(
        |log| {
            let fd = log.socket(0);
            for (level, name) in [
                (SOL_SOCKET, 9999),
                (IPPROTO_TCP, 9999),
                (IPPROTO_IP, 9999),
                (IPPROTO_IPV6, libc::IPV6_V6ONLY),
                (9999, 1),
            ] {
                log.note(&format!("set {level} {name}"), set(fd, level, name, 1));
                log.note(&format!("get {level} {name}"), int(fd, level, name));
            }
            for name in [libc::SO_TYPE, libc::SO_DOMAIN, libc::SO_PROTOCOL, libc::SO_ERROR] {
                log.note(&format!("set SOL_SOCKET {name}"), set(fd, SOL_SOCKET, name, 1));
            }
            let name = libc::SO_ACCEPTCONN;
            log.note("set SO_ACCEPTCONN", set(fd, SOL_SOCKET, name, 1));
        },
        expect![[r#"
            set 1 9999 = ENOPROTOOPT
            get 1 9999 = ENOPROTOOPT (-77, length 4)
            set 6 9999 = ENOPROTOOPT
            get 6 9999 = ENOPROTOOPT (-77, length 4)
            set 0 9999 = ENOPROTOOPT
            get 0 9999 = ENOPROTOOPT (-77, length 4)
            set 41 26 = ENOPROTOOPT
            get 41 26 = EOPNOTSUPP (-77, length 4)
            set 9999 1 = ENOPROTOOPT
            get 9999 1 = EOPNOTSUPP (-77, length 4)
            set SOL_SOCKET 3 = ENOPROTOOPT
            set SOL_SOCKET 39 = ENOPROTOOPT
            set SOL_SOCKET 38 = ENOPROTOOPT
            set SOL_SOCKET 4 = ENOPROTOOPT
            set SO_ACCEPTCONN = ENOPROTOOPT
        "#]],
    );
}

#[test]
fn a_value_to_set_has_its_length() {
    check(
        |log| {
            let fd = log.socket(0);
            let value = 1;
            let from = (&raw const value).cast();
            for name in [libc::SO_KEEPALIVE, SO_LINGER, SO_RCVTIMEO, 9999] {
                say!(log, setsockopt(fd, SOL_SOCKET, name, from, 0));
                say!(log, setsockopt(fd, SOL_SOCKET, name, from, 3));
                say!(log, setsockopt(fd, SOL_SOCKET, name, null(), 3));
                say!(log, setsockopt(fd, SOL_SOCKET, name, null(), 16));
                say!(log, setsockopt(fd, SOL_SOCKET, name, from, u32::MAX));
            }
            say!(log, setsockopt(fd, IPPROTO_TCP, libc::TCP_NODELAY, from, 3));
            say!(log, setsockopt(fd, IPPROTO_TCP, libc::TCP_NODELAY, null(), 4));
            say!(log, setsockopt(fd, IPPROTO_TCP, libc::TCP_NODELAY, from, u32::MAX));
            log.note("a long value", set(fd, SOL_SOCKET, libc::SO_KEEPALIVE, [1, 2, 3]));
            log.note("is set", int(fd, SOL_SOCKET, libc::SO_KEEPALIVE));
            let ttl = 9_u8;
            log.note("IP options take a byte", set(fd, IPPROTO_IP, libc::IP_TTL, ttl));
            log.note("and give it", int(fd, IPPROTO_IP, libc::IP_TTL));
        },
        expect![[r#"
            setsockopt(fd, SOL_SOCKET, name, from, 0) = EINVAL
            setsockopt(fd, SOL_SOCKET, name, from, 3) = EINVAL
            setsockopt(fd, SOL_SOCKET, name, null(), 3) = EINVAL
            setsockopt(fd, SOL_SOCKET, name, null(), 16) = EFAULT
            setsockopt(fd, SOL_SOCKET, name, from, u32::MAX) = EINVAL
            setsockopt(fd, SOL_SOCKET, name, from, 0) = EINVAL
            setsockopt(fd, SOL_SOCKET, name, from, 3) = EINVAL
            setsockopt(fd, SOL_SOCKET, name, null(), 3) = EINVAL
            setsockopt(fd, SOL_SOCKET, name, null(), 16) = EFAULT
            setsockopt(fd, SOL_SOCKET, name, from, u32::MAX) = EINVAL
            setsockopt(fd, SOL_SOCKET, name, from, 0) = EINVAL
            setsockopt(fd, SOL_SOCKET, name, from, 3) = EINVAL
            setsockopt(fd, SOL_SOCKET, name, null(), 3) = EINVAL
            setsockopt(fd, SOL_SOCKET, name, null(), 16) = EFAULT
            setsockopt(fd, SOL_SOCKET, name, from, u32::MAX) = EINVAL
            setsockopt(fd, SOL_SOCKET, name, from, 0) = EINVAL
            setsockopt(fd, SOL_SOCKET, name, from, 3) = EINVAL
            setsockopt(fd, SOL_SOCKET, name, null(), 3) = EINVAL
            setsockopt(fd, SOL_SOCKET, name, null(), 16) = EFAULT
            setsockopt(fd, SOL_SOCKET, name, from, u32::MAX) = EINVAL
            setsockopt(fd, IPPROTO_TCP, libc::TCP_NODELAY, from, 3) = EINVAL
            setsockopt(fd, IPPROTO_TCP, libc::TCP_NODELAY, null(), 4) = EFAULT
            setsockopt(fd, IPPROTO_TCP, libc::TCP_NODELAY, from, u32::MAX) = EINVAL
            a long value = 0
            is set = 1
            IP options take a byte = 0
            and give it = 9
        "#]],
    );
}

#[test]
fn a_value_to_get_is_cut_to_its_place() {
    check(
        |log| {
            let fd = log.socket(0);
            set(fd, SOL_SOCKET, SO_SNDBUF, 0x1_0203);
            for room in [0, 1, 3, 4, 8, -1_i32] {
                let mut place = [0xee_u8; 8];
                let mut len = room.cast_unsigned();
                let into = place.as_mut_ptr().cast();
                let outcome = call!(getsockopt(fd, SOL_SOCKET, SO_SNDBUF, into, &mut len));
                log.note(
                    &format!("SO_SNDBUF into {room}"),
                    format!("{outcome}, {len}: {place:x?}"),
                );
            }
            let (_, place, len) = get(fd, SOL_SOCKET, SO_LINGER, 0);
            log.note("SO_LINGER into four", format!("{place}, {len}"));
            let (outcome, place, len) = get(fd, IPPROTO_IP, libc::IP_TTL, [0xee_u8; 2]);
            log.note("IP_TTL into two", format!("{outcome}, {len}: {place:x?}"));
            let mut len = 4;
            say!(log, getsockopt(fd, SOL_SOCKET, SO_SNDBUF, null_mut(), &mut len));
            len = 0;
            say!(log, getsockopt(fd, SOL_SOCKET, SO_SNDBUF, null_mut(), &mut len));
            say!(log, getsockopt(fd, SOL_SOCKET, SO_SNDBUF, null_mut(), null_mut()));
            let mut value = 0;
            let into = (&raw mut value).cast();
            say!(log, getsockopt(fd, SOL_SOCKET, SO_SNDBUF, into, null_mut()));
        },
        expect![[r#"
            SO_SNDBUF into 0 = 0, 0: [ee, ee, ee, ee, ee, ee, ee, ee]
            SO_SNDBUF into 1 = 0, 1: [6, ee, ee, ee, ee, ee, ee, ee]
            SO_SNDBUF into 3 = 0, 3: [6, 4, 2, ee, ee, ee, ee, ee]
            SO_SNDBUF into 4 = 0, 4: [6, 4, 2, 0, ee, ee, ee, ee]
            SO_SNDBUF into 8 = 0, 4: [6, 4, 2, 0, ee, ee, ee, ee]
            SO_SNDBUF into -1 = EINVAL, 4294967295: [ee, ee, ee, ee, ee, ee, ee, ee]
            SO_LINGER into four = 0, 4
            IP_TTL into two = 0, 1: [40, ee]
            getsockopt(fd, SOL_SOCKET, SO_SNDBUF, null_mut(), &mut len) = EFAULT
            getsockopt(fd, SOL_SOCKET, SO_SNDBUF, null_mut(), &mut len) = 0
            getsockopt(fd, SOL_SOCKET, SO_SNDBUF, null_mut(), null_mut()) = EFAULT
            getsockopt(fd, SOL_SOCKET, SO_SNDBUF, into, null_mut()) = EFAULT
        "#]],
    );
}

#[test]
fn a_socket_tells_what_it_is() {
    check(
        |log| {
            let v4 = log.socket(0);
            let v6 = log.keep(call!(socket(AF_INET6, SOCK_STREAM, 0)));
            let (listener, _) = log.listener(0);
            for (name, option) in [
                ("SO_TYPE", libc::SO_TYPE),
                ("SO_DOMAIN", libc::SO_DOMAIN),
                ("SO_PROTOCOL", libc::SO_PROTOCOL),
                ("SO_ACCEPTCONN", libc::SO_ACCEPTCONN),
                ("SO_ERROR", libc::SO_ERROR),
            ] {
                let values = [v4, v6, listener].map(|fd| int(fd, SOL_SOCKET, option));
                log.note(name, values.join(" "));
            }
        },
        expect![[r#"
            SO_TYPE = 1 1 1
            SO_DOMAIN = 2 10 2
            SO_PROTOCOL = 6 6 6
            SO_ACCEPTCONN = 0 0 1
            SO_ERROR = 0 0 0
        "#]],
    );
}

#[test]
fn so_error_is_told_once() {
    check(
        |log| {
            let bound = log.socket(0);
            super::bind(bound, &super::loopback(0), 16);
            let address = super::local_address(bound);
            let fd = log.socket(libc::SOCK_NONBLOCK);
            log.note("a dial", super::connect(fd, &address, 16));
            super::poll(fd, libc::POLLOUT);
            log.note("SO_ERROR", int(fd, SOL_SOCKET, libc::SO_ERROR));
            log.note("SO_ERROR again", int(fd, SOL_SOCKET, libc::SO_ERROR));
        },
        expect![[r#"
            a dial = EINPROGRESS
            SO_ERROR = 111
            SO_ERROR again = 0
        "#]],
    );
}
