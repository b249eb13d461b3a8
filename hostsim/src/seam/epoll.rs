//! Waiting for many descriptors.

use super::{answer_int, machine_world, real, thread, world};
use crate::errno::{Errno, Sys};
use crate::kernel::{Descriptor, HostId, Interest};
use crate::network::Change;
use crate::world::{TURNS_MAX, Trouble, World};
use libc::{c_int, c_uint, epoll_event, nfds_t, pollfd, sigset_t, timespec};
use std::time::Duration;

fn host(world: &World) -> Sys<HostId> {
    world.host().ok_or(Errno::EIO)
}

/// `epoll_create1(2)`
#[unsafe(no_mangle)]
unsafe extern "C" fn epoll_create1(flags: c_int) -> c_int {
    if machine_world().is_none() {
        // SAFETY: the caller's arguments go on as they came.
        return unsafe { real::epoll_create1(flags) };
    }
    answer_int(|world| {
        if flags & !libc::EPOLL_CLOEXEC != 0 {
            return Err(Errno::EINVAL);
        }
        let host = host(world)?;
        Ok(world.with(|network| network.epoll(host))?.to_raw())
    })
}

/// `eventfd(2)`
#[unsafe(no_mangle)]
unsafe extern "C" fn eventfd(initial: c_uint, flags: c_int) -> c_int {
    if machine_world().is_none() {
        // SAFETY: the caller's arguments go on as they came.
        return unsafe { real::eventfd(initial, flags) };
    }
    answer_int(|world| {
        if flags & !(libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) != 0 {
            return Err(Errno::EINVAL);
        }
        let host = host(world)?;
        let is_nonblocking = flags & libc::EFD_NONBLOCK != 0;
        let counter = world.with(|net| net.counter(host, u64::from(initial), is_nonblocking));
        Ok(counter?.to_raw())
    })
}

/// `epoll_ctl(2)`
#[unsafe(no_mangle)]
unsafe extern "C" fn epoll_ctl(
    epoll: c_int,
    change: c_int,
    fd: c_int,
    event: *mut epoll_event,
) -> c_int {
    let Some(at) = Descriptor::from_raw(epoll) else {
        // SAFETY: the caller's arguments go on as they came.
        return unsafe { real::epoll_ctl(epoll, change, fd, event) };
    };
    answer_int(|world| {
        let interest = || {
            if event.is_null() {
                return Err(Errno::EFAULT);
            }
            // SAFETY: an event to read, as the man page asks.
            let event = unsafe { event.read_unaligned() };
            Ok(Interest { events: event.events, data: event.u64 })
        };
        let change = match change {
            libc::EPOLL_CTL_ADD => Change::Add(interest()?),
            libc::EPOLL_CTL_MOD => Change::Modify(interest()?),
            libc::EPOLL_CTL_DEL => Change::Delete,
            _ => return Err(Errno::EINVAL),
        };
        world.with(|network| network.control(at, fd, change)).map(|()| 0)
    })
}

/// `epoll_wait(2)`
#[unsafe(no_mangle)]
unsafe extern "C" fn epoll_wait(
    epoll: c_int,
    events: *mut epoll_event,
    max: c_int,
    timeout: c_int,
) -> c_int {
    let Some(at) = Descriptor::from_raw(epoll) else {
        // SAFETY: the caller's arguments go on as they came.
        return unsafe { real::epoll_wait(epoll, events, max, timeout) };
    };
    wait(at, events, max, u64::try_from(timeout).ok().map(Duration::from_millis))
}

/// `epoll_pwait(2)`; no signal comes in a run, so the mask has nothing to hold back.
#[unsafe(no_mangle)]
unsafe extern "C" fn epoll_pwait(
    epoll: c_int,
    events: *mut epoll_event,
    max: c_int,
    timeout: c_int,
    mask: *const sigset_t,
) -> c_int {
    let Some(at) = Descriptor::from_raw(epoll) else {
        // SAFETY: the caller's arguments go on as they came.
        return unsafe { real::epoll_pwait(epoll, events, max, timeout, mask) };
    };
    wait(at, events, max, u64::try_from(timeout).ok().map(Duration::from_millis))
}

