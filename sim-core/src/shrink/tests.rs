//! The shrinker on predicates over draws: each case has one simplest form, and every failing input
//! becomes it.

use super::*;
use crate::failure::Class;
use crate::history::Hash;
use crate::source::{Choice, Lane, Source};
use crate::tape::SpanKind;
use std::cell::RefCell;

/// A predicate over a source: whether it fails.
struct Toy<F>(F);

impl<F: FnMut(&mut Source) -> bool> Subject for Toy<F> {
    fn attempt(&mut self, input: &Input) -> Attempt {
        attempt(&mut self.0, input.source())
    }
}

fn attempt(fails: &mut impl FnMut(&mut Source) -> bool, mut source: Source) -> Attempt {
    let bug = fails(&mut source).then(|| (Class::Correctness, "toy".to_owned()));
    let (hash, elapsed, steps) = (Hash([0; 32]), Duration::ZERO, 0);
    Attempt { tape: source.into_tape(), bug, hash, elapsed, steps }
}

/// Shrinks as many failing seeds as asked for; the distinct results, and the most runs of one.
fn results(count: usize, mut fails: impl FnMut(&mut Source) -> bool) -> (Vec<Vec<u8>>, u64) {
    let (mut found, mut runs, mut failing) = (BTreeSet::new(), 0, 0);
    for seed in 0.. {
        assert!(seed < 200_000, "{failing} seeds fail of {seed}");
        let first = attempt(&mut fails, Source::from_seed(seed));
        if first.bug.is_none() {
            continue;
        }
        failing += 1;
        let bytes = first.tape.to_bytes();
        let mut toy = Toy(&mut fails);
        let shrunk = shrink(&mut toy, &bytes, Budget::default(), &mut |_| {}).unwrap();
        assert!(
            !shrunk.is_cut,
            "the budget is enough: {} runs, {:?}, {:?}",
            shrunk.runs, shrunk.time, shrunk.bytes
        );
        runs = runs.max(shrunk.runs);
        found.insert(shrunk.bytes);
        if failing == count {
            break;
        }
    }
    (found.into_iter().collect(), runs)
}

const MORE: Choice = Choice::one("more");
const ITEM: Choice = Choice::two("item");

/// A list of numbers, each behind a draw that says that it goes on.
fn list(source: &mut Source, max: u64) -> Vec<u64> {
    let mut items = Vec::new();
    loop {
        source.open(SpanKind::Operation, "item");
        let goes_on = source.draw(Lane::Workload, MORE, 7) > 0;
        if goes_on && items.len() < 100 {
            items.push(source.draw(Lane::Workload, ITEM, max));
        }
        source.close();
        if !goes_on || items.len() == 100 {
            return items;
        }
    }
}

#[track_caller]
fn expect_one(bytes: &[u8], fails: impl FnMut(&mut Source) -> bool) {
    let (found, runs) = results(50, fails);
    println!("at most {runs} runs");
    assert_eq!(found, [bytes.to_vec()], "in at most {runs} runs");
}

/// The workload lane alone, after an empty swarm.
fn workload(bytes: &[u8]) -> Vec<u8> {
    [&[0, bytes.len() as u8][..], bytes].concat()
}

#[test]
fn a_list_that_is_not_its_own_reverse_is_two_items() {
    expect_one(&workload(&[1, 1, 0, 1]), |source| {
        let items = list(source, 1_000);
        items.iter().rev().ne(items.iter())
    });
}

#[test]
fn a_large_item_is_the_least_of_those() {
    expect_one(&workload(&[1, 132, 3]), |source| {
        list(source, 1_000).iter().any(|item| *item >= 900)
    });
}

#[test]
fn three_different_items_are_the_first_numbers() {
    expect_one(&workload(&[1, 1, 0, 1, 2, 0, 1]), |source| {
        let mut items = list(source, 1_000);
        items.sort_unstable();
        items.dedup();
        items.len() >= 3
    });
}

#[test]
fn two_items_that_are_the_same_become_zeros() {
    expect_one(&workload(&[1, 0, 0, 1]), |source| {
        let items = list(source, 50);
        (1..items.len()).any(|at| items[..at].contains(&items[at]))
    });
}

