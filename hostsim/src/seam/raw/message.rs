//! Buffers in parts, and messages. Their structures hold pointers: they are laid out for the call,
//! in memory that no call is told to write to.

use super::Outcome;
use super::own::known;
use super::pages::{Memory, Piece, Use, apart, parts_apart, pointer};
use libc::{c_int, iovec, msghdr, socklen_t};
use std::mem::size_of;
use std::ptr::null_mut;

/// A header that asks for nothing.
pub(in crate::seam) const NO_MESSAGE: msghdr = msghdr {
    msg_name: null_mut(),
    msg_namelen: 0,
    msg_iov: null_mut(),
    msg_iovlen: 0,
    msg_control: null_mut(),
    msg_controllen: 0,
    msg_flags: 0,
};

/// A part of a buffer.
///
/// ```
/// use hostsim::seam::raw::{Memory, Part, Use};
///
/// let memory = Memory::new();
/// let piece = memory.put(Use::Bytes, b"hello");
/// let parts = [Part::Of(piece.part(0, 2)), Part::Null(3), Part::Negative(piece)];
/// assert_eq!(parts.map(Part::is_fault), [false, true, false]);
/// ```
#[derive(Clone, Copy, Debug)]
pub enum Part<'a> {
    /// A piece, of the length that it has.
    Of(Piece<'a>),
    /// A piece that is said to be of a negative length (`isize::MIN`): no call takes it.
    Negative(Piece<'a>),
    /// Null, of a length.
    Null(usize),
}

impl<'a> Part<'a> {
    /// Whether a call that came to it would find null.
    ///
    /// ```
    /// use hostsim::seam::raw::Part;
    ///
    /// assert!(Part::Null(1).is_fault());
    /// assert!(!Part::Null(0).is_fault(), "nothing is read from it");
    /// ```
    pub fn is_fault(self) -> bool {
        matches!(self, Part::Null(1..))
    }

    fn piece(self) -> Option<Piece<'a>> {
        match self {
            Part::Of(piece) | Part::Negative(piece) => Some(piece),
            Part::Null(_) => None,
        }
    }

    fn encode(self) -> iovec {
        let (iov_base, iov_len) = match self {
            Part::Of(piece) => (piece.as_ptr(), piece.len()),
            Part::Negative(piece) => (piece.as_ptr(), isize::MIN.cast_unsigned()),
            Part::Null(len) => (null_mut(), len),
        };
        iovec { iov_base, iov_len }
    }
}

/// The list of the parts of a call.
///
/// ```
/// use hostsim::seam::raw::{self, Memory, Outcome, Part, Parts, Use};
/// # let memory = Memory::new();
/// # let place = memory.fill(Use::List, 8, 0);
/// # raw::socketpair(libc::AF_UNIX, libc::SOCK_STREAM, 0, Some(place));
/// # let [one, other] = [8, 4].map(|from_end| i32::from_ne_bytes(memory.array(Use::List, from_end)));
/// let piece = memory.put(Use::Bytes, b"hello");
/// let parts = [Part::Of(piece.part(0, 2)), Part::Of(piece.part(2, 3))];
/// assert_eq!(raw::writev(&memory, one, Parts::Listed(&parts)), Outcome(Ok(5)));
/// assert_eq!(raw::writev(&memory, one, Parts::Null(2)), Outcome(Err(libc::EFAULT)));
/// raw::close(one);
/// raw::close(other);
/// ```
#[derive(Clone, Copy, Debug)]
pub enum Parts<'a> {
    /// As many as there are.
    Listed(&'a [Part<'a>]),
    /// Null, for a number of parts.
    Null(usize),
}

impl Parts<'_> {
    /// The pointer to the list and the number of parts.
    fn lay_out(self, memory: &Memory) -> (*mut iovec, usize) {
        match self {
            Parts::Null(count) => (null_mut(), count),
            Parts::Listed(parts) => {
                let parts: Vec<iovec> = parts.iter().map(|part| part.encode()).collect();
                (memory.put_values(Use::Parts, &parts), parts.len())
            }
        }
    }

    fn pieces(&self) -> Vec<Piece<'_>> {
        let parts = match self {
            Parts::Listed(parts) => parts,
            Parts::Null(_) => &[][..],
        };
        parts.iter().filter_map(|part| part.piece()).collect()
    }
}

