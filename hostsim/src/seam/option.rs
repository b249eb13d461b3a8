//! Socket options as C holds them.

use super::{answer_int, real, unix};
use crate::address::Domain;
use crate::errno::{Errno, Sys};
use crate::kernel::{Descriptor, Linger};
use crate::network::{OptionName, OptionValue};
use crate::world::World;
use libc::{c_int, c_void, linger, socklen_t, timeval};
use std::mem::size_of;
use std::time::Duration;

/// `setsockopt(2)`
#[unsafe(no_mangle)]
unsafe extern "C" fn setsockopt(
    fd: c_int,
    level: c_int,
    name: c_int,
    value: *const c_void,
    len: socklen_t,
) -> c_int {
    let Some(at) = Descriptor::from_raw(fd) else {
        // SAFETY: the caller's arguments go on as they came.
        return unsafe { real::setsockopt(fd, level, name, value, len) };
    };
    answer_int(|world| {
        let is_unix = world.with(|network| network.is_unix(at))?;
        let name = OptionName { level, name };
        if is_unix && len.cast_signed() >= 0 && level != libc::SOL_SOCKET {
            return Err(Errno::EOPNOTSUPP);
        }
        let value = read(name, is_foreign(world, at, name), value, len)?;
        world.with(|network| match is_unix {
            true => network.unix_set_option(at, name, value),
            false => network.set_option(at, name, value),
        })?;
        Ok(0)
    })
}

/// Reads a value of the shape that the option has.
fn read(
    name: OptionName,
    is_foreign: bool,
    value: *const c_void,
    len: socklen_t,
) -> Sys<OptionValue> {
    if len.cast_signed() < 0 {
        return Err(Errno::EINVAL);
    }
    if name.level == libc::SOL_SOCKET {
        // Each starts with an int, which is read before the rest is looked at.
        read_as::<c_int>(value, len)?;
    }
    match shape(name) {
        _ if is_foreign => Err(Errno::ENOPROTOOPT),
        Shape::Linger => {
            let value: linger = read_as(value, len)?;
            let is_on = value.l_onoff != 0;
            // What is negative is taken for something large.
            let seconds = u64::try_from(value.l_linger).unwrap_or(c_int::MAX as u64);
            let time = Duration::from_secs(seconds);
            Ok(OptionValue::Linger(Linger { is_on, time }))
        }
        Shape::Time => {
            let value: timeval = read_as(value, len)?;
            let micros = u32::try_from(value.tv_usec).map_err(|_| Errno::EDOM)?;
            if micros >= 1_000_000 {
                return Err(Errno::EDOM);
            }
            let seconds = u64::try_from(value.tv_sec).unwrap_or(0);
            Ok(OptionValue::Time(Duration::new(seconds, micros * 1000)))
        }
        Shape::Byte if len == 0 => Ok(OptionValue::Int(0)),
        Shape::Byte if len < 4 => Ok(OptionValue::Int(read_as::<u8>(value, len)?.into())),
        Shape::None => Err(Errno::ENOPROTOOPT),
        // IPv6 takes nothing for zero.
        _ if name.level == libc::IPPROTO_IPV6 && value.is_null() && len >= 4 => {
            Ok(OptionValue::Int(0))
        }
        Shape::Int | Shape::Byte => Ok(OptionValue::Int(read_as(value, len)?)),
    }
}

/// Whether no socket of the family has options of the level.
fn is_foreign(world: &World, at: Descriptor, name: OptionName) -> bool {
    let is_v4 = world.with(|network| network.domain(at)) == Ok(Domain::V4);
    is_v4 && name.level == libc::IPPROTO_IPV6
}

enum Shape {
    Int,
    /// An `int`, or a byte where there is no room for more.
    Byte,
    /// No option is of this level.
    None,
    Linger,
    Time,
}

