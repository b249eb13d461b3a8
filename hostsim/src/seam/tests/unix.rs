//! Unix stream sockets: pairs, dials, bytes and ends.

use super::option::int;
use super::{Log, NO_ADDRESS, NOTHING, Outcome, check, check_trouble, recv, send};
use expect_test::expect;
use libc::{
    AF_UNIX, MSG_NOSIGNAL, SOCK_NONBLOCK, SOCK_STREAM, SOL_SOCKET, c_int, sa_family_t, sockaddr_un,
    socklen_t,
};
use std::ffi::CString;
use std::mem::{offset_of, size_of};
use std::ptr::null_mut;

pub(super) const OFFSET: usize = offset_of!(sockaddr_un, sun_path);

/// A name that sockets may be bound to, of this process alone.
pub(super) struct Place {
    pub(super) name: Vec<u8>,
}

impl Place {
    /// A name in the folder of temporary files, or an abstract one.
    pub(super) fn new(name: &str, is_path: bool) -> Place {
        let own =
            format!("hostsim-{}-{:?}-{name}", std::process::id(), std::thread::current().id());
        let path = std::env::temp_dir().join(&own).into_os_string().into_encoded_bytes();
        Place { name: if is_path { path } else { format!("\0{own}").into_bytes() } }
    }

    pub(super) fn path(&self) -> CString {
        CString::new(self.name.clone()).expect("a path has no zero")
    }

    /// Removes the path, as `unlink`; an abstract name has none.
    pub(super) fn remove(&self) -> Outcome {
        if self.name[0] == 0 {
            return Outcome(Ok(7));
        }
        call!(unlink(self.path().as_ptr()))
    }
}

/// The address of a name, and its length.
pub(super) fn address(name: &[u8]) -> (sockaddr_un, usize) {
    let mut address = sockaddr_un { sun_family: AF_UNIX as sa_family_t, sun_path: [0; 108] };
    for (to, from) in address.sun_path.iter_mut().zip(name) {
        *to = from.cast_signed() as libc::c_char;
    }
    (address, OFFSET + name.len())
}

pub(super) fn bind_to(fd: c_int, place: &Place) -> Outcome {
    let (address, len) = address(&place.name);
    super::bind(fd, &address, len)
}

pub(super) fn connect_to(fd: c_int, place: &Place) -> Outcome {
    let (address, len) = address(&place.name);
    super::connect(fd, &address, len)
}

/// The name of a socket or of its peer: its length, and its last three bytes.
pub(super) fn address_of(fd: c_int, is_peer: bool) -> String {
    let (mut place, _) = address(&[b'.'; 108]);
    let mut len = size_of::<sockaddr_un>() as socklen_t;
    let into = (&raw mut place).cast();
    let done = match is_peer {
        true => call!(getpeername(fd, into, &mut len)),
        false => call!(getsockname(fd, into, &mut len)),
    };
    if done != Outcome(Ok(0)) {
        return done.to_string();
    }
    let name: Vec<u8> = place.sun_path[..len as usize - OFFSET].iter().map(|b| *b as u8).collect();
    let last = &name[name.len().saturating_sub(3)..];
    let kind = match name.first() {
        None => "unnamed",
        Some(0) => "abstract",
        Some(_) => "path",
    };
    format!("{kind} {}", last.escape_ascii())
}

pub(super) fn unix(log: &mut Log, flags: c_int) -> c_int {
    log.keep(call!(socket(AF_UNIX, SOCK_STREAM | flags, 0)))
}

/// A pair of sockets, both without waiting.
pub(super) fn pair(log: &mut Log) -> [c_int; 2] {
    let mut pair = [0; 2];
    let kind = SOCK_STREAM | SOCK_NONBLOCK;
    assert_eq!(call!(socketpair(AF_UNIX, kind, 0, pair.as_mut_ptr())), Outcome(Ok(0)));
    log.opened.extend(pair);
    pair
}

/// Closes a descriptor before the end of the script.
pub(super) fn close(log: &mut Log, fd: c_int) {
    log.opened.retain(|opened| *opened != fd);
    assert_eq!(call!(close(fd)), Outcome(Ok(0)));
}

/// A listener without waiting, at a place.
pub(super) fn listener(log: &mut Log, place: &Place, backlog: c_int) -> c_int {
    let fd = unix(log, SOCK_NONBLOCK);
    assert_eq!(bind_to(fd, place), Outcome(Ok(0)));
    assert_eq!(call!(listen(fd, backlog)), Outcome(Ok(0)));
    fd
}

pub(super) fn accept(log: &mut Log, fd: c_int) -> c_int {
    log.keep(call!(accept4(fd, NO_ADDRESS, null_mut(), SOCK_NONBLOCK)))
}

