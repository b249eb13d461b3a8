//! A segment: what one end of a connection sends to the other.
//!
//! Sequence numbers are offsets in the stream of bytes, from zero and 64 bits wide: they do not
//! wrap, and a SYN takes none. A FIN stands after the last byte and counts as one, so that an
//! acknowledgment of `length + 1` covers it. A segment carries no bytes: its payload stays in the
//! sender's queue until it is acknowledged, and a delivery reads it there.

use std::ops::BitOr;

/// The control bits of a segment (RFC 9293 3.1).
///
/// ```
/// use hostsim::tcp::Flags;
///
/// let answer = Flags::SYN | Flags::ACK;
/// assert_eq!(answer.to_string(), "SYN-ACK");
/// assert_eq!(Flags::ACK.to_string(), "ACK");
/// ```
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
    ///
    /// ```
    /// use hostsim::tcp::Flags;
    ///
    /// let end = Flags::FIN | Flags::ACK;
    /// assert!(end.has(Flags::FIN) && !end.has(Flags::FIN | Flags::RST));
    /// ```
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
///
/// ```
/// use hostsim::tcp::{Flags, Segment};
/// use std::cell::RefCell;
/// use std::rc::Rc;
/// # use hostsim::{address::Domain, network::Network};
/// # let mut network = Network::new();
/// # let host = network.add_host("alone");
/// # let address = std::net::SocketAddr::from(([127, 0, 0, 1], 7));
/// # let listener = network.socket(host, Domain::V4, true)?;
/// # network.bind(listener, address)?;
/// # network.listen(listener, 8)?;
/// # let dialer = network.socket(host, Domain::V4, true)?;
/// # network.connect(dialer, address).unwrap_err();
/// # let (accepted, _) = network.accept(listener, true)?;
/// let seen = Rc::new(RefCell::new(Vec::new()));
/// let trace = seen.clone();
/// network.observe(Box::new(move |_, delivery| trace.borrow_mut().push(*delivery.segment)));
/// network.send(dialer, b"hello")?;
/// network.send(dialer, b"again")?;
/// let segments = seen.borrow();
/// let with_bytes: Vec<&Segment> = segments.iter().filter(|segment| segment.len > 0).collect();
/// assert_eq!((with_bytes[0].seq, with_bytes[0].len, with_bytes[0].flags), (0, 5, Flags::ACK));
/// assert_eq!(with_bytes[1].seq, 5);
/// # Ok::<(), hostsim::errno::Errno>(())
/// ```
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
