//! Standard error, where bars of progress may stand: what is said goes above them.
//!
//! Bars of all sweeps of the process are in one place, one below the other. There are some only on a
//! terminal. It says nothing by itself.

use indicatif::MultiProgress;
use std::sync::OnceLock;

static BARS: OnceLock<MultiProgress> = OnceLock::new();

/// Where bars go; none where standard error is no terminal.
pub(crate) fn bars() -> Option<&'static MultiProgress> {
    let bars = BARS.get_or_init(MultiProgress::new);
    (!bars.is_hidden()).then_some(bars)
}

/// Writes to standard error while no bar is in the way.
pub(crate) fn above_bars<T>(write: impl FnOnce() -> T) -> T {
    match BARS.get() {
        Some(bars) => bars.suspend(write),
        None => write(),
    }
}
