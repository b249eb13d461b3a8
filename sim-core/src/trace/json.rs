//! A run as JSON lines: a header, then one object an event of the history and one a line of the log.
//! The schema is in [`crate::manual::trace`]; a change of it changes [`VERSION`].
//!
//! It says what history and log have and adds nothing but what each event is in words. Integers are
//! whole nanoseconds; those of a run of a hundred days are exact in a double.

use crate::history::{Content, Entry, Event, Record, Trace};
use crate::log::LogLine;
use crate::run::{Run, Target};
use crate::swarm::Dimension;
use hostsim::tcp::Flags;
use serde::Serialize;
use std::collections::BTreeMap;

/// The name of the schema.
pub const SCHEMA: &str = "sim-trace";

/// The version of the schema.
pub const VERSION: u32 = 2;

/// The first line.
#[derive(Serialize)]
struct Header<'a> {
    schema: &'static str,
    version: u32,
    target: &'a str,
    hash: String,
    events: u64,
    said: usize,
    left_out: u64,
    elapsed: u64,
    plan: Vec<Drawn<'a>>,
    hosts: Vec<String>,
    failure: Option<Failed<'a>>,
}

/// A dimension of the plan that is not calm.
#[derive(Serialize)]
struct Drawn<'a> {
    dimension: &'a str,
    value: u64,
    meaning: &'a str,
}

/// Why the run failed.
#[derive(Serialize)]
struct Failed<'a> {
    class: &'a str,
    bug: String,
    origin: &'a str,
    message: &'a str,
    details: &'a [String],
}

/// A line of the log. It is no event of the history and has no index there.
#[derive(Serialize)]
struct Said<'a> {
    at: u64,
    event: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    node: Option<u32>,
    level: &'a str,
    target: &'a str,
    spans: &'a [String],
    message: &'a str,
    fields: BTreeMap<&'a str, &'a str>,
    subject: &'a str,
    text: String,
}

/// An event.
#[derive(Serialize)]
struct Line<'a> {
    index: u64,
    at: u64,
    #[serde(flatten)]
    body: Body<'a>,
    subject: &'a str,
    text: String,
}

#[derive(Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum Body<'a> {
    Plan {
        dimension: &'a str,
        value: u64,
        meaning: &'a str,
    },
    Host {
        node: u32,
    },
    Start {
        node: u32,
    },
    Finish {
        node: u32,
    },
    Stop {
        node: u32,
        how: &'a str,
    },
    Output {
        node: u32,
        stream: &'static str,
        line: &'a str,
    },
    Deliver {
        node: u32,
        from: u32,
        sent: Option<u64>,
        connection: u32,
        flags: String,
        seq: u64,
        ack: u64,
        len: u32,
        #[serde(flatten)]
        payload: Payload,
    },
    Datagram {
        node: u32,
        from: u32,
        sent: Option<u64>,
        passage: &'static str,
        sender: String,
        receiver: String,
        len: u32,
        #[serde(flatten)]
        payload: Payload,
    },
    KernelTimer {
        connection: u32,
    },
    MachineTimer {
        node: u32,
    },
    Operation {
        node: u32,
        id: u64,
        operation: &'a str,
    },
    Outcome {
        id: u64,
        ending: &'static str,
        outcome: &'a str,
    },
    Control {
        phase: &'static str,
        kind: &'a str,
        nodes: &'a [u32],
        others: &'a [u32],
    },
    Route {
        route: &'a str,
        nodes: &'a [u32],
    },
    Note {
        note: &'a str,
    },
    Failure {
        class: &'a str,
        message: &'a str,
    },
}

/// The bytes of a segment or datagram: short ones as ASCII with escapes, of long ones their SHA-256.
#[derive(Serialize)]
struct Payload {
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sha256: Option<String>,
}

impl Payload {
    fn of(content: &Content<'_>) -> Payload {
        match content {
            Content::Bytes(bytes) => {
                Payload { bytes: Some(bytes.escape_ascii().to_string()), sha256: None }
            }
            Content::Digest(digest) => {
                let hex = digest.iter().map(|byte| format!("{byte:02x}")).collect();
                Payload { bytes: None, sha256: Some(hex) }
            }
        }
    }
}

