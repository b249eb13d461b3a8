//! The end of a process that found a failure: a frame of the stack that is named after its class.
//!
//! Tools that group crashes go by the frames below `abort` and by the message of a panic. Here both
//! are the same for one bug and differ between bugs of two classes, wherever the run failed. It
//! reports nothing else.

use crate::failure::{Class, Failure};
use crate::identity::say;
use std::hint::black_box;
use std::process::abort;

/// Ends the process in the frame of the failure's class.
///
/// The line has the form that panics had before Rust 1.73: ClusterFuzz reads the message between the
/// quotes of that form alone, and casr reads both.
pub(super) fn end(target: &str, failure: &Failure) -> ! {
    let (class, bug) = (failure.class, failure.fingerprint(target));
    say(&format!("thread 'sim' panicked at '{target} {class} bug={bug}', {}", failure.origin));
    frame(class)()
}

/// The function that ends a process for a class.
fn frame(class: Class) -> fn() -> ! {
    match class {
        Class::Correctness => sim_failed_correctness,
        Class::Panic => sim_failed_panic,
        Class::Deadlock => sim_failed_deadlock,
        Class::Leak => sim_failed_leak,
        Class::Liveness => sim_failed_liveness,
        Class::Diverged => sim_failed_diverged,
        Class::Excused => sim_failed_excused,
        Class::Inconclusive => sim_failed_inconclusive,
        Class::Internal => sim_failed_internal,
    }
}

/// Makes the functions. Each holds its own name, else the compiler may make one of them all.
macro_rules! frames {
    ($($name:ident)*) => {
        $(
            #[inline(never)]
            fn $name() -> ! {
                black_box(stringify!($name));
                abort()
            }
        )*
    };
}

frames! {
    sim_failed_correctness
    sim_failed_panic
    sim_failed_deadlock
    sim_failed_leak
    sim_failed_liveness
    sim_failed_diverged
    sim_failed_excused
    sim_failed_inconclusive
    sim_failed_internal
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_class_has_a_frame_of_its_own() {
        let classes = Class::ALL;
        let frames: BTreeSet<usize> = classes.map(|class| frame(class) as usize).into();
        assert_eq!(frames.len(), classes.len());
    }
}
