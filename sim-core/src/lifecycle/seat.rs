//! A host with its program, as the driver holds it, and how its process starts and ends.

use super::Moment;
use crate::driver::{LocalFuture, drop_apart};
use crate::failure::internal_assert;
use crate::failure::{Class, Failure};
use crate::history::Event;
use crate::node::Settings;
use crate::panics::Witness;
use crate::process::{Exit, Life, Process, Shared, Signal, Simulated};
use crate::sim::Sim;
use hostsim::clock::Instant;
use hostsim::kernel::HostId;
use hostsim::machine::Machine;
use hostsim::tasks::Task;
use rand_core::Rng;
use sim_process::system::Facts;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// Makes the program of a node at each start.
pub(crate) type App = Rc<dyn Fn(Process) -> LocalFuture<(i32, Option<String>)>>;

/// A host with its program.
pub(crate) struct Seat {
    pub(crate) facts: Facts,
    pub(crate) settings: Rc<Settings>,
    /// What it runs; none for the host of a workload's client, which runs operations.
    pub(crate) app: Option<App>,
    pub(crate) record: Shared,
    life: Option<Arc<Life>>,
    pub(crate) machine: Option<Machine>,
    pub(crate) deadline: Option<Instant>,
    /// When it is killed if it did not end by itself, and which life of it.
    kill_at: Option<(Instant, u64)>,
    /// Whether its process got a signal that it listens for: it may end because of it.
    pub(crate) is_told: bool,
    /// How many sockets earlier lives left open.
    left_open: usize,
    /// When it should be ready, and how many controls had begun when it started.
    pub(crate) ready: Option<(Instant, u64)>,
}

impl Seat {
    pub(crate) fn new(facts: Facts, settings: Rc<Settings>, app: Option<App>) -> Seat {
        Seat {
            facts,
            settings,
            app,
            record: Shared::default(),
            life: None,
            machine: None,
            deadline: None,
            kill_at: None,
            is_told: false,
            left_open: 0,
            ready: None,
        }
    }

    /// How often its process was started: the number of its last life.
    pub(crate) fn starts(&self) -> u64 {
        self.record.lock().expect("nobody panics with the record").starts
    }

    /// How its last life ended.
    pub(crate) fn last_exit(&self) -> Option<Exit> {
        self.record.lock().expect("nobody panics with the record").exits.last().copied()
    }

    /// Drops its machine and its program, once the run is over.
    pub(crate) fn let_go(self) {
        drop_apart(self.machine);
        drop_apart(self.app);
        self.life.iter().for_each(|life| life.forget());
        self.record.lock().expect("nobody panics with the record").life = None;
    }

    pub(crate) fn is_up(&self) -> bool {
        self.machine.is_some()
    }
}

impl Sim {
    pub(crate) fn seat_of(&mut self, host: HostId) -> &mut Seat {
        &mut self.seats[host.0 as usize]
    }

    /// Starts the process of a host, where it has none.
    pub(crate) fn start(&mut self, host: HostId) {
        if self.seat_of(host).is_up() {
            return;
        }
        self.world.with(|network| {
            network.begin_process(host);
            if network.host(host).is_fenced() {
                network.unfence(host);
            }
        });
        self.record(Event::Start { host: host.0 });
        let select = self.select_seed(host);
        let machine = Machine::start(&self.world, host, select);
        let machine = machine.expect("a simulated kernel refuses no runtime");
        self.machines += 1;
        let folder = self.folder.clone();
        let seat = self.seat_of(host);
        if let Some(app) = seat.app.clone() {
            let life = Arc::<Life>::default();
            if let Some(bytes) = &seat.settings.stdin {
                life.feed(bytes, true);
            }
            let system = Simulated {
                facts: seat.facts.clone(),
                host,
                life: life.clone(),
                record: seat.record.clone(),
                folder,
            };
            let mut record = seat.record.lock().expect("nobody panics with the record");
            (record.starts, record.life) = (record.starts + 1, Some(life.clone()));
            drop(record);
            seat.life = Some(life);
            machine.spawn(run(app, system));
        }
        (seat.machine, seat.is_told) = (Some(machine), false);
        self.plan_ready(host);
    }

    /// The seed of `select!` of a host's next life.
    fn select_seed(&mut self, host: HostId) -> u64 {
        let root = self.entropy.child("select");
        let seat = self.seat_of(host);
        let seed = root.child(&seat.facts.name);
        match seat.starts() {
            0 => seed.stream().next_u64(),
            life => seed.child(&life.to_string()).stream().next_u64(),
        }
    }

    /// Ends the process of a host: what stays behind is a failure where its node drains.
    pub(crate) fn stop(&mut self, host: HostId, exit: Exit) -> Option<Failure> {
        if exit == Exit::Power {
            self.world.with(|network| network.fence(host));
        }
        let machine = self.seat_of(host).machine.take()?;
        let tasks = self.world.tasks(host);
        let undrained = self.undrained(host, exit, &tasks);
        self.world.end_process(host);
        self.set_deadline(host, None);
        let seat = self.seat_of(host);
        let kill_at = seat.kill_at.take();
        let life = seat.life.take();
        if let Some(life) = &life {
            life.end_output(host, &seat.record);
            if exit.is_crash() {
                life.token.crash();
            }
        }
        if let Some((due, _)) = kill_at {
            self.world.with(|network| network.cancel(due, Moment::Kill.key(host.0)));
        }
        self.slot.while_dying(|| {
            drop(machine);
            life.iter().for_each(|life| life.forget());
        });
        self.on_stopped(host, exit, &tasks);
        undrained
    }

