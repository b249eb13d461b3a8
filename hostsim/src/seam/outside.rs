//! What the harness does past the seam: the real clock, work outside of the run, what std keeps in a
//! thread, and an option of sockets and the space of a file system.
//!
//! The clock is for the watchdog, which must see real time, and for the canary that proves that reading the
//! world is found out. Nothing that decides anything in a run may call it.

use super::CURRENT;
use crate::world::World;
use std::arch::asm;
use std::ffi::CStr;
use std::hash::RandomState;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd};
use std::ptr;
use std::time::Duration;

/// Does work of the harness as outside of every run, though a program of one has the turn: whatever
/// it calls is the real call, and a lock that it waits for lets no thread of the program run.
///
/// ```
/// use hostsim::seam::{self, outside::outside_of_run};
/// use hostsim::world::World;
///
/// let world = World::new();
/// let _entered = seam::enter(&world);
/// let manifest = outside_of_run(|| std::fs::exists("Cargo.toml"));
/// assert!(manifest.is_ok(), "the real file system was asked");
/// ```
pub fn outside_of_run<T>(work: impl FnOnce() -> T) -> T {
    let _back = Back(CURRENT.replace(ptr::null()));
    work()
}

/// Puts the world of the thread back.
struct Back(*const World);

impl Drop for Back {
    fn drop(&mut self) {
        CURRENT.set(self.0);
    }
}

/// Has a function called when the process ends by `exit(3)`, as `std::process::exit` ends it; on the
/// thread that calls that, which may be one of a program in a run.
///
/// ```
/// use hostsim::seam::outside::at_exit;
///
/// extern "C" fn tell() {
///     eprintln!("it ends");
/// }
/// at_exit(tell);
/// ```
pub fn at_exit(work: extern "C" fn()) {
    // SAFETY: a function of this program, which is there as long as the process. Where there is no
    // room for one more it is not called.
    unsafe { libc::atexit(work) };
}

/// The real monotonic clock, by a system call of its own.
///
/// ```
/// use hostsim::seam::outside::monotonic;
///
/// let start = monotonic();
/// assert!(monotonic() >= start);
/// ```
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

/// How many bytes the file system of a path has left for this user; none where it does not say.
///
/// ```
/// use hostsim::seam::outside::free_bytes;
///
/// assert!(free_bytes(c".").is_some());
/// assert_eq!(free_bytes(c"no/such/place"), None);
/// ```
pub fn free_bytes(path: &CStr) -> Option<u64> {
    let mut facts = MaybeUninit::<libc::statvfs>::uninit();
    // SAFETY: the path ends with a zero, and the call writes no more than the struct that it is given.
    let done = unsafe { libc::statvfs(path.as_ptr(), facts.as_mut_ptr()) };
    // SAFETY: the call succeeded, so it wrote the whole struct.
    let facts = (done == 0).then(|| unsafe { facts.assume_init() })?;
    Some(facts.f_bavail.saturating_mul(facts.f_frsize))
}

/// A number that each `RandomState` of this thread, this call's own included, moves on by one.
///
/// std makes the keys of its hash maps once a thread and counts them up, so two readings say how
/// many were made between them.
///
/// ```
/// use hostsim::seam::outside::hash_states;
/// use std::collections::HashMap;
///
/// let before = hash_states();
/// let _map = HashMap::<u8, u8>::new();
/// let made = hash_states().wrapping_sub(before) - 1;
/// assert_eq!(made, 1);
/// ```
pub fn hash_states() -> u64 {
    let state = RandomState::new();
    // SAFETY: std's type is two `u64`s; another size does not compile.
    let [first, second] = unsafe { std::mem::transmute::<RandomState, [u64; 2]>(state) };
    first.wrapping_add(second)
}

/// Sets how often a socket sends its SYN again (`TCP_SYNCNT`), which no safe crate does: the tests of
/// TCP's facts ask real and simulated sockets to give up soon.
///
/// # Errors
/// Those of `setsockopt(2)`.
///
/// ```
/// use hostsim::kernel::Descriptor;
/// use hostsim::network::{OptionName, OptionValue};
/// use hostsim::seam::outside::set_syn_count;
/// use std::os::fd::AsRawFd;
/// # use hostsim::{machine::Machine, seam, world::World};
/// # let world = World::new();
/// # let _entered = seam::enter(&world);
/// # let host = world.with(|network| network.add_host("alone"));
/// let listener = world.in_turn(host, || std::net::TcpListener::bind("0.0.0.0:7"))?;
/// set_syn_count(&listener, 2)?;
/// let socket = Descriptor::from_raw(listener.as_raw_fd()).expect("it is simulated");
/// let name = OptionName { level: libc::IPPROTO_TCP, name: libc::TCP_SYNCNT };
/// assert_eq!(world.with(|network| network.option(socket, name)), Ok(OptionValue::Int(2)));
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn set_syn_count(socket: &impl AsFd, count: i32) -> io::Result<()> {
    let (fd, len) = (socket.as_fd().as_raw_fd(), size_of::<i32>() as libc::socklen_t);
    let value = (&raw const count).cast();
    // SAFETY: the value is an `int` that lives for the time of the call.
    let done = unsafe { libc::setsockopt(fd, libc::IPPROTO_TCP, libc::TCP_SYNCNT, value, len) };
    if done < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seam;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    #[test]
    fn work_outside_reaches_no_world_and_the_run_goes_on_after_it() {
        let world = World::new();
        let _entered = seam::enter(&world);
        assert!(outside_of_run(|| seam::current().is_none()));
        assert!(seam::current().is_some());
        let panics = AssertUnwindSafe(|| outside_of_run(|| panic!("as it is seen")));
        assert!(catch_unwind(panics).is_err());
        assert!(seam::current().is_some(), "a panic comes back to it too");
    }
}
