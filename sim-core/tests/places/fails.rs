//! Ways to fail, each at a place of its own.

use sim_core::{Checker, Sim, Violation, fail};

/// Says so.
pub(crate) fn fails(_: &mut Sim) {
    fail("no");
}

/// Panics in a node.
pub(crate) fn panics(sim: &mut Sim) {
    sim.client("client", |_| async { panic!("no") });
}

/// Has a checker that is not content.
pub(crate) fn breaks_a_rule(sim: &mut Sim) {
    sim.check(Never);
}

struct Never;

impl Checker for Never {
    fn end(&mut self) -> Result<(), Violation> {
        Err(Violation::new("no"))
    }
}
