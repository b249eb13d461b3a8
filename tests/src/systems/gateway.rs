//! A shop: gateways of axum before two services of tonic, a stock and a ledger, which are replaced
//! by other versions of them while clients place orders.
//!
//! # The system
//! A client places an order at any gateway, which takes the units of it at the stock and then
//! charges it at the ledger; it asks again where it was not answered, or where the answer says so.
//! Both services know orders by their identities, so whatever is asked twice is done once, and both
//! keep what they do in a log before they say it. An order may be left halfway, with its units taken:
//! by a gateway that crashed, or whose deadline came. The stock asks the ledger about such orders,
//! and the ledger decides.
//!
//! A gateway gives each order a deadline, tells the services how much of it is left, tries calls
//! again while it lasts, and has a breaker for each service. Each program is of one of two versions
//! ([`message`]), and rollouts bring the second one and, after it, the first one again.
//!
//! # The properties
//! An order that its client was told to be done is sold once and charged once. One of which the
//! client was told that it never will be is neither. In the end no order is halfway, each that is
//! sold is charged what it costs, and none else is.
//!
//! Half of the runs are deployments on a good day: nothing but rollouts befalls them. Then no order
//! that a gateway took up is without an answer, and no answer to a patient client says that
//! something is wrong: nothing is lost while gateways and services drain.

pub mod breaker;
pub mod buyer;
pub mod entry;
pub mod front;
pub mod ledger;
pub mod message;
pub mod model;
pub mod service;
pub mod stock;
pub mod way;

use self::front::Drain;
use self::message::{V1, V2};
use self::model::{Judge, Shared};
use super::parts::life;
use super::parts::serve::PORT;
use sim_core::lifecycle::{Lifecycle, Rollout};
use sim_core::node::{Node, NodeSpec};
use sim_core::process::Process;
use sim_core::{Sim, Target};
use std::time::Duration;

/// The longest wait before an event of a lifecycle.
const WAIT: Duration = Duration::from_millis(200);

/// How long an event of a lifecycle lasts at most.
const LASTING: Duration = Duration::from_secs(10);

/// The target.
pub fn target() -> Target {
    Target::new("sim_gateway", |sim| build(sim, None))
}

/// Describes a run whose gateways drain so.
pub fn build(sim: &mut Sim, drain: Drain) {
    let model = Shared::default();
    sim.check(Judge(model.clone()));
    // A connection of HTTP/2 begins with hundreds of bytes: in windows of one byte a run would be
    // nothing else.
    sim.set_dimension("send buffer", 0);
    sim.set_dimension("receive buffer", 0);
    let is_good_day = sim.dimension("storm", 1) == 0;
    let spec = NodeSpec::new("gateway").replicas(1..=3);
    let [one, two] = [model.clone(), model.clone()];
    let gateways = add(
        sim,
        spec,
        move |process| front::run::<V1>(process, drain, one.clone()),
        move |process| front::run::<V2>(process, drain, two.clone()),
    );
    let [one, two] = [model.clone(), model.clone()];
    let stock = add(
        sim,
        NodeSpec::new("stock"),
        move |process| stock::run::<V1>(process, one.clone()),
        move |process| stock::run::<V2>(process, two.clone()),
    );
    let [one, two] = [model.clone(), model.clone()];
    let ledger = add(
        sim,
        NodeSpec::new("ledger"),
        move |process| ledger::run::<V1>(process, one.clone()),
        move |process| ledger::run::<V2>(process, two.clone()),
    );
    let route = sim.route("shop", &gateways.node);
    let gateways = Program {
        rollouts: gateways.rollouts.map(|rollout| rollout.route(&route)),
        node: gateways.node,
    };
    buyer::add(sim, (route.address(), PORT).into(), is_good_day, &model);
    befall(sim, is_good_day, [gateways, stock, ledger]);
}

/// A program, and its rollouts: to the second version, and back to the first.
struct Program {
    node: Node,
    rollouts: [Rollout; 2],
}

/// Adds a program that begins with its first version.
fn add<F1, F2>(
    sim: &mut Sim,
    spec: NodeSpec,
    v1: impl Fn(Process) -> F1 + Clone + 'static,
    v2: impl Fn(Process) -> F2 + 'static,
) -> Program
where
    F1: Future<Output = ()> + 'static,
    F2: Future<Output = ()> + 'static,
{
    let node = sim.node(spec, v1.clone());
    let rollout = || Rollout::of(&node).ready_on(PORT);
    let rollouts = [rollout().to(v2), rollout().to(v1)];
    Program { node, rollouts }
}

/// What befalls the programs: on a good day rollouts, else everything.
fn befall(sim: &mut Sim, is_good_day: bool, programs: [Program; 3]) {
    if !is_good_day {
        life::faults(sim);
    }
    for Program { node, rollouts: [forth, back] } in programs {
        let life = Lifecycle::of(&node).rollouts(forth).rollouts(back);
        let life = match is_good_day {
            true => life,
            false => life.crashes().restarts().partitions().pauses().skews(),
        };
        let life = life.down_at_most(node.hosts().len()).pause(WAIT).lasting(LASTING);
        sim.lifecycle(life);
    }
}
