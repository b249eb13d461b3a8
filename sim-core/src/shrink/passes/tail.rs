//! Cuts the ends of lanes: an exhausted lane is calm.

use super::super::{Shrinker, find_integer};
use crate::source::Lane;

pub(super) fn pass(shrinker: &mut Shrinker<'_>) {
    for lane in Lane::ALL.into_iter().rev() {
        if cut(shrinker, lane, usize::MAX) {
            continue;
        }
        find_integer(|count| cut(shrinker, lane, count));
    }
}

/// Proposes the best run without the last cells of a lane that are not zero, so many.
fn cut(shrinker: &mut Shrinker<'_>, lane: Lane, count: usize) -> bool {
    let mut places = shrinker.best.draft.lane(lane);
    let is_set = |at: &usize| !shrinker.cells()[*at].is_zero();
    let Some(last) = places.iter().rposition(is_set) else { return false };
    places.truncate(last + 1);
    let kept = places.len().saturating_sub(count);
    let cut = places.split_off(kept);
    shrinker.consider_with(|cells| cut.iter().for_each(|at| cells[*at].zero()))
}
