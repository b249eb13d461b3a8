//! Messages of datagrams: addresses, control messages, flags, and several in one call.

use super::{Log, Outcome, bind, check, local_address, loopback};
use expect_test::expect;
use libc::{
    AF_INET, AF_INET6, SOCK_DGRAM, c_int, c_uint, cmsghdr, iovec, mmsghdr, msghdr, sockaddr_in,
    sockaddr_in6, socklen_t,
};
use std::mem::{size_of, zeroed};
use std::ptr::null_mut;

const V4: usize = size_of::<sockaddr_in>();
const HEAD: usize = size_of::<cmsghdr>();
const NOW: c_int = libc::MSG_DONTWAIT;

/// A place for a message: bytes, an address and control messages.
struct Message {
    bytes: [u8; 8],
    part: iovec,
    name: sockaddr_in6,
    control: [u64; 16],
}

impl Message {
    fn new() -> Box<Message> {
        // SAFETY: zeros are an address.
        let name = unsafe { zeroed() };
        let part = iovec { iov_base: null_mut(), iov_len: 0 };
        Box::new(Message { bytes: [0; 8], part, name, control: [0; 16] })
    }

    /// Its header, with room for so many bytes of control messages.
    fn header(&mut self, len: usize, control_len: usize) -> msghdr {
        self.part = iovec { iov_base: self.bytes.as_mut_ptr().cast(), iov_len: len };
        // SAFETY: zeros are a header.
        let mut header: msghdr = unsafe { zeroed() };
        header.msg_name = (&raw mut self.name).cast();
        header.msg_namelen = size_of::<sockaddr_in6>() as socklen_t;
        header.msg_iov = &raw mut self.part;
        header.msg_iovlen = 1;
        header.msg_control = self.control.as_mut_ptr().cast();
        header.msg_controllen = control_len;
        header
    }

    fn control_bytes(&self) -> Vec<u8> {
        self.control.iter().flat_map(|word| word.to_ne_bytes()).collect()
    }

    /// Puts control messages of these levels, types and bytes; gives their length.
    fn ask(&mut self, messages: &[(c_int, c_int, &[u8])]) -> usize {
        let mut bytes = Vec::new();
        for (level, kind, data) in messages {
            bytes.extend((HEAD + data.len()).to_ne_bytes());
            bytes.extend(level.to_ne_bytes());
            bytes.extend(kind.to_ne_bytes());
            bytes.extend(*data);
            bytes.resize(bytes.len().next_multiple_of(8), 0);
        }
        for (word, chunk) in self.control.iter_mut().zip(bytes.chunks(8)) {
            *word = u64::from_ne_bytes(chunk.try_into().expect("messages are of whole words"));
        }
        bytes.len()
    }

    /// What a call told, in words.
    fn told(&self, header: &msghdr) -> String {
        let bytes = self.control_bytes();
        let mut at = &bytes[..header.msg_controllen];
        let mut text = format!("name {}, flags {:#x}", header.msg_namelen, header.msg_flags);
        while at.len() >= HEAD {
            let len = usize::from_ne_bytes(at[..8].try_into().expect("eight bytes"));
            let level = c_int::from_ne_bytes(at[8..12].try_into().expect("four bytes"));
            let kind = c_int::from_ne_bytes(at[12..16].try_into().expect("four bytes"));
            text += &format!("; {level}/{kind} {:?}", &at[HEAD..len]);
            at = at.get(len.next_multiple_of(8)..).unwrap_or_default();
        }
        text
    }
}

fn set(fd: c_int, level: c_int, name: c_int) {
    let (value, len) = (1_i32, 4);
    assert_eq!(call!(setsockopt(fd, level, name, (&raw const value).cast(), len)), Outcome(Ok(0)));
}

/// A socket of IPv4 that tells what it can, and its address.
fn telling(log: &mut Log) -> (c_int, sockaddr_in) {
    let fd = log.keep(call!(socket(AF_INET, SOCK_DGRAM, 0)));
    assert_eq!(bind(fd, &loopback(0), V4), Outcome(Ok(0)));
    set(fd, libc::IPPROTO_IP, libc::IP_PKTINFO);
    set(fd, libc::IPPROTO_IP, libc::IP_RECVTOS);
    (fd, local_address(fd))
}

/// Sends two bytes with control messages.
fn send(fd: c_int, to: &sockaddr_in, messages: &[(c_int, c_int, &[u8])]) -> Outcome {
    let mut message = Message::new();
    let len = message.ask(messages);
    let mut header = message.header(2, len);
    header.msg_name = (&raw const *to).cast_mut().cast();
    header.msg_namelen = V4 as socklen_t;
    call!(sendmsg(fd, &header, NOW))
}

