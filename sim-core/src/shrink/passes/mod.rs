//! The passes: each proposes simpler runs of one kind, from the best so far.
//!
//! A pass goes through its places once, from the end where things are deleted, and does not begin
//! again where it gained: the search comes back to it as long as some pass gains.

mod anew;
mod cells;
mod counted;
mod descend;
mod duplicates;
mod exchange;
mod hand_on;
mod integers;
mod knock;
mod pairs;
mod raise;
mod renumber;
mod sort;
mod spans;
mod tail;
mod trivial;
mod wander;

use super::Shrinker;

/// A pass.
pub(super) use anew::pass as anew;

pub(super) type Pass = fn(&mut Shrinker<'_>);

/// Those that take few runs, in the order of a first round: what takes away most comes first.
pub(super) const CHEAP: [Pass; 11] = [
    tail::pass,
    knock::pass,
    spans::pass,
    spans::between,
    descend::pass,
    hand_on::pass,
    cells::pass,
    trivial::pass,
    duplicates::pass,
    integers::pass,
    sort::pass,
];

/// Those that take away: enough to see whether a run may become shorter.
pub(super) const SHORT: [Pass; 5] =
    [tail::pass, knock::pass, spans::pass, cells::pass, trivial::pass];

/// Those that try many pairs of places: they come where nothing else gains any more.
pub(super) const DEAR: [Pass; 8] = [
    hand_on::raised,
    renumber::pass,
    exchange::pass,
    pairs::pass,
    counted::pass,
    raise::pass,
    integers::nudge,
    integers::few,
];

/// Those that leave where the search is: last of all.
pub(super) const LAST: [Pass; 2] = [raise::reorder, wander::pass];
