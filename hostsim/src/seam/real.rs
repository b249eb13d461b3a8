//! The real functions behind the symbols.
//!
//! Each is looked up once, when the program starts, so that a call that falls through only loads an
//! address. While a probe runs, a function that is reached marks itself and does nothing.

use super::interceptor;
use super::thread::Routine;
use libc::{
    addrinfo, c_char, c_int, c_long, c_uint, c_void, clockid_t, cpu_set_t, epoll_event, iovec,
    mmsghdr, mode_t, msghdr, nfds_t, off_t, off64_t, pid_t, pollfd, pthread_attr_t, pthread_t,
    sigset_t, size_t, sockaddr, socklen_t, ssize_t, time_t, timespec, timeval,
};
use std::cell::Cell;
use std::ffi::CStr;
use std::sync::atomic::{AtomicPtr, Ordering};

thread_local! {
    /// The symbols that a probe reached, a bit each; `None` while no probe runs.
    static PROBED: Cell<Option<u128>> = const { Cell::new(None) };
}

/// Runs `calls` as a probe; gives the symbols that it reached, a bit each.
pub(super) fn probed(calls: impl FnOnce()) -> u128 {
    PROBED.set(Some(0));
    calls();
    PROBED.replace(None).unwrap_or(0)
}

/// What a function gives that only marked itself.
trait Marked {
    const VALUE: Self;
}

impl Marked for i32 {
    const VALUE: i32 = -1;
}

impl Marked for i64 {
    const VALUE: i64 = -1;
}

impl Marked for isize {
    const VALUE: isize = -1;
}

impl Marked for () {
    const VALUE: () = ();
}

/// Marks a symbol; whether a probe runs.
fn is_probe(index: usize) -> bool {
    let Some(reached) = PROBED.get() else { return false };
    PROBED.set(Some(reached | 1 << index));
    true
}

fn look_up(slot: &AtomicPtr<c_void>, name: &CStr) -> *mut c_void {
    let found = slot.load(Ordering::Relaxed);
    if !found.is_null() {
        return found;
    }
    let mut found = interceptor::find(name);
    if found.is_null() {
        // SAFETY: the name is a C string, and `RTLD_NEXT` asks for the definition after ours.
        found = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
    }
    if found.is_null() {
        // SAFETY: ends the process; there is no real function to fall through to.
        unsafe { libc::abort() };
    }
    slot.store(found, Ordering::Relaxed);
    found
}

macro_rules! table {
    ($($name:ident($($arg:ident: $type:ty),*) -> $result:ty;)*) => {
        #[allow(non_camel_case_types)]
        enum Symbol { $($name,)* Count }

        /// The names of the symbols, in the order of the bits of a probe.
        pub(super) const NAMES: [&str; Symbol::Count as usize] = [$(stringify!($name)),*];

        extern "C" fn look_up_all() {
            $(look_up(&slots::$name, const { c_name(concat!(stringify!($name), "\0")) });)*
        }

        mod slots {
            #![allow(non_upper_case_globals)]
            $(pub(super) static $name: super::AtomicPtr<super::c_void> =
                super::AtomicPtr::new(std::ptr::null_mut());)*
        }

        $(
            /// The real function.
            ///
            /// # Safety
            /// As its man page says.
            pub(super) unsafe fn $name($($arg: $type),*) -> $result {
                if is_probe(Symbol::$name as usize) {
                    return <$result as Marked>::VALUE;
                }
                let found = look_up(&slots::$name, const { c_name(concat!(stringify!($name), "\0")) });
                // SAFETY: the C library declares the function so.
                let call = unsafe {
                    std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($type),*) -> $result>(found)
                };
                // SAFETY: the caller keeps what the man page asks.
                unsafe { call($($arg),*) }
            }
        )*
    };
}

