//! Unix stream sockets: pairs of them, and their addresses as C holds them.
//!
//! A path is a name in the host's own table; [`super::path`] has the calls on files that know it.

use super::socket::{self, FAMILY_COUNT, FLAGS, TYPE_COUNT, TYPE_MASK, unsupported};
use super::{address, answer_int, machine_world, path, real, without_waiting};
use crate::errno::{Errno, Sys};
use crate::kernel::{Descriptor, HostId, UnixName};
use crate::world::World;
use libc::{c_int, c_void, sa_family_t, sockaddr, sockaddr_un, socklen_t, ucred};
use std::mem::{offset_of, size_of};

/// Where the name of an address begins.
const PATH_OFFSET: usize = offset_of!(sockaddr_un, sun_path);

/// `socketpair(2)`
///
/// While a machine's runtime is made it is the real one: tokio makes one pair of sockets a process,
/// with the first runtime that can have signals, and keeps it past the run.
#[unsafe(no_mangle)]
unsafe extern "C" fn socketpair(
    domain: c_int,
    kind: c_int,
    protocol: c_int,
    into: *mut c_int,
) -> c_int {
    if machine_world().is_none_or(|world| world.epoll.get().is_none()) {
        // SAFETY: the caller's arguments go on as they came.
        return unsafe { real::socketpair(domain, kind, protocol, into) };
    }
    answer_int(|world| {
        let host = world.host().ok_or(Errno::EIO)?;
        let flags = kind & !TYPE_MASK;
        if flags & !FLAGS != 0 {
            return Err(Errno::EINVAL);
        }
        // SAFETY: null, or a place for two descriptors, as the man page asks.
        let into = unsafe { into.cast::<[c_int; 2]>().as_mut() }.ok_or(Errno::EFAULT)?;
        let kind = kind & TYPE_MASK;
        match domain {
            libc::AF_UNIX => check_type(world, host, kind, protocol)?,
            libc::AF_INET | libc::AF_INET6 => {
                socket::check_type(world, host, kind, protocol)?;
                return Err(Errno::EOPNOTSUPP);
            }
            0..FAMILY_COUNT if kind >= TYPE_COUNT => return Err(Errno::EINVAL),
            _ => return Err(Errno::EAFNOSUPPORT),
        }
        let is_nonblocking = flags & libc::SOCK_NONBLOCK != 0;
        let pair = world.with(|network| network.unix_pair(host, is_nonblocking))?;
        for at in pair {
            world.with(|net| net.set_closes_on_exec(at, flags & libc::SOCK_CLOEXEC != 0))?;
        }
        *into = pair.map(Descriptor::to_raw);
        Ok(0)
    })
}

/// Makes a Unix socket, as `socket(2)` with flags that were looked at.
///
/// # Errors
/// As [`check_type`]; `EMFILE`.
pub(super) fn make(world: &World, host: HostId, kind: c_int, protocol: c_int) -> Sys<c_int> {
    check_type(world, host, kind & TYPE_MASK, protocol)?;
    let is_nonblocking = kind & libc::SOCK_NONBLOCK != 0;
    let socket = world.with(|network| network.unix_socket(host, is_nonblocking))?;
    world.with(|net| net.set_closes_on_exec(socket, kind & libc::SOCK_CLOEXEC != 0))?;
    Ok(socket.to_raw())
}

/// Whether a socket of the Unix family may have a type and a protocol.
///
/// # Errors
/// As Linux `unix_create`.
fn check_type(world: &World, host: HostId, kind: c_int, protocol: c_int) -> Sys<()> {
    if kind >= TYPE_COUNT {
        return Err(Errno::EINVAL);
    }
    if protocol != 0 && protocol != libc::PF_UNIX {
        return Err(Errno::EPROTONOSUPPORT);
    }
    match kind {
        libc::SOCK_STREAM => Ok(()),
        libc::SOCK_DGRAM | libc::SOCK_RAW | libc::SOCK_SEQPACKET => {
            let call = "socket: a Unix socket of a type other than SOCK_STREAM";
            Err(unsupported(world, host, call))
        }
        _ => Err(Errno::ESOCKTNOSUPPORT),
    }
}

