//! The memory that calls are given: each piece ends where a page begins that nobody may touch.
//!
//! So a call that reads or writes past what it was given ends the process, with or without a
//! sanitizer; and the bytes before a piece are looked at after each call.
#![expect(unsafe_code, reason = "pages and pointers for calls of libc")]

use std::ffi::c_void;
use std::mem::size_of;
use std::ptr::null_mut;

/// What a piece of memory is for; a call has one piece of each at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// What is read or written.
    Bytes,
    /// An address, a name, the value of an option.
    Address,
    /// A length.
    Length,
    /// Parts, entries of a poll, events.
    List,
    /// The header of a message, hints of a lookup.
    Header,
    /// Control messages.
    Control,
}

/// The sizes, in bytes, in the order of [`Use`].
const SIZES: [usize; 6] = [128 << 10, PAGE, PAGE, 20 << 10, PAGE, PAGE];

const PAGE: usize = 4096;

/// How many bytes before a piece are looked at, and what they hold.
const MARGIN: usize = 64;
const MARK: u8 = 0xa5;

/// Pages to give pieces of to calls.
pub(super) struct Memory {
    pages: [*mut u8; SIZES.len()],
}

impl Memory {
    pub(super) fn new() -> Memory {
        Memory { pages: SIZES.map(map) }
    }

    /// The largest piece of a use.
    pub(super) fn size(&self, piece: Use) -> usize {
        SIZES[piece as usize] - MARGIN
    }

    /// A piece of `len` bytes that hold what they held, which ends at the forbidden page.
    pub(super) fn take(&self, piece: Use, len: usize) -> *mut u8 {
        assert!(len <= self.size(piece), "{len} bytes are too many for {piece:?}");
        let end = self.end(piece);
        let start = end.wrapping_sub(len);
        // SAFETY: a margin and `len` bytes lie before the end; the pages are this value's own.
        unsafe { start.wrapping_sub(MARGIN).write_bytes(MARK, MARGIN) };
        start
    }

    /// A piece of `len` bytes that hold `byte`.
    pub(super) fn fill(&self, piece: Use, len: usize, byte: u8) -> *mut u8 {
        let start = self.take(piece, len);
        // SAFETY: the piece has `len` bytes.
        unsafe { start.write_bytes(byte, len) };
        start
    }

    /// A piece with a copy of `values`.
    pub(super) fn put<T: Copy>(&self, piece: Use, values: &[T]) -> *mut T {
        let start = self.take(piece, size_of_val(values)).cast::<T>();
        let bytes = size_of_val(values);
        // SAFETY: the piece has room for them, and plain values may be copied as bytes.
        unsafe { start.cast::<u8>().copy_from_nonoverlapping(values.as_ptr().cast(), bytes) };
        start
    }

    /// The `N`th last value of a piece: what it holds now. `T` is plain numbers.
    pub(super) fn get<T: Copy>(&self, piece: Use, from_end: usize) -> T {
        assert!(from_end * size_of::<T>() <= SIZES[piece as usize], "within the piece");
        let at = self.end(piece).cast::<T>().wrapping_sub(from_end);
        // SAFETY: inside the pages, which were zeros and are written by calls only.
        unsafe { at.read_unaligned() }
    }

    /// What the first `count` bytes of a piece of `len` bytes hold now.
    pub(super) fn bytes(&self, piece: Use, len: usize, count: usize) -> &[u8] {
        assert!(count <= len && len <= SIZES[piece as usize], "{count} of {len} of {piece:?}");
        let start = self.end(piece).wrapping_sub(len);
        // SAFETY: inside the pages; nothing writes to them while the slice lives, but calls that
        // come later.
        unsafe { std::slice::from_raw_parts(start, count) }
    }

    /// Asserts that the margin before a piece of `len` bytes is as it was.
    pub(super) fn check(&self, piece: Use, len: usize) {
        let margin = self.bytes(piece, len + MARGIN, MARGIN);
        assert!(margin.iter().all(|byte| *byte == MARK), "a call wrote before {piece:?} {len}");
    }

    fn end(&self, piece: Use) -> *mut u8 {
        self.pages[piece as usize].wrapping_add(PAGE + SIZES[piece as usize])
    }
}

/// Maps pages for `size` bytes, between two that nobody may touch.
fn map(size: usize) -> *mut u8 {
    let (whole, flags) = (size + 2 * PAGE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: new pages, wherever there is room.
    let start = unsafe { libc::mmap(null_mut(), whole, libc::PROT_NONE, flags, -1, 0) };
    assert!(start != libc::MAP_FAILED, "there is memory");
    let inner = start.cast::<u8>().wrapping_add(PAGE).cast::<c_void>();
    // SAFETY: the inner of the pages that were just mapped.
    let result = unsafe { libc::mprotect(inner, size, libc::PROT_READ | libc::PROT_WRITE) };
    assert_eq!(result, 0, "pages of one's own may be written");
    start.cast()
}

impl Drop for Memory {
    fn drop(&mut self) {
        for (pages, size) in self.pages.iter().zip(SIZES) {
            // SAFETY: the pages are this value's own, and no piece of them is in use.
            unsafe { libc::munmap(pages.cast(), size + 2 * PAGE) };
        }
    }
}
