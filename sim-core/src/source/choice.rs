//! What kind of decision a draw is: its label and width, and odds without floats.
//!
//! It is constants that a module keeps beside its draws; it holds no bytes.
//!
//! Invariants:
//! - The kind fixes the width, the bound of the moment never does. So a changed bound does
//!   not move the bytes of the draws after it, and stored inputs keep their meaning.
//! - A [`Ratio`] is between 0 and 1, both included.

use core::fmt;

/// How many bytes of a lane a draw reads.
///
/// ```
/// use sim_core::source::{Choice, Width};
///
/// assert_eq!((Width::Two.bytes(), Width::Two.value_max()), (2, 65_535));
/// assert_eq!(Choice::one("a").width, Width::One);
/// assert_eq!(Choice::four("a").width.bytes(), 4);
/// assert_eq!(Choice::eight("a").width.value_max(), u64::MAX);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Width {
    /// One byte: up to 256 choices.
    One,
    /// Two bytes: up to 65,536 choices.
    Two,
    /// Four bytes: up to 2³² choices.
    Four,
    /// Eight bytes: any `u64`.
    Eight,
}

impl Width {
    /// Gives the number of bytes.
    ///
    /// ```
    /// use sim_core::source::Width;
    ///
    /// assert_eq!([Width::One, Width::Two, Width::Four, Width::Eight].map(Width::bytes), [1, 2, 4, 8]);
    /// ```
    #[inline]
    pub const fn bytes(self) -> usize {
        match self {
            Width::One => 1,
            Width::Two => 2,
            Width::Four => 4,
            Width::Eight => 8,
        }
    }

    /// Gives the largest value that the bytes can hold.
    ///
    /// ```
    /// use sim_core::source::Width;
    ///
    /// assert_eq!((Width::One.value_max(), Width::Two.value_max()), (255, 65_535));
    /// ```
    #[inline]
    pub const fn value_max(self) -> u64 {
        u64::MAX >> (64 - 8 * self.bytes())
    }
}

/// A kind of draw: what it is called and how many bytes it reads.
///
/// # Examples
///
/// ```
/// use sim_core::source::{Choice, Lane, Source};
///
/// const LATENCY: Choice = Choice::two("latency");
///
/// let mut source = Source::from_bytes(&[]);
/// assert_eq!(source.draw(Lane::Network, LATENCY, 1_000), 0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Choice {
    /// What the tape calls the draw.
    pub label: &'static str,
    /// How many bytes it reads.
    pub width: Width,
}

impl Choice {
    /// Makes a kind of draw that reads one byte.
    ///
    /// ```
    /// use sim_core::source::{Choice, Width};
    ///
    /// assert_eq!(Choice::one("batch").width, Width::One);
    /// ```
    pub const fn one(label: &'static str) -> Choice {
        Choice { label, width: Width::One }
    }

    /// Makes a kind of draw that reads two bytes.
    ///
    /// ```
    /// use sim_core::source::{Choice, Width};
    ///
    /// assert_eq!(Choice::two("latency").width, Width::Two);
    /// ```
    pub const fn two(label: &'static str) -> Choice {
        Choice { label, width: Width::Two }
    }

    /// Makes a kind of draw that reads four bytes.
    ///
    /// ```
    /// use sim_core::source::{Choice, Width};
    ///
    /// assert_eq!(Choice::four("offset").width, Width::Four);
    /// ```
    pub const fn four(label: &'static str) -> Choice {
        Choice { label, width: Width::Four }
    }

    /// Makes a kind of draw that reads eight bytes.
    ///
    /// ```
    /// use sim_core::source::{Choice, Width};
    ///
    /// assert_eq!(Choice::eight("key").width, Width::Eight);
    /// ```
    pub const fn eight(label: &'static str) -> Choice {
        Choice { label, width: Width::Eight }
    }
}

/// Odds: `numerator` of `denominator` equally likely values.
///
/// ```
/// use sim_core::source::Ratio;
///
/// const ODDS: Ratio = Ratio::new(1, 50);
/// assert_eq!((ODDS.numerator(), ODDS.denominator()), (1, 50));
/// assert_eq!(ODDS.to_string(), "1/50");
/// assert_eq!(Ratio::NEVER.numerator(), 0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ratio {
    /// At most `denominator`.
    numerator: u64,
    /// Not zero.
    denominator: u64,
}

impl Ratio {
    /// The odds of what does not happen; a chance of it reads no bytes.
    pub const NEVER: Ratio = Ratio::new(0, 1);

    /// Makes odds of `numerator` in `denominator`.
    ///
    /// # Panics
    ///
    /// If the denominator is zero or less than the numerator.
    ///
    /// ```
    /// use sim_core::source::Ratio;
    ///
    /// assert_eq!(Ratio::new(1, 8).to_string(), "1/8");
    /// ```
    #[track_caller]
    pub const fn new(numerator: u64, denominator: u64) -> Ratio {
        assert!(denominator > 0, "a ratio needs a denominator above zero");
        assert!(numerator <= denominator, "a ratio is at most one");
        Ratio { numerator, denominator }
    }

    /// Gives how many of the values are the unlikely side.
    ///
    /// ```
    /// use sim_core::source::Ratio;
    ///
    /// assert_eq!(Ratio::new(3, 8).numerator(), 3);
    /// ```
    pub const fn numerator(self) -> u64 {
        self.numerator
    }

    /// Gives how many values there are; never zero.
    ///
    /// ```
    /// use sim_core::source::Ratio;
    ///
    /// assert_eq!(Ratio::new(3, 8).denominator(), 8);
    /// ```
    pub const fn denominator(self) -> u64 {
        self.denominator
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.numerator, self.denominator)
    }
}
