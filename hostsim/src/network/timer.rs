//! The timers of connections: when a SYN is sent again, and when an end that hears nothing gives
//! up.
//!
//! The figures are those of Linux with its defaults (`tcp(7)`): `tcp_syn_retries` 6,
//! `tcp_retries2` 15, `tcp_orphan_retries` 0, which means 8. Between two live ends that hear each
//! other no timer runs: nothing is lost there (`silence`), and probes of an idle connection are
//! answered by a kernel that needs no program for it.

use super::wire::{Side, SideIndex, WireId};
use super::{Network, dial_key, vigil_key};
use crate::agenda::Key;
use crate::clock::Instant;
use crate::errno::Errno;
use crate::kernel::Options;
use crate::tcp::{Connection, Readiness, State};
use std::time::Duration;

/// Linux waits so long before it sends a SYN again, then twice as long each time.
pub(super) const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(1);

/// The shortest wait before bytes are sent again (`TCP_RTO_MIN`).
const RETRANSMISSION_MIN: Duration = Duration::from_millis(200);

/// The longest wait between two retransmissions (`TCP_RTO_MAX`).
const TIMEOUT_MAX: Duration = Duration::from_secs(120);

/// Bytes that nobody acknowledges are given up with the first retransmission after so long
/// (`tcp_retries2`, as `tcp_retransmits_timed_out` reads it).
const GIVE_UP: Duration = Duration::from_millis(924_600);

/// The same for an end that its program closed (`tcp_orphan_retries`).
const GIVE_UP_ORPHAN: Duration = Duration::from_millis(102_200);

/// The moments at which a kernel sends something again, after the first time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Schedule {
    first: Duration,
    second: Duration,
}

impl Schedule {
    /// Waits that double: a handshake.
    pub(super) fn doubling(first: Duration) -> Schedule {
        Schedule { first, second: first.saturating_mul(2) }
    }

    /// Waits that double after the second: bytes, first sent again by the probe for a lost tail
    /// (RFC 8985, 7.2), then by the timer (RFC 6298, 5.5).
    pub(super) fn retransmission(round_trip: Duration) -> Schedule {
        let first = RETRANSMISSION_MIN + round_trip;
        Schedule { first, second: first }
    }

    /// The first of its moments after `since` that is not before `now`.
    pub(super) fn first_from(self, since: Instant, now: Instant) -> Instant {
        let (mut at, mut wait) = (since + self.first, self.second.min(TIMEOUT_MAX));
        while at < now {
            at = at + wait;
            wait = wait.saturating_mul(2).min(TIMEOUT_MAX);
        }
        at
    }
}

/// How long after the first SYN it is sent for the `retry`th time again.
fn retry_after(retry: u32) -> Duration {
    let wait = |before: u32| HANDSHAKE_TIMEOUT.saturating_mul(1 << before.min(7)).min(TIMEOUT_MAX);
    (0..retry).map(wait).sum()
}

/// What an end waits for that may never come.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Vigil {
    /// Since when the byte at this offset waits to be acknowledged.
    waits: Option<(u64, Instant)>,
    /// When the end gives up, as the agenda has it.
    pub(super) due: Option<Instant>,
}

impl Network {
    /// A SYN found a full backlog, a deaf listener or no way: the dialer sends it again (rows A08,
    /// A09, F01).
    pub(super) fn on_dropped_syn(&mut self, id: WireId, side: SideIndex) {
        let now = self.now;
        let dialer = self.wire(id).ends(side).0;
        if dialer.end.as_ref().is_none_or(|end| end.state() != State::SynSent) {
            // Nobody waits for the answer: nobody asks again.
            return;
        }
        let dial = &mut dialer.dial;
        if dial.timer.is_some() {
            return;
        }
        let due = loop {
            dial.retries += 1;
            let due = dial.first + retry_after(dial.retries);
            if due > now || dial.retries > dial.retries_max {
                break due.max(now);
            }
        };
        dialer.dial.timer = Some(due);
        self.schedule(due, dial_key(id));
    }

    pub(super) fn on_dial_timer(&mut self, id: WireId) {
        let Some(wire) = &mut self.wires[id.0 as usize] else { return };
        let dialer = &mut wire.sides[0];
        dialer.dial.timer = None;
        let is_over = dialer.dial.retries > dialer.dial.retries_max;
        let Some(end) = &mut dialer.end else { return };
        if end.state() != State::SynSent {
            return;
        }
        if is_over {
            return self.give_up(id, 0);
        }
        end.retry();
        self.flush(id, 0);
    }

    /// Takes back the SYN that a dialer would send again.
    pub(super) fn cancel_dial(&mut self, id: WireId) {
        if let Some(due) = self.wire(id).sides[0].dial.timer.take() {
            self.cancel(due, dial_key(id));
        }
    }

    /// The way of a segment and back, without what waits on it.
    pub(super) fn round_trip(&self, id: WireId) -> Duration {
        self.latency(id, 0) + self.latency(id, 1)
    }

