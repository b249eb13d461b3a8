//! A gate: how the turn goes from one thread to another and back.
//!
//! A gate waits by the real system call. What it waits for is real time passing in another thread
//! of the process, and no part of a run; std's own locks would come back through the seam.

use super::real;
use libc::{c_int, c_long};
use std::sync::atomic::{AtomicU32, Ordering};

/// Where a thread of a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum Stage {
    /// It waits for its run.
    Waits = 0,
    /// It has the turn.
    Runs = 1,
    /// It gave the turn back and touches the world no more.
    Ended = 2,
}

/// The stage of one thread. Moving on publishes everything written before it to whoever waits.
pub(super) struct Gate(AtomicU32);

impl Gate {
    pub(super) fn new() -> Gate {
        Gate(AtomicU32::new(Stage::Waits as u32))
    }

    /// Moves on, and wakes whoever waits for it.
    pub(super) fn set(&self, stage: Stage) {
        self.0.store(stage as u32, Ordering::Release);
        self.call(libc::FUTEX_WAKE, i32::MAX as u32);
    }

    /// Waits for as long as the thread stands at `stage`.
    pub(super) fn wait_while(&self, stage: Stage) {
        while self.0.load(Ordering::Acquire) == stage as u32 {
            self.call(libc::FUTEX_WAIT, stage as u32);
        }
    }

    fn call(&self, operation: c_int, value: u32) {
        let word = self.0.as_ptr() as c_long;
        let operation = c_long::from(operation | libc::FUTEX_PRIVATE_FLAG);
        // SAFETY: the word lives for the time of the call, and a null timeout is no timeout.
        unsafe { real::syscall(libc::SYS_futex, word, operation, c_long::from(value), 0, 0, 0) };
    }
}
