//! The memory that calls are given: each piece ends where pages begin that nobody may touch.
//!
//! So a call that reads or writes past what it was given ends the process, with or without a
//! sanitizer; and the bytes before a piece are looked at after each call. The forbidden pages reach
//! as far as a length of 32 bits counts, and calls that take a longer one cut it to that: whatever
//! length a call is told, all of what it spans is this memory's own.

use std::ffi::c_void;
use std::marker::PhantomData;
use std::mem::{align_of, size_of};
use std::ptr::null_mut;

/// What a piece of memory is for; a call has one piece of each at most.
///
/// ```
/// use hostsim::seam::raw::{Memory, Use};
///
/// let memory = Memory::new();
/// // A call may have one piece of each use.
/// let (bytes, address) = (memory.put(Use::Bytes, b"hello"), memory.take(Use::Address, 16));
/// assert_eq!((bytes.len(), address.len()), (5, 16));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// What is read or written.
    Bytes,
    /// An address, a name, the value of an option.
    Address,
    /// A length, or another number.
    Length,
    /// Entries of a poll, events, descriptors.
    List,
    /// Control messages.
    Control,
    /// Parts of a buffer. No piece of a caller's is of these two: what is in them is pointers.
    Parts,
    /// The header of a message, hints.
    Header,
}

/// The sizes, in bytes, in the order of [`Use`].
const SIZES: [usize; 7] = [128 << 10, PAGE, PAGE, PAGE, PAGE, 20 << 10, PAGE];

const PAGE: usize = 4096;

/// How far the forbidden pages after a piece reach: as far as a call may be told that it does.
const FORBIDDEN: usize = (1 << 32) + PAGE;

/// How many bytes before a piece are looked at, and what they hold.
const MARGIN: usize = 64;
const MARK: u8 = 0xa5;

/// Pages to give pieces of to calls.
///
/// ```
/// use hostsim::seam::raw::{self, Memory, Outcome, Use};
/// # let memory = Memory::new();
/// # let place = memory.fill(Use::List, 8, 0);
/// # raw::socketpair(libc::AF_UNIX, libc::SOCK_STREAM, 0, Some(place));
/// # let [one, other] = [8, 4].map(|from_end| i32::from_ne_bytes(memory.array(Use::List, from_end)));
/// let bytes = memory.put(Use::Bytes, b"hello");
/// // The piece has five bytes: what the kernel reads past them is forbidden.
/// assert_eq!(raw::write(one, Some(bytes), 6), Outcome(Err(libc::EFAULT)));
/// assert_eq!(raw::write(one, Some(bytes), 5), Outcome(Ok(5)));
/// raw::close(one);
/// raw::close(other);
/// ```
#[derive(Debug)]
pub struct Memory {
    pages: [*mut u8; SIZES.len()],
}

/// Some bytes of a [`Memory`], for the pointer of a call. Two that were taken for one use are of the
/// same bytes, and a piece holds what the last of them was filled with.
///
/// ```
/// use hostsim::seam::raw::{Memory, Piece, Use};
///
/// let memory = Memory::new();
/// let first: Piece<'_> = memory.put(Use::Bytes, b"one");
/// memory.put(Use::Bytes, b"two");
/// // Two pieces of one use are of the same bytes.
/// assert_eq!(memory.bytes(Use::Bytes, first.len(), 3), b"two");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Piece<'a> {
    of: Use,
    start: *mut u8,
    len: usize,
    memory: PhantomData<&'a Memory>,
}

impl Default for Memory {
    fn default() -> Memory {
        Memory::new()
    }
}

impl Memory {
    /// Maps the pages: some gigabytes of addresses, and of memory what is used.
    ///
    /// # Panics
    /// Where there is no room for them.
    ///
    /// ```
    /// use hostsim::seam::raw::{Memory, Use};
    ///
    /// let memory = Memory::new();
    /// assert_eq!(memory.take(Use::Length, 4).len(), 4);
    /// ```
    pub fn new() -> Memory {
        Memory { pages: SIZES.map(map) }
    }

