//! Group A, addresses: what may be bound beside what, and what can be dialed at it.

use std::io;
use std::net::{SocketAddr, TcpListener as StdTcpListener};

use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::{TcpListener, TcpStream};

use super::probe::{bare, err, text, unit};
use super::{Place, Row, row};

pub(super) const FURTHER: &[Row] = &[A15, A16, A17, A18, A19, A20, A22, A23, A24];

const A15: Row = row!(
    "A15",
    "binding port 0 chooses a port",
    "nonzero true, different true, in 32768..=60999 true",
    port_zero
);
async fn port_zero(place: Place) -> String {
    let (_first, first) = place.listen().await;
    let any = place.far_addr(0);
    let second = place.far(async move { StdTcpListener::bind(any) }).await.expect("bind");
    let second = second.local_addr().expect("local_addr");
    let (first, second) = (first.port(), second.port());
    let is_in_range = [first, second].iter().all(|port| (32768..=60999).contains(port));
    format!(
        "nonzero {}, different {}, in 32768..=60999 {is_in_range}",
        first != 0 && second != 0,
        first != second
    )
}

const A16: Row = row!(
    "A16",
    "binding a port that is listened on",
    "tokio Err(AddrInUse, os 98) \"Address already in use (os error 98)\", \
     std Err(AddrInUse, os 98)",
    port_in_use
);
async fn port_in_use(place: Place) -> String {
    let (_listener, addr) = place.listen().await;
    let by_tokio = text(place.bind(addr).await);
    let by_std = place.far(async move { StdTcpListener::bind(addr) }).await;
    format!("tokio {by_tokio}, std {}", bare(by_std))
}

const A17: Row =
    row!("A17", "two listeners on one port with SO_REUSEPORT", "second Ok", reuse_port);
async fn reuse_port(place: Place) -> String {
    let first = listen_reusing_port(&place, place.far_addr(0)).await.expect("listen");
    let addr = first.local_addr().expect("local_addr");
    format!("second {}", bare(listen_reusing_port(&place, addr).await))
}

const A18: Row = row!(
    "A18",
    "which addresses exclude each other on one port",
    "127.0.0.1 then 0.0.0.0: Err(AddrInUse, os 98); 127.0.0.1 then 127.0.0.2: Ok; \
     127.0.0.1 then [::1]: Ok; 127.0.0.1 then [::]: Err(AddrInUse, os 98); \
     0.0.0.0 then 127.0.0.1: Err(AddrInUse, os 98); 0.0.0.0 then [::]: Err(AddrInUse, os 98)",
    bind_conflicts
);
async fn bind_conflicts(_: Place) -> String {
    let tries = [
        ("127.0.0.1", ["0.0.0.0", "127.0.0.2", "[::1]", "[::]"].as_slice()),
        ("0.0.0.0", ["127.0.0.1", "[::]"].as_slice()),
    ];
    let mut seen = Vec::new();
    for (first, others) in tries {
        let listener = TcpListener::bind(format!("{first}:0")).await.expect("bind");
        let port = listener.local_addr().expect("local_addr").port();
        for other in others {
            let bound = bare(TcpListener::bind(format!("{other}:{port}")).await);
            seen.push(format!("{first} then {other}: {bound}"));
        }
    }
    seen.join("; ")
}

const A19: Row = row!(
    "A19",
    "binding a port again right after its listener went, no connections",
    "Ok",
    rebind_unused
);
async fn rebind_unused(place: Place) -> String {
    let (listener, addr) = place.listen().await;
    drop(listener);
    bare(place.bind(addr).await)
}

const A20: Row = row!(
    "A20",
    "binding a port again while an accepted connection lives",
    "without SO_REUSEADDR Err(AddrInUse, os 98), with it (tokio's default) Ok",
    rebind_used
);
async fn rebind_used(place: Place) -> String {
    let (listener, addr) = place.listen().await;
    let _c = TcpStream::connect(addr).await.expect("connect");
    let _s = place.accept(&listener).await.expect("accept");
    drop(listener);
    let without = place.far(async move {
        let socket = Socket::new(Domain::for_address(addr), Type::STREAM, Some(Protocol::TCP))?;
        socket.bind(&addr.into())
    });
    let without = unit(without.await);
    let with = bare(place.bind(addr).await);
    format!("without SO_REUSEADDR {without}, with it (tokio's default) {with}")
}

