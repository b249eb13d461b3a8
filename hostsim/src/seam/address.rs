//! Socket addresses as C holds them.

use crate::address::Domain;
use crate::errno::{Errno, Sys};
use libc::{c_int, sa_family_t, sockaddr, sockaddr_in, sockaddr_in6, sockaddr_storage, socklen_t};
use std::mem::size_of;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};

/// The shortest addresses of a domain; that of IPv6 may end before its scope (RFC 2133).
const V4_LEN_MIN: usize = size_of::<sockaddr_in>();
const V6_LEN_MIN: usize = size_of::<sockaddr_in6>() - size_of::<u32>();

/// The bytes of an address, as each call that is given one takes them first.
///
/// # Errors
/// `EINVAL` for a length that no address has, `EFAULT` for null.
pub(super) fn take<'a>(address: *const sockaddr, len: socklen_t) -> Sys<&'a [u8]> {
    let len = len as usize;
    match (address.is_null(), len) {
        _ if len > size_of::<sockaddr_storage>() => Err(Errno::EINVAL),
        (_, 0) => Ok(&[]),
        (true, _) => Err(Errno::EFAULT),
        // SAFETY: `len` bytes to read, as the man pages ask, for the time of the call.
        (false, _) => Ok(unsafe { std::slice::from_raw_parts(address.cast::<u8>(), len) }),
    }
}

/// The family that an address says it is of, where it is long enough to say so.
pub(super) fn family(bytes: &[u8]) -> Option<c_int> {
    bytes.first_chunk().map(|family| c_int::from(sa_family_t::from_ne_bytes(*family)))
}

/// Reads an address of either domain.
///
/// # Errors
/// `EINVAL` for one that is too short, `EAFNOSUPPORT`.
pub(super) fn read(bytes: &[u8]) -> Sys<SocketAddr> {
    match family(bytes).ok_or(Errno::EINVAL)? {
        libc::AF_INET => read_of(bytes, Domain::V4),
        libc::AF_INET6 => read_of(bytes, Domain::V6),
        _ => Err(Errno::EAFNOSUPPORT),
    }
}

/// Reads an address as a socket of a domain does: its length first, then its family.
///
/// # Errors
/// As [`read`].
pub(super) fn read_of(bytes: &[u8], domain: Domain) -> Sys<SocketAddr> {
    let (len_min, wanted) = match domain {
        Domain::V4 => (V4_LEN_MIN, libc::AF_INET),
        Domain::V6 => (V6_LEN_MIN, libc::AF_INET6),
    };
    if bytes.len() < len_min {
        return Err(Errno::EINVAL);
    }
    if family(bytes) != Some(wanted) {
        return Err(Errno::EAFNOSUPPORT);
    }
    let port = u16::from_be_bytes(part(bytes, 2));
    Ok(match domain {
        Domain::V4 => SocketAddrV4::new(Ipv4Addr::from(part(bytes, 4)), port).into(),
        Domain::V6 => {
            let ip = Ipv6Addr::from(part::<16>(bytes, 8));
            let has_scope = bytes.len() >= size_of::<sockaddr_in6>();
            let scope = if has_scope { u32::from_ne_bytes(part(bytes, 24)) } else { 0 };
            SocketAddrV6::new(ip, port, u32::from_ne_bytes(part(bytes, 4)), scope).into()
        }
    })
}

/// Reads the address that a socket is to have. One of no family, with the wildcard, is IPv4's.
///
/// # Errors
/// As [`read`].
pub(super) fn read_to_bind(bytes: &[u8], domain: Domain) -> Sys<SocketAddr> {
    let is_wildcard = domain == Domain::V4
        && bytes.len() >= V4_LEN_MIN
        && family(bytes) == Some(libc::AF_UNSPEC)
        && part::<4>(bytes, 4) == [0; 4];
    if is_wildcard {
        return Ok(SocketAddr::new(domain.unspecified(), u16::from_be_bytes(part(bytes, 2))));
    }
    read_of(bytes, domain)
}

/// Reads an address of no family as one of IPv4, as `sendto(2)` does on a socket of datagrams.
///
/// # Errors
/// `EINVAL` for one that is too short.
pub(super) fn read_unspecified(bytes: &[u8]) -> Sys<SocketAddr> {
    if bytes.len() < V4_LEN_MIN {
        return Err(Errno::EINVAL);
    }
    let port = u16::from_be_bytes(part(bytes, 2));
    Ok(SocketAddrV4::new(Ipv4Addr::from(part(bytes, 4)), port).into())
}

/// The `N` bytes from `at` on.
fn part<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    *bytes[at..].first_chunk().expect("the caller looked at the length")
}

/// Writes an address into a place of `*len` bytes, cut to it, and its whole length into `*len`.
///
/// # Errors
/// `EFAULT` where there is no length, or no place for bytes; `EINVAL` for a negative length.
pub(super) fn write(value: SocketAddr, into: *mut sockaddr, len: *mut socklen_t) -> Sys<()> {
    let mut bytes = [0; size_of::<sockaddr_in6>()];
    let whole = encode(value, &mut bytes);
    put(&bytes[..whole], into, len)
}

/// Writes that there is no address.
///
/// # Errors
/// As [`write`].
pub(super) fn write_none(into: *mut sockaddr, len: *mut socklen_t) -> Sys<()> {
    put(&[], into, len)
}

/// Writes the bytes of an address into a place of `*len` bytes, cut to it, and its length.
///
/// # Errors
/// As [`write`].
pub(super) fn put(bytes: &[u8], into: *mut sockaddr, len: *mut socklen_t) -> Sys<()> {
    // SAFETY: null, or the length of the place, as the man pages ask.
    let len = unsafe { len.as_mut() }.ok_or(Errno::EFAULT)?;
    let room = usize::try_from(len.cast_signed()).map_err(|_| Errno::EINVAL)?;
    let count = bytes.len().min(room);
    if count > 0 && into.is_null() {
        return Err(Errno::EFAULT);
    }
    if count > 0 {
        // SAFETY: the place has `room` bytes, as the caller says.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), into.cast::<u8>(), count) };
    }
    *len = bytes.len() as socklen_t;
    Ok(())
}

fn encode(value: SocketAddr, into: &mut [u8; size_of::<sockaddr_in6>()]) -> usize {
    let family = if value.is_ipv4() { libc::AF_INET } else { libc::AF_INET6 } as sa_family_t;
    into[..2].copy_from_slice(&family.to_ne_bytes());
    into[2..4].copy_from_slice(&value.port().to_be_bytes());
    match value {
        SocketAddr::V4(v4) => {
            into[4..8].copy_from_slice(&v4.ip().octets());
            size_of::<sockaddr_in>()
        }
        SocketAddr::V6(v6) => {
            into[4..8].copy_from_slice(&v6.flowinfo().to_ne_bytes());
            into[8..24].copy_from_slice(&v6.ip().octets());
            into[24..28].copy_from_slice(&v6.scope_id().to_ne_bytes());
            size_of::<sockaddr_in6>()
        }
    }
}
