//! libFuzzer's own mutation, inside one lane, so that the others keep their meaning.

use super::{Base, Parent, Random, edit};
use crate::source::{Lane, Lanes};

/// What the weight of a lane is beside its length where the run drew more of it than there is.
const ASKED_WEIGHT: u64 = 8;

/// How many bytes a lane may grow by, and what its length may take.
const GROWTH_MAX: usize = 64;

/// Mutates one lane; none where there is no room or nothing came of it.
pub(super) fn mutate(
    parent: &Parent,
    max_size: usize,
    random: &mut Random,
    base: Base<'_>,
) -> Option<Lanes> {
    let weights = Lane::ALL.map(|lane| {
        let len = parent.lanes.lane(lane).len();
        let is_short = edit::drawn(&parent.draft, lane) > len;
        (lane, len as u64 + if is_short { ASKED_WEIGHT } else { 0 })
    });
    if weights.iter().all(|(_, weight)| *weight == 0) {
        return None;
    }
    let lane = *random.weighted(&weights);
    let mut lanes = parent.lanes.clone();
    let before = std::mem::take(lanes.lane_mut(lane));
    // Room for the lane itself, with what its length may take more.
    let room = max_size.saturating_sub(lanes.encode().len() + 4).min(before.len() + GROWTH_MAX);
    let mut buffer = before.clone();
    buffer.truncate(room);
    let size = buffer.len();
    buffer.resize(room, 0);
    let size = if room == 0 { 0 } else { base(&mut buffer, size, room) };
    buffer.truncate(size);
    if buffer == before {
        return None;
    }
    *lanes.lane_mut(lane) = buffer;
    Some(lanes)
}
