//! A server with two lists that clients append to and read, with planted bugs, judged by one oracle.
//!
//! An append says how long the list is then; a read gives all of it. In the end an auditor reads
//! both lists: what is in them has arrived.

use super::ask::{PATIENCE, ask, serve};
use arbitrary::{Arbitrary, Unstructured};
use sim_core::control::FaultSpec;
use sim_core::node::NodeSpec;
use sim_core::oracle::{
    Access, AppendList, Call, Delivery, Guarantee, KeyOrder, Keyed, Linearizable, ListOp, ListRet,
    Outcome, Recorder, Repeats, Sequential, Sessions, Struck, Times,
};
use sim_core::workload::{self, Operation, OperationId, WorkloadSpec};
use sim_core::{Checker, Sim, Violation};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::rc::Rc;
use std::time::Duration;
use tokio::time::sleep;

/// A planted bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flaw {
    None,
    /// One read in two is of a list that lacks its last item.
    Lagging,
    /// A client asks again where it was not answered, and its item is appended again.
    Twice,
    /// One append in three is acknowledged and not kept.
    Forgets,
    /// One append in three puts its item before the last one.
    Swaps,
    /// A client takes every error for a sign that nothing was done.
    Certain,
}

/// What judges the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Oracle {
    Linearizable,
    Sequential,
    Session(Guarantee),
    Delivery(Times),
    KeyOrder,
}

/// A read or an append.
#[derive(Clone, Copy, Debug)]
struct Op {
    key: u8,
    is_read: bool,
}

impl<'a> Arbitrary<'a> for Op {
    fn arbitrary(bytes: &mut Unstructured<'a>) -> arbitrary::Result<Op> {
        let byte: u8 = bytes.arbitrary()?;
        Ok(Op { key: byte % 2, is_read: byte % 4 < 2 })
    }

    fn size_hint(_depth: usize) -> (usize, Option<usize>) {
        (1, Some(1))
    }
}

/// What was seen, in the form that each oracle wants.
#[derive(Clone)]
struct Seen {
    lists: Recorder<(u8, ListOp<u64>), ListRet<u64>>,
    /// Whether an operation reads, and how long the list was.
    lengths: Recorder<(u8, bool), usize>,
    delivery: Rc<RefCell<Delivery<u64>>>,
    order: Rc<RefCell<KeyOrder<u8, u64>>>,
}

/// The server's lists.
#[derive(Default)]
struct Lists {
    lists: BTreeMap<u8, Vec<u64>>,
    requests: u64,
    appends: u64,
}

impl Lists {
    fn answer(&mut self, flaw: Flaw, request: &str) -> String {
        let words: Vec<u64> = request.split(' ').flat_map(str::parse).collect();
        let list = self.lists.entry(words[0] as u8).or_default();
        self.requests += 1;
        let Some(item) = words.get(1) else {
            let lag = usize::from(flaw == Flaw::Lagging && self.requests.is_multiple_of(2));
            let seen = &list[..list.len().saturating_sub(lag)];
            return seen.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
        };
        self.appends += 1;
        let is_third = self.appends.is_multiple_of(3);
        match flaw {
            Flaw::Forgets if is_third => {}
            Flaw::Swaps if is_third => list.insert(list.len().saturating_sub(1), *item),
            _ => list.push(*item),
        }
        list.len().to_string()
    }
}

/// Describes a run that one oracle judges.
pub(crate) fn build(sim: &mut Sim, flaw: Flaw, oracle: Oracle) {
    let times = if let Oracle::Delivery(times) = oracle { times } else { Times::AtMostOnce };
    let seen = Seen {
        lists: Recorder::new(),
        lengths: Recorder::new(),
        delivery: Rc::new(RefCell::new(Delivery::new(times))),
        order: Rc::new(RefCell::new(KeyOrder::new(Repeats::Judged))),
    };
    sim.check(checker(oracle, &seen));
    let lists = Rc::<RefCell<Lists>>::default();
    let node = sim.node(NodeSpec::new("lists"), move |process| {
        let lists = lists.clone();
        let answer = move |request: String| {
            let reply = lists.borrow_mut().answer(flaw, &request);
            async move { reply }
        };
        serve(process.address(), answer)
    });
    let server = node.addresses()[0];
    let audited = seen.clone();
    sim.workload(
        &WorkloadSpec::new(),
        |client| client.index,
        move |client, operation| act(*client, server, flaw, operation, seen.clone()),
    );
    sim.last_client("auditor", move |_| audit(server, audited.clone()));
    sim.faults(FaultSpec::new().pause(Duration::from_millis(200)));
}

