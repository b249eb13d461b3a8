//! Which events of `tracing` and records of `log` are heard, as `SIM_LOG` says it.

use std::fmt;
use std::str::FromStr;
use tracing_core::{Level, LevelFilter};
use tracing_subscriber::filter::Targets;

/// A filter of events by target and level, in two of the directives of `tracing`, `LEVEL` and
/// `TARGET=LEVEL`: `debug`, or `info,db::store=trace`. What no directive is about is not heard.
///
/// ```
/// use sim_core::log::LogFilter;
///
/// let filter: LogFilter = "warn,db::store=debug".parse().unwrap();
/// assert_eq!(filter.to_string(), "db::store=debug,warn");
/// assert!("db=loud".parse::<LogFilter>().is_err());
/// assert!("loud".parse::<LogFilter>().is_err(), "a target alone is none");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct LogFilter(Targets);

impl Eq for LogFilter {}

/// Why a text is no filter.
///
/// ```
/// use sim_core::log::{LogFilter, LogFilterError};
///
/// let error = "info,db=loud".parse::<LogFilter>().unwrap_err();
/// assert!(matches!(&error, LogFilterError::Level(level) if level == "loud"));
/// assert_eq!(error.to_string(), "\"loud\" is no level; one of a target is TARGET=LEVEL");
/// ```
#[derive(Debug, thiserror::Error)]
pub enum LogFilterError {
    /// It says nothing, or a directive of it does not.
    #[error("a directive is empty")]
    Empty,
    /// A directive says another level than there is.
    #[error("{0:?} is no level; one of a target is TARGET=LEVEL")]
    Level(String),
    /// A directive says another target than a program can have.
    #[error("{0:?} is no target")]
    Target(String),
}

impl LogFilter {
    /// Whether an event of this target and level is heard.
    pub(crate) fn hears(&self, target: &str, level: &Level) -> bool {
        self.0.would_enable(target, level)
    }
}

impl Default for LogFilter {
    /// `INFO` and above, of every target.
    fn default() -> LogFilter {
        LogFilter(Targets::new().with_default(LevelFilter::INFO))
    }
}

impl FromStr for LogFilter {
    type Err = LogFilterError;

    fn from_str(text: &str) -> Result<LogFilter, LogFilterError> {
        let mut targets = Targets::new();
        for directive in text.split(',').map(str::trim) {
            targets = match directive.split_once('=') {
                None if directive.is_empty() => return Err(LogFilterError::Empty),
                None => targets.with_default(level_of(directive)?),
                Some((target, level)) => targets.with_target(target_of(target)?, level_of(level)?),
            };
        }
        Ok(LogFilter(targets))
    }
}

/// Reads a level. Crates of `tracing` take a word that is none as a target: then `SIM_LOG=inof` would
/// hear nothing, and say nothing of it.
fn level_of(text: &str) -> Result<LevelFilter, LogFilterError> {
    let level = if text.is_empty() { None } else { text.parse().ok() };
    level.ok_or_else(|| LogFilterError::Level(text.to_owned()))
}

/// Reads a target. Those of spans and fields, in brackets, are not among them.
fn target_of(text: &str) -> Result<&str, LogFilterError> {
    let is_odd = |character: char| character.is_whitespace() || "[]{}".contains(character);
    let is_target = !text.is_empty() && !text.contains(is_odd);
    is_target.then_some(text).ok_or_else(|| LogFilterError::Target(text.to_owned()))
}

impl fmt::Display for LogFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}
