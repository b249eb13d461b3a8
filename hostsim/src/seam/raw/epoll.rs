//! Waiting for many descriptors, and counters.

use super::Outcome;
use super::own::{known, opened};
use super::pages::{Piece, place, pointer};
use libc::{c_int, c_uint, epoll_event, nfds_t, pollfd};
use std::mem::{offset_of, size_of};

/// How many bytes an event has.
pub const EVENT_LEN: usize = size_of::<epoll_event>();

/// The bytes of an event (`epoll_event`).
pub fn event(events: u32, data: u64) -> [u8; EVENT_LEN] {
    let mut bytes = [0; EVENT_LEN];
    let (at, word) = (offset_of!(epoll_event, events), events.to_ne_bytes());
    bytes[at..at + word.len()].copy_from_slice(&word);
    let (at, word) = (offset_of!(epoll_event, u64), data.to_ne_bytes());
    bytes[at..at + word.len()].copy_from_slice(&word);
    bytes
}

/// The bits of an event and its datum.
pub fn read_event(bytes: [u8; EVENT_LEN]) -> (u32, u64) {
    let events = bytes[offset_of!(epoll_event, events)..].first_chunk().expect("it is whole");
    let data = bytes[offset_of!(epoll_event, u64)..].first_chunk().expect("it is whole");
    (u32::from_ne_bytes(*events), u64::from_ne_bytes(*data))
}

/// `epoll_create1(2)`
#[track_caller]
pub fn epoll_create1(flags: c_int) -> Outcome {
    opened(call!(epoll_create1(flags)))
}

/// `eventfd(2)`
#[track_caller]
pub fn eventfd(initial: c_uint, flags: c_int) -> Outcome {
    opened(call!(eventfd(initial, flags)))
}

/// `epoll_ctl(2)` with the bytes of an event, or null.
///
/// # Panics
/// Where the piece is shorter than an event.
#[track_caller]
pub fn epoll_ctl(epoll: c_int, change: c_int, fd: c_int, event: Option<Piece<'_>>) -> Outcome {
    call!(epoll_ctl(known(epoll), change, known(fd), place(event)))
}

/// `epoll_wait(2)`, into a place for as many events as fit, whatever number it is told.
#[track_caller]
pub fn epoll_wait(epoll: c_int, into: Option<Piece<'_>>, max: c_int, timeout: c_int) -> Outcome {
    call!(epoll_wait(known(epoll), pointer(into), max, timeout))
}

/// `poll(2)` with entries (`pollfd`), whatever number it is told.
#[track_caller]
pub fn poll(entries: Option<Piece<'_>>, count: nfds_t, timeout: c_int) -> Outcome {
    call!(poll(pointer::<pollfd>(entries), count, timeout))
}
