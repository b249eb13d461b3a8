//! A machine: one tokio runtime on one host.
//!
//! A machine runs until it is idle and says when it next has something to do by itself. It does not
//! wait, and it knows nothing of other machines. Its tasks need not be `Send`.
//!
//! An idle current-thread runtime asks its driver to wait exactly when nothing is runnable, and for
//! how long is its next timer. The seam answers that wait by ending the turn.
//!
//! # Determinism
//! A turn depends on the host's kernel, the clock and the machine's seed only. Where tokio was built
//! with `--cfg tokio_unstable` the branches of `select!` start by that seed; else by a counter of
//! the process, which [`SELECT_IS_SEEDED`] says.

use crate::clock::Instant;
use crate::kernel::{Descriptor, HostId};
use crate::seam;
use crate::world::World;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::runtime::{Builder, LocalOptions, LocalRuntime};

/// This file, as the place of a task's spawn names it.
pub(crate) const FILE: &str = file!();

/// Whether a run seeds the branches of `tokio::select!`.
pub const SELECT_IS_SEEDED: bool = cfg!(tokio_unstable);

/// Whether this thread is inside a runtime: then no machine can run on it.
///
/// ```
/// use hostsim::machine::is_inside_runtime;
///
/// assert!(!is_inside_runtime(), "a run may begin here");
/// let runtime = tokio::runtime::Builder::new_current_thread().build()?;
/// assert!(runtime.block_on(async { is_inside_runtime() }));
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn is_inside_runtime() -> bool {
    tokio::runtime::Handle::try_current().is_ok()
}

/// A runtime on a host.
///
/// ```
/// use hostsim::clock::Instant;
/// use hostsim::machine::{Machine, is_inside_runtime};
/// use hostsim::seam;
/// use hostsim::world::World;
/// use std::time::Duration;
///
/// let world = World::new();
/// let _entered = seam::enter(&world);
/// let host = world.with(|network| network.add_host("alone"));
/// let mut machine = Machine::start(&world, host, 7)?;
/// machine.spawn(async {
///     assert!(is_inside_runtime());
///     tokio::time::sleep(Duration::from_secs(60)).await;
/// });
/// // It says when it next has something to do; time is moved by whoever drives it.
/// while let Some(deadline) = machine.run() {
///     world.advance(deadline);
/// }
/// assert!(world.now() >= Instant::START + Duration::from_secs(60));
/// assert_eq!(machine.host(), host);
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Machine {
    world: Rc<World>,
    host: HostId,
    epoll: Descriptor,
    runtime: Option<LocalRuntime>,
}

impl Machine {
    /// Starts a machine on a host, with the seed of its `select!` branches.
    ///
    /// # Errors
    /// What tokio says where it cannot make a runtime.
    ///
    /// ```
    /// # use hostsim::{machine::Machine, seam, world::World};
    /// # let world = World::new();
    /// # let _entered = seam::enter(&world);
    /// # let host = world.with(|network| network.add_host("alone"));
    /// let mut machine = Machine::start(&world, host, 7)?;
    /// assert_eq!(machine.run(), None, "it has nothing to do");
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn start(world: &Rc<World>, host: HostId, seed: u64) -> io::Result<Machine> {
        world.begin_tasks(host);
        let turn = world.begin_turn(host, None);
        let next = world.with(|network| network.next_descriptor(host));
        let runtime = builder(host, seed).build_local(LocalOptions::default())?;
        drop(turn);
        let epoll = Descriptor { host, number: next };
        Ok(Machine { world: world.clone(), host, epoll, runtime: Some(runtime) })
    }

    pub(crate) fn world(&self) -> &Rc<World> {
        &self.world
    }

