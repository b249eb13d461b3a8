//! Registers that nodes agree on by openraft: three to five of them, each with a disk of its own,
//! and clients that read, write, and compare and swap.
//!
//! # The system
//! openraft runs as published, over connections and a store that are the test's. The disks outlive
//! processes and, to the last sync, losses of power. Snapshots are frequent, so that nodes that were
//! away for long get one. A leader whose process starts again leads on, where nobody else was elected
//! meanwhile. A client asks one node after the other, first the one that is said to lead; a command
//! has an identity and is executed once, however often it is asked.
//!
//! # The properties
//! What clients saw is linearizable, for each register; whatever befalls the nodes, and however many
//! of them at once. Raft promises no more while nodes fail, so that a run in which nobody leads and
//! nothing is answered is fine until the heal. From then on a leader is elected, every register is
//! read and a write is answered within a bound that is computed from how openraft is set.
//!
//! # Determinism
//! openraft draws the time to an election from `rand::thread_rng`, which all nodes of a run share:
//! a run has a thread of its own, and `getrandom` seeds it. Its clock is tokio's, its `select!` too.

pub mod disk;
pub mod node;
pub mod store;
pub mod types;
pub mod wire;

use self::disk::Disk;
use self::node::Cluster;
use self::store::Acknowledge;
use self::types::{Action, Command, Reply};
use self::wire::{Request, Response};
use super::parts::life;
use super::parts::serve::PORT;
use arbitrary::{Arbitrary, Unstructured};
use openraft::{Config, SnapshotPolicy};
use sim_core::node::NodeSpec;
use sim_core::oracle::{KeyValue, Linearizable, Recorder, Register, RegisterOp, RegisterRet};
use sim_core::swarm::LATENCIES;
use sim_core::workload::{Client, Operation, OperationId, Outcome, WorkloadSpec};
use sim_core::{Sim, Target, sometimes};
use std::cell::{Cell, OnceCell};
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep, timeout};

/// How many registers there are.
const KEYS: u8 = 2;

/// The most nodes.
const NODES_MAX: usize = 5;

/// How long a client waits for one node.
const ATTEMPT: Duration = Duration::from_secs(3);

/// The wait between attempts.
const WAIT: Duration = Duration::from_millis(200);

/// How many events befall the nodes at most, and how long there is none before each: elections, which
/// take seconds, are between some of them.
const EVENTS: u64 = 12;
const PAUSE: Duration = Duration::from_secs(2);

/// How long an event lasts at most: longer than it takes to elect another leader.
const LASTING: Duration = Duration::from_secs(20);

/// How long a sync may take.
const SYNCS: [Duration; 4] = [
    Duration::ZERO,
    Duration::from_millis(1),
    Duration::from_millis(20),
    Duration::from_millis(100),
];

/// The number of the auditor in the record.
const AUDITOR: usize = usize::MAX;

/// The write of the auditor, and what it writes; operations begin at one.
const AUDIT: u64 = 0;

/// What a client does to a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Reads it.
    Read(u8),
    /// Sets it.
    Write(u8),
    /// Sets it, where it is as the client saw it last.
    Swap(u8),
}

impl<'a> Arbitrary<'a> for Op {
    fn arbitrary(bytes: &mut Unstructured<'a>) -> arbitrary::Result<Op> {
        let [kind, key]: [u8; 2] = bytes.arbitrary()?;
        let key = key % KEYS;
        Ok(match kind % 4 {
            0 | 3 => Op::Write(key),
            1 => Op::Read(key),
            _ => Op::Swap(key),
        })
    }

    fn size_hint(_depth: usize) -> (usize, Option<usize>) {
        (2, Some(2))
    }
}

/// The target.
pub fn target() -> Target {
    target_of("sim_raft", Acknowledge::Synced)
}

/// A target whose stores acknowledge appends so.
#[track_caller]
pub fn target_of(name: &'static str, acknowledge: Acknowledge) -> Target {
    target_with(name, acknowledge, config())
}

