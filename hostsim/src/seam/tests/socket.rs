//! `socket`, `listen`, `accept`, `accept4`, `connect` and `shutdown`.

use super::{NO_ADDRESS, bind, check, check_simulated, check_trouble, connect, loopback};
use expect_test::expect;
use libc::{AF_INET, AF_INET6, SOCK_CLOEXEC, SOCK_NONBLOCK, SOCK_STREAM, sockaddr_in};
use std::mem::size_of;
use std::ptr::{null, null_mut};

const V4: usize = size_of::<sockaddr_in>();

#[test]
fn socket_checks_flags_then_family_then_type_then_protocol() {
    check(
        |log| {
            say!(log, socket(AF_INET, SOCK_STREAM | 0x100, 0));
            say!(log, socket(-1, SOCK_STREAM | 0x100, 0));
            say!(log, socket(-1, SOCK_STREAM, 0));
            say!(log, socket(46, SOCK_STREAM, 0));
            say!(log, socket(libc::AF_UNSPEC, SOCK_STREAM, 0));
            say!(log, socket(AF_INET, 0, 0));
            say!(log, socket(AF_INET, 8, 0));
            say!(log, socket(AF_INET, 11, 0));
            say!(log, socket(AF_INET, 15, 0));
            say!(log, socket(AF_INET, libc::SOCK_SEQPACKET, 0));
            say!(log, socket(AF_INET, SOCK_STREAM, libc::IPPROTO_UDP));
            say!(log, socket(AF_INET, SOCK_STREAM, 99));
            say!(log, socket(AF_INET, SOCK_STREAM, -1));
            say!(log, socket(AF_INET, SOCK_STREAM, 1000));
            log.keep(call!(socket(AF_INET, SOCK_STREAM, libc::IPPROTO_TCP)));
            log.keep(call!(socket(AF_INET6, SOCK_STREAM, libc::IPPROTO_TCP)));
        },
        expect![[r#"
            socket(AF_INET, SOCK_STREAM | 0x100, 0) = EINVAL
            socket(-1, SOCK_STREAM | 0x100, 0) = EINVAL
            socket(-1, SOCK_STREAM, 0) = EAFNOSUPPORT
            socket(46, SOCK_STREAM, 0) = EAFNOSUPPORT
            socket(libc::AF_UNSPEC, SOCK_STREAM, 0) = EAFNOSUPPORT
            socket(AF_INET, 0, 0) = ESOCKTNOSUPPORT
            socket(AF_INET, 8, 0) = ESOCKTNOSUPPORT
            socket(AF_INET, 11, 0) = EINVAL
            socket(AF_INET, 15, 0) = EINVAL
            socket(AF_INET, libc::SOCK_SEQPACKET, 0) = ESOCKTNOSUPPORT
            socket(AF_INET, SOCK_STREAM, libc::IPPROTO_UDP) = EPROTONOSUPPORT
            socket(AF_INET, SOCK_STREAM, 99) = EPROTONOSUPPORT
            socket(AF_INET, SOCK_STREAM, -1) = EINVAL
            socket(AF_INET, SOCK_STREAM, 1000) = EINVAL
        "#]],
    );
}

#[test]
fn what_is_not_simulated_is_a_trouble() {
    check_trouble(
        |log| say!(log, socket(libc::AF_NETLINK, SOCK_STREAM, 0)),
        expect![[r#"
        socket(libc::AF_NETLINK, SOCK_STREAM, 0) = EAFNOSUPPORT
        not simulated: socket: a family other than AF_INET, AF_INET6 and AF_UNIX"#]],
    );
    check_trouble(
        |log| say!(log, socket(AF_INET, libc::SOCK_RAW, libc::IPPROTO_UDP)),
        expect![[r#"
        socket(AF_INET, libc::SOCK_RAW, libc::IPPROTO_UDP) = EAFNOSUPPORT
        not simulated: socket: a type other than SOCK_STREAM and SOCK_DGRAM"#]],
    );
}

#[test]
fn flags_of_a_new_socket_are_its_own() {
    check(
        |log| {
            for flags in [0, SOCK_NONBLOCK, SOCK_CLOEXEC, SOCK_NONBLOCK | SOCK_CLOEXEC] {
                let fd = log.socket(flags);
                log.note(&format!("F_GETFL of {flags:#o}"), call!(fcntl(fd, libc::F_GETFL)));
                log.note(&format!("F_GETFD of {flags:#o}"), call!(fcntl(fd, libc::F_GETFD)));
            }
        },
        expect![[r#"
            F_GETFL of 0o0 = 2
            F_GETFD of 0o0 = 0
            F_GETFL of 0o4000 = 2050
            F_GETFD of 0o4000 = 0
            F_GETFL of 0o2000000 = 2
            F_GETFD of 0o2000000 = 1
            F_GETFL of 0o2004000 = 2050
            F_GETFD of 0o2004000 = 1
        "#]],
    );
}

#[test]
fn flags_of_an_accepted_socket_are_those_of_the_call() {
    check(
        |log| {
            let (listener, address) = log.listener(SOCK_NONBLOCK | SOCK_CLOEXEC);
            for flags in [0, SOCK_NONBLOCK, SOCK_CLOEXEC] {
                let dialed = log.socket(0);
                connect(dialed, &address, V4);
                super::poll(listener, libc::POLLIN);
                let fd = log.keep(call!(accept4(listener, NO_ADDRESS, null_mut(), flags)));
                log.note(&format!("F_GETFL of {flags:#o}"), call!(fcntl(fd, libc::F_GETFL)));
                log.note(&format!("F_GETFD of {flags:#o}"), call!(fcntl(fd, libc::F_GETFD)));
            }
            say!(log, accept4(listener, NO_ADDRESS, null_mut(), 1));
            say!(log, accept4(-1, NO_ADDRESS, null_mut(), 1));
            say!(log, accept(listener, NO_ADDRESS, null_mut()));
            let fresh = log.socket(0);
            say!(log, accept(fresh, NO_ADDRESS, null_mut()));
            let [dialed, _] = log.pair();
            say!(log, accept(dialed, NO_ADDRESS, null_mut()));
        },
        expect![[r#"
            F_GETFL of 0o0 = 2
            F_GETFD of 0o0 = 0
            F_GETFL of 0o4000 = 2050
            F_GETFD of 0o4000 = 0
            F_GETFL of 0o2000000 = 2
            F_GETFD of 0o2000000 = 1
            accept4(listener, NO_ADDRESS, null_mut(), 1) = EINVAL
            accept4(-1, NO_ADDRESS, null_mut(), 1) = EBADF
            accept(listener, NO_ADDRESS, null_mut()) = EAGAIN
            accept(fresh, NO_ADDRESS, null_mut()) = EINVAL
            accept(dialed, NO_ADDRESS, null_mut()) = EINVAL
        "#]],
    );
}

#[test]
fn a_refused_dial_says_so_at_once() {
    check(
        |log| {
            let bound = log.socket(0);
            bind(bound, &loopback(0), V4);
            let address = super::local_address(bound);
            for flags in [0, SOCK_NONBLOCK] {
                let fd = log.socket(flags);
                log.note("a dial", connect(fd, &address, V4));
                super::poll(fd, libc::POLLOUT);
                log.note("its second", connect(fd, &address, V4));
            }
        },
        expect![[r#"
            a dial = ECONNREFUSED
            its second = ECONNREFUSED
            a dial = EINPROGRESS
            its second = ECONNREFUSED
        "#]],
    );
}

#[test]
fn listen_takes_any_backlog_but_no_connection() {
    check(
        |log| {
            let (listener, _) = log.listener(0);
            say!(log, listen(listener, 0));
            say!(log, listen(listener, -1));
            let fresh = log.socket(0);
            say!(log, listen(fresh, i32::MAX));
            let [fd, accepted] = log.pair();
            say!(log, listen(fd, 1));
            say!(log, listen(accepted, 1));
            log.note("bind of a connection", bind(accepted, &loopback(0), V4));
        },
        expect![[r#"
            listen(listener, 0) = 0
            listen(listener, -1) = 0
            listen(fresh, i32::MAX) = 0
            listen(fd, 1) = EINVAL
            listen(accepted, 1) = EINVAL
            bind of a connection = EINVAL
        "#]],
    );
}

#[test]
fn shutdown_checks_how_and_whether() {
    check(
        |log| {
            let fresh = log.socket(0);
            let [fd, _] = log.pair();
            say!(log, shutdown(fresh, 3));
            say!(log, shutdown(fresh, -1));
            say!(log, shutdown(fresh, libc::SHUT_RD));
            say!(log, shutdown(fd, 3));
            say!(log, shutdown(fd, libc::SHUT_WR));
            say!(log, shutdown(fd, libc::SHUT_WR));
            log.note("send after it", super::send(fd, b"x"));
            let (listener, _) = log.listener(0);
            say!(log, shutdown(listener, libc::SHUT_WR));
            say!(log, shutdown(listener, libc::SHUT_RD));
            say!(log, accept(listener, NO_ADDRESS, null_mut()));
        },
        expect![[r#"
            shutdown(fresh, 3) = EINVAL
            shutdown(fresh, -1) = EINVAL
            shutdown(fresh, libc::SHUT_RD) = ENOTCONN
            shutdown(fd, 3) = EINVAL
            shutdown(fd, libc::SHUT_WR) = 0
            shutdown(fd, libc::SHUT_WR) = 0
            send after it = EPIPE
            shutdown(listener, libc::SHUT_WR) = 0
            shutdown(listener, libc::SHUT_RD) = 0
            accept(listener, NO_ADDRESS, null_mut()) = EINVAL
        "#]],
    );
}

#[test]
fn calls_of_sockets_on_a_counter_are_not_on_a_socket() {
    check(
        |log| {
            let fd = log.keep(call!(eventfd(0, 0)));
            say!(log, bind(fd, null(), 0));
            say!(log, connect(fd, null(), 0));
            say!(log, listen(fd, 1));
            say!(log, accept(fd, NO_ADDRESS, null_mut()));
            say!(log, accept4(fd, NO_ADDRESS, null_mut(), 1));
            say!(log, getsockname(fd, NO_ADDRESS, null_mut()));
            say!(log, getpeername(fd, NO_ADDRESS, null_mut()));
            say!(log, shutdown(fd, 99));
            say!(log, getsockopt(fd, 99, 99, null_mut(), null_mut()));
            say!(log, setsockopt(fd, 99, 99, null(), 0));
            say!(log, recv(fd, null_mut(), 0, libc::MSG_OOB));
            say!(log, send(fd, null(), 0, libc::MSG_OOB));
            say!(log, recvfrom(fd, null_mut(), 8, 0, NO_ADDRESS, null_mut()));
            say!(log, sendto(fd, null(), 0, 0, null(), 0));
        },
        expect![[r#"
            bind(fd, null(), 0) = ENOTSOCK
            connect(fd, null(), 0) = ENOTSOCK
            listen(fd, 1) = ENOTSOCK
            accept(fd, NO_ADDRESS, null_mut()) = ENOTSOCK
            accept4(fd, NO_ADDRESS, null_mut(), 1) = EINVAL
            getsockname(fd, NO_ADDRESS, null_mut()) = ENOTSOCK
            getpeername(fd, NO_ADDRESS, null_mut()) = ENOTSOCK
            shutdown(fd, 99) = ENOTSOCK
            getsockopt(fd, 99, 99, null_mut(), null_mut()) = ENOTSOCK
            setsockopt(fd, 99, 99, null(), 0) = ENOTSOCK
            recv(fd, null_mut(), 0, libc::MSG_OOB) = ENOTSOCK
            send(fd, null(), 0, libc::MSG_OOB) = ENOTSOCK
            recvfrom(fd, null_mut(), 8, 0, NO_ADDRESS, null_mut()) = ENOTSOCK
            sendto(fd, null(), 0, 0, null(), 0) = ENOTSOCK
        "#]],
    );
}

#[test]
fn an_accept_without_waiting_finds_nothing() {
    check_simulated(
        |log| {
            let (listener, _) = log.listener(SOCK_NONBLOCK);
            say!(log, accept(listener, NO_ADDRESS, null_mut()));
        },
        expect![[r#"
            accept(listener, NO_ADDRESS, null_mut()) = EAGAIN
        "#]],
    );
}

#[test]
fn a_port_in_time_wait_is_free_for_whoever_shares_addresses() {
    fn reuse(fd: i32, value: i32) {
        let (level, name) = (libc::SOL_SOCKET, libc::SO_REUSEADDR);
        let len = size_of_val(&value) as libc::socklen_t;
        call!(setsockopt(fd, level, name, (&raw const value).cast(), len));
    }
    check(
        |log| {
            for (first, second) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                let listener = log.socket(0);
                reuse(listener, first);
                assert_eq!(bind(listener, &loopback(0), V4).is_done(), super::Outcome(Ok(0)));
                call!(listen(listener, 1));
                let (dialed, address) = (log.socket(0), super::local_address(listener));
                connect(dialed, &address, V4);
                let accepted = log.keep(call!(accept(listener, null_mut(), null_mut())));
                // Who closes first goes into TIME_WAIT.
                for fd in [accepted, dialed] {
                    call!(shutdown(fd, libc::SHUT_WR));
                }
                for fd in log.opened.drain(..) {
                    call!(close(fd));
                }
                let fd = log.socket(0);
                reuse(fd, second);
                log.note(&format!("bind of {second} after {first}"), bind(fd, &address, V4));
            }
        },
        expect![[r#"
            bind of 0 after 0 = EADDRINUSE
            bind of 1 after 0 = EADDRINUSE
            bind of 0 after 1 = EADDRINUSE
            bind of 1 after 1 = 0
        "#]],
    );
}
