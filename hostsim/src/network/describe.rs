//! What a host's sockets wait for, in words, for reports of a run that does not go on.

use super::{Network, WireId};
use crate::kernel::{Descriptor, HostId, Kernel, Object, Role, Socket};
use crate::tcp::{Connection, State};

impl Network {
    /// One line a socket of a host, in the order of its files.
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
    /// network.send(dialer, b"hello")?;
    /// let lines = network.describe(host);
    /// assert_eq!(lines[0], "listens on 127.0.0.1:7, 0 to accept");
    /// assert!(lines[2].ends_with("established, 5 B unread, 0 B unacknowledged"), "{lines:?}");
    /// # Ok::<(), hostsim::errno::Errno>(())
    /// ```
    pub fn describe(&self, id: HostId) -> Vec<String> {
        let kernel = &self.host(id).kernel;
        kernel.files().filter_map(|(_, file)| self.describe_object(kernel, &file.object)).collect()
    }

    /// The socket of a descriptor, in words.
    ///
    /// ```
    /// # use hostsim::{address::Domain, network::Network};
    /// # let mut network = Network::new();
    /// # let host = network.add_host("alone");
    /// # let address = std::net::SocketAddr::from(([127, 0, 0, 1], 7));
    /// # let server = network.udp_socket(host, Domain::V4, true)?;
    /// # network.bind(server, address)?;
    /// # let client = network.udp_socket(host, Domain::V4, true)?;
    /// network.connect(client, address)?;
    /// network.send(client, b"hello")?;
    /// let line = network.describe_socket(server);
    /// assert_eq!(line.as_deref(), Some("udp 127.0.0.1:7 to anybody, 1 datagrams unread"));
    /// # Ok::<(), hostsim::errno::Errno>(())
    /// ```
    pub fn describe_socket(&self, at: Descriptor) -> Option<String> {
        let kernel = &self.host(at.host).kernel;
        let id = kernel.file_id(at.number).ok()?;
        let (_, file) = kernel.files().find(|(other, _)| *other == id)?;
        self.describe_object(kernel, &file.object)
    }

    fn describe_object(&self, kernel: &Kernel, object: &Object) -> Option<String> {
        let socket = match object {
            Object::Unix(unix) => return Some(kernel.unix.describe(*unix)),
            Object::Udp(udp) => return Some(udp.describe()),
            Object::Socket(socket) => socket,
            Object::Epoll(_) | Object::Counter(_) | Object::Gone => return None,
        };
        let local = socket.local.map_or_else(|| "unbound".to_owned(), |local| local.to_string());
        Some(match &socket.role {
            Role::Fresh => format!("socket {local} neither listens nor connects"),
            Role::Listener(listener) => {
                format!("listens on {local}, {} to accept", listener.queue.len())
            }
            Role::Connection { wire, side, .. } => self.describe_end(socket, WireId(*wire), *side),
        })
    }

    fn describe_end(&self, socket: &Socket, id: WireId, side: u8) -> String {
        let Some(Some(wire)) = self.wires.get(id.0 as usize) else { return String::new() };
        let own = &wire.sides[usize::from(side)];
        let end = own.end.as_ref();
        let state = end.map_or(State::Closed, Connection::state).name();
        let unread = end.map_or(0, Connection::unread);
        let unsent = end.map_or(0, Connection::unacknowledged);
        let local = socket.domain.show(own.local);
        let remote = socket.domain.show(wire.remote(side));
        format!("{local} to {remote} {state}, {unread} B unread, {unsent} B unacknowledged")
    }
}
