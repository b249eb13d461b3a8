//! Datagrams within a host, on both kernels.

use super::{Log, Outcome, bind, check, check_trouble, connect, local_address, loopback, poll};
use expect_test::expect;
use libc::{AF_INET, AF_INET6, SOCK_DGRAM, c_int, sockaddr, sockaddr_in, sockaddr_in6, socklen_t};
use std::mem::{size_of, zeroed};
use std::ptr::null_mut;

const V4: usize = size_of::<sockaddr_in>();
const V6: usize = size_of::<sockaddr_in6>();
const NOW: c_int = libc::MSG_DONTWAIT;

fn udp(log: &mut Log) -> c_int {
    log.keep(call!(socket(AF_INET, SOCK_DGRAM, 0)))
}

/// A socket on loopback and its address.
fn bound(log: &mut Log) -> (c_int, sockaddr_in) {
    let fd = udp(log);
    assert_eq!(bind(fd, &loopback(0), V4), Outcome(Ok(0)));
    (fd, local_address(fd))
}

/// A port of loopback that nobody has.
fn nobody() -> sockaddr_in {
    let mut log = Log::default();
    bound(&mut log).1
}

fn send_to<T>(fd: c_int, bytes: &[u8], to: &T, len: usize) -> Outcome {
    let to: *const sockaddr = (&raw const *to).cast();
    call!(sendto(fd, bytes.as_ptr().cast(), bytes.len(), NOW, to, len as socklen_t))
}

fn send(fd: c_int, len: usize) -> Outcome {
    let bytes = vec![b'x'; len];
    call!(send(fd, bytes.as_ptr().cast(), len, NOW))
}

fn recv(fd: c_int, room: usize, flags: c_int) -> Outcome {
    let mut bytes = vec![0_u8; room];
    call!(recv(fd, bytes.as_mut_ptr().cast(), room, NOW | flags))
}

fn set<T>(fd: c_int, level: c_int, name: c_int, value: &T) -> Outcome {
    let len = size_of::<T>() as socklen_t;
    call!(setsockopt(fd, level, name, (&raw const *value).cast(), len))
}

fn get(fd: c_int, level: c_int, name: c_int) -> Outcome {
    let (mut value, mut len) = (0_i32, 4);
    let done = call!(getsockopt(fd, level, name, (&raw mut value).cast(), &mut len));
    Outcome(done.0.map(|_| i64::from(value)))
}

fn disconnect(fd: c_int) -> Outcome {
    // SAFETY: zeros are an address of no family.
    let none: sockaddr_in = unsafe { zeroed() };
    connect(fd, &none, V4)
}

/// An address as a script may log it: whether it has a port, not which.
fn shown(fd: c_int, is_peer: bool) -> String {
    // SAFETY: zeros are an address.
    let mut address: sockaddr_in6 = unsafe { zeroed() };
    let mut len = V6 as socklen_t;
    let place: *mut sockaddr = (&raw mut address).cast();
    let done = match is_peer {
        true => call!(getpeername(fd, place, &mut len)),
        false => call!(getsockname(fd, place, &mut len)),
    };
    if done.0.is_err() {
        return done.to_string();
    }
    let port = if address.sin6_port == 0 { "0" } else { "port" };
    // Flow information of IPv6 is where the address of IPv4 is.
    match c_int::from(address.sin6_family) {
        AF_INET => {
            format!("{}:{port}", std::net::Ipv4Addr::from(address.sin6_flowinfo.to_ne_bytes()))
        }
        _ => format!("[{}]:{port}", std::net::Ipv6Addr::from(address.sin6_addr.s6_addr)),
    }
}

fn v6(ip: &str, port: u16) -> sockaddr_in6 {
    let ip: std::net::Ipv6Addr = ip.parse().expect("tests use addresses");
    sockaddr_in6 {
        sin6_family: AF_INET6 as libc::sa_family_t,
        sin6_port: port,
        sin6_flowinfo: 0,
        sin6_addr: libc::in6_addr { s6_addr: ip.octets() },
        sin6_scope_id: 0,
    }
}

