//! What Linux shows of datagrams: rows of this suite's own, beside the table of TCP.
//!
//! C and S as in the table; no row needs a connection. Within a host the answer to a datagram that
//! met nobody is there when `send` returns, between hosts it takes a way and back, so rows settle
//! before they look.

use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::rc::Rc;

use socket2::{Domain, Protocol, SockRef, Socket, Type};
use tokio::net::{TcpListener, UdpSocket};

use super::probe::{bytes, count, err, limited, settle, unit, within};
use super::{Place, Row, row};

/// Returns the rows about datagrams, sorted by id.
pub fn udp_rows() -> Vec<Row> {
    vec![
        U01, U02, U03, U04, U05, U06, U07, U08, U09, U10, U11, U12, U13, U14, U15, U16, U17, U18,
        U19, U20, U21, U22, U23, U24,
    ]
}

/// A socket of S and where it is.
async fn far(place: &Place) -> (Rc<UdpSocket>, SocketAddr) {
    let addr = place.far_addr(0);
    let socket = place.far(async move { UdpSocket::bind(addr).await }).await.expect("bind");
    let addr = socket.local_addr().expect("local_addr");
    (Rc::new(socket), addr)
}

/// A socket of C.
async fn near(place: &Place) -> UdpSocket {
    UdpSocket::bind(place.near_addr()).await.expect("bind")
}

/// A socket of C that is connected.
async fn connected(place: &Place, to: SocketAddr) -> UdpSocket {
    let socket = near(place).await;
    socket.connect(to).await.expect("connect");
    socket
}

/// A port of S that nobody has.
async fn nobody(place: &Place) -> SocketAddr {
    let (socket, addr) = far(place).await;
    place.far(async move { drop(socket) }).await;
    addr
}

async fn recv_max(socket: &UdpSocket, max: usize) -> String {
    let mut buffer = vec![0; max];
    match within(socket.recv(&mut buffer)).await {
        None => "pending".into(),
        Some(Ok(n)) => bytes(&buffer[..n]),
        Some(Err(error)) => err(&error),
    }
}

async fn recv(socket: &UdpSocket) -> String {
    recv_max(socket, 64).await
}

/// Receives once on S, with who sent it.
async fn recv_from(place: &Place, socket: &Rc<UdpSocket>) -> (String, Option<SocketAddr>) {
    let socket = socket.clone();
    let mut buffer = vec![0; 70_000];
    place
        .far(async move {
            match within(socket.recv_from(&mut buffer)).await {
                None => ("pending".into(), None),
                Some(Ok((n, from))) => (bytes(&buffer[..n]), Some(from)),
                Some(Err(error)) => (err(&error), None),
            }
        })
        .await
}

async fn send(socket: &UdpSocket, bytes: &[u8]) -> String {
    limited(count, socket.send(bytes)).await
}

const U01: Row = row!(
    "U01",
    "a datagram says where it is from, and the answer comes back",
    r#"S Ok(5 "hello"), from C true; C Ok(3 "hey"), from S true"#,
    echo
);
async fn echo(place: Place) -> String {
    let ((s, addr), c) = (far(&place).await, near(&place).await);
    c.send_to(b"hello", addr).await.expect("send_to");
    let (seen, from) = recv_from(&place, &s).await;
    let from = from.expect("it is from somebody");
    s.send_to(b"hey", from).await.expect("send_to");
    let mut buffer = [0; 8];
    let (n, back) = c.recv_from(&mut buffer).await.expect("recv_from");
    let is_c = from.port() == c.local_addr().expect("local_addr").port();
    format!("S {seen}, from C {is_c}; C {}, from S {}", bytes(&buffer[..n]), back == addr)
}

const U02: Row = row!(
    "U02",
    "a datagram longer than the place is cut, and its rest is gone",
    r#"Ok(3 "abc"), Ok(2 "gh")"#,
    cut
);
async fn cut(place: Place) -> String {
    let ((s, addr), c) = (far(&place).await, near(&place).await);
    c.send_to(b"abcdef", addr).await.expect("send_to");
    c.send_to(b"gh", addr).await.expect("send_to");
    place.far(async move { format!("{}, {}", recv_max(&s, 3).await, recv(&s).await) }).await
}

const U03: Row = row!("U03", "a datagram may be empty", "Ok(0), then pending", empty);
async fn empty(place: Place) -> String {
    let ((s, addr), c) = (far(&place).await, near(&place).await);
    c.send_to(b"", addr).await.expect("send_to");
    let seen = recv_from(&place, &s).await.0;
    format!("{seen}, then {}", recv_from(&place, &s).await.0)
}