/// `readv(2)`
///
/// # Panics
/// Where the parts overlap, and where there are more than 1,200.
///
/// ```
/// use hostsim::seam::raw::{self, Memory, Outcome, Part, Parts, Use};
/// # let memory = Memory::new();
/// # let place = memory.fill(Use::List, 8, 0);
/// # raw::socketpair(libc::AF_UNIX, libc::SOCK_STREAM, 0, Some(place));
/// # let [one, other] = [8, 4].map(|from_end| i32::from_ne_bytes(memory.array(Use::List, from_end)));
/// raw::write(one, Some(memory.put(Use::Bytes, b"hello")), 5);
/// let piece = memory.fill(Use::Bytes, 8, b'.');
/// let parts = [Part::Of(piece.part(4, 4)), Part::Of(piece.part(0, 4))];
/// assert_eq!(raw::readv(&memory, other, Parts::Listed(&parts)), Outcome(Ok(5)));
/// assert_eq!(memory.bytes(Use::Bytes, 8, 8), b"o...hell");
/// raw::close(one);
/// raw::close(other);
/// ```
#[track_caller]
pub fn readv(memory: &Memory, fd: c_int, parts: Parts<'_>) -> Outcome {
    parts_apart(&parts.pieces(), &[]);
    let (list, count) = parts.lay_out(memory);
    call!(readv(known(fd), list, count as c_int))
}

/// `writev(2)`
///
/// # Panics
/// Where there are more parts than 1,200.
///
/// ```
/// use hostsim::seam::raw::{self, Memory, Outcome, Part, Parts, Use};
/// # let memory = Memory::new();
/// # let place = memory.fill(Use::List, 8, 0);
/// # raw::socketpair(libc::AF_UNIX, libc::SOCK_STREAM, 0, Some(place));
/// # let [one, other] = [8, 4].map(|from_end| i32::from_ne_bytes(memory.array(Use::List, from_end)));
/// let bytes = memory.put(Use::Bytes, b"hello");
/// let negative = [Part::Negative(bytes)];
/// let outcome = raw::writev(&memory, one, Parts::Listed(&negative));
/// assert_eq!(outcome, Outcome(Err(libc::EINVAL)));
/// raw::close(one);
/// raw::close(other);
/// ```
#[track_caller]
pub fn writev(memory: &Memory, fd: c_int, parts: Parts<'_>) -> Outcome {
    let (list, count) = parts.lay_out(memory);
    call!(writev(known(fd), list, count as c_int))
}

/// A message. Control messages are received only: what is sent along may be somebody's descriptor.
///
/// ```
/// use hostsim::seam::raw::{self, Memory, Message, Outcome, Part, Parts, Use};
/// # let memory = Memory::new();
/// # let place = memory.fill(Use::List, 8, 0);
/// # raw::socketpair(libc::AF_UNIX, libc::SOCK_STREAM, 0, Some(place));
/// # let [one, other] = [8, 4].map(|from_end| i32::from_ne_bytes(memory.array(Use::List, from_end)));
/// let parts = [Part::Of(memory.put(Use::Bytes, b"hello"))];
/// let parts = Parts::Listed(&parts);
/// let message = Message { name: None, name_len: 0, parts, control: None };
/// assert_eq!(raw::sendmsg(&memory, one, Some(&message), 0), Outcome(Ok(5)));
/// raw::close(one);
/// raw::close(other);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Message<'a> {
    /// The address of whom it is to or from.
    pub name: Option<Piece<'a>>,
    /// The length of the address.
    pub name_len: socklen_t,
    /// The bytes.
    pub parts: Parts<'a>,
    /// The place for control messages, for [`recvmsg`].
    pub control: Option<Piece<'a>>,
}

impl Message<'_> {
    fn lay_out(&self, memory: &Memory) -> *mut msghdr {
        let (msg_iov, msg_iovlen) = self.parts.lay_out(memory);
        let header = msghdr {
            msg_name: pointer::<u8>(self.name).cast(),
            msg_namelen: self.name_len,
            msg_iov,
            msg_iovlen,
            msg_control: pointer::<u8>(self.control).cast(),
            msg_controllen: self.control.map_or(0, Piece::len),
            ..NO_MESSAGE
        };
        memory.put_values(Use::Header, &[header])
    }
}