#[test]
fn types_and_protocols() {
    check(
        |log| {
            say!(log, socket(AF_INET, SOCK_DGRAM, libc::IPPROTO_TCP));
            say!(log, socket(AF_INET, SOCK_DGRAM, 99));
            let fd = log.keep(call!(socket(AF_INET6, SOCK_DGRAM, libc::IPPROTO_UDP)));
            log.note("SO_TYPE", get(fd, libc::SOL_SOCKET, libc::SO_TYPE));
            log.note("SO_PROTOCOL", get(fd, libc::SOL_SOCKET, libc::SO_PROTOCOL));
            log.note("SO_DOMAIN", get(fd, libc::SOL_SOCKET, libc::SO_DOMAIN));
            log.note("SO_ACCEPTCONN", get(fd, libc::SOL_SOCKET, libc::SO_ACCEPTCONN));
            log.note("SO_RCVBUF", get(fd, libc::SOL_SOCKET, libc::SO_RCVBUF));
            say!(log, listen(fd, 1));
            say!(log, accept(fd, null_mut(), null_mut()));
        },
        expect![[r#"
            socket(AF_INET, SOCK_DGRAM, libc::IPPROTO_TCP) = EPROTONOSUPPORT
            socket(AF_INET, SOCK_DGRAM, 99) = EPROTONOSUPPORT
            SO_TYPE = 2
            SO_PROTOCOL = 17
            SO_DOMAIN = 10
            SO_ACCEPTCONN = 0
            SO_RCVBUF = 212992
            listen(fd, 1) = EOPNOTSUPP
            accept(fd, null_mut(), null_mut()) = EOPNOTSUPP
        "#]],
    );
}

#[test]
fn a_datagram_is_whole_or_cut_and_never_joined() {
    check(
        |log| {
            let ((to, address), from) = (bound(log), udp(log));
            for bytes in [&b""[..], b"abcdef", b"gh", b"ijklmn"] {
                log.note("sendto", send_to(from, bytes, &address, V4));
            }
            log.note("poll", poll(to, libc::POLLIN | libc::POLLOUT));
            let mut count = -1;
            say!(log, ioctl(to, libc::FIONREAD, &mut count));
            log.note("FIONREAD of an empty one", count);
            log.note("empty", recv(to, 8, 0));
            say!(log, ioctl(to, libc::FIONREAD, &mut count));
            log.note("FIONREAD", count);
            say!(log, ioctl(to, libc::TIOCOUTQ, &mut count));
            log.note("TIOCOUTQ", count);
            log.note("peek 3", recv(to, 3, libc::MSG_PEEK));
            log.note("peek 3, told all", recv(to, 3, libc::MSG_PEEK | libc::MSG_TRUNC));
            log.note("recv 3", recv(to, 3, 0));
            log.note("recv all, once", recv(to, 8, libc::MSG_WAITALL));
            log.note("recv 0", recv(to, 0, 0));
            log.note("recv of nothing", recv(to, 8, 0));
            log.note("poll", poll(to, libc::POLLOUT));
            log.note("errors", recv(to, 8, libc::MSG_ERRQUEUE));
        },
        expect![[r#"
            sendto = 0
            sendto = 6
            sendto = 2
            sendto = 6
            poll = 5
            ioctl(to, libc::FIONREAD, &mut count) = 0
            FIONREAD of an empty one = 0
            empty = 0
            ioctl(to, libc::FIONREAD, &mut count) = 0
            FIONREAD = 6
            ioctl(to, libc::TIOCOUTQ, &mut count) = 0
            TIOCOUTQ = 0
            peek 3 = 3
            peek 3, told all = 6
            recv 3 = 3
            recv all, once = 2
            recv 0 = 0
            recv of nothing = EAGAIN
            poll = 4
            errors = EAGAIN
        "#]],
    );
}

#[test]
fn errors_of_a_send_come_in_their_order() {
    check(
        |log| {
            let fd = udp(log);
            log.note("before", shown(fd, false));
            log.note("to nobody", send(fd, 1));
            log.note("after", shown(fd, false));
            let any = loopback(7);
            log.note("short", send_to(fd, b"x", &any, V4 - 1));
            log.note("no length", send_to(fd, b"x", &any, 0));
            log.note("IPv6", send_to(fd, b"x", &v6("::1", 7), V6));
            let mut unspecified = any;
            unspecified.sin_family = libc::AF_UNSPEC as libc::sa_family_t;
            log.note("no family", send_to(fd, b"x", &unspecified, V4));
            log.note("port 0", send_to(fd, b"x", &loopback(0), V4));
            log.note("65,536 bytes to port 0", send_to(fd, &[0; 65_536], &loopback(0), V4));
            log.note("65,508 bytes to port 0", send_to(fd, &[0; 65_508], &loopback(0), V4));
            log.note("65,508 bytes", send_to(fd, &[0; 65_508], &any, V4));
            log.note("65,507 bytes", send_to(fd, &[0; 65_507], &any, V4));
            let bytes = [0_u8];
            let place = bytes.as_ptr().cast();
            say!(log, send(fd, place, 1, libc::MSG_OOB));
            say!(log, sendto(fd, place, 1, 0, null_mut(), V4 as socklen_t));
        },
        expect![[r#"
            before = 0.0.0.0:0
            to nobody = EDESTADDRREQ
            after = 0.0.0.0:port
            short = EINVAL
            no length = EINVAL
            IPv6 = EAFNOSUPPORT
            no family = 1
            port 0 = EINVAL
            65,536 bytes to port 0 = EMSGSIZE
            65,508 bytes to port 0 = EINVAL
            65,508 bytes = EMSGSIZE
            65,507 bytes = 65507
            send(fd, place, 1, libc::MSG_OOB) = EOPNOTSUPP
            sendto(fd, place, 1, 0, null_mut(), V4 as socklen_t) = EDESTADDRREQ
        "#]],
    );
}

#[test]
fn sockets_of_ipv6_speak_ipv4_too() {
    check(
        |log| {
            let (to, address) = bound(log);
            let fd = log.keep(call!(socket(AF_INET6, SOCK_DGRAM, 0)));
            let mapped = v6("::ffff:127.0.0.1", address.sin_port);
            log.note("short", send_to(fd, b"x", &mapped, V6 - 5));
            log.note("mapped", send_to(fd, b"x", &mapped, V6));
            log.note("an address of IPv4", send_to(fd, b"x", &address, V4));
            log.note("65,508 mapped bytes", send_to(fd, &[0; 65_508], &mapped, V6));
            log.note("65,528 bytes", send_to(fd, &[0; 65_528], &v6("::1", 7), V6));
            log.note("65,527 bytes", send_to(fd, &[0; 65_527], &v6("::1", 7), V6));
            log.note(
                "it has",
                [recv(to, 8, 0), recv(to, 8, 0), recv(to, 8, 0)].map(|o| o.to_string()).join(" "),
            );
            log.note("connect to IPv4", connect(fd, &address, V4));
            log.note("itself", shown(fd, false));
            log.note("its peer", shown(fd, true));
            log.note("connect to IPv6", connect(fd, &v6("::1", 7), V6));
            log.note("send to IPv6", send_to(fd, b"x", &v6("::1", 7), V6));
            log.note("no more", disconnect(fd));
            log.note("itself", shown(fd, false));
            log.note("connect to the wildcard", connect(fd, &v6("::", 7), V6));
            log.note("its peer", shown(fd, true));
            log.note("no more", disconnect(fd));
            log.note("IPV6_V6ONLY", set(fd, libc::IPPROTO_IPV6, libc::IPV6_V6ONLY, &1));
            log.note("mapped", send_to(fd, b"x", &mapped, V6));
            log.note("connect, mapped", connect(fd, &mapped, V6));
            log.note("connect to IPv4", connect(fd, &address, V4));
            log.note("IPV6_V6ONLY, bound", set(fd, libc::IPPROTO_IPV6, libc::IPV6_V6ONLY, &0));
        },
        expect![[r#"
            short = EINVAL
            mapped = 1
            an address of IPv4 = 1
            65,508 mapped bytes = EMSGSIZE
            65,528 bytes = EMSGSIZE
            65,527 bytes = 65527
            it has = 1 1 EAGAIN
            connect to IPv4 = 0
            itself = [::ffff:127.0.0.1]:port
            its peer = [::ffff:127.0.0.1]:port
            connect to IPv6 = EAFNOSUPPORT
            send to IPv6 = EAFNOSUPPORT
            no more = 0
            itself = [::]:0
            connect to the wildcard = 0
            its peer = [::1]:port
            no more = 0
            IPV6_V6ONLY = 0
            mapped = ENETUNREACH
            connect, mapped = ENETUNREACH
            connect to IPv4 = EAFNOSUPPORT
            IPV6_V6ONLY, bound = EINVAL
        "#]],
    );
}

#[test]
fn a_port_without_a_socket_is_an_error_of_who_is_connected_to_it() {
    check(
        |log| {
            let (fd, other) = (udp(log), udp(log));
            let gone = nobody();
            log.note("unconnected", send_to(other, b"x", &gone, V4));
            log.note("hears nothing", recv(other, 8, 0));
            log.note("connect", connect(fd, &gone, V4));
            log.note("send", send(fd, 1));
            log.note("poll", poll(fd, libc::POLLIN | libc::POLLOUT));
            log.note("a datagram that is too long", send(fd, 70_000));
            log.note("send", send(fd, 1));
            log.note("send", send(fd, 1));
            log.note("connect anew", connect(fd, &gone, V4));
            log.note("SO_ERROR", get(fd, libc::SOL_SOCKET, libc::SO_ERROR));
            log.note("SO_ERROR", get(fd, libc::SOL_SOCKET, libc::SO_ERROR));
            log.note("send", send(fd, 1));
            log.note("recv", recv(fd, 8, libc::MSG_PEEK));
            log.note("recv", recv(fd, 8, 0));
        },
        expect![[r#"
            unconnected = 1
            hears nothing = EAGAIN
            connect = 0
            send = 1
            poll = 12
            a datagram that is too long = EMSGSIZE
            send = ECONNREFUSED
            send = 1
            connect anew = 0
            SO_ERROR = 111
            SO_ERROR = 0
            send = 1
            recv = ECONNREFUSED
            recv = EAGAIN
        "#]],
    );
}

#[test]
fn a_connected_socket_hears_its_peer_alone() {
    check(
        |log| {
            let ((fd, own), (peer, its), (other, _)) = (bound(log), bound(log), bound(log));
            log.note("before", send_to(other, b"1", &own, V4));
            log.note("connect", connect(fd, &its, V4));
            log.note("after", send_to(other, b"22", &own, V4));
            log.note("from its peer", send_to(peer, b"333", &own, V4));
            log.note("recv", recv(fd, 8, 0));
            log.note("recv", recv(fd, 8, 0));
            log.note("recv", recv(fd, 8, 0));
            log.note("send to another", send_to(fd, b"4444", &local_address(other), V4));
            log.note("the other has", recv(other, 8, 0));
            log.note("no more", disconnect(fd));
            log.note("send", send(fd, 1));
            log.note("peer", shown(fd, true));
        },
        expect![[r#"
            before = 1
            connect = 0
            after = 2
            from its peer = 3
            recv = 1
            recv = 3
            recv = EAGAIN
            send to another = 4
            the other has = 4
            no more = 0
            send = EDESTADDRREQ
            peer = ENOTCONN
        "#]],
    );
}

#[test]
fn what_a_socket_is_bound_to_comes_and_goes_with_its_peer() {
    check(
        |log| {
            let peer = loopback(7);
            let any = sockaddr_in { sin_addr: libc::in_addr { s_addr: 0 }, ..loopback(0) };
            for (name, own) in [("any port", any), ("any port of loopback", loopback(0))] {
                let fd = udp(log);
                bind(fd, &own, V4);
                log.note(name, shown(fd, false));
                log.note("bind again", bind(fd, &own, V4));
                log.note("connect", connect(fd, &peer, V4));
                log.note("connected", shown(fd, false));
                log.note("no more", disconnect(fd));
                log.note("now", shown(fd, false));
                log.note("bind anew", bind(fd, &own, V4));
            }
            let fd = udp(log);
            let chosen = sockaddr_in { sin_port: nobody().sin_port, ..any };
            bind(fd, &chosen, V4);
            connect(fd, &peer, V4);
            log.note("a port of its own, connected", shown(fd, false));
            disconnect(fd);
            log.note("no more", shown(fd, false));
            log.note("connect to port 0", connect(fd, &loopback(0), V4));
            log.note("peer", shown(fd, true));
            log.note("connect to 0.0.0.0", connect(fd, &any, V4));
            log.note("short", connect(fd, &peer, V4 - 1));
            log.note("IPv6", connect(fd, &v6("::1", 7), V6));
        },
        expect![[r#"
            any port = 0.0.0.0:port
            bind again = EINVAL
            connect = 0
            connected = 127.0.0.1:port
            no more = 0
            now = 0.0.0.0:0
            bind anew = 0
            any port of loopback = 127.0.0.1:port
            bind again = EINVAL
            connect = 0
            connected = 127.0.0.1:port
            no more = 0
            now = 127.0.0.1:0
            bind anew = 0
            a port of its own, connected = 127.0.0.1:port
            no more = 0.0.0.0:port
            connect to port 0 = 0
            peer = ENOTCONN
            connect to 0.0.0.0 = 0
            short = EINVAL
            IPv6 = EAFNOSUPPORT
        "#]],
    );
}

#[test]
fn a_shutdown_ends_directions() {
    check(
        |log| {
            let (fd, other) = (udp(log), udp(log));
            say!(log, shutdown(other, libc::SHUT_RDWR));
            log.note("send", send_to(other, b"x", &loopback(7), V4));
            log.note("recv", recv(other, 8, 0));
            log.note("connect", connect(fd, &loopback(7), V4));
            say!(log, shutdown(fd, 7));
            say!(log, shutdown(fd, libc::SHUT_RD));
            log.note("recv", recv(fd, 8, 0));
            say!(log, recv(fd, null_mut(), 0, 0));
            log.note("poll", poll(fd, libc::POLLIN | libc::POLLRDHUP));
            say!(log, shutdown(fd, libc::SHUT_WR));
            log.note("send", send(fd, 1));
            log.note("poll", poll(fd, libc::POLLIN | libc::POLLRDHUP));
        },
        expect![[r#"
            shutdown(other, libc::SHUT_RDWR) = ENOTCONN
            send = EPIPE
            recv = EAGAIN
            connect = 0
            shutdown(fd, 7) = EINVAL
            shutdown(fd, libc::SHUT_RD) = 0
            recv = EAGAIN
            recv(fd, null_mut(), 0, 0) = 0
            poll = 8193
            shutdown(fd, libc::SHUT_WR) = 0
            send = EPIPE
            poll = 8209
        "#]],
    );
}

#[test]
fn ports_are_claimed_by_protocol() {
    check(
        |log| {
            let (_, own) = bound(log);
            let (second, tcp) = (udp(log), log.socket(0));
            log.note("again", bind(second, &own, V4));
            let wild = sockaddr_in { sin_addr: libc::in_addr { s_addr: 0 }, ..own };
            log.note("the wildcard", bind(second, &wild, V4));
            log.note("TCP", bind(tcp, &own, V4));
            let sockets = [(); 2].map(|()| {
                let fd = udp(log);
                set(fd, libc::SOL_SOCKET, libc::SO_REUSEADDR, &1);
                fd
            });
            bind(sockets[0], &loopback(0), V4);
            let shared = local_address(sockets[0]);
            log.note("SO_REUSEADDR", bind(sockets[1], &shared, V4));
            log.note("send", send_to(second, b"x", &shared, V4));
            log.note("the first", recv(sockets[0], 8, 0));
            log.note("the last", recv(sockets[1], 8, 0));
            let last = udp(log);
            log.note("nobody's address", bind(last, &loopback_of([192, 0, 2, 1]), V4));
        },
        expect![[r#"
            again = EADDRINUSE
            the wildcard = EADDRINUSE
            TCP = 0
            SO_REUSEADDR = 0
            send = 1
            the first = EAGAIN
            the last = 1
            nobody's address = EADDRNOTAVAIL
        "#]],
    );
}

fn loopback_of(ip: [u8; 4]) -> sockaddr_in {
    sockaddr_in { sin_addr: libc::in_addr { s_addr: u32::from_ne_bytes(ip) }, ..loopback(0) }
}

#[test]
fn the_very_address_and_the_peer_come_before_the_wildcard() {
    check(
        |log| {
            let from = udp(log);
            let reusing = |log: &mut Log| {
                let fd = udp(log);
                set(fd, libc::SOL_SOCKET, libc::SO_REUSEADDR, &1);
                fd
            };
            let (exact, wild, peered) = (reusing(log), reusing(log), reusing(log));
            bind(exact, &loopback(0), V4);
            let own = local_address(exact);
            bind(peered, &own, V4);
            bind(wild, &sockaddr_in { sin_addr: libc::in_addr { s_addr: 0 }, ..own }, V4);
            bind(from, &loopback(0), V4);
            connect(peered, &local_address(from), V4);
            send_to(from, b"1", &own, V4);
            let other = udp(log);
            send_to(other, b"22", &own, V4);
            let elsewhere = sockaddr_in { sin_port: own.sin_port, ..loopback_of([127, 0, 0, 2]) };
            send_to(other, b"333", &elsewhere, V4);
            for (name, fd) in [("exact", exact), ("wild", wild), ("peered", peered)] {
                log.note(name, recv(fd, 8, 0));
                log.note("and then", recv(fd, 8, 0));
            }
        },
        expect![[r#"
            exact = 2
            and then = EAGAIN
            wild = 3
            and then = EAGAIN
            peered = 1
            and then = EAGAIN
        "#]],
    );
}

#[test]
fn a_full_socket_drops_in_silence() {
    check(
        |log| {
            let ((to, address), from) = (bound(log), udp(log));
            log.note("SO_RCVBUF", set(to, libc::SOL_SOCKET, libc::SO_RCVBUF, &4_096));
            log.note("it is", get(to, libc::SOL_SOCKET, libc::SO_RCVBUF));
            let sent = (0..20).filter(|_| send_to(from, &[7; 100], &address, V4).0.is_ok()).count();
            log.note("sent", sent);
            let had = (0..20).filter(|_| recv(to, 200, 0).0.is_ok()).count();
            log.note("had", had);
            send_to(from, &[7; 60_000], &address, V4);
            log.note("one always has room", recv(to, 65_000, 0));
        },
        expect![[r#"
            SO_RCVBUF = 0
            it is = 8192
            sent = 20
            had = 9
            one always has room = 60000
        "#]],
    );
}

#[test]
fn options() {
    check(
        |log| {
            let (fd, six) = (udp(log), log.keep(call!(socket(AF_INET6, SOCK_DGRAM, 0))));
            let (ip, ip6) = (libc::IPPROTO_IP, libc::IPPROTO_IPV6);
            for (name, level, option) in [
                ("IP_TOS", ip, libc::IP_TOS),
                ("IP_TTL", ip, libc::IP_TTL),
                ("IP_PKTINFO", ip, libc::IP_PKTINFO),
                ("IP_RECVTOS", ip, libc::IP_RECVTOS),
                ("IP_MTU_DISCOVER", ip, libc::IP_MTU_DISCOVER),
                ("IPV6_RECVPKTINFO", ip6, libc::IPV6_RECVPKTINFO),
                ("IPV6_RECVTCLASS", ip6, libc::IPV6_RECVTCLASS),
                ("IPV6_MTU_DISCOVER", ip6, libc::IPV6_MTU_DISCOVER),
                ("IPV6_TCLASS", ip6, libc::IPV6_TCLASS),
                ("SO_BROADCAST", libc::SOL_SOCKET, libc::SO_BROADCAST),
                ("TCP_NODELAY", libc::IPPROTO_TCP, libc::TCP_NODELAY),
            ] {
                for fd in [fd, six] {
                    let before = get(fd, level, option);
                    let done = set(fd, level, option, &3);
                    log.note(name, format!("{before}, {done}, {}", get(fd, level, option)));
                }
            }
            log.note("IP_MTU_DISCOVER", set(fd, ip, libc::IP_MTU_DISCOVER, &6));
            log.note("IP_TOS", set(fd, ip, libc::IP_TOS, &0x103));
            log.note("which is", get(fd, ip, libc::IP_TOS));
        },
        expect![[r#"
            IP_TOS = 0, 0, 3
            IP_TOS = 0, 0, 3
            IP_TTL = 64, 0, 3
            IP_TTL = 64, 0, 3
            IP_PKTINFO = 0, 0, 1
            IP_PKTINFO = 0, 0, 1
            IP_RECVTOS = 0, 0, 1
            IP_RECVTOS = 0, 0, 1
            IP_MTU_DISCOVER = 1, 0, 3
            IP_MTU_DISCOVER = 1, 0, 3
            IPV6_RECVPKTINFO = EOPNOTSUPP, ENOPROTOOPT, EOPNOTSUPP
            IPV6_RECVPKTINFO = 0, 0, 1
            IPV6_RECVTCLASS = EOPNOTSUPP, ENOPROTOOPT, EOPNOTSUPP
            IPV6_RECVTCLASS = 0, 0, 1
            IPV6_MTU_DISCOVER = EOPNOTSUPP, ENOPROTOOPT, EOPNOTSUPP
            IPV6_MTU_DISCOVER = 1, 0, 3
            IPV6_TCLASS = EOPNOTSUPP, ENOPROTOOPT, EOPNOTSUPP
            IPV6_TCLASS = 0, 0, 3
            SO_BROADCAST = 0, 0, 1
            SO_BROADCAST = 0, 0, 1
            TCP_NODELAY = EOPNOTSUPP, ENOPROTOOPT, EOPNOTSUPP
            TCP_NODELAY = ENOPROTOOPT, ENOPROTOOPT, ENOPROTOOPT
            IP_MTU_DISCOVER = EINVAL
            IP_TOS = 0
            which is = 3
        "#]],
    );
}

#[test]
fn a_call_that_would_wait_is_a_trouble() {
    check_trouble(
        |log| {
            let (fd, _) = bound(log);
            say!(log, recv(fd, null_mut(), 0, 0));
        },
        expect![[r#"
            recv(fd, null_mut(), 0, 0) = EAGAIN
            would wait: recv"#]],
    );
}