const U04: Row = row!(
    "U04",
    "a connected socket hears its peer alone",
    r#"Ok(4 "peer"), then pending"#,
    filtered
);
async fn filtered(place: Place) -> String {
    let ((s, addr), (other, _)) = (far(&place).await, far(&place).await);
    let c = connected(&place, addr).await;
    c.send(b"where").await.expect("send");
    let from = recv_from(&place, &s).await.1.expect("it is from C");
    place.far(async move { other.send_to(b"other", from).await }).await.expect("send_to");
    place.far(async move { s.send_to(b"peer", from).await }).await.expect("send_to");
    let seen = recv(&c).await;
    format!("{seen}, then {}", recv(&c).await)
}

const U05: Row = row!(
    "U05",
    "sending to a port that nobody has, connected",
    "send Ok(1); settled: send Err(ConnectionRefused, os 111), send Ok(1); \
     settled: recv Err(ConnectionRefused, os 111), recv pending",
    refused
);
async fn refused(place: Place) -> String {
    let c = connected(&place, nobody(&place).await).await;
    let first = send(&c, b"1").await;
    settle().await;
    let (second, third) = (send(&c, b"2").await, send(&c, b"3").await);
    settle().await;
    let (fourth, fifth) = (recv(&c).await, recv(&c).await);
    format!(
        "send {first}; settled: send {second}, send {third}; settled: recv {fourth}, recv {fifth}"
    )
}

const U06: Row = row!(
    "U06",
    "sending to a port that nobody has, unconnected",
    "send Ok(1), recv pending, send Ok(1), SO_ERROR none",
    unheard
);
async fn unheard(place: Place) -> String {
    let (addr, c) = (nobody(&place).await, near(&place).await);
    let first = count(c.send_to(b"1", addr).await);
    let seen = recv(&c).await;
    let second = count(c.send_to(b"1", addr).await);
    settle().await;
    let error = c.take_error().expect("SO_ERROR").map_or("none".into(), |error| err(&error));
    format!("send {first}, recv {seen}, send {second}, SO_ERROR {error}")
}

const U07: Row = row!(
    "U07",
    "a refusal waits as SO_ERROR, and is told once",
    "Err(ConnectionRefused, os 111), then none",
    so_error
);
async fn so_error(place: Place) -> String {
    let c = connected(&place, nobody(&place).await).await;
    c.send(b"1").await.expect("send");
    settle().await;
    let show = |error: Option<io::Error>| error.map_or("none".into(), |error| err(&error));
    let [first, second] = [(); 2].map(|()| show(c.take_error().expect("SO_ERROR")));
    format!("{first}, then {second}")
}

const U08: Row = row!(
    "U08",
    "the longest datagram",
    "the longest Ok, whole true; one more Err(Uncategorized, os 90)",
    longest
);
async fn longest(place: Place) -> String {
    let ((s, addr), c) = (far(&place).await, near(&place).await);
    let max = if addr.is_ipv4() { 65_507 } else { 65_527 };
    let sent = c.send_to(&vec![7; max], addr).await;
    let seen = recv_from(&place, &s).await.0;
    let more = c.send_to(&vec![7; max + 1], addr).await;
    let sent = sent.map_or_else(|error| err(&error), |_| "Ok".into());
    format!("the longest {sent}, whole {}; one more {}", seen == format!("Ok({max})"), count(more))
}

const U09: Row = row!(
    "U09",
    "readiness comes with a datagram and goes with it",
    r#"try_recv os 11, readable pending; sent: readable Ok(()), try_recv Ok(2 "hi"), os 11"#,
    readable
);
async fn readable(place: Place) -> String {
    let ((s, addr), c) = (far(&place).await, near(&place).await);
    let sender = s.clone();
    let to = place.near_addr();
    let to = SocketAddr::new(to.ip(), c.local_addr().expect("local_addr").port());
    c.connect(addr).await.expect("connect");
    let try_recv = || {
        let mut buffer = [0; 8];
        match c.try_recv(&mut buffer) {
            Ok(n) => bytes(&buffer[..n]),
            Err(error) if error.raw_os_error() == Some(11) => "os 11".into(),
            // tokio says it by itself where it knows.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => "os 11".into(),
            Err(error) => err(&error),
        }
    };
    let before = (try_recv(), limited(unit, c.readable()).await);
    c.send(b"where").await.expect("send");
    let from = recv_from(&place, &s).await.1.unwrap_or(to);
    place.far(async move { sender.send_to(b"hi", from).await }).await.expect("send_to");
    let after = (limited(unit, c.readable()).await, try_recv(), try_recv());
    format!(
        "try_recv {}, readable {}; sent: readable {}, try_recv {}, {}",
        before.0, before.1, after.0, after.1, after.2
    )
}

