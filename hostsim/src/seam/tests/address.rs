//! The addresses of `bind`, `connect`, `accept`, `getsockname` and `getpeername`.

use super::{Log, NO_ADDRESS, bind, check, check_trouble, connect, loopback};
use expect_test::expect;
use libc::{
    AF_INET6, SOCK_STREAM, c_int, sa_family_t, sockaddr_in, sockaddr_in6, sockaddr_storage,
    socklen_t,
};
use std::mem::size_of;
use std::ptr::{null, null_mut};

const V4: usize = size_of::<sockaddr_in>();
const V6: usize = size_of::<sockaddr_in6>();

fn of_family(family: c_int) -> sockaddr_in {
    sockaddr_in { sin_family: family as sa_family_t, ..loopback(0) }
}

fn loopback_v6() -> sockaddr_in6 {
    sockaddr_in6 {
        sin6_family: AF_INET6 as sa_family_t,
        sin6_port: 0,
        sin6_flowinfo: 0,
        sin6_addr: libc::in6_addr { s6_addr: std::net::Ipv6Addr::LOCALHOST.octets() },
        sin6_scope_id: 0,
    }
}

#[test]
fn bind_checks_the_address() {
    check(
        |log| {
            let fd = log.socket(0);
            say!(log, bind(fd, null(), V4 as socklen_t));
            say!(log, bind(fd, null(), 0));
            log.note("no length", bind(fd, &loopback(0), 0));
            log.note("a length of one", bind(fd, &loopback(0), 1));
            log.note("a short length", bind(fd, &loopback(0), V4 - 1));
            log.note("a negative length", bind(fd, &loopback(0), usize::MAX));
            log.note("a length past any address", bind(fd, &loopback(0), 129));
            log.note("another family", bind(fd, &of_family(libc::AF_UNIX), V4));
            log.note("an IPv6 address", bind(fd, &loopback_v6(), V6));
            log.note("an IPv6 family, short", bind(fd, &of_family(AF_INET6), V4));
            log.note("AF_UNSPEC of loopback", bind(fd, &of_family(libc::AF_UNSPEC), V4));
            let foreign = libc::in_addr { s_addr: u32::from_ne_bytes([192, 0, 2, 1]) };
            let foreign = sockaddr_in { sin_addr: foreign, ..loopback(0) };
            log.note("a foreign address", bind(fd, &foreign, V4));
            log.note("a bad address of no socket", bind(-1, &foreign, 1));
            log.note("loopback", bind(fd, &loopback(0), V4));
            log.note("loopback again", bind(fd, &loopback(0), V4));
        },
        expect![[r#"
            bind(fd, null(), V4 as socklen_t) = EFAULT
            bind(fd, null(), 0) = EINVAL
            no length = EINVAL
            a length of one = EINVAL
            a short length = EINVAL
            a negative length = EINVAL
            a length past any address = EINVAL
            another family = EAFNOSUPPORT
            an IPv6 address = EAFNOSUPPORT
            an IPv6 family, short = EAFNOSUPPORT
            AF_UNSPEC of loopback = EAFNOSUPPORT
            a foreign address = EADDRNOTAVAIL
            a bad address of no socket = EBADF
            loopback = 0
            loopback again = EINVAL
        "#]],
    );
}

#[test]
fn a_longer_address_is_cut_and_any_is_of_either_family() {
    check(
        |log| {
            let fd = log.socket(0);
            let mut long = [loopback(0); 2];
            long[1].sin_port = 9;
            log.note("a long IPv4 address", bind(fd, &long, 2 * V4));
            let any = libc::in_addr { s_addr: 0 };
            let any = sockaddr_in { sin_addr: any, ..of_family(libc::AF_UNSPEC) };
            let fd = log.socket(0);
            log.note("AF_UNSPEC of any", bind(fd, &any, V4));
        },
        expect![[r#"
            a long IPv4 address = 0
            AF_UNSPEC of any = 0
        "#]],
    );
}

#[test]
fn bind_of_ipv6_checks_the_address() {
    check(
        |log| {
            let fd = log.keep(call!(socket(AF_INET6, SOCK_STREAM, 0)));
            log.note("an IPv4 address", bind(fd, &loopback(0), V4));
            log.note("an IPv4 address, long", bind(fd, &[loopback(0); 2], V6));
            log.note("a short length", bind(fd, &loopback_v6(), 23));
            log.note("a length without a scope", bind(fd, &loopback_v6(), 24));
        },
        expect![[r#"
            an IPv4 address = EINVAL
            an IPv4 address, long = EAFNOSUPPORT
            a short length = EINVAL
            a length without a scope = 0
        "#]],
    );
}

#[test]
fn connect_checks_the_address() {
    check(
        |log| {
            let (_, address) = log.listener(0);
            let fd = log.socket(0);
            say!(log, connect(fd, null(), V4 as socklen_t));
            say!(log, connect(fd, null(), 0));
            log.note("a length of one", connect(fd, &address, 1));
            log.note("a short length", connect(fd, &address, V4 - 1));
            log.note("a negative length", connect(fd, &address, usize::MAX));
            log.note("a length past any address", connect(fd, &address, 129));
            log.note("another family", connect(fd, &of_family(libc::AF_UNIX), V4));
            log.note("an IPv6 address", connect(fd, &loopback_v6(), V6));
            log.note("AF_UNSPEC", connect(fd, &of_family(libc::AF_UNSPEC), V4));
            log.note("AF_UNSPEC, short", connect(fd, &of_family(libc::AF_UNSPEC), 2));
            log.note("a bad address of no socket", connect(-1, &address, 1));
            log.note("a listener", connect(fd, &address, V4));
            log.note("a listener again", connect(fd, &address, V4));
            log.note("a bad address, connected", connect(fd, &of_family(libc::AF_UNIX), V4));
            log.note("a short address, connected", connect(fd, &address, 1));
            let (listener, _) = log.listener(0);
            log.note("a dial of a listener", connect(listener, &address, V4));
            let fd = log.keep(call!(socket(AF_INET6, SOCK_STREAM, 0)));
            log.note("IPv4 for IPv6", connect(fd, &address, V4));
            log.note("IPv4 for IPv6, long", connect(fd, &[address; 2], V6));
        },
        expect![[r#"
            connect(fd, null(), V4 as socklen_t) = EFAULT
            connect(fd, null(), 0) = EINVAL
            a length of one = EINVAL
            a short length = EINVAL
            a negative length = EINVAL
            a length past any address = EINVAL
            another family = EAFNOSUPPORT
            an IPv6 address = EAFNOSUPPORT
            AF_UNSPEC = 0
            AF_UNSPEC, short = 0
            a bad address of no socket = EBADF
            a listener = 0
            a listener again = EISCONN
            a bad address, connected = EISCONN
            a short address, connected = EINVAL
            a dial of a listener = EISCONN
            IPv4 for IPv6 = EINVAL
            IPv4 for IPv6, long = EAFNOSUPPORT
        "#]],
    );
}

/// Asks for an address with room for `room` bytes; notes the result and the length that came back.
fn ask(log: &mut Log, what: &str, fd: c_int, room: i32, is_peer: bool) {
    let mut place = [0_u8; size_of::<sockaddr_storage>()];
    let mut len = room.cast_unsigned();
    let address = place.as_mut_ptr().cast();
    let outcome = match is_peer {
        true => call!(getpeername(fd, address, &mut len)),
        false => call!(getsockname(fd, address, &mut len)),
    };
    let written = place.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    // The port is another in each run, and the address ends the written bytes: 127.0.0.1.
    log.note(what, format!("{outcome}, length {len}, {written} bytes"));
}

#[test]
fn addresses_are_cut_and_their_length_is_whole() {
    check(
        |log| {
            let [fd, _] = log.pair();
            for room in [0, 1, 8, 16, 128, -1, i32::MIN] {
                ask(log, &format!("getsockname with {room}"), fd, room, false);
                ask(log, &format!("getpeername with {room}"), fd, room, true);
            }
        },
        expect![[r#"
            getsockname with 0 = 0, length 16, 0 bytes
            getpeername with 0 = 0, length 16, 0 bytes
            getsockname with 1 = 0, length 16, 1 bytes
            getpeername with 1 = 0, length 16, 1 bytes
            getsockname with 8 = 0, length 16, 8 bytes
            getpeername with 8 = 0, length 16, 8 bytes
            getsockname with 16 = 0, length 16, 8 bytes
            getpeername with 16 = 0, length 16, 8 bytes
            getsockname with 128 = 0, length 16, 8 bytes
            getpeername with 128 = 0, length 16, 8 bytes
            getsockname with -1 = EINVAL, length 4294967295, 0 bytes
            getpeername with -1 = EINVAL, length 4294967295, 0 bytes
            getsockname with -2147483648 = EINVAL, length 2147483648, 0 bytes
            getpeername with -2147483648 = EINVAL, length 2147483648, 0 bytes
        "#]],
    );
}

#[test]
fn a_null_place_for_an_address_takes_no_bytes() {
    check(
        |log| {
            let [fd, _] = log.pair();
            let mut len = 16;
            let mut room = [0_u8; 16];
            say!(log, getsockname(fd, NO_ADDRESS, &mut len));
            say!(log, getpeername(fd, NO_ADDRESS, &mut len));
            say!(log, getsockname(fd, room.as_mut_ptr().cast(), null_mut()));
            say!(log, getpeername(fd, room.as_mut_ptr().cast(), null_mut()));
            say!(log, getsockname(fd, NO_ADDRESS, null_mut()));
            len = 0;
            say!(log, getsockname(fd, NO_ADDRESS, &mut len));
            log.note("the length", len);
            let fresh = log.socket(0);
            say!(log, getpeername(fresh, NO_ADDRESS, null_mut()));
            ask(log, "getsockname of a fresh socket", fresh, 16, false);
            let (listener, _) = log.listener(0);
            ask(log, "getpeername of a listener", listener, 16, true);
        },
        expect![[r#"
            getsockname(fd, NO_ADDRESS, &mut len) = EFAULT
            getpeername(fd, NO_ADDRESS, &mut len) = EFAULT
            getsockname(fd, room.as_mut_ptr().cast(), null_mut()) = EFAULT
            getpeername(fd, room.as_mut_ptr().cast(), null_mut()) = EFAULT
            getsockname(fd, NO_ADDRESS, null_mut()) = EFAULT
            getsockname(fd, NO_ADDRESS, &mut len) = 0
            the length = 16
            getpeername(fresh, NO_ADDRESS, null_mut()) = ENOTCONN
            getsockname of a fresh socket = 0, length 16, 1 bytes
            getpeername of a listener = ENOTCONN, length 16, 0 bytes
        "#]],
    );
}

#[test]
fn accept_tells_the_peer_or_fails() {
    check(
        |log| {
            let (listener, address) = log.listener(0);
            let mut place = [0_u8; 16];
            let mut lens: [socklen_t; 6] = [0, 4, 16, u32::MAX, 16, 16];
            for (index, len) in lens.iter_mut().enumerate() {
                let dialed = log.socket(0);
                connect(dialed, &address, V4);
                let before = len.cast_signed();
                let (into, room) = match index {
                    4 => (NO_ADDRESS, &raw mut *len),
                    5 => (place.as_mut_ptr().cast(), null_mut()),
                    _ => (place.as_mut_ptr().cast(), &raw mut *len),
                };
                let accepted = call!(accept(listener, into, room));
                if accepted.0.is_ok() {
                    log.keep(accepted);
                }
                let what = format!("accept {index} with {before}");
                log.note(&what, format!("{}, length {}", accepted.is_done(), len.cast_signed()));
            }
        },
        expect![[r#"
            accept 0 with 0 = 0, length 16
            accept 1 with 4 = 0, length 16
            accept 2 with 16 = 0, length 16
            accept 3 with -1 = EINVAL, length -1
            accept 4 with 16 = 0, length 16
            accept 5 with 16 = EFAULT, length 16
        "#]],
    );
}

#[test]
fn an_accepted_socket_that_cannot_be_told_of_is_closed() {
    check(
        |log| {
            let (listener, address) = log.listener(0);
            let dialed = log.socket(0);
            connect(dialed, &address, V4);
            let mut place = [0_u8; 16];
            say!(log, accept(listener, place.as_mut_ptr().cast(), null_mut()));
            super::poll(dialed, libc::POLLIN);
            log.note("the dialer reads", super::recv(dialed, 0));
        },
        expect![[r#"
            accept(listener, place.as_mut_ptr().cast(), null_mut()) = EFAULT
            the dialer reads = ""
        "#]],
    );
}

#[test]
fn a_dial_that_dissolves_a_connection_is_not_simulated() {
    check_trouble(
        |log| {
            let [fd, _] = log.pair();
            log.note("AF_UNSPEC", connect(fd, &of_family(libc::AF_UNSPEC), V4));
        },
        expect![[r#"
            AF_UNSPEC = EAFNOSUPPORT
            not simulated: connect: AF_UNSPEC for a socket that listens or is connected"#]],
    );
}
