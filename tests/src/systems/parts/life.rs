//! Everything that may befall a node.

use super::serve::PORT;
use sim_core::Sim;
use sim_core::control::FaultSpec;
use sim_core::lifecycle::{Lifecycle, Rollout};
use sim_core::node::Node;
use std::time::Duration;

/// The longest wait between two events: most workloads take some seconds at most.
const WAIT: Duration = Duration::from_millis(200);

/// How long an event at a server lasts at most.
const LASTING: Duration = Duration::from_secs(10);

/// For how long clients ask before they give up. The calm one is longer than most of what befalls.
const PATIENCES: [Duration; 4] = [
    Duration::from_secs(20),
    Duration::from_secs(8),
    Duration::from_secs(3),
    Duration::from_millis(500),
];

/// Draws for how long the clients of a run ask before they give up.
pub fn patience(sim: &mut Sim) -> Duration {
    PATIENCES[sim.dimension("patience", PATIENCES.len() as u64 - 1) as usize]
}

/// Has the run draw faults of the network, of every kind.
pub fn faults(sim: &mut Sim) {
    sim.faults(FaultSpec::new().pause(WAIT));
}

/// Has the run draw every event of lifecycles for a node, at any number of its hosts at once, each
/// for some time at most. A replica of a rollout is ready when it listens on a port, where it has
/// one.
pub fn everything(sim: &mut Sim, node: &Node, port: Option<u16>, lasting: Duration) {
    sim.lifecycle(every(node, port).pause(WAIT).lasting(lasting));
}

/// Every event, as [`everything`] has it, at the pace of who asks.
pub fn every(node: &Node, port: Option<u16>) -> Lifecycle {
    let rollout = Rollout::of(node);
    let rollout = match port {
        Some(port) => rollout.ready_on(port),
        None => rollout,
    };
    let life = Lifecycle::of(node).crashes().restarts().rollouts(rollout);
    life.partitions().pauses().skews().down_at_most(node.hosts().len())
}

/// [`everything`] for servers.
pub fn of_servers(sim: &mut Sim, node: &Node) {
    everything(sim, node, Some(PORT), LASTING);
}
