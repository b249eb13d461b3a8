//! The logger of the `log` crate: its records become lines as events of `tracing` do, in the spans that
//! the thread is in.
//!
//! It is set with the subscriber, and as that it hears only while a run with a log is under way. A
//! process that has a logger of its own keeps it. The pairs of a record, which `log` has behind a
//! feature, are not shown.

use super::LogLine;
use super::fields::text;
use super::subscriber::innermost;
use crate::panics::{self, Here, with_log};
use log::{LevelFilter, Metadata, Record};
use std::sync::atomic::{AtomicBool, Ordering};
use tracing_core::Level;

/// Whether the logger of this process is ours.
static IS_SET: AtomicBool = AtomicBool::new(false);

/// Makes ours the logger of the process, where there is none; whether it is.
pub(super) fn install() -> bool {
    IS_SET.store(log::set_logger(&Logger).is_ok(), Ordering::Release);
    IS_SET.load(Ordering::Acquire)
}

/// Begins to hear records, or ends it: then a record costs one load of a number.
pub(super) fn hear(is_heard: bool) {
    if IS_SET.load(Ordering::Acquire) {
        log::set_max_level(if is_heard { LevelFilter::Trace } else { LevelFilter::Off });
    }
}

struct Logger;

impl log::Log for Logger {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        let level = level(metadata.level());
        with_log(|log| log.filter.hears(metadata.target(), &level)).unwrap_or(false)
    }

    fn log(&self, record: &Record<'_>) {
        if !self.enabled(record.metadata()) {
            return;
        }
        // What is shown is the program's own code: it may say something itself.
        let message = text(*record.args());
        let Some(Here { after, at, host }) = panics::here() else { return };
        let level = level(record.level()).as_str();
        let (target, fields) = (record.target().to_owned().into(), Vec::new());
        with_log(|log| {
            let spans = log.context(innermost());
            log.log.push(LogLine { after, at, host, level, target, spans, message, fields });
        });
    }

    fn flush(&self) {}
}

/// A level as `tracing` has it.
fn level(level: log::Level) -> Level {
    match level {
        log::Level::Error => Level::ERROR,
        log::Level::Warn => Level::WARN,
        log::Level::Info => Level::INFO,
        log::Level::Debug => Level::DEBUG,
        log::Level::Trace => Level::TRACE,
    }
}
