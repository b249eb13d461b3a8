//! Which seed runs, for a process that ends in the middle of it: `std::process::exit` in a node ends
//! the whole sweep, and which of its seeds called that must not be searched by hand.
//!
//! What ends otherwise, by a signal or an abort, tells nothing here: it had the identity line.

use crate::identity::{Identity, Subject, say};
use crate::run::Target;
use hostsim::seam::outside::{at_exit, outside_of_run};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, Once};

/// The runs that go on, by number.
static RUNNING: Mutex<BTreeMap<u64, Running>> = Mutex::new(BTreeMap::new());

/// Stands for the seed in a command, and what it follows there.
const SEED: &str = "N";
const VARIABLE: &str = "SIM_SEEDS=";

struct Running {
    /// The command that makes a run again, but for its seed.
    replay: String,
    seed: Option<u64>,
}

/// The seeds of a sweep, one at a time. Nothing is told of them once it is dropped.
pub(crate) struct Seeds(u64);

impl Seeds {
    /// Begins, on the thread whose test it is.
    pub(crate) fn of(target: &Target) -> Seeds {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        static TELLS: Once = Once::new();
        TELLS.call_once(|| at_exit(tell));
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let replay = Identity { target, subject: Subject::Seeds(SEED) }.replay();
        lock(|running| drop(running.insert(number, Running { replay, seed: None })));
        Seeds(number)
    }

    /// What tells the seeds, on whichever thread runs them.
    pub(crate) fn teller(&self) -> impl Fn(Option<u64>) + use<> {
        let number = self.0;
        move |seed| {
            lock(|running| {
                if let Some(now) = running.get_mut(&number) {
                    now.seed = seed;
                }
            });
        }
    }
}

impl Drop for Seeds {
    fn drop(&mut self) {
        lock(|running| drop(running.remove(&self.0)));
    }
}

fn lock(change: impl FnOnce(&mut BTreeMap<u64, Running>)) {
    change(&mut RUNNING.lock().expect("nobody panics with what runs"));
}

/// Says what runs. The thread may be one of a node.
extern "C" fn tell() {
    outside_of_run(|| {
        let Ok(running) = RUNNING.try_lock() else { return };
        for (replay, seed) in running.values().filter_map(|now| Some((&now.replay, now.seed?))) {
            let replay =
                replay.replacen(&format!("{VARIABLE}{SEED}"), &format!("{VARIABLE}{seed}"), 1);
            // A panic must not go through what calls this.
            let line = format!("sim: the process ends in the middle of a run: replay=`{replay}`");
            drop(std::panic::catch_unwind(|| say(&line)));
        }
    });
}
