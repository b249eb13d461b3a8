//! Names and random bytes. Only the simulated kernel is asked: the real one's answers are its own.

use crate::kernel_fuzz::args::Args;
use crate::kernel_fuzz::memory::Use;
use crate::kernel_fuzz::outcome::Outcome;
use crate::kernel_fuzz::rig::Rig;
use libc::{addrinfo, c_char, c_int};
use std::mem::size_of;
use std::ptr::{null, null_mut};

pub(super) fn getrandom(rig: &mut Rig<'_>, args: &mut Args<'_>) -> Outcome {
    let len = args.of(&[16, 0, 1, 7, 300]);
    let place = rig.memory.fill(Use::Bytes, len, 0);
    let (place, len) =
        if args.one_in(8) { (null_mut(), args.of(&[0, 1, usize::MAX])) } else { (place, len) };
    let flags = args.of(&[0, 1, 2, 4, 6, 8, u32::MAX]);
    rig.say(format_args!("getrandom(null {}, {len}, {flags:#x})", place.is_null()));
    let outcome = call!(rig, getrandom(place.cast(), len, flags));
    assert!(outcome.count() <= len, "no more than was asked for");
    outcome
}

/// Texts of names, services and numbers; null is none.
const TEXTS: [&[u8]; 12] = [
    b"one\0",
    b"two\0",
    b"nobody\0",
    b"10.0.0.2\0",
    b"::1\0",
    b"80\0",
    b"http\0",
    b"\0",
    b"*\0",
    b"localhost\0",
    b"\xff\xfe\0",
    b"99999999999\0",
];

/// A C string, or none.
fn string(rig: &mut Rig<'_>, args: &mut Args<'_>, piece: Use) -> *const c_char {
    let text = args.of(&TEXTS);
    rig.say(format_args!("{:?}, ", String::from_utf8_lossy(text)));
    let place: *const u8 = rig.memory.put(piece, text);
    if args.one_in(6) {
        rig.say(format_args!("null, "));
        return null();
    }
    place.cast()
}

pub(super) fn getaddrinfo(rig: &mut Rig<'_>, args: &mut Args<'_>) -> Outcome {
    rig.say(format_args!("getaddrinfo("));
    let node = string(rig, args, Use::Bytes);
    let service = string(rig, args, Use::Address);
    // SAFETY: zeros are hints that ask for nothing.
    let mut hints: addrinfo = unsafe { std::mem::zeroed() };
    hints.ai_flags = args.of(&[0, 1, 2, 4, 8, 0x20, 0x400, 0x3f, -1, 1 << 20]);
    hints.ai_family = args.of(&[0, libc::AF_INET, libc::AF_INET6, 1, -1]);
    hints.ai_socktype = args.of(&[0, 1, 2, 3, 9, -1]);
    hints.ai_protocol = args.of(&[0, 6, 17, 99, -1]);
    let asked = (hints.ai_flags, hints.ai_family, hints.ai_socktype, hints.ai_protocol);
    let hints = rig.memory.put(Use::Header, &[hints]);
    let hints = if args.one_in(3) { null_mut() } else { hints };
    rig.say(format_args!("null {}, {asked:?})", hints.is_null()));
    let into = rig.memory.put::<*mut addrinfo>(Use::Length, &[null_mut()]);
    let outcome = call!(rig, getaddrinfo(node, service, hints, into));
    if outcome.0 == Ok(0) {
        let list: *mut addrinfo = rig.memory.get(Use::Length, 1);
        // SAFETY: the list that the call gave, once.
        unsafe { libc::freeaddrinfo(list) };
    }
    outcome
}

pub(super) fn getnameinfo(rig: &mut Rig<'_>, args: &mut Args<'_>) -> Outcome {
    let mut bytes = vec![0; args.of(&[16, 28, 0, 2, 15, 27])];
    if bytes.len() >= 2 {
        let family: u16 = args.of(&[2, 10, 1, 0]);
        bytes[..2].copy_from_slice(&family.to_ne_bytes());
    }
    let len = bytes.len() as u32;
    let address = rig.memory.put(Use::Address, &bytes);
    let (node_len, service_len) = (args.of(&[64, 0, 1, 5]), args.of(&[32, 0, 1, 3]));
    let node = rig.memory.fill(Use::Bytes, node_len as usize, 0xee);
    let service = rig.memory.fill(Use::Control, service_len as usize, 0xee);
    let flags: c_int = args.of(&[0, 1, 2, 3, 8, 16, -1]);
    rig.say(format_args!("getnameinfo({bytes:?}, {node_len}, {service_len}, {flags:#x})"));
    let (node, service) = (node.cast(), service.cast());
    let outcome =
        call!(rig, getnameinfo(address.cast(), len, node, node_len, service, service_len, flags));
    rig.check(&[(Use::Bytes, node_len as usize), (Use::Control, service_len as usize)]);
    outcome
}

pub(super) fn gethostname(rig: &mut Rig<'_>, args: &mut Args<'_>) -> Outcome {
    let len = args.of(&[64, 0, 1, 3, 4]);
    let place = rig.memory.fill(Use::Bytes, len, 0xee);
    let place = if args.one_in(16) { null_mut() } else { place };
    rig.say(format_args!("gethostname(null {}, {len})", place.is_null()));
    let outcome = call!(rig, gethostname(place.cast(), len));
    rig.check(&[(Use::Bytes, len)]);
    outcome
}

/// What a place of `getaddrinfo` is as long as.
const _: () =
    assert!(size_of::<*mut addrinfo>() == 8, "a place for a pointer is one of eight bytes");