    /// How long a segment of an end takes that is sent now.
    pub(super) fn latency(&self, id: WireId, from: SideIndex) -> Duration {
        let wire = self.wires[id.0 as usize].as_ref().expect("the caller looked");
        if let Some(route) = wire.route {
            return self.way_to(route, wire.sides[0].host);
        }
        let [sender, receiver] = [from, from ^ 1].map(|side| wire.sides[usize::from(side)].host);
        self.host(sender).links[receiver.0 as usize].latency
    }

    /// An end waits for an acknowledgment or a window of a peer that is gone without a word: it asks
    /// again, and learns of the end. A peer that lives answers by itself.
    pub(super) fn probe(&mut self, id: WireId, side: SideIndex) {
        let now = self.now;
        let (own, peer) = self.wire(id).ends(side);
        if !peer.end.as_ref().is_some_and(Connection::is_unsaid) || !own.flight.is_empty() {
            return;
        }
        let Some(segment) = own.end.as_mut().and_then(Connection::probe) else { return };
        let sent = Schedule::retransmission(self.round_trip(id)).first_from(now, now);
        let due = sent + self.latency(id, side);
        let wire = self.wire(id);
        wire.troubled_since.get_or_insert(now);
        let own = wire.ends(side).0;
        own.lost_since.get_or_insert(now);
        own.push(sent, due, segment, false);
        self.reschedule(id, side);
    }

    /// Sets the timers of a connection of which an end may hear nothing.
    pub(super) fn rearm(&mut self, id: WireId) {
        let Some(wire) = &mut self.wires[id.0 as usize] else { return };
        if !wire.is_troubled() {
            wire.troubled_since = None;
        }
        for side in 0..2 {
            self.forget_lost(id, side);
            let due = self.gives_up_at(id, side);
            let vigil = &mut self.wire(id).sides[usize::from(side)].vigil;
            let before = std::mem::replace(&mut vigil.due, due);
            if before == due {
                continue;
            }
            if let Some(at) = before {
                self.cancel(at, vigil_key(id, side));
            }
            if let Some(at) = due {
                self.schedule(at, vigil_key(id, side));
            }
        }
    }

    /// An end that is over sends nothing again.
    fn forget_lost(&mut self, id: WireId, side: SideIndex) {
        let own = &mut self.wire(id).sides[usize::from(side)];
        let is_closed = own.end.as_ref().is_none_or(|end| end.state() == State::Closed);
        if is_closed && own.lost_since.is_some() {
            self.lose_reset(id, side);
            self.reschedule(id, side);
        }
    }

    /// When an end gives up, where it may hear nothing.
    fn gives_up_at(&mut self, id: WireId, side: SideIndex) -> Option<Instant> {
        let now = self.now;
        let schedule = Schedule::retransmission(self.round_trip(id));
        let options = self.options_of(id, side);
        let wire = self.wire(id);
        let since = wire.troubled_since?;
        let own = wire.ends(side).0;
        let end = own.end.as_ref()?;
        if !end.awaits_ack() {
            own.vigil.waits = None;
        }
        match end.state() {
            State::Closed | State::TimeWait => None,
            State::SynSent if own.dial.timer.is_some() => None,
            State::SynSent => Some(own.dial.first + retry_after(own.dial.retries_max + 1)),
            State::SynReceived => Some(since + retry_after(Options::SYN_COUNT + 1)),
            _ if end.awaits_ack() => {
                let acked = end.acknowledged();
                let waits = own.vigil.waits.filter(|(before, _)| *before == acked);
                let (_, since) = *own.vigil.waits.insert(waits.unwrap_or((acked, now)));
                Some(match options {
                    None => schedule.first_from(since, since + GIVE_UP_ORPHAN),
                    Some(options) if options.user_timeout > 0 => {
                        let limit = Duration::from_millis(u64::from(options.user_timeout as u32));
                        (since + limit).max(schedule.first_from(since, since))
                    }
                    Some(_) => schedule.first_from(since, since + GIVE_UP),
                })
            }
            _ => options
                .filter(|options| options.keeps_alive)
                .map(|options| probed_in_vain(&options, own.heard, since)),
        }
    }

    /// The options of an end's socket; nothing where its program left it.
    fn options_of(&mut self, id: WireId, side: SideIndex) -> Option<Options> {
        let own = self.wire(id).ends(side).0;
        let (host, file, listener) = (own.host, own.file, own.listener);
        match (file, listener) {
            (Some(file), _) => self.kernel(host).socket_of_file(file).map(|socket| socket.options),
            (None, Some(listener)) => self.kernel(host).listener_mut(listener).map(|(_, o)| o),
            (None, None) => None,
        }
    }

