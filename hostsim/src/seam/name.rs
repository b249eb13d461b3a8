//! Names of hosts and services.

use super::lookup::{Eai, Found, Hints, Kind, Query, look_up};
use super::{address, fail, guarded, real, world};
use crate::errno::Errno;
use crate::world::World;
use libc::{addrinfo, c_char, c_int, size_t, sockaddr, sockaddr_storage, socklen_t};
use std::collections::BTreeMap;
use std::ffi::{CStr, CString};
use std::mem::size_of;
use std::net::SocketAddr;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// How many entries of ours live. While there are none, `freeaddrinfo` takes no lock.
static LIVE_COUNT: AtomicUsize = AtomicUsize::new(0);

/// The entries of ours that live, by the address of their `addrinfo`: a program may free a list in
/// another thread, after the run, and in parts.
static LIVE: Mutex<BTreeMap<usize, Entry>> = Mutex::new(BTreeMap::new());

/// An entry of a list, with what it points to.
struct Entry {
    info: Box<addrinfo>,
    _address: Box<sockaddr_storage>,
    _name: Option<CString>,
}

// SAFETY: the pointers are to the entry's own boxes, and to the next entry, which is only told.
unsafe impl Send for Entry {}

/// `getaddrinfo(3)`
#[unsafe(no_mangle)]
unsafe extern "C" fn getaddrinfo(
    node: *const c_char,
    service: *const c_char,
    hints: *const addrinfo,
    into: *mut *mut addrinfo,
) -> c_int {
    let Some(world) = world() else {
        // SAFETY: the caller's arguments go on as they came.
        return unsafe { real::getaddrinfo(node, service, hints, into) };
    };
    // SAFETY: null, or hints, as the man page asks.
    let hints = unsafe { hints.as_ref() }.map_or(Hints::NONE, Hints::of);
    let find = || {
        let (node, service) = (text(node)?, text(service)?);
        let found = look_up(&world.network(), &Query { node, service, hints })?;
        // SAFETY: null, or a place for the list, as the man page asks.
        let into = unsafe { into.as_mut() }.ok_or(libc::EAI_FAIL)?;
        *into = publish(found, hints.flags);
        Ok(())
    };
    told(world, find)
}

/// The text of a C string; one that is not of UTF-8 names nothing.
fn text<'a>(from: *const c_char) -> Result<Option<&'a str>, Eai> {
    if from.is_null() {
        return Ok(None);
    }
    // SAFETY: a C string, as the man page asks, for the time of the call.
    let text = unsafe { CStr::from_ptr(from) };
    text.to_str().map(Some).map_err(|_| libc::EAI_NONAME)
}

/// The result of a call as a number; our own bug is a failure of the lookup.
fn told(world: &World, call: impl FnOnce() -> Result<(), Eai>) -> c_int {
    match guarded(world, call) {
        Some(Ok(())) => 0,
        Some(Err(number)) => number,
        None => libc::EAI_FAIL,
    }
}

/// Makes a list that lives until it is freed.
fn publish(found: Found, flags: c_int) -> *mut addrinfo {
    let name = found.canonical_name.and_then(|name| CString::new(name).ok());
    let mut live = LIVE.lock().unwrap_or_else(PoisonError::into_inner);
    let mut next = null_mut();
    for (index, (address, kind)) in found.entries.into_iter().enumerate().rev() {
        let name = name.clone().filter(|_| index == 0);
        let mut entry = entry(address, kind, flags, name);
        entry.info.ai_next = next;
        next = &raw mut *entry.info;
        live.insert(next.addr(), entry);
        LIVE_COUNT.fetch_add(1, Ordering::Relaxed);
    }
    next
}

fn entry(value: SocketAddr, kind: Kind, flags: c_int, name: Option<CString>) -> Entry {
    // SAFETY: zeros are a `sockaddr_storage`.
    let mut address: Box<sockaddr_storage> = Box::new(unsafe { std::mem::zeroed() });
    let place = (&raw mut *address).cast::<sockaddr>();
    let mut len = size_of::<sockaddr_storage>() as socklen_t;
    address::write(value, place, &mut len).expect("the place takes every address");
    let info = addrinfo {
        ai_flags: flags,
        ai_family: if value.is_ipv4() { libc::AF_INET } else { libc::AF_INET6 },
        ai_socktype: kind.socket,
        ai_protocol: kind.protocol,
        ai_addrlen: len,
        ai_addr: place,
        ai_canonname: name.as_ref().map_or(null_mut(), |name| name.as_ptr().cast_mut()),
        ai_next: null_mut(),
    };
    Entry { info: Box::new(info), _address: address, _name: name }
}

