//! Tests of the mutator: what every result is, and what each edit does.

use super::edit::lanes_of;
use super::*;
use crate::shrink::{Cell, Draft, Value};
use crate::source::{Choice, Source};
use crate::tape::{SpanKind, Tape};
use std::collections::BTreeMap;

const ONE: Choice = Choice::one("one");
const TWO: Choice = Choice::two("two");

/// A run of every kind of span and lane: two dimensions, operations, faults, a byte an operation of
/// the schedule.
fn tape_of(bytes: &[u8]) -> Tape {
    let mut source = Source::from_bytes(bytes);
    let mut dimensions = [0; 2];
    for dimension in &mut dimensions {
        source.open(SpanKind::Swarm, "dimension");
        *dimension = source.draw(Lane::Swarm, ONE, 7);
        source.close();
    }
    for _ in 0..40 {
        source.open(SpanKind::Operation, "operation");
        let goes_on = source.draw(Lane::Workload, ONE, 255) != 0;
        if goes_on {
            source.window(Lane::Workload, "op", 2);
        }
        source.close();
        if !goes_on {
            break;
        }
        source.draw(Lane::Schedule, TWO, 999);
    }
    for _ in 0..dimensions[1] {
        source.open(SpanKind::Fault, "fault");
        if source.draw(Lane::Fault, ONE, 255) != 0 {
            source.draw(Lane::Fault, ONE, 9);
        }
        source.close();
    }
    source.into_tape()
}

fn parent(bytes: &[u8]) -> Parent {
    Parent::new(bytes, &tape_of(bytes))
}

/// An input by its lanes.
fn input(swarm: &[u8], workload: &[u8], fault: &[u8], schedule: &[u8]) -> Vec<u8> {
    let mut lanes = Lanes::default();
    lanes.lane_mut(Lane::Swarm).extend(swarm);
    lanes.lane_mut(Lane::Workload).extend(workload);
    lanes.lane_mut(Lane::Fault).extend(fault);
    lanes.lane_mut(Lane::Schedule).extend(schedule);
    lanes.encode()
}

/// Three operations and two faults.
fn sample() -> Vec<u8> {
    input(&[3, 2], &[1, 10, 11, 2, 20, 21, 3, 30, 31], &[4, 5, 6, 7], &[8, 0, 9, 0])
}

/// Something like libFuzzer's own: sets, inserts or erases a byte.
fn base(random: &mut Random) -> impl FnMut(&mut [u8], usize, usize) -> usize {
    |data, size, max_size| {
        assert!(size <= max_size && max_size <= data.len());
        let byte = random.up_to(255) as u8;
        match random.below(3) {
            0 if size > 1 => {
                data.copy_within(1..size, 0);
                size - 1
            }
            1 if size > 0 => {
                data[random.below(size)] = byte;
                size
            }
            _ if size < max_size => {
                data[size] = byte;
                size + 1
            }
            _ => 0,
        }
    }
}

fn child_of(bytes: &[u8], max_size: usize, seed: u32) -> Vec<u8> {
    let mut base_random = Random::new(!seed);
    let mut base = base(&mut base_random);
    child(&parent(bytes), bytes.len(), max_size, &mut Random::new(seed), &mut base)
}

/// Bytes of any length up to 200, mostly few.
fn any_bytes(random: &mut Random) -> Vec<u8> {
    let len_max = random.below(200);
    let len = random.below(1 + len_max);
    (0..len).map(|_| (random.up_to(255) >> random.below(8)) as u8).collect()
}

#[test]
fn a_result_is_the_same_twice_and_never_too_long_and_never_empty() {
    let mut random = Random::new(1);
    let mut changed = 0;
    for seed in 0..20_000 {
        let bytes = any_bytes(&mut random);
        let max_size = match seed % 3 {
            0 => 4096,
            1 => 1 + random.below(bytes.len().max(1)),
            _ => bytes.len() + 1,
        };
        let result = child_of(&bytes, max_size, seed);
        assert!((1..=max_size).contains(&result.len()), "{bytes:?} became {result:?}");
        assert_eq!(result, child_of(&bytes, max_size, seed));
        changed += u32::from(result != bytes);
    }
    assert!(changed > 19_000, "{changed} of 20000 inputs were changed");
}