fn shape(name: OptionName) -> Shape {
    match (name.level, name.name) {
        (libc::SOL_SOCKET, libc::SO_LINGER) => Shape::Linger,
        (libc::SOL_SOCKET, libc::SO_RCVTIMEO | libc::SO_SNDTIMEO) => Shape::Time,
        (libc::IPPROTO_IP, _) => Shape::Byte,
        (libc::SOL_SOCKET | libc::IPPROTO_TCP | libc::IPPROTO_IPV6, _) => Shape::Int,
        _ => Shape::None,
    }
}

fn read_as<T: Copy>(value: *const c_void, len: socklen_t) -> Sys<T> {
    if (len as usize) < size_of::<T>() {
        return Err(Errno::EINVAL);
    }
    if value.is_null() {
        return Err(Errno::EFAULT);
    }
    // SAFETY: `len` bytes to read, as the man page asks, and each type here is plain numbers.
    Ok(unsafe { value.cast::<T>().read_unaligned() })
}

/// `getsockopt(2)`
#[unsafe(no_mangle)]
unsafe extern "C" fn getsockopt(
    fd: c_int,
    level: c_int,
    name: c_int,
    value: *mut c_void,
    len: *mut socklen_t,
) -> c_int {
    let Some(at) = Descriptor::from_raw(fd) else {
        // SAFETY: the caller's arguments go on as they came.
        return unsafe { real::getsockopt(fd, level, name, value, len) };
    };
    answer_int(|world| {
        let is_unix = world.with(|network| network.is_unix(at))?;
        let name = OptionName { level, name };
        if is_unix && level != libc::SOL_SOCKET {
            return Err(Errno::EOPNOTSUPP);
        }
        // What no socket of the family has is told before the length is looked at.
        if matches!(shape(name), Shape::None) || is_foreign(world, at, name) {
            return world.with(|network| network.option(at, name)).map(|_| 0);
        }
        // SAFETY: null, or a length, as the man page asks.
        let len = unsafe { len.as_mut() }.ok_or(Errno::EFAULT)?;
        // IPv6 takes what is negative for something large.
        let is_large = level == libc::IPPROTO_IPV6;
        let room = len.cast_signed();
        let room = if is_large { *len as usize } else { to_len(room)? };
        if is_unix && name.name == libc::SO_PEERCRED {
            return unix::write_credentials(world, at, value, len);
        }
        let found = world.with(|network| match is_unix {
            true => network.unix_option(at, name),
            false => network.option(at, name),
        })?;
        match (found, shape(name)) {
            (OptionValue::Int(int @ 0..=255), Shape::Byte) if (1..4).contains(&room) => {
                write_as(int as u8, value, len)
            }
            (OptionValue::Int(int), _) => write_as(int, value, len),
            (OptionValue::Linger(Linger { is_on, time }), _) => {
                let (l_onoff, l_linger) = (c_int::from(is_on), time.as_secs() as c_int);
                write_as(linger { l_onoff, l_linger }, value, len)
            }
            (OptionValue::Time(time), _) => {
                let (tv_sec, tv_usec) = (time.as_secs() as i64, i64::from(time.subsec_micros()));
                write_as(timeval { tv_sec, tv_usec }, value, len)
            }
        }
    })
}

fn to_len(len: c_int) -> Sys<usize> {
    usize::try_from(len).map_err(|_| Errno::EINVAL)
}

/// Writes as much of a value as the place of `len` bytes takes, and how much that was.
pub(super) fn write_as<T: Copy>(value: T, into: *mut c_void, len: &mut socklen_t) -> Sys<c_int> {
    let count = size_of::<T>().min(*len as usize);
    *len = count as socklen_t;
    if count == 0 {
        return Ok(0);
    }
    if into.is_null() {
        return Err(Errno::EFAULT);
    }
    let from = std::ptr::from_ref(&value).cast::<u8>();
    // SAFETY: `count` bytes are in the value and in the place.
    unsafe { std::ptr::copy_nonoverlapping(from, into.cast::<u8>(), count) };
    Ok(0)
}
