//! What openraft asks of a store: the log with the vote, and the state machine with its snapshots.
//!
//! Both are what is in memory of the journal of one [`Disk`]. The state itself is on the disk as
//! snapshots alone; what comes after the last one is applied again from the log.
//!
//! Invariants, of the store that syncs: what openraft was told of is on the disk, and outlives a
//! loss of power. The journal alone decides what a process begins with.

use super::disk::{Disk, Kept, Record};
use super::types::{Reply, State, Types};
use openraft::storage::{LogFlushed, RaftLogStorage, RaftStateMachine};
use openraft::{
    Entry, LogId, LogState, OptionalSend, RaftLogReader, RaftSnapshotBuilder, Snapshot,
    SnapshotMeta, StorageError, StoredMembership, Vote,
};
use sim_core::{reached, sometimes};
use std::cell::RefCell;
use std::fmt::Debug;
use std::ops::RangeBounds;
use std::rc::Rc;
use std::time::Duration;
use tokio::time::sleep;

type Result<T> = std::result::Result<T, StorageError<u64>>;

/// How long written records wait for a sync that nobody asked for: as long as Linux leaves pages
/// dirty before it looks at them (`vm.dirty_writeback_centisecs`).
const WRITE_BACK: Duration = Duration::from_secs(5);

/// When openraft is told that it has the entries which it appended, and what of them is committed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acknowledge {
    /// Once they are synced.
    Synced,
    /// Once they are written, and before they are synced.
    Written,
}

/// The log of a node; clones are the same one.
#[derive(Clone, Debug)]
pub struct Log {
    disk: Disk,
    kept: Rc<RefCell<Kept>>,
    acknowledge: Acknowledge,
}

impl Log {
    /// Begins with what is on a disk.
    pub fn recover(disk: &Disk, acknowledge: Acknowledge) -> Log {
        let kept = disk.recover();
        sometimes!(!kept.entries.is_empty(), "a node begins with the log that it had");
        Log { disk: disk.clone(), kept: Rc::new(RefCell::new(kept)), acknowledge }
    }

    fn write(&self, record: Record) {
        self.disk.write(record.clone());
        self.kept.borrow_mut().execute(record);
    }

    /// Returns when openraft may be told that it has what was written.
    async fn acknowledged(&self) {
        match self.acknowledge {
            Acknowledge::Synced => self.disk.sync().await,
            Acknowledge::Written => {
                let disk = self.disk.clone();
                tokio::task::spawn_local(async move {
                    sleep(WRITE_BACK).await;
                    disk.sync().await;
                });
            }
        }
    }
}

impl RaftLogReader<Types> for Log {
    async fn try_get_log_entries<RB: RangeBounds<u64> + Clone + Debug + OptionalSend>(
        &mut self,
        range: RB,
    ) -> Result<Vec<Entry<Types>>> {
        Ok(self.kept.borrow().entries.range(range).map(|(_, entry)| entry.clone()).collect())
    }
}

impl RaftLogStorage<Types> for Log {
    type LogReader = Log;

    async fn get_log_state(&mut self) -> Result<LogState<Types>> {
        let kept = self.kept.borrow();
        let last = kept.entries.values().next_back().map(|entry| entry.log_id);
        Ok(LogState { last_purged_log_id: kept.purged, last_log_id: last.or(kept.purged) })
    }

    async fn get_log_reader(&mut self) -> Log {
        self.clone()
    }

    async fn save_vote(&mut self, vote: &Vote<u64>) -> Result<()> {
        self.write(Record::Vote(*vote));
        self.disk.sync().await;
        Ok(())
    }

    async fn read_vote(&mut self) -> Result<Option<Vote<u64>>> {
        Ok(self.kept.borrow().vote)
    }

    /// With a sync: a node that led goes on to lead after a restart, and reads up to what it knows to
    /// be committed. To know less than was known is to read what was before.
    async fn save_committed(&mut self, committed: Option<LogId<u64>>) -> Result<()> {
        self.write(Record::Committed(committed));
        self.acknowledged().await;
        Ok(())
    }