#[test]
fn a_mix_is_the_same_twice_and_is_cut_to_its_room() {
    let mut random = Random::new(2);
    for seed in 0..10_000 {
        let (first, second) = (any_bytes(&mut random), any_bytes(&mut random));
        let room = random.below(first.len() + second.len() + 8);
        let mix = || {
            let mixed = cross::mix(&parent(&first), &parent(&second), &mut Random::new(seed));
            never_empty(fit(mixed, room), room)
        };
        let mixed = mix();
        assert!(mixed.len() <= room && (room == 0 || !mixed.is_empty()));
        assert_eq!(mixed, mix());
    }
}

#[test]
fn the_longest_lanes_are_cut_until_an_input_fits() {
    let mut random = Random::new(3);
    for _ in 0..5_000 {
        let mut lanes = Lanes::default();
        for lane in Lane::ALL {
            let len = random.below(300) * random.below(2);
            lanes.lane_mut(lane).extend((0..len).map(|at| at as u8));
        }
        let max_size = random.below(700);
        assert!(fit(lanes, max_size).len() <= max_size);
    }
    let cut = fit(Lanes::decode(&input(&[1], &[2; 9], &[], &[])), 8);
    assert_eq!(cut, input(&[1], &[2; 5], &[], &[]));
}

/// All results of an edit of an input, by many seeds.
fn results(edit: Edit, bytes: &[u8]) -> BTreeMap<Vec<u8>, u32> {
    let parent = parent(bytes);
    let mut results = BTreeMap::new();
    for seed in 0..2_000 {
        let lanes = edit.apply(&parent.draft, &parent.lanes, &mut Random::new(seed));
        if let Some(lanes) = lanes {
            *results.entry(lanes.encode()).or_default() += 1;
        }
    }
    results
}

/// Checks that these are among the results, and that each result is as it should be.
#[track_caller]
fn check(edit: Edit, bytes: &[u8], expected: &[Vec<u8>], holds: impl Fn(&Lanes) -> bool) {
    let results = results(edit, bytes);
    for one in expected {
        assert!(results.contains_key(one), "{edit:?} of {bytes:?} never gives {one:?}");
    }
    for result in results.keys() {
        assert!(holds(&Lanes::decode(result)), "{edit:?} of {bytes:?} gives {result:?}");
    }
}

/// The operations of an input, by their first bytes.
fn operations(lanes: &Lanes) -> Vec<u8> {
    lanes.lane(Lane::Workload).chunks(3).map(|operation| operation[0]).collect()
}

#[test]
fn whole_operations_and_faults_are_dropped() {
    let expected = [
        input(&[3, 2], &[2, 20, 21, 3, 30, 31], &[4, 5, 6, 7], &[8, 0, 9]),
        input(&[3, 2], &[1, 10, 11], &[4, 5, 6, 7], &[8, 0, 9]),
        input(&[3, 2], &[1, 10, 11, 2, 20, 21, 3, 30, 31], &[6, 7], &[8, 0, 9]),
    ];
    let whole = |lanes: &Lanes| {
        let faults = lanes.lane(Lane::Fault);
        lanes.lane(Lane::Workload).len().is_multiple_of(3)
            && [&[4, 5, 6, 7][..], &[4, 5], &[6, 7], &[]].contains(&faults)
            && lanes.lane(Lane::Swarm) == [3, 2]
    };
    check(Edit::Drop, &sample(), &expected, whole);
}

#[test]
fn operations_are_doubled_at_any_place() {
    let expected = [
        input(&[3, 2], &[1, 10, 11, 2, 20, 21, 3, 30, 31], &[4, 5, 6, 7, 4, 5], &[8, 0, 9]),
        input(&[3, 2], &[3, 30, 31, 1, 10, 11, 2, 20, 21, 3, 30, 31], &[4, 5, 6, 7], &[8, 0, 9]),
    ];
    let longer = |lanes: &Lanes| {
        let operations = operations(lanes);
        let sizes = operations.len() * 3 + lanes.lane(Lane::Fault).len();
        lanes.lane(Lane::Workload).len().is_multiple_of(3) && sizes > 13
    };
    check(Edit::Duplicate, &sample(), &expected, longer);
}

