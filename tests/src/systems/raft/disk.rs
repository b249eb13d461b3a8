//! The disk of a node: a journal that outlives its processes, and how much of it outlives its power.
//!
//! What is written is there for the next process of the host, whatever ended the one before it. Only
//! a sync, which takes its time, makes it outlive a loss of power; then what was written after the
//! last sync is gone, to the last record. No other kind of loss is modeled: no torn record, none out
//! of order.
//!
//! Invariants: what was synced stays; what is recovered is a beginning of what was written.

use super::types::{State, Types};
use openraft::{Entry, LogId, SnapshotMeta, Vote};
use sim_core::sometimes;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;
use tokio::time::sleep;

/// What is written to the journal.
#[derive(Clone, Debug)]
pub enum Record {
    /// The node voted.
    Vote(Vote<u64>),
    /// It knows of this entry, and of those before it, that they are committed.
    Committed(Option<LogId<u64>>),
    /// It has the next entry.
    Append(Entry<Types>),
    /// It drops the entries from this one on.
    Truncate(LogId<u64>),
    /// It drops the entries up to this one.
    Purge(LogId<u64>),
    /// It has a snapshot.
    Snapshot(SnapshotMeta<u64, ()>, Box<State>),
}

/// What the records of a journal make.
#[derive(Clone, Debug, Default)]
pub struct Kept {
    /// The last vote.
    pub vote: Option<Vote<u64>>,
    /// The last entry that is known to be committed.
    pub committed: Option<LogId<u64>>,
    /// The last entry that was purged.
    pub purged: Option<LogId<u64>>,
    /// The log, by its indexes.
    pub entries: BTreeMap<u64, Entry<Types>>,
    /// The last snapshot.
    pub snapshot: Option<(SnapshotMeta<u64, ()>, Box<State>)>,
}

impl Kept {
    /// Executes a record.
    pub fn execute(&mut self, record: Record) {
        match record {
            Record::Vote(vote) => self.vote = Some(vote),
            Record::Committed(committed) => self.committed = committed,
            Record::Append(entry) => drop(self.entries.insert(entry.log_id.index, entry)),
            Record::Truncate(from) => drop(self.entries.split_off(&from.index)),
            Record::Purge(last) => {
                self.entries = self.entries.split_off(&(last.index + 1));
                self.purged = Some(last);
            }
            Record::Snapshot(meta, state) => self.snapshot = Some((meta, state)),
        }
    }
}

/// A disk; clones are the same one.
#[derive(Clone, Debug)]
pub struct Disk(Rc<Parts>);

#[derive(Debug)]
struct Parts {
    journal: RefCell<Vec<Record>>,
    /// How many records outlive a loss of power.
    synced: Cell<usize>,
    /// How long a sync takes.
    latency: Duration,
}

impl Disk {
    /// An empty disk whose syncs take so long.
    pub fn new(latency: Duration) -> Disk {
        Disk(Rc::new(Parts { journal: RefCell::default(), synced: Cell::new(0), latency }))
    }

    /// Writes a record.
    pub fn write(&self, record: Record) {
        self.0.journal.borrow_mut().push(record);
    }

    /// What was written so far outlives a loss of power once this returned.
    pub async fn sync(&self) {
        let len = self.0.journal.borrow().len();
        if !self.0.latency.is_zero() {
            sleep(self.0.latency).await;
        }
        self.0.synced.set(len.max(self.0.synced.get()));
    }

    /// The power is lost.
    pub fn lose_power(&self) {
        let (mut journal, synced) = (self.0.journal.borrow_mut(), self.0.synced.get());
        sometimes!(synced < journal.len(), "a loss of power takes what was not synced");
        journal.truncate(synced);
    }

    /// What a process begins with.
    pub fn recover(&self) -> Kept {
        let mut kept = Kept::default();
        self.0.journal.borrow().iter().cloned().for_each(|record| kept.execute(record));
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vote(disk: &Disk) -> Option<Vote<u64>> {
        disk.recover().vote
    }

    #[tokio::test]
    async fn a_loss_of_power_takes_what_was_written_since_the_last_sync() {
        let disk = Disk::new(Duration::ZERO);
        disk.write(Record::Vote(Vote::new(1, 0)));
        disk.sync().await;
        disk.write(Record::Vote(Vote::new(2, 0)));
        assert_eq!(vote(&disk), Some(Vote::new(2, 0)), "a new process has it all");
        disk.lose_power();
        assert_eq!(vote(&disk), Some(Vote::new(1, 0)));
    }

    #[tokio::test]
    async fn a_sync_keeps_what_was_written_before_it_began() {
        let disk = Disk::new(Duration::from_nanos(1));
        disk.write(Record::Vote(Vote::new(1, 0)));
        let sync = disk.sync();
        let late = async { disk.write(Record::Vote(Vote::new(2, 0))) };
        tokio::join!(sync, late);
        disk.lose_power();
        assert_eq!(vote(&disk), Some(Vote::new(1, 0)));
    }
}
