//! Lowers each number, and each byte of a window.

use super::super::{Cell, Shrinker, Value};

pub(super) fn pass(shrinker: &mut Shrinker<'_>) {
    let mut at = 0;
    while at < shrinker.cells().len() {
        match &shrinker.cells()[at].value {
            Value::Number { value: value @ 1.., .. } => {
                let value = *value;
                lower(value, |new| shrinker.consider_number(at, new));
            }
            Value::Number { .. } => {}
            Value::Bytes(bytes) => {
                let len = bytes.len();
                window(shrinker, at, len);
            }
        }
        at += 1;
        if shrinker.is_over() {
            return;
        }
    }
}

fn window(shrinker: &mut Shrinker<'_>, at: usize, len: usize) {
    if shrinker.consider_with(|cells| cells[at].zero()) {
        return;
    }
    for offset in 0..len {
        let byte = match shrinker.cells().get(at).map(|cell| &cell.value) {
            Some(Value::Bytes(bytes)) => bytes.get(offset).copied().unwrap_or(0),
            _ => return,
        };
        let mut set = |new: u64| {
            shrinker.consider_with(|cells| {
                if let Value::Bytes(bytes) = &mut cells[at].value {
                    bytes[offset] = new as u8;
                }
            })
        };
        // A byte mostly picks one of a few: which of them fail says nothing of the next.
        if !(2..u64::from(byte).min(FEW)).any(&mut set) {
            lower(u64::from(byte), set);
        }
    }
}

/// As many choices as are tried one by one.
const FEW: u64 = 12;

/// Finds a lower value that holds: 0, 1, halves, then what can be taken off. What holds stays done.
pub(super) fn lower(value: u64, mut holds: impl FnMut(u64) -> bool) -> u64 {
    if value == 0 || holds(0) {
        return 0;
    }
    if value == 1 || holds(1) {
        return 1;
    }
    let mut now = value;
    while now > 2 && holds(now / 2) {
        now /= 2;
    }
    // Nothing at `low` or below held; `now` does.
    let mut low = now / 2;
    while now - low > 1 {
        let middle = low + (now - low) / 2;
        if holds(middle) {
            now = middle;
        } else {
            low = middle;
        }
    }
    now
}

/// Takes one or two off each number: not everything that fails does so from some value on.
pub(super) fn nudge(shrinker: &mut Shrinker<'_>) {
    for at in 0..shrinker.cells().len() {
        let number = shrinker.cells().get(at).and_then(Cell::number).unwrap_or(0);
        if number > 1 {
            let lower = [number - 1, number - 2];
            lower.into_iter().any(|new| shrinker.consider_number(at, new));
        }
        if shrinker.is_over() {
            return;
        }
    }
}

/// Tries the first few values of a number that picks one of a few by its remainder.
pub(super) fn few(shrinker: &mut Shrinker<'_>) {
    for at in 0..shrinker.cells().len() {
        let Some(Value::Number { max: 2..=255, value, .. }) =
            shrinker.cells().get(at).map(|cell| cell.value.clone())
        else {
            continue;
        };
        (2..value.min(FEW)).any(|new| shrinker.consider_number(at, new));
        if shrinker.is_over() {
            return;
        }
    }
}
