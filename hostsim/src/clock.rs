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
///
/// ```
/// use hostsim::clock::{EPOCH, Instant, UPTIME};
/// use std::time::Duration;
///
/// let second = Duration::from_secs(1);
/// let moment = Instant::START + second;
/// assert_eq!((moment.elapsed(), moment.since(Instant::START)), (second, second));
/// assert_eq!(moment.next(), Instant(1_000_000_001));
/// assert_eq!(moment.to_string(), "1.000000000");
/// // What a program's clocks show at the start.
/// assert_eq!((EPOCH.as_secs() % 86_400, UPTIME.as_secs()), (0, 1_000));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(pub u64);

impl Instant {
    /// The start of a run.
    pub const START: Instant = Instant(0);

    /// The time since the start of the run.
    ///
    /// ```
    /// use hostsim::clock::Instant;
    ///
    /// assert_eq!(Instant(1_500_000_000).elapsed().as_millis(), 1_500);
    /// ```
    pub const fn elapsed(self) -> Duration {
        Duration::from_nanos(self.0)
    }

    /// The time from `earlier` to this moment; zero where that is later.
    ///
    /// ```
    /// use hostsim::clock::Instant;
    ///
    /// let (start, end) = (Instant(2_000), Instant(7_000));
    /// assert_eq!(end.since(start).as_micros(), 5);
    /// assert!(start.since(end).is_zero());
    /// ```
    pub const fn since(self, earlier: Instant) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }

    /// The next moment: events of a run are at least this far apart.
    ///
    /// ```
    /// use hostsim::clock::Instant;
    ///
    /// assert!(Instant::START.next() > Instant::START);
    /// assert_eq!(Instant(7).next(), Instant(8));
    /// ```
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

/// The clocks of one host: how far its wall clock is off, and how fast its time passes.
///
/// The monotonic clock never goes back, whatever is set; the wall clock may be stepped either way.
/// Timers of the host's programs follow its monotonic clock. Its kernel's timers of TCP do not:
/// clocks that drift as real ones do move them by less than they vary by themselves.
///
/// ```
/// use hostsim::clock::{DRIFT_MAX, EPOCH, HostClock, Instant};
/// use std::time::Duration;
///
/// let second = Duration::from_secs(1);
/// let mut clock = HostClock::default();
/// clock.set_skew(-1_000_000_000);
/// clock.set_drift(Instant::START, DRIFT_MAX);
/// let now = Instant::START + 10 * second;
/// assert_eq!(clock.elapsed(now), 11 * second, "a tenth faster");
/// assert_eq!(clock.date(now), EPOCH + 10 * second, "and a second behind");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostClock {
    /// How far the wall clock is ahead, in nanoseconds.
    skew: i64,
    /// How much faster than virtual time the host's passes, in parts per million.
    drift: i32,
    /// The moment at which the drift was set, and the host's own time at it, in nanoseconds.
    set_at: Instant,
    own_at: u64,
}

/// The most that a host's time may drift, in parts per million: a tenth.
pub const DRIFT_MAX: i32 = 100_000;

const MILLION: i128 = 1_000_000;

impl HostClock {
    /// The host's own time since the start of the run.
    ///
    /// ```
    /// use hostsim::clock::{HostClock, Instant};
    /// use std::time::Duration;
    ///
    /// let mut clock = HostClock::default();
    /// clock.set_drift(Instant::START, 1_000);
    /// let now = Instant::START + Duration::from_secs(10);
    /// assert_eq!(clock.elapsed(now).as_millis(), 10_010, "a thousandth faster");
    /// ```
    pub fn elapsed(&self, now: Instant) -> Duration {
        let passed = now.0.saturating_sub(self.set_at.0);
        let own = match self.drift {
            0 => passed,
            drift => (i128::from(passed) * (MILLION + i128::from(drift)) / MILLION) as u64,
        };
        Duration::from_nanos(self.own_at.saturating_add(own))
    }

