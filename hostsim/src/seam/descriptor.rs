//! Descriptors of any kind.

use super::{answer_int, real};
use crate::errno::Errno;
use crate::kernel::Descriptor;
use libc::{c_int, c_long, c_void};

/// `close(2)`
#[unsafe(no_mangle)]
unsafe extern "C" fn close(fd: c_int) -> c_int {
    let Some(at) = Descriptor::from_raw(fd) else {
        // SAFETY: the caller's arguments go on as they came.
        return unsafe { real::close(fd) };
    };
    answer_int(|world| world.with(|network| network.close(at)).map(|()| 0))
}

/// `dup(2)`
#[unsafe(no_mangle)]
unsafe extern "C" fn dup(fd: c_int) -> c_int {
    let Some(at) = Descriptor::from_raw(fd) else {
        // SAFETY: the caller's arguments go on as they came.
        return unsafe { real::dup(fd) };
    };
    answer_int(|world| Ok(world.with(|network| network.duplicate(at))?.to_raw()))
}

/// `fcntl(2)`
#[unsafe(no_mangle)]
unsafe extern "C" fn fcntl(fd: c_int, command: c_int, argument: c_long) -> c_int {
    let Some(at) = Descriptor::from_raw(fd) else {
        // SAFETY: the caller's arguments go on as they came.
        return unsafe { real::fcntl(fd, command, argument) };
    };
    answer_int(|world| {
        world.with(|network| match command {
            libc::F_DUPFD | libc::F_DUPFD_CLOEXEC => Ok(network.duplicate(at)?.to_raw()),
            libc::F_GETFL => {
                let is_nonblocking = network.is_nonblocking(at)?;
                Ok(libc::O_RDWR | if is_nonblocking { libc::O_NONBLOCK } else { 0 })
            }
            libc::F_SETFL => {
                let is_nonblocking = argument as c_int & libc::O_NONBLOCK != 0;
                network.set_nonblocking(at, is_nonblocking).map(|()| 0)
            }
            libc::F_GETFD => network.is_nonblocking(at).map(|_| libc::FD_CLOEXEC),
            libc::F_SETFD => network.is_nonblocking(at).map(|_| 0),
            _ => Err(Errno::EINVAL),
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
        if [libc::FIOCLEX, libc::FIONCLEX].contains(&request) {
            return world.with(|network| network.is_nonblocking(at)).map(|_| 0);
        }
        // SAFETY: null, or an int to read and write, as the requests below ask.
        let argument = unsafe { argument.cast::<c_int>().as_mut() };
        world.with(|network| {
            match request {
                libc::FIONBIO => {
                    let is_nonblocking = *argument.ok_or(Errno::EFAULT)? != 0;
                    network.set_nonblocking(at, is_nonblocking)?;
                }
                libc::FIONREAD => {
                    *argument.ok_or(Errno::EFAULT)? = network.unread(at)? as c_int;
                }
                libc::TIOCOUTQ => {
                    *argument.ok_or(Errno::EFAULT)? = network.unacknowledged(at)? as c_int;
                }
                _ => return Err(Errno::ENOTTY),
            }
            Ok(0)
        })
    })
}