/// A target whose nodes begin no election but the first: a leader that is gone has no successor. It
/// is what liveness must find.
pub fn without_elections() -> Target {
    let config = Config { enable_elect: false, ..config() };
    target_with("sim_raft_without_elections", Acknowledge::Synced, config)
}

#[track_caller]
fn target_with(name: &'static str, acknowledge: Acknowledge, config: Config) -> Target {
    let config = Arc::new(config);
    Target::new(name, move |sim| build(sim, config.clone(), acknowledge))
}

/// How openraft is set: two ways there and back fit into a heartbeat, so that one that dials gets an
/// answer; a leader that is gone has a successor after some five seconds; and a node that misses
/// eight entries gets a snapshot.
fn config() -> Config {
    Config {
        heartbeat_interval: 500,
        election_timeout_min: 1_500,
        election_timeout_max: 3_000,
        install_snapshot_timeout: 1_000,
        snapshot_policy: SnapshotPolicy::LogsSinceLast(8),
        replication_lag_threshold: 8,
        max_in_snapshot_log_to_keep: 4,
        ..Config::default()
    }
}

/// The longest way of a message.
const WAY: Duration = LATENCIES[LATENCIES.len() - 1];

/// Within which time of the heal the auditor is done.
///
/// Messages come in time from then on: a vote is answered while its election goes on, though a
/// node dials first and syncs a vote of everybody, an append and what that commits. A leader of
/// before may be heard of for a while, and then step down as a node refuses it that has a later
/// vote: nobody votes for another one for as long as its lease. Then the node with the longest
/// log wins the first election that it begins, unless somebody has a later vote by then, which it
/// learns. That one's log is shorter: it learns that too, and begins its next election after both
/// of the next ones of the other. So each node spoils one election.
///
/// The auditor may ask every other node, and the leader's last; then the leader alone.
fn bound(config: &Config) -> Duration {
    let [min, max] = [config.election_timeout_min, config.election_timeout_max];
    let tick = config.heartbeat_interval * 3 / 2;
    let [lease, election, behind] = [max, max + tick, 2 * max + min];
    assert!(behind >= 2 * election, "a node that is behind lets the others go first");
    let nodes = NODES_MAX as u32;
    let vote = WAY * 4 + SYNCS[SYNCS.len() - 1] * (nodes + 2);
    assert!(vote <= Duration::from_millis(min), "a vote is answered in time");
    let elected = Duration::from_millis(lease + election * (NODES_MAX as u64 + 1)) + vote;
    elected + (ATTEMPT + WAIT) * (nodes + 1 + u32::from(KEYS))
}

type Record = Recorder<(u8, RegisterOp<Option<u64>>), RegisterRet<Option<u64>>>;

fn build(sim: &mut Sim, config: Arc<Config>, acknowledge: Acknowledge) {
    let record = Record::new();
    record.name(AUDITOR, "auditor");
    let model: KeyValue<u8, u64> = KeyValue::new(Register::new(None));
    sim.check(Linearizable::new(model, &record));
    sim.set_dimension("send buffer", 0);
    sim.set_dimension("receive buffer", 0);
    let sync = SYNCS[sim.dimension("sync", SYNCS.len() as u64 - 1) as usize];
    let disks = (0..NODES_MAX).map(|_| Disk::new(sync)).collect();
    let bound = bound(&config);
    let cluster = Rc::new(Cluster { config, acknowledge, disks, node: OnceCell::new() });
    let app = {
        let cluster = cluster.clone();
        move |process| node::run(process, cluster.clone())
    };
    let node = sim.node(NodeSpec::new("raft").replicas(3..=NODES_MAX as u64), app);
    let servers: Rc<[SocketAddr]> =
        node.addresses().iter().map(|address| (*address, PORT).into()).collect();
    cluster.node.set(node.clone()).expect("it is set once");
    let patience = life::patience(sim);
    let (state, seen) = (servers.clone(), record.clone());
    sim.workload(
        &WorkloadSpec::new(),
        move |client: Client| Caller::new(client.index, &state, seen.clone()),
        move |caller, operation| act(caller, operation, patience),
    );
    sim.probe("the nodes answer", bound, move |_| {
        audit(Caller::new(AUDITOR, &servers, record.clone()), bound)
    });
    life::faults(sim);
    let life = life::every(&node, Some(PORT)).count(EVENTS);
    sim.lifecycle(life.pause(PAUSE).lasting(LASTING));
}

