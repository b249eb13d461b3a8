//! Names and random bytes.
//!
//! Where no kernel is asked but the C library, a place has the length that it is said to have, and
//! is null only where the man page says what then.

use super::Outcome;
use super::pages::{Memory, Piece, Use, apart, pointer};
use libc::{addrinfo, c_int, c_uint, socklen_t};
use std::ffi::CStr;
use std::ptr::null_mut;

/// `getrandom(2)`
///
/// ```
/// use hostsim::seam::raw::{self, Memory, Outcome, Use};
///
/// let memory = Memory::new();
/// let into = memory.fill(Use::Bytes, 8, 0);
/// assert_eq!(raw::getrandom(Some(into), 8, 0), Outcome(Ok(8)));
/// assert_eq!(raw::getrandom(Some(into), 8, u32::MAX), Outcome(Err(libc::EINVAL)));
/// ```
#[track_caller]
pub fn getrandom(into: Option<Piece<'_>>, len: usize, flags: c_uint) -> Outcome {
    call!(getrandom(pointer::<u8>(into).cast(), len, flags))
}

/// Hints that ask for nothing.
pub(in crate::seam) const NO_HINTS: addrinfo = addrinfo {
    ai_flags: 0,
    ai_family: libc::AF_UNSPEC,
    ai_socktype: 0,
    ai_protocol: 0,
    ai_addrlen: 0,
    ai_addr: null_mut(),
    ai_canonname: null_mut(),
    ai_next: null_mut(),
};

/// What `getaddrinfo(3)` is told to look for.
///
/// ```
/// use hostsim::seam::raw::{self, Hints, Memory, Outcome};
/// # use hostsim::{seam, world::World};
/// # let world = World::new();
/// # let _entered = seam::enter(&world);
/// # let host = world.with(|network| network.add_host("alone"));
/// # let memory = Memory::new();
/// let stream = Hints { flags: 0, family: libc::AF_INET, kind: libc::SOCK_STREAM, protocol: 0 };
/// world.in_turn(host, || {
///     let outcome = raw::getaddrinfo(&memory, Some(c"alone"), None, Some(stream));
///     assert_eq!(outcome, Outcome(Ok(0)));
/// });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hints {
    /// `ai_flags`
    pub flags: c_int,
    /// `ai_family`
    pub family: c_int,
    /// `ai_socktype`
    pub kind: c_int,
    /// `ai_protocol`
    pub protocol: c_int,
}

impl Hints {
    fn encode(self) -> addrinfo {
        addrinfo {
            ai_flags: self.flags,
            ai_family: self.family,
            ai_socktype: self.kind,
            ai_protocol: self.protocol,
            ..NO_HINTS
        }
    }
}

/// `getaddrinfo(3)`, whose list is freed at once; `None` is null.
///
/// # Panics
/// Where a text is longer than a page.
///
/// ```
/// use hostsim::seam::raw::{self, Memory, Outcome};
/// # use hostsim::{seam, world::World};
/// # let world = World::new();
/// # let _entered = seam::enter(&world);
/// # let host = world.with(|network| network.add_host("alone"));
/// # let memory = Memory::new();
/// world.in_turn(host, || {
///     let nobody = raw::getaddrinfo(&memory, Some(c"nobody"), None, None);
///     assert_eq!(nobody, Outcome(Ok(libc::EAI_NONAME.into())), "it gives the error itself");
/// });
/// ```
#[track_caller]
pub fn getaddrinfo(
    memory: &Memory,
    node: Option<&CStr>,
    service: Option<&CStr>,
    hints: Option<Hints>,
) -> Outcome {
    let node = node.map(|text| memory.put(Use::Bytes, text.to_bytes_with_nul()));
    let service = service.map(|text| memory.put(Use::Address, text.to_bytes_with_nul()));
    let (node, service) = (pointer::<u8>(node).cast(), pointer::<u8>(service).cast());
    let hints = hints.map_or(null_mut(), |hints| memory.put_values(Use::Header, &[hints.encode()]));
    let into = memory.put_values::<*mut addrinfo>(Use::Parts, &[null_mut()]);
    let outcome = call!(getaddrinfo(node, service, hints, into));
    if outcome.0 == Ok(0) {
        // SAFETY: the place that was laid out, which the call wrote to.
        let list = unsafe { into.read() };
        // SAFETY: the list that the call gave, once.
        unsafe { libc::freeaddrinfo(list) };
    }
    outcome
}

/// `getnameinfo(3)`
///
/// # Panics
/// Where pieces overlap.
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
///     let address = memory.put(Use::Address, &of(7));
///     let (node, service) = (memory.fill(Use::Bytes, 64, 0), memory.fill(Use::List, 16, 0));
///     let numeric = libc::NI_NUMERICHOST | libc::NI_NUMERICSERV;
///     assert_eq!(raw::getnameinfo(address, node, service, numeric), Outcome(Ok(0)));
///     assert_eq!(memory.bytes(Use::Bytes, 64, 10), b"127.0.0.1\0");
/// });
/// ```
#[track_caller]
pub fn getnameinfo(
    address: Piece<'_>,
    node: Piece<'_>,
    service: Piece<'_>,
    flags: c_int,
) -> Outcome {
    apart([Some(address), Some(node), Some(service)]);
    let [address_len, node_len, service_len] =
        [address, node, service].map(|piece| piece.len() as socklen_t);
    let (address, node) = (address.as_ptr::<u8>().cast(), node.as_ptr::<u8>().cast());
    let service = service.as_ptr::<u8>().cast();
    call!(getnameinfo(address, address_len, node, node_len, service, service_len, flags))
}

/// `gethostname(2)`, into a place or null, and of which length that is said to be. Null is for the
/// simulated kernel: the C library does not look, and the process ends.
///
/// ```
/// use hostsim::seam::raw::{self, Memory, Outcome, Use};
/// # use hostsim::{seam, world::World};
/// # let world = World::new();
/// # let _entered = seam::enter(&world);
/// # let host = world.with(|network| network.add_host("alone"));
/// # let memory = Memory::new();
/// world.in_turn(host, || {
///     let into = memory.fill(Use::Bytes, 8, b'.');
///     assert_eq!(raw::gethostname(Some(into), 8), Outcome(Ok(0)));
///     assert_eq!(memory.bytes(Use::Bytes, 8, 6), b"alone\0");
/// });
/// ```
#[track_caller]
pub fn gethostname(into: Option<Piece<'_>>, len: usize) -> Outcome {
    call!(gethostname(pointer::<u8>(into).cast(), len))
}