#[test]
fn operations_change_their_order() {
    let orders = |of: &[[u8; 3]]| -> Vec<Vec<u8>> {
        let all = of.iter().map(|order| order.map(|one| [one, one * 10, one * 10 + 1]).concat());
        all.map(|workload| input(&[3, 2], &workload, &[4, 5, 6, 7], &[8, 0, 9])).collect()
    };
    let permuted = |lanes: &Lanes| {
        let mut operations = operations(lanes);
        operations.sort_unstable();
        operations == [1, 2, 3] && lanes.lane(Lane::Schedule) == [8, 0, 9]
    };
    check(Edit::Swap, &sample(), &orders(&[[2, 1, 3], [1, 3, 2], [3, 2, 1]]), permuted);
    let moved = orders(&[[2, 1, 3], [1, 3, 2], [3, 1, 2], [2, 3, 1]]);
    check(Edit::Move, &sample(), &moved, permuted);
}

#[test]
fn one_dimension_is_zeroed_or_raised() {
    let workload = [1, 10, 11, 2, 20, 21, 3, 30, 31];
    let with = |swarm: &[u8]| input(swarm, &workload, &[4, 5, 6, 7], &[8, 0, 9]);
    let expected = [with(&[0, 2]), with(&[3]), with(&[7, 2]), with(&[3, 7])];
    let rest = |lanes: &Lanes| {
        let swarm = lanes.lane(Lane::Swarm);
        let differs = |at: usize, before: u8| swarm.get(at).copied().unwrap_or(0) != before;
        lanes.lane(Lane::Workload) == workload && differs(0, 3) != differs(1, 2)
    };
    check(Edit::Dimension, &sample(), &expected, rest);
}

#[test]
fn one_choice_is_set_within_its_bound() {
    let bytes = input(&[3, 1], &[1, 10, 11], &[4, 5], &[8]);
    let expected = [
        input(&[3, 1], &[0, 10, 11], &[4, 5], &[8]),
        input(&[3, 1], &[1, 255, 11], &[4, 5], &[8]),
        input(&[3, 1], &[1, 10, 11], &[4, 9], &[8]),
        input(&[3, 1], &[1, 10, 11], &[4, 5], &[0xe7, 3]),
        input(&[3, 1], &[1, 10, 11], &[4, 5], &[7]),
    ];
    let is_bounded = |lanes: &Lanes| {
        lanes.lane(Lane::Swarm) == [3, 1]
            && lanes.lane(Lane::Fault).get(1).is_none_or(|at| *at < 10)
    };
    check(Edit::Choice, &bytes, &expected, is_bounded);
}

#[test]
fn a_lane_is_cut_at_a_choice() {
    let expected = [
        input(&[3, 2], &[1, 10, 11], &[4, 5, 6, 7], &[8, 0, 9]),
        input(&[3, 2], &[1, 10, 11, 2, 20, 21, 3, 30, 31], &[4, 5, 6], &[8, 0, 9]),
        input(&[], &[1, 10, 11, 2, 20, 21, 3, 30, 31], &[4, 5, 6, 7], &[8, 0, 9]),
    ];
    let before = Lanes::decode(&sample());
    let is_start = |lanes: &Lanes| {
        Lane::ALL.iter().all(|lane| before.lane(*lane).starts_with(lanes.lane(*lane)))
    };
    check(Edit::Cut, &sample(), &expected, is_start);
}

#[test]
fn choices_become_calm_or_come_later() {
    let workload = [1, 10, 11, 2, 20, 21, 3, 30, 31];
    let with = |schedule: &[u8]| input(&[3, 2], &workload, &[4, 5, 6, 7], schedule);
    let expected = [with(&[]), with(&[0, 0, 9]), with(&[0, 0, 8, 0, 9]), with(&[8])];
    let fits = |lanes: &Lanes| lanes.lane(Lane::Workload).len() <= 9;
    check(Edit::Calm, &sample(), &expected, fits);
}

