//! What is derived from a draw: ranges, picks, odds, durations, orders, typed values.
//!
//! Nothing here reads bytes by itself: each call is draws or one window, so the tape holds it.
//!
//! Invariants:
//! - All draws 0 give the calm outcome: the start of a range, the first element, no, no time,
//!   the order as it was.
//! - How many bytes are read follows from the kinds of the draws and from what the caller
//!   passed, never from a value drawn. Nothing is drawn again until it fits.

use core::ops::RangeInclusive;
use core::time::Duration;

use arbitrary::{Arbitrary, Unstructured};

use super::{Choice, Lane, Ratio, Source};

/// The most bytes that a typed value is made from.
const ARBITRARY_BYTES_MAX: usize = 64;

impl Source {
    /// Draws a value in `0..count`.
    ///
    /// # Determinism
    ///
    /// One draw, none if `count` is 1; 0 gives 0.
    ///
    /// # Panics
    ///
    /// If `count` is 0, or `count - 1` does not fit the choice's width.
    ///
    /// # Examples
    /// ```
    /// use sim_core::source::{Choice, Lane, Ratio, Source};
    /// use std::time::Duration;
    ///
    /// const ONE: Choice = Choice::one("one");
    ///
    /// /// The same calls on any source.
    /// fn draws(source: &mut Source) -> (u64, u64, char, bool) {
    ///     let lane = Lane::App;
    ///     let values = (source.below(lane, ONE, 6), source.range(lane, ONE, 10..=20));
    ///     let letter = *source.choose(lane, ONE, &['a', 'b', 'c']);
    ///     (values.0, values.1, letter, source.chance(lane, ONE, Ratio::new(1, 8)))
    /// }
    ///
    /// // Six empty lanes, and the bytes of the last one.
    /// let mut source = Source::from_bytes(&[0, 0, 0, 0, 0, 0, 5, 3, 2, 7]);
    /// assert_eq!(draws(&mut source), (5, 13, 'c', true));
    /// assert_eq!(draws(&mut Source::from_bytes(&[])), (0, 10, 'a', false), "calm");
    ///
    /// let mut calm = Source::from_bytes(&[]);
    /// let second = Duration::from_secs(1);
    /// assert_eq!(calm.duration(Lane::App, ONE, second, second / 100), Duration::ZERO);
    /// assert_eq!(calm.part(Lane::App, ONE, second), Duration::ZERO);
    /// assert_eq!(calm.doubling(Lane::App, ONE, second), second / 32_768);
    /// assert_eq!(calm.weighted(Lane::App, ONE, &[0, 3, 1]), 1);
    /// let mut order = [1, 2, 3];
    /// calm.shuffle(Lane::App, ONE, &mut order);
    /// assert_eq!(order, [1, 2, 3]);
    /// assert_eq!(calm.arbitrary::<(bool, u16)>(Lane::App, "typed"), (false, 0));
    /// ```
    #[inline]
    #[track_caller]
    pub fn below(&mut self, lane: Lane, choice: Choice, count: u64) -> u64 {
        assert!(count > 0, "the choice `{}` has nothing to choose from", choice.label);
        self.draw(lane, choice, count - 1)
    }

    /// Draws a value in a closed range.
    ///
    /// # Determinism
    ///
    /// One draw, none if the range is one value; 0 gives the start.
    ///
    /// # Panics
    ///
    /// If the range is empty, or its length does not fit the choice's width.
    ///
    /// ```
    /// use sim_core::source::{Choice, Lane, Source};
    ///
    /// let mut source = Source::from_bytes(&[1, 2]);
    /// let replicas = Choice::one("replicas");
    /// assert_eq!(source.range(Lane::Swarm, replicas, 3..=7), 5);
    /// assert_eq!(source.range(Lane::Swarm, replicas, 3..=7), 3, "exhausted: the start");
    /// ```
    #[inline]
    #[track_caller]
    pub fn range(&mut self, lane: Lane, choice: Choice, range: RangeInclusive<u64>) -> u64 {
        assert!(!range.is_empty(), "the choice `{}` has an empty range", choice.label);
        let (start, end) = range.into_inner();
        start + self.draw(lane, choice, end - start)
    }

