//! How hosts reach each other by the addresses of both families.

#[path = "network/pair.rs"]
#[allow(dead_code, reason = "other tests need the rest of it")]
mod pair;

use hostsim::address::Domain;
use hostsim::errno::{Errno, Sys};
use hostsim::kernel::{Descriptor, HostId};
use hostsim::network::{OptionName, OptionValue};
use pair::Pair;
use std::net::SocketAddr;

fn address(text: &str) -> SocketAddr {
    text.parse().expect("tests use addresses")
}

fn socket(pair: &mut Pair, host: HostId, at: SocketAddr, is_v6_only: bool) -> Descriptor {
    let domain = if at.is_ipv4() { Domain::V4 } else { Domain::V6 };
    let socket = pair.network.socket(host, domain, true).unwrap();
    if is_v6_only {
        let name = OptionName { level: libc::IPPROTO_IPV6, name: libc::IPV6_V6ONLY };
        pair.network.set_option(socket, name, OptionValue::Int(1)).unwrap();
    }
    pair.network.bind(socket, at).unwrap();
    socket
}

/// Dials from the client to a listener of the server; gives the addresses that both ends show.
fn dialed(listen: &str, is_v6_only: bool, from: &str, to: &str) -> Sys<[String; 4]> {
    let mut pair = Pair::new();
    let (client, server) = (pair.client, pair.server);
    let listener = socket(&mut pair, server, address(listen), is_v6_only);
    pair.network.listen(listener, 8).unwrap();
    let dialer = socket(&mut pair, client, address(from), false);
    let begun = pair.network.connect(dialer, address(to)).unwrap_err();
    if begun != Errno::EINPROGRESS {
        return Err(begun);
    }
    pair.rest();
    pair.network.connect(dialer, address(to))?;
    let (accepted, remote) = pair.network.accept(listener, true).unwrap();
    let seen = [
        pair.network.local_address(dialer)?,
        pair.network.peer_address(dialer)?,
        pair.network.local_address(accepted)?,
        remote,
    ];
    pair.network.send(dialer, b"hello").unwrap();
    pair.rest();
    assert_eq!(pair.read(accepted), Ok(5));
    pair.end(&[dialer, accepted, listener]);
    Ok(seen.map(|address| address.to_string()))
}

#[track_caller]
fn check(listen: &str, from: &str, to: &str, expected: Sys<[&str; 4]>) {
    let expected = expected.map(|seen| seen.map(str::to_owned));
    assert_eq!(dialed(listen, false, from, to), expected, "{from} to {to} at {listen}");
}

#[test]
fn hosts_reach_each_other_by_either_family() {
    let v6 = ["[fd00::1]:9", "[fd00::2]:7", "[fd00::2]:7", "[fd00::1]:9"];
    check("[fd00::2]:7", "[::]:9", "[fd00::2]:7", Ok(v6));
    check("[::]:7", "[::]:9", "[fd00::2]:7", Ok(v6));
    check("[::]:7", "[fd00::1]:9", "[fd00::2]:7", Ok(v6));
    let v4 = ["10.0.0.1:9", "10.0.0.2:7", "[::ffff:10.0.0.2]:7", "[::ffff:10.0.0.1]:9"];
    check("[::]:7", "0.0.0.0:9", "10.0.0.2:7", Ok(v4));
    let mapped = ["[::ffff:10.0.0.1]:9", "[::ffff:10.0.0.2]:7", "10.0.0.2:7", "10.0.0.1:9"];
    check("0.0.0.0:7", "[::]:9", "[::ffff:10.0.0.2]:7", Ok(mapped));
    check("0.0.0.0:7", "[::]:9", "[fd00::2]:7", Err(Errno::ECONNREFUSED));
    check("[fd00::2]:7", "0.0.0.0:9", "10.0.0.2:7", Err(Errno::ECONNREFUSED));
}

#[test]
fn addresses_that_no_host_has_are_out_of_reach() {
    check("[::]:7", "[::]:9", "[fd00::3]:7", Err(Errno::ENETUNREACH));
    check("[::]:7", "[::]:9", "[2001:db8::1]:7", Err(Errno::ENETUNREACH));
    check("[::]:7", "[::]:9", "[ff02::1]:7", Err(Errno::ENETUNREACH));
    check("[::]:7", "[::]:9", "[::ffff:10.0.0.3]:7", Err(Errno::ENETUNREACH));
    check("[::]:7", "0.0.0.0:9", "255.255.255.255:7", Err(Errno::ENETUNREACH));
}

#[test]
fn a_listener_of_ipv6_alone_hears_no_ipv4() {
    let refused = Err(Errno::ECONNREFUSED);
    assert_eq!(dialed("[::]:7", true, "0.0.0.0:9", "10.0.0.2:7"), refused);
    assert_eq!(dialed("[::]:7", true, "[::]:9", "[::ffff:10.0.0.2]:7"), refused);
    assert!(dialed("[::]:7", true, "[::]:9", "[fd00::2]:7").is_ok());
}

#[test]
fn nobody_takes_what_comes_from_the_loopback_of_another_host() {
    // Linux sends it (IPv4 says `EINVAL`), and `ip6_rcv_core` drops it.
    check("[::]:7", "[::1]:9", "[fd00::2]:7", Err(Errno::ETIMEDOUT));
    check("[::]:7", "[::ffff:127.0.0.1]:9", "[::ffff:10.0.0.2]:7", Err(Errno::EINVAL));
}

#[test]
fn an_address_of_another_host_cannot_be_bound() {
    let mut pair = Pair::new();
    let bind = |pair: &mut Pair, host, ip: &str| {
        let socket = pair.network.socket(host, Domain::V6, true).unwrap();
        pair.network.bind(socket, address(ip))
    };
    let (client, server) = (pair.client, pair.server);
    assert_eq!(bind(&mut pair, client, "[fd00::2]:7"), Err(Errno::EADDRNOTAVAIL));
    assert_eq!(bind(&mut pair, server, "[fd00::2]:7"), Ok(()));
}
