//! Silence in a torture: ways that are cut, ends that are deaf or held, and timers that then matter.

use super::rig::Rig;
use hostsim::kernel::Descriptor;
use hostsim::network::{Dials, Pace, WireId};
use std::time::Duration;

/// How a case treats silence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Silence {
    /// There is none.
    Never,
    /// It ends before anybody gives up: then nothing is lost.
    Short,
    /// It may last, and programs set timers: whoever gives up may miss bytes.
    Long,
}

/// No end gives up before: what was lost within 20 s is sent again within 50 s at round trips of
/// six seconds, and an orphan waits for 102 s.
const SHORT: Duration = Duration::from_secs(20);

impl Rig {
    /// Makes something silent, or ends all silence.
    pub(crate) fn call_silence(&mut self) {
        if self.silence == Silence::Never {
            return self.change_latencies();
        }
        if self.silent_since.is_some() && self.random.one_in(4) {
            return self.end_silence();
        }
        self.silent_since.get_or_insert(self.network.now());
        match self.random.below(6) {
            4 => self.set_host(),
            5 => self.order(),
            0 => {
                let (from, to) = (self.host(), self.host());
                self.say(format!("cut {from:?} to {to:?}"));
                self.network.cut(from, to);
                self.cuts.push((from, to));
            }
            1 => self.set_deaf(),
            2 => self.hold(),
            _ if self.silence == Silence::Long => self.set_timers(),
            _ => {}
        }
    }

    /// Changes how a host takes dials, or whether its programs may accept.
    fn set_host(&mut self) {
        let host = self.host();
        let dials = self.random.of(&[Dials::Open, Dials::Refused, Dials::Dropped]);
        let is_accepting = self.random.one_in(2);
        self.say(format!("{host:?} takes dials {dials:?}, accepts {is_accepting}"));
        self.network.set_dials(host, dials);
        self.network.set_accepting(host, is_accepting);
    }

    /// Paces a direction, or resets a connection.
    fn order(&mut self) {
        if self.flows.is_empty() {
            return;
        }
        let (flow, side) = (self.random.below(self.flows.len()), self.random.below(2) as u8);
        let wire = WireId(flow as u32);
        if self.silence == Silence::Long && self.random.one_in(2) {
            self.say(format!("reset {wire:?} at {side}"));
            self.network.reset_end(wire, side);
            self.flows[flow].may_reset = true;
            return;
        }
        let pace = Pace { bytes: 1_000, every: Duration::from_millis(3) };
        let pace = self.random.one_in(2).then_some(pace);
        self.say(format!("pace {wire:?} of {side} {pace:?}"));
        self.network.set_pace(wire, side, pace);
    }

    fn set_deaf(&mut self) {
        let Some(at) = self.pick_descriptor() else { return };
        self.say(format!("deafen {at:?}"));
        self.network.set_deaf(at, true).unwrap();
    }

    fn hold(&mut self) {
        if self.flows.is_empty() {
            return;
        }
        let (wire, side) =
            (WireId(self.random.below(self.flows.len()) as u32), self.random.below(2));
        let bytes = self.random.of(&[0, 0, 1, 2, 40, 3_000]);
        self.say(format!("hold {wire:?} of {side} after {bytes}"));
        self.network.hold_after(wire, side as u8, bytes);
    }

    fn set_timers(&mut self) {
        let Some(id) = self.pick() else { return };
        let limit = self.random.of(&[0, 1, 100, 5_000, 2_000_000]);
        self.set(id, libc::IPPROTO_TCP, libc::TCP_USER_TIMEOUT, limit);
        let keeps_alive = self.random.below(2) as i32;
        self.set(id, libc::SOL_SOCKET, libc::SO_KEEPALIVE, keeps_alive);
        let (idle, count) = (self.random.of(&[1, 60]), self.random.of(&[1, 9]));
        self.set(id, libc::IPPROTO_TCP, libc::TCP_KEEPIDLE, idle);
        self.set(id, libc::IPPROTO_TCP, libc::TCP_KEEPCNT, count);
    }

    fn pick_descriptor(&mut self) -> Option<Descriptor> {
        self.pick().map(|id| self.opens[&id].at())
    }

    /// Whether silence lasted for as long as it may.
    pub(crate) fn has_silence_to_end(&self) -> bool {
        let since = self.silent_since.filter(|_| self.silence == Silence::Short);
        let next = self.network.agenda().earliest().unwrap_or(self.network.now());
        since.is_some_and(|since| next.since(since) > SHORT)
    }

    /// Ends all silence; what was lost arrives before anything is silent again.
    pub(crate) fn end_silence(&mut self) {
        self.hear_all();
        self.rest();
    }

    /// Lets everybody hear everybody.
    pub(crate) fn hear_all(&mut self) {
        if self.silent_since.take().is_none() {
            return;
        }
        self.say("hear all".to_owned());
        for (from, to) in std::mem::take(&mut self.cuts) {
            self.network.heal(from, to);
        }
        let opens: Vec<Descriptor> = self.opens.values().map(|open| open.at()).collect();
        for at in opens {
            self.network.set_deaf(at, false).unwrap();
        }
        for host in self.hosts.clone() {
            self.network.set_dials(host, Dials::Open);
            self.network.set_accepting(host, true);
        }
        for wire in 0..self.flows.len() {
            for side in 0..2 {
                self.network.release(WireId(wire as u32), side);
            }
        }
        self.network.check_invariants();
    }
}
