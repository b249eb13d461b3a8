//! Mixes of two inputs: whole lanes of either, or whole spans of the second in the first.

use super::edit::{self, insert};
use super::{Parent, Random};
use crate::source::{Lane, Lanes};

pub(super) fn mix(first: &Parent, second: &Parent, random: &mut Random) -> Lanes {
    let spans = if random.one_in(2) { None } else { splice(first, second, random) };
    spans.unwrap_or_else(|| lanes(first, second, random))
}

/// Each lane whole, from one of the two.
fn lanes(first: &Parent, second: &Parent, random: &mut Random) -> Lanes {
    let mut mixed = first.lanes.clone();
    for lane in Lane::ALL {
        if random.one_in(2) {
            mixed.lane_mut(lane).clone_from(&second.lanes.lane(lane).to_vec());
        }
    }
    mixed
}

/// Puts operations, faults or events of the second between those of the first.
fn splice(first: &Parent, second: &Parent, random: &mut Random) -> Option<Lanes> {
    let spans = edit::some(&second.draft, random)?;
    let cells = edit::cells_of(&second.draft, &spans);
    let at = edit::place(&first.draft, spans[0].kind, random);
    let at = at.unwrap_or(first.draft.cells.len());
    Some(edit::lanes_of(&insert(&first.draft.cells, at, &cells)))
}