/// `freeaddrinfo(3)`
#[unsafe(no_mangle)]
unsafe extern "C" fn freeaddrinfo(list: *mut addrinfo) {
    let mut list = list;
    if !list.is_null() && LIVE_COUNT.load(Ordering::Relaxed) > 0 {
        let mut live = LIVE.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some(entry) = live.remove(&list.addr()) {
            LIVE_COUNT.fetch_sub(1, Ordering::Relaxed);
            list = entry.info.ai_next;
        }
        if list.is_null() {
            return;
        }
    }
    // SAFETY: null, or a list that is not ours, as it came.
    unsafe { real::freeaddrinfo(list) };
}

/// `getnameinfo(3)`
#[unsafe(no_mangle)]
unsafe extern "C" fn getnameinfo(
    address: *const sockaddr,
    len: socklen_t,
    node: *mut c_char,
    node_len: socklen_t,
    service: *mut c_char,
    service_len: socklen_t,
    flags: c_int,
) -> c_int {
    let Some(world) = world() else {
        // SAFETY: the caller's arguments go on as they came.
        return unsafe {
            real::getnameinfo(address, len, node, node_len, service, service_len, flags)
        };
    };
    told(world, || {
        let address = address::take(address, len).and_then(address::read);
        let address = address.map_err(|_| libc::EAI_FAMILY)?;
        let (node_len, service_len) = (node_len as size_t, service_len as size_t);
        if !node.is_null() && node_len > 0 {
            put(&node_name(world, address, flags)?, node, node_len)?;
        }
        if !service.is_null() && service_len > 0 {
            put(&service_name(address.port(), flags), service, service_len)?;
        }
        Ok(())
    })
}

fn node_name(world: &World, address: SocketAddr, flags: c_int) -> Result<String, Eai> {
    let is_numeric = flags & libc::NI_NUMERICHOST != 0;
    let network = world.network();
    let name = network.name_of(address.ip()).filter(|_| !is_numeric);
    match (name, address) {
        (Some(name), _) => Ok(name.to_owned()),
        (None, _) if flags & libc::NI_NAMEREQD != 0 => Err(libc::EAI_NONAME),
        (None, SocketAddr::V6(v6)) if v6.scope_id() != 0 => {
            Ok(format!("{}%{}", v6.ip(), v6.scope_id()))
        }
        (None, _) => Ok(address.ip().to_string()),
    }
}

fn service_name(port: u16, flags: c_int) -> String {
    let is_numeric = flags & libc::NI_NUMERICSERV != 0;
    let name = super::lookup::service_name(port, flags & libc::NI_DGRAM != 0);
    name.filter(|_| !is_numeric).map_or_else(|| port.to_string(), str::to_owned)
}

/// Writes a C string into a place of `len` bytes.
fn put(text: &str, into: *mut c_char, len: size_t) -> Result<(), Eai> {
    let text = CString::new(text).map_err(|_| libc::EAI_FAIL)?;
    let bytes = text.as_bytes_with_nul();
    if bytes.len() > len {
        return Err(libc::EAI_OVERFLOW);
    }
    // SAFETY: the place has `len` bytes, as the caller says, and the text is no longer.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), into.cast::<u8>(), bytes.len()) };
    Ok(())
}

/// `gethostname(2)`: the name of the host; a name that is too long is cut, as glibc cuts it.
#[unsafe(no_mangle)]
unsafe extern "C" fn gethostname(into: *mut c_char, len: size_t) -> c_int {
    let Some(world) = world() else {
        // SAFETY: the caller's arguments go on as they came.
        return unsafe { real::gethostname(into, len) };
    };
    if into.is_null() {
        return fail(Errno::EFAULT) as c_int;
    }
    let name = world.host().map(|host| world.network().host(host).name.clone());
    let name = name.unwrap_or_else(|| "localhost".to_owned());
    let mut bytes = name.into_bytes();
    bytes.push(0);
    let count = bytes.len().min(len);
    // SAFETY: the place has `len` bytes, as the caller says, and `count` is no more.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), into.cast::<u8>(), count) };
    if bytes.len() > len { fail(Errno(libc::ENAMETOOLONG)) as c_int } else { 0 }
}
