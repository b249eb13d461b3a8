//! Buffers of programs, in one part or more (`readv(2)`, `writev(2)`, `recvmsg(2)`, `sendmsg(2)`).
//!
//! A call in parts is one call: what it moves goes at once, and nothing comes between two parts.

use super::COUNT_MAX;
use crate::errno::{Errno, Sys};
use libc::{c_void, iovec};

/// The most parts that a call takes (`IOV_MAX`).
const PARTS_MAX: usize = 1024;

/// The one part of a call that takes no more.
pub(super) fn one(place: *const c_void, len: usize) -> [iovec; 1] {
    [iovec { iov_base: place.cast_mut(), iov_len: len.min(COUNT_MAX) }]
}

/// The parts of a call. Each is as long as the program says, for the time of the call; where one
/// that is not empty is null, none is read or written.
#[derive(Clone, Copy)]
pub(super) struct Parts<'a>(&'a [iovec]);

impl<'a> Parts<'a> {
    /// The part that [`one`] made.
    pub(super) fn of(part: &'a [iovec; 1]) -> Parts<'a> {
        Parts(part)
    }

    /// Takes the parts of a list.
    ///
    /// # Errors
    /// `too_many` where they are, `EFAULT` for null, `EINVAL` for a part of negative length.
    pub(super) fn take(list: *const iovec, count: usize, too_many: Errno) -> Sys<Parts<'a>> {
        if count > PARTS_MAX {
            return Err(too_many);
        }
        let list = match (list.is_null(), count) {
            (_, 0) => &[],
            (true, _) => return Err(Errno::EFAULT),
            // SAFETY: `count` parts to read, as the man pages ask, for the time of the call.
            (false, _) => unsafe { std::slice::from_raw_parts(list, count) },
        };
        let is_negative = |part: &iovec| isize::try_from(part.iov_len).is_err();
        if list.iter().any(is_negative) { Err(Errno::EINVAL) } else { Ok(Parts(list)) }
    }

    fn filled(self) -> impl Iterator<Item = &'a iovec> {
        self.0.iter().filter(|part| part.iov_len > 0)
    }

    /// How long the first part is that has bytes.
    pub(super) fn first_len(self) -> Option<usize> {
        self.filled().next().map(|part| part.iov_len)
    }

    /// How many bytes the parts have; no call moves more than [`COUNT_MAX`].
    pub(super) fn len(self) -> usize {
        self.0.iter().map(|part| part.iov_len).fold(0, usize::saturating_add).min(COUNT_MAX)
    }

    /// Whether a part that has bytes is null.
    pub(super) fn is_fault(self) -> bool {
        self.filled().any(|part| part.iov_base.is_null())
    }

    /// The place of the only part that has bytes, or an empty one where none has; nothing where
    /// there are more, or it is null.
    pub(super) fn place(self) -> Option<&'a mut [u8]> {
        let mut filled = self.filled();
        let Some(part) = filled.next() else { return Some(&mut []) };
        if filled.next().is_some() || part.iov_base.is_null() {
            return None;
        }
        // SAFETY: the part's bytes to write, as the man pages ask, for the time of the call.
        Some(unsafe { std::slice::from_raw_parts_mut(part.iov_base.cast::<u8>(), part.iov_len) })
    }

    /// The bytes of the parts, one slice each.
    ///
    /// # Errors
    /// `EFAULT`
    pub(super) fn bytes(self) -> Sys<impl Iterator<Item = &'a [u8]>> {
        if self.is_fault() {
            return Err(Errno::EFAULT);
        }
        Ok(self.filled().map(|part| {
            // SAFETY: the part's bytes to read, as the man pages ask, for the time of the call.
            unsafe { std::slice::from_raw_parts(part.iov_base.cast::<u8>(), part.iov_len) }
        }))
    }

    /// Fills the parts with `bytes`, one after the other.
    ///
    /// # Errors
    /// `EFAULT`
    pub(super) fn fill(self, mut bytes: &[u8]) -> Sys<()> {
        if self.is_fault() {
            return Err(Errno::EFAULT);
        }
        for part in self.filled() {
            let (now, later) = bytes.split_at(part.iov_len.min(bytes.len()));
            let place = part.iov_base.cast::<u8>();
            // SAFETY: the part has at least so many bytes to write.
            unsafe { std::ptr::copy_nonoverlapping(now.as_ptr(), place, now.len()) };
            bytes = later;
        }
        Ok(())
    }
}
