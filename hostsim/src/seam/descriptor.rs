//! Descriptors of any kind.

use super::{answer_int, real, world};
use crate::errno::Errno;
use crate::kernel::Descriptor;
use crate::network::Kind;
use libc::{c_int, c_long, c_void};

/// Whether a simulated descriptor is of a run that is over, or of another thread's: whatever still
/// holds it may let it go, and nothing is left to be closed.
fn is_of_no_run() -> bool {
    world().is_none()
}

/// `close(2)`
#[unsafe(no_mangle)]
unsafe extern "C" fn close(fd: c_int) -> c_int {
    let Some(at) = Descriptor::from_raw(fd) else {
        // SAFETY: the caller's arguments go on as they came.
        return unsafe { real::close(fd) };
    };
    if is_of_no_run() {
        return 0;
    }
    answer_int(|world| world.with(|network| network.close(at)).map(|()| 0))
}

/// `dup(2)`
#[unsafe(no_mangle)]
unsafe extern "C" fn dup(fd: c_int) -> c_int {
    let Some(at) = Descriptor::from_raw(fd) else {
        // SAFETY: the caller's arguments go on as they came.
        return unsafe { real::dup(fd) };
    };
    answer_int(|world| Ok(world.with(|network| network.duplicate(at, 0))?.to_raw()))
}

/// `fcntl(2)`
#[unsafe(no_mangle)]
unsafe extern "C" fn fcntl(fd: c_int, command: c_int, argument: c_long) -> c_int {
    let Some(at) = Descriptor::from_raw(fd) else {
        // SAFETY: the caller's arguments go on as they came.
        return unsafe { real::fcntl(fd, command, argument) };
    };
    // std looks whether a descriptor is open before it closes it.
    if command == libc::F_GETFD && is_of_no_run() {
        return 0;
    }
    answer_int(|world| {
        world.with(|network| {
            let is_nonblocking = network.is_nonblocking(at)?;
            let argument = argument as c_int;
            match command {
                libc::F_DUPFD | libc::F_DUPFD_CLOEXEC => {
                    let copy = network.duplicate(at, argument)?;
                    network.set_closes_on_exec(copy, command == libc::F_DUPFD_CLOEXEC)?;
                    return Ok(copy.to_raw());
                }
                libc::F_GETFL if is_nonblocking => return Ok(libc::O_RDWR | libc::O_NONBLOCK),
                libc::F_GETFL => return Ok(libc::O_RDWR),
                libc::F_SETFL => network.set_nonblocking(at, argument & libc::O_NONBLOCK != 0)?,
                libc::F_GETFD => {
                    let closes_on_exec = network.closes_on_exec(at)?;
                    return Ok(if closes_on_exec { libc::FD_CLOEXEC } else { 0 });
                }
                libc::F_SETFD => {
                    network.set_closes_on_exec(at, argument & libc::FD_CLOEXEC != 0)?;
                }
                _ => return Err(Errno::EINVAL),
            }
            Ok(0)
        })
    })
}

/// `ioctl(2)`
#[unsafe(no_mangle)]
unsafe extern "C" fn ioctl(fd: c_int, request: c_long, argument: *mut c_void) -> c_int {
    let Some(at) = Descriptor::from_raw(fd) else {
        // SAFETY: the caller's arguments go on as they came.
        return unsafe { real::ioctl(fd, request, argument) };
    };
    answer_int(|world| {
        let request = request as u64;
        let kind = world.with(|network| network.kind(at))?;
        if [libc::FIOCLEX, libc::FIONCLEX].contains(&request) {
            let closes_on_exec = request == libc::FIOCLEX;
            return world.with(|net| net.set_closes_on_exec(at, closes_on_exec)).map(|()| 0);
        }
        let known = [libc::FIONBIO, libc::FIONREAD, libc::TIOCOUTQ];
        if !known.contains(&request) {
            return Err(if kind == Kind::Epoll { Errno::EINVAL } else { Errno::ENOTTY });
        }
        // SAFETY: null, or an int to read and write, as the known requests ask.
        let argument = unsafe { argument.cast::<c_int>().as_mut() };
        world.with(|network| {
            if request == libc::FIONBIO {
                let is_nonblocking = *argument.ok_or(Errno::EFAULT)? != 0;
                return network.set_nonblocking(at, is_nonblocking).map(|()| 0);
            }
            let is_unread = request == libc::FIONREAD;
            let count = if is_unread { network.unread(at) } else { network.unacknowledged(at) }?;
            *argument.ok_or(Errno::EFAULT)? = count as c_int;
            Ok(0)
        })
    })
}
