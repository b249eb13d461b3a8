//! What `getaddrinfo(3)` finds, as glibc finds it. Knows no pointers.

use crate::network::Network;
use libc::{addrinfo, c_int};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};

/// A number of `gai_strerror(3)`.
pub(super) type Eai = c_int;

/// A literal has no form in the family that was asked for; a number of glibc that `libc` lacks.
const EAI_ADDRFAMILY: Eai = -9;

/// `AI_PASSIVE` to `AI_ADDRCONFIG`, the four of internationalized names, and `AI_NUMERICSERV`.
const FLAGS: c_int = 0x7ff;

/// Services with a name: the port, and whether UDP has it too.
const SERVICES: [(&str, u16, bool); 2] = [("http", 80, false), ("https", 443, true)];

/// Kinds of sockets and their protocols, in the order of glibc.
const KINDS: [Kind; 3] = [
    Kind { socket: libc::SOCK_STREAM, protocol: libc::IPPROTO_TCP },
    Kind { socket: libc::SOCK_DGRAM, protocol: libc::IPPROTO_UDP },
    Kind { socket: libc::SOCK_RAW, protocol: 0 },
];

/// A kind of socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kind {
    pub(super) socket: c_int,
    pub(super) protocol: c_int,
}

/// What is asked.
#[derive(Clone, Debug)]
pub(super) struct Query<'a> {
    pub(super) node: Option<&'a str>,
    pub(super) service: Option<&'a str>,
    pub(super) hints: Hints,
}

/// What the answer has to be like.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hints {
    pub(super) flags: c_int,
    pub(super) family: c_int,
    pub(super) kind: Kind,
}

impl Hints {
    /// Those of a call that gives none.
    pub(super) const NONE: Hints = Hints {
        flags: libc::AI_V4MAPPED | libc::AI_ADDRCONFIG,
        family: libc::AF_UNSPEC,
        kind: Kind { socket: 0, protocol: 0 },
    };

    pub(super) fn of(hints: &addrinfo) -> Hints {
        let kind = Kind { socket: hints.ai_socktype, protocol: hints.ai_protocol };
        Hints { flags: hints.ai_flags, family: hints.ai_family, kind }
    }

    fn has(&self, flag: c_int) -> bool {
        self.flags & flag != 0
    }

    fn takes(&self, ip: IpAddr) -> bool {
        let family = if ip.is_ipv4() { libc::AF_INET } else { libc::AF_INET6 };
        self.family == libc::AF_UNSPEC || self.family == family
    }
}

/// What is found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// In the order of the answer.
    pub(super) entries: Vec<(SocketAddr, Kind)>,
    /// The name that the first entry carries.
    pub(super) canonical_name: Option<String>,
}

/// Looks a name up.
///
/// # Errors
/// `EAI_BADFLAGS`, `EAI_FAMILY`, `EAI_SOCKTYPE`, `EAI_SERVICE`, [`EAI_ADDRFAMILY`], `EAI_NONAME`.
pub(super) fn look_up(network: &Network, query: &Query<'_>) -> Result<Found, Eai> {
    let hints = &query.hints;
    let node = query.node.filter(|node| *node != "*");
    let service = query.service.filter(|service| *service != "*");
    if node.is_none() && service.is_none() {
        return Err(libc::EAI_NONAME);
    }
    if hints.flags & !FLAGS != 0 || node.is_none() && hints.has(libc::AI_CANONNAME) {
        return Err(libc::EAI_BADFLAGS);
    }
    if ![libc::AF_UNSPEC, libc::AF_INET, libc::AF_INET6].contains(&hints.family) {
        return Err(libc::EAI_FAMILY);
    }
    let ports = ports(service, hints)?;
    let addresses = match node {
        Some(node) => addresses(network, node, hints)?,
        None => own_addresses(hints),
    };
    let with_ports = |address: SocketAddr| {
        ports.iter().map(move |(port, kind)| {
            let mut address = address;
            address.set_port(*port);
            (address, *kind)
        })
    };
    let wants_name = hints.has(libc::AI_CANONNAME);
    let canonical_name = node.filter(|_| wants_name).map(|node| network.canonical_name(node));
    Ok(Found { entries: addresses.into_iter().flat_map(with_ports).collect(), canonical_name })
}

/// The port for each kind of socket that the hints ask for.
fn ports(service: Option<&str>, hints: &Hints) -> Result<Vec<(u16, Kind)>, Eai> {
    let mut kinds = kinds(service, hints.kind)?;
    let port = match service.map_or(Some(0), number) {
        Some(port) => port,
        None if hints.has(libc::AI_NUMERICSERV) => return Err(libc::EAI_NONAME),
        None => {
            let named = SERVICES.iter().find(|(name, ..)| Some(*name) == service);
            let &(_, port, has_udp) = named.ok_or(libc::EAI_SERVICE)?;
            kinds.retain(|kind| match kind.socket {
                libc::SOCK_DGRAM => has_udp,
                socket => socket == libc::SOCK_STREAM,
            });
            port
        }
    };
    if kinds.is_empty() {
        return Err(libc::EAI_SERVICE);
    }
    Ok(kinds.into_iter().map(|kind| (port, kind)).collect())
}

