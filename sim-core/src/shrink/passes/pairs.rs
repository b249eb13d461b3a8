//! Changes two numbers at once: both lower by the same, or one lower and the other higher.

use super::super::{Shrinker, Value, find_integer};
use super::integers::lower;

/// How many numbers after one are tried with it.
const REACH: usize = 8;

pub(super) fn pass(shrinker: &mut Shrinker<'_>) {
    let mut index = 0;
    loop {
        let places = numbers(shrinker);
        let Some(&first) = places.get(index) else { return };
        for &second in places[index + 1..].iter().take(REACH) {
            both_lower(shrinker, first, second);
            hand_over(shrinker, first, second);
            fill(shrinker, first, second);
            if shrinker.is_over() {
                return;
            }
        }
        index += 1;
    }
}

/// The places of numbers that have a choice worth the name.
fn numbers(shrinker: &Shrinker<'_>) -> Vec<usize> {
    let is_number =
        |at: &usize| matches!(shrinker.cells()[*at].value, Value::Number { max, .. } if max > 1);
    (0..shrinker.cells().len()).filter(is_number).collect()
}

fn both_lower(shrinker: &mut Shrinker<'_>, first: usize, second: usize) {
    change(shrinker, first, second, |one, other, by| {
        Some((one.checked_sub(by)?, other.checked_sub(by)?))
    });
}

/// The earlier number gives to the later one.
fn hand_over(shrinker: &mut Shrinker<'_>, first: usize, second: usize) {
    change(shrinker, first, second, |one, other, by| {
        Some((one.checked_sub(by)?, other.checked_add(by)?))
    });
}

fn change(
    shrinker: &mut Shrinker<'_>,
    first: usize,
    second: usize,
    step: impl Fn(u64, u64, u64) -> Option<(u64, u64)>,
) {
    let value = |shrinker: &Shrinker<'_>, at: usize| {
        shrinker.cells().get(at).and_then(|cell| Some((cell.number()?, cell.max()?)))
    };
    let (Some((one, _)), Some((other, other_max))) =
        (value(shrinker, first), value(shrinker, second))
    else {
        return;
    };
    if one == 0 {
        return;
    }
    let mut propose = |by: u64| {
        let Some((one, other)) = step(one, other, by) else { return false };
        if other > other_max {
            return false;
        }
        shrinker.consider_with(|cells| {
            if let (true, true) = (first < cells.len(), second < cells.len()) {
                cells[first].set_number(one);
                cells[second].set_number(other);
            }
        })
    };
    // All of it, or as much as goes; two at a time, where one changes what a number means.
    if !propose(one) && find_integer(|by| propose(by as u64)) == 0 {
        find_integer(|by| propose(2 * by as u64));
    }
}

/// The later number takes as much as it can hold, and the earlier one needs little.
fn fill(shrinker: &mut Shrinker<'_>, first: usize, second: usize) {
    let number = |at: usize| shrinker.cells().get(at).and_then(|cell| cell.number());
    let Some(max) = shrinker.cells().get(second).and_then(|cell| cell.max()) else { return };
    let Some(one) = number(first).filter(|one| *one > 0) else { return };
    lower(one, |new| {
        shrinker.consider_with(|cells| {
            if second < cells.len() {
                cells[first].set_number(new);
                cells[second].set_number(max);
            }
        })
    });
}
