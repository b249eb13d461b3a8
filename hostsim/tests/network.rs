//! Calls on a network, without programs: each test is one thing that once went wrong, or that a
//! random walk seldom reaches.

#[path = "network/pair.rs"]
mod pair;

use hostsim::address::Domain;
use hostsim::errno::Errno;
use hostsim::kernel::{Interest, Linger};
use hostsim::network::{Change, OptionName, OptionValue};
use hostsim::tcp::{Direction, Readiness};
use pair::{EDGE, Pair};
use std::net::SocketAddr;
use std::time::Duration;

const IN: u32 = libc::EPOLLIN as u32;
const OUT: u32 = libc::EPOLLOUT as u32;
const RESET: Linger = Linger { is_on: true, time: Duration::ZERO };

fn size(name: i32) -> OptionName {
    OptionName { level: libc::SOL_SOCKET, name }
}

#[test]
fn a_dialer_learns_that_the_listener_went_during_its_handshake() {
    let mut pair = Pair::new();
    let (listener, dialer) = (pair.listen(8), pair.dial());
    pair.step();
    pair.network.close(listener).unwrap();
    pair.rest();
    assert_eq!(pair.read(dialer), Err(Errno::ECONNRESET));
    pair.end(&[dialer]);
}

#[test]
fn an_end_that_is_reset_leaves_nothing_although_an_acknowledgment_is_on_its_way() {
    let mut pair = Pair::new();
    let (listener, dialer, accepted) = pair.connect();
    pair.network.set_option(dialer, size(libc::SO_LINGER), OptionValue::Linger(RESET)).unwrap();
    pair.network.send(dialer, b"x").unwrap();
    pair.step();
    pair.network.close(dialer).unwrap();
    pair.rest();
    pair.end(&[listener, accepted]);
}

#[test]
fn an_end_whose_fin_waits_for_the_window_resets_where_it_is_aborted() {
    let mut pair = Pair::with_buffers(9, 1);
    let (listener, dialer, accepted) = pair.connect();
    pair.network.send(dialer, b"a").unwrap();
    pair.rest();
    pair.network.send(dialer, b"b").unwrap();
    pair.network.shutdown(dialer, Direction::Write).unwrap();
    pair.network.shutdown(accepted, Direction::Write).unwrap();
    pair.rest();
    pair.network.set_option(dialer, size(libc::SO_LINGER), OptionValue::Linger(RESET)).unwrap();
    pair.network.close(dialer).unwrap();
    pair.rest();
    assert_eq!(pair.read(accepted), Ok(1));
    assert_eq!(pair.read(accepted), Err(Errno::ECONNRESET));
    pair.end(&[listener, accepted]);
}

#[test]
fn a_larger_send_buffer_wakes_who_waits_for_room() {
    let mut pair = Pair::with_buffers(100, 100);
    let (listener, dialer, accepted) = pair.connect();
    let epoll = pair.watch(dialer);
    while pair.network.send(dialer, &[0; 100]).is_ok() {
        pair.rest();
    }
    pair.collect(epoll);
    pair.network.set_option(dialer, size(libc::SO_SNDBUF), OptionValue::Int(10_000)).unwrap();
    assert_eq!(pair.collect(epoll), OUT);
    pair.end(&[listener, dialer, accepted, epoll]);
}

#[test]
fn a_larger_receive_buffer_opens_the_window() {
    let mut pair = Pair::with_buffers(200, 100);
    let (listener, dialer, accepted) = pair.connect();
    pair.network.send(dialer, &[0; 200]).unwrap();
    pair.rest();
    assert_eq!(pair.network.unread(accepted), Ok(100));
    pair.network.set_option(accepted, size(libc::SO_RCVBUF), OptionValue::Int(10_000)).unwrap();
    pair.rest();
    assert_eq!(pair.network.unread(accepted), Ok(200));
    pair.end(&[listener, dialer, accepted]);
}

#[test]
fn a_watch_outlives_its_descriptor_while_a_copy_keeps_the_file_open() {
    let mut pair = Pair::new();
    let (listener, dialer, accepted) = pair.connect();
    let epoll = pair.watch(accepted);
    pair.collect(epoll);
    let copy = pair.network.duplicate(accepted, 0).unwrap();
    pair.network.close(accepted).unwrap();
    // The number names another file now, which is watched, unwatched and watched by itself.
    let other = pair.socket(pair.server);
    assert_eq!(other, accepted);
    let add = Change::Add(Interest { events: EDGE, data: 1 });
    pair.network.control(epoll, other.to_raw(), add).unwrap();
    pair.network.control(epoll, other.to_raw(), Change::Delete).unwrap();
    let again = pair.network.control(epoll, other.to_raw(), Change::Delete);
    assert_eq!(again, Err(Errno::ENOENT));
    pair.network.send(dialer, b"x").unwrap();
    pair.rest();
    assert_eq!(pair.collect(epoll), IN | OUT);
    pair.end(&[listener, dialer, copy, other, epoll]);
}

