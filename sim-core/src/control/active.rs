//! Controls in force: how they begin, reach new connections, and end.
//!
//! Several controls of one kind may be in force at once; a way is open again when the last that
//! shut it has ended. The driver calls, this module keeps no events of its own.

use super::{Act, Action, Control, End, Handle, Hosts, Look, Order, Until};
use crate::panics;
use hostsim::agenda::{Class, Key};
use hostsim::kernel::HostId;
use hostsim::network::{ConnectionView, Dials, Network, WireId};
use std::collections::BTreeMap;
use std::time::Duration;

/// A control of a run, and what it found when it began.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) control: Control,
    pub(super) handle: Handle,
    pub(super) is_active: bool,
    /// The connections that it holds or paces.
    pub(super) wires: Vec<WireId>,
}

/// The controls of a run, by their number in the order in which they were given.
#[derive(Debug, Default)]
pub(crate) struct Active {
    pub(super) entries: Vec<Entry>,
    /// What they ask of the run, past the network.
    orders: Vec<Order>,
    /// How many are in force.
    pub(super) count: usize,
    /// How many began.
    begun: u64,
    /// How many connections were dialed when they last looked.
    dialed: u32,
    /// Connections through routes that had no host then.
    without_host: Vec<WireId>,
    /// The latencies that controls in force replaced.
    latencies: BTreeMap<(HostId, HostId), Duration>,
}

/// What minor number an event of a control has.
pub(crate) const BEGIN: u32 = 0;
pub(crate) const END: u32 = 1;

impl Active {
    /// Keeps a control; its number.
    pub(crate) fn add(&mut self, control: Control, handle: Handle) -> u32 {
        self.entries.push(Entry { control, handle, is_active: false, wires: Vec::new() });
        (self.entries.len() - 1) as u32
    }

