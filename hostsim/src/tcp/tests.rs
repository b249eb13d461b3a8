//! Conversations of two ends, written as captures.

use super::*;

/// Two ends and the segments between them, delivered at once and in order.
struct Pair {
    client: Connection,
    server: Connection,
    capture: String,
}

const LIMIT: usize = 1000;

impl Pair {
    /// An established pair whose server takes `window` bytes.
    fn established(window: usize) -> Pair {
        let mut client = Connection::connecting(LIMIT, LIMIT);
        let syn = client.poll_segment().expect("a connecting end sends a SYN");
        let server = Connection::accepting(&syn, LIMIT, window);
        let mut pair = Pair { client, server, capture: String::new() };
        pair.exchange();
        assert_eq!(pair.client.state(), State::Established);
        assert_eq!(pair.server.state(), State::Established);
        pair.capture.clear();
        pair
    }

    /// Delivers until neither end has anything to send.
    fn exchange(&mut self) {
        loop {
            let sent = deliver('C', &mut self.client, &mut self.server, &mut self.capture)
                | deliver('S', &mut self.server, &mut self.client, &mut self.capture);
            if !sent {
                return;
            }
        }
    }

    #[track_caller]
    fn captured(&mut self, expected: &[&str]) {
        self.exchange();
        let capture = std::mem::take(&mut self.capture);
        assert_eq!(capture.lines().collect::<Vec<_>>(), expected);
    }
}

fn deliver(name: char, from: &mut Connection, to: &mut Connection, capture: &mut String) -> bool {
    let Some(segment) = from.poll_segment() else { return false };
    let Segment { flags, seq, ack, window, len } = segment;
    *capture += &format!("{name} {flags} seq={seq} ack={ack} win={window} len={len}\n");
    to.on_segment(&segment, from.payload(&segment));
    from.check_invariants();
    to.check_invariants();
    true
}

fn read(end: &mut Connection) -> Sys<Vec<u8>> {
    let mut bytes = vec![0; 64];
    let count = end.read(&mut bytes, false)?;
    bytes.truncate(count);
    Ok(bytes)
}

#[test]
fn request_and_reply_then_an_orderly_end() {
    let mut pair = Pair::established(LIMIT);
    assert_eq!(pair.client.write(b"ping"), Ok(4));
    pair.captured(&["C ACK seq=0 ack=0 win=1000 len=4", "S ACK seq=0 ack=4 win=996 len=0"]);
    assert_eq!(read(&mut pair.server), Ok(b"ping".to_vec()));
    pair.client.close(false);
    pair.captured(&["C FIN seq=4 ack=0 win=1000 len=0", "S ACK seq=0 ack=5 win=1000 len=0"]);
    assert_eq!(read(&mut pair.server), Ok(vec![]));
    pair.server.close(false);
    pair.captured(&["S FIN seq=0 ack=5 win=1000 len=0", "C ACK seq=5 ack=1 win=1000 len=0"]);
    assert_eq!(pair.client.state(), State::TimeWait);
    assert!(pair.client.is_gone());
    assert!(pair.server.is_gone());
}

#[test]
fn close_with_unread_bytes_resets() {
    let mut pair = Pair::established(LIMIT);
    pair.client.write(b"req").unwrap();
    pair.server.write(b"resp").unwrap();
    pair.exchange();
    pair.server.close(false);
    pair.exchange();
    assert_eq!(read(&mut pair.client), Ok(b"resp".to_vec()));
    assert_eq!(read(&mut pair.client), Err(Errno::ECONNRESET));
    assert_eq!(read(&mut pair.client), Ok(vec![]));
    assert_eq!(pair.client.write(b"x"), Err(Errno::EPIPE));
}

#[test]
fn first_write_after_a_fin_succeeds_and_the_next_breaks() {
    let mut pair = Pair::established(LIMIT);
    pair.server.close(false);
    pair.exchange();
    assert_eq!(pair.client.write(b"one"), Ok(3));
    pair.exchange();
    assert_eq!(pair.client.write(b"two"), Err(Errno::EPIPE));
    assert_eq!(read(&mut pair.client), Ok(vec![]));
}

#[test]
fn a_full_window_holds_bytes_back_until_the_peer_reads() {
    let mut pair = Pair::established(4);
    assert_eq!(pair.client.write(&[7; 1200]), Ok(1000));
    assert_eq!(pair.client.write(&[7; 1]), Err(Errno::EAGAIN));
    pair.exchange();
    assert_eq!(pair.server.unread(), 4);
    assert!(pair.client.wants_ack());
    let mut total = 0;
    while let Ok(bytes) = read(&mut pair.server) {
        total += bytes.len();
        pair.exchange();
    }
    assert_eq!(total, 1000);
    assert_eq!(pair.client.unacknowledged(), 0);
    assert!(!pair.client.wants_ack());
}

#[test]
fn an_orphan_still_sends_what_was_written() {
    let mut pair = Pair::established(4);
    pair.client.write(b"abcdefgh").unwrap();
    pair.client.close(false);
    pair.exchange();
    assert_eq!(read(&mut pair.server), Ok(b"abcd".to_vec()));
    pair.exchange();
    assert_eq!(read(&mut pair.server), Ok(b"efgh".to_vec()));
    pair.exchange();
    assert_eq!(read(&mut pair.server), Ok(vec![]));
}

#[test]
fn a_refused_connect_reports_it_once() {
    let mut client = Connection::connecting(LIMIT, LIMIT);
    client.poll_segment().unwrap();
    let reset = Segment { flags: Flags::RST | Flags::ACK, seq: 0, ack: 0, window: 0, len: 0 };
    assert_eq!(client.on_segment(&reset, Payload::default()).wake, Readiness::ALL);
    let bits = client.readiness();
    assert!(bits.meets(Readiness::ERR) && bits.meets(Readiness::HUP) && bits.meets(Readiness::OUT));
    assert_eq!(client.take_error(), Some(Errno::ECONNREFUSED));
    assert_eq!(client.take_error(), None);
}

#[test]
fn both_ends_may_close_at_once() {
    let mut pair = Pair::established(LIMIT);
    pair.client.close(false);
    pair.server.close(false);
    let from_client = pair.client.poll_segment().unwrap();
    let from_server = pair.server.poll_segment().unwrap();
    pair.client.on_segment(&from_server, Payload::default());
    pair.server.on_segment(&from_client, Payload::default());
    assert_eq!(pair.client.state(), State::Closing);
    pair.exchange();
    assert_eq!((pair.client.state(), pair.server.state()), (State::TimeWait, State::TimeWait));
}
