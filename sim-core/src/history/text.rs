//! A history as text: one line an event, with virtual time, node and what changed; and between them
//! what programs said.

use super::event::seconds;
use super::{Content, Event, History, Passage, Record};
use crate::log::{Log, LogLine};
use hostsim::tcp::Flags;
use std::collections::BTreeMap;
use std::fmt;

/// The lines of a history, with the lines of a log where they were said.
///
/// ```
/// # use sim_core::{Target, run::{Input, run}};
/// let target = Target::new("node", |sim| {
///     sim.node("server", |_| async {});
///     sim.client("client", |_| async {});
/// });
/// let run = run(&target, &Input::Bytes(Vec::new()), std::time::Duration::from_secs(60));
/// let trace = run.history.trace();
/// assert_eq!((trace.name(0), trace.name(1)), ("server", "client"));
/// let first = run.history.iter().next().unwrap();
/// assert_eq!(trace.subject(&first.event), "server");
/// assert_eq!(trace.says(&first.event), "host number=0");
/// assert_eq!(trace.line(&first), "  0.000000000 server       host number=0");
/// assert_eq!(trace.last(1), ["  0.000000000 client       finish"]);
/// ```
pub struct Trace<'a> {
    history: &'a History,
    log: Option<&'a Log>,
    names: BTreeMap<u32, String>,
}

