//! Options, messages and readiness of Unix sockets.

use super::epoll::{add, ready};
use super::message::{header, part};
use super::option::{get, int, set};
use super::unix::{Place, accept, address, bits, close, connect_to, listener, pair, unix};
use super::{Outcome, check, check_trouble, recv, send};
use expect_test::expect;
use libc::{
    AF_UNIX, EPOLLET, EPOLLIN, EPOLLOUT, EPOLLRDHUP, MSG_NOSIGNAL, SOCK_NONBLOCK, SOL_SOCKET,
    socklen_t,
};

#[test]
fn options_of_unix_sockets() {
    check(
        |log| {
            let place = Place::new("options", false);
            let [one, _] = pair(log);
            let (fresh, fd) = (unix(log, 0), listener(log, &place, 1));
            for (name, fd) in [("pair", one), ("fresh", fresh), ("listener", fd)] {
                for option in [
                    libc::SO_TYPE,
                    libc::SO_DOMAIN,
                    libc::SO_PROTOCOL,
                    libc::SO_ACCEPTCONN,
                    libc::SO_ERROR,
                    libc::SO_KEEPALIVE,
                    libc::SO_REUSEADDR,
                    9999,
                ] {
                    log.note(&format!("{name} {option}"), int(fd, SOL_SOCKET, option));
                }
                let nobody = libc::ucred { pid: -7, uid: 7, gid: 7 };
                let (outcome, who, len) = get(fd, SOL_SOCKET, libc::SO_PEERCRED, nobody);
                let is_own = who.pid.cast_unsigned() == std::process::id();
                log.note("SO_PEERCRED", format!("{outcome} {len} {is_own} {}", who.pid == 0));
            }
        },
        expect![[r#"
            pair 3 = 1
            pair 39 = 1
            pair 38 = 0
            pair 30 = 0
            pair 4 = 0
            pair 9 = 0
            pair 2 = 0
            pair 9999 = ENOPROTOOPT (-77, length 4)
            SO_PEERCRED = 0 12 true false
            fresh 3 = 1
            fresh 39 = 1
            fresh 38 = 0
            fresh 30 = 0
            fresh 4 = 0
            fresh 9 = 0
            fresh 2 = 0
            fresh 9999 = ENOPROTOOPT (-77, length 4)
            SO_PEERCRED = 0 12 false true
            listener 3 = 1
            listener 39 = 1
            listener 38 = 0
            listener 30 = 1
            listener 4 = 0
            listener 9 = 0
            listener 2 = 0
            listener 9999 = ENOPROTOOPT (-77, length 4)
            SO_PEERCRED = 0 12 true false
        "#]],
    );
}

#[test]
fn options_that_unix_sockets_take() {
    check(
        |log| {
            let [one, _] = pair(log);
            for (level, name) in [(libc::IPPROTO_TCP, libc::TCP_NODELAY), (libc::IPPROTO_IP, 1)] {
                log.note(&format!("get {level}"), int(one, level, name));
                log.note(&format!("set {level}"), set(one, level, name, 1));
            }
            log.note("set", set(one, SOL_SOCKET, libc::SO_KEEPALIVE, 1));
            log.note("get", int(one, SOL_SOCKET, libc::SO_KEEPALIVE));
            log.note("set", set(one, SOL_SOCKET, 9999, 1));
            log.note("SO_SNDBUF", set(one, SOL_SOCKET, libc::SO_SNDBUF, 10_000));
            log.note("SO_SNDBUF", int(one, SOL_SOCKET, libc::SO_SNDBUF));
            log.note("SO_SNDBUF of 1", set(one, SOL_SOCKET, libc::SO_SNDBUF, 1));
            log.note("SO_SNDBUF", int(one, SOL_SOCKET, libc::SO_SNDBUF));
        },
        expect![[r#"
            get 6 = EOPNOTSUPP (-77, length 4)
            set 6 = EOPNOTSUPP
            get 0 = EOPNOTSUPP (-77, length 4)
            set 0 = EOPNOTSUPP
            set = 0
            get = 1
            set = ENOPROTOOPT
            SO_SNDBUF = 0
            SO_SNDBUF = 20000
            SO_SNDBUF of 1 = 0
            SO_SNDBUF = 4608
        "#]],
    );
}

#[test]
fn addresses_of_single_messages_are_not_taken() {
    check(
        |log| {
            let place = Place::new("single", false);
            let fd = listener(log, &place, 1);
            let [one, other] = pair(log);
            let (to, len) = address(&place.name);
            let (to, len) = ((&raw const to).cast(), len as socklen_t);
            for fd in [one, fd] {
                say!(log, sendto(fd, b"x".as_ptr().cast(), 1, MSG_NOSIGNAL, to, len));
                let mut byte = [b'y'];
                let mut parts = [part(&mut byte)];
                let mut message = header(&mut parts);
                (message.msg_name, message.msg_namelen) = (to.cast_mut().cast(), len);
                say!(log, sendmsg(fd, &message, MSG_NOSIGNAL));
            }
            say!(log, sendto(one, b"x".as_ptr().cast(), 1, MSG_NOSIGNAL, to, 0));
            let (mut one_byte, mut rest) = ([0_u8; 1], [b'.'; 4]);
            send(one, b"yz");
            let mut parts = [part(&mut one_byte), part(&mut rest)];
            let mut message = header(&mut parts);
            let (mut from, _) = address(b"from");
            (message.msg_name, message.msg_namelen) = ((&raw mut from).cast(), 110);
            say!(log, recvmsg(other, &mut message, 0));
            log.note("parts", format!("{} {}", one_byte.escape_ascii(), rest.escape_ascii()));
            log.note("the sender has no name", message.msg_namelen);
            let mut parts = [part(&mut one_byte), part(&mut rest)];
            say!(log, writev(other, parts.as_ptr(), 2));
            say!(log, readv(one, parts.as_mut_ptr(), 2));
        },
        expect![[r#"
            sendto(fd, b"x".as_ptr().cast(), 1, MSG_NOSIGNAL, to, len) = EISCONN
            sendmsg(fd, &message, MSG_NOSIGNAL) = EISCONN
            sendto(fd, b"x".as_ptr().cast(), 1, MSG_NOSIGNAL, to, len) = EOPNOTSUPP
            sendmsg(fd, &message, MSG_NOSIGNAL) = EOPNOTSUPP
            sendto(one, b"x".as_ptr().cast(), 1, MSG_NOSIGNAL, to, 0) = 1
            recvmsg(other, &mut message, 0) = 3
            parts = x yz..
            the sender has no name = 0
            writev(other, parts.as_ptr(), 2) = 5
            readv(one, parts.as_mut_ptr(), 2) = 5
        "#]],
    );
}

#[test]
fn edges_of_unix_sockets() {
    check(
        |log| {
            let epoll = log.keep(call!(epoll_create1(0)));
            let [one, other] = pair(log);
            let wanted = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
            add(epoll, one, wanted, 1);
            log.note("added", ready(epoll, 8));
            log.note("told", ready(epoll, 8));
            send(other, b"ab");
            log.note("bytes", ready(epoll, 8));
            send(other, b"cd");
            log.note("more bytes", ready(epoll, 8));
            recv(one, 0);
            log.note("read", ready(epoll, 8));
            send(one, b"ef");
            log.note("sent", ready(epoll, 8));
            recv(other, 0);
            log.note("the peer read", ready(epoll, 8));
            call!(shutdown(other, libc::SHUT_WR));
            log.note("the peer ended", ready(epoll, 8));
            call!(shutdown(one, libc::SHUT_WR));
            log.note("ended", ready(epoll, 8));
            close(log, other);
            log.note("the peer closed", ready(epoll, 8));
            log.note("told", ready(epoll, 8));
        },
        expect![[r#"
            added = 1:0x4
            told = 
            bytes = 1:0x5
            more bytes = 1:0x5
            read = 
            sent = 
            the peer read = 1:0x4
            the peer ended = 1:0x2005
            ended = 1:0x2015
            the peer closed = 1:0x2015
            told = 
        "#]],
    );
}

#[test]
fn edges_of_a_listener() {
    check(
        |log| {
            let place = Place::new("edges", false);
            let epoll = log.keep(call!(epoll_create1(0)));
            let fd = listener(log, &place, 8);
            add(epoll, fd, EPOLLIN | EPOLLET, 1);
            let dialed = unix(log, SOCK_NONBLOCK);
            add(epoll, dialed, EPOLLIN | EPOLLOUT | EPOLLET, 2);
            log.note("added", ready(epoll, 8));
            connect_to(dialed, &place);
            log.note("connected", ready(epoll, 8));
            connect_to(unix(log, 0), &place);
            log.note("another", ready(epoll, 8));
            let accepted = accept(log, fd);
            log.note("accepted", ready(epoll, 8));
            send(accepted, b"x");
            log.note("bytes", ready(epoll, 8));
            close(log, fd);
            log.note("the listener closed", ready(epoll, 8));
        },
        expect![[r#"
            added = 2:0x14
            connected = 1:0x1
            another = 1:0x1
            accepted = 
            bytes = 2:0x5
            the listener closed = 
        "#]],
    );
}

#[test]
fn a_sender_goes_ahead_of_its_reader_for_a_while() {
    check(
        |log| {
            let epoll = log.keep(call!(epoll_create1(0)));
            let [one, other] = pair(log);
            let bytes = vec![7_u8; 1 << 20];
            let first = call!(send(one, bytes.as_ptr().cast(), bytes.len(), MSG_NOSIGNAL));
            let sent = first.0.unwrap();
            log.note("a part is taken", (100_000..500_000).contains(&sent));
            log.note("then nothing", send(one, b"x"));
            log.note("poll", bits(one));
            add(epoll, one, EPOLLOUT | EPOLLET, 1);
            let mut place = vec![0_u8; 1 << 20];
            let read =
                |place: &mut [u8]| call!(read(other, place.as_mut_ptr().cast(), place.len()));
            let half = sent as usize / 2;
            log.note("half is read", read(&mut place[..half]).is_done());
            log.note("that is not enough", format!("{:?} {}", ready(epoll, 8), bits(one)));
            log.note("all is read", read(&mut place).0.unwrap() == sent - half as i64);
            log.note("that is", format!("{:?} {}", ready(epoll, 8), bits(one)));
            let count = (0..).take_while(|_| send(one, b"x") == Outcome(Ok(1))).count();
            log.note("small ones count more than their bytes", (100..1_000).contains(&count));
        },
        expect![[r#"
            a part is taken = true
            then nothing = EAGAIN
            poll = 0x0
            half is read = 0
            that is not enough = "" 0x0
            all is read = true
            that is = "1:0x4" 0x304
            small ones count more than their bytes = true
        "#]],
    );
}

#[test]
fn other_types_are_not_simulated() {
    check_trouble(
        |log| {
            let kind = libc::SOCK_DGRAM;
            say!(log, socket(AF_UNIX, kind, 0));
        },
        expect![[r#"
            socket(AF_UNIX, kind, 0) = EAFNOSUPPORT
            not simulated: socket: a Unix socket of a type other than SOCK_STREAM"#]],
    );
    check_trouble(
        |log| {
            let kind = libc::SOCK_SEQPACKET;
            let mut pair = [0; 2];
            say!(log, socketpair(AF_UNIX, kind, 0, pair.as_mut_ptr()));
        },
        expect![[r#"
            socketpair(AF_UNIX, kind, 0, pair.as_mut_ptr()) = EAFNOSUPPORT
            not simulated: socket: a Unix socket of a type other than SOCK_STREAM"#]],
    );
}

#[test]
fn control_messages_are_not_simulated() {
    check_trouble(
        |log| {
            let [one, _] = pair(log);
            let (mut byte, mut control) = ([b'x'], [0_u64; 4]);
            let mut parts = [part(&mut byte)];
            let mut message = header(&mut parts);
            message.msg_control = control.as_mut_ptr().cast();
            message.msg_controllen = 24;
            say!(log, sendmsg(one, &message, MSG_NOSIGNAL));
        },
        expect![[r#"
            sendmsg(one, &message, MSG_NOSIGNAL) = EOPNOTSUPP
            not simulated: sendmsg: a control message (SCM_RIGHTS, SCM_CREDENTIALS)"#]],
    );
}
