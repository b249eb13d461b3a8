//! `close`, `dup`, `fcntl` and `ioctl`.

use super::{Log, Outcome, check, check_simulated, recv, send};
use crate::kernel::DESCRIPTOR_MIN;
use expect_test::expect;
use libc::{
    F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_GETFL, F_SETFD, F_SETFL, FD_CLOEXEC, FIOCLEX, FIONBIO,
    FIONCLEX, FIONREAD, O_NONBLOCK, SOCK_NONBLOCK, TIOCOUTQ, c_int,
};
use std::ptr::null_mut;

#[test]
fn status_flags_are_set_and_told() {
    check(
        |log| {
            let socket = log.socket(0);
            let counter = log.keep(call!(eventfd(0, 0)));
            let epoll = log.keep(call!(epoll_create1(0)));
            for (name, fd) in [("socket", socket), ("eventfd", counter), ("epoll", epoll)] {
                log.note(name, call!(fcntl(fd, F_GETFL)));
                log.note("set O_NONBLOCK", call!(fcntl(fd, F_SETFL, O_NONBLOCK)));
                log.note(name, call!(fcntl(fd, F_GETFL)));
                // The access mode cannot be changed.
                log.note("set none", call!(fcntl(fd, F_SETFL, 0)));
                log.note(name, call!(fcntl(fd, F_GETFL)));
            }
            say!(log, fcntl(socket, 9999));
            say!(log, fcntl(-1, F_GETFL));
        },
        expect![[r#"
            socket = 2
            set O_NONBLOCK = 0
            socket = 2050
            set none = 0
            socket = 2
            eventfd = 2
            set O_NONBLOCK = 0
            eventfd = 2050
            set none = 0
            eventfd = 2
            epoll = 2
            set O_NONBLOCK = 0
            epoll = 2050
            set none = 0
            epoll = 2
            fcntl(socket, 9999) = EINVAL
            fcntl(-1, F_GETFL) = EBADF
        "#]],
    );
}

#[test]
fn descriptor_flags_are_of_the_descriptor() {
    check(
        |log| {
            let fd = log.socket(0);
            say!(log, fcntl(fd, F_SETFD, FD_CLOEXEC));
            let copy = log.keep(call!(dup(fd)));
            let plain = log.keep(call!(fcntl(fd, F_DUPFD, 0)));
            let closing = log.keep(call!(fcntl(fd, F_DUPFD_CLOEXEC, 0)));
            for fd in [fd, copy, plain, closing] {
                say!(log, fcntl(fd, F_GETFD));
            }
            say!(log, fcntl(fd, F_SETFD, 0));
            say!(log, fcntl(fd, F_GETFD));
            say!(log, ioctl(fd, FIOCLEX));
            say!(log, fcntl(fd, F_GETFD));
            say!(log, ioctl(fd, FIONCLEX));
            say!(log, fcntl(fd, F_GETFD));
            say!(log, fcntl(closing, F_GETFD));
            let epoll = log.keep(call!(epoll_create1(libc::EPOLL_CLOEXEC)));
            let counter = log.keep(call!(eventfd(0, libc::EFD_CLOEXEC)));
            say!(log, fcntl(epoll, F_GETFD));
            say!(log, fcntl(counter, F_GETFD));
        },
        expect![[r#"
            fcntl(fd, F_SETFD, FD_CLOEXEC) = 0
            fcntl(fd, F_GETFD) = 1
            fcntl(fd, F_GETFD) = 0
            fcntl(fd, F_GETFD) = 0
            fcntl(fd, F_GETFD) = 1
            fcntl(fd, F_SETFD, 0) = 0
            fcntl(fd, F_GETFD) = 0
            ioctl(fd, FIOCLEX) = 0
            fcntl(fd, F_GETFD) = 1
            ioctl(fd, FIONCLEX) = 0
            fcntl(fd, F_GETFD) = 0
            fcntl(closing, F_GETFD) = 1
            fcntl(epoll, F_GETFD) = 1
            fcntl(counter, F_GETFD) = 1
        "#]],
    );
}

#[test]
fn a_copy_is_the_same_file() {
    check(
        |log| {
            let [dialed, accepted] = log.pair();
            let copy = log.keep(call!(dup(accepted)));
            say!(log, fcntl(copy, F_SETFL, O_NONBLOCK));
            say!(log, fcntl(accepted, F_GETFL));
            log.note("send", send(dialed, b"abc"));
            super::poll(copy, libc::POLLIN);
            log.note("recv by the copy", recv(copy, 0));
            say!(log, fcntl(accepted, F_DUPFD, -1));
            say!(log, fcntl(accepted, F_DUPFD, i32::MAX));
            say!(log, dup(-1));
        },
        expect![[r#"
            fcntl(copy, F_SETFL, O_NONBLOCK) = 0
            fcntl(accepted, F_GETFL) = 2050
            send = 3
            recv by the copy = "abc"
            fcntl(accepted, F_DUPFD, -1) = EINVAL
            fcntl(accepted, F_DUPFD, i32::MAX) = EINVAL
            dup(-1) = EBADF
        "#]],
    );
}

#[test]
fn a_connection_ends_with_its_last_descriptor() {
    check(
        |log| {
            let (listener, address) = log.listener(0);
            let dialed = call!(socket(libc::AF_INET, libc::SOCK_STREAM, 0)).descriptor();
            super::connect(dialed, &address, 16);
            let accepted = log.keep(call!(accept(listener, null_mut(), null_mut())));
            let copy = call!(dup(dialed)).descriptor();
            log.note("close the first", call!(close(dialed)));
            log.note("recv", recv(accepted, libc::MSG_DONTWAIT));
            log.note("close the last", call!(close(copy)));
            super::poll(accepted, libc::POLLIN);
            log.note("recv", recv(accepted, libc::MSG_DONTWAIT));
        },
        expect![[r#"
            close the first = 0
            recv = EAGAIN
            close the last = 0
            recv = ""
        "#]],
    );
}

#[test]
fn a_copy_has_the_lowest_number_from_the_one_that_is_asked_for() {
    check_simulated(
        |log| {
            let fd = log.socket(0);
            let at = |copy: Outcome| copy.0.map(|copy| copy as c_int - fd);
            let mut copies = vec![];
            for from in [0, 3, DESCRIPTOR_MIN, fd, fd + 9, fd + 9] {
                let copy = call!(fcntl(fd, F_DUPFD, from));
                log.keep(copy);
                copies.push(at(copy));
            }
            let next = call!(dup(fd));
            log.keep(next);
            log.note("numbers past the first", format!("{copies:?}, {:?}", at(next)));
        },
        expect![[r#"
            numbers past the first = [Ok(1), Ok(2), Ok(3), Ok(4), Ok(9), Ok(10)], Ok(5)
        "#]],
    );
}

#[test]
fn ioctls_of_a_socket() {
    check(
        |log| {
            let [dialed, accepted] = log.pair();
            let mut value = -1;
            say!(log, ioctl(accepted, FIONREAD, &mut value));
            log.note("unread", value);
            send(dialed, b"hello");
            super::poll(accepted, libc::POLLIN);
            say!(log, ioctl(accepted, FIONREAD, &mut value));
            log.note("unread", value);
            say!(log, ioctl(accepted, FIONREAD, null_mut::<c_int>()));
            say!(log, ioctl(accepted, FIONBIO, null_mut::<c_int>()));
            value = 1;
            say!(log, ioctl(accepted, FIONBIO, &mut value));
            say!(log, fcntl(accepted, F_GETFL));
            value = 0;
            say!(log, ioctl(accepted, FIONBIO, &mut value));
            say!(log, fcntl(accepted, F_GETFL));
            say!(log, ioctl(accepted, 0x1234, &mut value));
            say!(log, ioctl(accepted, libc::TCGETS, null_mut::<libc::termios>()));
            say!(log, ioctl(-1, FIONREAD, &mut value));
            let fresh = log.socket(0);
            say!(log, ioctl(fresh, FIONREAD, &mut value));
            value = -1;
            say!(log, ioctl(fresh, TIOCOUTQ, &mut value));
            log.note("unsent", value);
            let (listener, _) = log.listener(0);
            say!(log, ioctl(listener, FIONREAD, &mut value));
            say!(log, ioctl(listener, TIOCOUTQ, &mut value));
        },
        expect![[r#"
            ioctl(accepted, FIONREAD, &mut value) = 0
            unread = 0
            ioctl(accepted, FIONREAD, &mut value) = 0
            unread = 5
            ioctl(accepted, FIONREAD, null_mut::<c_int>()) = EFAULT
            ioctl(accepted, FIONBIO, null_mut::<c_int>()) = EFAULT
            ioctl(accepted, FIONBIO, &mut value) = 0
            fcntl(accepted, F_GETFL) = 2050
            ioctl(accepted, FIONBIO, &mut value) = 0
            fcntl(accepted, F_GETFL) = 2
            ioctl(accepted, 0x1234, &mut value) = ENOTTY
            ioctl(accepted, libc::TCGETS, null_mut::<libc::termios>()) = ENOTTY
            ioctl(-1, FIONREAD, &mut value) = EBADF
            ioctl(fresh, FIONREAD, &mut value) = 0
            ioctl(fresh, TIOCOUTQ, &mut value) = 0
            unsent = 0
            ioctl(listener, FIONREAD, &mut value) = EINVAL
            ioctl(listener, TIOCOUTQ, &mut value) = EINVAL
        "#]],
    );
}

fn ioctls(log: &mut Log, fd: c_int) {
    let mut value = 1;
    say!(log, ioctl(fd, FIONREAD, &mut value));
    say!(log, ioctl(fd, FIONREAD, null_mut::<c_int>()));
    say!(log, ioctl(fd, TIOCOUTQ, &mut value));
    say!(log, ioctl(fd, 0x1234, &mut value));
    say!(log, ioctl(fd, FIONBIO, &mut value));
    say!(log, fcntl(fd, F_GETFL));
}

#[test]
fn ioctls_of_a_counter() {
    check(
        |log| {
            let counter = log.keep(call!(eventfd(5, 0)));
            ioctls(log, counter);
        },
        expect![[r#"
            ioctl(fd, FIONREAD, &mut value) = ENOTTY
            ioctl(fd, FIONREAD, null_mut::<c_int>()) = ENOTTY
            ioctl(fd, TIOCOUTQ, &mut value) = ENOTTY
            ioctl(fd, 0x1234, &mut value) = ENOTTY
            ioctl(fd, FIONBIO, &mut value) = 0
            fcntl(fd, F_GETFL) = 2050
        "#]],
    );
}

#[test]
fn ioctls_of_an_epoll_file_are_invalid() {
    // As seen on Linux 6.18. The man page says no more than that the request does not apply.
    check_simulated(
        |log| {
            let epoll = log.keep(call!(epoll_create1(0)));
            ioctls(log, epoll);
        },
        expect![[r#"
            ioctl(fd, FIONREAD, &mut value) = EINVAL
            ioctl(fd, FIONREAD, null_mut::<c_int>()) = EINVAL
            ioctl(fd, TIOCOUTQ, &mut value) = EINVAL
            ioctl(fd, 0x1234, &mut value) = EINVAL
            ioctl(fd, FIONBIO, &mut value) = 0
            fcntl(fd, F_GETFL) = 2050
        "#]],
    );
}

/// Every call on a descriptor that is closed.
fn calls_on(log: &mut Log, fd: c_int) {
    let mut value = 0_u64;
    let place = (&raw mut value).cast();
    say!(log, close(fd));
    say!(log, dup(fd));
    say!(log, fcntl(fd, F_GETFL));
    say!(log, fcntl(fd, F_SETFL, 0));
    say!(log, fcntl(fd, F_GETFD));
    say!(log, fcntl(fd, F_SETFD, 0));
    say!(log, fcntl(fd, F_DUPFD, 0));
    say!(log, fcntl(fd, 9999));
    say!(log, ioctl(fd, FIONREAD, null_mut::<c_int>()));
    say!(log, ioctl(fd, FIONBIO, null_mut::<c_int>()));
    say!(log, ioctl(fd, FIOCLEX));
    say!(log, ioctl(fd, 0x1234));
    say!(log, bind(fd, std::ptr::null(), 0));
    say!(log, connect(fd, std::ptr::null(), 0));
    say!(log, listen(fd, 1));
    say!(log, accept(fd, null_mut(), null_mut()));
    say!(log, accept4(fd, null_mut(), null_mut(), 1));
    say!(log, getsockname(fd, null_mut(), null_mut()));
    say!(log, getpeername(fd, null_mut(), null_mut()));
    say!(log, getsockopt(fd, 1, 2, null_mut(), null_mut()));
    say!(log, setsockopt(fd, 1, 2, std::ptr::null(), 0));
    say!(log, shutdown(fd, 99));
    say!(log, recv(fd, place, 8, libc::MSG_OOB));
    say!(log, send(fd, place, 8, libc::MSG_OOB));
    say!(log, recvfrom(fd, null_mut(), 8, 0, null_mut(), null_mut()));
    say!(log, sendto(fd, std::ptr::null(), 8, 0, std::ptr::null(), 0));
    say!(log, recvmsg(fd, null_mut(), 0));
    say!(log, sendmsg(fd, std::ptr::null(), 0));
    say!(log, read(fd, null_mut(), 8));
    say!(log, write(fd, std::ptr::null(), 8));
    say!(log, readv(fd, std::ptr::null(), -1));
    say!(log, writev(fd, std::ptr::null(), 2000));
    say!(log, epoll_ctl(fd, libc::EPOLL_CTL_DEL, fd, null_mut()));
    say!(log, epoll_wait(fd, null_mut(), 0, 0));
    say!(log, epoll_pwait(fd, null_mut(), 0, 0, std::ptr::null()));
    say!(log, epoll_pwait2(fd, null_mut(), 0, std::ptr::null(), std::ptr::null()));
}

#[track_caller]
fn expect_bad(log: &str) {
    let lines = log.lines().filter(|line| !line.ends_with("= EBADF"));
    assert_eq!(lines.collect::<Vec<_>>(), Vec::<&str>::new());
}

#[test]
fn no_call_takes_a_descriptor_that_was_never_opened() {
    expect_bad(&super::log_of(|log| calls_on(log, -1)));
}

#[test]
fn no_call_takes_a_closed_descriptor() {
    let (log, trouble) = super::inside(|| {
        super::log_of(|log| {
            let fd =
                call!(socket(libc::AF_INET, libc::SOCK_STREAM | SOCK_NONBLOCK, 0)).descriptor();
            assert_eq!(call!(close(fd)), Outcome(Ok(0)));
            calls_on(log, fd);
        })
    });
    expect_bad(&log);
    assert_eq!(trouble, None);
}

/// But for its end: what a run left to a static may be dropped after it, and std looks whether a
/// descriptor is open before it closes it.
#[test]
fn no_call_takes_a_simulated_descriptor_outside_a_run() {
    let logs = [
        super::log_of(|log| calls_on(log, DESCRIPTOR_MIN)),
        super::log_of(|log| calls_on(log, i32::MAX)),
    ];
    for log in logs {
        let (ends, others): (Vec<&str>, Vec<&str>) =
            log.lines().partition(|line: &&str| !line.ends_with("= EBADF"));
        assert_eq!(ends, ["close(fd) = 0", "fcntl(fd, F_GETFD) = 0"]);
        expect_bad(&others.join("\n"));
    }
}

#[test]
fn a_descriptor_of_no_host_is_bad() {
    let (log, _) = super::inside(|| super::log_of(|log| calls_on(log, i32::MAX)));
    expect_bad(&log);
}

#[test]
fn files_are_synced_and_sockets_are_not() {
    check(
        |log| {
            let path = c"/dev/shm".as_ptr();
            let file = log.keep(call!(open(path, libc::O_TMPFILE | libc::O_RDWR, 0o600)));
            say!(log, fsync(file));
            say!(log, fdatasync(file));
            let [socket, _] = log.pair();
            say!(log, fsync(socket));
            say!(log, fdatasync(socket));
            say!(log, fsync(-1));
        },
        expect![[r#"
            fsync(file) = 0
            fdatasync(file) = 0
            fsync(socket) = EINVAL
            fdatasync(socket) = EINVAL
            fsync(-1) = EBADF
        "#]],
    );
}
