//! Descriptors of the real kernel, and threads without a run: every symbol falls through.
#![expect(clippy::disallowed_methods, reason = "threads that are outside a run are real ones")]

use super::{Log, NO_ADDRESS, Outcome, connect, inside, poll, recv, send};
use crate::fleet::Fleet;
use crate::seam::raw::NO_MESSAGE;
use expect_test::expect;
use libc::{c_int, c_void, iovec};
use std::ptr::null_mut;

/// Real descriptors that were opened outside a run.
#[derive(Clone, Copy)]
struct Real {
    pipe: [c_int; 2],
    listener: c_int,
    pair: [c_int; 2],
    counter: c_int,
    epoll: c_int,
}

impl Real {
    fn open(log: &mut Log) -> Real {
        let mut pipe = [0; 2];
        assert_eq!(call!(pipe2(pipe.as_mut_ptr(), libc::O_CLOEXEC)), Outcome(Ok(0)));
        log.opened.extend(pipe);
        let (listener, _) = log.listener(0);
        let pair = log.pair();
        let counter = log.keep(call!(eventfd(3, 0)));
        let epoll = log.keep(call!(epoll_create1(0)));
        Real { pipe, listener, pair, counter, epoll }
    }

    /// Uses each descriptor by every call.
    fn script(self, log: &mut Log) {
        self.use_pipe(log);
        self.use_sockets(log);
        self.use_epoll(log);
    }

    fn use_pipe(self, log: &mut Log) {
        let [out, into] = self.pipe;
        let mut bytes = *b"hello";
        let place: *mut c_void = bytes.as_mut_ptr().cast();
        let part = iovec { iov_base: place, iov_len: 5 };
        say!(log, write(into, place, 5));
        say!(log, writev(into, &part, 1));
        let mut unread = 0;
        say!(log, ioctl(out, libc::FIONREAD, &mut unread));
        log.note("unread", unread);
        log.note("poll", poll(out, libc::POLLIN));
        say!(log, read(out, place, 5));
        say!(log, readv(out, &part, 1));
        say!(log, fcntl(out, libc::F_GETFD));
        let copy = call!(dup(out)).descriptor();
        log.note("the copy is real", copy < crate::kernel::DESCRIPTOR_MIN);
        say!(log, fcntl(copy, libc::F_SETFL, libc::O_NONBLOCK));
        say!(log, read(out, place, 5));
        say!(log, fcntl(copy, libc::F_SETFL, 0));
        say!(log, close(copy));
    }

    fn use_sockets(self, log: &mut Log) {
        let [dialed, accepted] = self.pair;
        log.note("send", send(dialed, b"hello"));
        poll(accepted, libc::POLLIN);
        log.note("recv", recv(accepted, libc::MSG_PEEK));
        let mut bytes = [0_u8; 8];
        let place: *mut c_void = bytes.as_mut_ptr().cast();
        say!(log, recvfrom(accepted, place, 8, 0, NO_ADDRESS, null_mut()));
        say!(log, sendto(accepted, place, 8, 0, std::ptr::null(), 0));
        poll(dialed, libc::POLLIN);
        let mut part = iovec { iov_base: place, iov_len: 8 };
        let mut header = libc::msghdr { msg_iov: &raw mut part, msg_iovlen: 1, ..NO_MESSAGE };
        say!(log, recvmsg(dialed, &mut header, 0));
        say!(log, sendmsg(dialed, &header, 0));
        let address = super::local_address(self.listener);
        log.note("connect", connect(dialed, &address, 16));
        log.note("bind", super::bind(dialed, &address, 16));
        let (mut peer, mut len) = ([0_u8; 16], 16);
        say!(log, getpeername(dialed, peer.as_mut_ptr().cast(), &mut len));
        let (mut value, mut len) = (0, 4);
        let into = (&raw mut value).cast();
        say!(log, getsockopt(dialed, libc::SOL_SOCKET, libc::SO_TYPE, into, &mut len));
        say!(log, setsockopt(dialed, libc::IPPROTO_TCP, libc::TCP_NODELAY, into, 4));
        say!(log, listen(self.listener, 3));
        say!(log, fcntl(self.listener, libc::F_SETFL, libc::O_NONBLOCK));
        say!(log, accept(self.listener, NO_ADDRESS, null_mut()));
        say!(log, accept4(self.listener, NO_ADDRESS, null_mut(), 0));
        say!(log, shutdown(accepted, libc::SHUT_WR));
    }

    fn use_epoll(self, log: &mut Log) {
        let mut event = libc::epoll_event { events: libc::EPOLLIN as u32, u64: 9 };
        say!(log, epoll_ctl(self.epoll, libc::EPOLL_CTL_ADD, self.counter, &mut event));
        say!(log, epoll_wait(self.epoll, &mut event, 1, 0));
        say!(log, epoll_pwait(self.epoll, &mut event, 1, 0, std::ptr::null()));
        let time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        say!(log, epoll_pwait2(self.epoll, &mut event, 1, &time, std::ptr::null()));
        let mut word = 0_u64;
        say!(log, read(self.counter, (&raw mut word).cast(), 8));
        say!(log, epoll_wait(self.epoll, &mut event, 1, 0));
        // A real epoll file cannot watch what the real kernel does not have.
        let simulated = crate::kernel::DESCRIPTOR_MIN;
        say!(log, epoll_ctl(self.epoll, libc::EPOLL_CTL_ADD, simulated, &mut event));
    }
}