    /// What a process that ended by itself left running, where its node says that it drains.
    fn undrained(&mut self, host: HostId, exit: Exit, tasks: &[Task]) -> Option<Failure> {
        let seat = self.seat_of(host);
        let name = seat.facts.name.clone();
        if !seat.settings.drains || exit.is_crash() {
            return None;
        }
        let sockets = self.world.network().describe(host);
        let first = match (tasks.first(), sockets.first()) {
            (Some(task), _) => task.to_string(),
            (None, Some(_)) => "a socket".to_owned(),
            (None, None) => return None,
        };
        let text = format!(
            "node {name} ended with {exit} and left {} tasks and {} sockets",
            tasks.len(),
            sockets.len()
        );
        let mut failure = Failure::new(Class::Leak, format!("{name} left {first}"), text);
        failure.details.extend(tasks.iter().map(Task::to_string));
        failure.details.extend(sockets);
        Some(failure)
    }

    fn on_stopped(&mut self, host: HostId, exit: Exit, tasks: &[Task]) {
        internal_assert!(self.world.tasks(host).is_empty(), "no task outlives its process");
        internal_assert!(!self.world.has_threads(host), "no thread outlives its process");
        let left_open = self.world.network().left_open(host);
        let seat = self.seat_of(host);
        let new = left_open.saturating_sub(seat.left_open);
        seat.left_open = left_open;
        let mut record = seat.record.lock().expect("nobody panics with the record");
        record.exits.push(exit);
        record.life = None;
        drop(record);
        let is_client = seat.settings.is_client;
        if is_client && matches!(exit, Exit::Code(_)) {
            self.work.finish(host);
        }
        if is_client && exit == Exit::Code(0) && new == 0 {
            return;
        }
        let mut text = exit.to_string();
        if !tasks.is_empty() {
            text += &format!("; still ran: {}", list(tasks));
        }
        if new > 0 {
            text += &format!("; left open: {new} sockets");
        }
        self.record(Event::Stop { host: host.0, text: &text });
    }

    /// Ends the process of a host whose program ended.
    pub(crate) fn stop_ended(&mut self, host: HostId) -> Option<Failure> {
        let exit = self.seat_of(host).life.as_ref()?.exit()?;
        self.stop(host, exit)
    }

    /// Sends a signal to the process of a host.
    pub(crate) fn signal(&mut self, host: HostId, signal: Signal) -> Option<Failure> {
        let life = self.seat_of(host).life.clone()?;
        if life.send(signal) {
            self.seat_of(host).is_told = true;
            return None;
        }
        if self.world.network().host(host).is_paused {
            life.put_off(signal);
            return None;
        }
        self.stop(host, Exit::Signal(signal))
    }

    /// A pause is over: a signal takes the default action that it could not take meanwhile, as the
    /// kernel has it for a stopped process.
    pub(crate) fn resume(&mut self, host: HostId) -> Option<Failure> {
        if self.world.network().host(host).is_paused {
            return None;
        }
        let signal = self.seat_of(host).life.as_ref()?.take_put_off()?;
        self.stop(host, Exit::Signal(signal))
    }

    /// Asks the process of a host to end, and kills it where it has not after some time.
    pub(crate) fn kill_after(&mut self, host: HostId, time: Duration) -> Option<Failure> {
        let failure = self.signal(host, Signal::Terminate);
        // The host of a workload's client has no life.
        if self.seat_of(host).life.is_none() {
            return failure;
        }
        let mut due = self.now() + time;
        let seat = self.seat_of(host);
        let life = seat.starts();
        let before = seat.kill_at.take();
        // Who asked before kills at its own moment still.
        due = before.map_or(due, |(before, _)| before.min(due));
        seat.kill_at = Some((due, life));
        let key = Moment::Kill.key(host.0);
        self.world.with(|network| {
            if let Some((before, _)) = before {
                network.cancel(before, key);
            }
            network.schedule(due, key);
        });
        failure
    }

    /// A process had its time to end.
    pub(crate) fn on_kill(&mut self, host: HostId) -> Option<Failure> {
        let seat = self.seat_of(host);
        let (_, life) = seat.kill_at.take()?;
        if seat.starts() == life { self.stop(host, Exit::Kill) } else { None }
    }
}

/// The program of a process, from its start to its exit code.
async fn run(app: App, system: Simulated) {
    let (host, life, record) = (system.host, system.life.clone(), system.record.clone());
    let _witness = Witness(Some(life.clone()));
    let (code, text) = app(Process::over(Arc::new(system))).await;
    if let Some(text) = text {
        life.write(host, &record, true, format!("{text}\n").as_bytes());
    }
    life.end(Exit::code(code));
}

/// Tasks in words, those of one place together.
fn list(tasks: &[Task]) -> String {
    let mut places: Vec<(String, usize)> = Vec::new();
    for task in tasks {
        let place = task.to_string();
        match places.iter_mut().find(|(other, _)| *other == place) {
            Some((_, count)) => *count += 1,
            None => places.push((place, 1)),
        }
    }
    let words = places.into_iter().map(|(place, count)| match count {
        1 => place,
        count => format!("{place} ({count} times)"),
    });
    words.collect::<Vec<_>>().join(", ")
}
