//! What befalls datagrams between hosts: loss, duplication, reordering.
//!
//! Each is a dimension of the swarm, drawn once a run as odds; none is calm. UDP promises nothing of
//! the three, so a correct program lives with them. Within a host nothing befalls a datagram, and
//! TCP has none of this.
//!
//! # Determinism
//! A datagram from one host to another is one draw of the network lane for each of the three whose
//! odds are not zero, when it is sent. A run without odds draws nothing.

use crate::source::{Choice, Lane, Ratio, Source};
use crate::swarm::{self, DUPLICATION, LOSS, Plan, REORDERING};
use hostsim::network::{Fate, Fates};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

/// The odds that a run may have, of 256; zero is calm.
///
/// ```
/// use sim_core::datagram::ODDS;
///
/// assert_eq!(ODDS[0], 0, "the calm level");
/// assert!(ODDS.iter().all(|odds| *odds <= 64), "a quarter of the datagrams at most");
/// ```
pub const ODDS: [u64; 8] = [0, 1, 2, 5, 10, 20, 40, 64];

/// The largest denominator of odds: what one byte can decide.
const DENOMINATOR_MAX: u64 = 256;

/// How many of the run's longest latency a datagram is late, at most.
const LATE_MAX: u32 = 4;

/// What a latency counts as where it is less: datagrams come out of order without one, too.
const LATENCY_MIN: Duration = Duration::from_millis(1);

const LOST: Choice = Choice::one("lost");
const DOUBLED: Choice = Choice::one("doubled");
const LATE: Choice = Choice::one("late");

/// What a run's datagrams may meet, and how likely.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Odds {
    pub(crate) loss: Ratio,
    pub(crate) duplication: Ratio,
    pub(crate) reordering: Ratio,
    /// The longest that one is late.
    late_max: Duration,
}

impl Odds {
    pub(crate) const CALM: Odds = Odds {
        loss: Ratio::NEVER,
        duplication: Ratio::NEVER,
        reordering: Ratio::NEVER,
        late_max: Duration::ZERO,
    };
}

/// What a test orders in place of what the swarm draws.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ordered {
    pub(crate) loss: Option<Ratio>,
    pub(crate) duplication: Option<Ratio>,
    pub(crate) reordering: Option<Ratio>,
}

/// Asserts that odds are decided by one byte.
#[track_caller]
pub(crate) fn check(odds: Ratio) -> Ratio {
    let is_narrow = odds.denominator() <= DENOMINATOR_MAX;
    assert!(is_narrow, "odds of datagrams are of {DENOMINATOR_MAX} at most, not {odds}");
    odds
}

/// Draws the three dimensions, which come after every other one of the swarm.
pub(crate) fn draw(
    source: &mut Source,
    plan: &mut Plan,
    latency: Duration,
    ordered: Ordered,
) -> Odds {
    let mut odds = |choice: Choice, ordered: Option<Ratio>| {
        let drawn = swarm::draw(source, plan, choice, ODDS.len() as u64 - 1, |level| {
            let odds = Ratio::new(ODDS[level as usize], DENOMINATOR_MAX);
            (odds, if level == 0 { "none".to_owned() } else { odds.to_string() })
        });
        ordered.unwrap_or(drawn)
    };
    Odds {
        loss: odds(LOSS, ordered.loss),
        duplication: odds(DUPLICATION, ordered.duplication),
        reordering: odds(REORDERING, ordered.reordering),
        late_max: latency.max(LATENCY_MIN) * LATE_MAX,
    }
}

/// Draws the fates of datagrams.
pub(crate) fn fates(source: Rc<RefCell<Source>>, odds: Rc<Cell<Odds>>) -> Fates {
    Box::new(move |_, _, _| fate(&mut source.borrow_mut(), &odds.get()))
}

/// Draws one fate; what is lost already is neither doubled nor late.
fn fate(source: &mut Source, odds: &Odds) -> Fate {
    if depth(source, LOST, odds.loss).is_some() {
        return Fate { is_lost: true, ..Fate::default() };
    }
    let is_doubled = depth(source, DOUBLED, odds.duplication).is_some();
    let late = depth(source, LATE, odds.reordering);
    let delay = late.map_or(Duration::ZERO, |depth| {
        odds.late_max * (depth as u32 + 1) / odds.reordering.numerator() as u32
    });
    Fate { is_lost: false, is_doubled, delay }
}

/// Draws whether something befalls a datagram, and how deep in its odds the draw was; the unlikely
/// side is at the top. Odds of zero draw nothing.
fn depth(source: &mut Source, choice: Choice, odds: Ratio) -> Option<u64> {
    if odds.numerator() == 0 {
        return None;
    }
    let value = source.below(Lane::Network, choice, odds.denominator());
    value.checked_sub(odds.denominator() - odds.numerator())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Lanes;

    fn fates_of(bytes: &[u8], odds: Odds) -> (Vec<Fate>, usize) {
        let mut lanes = Lanes::default();
        *lanes.lane_mut(Lane::Network) = bytes.to_vec();
        let mut source = Source::from_bytes(&lanes.encode());
        let fates = (0..4).map(|_| fate(&mut source, &odds)).collect();
        (fates, source.tape().len())
    }

    #[test]
    fn no_odds_draw_nothing() {
        assert_eq!(fates_of(&[255; 12], Odds::CALM), (vec![Fate::default(); 4], 0));
    }

    #[test]
    fn an_exhausted_lane_is_calm() {
        let half = Ratio::new(1, 2);
        let late_max = Duration::from_millis(4);
        let odds = Odds { loss: half, duplication: half, reordering: half, late_max };
        assert_eq!(fates_of(&[], odds).0, vec![Fate::default(); 4]);
    }

    #[test]
    fn the_top_of_a_byte_befalls_and_says_how_late() {
        let quarter = Ratio::new(64, 256);
        let late_max = Duration::from_millis(64);
        let odds = Odds { loss: quarter, duplication: quarter, reordering: quarter, late_max };
        let (fates, draws) = fates_of(&[192, 191, 192, 255, 0, 0, 192, 0, 0, 191], odds);
        let late = |delay| Fate { delay: Duration::from_millis(delay), ..Fate::default() };
        let expected = vec![
            Fate { is_lost: true, ..Fate::default() },
            Fate { is_doubled: true, ..late(64) },
            late(1),
            Fate::default(),
        ];
        assert_eq!((fates, draws), (expected, 10));
    }
}
