//! The history of a run: every event in its order, and one hash of them all.
//!
//! Two runs of one input have the same history, byte for byte. Where they do not, the first record
//! that differs is what there is to look at. The text of a history is its trace.
//!
//! Not a log: nothing is recorded that the program under test only says ([`crate::log`] has that),
//! and no address, thread or real time is in it.

mod encoding;
mod event;
mod excerpt;
mod text;

pub use event::{Content, Ending, Event, Passage, Phase};
pub(crate) use excerpt::Excerpt;
pub use text::{Entry, Trace};

use hostsim::network::{Arrival, Passed};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt;

/// An event and its moment.
///
/// ```
/// # use sim_core::Target;
/// # use sim_core::run::{Input, run};
/// # use std::time::Duration;
/// # let minute = Duration::from_secs(60);
/// use sim_core::history::{Event, Record};
///
/// let target = Target::new("kv", |sim| {
///     sim.client("client", |_| async {});
///     sim.note("here");
/// });
/// let history = run(&target, &Input::Seed(7), minute).history;
/// let is_note = |record: &Record<'_>| record.event == Event::Note { text: "here" };
/// let note = history.iter().find(is_note).expect("it was noted");
/// assert_eq!(note.at, 0);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record<'a> {
    /// Nanoseconds since the start of the run.
    pub at: u64,
    /// What happened.
    #[serde(borrow)]
    pub event: Event<'a>,
}

/// The SHA-256 of a history.
///
/// ```
/// use sim_core::history::Hash;
///
/// assert_eq!(Hash([0xab; 32]).to_string(), "ab".repeat(32));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hash(pub [u8; 32]);

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Payloads up to this length are kept whole, in bytes; of longer ones their SHA-256.
const CONTENT_MAX: usize = 256;

/// What happened in a run so far.
///
/// ```
/// use sim_core::Target;
/// use sim_core::history::{Event, Record};
/// use sim_core::run::{Input, run};
/// use std::time::Duration;
///
/// let run = |word: &'static str| {
///     let target = Target::new("notes", move |sim| sim.note(word));
///     run(&target, &Input::Bytes(Vec::new()), Duration::from_secs(60)).history
/// };
/// let (first, second) = (run("one"), run("two"));
/// assert!(!first.is_empty() && first.sent().is_empty(), "no segment was sent");
/// let is_note = |record: &Record<'_>| record.event == Event::Note { text: "one" };
/// let place = first.iter().position(|record| is_note(&record)).unwrap();
///
/// assert_ne!(first.hash(), second.hash());
/// let divergence = first.divergence(&second).expect("they differ");
/// assert_eq!(divergence.index, place as u64);
/// assert!(divergence.second.ends_with("note two"));
/// assert_eq!(first.trace().last(100).len() as u64, first.len());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History {
    bytes: Vec<u8>,
    count: u64,
    content: Vec<u8>,
    /// When what the network delivered was sent, in the order of its events.
    sent: Vec<u64>,
}

impl History {
    /// Appends an event.
    pub(crate) fn record(&mut self, at: u64, event: Event<'_>) {
        encoding::encode(&Record { at, event }, &mut self.bytes);
        self.count += 1;
    }

    /// Appends the delivery of a segment.
    pub(crate) fn record_delivery(&mut self, at: u64, delivery: &hostsim::network::Delivery<'_>) {
        let (front, back) = (delivery.payload.0, delivery.payload.1);
        let mut content = std::mem::take(&mut self.content);
        content.clear();
        let is_short = delivery.payload.len() <= CONTENT_MAX;
        if !is_short {
            content.extend(Sha256::new().chain_update(front).chain_update(back).finalize());
        } else if !back.is_empty() {
            content.extend(front);
            content.extend(back);
        }
        let content_ref = match (is_short, back.is_empty()) {
            (false, _) => Content::Digest(&content),
            (true, true) => Content::Bytes(front),
            (true, false) => Content::Bytes(&content),
        };
        let segment = delivery.segment;
        let event = Event::Deliver {
            wire: delivery.wire.0,
            from: delivery.from.0,
            to: delivery.to.0,
            flags: segment.flags.0,
            seq: segment.seq,
            ack: segment.ack,
            len: segment.len,
            content: content_ref,
        };
        self.record(at, event);
        self.sent.push(delivery.sent.0);
        self.content = content;
    }