#[test]
fn a_dial_into_a_full_backlog_is_given_up_after_127_seconds() {
    let mut pair = Pair::new();
    let listener = pair.listen(0);
    let first = pair.dial();
    pair.rest();
    let second = pair.dial();
    assert_eq!(pair.rest(), 127);
    assert_eq!(pair.network.connect(second, pair.address), Err(Errno::ETIMEDOUT));
    pair.end(&[listener, first, second]);
}

#[test]
fn a_dial_of_127_retries_waits_two_minutes_between_them_in_the_end() {
    let mut pair = Pair::new();
    let listener = pair.listen(0);
    let first = pair.dial();
    pair.rest();
    let second = pair.socket(pair.client);
    let count = OptionName { level: libc::IPPROTO_TCP, name: libc::TCP_SYNCNT };
    pair.network.set_option(second, count, OptionValue::Int(127)).unwrap();
    pair.network.connect(second, pair.address).unwrap_err();
    assert_eq!(pair.rest(), 127 + 121 * 120);
    pair.end(&[listener, first, second]);
}

#[test]
fn a_dial_that_was_closed_asks_a_full_backlog_no_more() {
    let mut pair = Pair::new();
    let listener = pair.listen(0);
    let first = pair.dial();
    pair.rest();
    let second = pair.dial();
    pair.network.close(second).unwrap();
    assert_eq!(pair.rest(), 0);
    pair.end(&[listener, first]);
}

#[test]
fn a_socket_dials_anew_after_a_dial_that_failed() {
    let mut pair = Pair::new();
    let dialer = pair.dial();
    pair.rest();
    assert_eq!(pair.network.connect(dialer, pair.address), Err(Errno::ECONNREFUSED));
    let listener = pair.listen(8);
    assert_eq!(pair.network.connect(dialer, pair.address), Err(Errno::EINPROGRESS));
    pair.rest();
    assert_eq!(pair.network.connect(dialer, pair.address), Ok(()));
    assert_eq!(pair.network.connect(dialer, pair.address), Err(Errno::EISCONN));
    pair.end(&[dialer, listener]);
}

#[test]
fn a_connection_that_was_reset_is_connected_as_far_as_connect_can_tell() {
    let mut pair = Pair::new();
    let (listener, dialer, accepted) = pair.connect();
    pair.network.connect(dialer, pair.address).unwrap();
    pair.network.set_option(accepted, size(libc::SO_LINGER), OptionValue::Linger(RESET)).unwrap();
    pair.network.close(accepted).unwrap();
    pair.rest();
    assert_eq!(pair.network.connect(dialer, pair.address), Err(Errno::EISCONN));
    pair.end(&[listener, dialer]);
}

#[test]
fn a_shutdown_gives_up_a_dial_that_goes_on() {
    let mut pair = Pair::new();
    let listener = pair.listen(8);
    let dialer = pair.dial();
    let epoll = pair.watch(dialer);
    assert_eq!(pair.network.shutdown(dialer, Direction::Write), Ok(()));
    assert_eq!(pair.collect(epoll) & libc::EPOLLERR as u32, libc::EPOLLERR as u32);
    pair.rest();
    assert_eq!(pair.network.accept(listener, true), Err(Errno::EAGAIN));
    assert_eq!(pair.network.send(dialer, b"x"), Err(Errno::ECONNRESET));
    assert_eq!(pair.network.send(dialer, b"x"), Err(Errno::EPIPE));
    pair.end(&[listener, dialer, epoll]);
}

#[test]
fn a_listener_that_was_shut_down_listens_again() {
    let mut pair = Pair::new();
    let listener = pair.listen(8);
    pair.network.shutdown(listener, Direction::Both).unwrap();
    assert_eq!(pair.network.accept(listener, true), Err(Errno::EINVAL));
    assert_eq!(pair.network.local_address(listener), Ok(pair.address));
    pair.network.listen(listener, 8).unwrap();
    let dialer = pair.dial();
    pair.rest();
    let (accepted, _) = pair.network.accept(listener, true).unwrap();
    pair.end(&[listener, dialer, accepted]);
}

#[test]
fn two_dials_from_one_port_to_one_address_are_not_both_a_connection() {
    let mut pair = Pair::new();
    let listener = pair.listen(8);
    let reuse = size(libc::SO_REUSEADDR);
    let local = SocketAddr::new(pair.network.address(pair.client), 9);
    let [first, second] = [(); 2].map(|()| {
        let socket = pair.socket(pair.client);
        pair.network.set_option(socket, reuse, OptionValue::Int(1)).unwrap();
        pair.network.bind(socket, local).unwrap();
        socket
    });
    assert_eq!(pair.network.connect(first, pair.address), Err(Errno::EINPROGRESS));
    assert_eq!(pair.network.connect(second, pair.address), Err(Errno::EADDRNOTAVAIL));
    pair.network.close(first).unwrap();
    pair.rest();
    assert_eq!(pair.network.connect(second, pair.address), Err(Errno::EINPROGRESS));
    pair.rest();
    pair.end(&[listener, second]);
}