#[test]
fn new_operations_come_after_the_last() {
    let before = Lanes::decode(&sample());
    let comes_after = |lanes: &Lanes| {
        let is_longer = |lane: Lane| {
            let (lane, before) = (lanes.lane(lane), before.lane(lane));
            lane.len() > before.len() && lane.starts_with(before)
        };
        is_longer(Lane::Workload) != is_longer(Lane::Fault)
            && lanes.lane(Lane::Workload).chunks(3).all(|operation| operation[0] != 0)
    };
    check(Edit::Append, &sample(), &[], comes_after);
    assert!(results(Edit::Append, &sample()).len() > 1_000);
    assert!(results(Edit::Append, &[]).is_empty(), "there is no form to go by");
}

#[test]
fn a_lane_that_was_short_is_given_bytes() {
    let is_supplied = |lanes: &Lanes| !lanes.is_empty();
    check(Edit::Supply, &[], &[], is_supplied);
    let lanes: Vec<usize> = results(Edit::Supply, &[])
        .keys()
        .map(|bytes| Lanes::decode(bytes))
        .flat_map(|lanes| Lane::ALL.map(|lane| lanes.lane(lane).len()).into_iter().enumerate())
        .filter(|(_, len)| *len > 0)
        .map(|(lane, _)| lane)
        .collect();
    // The swarm and the first operation were asked for, nothing else.
    let asked = [Lane::Swarm.index(), Lane::Workload.index()];
    assert!(lanes.iter().all(|lane| asked.contains(lane)));
    assert!(asked.iter().all(|lane| lanes.contains(lane)));
}

#[test]
fn lanes_are_renewed_by_chance_or_all_of_them() {
    let parent = parent(&sample());
    let mut renewed = [0; Lane::COUNT];
    for seed in 0..1_000 {
        let lanes = Edit::Renew.apply(&parent.draft, &parent.lanes, &mut Random::new(seed));
        let lanes = lanes.expect("there is always something to renew");
        let differs = |lane: &Lane| lanes.lane(*lane) != parent.lanes.lane(*lane);
        Lane::ALL.into_iter().filter(differs).for_each(|lane| renewed[lane.index()] += 1);
    }
    assert!(renewed.iter().all(|times| (250..420).contains(times)), "each in three: {renewed:?}");
    for seed in 0..100 {
        let lanes = Edit::Fresh.apply(&parent.draft, &parent.lanes, &mut Random::new(seed));
        let lanes = lanes.expect("it needs nothing");
        assert!(Lane::ALL.iter().all(|lane| !lanes.lane(*lane).is_empty()), "{lanes:?}");
    }
}

#[test]
fn a_branch_goes_as_before_up_to_a_choice_and_then_otherwise() {
    let before = tape_of(&sample());
    let parent = parent(&sample());
    let mut lens = BTreeMap::new();
    for seed in 0..2_000 {
        let lanes = Edit::Branch.apply(&parent.draft, &parent.lanes, &mut Random::new(seed));
        let after = tape_of(&lanes.expect("there are choices").encode());
        let same = before.iter().zip(after.iter()).take_while(|(one, other)| one == other).count();
        assert!(same >= 2, "the swarm stays");
        *lens.entry(same).or_insert(0) += 1;
    }
    assert!((2..before.len() - 1).all(|len| lens.contains_key(&len)), "{lens:?}");
    assert!(Edit::Branch.apply(&Draft::default(), &parent.lanes, &mut Random::new(1)).is_none());
}

#[test]
fn a_mix_takes_lanes_of_either_or_spans_of_the_second() {
    let second = input(&[5], &[9, 90, 91], &[], &[1, 1]);
    let (first, second) = (parent(&sample()), parent(&second));
    let mut lanes = 0;
    let mut spliced = 0;
    for seed in 0..2_000 {
        let mixed = cross::mix(&first, &second, &mut Random::new(seed));
        let is_whole = |lane: Lane| {
            let lane_of = |parent: &Parent| mixed.lane(lane) == parent.lanes.lane(lane);
            lane_of(&first) || lane_of(&second)
        };
        if Lane::ALL.into_iter().all(is_whole) {
            lanes += 1;
        } else {
            let operations = operations(&mixed);
            assert_eq!(operations.iter().filter(|one| **one == 9).count(), 1, "{operations:?}");
            assert_eq!(operations.len(), 4);
            assert_eq!(mixed.lane(Lane::Swarm), [3, 2]);
            spliced += 1;
        }
    }
    assert!(lanes > 500 && spliced > 500, "{lanes} {spliced}");
}