    async fn read_committed(&mut self) -> Result<Option<LogId<u64>>> {
        Ok(self.kept.borrow().committed)
    }

    async fn append<I>(&mut self, entries: I, callback: LogFlushed<Types>) -> Result<()>
    where
        I: IntoIterator<Item = Entry<Types>> + OptionalSend,
        I::IntoIter: OptionalSend,
    {
        entries.into_iter().for_each(|entry| self.write(Record::Append(entry)));
        self.acknowledged().await;
        callback.log_io_completed(Ok(()));
        Ok(())
    }

    async fn truncate(&mut self, from: LogId<u64>) -> Result<()> {
        reached!("a node drops entries that another leader does not have");
        self.write(Record::Truncate(from));
        self.disk.sync().await;
        Ok(())
    }

    /// Without a sync: what is purged is in a snapshot that was synced.
    async fn purge(&mut self, last: LogId<u64>) -> Result<()> {
        self.write(Record::Purge(last));
        Ok(())
    }
}

/// The state machine of a node; clones are the same one.
#[derive(Clone, Debug)]
pub struct Machine {
    log: Log,
    state: Rc<RefCell<State>>,
}

impl Machine {
    /// Begins with the last snapshot of a log's disk.
    pub fn recover(log: &Log) -> Machine {
        let snapshot = log.kept.borrow().snapshot.clone();
        let state = snapshot.map(|(_, state)| *state).unwrap_or_default();
        Machine { log: log.clone(), state: Rc::new(RefCell::new(state)) }
    }

    /// A register's value as far as is applied.
    pub fn value(&self, key: u8) -> Option<u64> {
        self.state.borrow().value(key)
    }

    /// Keeps a snapshot, where none is there that is newer: one is built while another is installed.
    async fn keep(&self, meta: SnapshotMeta<u64, ()>, state: Box<State>) {
        let last = self.log.kept.borrow().snapshot.as_ref().and_then(|(last, _)| last.last_log_id);
        if last <= meta.last_log_id {
            self.log.write(Record::Snapshot(meta, state));
        }
        self.log.disk.sync().await;
    }
}

impl RaftSnapshotBuilder<Types> for Machine {
    async fn build_snapshot(&mut self) -> Result<Snapshot<Types>> {
        let state = Box::new(self.state.borrow().clone());
        let index = state.applied.map_or(0, |last| last.index);
        let meta = SnapshotMeta {
            last_log_id: state.applied,
            last_membership: state.membership.clone(),
            snapshot_id: format!("{index}"),
        };
        self.keep(meta.clone(), state.clone()).await;
        Ok(Snapshot { meta, snapshot: state })
    }
}

impl RaftStateMachine<Types> for Machine {
    type SnapshotBuilder = Machine;

    async fn applied_state(&mut self) -> Result<(Option<LogId<u64>>, StoredMembership<u64, ()>)> {
        let state = self.state.borrow();
        Ok((state.applied, state.membership.clone()))
    }

    async fn apply<I>(&mut self, entries: I) -> Result<Vec<Reply>>
    where
        I: IntoIterator<Item = Entry<Types>> + OptionalSend,
        I::IntoIter: OptionalSend,
    {
        let mut state = self.state.borrow_mut();
        Ok(entries.into_iter().map(|entry| state.apply(entry)).collect())
    }

    async fn get_snapshot_builder(&mut self) -> Machine {
        self.clone()
    }

    async fn begin_receiving_snapshot(&mut self) -> Result<Box<State>> {
        Ok(Box::default())
    }

    async fn install_snapshot(
        &mut self,
        meta: &SnapshotMeta<u64, ()>,
        snapshot: Box<State>,
    ) -> Result<()> {
        reached!("a node gets a snapshot of another");
        self.keep(meta.clone(), snapshot.clone()).await;
        *self.state.borrow_mut() = *snapshot;
        Ok(())
    }

    async fn get_current_snapshot(&mut self) -> Result<Option<Snapshot<Types>>> {
        let kept = self.log.kept.borrow();
        let snapshot = kept.snapshot.clone();
        Ok(snapshot.map(|(meta, snapshot)| Snapshot { meta, snapshot }))
    }
}