/// The name that an address gives; nothing where it gives none, and so asks for any.
///
/// # Errors
/// `EINVAL` for another family, and for a length that no address has.
fn read(bytes: &[u8]) -> Sys<Option<UnixName>> {
    if bytes.len() > size_of::<sockaddr_un>() || address::family(bytes) != Some(libc::AF_UNIX) {
        return Err(Errno::EINVAL);
    }
    let name = &bytes[PATH_OFFSET..];
    match name.first() {
        None => Ok(None),
        Some(0) => Ok(Some(UnixName::of_abstract(&name[1..]))),
        Some(_) => {
            let path = name.split(|byte| *byte == 0).next().unwrap_or(name);
            Ok(Some(UnixName { shown: [path, &[0]].concat(), key: path::key(path) }))
        }
    }
}

/// Binds a socket to what an address says.
///
/// # Errors
/// As `bind(2)`.
pub(super) fn bind(world: &World, at: Descriptor, address: &[u8]) -> Sys<c_int> {
    let name = read(address)?;
    world.with(|network| network.unix_bind(at, name)).map(|()| 0)
}

/// Connects a socket to what an address says; one in blocking mode would wait for a full backlog.
///
/// # Errors
/// As `connect(2)`.
pub(super) fn connect(world: &World, at: Descriptor, address: &[u8]) -> Sys<c_int> {
    let name = read(address)?.ok_or(Errno::EINVAL)?;
    without_waiting(world, at, "connect", false, |net| net.unix_connect(at, &name.key)).map(|()| 0)
}

/// Writes a name as an address; one without a name is its family only.
///
/// # Errors
/// As [`address::put`].
fn write(name: Option<&UnixName>, into: *mut sockaddr, len: *mut socklen_t) -> Sys<()> {
    let family = (libc::AF_UNIX as sa_family_t).to_ne_bytes();
    let name = name.map_or(&[][..], |name| &name.shown);
    address::put(&[&family, name].concat(), into, len)
}

/// Writes the name of a socket, as `getsockname(2)`.
///
/// # Errors
/// As [`address::put`].
pub(super) fn write_own(
    world: &World,
    at: Descriptor,
    into: *mut sockaddr,
    len: *mut socklen_t,
) -> Sys<()> {
    write(world.with(|network| network.unix_name(at))?.as_ref(), into, len)
}

/// Writes the name of a socket's peer, as `getpeername(2)`.
///
/// # Errors
/// `ENOTCONN`, and as [`address::put`].
pub(super) fn write_peer(
    world: &World,
    at: Descriptor,
    into: *mut sockaddr,
    len: *mut socklen_t,
) -> Sys<()> {
    write(world.with(|network| network.unix_peer_name(at))?.as_ref(), into, len)
}

/// Writes whose bytes a call received; of a peer without a name, nothing.
///
/// # Errors
/// As [`address::put`].
pub(super) fn write_sender(
    world: &World,
    at: Descriptor,
    into: *mut sockaddr,
    len: *mut socklen_t,
) -> Sys<()> {
    match world.with(|network| network.unix_peer_name(at))? {
        Some(name) => write(Some(&name), into, len),
        None => address::put(&[], into, len),
    }
}

/// What a call says that names whom it sends to.
///
/// # Errors
/// `EISCONN`, or `EOPNOTSUPP` where the socket is not connected.
pub(super) fn check_unaddressed(world: &World, at: Descriptor) -> Sys<()> {
    let is_connected = world.with(|network| network.unix_peer_name(at)).is_ok();
    Err(if is_connected { Errno::EISCONN } else { Errno::EOPNOTSUPP })
}

/// What a call says that sends control messages: descriptors and credentials are not passed on.
///
/// # Errors
/// `EOPNOTSUPP`
pub(super) fn refuse_control(world: &World, at: Descriptor) -> Sys<()> {
    let call = "sendmsg: a control message (SCM_RIGHTS, SCM_CREDENTIALS)";
    unsupported(world, at.host, call);
    Err(Errno::EOPNOTSUPP)
}

/// Writes whose process a peer is of (`SO_PEERCRED`): every one is of this process.
///
/// # Errors
/// `EFAULT`
pub(super) fn write_credentials(
    world: &World,
    at: Descriptor,
    into: *mut c_void,
    len: &mut socklen_t,
) -> Sys<c_int> {
    let nobody = ucred { pid: 0, uid: u32::MAX, gid: u32::MAX };
    let is_known = world.with(|network| network.unix_has_credentials(at))?;
    super::option::write_as(if is_known { own_credentials() } else { nobody }, into, len)
}

fn own_credentials() -> ucred {
    // SAFETY: asks for nothing, here and below.
    let pid = unsafe { libc::getpid() };
    // SAFETY: as above.
    let uid = unsafe { libc::geteuid() };
    // SAFETY: as above.
    let gid = unsafe { libc::getegid() };
    ucred { pid, uid, gid }
}
