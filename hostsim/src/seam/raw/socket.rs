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
///
/// ```
/// use hostsim::seam::raw::{self, Memory, Outcome, Use};
/// # use hostsim::{seam, world::World};
/// # let world = World::new();
/// # let _entered = seam::enter(&world);
/// # let host = world.with(|network| network.add_host("alone"));
/// # let memory = Memory::new();
/// world.in_turn(host, || {
///     let fd = raw::socket(libc::AF_INET, libc::SOCK_STREAM, 0).descriptor();
///     assert_eq!(raw::close(fd), Outcome(Ok(0)));
///     let packet = raw::socket(libc::AF_INET, libc::SOCK_SEQPACKET, 0);
///     assert_eq!(packet, Outcome(Err(libc::ESOCKTNOSUPPORT)));
/// });
/// ```
#[track_caller]
pub fn socket(family: c_int, kind: c_int, protocol: c_int) -> Outcome {
    opened(call!(socket(family, kind, protocol)))
}

/// `socketpair(2)`, into a place for two descriptors.
///
/// # Panics
/// Where the place has no room for them.
///
/// ```
/// use hostsim::seam::raw::{self, Memory, Outcome, Use};
///
/// let memory = Memory::new();
/// let place = memory.fill(Use::List, 8, 0);
/// let made = raw::socketpair(libc::AF_UNIX, libc::SOCK_STREAM, 0, Some(place));
/// assert_eq!(made, Outcome(Ok(0)));
/// for from_end in [8, 4] {
///     raw::close(i32::from_ne_bytes(memory.array(Use::List, from_end)));
/// }
/// ```
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
///     let fd = raw::socket(libc::AF_INET, nonblocking, 0).descriptor();
///     let address = memory.put(Use::Address, &of(7));
///     assert_eq!(raw::bind(fd, Some(address), 15), Outcome(Err(libc::EINVAL)), "too short");
///     assert_eq!(raw::bind(fd, Some(address), 16), Outcome(Ok(0)));
/// });
/// ```
#[track_caller]
pub fn bind(fd: c_int, address: Option<Piece<'_>>, len: socklen_t) -> Outcome {
    call!(bind(known(fd), pointer::<u8>(address).cast(), len))
}

/// `connect(2)`
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
///     let fd = raw::socket(libc::AF_INET, nonblocking, 0).descriptor();
///     let address = memory.put(Use::Address, &of(7));
///     let refused = || raw::connect(fd, Some(address), 16);
///     assert_eq!(refused(), Outcome(Err(libc::EINPROGRESS)));
///     assert_eq!(refused(), Outcome(Err(libc::ECONNREFUSED)));
/// });
/// ```
#[track_caller]
pub fn connect(fd: c_int, address: Option<Piece<'_>>, len: socklen_t) -> Outcome {
    call!(connect(known(fd), pointer::<u8>(address).cast(), len))
}

/// `listen(2)`
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
///     let fd = raw::socket(libc::AF_INET, nonblocking, 0).descriptor();
///     assert_eq!(raw::listen(fd, -1), Outcome(Ok(0)), "a backlog is any number");
/// });
/// assert_eq!(world.network().census().listeners, 1);
/// ```
#[track_caller]
pub fn listen(fd: c_int, backlog: c_int) -> Outcome {
    call!(listen(known(fd), backlog))
}

/// `shutdown(2)`
///
/// ```
/// use hostsim::seam::raw::{self, Memory, Outcome, Use};
/// # let memory = Memory::new();
/// # let place = memory.fill(Use::List, 8, 0);
/// # raw::socketpair(libc::AF_UNIX, libc::SOCK_STREAM, 0, Some(place));
/// # let [one, other] = [8, 4].map(|from_end| i32::from_ne_bytes(memory.array(Use::List, from_end)));
/// assert_eq!(raw::shutdown(one, libc::SHUT_WR), Outcome(Ok(0)));
/// assert_eq!(raw::recv(other, None, 0, 0), Outcome(Ok(0)), "the end");
/// assert_eq!(raw::shutdown(one, 9), Outcome(Err(libc::EINVAL)));
/// raw::close(one);
/// raw::close(other);
/// ```
#[track_caller]
pub fn shutdown(fd: c_int, how: c_int) -> Outcome {
    call!(shutdown(known(fd), how))
}

