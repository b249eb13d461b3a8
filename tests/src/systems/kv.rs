//! A key-value store: a primary with a log on its disk, up to two backups that follow it, and
//! clients that ask again until they are answered. Replicas are servers of axum, and what asks them
//! are connections of hyper.
//!
//! # The store
//! The first replica is the primary, always. Each of its commands, reads too, is appended to its
//! log and then executed, so what it answers is there after any crash. A backup is sent the log
//! record by record, keeps a log of its own, and answers reads that may be stale. The primary gives
//! connected backups some time to follow before it replies, and goes on without them.
//!
//! A key has one writer at a time, which numbers its commands. The store knows the number of a key's
//! last command: the same number again is answered with the value and not executed, a lower one is
//! refused. Both are in the log with the command, so a command is executed at most once, whatever
//! crashes between, and never after one that its writer began later.
//!
//! # The model
//! Each key belongs to a client, and so the model is exact: it keeps the values that a key may
//! have. A command that ended well leaves one; one that may or may not have been done adds what it
//! would have made. A value is the list of the writes that made it, so a write that is lost, done
//! twice or done late shows. In the end all are read, and every backup has them.

pub mod replica;

use self::replica::Recover;
use super::parts::http::{Ask, Caller, Unanswered, request};
use super::parts::life;
use super::parts::serve::PORT;
use arbitrary::{Arbitrary, Unstructured};
use hyper::{Method, StatusCode};
use sim_core::node::NodeSpec;
use sim_core::workload::{Client, Operation, OperationId, Outcome, WorkloadSpec};
use sim_core::{Sim, Target, always, sometimes};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep};

/// How many keys a client has.
const KEYS: usize = 2;

/// Within which time everything is well again after the workload: past the end of whatever befell
/// the store.
const HEALED: Duration = Duration::from_secs(3_600);

/// How long the auditor leaves the store to whatever still befalls it.
const REST: Duration = Duration::from_secs(30);

/// The wait of the auditor for a backup that is behind.
const WAIT: Duration = Duration::from_millis(500);

/// What a client does, to a key of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Sets the value.
    Put(usize),
    /// Adds to the value.
    Append(usize),
    /// Reads it.
    Get(usize),
    /// Reads what some replica has of it.
    Peek(usize, usize),
}

impl<'a> Arbitrary<'a> for Op {
    fn arbitrary(bytes: &mut Unstructured<'a>) -> arbitrary::Result<Op> {
        let [kind, key]: [u8; 2] = bytes.arbitrary()?;
        let key = usize::from(key) % KEYS;
        Ok(match kind % 8 {
            0 => Op::Get(key),
            1..5 => Op::Append(key),
            5 => Op::Put(key),
            _ => Op::Peek(key, usize::from(kind / 8)),
        })
    }

    fn size_hint(_depth: usize) -> (usize, Option<usize>) {
        (2, Some(2))
    }
}

/// The target.
pub fn target() -> Target {
    Target::new("sim_kv", |sim| build(sim, replica::recover))
}

/// Describes a run whose replicas begin with what `recover` makes of their logs.
pub fn build(sim: &mut Sim, recover: Recover) {
    let model = Rc::<RefCell<Model>>::default();
    // A request is a hundred bytes and more: in windows of one byte a run would be nothing else.
    sim.set_dimension("send buffer", 0);
    sim.set_dimension("receive buffer", 0);
    let app = move |process| replica::run(process, recover);
    let node = sim.node(NodeSpec::new("kv").replicas(1..=3).drains(), app);
    let servers: Vec<SocketAddr> =
        node.addresses().iter().map(|address| (*address, PORT).into()).collect();
    let patience = life::patience(sim);
    let (state, seen) = (servers.clone(), model.clone());
    sim.workload(
        &WorkloadSpec::new(),
        move |client| Keys::new(&client, patience, &state),
        move |keys, operation| act(keys, operation, model.clone()),
    );
    sim.last_client("auditor", move |_| audit(servers.clone(), seen.clone()));
    life::faults(sim);
    life::of_servers(sim, &node);
}

/// What a key may be.
#[derive(Debug)]
struct Known {
    /// The number of the last command that was begun.
    number: u64,
    /// The values that it may have now.
    possible: BTreeSet<Vec<u64>>,
    /// Every value that it may have had.
    ever: BTreeSet<Vec<u64>>,
}

impl Default for Known {
    fn default() -> Known {
        Known { number: 0, possible: [Vec::new()].into(), ever: [Vec::new()].into() }
    }
}

impl Known {
    /// A command begins; gives what the values would be after it.
    fn begin(&mut self, op: Op, id: u64) -> BTreeSet<Vec<u64>> {
        self.number += 1;
        let after = |value: &Vec<u64>| match op {
            Op::Put(_) => vec![id],
            Op::Append(_) => [&value[..], &[id]].concat(),
            Op::Get(_) | Op::Peek(..) => value.clone(),
        };
        let after: BTreeSet<_> = self.possible.iter().map(after).collect();
        self.ever.extend(after.iter().cloned());
        after
    }
}

/// What is known of every key.
#[derive(Debug, Default)]
struct Model(BTreeMap<String, Known>);

impl Model {
    fn key(&mut self, key: &str) -> &mut Known {
        self.0.entry(key.to_owned()).or_default()
    }

