//! Addresses for calls, and the text of those that calls give.

use super::args::Args;
use super::rig::{Family, Picked, Rig, Sort};
use hostsim::kernel::Descriptor;
use hostsim::seam::raw::{Memory, Piece, Use};
use libc::{c_int, socklen_t};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// An address that a call is given.
#[derive(Clone, Debug)]
pub(super) struct Given {
    bytes: Vec<u8>,
    is_null: bool,
    pub(super) len: socklen_t,
}

impl Given {
    fn put<'a>(&self, memory: &'a Memory) -> Option<Piece<'a>> {
        (!self.is_null).then(|| memory.put(Use::Address, &self.bytes))
    }
}

/// What an address is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    Bind,
    Dial,
}

/// Lengths that are not those of an address, but may be.
const LENGTHS: [socklen_t; 16] = [0, 1, 2, 3, 8, 15, 16, 17, 23, 24, 27, 28, 110, 128, 129, 200];

/// Families.
const FAMILIES: [c_int; 8] = [
    libc::AF_INET,
    libc::AF_INET6,
    libc::AF_UNSPEC,
    libc::AF_UNIX,
    libc::AF_NETLINK,
    45,
    255,
    65_535,
];

/// An address, as text that does not depend on what a kernel chose.
pub(super) fn text(rig: &mut Rig<'_>, address: SocketAddr) -> String {
    format!("{}:{}", address.ip(), rig.port(address.port()))
}

/// An address for a call on a socket, said and put in its place.
pub(super) fn give<'a>(
    rig: &mut Rig<'a>,
    args: &mut Args<'_>,
    on: Picked,
    purpose: Purpose,
) -> (Option<Piece<'a>>, socklen_t) {
    let family = rig.slot(on).map_or(Family::V4, |slot| slot.family);
    if family == Family::Unix && !args.one_in(24) {
        return give_unix(rig, args, purpose);
    }
    let is_v6 = (family == Family::V6) != args.one_in(24);
    let listener = if purpose == Purpose::Dial { of_listener(rig, args, is_v6) } else { None };
    let mut address = listener.unwrap_or_else(|| any(rig, args, is_v6, purpose));
    if rig.is_compared && purpose == Purpose::Dial {
        let own = local_address(rig, on.raw).map(|own| own.port());
        // A socket that dials itself is not simulated.
        address.set_port(if own == Some(address.port()) { 9 } else { address.port() });
        let is_mapped = address.is_ipv6() && address.ip().to_canonical().is_ipv4();
        rig.past(on).dialed_v4 |= is_mapped;
        if address.is_ipv6() && rig.past(on).dialed_v4 && !is_mapped {
            address.set_ip(in_family(Ipv4Addr::LOCALHOST.into(), true));
        }
    }
    let said = text(rig, address);
    let given = bend(rig, args, encode(address), purpose);
    let place = given.put(rig.memory);
    let whole = encode(address);
    let is_plain = given.bytes == whole && given.len as usize == whole.len();
    match (given.is_null, is_plain) {
        (true, _) => rig.say(format_args!(", null/{}", given.len)),
        (_, true) => rig.say(format_args!(", {said}")),
        _ => {
            let family = given.bytes.first_chunk().map(|family| u16::from_ne_bytes(*family));
            rig.say(format_args!(", {said}/{} of family {family:?}", given.len));
        }
    }
    (place, given.len)
}

/// A Unix address for a call: an abstract name, none, or one of a length that may not be.
fn give_unix<'a>(
    rig: &mut Rig<'a>,
    args: &mut Args<'_>,
    purpose: Purpose,
) -> (Option<Piece<'a>>, socklen_t) {
    let port = args.of(&rig.ports.clone());
    let mut bytes = (libc::AF_UNIX as u16).to_ne_bytes().to_vec();
    bytes.extend([0, 1]);
    bytes.extend(port.to_be_bytes());
    if purpose == Purpose::Bind && args.one_in(6) {
        bytes.truncate(2);
    }
    let said = describe(rig, &bytes);
    let given = bend(rig, args, bytes, purpose);
    let place = given.put(rig.memory);
    let (family, len) =
        (given.bytes.first_chunk().map(|family| u16::from_ne_bytes(*family)), given.len);
    rig.say(format_args!(
        ", {said:?}/{} of family {family:?} null {}",
        len.cast_signed(),
        given.is_null
    ));
    (place, given.len)
}

/// The text of an address that a call gave whole.
pub(super) fn describe(rig: &mut Rig<'_>, bytes: &[u8]) -> Option<String> {
    if let Some(address) = decode(bytes) {
        return Some(text(rig, address));
    }
    let (family, name) = bytes.split_first_chunk()?;
    (c_int::from(u16::from_ne_bytes(*family)) == libc::AF_UNIX).then(|| match name {
        [0, 1, high, low] => format!("@{}", rig.port(u16::from_be_bytes([*high, *low]))),
        [0, name @ ..] if name.len() == 5 => "@ of the kernel's choice".to_owned(),
        name => format!("{name:?}"),
    })
}

