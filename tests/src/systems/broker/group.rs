//! The broker: the records of each partition, the group and its offsets, as its log makes them.
//!
//! Who is in the group is not in the log. Each start of the broker is another generation, without
//! consumers, so none of those before it commits any more.

use super::{SESSION, Shared};
use crate::systems::parts::line::Lines;
use crate::systems::parts::log::Log;
use crate::systems::parts::serve::{answer_each, serve};
use sim_core::process::Process;
use sim_core::{reached, sometimes};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::rc::Rc;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tracing::info;

/// How many partitions there are.
pub const PARTITIONS: usize = 2;

/// A record of a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// Its identity.
    pub id: u64,
    /// Its partition.
    pub partition: usize,
    /// How long it takes.
    pub millis: u64,
}

/// A consumer did the records of a partition below an offset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Commit {
    /// The generation that it worked for.
    pub generation: u64,
    /// The partition.
    pub partition: usize,
    /// The offset of the next record.
    pub offset: usize,
}

impl fmt::Display for Commit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Commit { generation, partition, offset } = self;
        write!(f, "generation {generation} committed {offset} of partition {partition}")
    }
}

/// Whether a commit counts in the generation of the moment, after the last one of its partition.
pub type MayCommit = fn(u64, Commit, Commit) -> bool;

/// A line of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A record was taken.
    Record(Record),
    /// An offset was committed.
    Commit(Commit),
    /// A generation began.
    Generation(u64),
}

impl Entry {
    /// Reads `record ID PARTITION MILLIS`, `commit GENERATION PARTITION OFFSET` or `generation
    /// NUMBER`.
    pub fn parse(line: &str) -> Option<Entry> {
        let (kind, numbers) = line.split_once(' ')?;
        let numbers: Result<Vec<u64>, _> = numbers.split(' ').map(str::parse).collect();
        let place = |number: u64| usize::try_from(number).ok().filter(|place| *place < PARTITIONS);
        match (kind, &numbers.ok()?[..]) {
            ("record", &[id, partition, millis]) => {
                Some(Entry::Record(Record { id, partition: place(partition)?, millis }))
            }
            ("commit", &[generation, partition, offset]) => {
                let (partition, offset) = (place(partition)?, offset.try_into().ok()?);
                Some(Entry::Commit(Commit { generation, partition, offset }))
            }
            ("generation", &[number]) => Some(Entry::Generation(number)),
            _ => None,
        }
    }
}

/// The broker's state.
struct Broker {
    log: Log,
    ids: BTreeSet<u64>,
    partitions: [Vec<Record>; PARTITIONS],
    /// The last commit of each partition.
    commits: [Commit; PARTITIONS],
    generation: u64,
    /// The consumers of the group, by the generation that began with them, and when they are silent
    /// for too long.
    members: BTreeMap<u64, Instant>,
    may_commit: MayCommit,
    /// Who is told of each line of the log.
    model: Shared,
}

impl Broker {
    fn recover(log: Log, may_commit: MayCommit, model: Shared) -> Broker {
        let lines = log.records().to_vec();
        let mut broker = Broker {
            log,
            ids: BTreeSet::new(),
            partitions: Default::default(),
            commits: Default::default(),
            generation: 0,
            members: BTreeMap::new(),
            may_commit,
            model,
        };
        let entries = lines.iter().map(|line| Entry::parse(line).expect("the broker wrote it"));
        entries.for_each(|entry| broker.execute(entry));
        broker.rebalance();
        broker
    }

    /// Appends a line and executes it.
    fn append(&mut self, line: &str) {
        self.log.append(line);
        let entry = Entry::parse(line).expect("the broker wrote it");
        self.model.borrow_mut().written.push(entry);
        self.execute(entry);
    }

    fn execute(&mut self, entry: Entry) {
        match entry {
            Entry::Record(record) => {
                self.ids.insert(record.id);
                self.partitions[record.partition].push(record);
            }
            Entry::Commit(commit) => self.commits[commit.partition] = commit,
            Entry::Generation(number) => self.generation = number,
        }
    }

    /// Another generation begins.
    fn rebalance(&mut self) {
        self.append(&format!("generation {}", self.generation + 1));
        info!(generation = self.generation, "begins");
    }