const U10: Row =
    row!("U10", "there is always room to write", "writable Ok(()), 200 sends Ok true", writable);
async fn writable(place: Place) -> String {
    let (_s, addr) = far(&place).await;
    let c = connected(&place, addr).await;
    let is_writable = limited(unit, c.writable()).await;
    let mut is_ok = true;
    for _ in 0..200 {
        is_ok &= send(&c, &[7; 1_000]).await == "Ok(1000)";
    }
    format!("writable {is_writable}, 200 sends Ok {is_ok}")
}

const U11: Row = row!(
    "U11",
    "a peek leaves the datagram",
    r#"peek Ok(2), peek Ok(5), recv Ok(5 "hello"), recv pending"#,
    peek
);
async fn peek(place: Place) -> String {
    let ((s, addr), c) = (far(&place).await, near(&place).await);
    c.send_to(b"hello", addr).await.expect("send_to");
    place
        .far(async move {
            let [mut short, mut long] = [vec![0; 2], vec![0; 8]];
            let first = s.peek_from(&mut short).await.map(|(n, _)| n);
            let second = s.peek_from(&mut long).await.map(|(n, _)| n);
            let (third, last) = (recv(&s).await, recv(&s).await);
            format!("peek {}, peek {}, recv {third}, recv {last}", count(first), count(second))
        })
        .await
}

const U12: Row = row!("U12", "datagrams keep their order", "100 in order true", order);
async fn order(place: Place) -> String {
    let ((s, addr), c) = (far(&place).await, near(&place).await);
    for number in 0..100_u8 {
        c.send_to(&[number], addr).await.expect("send_to");
    }
    place
        .far(async move {
            let mut buffer = [0; 8];
            let mut seen = Vec::new();
            while let Some(Ok(_)) = within(s.recv(&mut buffer)).await {
                seen.push(buffer[0]);
            }
            format!("100 in order {}", seen == (0..100).collect::<Vec<_>>())
        })
        .await
}

const U13: Row =
    row!("U13", "a full socket drops what comes", "SO_RCVBUF 8192: of 50 of 100 B it has 9", full);
async fn full(place: Place) -> String {
    let ((s, addr), c) = (far(&place).await, near(&place).await);
    let size = SockRef::from(&*s);
    size.set_recv_buffer_size(4_096).expect("SO_RCVBUF");
    let size = size.recv_buffer_size().expect("SO_RCVBUF");
    for _ in 0..50 {
        c.send_to(&[7; 100], addr).await.expect("send_to");
    }
    settle().await;
    let had = place.far(async move {
        let mut count = 0;
        while let Some(Ok(_)) = within(s.recv(&mut [0; 200])).await {
            count += 1;
        }
        count
    });
    format!("SO_RCVBUF {size}: of 50 of 100 B it has {}", had.await)
}

const U14: Row = row!(
    "U14",
    "a port is one socket's, of one protocol, until it is closed",
    "bind Err(AddrInUse, os 98), TCP Ok, after a close Ok",
    claims
);
async fn claims(place: Place) -> String {
    let (s, addr) = far(&place).await;
    place
        .far(async move {
            let show = |error: Option<io::Error>| error.map_or("Ok".into(), |error| err(&error));
            let taken = UdpSocket::bind(addr).await.err();
            let tcp = TcpListener::bind(addr).await.err();
            drop(s);
            let again = UdpSocket::bind(addr).await.err();
            format!("bind {}, TCP {}, after a close {}", show(taken), show(tcp), show(again))
        })
        .await
}

const U15: Row = row!(
    "U15",
    "std's socket in non-blocking mode",
    r#"recv Err(WouldBlock, os 11), send Ok(2), recv Ok(3 "yes")"#,
    std_socket
);
async fn std_socket(place: Place) -> String {
    let (s, addr) = far(&place).await;
    let c = std::net::UdpSocket::bind(place.near_addr()).expect("bind");
    c.set_nonblocking(true).expect("set_nonblocking");
    c.connect(addr).expect("connect");
    let mut buffer = [0; 8];
    let nothing = c.recv(&mut buffer);
    let sent = c.send(b"no");
    let from = recv_from(&place, &s).await.1.expect("it is from C");
    place.far(async move { s.send_to(b"yes", from).await }).await.expect("send_to");
    settle().await;
    let seen = c.recv(&mut buffer).map_or_else(|error| err(&error), |n| bytes(&buffer[..n]));
    format!("recv {}, send {}, recv {seen}", count(nothing), count(sent))
}