fn use_real() -> String {
    let mut log = Log::default();
    Real::open(&mut log).script(&mut log);
    std::mem::take(&mut log.text)
}

#[test]
fn real_descriptors_work_outside_a_run_and_in_a_machines_turn() {
    let outside = use_real();
    expect![[r#"
        write(into, place, 5) = 5
        writev(into, &part, 1) = 5
        ioctl(out, libc::FIONREAD, &mut unread) = 0
        unread = 10
        poll = 1
        read(out, place, 5) = 5
        readv(out, &part, 1) = 5
        fcntl(out, libc::F_GETFD) = 1
        the copy is real = true
        fcntl(copy, libc::F_SETFL, libc::O_NONBLOCK) = 0
        read(out, place, 5) = EAGAIN
        fcntl(copy, libc::F_SETFL, 0) = 0
        close(copy) = 0
        send = 5
        recv = "hello"
        recvfrom(accepted, place, 8, 0, NO_ADDRESS, null_mut()) = 5
        sendto(accepted, place, 8, 0, std::ptr::null(), 0) = 8
        recvmsg(dialed, &mut header, 0) = 8
        sendmsg(dialed, &header, 0) = 8
        connect = EISCONN
        bind = EINVAL
        getpeername(dialed, peer.as_mut_ptr().cast(), &mut len) = 0
        getsockopt(dialed, libc::SOL_SOCKET, libc::SO_TYPE, into, &mut len) = 0
        setsockopt(dialed, libc::IPPROTO_TCP, libc::TCP_NODELAY, into, 4) = 0
        listen(self.listener, 3) = 0
        fcntl(self.listener, libc::F_SETFL, libc::O_NONBLOCK) = 0
        accept(self.listener, NO_ADDRESS, null_mut()) = EAGAIN
        accept4(self.listener, NO_ADDRESS, null_mut(), 0) = EAGAIN
        shutdown(accepted, libc::SHUT_WR) = 0
        epoll_ctl(self.epoll, libc::EPOLL_CTL_ADD, self.counter, &mut event) = 0
        epoll_wait(self.epoll, &mut event, 1, 0) = 1
        epoll_pwait(self.epoll, &mut event, 1, 0, std::ptr::null()) = 1
        epoll_pwait2(self.epoll, &mut event, 1, &time, std::ptr::null()) = 1
        read(self.counter, (&raw mut word).cast(), 8) = 8
        epoll_wait(self.epoll, &mut event, 1, 0) = 0
        epoll_ctl(self.epoll, libc::EPOLL_CTL_ADD, simulated, &mut event) = EBADF
    "#]]
    .assert_eq(&outside);
    let mut log = Log::default();
    let real = Real::open(&mut log);
    let (inside, trouble) = inside(move || {
        let mut log = Log::default();
        real.script(&mut log);
        std::mem::take(&mut log.text)
    });
    assert_eq!((inside, trouble), (outside, None));
}

#[test]
fn another_thread_is_outside_the_run() {
    let outside = use_real();
    let fleet = Fleet::start(&["client"]).expect("machines start");
    let world = crate::seam::current().expect("the fleet is current here");
    let other = std::thread::spawn(|| (crate::seam::current().is_none(), use_real()));
    assert_eq!(other.join().expect("it ends"), (true, outside.clone()));
    // Nor does a world without a machine's turn open anything of its own.
    assert_eq!((world.host(), use_real()), (None, outside));
    drop(fleet);
}

#[test]
fn poll_takes_real_and_simulated_descriptors_together() {
    let mut log = Log::default();
    let real = Real::open(&mut log);
    call!(write(real.pipe[1], b"x".as_ptr().cast(), 1));
    let (told, trouble) = inside(move || log_of_poll(real));
    expect![[r#"
        poll(entries.as_mut_ptr(), 4, 1000) = 2
        pipe, socket, counter, none = [1, 0, 1, 0]
    "#]]
    .assert_eq(&told);
    assert_eq!(trouble, None);
}

fn log_of_poll(real: Real) -> String {
    let mut log = Log::default();
    let full = log.keep(call!(eventfd(1, 0)));
    let mut entries = [real.pipe[0], real.pair[0], full, -1].map(|fd| libc::pollfd {
        fd,
        events: libc::POLLIN,
        revents: 0x55,
    });
    say!(log, poll(entries.as_mut_ptr(), 4, 1000));
    log.note("pipe, socket, counter, none", format!("{:x?}", entries.map(|entry| entry.revents)));
    std::mem::take(&mut log.text)
}

#[test]
fn threads_outside_a_run_are_real() {
    let _fleet = Fleet::start(&["client"]).expect("machines start");
    // One that waited for a machine to be idle would never be joined.
    assert_eq!(std::thread::spawn(|| 7).join().expect("it ends"), 7);
}

#[test]
fn a_closed_descriptor_is_closed_once() {
    super::check_simulated(
        |log| {
            let fd = call!(socket(libc::AF_INET, libc::SOCK_STREAM, 0)).descriptor();
            say!(log, close(fd));
            say!(log, close(fd));
        },
        expect![[r#"
            close(fd) = 0
            close(fd) = EBADF
        "#]],
    );
}