    fn answer(&mut self, request: &str) -> String {
        self.expire();
        match Entry::parse(request) {
            Some(Entry::Record(record)) => {
                sometimes!(self.ids.contains(&record.id), "a record is sent again");
                if !self.ids.contains(&record.id) {
                    self.append(request);
                }
                return "ok".to_owned();
            }
            Some(Entry::Commit(commit)) => return self.commit(request, commit),
            _ => {}
        }
        let words: Vec<&str> = request.split(' ').collect();
        let numbers: Vec<u64> = words[1..].iter().flat_map(|word| word.parse()).collect();
        match (words[0], &numbers[..]) {
            ("join", []) => self.join(),
            ("sync", &[member]) => self.sync(member),
            ("fetch", &[member, generation, partition, offset]) => {
                self.fetch(member, generation, partition as usize, offset as usize)
            }
            ("leave", &[member]) => {
                if self.members.remove(&member).is_some() {
                    self.rebalance();
                }
                "ok".to_owned()
            }
            ("left", []) => format!("left {}", self.left()),
            _ => "what".to_owned(),
        }
    }

    /// Those that were silent for too long are no longer in the group.
    fn expire(&mut self) {
        let count = self.members.len();
        self.members.retain(|_, until| Instant::now() < *until);
        if self.members.len() < count {
            reached!("a consumer is silent for too long");
            self.rebalance();
        }
    }

    fn join(&mut self) -> String {
        self.rebalance();
        self.members.insert(self.generation, Instant::now() + SESSION);
        format!("member {}", self.generation)
    }

    /// A consumer was heard; whether it is in the group.
    fn on_heard(&mut self, member: u64) -> bool {
        let until = self.members.get_mut(&member);
        until.map(|until| *until = Instant::now() + SESSION).is_some()
    }

    /// The generation, and each partition of a consumer with its offset.
    fn sync(&mut self, member: u64) -> String {
        if !self.on_heard(member) {
            return "unknown".to_owned();
        }
        let members: Vec<u64> = self.members.keys().copied().collect();
        let mut text = format!("generation {}", self.generation);
        for (partition, commit) in self.commits.iter().enumerate() {
            if members[(partition + self.generation as usize) % members.len()] == member {
                text += &format!(" {partition} {}", commit.offset);
            }
        }
        text
    }

    fn fetch(&mut self, member: u64, generation: u64, partition: usize, offset: usize) -> String {
        if !self.on_heard(member) {
            return "unknown".to_owned();
        }
        if generation != self.generation {
            return "old".to_owned();
        }
        match self.partitions.get(partition).and_then(|records| records.get(offset)) {
            Some(record) => format!("record {} {}", record.id, record.millis),
            None => "none".to_owned(),
        }
    }

    fn commit(&mut self, request: &str, commit: Commit) -> String {
        let last = self.commits[commit.partition];
        if !(self.may_commit)(self.generation, last, commit) {
            sometimes!(
                commit.generation < last.generation,
                "a late commit is of an old generation"
            );
            info!("fences: {commit}");
            return "fenced".to_owned();
        }
        sometimes!(commit == last, "a consumer commits again what is committed");
        if commit != last {
            info!(now = self.generation, "{commit}");
            self.append(request);
        }
        "ok".to_owned()
    }

    /// How many records are not below the committed offsets.
    fn left(&self) -> usize {
        let done: usize = self.commits.iter().map(|commit| commit.offset).sum();
        self.ids.len() - done
    }
}

/// The program of the broker.
///
/// # Panics
/// Where the disk fails, or the port is taken.
pub(super) async fn run(process: Process, may_commit: MayCommit, model: Shared) {
    let folder = process.host().dir().expect("the host has a disk");
    let log = Log::open(&folder).expect("the disk is well");
    model.borrow_mut().folder = Some(folder);
    let broker = Rc::new(RefCell::new(Broker::recover(log, may_commit, model)));
    serve(&process, JoinSet::new(), move |stream| answer(Lines::new(stream), broker.clone())).await;
}

async fn answer(lines: Lines, broker: Rc<RefCell<Broker>>) {
    answer_each(lines, |request| broker.borrow_mut().answer(request)).await;
}
