//! Begins anew: runs the first seeds, shrinks those that fail in the same way, and goes on with the
//! simplest.
//!
//! Whichever failing input a search began with, the seeds are the same ones, so searches that ended
//! at different places meet here. A bug that so few seeds do not find is not helped.

use super::super::{Best, Rank, Shrinker};
use super::spans::deletable;
use crate::run::Input;
use crate::source::Lane;
use std::collections::BTreeMap;

/// How many seeds are run.
const SEEDS: u64 = 3_000;

/// How many failing ones are shrunk.
const HITS: usize = 40;

/// How many runs each of them is given.
const EACH_RUNS: u64 = 120;

/// How many of the first ones go on, simple or not: what is simplest at first is often one kind of run.
const FIRST: usize = 3;

/// How many of the others, the simplest.
const SIMPLEST: usize = 11;

/// How many runs each of those is given.
const FURTHER_RUNS: u64 = 700;

/// How many of the simplest that they became are searched from to the end.
const LAST: usize = 4;

/// How many runs each of those is given.
const LAST_RUNS: u64 = 3_000;

pub(in super::super) fn pass(shrinker: &mut Shrinker<'_>) {
    if shrinker.best.draft.lane(Lane::Swarm).is_empty() || deletable(shrinker).is_empty() {
        return;
    }
    // What the search proposed before says nothing of these runs.
    let seen = std::mem::take(&mut shrinker.seen);
    let further = starts(shrinker).into_iter();
    let further = further.map(|start| shrinker.apart(start, FURTHER_RUNS, Shrinker::settle));
    let further: Vec<Best> = further.collect();
    for start in simplest(further, LAST) {
        let found = shrinker.apart(start, LAST_RUNS, Shrinker::refine);
        shrinker.take(found);
    }
    shrinker.seen.extend(seen);
}

/// What is worth to be shrunk further of what the failing seeds became.
fn starts(shrinker: &mut Shrinker<'_>) -> Vec<Best> {
    let mut shrunk = Vec::new();
    for seed in 0..SEEDS {
        if shrunk.len() == HITS || shrinker.is_over() {
            break;
        }
        if let Some(run) = shrinker.fails(&Input::Seed(seed)) {
            shrunk.push(shrinker.apart(run, EACH_RUNS, Shrinker::take_away));
        }
    }
    let later = shrunk.split_off(FIRST.min(shrunk.len()));
    shrunk.into_iter().chain(simplest(later, SIMPLEST)).collect()
}

/// The simplest of some runs, each once.
fn simplest(runs: Vec<Best>, count: usize) -> impl Iterator<Item = Best> {
    let by_rank: BTreeMap<Rank, Best> =
        runs.into_iter().map(|best| (best.rank.clone(), best)).collect();
    by_rank.into_values().take(count)
}
