//! The real clock, read past the seam.
//!
//! For the watchdog, which must see real time, and for the canary that proves that reading the
//! world is found out. Nothing that decides anything in a run may call it.

use std::arch::asm;
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
