//! Names and random bytes. Only the simulated kernel is asked: the real one's answers are its own.

use crate::kernel_fuzz::args::Args;
use crate::kernel_fuzz::rig::Rig;
use hostsim::seam::raw::{Hints, Outcome, Use};
use libc::c_int;
use std::ffi::CStr;

pub(super) fn getrandom(rig: &mut Rig<'_>, args: &mut Args<'_>) -> Outcome {
    let len = args.of(&[16, 0, 1, 7, 300]);
    let place = rig.memory.fill(Use::Bytes, len, 0);
    let (place, len) =
        if args.one_in(8) { (None, args.of(&[0, 1, usize::MAX])) } else { (Some(place), len) };
    let flags = args.of(&[0, 1, 2, 4, 6, 8, u32::MAX]);
    rig.say(format_args!("getrandom(null {}, {len}, {flags:#x})", place.is_none()));
    let outcome = call!(rig, getrandom(place, len, flags));
    assert!(outcome.count() <= len, "no more than was asked for");
    outcome
}

/// Texts of names, services and numbers; null is none.
const TEXTS: [&CStr; 12] = [
    c"one",
    c"two",
    c"nobody",
    c"10.0.0.2",
    c"::1",
    c"80",
    c"http",
    c"",
    c"*",
    c"localhost",
    c"\xff\xfe",
    c"99999999999",
];

/// A C string, or none.
fn string(rig: &mut Rig<'_>, args: &mut Args<'_>) -> Option<&'static CStr> {
    let text = args.of(&TEXTS);
    rig.say(format_args!("{:?}, ", text.to_string_lossy()));
    if args.one_in(6) {
        rig.say(format_args!("null, "));
        return None;
    }
    Some(text)
}

pub(super) fn getaddrinfo(rig: &mut Rig<'_>, args: &mut Args<'_>) -> Outcome {
    rig.say(format_args!("getaddrinfo("));
    let (node, service) = (string(rig, args), string(rig, args));
    let hints = Hints {
        flags: args.of(&[0, 1, 2, 4, 8, 0x20, 0x400, 0x3f, -1, 1 << 20]),
        family: args.of(&[0, libc::AF_INET, libc::AF_INET6, 1, -1]),
        kind: args.of(&[0, 1, 2, 3, 9, -1]),
        protocol: args.of(&[0, 6, 17, 99, -1]),
    };
    let given = Some(hints).filter(|_| !args.one_in(3));
    rig.say(format_args!("null {}, {hints:?})", given.is_none()));
    call!(rig, getaddrinfo(rig.memory, node, service, given))
}

pub(super) fn getnameinfo(rig: &mut Rig<'_>, args: &mut Args<'_>) -> Outcome {
    let mut bytes = vec![0; args.of(&[16, 28, 0, 2, 15, 27])];
    if bytes.len() >= 2 {
        let family: u16 = args.of(&[2, 10, 1, 0]);
        bytes[..2].copy_from_slice(&family.to_ne_bytes());
    }
    let address = rig.memory.put(Use::Address, &bytes);
    let (node_len, service_len) = (args.of(&[64, 0, 1, 5]), args.of(&[32, 0, 1, 3]));
    let node = rig.memory.fill(Use::Bytes, node_len, 0xee);
    let service = rig.memory.fill(Use::Control, service_len, 0xee);
    let flags: c_int = args.of(&[0, 1, 2, 3, 8, 16, -1]);
    rig.say(format_args!("getnameinfo({bytes:?}, {node_len}, {service_len}, {flags:#x})"));
    let outcome = call!(rig, getnameinfo(address, node, service, flags));
    rig.check(&[(Use::Bytes, node_len), (Use::Control, service_len)]);
    outcome
}

pub(super) fn gethostname(rig: &mut Rig<'_>, args: &mut Args<'_>) -> Outcome {
    let len = args.of(&[64, 0, 1, 3, 4]);
    let place = rig.memory.fill(Use::Bytes, len, 0xee);
    let place = Some(place).filter(|_| !args.one_in(16));
    rig.say(format_args!("gethostname(null {}, {len})", place.is_none()));
    let outcome = call!(rig, gethostname(place, len));
    rig.check(&[(Use::Bytes, len)]);
    outcome
}