const A22: Row = row!(
    "A22",
    "binding an address that the host does not have",
    r#"Err(AddrNotAvailable, os 99) "Cannot assign requested address (os error 99)""#,
    foreign_address
);
async fn foreign_address(place: Place) -> String {
    text(place.bind(SocketAddr::from(([203, 0, 113, 7], 0))).await)
}

const A23: Row = row!(
    "A23",
    "what reaches a listener on 127.0.0.1",
    "127.0.0.1: local 127.0.0.1 peer 127.0.0.1; 127.0.0.2: Err(ConnectionRefused, os 111); \
     0.0.0.0: local 127.0.0.1 peer 127.0.0.1; [::1]: Err(ConnectionRefused, os 111); \
     [::ffff:127.0.0.1]: local ::ffff:127.0.0.1 peer ::ffff:127.0.0.1",
    dial_across_loopback
);
async fn dial_across_loopback(place: Place) -> String {
    let place = place.here();
    let (listener, addr) = place.listen().await;
    let mut seen = Vec::new();
    for host in ["127.0.0.1", "127.0.0.2", "0.0.0.0", "[::1]", "[::ffff:127.0.0.1]"] {
        let dialed = TcpStream::connect(format!("{host}:{}", addr.port())).await;
        if dialed.is_ok() {
            place.accept(&listener).await.expect("accept");
        }
        let ends = dialed.and_then(|c| Ok((c.local_addr()?.ip(), c.peer_addr()?.ip())));
        seen.push(match ends {
            Ok((local, peer)) => format!("{host}: local {local} peer {peer}"),
            Err(error) => format!("{host}: {}", err(&error)),
        });
    }
    seen.join("; ")
}

const A24: Row = row!(
    "A24",
    "what reaches a listener on every address, and how S names the ends",
    "0.0.0.0 at 127.0.0.1: S peer 127.0.0.1 local 127.0.0.1; \
     0.0.0.0 at 127.0.0.2: S peer 127.0.0.1 local 127.0.0.2; \
     0.0.0.0 at [::1]: Err(ConnectionRefused, os 111); \
     [::] at 127.0.0.1: S peer ::ffff:127.0.0.1 local ::ffff:127.0.0.1; \
     [::] at [::1]: S peer ::1 local ::1",
    dial_wildcard
);
async fn dial_wildcard(_: Place) -> String {
    let tries = [
        ("0.0.0.0", ["127.0.0.1", "127.0.0.2", "[::1]"].as_slice()),
        ("[::]", ["127.0.0.1", "[::1]"].as_slice()),
    ];
    let mut seen = Vec::new();
    for (bound, hosts) in tries {
        let listener = TcpListener::bind(format!("{bound}:0")).await.expect("bind");
        for host in hosts {
            let ends = ends_seen_by_s(&listener, host).await;
            seen.push(format!("{bound} at {host}: {}", ends.unwrap_or_else(|error| err(&error))));
        }
    }
    seen.join("; ")
}

async fn ends_seen_by_s(listener: &TcpListener, host: &str) -> io::Result<String> {
    let port = listener.local_addr()?.port();
    let _c = TcpStream::connect(format!("{host}:{port}")).await?;
    let (s, peer) = listener.accept().await?;
    Ok(format!("S peer {} local {}", peer.ip(), s.local_addr()?.ip()))
}

async fn listen_reusing_port(place: &Place, addr: SocketAddr) -> io::Result<TcpListener> {
    let on_s = place.clone();
    let listening = place.far(async move {
        let socket = on_s.socket();
        socket.set_reuseport(true)?;
        socket.bind(addr)?;
        socket.listen(16)
    });
    listening.await
}
