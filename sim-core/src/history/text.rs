//! A history as text: one line an event, with virtual time, node and what changed.

use super::event::seconds;
use super::{Content, Ending, Event, History, Passage, Record};
use hostsim::tcp::Flags;
use std::collections::BTreeMap;
use std::fmt;

/// The lines of a history.
pub struct Trace<'a> {
    history: &'a History,
    names: BTreeMap<u32, String>,
}

impl<'a> Trace<'a> {
    pub(super) fn new(history: &'a History) -> Trace<'a> {
        let mut names = BTreeMap::new();
        for record in history.iter() {
            if let Event::Host { host, name } = record.event {
                names.insert(host, name.to_owned());
            }
        }
        Trace { history, names }
    }

    /// The last lines, at most `count`.
    pub fn last(&self, count: usize) -> Vec<String> {
        let skipped = usize::try_from(self.history.len()).unwrap_or(0).saturating_sub(count);
        self.history.iter().skip(skipped).map(|record| self.line(&record)).collect()
    }

    /// One event as a line.
    pub fn line(&self, record: &Record<'_>) -> String {
        Line { trace: self, record }.to_string()
    }

    fn name(&self, host: u32) -> &str {
        self.names.get(&host).map_or("?", String::as_str)
    }

    fn write_event(&self, event: &Event<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match event {
            Event::Plan { dimension, meaning, .. } => {
                write!(f, "{:<12} {dimension}={meaning}", "plan")
            }
            Event::Host { host, name } => write!(f, "{name:<12} host number={host}"),
            Event::Start { host } => write!(f, "{:<12} start", self.name(*host)),
            Event::Deliver { .. } => self.write_delivery(event, f),
            Event::Datagram { .. } => self.write_datagram(event, f),
            Event::KernelTimer { wire } => write!(f, "{:<12} timer connection={wire}", "kernel"),
            Event::MachineTimer { host } => write!(f, "{:<12} timer", self.name(*host)),
            Event::Operation { id, host, text } => {
                write!(f, "{:<12} operation id={id} {text}", self.name(*host))
            }
            Event::Outcome { id, ending, text } => {
                let ending = match ending {
                    Ending::Done => "done",
                    Ending::Failed => "failed",
                    Ending::Indeterminate => "indeterminate",
                };
                let gap = if text.is_empty() { "" } else { " " };
                write!(f, "{:<12} outcome id={id} {ending}{gap}{text}", "workload")
            }
            Event::Finish { host } => write!(f, "{:<12} finish", self.name(*host)),
            Event::Stop { host, text } => write!(f, "{:<12} stop {text}", self.name(*host)),
            Event::Output { host, is_error, text } => {
                let stream = if *is_error { "stderr" } else { "stdout" };
                write!(f, "{:<12} {stream} {}", self.name(*host), text.escape_debug())
            }
            Event::Control { text } => write!(f, "{:<12} {text}", "control"),
            Event::Note { text } => write!(f, "{:<12} note {text}", "test"),
            Event::Failure { class, text } => write!(f, "{:<12} {class}: {text}", "failure"),
            Event::Route { name, hosts } => {
                let names: Vec<_> = hosts.iter().map(|host| self.name(*host)).collect();
                let names = if names.is_empty() { "nobody".to_owned() } else { names.join(",") };
                write!(f, "{name:<12} route to={names}")
            }
        }
    }

    fn write_delivery(&self, event: &Event<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Event::Deliver { wire, from, to, flags, seq, ack, len, content } = event else {
            return Ok(());
        };
        let (from, to) = (self.name(*from), self.name(*to));
        let flags = Flags(*flags);
        write!(f, "{to:<12} deliver from={from} connection={wire} {flags} seq={seq} ack={ack}")?;
        if *len > 0 {
            write!(f, " len={len} {}", Shown(content))?;
        }
        Ok(())
    }
}

impl Trace<'_> {
    fn write_datagram(&self, event: &Event<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Event::Datagram { from, to, sender, receiver, passage, len, content } = event else {
            return Ok(());
        };
        let (from, to) = (self.name(*from), self.name(*to));
        let passage = match passage {
            Passage::Received => "",
            Passage::Full => " full",
            Passage::Refused => " refused",
            Passage::Lost => " lost",
        };
        write!(f, "{to:<12} datagram{passage} from={from} {sender} > {receiver} len={len}")?;
        if *len > 0 {
            write!(f, " {}", Shown(content))?;
        }
        Ok(())
    }
}

impl fmt::Display for Trace<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.history.iter().try_for_each(|record| writeln!(f, "{}", self.line(&record)))
    }
}

struct Line<'a> {
    trace: &'a Trace<'a>,
    record: &'a Record<'a>,
}

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        seconds(self.record.at, f)?;
        f.write_str(" ")?;
        self.trace.write_event(&self.record.event, f)
    }
}

/// The start of a payload, as text where it is text.
struct Shown<'a>(&'a Content<'a>);

/// How many bytes of a payload a line shows.
const SHOWN_MAX: usize = 24;

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Content::Digest(digest) => {
                f.write_str("sha256=")?;
                digest.iter().take(4).try_for_each(|byte| write!(f, "{byte:02x}"))
            }
            Content::Bytes(bytes) => {
                let shown = &bytes[..bytes.len().min(SHOWN_MAX)];
                let rest = if bytes.len() > SHOWN_MAX { "…" } else { "" };
                write!(f, "\"{}{rest}\"", shown.escape_ascii())
            }
        }
    }
}
