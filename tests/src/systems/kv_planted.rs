//! The key-value store with a planted bug that needs a crash and a retry.
//!
//! The numbers of commands are not recovered from the log: what a client asks for again after a
//! restart is executed again. Everything else is [`super::kv`].

use super::kv::{self, replica, replica::Store};
use sim_core::Target;

/// The target.
pub fn target() -> Target {
    Target::new("sim_kv_planted", |sim| kv::build(sim, recover))
}

fn recover(records: &[String]) -> Store {
    let mut store = replica::recover(records);
    store.entries.values_mut().for_each(|entry| entry.number = 0);
    store
}
