//! A broker with partitions, producers that append records to them, and a group of consumers.
//!
//! # The system
//! The broker keeps in its log each record that it takes, each generation of the group, and each
//! offset that a consumer commits, before it says so. A producer gives a record its identity, so
//! one that is sent again is taken once. Each partition is of one consumer, which does its records
//! in order, from the committed offset on, and commits after each. Whenever a consumer joins,
//! leaves or is silent for too long, the group has another generation, and the partitions go round.
//!
//! A consumer that still works for an old generation commits late, after the next one went on. So a
//! commit counts for the generation of the moment alone, and in it only forward.
//!
//! # The properties
//! The committed offset of a partition never goes back, and records below it were done. In the end
//! every record that was taken is below it.

pub mod consumer;
pub mod group;

use self::group::{Commit, Entry, MayCommit, PARTITIONS};
use super::parts::life;
use super::parts::line::{Answer, Caller};
use super::parts::log;
use super::parts::serve::PORT;
use arbitrary::{Arbitrary, Unstructured};
use sim_core::check::fail;
use sim_core::lifecycle::Lifecycle;
use sim_core::node::{Node, NodeSpec};
use sim_core::workload::{Client, Operation, OperationId, Outcome, WorkloadSpec};
use sim_core::{Checker, Sim, Target, Violation, always};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::mem::{replace, take};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::sleep;

/// How long a consumer may be silent: longer than the longest record and the lines around it on the
/// slowest way.
const SESSION: Duration = Duration::from_secs(30);

/// How long what befalls a consumer may last: longer than its session.
const LASTING: Duration = Duration::from_secs(80);

/// Within which time every record is done after the workload: past the end of whatever befell the
/// broker.
const HEALED: Duration = Duration::from_secs(3_600);

/// The wait of the auditor.
const WAIT: Duration = Duration::from_secs(5);

/// A producer sends a record, which takes a consumer so many milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Send {
    partition: usize,
    millis: u64,
}

impl<'a> Arbitrary<'a> for Send {
    fn arbitrary(bytes: &mut Unstructured<'a>) -> arbitrary::Result<Send> {
        let byte = usize::from(u8::arbitrary(bytes)?);
        let millis = [0, 1, 20, 300, 1_000, 2_000, 3_000, 4_000][byte / PARTITIONS % 8];
        Ok(Send { partition: byte % PARTITIONS, millis })
    }

    fn size_hint(_depth: usize) -> (usize, Option<usize>) {
        (1, Some(1))
    }
}

/// What befalls the consumers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Region {
    /// Up to four events of any kind.
    Wide,
    /// Up to sixteen events, each of which makes another generation, where the network is well.
    Churn,
}

/// The target.
pub fn target() -> Target {
    let may_commit: MayCommit =
        |now, last, commit| commit.generation == now && commit.offset >= last.offset;
    Target::new("sim_broker", move |sim| build(sim, may_commit, Region::Wide))
}

/// Describes a run whose broker takes commits as `may_commit` says.
pub fn build(sim: &mut Sim, may_commit: MayCommit, region: Region) {
    let model = Shared::default();
    sim.check(model.clone());
    let seen = model.clone();
    let app = move |process| group::run(process, may_commit, seen.clone());
    let brokers = sim.node(NodeSpec::new("broker").drains(), app);
    let broker: SocketAddr = (brokers.addresses()[0], PORT).into();
    let seen = model.clone();
    let app = move |process| consumer::run(process, seen.clone());
    let consumers = sim.node(NodeSpec::new("consumer").replicas(1..=3).drains(), app);
    let patience = life::patience(sim);
    let state = move |_: Client| Mutex::new(Caller::new(broker));
    sim.workload(&WorkloadSpec::new().operations(20), state, move |caller, operation| {
        act(caller, operation, model.clone(), patience)
    });
    sim.last_client("auditor", move |_| audit(broker));
    befall(sim, region, &brokers, &consumers);
}

fn befall(sim: &mut Sim, region: Region, brokers: &Node, consumers: &Node) {
    match region {
        Region::Wide => {
            life::faults(sim);
            life::of_servers(sim, brokers);
            life::everything(sim, consumers, None, LASTING);
        }
        Region::Churn => {
            let life = Lifecycle::of(consumers).crashes().restarts().pauses().count(16);
            let life = life.down_at_most(consumers.hosts().len()).lasting(LASTING);
            sim.lifecycle(life.pause(Duration::from_secs(4)));
        }
    }
}

