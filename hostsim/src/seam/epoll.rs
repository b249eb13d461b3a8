//! Waiting for many descriptors.

use super::clock::duration;
use super::{answer_int, fail, machine_world, real, thread, world};
use crate::errno::{Errno, Sys};
use crate::kernel::{Counter, DESCRIPTOR_COUNT, Descriptor, HostId, Interest};
use crate::network::{Change, Kind};
use crate::tcp::Readiness;
use crate::world::{TURNS_MAX, Trouble, World};
use libc::{c_int, c_uint, epoll_event, nfds_t, pollfd, sigset_t, timespec};
use std::mem::size_of;
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
        let epoll = world.with(|network| network.epoll(host))?;
        world.with(|net| net.set_closes_on_exec(epoll, flags & libc::EPOLL_CLOEXEC != 0))?;
        Ok(epoll.to_raw())
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
        if flags & !(libc::EFD_CLOEXEC | libc::EFD_NONBLOCK | libc::EFD_SEMAPHORE) != 0 {
            return Err(Errno::EINVAL);
        }
        let host = host(world)?;
        let is_nonblocking = flags & libc::EFD_NONBLOCK != 0;
        let is_semaphore = flags & libc::EFD_SEMAPHORE != 0;
        let counter = Counter { value: u64::from(initial), is_semaphore };
        let counter = world.with(|net| net.counter(host, counter, is_nonblocking))?;
        world.with(|net| net.set_closes_on_exec(counter, flags & libc::EFD_CLOEXEC != 0))?;
        Ok(counter.to_raw())
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
        let change = read_change(change, event)?;
        world.with(|network| network.kind(at))?;
        check_watched(world, at, fd)?;
        let change = change.ok_or(Errno::EINVAL)?;
        world.with(|network| network.control(at, fd, change)).map(|()| 0)
    })
}

/// What is to be changed; nothing where no change has the number.
fn read_change(change: c_int, event: *mut epoll_event) -> Sys<Option<Change>> {
    if change == libc::EPOLL_CTL_DEL {
        return Ok(Some(Change::Delete));
    }
    if event.is_null() {
        return Err(Errno::EFAULT);
    }
    // SAFETY: an event to read, as the man page asks.
    let event = unsafe { event.read_unaligned() };
    let interest = Interest { events: event.events, data: event.u64 };
    Ok(match change {
        libc::EPOLL_CTL_ADD => Some(Change::Add(interest)),
        libc::EPOLL_CTL_MOD => Some(Change::Modify(interest)),
        _ => None,
    })
}

/// Whether a descriptor may be watched.
///
/// # Errors
/// `EBADF`, `EPERM` for files that are always ready, `EINVAL` for an epoll file: in another one it
/// is not simulated.
fn check_watched(world: &World, epoll: Descriptor, fd: c_int) -> Sys<()> {
    if let Some(at) = Descriptor::from_raw(fd) {
        if world.with(|network| network.kind(at))? == Kind::Epoll {
            if at != epoll {
                let call = "epoll_ctl: an epoll file in another";
                world.record(Trouble::Unsupported { host: at.host, call });
            }
            return Err(Errno::EINVAL);
        }
        return Ok(());
    }
    // SAFETY: numbers of which none is a pointer: zeros are a `struct stat`.
    let mut about: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: a place to write.
    if unsafe { libc::fstat(fd, &mut about) } < 0 {
        return Err(Errno::EBADF);
    }
    match about.st_mode & libc::S_IFMT {
        libc::S_IFREG | libc::S_IFDIR => Err(Errno::EPERM),
        _ => Ok(()),
    }
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
    // A null timeout is no end.
    let duration = (!timeout.is_null()).then(|| duration(timeout)).transpose();
    match duration {
        Ok(duration) => wait(at, events, max, duration),
        Err(errno) => fail(errno) as c_int,
    }
}

