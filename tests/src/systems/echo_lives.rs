//! The echo server of [`super::echo`] under everything that may befall it, and clients that give up
//! with whatever error comes.
//!
//! The model is the one of `echo`, and as no client asks twice, no message is received twice.

use super::echo::{self, Connections, Op, Shared};
use super::parts::life;
use super::parts::serve::serve;
use sim_core::node::NodeSpec;
use sim_core::process::Process;
use sim_core::workload::{Client, Operation, OperationId, Outcome, WorkloadSpec};
use sim_core::{Sim, Target, reached};
use std::io;
use std::rc::Rc;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::timeout;

/// How long a client waits for a reply.
const PATIENCE: Duration = Duration::from_secs(20);

/// The target.
pub fn target() -> Target {
    Target::new("sim_echo_lives", build)
}

fn build(sim: &mut Sim) {
    let model = Shared::default();
    sim.check(model.clone());
    let seen = model.clone();
    let app = move |process| run(process, seen.clone());
    let servers = sim.node(NodeSpec::new("echo").replicas(1..=3).drains(), app);
    let addresses = servers.addresses().to_vec();
    let state = move |_: Client| Connections::new(&addresses);
    sim.workload(&WorkloadSpec::new(), state, move |connections, operation| {
        act(connections, operation, model.clone())
    });
    life::faults(sim);
    life::of_servers(sim, &servers);
}

async fn run(process: Process, model: Shared) {
    serve(&process, JoinSet::new(), move |stream| echo::answer(stream, model.clone())).await;
}

async fn act(connections: Rc<Connections>, operation: Operation<Op>, model: Shared) -> Outcome {
    let OperationId(id) = operation.id;
    let (Op::Send { on, .. } | Op::Close { on }) = operation.op;
    let mut slot = connections.slots[on].lock().await;
    let Op::Send { len, .. } = operation.op else {
        slot.take();
        return Outcome::done();
    };
    let stream = match timeout(PATIENCE, echo::dialed(&mut slot, connections.server(on))).await {
        Ok(Ok(stream)) => stream,
        Ok(Err(error)) => {
            reached!("a server cannot be dialed");
            return Outcome::failed(error.to_string());
        }
        Err(_) => return Outcome::failed("no connection in time"),
    };
    let exchanged = timeout(PATIENCE, echo::exchange(stream, id, len)).await;
    match exchanged.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into())) {
        Ok(()) => {
            model.borrow_mut().on_acknowledged(id);
            Outcome::done()
        }
        Err(error) => {
            reached!("a reply is lost");
            slot.take();
            Outcome::indeterminate(error.to_string())
        }
    }
}
