//! Deletes single choices of a lane, a few at a time, whatever they belong to.

use super::super::{Shrinker, find_integer};
use crate::source::Lane;

/// The most choices that go at once.
const WINDOW_MAX: usize = 8;

pub(super) fn pass(shrinker: &mut Shrinker<'_>) {
    for lane in Lane::ALL {
        for window in (1..=WINDOW_MAX).rev() {
            windows(shrinker, lane, window);
        }
        if shrinker.is_over() {
            return;
        }
    }
}

/// Deletes windows of one length, from the end of a lane on, as many in a row as it can.
fn windows(shrinker: &mut Shrinker<'_>, lane: Lane, window: usize) {
    let mut end = shrinker.best.draft.lane(lane).len();
    while end >= window {
        let mut deleted = 0;
        find_integer(|count| {
            let more = count - deleted;
            let last = end - deleted * window;
            let holds = last >= more * window
                && delete(shrinker, lane, last - more * window, more * window);
            deleted = if holds { count } else { deleted };
            holds
        });
        end = (end - deleted * window).saturating_sub(1);
        end = end.min(shrinker.best.draft.lane(lane).len());
        if shrinker.is_over() {
            return;
        }
    }
}

fn delete(shrinker: &mut Shrinker<'_>, lane: Lane, from: usize, count: usize) -> bool {
    let places = shrinker.best.draft.lane(lane);
    let Some(gone) = places.get(from..from + count).map(<[usize]>::to_vec) else { return false };
    shrinker.consider_with(|cells| {
        gone.iter().rev().for_each(|at| drop(cells.remove(*at)));
    })
}