    /// What the wall clock shows, since 1970.
    ///
    /// ```
    /// use hostsim::clock::{EPOCH, HostClock, Instant};
    ///
    /// let mut clock = HostClock::default();
    /// assert_eq!(clock.date(Instant::START), EPOCH);
    /// clock.set_skew(-1_000_000_000);
    /// assert_eq!(EPOCH - clock.date(Instant::START), std::time::Duration::from_secs(1));
    /// ```
    pub fn date(&self, now: Instant) -> Duration {
        let date = EPOCH + self.elapsed(now);
        let skew = Duration::from_nanos(self.skew.unsigned_abs());
        if self.skew < 0 { date.saturating_sub(skew) } else { date + skew }
    }

    /// The virtual time that passes while so much of the host's own does, rounded up.
    pub(crate) fn span(&self, own: Duration) -> Duration {
        if self.drift == 0 {
            return own;
        }
        let nanos = i128::try_from(own.as_nanos()).unwrap_or(i128::from(u64::MAX));
        let rate = MILLION + i128::from(self.drift);
        let span = (nanos.min(u64::MAX.into()) * MILLION + rate - 1) / rate;
        Duration::from_nanos(u64::try_from(span).unwrap_or(u64::MAX))
    }

    /// Puts the wall clock so far ahead of virtual time, in nanoseconds; negative is behind.
    ///
    /// ```
    /// use hostsim::clock::EPOCH;
    /// use std::time::{Duration, SystemTime};
    /// # use hostsim::{machine::Machine, seam, world::World};
    /// # let world = World::new();
    /// # let _entered = seam::enter(&world);
    /// # let host = world.with(|network| network.add_host("alone"));
    /// world.with(|network| network.host_mut(host).clock.set_skew(60_000_000_000));
    /// let date = world.in_turn(host, SystemTime::now);
    /// let is = date.duration_since(SystemTime::UNIX_EPOCH).expect("it is later");
    /// assert_eq!(is, EPOCH + Duration::from_secs(60));
    /// ```
    pub fn set_skew(&mut self, skew: i64) {
        self.skew = skew;
    }

    /// Sets how much faster the host's time passes from now on, in parts per million, as far as
    /// [`DRIFT_MAX`] either way.
    ///
    /// ```
    /// use hostsim::clock::{DRIFT_MAX, HostClock, Instant};
    /// use std::time::Duration;
    ///
    /// let mut clock = HostClock::default();
    /// let noon = Instant::START + Duration::from_secs(100);
    /// clock.set_drift(noon, -DRIFT_MAX);
    /// assert_eq!(clock.elapsed(noon), noon.elapsed(), "what has passed has passed");
    /// assert_eq!(clock.elapsed(noon + Duration::from_secs(100)).as_secs(), 190);
    /// ```
    pub fn set_drift(&mut self, now: Instant, drift: i32) {
        self.own_at = self.elapsed(now).as_nanos() as u64;
        self.set_at = now;
        self.drift = drift.clamp(-DRIFT_MAX, DRIFT_MAX);
    }
}

impl std::fmt::Display for Instant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{:09}", self.0 / 1_000_000_000, self.0 % 1_000_000_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_time_never_goes_back_and_timers_never_come_early() {
        let mut clock = HostClock::default();
        let mut last = Duration::ZERO;
        for (step, drift) in [0, 500, -500, DRIFT_MAX, -DRIFT_MAX, 7, 0].into_iter().enumerate() {
            let now = Instant(step as u64 * 1_000_003);
            clock.set_drift(now, drift);
            assert!(clock.elapsed(now) >= last, "{drift}");
            for own in [1, 999_999, 1_000_000, 86_400_000_000_000] {
                let due = now + clock.span(Duration::from_nanos(own));
                let passed = clock.elapsed(due) - clock.elapsed(now);
                assert!(passed >= Duration::from_nanos(own), "{drift} {own}: {passed:?}");
                assert!(passed <= Duration::from_nanos(own + 2), "{drift} {own}: {passed:?}");
            }
            last = clock.elapsed(now);
        }
    }

    #[test]
    fn the_wall_clock_steps_and_the_monotonic_one_does_not() {
        let (mut clock, now) = (HostClock::default(), Instant(5_000_000_000));
        clock.set_skew(-3_000_000_000);
        assert_eq!(clock.elapsed(now), Duration::from_secs(5));
        assert_eq!(clock.date(now), EPOCH + Duration::from_secs(2));
        clock.set_skew(i64::MIN);
        assert_eq!(clock.date(now), Duration::ZERO, "no date is before 1970");
    }
}
