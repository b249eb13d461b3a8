//! The registers of openraft with a planted bug that needs a loss of power.
//!
//! The store acknowledges appends, and what of them is committed, when that is written, and syncs it
//! some seconds later. Everything else is [`super::raft`].

use super::raft::{self, store::Acknowledge};
use sim_core::Target;

/// The target.
pub fn target() -> Target {
    raft::target_of("sim_raft_planted", Acknowledge::Written)
}
