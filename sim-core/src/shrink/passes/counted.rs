//! Lowers a number by one and deletes some choices after it: the number said how many there are.

use super::super::Shrinker;
use crate::source::Lane;

/// The most choices that one of what is counted has.
const WINDOW_MAX: usize = 3;

pub(super) fn pass(shrinker: &mut Shrinker<'_>) {
    for lane in Lane::ALL {
        let mut index = 0;
        // Where it gained, the same number may count on.
        while let Some(is_gain) = step(shrinker, lane, index) {
            index += usize::from(!is_gain);
            if shrinker.is_over() {
                return;
            }
        }
    }
}

/// Tries the number at a place of a lane; none past its end.
fn step(shrinker: &mut Shrinker<'_>, lane: Lane, index: usize) -> Option<bool> {
    let places = shrinker.best.draft.lane(lane);
    let at = *places.get(index)?;
    let number = shrinker.cells()[at].number().unwrap_or(0);
    let after = &places[index + 1..];
    // A number that is larger than what follows counts something else.
    if number == 0 || number > after.len() as u64 {
        return Some(false);
    }
    let is_gain = (1..=WINDOW_MAX).any(|count| {
        after.windows(count).any(|gone| {
            shrinker.consider_with(|cells| {
                cells[at].set_number(number - 1);
                gone.iter().rev().for_each(|at| drop(cells.remove(*at)));
            })
        })
    });
    Some(is_gain)
}
