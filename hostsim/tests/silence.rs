//! Silence between hosts, without programs: what is lost, when it is sent again, and who gives up.

#[allow(dead_code, reason = "another test uses the rest")]
#[path = "network/pair.rs"]
mod pair;

use hostsim::errno::Errno;
use hostsim::kernel::{Descriptor, Linger};
use hostsim::network::{Census, OptionName, OptionValue};
use hostsim::tcp::Direction;
use pair::Pair;
use std::time::Duration;

const RESET: OptionValue = OptionValue::Linger(Linger { is_on: true, time: Duration::ZERO });

fn set(pair: &mut Pair, at: Descriptor, (level, name): (i32, i32), value: OptionValue) {
    pair.network.set_option(at, OptionName { level, name }, value).unwrap();
}

/// Lets time pass, with what happens meanwhile.
fn pass(pair: &mut Pair, time: Duration) {
    let end = pair.network.now() + time;
    while pair.network.agenda().earliest().is_some_and(|due| due <= end) {
        pair.step();
    }
    pair.network.advance(end);
}

/// Cuts both ways between the hosts, or heals them.
fn part(pair: &mut Pair, is_cut: bool) {
    for (from, to) in [(pair.client, pair.server), (pair.server, pair.client)] {
        match is_cut {
            true => pair.network.cut(from, to),
            false => pair.network.heal(from, to),
        }
    }
    pair.network.check_invariants();
}

fn millis_until_rest(pair: &mut Pair) -> u128 {
    let start = pair.network.now();
    pair.rest();
    pair.network.now().since(start).as_millis()
}

#[test]
fn bytes_that_nobody_acknowledges_are_given_up_after_924_seconds() {
    let mut pair = Pair::new();
    let (listener, dialer, accepted) = pair.connect();
    part(&mut pair, true);
    pair.network.send(dialer, b"x").unwrap();
    // The last retransmission before the limit, with the round trip of 2 ms in each wait.
    assert_eq!(millis_until_rest(&mut pair), 926_848);
    assert_eq!(pair.read(dialer), Err(Errno::ETIMEDOUT));
    assert_eq!(pair.read(dialer), Ok(0));
    // The peer has heard nothing and lives on; after the heal its bytes meet a closed port.
    part(&mut pair, false);
    assert_eq!(pair.read(accepted), Err(Errno::EAGAIN));
    pair.network.send(accepted, b"y").unwrap();
    pair.rest();
    assert_eq!(pair.read(accepted), Err(Errno::ECONNRESET));
    pair.end(&[listener, dialer, accepted]);
}

#[test]
fn an_end_that_its_program_closed_gives_up_after_102_seconds() {
    let mut pair = Pair::new();
    let (listener, dialer, accepted) = pair.connect();
    part(&mut pair, true);
    pair.network.send(dialer, b"x").unwrap();
    pair.network.close(dialer).unwrap();
    assert_eq!(millis_until_rest(&mut pair), 103_424);
    part(&mut pair, false);
    pair.network.send(accepted, b"y").unwrap();
    pair.rest();
    assert_eq!(pair.read(accepted), Err(Errno::ECONNRESET));
    pair.end(&[listener, accepted]);
}

#[test]
fn what_was_lost_comes_with_the_first_retransmission_after_the_heal_and_in_order() {
    let mut pair = Pair::new();
    let (listener, dialer, accepted) = pair.connect();
    part(&mut pair, true);
    pair.network.send(dialer, b"ab").unwrap();
    pass(&mut pair, Duration::from_millis(500));
    pair.network.send(dialer, b"cd").unwrap();
    pair.network.shutdown(dialer, Direction::Write).unwrap();
    part(&mut pair, false);
    // Sent again 808 ms after the first time, that is in 308 ms; then one way of 1 ms.
    pass(&mut pair, Duration::from_millis(308));
    assert_eq!(pair.read(accepted), Err(Errno::EAGAIN));
    pass(&mut pair, Duration::from_millis(1));
    let mut bytes = [0; 8];
    assert_eq!(pair.network.receive(accepted, &mut bytes, false), Ok(4));
    assert_eq!(&bytes[..4], b"abcd");
    assert_eq!(pair.read(accepted), Ok(0));
    pair.rest();
    pair.end(&[listener, dialer, accepted]);
}

