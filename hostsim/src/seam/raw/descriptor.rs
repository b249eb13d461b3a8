//! Descriptors of any kind.

use super::own::{closed, known, opened};
use super::pages::{Piece, place};
use super::{Outcome, Use};
use crate::seam::raw::Memory;
use libc::{c_int, c_ulong};
use std::mem::size_of;

/// The commands of `fcntl(2)` that take a number or nothing, and two that are none.
const COMMANDS: [c_int; 8] = [
    libc::F_GETFL,
    libc::F_SETFL,
    libc::F_GETFD,
    libc::F_SETFD,
    libc::F_DUPFD,
    libc::F_DUPFD_CLOEXEC,
    9999,
    -1,
];

/// The requests of `ioctl(2)` that take an `int` or nothing, and one that is none.
const REQUESTS: [c_ulong; 6] =
    [libc::FIONREAD, libc::FIONBIO, libc::FIOCLEX, libc::FIONCLEX, libc::TIOCOUTQ, 0x1234_5678];

/// `close(2)`
///
/// # Panics
/// Where no call opened the descriptor; so do all the calls.
///
/// ```
/// use hostsim::seam::raw::{self, Outcome};
///
/// let fd = raw::epoll_create1(0).descriptor();
/// assert_eq!(raw::close(fd), Outcome(Ok(0)));
/// ```
#[track_caller]
pub fn close(fd: c_int) -> Outcome {
    let outcome = call!(close(known(fd)));
    if outcome.0.is_ok() {
        closed(fd);
    }
    outcome
}

/// `dup(2)`
///
/// ```
/// use hostsim::seam::raw;
///
/// let fd = raw::eventfd(0, 0).descriptor();
/// let copy = raw::dup(fd).descriptor();
/// assert_ne!(copy, fd);
/// assert!([fd, copy].into_iter().all(|fd| raw::close(fd).0.is_ok()));
/// ```
#[track_caller]
pub fn dup(fd: c_int) -> Outcome {
    opened(call!(dup(known(fd))))
}

/// `fcntl(2)`
///
/// # Panics
/// For a command that is not listed.
///
/// ```
/// use hostsim::seam::raw::{self, Outcome};
///
/// let fd = raw::eventfd(0, libc::EFD_CLOEXEC).descriptor();
/// assert_eq!(raw::fcntl(fd, libc::F_GETFD, 0), Outcome(Ok(libc::FD_CLOEXEC.into())));
/// assert_eq!(raw::fcntl(fd, 9_999, 0), Outcome(Err(libc::EINVAL)), "a command that is none");
/// raw::close(fd);
/// ```
#[track_caller]
pub fn fcntl(fd: c_int, command: c_int, argument: c_int) -> Outcome {
    assert!(COMMANDS.contains(&command), "fcntl: command {command} may follow a pointer");
    let outcome = call!(fcntl(known(fd), command, argument));
    match command {
        libc::F_DUPFD | libc::F_DUPFD_CLOEXEC => opened(outcome),
        _ => outcome,
    }
}

/// `ioctl(2)` with a place for an `int`, or null.
///
/// # Panics
/// For a request that is not listed.
///
/// ```
/// use hostsim::seam::raw::{self, Memory, Outcome, Use};
/// # let memory = Memory::new();
/// # let place = memory.fill(Use::List, 8, 0);
/// # raw::socketpair(libc::AF_UNIX, libc::SOCK_STREAM, 0, Some(place));
/// # let [one, other] = [8, 4].map(|from_end| i32::from_ne_bytes(memory.array(Use::List, from_end)));
/// raw::write(one, Some(memory.put(Use::Bytes, b"hello")), 5);
/// let count = memory.fill(Use::Length, 4, 0);
/// assert_eq!(raw::ioctl(other, libc::FIONREAD, Some(count)), Outcome(Ok(0)));
/// assert_eq!(memory.array(Use::Length, 4), 5_i32.to_ne_bytes());
/// assert_eq!(raw::ioctl(other, libc::FIONREAD, None), Outcome(Err(libc::EFAULT)));
/// raw::close(one);
/// raw::close(other);
/// ```
#[track_caller]
pub fn ioctl(fd: c_int, request: c_ulong, value: Option<Piece<'_>>) -> Outcome {
    assert!(REQUESTS.contains(&request), "ioctl: request {request:#x} may follow a pointer");
    call!(ioctl(known(fd), request, place::<c_int>(value)))
}

/// How many bytes wait to be read: zero where a descriptor has none to count.
///
/// ```
/// use hostsim::seam::raw::{self, Memory, Use};
/// # let memory = Memory::new();
/// # let place = memory.fill(Use::List, 8, 0);
/// # raw::socketpair(libc::AF_UNIX, libc::SOCK_STREAM, 0, Some(place));
/// # let [one, other] = [8, 4].map(|from_end| i32::from_ne_bytes(memory.array(Use::List, from_end)));
/// raw::write(one, Some(memory.put(Use::Bytes, b"hello")), 5);
/// assert_eq!(raw::unread(&memory, other), 5);
/// raw::close(one);
/// raw::close(other);
/// ```
#[track_caller]
pub fn unread(memory: &Memory, fd: c_int) -> usize {
    let count = memory.fill(Use::Length, size_of::<c_int>(), 0);
    ioctl(fd, libc::FIONREAD, Some(count));
    let count = c_int::from_ne_bytes(memory.array(Use::Length, size_of::<c_int>()));
    count.unsigned_abs() as usize
}