fn receive(fd: c_int, len: usize, control_len: usize, flags: c_int) -> String {
    let mut message = Message::new();
    let mut header = message.header(len, control_len);
    let outcome = call!(recvmsg(fd, &mut header, NOW | flags));
    if outcome.0.is_err() {
        outcome.to_string()
    } else {
        format!("{outcome}, {}", message.told(&header))
    }
}

#[test]
fn a_message_tells_what_it_is_asked_to() {
    check(
        |log| {
            let (fd, own) = telling(log);
            let six = log.keep(call!(socket(AF_INET6, SOCK_DGRAM, 0)));
            let (class, byte) = (1_i32.to_ne_bytes(), [2]);
            log.note("class", send(fd, &own, &[(libc::IPPROTO_IP, libc::IP_TOS, &class)]));
            log.note("class, a byte", send(six, &own, &[(libc::IPPROTO_IP, libc::IP_TOS, &byte)]));
            log.note(
                "class of IPv6",
                send(fd, &own, &[(libc::IPPROTO_IPV6, libc::IPV6_TCLASS, &class)]),
            );
            log.note("nothing", send(fd, &own, &[]));
            for _ in 0..3 {
                log.note("recvmsg", receive(fd, 8, 128, 0));
            }
            log.note("a peek, cut", receive(fd, 1, 128, libc::MSG_PEEK));
            log.note("and told all", receive(fd, 1, 128, libc::MSG_PEEK | libc::MSG_TRUNC));
            log.note("room for a part", receive(fd, 8, HEAD + 4, libc::MSG_PEEK));
            log.note("room for one", receive(fd, 8, 32, libc::MSG_PEEK));
            log.note("no room", receive(fd, 8, 0, 0));
            log.note("nothing is there", receive(fd, 8, 128, 0));
        },
        expect![[r#"
            class = 2
            class, a byte = 2
            class of IPv6 = 2
            nothing = 2
            recvmsg = 2, name 16, flags 0x0; 0/8 [1, 0, 0, 0, 127, 0, 0, 1, 127, 0, 0, 1]; 0/1 [1]
            recvmsg = 2, name 16, flags 0x0; 0/8 [1, 0, 0, 0, 127, 0, 0, 1, 127, 0, 0, 1]; 0/1 [2]
            recvmsg = 2, name 16, flags 0x0; 0/8 [1, 0, 0, 0, 127, 0, 0, 1, 127, 0, 0, 1]; 0/1 [0]
            a peek, cut = 1, name 16, flags 0x20; 0/8 [1, 0, 0, 0, 127, 0, 0, 1, 127, 0, 0, 1]; 0/1 [0]
            and told all = 2, name 16, flags 0x20; 0/8 [1, 0, 0, 0, 127, 0, 0, 1, 127, 0, 0, 1]; 0/1 [0]
            room for a part = 2, name 16, flags 0x8; 0/8 [1, 0, 0, 0]
            room for one = 2, name 16, flags 0x8; 0/8 [1, 0, 0, 0, 127, 0, 0, 1, 127, 0, 0, 1]
            no room = 2, name 16, flags 0x8
            nothing is there = EAGAIN
        "#]],
    );
}

#[test]
fn a_socket_of_ipv6_tells_of_both_families() {
    check(
        |log| {
            let (_, other) = telling(log);
            let fd = log.keep(call!(socket(AF_INET6, SOCK_DGRAM, 0)));
            for (level, name) in [
                (libc::IPPROTO_IPV6, libc::IPV6_RECVPKTINFO),
                (libc::IPPROTO_IPV6, libc::IPV6_RECVTCLASS),
                (libc::IPPROTO_IP, libc::IP_RECVTOS),
            ] {
                set(fd, level, name);
            }
            // SAFETY: zeros are an address: the wildcard.
            let mut wild: sockaddr_in6 = unsafe { zeroed() };
            wild.sin6_family = AF_INET6 as libc::sa_family_t;
            assert_eq!(bind(fd, &wild, size_of::<sockaddr_in6>()), Outcome(Ok(0)));
            let mut len = size_of::<sockaddr_in6>() as socklen_t;
            call!(getsockname(fd, (&raw mut wild).cast(), &mut len));
            let to = sockaddr_in { sin_port: wild.sin6_port, ..other };
            let class = 3_i32.to_ne_bytes();
            let classes: [(c_int, c_int, &[u8]); 2] = [
                (libc::IPPROTO_IP, libc::IP_TOS, &[1]),
                (libc::IPPROTO_IPV6, libc::IPV6_TCLASS, &class),
            ];
            log.note("to IPv4", send(fd, &to, &classes));
            log.note("from IPv4", receive(fd, 8, 128, 0));
            wild.sin6_addr.s6_addr[15] = 1;
            let mut message = Message::new();
            let control_len = message.ask(&classes);
            let mut header = message.header(2, control_len);
            header.msg_name = (&raw mut wild).cast();
            let outcome = call!(sendmsg(fd, &header, NOW));
            log.note("to IPv6", outcome);
            log.note("from IPv6", receive(fd, 8, 128, 0));
        },
        expect![[r#"
            to IPv4 = 2
            from IPv4 = 2, name 28, flags 0x0; 41/50 [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 127, 0, 0, 1, 1, 0, 0, 0]; 0/1 [1]
            to IPv6 = 2
            from IPv6 = 2, name 28, flags 0x0; 41/50 [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0]; 41/67 [3, 0, 0, 0]
        "#]],
    );
}

#[test]
fn control_messages_ask_for_a_source() {
    check(
        |log| {
            let (fd, own) = telling(log);
            let info = |ip: [u8; 4]| [[0; 4], ip, [0; 4]].concat();
            for ip in [[127, 0, 0, 1], [127, 0, 0, 9], [0, 0, 0, 0], [192, 0, 2, 1]] {
                let bytes = info(ip);
                let asked = send(fd, &own, &[(libc::IPPROTO_IP, libc::IP_PKTINFO, &bytes)]);
                log.note(&format!("from {ip:?}"), asked);
                let mut message = Message::new();
                let mut header = message.header(8, 0);
                if call!(recvmsg(fd, &mut header, NOW)).0.is_ok() {
                    let from = message.name.sin6_flowinfo.to_ne_bytes();
                    log.note("it is from", format!("{from:?}"));
                }
            }
            log.note("short", send(fd, &own, &[(libc::IPPROTO_IP, libc::IP_PKTINFO, &[0; 8])]));
            log.note("long class", send(fd, &own, &[(libc::IPPROTO_IP, libc::IP_TOS, &[0; 8])]));
            let large = 256_i32.to_ne_bytes();
            log.note("large class", send(fd, &own, &[(libc::IPPROTO_IP, libc::IP_TOS, &large)]));
            log.note("another level", send(fd, &own, &[(libc::IPPROTO_TCP, 77, &[0; 8])]));
        },
        expect![[r#"
            from [127, 0, 0, 1] = 2
            it is from = [127, 0, 0, 1]
            from [127, 0, 0, 9] = 2
            it is from = [127, 0, 0, 9]
            from [0, 0, 0, 0] = 2
            it is from = [127, 0, 0, 1]
            from [192, 0, 2, 1] = ENETUNREACH
            short = EINVAL
            long class = EINVAL
            large class = EINVAL
            another level = 2
        "#]],
    );
}

#[test]
fn several_messages_go_in_one_call() {
    check(
        |log| {
            let (fd, own) = telling(log);
            let mut messages = [(); 4].map(|()| Message::new());
            let mut headers = messages
                .each_mut()
                .map(|message| mmsghdr { msg_hdr: message.header(3, 0), msg_len: 77 });
            for header in &mut headers {
                header.msg_hdr.msg_name = (&raw const own).cast_mut().cast();
                header.msg_hdr.msg_namelen = V4 as socklen_t;
            }
            headers[1].msg_hdr.msg_iovlen = 0;
            headers[3].msg_hdr.msg_namelen = 1;
            let (place, count) = (headers.as_mut_ptr(), headers.len() as c_uint);
            say!(log, sendmmsg(fd, place, count, NOW));
            log.note("lengths", headers.map(|header| header.msg_len.to_string()).join(" "));
            let bad = &mut headers[3];
            say!(log, sendmmsg(fd, bad, 1, NOW));
            say!(log, sendmmsg(fd, null_mut(), 0, NOW));
            for header in &mut headers {
                header.msg_hdr.msg_iovlen = 1;
                header.msg_hdr.msg_name = null_mut();
            }
            let place = headers.as_mut_ptr();
            say!(log, recvmmsg(fd, place, 1, NOW, null_mut()));
            say!(log, recvmmsg(fd, place, count, libc::MSG_WAITFORONE, null_mut()));
            log.note("lengths", headers.map(|header| header.msg_len.to_string()).join(" "));
            say!(log, recvmmsg(fd, place, count, NOW, null_mut()));
        },
        expect![[r#"
            sendmmsg(fd, place, count, NOW) = 3
            lengths = 3 0 3 77
            sendmmsg(fd, bad, 1, NOW) = EINVAL
            sendmmsg(fd, null_mut(), 0, NOW) = 0
            recvmmsg(fd, place, 1, NOW, null_mut()) = 1
            recvmmsg(fd, place, count, libc::MSG_WAITFORONE, null_mut()) = 2
            lengths = 0 3 3 77
            recvmmsg(fd, place, count, NOW, null_mut()) = EAGAIN
        "#]],
    );
}
