//! Retry: the waits between attempts grow, and are spread at random so that clients that failed
//! together do not come back together.
//!
//! [`Backoff`] says how waits grow, and how long they can be in all: a test asks it for the bound of
//! what the program promises. [`Exponential`] is a back-off with a generator of its own, whose seed
//! is random bytes of the system, taken once when it is made. In a simulated run those are the
//! host's simulated bytes, so the run seeds it, and the waits pass in virtual time.
//!
//! Which errors are worth another attempt is the caller's business: after a reply that was lost, a
//! request may have been executed.
//!
//! Well-kept crates do the same with more forms of waits. Most seed their jitter by addresses, thread
//! ids or the time, which no run repeats. One that takes a seed (`backon` has `with_jitter_seed`)
//! may be given 8 bytes of `getrandom` for each back-off that is made.
//!
//! # Example
//! ```
//! use sim_process::retry::{Backoff, Exponential};
//! use std::time::Duration;
//!
//! const BACKOFF: Backoff = Backoff::new(Duration::from_millis(100), Duration::from_secs(2));
//!
//! async fn connect(address: &str) -> std::io::Result<tokio::net::TcpStream> {
//!     Exponential::new(BACKOFF).retry(5, || tokio::net::TcpStream::connect(address)).await
//! }
//!
//! // The five attempts of that are at most so far apart in all: 100 + 200 + 400 + 800 ms.
//! assert_eq!(BACKOFF.bound(5), Duration::from_millis(1_500));
//! ```

use std::future::Future;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// How the waits between attempts grow: each may be longer than the one before by a factor, up to a
/// longest.
///
/// ```
/// use sim_process::retry::Backoff;
/// use std::time::Duration;
///
/// let second = Duration::from_secs(1);
/// let backoff = Backoff::new(second, 60 * second).factor(3);
/// let waits = [0, 1, 2, 9].map(|failed| backoff.wait_max(failed));
/// assert_eq!(waits, [0, 1, 3, 60].map(|count| count * second));
/// assert_eq!(backoff.bound(3), 4 * second);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    first: Duration,
    longest: Duration,
    factor: u32,
}

impl Backoff {
    /// A wait of `first` at most before the second attempt, which doubles up to `longest`.
    ///
    /// ```
    /// use sim_process::retry::Backoff;
    /// use std::time::Duration;
    ///
    /// let backoff = Backoff::new(Duration::from_millis(100), Duration::from_secs(10));
    /// assert_eq!(backoff.wait_max(3).as_millis(), 400);
    /// ```
    pub const fn new(first: Duration, longest: Duration) -> Backoff {
        Backoff { first, longest, factor: 2 }
    }

    /// Sets the factor.
    ///
    /// ```
    /// use sim_process::retry::Backoff;
    /// use std::time::Duration;
    ///
    /// let steady = Backoff::new(Duration::from_secs(1), Duration::from_secs(9)).factor(1);
    /// assert_eq!(steady.wait_max(7), Duration::from_secs(1));
    /// ```
    #[must_use]
    pub const fn factor(mut self, factor: u32) -> Backoff {
        self.factor = factor;
        self
    }

    /// The longest wait after so many attempts failed; none before the first.
    ///
    /// ```
    /// use sim_process::retry::Backoff;
    /// use std::time::Duration;
    ///
    /// let backoff = Backoff::new(Duration::from_secs(1), Duration::from_secs(5));
    /// let waits = [0, 1, 2, 3, 4].map(|failed| backoff.wait_max(failed).as_secs());
    /// assert_eq!(waits, [0, 1, 2, 4, 5]);
    /// ```
    pub fn wait_max(&self, failed: u32) -> Duration {
        if failed == 0 {
            return Duration::ZERO;
        }
        let factor = self.factor.checked_pow(failed - 1);
        let grown = factor.and_then(|factor| self.first.checked_mul(factor));
        grown.map_or(self.longest, |grown| grown.min(self.longest))
    }

    /// The sum of the longest waits between so many attempts. What the attempts take is not in it.
    ///
    /// ```
    /// use sim_process::retry::Backoff;
    /// use std::time::Duration;
    ///
    /// let backoff = Backoff::new(Duration::from_secs(1), Duration::from_secs(60));
    /// assert_eq!(backoff.bound(4).as_secs(), 1 + 2 + 4);
    /// ```
    pub fn bound(&self, attempts: u32) -> Duration {
        let waits = (0..attempts).map(|failed| self.wait_max(failed));
        waits.fold(Duration::ZERO, Duration::saturating_add)
    }
}

