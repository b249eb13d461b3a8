//! What everybody waits for, where nothing is pending and work is left.

use crate::failure::{Class, Failure};
use crate::history::Event;
use crate::sim::Sim;
use crate::workload::OperationId;
use hostsim::kernel::HostId;
use hostsim::waits::Wait;

impl Sim {
    /// The failure of a run that cannot go on: who does not run, what is in force, and for each
    /// task which socket it waits for, or that it waits for none. The run is over with it: programs
    /// are woken to be asked.
    pub(crate) fn deadlock(&mut self) -> Failure {
        let text = format!("{}, and nobody can go on: nothing is pending", self.unended());
        let mut failure = Failure::new(Class::Deadlock, "nothing pending", text);
        failure.details = self.everybody();
        failure
    }

    /// Who does not run, what is in force, and what everybody waits for.
    pub(crate) fn everybody(&mut self) -> Vec<String> {
        let mut details = [self.unfinished(), self.standing()].concat();
        for host in (0..self.seats.len() as u32).map(HostId) {
            let name = self.seat_of(host).facts.name.clone();
            let lines = self.waits(host);
            details.extend(lines.into_iter().map(|line| format!("{name}: {line}")));
        }
        details
    }

    /// A limit of the run was reached: who did not end by then, and what may be why.
    pub(crate) fn at_limit(&self, origin: &str, text: &str) -> Failure {
        let text = format!("{text}, and {}", self.unended());
        let mut failure = Failure::new(Class::Inconclusive, origin, text);
        failure.details = [self.unfinished(), self.standing()].concat();
        failure
    }

    /// How many operations and clients have not ended.
    fn unended(&self) -> String {
        let count = |count: u64, noun: &str| match count {
            0 => None,
            1 => Some(format!("1 {noun}")),
            more => Some(format!("{more} {noun}s")),
        };
        let counts = [count(self.outstanding, "operation"), count(self.work.clients(), "client")];
        let counts: Vec<String> = counts.into_iter().flatten().collect();
        let verb = if self.outstanding + self.work.clients() == 1 { "has" } else { "have" };
        match counts.is_empty() {
            true => "all work has ended".to_owned(),
            false => format!("{} {verb} not ended", counts.join(" and ")),
        }
    }

    /// The operations and clients that have not ended, by name.
    fn unfinished(&self) -> Vec<String> {
        let name = |host: u32| &self.seats[host as usize].facts.name;
        let history = self.history.borrow();
        let operations = history.iter().filter_map(|record| match record.event {
            Event::Operation { id, host, text } if self.is_under_way(OperationId(id)) => {
                Some(format!("{}: operation {id}, {text}, has not ended", name(host)))
            }
            _ => None,
        });
        let hosts = (0..self.seats.len() as u32).filter(|host| self.work.has(HostId(*host)));
        let clients = hosts.map(|host| format!("{}: the client has not ended", name(host)));
        operations.chain(clients).collect()
    }

    fn is_under_way(&self, id: OperationId) -> bool {
        self.under_way.iter().any(|(other, _)| *other == id)
    }

    /// Who does not run, and which controls are in force.
    fn standing(&self) -> Vec<String> {
        let down = self.seats.iter().filter(|seat| seat.app.is_some() && !seat.is_up());
        let down = down.map(|seat| {
            let exit = seat.last_exit().map_or("not started".to_owned(), |exit| exit.to_string());
            format!("{}: does not run ({exit})", seat.facts.name)
        });
        let controls = self.active.describe(&self.world.network());
        down.chain(controls.into_iter().map(|text| format!("in force: {text}"))).collect()
    }

    /// What the tasks of a host wait for, then the sockets that no task waits for.
    fn waits(&mut self, host: HostId) -> Vec<String> {
        let Some(mut machine) = self.seat_of(host).machine.take() else { return Vec::new() };
        let (mut waits, slot) = (Vec::new(), self.slot.clone());
        slot.while_dying(|| waits = machine.waits());
        self.seat_of(host).machine = Some(machine);
        let network = self.world.network();
        let of = |wait: &Wait| network.describe_socket(wait.at).unwrap_or_default();
        let mut lines = Vec::new();
        // The host of a workload's client has operations only.
        let has_program = self.seats[host.0 as usize].app.is_some();
        for task in self.world.tasks(host) {
            let own: Vec<&Wait> = waits.iter().filter(|wait| wait.task == Some(task)).collect();
            let task = if has_program { task.to_string() } else { "an operation".to_owned() };
            if own.is_empty() {
                lines.push(format!("{task} waits for no socket: a channel, a lock or a task"));
            }
            lines.extend(
                own.iter().map(|wait| format!("{task} waits in {}: {}", wait.call, of(wait))),
            );
        }
        let waited: Vec<String> = waits.iter().map(of).collect();
        lines.extend(network.describe(host).into_iter().filter(|line| !waited.contains(line)));
        lines
    }
}