/// What was promised, and what was seen of it.
#[derive(Debug, Default)]
pub struct Model {
    sent: BTreeSet<u64>,
    taken: BTreeSet<u64>,
    /// The records that a consumer did.
    done: BTreeSet<u64>,
    /// What the broker wrote into its log and is not judged yet.
    written: Vec<Entry>,
    /// What was judged.
    judged: Judged,
    /// Where the broker's log is.
    folder: Option<PathBuf>,
}

/// What lines of the broker's log come to.
#[derive(Debug, Default)]
struct Judged {
    /// The records of each partition.
    partitions: [Vec<u64>; PARTITIONS],
    /// The last commit of each partition.
    commits: [Commit; PARTITIONS],
}

type Shared = Rc<RefCell<Model>>;

impl Checker for Model {
    /// Judges what the broker writes, so that a run ends where it went wrong.
    fn step(&mut self) -> Result<(), Violation> {
        if self.written.is_empty() {
            return Ok(());
        }
        let (written, mut judged) = (take(&mut self.written), take(&mut self.judged));
        let result = written.into_iter().try_for_each(|entry| self.judge(&mut judged, entry));
        self.judged = judged;
        result
    }

    /// Judges what is on its disk.
    fn end(&mut self) -> Result<(), Violation> {
        let folder = self.folder.as_ref().ok_or_else(|| Violation::new("no broker ever ran"))?;
        let lines = log::read(folder).map_err(|error| Violation::new(error.to_string()))?;
        let mut judged = Judged::default();
        for line in &lines {
            self.judge(&mut judged, Entry::parse(line).expect("the broker wrote it"))?;
        }
        let partitions = judged.partitions;
        let ids: Vec<u64> = partitions.concat();
        let unique: BTreeSet<u64> = ids.iter().copied().collect();
        if unique.len() < ids.len() || !unique.is_subset(&self.sent) {
            return Err(Violation::new(format!("not each of {partitions:?} was sent once")));
        }
        match self.taken.difference(&self.done).next() {
            Some(id) => Err(Violation::new(format!("record {id} was taken and is not done"))),
            None => Ok(()),
        }
    }
}

impl Model {
    /// Judges a line of the broker's log after those before it.
    fn judge(&self, judged: &mut Judged, entry: Entry) -> Result<(), Violation> {
        match entry {
            Entry::Record(record) => judged.partitions[record.partition].push(record.id),
            Entry::Commit(commit) => {
                let before = replace(&mut judged.commits[commit.partition], commit);
                self.judge_commit(before, commit, &judged.partitions[commit.partition])?;
            }
            Entry::Generation(_) => {}
        }
        Ok(())
    }

    /// A commit came after another one of its partition, which had some records then.
    fn judge_commit(
        &self,
        before: Commit,
        commit: Commit,
        records: &[u64],
    ) -> Result<(), Violation> {
        if commit.offset < before.offset {
            let what = format!("the offset of partition {} goes back", commit.partition);
            let expected = format!("expected: {} or more, as {before}", before.offset);
            let got = format!("got:      {}, as {commit} after that", commit.offset);
            return Err(Violation::new(what).with(vec![expected, got]));
        }
        let is_done = |id: &u64| self.done.contains(id);
        match records.get(..commit.offset).map(|below| below.iter().all(is_done)) {
            Some(true) => Ok(()),
            _ => {
                let what = "an offset is committed past a record that nobody did";
                let expected = format!("expected: each record below {} done", commit.offset);
                let got = format!("got:      {commit}, of {records:?} done {:?}", self.done);
                Err(Violation::new(what).with(vec![expected, got]))
            }
        }
    }
}

async fn act(
    caller: Rc<Mutex<Caller>>,
    operation: Operation<Send>,
    model: Shared,
    patience: Duration,
) -> Outcome {
    let (OperationId(id), Send { partition, millis }) = (operation.id, operation.op);
    let mut caller = caller.lock().await;
    model.borrow_mut().sent.insert(id);
    match caller.ask(&format!("record {id} {partition} {millis}"), patience).await {
        Answer::Reply(reply) => {
            always!(reply == "ok", "a record is taken, not {reply:?}");
            model.borrow_mut().taken.insert(id);
            Outcome::done()
        }
        Answer::Unsent(why) => Outcome::failed(why),
        Answer::Lost(why) => Outcome::indeterminate(why),
    }
}

/// Waits until no record is left, and then for a consumer that comes back from whatever befell it.
async fn audit(broker: SocketAddr) {
    let mut caller = Caller::new(broker);
    if let Err(answer) = caller.wait_for_none_left(HEALED, WAIT).await {
        fail(format!("no record is left after {HEALED:?}, not {answer:?}"));
    }
    sleep(LASTING).await;
}

#[cfg(test)]
mod tests;