    /// The largest piece of a use, in bytes.
    ///
    /// ```
    /// use hostsim::seam::raw::{Memory, Use};
    ///
    /// let memory = Memory::new();
    /// assert!(memory.size(Use::Bytes) > memory.size(Use::Address));
    /// assert!(!memory.take(Use::Address, memory.size(Use::Address)).is_empty());
    /// ```
    pub fn size(&self, of: Use) -> usize {
        SIZES[of as usize] - MARGIN
    }

    /// A piece of `len` bytes that hold what they held, which ends at the forbidden pages.
    ///
    /// # Panics
    /// Where `len` is more than [`Memory::size`], and for a use of which callers have no piece.
    ///
    /// ```
    /// use hostsim::seam::raw::{Memory, Use};
    ///
    /// let memory = Memory::new();
    /// memory.fill(Use::Bytes, 8, 7);
    /// let piece = memory.take(Use::Bytes, 4);
    /// assert_eq!(memory.bytes(Use::Bytes, piece.len(), 4), [7; 4], "they hold what they held");
    /// ```
    #[track_caller]
    pub fn take(&self, of: Use, len: usize) -> Piece<'_> {
        assert!(!matches!(of, Use::Parts | Use::Header), "pieces are not of {of:?}");
        self.take_any(of, len)
    }

    #[track_caller]
    fn take_any(&self, of: Use, len: usize) -> Piece<'_> {
        assert!(len <= self.size(of), "{len} bytes are too many for {of:?}");
        let start = self.end(of).wrapping_sub(len);
        // SAFETY: a margin and `len` bytes lie before the end; the pages are this value's own.
        unsafe { start.wrapping_sub(MARGIN).write_bytes(MARK, MARGIN) };
        Piece { of, start, len, memory: PhantomData }
    }

    /// A piece of `len` bytes that hold `byte`.
    ///
    /// # Panics
    /// As [`Memory::take`].
    ///
    /// ```
    /// use hostsim::seam::raw::{Memory, Use};
    ///
    /// let memory = Memory::new();
    /// let piece = memory.fill(Use::Bytes, 3, b'.');
    /// assert_eq!(memory.bytes(Use::Bytes, piece.len(), 3), b"...");
    /// ```
    #[track_caller]
    pub fn fill(&self, of: Use, len: usize, byte: u8) -> Piece<'_> {
        let piece = self.take(of, len);
        // SAFETY: the piece has `len` bytes.
        unsafe { piece.start.write_bytes(byte, len) };
        piece
    }

    /// A piece with a copy of `bytes`.
    ///
    /// # Panics
    /// As [`Memory::take`].
    ///
    /// ```
    /// use hostsim::seam::raw::{Memory, Use};
    ///
    /// let memory = Memory::new();
    /// let piece = memory.put(Use::Address, b"abc");
    /// assert_eq!(memory.bytes(Use::Address, piece.len(), 3), b"abc");
    /// ```
    #[track_caller]
    pub fn put(&self, of: Use, bytes: &[u8]) -> Piece<'_> {
        let piece = self.take(of, bytes.len());
        // SAFETY: the piece has room for them, and no slice is of its pages.
        unsafe { piece.start.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        piece
    }

    /// Puts C's own structures for a call of this module.
    #[track_caller]
    pub(super) fn put_values<T: Copy>(&self, of: Use, values: &[T]) -> *mut T {
        let start = self.take_any(of, size_of_val(values)).as_ptr::<T>();
        for (index, value) in values.iter().enumerate() {
            let place = start.wrapping_add(index);
            // SAFETY: the piece has room for as many, and is aligned for them.
            unsafe { place.write(*value) };
        }
        start
    }

    /// What the first `count` bytes of a piece of `len` bytes hold now.
    ///
    /// # Panics
    /// Where `count` is more than `len`, or that more than there is.
    ///
    /// ```
    /// use hostsim::seam::raw::{Memory, Use};
    ///
    /// let memory = Memory::new();
    /// memory.put(Use::Bytes, b"hello");
    /// assert_eq!(memory.bytes(Use::Bytes, 5, 2), b"he", "the first two of five");
    /// ```
    #[track_caller]
    pub fn bytes(&self, of: Use, len: usize, count: usize) -> Vec<u8> {
        assert!(count <= len && len <= SIZES[of as usize], "{count} of {len} of {of:?}");
        let mut bytes = vec![0; count];
        let start = self.end(of).wrapping_sub(len);
        // SAFETY: inside the pages, of which every byte is a number; the copy is apart from them.
        unsafe { bytes.as_mut_ptr().copy_from_nonoverlapping(start, count) };
        bytes
    }

    /// `N` bytes of a piece, from `from_end` bytes before its end on.
    ///
    /// # Panics
    /// As [`Memory::bytes`].
    ///
    /// ```
    /// use hostsim::seam::raw::{Memory, Use};
    ///
    /// let memory = Memory::new();
    /// memory.put(Use::Length, &7_u32.to_ne_bytes());
    /// assert_eq!(u32::from_ne_bytes(memory.array(Use::Length, 4)), 7);
    /// ```
    #[track_caller]
    pub fn array<const N: usize>(&self, of: Use, from_end: usize) -> [u8; N] {
        self.bytes(of, from_end, N).try_into().expect("there are as many")
    }

    /// Asserts that the margin before a piece of `len` bytes is as it was.
    ///
    /// # Panics
    /// Where a call wrote there.
    ///
    /// ```
    /// use hostsim::seam::raw::{self, Memory, Use};
    /// # let memory = Memory::new();
    /// # let place = memory.fill(Use::List, 8, 0);
    /// # raw::socketpair(libc::AF_UNIX, libc::SOCK_STREAM, 0, Some(place));
    /// # let [one, other] = [8, 4].map(|from_end| i32::from_ne_bytes(memory.array(Use::List, from_end)));
    /// raw::write(one, Some(memory.put(Use::Bytes, b"hello")), 5);
    /// let into = memory.fill(Use::Bytes, 5, 0);
    /// raw::read(other, Some(into), 5);
    /// memory.check(Use::Bytes, 5); // The call wrote nothing before the piece.
    /// assert_eq!(memory.bytes(Use::Bytes, 5, 5), b"hello");
    /// raw::close(one);
    /// raw::close(other);
    /// ```
    #[track_caller]
    pub fn check(&self, of: Use, len: usize) {
        let margin = self.bytes(of, len + MARGIN, MARGIN);
        assert!(margin.iter().all(|byte| *byte == MARK), "a call wrote before {of:?} {len}");
    }

    fn end(&self, of: Use) -> *mut u8 {
        self.pages[of as usize].wrapping_add(PAGE + SIZES[of as usize])
    }
}

