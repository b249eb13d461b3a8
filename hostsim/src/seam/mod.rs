//! The seam: the symbols of libc through which a program reaches the world.
//!
//! A strong symbol of the program wins over the C library's at link time, so tokio, mio, std,
//! socket2 and ring call these. Each answers for a simulated descriptor or inside a run, as its man
//! page says, and else *is* the real function. This is the one place with `unsafe`.
//!
//! # Invariants
//! - Outside a run, and for descriptors of the real kernel, a symbol neither allocates nor locks
//!   before it calls the real one; but `freeaddrinfo` locks while a list of ours lives.
//! - Nothing unwinds into C: a panic of the simulated kernel becomes [`Trouble::Internal`].
//! - Pointers are checked for null and lengths are honored; where the real kernel would say
//!   `EFAULT` for a wild pointer, there is no way to know, and a wild pointer stays undefined.
#![allow(unsafe_code)]

mod address;
mod clock;
mod control;
mod datagram;
mod descriptor;
mod entropy;
mod epoll;
mod file;
mod gate;
mod interceptor;
mod lookup;
mod message;
mod name;
mod number;
mod option;
pub mod outside;
mod path;
mod probe;
mod processor;
#[cfg(any(test, feature = "raw"))]
#[macro_use]
pub mod raw;
mod real;
mod socket;
mod stream;
#[cfg(test)]
mod tests;
mod thread;
mod unix;

pub use probe::{ProbeError, probe};
pub use thread::ThreadWatch;
pub(crate) use thread::{Threads, run_waiting};

use crate::errno::{Errno, Sys};
use crate::kernel::Descriptor;
use crate::network::Network;
use crate::world::{Trouble, World};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::rc::Rc;

#[cfg(not(all(
    target_os = "linux",
    target_env = "gnu",
    any(target_arch = "x86_64", target_arch = "aarch64")
)))]
compile_error!("hostsim runs on Linux with glibc, on x86_64 or aarch64");

/// The most bytes that one call moves (`MAX_RW_COUNT`).
const COUNT_MAX: usize = 0x7fff_f000;

thread_local! {
    /// The world of this thread. Without a destructor, so that the fall-through path may read it at
    /// any time in a thread's life.
    static CURRENT: Cell<*const World> = const { Cell::new(ptr::null()) };
}

/// Makes a world the one that this thread's calls reach, until the guard is dropped.
///
/// ```
/// use hostsim::seam;
/// use hostsim::world::World;
///
/// let world = World::new();
/// let entered = seam::enter(&world);
/// assert!(seam::current().is_some());
/// drop(entered);
/// assert!(seam::current().is_none());
/// ```
pub fn enter(world: &Rc<World>) -> Entered {
    let before = CURRENT.replace(Rc::as_ptr(world));
    Entered { before, world: world.clone() }
}

/// Keeps a world current.
///
/// ```
/// use hostsim::seam;
/// use hostsim::world::World;
///
/// let (outer, inner) = (World::new(), World::new());
/// let _outer = seam::enter(&outer);
/// drop(seam::enter(&inner));
/// let current = seam::current().expect("the guard of the outer one lives");
/// assert!(std::rc::Rc::ptr_eq(&current, &outer));
/// ```
pub struct Entered {
    before: *const World,
    world: Rc<World>,
}

impl Drop for Entered {
    fn drop(&mut self) {
        CURRENT.set(self.before);
        self.world.threads.let_go();
    }
}

/// The world of this thread, inside a run.
///
/// ```
/// # use hostsim::{machine::Machine, seam, world::World};
/// # let world = World::new();
/// # let _entered = seam::enter(&world);
/// # let host = world.with(|network| network.add_host("alone"));
/// world.set_slot(std::rc::Rc::new(7_u32));
/// // Code that a program calls finds the world that it runs in.
/// let slot = world.in_turn(host, || seam::current().and_then(|world| world.slot()));
/// assert!(slot.is_some_and(|slot| slot.is::<u32>()));
/// ```
pub fn current() -> Option<Rc<World>> {
    let world = world()?;
    // SAFETY: the pointer came from `Rc::as_ptr`, and a count is kept while it is current; no other
    // thread touches the count meanwhile.
    unsafe { Rc::increment_strong_count(ptr::from_ref(world)) };
    // SAFETY: the count that this takes over was added above.
    Some(unsafe { Rc::from_raw(ptr::from_ref(world)) })
}

/// The world of this thread. Valid until the end of the call: nothing in it leaves the world.
fn world<'a>() -> Option<&'a World> {
    let world = CURRENT.get();
    // SAFETY: null, or a world that `Entered` keeps alive on this very thread, or that the thread
    // which waits for this one's run keeps alive and leaves alone meanwhile.
    unsafe { world.as_ref() }
}

/// The world, where a machine of it has its turn on this thread.
fn machine_world<'a>() -> Option<&'a World> {
    world().filter(|world| world.host().is_some())
}

/// Sets `errno` and gives the value of a call that failed.
fn fail(errno: Errno) -> isize {
    // SAFETY: asks for nothing.
    let place = unsafe { libc::__errno_location() };
    // SAFETY: `errno` of this thread is always there to write.
    unsafe { place.write(errno.0) };
    -1
}

/// Answers a call from the world of this thread.
fn answer(call: impl FnOnce(&World) -> Sys<isize>) -> isize {
    let Some(world) = world() else { return fail(Errno::EBADF) };
    match guarded(world, || call(world)) {
        Some(Ok(value)) => value,
        Some(Err(errno)) => fail(errno),
        None => fail(Errno::EIO),
    }
}

/// Makes a call that may not unwind; a panic of it becomes [`Trouble::Internal`].
fn guarded<T>(world: &World, call: impl FnOnce() -> T) -> Option<T> {
    let record = |panic: Box<dyn std::any::Any + Send>| {
        world.record(Trouble::Internal(panic_text(&*panic)));
    };
    catch_unwind(AssertUnwindSafe(call)).map_err(record).ok()
}

/// As [`answer`], for calls that return an `int`.
fn answer_int(call: impl FnOnce(&World) -> Sys<i32>) -> i32 {
    answer(|world| call(world).map(|value| value as isize)) as i32
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic").to_owned()
}

/// Answers a call that may have to wait; where it would, and the descriptor says that it may, the
/// run cannot go on: the machine has one thread, and nobody else could end the wait.
fn without_waiting<T>(
    world: &World,
    at: Descriptor,
    name: &'static str,
    is_told_not_to: bool,
    call: impl FnOnce(&mut Network) -> Sys<T>,
) -> Sys<T> {
    let result = world.with(call);
    if matches!(result, Err(Errno::EAGAIN)) {
        world.probe.on_wait(at, name);
    }
    if matches!(result, Err(Errno::EAGAIN)) && !is_told_not_to {
        let is_nonblocking = world.with(|network| network.is_nonblocking(at))?;
        if !is_nonblocking {
            world.record(Trouble::WouldBlock { host: at.host, call: name });
        }
    }
    result
}