/// `epoll_pwait2(2)`
#[unsafe(no_mangle)]
unsafe extern "C" fn epoll_pwait2(
    epoll: c_int,
    events: *mut epoll_event,
    max: c_int,
    timeout: *const timespec,
    mask: *const sigset_t,
) -> c_int {
    let Some(at) = Descriptor::from_raw(epoll) else {
        // SAFETY: the caller's arguments go on as they came.
        return unsafe { real::epoll_pwait2(epoll, events, max, timeout, mask) };
    };
    // SAFETY: null for no end, or a time, as the man page asks.
    let timeout = unsafe { timeout.as_ref() };
    let duration = timeout.map(|time| Duration::new(time.tv_sec as u64, time.tv_nsec as u32));
    wait(at, events, max, duration)
}

/// Gives what is ready; where nothing is and the caller would wait, the machine's turn ends.
fn wait(at: Descriptor, into: *mut epoll_event, max: c_int, timeout: Option<Duration>) -> c_int {
    answer_int(|world| {
        let max = usize::try_from(max).ok().filter(|max| *max > 0).ok_or(Errno::EINVAL)?;
        if into.is_null() {
            return Err(Errno::EFAULT);
        }
        let mut ready = world.ready.borrow_mut();
        ready.clear();
        world.with(|network| network.collect(at, max, &mut ready))?;
        for (index, event) in ready.iter().enumerate() {
            let event = epoll_event { events: event.events, u64: event.data };
            // SAFETY: the caller has room for `max` events, and `index` is below that.
            let place = unsafe { into.add(index) };
            // SAFETY: the place is the caller's to write; the type is packed on x86_64.
            unsafe { place.write_unaligned(event) };
        }
        let count = ready.len();
        drop(ready);
        if count == 0 {
            on_nothing_ready(world, at, timeout)?;
        }
        Ok(count as c_int)
    })
}

/// A call would wait that is not the runtime's: a trouble, after which the caller does not hang.
fn would_wait(
    world: &World,
    host: HostId,
    call: &'static str,
    timeout: Option<Duration>,
) -> Sys<()> {
    world.record(Trouble::WouldBlock { host, call });
    world.stall(timeout.ok_or(Errno::EIO)?);
    Ok(())
}

fn on_nothing_ready(world: &World, at: Descriptor, timeout: Option<Duration>) -> Sys<()> {
    let turns = world.turns.get() + 1;
    world.turns.set(turns);
    let is_polling = timeout == Some(Duration::ZERO);
    if world.epoll.get() != Some(at) {
        return if is_polling { Ok(()) } else { would_wait(world, at.host, "epoll_wait", timeout) };
    }
    if turns > TURNS_MAX {
        world.record(Trouble::Restless { host: at.host, turns: TURNS_MAX });
        world.on_idle(None);
    } else if !is_polling && !thread::run_waiting(world) {
        // Where threads ran, the runtime looks again at what they left.
        world.on_idle(timeout.map(|timeout| world.now() + timeout));
    }
    Ok(())
}

/// `poll(2)`: of simulated descriptors only what is ready at once.
#[unsafe(no_mangle)]
unsafe extern "C" fn poll(fds: *mut pollfd, count: nfds_t, timeout: c_int) -> c_int {
    if world().is_none() || fds.is_null() {
        // SAFETY: the caller's arguments go on as they came.
        return unsafe { real::poll(fds, count, timeout) };
    }
    // SAFETY: `count` entries, as the man page asks.
    let entries = unsafe { std::slice::from_raw_parts_mut(fds, count as usize) };
    if !entries.iter().any(|entry| Descriptor::from_raw(entry.fd).is_some()) {
        // SAFETY: the caller's arguments go on as they came.
        return unsafe { real::poll(fds, count, timeout) };
    }
    answer_int(|world| {
        let mut ready = 0;
        for entry in entries {
            let asked = entry.events | libc::POLLERR | libc::POLLHUP;
            entry.revents = match Descriptor::from_raw(entry.fd) {
                Some(at) => match world.with(|network| network.poll(at)) {
                    Ok(bits) => bits.0 as i16 & asked,
                    Err(_) => libc::POLLNVAL,
                },
                None => 0,
            };
            ready += c_int::from(entry.revents != 0);
        }
        if ready == 0 && timeout != 0 {
            let timeout = u64::try_from(timeout).ok().map(Duration::from_millis);
            would_wait(world, host(world)?, "poll", timeout)?;
        }
        Ok(ready)
    })
}
