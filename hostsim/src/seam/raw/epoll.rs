//! Waiting for many descriptors, and counters.

use super::Outcome;
use super::own::{known, opened};
use super::pages::{Piece, place, pointer};
use libc::{c_int, c_uint, epoll_event, nfds_t, pollfd};
use std::mem::{offset_of, size_of};

/// How many bytes an event has.
pub const EVENT_LEN: usize = size_of::<epoll_event>();

/// The bytes of an event (`epoll_event`).
///
/// ```
/// use hostsim::seam::raw::{event, read_event};
///
/// assert_eq!(read_event(event(libc::EPOLLIN as u32, 7)), (libc::EPOLLIN as u32, 7));
/// ```
pub fn event(events: u32, data: u64) -> [u8; EVENT_LEN] {
    let mut bytes = [0; EVENT_LEN];
    let (at, word) = (offset_of!(epoll_event, events), events.to_ne_bytes());
    bytes[at..at + word.len()].copy_from_slice(&word);
    let (at, word) = (offset_of!(epoll_event, u64), data.to_ne_bytes());
    bytes[at..at + word.len()].copy_from_slice(&word);
    bytes
}

/// The bits of an event and its datum.
///
/// ```
/// use hostsim::seam::raw::{EVENT_LEN, read_event};
///
/// assert_eq!(read_event([0; EVENT_LEN]), (0, 0));
/// ```
pub fn read_event(bytes: [u8; EVENT_LEN]) -> (u32, u64) {
    let events = bytes[offset_of!(epoll_event, events)..].first_chunk().expect("it is whole");
    let data = bytes[offset_of!(epoll_event, u64)..].first_chunk().expect("it is whole");
    (u32::from_ne_bytes(*events), u64::from_ne_bytes(*data))
}

/// `epoll_create1(2)`
///
/// ```
/// use hostsim::seam::raw::{self, Outcome};
///
/// assert_eq!(raw::epoll_create1(-1), Outcome(Err(libc::EINVAL)), "flags of nothing");
/// raw::close(raw::epoll_create1(libc::EPOLL_CLOEXEC).descriptor());
/// ```
#[track_caller]
pub fn epoll_create1(flags: c_int) -> Outcome {
    opened(call!(epoll_create1(flags)))
}

/// `eventfd(2)`
///
/// ```
/// use hostsim::seam::raw::{self, Memory, Outcome, Use};
///
/// let memory = Memory::new();
/// let fd = raw::eventfd(7, libc::EFD_NONBLOCK).descriptor();
/// let value = memory.fill(Use::Bytes, 8, 0);
/// assert_eq!(raw::read(fd, Some(value), 8), Outcome(Ok(8)));
/// assert_eq!(memory.array(Use::Bytes, 8), 7_u64.to_ne_bytes());
/// assert_eq!(raw::read(fd, Some(value), 8), Outcome(Err(libc::EAGAIN)));
/// raw::close(fd);
/// ```
#[track_caller]
pub fn eventfd(initial: c_uint, flags: c_int) -> Outcome {
    opened(call!(eventfd(initial, flags)))
}

/// `epoll_ctl(2)` with the bytes of an event, or null.
///
/// # Panics
/// Where the piece is shorter than an event.
///
/// ```
/// use hostsim::seam::raw::{self, Memory, Outcome, Use, event};
///
/// let memory = Memory::new();
/// let (epoll, fd) = (raw::epoll_create1(0).descriptor(), raw::eventfd(1, 0).descriptor());
/// let interest = memory.put(Use::List, &event(libc::EPOLLIN as u32, 7));
/// let add = || raw::epoll_ctl(epoll, libc::EPOLL_CTL_ADD, fd, Some(interest));
/// assert_eq!((add(), add()), (Outcome(Ok(0)), Outcome(Err(libc::EEXIST))));
/// raw::close(fd);
/// raw::close(epoll);
/// ```
#[track_caller]
pub fn epoll_ctl(epoll: c_int, change: c_int, fd: c_int, event: Option<Piece<'_>>) -> Outcome {
    call!(epoll_ctl(known(epoll), change, known(fd), place(event)))
}

/// `epoll_wait(2)`, into a place for as many events as fit, whatever number it is told.
///
/// ```
/// use hostsim::seam::raw::{self, EVENT_LEN, Memory, Outcome, Use, event, read_event};
///
/// let memory = Memory::new();
/// let (epoll, fd) = (raw::epoll_create1(0).descriptor(), raw::eventfd(1, 0).descriptor());
/// let interest = memory.put(Use::List, &event(libc::EPOLLIN as u32, 7));
/// raw::epoll_ctl(epoll, libc::EPOLL_CTL_ADD, fd, Some(interest));
/// let into = memory.fill(Use::List, EVENT_LEN, 0);
/// assert_eq!(raw::epoll_wait(epoll, Some(into), 1, 0), Outcome(Ok(1)));
/// assert_eq!(read_event(memory.array(Use::List, EVENT_LEN)), (libc::EPOLLIN as u32, 7));
/// raw::close(fd);
/// raw::close(epoll);
/// ```
#[track_caller]
pub fn epoll_wait(epoll: c_int, into: Option<Piece<'_>>, max: c_int, timeout: c_int) -> Outcome {
    call!(epoll_wait(known(epoll), pointer(into), max, timeout))
}

/// `poll(2)` with entries (`pollfd`), whatever number it is told.
///
/// ```
/// use hostsim::seam::raw::{self, Memory, Outcome, Use};
///
/// let memory = Memory::new();
/// let fd = raw::eventfd(1, 0).descriptor();
/// // A `pollfd`: the descriptor, what is asked, what is told.
/// let mut entry = [0; 8];
/// entry[..4].copy_from_slice(&fd.to_ne_bytes());
/// entry[4..6].copy_from_slice(&libc::POLLIN.to_ne_bytes());
/// assert_eq!(raw::poll(Some(memory.put(Use::List, &entry)), 1, 0), Outcome(Ok(1)));
/// assert_eq!(memory.array(Use::List, 2), libc::POLLIN.to_ne_bytes());
/// raw::close(fd);
/// ```
#[track_caller]
pub fn poll(entries: Option<Piece<'_>>, count: nfds_t, timeout: c_int) -> Outcome {
    call!(poll(pointer::<pollfd>(entries), count, timeout))
}