#[test]
fn numbers_that_differ_by_one_move_together() {
    const ONE: Choice = Choice::two("one");
    const OTHER: Choice = Choice::two("other");
    expect_one(&workload(&[10, 0, 9]), |source| {
        let one = source.draw(Lane::Workload, ONE, 1_000);
        let other = source.draw(Lane::Workload, OTHER, 1_000);
        one >= 10 && one.abs_diff(other) == 1
    });
}

#[test]
fn a_sum_is_handed_on_to_the_last() {
    expect_one(&workload(&[1, 232, 3]), |source| list(source, 1_000).iter().sum::<u64>() >= 1_000);
}

#[test]
fn two_values_that_differ_take_the_lowest_places() {
    expect_one(&workload(&[1, 0, 0, 1, 1, 0, 1]), |source| {
        let items = list(source, 1);
        items.len() == 3 && items[0] == items[2] && items[0] != items[1]
    });
}

const MODE: Choice = Choice::one("mode");
const CLIENT: Choice = Choice::one("client");

#[test]
fn a_dimension_goes_with_the_draws_that_it_calls_up() {
    expect_one(&workload(&[1, 5, 1, 5]), |source| {
        let clients = source.draw(Lane::Swarm, MODE, 2);
        let mut large = 0;
        for _ in 0..20 {
            source.open(SpanKind::Operation, "item");
            let goes_on = source.draw(Lane::Workload, MORE, 1) > 0;
            if goes_on {
                source.draw(Lane::Workload, CLIENT, clients);
                large += u64::from(source.draw(Lane::Workload, KIND, 9) >= 5);
            }
            source.close();
            if !goes_on {
                break;
            }
        }
        large >= 2
    });
}

const KIND: Choice = Choice::one("kind");

/// A sum of sums: how deep it is, and whether a number in it is large.
fn sum(source: &mut Source, depth: u32) -> (u32, bool) {
    source.open(SpanKind::Operation, "sum");
    let is_sum = depth > 0 && source.draw(Lane::Workload, KIND, 1) > 0;
    let result = if is_sum {
        let (one, other) = (sum(source, depth - 1), sum(source, depth - 1));
        (1 + one.0.max(other.0), one.1 || other.1)
    } else {
        (0, source.draw(Lane::Workload, ITEM, 100) > 50)
    };
    source.close();
    result
}

#[test]
fn a_part_stands_for_the_whole() {
    expect_one(&workload(&[1, 0, 51]), |source| {
        let (depth, has_large) = sum(source, 4);
        depth >= 1 && has_large
    });
}

#[test]
fn two_dimensions_change_at_once() {
    const OTHER: Choice = Choice::one("other");
    expect_one(&[2, 2, 1, 1, 1], |source| {
        let mode = source.draw(Lane::Swarm, MODE, 2);
        let other = source.draw(Lane::Swarm, OTHER, 2);
        let items = list(source, 0).len();
        mode == 1 && other == 0 && items >= 4 || mode == 2 && other == 1 && items >= 1
    });
}

#[test]
fn searches_that_ended_at_different_places_meet() {
    let (found, runs) = results(20, kinds);
    assert_eq!(found, [[1, 140, 1, 1]], "in at most {runs} runs");
}

#[test]
fn a_failure_that_does_not_come_again_is_not_shrunk() {
    let mut count = 0;
    let mut toy = Toy(move |source: &mut Source| {
        count += 1;
        source.draw(Lane::Workload, ITEM, 9);
        count % 2 == 1
    });
    let shrunk = shrink(&mut toy, &[0, 1, 7], Budget::default(), &mut |_| {}).unwrap();
    assert_eq!(shrunk.replays, (1, 3));
    assert_eq!(shrunk.bytes, [0, 1, 7]);
}

#[test]
fn another_bug_is_kept_apart() {
    struct Two;
    impl Subject for Two {
        fn attempt(&mut self, input: &Input) -> Attempt {
            let mut source = input.source();
            let value = source.draw(Lane::Workload, ITEM, 1_000);
            let origin = if value >= 500 { "large" } else { "small" };
            let mut attempt = attempt(&mut |_| true, source);
            attempt.bug = Some((Class::Correctness, origin.to_owned()));
            attempt
        }
    }
    let shrunk = shrink(&mut Two, &workload(&[132, 3]), Budget::default(), &mut |_| {}).unwrap();
    assert_eq!(shrunk.bytes, workload(&[244, 1]));
    let other: Vec<_> =
        shrunk.others.iter().map(|((_, origin), bytes)| (&**origin, bytes)).collect();
    assert_eq!(other, [("small", &Vec::new())]);
}

