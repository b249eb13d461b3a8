//! Socket addresses as C holds them.

use crate::errno::{Errno, Sys};
use libc::{c_int, sa_family_t, sockaddr, sockaddr_in, sockaddr_in6, socklen_t};
use std::mem::size_of;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};

/// Reads an address of `len` bytes.
///
/// # Errors
/// `EFAULT` for null, `EINVAL` for one that is too short, `EAFNOSUPPORT`.
pub(super) fn read(address: *const sockaddr, len: socklen_t) -> Sys<SocketAddr> {
    let len = len as usize;
    if address.is_null() {
        return Err(Errno::EFAULT);
    }
    if len < size_of::<sa_family_t>() {
        return Err(Errno::EINVAL);
    }
    // SAFETY: at least the family is there, as `len` says.
    let family = unsafe { address.cast::<sa_family_t>().read_unaligned() };
    match c_int::from(family) {
        libc::AF_INET if len < size_of::<sockaddr_in>() => Err(Errno::EINVAL),
        libc::AF_INET => {
            // SAFETY: a whole `sockaddr_in` is there, as `len` says.
            let v4 = unsafe { address.cast::<sockaddr_in>().read_unaligned() };
            let ip = Ipv4Addr::from(u32::from_be(v4.sin_addr.s_addr));
            Ok(SocketAddrV4::new(ip, u16::from_be(v4.sin_port)).into())
        }
        libc::AF_INET6 if len < size_of::<sockaddr_in6>() => Err(Errno::EINVAL),
        libc::AF_INET6 => {
            // SAFETY: a whole `sockaddr_in6` is there, as `len` says.
            let v6 = unsafe { address.cast::<sockaddr_in6>().read_unaligned() };
            let ip = Ipv6Addr::from(v6.sin6_addr.s6_addr);
            let (flow, scope) = (v6.sin6_flowinfo, v6.sin6_scope_id);
            Ok(SocketAddrV6::new(ip, u16::from_be(v6.sin6_port), flow, scope).into())
        }
        _ => Err(Errno::EAFNOSUPPORT),
    }
}

/// Writes an address into a place of `*len` bytes, cut to it, and its whole length into `*len`.
/// A null place asks for nothing.
///
/// # Errors
/// `EFAULT` where there is a place and no length, `EINVAL` for a negative length.
pub(super) fn write(value: SocketAddr, into: *mut sockaddr, len: *mut socklen_t) -> Sys<()> {
    if into.is_null() {
        return Ok(());
    }
    // SAFETY: null, or the length of the place, as the man pages ask.
    let len = unsafe { len.as_mut() }.ok_or(Errno::EFAULT)?;
    let room = usize::try_from(len.cast_signed()).map_err(|_| Errno::EINVAL)?;
    let mut bytes = [0; size_of::<sockaddr_in6>()];
    let whole = encode(value, &mut bytes);
    let count = whole.min(room);
    // SAFETY: the place has `room` bytes, as the caller says.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), into.cast::<u8>(), count) };
    *len = whole as socklen_t;
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