/// What a poll for everything reports.
pub(super) fn bits(fd: c_int) -> String {
    let mut entry = libc::pollfd { fd, events: -1, revents: 0 };
    call!(poll(&mut entry, 1, 0));
    format!("{:#x}", entry.revents)
}

#[test]
fn a_pair_is_checked_flags_then_place_then_family_then_type() {
    check(
        |log| {
            let mut pair = [0; 2];
            let into = pair.as_mut_ptr();
            say!(log, socketpair(AF_UNIX, SOCK_STREAM | 0x100, 0, null_mut()));
            say!(log, socketpair(-1, SOCK_STREAM, 0, null_mut()));
            say!(log, socketpair(-1, SOCK_STREAM, 0, into));
            say!(log, socketpair(libc::AF_INET, SOCK_STREAM, 0, into));
            say!(log, socketpair(AF_UNIX, SOCK_STREAM, 7, into));
            say!(log, socketpair(AF_UNIX, 7, 0, into));
            say!(log, socketpair(AF_UNIX, 11, 0, into));
            say!(log, socket(AF_UNIX, SOCK_STREAM, 7));
            say!(log, socket(AF_UNIX, 7, 0));
            say!(log, socket(AF_UNIX, 11, 0));
            for kind in [SOCK_STREAM, SOCK_STREAM | SOCK_NONBLOCK | libc::SOCK_CLOEXEC] {
                say!(log, socketpair(AF_UNIX, kind, libc::PF_UNIX, into));
                log.opened.extend(pair);
                log.note("F_GETFL", call!(fcntl(pair[1], libc::F_GETFL)));
                log.note("F_GETFD", call!(fcntl(pair[1], libc::F_GETFD)));
            }
        },
        expect![[r#"
            socketpair(AF_UNIX, SOCK_STREAM | 0x100, 0, null_mut()) = EINVAL
            socketpair(-1, SOCK_STREAM, 0, null_mut()) = EFAULT
            socketpair(-1, SOCK_STREAM, 0, into) = EAFNOSUPPORT
            socketpair(libc::AF_INET, SOCK_STREAM, 0, into) = EOPNOTSUPP
            socketpair(AF_UNIX, SOCK_STREAM, 7, into) = EPROTONOSUPPORT
            socketpair(AF_UNIX, 7, 0, into) = ESOCKTNOSUPPORT
            socketpair(AF_UNIX, 11, 0, into) = EINVAL
            socket(AF_UNIX, SOCK_STREAM, 7) = EPROTONOSUPPORT
            socket(AF_UNIX, 7, 0) = ESOCKTNOSUPPORT
            socket(AF_UNIX, 11, 0) = EINVAL
            socketpair(AF_UNIX, kind, libc::PF_UNIX, into) = 0
            F_GETFL = 2
            F_GETFD = 0
            socketpair(AF_UNIX, kind, libc::PF_UNIX, into) = 0
            F_GETFL = 2050
            F_GETFD = 1
        "#]],
    );
}

#[test]
fn a_pair_carries_bytes_both_ways() {
    check(
        |log| {
            let [one, other] = pair(log);
            log.note("idle", bits(one));
            log.note("recv", recv(one, 0));
            log.note("send", send(one, b"hel"));
            log.note("send", send(one, b"lo"));
            log.note("send", send(other, b"back"));
            log.note("bytes", bits(other));
            let mut count: c_int = 0;
            log.note("FIONREAD", call!(ioctl(other, libc::FIONREAD, &mut count)));
            log.note("bytes", count);
            log.note("peek", recv(other, libc::MSG_PEEK));
            log.note("recv with MSG_TRUNC", recv(other, libc::MSG_TRUNC));
            log.note("recv", recv(other, 0));
            log.note("back", recv(one, libc::MSG_WAITALL));
            log.note("recv with MSG_OOB", recv(one, libc::MSG_OOB));
            log.note("the error queue is no queue", recv(one, libc::MSG_ERRQUEUE));
            say!(log, send(one, NOTHING, 0, MSG_NOSIGNAL));
            say!(log, send(one, NOTHING, 1, MSG_NOSIGNAL));
            say!(log, recv(one, null_mut(), 1, 0));
            say!(log, recv(one, null_mut(), 0, 0));
            say!(log, read(one, null_mut(), 0));
        },
        expect![[r#"
            idle = 0x304
            recv = EAGAIN
            send = 3
            send = 2
            send = 4
            bytes = 0x345
            FIONREAD = 0
            bytes = 5
            peek = "hello"
            recv with MSG_TRUNC = "hello"
            recv = EAGAIN
            back = "back"
            recv with MSG_OOB = EINVAL
            the error queue is no queue = EAGAIN
            send(one, NOTHING, 0, MSG_NOSIGNAL) = 0
            send(one, NOTHING, 1, MSG_NOSIGNAL) = EFAULT
            recv(one, null_mut(), 1, 0) = EAGAIN
            recv(one, null_mut(), 0, 0) = EAGAIN
            read(one, null_mut(), 0) = 0
        "#]],
    );
}

#[test]
fn a_close_is_seen_at_once() {
    check(
        |log| {
            let [one, other] = pair(log);
            send(other, b"last");
            close(log, other);
            log.note("poll", bits(one));
            log.note("send", send(one, b"x"));
            say!(log, send(one, NOTHING, 0, MSG_NOSIGNAL));
            log.note("recv", recv(one, 0));
            log.note("recv", recv(one, 0));
            log.note("SO_ERROR", int(one, SOL_SOCKET, libc::SO_ERROR));
            say!(log, shutdown(one, libc::SHUT_RDWR));
            log.note("the peer's name", address_of(one, true));
        },
        expect![[r#"
            poll = 0x2355
            send = EPIPE
            send(one, NOTHING, 0, MSG_NOSIGNAL) = EPIPE
            recv = "last"
            recv = ""
            SO_ERROR = 0
            shutdown(one, libc::SHUT_RDWR) = 0
            the peer's name = unnamed 
        "#]],
    );
}

#[test]
fn a_close_with_bytes_unread_resets() {
    check(
        |log| {
            for order in ["recv", "send", "SO_ERROR"] {
                let [one, other] = pair(log);
                send(one, b"unread");
                send(other, b"last");
                close(log, other);
                log.note("poll", bits(one));
                log.note("bytes come first", recv(one, 0));
                match order {
                    "recv" => log.note("recv", recv(one, 0)),
                    "send" => log.note("send", send(one, b"x")),
                    _ => log.note("SO_ERROR", int(one, SOL_SOCKET, libc::SO_ERROR)),
                }
                log.note("poll", bits(one));
                log.note("recv", recv(one, 0));
                log.note("recv", recv(one, 0));
                log.note("send", send(one, b"x"));
            }
        },
        expect![[r#"
            poll = 0x235d
            bytes come first = "last"
            recv = ECONNRESET
            poll = 0x2355
            recv = ""
            recv = ""
            send = EPIPE
            poll = 0x235d
            bytes come first = "last"
            send = EPIPE
            poll = 0x235d
            recv = ECONNRESET
            recv = ""
            send = EPIPE
            poll = 0x235d
            bytes come first = "last"
            SO_ERROR = 104
            poll = 0x2355
            recv = ""
            recv = ""
            send = EPIPE
        "#]],
    );
}

#[test]
fn a_shutdown_ends_the_peers_other_direction() {
    check(
        |log| {
            for how in [libc::SHUT_RD, libc::SHUT_WR, libc::SHUT_RDWR] {
                let [one, other] = pair(log);
                send(one, b"to other");
                send(other, b"to one");
                log.note("shutdown", call!(shutdown(one, how)));
                log.note("polls", format!("{} {}", bits(one), bits(other)));
                for (name, fd) in [("one", one), ("other", other)] {
                    log.note(name, format!("send {}", send(fd, b"x")));
                    log.note(name, format!("recv {} {}", recv(fd, 0), recv(fd, 0)));
                }
            }
            let fresh = unix(log, 0);
            say!(log, shutdown(fresh, 3));
            say!(log, shutdown(fresh, libc::SHUT_WR));
        },
        expect![[r#"
            shutdown = 0
            polls = 0x2345 0x345
            one = send 1
            one = recv "to one" ""
            other = send EPIPE
            other = recv "to other" "x"
            shutdown = 0
            polls = 0x345 0x2345
            one = send EPIPE
            one = recv "to one" EAGAIN
            other = send 1
            other = recv "to other" ""
            shutdown = 0
            polls = 0x2355 0x2355
            one = send EPIPE
            one = recv "to one" ""
            other = send EPIPE
            other = recv "to other" ""
            shutdown(fresh, 3) = EINVAL
            shutdown(fresh, libc::SHUT_WR) = 0
        "#]],
    );
}

#[test]
fn what_is_not_connected_carries_nothing() {
    check(
        |log| {
            let place = Place::new("nothing", false);
            let (fresh, fd) = (unix(log, SOCK_NONBLOCK), listener(log, &place, 1));
            for fd in [fresh, fd] {
                log.note("poll", bits(fd));
                log.note("send", send(fd, b"x"));
                log.note("recv", recv(fd, 0));
                log.note("recv with MSG_OOB", recv(fd, libc::MSG_OOB));
                say!(log, read(fd, null_mut(), 0));
                log.note("the peer's name", address_of(fd, true));
                let mut count: c_int = -7;
                log.note("FIONREAD", call!(ioctl(fd, libc::FIONREAD, &mut count)));
            }
            say!(log, accept(fresh, NO_ADDRESS, null_mut()));
            say!(log, accept(fd, NO_ADDRESS, null_mut()));
            let [one, _] = pair(log);
            say!(log, accept(one, NO_ADDRESS, null_mut()));
            say!(log, listen(one, 1));
            say!(log, listen(fresh, 1));
        },
        expect![[r#"
            poll = 0x314
            send = ENOTCONN
            recv = EINVAL
            recv with MSG_OOB = EINVAL
            read(fd, null_mut(), 0) = 0
            the peer's name = ENOTCONN
            FIONREAD = 0
            poll = 0x0
            send = ENOTCONN
            recv = EINVAL
            recv with MSG_OOB = EINVAL
            read(fd, null_mut(), 0) = 0
            the peer's name = ENOTCONN
            FIONREAD = EINVAL
            accept(fresh, NO_ADDRESS, null_mut()) = EINVAL
            accept(fd, NO_ADDRESS, null_mut()) = EAGAIN
            accept(one, NO_ADDRESS, null_mut()) = EINVAL
            listen(one, 1) = EINVAL
            listen(fresh, 1) = EINVAL
        "#]],
    );
}

#[test]
fn a_dial_is_over_at_once() {
    check(
        |log| {
            let place = Place::new("dial", false);
            let early = unix(log, SOCK_NONBLOCK);
            log.note("nobody has the name", connect_to(early, &place));
            let fd = unix(log, SOCK_NONBLOCK);
            bind_to(fd, &place);
            log.note("nobody listens", connect_to(early, &place));
            say!(log, listen(fd, 0));
            log.note("connect", connect_to(early, &place));
            log.note("polls", format!("{} {}", bits(early), bits(fd)));
            let late = unix(log, SOCK_NONBLOCK);
            log.note("the backlog is full", connect_to(late, &place));
            log.note("of one that is connected too", connect_to(early, &place));
            log.note("send before the accept", send(early, b"early"));
            let accepted = accept(log, fd);
            log.note("recv", recv(accepted, 0));
            log.note("there is room", connect_to(late, &place));
            log.note("once more", connect_to(early, &place));
            call!(listen(fd, 5));
            log.note("once more", connect_to(early, &place));
            log.note("of the listener", connect_to(fd, &place));
            say!(log, shutdown(fd, libc::SHUT_RD));
            log.note("poll", bits(fd));
            let last = unix(log, 0);
            log.note("it takes no more", connect_to(last, &place));
            accept(log, fd);
            say!(log, accept(fd, NO_ADDRESS, null_mut()));
            call!(fcntl(fd, libc::F_SETFL, 0));
            say!(log, accept(fd, NO_ADDRESS, null_mut()));
        },
        expect![[r#"
            nobody has the name = ECONNREFUSED
            nobody listens = ECONNREFUSED
            listen(fd, 0) = 0
            connect = 0
            polls = 0x304 0x41
            the backlog is full = EAGAIN
            of one that is connected too = EAGAIN
            send before the accept = 5
            recv = "early"
            there is room = 0
            once more = EAGAIN
            once more = EISCONN
            of the listener = EINVAL
            shutdown(fd, libc::SHUT_RD) = 0
            poll = 0x2041
            it takes no more = ECONNREFUSED
            accept(fd, NO_ADDRESS, null_mut()) = EAGAIN
            accept(fd, NO_ADDRESS, null_mut()) = EINVAL
        "#]],
    );
}

#[test]
fn a_listener_that_goes_resets_its_backlog() {
    check(
        |log| {
            let place = Place::new("goes", false);
            let fd = listener(log, &place, 5);
            let dialed = [0; 2].map(|flags| unix(log, flags | SOCK_NONBLOCK));
            for fd in dialed {
                connect_to(fd, &place);
            }
            let accepted = accept(log, fd);
            close(log, fd);
            log.note("polls", format!("{} {}", bits(dialed[0]), bits(dialed[1])));
            log.note("accepted", send(accepted, b"on"));
            log.note("its peer", recv(dialed[0], 0));
            log.note("the one that waited", recv(dialed[1], 0));
            log.note("then", recv(dialed[1], 0));
            log.note("and", send(dialed[1], b"x"));
            let last = unix(log, 0);
            log.note("the name is free", connect_to(last, &place));
            listener(log, &place, 1);
        },
        expect![[r#"
            polls = 0x304 0x235d
            accepted = 2
            its peer = "on"
            the one that waited = ECONNRESET
            then = ""
            and = EPIPE
            the name is free = ECONNREFUSED
        "#]],
    );
}

#[test]
fn a_full_backlog_would_be_waited_for() {
    check_trouble(
        |log| {
            let place = Place::new("full", false);
            listener(log, &place, 0);
            for _ in 0..2 {
                let fd = unix(log, 0);
                log.note("connect", connect_to(fd, &place));
            }
        },
        expect![[r#"
            connect = 0
            connect = EAGAIN
            would wait: connect"#]],
    );
}
