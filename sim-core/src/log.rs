//! The log of a run: what its programs say by `tracing` or `log`, with the node and the virtual time.
//!
//! It stands beside the history, never in it: no hash and no identity knows it, so a line that is
//! added to a program changes no run. A line knows after which event of the history it was said, and
//! the trace shows it there.
//!
//! A run is made with its log where somebody reads it: a replay, and the last run of a failure before
//! its report. Any other run has none, and then a place in a program that says something costs it one
//! load of an atomic number. Fields are evaluated only where they are heard, as `tracing` has it; a
//! program whose fields decide something makes another history with them, and that is found.
//!
//! Not here: what a process prints, which is part of the history.
//!
//! # Invariants
//! - The log decides nothing and draws nothing.
//! - No number of a span or thread and no real time is in it.
//! - It holds [`LINES_MAX`] lines at most: the last ones.

mod fields;
mod filter;
mod records;
mod subscriber;

pub use filter::{LogFilter, LogFilterError};
pub(crate) use subscriber::listen;

use crate::failure::Class;
use crate::identity::say;
use crate::run::{Input, Run, Target, run_logged};
use crate::settings::Settings;
use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use tracing_core::Metadata;

/// The most lines that a log holds.
pub const LINES_MAX: usize = 1 << 16;

/// The most bytes of a line's message and of each of its fields.
const TEXT_MAX: usize = 4_096;

/// One event of `tracing`, or record of `log`.
///
/// ```
/// use sim_core::Target;
/// use sim_core::log::{LogFilter, LogLine};
/// use sim_core::run::{Input, run_logged};
/// use std::time::Duration;
///
/// let target = Target::new("loud", |sim| {
///     sim.client("client", |_| async {
///         tokio::time::sleep(Duration::from_secs(2)).await;
///         tracing::warn!(attempt = 3, "no reply");
///     });
/// });
/// let input = Input::Bytes(Vec::new());
/// let run = run_logged(&target, &input, Duration::from_secs(60), &LogFilter::default());
/// let line: &LogLine = run.log.iter().next().expect("it said something");
/// assert_eq!((line.level, line.message.as_str(), line.at / 1_000_000_000), ("WARN", "no reply", 2));
/// assert_eq!(line.to_string(), "WARN no reply attempt=3");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    /// How many events the history had before it.
    pub after: u64,
    /// Nanoseconds since the start of the run.
    pub at: u64,
    /// The host whose program said it; none where the test did.
    pub host: Option<u32>,
    /// Its level, such as `INFO`.
    pub level: &'static str,
    /// Its target: the module that said it, where nothing else was given.
    pub target: Cow<'static, str>,
    /// The spans that it was said in with their fields, the outermost first.
    pub spans: Vec<String>,
    /// The message.
    pub message: String,
    /// The fields in the order in which the program names them.
    pub fields: Vec<(&'static str, String)>,
}

impl fmt::Display for LogLine {
    /// The level, the spans, the message and the fields: `INFO request{id=3}: retry attempt=2`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.level)?;
        if !self.spans.is_empty() {
            write!(f, " {}:", self.spans.join(":"))?;
        }
        if !self.message.is_empty() {
            write!(f, " {}", self.message)?;
        }
        self.fields.iter().try_for_each(|(name, value)| write!(f, " {name}={value}"))
    }
}

/// What the programs of a run said.
///
/// ```
/// use sim_core::Target;
/// use sim_core::log::{Log, LogFilter};
/// use sim_core::run::{Input, run, run_logged};
/// use std::time::Duration;
///
/// let target = Target::new("loud", |sim| {
///     sim.client("client", |_| async { tracing::info!("hello") });
/// });
/// let (input, minute) = (Input::Bytes(Vec::new()), Duration::from_secs(60));
/// let logged = run_logged(&target, &input, minute, &LogFilter::default());
/// assert_eq!((logged.log.len(), logged.log.dropped()), (1, 0));
///
/// // Any other run has none, and is the same run.
/// let plain = run(&target, &input, minute);
/// assert_eq!((plain.log, plain.hash), (Log::default(), logged.hash));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Log {
    lines: VecDeque<LogLine>,
    dropped: u64,
}

impl Log {
    /// The lines in their order.
    ///
    /// ```
    /// # use sim_core::Target;
    /// # use sim_core::run::{Input, run};
    /// # use std::time::Duration;
    /// # let minute = Duration::from_secs(60);
    /// use sim_core::log::LogFilter;
    /// use sim_core::run::run_logged;
    /// let target = Target::new("loud", |_| {
    ///     tracing::info!("one");
    ///     tracing::warn!("two");
    /// });
    /// let log = run_logged(&target, &Input::Seed(7), minute, &LogFilter::default()).log;
    /// let levels: Vec<&str> = log.iter().map(|line| line.level).collect();
    /// assert_eq!(levels, ["INFO", "WARN"]);
    /// ```
    pub fn iter(&self) -> impl Iterator<Item = &LogLine> {
        self.lines.iter()
    }

