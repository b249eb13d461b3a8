//! The heal: the end of the safety phase, when nothing stands in the way of the core any more.
//!
//! It judges nothing. What it changes is an event of the history, before all that comes of it.

use crate::datagram::Odds;
use crate::failure::Failure;
use crate::history::{Event, Phase};
use crate::lifecycle::Moment;
use crate::process::Exit;
use crate::sim::Sim;
use hostsim::kernel::HostId;

impl Sim {
    /// Heals the core and begins the goals.
    pub(super) fn heal(&mut self) -> Option<Failure> {
        if self.liveness.is_healed() {
            return None;
        }
        // What was asked for by now is in force, and ends.
        if let Some(failure) = self.look_at_controls() {
            return Some(failure);
        }
        let now = self.now();
        self.liveness.healed = Some(now);
        if let Some(due) = self.liveness.look.take() {
            self.world.with(|network| network.cancel(due, Moment::Safety.key(0)));
        }
        // A workload that stands still is over.
        self.is_planned = true;
        self.odds.set(Odds::CALM);
        let outside = self.outside();
        self.record_heal(&outside);
        let active = &mut self.active;
        let lines = self.world.with(|network| active.heal(network, &outside));
        for (number, text) in &lines {
            self.record_control(*number, true, Some(text));
        }
        if let Some(failure) = self.look_at_controls() {
            return Some(failure);
        }
        self.restart_crashed();
        self.begin_goals();
        None
    }

    /// Whether a host is of the core: that of a client always is.
    pub(super) fn is_core(&self, host: HostId) -> bool {
        let seat = &self.seats[host.0 as usize];
        let named = self.liveness.core.as_ref();
        let is_client = seat.settings.is_client || seat.app.is_none();
        is_client || named.is_none_or(|core| core.contains(&host))
    }

    /// The hosts that are not of the core.
    fn outside(&self) -> Vec<HostId> {
        let hosts = (0..self.seats.len() as u32).map(HostId);
        hosts.filter(|host| !self.is_core(*host)).collect()
    }

    fn record_heal(&self, outside: &[HostId]) {
        let name = |host: &HostId| self.seats[host.0 as usize].facts.name.as_str();
        let text = match outside {
            [] => "heal".to_owned(),
            some => {
                format!("heal, but for {}", some.iter().map(name).collect::<Vec<_>>().join(","))
            }
        };
        let (hosts, others) = (Vec::new(), outside.iter().map(|host| host.0).collect());
        let (phase, kind, text) = (Phase::Moment, "heal", text.as_str());
        self.record(Event::Control { phase, kind, hosts, others, text });
    }

    /// Starts the processes of the core that somebody ended. One that ended by itself stays so.
    fn restart_crashed(&mut self) {
        for host in (0..self.seats.len() as u32).map(HostId) {
            let is_core = self.is_core(host);
            let seat = self.seat_of(host);
            let is_crashed = !seat.is_up() && seat.last_exit().is_some_and(Exit::is_crash);
            if is_core && is_crashed && seat.app.is_some() {
                self.start(host);
            }
        }
    }
}
