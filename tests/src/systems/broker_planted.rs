//! The broker with a planted bug that needs a consumer which is late.
//!
//! The broker keeps the commits of each generation in order and does not look at which one it is: a
//! commit of an old generation lands after one of the next, and the offset goes back, so records
//! are done again. Everything else is [`super::broker`].

use super::broker::group::Commit;
use super::broker::{self, Region};
use sim_core::Target;

/// The target.
pub fn target() -> Target {
    Target::new("sim_broker_planted", |sim| broker::build(sim, may_commit, Region::Wide))
}

/// The same bug where consumers come and go all the time, and little else happens.
pub fn churn() -> Target {
    Target::new("sim_broker_churn", |sim| broker::build(sim, may_commit, Region::Churn))
}

fn may_commit(_now: u64, last: Commit, commit: Commit) -> bool {
    commit.generation != last.generation || commit.offset >= last.offset
}