#[test]
fn a_second_cut_before_the_retransmission_does_not_shorten_its_wait() {
    let mut pair = Pair::new();
    let (listener, dialer, accepted) = pair.connect();
    part(&mut pair, true);
    pair.network.send(dialer, b"x").unwrap();
    pass(&mut pair, Duration::from_millis(1_700));
    part(&mut pair, false);
    part(&mut pair, true);
    part(&mut pair, false);
    // 202 ms doubled four times, less what passed.
    pass(&mut pair, Duration::from_millis(3_232 - 1_700));
    assert_eq!(pair.read(accepted), Err(Errno::EAGAIN));
    pass(&mut pair, Duration::from_millis(1));
    assert_eq!(pair.read(accepted), Ok(1));
    pair.rest();
    pair.end(&[listener, dialer, accepted]);
}

#[test]
fn a_reset_into_silence_is_lost_and_the_peer_learns_of_it_when_it_says_something() {
    let mut pair = Pair::new();
    let (listener, dialer, accepted) = pair.connect();
    set(&mut pair, dialer, (libc::SOL_SOCKET, libc::SO_LINGER), RESET);
    part(&mut pair, true);
    pair.network.send(dialer, b"x").unwrap();
    pair.network.close(dialer).unwrap();
    part(&mut pair, false);
    pair.rest();
    assert_eq!(pair.read(accepted), Err(Errno::EAGAIN));
    pair.network.send(accepted, b"y").unwrap();
    pair.rest();
    assert_eq!(pair.read(accepted), Err(Errno::ECONNRESET));
    pair.end(&[listener, accepted]);
}

#[test]
fn an_idle_connection_survives_a_cut_and_keepalive_does_not() {
    let mut pair = Pair::new();
    let (listener, dialer, accepted) = pair.connect();
    part(&mut pair, true);
    assert!(!pair.step(), "nothing is pending");
    let number = |value| OptionValue::Int(value);
    set(&mut pair, accepted, (libc::SOL_SOCKET, libc::SO_KEEPALIVE), number(1));
    set(&mut pair, accepted, (libc::IPPROTO_TCP, libc::TCP_KEEPIDLE), number(10));
    set(&mut pair, accepted, (libc::IPPROTO_TCP, libc::TCP_KEEPINTVL), number(5));
    set(&mut pair, accepted, (libc::IPPROTO_TCP, libc::TCP_KEEPCNT), number(3));
    pair.rest();
    assert_eq!(pair.read(accepted), Err(Errno::ETIMEDOUT));
    assert_eq!(pair.network.now().elapsed().as_secs(), 25);
    part(&mut pair, false);
    assert_eq!(pair.read(dialer), Err(Errno::EAGAIN));
    pair.network.send(dialer, b"x").unwrap();
    pair.rest();
    assert_eq!(pair.read(dialer), Err(Errno::ECONNRESET));
    pair.end(&[listener, dialer, accepted]);
}

#[test]
fn probes_that_were_answered_before_the_cut_count_for_nothing() {
    let mut pair = Pair::new();
    let (listener, dialer, accepted) = pair.connect();
    set(&mut pair, dialer, (libc::SOL_SOCKET, libc::SO_KEEPALIVE), OptionValue::Int(1));
    set(&mut pair, dialer, (libc::IPPROTO_TCP, libc::TCP_KEEPIDLE), OptionValue::Int(10));
    set(&mut pair, dialer, (libc::IPPROTO_TCP, libc::TCP_KEEPINTVL), OptionValue::Int(1));
    pass(&mut pair, Duration::from_secs(35));
    part(&mut pair, true);
    // The last answer came at 30 s: ten idle seconds, then nine probes.
    let until = millis_until_rest(&mut pair);
    assert!((13_900..14_100).contains(&until), "{until} ms");
    assert_eq!(pair.read(dialer), Err(Errno::ETIMEDOUT));
    pair.network.close(dialer).unwrap();
    part(&mut pair, false);
    pair.network.send(accepted, b"x").unwrap();
    pair.rest();
    pair.end(&[listener, accepted]);
}