#[test]
fn loopback_is_no_address_to_dial_another_host_from() {
    let mut pair = Pair::new();
    let dialer = pair.socket(pair.client);
    pair.network.bind(dialer, "127.0.0.1:0".parse().unwrap()).unwrap();
    assert_eq!(pair.network.connect(dialer, pair.address), Err(Errno::EINVAL));
    pair.end(&[dialer]);
}

#[test]
fn a_long_stream_each_way_passes_windows_of_one_byte() {
    let mut pair = Pair::with_buffers(1, 1);
    let (listener, dialer, accepted) = pair.connect();
    let mut read = [0; 2];
    for round in 0..20_000_u32 {
        for (index, (from, to)) in [(dialer, accepted), (accepted, dialer)].into_iter().enumerate()
        {
            if pair.network.send(from, &[round as u8]).is_ok() {
                pair.rest();
            }
            read[index] += pair.read(to).unwrap_or(0);
        }
    }
    assert_eq!(read, [20_000; 2]);
    pair.end(&[listener, dialer, accepted]);
}

#[test]
fn a_shutdown_behind_a_closed_window_ends_the_stream_once_it_opens() {
    let mut pair = Pair::with_buffers(9, 1);
    let (listener, dialer, accepted) = pair.connect();
    assert_eq!(pair.network.send(dialer, b"a"), Ok(1));
    pair.rest();
    assert_eq!(pair.network.send(dialer, b"b"), Ok(1));
    pair.network.shutdown(dialer, Direction::Write).unwrap();
    pair.network.close(dialer).unwrap();
    pair.rest();
    for expected in [Ok(1), Ok(1), Ok(0), Ok(0)] {
        assert_eq!(pair.read(accepted), expected);
        pair.rest();
    }
    pair.end(&[listener, accepted]);
}

#[test]
fn two_ends_that_close_at_once_both_read_the_end() {
    let mut pair = Pair::new();
    let (listener, dialer, accepted) = pair.connect();
    for at in [dialer, accepted] {
        pair.network.send(at, b"bye").unwrap();
        pair.network.shutdown(at, Direction::Write).unwrap();
    }
    pair.rest();
    for at in [dialer, accepted] {
        assert_eq!((pair.read(at), pair.read(at)), (Ok(3), Ok(0)));
        assert_eq!(pair.network.poll(at).unwrap().0 & Readiness::HUP.0, Readiness::HUP.0);
    }
    pair.end(&[listener, dialer, accepted]);
}

#[test]
fn a_host_dials_out_of_ports_and_then_on_once_some_are_free() {
    let mut pair = Pair::new();
    let mut dialers = Vec::new();
    let error = loop {
        let dialer = pair.socket(pair.client);
        let error = pair.network.connect(dialer, pair.address).unwrap_err();
        dialers.push(dialer);
        if error != Errno::EINPROGRESS {
            break error;
        }
    };
    assert_eq!((error, dialers.len()), (Errno::EADDRNOTAVAIL, 14_117));
    for dialer in dialers {
        pair.network.close(dialer).unwrap();
    }
    while let Some(due) = pair.network.agenda().earliest() {
        pair.network.advance(due.max(pair.network.now().next()));
        let event = pair.network.take(0);
        pair.network.deliver(event.key);
    }
    let dialer = pair.dial();
    pair.rest();
    pair.end(&[dialer]);
}

#[test]
fn a_host_out_of_descriptors_accepts_once_one_is_free() {
    let mut pair = Pair::new();
    let (listener, dialer) = (pair.listen(8), pair.dial());
    pair.rest();
    let mut open = Vec::new();
    while let Ok(copy) = pair.network.duplicate(listener, 0) {
        open.push(copy);
    }
    assert_eq!(pair.network.accept(listener, true), Err(Errno::EMFILE));
    assert_eq!(pair.network.socket(pair.server, Domain::V4, true), Err(Errno::EMFILE));
    assert_eq!(pair.network.epoll(pair.server), Err(Errno::EMFILE));
    pair.network.close(open.pop().unwrap()).unwrap();
    let (accepted, _) = pair.network.accept(listener, true).unwrap();
    for copy in open {
        pair.network.close(copy).unwrap();
    }
    pair.end(&[listener, dialer, accepted]);
}

#[test]
fn an_epoll_file_watches_no_descriptor_of_another_host() {
    let mut pair = Pair::new();
    let epoll = pair.network.epoll(pair.client).unwrap();
    let foreign = pair.socket(pair.server);
    let add = Change::Add(Interest { events: EDGE, data: 0 });
    assert_eq!(pair.network.control(epoll, foreign.to_raw(), add), Err(Errno::EBADF));
    pair.end(&[epoll, foreign]);
}
