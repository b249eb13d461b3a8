//! Clocks and sleeps.

use super::{answer_int, fail, machine_world, real, world};
use crate::errno::{Errno, Sys};
use crate::world::World;
use libc::{c_int, c_void, clockid_t, time_t, timespec, timeval};
use std::time::Duration;

/// International Atomic Time is so far ahead of UTC.
const TAI: Duration = Duration::from_secs(37);

/// What a clock shows. Clocks of processor time show the time of the run.
pub(super) fn show(world: &World, clock: clockid_t) -> Sys<Duration> {
    match clock {
        libc::CLOCK_REALTIME | libc::CLOCK_REALTIME_COARSE | libc::CLOCK_REALTIME_ALARM => {
            Ok(world.tell_date())
        }
        libc::CLOCK_TAI => Ok(world.tell_date() + TAI),
        libc::CLOCK_MONOTONIC
        | libc::CLOCK_MONOTONIC_RAW
        | libc::CLOCK_MONOTONIC_COARSE
        | libc::CLOCK_BOOTTIME
        | libc::CLOCK_BOOTTIME_ALARM => Ok(world.uptime()),
        libc::CLOCK_PROCESS_CPUTIME_ID | libc::CLOCK_THREAD_CPUTIME_ID => Ok(world.elapsed()),
        _ => Err(Errno::EINVAL),
    }
}

/// `clock_gettime(2)`
#[unsafe(no_mangle)]
unsafe extern "C" fn clock_gettime(clock: clockid_t, into: *mut timespec) -> c_int {
    let Some(world) = world() else {
        // SAFETY: the caller's arguments go on as they came.
        return unsafe { real::clock_gettime(clock, into) };
    };
    let Ok(time) = show(world, clock) else { return fail(Errno::EINVAL) as c_int };
    // SAFETY: null, or a place for the time, as the man page asks.
    let Some(into) = (unsafe { into.as_mut() }) else { return fail(Errno::EFAULT) as c_int };
    into.tv_sec = time.as_secs() as time_t;
    into.tv_nsec = i64::from(time.subsec_nanos());
    0
}

/// `gettimeofday(2)`; the zone is UTC.
#[unsafe(no_mangle)]
unsafe extern "C" fn gettimeofday(into: *mut timeval, zone: *mut c_void) -> c_int {
    let Some(world) = world() else {
        // SAFETY: the caller's arguments go on as they came.
        return unsafe { real::gettimeofday(into, zone) };
    };
    let time = world.tell_date();
    // SAFETY: null, or a place for the time, as the man page asks.
    if let Some(into) = unsafe { into.as_mut() } {
        into.tv_sec = time.as_secs() as time_t;
        into.tv_usec = i64::from(time.subsec_micros());
    }
    if !zone.is_null() {
        // SAFETY: a `struct timezone` is two ints.
        unsafe { zone.cast::<[c_int; 2]>().write([0, 0]) };
    }
    0
}

/// `time(2)`
#[unsafe(no_mangle)]
unsafe extern "C" fn time(into: *mut time_t) -> time_t {
    let Some(world) = world() else {
        // SAFETY: the caller's arguments go on as they came.
        return unsafe { real::time(into) };
    };
    let now = world.tell_date().as_secs() as time_t;
    if !into.is_null() {
        // SAFETY: a place for the time, as the man page asks.
        unsafe { into.write(now) };
    }
    now
}

/// The duration that a `timespec` holds.
///
/// # Errors
/// `EFAULT` for null, `EINVAL` for a time that is none.
pub(super) fn duration(request: *const timespec) -> Sys<Duration> {
    // SAFETY: null, or a time, as the man page asks.
    let request = unsafe { request.as_ref() }.ok_or(Errno::EFAULT)?;
    let seconds = u64::try_from(request.tv_sec).map_err(|_| Errno::EINVAL)?;
    let nanos = u32::try_from(request.tv_nsec).map_err(|_| Errno::EINVAL)?;
    if nanos >= 1_000_000_000 {
        return Err(Errno::EINVAL);
    }
    Ok(Duration::new(seconds, nanos))
}

/// `nanosleep(2)`: the machine stands still, the others do not.
#[unsafe(no_mangle)]
unsafe extern "C" fn nanosleep(request: *const timespec, rest: *mut timespec) -> c_int {
    let Some(_) = machine_world() else {
        // SAFETY: the caller's arguments go on as they came.
        return unsafe { real::nanosleep(request, rest) };
    };
    answer_int(|world| {
        world.stall(duration(request)?);
        Ok(0)
    })
}

/// Whether a program may sleep by a clock.
///
/// # Errors
/// `EINVAL` for no clock, and from glibc for the clock of the thread; `EOPNOTSUPP` (`ENOTSUP`).
fn check_sleep(world: &World, clock: clockid_t) -> Sys<Duration> {
    match clock {
        libc::CLOCK_THREAD_CPUTIME_ID => Err(Errno::EINVAL),
        libc::CLOCK_MONOTONIC_RAW | libc::CLOCK_MONOTONIC_COARSE | libc::CLOCK_REALTIME_COARSE => {
            Err(Errno::EOPNOTSUPP)
        }
        _ => show(world, clock),
    }
}

/// `clock_nanosleep(2)`: returns its error and leaves `errno`.
#[unsafe(no_mangle)]
unsafe extern "C" fn clock_nanosleep(
    clock: clockid_t,
    flags: c_int,
    request: *const timespec,
    rest: *mut timespec,
) -> c_int {
    let Some(world) = machine_world() else {
        // SAFETY: the caller's arguments go on as they came.
        return unsafe { real::clock_nanosleep(clock, flags, request, rest) };
    };
    let sleep = || {
        let now = check_sleep(world, clock)?;
        let wanted = duration(request)?;
        let is_absolute = flags & libc::TIMER_ABSTIME != 0;
        world.stall(if is_absolute { wanted.saturating_sub(now) } else { wanted });
        Ok(())
    };
    sleep().map_or_else(|errno: Errno| errno.0, |()| 0)
}