#[test]
fn an_end_that_hears_nothing_and_is_heard_resets_its_peer_where_its_probes_fail() {
    let mut pair = Pair::new();
    let (listener, dialer, accepted) = pair.connect();
    set(&mut pair, dialer, (libc::SOL_SOCKET, libc::SO_KEEPALIVE), OptionValue::Int(1));
    pair.network.set_deaf(dialer, true).unwrap();
    pair.rest();
    assert_eq!(pair.read(dialer), Err(Errno::ETIMEDOUT));
    assert_eq!(pair.read(accepted), Err(Errno::ECONNRESET));
    pair.end(&[listener, dialer, accepted]);
}

#[test]
fn acknowledgments_that_are_lost_are_missed() {
    let mut pair = Pair::new();
    let (listener, dialer, accepted) = pair.connect();
    pair.network.cut(pair.server, pair.client);
    pair.network.send(dialer, b"x").unwrap();
    pass(&mut pair, Duration::from_secs(1));
    assert_eq!(pair.read(accepted), Ok(1));
    let limit = OptionValue::Int(1_500);
    set(&mut pair, dialer, (libc::IPPROTO_TCP, libc::TCP_USER_TIMEOUT), limit);
    pass(&mut pair, Duration::from_millis(499));
    assert_eq!(pair.read(dialer), Err(Errno::EAGAIN));
    pass(&mut pair, Duration::from_millis(2));
    assert_eq!(pair.read(dialer), Err(Errno::ETIMEDOUT));
    pair.network.heal(pair.server, pair.client);
    pair.network.close(accepted).unwrap();
    pair.rest();
    pair.end(&[listener, dialer]);
}

#[test]
fn an_acknowledgment_in_time_after_a_heal_stops_the_timers() {
    let mut pair = Pair::new();
    let (listener, dialer, accepted) = pair.connect();
    pair.network.cut(pair.server, pair.client);
    pair.network.send(dialer, b"x").unwrap();
    pass(&mut pair, Duration::from_secs(1));
    pair.network.heal(pair.server, pair.client);
    assert!(pair.rest() < 10, "no timer of a silent peer is left");
    pair.network.send(accepted, b"y").unwrap();
    pair.rest();
    assert_eq!(pair.read(dialer), Ok(1));
    pair.end(&[listener, dialer, accepted]);
}

#[test]
fn a_hold_begins_within_a_segment() {
    let mut pair = Pair::new();
    let (listener, dialer, accepted) = pair.connect();
    let (wire, side) = pair.network.wire_of(accepted).unwrap().unwrap();
    pair.network.hold_after(wire, side, 3);
    pair.network.send(accepted, b"hello").unwrap();
    pair.network.shutdown(accepted, Direction::Write).unwrap();
    pass(&mut pair, Duration::from_secs(9));
    assert_eq!(pair.read(dialer), Ok(3));
    assert_eq!(pair.read(dialer), Err(Errno::EAGAIN));
    pair.network.release(wire, side);
    pair.rest();
    assert_eq!(pair.read(dialer), Ok(2));
    assert_eq!(pair.read(dialer), Ok(0));
    pair.end(&[listener, dialer, accepted]);
}

#[test]
fn a_dial_whose_answers_are_lost_times_out_after_127_seconds() {
    let mut pair = Pair::new();
    let listener = pair.listen(8);
    pair.network.cut(pair.server, pair.client);
    let dialer = pair.dial();
    assert_eq!(millis_until_rest(&mut pair) / 1_000, 127);
    assert_eq!(pair.read(dialer), Err(Errno::ETIMEDOUT));
    pair.network.heal(pair.server, pair.client);
    pair.network.close(dialer).unwrap();
    pair.rest();
    assert_eq!(pair.network.accept(listener, true), Err(Errno::EAGAIN));
    pair.end(&[listener]);
}

