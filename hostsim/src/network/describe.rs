//! What a host's sockets wait for, in words, for reports of a run that does not go on.

use super::{Network, WireId};
use crate::kernel::{Descriptor, HostId, Object, Role, Socket};
use crate::tcp::{Connection, State};

impl Network {
    /// One line a socket of a host, in the order of its files.
    pub fn describe(&self, id: HostId) -> Vec<String> {
        let kernel = &self.host(id).kernel;
        let line = |object: &Object| match object {
            Object::Unix(unix) => Some(kernel.unix.describe(*unix)),
            Object::Udp(udp) => Some(udp.describe()),
            object => self.describe_object(object),
        };
        kernel.files().filter_map(|(_, file)| line(&file.object)).collect()
    }

    /// The socket of a descriptor, in words.
    pub fn describe_socket(&self, at: Descriptor) -> Option<String> {
        let kernel = &self.host(at.host).kernel;
        let id = kernel.file_id(at.number).ok()?;
        let (_, file) = kernel.files().find(|(other, _)| *other == id)?;
        match &file.object {
            Object::Unix(unix) => Some(kernel.unix.describe(*unix)),
            object => self.describe_object(object),
        }
    }

    fn describe_object(&self, object: &Object) -> Option<String> {
        let Object::Socket(socket) = object else { return None };
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