impl<'a> Piece<'a> {
    /// How many bytes it has.
    ///
    /// ```
    /// use hostsim::seam::raw::{Memory, Use};
    ///
    /// assert_eq!(Memory::new().put(Use::Bytes, b"hello").len(), 5);
    /// ```
    pub fn len(self) -> usize {
        self.len
    }

    /// Whether it has none.
    ///
    /// ```
    /// use hostsim::seam::raw::{Memory, Use};
    ///
    /// assert!(Memory::new().take(Use::Bytes, 0).is_empty());
    /// ```
    pub fn is_empty(self) -> bool {
        self.len == 0
    }

    /// The `len` bytes of it from `at` on: those of its end follow it.
    ///
    /// # Panics
    /// Where it has not as many.
    ///
    /// ```
    /// use hostsim::seam::raw::{Memory, Use};
    ///
    /// let memory = Memory::new();
    /// let piece = memory.put(Use::Bytes, b"hello");
    /// assert_eq!((piece.part(0, 2).len(), piece.part(2, 3).len()), (2, 3));
    /// ```
    #[track_caller]
    pub fn part(self, at: usize, len: usize) -> Piece<'a> {
        assert!(at <= self.len && len <= self.len - at, "{len} bytes at {at} of {}", self.len);
        Piece { start: self.start.wrapping_add(at), len, ..self }
    }

    /// The pointer for a call.
    ///
    /// # Panics
    /// Where it is not aligned.
    #[track_caller]
    pub(super) fn as_ptr<T>(self) -> *mut T {
        assert!(self.start.addr().is_multiple_of(align_of::<T>()), "a piece is aligned");
        self.start.cast()
    }

    /// The pointer for a call that reads or writes one value.
    ///
    /// # Panics
    /// Where there is no room for it.
    #[track_caller]
    pub(super) fn as_place<T>(self) -> *mut T {
        assert!(self.len >= size_of::<T>(), "{} bytes have no room", self.len);
        self.as_ptr()
    }

    /// Whether the two share no byte.
    fn is_apart(self, other: Piece<'_>) -> bool {
        let ends = |piece: Piece<'_>| piece.start.addr() + piece.len;
        let is_empty = self.is_empty() || other.is_empty();
        is_empty || ends(self) <= other.start.addr() || ends(other) <= self.start.addr()
    }
}

