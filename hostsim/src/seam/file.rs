//! Calls that change files, for as long as the program of a process that is over is dropped.
//!
//! Files are the real ones. A process that was killed changes none any more; what its program's
//! destructors would do (flush a buffer, remove a folder) would be a life after death. So in the
//! turn of a machine whose process is over these calls fail with `EIO`; reading goes on, and so
//! does what is printed. In every other turn, and outside of runs, each is the real call.
//!
//! In a turn `fsync` and `fdatasync` reach no disk: what a program wrote is there for its next
//! process, whatever crash there was between, and a run costs no wait for a disk.

use super::{answer_int, fail, machine_world, real};
use crate::errno::Errno;
use crate::kernel::Descriptor;
use libc::{c_char, c_int, c_uint, c_void, mode_t, off_t, off64_t, size_t, ssize_t};

/// Whether the current machine's process is over.
pub(super) fn is_over() -> bool {
    machine_world().is_some_and(|world| world.is_over())
}

/// Whether a write to a descriptor of the real kernel is refused: one to a file is, what is printed
/// is not.
pub(super) fn refuses_write(fd: c_int) -> bool {
    fd > libc::STDERR_FILENO && is_over()
}

/// Whether flags of an `open(2)` could change a file.
fn changes(flags: c_int) -> bool {
    flags & libc::O_ACCMODE != libc::O_RDONLY || flags & (libc::O_CREAT | libc::O_TRUNC) != 0
}

macro_rules! refused {
    ($($doc:literal $name:ident($($arg:ident: $type:ty),*) -> $result:ty, $when:expr;)*) => {
        $(
            #[doc = $doc]
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $name($($arg: $type),*) -> $result {
                if $when && is_over() {
                    return fail(Errno::EIO) as $result;
                }
                // SAFETY: the caller's arguments go on as they came.
                unsafe { real::$name($($arg),*) }
            }
        )*
    };
}

refused! {
    "`open(2)`; the mode is there where the flags ask for it, and else not looked at."
    open(path: *const c_char, flags: c_int, mode: mode_t) -> c_int, changes(flags);
    "`open(2)`, with large offsets."
    open64(path: *const c_char, flags: c_int, mode: mode_t) -> c_int, changes(flags);
    "`openat(2)`"
    openat(folder: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int, changes(flags);
    "`openat(2)`, with large offsets."
    openat64(folder: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int, changes(flags);
    "`pwrite(2)`"
    pwrite(fd: c_int, from: *const c_void, len: size_t, offset: off_t) -> ssize_t, true;
    "`pwrite(2)`, with large offsets."
    pwrite64(fd: c_int, from: *const c_void, len: size_t, offset: off64_t) -> ssize_t, true;
    "`ftruncate(2)`"
    ftruncate(fd: c_int, len: off_t) -> c_int, true;
    "`ftruncate(2)`, with large offsets."
    ftruncate64(fd: c_int, len: off64_t) -> c_int, true;
    "`rename(2)`"
    rename(from: *const c_char, to: *const c_char) -> c_int, true;
    "`renameat(2)`"
    renameat(from_folder: c_int, from: *const c_char, to_folder: c_int, to: *const c_char) -> c_int, true;
    "`mkdir(2)`"
    mkdir(path: *const c_char, mode: mode_t) -> c_int, true;
    "`rmdir(2)`"
    rmdir(path: *const c_char) -> c_int, true;
    "`symlink(2)`"
    symlink(to: *const c_char, path: *const c_char) -> c_int, true;
    "`link(2)`"
    link(from: *const c_char, to: *const c_char) -> c_int, true;
    "`linkat(2)`"
    linkat(from_folder: c_int, from: *const c_char, to_folder: c_int, to: *const c_char, flags: c_int) -> c_int, true;
    "`copy_file_range(2)`"
    copy_file_range(from: c_int, from_at: *mut off64_t, to: c_int, to_at: *mut off64_t, len: size_t, flags: c_uint) -> ssize_t, true;
}

macro_rules! synced {
    ($($doc:literal $name:ident;)*) => {
        $(
            #[doc = $doc]
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $name(fd: c_int) -> c_int {
                match Descriptor::from_raw(fd) {
                    Some(at) => unsyncable(at),
                    None if machine_world().is_some() => synced(fd),
                    // SAFETY: the caller's arguments go on as they came.
                    None => unsafe { real::$name(fd) },
                }
            }
        )*
    };
}

synced! {
    "`fsync(2)`"
    fsync;
    "`fdatasync(2)`"
    fdatasync;
}

/// What a simulated descriptor gives: none is of a file.
fn unsyncable(at: Descriptor) -> c_int {
    answer_int(|world| world.with(|network| network.is_nonblocking(at)).and(Err(Errno::EINVAL)))
}

/// What a descriptor of the real kernel gives in a machine's turn.
fn synced(fd: c_int) -> c_int {
    if is_over() {
        return fail(Errno::EIO) as c_int;
    }
    // SAFETY: the command takes no argument; -1 and `EBADF` where the descriptor is not open.
    unsafe { real::fcntl(fd, libc::F_GETFD, 0) }.min(0)
}
