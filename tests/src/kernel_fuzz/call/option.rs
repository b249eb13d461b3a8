//! Socket options: every level, name, value and length.

use crate::kernel_fuzz::args::Args;
use crate::kernel_fuzz::rig::{Rig, Sort};
use hostsim::seam::raw::{Outcome, Use};
use libc::{IPPROTO_IP, IPPROTO_IPV6, IPPROTO_TCP, SOL_SOCKET, c_int, socklen_t};
use std::mem::size_of;

/// Options whose values both kernels know and that make no difference to what is timing-free.
const COMPARED: &[(c_int, c_int)] = &[
    (SOL_SOCKET, libc::SO_REUSEADDR),
    (SOL_SOCKET, libc::SO_ERROR),
    (SOL_SOCKET, libc::SO_LINGER),
    (IPPROTO_IPV6, libc::IPV6_V6ONLY),
    (SOL_SOCKET, libc::SO_KEEPALIVE),
    (SOL_SOCKET, libc::SO_BROADCAST),
    (SOL_SOCKET, libc::SO_RCVTIMEO),
    (SOL_SOCKET, libc::SO_SNDTIMEO),
    (SOL_SOCKET, libc::SO_TYPE),
    (SOL_SOCKET, libc::SO_DOMAIN),
    (SOL_SOCKET, libc::SO_PROTOCOL),
    (SOL_SOCKET, libc::SO_ACCEPTCONN),
    (IPPROTO_TCP, libc::TCP_KEEPIDLE),
    (IPPROTO_TCP, libc::TCP_KEEPINTVL),
    (IPPROTO_TCP, libc::TCP_KEEPCNT),
    (IPPROTO_TCP, libc::TCP_USER_TIMEOUT),
    (IPPROTO_TCP, libc::TCP_SYNCNT),
    (IPPROTO_IP, libc::IP_TOS),
    (IPPROTO_IP, libc::IP_TTL),
    (IPPROTO_IPV6, libc::IPV6_TCLASS),
    (IPPROTO_IPV6, libc::IPV6_UNICAST_HOPS),
    (SOL_SOCKET, 9999),
    (IPPROTO_TCP, 9999),
    (9999, 1),
];

/// Options that change when things happen, or whose value a kernel changes by itself.
const TIMED: &[(c_int, c_int)] = &[
    (SOL_SOCKET, libc::SO_SNDBUF),
    (SOL_SOCKET, libc::SO_RCVBUF),
    (SOL_SOCKET, libc::SO_REUSEPORT),
    (IPPROTO_TCP, libc::TCP_NODELAY),
    (IPPROTO_TCP, libc::TCP_QUICKACK),
    (IPPROTO_TCP, libc::TCP_CORK),
    (-1, -1),
];

/// Values as four bytes each.
const VALUES: [c_int; 14] =
    [1, 0, 2, 5, -1, 64, 127, 128, 255, 256, 32_767, 100_000, c_int::MAX, c_int::MIN];

fn name(rig: &mut Rig<'_>, args: &mut Args<'_>) -> (c_int, c_int) {
    let is_timed = !rig.is_compared && args.one_in(3);
    let (level, name) = args.of(if is_timed { TIMED } else { COMPARED });
    rig.say(format_args!(", {level} {name}"));
    (level, name)
}

pub(super) fn setsockopt(rig: &mut Rig<'_>, args: &mut Args<'_>) -> Outcome {
    rig.say(format_args!("setsockopt("));
    let on = rig.pick(args, Sort::is_socket);
    let (level, name) = name(rig, args);
    let is_wide = level == SOL_SOCKET && [libc::SO_RCVTIMEO, libc::SO_SNDTIMEO].contains(&name);
    let is_linger = (level, name) == (SOL_SOCKET, libc::SO_LINGER);
    let (first, second) = (args.of(&VALUES), args.of(&VALUES));
    // Timeouts are kept in ticks, whose length is the kernel's own.
    let is_part = is_wide && rig.is_compared && (0..1_000_000).contains(&second);
    let second = if is_part { 0 } else { second };
    // A close that lingers waits; here for a second at most.
    let second = if is_linger { second & 1 } else { second };
    let mut bytes = match (is_wide, is_linger) {
        (true, _) => [i64::from(first), i64::from(second)].map(i64::to_ne_bytes).concat(),
        (_, true) => [first, second].map(c_int::to_ne_bytes).concat(),
        _ => first.to_ne_bytes().to_vec(),
    };
    let mut len = bytes.len() as socklen_t;
    let oddness = args.byte();
    if oddness & 0xe0 == 0xe0 {
        len = args.of(&[0, 1, 2, 3, 4, 7, 8, 15, 16, 200, 1 << 31, u32::MAX]);
        bytes.resize((len as usize).min(256), 0);
    }
    let place = rig.memory.put(Use::Address, &bytes);
    let is_null = oddness & 0xf == 0xf;
    let place = Some(place).filter(|_| !is_null);
    rig.say(format_args!(", {first} {second}, null {is_null}, {})", len.cast_signed()));
    call!(rig, setsockopt(on.raw, level, name, place, len))
}

pub(super) fn getsockopt(rig: &mut Rig<'_>, args: &mut Args<'_>) -> Outcome {
    rig.say(format_args!("getsockopt("));
    let on = rig.pick(args, Sort::is_socket);
    let (level, name) = name(rig, args);
    let oddness = args.byte();
    let len =
        if oddness < 128 { 16 } else { args.of(&[4, 0, 1, 2, 3, 7, 8, 15, 64, 1 << 31, u32::MAX]) };
    let size = len.min(64) as usize;
    let place = rig.memory.fill(Use::Address, size, 0xee);
    let told = rig.memory.put(Use::Length, &len.to_ne_bytes());
    let nulls = (oddness >= 240, (232..244).contains(&oddness));
    let (place, told) = (Some(place).filter(|_| !nulls.0), Some(told).filter(|_| !nulls.1));
    rig.say(format_args!(", null {nulls:?}, {})", len.cast_signed()));
    let end = rig.end_of(on);
    let outcome = call!(rig, getsockopt(on.raw, level, name, place, told));
    rig.check(&[(Use::Address, size), (Use::Length, size_of::<socklen_t>())]);
    if outcome.0.is_ok() && !nulls.1 {
        let after = rig.number(Use::Length);
        let bytes = rig.memory.bytes(Use::Address, size, size);
        rig.say(format_args!(", {after} {:x?}", &bytes[..size.min(16)]));
        let is_error = (level, name) == (SOL_SOCKET, libc::SO_ERROR);
        let is_none = after > 0 && bytes[0] == 0;
        if let (Some(end), true, false) = (end, is_error, is_none) {
            // Whatever of it had a place, the error is told and forgotten.
            rig.flows.on_told(end);
        }
    }
    outcome
}
