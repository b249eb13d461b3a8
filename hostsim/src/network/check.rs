//! What must be so of a network between two calls: its tables agree. For tests.
//!
//! Each thing that refers to another is known by it: files and connections, listeners and their
//! backlogs, claims on ports and their holders, timers and the agenda. So what is closed leaves
//! nothing, and what is there is of somebody.

use super::wire::{Side, SideIndex, Wire, WireId};
use super::{Host, Network, delivery_key, dial_key, vigil_key};
use crate::address::ClaimId;
use crate::agenda::{Class, Key};
use crate::kernel::{FileId, HostId, Listener, Object, Role, Socket};
use crate::tcp::{Connection, Flags, State};
use std::collections::{BTreeMap, BTreeSet};

impl Network {
    /// Asserts what the network promises.
    ///
    /// # Panics
    /// Where it is not so.
    ///
    /// ```
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
    /// while let Some(due) = network.agenda().earliest() {
    ///     network.advance(due.max(network.now().next()));
    ///     let event = network.take(0);
    ///     network.deliver(event.key);
    ///     network.check_invariants();
    /// }
    /// assert!(network.accept(listener, true).is_ok());
    /// # Ok::<(), hostsim::errno::Errno>(())
    /// ```
    pub fn check_invariants(&self) {
        assert!(self.local.is_empty(), "what is under way within a host arrived");
        self.check_agenda();
        self.check_routes();
        self.check_datagrams();
        self.check_runnable();
        assert!(
            self.waits.all(|host, address| !self.listens(host, address)),
            "who waits for a listener waits for one that is not there"
        );
        for (id, host) in self.hosts() {
            host.kernel.check_invariants();
            host.ports.check_invariants();
            self.check_sockets(id, host);
            self.check_claims(id, host);
        }
        for (id, wire) in self.wires.iter().enumerate() {
            let (id, Some(wire)) = (WireId(id as u32), wire) else { continue };
            for from in 0..2 {
                self.check_schedule(id, wire, from);
                self.check_side(id, wire, from);
            }
        }
    }

    /// What is pending is of somebody, and what somebody waits for is pending.
    fn check_agenda(&self) {
        self.agenda.check_invariants(self.now);
        let mut own: BTreeMap<Key, _> = BTreeMap::new();
        for event in self.pending() {
            let before = own.insert(event.key, event.due);
            assert!(before.is_none(), "{:?} is pending twice", event.key);
        }
        let mut expected = BTreeMap::new();
        for (id, wire) in self.wires.iter().enumerate() {
            let (id, Some(wire)) = (WireId(id as u32), wire) else { continue };
            for (from, side) in (0..).zip(&wire.sides) {
                expected.extend(side.scheduled.map(|due| (delivery_key(id, from), due)));
                expected.extend(side.vigil.due.map(|due| (vigil_key(id, from), due)));
            }
            expected.extend(wire.sides[0].dial.timer.map(|due| (dial_key(id), due)));
            assert!(wire.sides[1].dial.timer.is_none(), "who was dialed does not dial");
        }
        expected.extend(self.scheduled_ways());
        assert_eq!(own, expected, "the agenda is what connections and ways wait for");
        let is_own =
            |key: &Key| matches!(key.class, Class::Delivery | Class::Datagram | Class::KernelTimer);
        assert!(own.keys().all(is_own), "the network's events are of its classes");
    }

    fn check_runnable(&self) {
        let listed: BTreeSet<HostId> = self.runnable.iter().copied().collect();
        assert_eq!(listed.len(), self.runnable.len(), "a host is runnable once");
        let marked = self.hosts().filter(|(_, host)| host.is_runnable).map(|(id, _)| id);
        assert_eq!(listed, marked.collect(), "a runnable host knows it");
    }

    /// The socket of each file and its connection, or its backlog, know each other.
    fn check_sockets(&self, id: HostId, host: &Host) {
        for (file, socket) in sockets(host) {
            let port = socket.claim.map(ClaimId::port);
            let local = socket.local.map(|local| local.port());
            match &socket.role {
                Role::Fresh => assert_eq!(port, local, "a bound socket has its port"),
                Role::Listener(listener) => {
                    assert!(port.is_some() && port == local, "a listener has its port");
                    self.check_backlog(id, file, listener);
                }
                Role::Connection { wire, side, .. } => {
                    assert!(port.is_none_or(|port| Some(port) == local), "a port is its socket's");
                    let wire = self.wires[*wire as usize].as_ref().expect("a connection is there");
                    let own = &wire.sides[usize::from(*side)];
                    let refers = (own.host, own.file) == (id, Some(file));
                    assert!(refers, "the connection of file {file} knows it");
                }
            }
        }
    }