    /// Appends the end of a datagram's way.
    pub(crate) fn record_datagram(&mut self, at: u64, passed: &Passed<'_>) {
        let datagram = passed.datagram;
        let bytes = &datagram.bytes[..];
        let digest: [u8; 32];
        let content = if bytes.len() <= CONTENT_MAX {
            Content::Bytes(bytes)
        } else {
            digest = Sha256::digest(bytes).into();
            Content::Digest(&digest)
        };
        let passage = match passed.arrival {
            Arrival::Received => Passage::Received,
            Arrival::Full => Passage::Full,
            Arrival::Refused => Passage::Refused,
            Arrival::Lost => Passage::Lost,
        };
        let (from, to, len) = (passed.from.0, passed.to.0, bytes.len() as u32);
        let (sender, receiver) = (datagram.from, datagram.to);
        self.record(at, Event::Datagram { from, to, sender, receiver, passage, len, content });
        self.sent.push(passed.sent.0);
    }

    /// The hash of what happened so far.
    ///
    /// ```
    /// # use sim_core::Target;
    /// # use sim_core::run::{Input, run};
    /// # use std::time::Duration;
    /// # let minute = Duration::from_secs(60);
    /// let hash = |word: &'static str| {
    ///     let target = Target::new("notes", move |sim| sim.note(word));
    ///     run(&target, &Input::Seed(7), minute).history.hash()
    /// };
    /// assert_eq!(hash("one"), hash("one"));
    /// assert_ne!(hash("one"), hash("other"));
    /// ```
    pub fn hash(&self) -> Hash {
        Hash(Sha256::digest(&self.bytes).into())
    }

    /// How many events happened.
    ///
    /// ```
    /// # use sim_core::Target;
    /// # use sim_core::run::{Input, run};
    /// # use std::time::Duration;
    /// # let minute = Duration::from_secs(60);
    /// let target = Target::new("notes", |sim| sim.note("here"));
    /// let history = run(&target, &Input::Seed(7), minute).history;
    /// assert_eq!(history.len(), history.iter().count() as u64);
    /// ```
    pub fn len(&self) -> u64 {
        self.count
    }

    /// Whether nothing happened.
    ///
    /// ```
    /// use sim_core::history::History;
    ///
    /// assert!(History::default().is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The events in their order.
    ///
    /// ```
    /// # use sim_core::Target;
    /// # use sim_core::run::{Input, run};
    /// # use std::time::Duration;
    /// # let minute = Duration::from_secs(60);
    /// let target = Target::new("hour", |sim| {
    ///     sim.client("client", |_| async { tokio::time::sleep(Duration::from_secs(3_600)).await });
    /// });
    /// let history = run(&target, &Input::Seed(7), minute).history;
    /// assert!(history.iter().map(|record| record.at).is_sorted(), "as they happened");
    /// ```
    pub fn iter(&self) -> impl Iterator<Item = Record<'_>> {
        let mut rest = self.bytes.as_slice();
        std::iter::from_fn(move || {
            let (record, after) = encoding::decode(rest)?;
            rest = after;
            Some(record)
        })
    }

    /// When each segment and datagram of the history was sent, in nanoseconds since the start of the
    /// run and in the order of their events. It is told and not hashed: it follows from what came
    /// before, and a run that differs in it differs in what arrives.
    ///
    /// ```
    /// # use sim_core::Target;
    /// # use sim_core::run::{Input, run};
    /// # use std::time::Duration;
    /// # let minute = Duration::from_secs(60);
    /// use tokio::net::TcpStream;
    /// let target = Target::new("dial", |sim| {
    ///     sim.node("server", |_| std::future::pending::<()>());
    ///     sim.client("client", |_| async {
    ///         TcpStream::connect("server:7").await.unwrap_err(); // Nobody listens.
    ///     });
    /// });
    /// let history = run(&target, &Input::Seed(7), minute).history;
    /// assert!(history.sent().len() >= 2, "a SYN and a RST");
    /// ```
    pub fn sent(&self) -> &[u64] {
        &self.sent
    }

    /// The history as text.
    ///
    /// ```
    /// # use sim_core::Target;
    /// # use sim_core::run::{Input, run};
    /// # use std::time::Duration;
    /// # let minute = Duration::from_secs(60);
    /// let target = Target::new("notes", |sim| sim.note("here"));
    /// let history = run(&target, &Input::Seed(7), minute).history;
    /// assert!(history.trace().lines().any(|line| line.ends_with("here")));
    /// ```
    pub fn trace(&self) -> Trace<'_> {
        Trace::new(self)
    }

    /// Where two histories differ first; `None` where they do not.
    ///
    /// ```
    /// # use sim_core::Target;
    /// # use sim_core::run::{Input, run};
    /// # use std::time::Duration;
    /// # let minute = Duration::from_secs(60);
    /// let history = |word: &'static str| {
    ///     let target = Target::new("notes", move |sim| sim.note(word));
    ///     run(&target, &Input::Seed(7), minute).history
    /// };
    /// assert_eq!(history("one").divergence(&history("one")), None);
    /// let divergence = history("one").divergence(&history("other")).expect("they differ");
    /// assert!(divergence.second.ends_with("other"));
    /// ```
    pub fn divergence(&self, other: &History) -> Option<Divergence> {
        if self.bytes == other.bytes {
            return None;
        }
        let (ours, theirs) = (self.trace(), other.trace());
        let (mut left, mut right) = (self.iter(), other.iter());
        let mut index = 0;
        loop {
            let pair = (left.next(), right.next());
            if pair.0 != pair.1 {
                let show = |trace: &Trace<'_>, record: Option<Record<'_>>| {
                    record.map_or("the run ended".to_owned(), |record| trace.line(&record))
                };
                let sides = (show(&ours, pair.0), show(&theirs, pair.1));
                return Some(Divergence { index, first: sides.0, second: sides.1 });
            }
            index += 1;
        }
    }
}

