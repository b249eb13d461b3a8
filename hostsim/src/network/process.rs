//! The process of a host: how it ends, whatever its program does, and how the next one begins.
//!
//! A host has one process at a time. Its end is the kernel's work alone: no program takes part. What
//! a dropped program still does comes after it and reaches nobody: its descriptors name nothing, it
//! makes no sockets, and the seam lets it change no files.

use super::Network;
use crate::clock::Instant;
use crate::errno::{Errno, Sys};
use crate::kernel::{HostId, Object};

impl Network {
    /// Ends the process of a host, as `SIGKILL` does: the kernel closes its sockets in the order of
    /// their descriptors. A connection is sent a FIN, or a RST where bytes were unread, and those that nobody
    /// accepted are reset (row F15). After [`Network::fence`] nobody hears
    /// of it.
    ///
    /// ```
    /// use hostsim::errno::Errno;
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
    /// network.end_process(server);
    /// run(&mut network);
    /// assert_eq!(network.receive(dialer, &mut [0; 8], false), Ok(0), "the kernel sent a FIN");
    /// assert!(!network.listens(server, address));
    /// assert_eq!(network.socket(server, Domain::V4, true), Err(Errno::ENETDOWN));
    /// # Ok::<(), hostsim::errno::Errno>(())
    /// ```
    pub fn end_process(&mut self, host: HostId) {
        self.host_mut(host).is_down = true;
        for (id, file) in self.kernel(host).take_sockets() {
            self.on_closed(host, id, file);
        }
        self.mark_idle(host);
    }

    /// Lets the next process of a host begin.
    ///
    /// ```
    /// # use hostsim::{address::Domain, network::Network};
    /// # let mut network = Network::new();
    /// # let host = network.add_host("alone");
    /// network.end_process(host);
    /// network.begin_process(host);
    /// assert!(!network.host(host).is_down());
    /// assert!(network.socket(host, Domain::V4, true).is_ok());
    /// ```
    pub fn begin_process(&mut self, host: HostId) {
        let host = self.host_mut(host);
        (host.is_down, host.is_paused, host.busy_until) = (false, false, Instant::START);
    }

    /// The sockets that somebody still holds although their process is over.
    ///
    /// ```
    /// # use hostsim::{address::Domain, network::Network};
    /// # let mut network = Network::new();
    /// # let host = network.add_host("alone");
    /// let socket = network.socket(host, Domain::V4, true)?;
    /// network.end_process(host);
    /// assert_eq!(network.left_open(host), 1);
    /// network.close(socket)?;
    /// assert_eq!(network.left_open(host), 0);
    /// # Ok::<(), hostsim::errno::Errno>(())
    /// ```
    pub fn left_open(&self, host: HostId) -> usize {
        let files = self.host(host).kernel.files();
        files.filter(|(_, file)| matches!(file.object, Object::Gone)).count()
    }

    /// Whether a host's process may make sockets.
    ///
    /// # Errors
    /// `ENETDOWN` where it is over.
    pub(super) fn check_process(&self, host: HostId) -> Sys<()> {
        if self.host(host).is_down { Err(Errno::ENETDOWN) } else { Ok(()) }
    }
}
