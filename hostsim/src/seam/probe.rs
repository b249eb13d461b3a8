//! A probe that each symbol is live: that the program calls ours and not the C library's.

use super::CURRENT;
use super::real::{NAMES, probed};
use std::ptr::{null, null_mut};

/// Symbols that the program does not take from the seam.
///
/// ```
/// use hostsim::seam::ProbeError;
///
/// let error = ProbeError { missing: vec!["connect", "send"] };
/// assert!(error.to_string().contains("connect, send"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProbeError {
    /// Their names.
    pub missing: Vec<&'static str>,
}

impl std::fmt::Display for ProbeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let missing = self.missing.join(", ");
        write!(
            f,
            "these calls do not reach the simulated kernel: {missing} (is glibc linked statically?)"
        )
    }
}

impl std::error::Error for ProbeError {}

/// Calls every symbol once, as outside a run, and sees that it was ours. Nothing else happens.
///
/// # Errors
/// The symbols that were not ours.
///
/// ```
/// hostsim::seam::probe().expect("this program's calls reach the seam");
/// ```
pub fn probe() -> Result<(), ProbeError> {
    let before = CURRENT.replace(null());
    let reached = probed(|| {
        call_clocks_and_entropy();
        call_polls();
        call_sockets();
        call_streams();
        call_paths();
        call_files();
        call_threads();
        call_names();
    });
    CURRENT.set(before);
    let is_missing = |index: &usize| reached & (1_u128 << index) == 0;
    let missing: Vec<_> = (0..NAMES.len()).filter(is_missing).map(|index| NAMES[index]).collect();
    if missing.is_empty() { Ok(()) } else { Err(ProbeError { missing }) }
}

fn call_clocks_and_entropy() {
    let mut spec = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    let mut value = libc::timeval { tv_sec: 0, tv_usec: 0 };
    // SAFETY: places to write are given where one could be written.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut spec) };
    // SAFETY: as above.
    unsafe { libc::gettimeofday(&mut value, null_mut()) };
    // SAFETY: a null place asks for the result only.
    unsafe { libc::time(null_mut()) };
    // SAFETY: a sleep of no time.
    unsafe { libc::nanosleep(&spec, null_mut()) };
    // SAFETY: a sleep of no time.
    unsafe { libc::clock_nanosleep(libc::CLOCK_MONOTONIC, 0, &spec, null_mut()) };
    // SAFETY: no bytes are asked for.
    unsafe { libc::getrandom(null_mut(), 0, 0) };
    // SAFETY: no bytes are asked for.
    unsafe { libc::getentropy(null_mut(), 0) };
    // SAFETY: the number is of no system call.
    unsafe { libc::syscall(-1, 0, 0, 0, 0, 0, 0) };
}

fn call_polls() {
    // SAFETY: flags that no kernel takes.
    unsafe { libc::epoll_create1(-1) };
    // SAFETY: flags that no kernel takes.
    unsafe { libc::eventfd(0, -1) };
    // SAFETY: no descriptor is -1, so nothing is read or written, here and below.
    unsafe { libc::epoll_ctl(-1, 0, -1, null_mut()) };
    // SAFETY: as above.
    unsafe { libc::epoll_wait(-1, null_mut(), 0, 0) };
    // SAFETY: as above.
    unsafe { libc::epoll_pwait(-1, null_mut(), 0, 0, null()) };
    // SAFETY: as above.
    unsafe { libc::epoll_pwait2(-1, null_mut(), 0, null(), null()) };
    // SAFETY: no entries, no wait.
    unsafe { libc::poll(null_mut(), 0, 0) };
}

fn call_sockets() {
    // SAFETY: a family that no kernel has.
    unsafe { libc::socket(-1, 0, 0) };
    // SAFETY: a family that no kernel has, and no place to write.
    unsafe { libc::socketpair(-1, 0, 0, null_mut()) };
    // SAFETY: no descriptor is -1, so nothing is read or written, here and below.
    unsafe { libc::bind(-1, null(), 0) };
    // SAFETY: as above.
    unsafe { libc::listen(-1, 0) };
    // SAFETY: as above.
    unsafe { libc::accept(-1, null_mut(), null_mut()) };
    // SAFETY: as above.
    unsafe { libc::accept4(-1, null_mut(), null_mut(), 0) };
    // SAFETY: as above.
    unsafe { libc::connect(-1, null(), 0) };
    // SAFETY: as above.
    unsafe { libc::getsockname(-1, null_mut(), null_mut()) };
    // SAFETY: as above.
    unsafe { libc::getpeername(-1, null_mut(), null_mut()) };
    // SAFETY: as above.
    unsafe { libc::getsockopt(-1, 0, 0, null_mut(), null_mut()) };
    // SAFETY: as above.
    unsafe { libc::setsockopt(-1, 0, 0, null(), 0) };
    // SAFETY: as above.
    unsafe { libc::shutdown(-1, 0) };
}

