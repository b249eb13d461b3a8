//! The model of a connection: what was written, what was read, and what may end it.
//!
//! The bytes of a direction follow from its flow and their offsets, so nothing is kept.

use super::random::mix;
use std::net::SocketAddr;

/// One direction of a connection.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Lane {
    pub(crate) written: u64,
    pub(crate) read: u64,
    /// The writer ended it, by a shutdown or a close.
    pub(crate) has_ended: bool,
    /// The reader is gone: what still comes is answered with a reset.
    pub(crate) is_unread: bool,
}

/// A connection, from its dial on.
#[derive(Debug)]
pub(crate) struct Flow {
    pub(crate) id: u64,
    pub(crate) local: SocketAddr,
    pub(crate) remote: SocketAddr,
    /// The directions, by who writes: 0 dialed.
    pub(crate) lanes: [Lane; 2],
    pub(crate) is_accepted: bool,
    /// Something happened that may reset it.
    pub(crate) may_reset: bool,
}

impl Flow {
    pub(crate) fn new(id: u64, local: SocketAddr, remote: SocketAddr) -> Flow {
        Flow { id, local, remote, lanes: Default::default(), is_accepted: false, may_reset: false }
    }

    /// The byte at an offset of a direction.
    pub(crate) fn byte(&self, side: usize, offset: u64) -> u8 {
        mix(self.id << 1 | side as u64 | offset << 20) as u8
    }

    /// The next bytes of a direction.
    pub(crate) fn next(&self, side: usize, count: usize) -> Vec<u8> {
        let from = self.lanes[side].written;
        (from..from + count as u64).map(|offset| self.byte(side, offset)).collect()
    }

    /// Bytes came out of a direction: they are the very next ones.
    pub(crate) fn on_read(&mut self, side: usize, bytes: &[u8], is_peek: bool) {
        let lane = self.lanes[side];
        let end = lane.read + bytes.len() as u64;
        assert!(end <= lane.written, "flow {}: {end} read of {} written", self.id, lane.written);
        for (offset, byte) in (lane.read..).zip(bytes) {
            assert_eq!(*byte, self.byte(side, offset), "flow {} at {offset}", self.id);
        }
        if !is_peek {
            self.lanes[side].read = end;
        }
    }

    /// Whether an end may have been told of a reset.
    pub(crate) fn resets(&self) -> bool {
        self.may_reset || self.lanes.iter().any(|lane| lane.is_unread && lane.read < lane.written)
    }
}
