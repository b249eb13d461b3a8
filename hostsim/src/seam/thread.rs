//! Threads that programs make: tokio's blocking pool and `std::thread`.
//!
//! A thread that is made in a machine's turn waits at its gate until the machine is idle. Then it
//! has the turn: it runs to its end, its thread-local destructors included, while everybody else
//! waits. It sees the same world, host, clock and entropy as the machine.
//!
//! # Determinism
//! Threads of a host run one after the other in the order of their making. A call that could only
//! be ended by a thread that still waits (`pthread_join`, parking, a wait with a timeout) runs the
//! waiting ones first.
//!
//! # Invariants
//! - One thread at a time reaches a world: who has the turn. [`Gate`] orders one after the other.
//! - A thread that never ends keeps the turn. [`ThreadWatch`] tells a watchdog whose it is.

use super::gate::{Gate, Stage};
use super::processor::Kept;
use super::{CURRENT, machine_world, real};
use crate::kernel::HostId;
use crate::world::World;
use libc::{c_int, c_void, pthread_attr_t, pthread_t};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What a thread runs. It may unwind by `pthread_exit(3)`.
pub(super) type Routine = unsafe extern "C-unwind" fn(*mut c_void) -> *mut c_void;

/// Tells, from any thread of the process, whether a thread of a program has the turn.
///
/// ```
/// # use hostsim::{machine::Machine, seam, world::World};
/// # let world = World::new();
/// # let _entered = seam::enter(&world);
/// # let host = world.with(|network| network.add_host("alone"));
/// let watch = world.thread_watch();
/// // A watchdog looks from a thread of its own, whenever it likes.
/// let watchdog = std::thread::spawn(move || watch.host());
/// assert_eq!(watchdog.join().expect("it does not panic"), None, "no program's thread runs");
/// ```
#[derive(Clone, Debug, Default)]
pub struct ThreadWatch(Arc<AtomicU64>);

impl ThreadWatch {
    /// The host whose program's thread has the turn of the world; none while a machine has it.
    ///
    /// ```
    /// # use hostsim::{machine::Machine, seam, world::World};
    /// # let world = World::new();
    /// # let _entered = seam::enter(&world);
    /// # let host = world.with(|network| network.add_host("alone"));
    /// let watch = world.thread_watch();
    /// let mut machine = Machine::start(&world, host, 7)?;
    /// machine.spawn(async move {
    ///     let own = watch.clone();
    ///     let seen = tokio::task::spawn_blocking(move || own.host()).await.unwrap();
    ///     assert_eq!(seen, Some(host));
    ///     assert_eq!(watch.host(), None, "the machine has the turn");
    /// });
    /// machine.run();
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn host(&self) -> Option<HostId> {
        let value = self.0.load(Ordering::Relaxed).checked_sub(1)?;
        Some(HostId(value as u32))
    }

    fn set(&self, host: Option<HostId>) {
        self.0.store(host.map_or(0, |host| u64::from(host.0) + 1), Ordering::Relaxed);
    }
}

/// The threads of a world that wait for their run, in the order of their making.
#[derive(Default)]
pub(crate) struct Threads {
    waiting: RefCell<VecDeque<(HostId, Arc<Gate>)>>,
    watch: ThreadWatch,
    kept: Kept,
}

impl Threads {
    pub(crate) fn watch(&self) -> ThreadWatch {
        self.watch.clone()
    }

    /// The run that made them is over.
    pub(super) fn let_go(&self) {
        self.kept.let_go();
    }

    pub(crate) fn has(&self, host: HostId) -> bool {
        self.waiting.borrow().iter().any(|(of, _)| *of == host)
    }

    fn next(&self, host: HostId) -> Option<Arc<Gate>> {
        let mut waiting = self.waiting.borrow_mut();
        let index = waiting.iter().position(|(of, _)| *of == host)?;
        Some(waiting.remove(index)?.1)
    }
}

/// Runs the waiting threads of the current host to their end, those included that they make;
/// whether there were any.
pub(crate) fn run_waiting(world: &World) -> bool {
    let Some(host) = world.host().filter(|_| world.is_free()) else { return false };
    let mut has_run = false;
    while let Some(gate) = world.threads.next(host) {
        let before = world.threads.watch.host();
        world.threads.watch.set(Some(host));
        gate.set(Stage::Runs);
        gate.wait_while(Stage::Runs);
        world.threads.watch.set(before);
        has_run = true;
    }
    has_run
}

/// What a new thread is given.
struct Start {
    routine: Routine,
    argument: *mut c_void,
    world: *const World,
    gate: Arc<Gate>,
}

thread_local! {
    /// Gives the turn back once everything else of the thread is gone.
    static LAST: RefCell<Option<GivesBack>> = const { RefCell::new(None) };
}

struct GivesBack(Arc<Gate>);

impl Drop for GivesBack {
    fn drop(&mut self) {
        CURRENT.set(ptr::null());
        self.0.set(Stage::Ended);
    }
}

/// The start of a thread of a run. However it ends, by a return, a panic that std catches or
/// `pthread_exit`, the thread-local destructors follow, and the first one made runs last. Holds
/// nothing itself, so that `pthread_exit` may unwind it.
extern "C-unwind" fn start(given: *mut c_void) -> *mut c_void {
    let (routine, argument) = wait_for_turn(given);
    // SAFETY: what the program gave to `pthread_create`, called once, on the thread that it made.
    unsafe { routine(argument) }
}

fn wait_for_turn(given: *mut c_void) -> (Routine, *mut c_void) {
    // SAFETY: the box that `pthread_create` leaked for this thread alone.
    let start = unsafe { Box::from_raw(given.cast::<Start>()) };
    LAST.set(Some(GivesBack(start.gate.clone())));
    start.gate.wait_while(Stage::Waits);
    // `run_waiting` holds the world and waits in it until the turn is given back: this thread has
    // it alone from here to `GivesBack::drop`, and the gate orders the accesses.
    CURRENT.set(start.world);
    (start.routine, start.argument)
}

/// `pthread_create(3)`
#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_create(
    into: *mut pthread_t,
    attributes: *const pthread_attr_t,
    routine: Routine,
    argument: *mut c_void,
) -> c_int {
    let Some((world, host)) = machine_world().and_then(|world| Some((world, world.host()?))) else {
        // SAFETY: the caller's arguments go on as they came.
        return unsafe { real::pthread_create(into, attributes, routine, argument) };
    };
    world.threads.kept.keep();
    let gate = Arc::new(Gate::new());
    let given = Box::into_raw(Box::new(Start { routine, argument, world, gate: gate.clone() }));
    // SAFETY: the caller's arguments, but for what runs first and takes the box.
    let result = unsafe { real::pthread_create(into, attributes, start, given.cast()) };
    if result == 0 {
        world.threads.waiting.borrow_mut().push_back((host, gate));
    } else {
        // SAFETY: no thread was made, so the box is still this call's.
        drop(unsafe { Box::from_raw(given) });
    }
    result
}

/// `pthread_join(3)`: what is joined may still wait for its run.
#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_join(thread: pthread_t, into: *mut *mut c_void) -> c_int {
    if let Some(world) = machine_world() {
        run_waiting(world);
    }
    // SAFETY: the caller's arguments go on as they came.
    unsafe { real::pthread_join(thread, into) }
}