fn call_streams() {
    // SAFETY: no descriptor is -1, so nothing is read or written, here and below.
    unsafe { libc::recv(-1, null_mut(), 0, 0) };
    // SAFETY: as above.
    unsafe { libc::send(-1, null(), 0, 0) };
    // SAFETY: as above.
    unsafe { libc::recvfrom(-1, null_mut(), 0, 0, null_mut(), null_mut()) };
    // SAFETY: as above.
    unsafe { libc::sendto(-1, null(), 0, 0, null(), 0) };
    // SAFETY: as above.
    unsafe { libc::recvmsg(-1, null_mut(), 0) };
    // SAFETY: as above.
    unsafe { libc::sendmsg(-1, null(), 0) };
    // SAFETY: as above.
    unsafe { libc::recvmmsg(-1, null_mut(), 0, 0, null_mut()) };
    // SAFETY: as above.
    unsafe { libc::sendmmsg(-1, null_mut(), 0, 0) };
    // SAFETY: as above.
    unsafe { libc::read(-1, null_mut(), 0) };
    // SAFETY: as above.
    unsafe { libc::write(-1, null(), 0) };
    // SAFETY: as above.
    unsafe { libc::readv(-1, null(), 0) };
    // SAFETY: as above.
    unsafe { libc::writev(-1, null(), 0) };
    // SAFETY: as above.
    unsafe { libc::close(-1) };
    // SAFETY: as above.
    unsafe { libc::fcntl(-1, libc::F_GETFD, 0) };
    // SAFETY: as above.
    unsafe { libc::ioctl(-1, libc::FIONREAD, null_mut::<libc::c_int>()) };
    // SAFETY: as above.
    unsafe { libc::dup(-1) };
}

fn call_paths() {
    // SAFETY: a path that no file has, here and below: the empty one.
    unsafe { libc::unlink(c"".as_ptr()) };
    // SAFETY: as above.
    unsafe { libc::unlinkat(-1, c"".as_ptr(), 0) };
    // SAFETY: as above.
    unsafe { libc::chmod(c"".as_ptr(), 0) };
    // SAFETY: as above; nothing is written.
    unsafe { libc::statx(-1, c"".as_ptr(), 0, 0, null_mut()) };
}

fn call_files() {
    let (none, nowhere) = (c"".as_ptr(), null_mut());
    // SAFETY: a path that no file has, here and below: the empty one.
    unsafe { libc::open(none, libc::O_RDONLY, 0) };
    // SAFETY: as above.
    unsafe { libc::open64(none, libc::O_RDONLY, 0) };
    // SAFETY: as above.
    unsafe { libc::openat(-1, none, libc::O_RDONLY, 0) };
    // SAFETY: as above.
    unsafe { libc::openat64(-1, none, libc::O_RDONLY, 0) };
    // SAFETY: no descriptor is -1, so nothing is read or written, here and below.
    unsafe { libc::pwrite(-1, null(), 0, 0) };
    // SAFETY: as above.
    unsafe { libc::pwrite64(-1, null(), 0, 0) };
    // SAFETY: as above.
    unsafe { libc::ftruncate(-1, 0) };
    // SAFETY: as above.
    unsafe { libc::fsync(-1) };
    // SAFETY: as above.
    unsafe { libc::fdatasync(-1) };
    // SAFETY: as above.
    unsafe { libc::ftruncate64(-1, 0) };
    // SAFETY: as above.
    unsafe { libc::copy_file_range(-1, nowhere, -1, nowhere, 0, 0) };
    // SAFETY: the empty path again, here and below.
    unsafe { libc::rename(none, none) };
    // SAFETY: as above.
    unsafe { libc::renameat(-1, none, -1, none) };
    // SAFETY: as above.
    unsafe { libc::mkdir(none, 0) };
    // SAFETY: as above.
    unsafe { libc::rmdir(none) };
    // SAFETY: as above.
    unsafe { libc::symlink(none, none) };
    // SAFETY: as above.
    unsafe { libc::link(none, none) };
    // SAFETY: as above.
    unsafe { libc::linkat(-1, none, -1, none, 0) };
}

fn call_threads() {
    extern "C" fn nothing(argument: *mut libc::c_void) -> *mut libc::c_void {
        argument
    }
    let mut made = 0;
    // SAFETY: ours makes no thread while a probe runs; the C library's would make one that ends.
    unsafe { libc::pthread_create(&mut made, null(), nothing, null_mut()) };
    // SAFETY: a thread cannot wait for itself, so the C library's fails at once.
    let own = unsafe { libc::pthread_self() };
    // SAFETY: as above.
    unsafe { libc::pthread_join(own, null_mut()) };
    // SAFETY: a place of no bytes.
    unsafe { libc::sched_getaffinity(0, 0, null_mut()) };
}

fn call_names() {
    // SAFETY: neither a node nor a service is asked for, so nothing is written.
    unsafe { libc::getaddrinfo(null(), null(), null(), null_mut()) };
    // SAFETY: no list.
    unsafe { libc::freeaddrinfo(null_mut()) };
    // SAFETY: no address and no places to write.
    unsafe { libc::getnameinfo(null(), 0, null_mut(), 0, null_mut(), 0, 0) };
    // SAFETY: a place of no bytes.
    unsafe { libc::gethostname(null_mut(), 0) };
}
