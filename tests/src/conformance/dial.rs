//! Group A, dialing: what connects, in which order, and what each end then sees. Addresses are
//! in `address`, full queues and listeners that go away in `backlog`.

use std::collections::BTreeSet;
use std::net::{SocketAddr, TcpStream as StdTcpStream};

use tokio::net::{TcpSocket, TcpStream};

use super::probe::{bare, close, err, linger0, millis, put, rd, settle, text, within, wr};
use super::{Place, Row, row};

pub(super) const REQUIRED: &[Row] = &[A01, A01_STD, A02, A03, A04, A06];
pub(super) const FURTHER: &[Row] = &[A26, A28, A29, A30, A31, A32, A33, A35, A36];

const A01: Row = row!(
    "A01",
    "dialing a port that nobody listens on",
    r#"Err(ConnectionRefused, os 111) "Connection refused (os error 111)""#,
    closed_port
);
async fn closed_port(place: Place) -> String {
    text(TcpStream::connect(closed(&place).await).await)
}

const A01_STD: Row = row!(
    "A01-std",
    "dialing a port that nobody listens on, blocking",
    r#"Err(ConnectionRefused, os 111) "Connection refused (os error 111)""#,
    closed_port_blocking
);
async fn closed_port_blocking(place: Place) -> String {
    text(StdTcpStream::connect(closed(&place).await))
}

const A02: Row = row!(
    "A02",
    "a dial completes before anyone accepts it",
    r#"connect Ok, write Ok(5), S read after accept Ok(5 "hello")"#,
    dial_completes_before_accept
);
async fn dial_completes_before_accept(place: Place) -> String {
    let (listener, addr) = place.listen().await;
    let mut c = TcpStream::connect(addr).await.expect("connect");
    let written = wr(&mut c, b"hello").await;
    settle().await;
    let (mut s, _) = place.accept(&listener).await.expect("accept");
    format!("connect Ok, write {written}, S read after accept {}", rd(&mut s).await)
}

const A03: Row = row!(
    "A03",
    "accepting a connection that was written to and closed before",
    r#"accept Ok, addr port true, peer_addr Ok, read Ok(3 "bye"), read Ok(0)"#,
    closed_before_accept
);
async fn closed_before_accept(place: Place) -> String {
    let (listener, addr) = place.listen().await;
    let mut c = TcpStream::connect(addr).await.expect("connect");
    put(&mut c, b"bye").await;
    close(c).await;
    let (mut s, from) = place.accept(&listener).await.expect("accept");
    format!(
        "accept Ok, addr port {}, peer_addr {}, read {}, read {}",
        from.port() != 0,
        bare(s.peer_addr()),
        rd(&mut s).await,
        rd(&mut s).await
    )
}

const A04: Row = row!(
    "A04",
    "accepting a connection that was reset before",
    "accept Ok, addr port true; peer_addr Err(NotConnected, os 107), local_addr Ok, \
     read Err(ConnectionReset, os 104), read Ok(0)",
    reset_before_accept
);
async fn reset_before_accept(place: Place) -> String {
    let (listener, addr) = place.listen().await;
    let c = TcpStream::connect(addr).await.expect("connect");
    linger0(&c);
    close(c).await;
    let (mut s, from) = match within(place.accept(&listener)).await {
        None => return "accept pending".into(),
        Some(Err(error)) => return format!("accept {}", err(&error)),
        Some(Ok(accepted)) => accepted,
    };
    format!(
        "accept Ok, addr port {}; peer_addr {}, local_addr {}, read {}, read {}",
        from.port() != 0,
        bare(s.peer_addr()),
        bare(s.local_addr()),
        rd(&mut s).await,
        rd(&mut s).await
    )
}

const A06: Row = row!(
    "A06",
    "connections are accepted in the order they were made",
    "same order as 8 connects: true",
    accept_is_fifo
);
async fn accept_is_fifo(place: Place) -> String {
    let (listener, addr) = place.listen().await;
    let mut dialed = Vec::new();
    for _ in 0..8 {
        dialed.push(TcpStream::connect(addr).await.expect("connect"));
    }
    let mut is_same = true;
    for c in &dialed {
        let (_, from) = place.accept(&listener).await.expect("accept");
        is_same &= from == c.local_addr().expect("local_addr");
    }
    format!("same order as 8 connects: {is_same}")
}

const A26: Row = row!(
    "A26",
    "a dial tries its addresses in turn, and the last error is the error",
    "closed then open: reached the open one true; both closed: Err(ConnectionRefused, os 111); \
     none: Err(InvalidInput, os none) \"could not resolve to any address\"",
    several_addresses
);
async fn several_addresses(place: Place) -> String {
    let (listener, open) = place.listen().await;
    let closed = closed(&place).await;
    let reached = TcpStream::connect(&[closed, open][..]).await.expect("the second is open");
    let is_open_one = reached.peer_addr().expect("peer_addr") == open;
    drop(listener);
    settle().await;
    let both_closed = TcpStream::connect(&[closed, open][..]).await;
    let none: &[SocketAddr] = &[];
    format!(
        "closed then open: reached the open one {is_open_one}; both closed: {}; none: {}",
        bare(both_closed),
        text(TcpStream::connect(none).await)
    )
}

const A28: Row = row!(
    "A28",
    "dialing a string that has no port",
    r#"Err(InvalidInput, os none) "invalid socket address""#,
    no_port
);
async fn no_port(_: Place) -> String {
    text(TcpStream::connect("127.0.0.1").await)
}