    /// How many lines it holds.
    ///
    /// ```
    /// # use sim_core::Target;
    /// # use sim_core::run::{Input, run};
    /// # use std::time::Duration;
    /// # let minute = Duration::from_secs(60);
    /// use sim_core::log::LogFilter;
    /// use sim_core::run::run_logged;
    /// let target = Target::new("loud", |_| tracing::info!("one"));
    /// assert_eq!(run_logged(&target, &Input::Seed(7), minute, &LogFilter::default()).log.len(), 1);
    /// ```
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// Whether it holds none.
    ///
    /// ```
    /// # use sim_core::Target;
    /// # use sim_core::run::{Input, run};
    /// # use std::time::Duration;
    /// # let minute = Duration::from_secs(60);
    /// let target = Target::new("loud", |_| tracing::info!("one"));
    /// assert!(run(&target, &Input::Seed(7), minute).log.is_empty(), "it is made without one");
    /// ```
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// How many lines came before those that it holds.
    ///
    /// ```
    /// use sim_core::Target;
    /// use sim_core::log::{LINES_MAX, LogFilter};
    /// use sim_core::run::{Input, run_logged};
    /// use std::time::Duration;
    ///
    /// let target = Target::new("loud", |sim| {
    ///     sim.client("client", |_| async {
    ///         for number in 0..LINES_MAX + 3 {
    ///             tracing::info!(number);
    ///         }
    ///     });
    /// });
    /// let input = Input::Bytes(Vec::new());
    /// let log = run_logged(&target, &input, Duration::from_secs(60), &LogFilter::default()).log;
    /// assert_eq!((log.len(), log.dropped()), (LINES_MAX, 3));
    /// ```
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Adds a line; the first one makes room where there is none.
    pub(crate) fn push(&mut self, line: LogLine) {
        if self.lines.len() == LINES_MAX {
            self.lines.pop_front();
            self.dropped += 1;
        }
        self.lines.push_back(line);
    }
}

/// The log of a run that goes on, and the spans that its programs hold.
#[derive(Debug)]
pub(crate) struct OpenLog {
    pub(crate) log: Log,
    pub(crate) filter: LogFilter,
    spans: BTreeMap<u64, Span>,
}

/// A span that somebody holds.
#[derive(Debug)]
struct Span {
    metadata: &'static Metadata<'static>,
    fields: Vec<(&'static str, String)>,
    parent: Option<u64>,
    /// How many hold it: handles of the program, and spans within.
    holders: usize,
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.metadata.name())?;
        let fields = self.fields.iter().map(|(name, value)| format!("{name}={value}"));
        let fields: Vec<String> = fields.collect();
        if fields.is_empty() { Ok(()) } else { write!(f, "{{{}}}", fields.join(" ")) }
    }
}

impl OpenLog {
    /// An empty log, of what the filter lets through.
    pub(crate) fn new(filter: LogFilter) -> OpenLog {
        OpenLog { log: Log::default(), filter, spans: BTreeMap::new() }
    }

    /// Opens a span, with one holder.
    fn open(
        &mut self,
        id: u64,
        metadata: &'static Metadata<'static>,
        fields: Vec<(&'static str, String)>,
        parent: Option<u64>,
    ) {
        let parent = parent.filter(|parent| self.hold(*parent));
        self.spans.insert(id, Span { metadata, fields, parent, holders: 1 });
    }

    /// Adds fields to a span; one that it has gets its new value.
    fn add_fields(&mut self, id: u64, fields: Vec<(&'static str, String)>) {
        let Some(span) = self.spans.get_mut(&id) else { return };
        for (name, value) in fields {
            match span.fields.iter_mut().find(|(other, _)| *other == name) {
                Some(field) => field.1 = value,
                None => span.fields.push((name, value)),
            }
        }
    }

    /// One more holds a span; whether it is there.
    fn hold(&mut self, id: u64) -> bool {
        self.spans.get_mut(&id).map(|span| span.holders += 1).is_some()
    }

    /// One fewer holds a span; whether it is gone. With it goes what it alone held.
    fn release(&mut self, id: u64) -> bool {
        let (mut next, mut is_gone) = (Some(id), false);
        while let Some(id) = next.take() {
            let Some(span) = self.spans.get_mut(&id) else { break };
            span.holders -= 1;
            if span.holders == 0 {
                is_gone = true;
                next = self.spans.remove(&id).and_then(|span| span.parent);
            }
        }
        is_gone
    }

    /// What is known of the place that made a span.
    fn metadata(&self, id: u64) -> Option<&'static Metadata<'static>> {
        self.spans.get(&id).map(|span| span.metadata)
    }

    /// A span and those around it in words, the outermost first.
    pub(crate) fn context(&self, id: Option<u64>) -> Vec<String> {
        let mut spans = Vec::new();
        let mut next = id;
        while let Some(span) = next.and_then(|id| self.spans.get(&id)) {
            spans.push(span.to_string());
            next = span.parent;
        }
        spans.reverse();
        spans
    }
}

/// Makes a failing run once more with its log, and gives the log to the run. A run that then has
/// another history keeps none, and that is said: something in a field decides.
pub(crate) fn add_to(target: &Target, run: &mut Run, settings: &Settings) {
    let class = run.failure.as_ref().map(|failure| failure.class);
    if run.history.is_empty() || class == Some(Class::Diverged) || !run.log.is_empty() {
        return;
    }
    let input = Input::Bytes(run.tape.to_bytes());
    let again = run_logged(target, &input, settings.watchdog, &settings.log);
    if again.hash == run.hash {
        run.log = again.log;
    } else {
        say("sim: without events of tracing: the run has another history where they are heard");
    }
}

#[cfg(test)]
mod tests;
