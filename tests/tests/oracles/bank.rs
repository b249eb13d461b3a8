//! A server with three accounts, transfers between them, deposits, and looks at the total.

use super::ask::{PATIENCE, ask, serve};
use arbitrary::{Arbitrary, Unstructured};
use sim_core::Sim;
use sim_core::control::FaultSpec;
use sim_core::node::NodeSpec;
use sim_core::oracle::{Conservation, Outcome, Recorder, Sum};
use sim_core::workload::{self, Operation, WorkloadSpec};
use std::cell::RefCell;
use std::net::IpAddr;
use std::rc::Rc;
use std::time::Duration;
use tokio::time::sleep;

/// What is in each account at the start.
const START: i128 = 100;

/// What a client asks for.
#[derive(Clone, Copy, Debug)]
enum Op {
    Move(usize, usize),
    Deposit(usize, i128),
    Total,
}

impl<'a> Arbitrary<'a> for Op {
    fn arbitrary(bytes: &mut Unstructured<'a>) -> arbitrary::Result<Op> {
        let byte: u8 = bytes.arbitrary()?;
        let account = usize::from(byte / 4 % 3);
        Ok(match byte % 4 {
            0 => Op::Total,
            1 => Op::Deposit(account, i128::from(byte / 16) - 7),
            _ => Op::Move(account, usize::from(byte / 12 % 3)),
        })
    }

    fn size_hint(_depth: usize) -> (usize, Option<usize>) {
        (1, Some(1))
    }
}

type Accounts = Rc<RefCell<[i128; 3]>>;

/// Describes a run; with the bug, a transfer takes a moment between its halves.
pub(crate) fn build(sim: &mut Sim, is_torn: bool) {
    let record = Recorder::<Op, i128>::new();
    sim.check(Conservation::new(3 * START, &record, |op, ret| match op {
        Op::Move(..) => None,
        Op::Deposit(_, amount) => Some(Sum::Change(*amount)),
        Op::Total => ret.map(|sum| Sum::Read(*sum)),
    }));
    let accounts: Accounts = Rc::new(RefCell::new([START; 3]));
    let node = sim.node(NodeSpec::new("bank"), move |process| {
        let accounts = accounts.clone();
        serve(process.address(), move |request| answer(accounts.clone(), is_torn, request))
    });
    let server = node.addresses()[0];
    sim.workload(
        &WorkloadSpec::new(),
        |client| client.index,
        move |client, operation| act(*client, server, operation, record.clone()),
    );
    sim.faults(FaultSpec::new().pause(Duration::from_millis(200)));
}

async fn answer(accounts: Accounts, is_torn: bool, request: String) -> String {
    let words: Vec<i128> = request.split(' ').flat_map(str::parse).collect();
    match words[..] {
        [from, to, amount] => {
            accounts.borrow_mut()[from as usize] -= amount;
            if is_torn {
                sleep(Duration::from_millis(20)).await;
            }
            accounts.borrow_mut()[to as usize] += amount;
        }
        [account, amount] => accounts.borrow_mut()[account as usize] += amount,
        _ => {}
    }
    accounts.borrow().iter().sum::<i128>().to_string()
}

async fn act(
    client: usize,
    server: IpAddr,
    operation: Operation<Op>,
    record: Recorder<Op, i128>,
) -> workload::Outcome {
    let request = match operation.op {
        Op::Move(from, to) => format!("{from} {to} 30"),
        Op::Deposit(account, amount) => format!("{account} {amount}"),
        Op::Total => "total".to_owned(),
    };
    let call = record.invoke(client, operation.op);
    match ask(server, &request, PATIENCE).await {
        Ok(reply) => {
            let outcome = Outcome::Ok(reply.parse().expect("a sum"));
            let told = (&outcome).into();
            call.end(outcome);
            told
        }
        Err((struck, error)) => call.io_error(struck, &error),
    }
}