/// What [`recvmsg`] wrote into the header of a message.
///
/// ```
/// use hostsim::seam::raw::{self, Memory, Message, Outcome, Part, Parts, Told, Use};
/// # let memory = Memory::new();
/// # let place = memory.fill(Use::List, 8, 0);
/// # raw::socketpair(libc::AF_UNIX, libc::SOCK_STREAM, 0, Some(place));
/// # let [one, other] = [8, 4].map(|from_end| i32::from_ne_bytes(memory.array(Use::List, from_end)));
/// raw::write(one, Some(memory.put(Use::Bytes, b"hello")), 5);
/// let parts = [Part::Of(memory.fill(Use::Bytes, 5, 0))];
/// let parts = Parts::Listed(&parts);
/// let message = Message { name: None, name_len: 0, parts, control: None };
/// let (_, told) = raw::recvmsg(&memory, other, Some(&message), 0);
/// assert_eq!(told, Some(Told { name_len: 0, control_len: 0, flags: 0 }));
/// raw::close(one);
/// raw::close(other);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Told {
    /// The length of the address.
    pub name_len: socklen_t,
    /// The length of the control messages.
    pub control_len: usize,
    /// The flags.
    pub flags: c_int,
}

/// `sendmsg(2)`; `None` is null.
///
/// # Panics
/// For a message with control messages.
///
/// ```
/// use hostsim::seam::raw::{self, Memory, Outcome, Use};
/// # let memory = Memory::new();
/// # let place = memory.fill(Use::List, 8, 0);
/// # raw::socketpair(libc::AF_UNIX, libc::SOCK_STREAM, 0, Some(place));
/// # let [one, other] = [8, 4].map(|from_end| i32::from_ne_bytes(memory.array(Use::List, from_end)));
/// assert_eq!(raw::sendmsg(&memory, one, None, 0), Outcome(Err(libc::EFAULT)));
/// raw::close(one);
/// raw::close(other);
/// ```
#[track_caller]
pub fn sendmsg(memory: &Memory, fd: c_int, message: Option<&Message<'_>>, flags: c_int) -> Outcome {
    let has_control = message.is_some_and(|message| message.control.is_some());
    assert!(!has_control, "control messages are not sent");
    let header = message.map_or(null_mut(), |message| message.lay_out(memory));
    call!(sendmsg(known(fd), header, flags))
}

/// `recvmsg(2)`; `None` is null. What it told of a message is there where it did not fail.
///
/// # Panics
/// Where pieces overlap, and where the call wrote before the header.
///
/// ```
/// use hostsim::seam::raw::{self, Memory, Message, Outcome, Part, Parts, Use};
/// # let memory = Memory::new();
/// # let place = memory.fill(Use::List, 8, 0);
/// # raw::socketpair(libc::AF_UNIX, libc::SOCK_STREAM, 0, Some(place));
/// # let [one, other] = [8, 4].map(|from_end| i32::from_ne_bytes(memory.array(Use::List, from_end)));
/// raw::write(one, Some(memory.put(Use::Bytes, b"hello")), 5);
/// let parts = [Part::Of(memory.fill(Use::Bytes, 2, 0))];
/// let parts = Parts::Listed(&parts);
/// let message = Message { name: None, name_len: 0, parts, control: None };
/// let (outcome, _) = raw::recvmsg(&memory, other, Some(&message), 0);
/// assert_eq!(outcome, Outcome(Ok(2)));
/// assert_eq!(memory.bytes(Use::Bytes, 2, 2), b"he");
/// raw::close(one);
/// raw::close(other);
/// ```
#[track_caller]
pub fn recvmsg(
    memory: &Memory,
    fd: c_int,
    message: Option<&Message<'_>>,
    flags: c_int,
) -> (Outcome, Option<Told>) {
    if let Some(message) = message {
        let others = [message.name, message.control];
        apart(others);
        let others: Vec<Piece<'_>> = others.into_iter().flatten().collect();
        parts_apart(&message.parts.pieces(), &others);
    }
    let header = message.map_or(null_mut(), |message| message.lay_out(memory));
    let outcome = call!(recvmsg(known(fd), header, flags));
    if header.is_null() || outcome.0.is_err() {
        return (outcome, None);
    }
    memory.check(Use::Header, size_of::<msghdr>());
    // SAFETY: the header that was laid out, which the call may have written to.
    let after = unsafe { header.read() };
    let told = Told {
        name_len: after.msg_namelen,
        control_len: after.msg_controllen,
        flags: after.msg_flags,
    };
    (outcome, Some(told))
}
