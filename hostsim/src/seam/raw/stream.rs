//! Reading and writing.
//!
//! A length is any: either kernel cuts it to what one call moves (`MAX_RW_COUNT`), which the
//! forbidden pages after a piece cover.

use super::Outcome;
use super::own::known;
use super::pages::{Piece, apart, place, pointer};
use libc::{c_int, socklen_t};

/// `send(2)`
///
/// ```
/// use hostsim::seam::raw::{self, Memory, Outcome, Use};
/// # let memory = Memory::new();
/// # let place = memory.fill(Use::List, 8, 0);
/// # raw::socketpair(libc::AF_UNIX, libc::SOCK_STREAM, 0, Some(place));
/// # let [one, other] = [8, 4].map(|from_end| i32::from_ne_bytes(memory.array(Use::List, from_end)));
/// let bytes = memory.put(Use::Bytes, b"hello");
/// assert_eq!(raw::send(one, Some(bytes), 5, libc::MSG_NOSIGNAL), Outcome(Ok(5)));
/// assert_eq!(raw::send(one, None, 5, libc::MSG_NOSIGNAL), Outcome(Err(libc::EFAULT)));
/// raw::close(one);
/// raw::close(other);
/// ```
#[track_caller]
pub fn send(fd: c_int, from: Option<Piece<'_>>, len: usize, flags: c_int) -> Outcome {
    call!(send(known(fd), pointer::<u8>(from).cast(), len, flags))
}

/// `sendto(2)`
///
/// ```
/// use hostsim::seam::raw::{self, Memory, Outcome, Use};
/// # use hostsim::{seam, world::World};
/// # let world = World::new();
/// # let _entered = seam::enter(&world);
/// # let host = world.with(|network| network.add_host("alone"));
/// # let memory = Memory::new();
/// # let of = |port: u16| {
/// #     let mut bytes = [0; 16];
/// #     bytes[..2].copy_from_slice(&(libc::AF_INET as u16).to_ne_bytes());
/// #     bytes[2..4].copy_from_slice(&port.to_be_bytes());
/// #     bytes[4..8].copy_from_slice(&[127, 0, 0, 1]);
/// #     bytes
/// # };
/// # let nonblocking = libc::SOCK_STREAM | libc::SOCK_NONBLOCK;
/// world.in_turn(host, || {
///     let fd = raw::socket(libc::AF_INET, libc::SOCK_DGRAM, 0).descriptor();
///     let bytes = memory.put(Use::Bytes, b"hello");
///     let to = memory.put(Use::Address, &of(7));
///     assert_eq!(raw::sendto(fd, Some(bytes), 5, 0, Some(to), 16), Outcome(Ok(5)));
///     let nobody = raw::sendto(fd, Some(bytes), 5, 0, None, 0);
///     assert_eq!(nobody, Outcome(Err(libc::EDESTADDRREQ)));
/// });
/// ```
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
///
/// ```
/// use hostsim::seam::raw::{self, Memory, Outcome, Use};
/// # let memory = Memory::new();
/// # let place = memory.fill(Use::List, 8, 0);
/// # raw::socketpair(libc::AF_UNIX, libc::SOCK_STREAM, 0, Some(place));
/// # let [one, other] = [8, 4].map(|from_end| i32::from_ne_bytes(memory.array(Use::List, from_end)));
/// assert_eq!(raw::write(one, Some(memory.put(Use::Bytes, b"hello")), 5), Outcome(Ok(5)));
/// assert_eq!(raw::unread(&memory, other), 5);
/// raw::close(one);
/// raw::close(other);
/// ```
#[track_caller]
pub fn write(fd: c_int, from: Option<Piece<'_>>, len: usize) -> Outcome {
    call!(write(known(fd), pointer::<u8>(from).cast(), len))
}

/// `recv(2)`
///
/// ```
/// use hostsim::seam::raw::{self, Memory, Outcome, Use};
/// # let memory = Memory::new();
/// # let place = memory.fill(Use::List, 8, 0);
/// # raw::socketpair(libc::AF_UNIX, libc::SOCK_STREAM, 0, Some(place));
/// # let [one, other] = [8, 4].map(|from_end| i32::from_ne_bytes(memory.array(Use::List, from_end)));
/// raw::write(one, Some(memory.put(Use::Bytes, b"hello")), 5);
/// let into = memory.fill(Use::Bytes, 8, b'.');
/// assert_eq!(raw::recv(other, Some(into), 8, libc::MSG_PEEK), Outcome(Ok(5)));
/// assert_eq!(memory.bytes(Use::Bytes, 8, 8), b"hello...");
/// assert_eq!(raw::unread(&memory, other), 5, "a peek leaves them");
/// raw::close(one);
/// raw::close(other);
/// ```
#[track_caller]
pub fn recv(fd: c_int, into: Option<Piece<'_>>, len: usize, flags: c_int) -> Outcome {
    call!(recv(known(fd), pointer::<u8>(into).cast(), len, flags))
}

/// `recvfrom(2)`
///
/// ```
/// use hostsim::seam::raw::{self, Memory, Outcome, Use};
/// # use hostsim::{seam, world::World};
/// # let world = World::new();
/// # let _entered = seam::enter(&world);
/// # let host = world.with(|network| network.add_host("alone"));
/// # let memory = Memory::new();
/// # let of = |port: u16| {
/// #     let mut bytes = [0; 16];
/// #     bytes[..2].copy_from_slice(&(libc::AF_INET as u16).to_ne_bytes());
/// #     bytes[2..4].copy_from_slice(&port.to_be_bytes());
/// #     bytes[4..8].copy_from_slice(&[127, 0, 0, 1]);
/// #     bytes
/// # };
/// # let nonblocking = libc::SOCK_STREAM | libc::SOCK_NONBLOCK;
/// world.in_turn(host, || {
///     let fd = raw::socket(libc::AF_INET, libc::SOCK_DGRAM, 0).descriptor();
///     let own = memory.put(Use::Address, &of(7));
///     raw::bind(fd, Some(own), 16);
///     raw::sendto(fd, Some(memory.put(Use::Bytes, b"hello")), 5, 0, Some(own), 16);
///     let (into, from) = (memory.fill(Use::Bytes, 8, 0), memory.fill(Use::Address, 16, 0));
///     let len = memory.put(Use::Length, &16_u32.to_ne_bytes());
///     let outcome = raw::recvfrom(fd, Some(into), 8, 0, Some(from), Some(len));
///     assert_eq!((outcome, memory.array(Use::Address, 16)), (Outcome(Ok(5)), of(7)));
/// });
/// ```
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
///
/// ```
/// use hostsim::seam::raw::{self, Memory, Outcome, Use};
/// # let memory = Memory::new();
/// # let place = memory.fill(Use::List, 8, 0);
/// # raw::socketpair(libc::AF_UNIX, libc::SOCK_STREAM, 0, Some(place));
/// # let [one, other] = [8, 4].map(|from_end| i32::from_ne_bytes(memory.array(Use::List, from_end)));
/// raw::close(one);
/// let into = memory.fill(Use::Bytes, 8, 0);
/// assert_eq!(raw::read(other, Some(into), 8), Outcome(Ok(0)), "the end");
/// raw::close(other);
/// ```
#[track_caller]
pub fn read(fd: c_int, into: Option<Piece<'_>>, len: usize) -> Outcome {
    call!(read(known(fd), pointer::<u8>(into).cast(), len))
}
