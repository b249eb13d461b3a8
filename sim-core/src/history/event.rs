//! What happens in a run, as it is recorded.

use serde::{Deserialize, Serialize, Serializer};
use std::fmt;
use std::net::SocketAddr;

/// Bytes that a segment carried, as the history keeps them.
///
/// ```
/// use sim_core::history::Content;
///
/// let text = |content: &Content<'_>| match content {
///     Content::Bytes(bytes) => bytes.escape_ascii().to_string(),
///     Content::Digest(_) => "many bytes".to_owned(),
/// };
/// assert_eq!(text(&Content::Bytes(b"hello\n")), "hello\\n");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Content<'a> {
    /// All of them.
    #[serde(serialize_with = "whole")]
    Bytes(&'a [u8]),
    /// The SHA-256 of many.
    #[serde(serialize_with = "whole")]
    Digest(&'a [u8]),
}

/// Writes bytes at once: the encoding is that of a list of them, which is written one by one.
fn whole<S: Serializer>(bytes: &[u8], to: S) -> Result<S::Ok, S::Error> {
    to.serialize_bytes(bytes)
}

/// How the way of a datagram ended.
///
/// ```
/// use sim_core::history::Passage;
///
/// assert_ne!(Passage::Lost, Passage::Refused, "of one the sender hears nothing");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Passage {
    /// A socket has it.
    Received,
    /// The socket that it was for is full.
    Full,
    /// Nobody has the port.
    Refused,
    /// It was lost on its way.
    Lost,
}

/// How an operation ended.
///
/// ```
/// # use sim_core::Target;
/// # use sim_core::run::{Input, run};
/// # use std::time::Duration;
/// # let minute = Duration::from_secs(60);
/// use sim_core::history::{Ending, Event};
/// use sim_core::workload::{Outcome, WorkloadSpec};
///
/// let target = Target::new("kv", |sim| {
///     let spec = WorkloadSpec::new().operations(9);
///     sim.workload(&spec, |client| client, async |_, operation: sim_core::workload::Operation<u8>| {
///         if operation.op == 0 { Outcome::failed("zero") } else { Outcome::done() }
///     });
/// });
/// let history = run(&target, &Input::Seed(7), minute).history;
/// let is_done = |event: &Event<'_>| matches!(event, Event::Outcome { ending: Ending::Done, .. });
/// assert!(history.iter().any(|record| is_done(&record.event)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ending {
    /// It was done.
    Done,
    /// It was certainly not done.
    Failed,
    /// It may or may not have been done.
    Indeterminate,
}

impl Ending {
    /// The name in traces.
    ///
    /// ```
    /// use sim_core::history::Ending;
    ///
    /// assert_eq!(Ending::Failed.name(), "failed");
    /// ```
    pub fn name(self) -> &'static str {
        match self {
            Ending::Done => "done",
            Ending::Failed => "failed",
            Ending::Indeterminate => "indeterminate",
        }
    }
}

impl Passage {
    /// The name in traces.
    ///
    /// ```
    /// use sim_core::history::Passage;
    ///
    /// assert_eq!(Passage::Full.name(), "full");
    /// ```
    pub fn name(self) -> &'static str {
        match self {
            Passage::Received => "received",
            Passage::Full => "full",
            Passage::Refused => "refused",
            Passage::Lost => "lost",
        }
    }
}

/// Whether a control begins or ends.
///
/// ```
/// use sim_core::history::Phase;
///
/// assert_eq!([Phase::Begin, Phase::End, Phase::Moment].map(Phase::name), ["begin", "end", "moment"]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Phase {
    /// It is in force from now on.
    Begin,
    /// It is no more.
    End,
    /// It is over at once.
    Moment,
}

impl Phase {
    /// The name in traces.
    ///
    /// ```
    /// use sim_core::history::Phase;
    ///
    /// assert_eq!(Phase::Moment.name(), "moment");
    /// ```
    pub fn name(self) -> &'static str {
        match self {
            Phase::Begin => "begin",
            Phase::End => "end",
            Phase::Moment => "moment",
        }
    }
}

