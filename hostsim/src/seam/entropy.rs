//! Random bytes.

use super::{COUNT_MAX, fail, real, world};
use crate::errno::Errno;
use libc::{c_int, c_uint, c_void, size_t, ssize_t};

/// The most that `getentropy(3)` gives at once, in bytes.
const ENTROPY_MAX: usize = 256;

/// `getrandom(2)`
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn getrandom(
    into: *mut c_void,
    len: size_t,
    flags: c_uint,
) -> ssize_t {
    let Some(world) = world() else {
        // SAFETY: the caller's arguments go on as they came.
        return unsafe { real::getrandom(into, len, flags) };
    };
    let known = libc::GRND_NONBLOCK | libc::GRND_RANDOM | libc::GRND_INSECURE;
    let both = libc::GRND_RANDOM | libc::GRND_INSECURE;
    if flags & !known != 0 || flags & both == both {
        return fail(Errno::EINVAL);
    }
    if len == 0 {
        return 0;
    }
    if into.is_null() {
        return fail(Errno::EFAULT);
    }
    let len = len.min(COUNT_MAX);
    // SAFETY: `len` bytes to write, as the man page asks.
    world.fill(unsafe { std::slice::from_raw_parts_mut(into.cast::<u8>(), len) });
    len as ssize_t
}

/// `getentropy(3)`
#[unsafe(no_mangle)]
unsafe extern "C" fn getentropy(into: *mut c_void, len: size_t) -> c_int {
    if world().is_none() {
        // SAFETY: the caller's arguments go on as they came.
        return unsafe { real::getentropy(into, len) };
    }
    if len > ENTROPY_MAX {
        return fail(Errno::EIO) as c_int;
    }
    // SAFETY: the man pages ask the same of the pointer.
    if unsafe { getrandom(into, len, 0) } < 0 { -1 } else { 0 }
}