const fn c_name(name: &'static str) -> &'static CStr {
    match CStr::from_bytes_with_nul(name.as_bytes()) {
        Ok(name) => name,
        Err(_) => panic!("the table ends each name"),
    }
}

table! {
    clock_gettime(clock: clockid_t, into: *mut timespec) -> c_int;
    gettimeofday(into: *mut timeval, zone: *mut c_void) -> c_int;
    time(into: *mut time_t) -> time_t;
    nanosleep(request: *const timespec, rest: *mut timespec) -> c_int;
    clock_nanosleep(clock: clockid_t, flags: c_int, request: *const timespec, rest: *mut timespec) -> c_int;
    getrandom(into: *mut c_void, len: size_t, flags: c_uint) -> ssize_t;
    getentropy(into: *mut c_void, len: size_t) -> c_int;
    syscall(number: c_long, a: c_long, b: c_long, c: c_long, d: c_long, e: c_long, f: c_long) -> c_long;
    epoll_create1(flags: c_int) -> c_int;
    epoll_ctl(epoll: c_int, change: c_int, fd: c_int, event: *mut epoll_event) -> c_int;
    epoll_wait(epoll: c_int, events: *mut epoll_event, max: c_int, timeout: c_int) -> c_int;
    epoll_pwait(epoll: c_int, events: *mut epoll_event, max: c_int, timeout: c_int, mask: *const sigset_t) -> c_int;
    epoll_pwait2(epoll: c_int, events: *mut epoll_event, max: c_int, timeout: *const timespec, mask: *const sigset_t) -> c_int;
    eventfd(initial: c_uint, flags: c_int) -> c_int;
    poll(fds: *mut pollfd, count: nfds_t, timeout: c_int) -> c_int;
    socket(domain: c_int, kind: c_int, protocol: c_int) -> c_int;
    socketpair(domain: c_int, kind: c_int, protocol: c_int, into: *mut c_int) -> c_int;
    bind(fd: c_int, address: *const sockaddr, len: socklen_t) -> c_int;
    listen(fd: c_int, backlog: c_int) -> c_int;
    accept(fd: c_int, address: *mut sockaddr, len: *mut socklen_t) -> c_int;
    accept4(fd: c_int, address: *mut sockaddr, len: *mut socklen_t, flags: c_int) -> c_int;
    connect(fd: c_int, address: *const sockaddr, len: socklen_t) -> c_int;
    getsockname(fd: c_int, address: *mut sockaddr, len: *mut socklen_t) -> c_int;
    getpeername(fd: c_int, address: *mut sockaddr, len: *mut socklen_t) -> c_int;
    getsockopt(fd: c_int, level: c_int, name: c_int, value: *mut c_void, len: *mut socklen_t) -> c_int;
    setsockopt(fd: c_int, level: c_int, name: c_int, value: *const c_void, len: socklen_t) -> c_int;
    recv(fd: c_int, into: *mut c_void, len: size_t, flags: c_int) -> ssize_t;
    send(fd: c_int, from: *const c_void, len: size_t, flags: c_int) -> ssize_t;
    recvfrom(fd: c_int, into: *mut c_void, len: size_t, flags: c_int, address: *mut sockaddr, address_len: *mut socklen_t) -> ssize_t;
    sendto(fd: c_int, from: *const c_void, len: size_t, flags: c_int, address: *const sockaddr, address_len: socklen_t) -> ssize_t;
    recvmsg(fd: c_int, message: *mut msghdr, flags: c_int) -> ssize_t;
    sendmsg(fd: c_int, message: *const msghdr, flags: c_int) -> ssize_t;
    recvmmsg(fd: c_int, messages: *mut mmsghdr, count: c_uint, flags: c_int, timeout: *mut timespec) -> c_int;
    sendmmsg(fd: c_int, messages: *mut mmsghdr, count: c_uint, flags: c_int) -> c_int;
    read(fd: c_int, into: *mut c_void, len: size_t) -> ssize_t;
    write(fd: c_int, from: *const c_void, len: size_t) -> ssize_t;
    readv(fd: c_int, parts: *const iovec, count: c_int) -> ssize_t;
    writev(fd: c_int, parts: *const iovec, count: c_int) -> ssize_t;
    shutdown(fd: c_int, how: c_int) -> c_int;
    close(fd: c_int) -> c_int;
    fcntl(fd: c_int, command: c_int, argument: c_long) -> c_int;
    ioctl(fd: c_int, request: c_long, argument: *mut c_void) -> c_int;
    dup(fd: c_int) -> c_int;
    unlink(path: *const c_char) -> c_int;
    unlinkat(folder: c_int, path: *const c_char, flags: c_int) -> c_int;
    chmod(path: *const c_char, bits: mode_t) -> c_int;
    statx(folder: c_int, path: *const c_char, flags: c_int, mask: c_uint, into: *mut libc::statx) -> c_int;
    open(path: *const c_char, flags: c_int, mode: mode_t) -> c_int;
    open64(path: *const c_char, flags: c_int, mode: mode_t) -> c_int;
    openat(folder: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int;
    openat64(folder: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int;
    pwrite(fd: c_int, from: *const c_void, len: size_t, offset: off_t) -> ssize_t;
    pwrite64(fd: c_int, from: *const c_void, len: size_t, offset: off64_t) -> ssize_t;
    fsync(fd: c_int) -> c_int;
    fdatasync(fd: c_int) -> c_int;
    ftruncate(fd: c_int, len: off_t) -> c_int;
    ftruncate64(fd: c_int, len: off64_t) -> c_int;
    rename(from: *const c_char, to: *const c_char) -> c_int;
    renameat(from_folder: c_int, from: *const c_char, to_folder: c_int, to: *const c_char) -> c_int;
    mkdir(path: *const c_char, mode: mode_t) -> c_int;
    rmdir(path: *const c_char) -> c_int;
    symlink(to: *const c_char, path: *const c_char) -> c_int;
    link(from: *const c_char, to: *const c_char) -> c_int;
    linkat(from_folder: c_int, from: *const c_char, to_folder: c_int, to: *const c_char, flags: c_int) -> c_int;
    copy_file_range(from: c_int, from_at: *mut off64_t, to: c_int, to_at: *mut off64_t, len: size_t, flags: c_uint) -> ssize_t;
    pthread_create(into: *mut pthread_t, attributes: *const pthread_attr_t, routine: Routine, argument: *mut c_void) -> c_int;
    pthread_join(thread: pthread_t, into: *mut *mut c_void) -> c_int;
    sched_getaffinity(thread: pid_t, size: size_t, into: *mut cpu_set_t) -> c_int;
    getaddrinfo(node: *const c_char, service: *const c_char, hints: *const addrinfo, into: *mut *mut addrinfo) -> c_int;
    freeaddrinfo(list: *mut addrinfo) -> ();
    getnameinfo(address: *const sockaddr, len: socklen_t, node: *mut c_char, node_len: socklen_t, service: *mut c_char, service_len: socklen_t, flags: c_int) -> c_int;
    gethostname(into: *mut c_char, len: size_t) -> c_int;
}

/// Looks every function up before `main`, on the one thread that there is then.
#[used]
#[unsafe(link_section = ".init_array")]
static LOOK_UP_ALL: extern "C" fn() = look_up_all;
