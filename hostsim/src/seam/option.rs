//! Socket options as C holds them.

use super::{answer_int, real};
use crate::errno::{Errno, Sys};
use crate::kernel::Descriptor;
use crate::network::{OptionName, OptionValue};
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
        let name = OptionName { level, name };
        let value = read(name, value, len)?;
        world.with(|network| network.set_option(at, name, value)).map(|()| 0)
    })
}

/// Reads a value of the shape that the option has.
fn read(name: OptionName, value: *const c_void, len: socklen_t) -> Sys<OptionValue> {
    match shape(name) {
        Shape::Linger => {
            let value: linger = read_as(value, len)?;
            let is_on = value.l_onoff != 0;
            let time = Duration::from_secs(value.l_linger.max(0).unsigned_abs().into());
            Ok(OptionValue::Linger(is_on.then_some(time)))
        }
        Shape::Time => {
            let value: timeval = read_as(value, len)?;
            let micros = u32::try_from(value.tv_usec).map_err(|_| Errno::EINVAL)?;
            let seconds = u64::try_from(value.tv_sec).unwrap_or(0);
            Ok(OptionValue::Time(Duration::new(seconds, micros * 1000)))
        }
        Shape::Int => Ok(OptionValue::Int(read_as(value, len)?)),
    }
}

enum Shape {
    Int,
    Linger,
    Time,
}

fn shape(name: OptionName) -> Shape {
    match (name.level, name.name) {
        (libc::SOL_SOCKET, libc::SO_LINGER) => Shape::Linger,
        (libc::SOL_SOCKET, libc::SO_RCVTIMEO | libc::SO_SNDTIMEO) => Shape::Time,
        _ => Shape::Int,
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
        if value.is_null() || len.is_null() {
            return Err(Errno::EFAULT);
        }
        match world.with(|network| network.option(at, OptionName { level, name }))? {
            OptionValue::Int(int) => write_as(int, value, len),
            OptionValue::Linger(time) => {
                let seconds = time.map_or(0, |time| time.as_secs() as c_int);
                let is_on = c_int::from(time.is_some());
                write_as(linger { l_onoff: is_on, l_linger: seconds }, value, len)
            }
            OptionValue::Time(time) => {
                let (tv_sec, tv_usec) = (time.as_secs() as i64, i64::from(time.subsec_micros()));
                write_as(timeval { tv_sec, tv_usec }, value, len)
            }
        }
    })
}

/// Writes as much of a value as the place takes, and how much that was.
fn write_as<T: Copy>(value: T, into: *mut c_void, len: *mut socklen_t) -> Sys<c_int> {
    // SAFETY: not null, and the man page asks for a length to read and write.
    let len = unsafe { &mut *len };
    let room = usize::try_from(len.cast_signed()).map_err(|_| Errno::EINVAL)?;
    let count = size_of::<T>().min(room);
    let from = std::ptr::from_ref(&value).cast::<u8>();
    // SAFETY: `count` bytes are in the value and in the place.
    unsafe { std::ptr::copy_nonoverlapping(from, into.cast::<u8>(), count) };
    *len = count as socklen_t;
    Ok(0)
}
