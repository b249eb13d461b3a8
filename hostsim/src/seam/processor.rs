//! Processors: a run sees one, and has one once its programs make threads.
//!
//! One thread of a run has the turn at a time. Where the next one waits on another processor, each
//! turn that is handed over wakes that from its sleep, which takes far longer than the turn. So a
//! run stays on the processor on which its first thread is made, and its threads with it, until it
//! is over; what waits for the run from outside goes where it likes.
//!
//! # Determinism
//! What a program makes of the number of processors would be another run on another machine: in a
//! machine's turn there is one.

use super::{fail, machine_world, real};
use crate::errno::Errno;
use libc::{c_int, cpu_set_t, pid_t, size_t};
use std::cell::Cell;
use std::mem::{MaybeUninit, size_of};

/// Where the thread of a run may go once the run is over; `None` while it is not kept anywhere.
#[derive(Default)]
pub(super) struct Kept(Cell<Option<cpu_set_t>>);

impl Kept {
    /// Keeps this thread, and those that it makes, on the processor that it is on. Where the system
    /// does not let it, all is as before: only slower.
    pub(super) fn keep(&self) {
        if self.0.get().is_none() {
            self.0.set(allowed().filter(|_| stay()));
        }
    }

    /// Lets this thread go, which is the one that was kept.
    pub(super) fn let_go(&self) {
        if let Some(allowed) = self.0.take() {
            allow(&allowed);
        }
    }
}

/// The processors that this thread may be on.
fn allowed() -> Option<cpu_set_t> {
    let mut set = MaybeUninit::<cpu_set_t>::zeroed();
    // SAFETY: the call writes no more than the set that it is given.
    let done = unsafe { real::sched_getaffinity(0, size_of::<cpu_set_t>(), set.as_mut_ptr()) };
    // SAFETY: an array of numbers, and zeros are some.
    (done == 0).then(|| unsafe { set.assume_init() })
}

/// Has this thread stay where it is; whether it does.
fn stay() -> bool {
    // SAFETY: asks for a number.
    let Ok(processor) = usize::try_from(unsafe { libc::sched_getcpu() }) else { return false };
    // SAFETY: an array of numbers, and zeros are some.
    let mut set = unsafe { MaybeUninit::<cpu_set_t>::zeroed().assume_init() };
    if processor >= 8 * size_of::<cpu_set_t>() {
        return false;
    }
    // SAFETY: the set has a bit of that number.
    unsafe { libc::CPU_SET(processor, &mut set) };
    allow(&set)
}

fn allow(set: &cpu_set_t) -> bool {
    // SAFETY: the call reads the set that it is given.
    unsafe { libc::sched_setaffinity(0, size_of::<cpu_set_t>(), set) == 0 }
}

/// `sched_getaffinity(2)`, which `std::thread::available_parallelism` asks.
#[unsafe(no_mangle)]
unsafe extern "C" fn sched_getaffinity(thread: pid_t, size: size_t, into: *mut cpu_set_t) -> c_int {
    if machine_world().is_none() {
        // SAFETY: the caller's arguments go on as they came.
        return unsafe { real::sched_getaffinity(thread, size, into) };
    }
    if size < size_of::<u64>() || !size.is_multiple_of(size_of::<u64>()) {
        return fail(Errno::EINVAL) as c_int;
    }
    if into.is_null() {
        return fail(Errno::EFAULT) as c_int;
    }
    // SAFETY: the caller's place for a set of so many bytes.
    unsafe { into.cast::<u8>().write_bytes(0, size) };
    // SAFETY: as above. The first word of a set has the bit of the first processor lowest.
    unsafe { into.cast::<u64>().write_unaligned(1) };
    0
}
