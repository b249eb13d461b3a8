//! What the nodes agree on: commands to a store of registers, and what these make of it.
//!
//! Not here: who keeps it ([`super::disk`]) and who asks for it.
//!
//! Invariant: the state is a function of the entries that were applied. A command is executed once,
//! however often it is in the log: the same identity again changes nothing and gets the same reply.

use openraft::{Entry, EntryPayload, LogId, StoredMembership};
use serde::{Deserialize, Serialize};
use sim_core::oracle::{RegisterOp, RegisterRet};
use sim_core::sometimes;
use std::collections::BTreeMap;

openraft::declare_raft_types!(
    /// The types of openraft: a node is known by the number of its replica, and where that is, is
    /// known to all.
    pub Types:
        D = Command,
        R = Reply,
        NodeId = u64,
        Node = (),
        Entry = Entry<Types>,
        SnapshotData = State,
        AsyncRuntime = openraft::TokioRuntime,
);

/// What a client asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Command {
    /// Its identity: the same one when it is asked again.
    pub id: u64,
    /// The register.
    pub key: u8,
    /// What to do with it.
    pub action: Action,
}

/// What is done with a register, which may have no value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Action {
    /// Reads it.
    Read,
    /// Sets it.
    Write(u64),
    /// Sets it, where it is as expected.
    Swap {
        /// What it must be.
        expected: Option<u64>,
        /// What it becomes.
        new: u64,
    },
}

impl Action {
    /// The same for the model.
    pub fn of_model(&self) -> RegisterOp<Option<u64>> {
        match *self {
            Action::Read => RegisterOp::Read,
            Action::Write(value) => RegisterOp::Write(Some(value)),
            Action::Swap { expected, new } => RegisterOp::Cas { expected, new: Some(new) },
        }
    }
}

/// What comes of a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reply {
    /// It was no command, but an entry of openraft's own.
    Nothing,
    /// Of a read: the value.
    Value(Option<u64>),
    /// Of a write.
    Written,
    /// Of a swap: whether it did.
    Swapped(bool),
}

impl Reply {
    /// The same for the model.
    ///
    /// # Panics
    /// Where it is of no command.
    pub fn of_model(&self) -> RegisterRet<Option<u64>> {
        match *self {
            Reply::Nothing => panic!("a client gets replies to commands"),
            Reply::Value(value) => RegisterRet::Value(value),
            Reply::Written => RegisterRet::Written,
            Reply::Swapped(is_swapped) => RegisterRet::Swapped(is_swapped),
        }
    }
}

/// What applying the log up to an entry makes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    /// The last entry that was applied.
    pub applied: Option<LogId<u64>>,
    /// The last membership that was.
    pub membership: StoredMembership<u64, ()>,
    /// The registers that have a value.
    values: BTreeMap<u8, u64>,
    /// What came of each command.
    replies: BTreeMap<u64, Reply>,
}

impl State {
    /// A register's value.
    pub fn value(&self, key: u8) -> Option<u64> {
        self.values.get(&key).copied()
    }

    /// Applies the next entry.
    pub fn apply(&mut self, entry: Entry<Types>) -> Reply {
        self.applied = Some(entry.log_id);
        match entry.payload {
            EntryPayload::Blank => Reply::Nothing,
            EntryPayload::Normal(command) => self.execute(&command),
            EntryPayload::Membership(membership) => {
                self.membership = StoredMembership::new(Some(entry.log_id), membership);
                Reply::Nothing
            }
        }
    }

    fn execute(&mut self, command: &Command) -> Reply {
        let known = self.replies.get(&command.id);
        sometimes!(known.is_some(), "a command is in the log again");
        if let Some(reply) = known {
            return reply.clone();
        }
        let value = self.value(command.key);
        let reply = match command.action {
            Action::Read => Reply::Value(value),
            Action::Write(_) => Reply::Written,
            Action::Swap { expected, .. } => Reply::Swapped(expected == value),
        };
        match command.action {
            Action::Swap { new, .. } if reply == Reply::Swapped(true) => {
                self.values.insert(command.key, new);
            }
            Action::Write(new) => {
                self.values.insert(command.key, new);
            }
            Action::Read | Action::Swap { .. } => {}
        }
        self.replies.insert(command.id, reply.clone());
        reply
    }
}