    /// A value was read from a replica that may be behind.
    fn on_stale(&mut self, key: &str, value: &str) {
        let is_known = self.key(key).ever.contains(&writes(value));
        always!(is_known, "{key} never was {value:?}: {:?}", self.key(key).ever);
    }
}

/// The writes that made a value.
fn writes(value: &str) -> Vec<u64> {
    value.split(',').filter_map(|write| write.parse().ok()).collect()
}

/// The keys of a client, and its ways to the replicas: one of each for each key.
struct Keys {
    client: usize,
    patience: Duration,
    slots: [Mutex<Vec<Caller>>; KEYS],
}

impl Keys {
    fn new(client: &Client, patience: Duration, servers: &[SocketAddr]) -> Keys {
        let callers = || Mutex::new(servers.iter().map(|to| Caller::new(*to)).collect());
        Keys { client: client.index, patience, slots: std::array::from_fn(|_| callers()) }
    }
}

async fn act(keys: Rc<Keys>, operation: Operation<Op>, model: Rc<RefCell<Model>>) -> Outcome {
    let OperationId(id) = operation.id;
    let (Op::Put(at) | Op::Append(at) | Op::Get(at) | Op::Peek(at, _)) = operation.op;
    let key = format!("c{}k{at}", keys.client);
    let mut callers = keys.slots[at].lock().await;
    if let Op::Peek(_, replica) = operation.op {
        let replica = replica % callers.len();
        return peek(&mut callers[replica], &key, &model, keys.patience).await;
    }
    let done = command(&mut callers[0], (&key, operation.op, id), &model, keys.patience).await;
    done.map_or_else(|outcome| outcome, |reply| Outcome::done().with(reply))
}

/// Reads a key of a replica that may be behind.
async fn peek(
    caller: &mut Caller,
    key: &str,
    model: &Rc<RefCell<Model>>,
    patience: Duration,
) -> Outcome {
    match caller.ask(&look(key), patience).await {
        Ok(reply) => {
            model.borrow_mut().on_stale(key, &reply.body);
            Outcome::done().with(reply.body)
        }
        Err(Unanswered::Unsent(why) | Unanswered::Lost(why)) => Outcome::failed(why),
    }
}

/// Asks a replica what it has of a key.
fn look(key: &str) -> Ask {
    request(Method::GET, &format!("/keys/{key}"), "")
}

/// Has the primary execute a command, and tells the model what came of it: the reply, or how else
/// it ended.
async fn command(
    primary: &mut Caller,
    (key, op, id): (&str, Op, u64),
    model: &Rc<RefCell<Model>>,
    patience: Duration,
) -> Result<String, Outcome> {
    let (number, after) = {
        let mut model = model.borrow_mut();
        let known = model.key(key);
        let after = known.begin(op, id);
        (known.number, after)
    };
    let text = match op {
        Op::Put(_) => format!("put {id}"),
        Op::Append(_) => format!("append {id}"),
        Op::Get(_) | Op::Peek(..) => "get".to_owned(),
    };
    let ask = request(Method::POST, &format!("/keys/{key}/{number}"), text.clone());
    let answer = primary.ask(&ask, patience).await;
    let mut model = model.borrow_mut();
    let known = model.key(key);
    sometimes!(known.possible.len() > 1, "a key has one of several values");
    match answer {
        Ok(reply) => {
            let value = (reply.status == StatusCode::OK).then(|| writes(&reply.body));
            let is_possible = value.as_ref().is_some_and(|value| after.contains(value));
            let (got, status) = (&reply.body, reply.status);
            always!(is_possible, "{text:?} of {key} gave {status} {got:?}, not one of {after:?}");
            known.possible = value.into_iter().collect();
            Ok(reply.body)
        }
        Err(Unanswered::Unsent(why)) => Err(Outcome::failed(why)),
        Err(Unanswered::Lost(why)) => {
            known.possible.extend(after);
            Err(Outcome::indeterminate(why))
        }
    }
}

/// Reads every key, and again after a rest.
async fn audit(servers: Vec<SocketAddr>, model: Rc<RefCell<Model>>) {
    let mut callers: Vec<Caller> = servers.into_iter().map(Caller::new).collect();
    audit_once(&mut callers, &model).await;
    sleep(REST).await;
    audit_once(&mut callers, &model).await;
}

/// Reads every key, first of the primary and then of each backup until it has followed.
async fn audit_once(callers: &mut [Caller], model: &Rc<RefCell<Model>>) {
    let keys: Vec<String> = model.borrow().0.keys().cloned().collect();
    for key in keys {
        let read = command(&mut callers[0], (&key, Op::Get(0), 0), model, HEALED).await;
        always!(read.is_ok(), "the primary answers within {HEALED:?}, not {read:?}");
        let possible = model.borrow_mut().key(&key).possible.clone();
        for caller in &mut callers[1..] {
            let end = Instant::now() + HEALED;
            while !is_followed(caller, &key, &possible).await {
                always!(Instant::now() < end, "{key} comes to {caller:?} within {HEALED:?}");
                if Instant::now() >= end {
                    return;
                }
                sleep(WAIT).await;
            }
        }
    }
}

/// Whether a backup has the value of a key.
async fn is_followed(backup: &mut Caller, key: &str, value: &BTreeSet<Vec<u64>>) -> bool {
    let reply = backup.ask(&look(key), HEALED).await;
    reply.is_ok_and(|reply| value.contains(&writes(&reply.body)))
}