const U16: Row = row!(
    "U16",
    "a socket on every address of IPv6 hears IPv4 too",
    r#"Ok(2 "hi"), from C true; Ok(3 "yes")"#,
    dual
);
async fn dual(place: Place) -> String {
    let to = place.far_addr(0).ip();
    let wild = SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0));
    let bind = async move {
        let socket = Socket::new(Domain::IPV6, Type::DGRAM, Some(Protocol::UDP)).expect("socket");
        socket.set_only_v6(false).expect("IPV6_V6ONLY");
        socket.set_nonblocking(true).expect("O_NONBLOCK");
        socket.bind(&wild.into()).expect("bind");
        Rc::new(UdpSocket::from_std(socket.into()).expect("from_std"))
    };
    let s = place.far(bind).await;
    let addr = SocketAddr::new(to, s.local_addr().expect("local_addr").port());
    let c = connected(&place, addr).await;
    c.send(b"hi").await.expect("send");
    let (seen, from) = recv_from(&place, &s).await;
    let from = from.expect("it is from C");
    let is_c = from.ip().to_canonical() == c.local_addr().expect("local_addr").ip();
    place.far(async move { s.send_to(b"yes", from).await }).await.expect("send_to");
    format!("{seen}, from C {is_c}; {}", recv(&c).await)
}

const U17: Row = row!(
    "U17",
    "the addresses of a socket",
    "peer Err(NotConnected, os 107); connected: peer S true, an address of its own true, \
     the same port true",
    addresses
);
async fn addresses(place: Place) -> String {
    let ((_s, addr), c) = (far(&place).await, near(&place).await);
    let before = c.peer_addr().map_or_else(|error| err(&error), |peer| peer.to_string());
    let port = c.local_addr().expect("local_addr").port();
    c.connect(addr).await.expect("connect");
    let own = c.local_addr().expect("local_addr");
    let is_peer = c.peer_addr().is_ok_and(|peer| peer == addr);
    let is_own = !own.ip().is_unspecified();
    format!(
        "peer {before}; connected: peer S {is_peer}, an address of its own {is_own}, \
         the same port {}",
        own.port() == port
    )
}

const U18: Row = row!("U18", "sending without an address", "send os 89, to port 0 os 22", nowhere);
async fn nowhere(place: Place) -> String {
    let c = near(&place).await;
    let os = |result: io::Result<usize>| match result {
        Ok(n) => format!("Ok({n})"),
        Err(error) => format!("os {}", error.raw_os_error().unwrap_or(0)),
    };
    let (unaddressed, zero) = (c.send(b"1").await, c.send_to(b"1", place.far_addr(0)).await);
    format!("send {}, to port 0 {}", os(unaddressed), os(zero))
}

const U19: Row = row!(
    "U19",
    "a connected socket may send elsewhere",
    r#"the other Ok(5 "there"), the peer Ok(4 "here")"#,
    elsewhere
);
async fn elsewhere(place: Place) -> String {
    let ((s, addr), (other, there)) = (far(&place).await, far(&place).await);
    let c = connected(&place, addr).await;
    c.send_to(b"there", there).await.expect("send_to");
    c.send(b"here").await.expect("send");
    let seen = recv_from(&place, &other).await.0;
    format!("the other {seen}, the peer {}", recv_from(&place, &s).await.0)
}

const U20: Row = row!(
    "U20",
    "connecting anew",
    r#"the first Ok(1 "1"), the second Ok(1 "2"), peer the second true"#,
    anew
);
async fn anew(place: Place) -> String {
    let ((s, addr), (other, there)) = (far(&place).await, far(&place).await);
    let c = connected(&place, addr).await;
    c.send(b"1").await.expect("send");
    c.connect(there).await.expect("connect");
    c.send(b"2").await.expect("send");
    let (first, second) = (recv_from(&place, &s).await.0, recv_from(&place, &other).await.0);
    let is_second = c.peer_addr().is_ok_and(|peer| peer == there);
    format!("the first {first}, the second {second}, peer the second {is_second}")
}

