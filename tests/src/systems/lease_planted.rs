//! The set with a planted bug that needs a leader which is late.
//!
//! The store keeps the writes of each leader in order and does not look at whose they are. A leader
//! that stood still between its look at the clock and its write, or whose write was long on its
//! way, until another one took over, writes the set that it knew. Everything else is
//! [`super::lease`].

use super::lease;
use super::lease::store::Stamp;
use sim_core::Target;

/// The target.
pub fn target() -> Target {
    Target::new("sim_lease_planted", |sim| lease::build(sim, may_write))
}

fn may_write(last: Stamp, write: Stamp) -> bool {
    write.token != last.token || write.number >= last.number
}
