//! The queue with a planted bug that needs a lease to end while its worker still has the job.
//!
//! Any token completes a job: a worker that is late takes it from the one that has it now.
//! Everything else is [`super::queue`].

use super::queue;
use sim_core::Target;

/// The target.
pub fn target() -> Target {
    Target::new("sim_queue_planted", |sim| queue::build(sim, |_, _| true))
}