/// A back-off with full jitter: each wait is any time up to the longest, the ends included, and each
/// nanosecond of that is as likely as any other, to within the 2⁶⁴th part of the longest wait's
/// nanoseconds.
///
/// Tasks and threads may share it: each wait is one number of one sequence, and no two take the same.
///
/// ```
/// use sim_process::retry::{Backoff, Exponential};
/// use std::time::Duration;
///
/// let backoff = Backoff::new(Duration::from_secs(1), Duration::from_secs(9));
/// let exponential = Exponential::new(backoff);
/// assert!(exponential.wait(1) <= exponential.backoff().wait_max(1));
/// ```
#[derive(Debug)]
pub struct Exponential {
    backoff: Backoff,
    /// How far the sequence is: a SplitMix64 generator (Steele, Lea, Flood 2014).
    state: AtomicU64,
}

/// What a SplitMix64 generator adds to its state for each number.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

impl Exponential {
    /// A back-off whose jitter is seeded with random bytes of the system.
    ///
    /// # Panics
    /// Where the system has no random bytes.
    ///
    /// ```
    /// use sim_process::retry::{Backoff, Exponential};
    /// use std::time::Duration;
    ///
    /// let backoff = Backoff::new(Duration::from_secs(1), Duration::from_secs(9));
    /// assert_eq!(Exponential::new(backoff).wait(0), Duration::ZERO, "nothing failed yet");
    /// ```
    pub fn new(backoff: Backoff) -> Exponential {
        let seed = getrandom::u64().expect("the system has random bytes");
        Exponential::seeded(backoff, seed)
    }

    fn seeded(backoff: Backoff, seed: u64) -> Exponential {
        Exponential { backoff, state: AtomicU64::new(seed) }
    }

    /// How its waits grow.
    ///
    /// ```
    /// use sim_process::retry::{Backoff, Exponential};
    /// use std::time::Duration;
    ///
    /// let backoff = Backoff::new(Duration::from_secs(1), Duration::from_secs(9));
    /// assert_eq!(*Exponential::new(backoff).backoff(), backoff);
    /// ```
    pub fn backoff(&self) -> &Backoff {
        &self.backoff
    }

    /// Draws the wait after so many attempts failed.
    ///
    /// ```
    /// use sim_process::retry::{Backoff, Exponential};
    /// use std::time::Duration;
    ///
    /// let second = Duration::from_secs(1);
    /// let exponential = Exponential::new(Backoff::new(second, 9 * second));
    /// assert!((1..5).all(|failed| exponential.wait(failed) <= 8 * second));
    /// ```
    pub fn wait(&self, failed: u32) -> Duration {
        let nanos = self.backoff.wait_max(failed).as_nanos();
        let nanos = u64::try_from(nanos).unwrap_or(u64::MAX);
        let part = u128::from(self.number()) * (u128::from(nanos) + 1);
        Duration::from_nanos((part >> 64) as u64)
    }

