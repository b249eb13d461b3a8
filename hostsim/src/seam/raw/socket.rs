//! Making, binding, dialing and accepting sockets, and their options.
//!
//! A length that a call is told is any; one that a call writes to is the place of a `socklen_t`.

use super::Outcome;
use super::own::{known, opened};
use super::pages::{Piece, apart, place, pointer};
use libc::{c_int, socklen_t};
use std::mem::size_of;

/// The option whose value has a pointer that the kernel writes to (Linux `linux/tcp.h`).
const TCP_ZEROCOPY_RECEIVE: c_int = 35;

/// `socket(2)`
#[track_caller]
pub fn socket(family: c_int, kind: c_int, protocol: c_int) -> Outcome {
    opened(call!(socket(family, kind, protocol)))
}

/// `socketpair(2)`, into a place for two descriptors.
///
/// # Panics
/// Where the place has no room for them.
#[track_caller]
pub fn socketpair(family: c_int, kind: c_int, protocol: c_int, into: Option<Piece<'_>>) -> Outcome {
    let place: *mut [c_int; 2] = place(into);
    let outcome = call!(socketpair(family, kind, protocol, place.cast()));
    if outcome.0.is_ok() {
        // SAFETY: the call did not fail, so the place is not null, and it wrote both.
        let pair = unsafe { place.read() };
        for fd in pair {
            opened(Outcome(Ok(fd.into())));
        }
    }
    outcome
}

/// `bind(2)`
#[track_caller]
pub fn bind(fd: c_int, address: Option<Piece<'_>>, len: socklen_t) -> Outcome {
    call!(bind(known(fd), pointer::<u8>(address).cast(), len))
}

/// `connect(2)`
#[track_caller]
pub fn connect(fd: c_int, address: Option<Piece<'_>>, len: socklen_t) -> Outcome {
    call!(connect(known(fd), pointer::<u8>(address).cast(), len))
}

/// `listen(2)`
#[track_caller]
pub fn listen(fd: c_int, backlog: c_int) -> Outcome {
    call!(listen(known(fd), backlog))
}

/// `shutdown(2)`
#[track_caller]
pub fn shutdown(fd: c_int, how: c_int) -> Outcome {
    call!(shutdown(known(fd), how))
}

/// `accept(2)`
#[track_caller]
pub fn accept(fd: c_int, address: Option<Piece<'_>>, len: Option<Piece<'_>>) -> Outcome {
    apart([address, len]);
    opened(call!(accept(known(fd), pointer::<u8>(address).cast(), place(len))))
}

/// `accept4(2)`
#[track_caller]
pub fn accept4(
    fd: c_int,
    address: Option<Piece<'_>>,
    len: Option<Piece<'_>>,
    flags: c_int,
) -> Outcome {
    apart([address, len]);
    opened(call!(accept4(known(fd), pointer::<u8>(address).cast(), place(len), flags)))
}

/// `getsockname(2)`
#[track_caller]
pub fn getsockname(fd: c_int, address: Option<Piece<'_>>, len: Option<Piece<'_>>) -> Outcome {
    apart([address, len]);
    call!(getsockname(known(fd), pointer::<u8>(address).cast(), place(len)))
}

/// `getpeername(2)`
#[track_caller]
pub fn getpeername(fd: c_int, address: Option<Piece<'_>>, len: Option<Piece<'_>>) -> Outcome {
    apart([address, len]);
    call!(getpeername(known(fd), pointer::<u8>(address).cast(), place(len)))
}

/// `setsockopt(2)`
#[track_caller]
pub fn setsockopt(
    fd: c_int,
    level: c_int,
    name: c_int,
    value: Option<Piece<'_>>,
    len: socklen_t,
) -> Outcome {
    call!(setsockopt(known(fd), level, name, pointer::<u8>(value).cast(), len))
}

/// `getsockopt(2)`
///
/// # Panics
/// For the option that has a pointer.
#[track_caller]
pub fn getsockopt(
    fd: c_int,
    level: c_int,
    name: c_int,
    value: Option<Piece<'_>>,
    len: Option<Piece<'_>>,
) -> Outcome {
    let has_pointer = (level, name) == (libc::IPPROTO_TCP, TCP_ZEROCOPY_RECEIVE);
    assert!(!has_pointer, "getsockopt: the option follows a pointer");
    apart([value, len]);
    call!(getsockopt(known(fd), level, name, pointer::<u8>(value).cast(), place(len)))
}

/// What a place for a length is as long as.
const _: () = assert!(size_of::<socklen_t>() == 4, "a length is a number of 32 bits");