/// Makes an address odd, now and then.
fn bend(rig: &Rig<'_>, args: &mut Args<'_>, mut bytes: Vec<u8>, purpose: Purpose) -> Given {
    let oddness = args.byte();
    let (has_odd_len, has_odd_family) = (oddness & 1 != 0, oddness & 2 != 0);
    let mut len = bytes.len() as socklen_t;
    if oddness < 224 {
        return Given { bytes, is_null: false, len };
    }
    if has_odd_family {
        let mut family = args.of(&FAMILIES);
        if rig.is_compared && purpose == Purpose::Dial && family == libc::AF_UNSPEC {
            // Not simulated for a socket that listens or is connected.
            family = libc::AF_UNIX;
        }
        bytes[..2].copy_from_slice(&(family as u16).to_ne_bytes());
        if family == libc::AF_UNIX {
            // A name that is not a path of whoever runs this.
            bytes[2..].iter_mut().take(1).for_each(|byte| *byte = 0);
        }
    }
    if has_odd_len {
        len =
            if oddness & 4 != 0 { args.of(&[u32::MAX, 1 << 31, 4096]) } else { args.of(&LENGTHS) };
        bytes.resize((len as usize).min(200), 0);
    }
    Given { bytes, is_null: oddness >= 248, len }
}

/// The address of a socket that listens, in a family.
fn of_listener(rig: &mut Rig<'_>, args: &mut Args<'_>, is_v6: bool) -> Option<SocketAddr> {
    let listeners: Vec<c_int> = (rig.slots.iter().rev())
        .filter(|slot| slot.is_open && slot.sort == Sort::Listener && slot.family != Family::Unix)
        .map(|slot| slot.raw)
        .collect();
    let byte = usize::from(args.byte());
    if listeners.is_empty() || byte >= 208 {
        return None;
    }
    let raw = listeners[byte % listeners.len()];
    let address = local_address(rig, raw)?;
    let mut ip = address.ip().to_canonical();
    if ip.is_unspecified() {
        ip = match (rig.world, Descriptor::from_raw(raw)) {
            (Some(world), Some(at)) if !rig.is_compared => world.network().address(at.host),
            _ => IpAddr::V4(Ipv4Addr::LOCALHOST),
        };
    }
    Some(SocketAddr::new(in_family(ip, is_v6), address.port()))
}

fn in_family(ip: IpAddr, is_v6: bool) -> IpAddr {
    match ip {
        IpAddr::V4(v4) if is_v6 => v4.to_ipv6_mapped().into(),
        ip => ip,
    }
}

/// An address of a family.
fn any(rig: &mut Rig<'_>, args: &mut Args<'_>, is_v6: bool, purpose: Purpose) -> SocketAddr {
    let (local, wild) = (Ipv4Addr::LOCALHOST, Ipv4Addr::UNSPECIFIED);
    let (local6, wild6) = (IpAddr::from(Ipv6Addr::LOCALHOST), IpAddr::from(Ipv6Addr::UNSPECIFIED));
    let foreign = Ipv4Addr::new(203, 0, 113, 7);
    let mut v4 = vec![local, wild, local, wild, Ipv4Addr::new(127, 0, 0, 2)];
    if !rig.is_compared {
        let hosts = [Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2)];
        v4.extend([hosts, hosts].concat());
        v4.extend([foreign, Ipv4Addr::BROADCAST, Ipv4Addr::new(224, 0, 0, 1)]);
    } else if purpose == Purpose::Bind {
        // Nobody may dial it: the real kernel would send to it.
        v4.push(foreign);
    }
    let own = if is_v6 && args.one_in(2) { args.of(&[wild6, local6]) } else { args.of(&v4).into() };
    let ports = [rig.ports[0], rig.ports[1], rig.ports[2], rig.ports[3], 0];
    SocketAddr::new(in_family(own, is_v6), args.of(&ports))
}

fn encode(address: SocketAddr) -> Vec<u8> {
    let family = if address.is_ipv4() { libc::AF_INET } else { libc::AF_INET6 } as u16;
    let mut bytes = [family.to_ne_bytes(), address.port().to_be_bytes()].concat();
    match address {
        SocketAddr::V4(v4) => bytes.extend(v4.ip().octets().iter().chain(&[0; 8])),
        SocketAddr::V6(v6) => {
            bytes.extend([0; 4].iter().chain(&v6.ip().octets()).chain(&[0; 4]));
        }
    }
    bytes
}

/// Reads an address that a call gave whole.
pub(super) fn decode(bytes: &[u8]) -> Option<SocketAddr> {
    let family = c_int::from(u16::from_ne_bytes(*bytes.first_chunk()?));
    let port = u16::from_be_bytes(*bytes.get(2..)?.first_chunk()?);
    let ip = match family {
        libc::AF_INET => IpAddr::V4(Ipv4Addr::from(*bytes.get(4..)?.first_chunk::<4>()?)),
        libc::AF_INET6 => IpAddr::V6(Ipv6Addr::from(*bytes.get(8..)?.first_chunk::<16>()?)),
        _ => return None,
    };
    Some(SocketAddr::new(ip, port))
}

/// Asks a socket for its own address, beside the calls that are told of.
fn local_address(rig: &mut Rig<'_>, raw: c_int) -> Option<SocketAddr> {
    let bytes = super::call::name_of_socket(rig, raw)?;
    decode(&bytes)
}