const A29: Row = row!(
    "A29",
    "dialing port 0",
    r#"Err(ConnectionRefused, os 111) "Connection refused (os error 111)""#,
    port_zero
);
async fn port_zero(place: Place) -> String {
    text(TcpStream::connect(place.far_addr(0)).await)
}

const A30: Row = row!(
    "A30",
    "dialing a broadcast and a multicast address",
    "broadcast Err(NetworkUnreachable, os 101), multicast Err(NetworkUnreachable, os 101)",
    many_receivers
);
async fn many_receivers(_: Place) -> String {
    let broadcast = TcpStream::connect("255.255.255.255:80").await;
    let multicast = within(TcpStream::connect("224.0.0.1:80")).await;
    let multicast = multicast.map_or("pending".into(), bare);
    format!("broadcast {}, multicast {multicast}", bare(broadcast))
}

const A31: Row = row!(
    "A31",
    "the two ends agree on their addresses",
    "C.peer==listener true, C.local==accept addr true, S.peer==C.local true, \
     S.local==C.peer true, S.local port==listener port true",
    addresses_of_both_ends
);
async fn addresses_of_both_ends(place: Place) -> String {
    let (listener, addr) = place.listen().await;
    let c = TcpStream::connect(addr).await.expect("connect");
    let (s, from) = place.accept(&listener).await.expect("accept");
    let (c_local, c_peer) = (c.local_addr().expect("local"), c.peer_addr().expect("peer"));
    let (s_local, s_peer) = (s.local_addr().expect("local"), s.peer_addr().expect("peer"));
    format!(
        "C.peer==listener {}, C.local==accept addr {}, S.peer==C.local {}, S.local==C.peer {}, \
         S.local port==listener port {}",
        c_peer == addr,
        c_local == from,
        s_peer == c_local,
        s_local == c_peer,
        s_local.port() == addr.port()
    )
}

const A32: Row = row!(
    "A32",
    "a socket dials itself",
    r#"connect Ok, local==peer true, write Ok(2), read own bytes Ok(2 "hi")"#,
    dial_itself
);
async fn dial_itself(place: Place) -> String {
    let socket = place.here().socket();
    socket.bind(place.here().near_addr()).expect("bind");
    let own = socket.local_addr().expect("local_addr");
    let mut c = match within(socket.connect(own)).await {
        None => return "pending".into(),
        Some(Err(error)) => return err(&error),
        Some(Ok(c)) => c,
    };
    let is_own = c.local_addr().expect("local") == c.peer_addr().expect("peer");
    let written = wr(&mut c, b"hi").await;
    let read = rd(&mut c).await;
    format!("connect Ok, local==peer {is_own}, write {written}, read own bytes {read}")
}

const A33: Row = row!(
    "A33",
    "source ports of 200 dials, one after another",
    "no port twice within the burst true, all ports even true",
    source_ports
);
async fn source_ports(place: Place) -> String {
    let (listener, addr) = place.listen().await;
    let mut ports = BTreeSet::new();
    for _ in 0..200 {
        let c = TcpStream::connect(addr).await.expect("connect");
        let (s, from) = place.accept(&listener).await.expect("accept");
        ports.insert(from.port());
        drop(c);
        drop(s);
    }
    let is_even = ports.iter().all(|port| port.is_multiple_of(2));
    format!("no port twice within the burst {}, all ports even {is_even}", ports.len() == 200)
}

const A35: Row = row!(
    "A35",
    "dialing from a port that is in TIME_WAIT on C",
    "bind Ok(()), connect Ok, after 1.2 s Ok",
    time_wait_on_c
)
.slow();
async fn time_wait_on_c(place: Place) -> String {
    let (listener, addr) = place.listen().await;
    let socket = bound_near(&place, place.near_addr()).expect("bind");
    let from = socket.local_addr().expect("local_addr");
    let c = socket.connect(addr).await.expect("connect");
    let (s, _) = place.accept(&listener).await.expect("accept");
    close(c).await;
    close(s).await;
    let again = match bound_near(&place, from) {
        Err(error) => return format!("bind {}", err(&error)),
        Ok(again) => again,
    };
    let at_once = bare(again.connect(addr).await);
    millis(1200).await;
    let later = bound_near(&place, from).expect("bind").connect(addr).await;
    format!("bind Ok(()), connect {at_once}, after 1.2 s {}", bare(later))
}

const A36: Row = row!(
    "A36",
    "dialing from a port that is in TIME_WAIT on S",
    "bind Ok(()), connect Ok",
    time_wait_on_s
);
async fn time_wait_on_s(place: Place) -> String {
    let (listener, addr) = place.listen().await;
    let socket = bound_near(&place, place.near_addr()).expect("bind");
    let from = socket.local_addr().expect("local_addr");
    let c = socket.connect(addr).await.expect("connect");
    let (s, _) = place.accept(&listener).await.expect("accept");
    close(s).await;
    close(c).await;
    let again = match bound_near(&place, from) {
        Err(error) => return format!("bind {}", err(&error)),
        Ok(again) => again,
    };
    let connected = within(again.connect(addr)).await.map_or("pending".into(), bare);
    format!("bind Ok(()), connect {connected}")
}

/// Returns an address of S that nobody listens on.
async fn closed(place: &Place) -> SocketAddr {
    let (listener, addr) = place.listen().await;
    drop(listener);
    addr
}

/// Binds a socket of C, with `SO_REUSEADDR`.
fn bound_near(place: &Place, from: SocketAddr) -> std::io::Result<TcpSocket> {
    let socket = place.socket();
    socket.set_reuseaddr(true)?;
    socket.bind(from)?;
    Ok(socket)
}
