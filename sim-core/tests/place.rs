//! A test that fails says the line of the test, and no line of the harness.

#![forbid(unsafe_code)]

use sim_core::{Target, excuse, sweep};
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Mutex;

static PLACE: Mutex<String> = Mutex::new(String::new());

#[test]
fn a_sweep_that_fails_panics_where_it_was_called() {
    set_hook(Box::new(|panic| {
        *PLACE.lock().unwrap() = panic.location().expect("every panic has one").to_string();
    }));
    // Of these no input is written.
    let target = Target::new("place", |_| excuse("nothing is tested"));
    let line = line!() + 1;
    let failed = catch_unwind(AssertUnwindSafe(|| sweep::test(&target, 0..3)));
    drop(take_hook());
    assert!(failed.is_err());
    let place = PLACE.lock().unwrap().clone();
    assert!(place.contains(&format!("place.rs:{line}:")), "{place}");
}
