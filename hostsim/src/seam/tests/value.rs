//! `getsockopt` and `setsockopt`: what values options take and keep.

use super::option::{get, int, set};
use super::{Log, check, check_simulated};
use expect_test::expect;
use libc::{
    AF_INET6, IPPROTO_IP, IPPROTO_IPV6, IPPROTO_TCP, SO_LINGER, SO_RCVBUF, SO_RCVTIMEO, SO_SNDBUF,
    SO_SNDTIMEO, SOCK_STREAM, SOL_SOCKET, c_int, linger, timeval,
};

#[test]
fn switches_are_zero_or_one() {
    check(
        |log| {
            let fd = log.socket(0);
            for (level, name) in [
                (SOL_SOCKET, libc::SO_REUSEADDR),
                (SOL_SOCKET, libc::SO_REUSEPORT),
                (SOL_SOCKET, libc::SO_KEEPALIVE),
                (SOL_SOCKET, libc::SO_BROADCAST),
                (IPPROTO_TCP, libc::TCP_NODELAY),
            ] {
                let mut values = vec![int(fd, level, name)];
                for value in [5, 0, -1] {
                    set(fd, level, name, value);
                    values.push(int(fd, level, name));
                }
                log.note(&format!("{level} {name}: default, 5, 0, -1"), values.join(" "));
            }
        },
        expect![[r#"
            1 2: default, 5, 0, -1 = 0 1 0 1
            1 15: default, 5, 0, -1 = 0 1 0 1
            1 9: default, 5, 0, -1 = 0 1 0 1
            1 6: default, 5, 0, -1 = 0 1 0 1
            6 1: default, 5, 0, -1 = 0 1 0 1
        "#]],
    );
}

#[test]
fn numbers_have_their_range() {
    check(
        |log| {
            let fd = log.socket(0);
            for (level, name, values) in [
                (IPPROTO_TCP, libc::TCP_KEEPIDLE, [0, 1, 32_767, 32_768]),
                (IPPROTO_TCP, libc::TCP_KEEPINTVL, [-1, 1, 32_767, 32_768]),
                (IPPROTO_TCP, libc::TCP_KEEPCNT, [0, 1, 127, 128]),
                (IPPROTO_TCP, libc::TCP_SYNCNT, [0, 1, 127, 128]),
                (IPPROTO_TCP, libc::TCP_USER_TIMEOUT, [-1, 0, 1, i32::MAX]),
                (IPPROTO_IP, libc::IP_TTL, [-2, -1, 0, 255]),
                (IPPROTO_IP, libc::IP_TOS, [-1, 0xb8, 0x13, 0x1fc]),
            ] {
                log.note(&format!("{level} {name}"), int(fd, level, name));
                for value in values {
                    let outcome = set(fd, level, name, value);
                    let read = int(fd, level, name);
                    log.note(&format!("{level} {name} to {value}"), format!("{outcome}, {read}"));
                }
            }
        },
        expect![[r#"
            6 4 = 7200
            6 4 to 0 = EINVAL, 7200
            6 4 to 1 = 0, 1
            6 4 to 32767 = 0, 32767
            6 4 to 32768 = EINVAL, 32767
            6 5 = 75
            6 5 to -1 = EINVAL, 75
            6 5 to 1 = 0, 1
            6 5 to 32767 = 0, 32767
            6 5 to 32768 = EINVAL, 32767
            6 6 = 9
            6 6 to 0 = EINVAL, 9
            6 6 to 1 = 0, 1
            6 6 to 127 = 0, 127
            6 6 to 128 = EINVAL, 127
            6 7 = 6
            6 7 to 0 = EINVAL, 6
            6 7 to 1 = 0, 1
            6 7 to 127 = 0, 127
            6 7 to 128 = EINVAL, 127
            6 18 = 0
            6 18 to -1 = EINVAL, 0
            6 18 to 0 = 0, 0
            6 18 to 1 = 0, 1
            6 18 to 2147483647 = 0, 2147483647
            0 2 = 64
            0 2 to -2 = EINVAL, 64
            0 2 to -1 = 0, 64
            0 2 to 0 = EINVAL, 64
            0 2 to 255 = 0, 255
            0 1 = 0
            0 1 to -1 = 0, 252
            0 1 to 184 = 0, 184
            0 1 to 19 = 0, 16
            0 1 to 508 = 0, 252
        "#]],
    );
}

#[test]
fn options_of_ipv6_are_its_own() {
    check(
        |log| {
            let fd = log.keep(call!(socket(AF_INET6, SOCK_STREAM, 0)));
            for (level, name, values) in [
                (IPPROTO_IPV6, libc::IPV6_V6ONLY, [5, 0, 1]),
                (IPPROTO_IPV6, libc::IPV6_UNICAST_HOPS, [-2, 0, 256]),
                (IPPROTO_IPV6, libc::IPV6_UNICAST_HOPS, [7, -1, 9]),
                (IPPROTO_IPV6, libc::IPV6_TCLASS, [-2, 0xbb, 256]),
                (IPPROTO_IP, libc::IP_TTL, [5, 0, 256]),
                (IPPROTO_IP, libc::IP_TOS, [8, 0, 16]),
            ] {
                log.note(&format!("{level} {name}"), int(fd, level, name));
                for value in values {
                    let outcome = set(fd, level, name, value);
                    let read = int(fd, level, name);
                    log.note(&format!("{level} {name} to {value}"), format!("{outcome}, {read}"));
                }
            }
            log.note("hops", int(fd, IPPROTO_IPV6, libc::IPV6_UNICAST_HOPS));
            log.note("traffic class", int(fd, IPPROTO_IPV6, libc::IPV6_TCLASS));
            log.note("short", set(fd, IPPROTO_IPV6, libc::IPV6_V6ONLY, 1_u8));
            say!(log, listen(fd, 1));
            log.note("IPV6_V6ONLY once bound", set(fd, IPPROTO_IPV6, libc::IPV6_V6ONLY, 0));
        },
        expect![[r#"
            41 26 = 0
            41 26 to 5 = 0, 1
            41 26 to 0 = 0, 0
            41 26 to 1 = 0, 1
            41 16 = 64
            41 16 to -2 = EINVAL, 64
            41 16 to 0 = 0, 0
            41 16 to 256 = EINVAL, 0
            41 16 = 0
            41 16 to 7 = 0, 7
            41 16 to -1 = 0, 64
            41 16 to 9 = 0, 9
            41 67 = 0
            41 67 to -2 = EINVAL, 0
            41 67 to 187 = 0, 184
            41 67 to 256 = EINVAL, 184
            0 2 = 64
            0 2 to 5 = 0, 5
            0 2 to 0 = EINVAL, 5
            0 2 to 256 = EINVAL, 5
            0 1 = 0
            0 1 to 8 = 0, 8
            0 1 to 0 = 0, 0
            0 1 to 16 = 0, 16
            hops = 9
            traffic class = 184
            short = EINVAL
            listen(fd, 1) = 0
            IPV6_V6ONLY once bound = EINVAL
        "#]],
    );
}

#[test]
fn buffers_are_doubled_and_have_a_least_size() {
    check(
        |log| {
            let fd = log.socket(0);
            for name in [SO_SNDBUF, SO_RCVBUF] {
                for value in [0, 1, 2303, 2305, 4096, 100_000] {
                    let outcome = set(fd, SOL_SOCKET, name, value);
                    let read = int(fd, SOL_SOCKET, name);
                    log.note(&format!("{name} to {value}"), format!("{outcome}, {read}"));
                }
            }
        },
        expect![[r#"
            7 to 0 = 0, 4608
            7 to 1 = 0, 4608
            7 to 2303 = 0, 4608
            7 to 2305 = 0, 4610
            7 to 4096 = 0, 8192
            7 to 100000 = 0, 200000
            8 to 0 = 0, 2304
            8 to 1 = 0, 2304
            8 to 2303 = 0, 4606
            8 to 2305 = 0, 4610
            8 to 4096 = 0, 8192
            8 to 100000 = 0, 200000
        "#]],
    );
}

#[test]
fn a_negative_buffer_is_the_largest() {
    // The largest differs from machine to machine (`net.core.wmem_max`, `rmem_max`).
    fn script(log: &mut Log) {
        let fd = log.socket(0);
        for name in [SO_SNDBUF, SO_RCVBUF] {
            let [negative, large] = [-1, i32::MAX].map(|value| {
                set(fd, SOL_SOCKET, name, value);
                int(fd, SOL_SOCKET, name)
            });
            log.note(&format!("{name}: -1 is the largest"), negative == large);
        }
    }
    check(
        script,
        expect![[r#"
        7: -1 is the largest = true
        8: -1 is the largest = true
    "#]],
    );
    check_simulated(
        script,
        expect![[r#"
        7: -1 is the largest = true
        8: -1 is the largest = true
    "#]],
    );
}

fn linger_of(fd: c_int) -> String {
    let (outcome, value, len) = get(fd, SOL_SOCKET, SO_LINGER, linger { l_onoff: 7, l_linger: 7 });
    format!("{outcome}, {} {}, length {len}", value.l_onoff, value.l_linger)
}

#[test]
fn linger_keeps_its_time_when_it_is_off() {
    check(
        |log| {
            let fd = log.socket(0);
            log.note("default", linger_of(fd));
            for (l_onoff, l_linger) in [(1, 5), (0, 9), (7, 0), (0, 0), (1, 3)] {
                let outcome = set(fd, SOL_SOCKET, SO_LINGER, linger { l_onoff, l_linger });
                log.note(&format!("{l_onoff} {l_linger}"), format!("{outcome}; {}", linger_of(fd)));
            }
        },
        expect![[r#"
            default = 0, 0 0, length 8
            1 5 = 0; 0, 1 5, length 8
            0 9 = 0; 0, 0 5, length 8
            7 0 = 0; 0, 1 0, length 8
            0 0 = 0; 0, 0 0, length 8
            1 3 = 0; 0, 1 3, length 8
        "#]],
    );
}

#[test]
fn timeouts_are_checked_and_kept() {
    check(
        |log| {
            let fd = log.socket(0);
            for name in [SO_RCVTIMEO, SO_SNDTIMEO] {
                for (tv_sec, tv_usec) in
                    [(0, 0), (2, 500_000), (1, -1), (1, 1_000_000), (1, i64::MAX), (0, 0), (-1, 0)]
                {
                    let outcome = set(fd, SOL_SOCKET, name, timeval { tv_sec, tv_usec });
                    let before = timeval { tv_sec: 7, tv_usec: 7 };
                    let (_, value, len) = get(fd, SOL_SOCKET, name, before);
                    let value = format!("{}.{:06}, length {len}", value.tv_sec, value.tv_usec);
                    log.note(
                        &format!("{name} to {tv_sec}, {tv_usec}"),
                        format!("{outcome}; {value}"),
                    );
                }
            }
        },
        expect![[r#"
            20 to 0, 0 = 0; 0.000000, length 16
            20 to 2, 500000 = 0; 2.500000, length 16
            20 to 1, -1 = EDOM; 2.500000, length 16
            20 to 1, 1000000 = EDOM; 2.500000, length 16
            20 to 1, 9223372036854775807 = EDOM; 2.500000, length 16
            20 to 0, 0 = 0; 0.000000, length 16
            20 to -1, 0 = 0; 0.000000, length 16
            21 to 0, 0 = 0; 0.000000, length 16
            21 to 2, 500000 = 0; 2.500000, length 16
            21 to 1, -1 = EDOM; 2.500000, length 16
            21 to 1, 1000000 = EDOM; 2.500000, length 16
            21 to 1, 9223372036854775807 = EDOM; 2.500000, length 16
            21 to 0, 0 = 0; 0.000000, length 16
            21 to -1, 0 = 0; 0.000000, length 16
        "#]],
    );
}
