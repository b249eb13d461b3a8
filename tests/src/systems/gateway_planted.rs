//! The shop with a planted bug that needs a rollout over an order that takes long.
//!
//! A gateway that is told to end waits for what it took up only so long as is longer than the work of
//! any order. One that goes slow ways, or waits for a service that is replaced too, takes longer
//! than that, and its client gets no answer. Everything else is [`super::gateway`].

use super::gateway;
use sim_core::Target;
use std::time::Duration;

/// For how long a gateway finishes what it took up.
const DRAIN: Duration = Duration::from_millis(700);

/// The target.
pub fn target() -> Target {
    Target::new("sim_gateway_planted", |sim| gateway::build(sim, Some(DRAIN)))
}
