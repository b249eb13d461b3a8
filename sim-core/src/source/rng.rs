//! One lane as a random number generator, for users who want distributions.
//!
//! It is a view: it has no state of its own, and what it gives are draws on the tape.
//! A number between bounds is better drawn by the source itself, which reads fewer bytes.
//!
//! Invariant: an exhausted lane gives zeros for ever, so a distribution that tries again until
//! it likes what it got must like zeros.

use core::convert::Infallible;

use rand_core::TryRng;

use super::{Choice, Lane, Source};

/// One lane of a [`Source`] as rand_core's `Rng`.
///
/// # Determinism
///
/// A `u32` is one draw of four bytes, a `u64` one draw of eight, filled bytes are one window.
///
/// [`Source::window`] shows one.
///
/// ```
/// use rand_core::Rng;
/// use sim_core::source::{Lane, LaneRng, Source};
///
/// let mut source = Source::from_seed(7);
/// let mut rng: LaneRng<'_> = source.rng(Lane::App, "jitter");
/// let first = rng.next_u64();
/// assert_ne!(rng.next_u64(), first);
/// assert_eq!(source.tape().len(), 2, "each is a choice of the run");
/// ```
#[derive(Debug)]
pub struct LaneRng<'s> {
    source: &'s mut Source,
    lane: Lane,
    label: &'static str,
}

impl<'s> LaneRng<'s> {
    pub(super) fn new(source: &'s mut Source, lane: Lane, label: &'static str) -> LaneRng<'s> {
        LaneRng { source, lane, label }
    }
}

impl TryRng for LaneRng<'_> {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        let value = self.source.draw(self.lane, Choice::four(self.label), u64::from(u32::MAX));
        Ok(value as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.source.draw(self.lane, Choice::eight(self.label), u64::MAX))
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        self.source.window_into(self.lane, self.label, bytes);
        Ok(())
    }
}