/// The kinds of sockets that are asked for: all, or, as in glibc, the first that fits.
fn kinds(service: Option<&str>, asked: Kind) -> Result<Vec<Kind>, Eai> {
    if asked.socket == 0 && asked.protocol == 0 {
        return Ok(KINDS.to_vec());
    }
    let fits = |kind: &Kind| {
        (asked.socket == 0 || asked.socket == kind.socket)
            && (asked.protocol == 0 || kind.protocol == 0 || asked.protocol == kind.protocol)
    };
    match KINDS.into_iter().find(fits) {
        None if asked.socket != 0 => Err(libc::EAI_SOCKTYPE),
        None => Err(libc::EAI_SERVICE),
        Some(kind) if kind.socket == libc::SOCK_RAW && service.is_some() => Err(libc::EAI_SERVICE),
        // A raw socket has the protocol that was asked for.
        Some(kind) if kind.protocol == 0 => Ok(vec![Kind { protocol: asked.protocol, ..kind }]),
        Some(kind) => Ok(vec![kind]),
    }
}

/// A port as `strtoul(3)` reads it; glibc keeps its low bits.
fn number(service: &str) -> Option<u16> {
    let digits = service.trim_ascii_start();
    if digits.is_empty() {
        return Some(0);
    }
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    digits.parse::<i32>().ok().map(|number| number as u16)
}

/// The name of a port, where it has one.
pub(super) fn service_name(port: u16, is_udp: bool) -> Option<&'static str> {
    let named = SERVICES.iter().find(|(_, of, has_udp)| *of == port && (!is_udp || *has_udp));
    named.map(|(name, ..)| *name)
}

/// What no name stands for: everybody's address to listen on, one's own to dial.
fn own_addresses(hints: &Hints) -> Vec<SocketAddr> {
    let addresses: [IpAddr; 2] = if hints.has(libc::AI_PASSIVE) {
        [Ipv4Addr::UNSPECIFIED.into(), Ipv6Addr::UNSPECIFIED.into()]
    } else {
        [Ipv6Addr::LOCALHOST.into(), Ipv4Addr::LOCALHOST.into()]
    };
    let taken = addresses.into_iter().filter(|ip| hints.takes(*ip));
    taken.map(|ip| SocketAddr::new(ip, 0)).collect()
}

fn addresses(network: &Network, node: &str, hints: &Hints) -> Result<Vec<SocketAddr>, Eai> {
    if let Some(literal) = literal(node) {
        return Ok(vec![shown(literal, hints).ok_or(EAI_ADDRFAMILY)?]);
    }
    if hints.has(libc::AI_NUMERICHOST) {
        return Err(libc::EAI_NONAME);
    }
    let found: Vec<_> =
        network.resolve(node).into_iter().map(|ip| SocketAddr::new(ip, 0)).collect();
    // What is of the family itself keeps what would be mapped away, unless all is asked for.
    let is_own = found.iter().any(|address| hints.takes(address.ip()));
    let is_taken =
        |address: &SocketAddr| !is_own || hints.has(libc::AI_ALL) || hints.takes(address.ip());
    let found = found.into_iter().filter(is_taken);
    let found: Vec<_> = found.filter_map(|address| shown(address, hints)).collect();
    // A name without an address of the family is, to glibc's `files`, no name.
    if found.is_empty() { Err(libc::EAI_NONAME) } else { Ok(found) }
}

/// An address in the family that the hints ask for, where it has a form there.
fn shown(address: SocketAddr, hints: &Hints) -> Option<SocketAddr> {
    if hints.takes(address.ip()) {
        return Some(address);
    }
    match address {
        SocketAddr::V4(v4) if hints.has(libc::AI_V4MAPPED) => {
            Some(SocketAddr::new(v4.ip().to_ipv6_mapped().into(), v4.port()))
        }
        SocketAddr::V4(_) => None,
        SocketAddr::V6(v6) => {
            let v4 = v6.ip().to_ipv4_mapped()?;
            Some(SocketAddr::new(v4.into(), v6.port()))
        }
    }
}

/// An address written in numbers; a scope is the number of an interface.
fn literal(node: &str) -> Option<SocketAddr> {
    if let Some(v4) = v4(node) {
        return Some(SocketAddr::new(v4.into(), 0));
    }
    let (ip, scope) = match node.split_once('%') {
        Some((ip, scope)) => (ip, scope.parse().ok()?),
        None => (node, 0),
    };
    Some(SocketAddrV6::new(ip.parse().ok()?, 0, 0, scope).into())
}

/// An IPv4 address as `inet_aton(3)` reads it: one to four parts, the last fills the rest.
fn v4(node: &str) -> Option<Ipv4Addr> {
    let parts = node.split('.').map(part).collect::<Option<Vec<u32>>>()?;
    let (last, head) = parts.split_last()?;
    if head.len() > 3 || head.iter().any(|part| *part > 255) {
        return None;
    }
    let room = u32::MAX >> (8 * head.len());
    if *last > room {
        return None;
    }
    let place = |(index, part): (usize, &u32)| part << (24 - 8 * index);
    let head: u32 = head.iter().enumerate().map(place).sum();
    Some(Ipv4Addr::from(head | last))
}

/// A number of C: hexadecimal after `0x`, octal after `0`, else decimal.
fn part(text: &str) -> Option<u32> {
    let (digits, radix) = match text.as_bytes() {
        [b'0', b'x' | b'X', ..] => (&text[2..], 16),
        [b'0', _, ..] => (&text[1..], 8),
        _ => (text, 10),
    };
    if digits.starts_with('+') {
        return None;
    }
    u32::from_str_radix(digits, radix).ok()
}
