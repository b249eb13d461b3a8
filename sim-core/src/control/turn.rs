//! When controls have their turn in a run: at their events, and before each event of another kind.

use super::active::BEGIN;
use crate::history::Event;
use crate::sim::Sim;
use hostsim::agenda::{Class, Key};
use hostsim::clock::Instant;
use std::time::Duration;

impl Sim {
    /// Has a control begin at a moment.
    pub(crate) fn schedule_control(&mut self, moment: Duration, number: u32) {
        let key = Key { class: Class::Fault, major: number, minor: BEGIN };
        self.world.with(|network| network.schedule(Instant::START + moment, key));
    }

    pub(crate) fn on_control(&mut self, key: Key) {
        let active = &mut self.active;
        let text = self.world.with(|network| active.on_event(network, key));
        self.record_control(text.as_deref());
    }

    fn record_control(&self, text: Option<&str>) {
        if let Some(text) = text {
            self.record(Event::Control { text });
        }
    }

    /// Puts those in force that programs gave, and ends those that are to end.
    pub(crate) fn look_at_controls(&mut self) {
        for (control, handle) in self.controls.take_all() {
            let number = self.active.add(control, handle);
            let active = &mut self.active;
            let text = self.world.with(|network| active.begin(network, number));
            self.record_control(text.as_deref());
        }
        if self.active.is_idle() {
            return;
        }
        let active = &mut self.active;
        for text in self.world.with(|network| active.look(network)) {
            self.record_control(Some(&text));
        }
    }

    /// Draws the fault that comes next.
    pub(crate) fn plan_fault(&mut self) {
        self.next_fault = self.faults.next(&mut self.source.borrow_mut());
        if let Some(next) = &self.next_fault {
            let due = self.now() + next.wait;
            self.world.with(|network| network.schedule(due, fault_key()));
        }
    }

    pub(crate) fn begin_fault(&mut self) {
        let fault = self.next_fault.take().expect("it was scheduled");
        let control = fault.control(&self.world.network());
        if let Some(control) = control {
            drop(self.controls.apply(control));
            self.look_at_controls();
        }
        self.plan_fault();
    }
}

/// The event of the fault that is drawn next.
pub(crate) fn fault_key() -> Key {
    Key { class: Class::Fault, major: u32::MAX, minor: 0 }
}