/// The most events that one call takes.
const MAX: c_int = c_int::MAX / size_of::<epoll_event>() as c_int;

/// Gives what is ready; where nothing is and the caller would wait, the machine's turn ends.
fn wait(at: Descriptor, into: *mut epoll_event, max: c_int, timeout: Option<Duration>) -> c_int {
    answer_int(|world| {
        let is_room = (1..=MAX).contains(&max);
        let mut ready = world.ready.borrow_mut();
        ready.clear();
        world.with(|network| {
            if network.kind(at)? != Kind::Epoll || !is_room {
                return Err(Errno::EINVAL);
            }
            if into.is_null() && network.poll(at)? != Readiness::NONE {
                return Err(Errno::EFAULT);
            }
            let max = if into.is_null() { 0 } else { max as usize };
            match world.probe.take_event() {
                Some(event) => ready.push(event),
                None => network.collect(at, max, &mut ready)?,
            }
            Ok(())
        })?;
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
        world.on_idle(timeout.map(|timeout| world.after(timeout)));
    }
    Ok(())
}

/// `poll(2)`: where a simulated descriptor is among them, only what is ready at once. A poll of
/// nothing is a sleep.
#[unsafe(no_mangle)]
unsafe extern "C" fn poll(fds: *mut pollfd, count: nfds_t, timeout: c_int) -> c_int {
    // The kernel takes the count as an `unsigned int`.
    let count = count as u32;
    if world().is_none() || fds.is_null() && count > 0 {
        // SAFETY: the caller's arguments go on as they came.
        return unsafe { real::poll(fds, count.into(), timeout) };
    }
    if count > DESCRIPTOR_COUNT.cast_unsigned() {
        return fail(Errno::EINVAL) as c_int;
    }
    let entries = match count {
        0 => &mut [],
        // SAFETY: as many entries, as the man page asks.
        count => unsafe { std::slice::from_raw_parts_mut(fds, count as usize) },
    };
    let is_simulated = |entry: &pollfd| Descriptor::from_raw(entry.fd).is_some();
    // A negative number asks for nothing.
    let is_nothing = entries.iter().all(|entry| entry.fd < 0);
    if entries.iter().any(is_simulated) {
        answer_int(|world| poll_each(world, entries, timeout))
    } else if is_nothing && machine_world().is_some() {
        entries.iter_mut().for_each(|entry| entry.revents = 0);
        answer_int(|world| sleep(world, timeout).map(|()| 0))
    } else {
        // SAFETY: the caller's arguments go on as they came.
        unsafe { real::poll(fds, count.into(), timeout) }
    }
}

/// A poll of nothing: time passes for the caller.
fn sleep(world: &World, timeout: c_int) -> Sys<()> {
    match u64::try_from(timeout) {
        Ok(0) => Ok(()),
        Ok(millis) => {
            world.stall(Duration::from_millis(millis));
            Ok(())
        }
        Err(_) => would_wait(world, host(world)?, "poll", None),
    }
}

fn poll_each(world: &World, entries: &mut [pollfd], timeout: c_int) -> Sys<c_int> {
    let mut ready = 0;
    for entry in entries {
        let asked = entry.events | libc::POLLERR | libc::POLLHUP;
        match Descriptor::from_raw(entry.fd).map(|at| world.with(|network| network.poll(at))) {
            Some(Ok(bits)) => entry.revents = bits.0 as i16 & asked,
            Some(Err(_)) => entry.revents = libc::POLLNVAL,
            // SAFETY: one entry, and no wait; the call sets what is ready of it.
            None => drop(unsafe { real::poll(entry, 1, 0) }),
        }
        ready += c_int::from(entry.revents != 0);
    }
    if ready == 0 && timeout != 0 {
        let timeout = u64::try_from(timeout).ok().map(Duration::from_millis);
        would_wait(world, host(world)?, "poll", timeout)?;
    }
    Ok(ready)
}
