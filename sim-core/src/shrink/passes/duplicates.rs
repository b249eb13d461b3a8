//! Lowers together what has one label, one bound and one value: a key that must be the same in two
//! operations.

use super::super::{Cell, Shrinker, Value};
use super::integers::lower;
use std::collections::BTreeMap;

pub(super) fn pass(shrinker: &mut Shrinker<'_>) {
    numbers(shrinker);
    windows(shrinker);
}

fn numbers(shrinker: &mut Shrinker<'_>) {
    let mut groups: BTreeMap<(&'static str, u64, u64), Vec<usize>> = BTreeMap::new();
    for (at, cell) in shrinker.cells().iter().enumerate() {
        if let Value::Number { max, value: value @ 1.., .. } = cell.value {
            groups.entry((cell.label, max, value)).or_default().push(at);
        }
    }
    for ((label, max, value), places) in groups {
        if places.len() < 2 || shrinker.is_over() {
            continue;
        }
        let is_same = |cell: &Cell| {
            cell.label == label && cell.max() == Some(max) && cell.number() == Some(value)
        };
        if !places.iter().all(|at| shrinker.cells().get(*at).is_some_and(is_same)) {
            continue;
        }
        lower(value, |new| {
            shrinker.consider_with(|cells| places.iter().for_each(|at| cells[*at].set_number(new)))
        });
    }
}

/// The same for a byte that stands at one place of windows of one label.
fn windows(shrinker: &mut Shrinker<'_>) {
    let mut groups: BTreeMap<(&'static str, usize, u8), Vec<usize>> = BTreeMap::new();
    for (at, cell) in shrinker.cells().iter().enumerate() {
        if let Value::Bytes(bytes) = &cell.value {
            for (offset, byte) in bytes.iter().enumerate().filter(|(_, byte)| **byte > 0) {
                groups.entry((cell.label, offset, *byte)).or_default().push(at);
            }
        }
    }
    for ((_, offset, byte), places) in groups {
        if places.len() < 2 || shrinker.is_over() {
            continue;
        }
        let is_same =
            |cell: &Cell| matches!(&cell.value, Value::Bytes(b) if b.get(offset) == Some(&byte));
        if !places.iter().all(|at| shrinker.cells().get(*at).is_some_and(is_same)) {
            continue;
        }
        lower(u64::from(byte), |new| {
            shrinker.consider_with(|cells| {
                for at in &places {
                    if let Value::Bytes(bytes) = &mut cells[*at].value {
                        bytes[offset] = new as u8;
                    }
                }
            })
        });
    }
}
