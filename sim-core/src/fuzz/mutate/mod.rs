//! The mutator and the crossover of the libFuzzer front.
//!
//! They know what libFuzzer does not: lanes, the choices that the run of an input made, and which of
//! them belong together. One mutation is libFuzzer's own inside one lane, or an edit of choices: an
//! operation dropped, doubled or moved, a dimension of the swarm raised, a lane cut or renewed, or
//! the run as it was up to some choice and any other from there. What comes of it is an input like
//! any other; what a run reached has no part in it.
//!
//! # Determinism
//! The result is a function of the input, `max_size`, the seed, the binary, and of what libFuzzer's
//! own mutation answers. Which tapes are in the cache has no part in it.
//!
//! Invariants:
//! - The result is never longer than `max_size`, also where the input is.
//! - Any bytes can be mutated, those that no run reads included.

mod cross;
mod edit;
mod lane;
mod parent;
mod random;

use super::front::Front;
use super::search::{Search, search};
use crate::run::Target;
use crate::source::{Lane, Lanes};
use edit::Edit;
use parent::Parent;
use random::Random;

/// A kind of mutation and how often it is picked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// libFuzzer's own mutation inside one lane.
    Lane,
    /// An edit of choices.
    Edit(Edit),
}

/// The kinds and their weights, set by trials on the planted systems (`manual::search`). Kinds that
/// go far from an input (fresh, renew, branch, supply) find what a sweep finds; the others go on from
/// there.
const KINDS: [(Kind, u64); 14] = [
    (Kind::Lane, 12),
    (Kind::Edit(Edit::Drop), 2),
    (Kind::Edit(Edit::Duplicate), 4),
    (Kind::Edit(Edit::Swap), 2),
    (Kind::Edit(Edit::Move), 2),
    (Kind::Edit(Edit::Dimension), 4),
    (Kind::Edit(Edit::Choice), 6),
    (Kind::Edit(Edit::Cut), 1),
    (Kind::Edit(Edit::Calm), 1),
    (Kind::Edit(Edit::Append), 4),
    (Kind::Edit(Edit::Supply), 4),
    (Kind::Edit(Edit::Renew), 4),
    (Kind::Edit(Edit::Fresh), 20),
    (Kind::Edit(Edit::Branch), 16),
];

/// The kinds while libFuzzer makes an input smaller, which wants another that is shorter.
const SHORTER: [(Kind, u64); 5] = [
    (Kind::Lane, 4),
    (Kind::Edit(Edit::Drop), 8),
    (Kind::Edit(Edit::Dimension), 2),
    (Kind::Edit(Edit::Cut), 4),
    (Kind::Edit(Edit::Calm), 2),
];

/// How many kinds are tried before a result that is too long is cut.
const TRIES: usize = 8;

/// Mutates the first `size` bytes of `data` in place, for libFuzzer's custom mutator; gives the new
/// size, at most `max_size`. `base` is libFuzzer's own mutation, of the same form.
///
/// # Panics
/// Where `data` has fewer than `size` or `max_size` bytes.
#[doc(hidden)]
pub fn mutate(
    target: &Target,
    data: &mut [u8],
    size: usize,
    max_size: usize,
    seed: u32,
    mut base: impl FnMut(&mut [u8], usize, usize) -> usize,
) -> usize {
    if search() < Search::Mutator {
        return base(data, size, max_size);
    }
    let tape = Front::with(target, |front| front.tape(&data[..size]));
    let parent = Parent::new(&data[..size], &tape);
    let bytes = child(&parent, size, max_size, &mut Random::new(seed), &mut base);
    data[..bytes.len()].copy_from_slice(&bytes);
    bytes.len()
}

/// libFuzzer's own mutation: of the first so many bytes, to at most so many.
type Base<'b> = &'b mut dyn FnMut(&mut [u8], usize, usize) -> usize;

/// One mutation of an input of `size` bytes.
fn child(
    parent: &Parent,
    size: usize,
    max_size: usize,
    random: &mut Random,
    base: Base<'_>,
) -> Vec<u8> {
    let kinds: &[(Kind, u64)] = if max_size < size { &SHORTER } else { &KINDS };
    let mut too_long = None;
    for _ in 0..TRIES {
        let lanes = match *random.weighted(kinds) {
            Kind::Lane => lane::mutate(parent, max_size, random, base),
            Kind::Edit(edit) => edit.apply(&parent.draft, &parent.lanes, random),
        };
        match lanes.map(|lanes| lanes.encode()) {
            Some(bytes) if bytes.len() <= max_size => return never_empty(bytes, max_size),
            other => too_long = other.or(too_long),
        }
    }
    let bytes = too_long.unwrap_or_else(|| parent.lanes.encode());
    never_empty(fit(Lanes::decode(&bytes), max_size), max_size)
}

/// The empty input has no size that libFuzzer takes: a single zero is the same run.
fn never_empty(bytes: Vec<u8>, max_size: usize) -> Vec<u8> {
    if bytes.is_empty() && max_size > 0 { vec![0] } else { bytes }
}

/// Cuts the longest lanes at their ends until the input is short enough.
fn fit(mut lanes: Lanes, max_size: usize) -> Vec<u8> {
    loop {
        let bytes = lanes.encode();
        let longest = Lane::ALL.into_iter().max_by_key(|lane| lanes.lane(*lane).len());
        let (Some(longest), 1..) = (longest, bytes.len().saturating_sub(max_size)) else {
            return bytes;
        };
        let lane = lanes.lane_mut(longest);
        lane.truncate(lane.len().saturating_sub(bytes.len() - max_size));
        lanes = lanes.canonical();
    }
}

/// Of so many calls of the crossover one is done: libFuzzer calls it as often as the mutator.
const CROSSED: u64 = 4;

/// Writes a mix of two inputs to `out`, for libFuzzer's custom crossover; gives its size, 0 where
/// libFuzzer is to do something else. It takes whole lanes of either, or puts whole operations,
/// faults or events of the second into the first.
#[doc(hidden)]
pub fn crossover(target: &Target, first: &[u8], second: &[u8], out: &mut [u8], seed: u32) -> usize {
    let mut random = Random::new(seed);
    if search() < Search::Mutator || !random.one_in(CROSSED) {
        return 0;
    }
    let parents = [first, second].map(|bytes| {
        let tape = Front::with(target, |front| front.tape(bytes));
        Parent::new(bytes, &tape)
    });
    let mixed = cross::mix(&parents[0], &parents[1], &mut random);
    let bytes = never_empty(fit(mixed, out.len()), out.len());
    out[..bytes.len()].copy_from_slice(&bytes);
    bytes.len()
}

#[cfg(test)]
mod tests;
