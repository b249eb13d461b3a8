//! Where runs take place: a thread that makes them one after the other, and who watches it.
//!
//! Whoever waits for a run has a thread of its own, outside of every world: a signal handler that
//! reads a clock there reads the real one, and a run that does not end is left behind, not waited
//! for.

use crate::failure::{Class, Failure};
use crate::run::{Input, Run, Target, run_watched};
use crate::running::Seeds;
use hostsim::kernel::HostId;
use hostsim::seam::ThreadWatch;
use hostsim::world::World;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Tells, from another thread, whose code a run is in.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    /// The host whose machine has its turn, plus one.
    host: AtomicU64,
    names: Mutex<Vec<String>>,
    threads: Mutex<Option<ThreadWatch>>,
}

impl Watch {
    /// A run begins.
    pub(crate) fn begin(&self, world: &World) {
        self.host.store(0, Ordering::Relaxed);
        self.names.lock().expect("nobody panics with the names").clear();
        *self.threads.lock().expect("nobody panics with the watch") = Some(world.thread_watch());
    }

    /// Tells the name of the next host.
    pub(crate) fn add_name(&self, name: &str) {
        self.names.lock().expect("nobody panics with the names").push(name.to_owned());
    }

    /// The machine of a host has its turn, or none has.
    pub(crate) fn set_host(&self, host: Option<HostId>) {
        self.host.store(host.map_or(0, |host| u64::from(host.0) + 1), Ordering::Relaxed);
    }

    /// Who has the turn, in words.
    fn turn(&self) -> String {
        let names = self.names.lock().expect("nobody panics with the names");
        let name = |host: usize| names.get(host).map_or("?", String::as_str);
        let threads = self.threads.lock().expect("nobody panics with the watch");
        if let Some(host) = threads.as_ref().and_then(ThreadWatch::host) {
            let name = name(host.0 as usize);
            return format!("a thread that node {name} made has the turn and does not end");
        }
        match self.host.load(Ordering::Relaxed) {
            0 => "the harness or the test's own code has the turn".to_owned(),
            host => {
                format!("node {} has the turn and does not give it back", name(host as usize - 1))
            }
        }
    }

    /// The run that the watchdog gave up.
    pub(crate) fn give_up(&self, watchdog: Duration) -> Run {
        let turn = self.turn();
        let text = format!("the run did not end within {watchdog:?} of real time: {turn}");
        Run::lost(Failure::new(Class::Inconclusive, "watchdog", text))
    }
}

/// A thread that makes runs of one target, which share it where they may.
pub(crate) struct Stage {
    inputs: Sender<Input>,
    runs: Receiver<Box<Run>>,
    watch: Arc<Watch>,
    watchdog: Duration,
    _seeds: Seeds,
}

impl Stage {
    /// Starts the thread. It ends with the stage, unless a run does not let it.
    #[expect(clippy::disallowed_methods, reason = "the thread of many runs")]
    pub(crate) fn start(target: &Target, watchdog: Duration) -> Stage {
        let (inputs, to_run) = channel::<Input>();
        let (sender, runs) = channel();
        let watch = Arc::<Watch>::default();
        let seeds = Seeds::of(target);
        let (target, watched, tell) = (target.clone(), watch.clone(), seeds.teller());
        std::thread::spawn(move || {
            for input in to_run {
                tell(if let Input::Seed(seed) = input { Some(seed) } else { None });
                let run = run_watched(&target, &input, watchdog, &watched);
                tell(None);
                if sender.send(Box::new(run)).is_err() {
                    return;
                }
            }
        });
        Stage { inputs, runs, watch, watchdog, _seeds: seeds }
    }

    /// Asks for a run; [`Stage::take`] gives it.
    pub(crate) fn ask(&self, input: Input) {
        // Where the thread is gone, `take` says so.
        let _ = self.inputs.send(input);
    }

    /// Waits for the next run that was asked for; whether the stage goes on after it.
    pub(crate) fn take(&self) -> (Box<Run>, bool) {
        // A run that failed, or marked its thread, is made twice.
        match self.runs.recv_timeout(self.watchdog.saturating_mul(2)) {
            Ok(run) => (run, true),
            Err(RecvTimeoutError::Timeout) => (Box::new(self.watch.give_up(self.watchdog)), false),
            Err(RecvTimeoutError::Disconnected) => (Box::new(Run::without_result()), false),
        }
    }
}