    /// The mark of a control, by its number.
    pub(crate) fn mark(&self, number: u32) -> &'static str {
        self.entries[number as usize].control.action.mark()
    }

    /// A control, by its number.
    pub(crate) fn control(&self, number: u32) -> &Control {
        &self.entries[number as usize].control
    }

    /// Takes what controls asked of the run.
    pub(crate) fn take_orders(&mut self) -> Vec<Order> {
        std::mem::take(&mut self.orders)
    }

    /// Whether a crash in force keeps a host down.
    pub(crate) fn keeps_down(&self, host: HostId) -> bool {
        self.entries.iter().filter(|entry| entry.is_active).any(|entry| {
            matches!(&entry.control.action, Action::Life { on, act: Act::Crash(_) } if on.has(host))
        })
    }

    /// Whether none is in force.
    pub(crate) fn is_idle(&self) -> bool {
        self.count == 0
    }

    /// How many began by now.
    pub(crate) fn begun(&self) -> u64 {
        self.begun
    }

    /// The controls in force, in words.
    pub(crate) fn describe(&self, network: &Network) -> Vec<String> {
        let active = self.entries.iter().filter(|entry| entry.is_active);
        active.map(|entry| entry.control.describe(network)).collect()
    }

    /// An event of a control came. The line for the history, where something changed.
    pub(crate) fn on_event(&mut self, network: &mut Network, key: Key) -> Option<String> {
        if key.minor == END { self.end(network, key.major) } else { self.begin(network, key.major) }
    }

    /// Puts a control in force.
    pub(crate) fn begin(&mut self, network: &mut Network, number: u32) -> Option<String> {
        let entry = &mut self.entries[number as usize];
        if entry.handle.is_released() {
            return None;
        }
        self.begun += 1;
        let text = entry.control.describe(network);
        if let Action::Latency { from, to, .. } = &entry.control.action {
            for (from, to) in pairs(from, to) {
                self.latencies.entry((from, to)).or_insert(network.link_latency(from, to));
            }
        }
        entry.set(network, true, &mut self.orders);
        if entry.control.is_moment() {
            return Some(text);
        }
        entry.is_active = true;
        entry.handle.set_active(true);
        self.count += 1;
        self.dialed = network.dialed();
        let without_host = network.connections().filter(|connection| !connection.has_host);
        self.without_host = without_host.map(|connection| connection.wire).collect();
        if let Until::After(time) = entry.control.until {
            let key = Key { class: Class::Fault, major: number, minor: END };
            network.schedule(network.now() + time, key);
        }
        Some(format!("begin {text}"))
    }

    /// Ends a control. Others that ask for the same stay in force.
    pub(crate) fn end(&mut self, network: &mut Network, number: u32) -> Option<String> {
        let entry = &mut self.entries[number as usize];
        if !std::mem::replace(&mut entry.is_active, false) {
            return None;
        }
        entry.handle.set_active(false);
        let wires = entry.wires.clone();
        entry.set(network, false, &mut self.orders);
        let text = entry.control.describe(network);
        let action = entry.control.action.clone();
        self.count -= 1;
        for ((from, to), latency) in &self.latencies {
            network.set_latency(*from, *to, *latency);
        }
        if !self.entries.iter().any(Entry::is_latency) {
            self.latencies.clear();
        }
        // Those of its kind that are in force for the same stay so.
        for other in self.entries.iter_mut().filter(|other| other.is_active) {
            let is_kind = is_kind(&other.control.action, &action);
            if is_kind && other.shares(&wires) || other.is_latency() {
                other.set(network, true, &mut self.orders);
            }
        }
        Some(format!("end {text}"))
    }

    /// Looks which connections were dialed or got their host since the last event.
    pub(crate) fn look(&mut self, network: &mut Network) {
        let dialed = network.dialed();
        let before = std::mem::take(&mut self.without_host);
        for wire in before.into_iter().chain((self.dialed..dialed).map(WireId)) {
            let Some(connection) = network.connection(wire) else { continue };
            for entry in self.entries.iter_mut().filter(|entry| entry.is_active) {
                if !entry.wires.contains(&wire) {
                    entry.meet(network, &connection);
                }
            }
            if !connection.has_host {
                self.without_host.push(wire);
            }
        }
        self.dialed = dialed;
    }

    /// The controls that are to end. Predicates are asked, which may look at the network too.
    pub(crate) fn over(&self, network: &Network) -> Vec<u32> {
        let is_over = |number: &u32| {
            let entry = &self.entries[*number as usize];
            entry.is_active && entry.is_over(network)
        };
        (0..self.entries.len() as u32).filter(is_over).collect()
    }
}

impl Entry {
    fn is_latency(&self) -> bool {
        self.is_active && matches!(self.control.action, Action::Latency { .. })
    }

    /// Whether it is about one of these connections, or about hosts.
    fn shares(&self, wires: &[WireId]) -> bool {
        match self.control.action {
            Action::Hold { .. } | Action::Pace { .. } => {
                self.wires.iter().any(|wire| wires.contains(wire))
            }
            _ => true,
        }
    }

    fn is_over(&self, network: &Network) -> bool {
        self.handle.is_released()
            || match &self.control.until {
                Until::TheEnd | Until::After(_) | Until::Released => false,
                Until::Bytes(bytes) => self.waiting(network) >= *bytes,
                Until::GivenUp => !self.wires.is_empty() && self.are_over(network),
                Until::When(predicate) => {
                    panics::ask(|| predicate(&Look { now: network.now(), network }))
                }
            }
    }

