//! The tasks of machines that have not ended, and where each was spawned.
//!
//! For reports: what still ran when a process ended, who is left where all should be gone, whose
//! task panicked. tokio tells of tasks only where it was built with `--cfg tokio_unstable`; else
//! there is nothing here.
//!
//! Invariant: a task is here from its spawn until it ended or was dropped, whoever holds its handle.

use crate::kernel::HostId;
use crate::place::portable;
use std::fmt;
use std::hash::{BuildHasherDefault, DefaultHasher};
use std::panic::Location;
use tokio::task::Id;

/// A task of a machine.
///
/// ```
/// # use hostsim::{machine::Machine, seam, world::World};
/// # let world = World::new();
/// # let _entered = seam::enter(&world);
/// # let host = world.with(|network| network.add_host("alone"));
/// let mut machine = Machine::start(&world, host, 7)?;
/// machine.spawn(async {
///     tokio::task::spawn_local(std::future::pending::<()>()).await.unwrap();
/// });
/// machine.run();
/// // tokio tells of tasks where it was built to.
/// if hostsim::machine::SELECT_IS_SEEDED {
///     let tasks = world.tasks(host);
///     assert_eq!((tasks[0].host, tasks[0].number, tasks[1].number), (host, 0, 1));
///     assert_eq!(tasks[0].to_string(), "the program");
/// }
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Task {
    /// The machine's host.
    pub host: HostId,
    /// Which task of the machine it is, in the order of their spawns, from zero. A number of tokio's
    /// own would differ from run to run.
    pub number: u64,
    /// Where it was spawned.
    pub spawned_at: &'static Location<'static>,
}

impl fmt::Display for Task {
    /// The program itself, an operation, or where the task was spawned.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.number {
            0 => f.write_str("the program"),
            // Handed to the machine by whoever drives it.
            _ if self.spawned_at.file() == crate::machine::FILE => f.write_str("an operation"),
            _ => {
                let file = portable(self.spawned_at.file());
                write!(f, "a task of {file}:{}", self.spawned_at.line())
            }
        }
    }
}

#[expect(clippy::disallowed_types, reason = "looked up by key; what is listed is sorted")]
type Live = std::collections::HashMap<Id, Task, BuildHasherDefault<DefaultHasher>>;

/// The live tasks of a world.
#[derive(Debug, Default)]
pub(crate) struct Tasks {
    live: Live,
    /// How many each machine spawned, by host.
    spawned: Vec<u64>,
}

impl Tasks {
    /// A machine begins: its tasks are counted from zero.
    pub(crate) fn begin(&mut self, host: HostId) {
        let at = host.0 as usize;
        if self.spawned.len() <= at {
            self.spawned.resize(at + 1, 0);
        }
        self.spawned[at] = 0;
    }

    pub(crate) fn add(&mut self, host: HostId, id: Id, spawned_at: &'static Location<'static>) {
        let Some(count) = self.spawned.get_mut(host.0 as usize) else { return };
        self.live.insert(id, Task { host, number: *count, spawned_at });
        *count += 1;
    }

    pub(crate) fn remove(&mut self, id: Id) {
        self.live.remove(&id);
    }

    pub(crate) fn get(&self, id: Id) -> Option<Task> {
        self.live.get(&id).copied()
    }

    /// The tasks of a machine, in the order of their spawns.
    pub(crate) fn of(&self, host: HostId) -> Vec<(Id, Task)> {
        let mut tasks: Vec<(Id, Task)> = self.live.iter().map(|(id, task)| (*id, *task)).collect();
        tasks.retain(|(_, task)| task.host == host);
        tasks.sort_unstable_by_key(|(_, task)| task.number);
        tasks
    }
}
