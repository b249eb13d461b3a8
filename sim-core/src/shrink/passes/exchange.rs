//! Exchanges two values everywhere: two keys, two connections, of which the failure needs both and
//! does not care which is which.

use super::super::{Cell, Shrinker, Value};
use std::collections::{BTreeMap, BTreeSet};

/// What is called the same: a number of a label and bound, or a byte at a place of a label's
/// windows.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Number(&'static str, u64),
    Byte(&'static str, usize),
}

/// The highest value that is exchanged.
const VALUE_MAX: u64 = 15;

pub(super) fn pass(shrinker: &mut Shrinker<'_>) {
    let mut values: BTreeMap<Kind, BTreeSet<u64>> = BTreeMap::new();
    for cell in shrinker.cells() {
        each(&mut cell.clone(), |kind, value| {
            values.entry(kind).or_default().insert(*value);
        });
    }
    for (kind, values) in values {
        let values: Vec<u64> = values.into_iter().filter(|value| *value <= VALUE_MAX).collect();
        for (at, high) in values.iter().enumerate() {
            values[..at].iter().any(|low| exchange(shrinker, kind, *low, *high));
        }
        if shrinker.is_over() {
            return;
        }
    }
}

fn exchange(shrinker: &mut Shrinker<'_>, kind: Kind, low: u64, high: u64) -> bool {
    shrinker.consider_with(|cells| {
        for cell in cells {
            each(cell, |other, value| {
                if other == kind && *value == low {
                    *value = high;
                } else if other == kind && *value == high {
                    *value = low;
                }
            });
        }
    })
}

/// Gives each value of a cell with its kind; what is put there is the value then.
fn each(cell: &mut Cell, mut give: impl FnMut(Kind, &mut u64)) {
    let label = cell.label;
    match &mut cell.value {
        Value::Number { max, value, .. } => give(Kind::Number(label, *max), value),
        Value::Bytes(bytes) => {
            for (at, byte) in bytes.iter_mut().enumerate() {
                let mut value = u64::from(*byte);
                give(Kind::Byte(label, at), &mut value);
                *byte = value as u8;
            }
        }
    }
}