/// The first event that differs between two runs of one input.
///
/// ```
/// use sim_core::Target;
/// use sim_core::history::Divergence;
/// use sim_core::run::{Input, run};
/// use std::time::Duration;
///
/// let history = |word: &'static str| {
///     let target = Target::new("notes", move |sim| sim.note(word));
///     run(&target, &Input::Bytes(Vec::new()), Duration::from_secs(60)).history
/// };
/// let (one, other) = (history("one"), history("other"));
/// let Divergence { first, second, .. } = one.divergence(&other).expect("they differ");
/// assert!(first.ends_with("one") && second.ends_with("other"));
/// assert_eq!(one.divergence(&history("one")), None);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Divergence {
    /// Its index, from zero.
    pub index: u64,
    /// What happened in the first run.
    pub first: String,
    /// What happened in the second.
    pub second: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn history(texts: &[&str]) -> History {
        let mut history = History::default();
        history.record(0, Event::Host { host: 0, name: "echo" });
        for (at, text) in texts.iter().enumerate() {
            history.record(at as u64, Event::Note { text });
        }
        history
    }

    #[test]
    fn records_read_back_as_they_were_written() {
        let history = history(&["one", "two"]);
        let notes: Vec<_> = history.iter().skip(1).map(|record| record.event).collect();
        assert_eq!(notes, [Event::Note { text: "one" }, Event::Note { text: "two" }]);
        assert_eq!(history.len(), 3);
    }

    #[test]
    fn the_first_difference_is_named() {
        let (first, second) = (history(&["a", "b", "c"]), history(&["a", "x", "c"]));
        let divergence = first.divergence(&second).expect("they differ");
        assert_eq!(divergence.index, 2);
        assert!(divergence.first.ends_with("note b"), "{divergence:?}");
        assert!(divergence.second.ends_with("note x"), "{divergence:?}");
    }

    #[test]
    fn a_history_that_ends_early_differs_there() {
        let (first, second) = (history(&["a"]), history(&["a", "b"]));
        let divergence = first.divergence(&second).expect("they differ");
        assert_eq!((divergence.index, divergence.first.as_str()), (2, "the run ended"));
        assert_eq!(first.divergence(&first.clone()), None);
    }

    #[test]
    fn the_hash_is_pinned() {
        let hash = history(&["one"]).hash().to_string();
        assert_eq!(hash, "9f91c2cd75783a01e7ede242709e92019cda6b79dd4ae8ca38c5efa3f484a5c4");
    }
}
