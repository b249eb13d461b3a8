//! Knocks out what a run has of one kind: a dimension of the swarm, every choice of one label.

use super::super::{Cell, Shrinker};
use crate::source::Lane;
use std::collections::BTreeSet;

pub(super) fn pass(shrinker: &mut Shrinker<'_>) {
    let is_set = |cell: &&Cell| !cell.is_zero();
    let kinds: BTreeSet<(Lane, &'static str)> =
        shrinker.cells().iter().filter(is_set).map(|cell| (cell.lane, cell.label)).collect();
    for (lane, label) in kinds {
        shrinker.consider_with(|cells| {
            let same = |cell: &&mut Cell| cell.lane == lane && cell.label == label;
            cells.iter_mut().filter(same).for_each(Cell::zero);
        });
    }
}