    /// Draws one of the items.
    ///
    /// # Determinism
    ///
    /// One draw, none if there is one item; 0 gives the first.
    ///
    /// # Panics
    ///
    /// If there is no item, or more than the choice's width can say.
    ///
    /// ```
    /// use sim_core::source::{Choice, Lane, Source};
    ///
    /// let mut source = Source::from_bytes(&[1, 2]);
    /// let item = source.choose(Lane::Swarm, Choice::one("backend"), &["memory", "file", "raft"]);
    /// assert_eq!(*item, "raft");
    /// ```
    #[inline]
    #[track_caller]
    pub fn choose<'t, T>(&mut self, lane: Lane, choice: Choice, items: &'t [T]) -> &'t T {
        &items[self.below(lane, choice, items.len() as u64) as usize]
    }

    /// Draws whether something happens that has the given odds.
    ///
    /// # Determinism
    ///
    /// One draw in `0..denominator`, of which the top `numerator` values give true; so 0, and
    /// with it an exhausted lane, gives false unless the odds are one. No draw if the
    /// denominator is 1.
    ///
    /// # Panics
    ///
    /// If the denominator less one does not fit the choice's width.
    ///
    /// ```
    /// use sim_core::source::{Choice, Lane, Ratio, Source};
    ///
    /// let rare = Ratio::new(1, 10);
    /// let mut source = Source::from_bytes(&[2, 9, 8]);
    /// let mut is_lost = || source.chance(Lane::Swarm, Choice::one("loss"), rare);
    /// assert_eq!([is_lost(), is_lost(), is_lost()], [true, false, false], "the top value alone");
    /// ```
    #[inline]
    #[track_caller]
    pub fn chance(&mut self, lane: Lane, choice: Choice, ratio: Ratio) -> bool {
        let calm_count = ratio.denominator() - ratio.numerator();
        self.below(lane, choice, ratio.denominator()) >= calm_count
    }

    /// Draws a whole number of units of time, at most `max` in all.
    ///
    /// The unit is what makes a long time fit a narrow choice: two bytes of `100 µs` reach 6.5
    /// seconds.
    ///
    /// # Determinism
    ///
    /// One draw in `0..=max / unit`, none if `max` is less than the unit; 0 gives no time.
    ///
    /// # Panics
    ///
    /// If the unit is zero, or `max` in units does not fit the choice's width.
    ///
    /// ```
    /// use sim_core::source::{Choice, Lane, Source};
    /// use std::time::Duration;
    ///
    /// let (max, unit) = (Duration::from_secs(1), Duration::from_millis(10));
    /// let mut source = Source::from_bytes(&[1, 7]);
    /// let wait = source.duration(Lane::Swarm, Choice::one("wait"), max, unit);
    /// assert_eq!(wait.as_millis(), 70);
    /// ```
    #[track_caller]
    pub fn duration(
        &mut self,
        lane: Lane,
        choice: Choice,
        max: Duration,
        unit: Duration,
    ) -> Duration {
        assert!(!unit.is_zero(), "the choice `{}` counts in units of no time", choice.label);
        let units_max = max.as_nanos() / unit.as_nanos();
        let Ok(units_max) = u64::try_from(units_max) else {
            panic!("the choice `{}` cannot count {max:?} in units of {unit:?}", choice.label);
        };
        let units = self.draw(lane, choice, units_max);
        // At most `max`, which is a Duration, so this cannot overflow.
        Duration::from_nanos_u128(u128::from(units) * unit.as_nanos())
    }

    /// Draws a part of a time, in steps of a 255th.
    ///
    /// # Determinism
    ///
    /// One draw in `0..=255`, whatever `max` is; 0 gives no time, 255 all of it. The choice is one
    /// byte wide.
    ///
    /// ```
    /// use sim_core::source::{Choice, Lane, Source};
    /// use std::time::Duration;
    ///
    /// let max = Duration::from_secs(51);
    /// let mut source = Source::from_bytes(&[1, 5]);
    /// assert_eq!(source.part(Lane::Swarm, Choice::one("pause"), max), Duration::from_secs(1));
    /// ```
    #[track_caller]
    pub fn part(&mut self, lane: Lane, choice: Choice, max: Duration) -> Duration {
        let nanos = max.as_nanos() * u128::from(self.draw(lane, choice, 255)) / 255;
        // At most `max`, which is a Duration, so this cannot overflow.
        Duration::from_nanos_u128(nanos)
    }

    /// Draws a time of which short ones are as likely as long ones: it doubles every 16 steps, up
    /// to `max`.
    ///
    /// # Determinism
    ///
    /// One draw in `0..=255`; 0 gives the 32,768th part of `max`. The choice is one byte wide.
    ///
    /// ```
    /// use sim_core::source::{Choice, Lane, Source};
    /// use std::time::Duration;
    ///
    /// let mut source = Source::from_bytes(&[2, 255, 239]);
    /// let mut time = || source.doubling(Lane::Swarm, Choice::one("time"), Duration::from_secs(8));
    /// assert_eq!((time().as_secs(), time().as_secs()), (8, 4), "sixteen steps are half of it");
    /// ```
    #[track_caller]
    pub fn doubling(&mut self, lane: Lane, choice: Choice, max: Duration) -> Duration {
        let level = self.draw(lane, choice, 255) as u32;
        max / (1 << ((255 - level) / 16))
    }

    /// Draws an index, each as likely as its weight.
    ///
    /// # Determinism
    ///
    /// One draw below the sum of the weights, none if the sum is 1; 0 gives the first index
    /// whose weight is not 0, so the calmest outcome comes first.
    ///
    /// # Panics
    ///
    /// If the sum is 0, overflows, or does not fit the choice's width.
    ///
    /// ```
    /// use sim_core::source::{Choice, Lane, Source};
    ///
    /// let mut source = Source::from_bytes(&[2, 89, 90]);
    /// let mut kind = || source.weighted(Lane::Swarm, Choice::one("kind"), &[90, 10]);
    /// assert_eq!((kind(), kind()), (0, 1));
    /// ```
    #[track_caller]
    pub fn weighted(&mut self, lane: Lane, choice: Choice, weights: &[u64]) -> usize {
        let sum = weights.iter().try_fold(0_u64, |sum, &weight| sum.checked_add(weight));
        let Some(sum) = sum else {
            panic!("the weights of the choice `{}` overflow", choice.label);
        };
        let mut value = self.below(lane, choice, sum);
        for (index, &weight) in weights.iter().enumerate() {
            if value < weight {
                return index;
            }
            value -= weight;
        }
        unreachable!("a value below the sum is inside one of the weights")
    }

    /// Draws an order for the items.
    ///
    /// # Determinism
    ///
    /// One draw an item but the last, from the front: which of the items that are left comes
    /// next. All draws 0 leave the order as it is.
    ///
    /// # Panics
    ///
    /// If there are more items than the choice's width can say.
    ///
    /// ```
    /// use sim_core::source::{Choice, Lane, Source};
    ///
    /// let mut order = ["a", "b", "c"];
    /// let mut source = Source::from_bytes(&[1, 2]);
    /// source.shuffle(Lane::Swarm, Choice::one("order"), &mut order);
    /// assert_eq!(order, ["c", "b", "a"]);
    /// ```
    #[track_caller]
    pub fn shuffle<T>(&mut self, lane: Lane, choice: Choice, items: &mut [T]) {
        for place in 0..items.len() {
            let left = (items.len() - place) as u64;
            let taken = place + self.below(lane, choice, left) as usize;
            items.swap(place, taken);
        }
    }

    /// Draws a typed value.
    ///
    /// # Determinism
    ///
    /// One window of as many bytes as the type's upper size hint, at most 64, and 64 where
    /// there is none. It is consumed whole, so a value that needs fewer bytes does not move the
    /// choices after it. Bytes that the type refuses count as zeros.
    ///
    /// # Panics
    ///
    /// If the type refuses zeros as well.
    ///
    /// ```
    /// use arbitrary::Arbitrary;
    /// use sim_core::source::{Lane, Source};
    ///
    /// #[derive(Arbitrary, Debug, PartialEq)]
    /// enum Op {
    ///     Get(u8),
    ///     Put(u8),
    /// }
    ///
    /// let mut calm = Source::from_bytes(&[]);
    /// assert_eq!(calm.arbitrary::<Op>(Lane::Workload, "op"), Op::Get(0));
    /// ```
    #[track_caller]
    pub fn arbitrary<T>(&mut self, lane: Lane, label: &'static str) -> T
    where
        T: for<'a> Arbitrary<'a>,
    {
        const ZEROS: [u8; ARBITRARY_BYTES_MAX] = [0; ARBITRARY_BYTES_MAX];
        let length = arbitrary_length::<T>();
        let window = self.take_window(lane, label, length);
        if let Ok(value) = T::arbitrary(&mut Unstructured::new(window)) {
            return value;
        }
        match T::arbitrary(&mut Unstructured::new(&ZEROS[..length])) {
            Ok(value) => value,
            Err(error) => panic!("the choice `{label}` cannot be made from zeros: {error}"),
        }
    }
}

/// Gives the length of a type's window; a type that recurses without end has no hint.
fn arbitrary_length<T: for<'a> Arbitrary<'a>>() -> usize {
    let upper = T::try_size_hint(0).ok().and_then(|(_, upper)| upper);
    upper.unwrap_or(ARBITRARY_BYTES_MAX).min(ARBITRARY_BYTES_MAX)
}