/// What a line of a trace is about.
///
/// ```
/// # use sim_core::Target;
/// # use sim_core::run::{Input, run};
/// # use std::time::Duration;
/// # let minute = Duration::from_secs(60);
/// use sim_core::history::Entry;
/// let target = Target::new("notes", |sim| sim.note("here"));
/// let run = run(&target, &Input::Seed(7), minute);
/// let is_event = |entry: Entry<'_>| matches!(entry, Entry::Event(..));
/// assert!(run.trace().entries().all(is_event), "nobody said anything");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry<'a> {
    /// An event of the history, with its index.
    Event(u64, Record<'a>),
    /// Something that a program said.
    Said(&'a LogLine),
}

impl<'a> Trace<'a> {
    pub(super) fn new(history: &'a History) -> Trace<'a> {
        let mut names = BTreeMap::new();
        for record in history.iter() {
            if let Event::Host { host, name } = record.event {
                names.insert(host, name.to_owned());
            }
        }
        Trace { history, log: None, names }
    }

    pub(crate) fn with_log(history: &'a History, log: &'a Log) -> Trace<'a> {
        Trace { log: Some(log), ..Trace::new(history) }
    }

    /// How many lines there are.
    ///
    /// ```
    /// # use sim_core::Target;
    /// # use sim_core::run::{Input, run};
    /// # use std::time::Duration;
    /// # let minute = Duration::from_secs(60);
    /// let target = Target::new("notes", |sim| sim.note("here"));
    /// let run = run(&target, &Input::Seed(7), minute);
    /// assert_eq!(run.trace().len(), run.trace().lines().count());
    /// ```
    pub fn len(&self) -> usize {
        let events = usize::try_from(self.history.len()).unwrap_or(usize::MAX);
        events.saturating_add(self.log.map_or(0, Log::len))
    }

    /// Whether there are none.
    ///
    /// ```
    /// use sim_core::history::History;
    ///
    /// assert!(History::default().trace().is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What the lines are about, in their order.
    ///
    /// ```
    /// # use sim_core::Target;
    /// # use sim_core::run::{Input, run};
    /// # use std::time::Duration;
    /// # let minute = Duration::from_secs(60);
    /// use sim_core::history::{Entry, Event};
    /// let target = Target::new("notes", |sim| sim.note("here"));
    /// let run = run(&target, &Input::Seed(7), minute);
    /// let trace = run.trace();
    /// let notes = trace.entries().filter(|entry| {
    ///     matches!(entry, Entry::Event(_, record) if matches!(record.event, Event::Note { .. }))
    /// });
    /// assert_eq!(notes.count(), 1);
    /// ```
    pub fn entries(&self) -> impl Iterator<Item = Entry<'a>> {
        let mut said = self.log.into_iter().flat_map(Log::iter).peekable();
        let mut events = (0..).zip(self.history.iter()).peekable();
        std::iter::from_fn(move || {
            let next = events.peek().map(|(index, _)| *index);
            let is_said = |line: &&LogLine| next.is_none_or(|index| line.after <= index);
            let said = said.next_if(is_said).map(Entry::Said);
            said.or_else(|| events.next().map(|(index, record)| Entry::Event(index, record)))
        })
    }

    /// The lines in their order.
    ///
    /// ```
    /// # use sim_core::Target;
    /// # use sim_core::run::{Input, run};
    /// # use std::time::Duration;
    /// # let minute = Duration::from_secs(60);
    /// let target = Target::new("notes", |sim| {
    ///     sim.client("client", |_| async { tokio::time::sleep(Duration::from_secs(2)).await });
    /// });
    /// let run = run(&target, &Input::Seed(7), minute);
    /// assert!(run.trace().lines().any(|line| line.contains("client       start")));
    /// ```
    pub fn lines(&self) -> impl Iterator<Item = String> {
        self.entries().map(|entry| self.entry(&entry))
    }

    /// The last lines, at most `count`.
    ///
    /// ```
    /// # use sim_core::Target;
    /// # use sim_core::run::{Input, run};
    /// # use std::time::Duration;
    /// # let minute = Duration::from_secs(60);
    /// let target = Target::new("fails", |sim| sim.fail("no"));
    /// let run = run(&target, &Input::Seed(7), minute);
    /// assert!(run.trace().last(1)[0].contains("failure"));
    /// ```
    pub fn last(&self, count: usize) -> Vec<String> {
        let skipped = self.len().saturating_sub(count);
        self.entries().skip(skipped).map(|entry| self.entry(&entry)).collect()
    }

    /// One event as a line.
    ///
    /// ```
    /// # use sim_core::Target;
    /// # use sim_core::run::{Input, run};
    /// # use std::time::Duration;
    /// # let minute = Duration::from_secs(60);
    /// let target = Target::new("notes", |sim| sim.note("here"));
    /// let history = run(&target, &Input::Seed(7), minute).history;
    /// let trace = history.trace();
    /// let lines: Vec<String> = history.iter().map(|record| trace.line(&record)).collect();
    /// assert_eq!(lines, trace.lines().collect::<Vec<_>>());
    /// ```
    pub fn line(&self, record: &Record<'_>) -> String {
        Line { trace: self, record }.to_string()
    }

    /// Something that was said as a line.
    fn said(&self, line: &LogLine) -> String {
        let at = Moment(line.at);
        format!("{at} {:<12} {line}", self.speaker(line))
    }

    pub(super) fn entry(&self, entry: &Entry<'_>) -> String {
        match entry {
            Entry::Event(_, record) => self.line(record),
            Entry::Said(line) => self.said(line),
        }
    }

    /// Who said something: a node, or the test.
    ///
    /// ```
    /// use sim_core::Target;
    /// use sim_core::log::LogFilter;
    /// use sim_core::run::{Input, run_logged};
    /// use std::time::Duration;
    ///
    /// let target = Target::new("loud", |sim| {
    ///     tracing::info!("it begins");
    ///     sim.client("client", |_| async { tracing::info!("hello") });
    /// });
    /// let input = Input::Bytes(Vec::new());
    /// let run = run_logged(&target, &input, Duration::from_secs(60), &LogFilter::default());
    /// let trace = run.trace();
    /// let speakers: Vec<&str> = run.log.iter().map(|line| trace.speaker(line)).collect();
    /// assert_eq!(speakers, ["test", "client"]);
    /// ```
    pub fn speaker(&self, line: &LogLine) -> &str {
        line.host.map_or("test", |host| self.name(host))
    }

    /// The name of a host, by its number.
    ///
    /// ```
    /// # use sim_core::Target;
    /// # use sim_core::run::{Input, run};
    /// # use std::time::Duration;
    /// # let minute = Duration::from_secs(60);
    /// let target = Target::new("hosts", |sim| {
    ///     sim.client("client", |_| async {});
    /// });
    /// let history = run(&target, &Input::Seed(7), minute).history;
    /// assert_eq!((history.trace().name(0), history.trace().name(9)), ("client", "?"));
    /// ```
    pub fn name(&self, host: u32) -> &str {
        self.names.get(&host).map_or("?", String::as_str)
    }

    /// What an event says, without its moment and its subject.
    ///
    /// ```
    /// use sim_core::history::{Event, History};
    ///
    /// let history = History::default();
    /// assert!(history.trace().says(&Event::Note { text: "here" }).contains("here"));
    /// ```
    pub fn says(&self, event: &Event<'_>) -> String {
        Says { trace: self, event }.to_string()
    }

    /// What an event is about: mostly the node.
    ///
    /// ```
    /// # use sim_core::Target;
    /// # use sim_core::run::{Input, run};
    /// # use std::time::Duration;
    /// # let minute = Duration::from_secs(60);
    /// use sim_core::history::Event;
    /// let target = Target::new("hosts", |sim| {
    ///     sim.client("client", |_| async {});
    /// });
    /// let history = run(&target, &Input::Seed(7), minute).history;
    /// assert_eq!(history.trace().subject(&Event::Start { host: 0 }), "client");
    /// ```
    pub fn subject<'b>(&'b self, event: &'b Event<'_>) -> &'b str {
        match event {
            Event::Host { name, .. } | Event::Route { name, .. } => name,
            Event::Start { host }
            | Event::MachineTimer { host }
            | Event::Operation { host, .. }
            | Event::Finish { host }
            | Event::Stop { host, .. }
            | Event::Output { host, .. } => self.name(*host),
            Event::Deliver { to, .. } | Event::Datagram { to, .. } => self.name(*to),
            Event::Plan { .. } => "plan",
            Event::KernelTimer { .. } => "kernel",
            Event::Outcome { .. } => "workload",
            Event::Control { .. } => "control",
            Event::Note { .. } => "test",
            Event::Failure { .. } => "failure",
        }
    }

    fn write_event(&self, event: &Event<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match event {
            Event::Plan { dimension, meaning, .. } => write!(f, "{dimension}={meaning}"),
            Event::Host { host, .. } => write!(f, "host number={host}"),
            Event::Start { .. } => f.write_str("start"),
            Event::Deliver { .. } => self.write_delivery(event, f),
            Event::Datagram { .. } => self.write_datagram(event, f),
            Event::KernelTimer { wire } => write!(f, "timer connection={wire}"),
            Event::MachineTimer { .. } => f.write_str("timer"),
            Event::Operation { id, text, .. } => write!(f, "operation id={id} {text}"),
            Event::Outcome { id, ending, text } => {
                let gap = if text.is_empty() { "" } else { " " };
                write!(f, "outcome id={id} {}{gap}{text}", ending.name())
            }
            Event::Finish { .. } => f.write_str("finish"),
            Event::Stop { text, .. } => write!(f, "stop {text}"),
            Event::Output { is_error, text, .. } => {
                let stream = if *is_error { "stderr" } else { "stdout" };
                write!(f, "{stream} {}", text.escape_debug())
            }
            Event::Control { text, .. } => f.write_str(text),
            Event::Note { text } => write!(f, "note {text}"),
            Event::Failure { class, text } => write!(f, "{class}: {text}"),
            Event::Route { hosts, .. } => {
                let names: Vec<_> = hosts.iter().map(|host| self.name(*host)).collect();
                let names = if names.is_empty() { "nobody".to_owned() } else { names.join(",") };
                write!(f, "route to={names}")
            }
        }
    }

    fn write_delivery(&self, event: &Event<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Event::Deliver { wire, from, flags, seq, ack, len, content, .. } = event else {
            return Ok(());
        };
        let (from, flags) = (self.name(*from), Flags(*flags));
        write!(f, "deliver from={from} connection={wire} {flags} seq={seq} ack={ack}")?;
        if *len > 0 {
            write!(f, " len={len} {}", Shown(content))?;
        }
        Ok(())
    }

    fn write_datagram(&self, event: &Event<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Event::Datagram { from, sender, receiver, passage, len, content, .. } = event else {
            return Ok(());
        };
        let from = self.name(*from);
        let passage = match passage {
            Passage::Received => "",
            Passage::Full => " full",
            Passage::Refused => " refused",
            Passage::Lost => " lost",
        };
        write!(f, "datagram{passage} from={from} {sender} > {receiver} len={len}")?;
        if *len > 0 {
            write!(f, " {}", Shown(content))?;
        }
        Ok(())
    }
}

impl fmt::Display for Trace<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.lines().try_for_each(|line| writeln!(f, "{line}"))
    }
}

/// A moment, as a line begins with it.
struct Moment(u64);

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        seconds(self.0, f)
    }
}

struct Line<'a> {
    trace: &'a Trace<'a>,
    record: &'a Record<'a>,
}

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        seconds(self.record.at, f)?;
        let event = &self.record.event;
        write!(f, " {:<12} ", self.trace.subject(event))?;
        self.trace.write_event(event, f)
    }
}

struct Says<'a> {
    trace: &'a Trace<'a>,
    event: &'a Event<'a>,
}

impl fmt::Display for Says<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.trace.write_event(self.event, f)
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
