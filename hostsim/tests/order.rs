//! Orders on connections, without programs: resets, dials, accepting, pace and pieces.

#[allow(dead_code, reason = "another test uses the rest")]
#[path = "network/pair.rs"]
mod pair;

use hostsim::errno::Errno;
use hostsim::network::{Dials, Pace};
use pair::{EDGE, Pair};
use std::time::Duration;

#[test]
fn a_reset_of_one_end_is_found_by_the_other_when_it_sends() {
    let mut pair = Pair::new();
    let (listener, dialer, accepted) = pair.connect();
    let (wire, side) = pair.network.wire_of(dialer).unwrap().unwrap();
    pair.network.reset_end(wire, side);
    pair.rest();
    assert_eq!(pair.read(dialer), Err(Errno::ECONNRESET));
    assert_eq!(pair.read(accepted), Err(Errno::EAGAIN));
    pair.network.send(accepted, b"x").unwrap();
    pair.rest();
    assert_eq!(pair.read(accepted), Err(Errno::ECONNRESET));
    pair.end(&[listener, dialer, accepted]);
}

#[test]
fn a_reset_meets_bytes_under_way() {
    let mut pair = Pair::new();
    let (listener, dialer, accepted) = pair.connect();
    for at in [dialer, accepted] {
        pair.network.send(at, b"x").unwrap();
    }
    let (wire, _) = pair.network.wire_of(dialer).unwrap().unwrap();
    pair.network.reset(wire);
    pair.rest();
    for at in [dialer, accepted] {
        assert_eq!(pair.read(at), Err(Errno::ECONNRESET));
        assert_eq!(pair.read(at), Ok(0));
    }
    pair.end(&[listener, dialer, accepted]);
}

#[test]
fn a_reset_during_a_handshake_refuses_the_dial_and_leaves_the_backlog_empty() {
    for steps in 0..3 {
        let mut pair = Pair::new();
        let (listener, dialer) = (pair.listen(8), pair.dial());
        (0..steps).for_each(|_| assert!(pair.step()));
        let (wire, _) = pair.network.wire_of(dialer).unwrap().unwrap();
        pair.network.reset(wire);
        pair.rest();
        let error = if steps < 2 { Errno::ECONNREFUSED } else { Errno::ECONNRESET };
        assert_eq!(pair.read(dialer), Err(error), "after {steps}");
        assert_eq!(pair.network.accept(listener, true).err(), Some(Errno::EAGAIN));
        pair.end(&[listener, dialer]);
    }
}

#[test]
fn dials_are_refused_or_dropped_until_they_are_open_again() {
    let mut pair = Pair::new();
    let listener = pair.listen(8);
    pair.network.set_dials(pair.server, Dials::Refused);
    let refused = pair.dial();
    pair.rest();
    assert_eq!(pair.read(refused), Err(Errno::ECONNREFUSED));
    pair.network.set_dials(pair.server, Dials::Dropped);
    let dropped = pair.dial();
    while pair.network.now().elapsed() < Duration::from_secs(2) {
        pair.step();
    }
    assert_eq!(pair.read(dropped), Err(Errno::EAGAIN));
    pair.network.set_dials(pair.server, Dials::Open);
    pair.rest();
    pair.network.peer_address(dropped).unwrap();
    pair.end(&[listener, refused, dropped]);
}

#[test]
fn who_may_not_accept_is_woken_once_it_may() {
    let mut pair = Pair::new();
    let listener = pair.listen(8);
    let epoll = pair.watch(listener);
    pair.network.set_accepting(pair.server, false);
    let dialer = pair.dial();
    pair.rest();
    assert_eq!(pair.collect(epoll), 0);
    assert_eq!(pair.network.accept(listener, true), Err(Errno::EAGAIN));
    pair.network.peer_address(dialer).unwrap();
    pair.network.set_accepting(pair.server, true);
    assert_eq!(pair.collect(epoll) & EDGE, libc::EPOLLIN as u32);
    let (accepted, _) = pair.network.accept(listener, true).unwrap();
    pair.network.close(epoll).unwrap();
    pair.end(&[listener, dialer, accepted]);
}

#[test]
fn a_paced_direction_delivers_so_many_bytes_each_so_often() {
    let mut pair = Pair::new();
    let (listener, dialer, accepted) = pair.connect();
    let (wire, side) = pair.network.wire_of(dialer).unwrap().unwrap();
    let pace = Pace { bytes: 10, every: Duration::from_secs(1) };
    pair.network.set_pace(wire, side, Some(pace));
    pair.network.send(dialer, &[7; 35]).unwrap();
    assert_eq!(pair.rest(), 3, "four pieces take three seconds");
    assert_eq!(pair.read(accepted), Ok(35));
    pair.end(&[listener, dialer, accepted]);
}

#[test]
fn segments_in_pieces_make_reads_short_and_lose_nothing() {
    let mut pair = Pair::new();
    let (listener, dialer, accepted) = pair.connect();
    let sent: Vec<u8> = (0..100).collect();
    pair.network.send(dialer, &sent).unwrap();
    let (mut read, mut counts) = (Vec::new(), Vec::new());
    while let Some(due) = pair.network.agenda().earliest() {
        pair.network.advance(due.max(pair.network.now().next()));
        let event = pair.network.take(0);
        let half = pair.network.next_length(event.key) / 2;
        pair.network.cut_next(event.key, half);
        pair.network.deliver(event.key);
        pair.network.check_invariants();
        let mut bytes = [0; 200];
        if let Ok(count) = pair.network.receive(accepted, &mut bytes, false) {
            counts.push(count);
            read.extend_from_slice(&bytes[..count]);
        }
    }
    assert_eq!(counts, [50, 25, 12, 6, 3, 2, 1, 1]);
    assert_eq!(read, sent);
    pair.end(&[listener, dialer, accepted]);
}
