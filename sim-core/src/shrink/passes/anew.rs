//! Begins anew: runs the first seeds, shrinks those that fail in the same way, and goes on with the
//! simplest.
//!
//! Whichever failing input a search began with, the seeds are the same ones, so searches that ended
//! at different places meet here. A bug that so few seeds do not find is not helped.

use super::super::{Best, Draft, Rank, Shrinker};
use super::spans::deletable;
use crate::run::Input;
use crate::source::Lane;
use std::collections::{BTreeMap, BTreeSet};

/// How many seeds are run.
const SEEDS: u64 = 3_000;

/// How many failing ones are shrunk.
const HITS: usize = 40;

/// How many runs each of them is given.
const EACH_RUNS: u64 = 120;

/// How many of the first ones go on, simple or not: what is simplest at first is often one kind of run.
const FIRST: usize = 3;

/// How many of the others, the simplest.
const SIMPLEST: usize = 7;

/// How many of those that are left, the simplest one of each other kind.
const KINDS: usize = 4;

/// How many runs each of those is given.
const FURTHER_RUNS: u64 = 700;

/// How many of the simplest that they became are searched from to the end.
const LAST: usize = 3;

/// How many of those that are left, the simplest one of each other kind.
const LAST_KINDS: usize = 3;

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
    for start in simplest(further, LAST, LAST_KINDS) {
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
    shrunk.into_iter().chain(simplest(later, SIMPLEST, KINDS)).collect()
}

/// The simplest of some runs, each once, and after them the simplest ones of other kinds.
fn simplest(runs: Vec<Best>, count: usize, kinds: usize) -> Vec<Best> {
    let by_rank: BTreeMap<Rank, Best> =
        runs.into_iter().map(|best| (best.rank.clone(), best)).collect();
    let mut by_rank = by_rank.into_values();
    let mut simplest: Vec<Best> = by_rank.by_ref().take(count).collect();
    let mut known: BTreeSet<_> = simplest.iter().map(|best| kind(&best.draft)).collect();
    let others = by_rank.filter(|best| known.insert(kind(&best.draft)));
    simplest.extend(others.take(kinds));
    simplest
}

/// Which dimensions of the swarm are not calm: a fault of another kind is another way to the bug.
fn kind(draft: &Draft) -> Vec<usize> {
    let places = draft.lane(Lane::Swarm).into_iter().enumerate();
    places.filter(|(_, at)| !draft.cells[*at].is_zero()).map(|(nth, _)| nth).collect()
}

#[cfg(test)]
mod tests {
    use super::super::super::Attempt;
    use super::*;
    use crate::history::Hash;
    use crate::source::{Choice, Source};
    use std::time::Duration;

    const FAULT: Choice = Choice::one("fault");
    const ITEM: Choice = Choice::one("item");

    /// A run with two dimensions and a number.
    fn best(faults: [u8; 2], item: u8) -> Best {
        let mut source = Source::from_bytes(&[2, faults[0], faults[1], 1, item]);
        for _ in faults {
            source.draw(Lane::Swarm, FAULT, 255);
        }
        source.draw(Lane::Workload, ITEM, 255);
        let tape = source.into_tape();
        let (hash, elapsed) = (Hash([0; 32]), Duration::ZERO);
        Best::of(&Attempt { tape, bug: None, hash, elapsed, steps: 0 })
    }

    #[test]
    fn the_simplest_go_on_and_then_the_simplest_of_each_other_kind() {
        let runs = vec![best([1, 1], 9), best([1, 0], 3), best([7, 0], 1), best([0, 2], 8)];
        let ranks = |runs: &[Best]| runs.iter().map(|best| best.rank.clone()).collect::<Vec<_>>();
        let expect = |count, kinds, places: &[usize]| {
            let expected: Vec<Best> = places.iter().map(|place| runs[*place].clone()).collect();
            assert_eq!(ranks(&simplest(runs.clone(), count, kinds)), ranks(&expected));
        };
        expect(4, 0, &[1, 2, 3, 0]);
        expect(1, 2, &[1, 3, 0]);
        expect(2, 1, &[1, 2, 3]);
    }
}
