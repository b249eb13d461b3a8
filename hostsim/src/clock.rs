//! Virtual time: integer nanoseconds since the start of a run.
//!
//! A run begins at [`Instant::START`]; its wall clock then shows [`EPOCH`], a constant, so that no
//! run depends on the day it is made on. Nothing here reads a real clock.

use std::ops::Add;
use std::time::Duration;

/// What the wall clock of every machine shows at the start of a run: 2025-01-01T00:00:00Z.
pub const EPOCH: Duration = Duration::from_secs(1_735_689_600);

/// What `CLOCK_MONOTONIC` shows at the start of a run. Not zero, so that a program may subtract.
pub const UPTIME: Duration = Duration::from_secs(1_000);

/// A moment of a run, in nanoseconds since its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(pub u64);

impl Instant {
    /// The start of a run.
    pub const START: Instant = Instant(0);

    /// The time since the start of the run.
    pub const fn elapsed(self) -> Duration {
        Duration::from_nanos(self.0)
    }

    /// The time from `earlier` to this moment; zero where that is later.
    pub const fn since(self, earlier: Instant) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }

    /// The next moment: events of a run are at least this far apart.
    pub const fn next(self) -> Instant {
        Instant(self.0 + 1)
    }
}

impl Add<Duration> for Instant {
    type Output = Instant;

    /// The moment `delay` later; the far end of time where that is past it.
    fn add(self, delay: Duration) -> Instant {
        let nanos = u64::try_from(delay.as_nanos()).unwrap_or(u64::MAX);
        Instant(self.0.saturating_add(nanos))
    }
}

impl std::fmt::Display for Instant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{:09}", self.0 / 1_000_000_000, self.0 % 1_000_000_000)
    }
}