    /// The state of the end that a kernel timer is about; `None` where there is none.
    ///
    /// ```
    /// use hostsim::tcp::State;
    /// # use hostsim::{address::Domain, network::Network};
    /// # let mut network = Network::new();
    /// # let (client, server) = (network.add_host("client"), network.add_host("server"));
    /// # let run = |network: &mut Network| {
    /// #     while let Some(due) = network.agenda().earliest() {
    /// #         network.advance(due.max(network.now().next()));
    /// #         let event = network.take(0);
    /// #         network.deliver(event.key);
    /// #     }
    /// # };
    /// # let address = std::net::SocketAddr::new(network.address(server), 7);
    /// # let listener = network.socket(server, Domain::V4, true)?;
    /// # network.bind(listener, address)?;
    /// # network.listen(listener, 8)?;
    /// # let dialer = network.socket(client, Domain::V4, true)?;
    /// # network.connect(dialer, address).unwrap_err();
    /// # run(&mut network);
    /// # let (accepted, _) = network.accept(listener, true)?;
    /// network.cut(client, server);
    /// network.send(dialer, b"hello")?;
    /// let event = network.pending().next().expect("the moment at which the client gives up");
    /// assert_eq!(network.state_at_timer(event.key), Some(State::Established));
    /// # Ok::<(), hostsim::errno::Errno>(())
    /// ```
    pub fn state_at_timer(&self, key: Key) -> Option<State> {
        let wire = self.wires.get(key.major as usize)?.as_ref()?;
        let side = key.minor.saturating_sub(1) as usize;
        wire.sides.get(side)?.end.as_ref().map(Connection::state)
    }

    /// An end heard nothing for too long.
    pub(super) fn on_vigil(&mut self, id: WireId, side: SideIndex) {
        self.wire(id).sides[usize::from(side)].vigil.due = None;
        // An acknowledgment that nobody waited for may have come.
        self.catch_up(id, side ^ 1);
        match self.gives_up_at(id, side) {
            Some(due) if due <= self.now => self.give_up(id, side),
            _ => self.rearm(id),
        }
    }

    /// Gives an end up: its program sees `ETIMEDOUT`, its peer is not told (rows F02, F11, F12). An
    /// end whose probes found nobody sends a RST (Linux `tcp_keepalive_timer`).
    fn give_up(&mut self, id: WireId, side: SideIndex) {
        let own = &mut self.wire(id).sides[usize::from(side)];
        let (host, file) = (own.host, own.file);
        let Some(end) = &mut own.end else { return };
        let wake = match end.state() {
            State::SynReceived => {
                end.vanish();
                Readiness::NONE
            }
            _ => end.time_out(Errno::ETIMEDOUT),
        };
        if let Some(file) = file {
            self.wake(host, file, wake);
        }
        self.on_end_of_handshake(id, side);
        self.flush(id, side);
    }
}

/// When the last probe of an idle connection goes unanswered (`tcp(7)`, row F11).
///
/// Probes before `since` were answered: each of them began the wait anew.
fn probed_in_vain(options: &Options, heard: Instant, since: Instant) -> Instant {
    let [idle, interval, limit] = [
        Duration::from_secs(u64::from(options.keep_idle as u32)),
        Duration::from_secs(u64::from(options.keep_interval as u32)),
        Duration::from_millis(u64::from(options.user_timeout as u32)),
    ];
    let silent_for = since.since(heard);
    let answered = silent_for.as_nanos() / idle.as_nanos();
    let heard = heard + idle.saturating_mul(u32::try_from(answered).unwrap_or(u32::MAX));
    let probes = match limit.saturating_sub(idle).as_nanos().div_ceil(interval.as_nanos()) {
        _ if limit.is_zero() => options.keep_count as u32,
        needed => u32::try_from(needed).unwrap_or(u32::MAX).max(1),
    };
    heard + idle + interval.saturating_mul(probes)
}

impl Side {
    /// Whether a retransmission or a give-up of the end may come.
    pub(super) fn is_troubled(&self) -> bool {
        self.is_silent || self.lost_since.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::{GIVE_UP, GIVE_UP_ORPHAN, HANDSHAKE_TIMEOUT, Schedule};
    use crate::clock::Instant;
    use std::time::Duration;

    fn moments(schedule: Schedule, count: usize) -> Vec<u64> {
        let mut now = Instant::START;
        let mut next = || {
            let at = schedule.first_from(Instant::START, now);
            now = at.next();
            at.elapsed().as_millis() as u64
        };
        (0..count).map(|_| next()).collect()
    }

    #[test]
    fn bytes_are_sent_again_after_waits_that_double_up_to_two_minutes() {
        let times = moments(Schedule::retransmission(Duration::ZERO), 14);
        let expected = [200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 51_200, 102_400];
        assert_eq!(times[..10], expected);
        assert_eq!(times[10..], [204_800, 324_800, 444_800, 564_800]);
    }

    #[test]
    fn a_syn_is_sent_again_after_1_3_and_7_seconds() {
        let times = moments(Schedule::doubling(HANDSHAKE_TIMEOUT), 8);
        assert_eq!(times, [1_000, 3_000, 7_000, 15_000, 31_000, 63_000, 127_000, 247_000]);
    }

    #[test]
    fn an_end_gives_up_with_a_retransmission() {
        let schedule = Schedule::retransmission(Duration::ZERO);
        let after = |limit| schedule.first_from(Instant::START, Instant::START + limit).elapsed();
        assert_eq!(after(GIVE_UP), Duration::from_millis(924_800));
        assert_eq!(after(GIVE_UP_ORPHAN), Duration::from_millis(102_400));
    }
}
