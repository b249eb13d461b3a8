//! System calls by their number, of which two are answered.
//!
//! `getrandom`: getrandom 0.2, and so ring, comes this way. `futex`: std and parking_lot wait so,
//! and the deadlines they give are of the virtual clock.

use super::clock::show;
use super::entropy::getrandom;
use super::{fail, machine_world, real, thread, world};
use crate::errno::Errno;
use crate::world::World;
use libc::{c_int, c_long, c_uint, c_void, size_t, timespec};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// What std's parked threads wait on. Its locks never wait on this value.
const PARKED: u32 = u32::MAX;

/// `syscall(2)`
#[unsafe(no_mangle)]
unsafe extern "C" fn syscall(
    number: c_long,
    a: c_long,
    b: c_long,
    c: c_long,
    d: c_long,
    e: c_long,
    f: c_long,
) -> c_long {
    if number == libc::SYS_getrandom && world().is_some() {
        // SAFETY: the arguments are those of `getrandom`.
        return unsafe { getrandom(a as *mut c_void, b as size_t, c as c_uint) as c_long };
    }
    if number == libc::SYS_futex
        && let Some(world) = machine_world()
        && let Some(answer) = Wait::read(world, a, b, c, d).and_then(|wait| wait.answer(world))
    {
        return answer;
    }
    // SAFETY: the caller's arguments go on as they came; those past the real ones are ignored.
    unsafe { real::syscall(number, a, b, c, d, e, f) }
}

/// A wait of `futex(2)` whose end the run decides.
struct Wait<'a> {
    word: &'a AtomicU32,
    expected: u32,
    /// How long it waits at most, in virtual time; `None` for parking, which has no end.
    left: Option<Duration>,
}

impl Wait<'_> {
    /// Reads the arguments of a call; nothing where it is the real kernel's to answer.
    ///
    /// A wait without a timeout is the real kernel's unless it parks: a lock may be held by a
    /// thread outside the run, and when that lets go must decide nothing in it.
    fn read<'a>(
        world: &World,
        word: c_long,
        operation: c_long,
        expected: c_long,
        timeout: c_long,
    ) -> Option<Wait<'a>> {
        let operation = operation as c_int;
        let is_absolute = match operation & libc::FUTEX_CMD_MASK {
            libc::FUTEX_WAIT => false,
            libc::FUTEX_WAIT_BITSET => true,
            _ => return None,
        };
        // SAFETY: null, or a time, as the man page asks.
        let timeout = unsafe { (timeout as *const timespec).as_ref() };
        let left = match timeout {
            None if expected as u32 == PARKED => None,
            None => return None,
            Some(time) => {
                let seconds = u64::try_from(time.tv_sec).ok()?;
                let nanos = u32::try_from(time.tv_nsec).ok().filter(|n| *n < 1_000_000_000)?;
                let time = Duration::new(seconds, nanos);
                Some(if is_absolute { time.saturating_sub(now(world, operation)?) } else { time })
            }
        };
        // SAFETY: the caller gives an aligned word that lives for the time of the call and that
        // threads change atomically, as the man page asks; the real kernel would say the rest.
        let word = unsafe { (word as *const AtomicU32).as_ref() }?;
        Some(Wait { word, expected: expected as u32, left })
    }

    /// Ends the wait: threads that wait for their run go first, then time passes.
    fn answer(&self, world: &World) -> Option<c_long> {
        let has_changed = || self.word.load(Ordering::Acquire) != self.expected;
        if has_changed() {
            return Some(fail(Errno::EAGAIN) as c_long);
        }
        if self.left != Some(Duration::ZERO) && thread::run_waiting(world) && has_changed() {
            return Some(fail(Errno::EAGAIN) as c_long);
        }
        world.stall(self.left?);
        Some(fail(Errno::ETIMEDOUT) as c_long)
    }
}

/// What the clock shows that an absolute timeout is on.
fn now(world: &World, operation: c_int) -> Option<Duration> {
    let is_wall = operation & libc::FUTEX_CLOCK_REALTIME != 0;
    show(world, if is_wall { libc::CLOCK_REALTIME } else { libc::CLOCK_MONOTONIC }).ok()
}
