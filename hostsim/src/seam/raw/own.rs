//! Whose a descriptor is: a call acts on those of the simulated kernel, on numbers of nobody, and on
//! what a call of this module opened.

use super::Outcome;
use crate::kernel::DESCRIPTOR_MIN;
use libc::c_int;
use std::cell::RefCell;
use std::collections::BTreeSet;

/// Past what the real kernel gives: its hard limit is lower.
const NEVER_MIN: c_int = 1_000_000;

thread_local! {
    /// The descriptors of the real kernel that calls of this thread opened.
    static OPENED: RefCell<BTreeSet<c_int>> = const { RefCell::new(BTreeSet::new()) };
}

fn is_real(fd: c_int) -> bool {
    (0..DESCRIPTOR_MIN).contains(&fd)
}

/// The descriptor, for a call on it.
///
/// # Panics
/// Where it may be somebody else's.
#[track_caller]
pub(super) fn known(fd: c_int) -> c_int {
    let is_known = !is_real(fd) || fd >= NEVER_MIN || OPENED.with_borrow(|own| own.contains(&fd));
    assert!(is_known, "no call opened descriptor {fd}");
    fd
}

/// A call opened a descriptor, where it did not fail.
pub(super) fn opened(outcome: Outcome) -> Outcome {
    let Ok(value) = outcome.0 else { return outcome };
    let fd = c_int::try_from(value).expect("a descriptor is an int");
    if is_real(fd) {
        OPENED.with_borrow_mut(|own| own.insert(fd));
    }
    outcome
}

/// A descriptor was closed.
pub(super) fn closed(fd: c_int) {
    if is_real(fd) {
        OPENED.with_borrow_mut(|own| own.remove(&fd));
    }
}
