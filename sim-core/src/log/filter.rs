//! Which events of `tracing` are heard, as `SIM_LOG` says it.

use std::fmt;
use std::str::FromStr;
use tracing_core::{Level, LevelFilter};
use tracing_subscriber::filter::Targets;

/// A filter of events by target and level, in the directives of `tracing`: `debug`, or
/// `info,db::store=trace`. What no directive is about is not heard.
///
/// ```
/// use sim_core::log::LogFilter;
///
/// let filter: LogFilter = "warn,db::store=debug".parse().unwrap();
/// assert_eq!(filter.to_string(), "db::store=debug,warn");
/// assert!("db=loud".parse::<LogFilter>().is_err());
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct LogFilter(Targets);

impl Eq for LogFilter {}

/// Why a text is no filter.
#[derive(Debug, thiserror::Error)]
pub enum LogFilterError {
    /// It says nothing.
    #[error("empty")]
    Empty,
    /// A directive is none.
    #[error("{0}")]
    Directive(#[from] tracing_subscriber::filter::ParseError),
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
        match text.trim() {
            "" => Err(LogFilterError::Empty),
            text => Ok(LogFilter(text.parse()?)),
        }
    }
}

impl fmt::Display for LogFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}
