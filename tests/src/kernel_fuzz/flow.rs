//! The model of the byte streams: what was sent on each side of a connection, and what came out.
//!
//! The bytes of a direction follow from its connection and their offsets, so nothing is kept.

use hostsim::network::{SideIndex, WireId};
use std::collections::BTreeMap;

/// One end of a connection.
pub(super) type End = (WireId, SideIndex);

/// What an end did.
#[derive(Clone, Copy, Debug, Default)]
struct Lane {
    sent: u64,
    received: u64,
    is_read_shut: bool,
    is_write_shut: bool,
    /// A call told that the connection ended.
    has_failed: bool,
    /// A call took bytes that nobody saw.
    is_abandoned: bool,
}

/// Every connection of a run.
#[derive(Debug, Default)]
pub(super) struct Flows {
    lanes: BTreeMap<End, Lane>,
}

impl Flows {
    fn lane(&mut self, end: End) -> &mut Lane {
        self.lanes.entry(end).or_default()
    }

    /// The bytes that an end sends next.
    pub(super) fn next(&mut self, end: End, count: usize) -> Vec<u8> {
        let from = self.lane(end).sent;
        (from..from + count as u64).map(|offset| byte(end, offset)).collect()
    }

    /// A call sent bytes.
    pub(super) fn on_sent(&mut self, end: End, count: usize) {
        self.lane(end).sent += count as u64;
    }

    /// A call gave bytes: they are the very next ones that the peer sent.
    pub(super) fn on_received(&mut self, end: End, bytes: &[u8]) {
        let from = self.lane(end).received;
        let sent = self.lane(peer(end)).sent;
        if self.lane(end).is_abandoned {
            return;
        }
        let until = from + bytes.len() as u64;
        assert!(until <= sent, "{end:?} received {until} bytes of {sent} that were sent");
        for (offset, found) in (from..).zip(bytes) {
            assert_eq!(*found, byte(peer(end), offset), "{end:?} received byte {offset}");
        }
    }

    /// Bytes that a call gave or dropped do not come again.
    pub(super) fn on_taken(&mut self, end: End, count: usize) {
        self.lane(end).received += count as u64;
        let (own, sent) = (*self.lane(end), self.lane(peer(end)).sent);
        let taken = own.received;
        assert!(
            taken <= sent || own.is_abandoned,
            "{end:?} took {taken} bytes of {sent} that were sent"
        );
    }

    /// A call told that there will be no more: then every byte that was sent had come.
    pub(super) fn on_end(&mut self, end: End) {
        let (own, sent) = (*self.lane(end), self.lane(peer(end)).sent);
        let is_whole = own.received == sent || own.is_abandoned;
        assert!(
            is_whole || own.is_read_shut || own.has_failed,
            "{end:?} ended at {own:?} of {sent}"
        );
    }

    /// Nothing is pending and there is nothing to read: then every byte that was sent has come.
    pub(super) fn on_dry(&mut self, end: End) {
        let (own, sent) = (*self.lane(end), self.lane(peer(end)).sent);
        let is_whole = own.received == sent || own.is_abandoned;
        assert!(is_whole, "{end:?} is dry at {own:?} of {sent}");
    }

    /// A call failed.
    pub(super) fn on_error(&mut self, end: End, errno: i32) {
        let lane = self.lane(end);
        let is_own = errno == libc::EPIPE && lane.is_write_shut;
        let is_end = [libc::EPIPE, libc::ECONNRESET, libc::ETIMEDOUT, libc::ECONNREFUSED];
        lane.has_failed |= is_end.contains(&errno) && !is_own;
    }

    /// A call took the error that waited, if there was one.
    pub(super) fn on_told(&mut self, end: End) {
        self.lane(end).has_failed = true;
    }

    /// A call may have taken bytes that nobody saw.
    pub(super) fn on_abandoned(&mut self, end: End) {
        self.lane(end).is_abandoned = true;
    }

    /// A call ended directions.
    pub(super) fn on_shutdown(&mut self, end: End, how: i32) {
        let lane = self.lane(end);
        lane.is_read_shut |= how != libc::SHUT_WR;
        lane.is_write_shut |= how != libc::SHUT_RD;
    }
}

fn peer((wire, side): End) -> End {
    (wire, side ^ 1)
}

/// The byte at an offset of what an end sends.
fn byte((WireId(wire), side): End, offset: u64) -> u8 {
    mix((u64::from(wire) << 1 | u64::from(side)) << 40 ^ offset) as u8
}

/// A number of 64 bits that differs from its neighbors' in about half of them (SplitMix64).
pub(super) fn mix(number: u64) -> u64 {
    let word = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}
