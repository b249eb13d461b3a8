//! Heals controls: those among hosts that are healed end, what others are in stays.
//!
//! A control that is about both is split. What stays of it lasts to the end of the run, unless it
//! waits for something else than time.

use super::active::{Active, Entry};
use super::{Action, Connections, Control, Hosts, Until};
use hostsim::kernel::HostId;
use hostsim::network::{ConnectionView, Network, WireId};

impl Active {
    /// Ends what is in force among all hosts but those outside; which ended, with the lines for the
    /// history. What was given and has not begun never does.
    pub(crate) fn heal(&mut self, network: &mut Network, outside: &[HostId]) -> Vec<(u32, String)> {
        let mut lines = Vec::new();
        for number in 0..self.entries.len() {
            if !self.entries[number].is_active {
                self.entries[number].handle.release();
                continue;
            }
            let handle = self.entries[number].handle.clone();
            let kept = self.keep_outside(network, number, outside);
            if !self.entries[number].control.is_about_nobody() {
                let number = number as u32;
                lines.extend(self.end(network, number).map(|text| (number, text)));
            } else {
                self.entries[number].is_active = false;
                self.count -= 1;
            }
            handle.set_active(kept);
        }
        lines
    }

    /// Moves what of a control is about hosts outside to entries of its own, which are in force
    /// already; whether there is something.
    fn keep_outside(&mut self, network: &Network, number: usize, outside: &[HostId]) -> bool {
        if outside.is_empty() {
            return false;
        }
        let entry = &mut self.entries[number];
        let actions = entry.control.action.take_outside(outside);
        let is_outside =
            |wire: &WireId| network.connection(*wire).is_some_and(|view| touches(&view, outside));
        let (wires, inside) = entry.wires.iter().partition(|wire| is_outside(wire));
        entry.wires = inside;
        let until = match entry.control.until.clone() {
            Until::After(_) => Until::TheEnd,
            other => other,
        };
        let (handle, wires): (_, Vec<WireId>) = (entry.handle.clone(), wires);
        self.count += actions.len();
        let keeps = !actions.is_empty();
        self.entries.extend(actions.into_iter().map(|action| Entry {
            control: Control { action, until: until.clone() },
            handle: handle.clone(),
            is_active: true,
            wires: wires.clone(),
        }));
        keeps
    }
}

/// Whether a connection has an end at one of these hosts.
fn touches(view: &ConnectionView, outside: &[HostId]) -> bool {
    let [dialer, acceptor] = view.hosts;
    outside.contains(&dialer) || view.has_host && outside.contains(&acceptor)
}

impl Action {
    /// Leaves of it what is among other hosts than those outside; gives what is not.
    fn take_outside(&mut self, outside: &[HostId]) -> Vec<Action> {
        match self {
            Action::Cut { from, to, is_both } => {
                let is_both = *is_both;
                let cut = |(from, to)| Action::Cut { from, to, is_both };
                take_pairs(from, to, outside).into_iter().map(cut).collect()
            }
            Action::Latency { from, to, latency } => {
                let latency = *latency;
                let slow = |(from, to)| Action::Latency { from, to, latency };
                take_pairs(from, to, outside).into_iter().map(slow).collect()
            }
            Action::Dials { to, dials } => {
                let dials = *dials;
                take(to, outside).map(|to| Action::Dials { to, dials }).into_iter().collect()
            }
            Action::StopAccepting { on } => {
                take(on, outside).map(|on| Action::StopAccepting { on }).into_iter().collect()
            }
            Action::Life { on, act } => {
                let life = |on| Action::Life { on, act: act.clone() };
                take(on, outside).map(life).into_iter().collect()
            }
            Action::Hold { on, from, after } => {
                let (from, after) = (*from, *after);
                vec![Action::Hold { on: take_connections(on, outside), from, after }]
            }
            Action::Pace { on, from, pace } => {
                let (from, pace) = (*from, *pace);
                vec![Action::Pace { on: take_connections(on, outside), from, pace }]
            }
            Action::Reset { .. } => Vec::new(),
        }
    }
}

/// Takes the hosts that are outside, where there are some.
fn take(hosts: &mut Hosts, outside: &[HostId]) -> Option<Hosts> {
    let (taken, left) = hosts.0.iter().partition(|host| outside.contains(host));
    hosts.0 = left;
    let taken: Vec<HostId> = taken;
    (!taken.is_empty()).then_some(Hosts(taken))
}

/// Takes the pairs of hosts of which one is outside, as products of two sets.
fn take_pairs(from: &mut Hosts, to: &mut Hosts, outside: &[HostId]) -> Vec<(Hosts, Hosts)> {
    let all_to = to.clone();
    let first = take(from, outside).map(|taken| (taken, all_to));
    let second = take(to, outside).map(|taken| (from.clone(), taken));
    let pairs = first.into_iter().chain(second);
    pairs.filter(|(from, to)| !from.0.is_empty() && !to.0.is_empty()).collect()
}

/// Takes the connections with an end outside.
fn take_connections(on: &mut Connections, outside: &[HostId]) -> Connections {
    let hosts = outside.to_vec();
    let taken = on.clone().and(move |view| touches(view, &hosts));
    let hosts = outside.to_vec();
    *on = on.clone().and(move |view| !touches(view, &hosts));
    taken
}

impl Control {
    /// Whether no host is left that it is about.
    fn is_about_nobody(&self) -> bool {
        match &self.action {
            Action::Cut { from, to, .. } | Action::Latency { from, to, .. } => {
                from.0.is_empty() || to.0.is_empty()
            }
            Action::Dials { to, .. } => to.0.is_empty(),
            Action::StopAccepting { on } | Action::Life { on, .. } => on.0.is_empty(),
            Action::Hold { .. } | Action::Reset { .. } | Action::Pace { .. } => false,
        }
    }
}
