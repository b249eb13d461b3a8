//! Bytes on their way through one direction of a connection.
//!
//! A queue moves bytes and counts them; it knows no states, no flags and no time.
//! Offsets are those of [`crate::tcp::Segment`].

use std::collections::VecDeque;

/// Bytes in at most two pieces, as a ring holds them.
///
/// ```
/// use hostsim::tcp::Payload;
///
/// let payload = Payload(b"hel", b"lo");
/// assert_eq!([payload.0, payload.1].concat(), b"hello");
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Payload<'a>(pub &'a [u8], pub &'a [u8]);

impl Payload<'_> {
    /// The number of bytes.
    ///
    /// ```
    /// use hostsim::tcp::Payload;
    ///
    /// assert_eq!(Payload(b"hel", b"lo").len(), 5);
    /// ```
    pub fn len(&self) -> usize {
        self.0.len() + self.1.len()
    }

    /// Whether there are none.
    ///
    /// ```
    /// use hostsim::tcp::Payload;
    ///
    /// assert!(Payload::default().is_empty());
    /// assert!(!Payload(b"hello", b"").is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A ring of bytes.
#[derive(Debug, Default)]
struct Ring(VecDeque<u8>);

impl Ring {
    fn push(&mut self, bytes: &[u8]) {
        self.0.extend(bytes);
    }

    /// The `len` bytes from `start` on.
    fn slice(&self, start: usize, len: usize) -> Payload<'_> {
        let (front, back) = self.0.as_slices();
        let end = start + len;
        let cut = front.len();
        let first = &front[start.min(cut)..end.min(cut)];
        let second = &back[start.max(cut) - cut..end.max(cut) - cut];
        Payload(first, second)
    }

    fn consume(&mut self, count: usize) {
        self.0.drain(..count);
    }

    /// Copies from the front; the bytes stay.
    fn copy_to(&self, into: &mut [u8]) -> usize {
        let count = into.len().min(self.0.len());
        let Payload(first, second) = self.slice(0, count);
        into[..first.len()].copy_from_slice(first);
        into[first.len()..count].copy_from_slice(second);
        count
    }
}

/// What a program wrote and its peer has not acknowledged.
///
/// Invariant: `acked <= sent <= end()`, and `sent <= edge` once the peer gave a window.
#[derive(Debug)]
pub(crate) struct SendQueue {
    ring: Ring,
    acked: u64,
    sent: u64,
    edge: u64,
    limit: usize,
    /// The largest limit that there was: what is in stays in.
    limit_max: usize,
}

impl SendQueue {
    /// An empty queue that holds up to `limit` bytes.
    pub(crate) fn new(limit: usize) -> SendQueue {
        let limit = limit.max(1);
        SendQueue { ring: Ring::default(), acked: 0, sent: 0, edge: 0, limit, limit_max: limit }
    }

    /// Takes as much of `bytes` as there is room for.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> usize {
        let count = bytes.len().min(self.room());
        self.ring.push(&bytes[..count]);
        count
    }

    /// How many bytes fit.
    pub(crate) fn room(&self) -> usize {
        self.limit.saturating_sub(self.queued())
    }

    /// How many bytes are neither acknowledged nor given up.
    pub(crate) fn queued(&self) -> usize {
        self.ring.0.len()
    }

    /// Whether a poll calls the socket writable (Linux `sk_stream_is_writeable`): a third is free.
    pub(crate) fn is_writable(&self) -> bool {
        self.room() > 0 && self.room() >= self.queued() / 2
    }

    /// The offset after the last byte that was written.
    pub(crate) fn end(&self) -> u64 {
        self.acked + self.ring.0.len() as u64
    }

    /// The offset after the last byte that was acknowledged.
    pub(crate) fn acknowledged(&self) -> u64 {
        self.acked
    }

    /// The offset of the next byte to send.
    pub(crate) fn sent(&self) -> u64 {
        self.sent
    }

    /// Whether there are bytes that wait for the peer's window.
    pub(crate) fn has_unsent(&self) -> bool {
        self.sent < self.end()
    }

    /// Whether there are bytes that the peer's window takes.
    pub(crate) fn has_sendable(&self) -> bool {
        self.sent < self.end().min(self.edge)
    }

    /// How many bytes may be sent now, at most `max`; marks them as sent.
    pub(crate) fn take(&mut self, max: u32) -> u32 {
        let ready = self.end().min(self.edge).saturating_sub(self.sent);
        let count = ready.min(u64::from(max));
        self.sent += count;
        u32::try_from(count).expect("a segment is at most `max` bytes long")
    }

    /// The bytes from offset `seq` on.
    pub(crate) fn payload(&self, seq: u64, len: u32) -> Payload<'_> {
        self.ring.slice((seq - self.acked) as usize, len as usize)
    }

    /// The peer acknowledged everything before `ack` and takes bytes before `edge`.
    pub(crate) fn on_ack(&mut self, ack: u64, edge: u64) {
        let ack = ack.min(self.sent);
        if ack > self.acked {
            self.ring.consume((ack - self.acked) as usize);
            self.acked = ack;
        }
        self.edge = self.edge.max(edge);
    }

    /// Gives up what was not sent.
    pub(crate) fn drop_unsent(&mut self) {
        self.ring.0.truncate((self.sent - self.acked) as usize);
    }

    /// Changes how many bytes fit; what is in stays in.
    pub(crate) fn set_limit(&mut self, limit: usize) {
        self.limit = limit.max(1);
        self.limit_max = self.limit_max.max(self.limit);
    }

    /// The offset before which the peer takes bytes.
    pub(crate) fn edge(&self) -> u64 {
        self.edge
    }

    /// Asserts what the type promises.
    pub(crate) fn check_invariants(&self) {
        assert!(self.acked <= self.sent, "only sent bytes are acknowledged");
        assert!(self.sent <= self.end(), "only written bytes are sent");
        assert!(self.sent <= self.edge, "only what the peer takes is sent");
        assert!(self.queued() <= self.limit_max, "no more is kept than fits");
    }
}