#[test]
fn libfuzzers_own_mutation_stays_in_one_lane_and_knows_its_room() {
    let bytes = sample();
    let parent = parent(&bytes);
    let mut touched = BTreeMap::new();
    for seed in 0..2_000 {
        let mut base_random = Random::new(!seed);
        let mut base = base(&mut base_random);
        let (max_size, mut random) = (bytes.len() + 4, Random::new(seed));
        let Some(lanes) = lane::mutate(&parent, max_size, &mut random, &mut base) else {
            continue;
        };
        assert!(lanes.encode().len() <= max_size);
        let changed: Vec<Lane> = Lane::ALL
            .into_iter()
            .filter(|lane| lanes.lane(*lane) != parent.lanes.lane(*lane))
            .collect();
        assert!(changed.len() <= 1, "{changed:?}");
        changed.into_iter().for_each(|lane| *touched.entry(lane).or_insert(0) += 1);
    }
    let count = |lane| touched.get(&lane).copied().unwrap_or(0);
    assert!(count(Lane::Workload) > count(Lane::Swarm) && count(Lane::Swarm) > 50, "{touched:?}");
    assert_eq!(count(Lane::App), 0, "nothing asks for it");
}

#[test]
fn every_kind_is_picked() {
    let mut random = Random::new(4);
    for kinds in [&KINDS[..], &SHORTER] {
        let picked: Vec<Kind> = (0..2_000).map(|_| *random.weighted(kinds)).collect();
        assert!(kinds.iter().all(|(kind, _)| picked.contains(kind)));
    }
}

#[test]
fn bytes_that_no_run_reads_are_mutated_too() {
    let tape = Tape::default();
    let bytes = [200; 50];
    let parent = Parent::new(&bytes, &tape);
    assert_eq!(parent.draft.cells, Vec::<Cell>::new());
    for seed in 0..1_000 {
        let mut base_random = Random::new(!seed);
        let mut base = base(&mut base_random);
        for max_size in [1, 49, 50, 4096] {
            let result = child(&parent, 50, max_size, &mut Random::new(seed), &mut base);
            assert!((1..=max_size).contains(&result.len()));
        }
    }
}

#[test]
fn choices_become_the_lanes_that_they_were_read_from() {
    let bytes = sample();
    assert_eq!(lanes_of(&parent(&bytes).draft.cells), Lanes::decode(&bytes).canonical());
    let number = Value::Number { width: crate::source::Width::Two, max: 999, value: 258 };
    let cells = [Cell { lane: Lane::App, label: "two", value: number }];
    assert_eq!(lanes_of(&cells).lane(Lane::App), [2, 1]);
    assert_eq!(lanes_of(&[]), Lanes::default());
}

#[test]
fn a_target_is_mutated_and_crossed_over_through_the_front() {
    let target = Target::new("mutated", |sim| {
        (0..sim.dimension("notes", 9)).for_each(|note| sim.note(&note.to_string()));
    });
    let start = [7, 0, 0, 0, 0, 0, 0, 3];
    let mutated = |seed: u32| {
        let mut data = [0; 64];
        data[..start.len()].copy_from_slice(&start);
        let mut base_random = Random::new(!seed);
        let size = mutate(&target, &mut data, start.len(), 64, seed, base(&mut base_random));
        data[..size].to_vec()
    };
    let crossed = |seed: u32| {
        let mut out = [0; 16];
        let size = crossover(&target, &start, &[1, 2, 0, 0], &mut out, seed);
        out[..size].to_vec()
    };
    let mut declined = 0;
    for seed in 0..200 {
        let result = mutated(seed);
        assert_eq!(result, mutated(seed));
        let run = Front::with(&target, |front| front.run(crate::run::Input::Bytes(result)));
        assert_eq!(run.failure, None);
        assert_eq!(crossed(seed), crossed(seed));
        declined += u64::from(crossed(seed).is_empty());
    }
    assert!((120..180).contains(&declined), "{declined}");
}
