//! Calls on files by their path, as far as Unix sockets are bound to paths.
//!
//! A path that a socket of the host is or was bound to is a name in the host's own table, whatever
//! is on the disk: `unlink` removes it, `statx` and `chmod` find it. Every other path is the real
//! file's. `rename`, `link`, `stat`, `access`, `chown` and listing a directory do not know of it.

use super::{answer_int, fail, file, machine_world, real};
use crate::errno::Errno;
use crate::world::World;
use libc::{c_char, c_int, c_uint, mode_t, statx as Statx};
use std::ffi::CStr;
use std::os::unix::ffi::OsStrExt;

/// What a path is found by: the path from the root on, without `.` and `..` and empty parts. Links
/// are not followed.
pub(super) fn key(path: &[u8]) -> Vec<u8> {
    let mut key = Vec::new();
    if path.first() != Some(&b'/') {
        let folder = std::env::current_dir().unwrap_or_default();
        key.extend_from_slice(folder.as_os_str().as_bytes());
    }
    for part in path.split(|byte| *byte == b'/') {
        match part {
            b"" | b"." => {}
            b".." => key.truncate(key.iter().rposition(|byte| *byte == b'/').unwrap_or(0)),
            part => {
                key.push(b'/');
                key.extend_from_slice(part);
            }
        }
    }
    if key.is_empty() { b"/".to_vec() } else { key }
}

/// The world and the key of a path, where a machine has its turn and the path does not begin at an
/// open folder.
fn named<'a>(folder: c_int, path: *const c_char) -> Option<(&'a World, Vec<u8>)> {
    let world = machine_world()?;
    if path.is_null() {
        return None;
    }
    // SAFETY: a C string, as the man pages ask, for the time of the call.
    let path = unsafe { CStr::from_ptr(path) }.to_bytes();
    let is_whole = folder == libc::AT_FDCWD || path.first() == Some(&b'/');
    (is_whole && !path.is_empty()).then(|| (world, key(path)))
}

/// Removes a name of the current host; whether there was one.
fn remove(folder: c_int, path: *const c_char) -> bool {
    let Some((world, key)) = named(folder, path) else { return false };
    let remove = |host| world.with(|network| network.unix_remove(host, &key));
    world.host().is_some_and(remove)
}

/// `unlink(2)`
#[unsafe(no_mangle)]
unsafe extern "C" fn unlink(path: *const c_char) -> c_int {
    if remove(libc::AT_FDCWD, path) {
        return 0;
    }
    if file::is_over() {
        return fail(Errno::EIO) as c_int;
    }
    // SAFETY: the caller's arguments go on as they came.
    unsafe { real::unlink(path) }
}

/// `unlinkat(2)`
#[unsafe(no_mangle)]
unsafe extern "C" fn unlinkat(folder: c_int, path: *const c_char, flags: c_int) -> c_int {
    if flags & libc::AT_REMOVEDIR != 0 && mode(folder, path, |_| {}).is_some() {
        return fail(Errno::ENOTDIR) as c_int;
    }
    if flags == 0 && remove(folder, path) {
        return 0;
    }
    if file::is_over() {
        return fail(Errno::EIO) as c_int;
    }
    // SAFETY: the caller's arguments go on as they came.
    unsafe { real::unlinkat(folder, path, flags) }
}

/// The permission bits of a name of the current host, after `change` had its way with them.
fn mode(folder: c_int, path: *const c_char, change: impl FnOnce(&mut u32)) -> Option<u32> {
    let (world, key) = named(folder, path)?;
    let host = world.host()?;
    world.with(|network| {
        let entry = network.unix_entry(host, &key)?;
        change(&mut entry.mode);
        Some(entry.mode)
    })
}

/// `chmod(2)`
#[unsafe(no_mangle)]
unsafe extern "C" fn chmod(path: *const c_char, bits: mode_t) -> c_int {
    if mode(libc::AT_FDCWD, path, |mode| *mode = bits & 0o7777).is_some() {
        return 0;
    }
    if file::is_over() {
        return fail(Errno::EIO) as c_int;
    }
    // SAFETY: the caller's arguments go on as they came.
    unsafe { real::chmod(path, bits) }
}

/// `statx(2)`: a name is of a socket, whose times are the start of time.
#[unsafe(no_mangle)]
unsafe extern "C" fn statx(
    folder: c_int,
    path: *const c_char,
    flags: c_int,
    mask: c_uint,
    into: *mut Statx,
) -> c_int {
    let Some(mode) = mode(folder, path, |_| {}) else {
        // SAFETY: the caller's arguments go on as they came.
        return unsafe { real::statx(folder, path, flags, mask, into) };
    };
    answer_int(|_| {
        // SAFETY: null, or a place to write, as the man page asks.
        let into = unsafe { into.as_mut() }.ok_or(Errno::EFAULT)?;
        // SAFETY: numbers of which none is a pointer: zeros are a `struct statx`.
        *into = unsafe { std::mem::zeroed() };
        into.stx_mask = libc::STATX_BASIC_STATS;
        into.stx_mode = (libc::S_IFSOCK | mode) as u16;
        into.stx_nlink = 1;
        into.stx_blksize = 4096;
        // SAFETY: asks for nothing, here and below.
        into.stx_uid = unsafe { libc::geteuid() };
        // SAFETY: as above.
        into.stx_gid = unsafe { libc::getegid() };
        Ok(0)
    })
}
