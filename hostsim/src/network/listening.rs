//! Waiting for a listener: who starts a server, or routes to it, goes on once it is there.
//!
//! A test asks for this, not a program: a real client has to dial and be refused. Nothing polls; the
//! `listen(2)` of the server's program wakes who waits, on whatever machine that is. The wakers are
//! woken by the world once the call is over, since they make calls of their own.

use super::Network;
use crate::address::canonical;
use crate::kernel::HostId;
use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};

/// Resolves once something listens at an address of a host, and at once where something does when it
/// is made. It may be awaited on any machine of the world; dropped, it leaves nothing behind.
///
/// # Determinism
/// Who waits is woken in the order in which the futures were made.
///
/// ```
/// use tokio::net::{TcpListener, TcpStream};
/// use tokio::time::{Duration, sleep};
/// # use hostsim::fleet::Fleet;
/// # let mut fleet = Fleet::start(&["client", "server"])?;
/// # let (client, server) = (fleet.host("client"), fleet.host("server"));
/// # let world = fleet.world().clone();
/// let address = (fleet.address("server"), 7).into();
/// fleet.spawn("server", async move {
///     sleep(Duration::from_secs(3)).await;
///     let listener = TcpListener::bind(address).await.unwrap();
///     listener.accept().await.unwrap();
/// });
/// let listening = fleet.listening("server", address);
/// fleet.spawn("client", async move {
///     listening.await;
///     TcpStream::connect(address).await.expect("it is there");
/// });
/// fleet.run();
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
#[must_use = "it does nothing unless it is awaited"]
pub struct Listening {
    waits: Waits,
    id: u64,
}

/// Who waits for a listener, shared with the futures: a future without an entry is done.
#[derive(Clone, Debug, Default)]
pub(super) struct Waits(Arc<Mutex<List>>);

#[derive(Debug, Default)]
struct List {
    entries: Vec<Wait>,
    next_id: u64,
}

#[derive(Debug)]
struct Wait {
    id: u64,
    host: HostId,
    address: SocketAddr,
    waker: Option<Waker>,
}

impl Waits {
    fn list(&self) -> MutexGuard<'_, List> {
        self.0.lock().expect("nobody panics with the list")
    }

    /// How many wait.
    pub(super) fn len(&self) -> usize {
        self.list().entries.len()
    }

    /// Whether every one that waits is meant.
    pub(super) fn all(&self, is_meant: impl Fn(HostId, SocketAddr) -> bool) -> bool {
        self.list().entries.iter().all(|wait| is_meant(wait.host, wait.address))
    }
}

impl Future for Listening {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let waker = context.waker().clone();
        // What goes is dropped after the lock: it may be the last of a task that holds a future.
        let _before;
        let mut list = self.waits.list();
        let Some(wait) = list.entries.iter_mut().find(|wait| wait.id == self.id) else {
            return Poll::Ready(());
        };
        _before = wait.waker.replace(waker);
        Poll::Pending
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _gone;
        let mut list = self.waits.list();
        let place = list.entries.iter().position(|wait| wait.id == self.id);
        _gone = place.map(|place| list.entries.remove(place));
    }
}

impl Network {
    /// Whether something listens at an address of a host; a listener on the wildcard listens at each
    /// of them.
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
    /// assert!(network.listens(host, address));
    /// network.close(listener)?;
    /// assert!(!network.listens(host, address));
    /// # Ok::<(), hostsim::errno::Errno>(())
    /// ```
    pub fn listens(&self, host: HostId, address: SocketAddr) -> bool {
        self.host(host).ports.listener(canonical(address)).is_some()
    }

    /// Waits for a listener.
    pub(crate) fn listening(&mut self, host: HostId, address: SocketAddr) -> Listening {
        let is_there = self.listens(host, address);
        let mut list = self.waits.list();
        let id = list.next_id;
        list.next_id += 1;
        if !is_there {
            list.entries.push(Wait { id, host, address, waker: None });
        }
        drop(list);
        Listening { waits: self.waits.clone(), id }
    }

    /// Something listens that did not: finds who waited for it.
    pub(super) fn on_listener(&mut self) {
        let waits = self.waits.clone();
        let mut list = waits.list();
        let is_over = |wait: &mut Wait| self.listens(wait.host, wait.address);
        let over: Vec<Wait> = list.entries.extract_if(.., is_over).collect();
        self.woken.extend(over.into_iter().filter_map(|wait| wait.waker));
    }

    /// Whether somebody is to be woken.
    pub(crate) fn has_woken(&self) -> bool {
        !self.woken.is_empty()
    }

    /// Takes the wakers of who waited, to be woken when nobody works on the network.
    pub(crate) fn take_woken(&mut self) -> Vec<Waker> {
        std::mem::take(&mut self.woken)
    }
}
