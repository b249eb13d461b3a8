//! Reading and writing.
//!
//! A length is any: either kernel cuts it to what one call moves (`MAX_RW_COUNT`), which the
//! forbidden pages after a piece cover.

use super::Outcome;
use super::own::known;
use super::pages::{Piece, apart, place, pointer};
use libc::{c_int, socklen_t};

/// `send(2)`
#[track_caller]
pub fn send(fd: c_int, from: Option<Piece<'_>>, len: usize, flags: c_int) -> Outcome {
    call!(send(known(fd), pointer::<u8>(from).cast(), len, flags))
}

/// `sendto(2)`
#[track_caller]
pub fn sendto(
    fd: c_int,
    from: Option<Piece<'_>>,
    len: usize,
    flags: c_int,
    address: Option<Piece<'_>>,
    address_len: socklen_t,
) -> Outcome {
    let (from, address) = (pointer::<u8>(from).cast(), pointer::<u8>(address).cast());
    call!(sendto(known(fd), from, len, flags, address, address_len))
}

/// `write(2)`
#[track_caller]
pub fn write(fd: c_int, from: Option<Piece<'_>>, len: usize) -> Outcome {
    call!(write(known(fd), pointer::<u8>(from).cast(), len))
}

/// `recv(2)`
#[track_caller]
pub fn recv(fd: c_int, into: Option<Piece<'_>>, len: usize, flags: c_int) -> Outcome {
    call!(recv(known(fd), pointer::<u8>(into).cast(), len, flags))
}

/// `recvfrom(2)`
#[track_caller]
pub fn recvfrom(
    fd: c_int,
    into: Option<Piece<'_>>,
    len: usize,
    flags: c_int,
    address: Option<Piece<'_>>,
    address_len: Option<Piece<'_>>,
) -> Outcome {
    apart([into, address, address_len]);
    let (into, address) = (pointer::<u8>(into).cast(), pointer::<u8>(address).cast());
    call!(recvfrom(known(fd), into, len, flags, address, place(address_len)))
}

/// `read(2)`
#[track_caller]
pub fn read(fd: c_int, into: Option<Piece<'_>>, len: usize) -> Outcome {
    call!(read(known(fd), pointer::<u8>(into).cast(), len))
}
