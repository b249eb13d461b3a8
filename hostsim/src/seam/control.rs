//! Control messages of datagrams (`cmsg(3)`): what is told with one, and what is asked of one.
//!
//! Of the socket's own level, `SOL_SOCKET`, none is known. A message of a level that does not speak
//! of a datagram's family is passed over, as Linux does.

use crate::errno::{Errno, Sys};
use crate::kernel::{Datagram, Told};
use crate::network::Envelope;
use libc::{c_int, c_uint, cmsghdr, in_addr, in_pktinfo, in6_addr, in6_pktinfo, size_t};
use std::mem::{align_of, offset_of, size_of};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What stands before the bytes of a message, and the step in which messages begin.
const HEAD: usize = size_of::<cmsghdr>();
const STEP: usize = align_of::<size_t>();

/// The interfaces of a host: loopback, and the one to others.
const LOOPBACK: u8 = 1;
const OUTSIDE: u8 = 2;

/// The messages that go with one datagram to its receiver, into a place of the program.
pub(super) struct Writer<'a> {
    place: &'a mut [u8],
    used: usize,
    is_cut: bool,
}

impl<'a> Writer<'a> {
    pub(super) fn new(place: &'a mut [u8]) -> Writer<'a> {
        Writer { place, used: 0, is_cut: false }
    }

    /// How many bytes were written, and whether something found no place.
    pub(super) fn end(self) -> (usize, bool) {
        (self.used, self.is_cut)
    }

    /// Writes a message, cut to the place (Linux `put_cmsg`).
    fn put(&mut self, level: c_int, kind: c_int, bytes: &[u8]) {
        let room = self.place.len() - self.used;
        if room < HEAD {
            self.is_cut = true;
            return;
        }
        let len = (HEAD + bytes.len()).min(room);
        self.is_cut |= len < HEAD + bytes.len();
        let at = &mut self.place[self.used..];
        at[..size_of::<size_t>()].copy_from_slice(&len.to_ne_bytes());
        let place = offset_of!(cmsghdr, cmsg_level);
        at[place..place + 4].copy_from_slice(&level.to_ne_bytes());
        let place = offset_of!(cmsghdr, cmsg_type);
        at[place..place + 4].copy_from_slice(&kind.to_ne_bytes());
        at[HEAD..len].copy_from_slice(&bytes[..len - HEAD]);
        self.used += len.next_multiple_of(STEP).min(room);
    }

    /// Writes what a socket tells of a datagram, in the order of Linux.
    pub(super) fn tell(&mut self, told: Told, datagram: &Datagram, is_from_own: bool) {
        let interface = if is_from_own { LOOPBACK } else { OUTSIDE };
        let class = datagram.traffic_class;
        if told.info_v6 {
            let mut bytes = [0; size_of::<in6_pktinfo>()];
            let ip = match datagram.to.ip() {
                IpAddr::V4(v4) => v4.to_ipv6_mapped(),
                IpAddr::V6(v6) => v6,
            };
            bytes[..size_of::<in6_addr>()].copy_from_slice(&ip.octets());
            let interface = c_uint::from(interface).to_ne_bytes();
            bytes[size_of::<in6_addr>()..].copy_from_slice(&interface);
            self.put(libc::IPPROTO_IPV6, libc::IPV6_PKTINFO, &bytes);
        }
        match datagram.to.ip() {
            IpAddr::V4(ip) => {
                if told.info_v4 {
                    let own = ip.octets();
                    let bytes = [c_int::from(interface).to_ne_bytes(), own, own].concat();
                    self.put(libc::IPPROTO_IP, libc::IP_PKTINFO, &bytes);
                }
                if told.class_v4 {
                    self.put(libc::IPPROTO_IP, libc::IP_TOS, &[class]);
                }
            }
            IpAddr::V6(_) if told.class_v6 => {
                let bytes = c_int::from(class).to_ne_bytes();
                self.put(libc::IPPROTO_IPV6, libc::IPV6_TCLASS, &bytes);
            }
            IpAddr::V6(_) => {}
        }
    }
}

/// Reads what the messages of a call ask of a datagram.
///
/// # Errors
/// `EINVAL` for a message that is not whole, or of a length that its kind does not have.
pub(super) fn read(mut bytes: &[u8], into: &mut Envelope) -> Sys<()> {
    while bytes.len() >= HEAD {
        let len = usize::from_ne_bytes(part(bytes, 0)?);
        let level = c_int::from_ne_bytes(part(bytes, offset_of!(cmsghdr, cmsg_level))?);
        let kind = c_int::from_ne_bytes(part(bytes, offset_of!(cmsghdr, cmsg_type))?);
        if len < HEAD || len > bytes.len() {
            return Err(Errno::EINVAL);
        }
        read_one(level, kind, &bytes[HEAD..len], into)?;
        bytes = bytes.get(len.next_multiple_of(STEP)..).unwrap_or_default();
    }
    Ok(())
}

fn read_one(level: c_int, kind: c_int, bytes: &[u8], into: &mut Envelope) -> Sys<()> {
    let class = |bytes: &[u8]| match bytes {
        [byte] => Ok(*byte),
        _ => u8::try_from(c_int::from_ne_bytes(whole(bytes)?)).map_err(|_| Errno::EINVAL),
    };
    match (level, kind) {
        (libc::IPPROTO_IP, libc::IP_TOS) => into.class_v4 = Some(class(bytes)?),
        (libc::IPPROTO_IPV6, libc::IPV6_TCLASS) => into.class_v6 = Some(class(bytes)?),
        (libc::IPPROTO_IP, libc::IP_PKTINFO) => {
            let bytes: [u8; size_of::<in_pktinfo>()] = whole(bytes)?;
            let own = part::<{ size_of::<in_addr>() }>(&bytes, size_of::<c_int>())?;
            into.source = Some(IpAddr::V4(Ipv4Addr::from(own)));
        }
        (libc::IPPROTO_IPV6, libc::IPV6_PKTINFO) => {
            let bytes: [u8; size_of::<in6_pktinfo>()] = whole(bytes)?;
            let own = Ipv6Addr::from(part::<{ size_of::<in6_addr>() }>(&bytes, 0)?);
            into.source = Some(IpAddr::V6(own).to_canonical());
        }
        (libc::SOL_SOCKET, _) => return Err(Errno::EINVAL),
        _ => {}
    }
    // The wildcard asks for nothing.
    into.source = into.source.filter(|ip| !ip.is_unspecified());
    Ok(())
}

fn whole<const N: usize>(bytes: &[u8]) -> Sys<[u8; N]> {
    bytes.try_into().map_err(|_| Errno::EINVAL)
}

/// The `N` bytes from `at` on.
fn part<const N: usize>(bytes: &[u8], at: usize) -> Sys<[u8; N]> {
    bytes.get(at..).and_then(|bytes| bytes.first_chunk()).copied().ok_or(Errno::EINVAL)
}