/// What arrived and the program has not read.
///
/// Invariant: `edge >= next`: a window that was given is never taken back.
#[derive(Debug)]
pub(crate) struct ReceiveQueue {
    ring: Ring,
    next: u64,
    edge: u64,
    limit: usize,
    /// The largest limit that there was: a window that was given stays given.
    limit_max: usize,
}

impl ReceiveQueue {
    /// An empty queue that takes up to `limit` bytes.
    pub(crate) fn new(limit: usize) -> ReceiveQueue {
        let limit = limit.max(1);
        ReceiveQueue { ring: Ring::default(), next: 0, edge: limit as u64, limit, limit_max: limit }
    }

    /// The offset that is expected next.
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    /// How many bytes wait to be read.
    pub(crate) fn unread(&self) -> usize {
        self.ring.0.len()
    }

    /// Appends what arrived.
    pub(crate) fn on_payload(&mut self, payload: Payload<'_>) {
        self.ring.push(payload.0);
        self.ring.push(payload.1);
        self.next += payload.len() as u64;
    }

    /// Copies bytes to the program; a peek leaves them.
    pub(crate) fn read(&mut self, into: &mut [u8], is_peek: bool) -> usize {
        let count = self.ring.copy_to(into);
        if !is_peek {
            self.ring.consume(count);
        }
        count
    }

    /// The window for a segment that is sent now, in bytes past [`ReceiveQueue::next`].
    pub(crate) fn advertise(&mut self) -> u32 {
        self.edge = self.edge.max(self.next + self.limit.saturating_sub(self.unread()) as u64);
        u32::try_from(self.edge - self.next).unwrap_or(u32::MAX)
    }

    /// By how much a segment that is sent now would move the window's edge.
    pub(crate) fn unadvertised(&self) -> u64 {
        let edge = self.next + self.limit.saturating_sub(self.unread()) as u64;
        edge.saturating_sub(self.edge)
    }

    /// Whether the peer may send nothing more.
    pub(crate) fn is_closed(&self) -> bool {
        self.edge == self.next
    }

    /// How many bytes the queue takes.
    pub(crate) fn limit(&self) -> usize {
        self.limit
    }

    /// Changes how many bytes fit; a window that was given stays given.
    pub(crate) fn set_limit(&mut self, limit: usize) {
        self.limit = limit.max(1);
        self.limit_max = self.limit_max.max(self.limit);
    }

    /// The offset before which the peer may send.
    pub(crate) fn edge(&self) -> u64 {
        self.edge
    }

    /// Asserts what the type promises.
    pub(crate) fn check_invariants(&self) {
        assert!(self.edge >= self.next, "the peer stays inside its window");
        let promised = self.unread() as u64 + (self.edge - self.next);
        assert!(promised <= self.limit_max as u64, "no more is promised than there is room for");
        assert!(self.unread() as u64 <= self.next, "only what arrived is to be read");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(payload: Payload<'_>) -> String {
        let bytes = [payload.0, payload.1].concat();
        String::from_utf8(bytes).expect("tests use text")
    }

    #[test]
    fn bytes_stay_until_they_are_acknowledged() {
        let mut queue = SendQueue::new(8);
        queue.on_ack(0, 100);
        assert_eq!(queue.write(b"abcdefghij"), 8);
        assert_eq!((queue.take(3), queue.take(3)), (3, 3));
        assert_eq!(text(queue.payload(3, 3)), "def");
        queue.on_ack(3, 100);
        assert_eq!(queue.write(b"XYZW"), 3);
        assert_eq!(queue.take(100), 5);
        assert_eq!(text(queue.payload(6, 5)), "ghXYZ");
        queue.check_invariants();
    }

    #[test]
    fn nothing_is_sent_past_the_window() {
        let mut queue = SendQueue::new(8);
        queue.write(b"abcdef");
        assert_eq!(queue.take(100), 0);
        queue.on_ack(0, 4);
        assert_eq!(queue.take(100), 4);
        assert!(queue.has_unsent());
        queue.drop_unsent();
        assert_eq!(text(queue.payload(0, 4)), "abcd");
        assert!(!queue.has_unsent());
    }

    #[test]
    fn a_window_that_was_given_is_not_taken_back() {
        let mut queue = ReceiveQueue::new(4);
        assert_eq!(queue.advertise(), 4);
        queue.on_payload(Payload(b"ab", b"c"));
        assert_eq!(queue.advertise(), 1);
        queue.set_limit(1);
        assert_eq!(queue.advertise(), 1);
        let mut bytes = [0; 8];
        assert_eq!(queue.read(&mut bytes, true), 3);
        assert_eq!(queue.read(&mut bytes, false), 3);
        assert_eq!(&bytes[..3], b"abc");
        assert_eq!(queue.unread(), 0);
        queue.check_invariants();
    }
}
