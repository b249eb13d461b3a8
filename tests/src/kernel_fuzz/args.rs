//! The arguments of one call, from its window of bytes.
//!
//! A window has a fixed size, so that what one call takes does not move the next. Past its end
//! every byte is zero, and zero is the plainest choice.

use libc::c_int;

/// The bytes of one call.
pub(super) struct Args<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Args<'a> {
    /// How many bytes a call has at most; the first says which call it is.
    pub(super) const LEN: usize = 20;

    pub(super) fn new(bytes: &'a [u8]) -> Args<'a> {
        Args { bytes, at: 0 }
    }

    pub(super) fn byte(&mut self) -> u8 {
        let byte = self.bytes.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        byte
    }

    /// A number below `bound`, which is at most 256.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        usize::from(self.byte()) % bound
    }

    /// One of several.
    pub(super) fn of<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// Whether one in `count` comes.
    pub(super) fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == count - 1
    }

    /// Some of up to seven flags; none in every other case.
    pub(super) fn flags(&mut self, from: &[c_int]) -> c_int {
        let byte = self.byte();
        let is_set = |index: usize| byte & 0x80 != 0 && byte >> index & 1 != 0;
        let flags = from.iter().enumerate().filter(|(index, _)| is_set(*index));
        flags.fold(0, |flags, (_, flag)| flags | flag)
    }
}
