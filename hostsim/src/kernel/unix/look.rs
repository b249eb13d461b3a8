//! The Unix sockets of a host in words, and what must be so of them.

use super::socket::UnixRole;
use super::{Unix, UnixId, UnixName};

impl UnixName {
    /// The name as `ss` shows it: an abstract one begins with `@`.
    fn describe(&self) -> String {
        let name = self.shown.strip_suffix(&[0]).unwrap_or(&self.shown);
        match name.split_first() {
            Some((0, rest)) => format!("@{}", rest.escape_ascii()),
            _ => name.escape_ascii().to_string(),
        }
    }
}

impl Unix {
    /// A socket in words.
    pub(crate) fn describe(&self, id: UnixId) -> String {
        let name = |name: Option<&UnixName>| name.map_or("unnamed".to_owned(), UnixName::describe);
        let (socket, own) = (self.see(id), name(self.name(id)));
        let peer = match &socket.role {
            UnixRole::Fresh => return format!("unix {own} neither listens nor connects"),
            UnixRole::Listener { queue, .. } => {
                return format!("unix {own} listens, {} to accept", queue.len());
            }
            UnixRole::Connected { peer, .. } => *peer,
        };
        let state = if peer.is_some() { "connected" } else { "closed by its peer" };
        let other = name(self.peer_name(id).unwrap_or(None));
        let (unread, sent) = (self.unread(id), peer.map_or(0, |peer| self.unread(peer)));
        format!("unix {own} to {other} {state}, {unread} B unread, {sent} B not read by its peer")
    }

    /// The sockets that wait in backlogs.
    pub(in crate::kernel) fn waiting(&self) -> Vec<UnixId> {
        let queues = self.sockets.iter().flatten().filter_map(|socket| match &socket.role {
            UnixRole::Listener { queue, .. } => Some(queue),
            _ => None,
        });
        queues.flatten().copied().collect()
    }

    /// Asserts what the module promises.
    ///
    /// # Panics
    /// Where it is not so.
    pub(crate) fn check_invariants(&self) {
        assert!(self.woken.is_empty(), "whoever was to be woken was");
        let is_open = |id: &UnixId| self.sockets[*id as usize].is_some();
        assert!(!self.free.iter().any(is_open), "a free number is of no socket");
        assert_eq!(self.len() + self.free.len(), self.sockets.len(), "no number is lost");
        for (id, socket) in self.sockets.iter().enumerate() {
            let Some(socket) = socket else { continue };
            assert!(
                socket.packets.iter().all(|packet| packet.left <= packet.len),
                "a part is left"
            );
            let left: usize = socket.packets.iter().map(|packet| packet.left).sum();
            assert_eq!(left, socket.bytes.len(), "every byte is in a packet");
            let taken = |peer: &UnixId| self.see(*peer).packets.iter().map(|p| p.cost()).sum();
            let charged = match &socket.role {
                UnixRole::Connected { peer, .. } => peer.as_ref().map_or(0, taken),
                _ => 0,
            };
            assert_eq!(charged, socket.charged, "a socket is charged with what is not read");
            let UnixRole::Connected { peer: Some(peer), .. } = &socket.role else { continue };
            let back = match &self.see(*peer).role {
                UnixRole::Connected { peer, .. } => *peer,
                _ => None,
            };
            assert_eq!(back, Some(id as UnixId), "two peers name each other");
        }
        for (key, entry) in &self.names {
            assert!(entry.socket.as_ref().is_none_or(is_open), "the socket of a name is open");
            let name = entry.socket.map(|id| self.name(id).map(|name| &name.key));
            assert!(name.is_none_or(|name| name == Some(key)), "a name's socket has it");
            assert!(entry.socket.is_some() || key.first() != Some(&0), "an abstract name is bound");
        }
    }
}