    /// Makes up to so many attempts, at least one, with a wait after each that failed but the last.
    ///
    /// # Errors
    /// That of the last attempt.
    ///
    /// ```
    /// use sim_process::retry::{Backoff, Exponential};
    /// use std::cell::Cell;
    /// use std::time::Duration;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let backoff = Exponential::new(Backoff::new(Duration::ZERO, Duration::ZERO));
    /// let count = Cell::new(0);
    /// let result = backoff.retry(5, || async {
    ///     count.set(count.get() + 1);
    ///     if count.get() < 3 { Err("not yet") } else { Ok("done") }
    /// });
    /// assert_eq!((result.await, count.get()), (Ok("done"), 3));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn retry<T, E, F>(
        &self,
        attempts: u32,
        mut attempt: impl FnMut() -> F,
    ) -> Result<T, E>
    where
        F: Future<Output = Result<T, E>>,
    {
        let mut failed = 0;
        loop {
            match attempt().await {
                Err(_) if failed + 1 < attempts => failed += 1,
                result => return result,
            }
            tokio::time::sleep(self.wait(failed)).await;
        }
    }

    /// The next number of the sequence.
    fn number(&self) -> u64 {
        let mut value = self.state.fetch_add(STEP, Ordering::Relaxed).wrapping_add(STEP);
        value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        value ^ (value >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::sync::Barrier;

    const SECOND: Duration = Duration::from_secs(1);

    fn waits(backoff: Backoff, failed: u32) -> Vec<Duration> {
        let exponential = Exponential::seeded(backoff, 7);
        (0..100_000).map(|_| exponential.wait(failed)).collect()
    }

    #[test]
    fn waits_grow_up_to_the_longest() {
        let backoff = Backoff::new(SECOND, SECOND * 5);
        let longest = [0, 1, 2, 3, 4, 40, u32::MAX].map(|failed| backoff.wait_max(failed));
        assert_eq!(longest, [0, 1, 2, 4, 5, 5, 5].map(|count| SECOND * count));
        let bounds = [0, 1, 2, 3, 4, 5, 6].map(|attempts| backoff.bound(attempts));
        assert_eq!(bounds, [0, 0, 1, 3, 7, 12, 17].map(|count| SECOND * count));
        let steady = backoff.factor(1);
        assert_eq!(steady.bound(11), SECOND * 10);
        assert_eq!(Backoff::new(SECOND, Duration::MAX).bound(1_000), Duration::MAX);
    }

    /// The numbers of the published reference for the seed 0.
    #[test]
    fn the_sequence_is_that_of_the_published_generator() {
        let exponential = Exponential::seeded(Backoff::new(SECOND, SECOND), 0);
        let numbers = [(); 3].map(|()| exponential.number());
        assert_eq!(numbers, [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4, 0x06c4_5d18_8009_454f]);
    }

    /// Of 100,000 waits a tenth is in each tenth of the range, to within four standard deviations,
    /// and a range of a few nanoseconds has both its ends.
    #[test]
    fn every_wait_up_to_the_longest_is_as_likely() {
        let mut tenths = [0_u32; 10];
        for wait in waits(Backoff::new(SECOND, SECOND * 60), 4) {
            assert!(wait <= SECOND * 8);
            tenths[(wait.as_nanos() * 10 / 8_000_000_001) as usize] += 1;
        }
        assert!(tenths.iter().all(|count| count.abs_diff(10_000) < 380), "{tenths:?}");
        let few = waits(Backoff::new(Duration::from_nanos(3), SECOND), 1);
        let few: BTreeSet<_> = few.into_iter().collect();
        assert_eq!(few, BTreeSet::from([0, 1, 2, 3].map(Duration::from_nanos)));
        assert_eq!(waits(Backoff::new(SECOND, SECOND), 0)[..3], [Duration::ZERO; 3]);
    }

    #[test]
    fn threads_that_share_one_take_different_numbers_of_one_sequence() {
        let (shared, alone) = (Exponential::seeded(Backoff::new(SECOND, SECOND), 1), {
            Exponential::seeded(Backoff::new(SECOND, SECOND), 1)
        });
        let start = Barrier::new(4);
        let taken = std::thread::scope(|scope| {
            let take = || {
                start.wait();
                (0..20_000).map(|_| shared.number()).collect::<Vec<_>>()
            };
            let threads = [(); 4].map(|()| scope.spawn(take));
            threads.map(|thread| thread.join().expect("it takes numbers")).concat()
        });
        let taken: BTreeSet<u64> = taken.into_iter().collect();
        assert_eq!(taken, (0..80_000).map(|_| alone.number()).collect());
    }

    #[test]
    fn two_are_not_seeded_alike() {
        let new = || Exponential::new(Backoff::new(SECOND, SECOND));
        assert_ne!(new().number(), new().number());
    }

    #[tokio::test(flavor = "current_thread")]
    async fn attempts_end_with_the_first_that_succeeds_or_the_last() {
        let exponential = Exponential::seeded(Backoff::new(Duration::ZERO, SECOND), 1);
        for (attempts, expected) in [(0, Err(1)), (1, Err(1)), (2, Err(2)), (3, Ok(3)), (9, Ok(3))]
        {
            let mut count = 0;
            let attempt = || {
                count += 1;
                std::future::ready(if count == 3 { Ok(count) } else { Err(count) })
            };
            assert_eq!(exponential.retry(attempts, attempt).await, expected);
        }
    }
}