#[test]
fn a_dial_through_a_cut_completes_with_the_syn_after_the_heal() {
    for one_way in [true, false] {
        let mut pair = Pair::new();
        let listener = pair.listen(8);
        match one_way {
            true => pair.network.cut(pair.server, pair.client),
            false => part(&mut pair, true),
        }
        let dialer = pair.dial();
        pass(&mut pair, Duration::from_millis(3_500));
        assert_eq!(pair.network.peer_address(dialer), Err(Errno::ENOTCONN));
        part(&mut pair, false);
        let until = millis_until_rest(&mut pair);
        assert!((3_500..3_510).contains(&until), "the third SYN is 7 s after the first: {until}");
        pair.network.peer_address(dialer).unwrap();
        let (accepted, _) = pair.network.accept(listener, true).unwrap();
        pair.end(&[listener, dialer, accepted]);
    }
}

#[test]
fn a_refusal_that_is_lost_comes_with_the_next_syn() {
    let mut pair = Pair::new();
    pair.network.cut(pair.server, pair.client);
    let dialer = pair.dial();
    pass(&mut pair, Duration::from_millis(400));
    pair.network.heal(pair.server, pair.client);
    assert_eq!(millis_until_rest(&mut pair) / 10, 60);
    assert_eq!(pair.read(dialer), Err(Errno::ECONNREFUSED));
    pair.end(&[dialer]);
}

#[test]
fn a_fenced_host_is_gone_without_a_word_and_answers_with_resets_once_it_is_back() {
    let mut pair = Pair::new();
    let (listener, dialer, accepted) = pair.connect();
    let waiting = pair.dial();
    pair.rest();
    pair.network.send(accepted, b"never").unwrap();
    pair.network.fence(pair.server);
    pair.network.check_invariants();
    // What the host does now reaches nobody.
    for at in [listener, accepted] {
        pair.network.close(at).unwrap();
    }
    pair.network.send(dialer, b"x").unwrap();
    pass(&mut pair, Duration::from_secs(30));
    assert_eq!(pair.read(dialer), Err(Errno::EAGAIN));
    assert!(pair.network.host(pair.server).is_fenced());
    pair.network.unfence(pair.server);
    pair.rest();
    assert_eq!(pair.read(dialer), Err(Errno::ECONNRESET), "it sent, and met a closed port");
    assert_eq!(pair.read(waiting), Err(Errno::EAGAIN), "it said nothing, and knows nothing");
    let again = pair.listen(8);
    pair.network.close(waiting).unwrap();
    pair.rest();
    pair.end(&[dialer, again]);
}

#[test]
fn a_listener_closed_in_silence_leaves_nothing() {
    let mut pair = Pair::new();
    let listener = pair.listen(8);
    pair.network.cut(pair.server, pair.client);
    let dialer = pair.dial();
    pass(&mut pair, Duration::from_millis(10));
    pair.network.close(listener).unwrap();
    pass(&mut pair, Duration::from_secs(2));
    pair.network.heal(pair.server, pair.client);
    pair.rest();
    assert_eq!(pair.read(dialer), Err(Errno::ECONNREFUSED));
    pair.network.close(dialer).unwrap();
    pair.rest();
    assert_eq!(pair.network.census(), Census::default());
}

#[test]
fn one_that_is_fenced_and_back_at_once_answers_with_a_reset() {
    let mut pair = Pair::new();
    let (listener, dialer, accepted) = pair.connect();
    pair.network.fence(pair.server);
    for at in [listener, accepted] {
        pair.network.close(at).unwrap();
    }
    pair.network.unfence(pair.server);
    pair.network.send(dialer, b"x").unwrap();
    pair.rest();
    assert_eq!(pair.read(dialer), Err(Errno::ECONNRESET));
    pair.end(&[dialer]);
}