    /// The machine's host.
    ///
    /// ```
    /// # use hostsim::{machine::Machine, seam, world::World};
    /// # let world = World::new();
    /// # let _entered = seam::enter(&world);
    /// # let host = world.with(|network| network.add_host("alone"));
    /// let machine = Machine::start(&world, host, 7)?;
    /// assert_eq!(machine.host(), host);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn host(&self) -> HostId {
        self.host
    }

    /// Hands a task to the machine, which runs it from its next turn on.
    ///
    /// ```
    /// use std::cell::Cell;
    /// use std::rc::Rc;
    /// # use hostsim::{machine::Machine, seam, world::World};
    /// # let world = World::new();
    /// # let _entered = seam::enter(&world);
    /// # let host = world.with(|network| network.add_host("alone"));
    /// let mut machine = Machine::start(&world, host, 7)?;
    /// let is_done = Rc::new(Cell::new(false));
    /// let done = is_done.clone();
    /// machine.spawn(async move { done.set(true) });
    /// assert!(!is_done.get() && world.network().has_runnable());
    /// machine.run();
    /// assert!(is_done.get());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn spawn(&self, task: impl Future<Output = ()> + 'static) {
        let turn = self.world.begin_turn(self.host, Some(self.epoll));
        if let Some(runtime) = &self.runtime {
            runtime.spawn_local(task);
        }
        drop(turn);
        self.world.with(|network| network.mark_runnable(self.host));
    }

    /// Runs until nothing can go on at this moment; gives the moment of the next timer.
    ///
    /// What went wrong is in [`World::take_trouble`].
    ///
    /// ```
    /// use hostsim::clock::Instant;
    /// use std::time::Duration;
    /// # use hostsim::{machine::Machine, seam, world::World};
    /// # let world = World::new();
    /// # let _entered = seam::enter(&world);
    /// # let host = world.with(|network| network.add_host("alone"));
    /// let mut machine = Machine::start(&world, host, 7)?;
    /// machine.spawn(async { tokio::time::sleep(Duration::from_secs(1)).await });
    /// // A deadline may come before the timer: tokio then looks again.
    /// while let Some(deadline) = machine.run() {
    ///     world.advance(deadline);
    /// }
    /// assert!(world.now() >= Instant::START + Duration::from_secs(1), "its task ended");
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn run(&mut self) -> Option<Instant> {
        let turn = self.world.begin_turn(self.host, Some(self.epoll));
        let runtime = self.runtime.as_ref()?;
        let idle = UntilIdle { world: &self.world, is_started: false };
        runtime.block_on(idle);
        let deadline = self.world.stalled_until().or(self.world.deadline.get());
        drop(turn);
        deadline
    }
}

impl Drop for Machine {
    /// Drops every task, then the runtime, in the machine's own turn. The threads that its program
    /// made run to their end: tokio must not wait for one that waits for its run. Those of a process
    /// that is over come after its tasks, so that tokio hands them nothing any more.
    fn drop(&mut self) {
        let Some(runtime) = self.runtime.take() else { return };
        let _turn = self.world.begin_turn(self.host, Some(self.epoll));
        if !self.world.is_over() {
            seam::run_waiting(&self.world);
        }
        runtime.shutdown_background();
        // What the runtime dropped may have made some more.
        seam::run_waiting(&self.world);
    }
}

fn builder(host: HostId, seed: u64) -> Builder {
    let mut builder = Builder::new_current_thread();
    builder
        .enable_io()
        .enable_time()
        .thread_keep_alive(Duration::ZERO)
        .max_blocking_threads(1)
        .global_queue_interval(u32::MAX);
    #[cfg(tokio_unstable)]
    seed_and_watch(&mut builder, host, seed);
    let _ = (host, seed);
    builder
}

#[cfg(tokio_unstable)]
fn seed_and_watch(builder: &mut Builder, host: HostId, seed: u64) {
    builder
        .rng_seed(tokio::runtime::RngSeed::from_bytes(&seed.to_le_bytes()))
        .on_task_spawn(move |meta| {
            if let Some(world) = seam::current() {
                world.add_task(host, meta.id(), meta.spawned_at());
            }
        })
        .on_task_terminate(|meta| {
            if let Some(world) = seam::current() {
                world.remove_task(meta.id());
            }
        });
}

/// Ends once the runtime around it asked its driver to wait, its process is over, or it sleeps.
struct UntilIdle<'a> {
    world: &'a World,
    is_started: bool,
}

impl Future for UntilIdle<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let world = self.world;
        let is_off = world.is_over() || world.stalled_until().is_some();
        if self.is_started && (world.is_idle.get() || is_off) {
            return Poll::Ready(());
        }
        self.is_started = true;
        self.world.waker.set(Some(context.waker().clone()));
        Poll::Pending
    }
}
