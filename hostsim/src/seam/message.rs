//! Buffers in parts (`readv(2)`, `writev(2)`, `recvmsg(2)`, `sendmsg(2)`).

use crate::errno::{Errno, Sys};
use libc::iovec;

/// The most parts that a call takes (`IOV_MAX`).
const PARTS_MAX: usize = 1024;

fn parts<'a>(parts: *const iovec, count: usize) -> Sys<&'a [iovec]> {
    match (parts.is_null(), count) {
        (_, 0) => Ok(&[]),
        (_, count) if count > PARTS_MAX => Err(Errno::EINVAL),
        (true, _) => Err(Errno::EFAULT),
        // SAFETY: `count` parts to read, as the man pages ask, for the time of the call.
        (false, _) => Ok(unsafe { std::slice::from_raw_parts(parts, count) }),
    }
}

/// Goes through the parts until one is not done whole. Bytes that were moved count more than an
/// error that comes after them.
fn each(list: &[iovec], mut call: impl FnMut(&iovec) -> Sys<isize>) -> Sys<isize> {
    let mut total = 0;
    let mut is_first = true;
    for part in list.iter().filter(|part| part.iov_len > 0) {
        match call(part) {
            Ok(count) => {
                total += count;
                if (count as usize) < part.iov_len {
                    return Ok(total);
                }
            }
            Err(errno) if is_first => return Err(errno),
            Err(_) => return Ok(total),
        }
        is_first = false;
    }
    Ok(total)
}

/// Fills the parts one after the other.
pub(super) fn scatter(
    list: *const iovec,
    count: usize,
    mut call: impl FnMut(&mut [u8]) -> Sys<isize>,
) -> Sys<isize> {
    let list = parts(list, count)?;
    if list.iter().all(|part| part.iov_len == 0) {
        return call(&mut []);
    }
    each(list, |part| {
        if part.iov_base.is_null() {
            return Err(Errno::EFAULT);
        }
        // SAFETY: the part's bytes to write, as the man page asks.
        call(unsafe { std::slice::from_raw_parts_mut(part.iov_base.cast::<u8>(), part.iov_len) })
    })
}

/// Takes the parts one after the other.
pub(super) fn gather(
    list: *const iovec,
    count: usize,
    mut call: impl FnMut(&[u8]) -> Sys<isize>,
) -> Sys<isize> {
    let list = parts(list, count)?;
    if list.iter().all(|part| part.iov_len == 0) {
        return call(&[]);
    }
    each(list, |part| {
        if part.iov_base.is_null() {
            return Err(Errno::EFAULT);
        }
        // SAFETY: the part's bytes to read, as the man page asks.
        call(unsafe { std::slice::from_raw_parts(part.iov_base.cast::<u8>(), part.iov_len) })
    })
}
