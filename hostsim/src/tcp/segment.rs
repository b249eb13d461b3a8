//! A segment: what one end of a connection sends to the other.
//!
//! Sequence numbers are offsets in the stream of bytes, from zero and 64 bits wide: they do not
//! wrap, and a SYN takes none. A FIN stands after the last byte and counts as one, so that an
//! acknowledgment of `length + 1` covers it. A segment carries no bytes: its payload stays in the
//! sender's queue until it is acknowledged, and a delivery reads it there.

use std::ops::BitOr;

/// The control bits of a segment (RFC 9293 3.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(pub u8);

impl Flags {
    /// Opens a direction.
    pub const SYN: Flags = Flags(1);
    /// Carries an acknowledgment.
    pub const ACK: Flags = Flags(2);
    /// Ends a direction.
    pub const FIN: Flags = Flags(4);
    /// Ends a connection.
    pub const RST: Flags = Flags(8);

    /// Whether every bit of `other` is set.
    pub const fn has(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }
}

impl BitOr for Flags {
    type Output = Flags;

    fn bitor(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
}

impl std::fmt::Display for Flags {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names = [(Flags::SYN, "SYN"), (Flags::FIN, "FIN"), (Flags::RST, "RST")];
        let mut any = false;
        for (flag, name) in names.into_iter().filter(|(flag, _)| self.has(*flag)) {
            let ack = if self.has(Flags::ACK) && flag == Flags::SYN { "-ACK" } else { "" };
            write!(f, "{}{name}{ack}", if any { "|" } else { "" })?;
            any = true;
        }
        if any { Ok(()) } else { f.write_str("ACK") }
    }
}

/// A segment on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The control bits.
    pub flags: Flags,
    /// The offset of the first byte of the payload.
    pub seq: u64,
    /// The offset that the sender of this segment expects next.
    pub ack: u64,
    /// How many bytes past `ack` the sender of this segment takes.
    pub window: u32,
    /// The length of the payload, in bytes.
    pub len: u32,
}

impl Segment {
    /// The segment in two: the first `head` bytes, and the rest with what ends the segment.
    pub(crate) fn split(self, head: u32) -> (Segment, Segment) {
        let tail = Segment { seq: self.seq + u64::from(head), len: self.len - head, ..self };
        (Segment { flags: Flags::ACK, len: head, ..self }, tail)
    }

    /// Whether the segment only acknowledges.
    pub(crate) fn is_pure_ack(&self) -> bool {
        self.flags == Flags::ACK && self.len == 0
    }
}