/// The lines of a run, the header first.
///
/// ```
/// # use sim_core::Target;
/// # use sim_core::run::{Input, run};
/// # use std::time::Duration;
/// # let minute = Duration::from_secs(60);
/// let target = Target::new("kv", |sim| sim.note("here"));
/// let lines = sim_core::trace::lines(&target, &run(&target, &Input::Seed(7), minute));
/// assert!(lines.iter().all(|line| line.starts_with('{')), "an object each");
/// ```
pub fn lines(target: &Target, run: &Run) -> Vec<String> {
    let trace = run.trace();
    let mut sent = run.history.sent().iter().copied();
    let mut lines = vec![text(&header(target, run))];
    for entry in trace.entries() {
        let (index, record) = match entry {
            Entry::Said(said) => {
                lines.push(said_line(&trace, said));
                continue;
            }
            Entry::Event(index, record) => (index, record),
        };
        let is_of_network = matches!(record.event, Event::Deliver { .. } | Event::Datagram { .. });
        let sent = if is_of_network { sent.next() } else { None };
        lines.push(line(&trace, index, &record, sent));
    }
    lines
}

fn said_line(trace: &Trace<'_>, line: &LogLine) -> String {
    let fields = line.fields.iter().map(|(name, value)| (*name, value.as_str()));
    text(&Said {
        at: line.at,
        event: "log",
        node: line.host,
        level: line.level,
        target: &line.target,
        spans: &line.spans,
        message: &line.message,
        fields: fields.collect(),
        subject: trace.speaker(line),
        text: line.to_string(),
    })
}

fn text(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("plain data with names as keys")
}

fn header<'a>(target: &'a Target, run: &'a Run) -> Header<'a> {
    let drawn = |dimension: &'a Dimension| {
        let Dimension { name, value, meaning } = dimension;
        Drawn { dimension: name, value: *value, meaning }
    };
    let hosts = run.history.iter().filter_map(|record| match record.event {
        Event::Host { name, .. } => Some(name.to_owned()),
        _ => None,
    });
    let failure = run.failure.as_ref().map(|failure| Failed {
        class: failure.class.name(),
        bug: failure.fingerprint(target.name()),
        origin: &failure.origin,
        message: &failure.message,
        details: &failure.details,
    });
    Header {
        schema: SCHEMA,
        version: VERSION,
        target: target.name(),
        hash: run.hash.to_string(),
        events: run.history.len(),
        said: run.log.len(),
        left_out: run.log.dropped(),
        elapsed: u64::try_from(run.elapsed.as_nanos()).unwrap_or(u64::MAX),
        plan: run.plan.active().map(drawn).collect(),
        hosts: hosts.collect(),
        failure,
    }
}

fn line(trace: &Trace<'_>, index: u64, record: &Record<'_>, sent: Option<u64>) -> String {
    let event = &record.event;
    let (subject, says) = (trace.subject(event), trace.says(event));
    text(&Line { index, at: record.at, body: body(event, sent), subject, text: says })
}

fn body<'a>(event: &'a Event<'a>, sent: Option<u64>) -> Body<'a> {
    match event {
        Event::Plan { dimension, value, meaning } => {
            Body::Plan { dimension, value: *value, meaning }
        }
        Event::Host { host, .. } => Body::Host { node: *host },
        Event::Start { host } => Body::Start { node: *host },
        Event::Finish { host } => Body::Finish { node: *host },
        Event::Stop { host, text } => Body::Stop { node: *host, how: text },
        Event::Output { host, is_error, text } => {
            let stream = if *is_error { "stderr" } else { "stdout" };
            Body::Output { node: *host, stream, line: text }
        }
        Event::Deliver { .. } | Event::Datagram { .. } => of_network(event, sent),
        Event::KernelTimer { wire } => Body::KernelTimer { connection: *wire },
        Event::MachineTimer { host } => Body::MachineTimer { node: *host },
        Event::Operation { id, host, text } => {
            Body::Operation { node: *host, id: *id, operation: text }
        }
        Event::Outcome { id, ending, text } => {
            Body::Outcome { id: *id, ending: ending.name(), outcome: text }
        }
        Event::Control { phase, kind, hosts, others, .. } => {
            Body::Control { phase: phase.name(), kind, nodes: hosts, others }
        }
        Event::Route { name, hosts } => Body::Route { route: name, nodes: hosts },
        Event::Note { text } => Body::Note { note: text },
        Event::Failure { class, text } => Body::Failure { class, message: text },
    }
}

/// The body of what the network delivered.
fn of_network<'a>(event: &'a Event<'a>, sent: Option<u64>) -> Body<'a> {
    match event {
        Event::Deliver { wire, from, to, flags, seq, ack, len, content } => Body::Deliver {
            node: *to,
            from: *from,
            sent,
            connection: *wire,
            flags: Flags(*flags).to_string(),
            seq: *seq,
            ack: *ack,
            len: *len,
            payload: Payload::of(content),
        },
        Event::Datagram { from, to, sender, receiver, passage, len, content } => Body::Datagram {
            node: *to,
            from: *from,
            sent,
            passage: passage.name(),
            sender: sender.to_string(),
            receiver: receiver.to_string(),
            len: *len,
            payload: Payload::of(content),
        },
        other => unreachable!("{other:?} is not of the network"),
    }
}