/// One event.
///
/// ```
/// use sim_core::history::{Content, Ending, Event, Passage, Phase};
///
/// let carried = |event: &Event<'_>| match event {
///     Event::Deliver { content: Content::Bytes(bytes), .. } => bytes.len(),
///     Event::Datagram { passage: Passage::Received, len, .. } => *len as usize,
///     _ => 0,
/// };
/// assert_eq!(carried(&Event::KernelTimer { wire: 0 }), 0);
/// assert_eq!(Ending::Indeterminate.name(), "indeterminate");
/// assert_eq!((Passage::Lost.name(), Phase::Begin.name()), ("lost", "begin"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event<'a> {
    /// A dimension of the swarm came out so.
    Plan {
        /// The dimension.
        dimension: &'a str,
        /// What was drawn.
        value: u64,
        /// What that means.
        meaning: &'a str,
    },
    /// A host was made.
    Host {
        /// Its number.
        host: u32,
        /// Its name.
        name: &'a str,
    },
    /// A node's program started.
    Start {
        /// The host.
        host: u32,
    },
    /// A segment reached its host.
    Deliver {
        /// The connection.
        wire: u32,
        /// The sender.
        from: u32,
        /// The receiver.
        to: u32,
        /// The control bits.
        flags: u8,
        /// The offset of the first byte.
        seq: u64,
        /// What the sender expects next.
        ack: u64,
        /// The length of the payload, in bytes.
        len: u32,
        /// The payload.
        content: Content<'a>,
    },
    /// A timer of a host's kernel came.
    KernelTimer {
        /// The connection it belongs to.
        wire: u32,
    },
    /// A timer of a machine came.
    MachineTimer {
        /// The host.
        host: u32,
    },
    /// An operation began.
    Operation {
        /// Its identity.
        id: u64,
        /// The client's host.
        host: u32,
        /// The operation.
        text: &'a str,
    },
    /// An operation ended.
    Outcome {
        /// Its identity.
        id: u64,
        /// How.
        ending: Ending,
        /// What it says of that.
        text: &'a str,
    },
    /// A client's program ended.
    Finish {
        /// The host.
        host: u32,
    },
    /// Something a test wanted in the history.
    Note {
        /// The text.
        text: &'a str,
    },
    /// The run failed.
    Failure {
        /// The class.
        class: &'a str,
        /// The message.
        text: &'a str,
    },
    /// A route was made, or its hosts were set.
    Route {
        /// Its name.
        name: &'a str,
        /// The hosts that take its connections from now on.
        hosts: Vec<u32>,
    },
    /// A control began or ended.
    Control {
        /// Which of the two.
        phase: Phase,
        /// What makes it, such as `partition`.
        kind: &'a str,
        /// The hosts that it names; none where it is about connections of any host.
        hosts: Vec<u32>,
        /// The hosts on the other side, where it has two.
        others: Vec<u32>,
        /// What it says.
        text: &'a str,
    },
    /// A process ended.
    Stop {
        /// The host.
        host: u32,
        /// How, and what still ran.
        text: &'a str,
    },
    /// A process printed a line.
    Output {
        /// The host.
        host: u32,
        /// Whether to its standard error.
        is_error: bool,
        /// The line.
        text: &'a str,
    },
    /// The way of a datagram ended.
    Datagram {
        /// The sender's host.
        from: u32,
        /// The receiver's host.
        to: u32,
        /// The sender's address.
        sender: SocketAddr,
        /// The address it was sent to.
        receiver: SocketAddr,
        /// How.
        passage: Passage,
        /// The length of the payload, in bytes.
        len: u32,
        /// The payload.
        content: Content<'a>,
    },
}

/// Writes a time as seconds since the start of the run.
pub(super) fn seconds(nanos: u64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "{:>3}.{:09}", nanos / 1_000_000_000, nanos % 1_000_000_000)
}
