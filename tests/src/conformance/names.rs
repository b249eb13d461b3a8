//! Group A, names, and a machine without descriptors. What a name stands for is the machine's own
//! affair, so a row compares what a dial reaches with what a lookup gives.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::fd::{AsFd, OwnedFd};

use tokio::net::{TcpListener, TcpStream, lookup_host};

use super::probe::{err, put, rd, settle, text, within};
use super::{Place, Row, row};

pub(super) const FURTHER: &[Row] = &[A25, A27, A42, A44];

const A25: Row = row!(
    "A25",
    "dialing localhost reaches the addresses that the name has, and no other",
    "127.0.0.1: in the lookup true, reached true; ::1: reached where in the lookup true",
    localhost
);
async fn localhost(place: Place) -> String {
    let (listener, addr) = place.here().listen().await;
    let found: Vec<_> = lookup_host(("localhost", addr.port())).await.expect("lookup").collect();
    let is_found = |ip: IpAddr| found.iter().any(|found| found.ip() == ip);
    let (v4, v6) = (is_found(Ipv4Addr::LOCALHOST.into()), is_found(Ipv6Addr::LOCALHOST.into()));
    let reached = TcpStream::connect(("localhost", addr.port())).await;
    let is_reached = reached.is_ok_and(|c| c.peer_addr().is_ok_and(|peer| peer == addr));
    drop(listener);
    let only_v6 = TcpListener::bind("[::1]:0").await.expect("bind");
    let addr = only_v6.local_addr().expect("local_addr");
    let dialed = TcpStream::connect(("localhost", addr.port())).await;
    let is_right = match dialed {
        Ok(c) => v6 && c.peer_addr().is_ok_and(|peer| peer == addr),
        Err(error) => !v6 && err(&error) == "Err(ConnectionRefused, os 111)",
    };
    format!(
        "127.0.0.1: in the lookup {v4}, reached {is_reached}; \
         ::1: reached where in the lookup {is_right}"
    )
}

const A27: Row = row!(
    "A27",
    "dialing a name that nobody has",
    r#"Err(Uncategorized, os none), "failed to lookup address information: …" true"#,
    unknown_name
);
async fn unknown_name(_place: Place) -> String {
    match TcpStream::connect("no-such-host.invalid:1").await {
        Ok(_) => "Ok".into(),
        Err(error) => {
            let start = "failed to lookup address information: ";
            let is_so = error.to_string().starts_with(start);
            format!("{}, \"{start}…\" {is_so}", err(&error))
        }
    }
}

const A42: Row = row!(
    "A42",
    "dialing a machine by its own name",
    "connect Ok, accept Ok, peer an address of the name true",
    own_name
);
async fn own_name(place: Place) -> String {
    let name = place.name();
    let everywhere = (Ipv4Addr::UNSPECIFIED, 0).into();
    let listener = std::rc::Rc::new(place.bind(everywhere).await.expect("bind"));
    let port = listener.local_addr().expect("local_addr").port();
    let c = match TcpStream::connect((name.as_str(), port)).await {
        Ok(c) => c,
        Err(error) => return format!("connect {}", text::<()>(Err(error))),
    };
    let is_accepted = within(place.accept(&listener)).await.is_some_and(|s| s.is_ok());
    let found: Vec<_> = lookup_host((name.as_str(), port)).await.expect("lookup").collect();
    let is_of_name = c.peer_addr().is_ok_and(|peer| found.contains(&peer));
    let accepted = if is_accepted { "Ok" } else { "pending" };
    format!("connect Ok, accept {accepted}, peer an address of the name {is_of_name}")
}

const A44: Row = row!(
    "A44",
    "accepting with no descriptor left",
    "accept Err(Uncategorized, os 24) \"Too many open files (os error 24)\", again the same true; \
     with some again: accept Ok, read Ok(2 \"go\")",
    no_descriptor_left
);
async fn no_descriptor_left(place: Place) -> String {
    let (listener, addr) = place.listen().await;
    let mut c = TcpStream::connect(addr).await.expect("connect");
    put(&mut c, b"go").await;
    settle().await;
    let limit = place.limit_descriptors();
    let spare = listener.clone();
    let taken = place.far(async move { take_all(&*spare) }).await;
    let [first, again] = [place.accept(&listener).await, place.accept(&listener).await].map(text);
    place.far(async move { drop(taken) }).await;
    drop(limit);
    let accepted = match within(place.accept(&listener)).await {
        None => "pending".into(),
        Some(Err(error)) => err(&error),
        Some(Ok((mut s, _))) => format!("Ok, read {}", rd(&mut s).await),
    };
    let is_same = first == again;
    format!("accept {first}, again the same {is_same}; with some again: accept {accepted}")
}

/// Makes descriptors until there are no more.
fn take_all(of: &impl AsFd) -> Vec<OwnedFd> {
    std::iter::from_fn(|| of.as_fd().try_clone_to_owned().ok()).collect()
}
