//! Who waits for which socket: asked of a machine that is idle, for reports of a run that does not
//! go on.
//!
//! tokio does not say what a task waits for. But it wakes the task that waits for a socket when the
//! socket is reported ready, and the task then makes its call again, which would wait again. So each
//! socket is reported ready once, whatever it is, and the calls that follow tell of the tasks. The
//! run must be over: programs see wakes that no kernel would give.

use crate::kernel::{Descriptor, HostId, Ready};
use crate::machine::Machine;
use crate::network::Network;
use crate::tasks::Task;
use crate::world::World;
use std::cell::{Cell, RefCell};
use tokio::task::Id;

/// A task that waits for a socket.
///
/// ```
/// # use hostsim::{machine::Machine, seam, world::World};
/// # let world = World::new();
/// # let _entered = seam::enter(&world);
/// # let host = world.with(|network| network.add_host("alone"));
/// let mut machine = Machine::start(&world, host, 7)?;
/// machine.spawn(async {
///     let socket = tokio::net::UdpSocket::bind("0.0.0.0:7").await.unwrap();
///     socket.recv_from(&mut [0; 8]).await.unwrap();
/// });
/// machine.run();
/// let wait = machine.waits().remove(0);
/// let socket = world.network().describe_socket(wait.at).expect("it is one");
/// assert_eq!(wait.call, "recv");
/// assert_eq!(socket, "udp 0.0.0.0:7 to anybody, 0 datagrams unread");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wait {
    /// The task; none where tokio does not tell.
    pub task: Option<Task>,
    /// The call that it waits in.
    pub call: &'static str,
    /// The socket.
    pub at: Descriptor,
}

/// What is asked of a world's machines.
#[derive(Debug, Default)]
pub(crate) struct Probe {
    is_on: Cell<bool>,
    /// What the next wait for events reports.
    event: Cell<Option<Ready>>,
    calls: RefCell<Vec<(Descriptor, &'static str, Option<Id>)>>,
}

impl Probe {
    /// What a wait for events reports, in place of what there is.
    pub(crate) fn take_event(&self) -> Option<Ready> {
        self.event.take()
    }

    /// A call on a socket would wait.
    pub(crate) fn on_wait(&self, at: Descriptor, call: &'static str) {
        if self.is_on.get() {
            self.calls.borrow_mut().push((at, call, tokio::task::try_id()));
        }
    }
}

impl Machine {
    /// Which tasks wait for which sockets, in the order of the sockets' descriptors. A task that is
    /// not among them waits for something in memory: a channel, a lock, another task.
    ///
    /// ```
    /// # use hostsim::{machine::Machine, seam, world::World};
    /// # let world = World::new();
    /// # let _entered = seam::enter(&world);
    /// # let host = world.with(|network| network.add_host("alone"));
    /// let mut machine = Machine::start(&world, host, 7)?;
    /// machine.spawn(async {
    ///     let listener = tokio::net::TcpListener::bind("0.0.0.0:7").await.unwrap();
    ///     listener.accept().await.unwrap();
    /// });
    /// machine.spawn(std::future::pending());
    /// machine.run();
    /// let calls: Vec<&str> = machine.waits().iter().map(|wait| wait.call).collect();
    /// assert_eq!(calls, ["accept"], "the other task waits for no socket");
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn waits(&mut self) -> Vec<Wait> {
        let (world, host) = (self.world().clone(), self.host());
        let data = world.with(|network| network.watched_sockets(host));
        world.probe.is_on.set(true);
        for data in data {
            let events = (libc::EPOLLIN | libc::EPOLLOUT) as u32;
            world.probe.event.set(Some(Ready { events, data }));
            self.run();
            world.probe.event.set(None);
        }
        world.probe.is_on.set(false);
        let calls = world.probe.calls.take();
        waits_of(&world, calls)
    }
}

fn waits_of(world: &World, calls: Vec<(Descriptor, &'static str, Option<Id>)>) -> Vec<Wait> {
    let mut waits: Vec<Wait> = Vec::new();
    for (at, call, id) in calls {
        let wait = Wait { task: id.and_then(|id| world.task_of(id)), call, at };
        if !waits.contains(&wait) {
            waits.push(wait);
        }
    }
    waits.sort_by_key(|wait| wait.at);
    waits
}

impl Network {
    /// What the epoll files of a host report for each socket that they watch.
    fn watched_sockets(&mut self, host: HostId) -> Vec<u64> {
        self.kernel_mut(host).watched_sockets()
    }
}