/// `accept(2)`
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
///     let [listener, dialer] =
///         [(); 2].map(|()| raw::socket(libc::AF_INET, nonblocking, 0).descriptor());
///     let address = memory.put(Use::Address, &of(7));
///     raw::bind(listener, Some(address), 16);
///     raw::listen(listener, 8);
///     raw::connect(dialer, Some(address), 16);
///     assert!(raw::accept(listener, None, None).descriptor() > dialer);
///     assert_eq!(raw::accept(listener, None, None), Outcome(Err(libc::EAGAIN)));
/// });
/// ```
#[track_caller]
pub fn accept(fd: c_int, address: Option<Piece<'_>>, len: Option<Piece<'_>>) -> Outcome {
    apart([address, len]);
    opened(call!(accept(known(fd), pointer::<u8>(address).cast(), place(len))))
}

/// `accept4(2)`
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
///     let listener = raw::socket(libc::AF_INET, nonblocking, 0).descriptor();
///     raw::listen(listener, 8);
///     let flags = libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
///     assert_eq!(raw::accept4(listener, None, None, flags), Outcome(Err(libc::EAGAIN)));
///     assert_eq!(raw::accept4(listener, None, None, 1), Outcome(Err(libc::EINVAL)));
/// });
/// ```
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
///     let fd = raw::socket(libc::AF_INET, nonblocking, 0).descriptor();
///     raw::bind(fd, Some(memory.put(Use::Address, &of(7))), 16);
///     let into = memory.fill(Use::Address, 16, 0);
///     let len = memory.put(Use::Length, &16_u32.to_ne_bytes());
///     assert_eq!(raw::getsockname(fd, Some(into), Some(len)), Outcome(Ok(0)));
///     assert_eq!(memory.array(Use::Address, 16), of(7));
///     assert_eq!(raw::getsockname(fd, None, Some(len)), Outcome(Err(libc::EFAULT)));
/// });
/// ```
#[track_caller]
pub fn getsockname(fd: c_int, address: Option<Piece<'_>>, len: Option<Piece<'_>>) -> Outcome {
    apart([address, len]);
    call!(getsockname(known(fd), pointer::<u8>(address).cast(), place(len)))
}

/// `getpeername(2)`
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
///     let fd = raw::socket(libc::AF_INET, nonblocking, 0).descriptor();
///     let into = memory.fill(Use::Address, 16, 0);
///     let len = memory.put(Use::Length, &16_u32.to_ne_bytes());
///     let outcome = raw::getpeername(fd, Some(into), Some(len));
///     assert_eq!(outcome, Outcome(Err(libc::ENOTCONN)));
/// });
/// ```
#[track_caller]
pub fn getpeername(fd: c_int, address: Option<Piece<'_>>, len: Option<Piece<'_>>) -> Outcome {
    apart([address, len]);
    call!(getpeername(known(fd), pointer::<u8>(address).cast(), place(len)))
}

/// `setsockopt(2)`
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
///     let fd = raw::socket(libc::AF_INET, nonblocking, 0).descriptor();
///     let on = memory.put(Use::Address, &1_i32.to_ne_bytes());
///     let set = |len| raw::setsockopt(fd, libc::SOL_SOCKET, libc::SO_KEEPALIVE, Some(on), len);
///     assert_eq!((set(4), set(3)), (Outcome(Ok(0)), Outcome(Err(libc::EINVAL))));
/// });
/// ```
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
///     let fd = raw::socket(libc::AF_INET, nonblocking, 0).descriptor();
///     let value = memory.fill(Use::Address, 4, 0);
///     let len = memory.put(Use::Length, &4_u32.to_ne_bytes());
///     let option = (libc::SOL_SOCKET, libc::SO_TYPE);
///     let outcome = raw::getsockopt(fd, option.0, option.1, Some(value), Some(len));
///     assert_eq!(outcome, Outcome(Ok(0)));
///     assert_eq!(memory.array(Use::Address, 4), libc::SOCK_STREAM.to_ne_bytes());
/// });
/// ```
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
