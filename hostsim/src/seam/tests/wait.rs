//! Calls that would wait: the machine has one thread only, so each is a trouble that names it.

use super::{Log, NO_ADDRESS, check_trouble, connect, inside, log_of, recv, send};
use crate::fleet::Fleet;
use crate::world::Trouble;
use expect_test::expect;
use libc::{MSG_WAITALL, iovec, pollfd};
use std::ptr::null_mut;

#[test]
fn a_blocking_recv_would_wait() {
    check_trouble(
        |log| {
            let [fd, _] = log.pair();
            log.note("recv", recv(fd, 0));
        },
        expect![[r#"
            recv = EAGAIN
            would wait: recv"#]],
    );
}

#[test]
fn a_blocking_recv_of_more_than_is_there_would_wait_where_it_wants_all() {
    check_trouble(
        |log| {
            let [fd, peer] = log.pair();
            send(peer, b"abc");
            log.note("recv", recv(fd, MSG_WAITALL));
        },
        expect![[r#"
            recv = "abc"
            would wait: recv"#]],
    );
}

#[test]
fn a_recv_that_wants_all_has_it_at_the_end_of_the_stream() {
    super::check(
        |log| {
            let [fd, peer] = log.pair();
            send(peer, b"12345678");
            log.note("recv", recv(fd, MSG_WAITALL));
            send(peer, b"abc");
            call!(shutdown(peer, libc::SHUT_WR));
            log.note("recv", recv(fd, MSG_WAITALL));
            log.note("recv", recv(fd, MSG_WAITALL));
        },
        expect![[r#"
            recv = "12345678"
            recv = "abc"
            recv = ""
        "#]],
    );
}

#[test]
fn a_blocking_read_of_an_empty_counter_would_wait() {
    check_trouble(
        |log| {
            let fd = log.keep(call!(eventfd(0, 0)));
            let mut word = 0_u64;
            say!(log, read(fd, (&raw mut word).cast(), 8));
        },
        expect![[r#"
            read(fd, (&raw mut word).cast(), 8) = EAGAIN
            would wait: read"#]],
    );
}

#[test]
fn a_blocking_write_to_a_full_counter_would_wait() {
    check_trouble(
        |log| {
            let fd = log.keep(call!(eventfd(1, 0)));
            let word = u64::MAX - 1;
            say!(log, write(fd, (&raw const word).cast(), 8));
        },
        expect![[r#"
            write(fd, (&raw const word).cast(), 8) = EAGAIN
            would wait: write"#]],
    );
}

#[test]
fn a_blocking_send_without_room_would_wait() {
    check_trouble(
        |log| {
            let [fd, _] = log.pair();
            let bytes = vec![0; 64 << 20];
            let sent = send(fd, &bytes).0;
            log.note("a part is sent", sent.is_ok_and(|sent| 0 < sent && sent < 64 << 20));
        },
        expect![[r#"
            a part is sent = true
            would wait: send"#]],
    );
}

#[test]
fn a_blocking_writev_without_room_would_wait() {
    check_trouble(
        |log| {
            let [fd, _] = log.pair();
            let mut bytes = vec![0_u8; 64 << 20];
            let part = iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
            let sent = call!(writev(fd, [part, part].as_ptr(), 2)).0;
            log.note("a part is sent", sent.is_ok_and(|sent| 0 < sent && sent < 64 << 20));
        },
        expect![[r#"
            a part is sent = true
            would wait: send"#]],
    );
}

#[test]
fn a_blocking_accept_would_wait() {
    check_trouble(
        |log| {
            let (fd, _) = log.listener(0);
            say!(log, accept(fd, NO_ADDRESS, null_mut()));
        },
        expect![[r#"
            accept(fd, NO_ADDRESS, null_mut()) = EAGAIN
            would wait: accept"#]],
    );
}

#[test]
fn a_poll_with_a_timeout_would_wait() {
    check_trouble(
        |log| {
            let (fd, _) = log.listener(0);
            let mut entry = pollfd { fd, events: libc::POLLIN, revents: 0 };
            say!(log, poll(&mut entry, 1, 1000));
        },
        expect![[r#"
            poll(&mut entry, 1, 1000) = 0
            would wait: poll"#]],
    );
}

#[test]
fn an_epoll_of_the_programs_own_would_wait() {
    check_trouble(
        |log| {
            let fd = log.keep(call!(epoll_create1(0)));
            let mut event = libc::epoll_event { events: 0, u64: 0 };
            say!(log, epoll_wait(fd, &mut event, 1, 0));
            say!(log, epoll_wait(fd, &mut event, 1, 1000));
        },
        expect![[r#"
            epoll_wait(fd, &mut event, 1, 0) = 0
            epoll_wait(fd, &mut event, 1, 1000) = 0
            would wait: epoll_wait"#]],
    );
}

#[test]
fn a_blocking_connect_to_another_host_would_wait() {
    let mut fleet = Fleet::start(&["client", "server"]).expect("machines start");
    let (client, server) = (fleet.host("client"), fleet.address("server"));
    fleet.spawn("client", async move {
        let mut log = Log::default();
        let fd = log.socket(0);
        let std::net::IpAddr::V4(ip) = server else { panic!("hosts have IPv4 addresses") };
        let mut address = super::loopback(7);
        address.sin_addr.s_addr = u32::from_ne_bytes(ip.octets());
        let outcome = connect(fd, &address, 16);
        assert_eq!(outcome.0, Err(libc::EALREADY));
    });
    let trouble = fleet.step().expect_err("the dial would wait");
    assert_eq!(trouble, Trouble::WouldBlock { host: client, call: "connect" });
}

#[test]
fn without_waiting_there_is_no_trouble() {
    let (_, trouble) = inside(|| {
        log_of(|log| {
            let [fd, peer] = log.pair();
            recv(fd, libc::MSG_DONTWAIT);
            recv(fd, libc::MSG_DONTWAIT | MSG_WAITALL);
            send(peer, b"abc");
            recv(fd, libc::MSG_DONTWAIT | MSG_WAITALL);
            call!(fcntl(fd, libc::F_SETFL, libc::O_NONBLOCK));
            recv(fd, MSG_WAITALL);
            let bytes = vec![0; 64 << 20];
            send(fd, &bytes);
            send(fd, &bytes);
            let mut entry = pollfd { fd, events: libc::POLLIN, revents: 0 };
            call!(poll(&mut entry, 1, 0));
            let fd = log.keep(call!(eventfd(0, libc::EFD_NONBLOCK)));
            let mut word = 0_u64;
            call!(read(fd, (&raw mut word).cast(), 8));
        })
    });
    assert_eq!(trouble, None);
}