/// The pointer of a piece, or null.
#[track_caller]
pub(super) fn pointer<T>(piece: Option<Piece<'_>>) -> *mut T {
    piece.map_or(null_mut(), Piece::as_ptr)
}

/// The pointer to a place for one value, or null.
#[track_caller]
pub(super) fn place<T>(piece: Option<Piece<'_>>) -> *mut T {
    piece.map_or(null_mut(), Piece::as_place)
}

/// Asserts that the pieces of a call are of different uses: one may be written while another is
/// read, as far as the lengths say that the call is told.
///
/// # Panics
/// Where two are of one use.
#[track_caller]
pub(super) fn apart<const N: usize>(pieces: [Option<Piece<'_>>; N]) {
    let pieces: Vec<Piece<'_>> = pieces.into_iter().flatten().collect();
    for (index, piece) in pieces.iter().enumerate() {
        let is_apart = pieces[..index].iter().all(|other| piece.of != other.of);
        assert!(is_apart, "pieces of one call do not overlap");
    }
}

/// Asserts that the parts of a buffer, whose lengths are their own, share no byte, and that they are
/// apart from other pieces of the call.
///
/// # Panics
/// Where they are not.
#[track_caller]
pub(super) fn parts_apart(parts: &[Piece<'_>], others: &[Piece<'_>]) {
    for (index, part) in parts.iter().enumerate() {
        let is_apart = parts[..index].iter().all(|other| part.is_apart(*other))
            && others.iter().all(|other| part.of != other.of);
        assert!(is_apart, "pieces of one call do not overlap");
    }
}

/// Maps pages for `size` bytes, between those that nobody may touch.
fn map(size: usize) -> *mut u8 {
    let whole = PAGE + size + FORBIDDEN;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: new pages, wherever there is room.
    let start = unsafe { libc::mmap(null_mut(), whole, libc::PROT_NONE, flags, -1, 0) };
    assert!(start != libc::MAP_FAILED, "there is room for {whole} bytes of addresses");
    let inner = start.cast::<u8>().wrapping_add(PAGE).cast::<c_void>();
    // SAFETY: the inner of the pages that were just mapped.
    let result = unsafe { libc::mprotect(inner, size, libc::PROT_READ | libc::PROT_WRITE) };
    assert_eq!(result, 0, "pages of one's own may be written");
    start.cast()
}

impl Drop for Memory {
    fn drop(&mut self) {
        for (pages, size) in self.pages.iter().zip(SIZES) {
            // SAFETY: the pages are this value's own, and a piece of them does not outlive it.
            unsafe { libc::munmap(pages.cast(), PAGE + size + FORBIDDEN) };
        }
    }
}