    /// The ends that it holds, by side.
    fn held(&self) -> &'static [End] {
        match self.control.action {
            Action::Hold { from, .. } => from,
            _ => &End::BOTH,
        }
    }

    /// Whether every end that it holds is over.
    fn are_over(&self, network: &Network) -> bool {
        let mut views = self.wires.iter().filter_map(|wire| network.connection(*wire));
        views.all(|view| {
            self.held().iter().all(|end| view.states[usize::from(end.side())].is_over())
        })
    }

    /// How many bytes the ends have, in sum, that are held and not acknowledged.
    fn waiting(&self, network: &Network) -> usize {
        let views = self.wires.iter().filter_map(|wire| network.connection(*wire));
        let held = |view: ConnectionView| {
            self.held().iter().map(move |end| view.unacknowledged[usize::from(end.side())])
        };
        views.flat_map(held).sum()
    }

    /// Makes the network as the control says, or as it was.
    fn set(&mut self, network: &mut Network, is_on: bool, orders: &mut Vec<Order>) {
        match &self.control.action {
            Action::Cut { from, to, is_both } => {
                for (from, to) in pairs(from, to) {
                    set_cut(network, from, to, is_on);
                    if *is_both {
                        set_cut(network, to, from, is_on);
                    }
                }
            }
            Action::Dials { to, dials } => {
                let dials = if is_on { *dials } else { Dials::Open };
                to.0.iter().for_each(|host| network.set_dials(*host, dials));
            }
            Action::StopAccepting { on } => {
                on.0.iter().for_each(|host| network.set_accepting(*host, !is_on));
            }
            Action::Latency { from, to, latency } if is_on => {
                pairs(from, to).for_each(|(from, to)| network.set_latency(from, to, *latency));
            }
            Action::Latency { .. } => {}
            Action::Life { on, act } => act.set(on, network, is_on, &self.handle, orders),
            Action::Hold { .. } | Action::Reset { .. } | Action::Pace { .. } => {
                self.set_connections(network, is_on);
            }
        }
    }

    fn set_connections(&mut self, network: &mut Network, is_on: bool) {
        if !is_on {
            for wire in std::mem::take(&mut self.wires) {
                self.free(network, wire);
            }
            return;
        }
        if !self.wires.is_empty() {
            let wires = self.wires.clone();
            wires.into_iter().for_each(|wire| self.take(network, wire));
            return;
        }
        let views: Vec<ConnectionView> = network.connections().collect();
        for view in &views {
            self.meet(network, view);
        }
    }

    /// A connection stands, or was dialed, while the control is in force.
    fn meet(&mut self, network: &mut Network, view: &ConnectionView) {
        let on = match &self.control.action {
            Action::Hold { on, .. } | Action::Reset { on, .. } | Action::Pace { on, .. } => on,
            _ => return,
        };
        if !on.has(view) {
            return;
        }
        self.take(network, view.wire);
        self.wires.push(view.wire);
    }

    fn take(&self, network: &mut Network, wire: WireId) {
        match &self.control.action {
            Action::Hold { from, after, .. } => {
                from.iter().for_each(|end| network.hold_after(wire, end.side(), *after));
            }
            Action::Reset { ends, .. } => {
                ends.iter().for_each(|end| network.reset_end(wire, end.side()));
            }
            Action::Pace { from, pace, .. } => network.set_pace(wire, from.side(), Some(*pace)),
            _ => {}
        }
    }

    fn free(&self, network: &mut Network, wire: WireId) {
        match &self.control.action {
            Action::Hold { from, .. } => {
                from.iter().for_each(|end| network.release(wire, end.side()));
            }
            Action::Pace { from, .. } => network.set_pace(wire, from.side(), None),
            _ => {}
        }
    }
}

/// Whether two controls set the same thing.
fn is_kind(one: &Action, other: &Action) -> bool {
    match (one, other) {
        (Action::Life { on, act }, Action::Life { on: others, act: other }) => {
            act.is_state_like(other) && on.0.iter().any(|host| others.has(*host))
        }
        _ => std::mem::discriminant(one) == std::mem::discriminant(other),
    }
}

fn pairs<'a>(some: &'a Hosts, others: &'a Hosts) -> impl Iterator<Item = (HostId, HostId)> + 'a {
    some.0.iter().flat_map(|from| others.0.iter().map(|to| (*from, *to)))
}

fn set_cut(network: &mut Network, from: HostId, to: HostId, is_cut: bool) {
    match is_cut {
        _ if from == to => {}
        true => network.cut(from, to),
        false => network.heal(from, to),
    }
}