const U21: Row = row!(
    "U21",
    "a peer that is closed and bound again",
    r#"settled: send Err(ConnectionRefused, os 111); bound again: send Ok(1), S Ok(1 "3")"#,
    reborn
);
async fn reborn(place: Place) -> String {
    let (s, addr) = far(&place).await;
    let c = connected(&place, addr).await;
    place.far(async move { drop(s) }).await;
    c.send(b"1").await.expect("send");
    settle().await;
    let second = send(&c, b"2").await;
    let bind = async move { UdpSocket::bind(addr).await };
    let s = Rc::new(place.far(bind).await.expect("bind"));
    let third = send(&c, b"3").await;
    let seen = recv_from(&place, &s).await.0;
    format!("settled: send {second}; bound again: send {third}, S {seen}")
}

const U22: Row = row!(
    "U22",
    "sockets that share a port each have their flows",
    "of 64 flows all arrive true, each twice at one place true, both have some true",
    shared
);
async fn shared(place: Place) -> String {
    let addr = place.far_addr(0);
    let bind = move |addr: SocketAddr| {
        let domain = if addr.is_ipv4() { Domain::IPV4 } else { Domain::IPV6 };
        let socket = Socket::new(domain, Type::DGRAM, None).expect("socket");
        socket.set_reuse_port(true).expect("SO_REUSEPORT");
        socket.set_nonblocking(true).expect("O_NONBLOCK");
        socket.bind(&addr.into()).expect("bind");
        Rc::new(UdpSocket::from_std(socket.into()).expect("from_std"))
    };
    let (first, second, addr) = place
        .far(async move {
            let first = bind(addr);
            let addr = first.local_addr().expect("local_addr");
            (first, bind(addr), addr)
        })
        .await;
    for number in 0..64_u8 {
        let c = near(&place).await;
        c.send_to(&[number], addr).await.expect("send_to");
        c.send_to(&[number], addr).await.expect("send_to");
        settle_one().await;
    }
    settle().await;
    let take = |socket: Rc<UdpSocket>| async move {
        let (mut seen, mut buffer) = (Vec::new(), [0; 8]);
        while let Some(Ok(_)) = within(socket.recv(&mut buffer)).await {
            seen.push(buffer[0]);
        }
        seen
    };
    let [mut one, mut two] = [place.far(take(first)).await, place.far(take(second)).await];
    let all = one.len() + two.len() == 128;
    let is_paired = |seen: &mut Vec<u8>| {
        seen.sort_unstable();
        seen.chunks(2).all(|pair| pair.len() == 2 && pair[0] == pair[1])
    };
    let is_twice = is_paired(&mut one) && is_paired(&mut two);
    let both = !one.is_empty() && !two.is_empty();
    format!(
        "of 64 flows all arrive {all}, each twice at one place {is_twice}, both have some {both}"
    )
}

/// Lets the other tasks go on.
async fn settle_one() {
    tokio::task::yield_now().await;
}

const U23: Row =
    row!("U23", "dialing by name", "connect Ok, peer an address of the name true", by_name);
async fn by_name(place: Place) -> String {
    let name = place.name();
    let found: Vec<_> =
        tokio::net::lookup_host((name.as_str(), 7)).await.expect("lookup").collect();
    let is_v4 = found.first().is_some_and(SocketAddr::is_ipv4);
    let any = if is_v4 { IpAddr::from([0; 4]) } else { IpAddr::from([0; 16]) };
    let c = UdpSocket::bind((any, 0)).await.expect("bind");
    let dialed = c.connect((name.as_str(), 7)).await;
    let is_of_name = c.peer_addr().is_ok_and(|peer| found.contains(&peer));
    let dialed = dialed.map_or_else(|error| err(&error), |()| "Ok".into());
    format!("connect {dialed}, peer an address of the name {is_of_name}")
}

const U24: Row =
    row!("U24", "many to one, and each has its answer", "10 answers, each to its own true", many);
async fn many(place: Place) -> String {
    let (s, addr) = far(&place).await;
    let mut clients = Vec::new();
    for number in 0..10_u8 {
        let c = connected(&place, addr).await;
        c.send(&[number]).await.expect("send");
        clients.push(c);
    }
    place
        .far(async move {
            let mut buffer = [0; 8];
            for _ in 0..10 {
                let (_, from) = s.recv_from(&mut buffer).await.expect("recv_from");
                s.send_to(&[buffer[0] + 100], from).await.expect("send_to");
            }
        })
        .await;
    let (mut answers, mut is_own) = (0, true);
    for (number, c) in (100_u8..).zip(&clients) {
        let mut buffer = [0; 8];
        answers += usize::from(within(c.recv(&mut buffer)).await.is_some_and(|n| n.is_ok()));
        is_own &= buffer[0] == number;
    }
    format!("{answers} answers, each to its own {is_own}")
}