/// A client: where it asks first, and what it saw.
struct Caller {
    client: usize,
    servers: Rc<[SocketAddr]>,
    record: Record,
    /// The node that answered last.
    leader: Cell<usize>,
    /// The last value of each register that it saw or made.
    seen: [Cell<Option<u64>>; KEYS as usize],
}

impl Caller {
    fn new(client: usize, servers: &Rc<[SocketAddr]>, record: Record) -> Caller {
        let (servers, leader, seen) = (servers.clone(), Cell::new(0), Default::default());
        Caller { client, servers, record, leader, seen }
    }

    /// Asks until there is a reply, and puts into the record what came of it.
    async fn ask(&self, command: Command, patience: Duration) -> Outcome {
        let (key, action) = (command.key, command.action.clone());
        let call = self.record.invoke(self.client, (key, action.of_model()));
        let mut was_sent = false;
        let reply = self.attempts(&Request::Command(command), patience, &mut was_sent).await;
        let Some(reply) = reply else {
            if was_sent {
                call.indeterminate();
                return Outcome::indeterminate("no reply in time");
            }
            call.failed();
            return Outcome::failed("never sent");
        };
        call.ok(reply.of_model());
        match (&action, &reply) {
            (_, Reply::Value(value)) => self.seen[usize::from(key)].set(*value),
            (Action::Write(value), _) => self.seen[usize::from(key)].set(Some(*value)),
            (Action::Swap { new, .. }, Reply::Swapped(true)) => {
                self.seen[usize::from(key)].set(Some(*new));
            }
            _ => {}
        }
        Outcome::done().with(format!("{reply:?}"))
    }

    /// Asks one node after the other, and gives up after some time.
    async fn attempts(
        &self,
        request: &Request,
        patience: Duration,
        was_sent: &mut bool,
    ) -> Option<Reply> {
        let end = Instant::now() + patience;
        let mut at = self.leader.get();
        while Instant::now() < end {
            let attempt = ATTEMPT.min(end - Instant::now());
            let asked = timeout(attempt, exchange(self.servers[at], request, was_sent)).await;
            let next = (at + 1) % self.servers.len();
            at = match asked {
                Ok(Ok(Response::Done(reply))) => {
                    sometimes!(at != self.leader.get(), "another node leads");
                    self.leader.set(at);
                    return Some(reply);
                }
                Ok(Ok(Response::Elsewhere(Some(other)))) if other as usize != at => other as usize,
                _ => next,
            };
            sleep(WAIT).await;
        }
        None
    }
}

/// Asks a node once.
async fn exchange(to: SocketAddr, request: &Request, was_sent: &mut bool) -> io::Result<Response> {
    let mut stream = TcpStream::connect(to).await?;
    *was_sent = true;
    wire::write(&mut stream, request).await?;
    wire::read(&mut stream).await
}

async fn act(caller: Rc<Caller>, operation: Operation<Op>, patience: Duration) -> Outcome {
    let OperationId(id) = operation.id;
    let (Op::Read(key) | Op::Write(key) | Op::Swap(key)) = operation.op;
    let action = match operation.op {
        Op::Read(_) => Action::Read,
        Op::Write(_) => Action::Write(id),
        Op::Swap(_) => Action::Swap { expected: caller.seen[usize::from(key)].get(), new: id },
    };
    caller.ask(Command { id, key, action }, patience).await
}

/// Reads every register, and writes to one.
async fn audit(caller: Caller, patience: Duration) {
    for key in 0..KEYS {
        caller.ask(Command { id: AUDIT, key, action: Action::Read }, patience).await;
    }
    let action = Action::Write(AUDIT);
    caller.ask(Command { id: AUDIT, key: 0, action }, patience).await;
}