    fn check_backlog(&self, id: HostId, file: FileId, listener: &Listener) {
        let all = || listener.queue.iter().chain(&listener.handshaking);
        assert_eq!(all().collect::<BTreeSet<_>>().len(), all().count(), "one waits once");
        for wire in all() {
            let wire = self.wires[*wire as usize].as_ref().expect("what waits is there");
            let own = &wire.sides[1];
            let refers = (own.host, own.listener, own.file) == (id, Some(file), None);
            assert!(refers, "what waits in the backlog of file {file} knows it");
        }
        let side = |wire: &u32| self.wires[*wire as usize].as_ref().map(|wire| &wire.sides[1]);
        let has_options = |wire: &u32| side(wire).is_some_and(|side| side.options.is_some());
        assert!(listener.queue.iter().all(has_options), "what is established has its options");
        let goes_on = |wire: &u32| {
            let end = side(wire).and_then(|side| side.end.as_ref());
            end.is_some_and(|end| end.state() == State::SynReceived)
        };
        assert!(listener.handshaking.iter().all(goes_on), "a handshake goes on or is forgotten");
    }

    /// Each claim on a port has one holder, and each holder's claim stands.
    fn check_claims(&self, id: HostId, host: &Host) {
        let mut held: BTreeMap<ClaimId, Option<FileId>> = BTreeMap::new();
        for (file, socket) in sockets(host) {
            let Some(claim) = socket.claim else { continue };
            let listens = matches!(socket.role, Role::Listener(_)).then_some(file);
            assert_eq!(held.insert(claim, listens), None, "a claim has one holder");
        }
        let sides = self.wires.iter().flatten().flat_map(|wire| &wire.sides);
        for side in sides.filter(|side| side.host == id) {
            let Some(claim) = side.claim else { continue };
            assert_eq!(claim.port(), side.local.port(), "a claim is on the port of its end");
            assert_eq!(held.insert(claim, None), None, "a claim has one holder");
        }
        let stand = host.ports.claims().map(|(id, _, listener)| (id, listener));
        assert_eq!(held, stand.collect(), "every claim is held, with its listener");
    }

    /// An end and what refers to it, what it sent and what its peer knows of that.
    fn check_side(&self, id: WireId, wire: &Wire, from: SideIndex) {
        let own = &wire.sides[usize::from(from)];
        let flight = own.flight.iter();
        assert!(flight.is_sorted_by_key(|next| next.due), "wire {id:?}: a link keeps its order");
        let is_kept = |file: FileId| self.host(own.host).kernel.is_end(file, id.0, from);
        assert!(own.file.is_none_or(is_kept), "wire {id:?}: the file of an end is of it");
        let is_waited = |file: FileId| self.host(own.host).kernel.has_waiting(file, id.0);
        assert!(own.listener.is_none_or(is_waited), "wire {id:?}: a backlog has its own");
        let is_troubled = own.is_troubled() || own.vigil.due.is_some();
        assert!(!is_troubled || wire.troubled_since.is_some(), "wire {id:?}: trouble is known");
        let Some(end) = &own.end else { return };
        end.check_invariants();
        assert!(!end.has_to_send(), "wire {id:?}, side {from}: what an end owes is sent at once");
        let is_held = own.file.is_some() || own.listener.is_some();
        assert_eq!(end.is_orphan(), !is_held, "wire {id:?}, side {from}: an orphan has no program");
        let is_over = |end: &Connection| end.state().is_over();
        let peer = wire.sides[usize::from(from ^ 1)].end.as_ref().filter(|end| !is_over(end));
        if let Some(peer) = peer.filter(|_| !is_over(end)) {
            check_stream(id, own, end, peer);
        }
    }
}

/// What is under way is what was sent and has not arrived, and no more than its receiver has room
/// for.
fn check_stream(id: WireId, own: &Side, end: &Connection, peer: &Connection) {
    let mut next = peer.arrived();
    for flight in own.flight.iter().filter(|flight| flight.segment.len > 0) {
        assert_eq!(flight.segment.seq, next, "wire {id:?}: the bytes under way follow each other");
        next += u64::from(flight.segment.len);
    }
    let has_reset = own.flight.iter().any(|flight| flight.segment.flags.has(Flags::RST));
    assert!(has_reset || next == end.sent(), "wire {id:?}: what was sent arrived or is under way");
    assert!(end.acknowledged() <= peer.arrived(), "wire {id:?}: what is acknowledged arrived");
    // A FIN has a place in the sequence too.
    let edge = peer.edge() + u64::from(peer.is_done());
    assert!(end.peer_edge() <= edge, "wire {id:?}: a window is one that was given");
}

fn sockets(host: &Host) -> impl Iterator<Item = (FileId, &Socket)> {
    host.kernel.files().filter_map(|(id, file)| match &file.object {
        Object::Socket(socket) => Some((id, socket)),
        _ => None,
    })
}
