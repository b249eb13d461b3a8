//! The passes: each proposes simpler runs of one kind, from the best so far.
//!
//! A pass goes through its places once, from the end where things are deleted, and does not begin
//! again where it gained: the search comes back to it as long as some pass gains.

mod cells;
mod counted;
mod duplicates;
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

use super::Shrinker;

/// A pass.
pub(super) type Pass = fn(&mut Shrinker<'_>);

/// Those that take few runs, in the order of a first round: what takes away most comes first.
pub(super) const CHEAP: [Pass; 10] = [
    tail::pass,
    knock::pass,
    spans::pass,
    spans::between,
    hand_on::pass,
    cells::pass,
    trivial::pass,
    duplicates::pass,
    integers::pass,
    sort::pass,
];

/// Those that try many pairs of places: they come where nothing else gains any more.
pub(super) const DEAR: [Pass; 5] =
    [renumber::pass, pairs::pass, counted::pass, raise::pass, integers::nudge];
