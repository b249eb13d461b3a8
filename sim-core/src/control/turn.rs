//! When controls have their turn in a run: at their events, and before each event of another kind.

use super::Order;
use super::active::{BEGIN, END};
use crate::failure::Failure;
use crate::history::{Event, Phase};
use crate::process::Exit;
use crate::sim::Sim;
use hostsim::agenda::{Class, Key};
use hostsim::clock::Instant;
use hostsim::kernel::HostId;
use std::time::Duration;

impl Sim {
    /// Has a control begin at a moment.
    pub(crate) fn schedule_control(&mut self, moment: Duration, number: u32) {
        let key = Key { class: Class::Fault, major: number, minor: BEGIN };
        self.world.with(|network| network.schedule(Instant::START + moment, key));
    }

    pub(crate) fn on_control(&mut self, key: Key) -> Option<Failure> {
        let active = &mut self.active;
        let text = self.world.with(|network| active.on_event(network, key));
        if text.is_some() && key.minor == BEGIN {
            self.cover_control(key.major);
        }
        let is_end = key.minor == END;
        self.record_control(key.major, is_end, text.as_deref());
        self.follow_orders()
    }

    /// Puts the beginning or the end of a control into the history, where something changed.
    pub(crate) fn record_control(&self, number: u32, is_end: bool, text: Option<&str>) {
        let Some(text) = text else { return };
        let control = self.active.control(number);
        let phase = if is_end { Phase::End } else { control.first_phase() };
        let [hosts, others] = control.sides();
        let kind = control.action.kind();
        self.record(Event::Control { phase, kind, hosts, others, text });
    }

    /// A control began: marks it, with the operations that are under way.
    fn cover_control(&self, number: u32) {
        let under_way = self.under_way.iter().map(|(_, kind)| kind.as_str());
        let mark = self.active.mark(number);
        self.slot.cover(|coverage| coverage.on_control(mark, under_way));
    }

    /// Puts those in force that programs gave, and ends those that are to end.
    pub(crate) fn look_at_controls(&mut self) -> Option<Failure> {
        for (control, handle) in self.controls.take_all() {
            let number = self.active.add(control, handle);
            let active = &mut self.active;
            let text = self.world.with(|network| active.begin(network, number));
            if text.is_some() {
                self.cover_control(number);
            }
            self.record_control(number, false, text.as_deref());
            if let Some(failure) = self.follow_orders() {
                return Some(failure);
            }
        }
        if !self.active.is_idle() {
            self.end_controls();
        }
        self.follow_orders().or_else(|| self.look_at_rollouts())
    }

    /// Ends the controls that are to end.
    fn end_controls(&mut self) {
        let active = &mut self.active;
        self.world.with(|network| active.look(network));
        let over = active.over(&self.world.network());
        for number in over {
            let active = &mut self.active;
            let text = self.world.with(|network| active.end(network, number));
            self.record_control(number, true, text.as_deref());
        }
    }

    /// Does what controls ask of processes.
    fn follow_orders(&mut self) -> Option<Failure> {
        let orders = self.active.take_orders();
        orders.into_iter().find_map(|order| self.follow(order))
    }

    fn follow(&mut self, order: Order) -> Option<Failure> {
        match order {
            Order::Start(host) => self.start_node(host),
            Order::Stop(host, exit) => return self.stop_node(host, exit),
            Order::Recover(host) => self.recover(host),
            Order::Signal(host, signal) => return self.signal(host, signal),
            Order::KillAfter(host, time) => return self.kill_after(host, time),
            Order::Resume(host) => return self.resume(host),
            Order::Rollout(rollout, handle) => self.begin_rollout(rollout, handle),
        }
        None
    }

    fn start_node(&mut self, host: HostId) {
        if self.is_node(host) && !self.active.keeps_down(host) {
            self.start(host);
        }
    }

    fn stop_node(&mut self, host: HostId, exit: Exit) -> Option<Failure> {
        if self.is_node(host) { self.stop(host, exit) } else { None }
    }

    /// A crash of a host is over: what it ended starts again. A program that had ended by itself
    /// does not, but its host is back.
    fn recover(&mut self, host: HostId) {
        if !self.is_node(host) || self.active.keeps_down(host) {
            return;
        }
        if self.seat_of(host).last_exit().is_some_and(Exit::is_crash) {
            self.start(host);
        } else if self.world.network().host(host).is_fenced() {
            self.world.with(|network| network.unfence(host));
        }
    }

    /// Whether a host runs a program. That of a workload's client does not crash: it would take the
    /// test's own operations with it.
    fn is_node(&mut self, host: HostId) -> bool {
        self.seat_of(host).app.is_some()
    }

    /// Draws the fault that comes next.
    pub(crate) fn plan_fault(&mut self) {
        self.next_fault = self.faults.next(&mut self.source.borrow_mut());
        if let Some(next) = &self.next_fault {
            let due = self.now() + next.wait;
            self.world.with(|network| network.schedule(due, fault_key()));
        }
    }

    pub(crate) fn begin_fault(&mut self) -> Option<Failure> {
        let fault = self.next_fault.take().expect("it was scheduled");
        if self.liveness.is_healed() {
            return None;
        }
        let control = fault.control(&self.world.network());
        let failure = control.and_then(|control| {
            drop(self.controls.apply(control));
            self.look_at_controls()
        });
        self.plan_fault();
        failure
    }
}

/// The event of the fault that is drawn next.
pub(crate) fn fault_key() -> Key {
    Key { class: Class::Fault, major: u32::MAX, minor: 0 }
}