/// A checker of any type.
struct Boxed(Box<dyn Checker>);

impl Checker for Boxed {
    fn step(&mut self) -> Result<(), Violation> {
        self.0.step()
    }

    fn end(&mut self) -> Result<(), Violation> {
        self.0.end()
    }
}

fn checker(oracle: Oracle, seen: &Seen) -> Boxed {
    let lists = Keyed::new(AppendList::new());
    Boxed(match oracle {
        Oracle::Linearizable => Box::new(Linearizable::new(lists, &seen.lists)),
        Oracle::Sequential => Box::new(Sequential::new(lists, &seen.lists)),
        Oracle::Session(guarantee) => {
            Box::new(Sessions::new(guarantee, &seen.lengths, |(key, is_read), length| {
                let (key, version) = (*key, *length);
                Some(match is_read {
                    true => Access::Read { key, version },
                    false => Access::Wrote { key, version },
                })
            }))
        }
        Oracle::Delivery(_) => Box::new(seen.delivery.clone()),
        Oracle::KeyOrder => Box::new(seen.order.clone()),
    })
}

async fn act(
    client: usize,
    server: IpAddr,
    flaw: Flaw,
    operation: Operation<Op>,
    seen: Seen,
) -> workload::Outcome {
    let OperationId(item) = operation.id;
    let Op { key, is_read } = operation.op;
    let length = seen.lengths.invoke(client, (key, is_read));
    if is_read {
        let call = seen.lists.invoke(client, (key, ListOp::Read));
        let answer = ask(server, &key.to_string(), PATIENCE).await;
        return end(flaw, answer, (call, length), |reply| {
            let items = items(reply);
            (items.len(), ListRet::Items(items))
        });
    }
    let call = seen.lists.invoke(client, (key, ListOp::Append(item)));
    seen.delivery.borrow_mut().submit(item);
    seen.order.borrow_mut().submit(key, item);
    let request = format!("{key} {item}");
    let mut answer = ask(server, &request, PATIENCE).await;
    if flaw == Flaw::Twice && matches!(answer, Err((Struck::After, _))) {
        answer = ask(server, &request, PATIENCE).await;
    }
    match (&answer, flaw) {
        (Ok(_), _) => {
            seen.delivery.borrow_mut().accept(item);
            seen.order.borrow_mut().accept(key, item);
        }
        // The retry was not sent; the first request may have been done.
        (Err((Struck::Before, _)), Flaw::Twice) => {}
        (Err((Struck::Before, _)), _) | (Err(_), Flaw::Certain) => {
            seen.delivery.borrow_mut().reject(item);
        }
        (Err((Struck::After, _)), _) => {}
    }
    end(flaw, answer, (call, length), |reply| (reply.parse().expect("a length"), ListRet::Appended))
}

/// Both records of an operation.
type Calls = (Call<(u8, ListOp<u64>), ListRet<u64>>, Call<(u8, bool), usize>);

/// Ends an operation in both records, as its client understands the answer.
fn end(
    flaw: Flaw,
    answer: Result<String, (Struck, std::io::Error)>,
    (call, length): Calls,
    read: impl Fn(&str) -> (usize, ListRet<u64>),
) -> workload::Outcome {
    match answer {
        Ok(reply) => {
            let (count, ret) = read(&reply);
            length.ok(count);
            let outcome = Outcome::Ok(ret);
            let told = (&outcome).into();
            call.end(outcome);
            told
        }
        Err((struck, error)) => {
            let struck = match flaw {
                Flaw::Certain => Struck::Before,
                Flaw::Twice => Struck::After,
                _ => struck,
            };
            length.end(Outcome::of_io(struck));
            call.io_error(struck, &error)
        }
    }
}

fn items(reply: &str) -> Vec<u64> {
    reply.split(',').filter_map(|item| item.parse().ok()).collect()
}

/// Reads both lists, once the network lets it. A long list takes long where a buffer has one byte.
async fn audit(server: IpAddr, seen: Seen) {
    for key in 0..2 {
        let mut patience = PATIENCE;
        let reply = loop {
            match ask(server, &key.to_string(), patience).await {
                Ok(reply) => break reply,
                Err(_) => sleep(PATIENCE).await,
            }
            patience *= 2;
        };
        for item in items(&reply) {
            seen.delivery.borrow_mut().deliver(item);
            seen.order.borrow_mut().deliver(key, item);
        }
    }
}
