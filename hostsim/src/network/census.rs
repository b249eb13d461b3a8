//! What a network holds, in numbers, and what must be so once nothing is pending.
//!
//! For tests: a run that leaks or that stalls is found here, whatever the programs do.

use super::wire::{Dial, Side, Wire, WireId};
use super::{Host, Network, SideIndex};
use crate::kernel::{Object, Role, Socket};
use crate::tcp::{Connection, State};

/// How much of each kind a network holds.
///
/// ```
/// use hostsim::network::Census;
/// # use hostsim::{address::Domain, network::Network};
/// # let mut network = Network::new();
/// # let host = network.add_host("alone");
/// # let address = std::net::SocketAddr::from(([127, 0, 0, 1], 7));
/// # let listener = network.socket(host, Domain::V4, true)?;
/// # network.bind(listener, address)?;
/// # network.listen(listener, 8)?;
/// # let dialer = network.socket(host, Domain::V4, true)?;
/// # network.connect(dialer, address).unwrap_err();
/// # let (accepted, _) = network.accept(listener, true)?;
/// for socket in [dialer, accepted, listener] {
///     network.close(socket)?;
/// }
/// // The port of the end that closed first waits for 60 seconds more; it is no claim.
/// assert_eq!(network.census(), Census::default(), "nothing is left");
/// # Ok::<(), hostsim::errno::Errno>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Census {
    /// Connections of which an end or a segment is left.
    pub wires: usize,
    /// Claims on ports of TCP and UDP, of every host.
    pub claims: usize,
    /// Datagrams and answers to them that are under way.
    pub datagrams: usize,
    /// Pending events.
    pub events: usize,
    /// Open files.
    pub files: usize,
    /// Open files that listen.
    pub listeners: usize,
    /// Unix sockets, those in backlogs too.
    pub unix: usize,
    /// Futures that wait for a listener.
    pub waits: usize,
}

impl Network {
    /// Counts what there is.
    ///
    /// ```
    /// # use hostsim::{address::Domain, network::Network};
    /// # let mut network = Network::new();
    /// # let host = network.add_host("alone");
    /// # let address = std::net::SocketAddr::from(([127, 0, 0, 1], 7));
    /// # let listener = network.socket(host, Domain::V4, true)?;
    /// # network.bind(listener, address)?;
    /// # network.listen(listener, 8)?;
    /// # let dialer = network.socket(host, Domain::V4, true)?;
    /// # network.connect(dialer, address).unwrap_err();
    /// # let (accepted, _) = network.accept(listener, true)?;
    /// let census = network.census();
    /// assert_eq!((census.wires, census.files, census.listeners), (1, 3, 1));
    /// # Ok::<(), hostsim::errno::Errno>(())
    /// ```
    pub fn census(&self) -> Census {
        let listens = |host: &Host, object: &Object| match object {
            Object::Socket(Socket { role: Role::Listener(_), .. }) => true,
            Object::Unix(id) => host.kernel.unix.listens(*id),
            _ => false,
        };
        let files = || {
            self.hosts
                .iter()
                .flat_map(|host| host.kernel.files().map(move |(_, file)| (host, file)))
        };
        Census {
            wires: self.wires.iter().flatten().count(),
            claims: self.hosts.iter().map(|host| host.ports.len() + host.udp.len()).sum(),
            datagrams: self.datagrams_under_way(),
            events: self.agenda.iter().count(),
            files: files().count(),
            listeners: files().filter(|(host, file)| listens(host, &file.object)).count(),
            unix: self.hosts.iter().map(|host| host.kernel.unix.len()).sum(),
            waits: self.waits.len(),
        }
    }

    /// Asserts that nothing is stuck, for a moment at which the network has nothing pending.
    ///
    /// No end has something to send, no segment that somebody could see is under way, nobody was
    /// told to wait for what is there, and the two ends of a connection agree on where they are.
    ///
    /// # Panics
    /// Where something is stuck, and where something is pending.
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
    /// # run(&mut network);
    /// # let (accepted, _) = network.accept(listener, true)?;
    /// network.send(dialer, b"hello")?;
    /// run(&mut network);
    /// network.check_at_rest();
    /// # Ok::<(), hostsim::errno::Errno>(())
    /// ```
    pub fn check_at_rest(&self) {
        assert_eq!(self.pending().count(), 0, "nothing is pending");
        assert!(self.local.is_empty(), "nothing is under way within a host");
        for (id, wire) in self.wires.iter().enumerate() {
            let Some(wire) = wire.as_ref().filter(|wire| !wire.is_troubled()) else { continue };
            for side in 0..2 {
                if let Some(stuck) = stuck(wire, side) {
                    panic!("connection {id}, side {side}: {stuck}: {wire:?}");
                }
            }
        }
    }

    /// Asserts that the agenda says of a direction what its segments and the peer's end say.
    pub(super) fn check_schedule(&self, id: WireId, wire: &Wire, from: SideIndex) {
        let sender = &wire.sides[usize::from(from)];
        assert_eq!(sender.is_silent, self.is_way_silent(id, from), "wire {id:?}: orders are kept");
        assert_eq!(
            wire.next_due(from),
            sender.scheduled,
            "wire {id:?}: what could be seen to arrive is pending"
        );
        assert!(!wire.is_gone(), "wire {id:?}: what nothing refers to is dropped");
    }
}

/// What of a side does not go on, where nothing is pending any more.
fn stuck(wire: &Wire, side: usize) -> Option<&'static str> {
    let [own, peer]: [&Side; 2] = [&wire.sides[side], &wire.sides[side ^ 1]];
    let end = own.end.as_ref()?;
    let peer_end = peer.end.as_ref();
    let Dial { timer, .. } = own.dial;
    if end.has_to_send() {
        return Some("it has something to send");
    }
    if timer.is_some() || matches!(end.state(), State::SynSent | State::SynReceived) {
        return Some("its handshake does not go on");
    }
    if end.is_wrongly_blocked() {
        return Some("it waits for room to write, which there is");
    }
    let is_over = |end: Option<&Connection>| end.is_none_or(|end| end.state().is_over());
    if end.has_unsent() && peer_end.is_some_and(Connection::has_window_to_give) {
        return Some("its peer has room for what it would send");
    }
    // The peer's last acknowledgment may be on its way, and be seen by nobody.
    let is_unsaid = peer_end.is_some_and(Connection::is_unsaid);
    if is_over(peer_end) && !end.state().is_over() && peer.flight.is_empty() && !is_unsaid {
        return Some("its peer is gone and it was not told");
    }
    let has_ended = peer_end.is_some_and(|peer| peer.has_ended_sending() && !peer.has_unsent());
    if has_ended && !end.state().is_over() && !end.is_done() && !is_unsaid {
        return Some("its peer ended its direction and it was not told");
    }
    None
}
