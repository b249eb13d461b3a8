//! The real clock, read past the seam, and what std keeps in a thread.
//!
//! The clock is for the watchdog, which must see real time, and for the canary that proves that reading the
//! world is found out. Nothing that decides anything in a run may call it.

use std::arch::asm;
use std::hash::RandomState;
use std::time::Duration;

/// The real monotonic clock, by a system call of its own.
pub fn monotonic() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    clock(libc::CLOCK_MONOTONIC, &mut time);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

#[cfg(target_arch = "x86_64")]
fn clock(clock: libc::clockid_t, into: &mut libc::timespec) {
    // SAFETY: the call writes the one `timespec` that it is given, and the kernel clobbers the two
    // registers that are named.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") libc::SYS_clock_gettime => _,
            in("rdi") clock,
            in("rsi") into,
            out("rcx") _,
            out("r11") _,
            options(nostack),
        );
    }
}

#[cfg(target_arch = "aarch64")]
fn clock(clock: libc::clockid_t, into: &mut libc::timespec) {
    // SAFETY: the call writes the one `timespec` that it is given.
    unsafe {
        asm!(
            "svc 0",
            in("x8") libc::SYS_clock_gettime,
            inlateout("x0") i64::from(clock) => _,
            in("x1") into,
            options(nostack),
        );
    }
}

/// A number that each `RandomState` of this thread, this call's own included, moves on by one.
///
/// std makes the keys of its hash maps once a thread and counts them up, so two readings say how
/// many were made between them.
pub fn hash_states() -> u64 {
    let state = RandomState::new();
    // SAFETY: std's type is two `u64`s; another size does not compile.
    let [first, second] = unsafe { std::mem::transmute::<RandomState, [u64; 2]>(state) };
    first.wrapping_add(second)
}