/// Items of a kind; a higher kind needs fewer of them, and no small step leads to it.
fn kinds(source: &mut Source) -> bool {
    let kind = source.draw(Lane::Swarm, MORE, 255);
    let items = list(source, 1_000).len();
    [(40, 3), (90, 2), (140, 1)].into_iter().any(|(at, least)| at == kind && items >= least)
}

/// An input of the first kind, with three items.
const OF_THE_FIRST: [u8; 11] = [1, 40, 8, 1, 7, 0, 1, 7, 0, 1, 7];

/// A subject that keeps the bytes of its last run, where it was given bytes, and how simple it was.
struct Watched<'l>(&'l RefCell<Option<(Vec<u8>, Rank)>>);

impl Subject for Watched<'_> {
    fn attempt(&mut self, input: &Input) -> Attempt {
        let attempt = attempt(&mut kinds, input.source());
        *self.0.borrow_mut() = match input {
            Input::Bytes(bytes) if attempt.bug.is_some() => {
                Some((bytes.clone(), Best::of(&attempt).rank))
            }
            _ => None,
        };
        attempt
    }
}

#[test]
fn what_is_told_failed_by_its_bytes_and_is_simpler_each_time() {
    let last: RefCell<Option<(Vec<u8>, Rank)>> = RefCell::new(None);
    let mut told: Vec<(Vec<u8>, Rank)> = Vec::new();
    let tell = &mut |bytes: &[u8]| {
        let run = last.borrow().clone().expect("it failed just now, by bytes");
        assert_eq!(run.0, bytes);
        told.push(run);
    };
    let shrunk = shrink(&mut Watched(&last), &OF_THE_FIRST, Budget::default(), tell).unwrap();
    assert!(told.is_sorted_by(|(_, before), (_, after)| after < before), "{told:?}");
    // The search began anew for the last one, and of what it tried meanwhile told nothing.
    let kinds: Vec<u8> = told.iter().map(|(bytes, _)| bytes[1]).collect();
    assert!(kinds[0] == 40 && kinds.last() == Some(&140), "{kinds:?}");
    assert_eq!(told.last().map(|(bytes, _)| bytes), Some(&shrunk.bytes));
}

#[test]
fn what_its_bytes_do_not_repeat_is_neither_taken_nor_told() {
    /// Does something else where it is given choices in place of bytes.
    struct Moody;
    impl Subject for Moody {
        fn attempt(&mut self, input: &Input) -> Attempt {
            let hash = Hash([u8::from(!matches!(input, Input::Bytes(_))); 32]);
            Attempt { hash, ..attempt(&mut kinds, input.source()) }
        }
    }
    let tell = &mut |bytes: &[u8]| panic!("{bytes:?} did something else");
    let shrunk = shrink(&mut Moody, &OF_THE_FIRST, Budget::default(), tell).unwrap();
    assert_eq!((shrunk.replays, shrunk.bytes), ((3, 3), OF_THE_FIRST.to_vec()));
    assert!(shrunk.runs > 100, "it tried: {}", shrunk.runs);
}

#[test]
fn a_limit_of_time_or_of_runs_ends_the_search_and_is_told() {
    let shrunk = |budget| {
        let mut told = OF_THE_FIRST.to_vec();
        let tell = &mut |bytes: &[u8]| told = bytes.to_vec();
        let shrunk = shrink(&mut Toy(kinds), &OF_THE_FIRST, budget, tell).unwrap();
        assert_eq!(told, shrunk.bytes, "what is known by then is the result");
        (shrunk.is_cut, shrunk.runs)
    };
    let whole = shrunk(Budget::default());
    assert!(!whole.0);
    let no_time = Budget { time_max: Duration::ZERO, ..Budget::default() };
    assert_eq!(shrunk(no_time), (true, 1 + REPLAYS));
    for runs_max in [5, 50, 500] {
        let (is_cut, runs) = shrunk(Budget { runs_max, ..Budget::default() });
        // One that was found at the end is run again.
        assert!(is_cut && (runs_max..=runs_max + 1).contains(&runs), "{runs} of {runs_max}");
        assert!(runs < whole.1);
    }
}
