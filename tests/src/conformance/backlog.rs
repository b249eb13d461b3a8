//! Group A, listening: the queue of connections not yet accepted, and listeners that go away.

use std::net::{SocketAddr, TcpListener as StdTcpListener, TcpStream as StdTcpStream};
use std::time::Duration;

use socket2::SockRef;
use tokio::net::TcpStream;
use tokio::task::spawn_local;
use tokio::time::{Instant, timeout};

use super::probe::{
    bare, close, err, limited, millis, put, rd, seconds, settle, text, unit, within, wr,
};
use super::{Place, Row, row};

pub(super) const REQUIRED: &[Row] = &[A13];
pub(super) const FURTHER: &[Row] = &[A07, A08, A09, A10, A11, A14, A37, A38, A39, A41, A43];

const A07: Row = row!(
    "A07",
    "an accept that is dropped loses no connection",
    "first pending true, then Ok",
    accept_is_cancel_safe
);
async fn accept_is_cancel_safe(place: Place) -> String {
    let (listener, addr) = place.listen().await;
    let is_pending = within(place.accept(&listener)).await.is_none();
    let _c = TcpStream::connect(addr).await.expect("connect");
    let then = limited(bare, place.accept(&listener)).await;
    format!("first pending {is_pending}, then {then}")
}

const A08: Row = row!(
    "A08",
    "a backlog of b holds b+1 connections",
    "completed b=0: 1, b=1: 2, b=2: 3, b=4: 5, b=8: 9, each then pending",
    backlog_holds_one_more
);
async fn backlog_holds_one_more(place: Place) -> String {
    let mut seen = Vec::new();
    for backlog in [0, 1, 2, 4, 8] {
        let (_listener, addr) = place.backlog(backlog).await;
        seen.push(format!("b={backlog}: {}", dials_until_pending(addr).await));
    }
    format!("completed {}, each then pending", seen.join(", "))
}

async fn dials_until_pending(addr: SocketAddr) -> String {
    let mut completed = Vec::new();
    while completed.len() < 256 {
        match within(TcpStream::connect(addr)).await {
            None => return completed.len().to_string(),
            Some(Ok(c)) => completed.push(c),
            Some(Err(error)) => return err(&error),
        }
    }
    "no end".into()
}

const A09: Row = row!(
    "A09",
    "a dial that met a full backlog completes by its next SYN",
    "third connect Ok(()) about 1 s after its SYN (accepted at 0.3 s)",
    full_backlog_then_accept
)
.slow();
async fn full_backlog_then_accept(place: Place) -> String {
    let (listener, addr) = place.backlog(1).await;
    let _first = TcpStream::connect(addr).await.expect("connect");
    let _second = TcpStream::connect(addr).await.expect("connect");
    let third = spawn_local(timed_dial(addr));
    millis(300).await;
    let _accepted = place.accept(&listener).await.expect("accept");
    let (third, took) = third.await.expect("the third");
    format!("third connect {third} about {} after its SYN (accepted at 0.3 s)", seconds(took))
}

const A10: Row = row!(
    "A10",
    "connect_timeout at a full backlog",
    r#"Err(TimedOut, os none) "connection timed out""#,
    full_backlog_connect_timeout
);
async fn full_backlog_connect_timeout(place: Place) -> String {
    let (_listener, addr) = place.backlog(0).await;
    let _first = TcpStream::connect(addr).await.expect("connect");
    text(StdTcpStream::connect_timeout(&addr, Duration::from_millis(200)))
}

const A11: Row = row!(
    "A11",
    "a dial given up at a full backlog never reaches S",
    "2nd timed out true, accept 1 Ok, accept 2 pending for 1.5 s",
    full_backlog_dial_dropped
)
.slow();
async fn full_backlog_dial_dropped(place: Place) -> String {
    let (listener, addr) = place.backlog(0).await;
    let _first = TcpStream::connect(addr).await.expect("connect");
    let is_timed_out = within(TcpStream::connect(addr)).await.is_none();
    let first = bare(place.accept(&listener).await);
    let second = timeout(Duration::from_millis(1500), place.accept(&listener)).await;
    let second = second.map_or("pending for 1.5 s".into(), bare);
    format!("2nd timed out {is_timed_out}, accept 1 {first}, accept 2 {second}")
}

const A13: Row = row!(
    "A13",
    "a listener that goes resets what it has not accepted",
    "C1 read Err(ConnectionReset, os 104), read Ok(0), write Err(BrokenPipe, os 32); \
     C2 write Err(ConnectionReset, os 104), read Ok(0), read Ok(0)",
    listener_drop_resets_queued
);
async fn listener_drop_resets_queued(place: Place) -> String {
    let (listener, addr) = place.listen().await;
    let mut c1 = TcpStream::connect(addr).await.expect("connect");
    let mut c2 = TcpStream::connect(addr).await.expect("connect");
    put(&mut c1, b"hi").await;
    settle().await;
    close(listener).await;
    format!(
        "C1 read {}, read {}, write {}; C2 write {}, read {}, read {}",
        rd(&mut c1).await,
        rd(&mut c1).await,
        wr(&mut c1, b"x").await,
        wr(&mut c2, b"x").await,
        rd(&mut c2).await,
        rd(&mut c2).await
    )
}

const A14: Row = row!(
    "A14",
    "a listener that goes leaves what it has accepted",
    r#"S read Ok(4 "ping"), C read Ok(4 "pong")"#,
    listener_drop_keeps_accepted
);
async fn listener_drop_keeps_accepted(place: Place) -> String {
    let (listener, addr) = place.listen().await;
    let mut c = TcpStream::connect(addr).await.expect("connect");
    let (mut s, _) = place.accept(&listener).await.expect("accept");
    close(listener).await;
    put(&mut c, b"ping").await;
    let by_s = rd(&mut s).await;
    put(&mut s, b"pong").await;
    format!("S read {by_s}, C read {}", rd(&mut c).await)
}

const A37: Row = row!(
    "A37",
    "shutting a listening socket down",
    "pending accept Err(InvalidInput, os 22), dial Err(ConnectionRefused, os 111)",
    listener_shutdown
);
async fn listener_shutdown(place: Place) -> String {
    let (listener, addr) = place.listen().await;
    let accepting = {
        let (place, listener) = (place.clone(), listener.clone());
        spawn_local(async move { bare(place.accept(&listener).await) })
    };
    settle().await;
    SockRef::from(&*listener).shutdown(std::net::Shutdown::Both).expect("shutdown");
    let accepted = within(accepting).await.map_or("pending".into(), |done| done.expect("accept"));
    format!("pending accept {accepted}, dial {}", bare(TcpStream::connect(addr).await))
}

const A38: Row = row!(
    "A38",
    "accepting with nothing queued",
    "std Err(WouldBlock, os 11), tokio pending",
    nothing_queued
);
async fn nothing_queued(place: Place) -> String {
    let any = place.far_addr(0);
    let by_std = place.far(async move {
        let listener = StdTcpListener::bind(any)?;
        listener.set_nonblocking(true)?;
        listener.accept()
    });
    let by_std = bare(by_std.await);
    let (listener, _) = place.listen().await;
    format!("std {by_std}, tokio {}", limited(bare, place.accept(&listener)).await)
}

const A39: Row = row!(
    "A39",
    "an accepted stream inherits the listener's TCP_NODELAY",
    "default C false, S false, inherited true",
    inherited_nodelay
);
async fn inherited_nodelay(place: Place) -> String {
    let (listener, addr) = place.listen().await;
    let c = TcpStream::connect(addr).await.expect("connect");
    let (s, _) = place.accept(&listener).await.expect("accept");
    SockRef::from(&*listener).set_tcp_nodelay(true).expect("TCP_NODELAY");
    let _c2 = TcpStream::connect(addr).await.expect("connect");
    let (s2, _) = place.accept(&listener).await.expect("accept");
    let [c, s, s2] = [c, s, s2].map(|end| end.nodelay().expect("nodelay"));
    format!("default C {c}, S {s}, inherited {s2}")
}

const A41: Row = row!(
    "A41",
    "a dial waits at a full backlog and the listener goes",
    "C2 connect Err(ConnectionRefused, os 111) about 1 s after its SYN (gone at 0.3 s), \
     C1 read Err(ConnectionReset, os 104)",
    full_backlog_then_listener_drop
)
.slow();
async fn full_backlog_then_listener_drop(place: Place) -> String {
    let (listener, addr) = place.backlog(0).await;
    let mut c1 = TcpStream::connect(addr).await.expect("connect");
    let second = spawn_local(timed_dial(addr));
    millis(300).await;
    drop(listener);
    let (second, took) = second.await.expect("the second");
    format!(
        "C2 connect {second} about {} after its SYN (gone at 0.3 s), C1 read {}",
        seconds(took),
        rd(&mut c1).await
    )
}

const A43: Row = row!(
    "A43",
    "the backlog when none is asked for, told by how many dials complete",
    "tokio 129, std 129, then pending",
    default_backlog
);
async fn default_backlog(place: Place) -> String {
    let (_listener, addr) = place.listen().await;
    let by_tokio = dials_until_pending(addr).await;
    let any = place.far_addr(0);
    let listener = place.far(async move { StdTcpListener::bind(any) }).await.expect("bind");
    let by_std = dials_until_pending(listener.local_addr().expect("local_addr")).await;
    format!("tokio {by_tokio}, std {by_std}, then pending")
}

async fn timed_dial(addr: SocketAddr) -> (String, Duration) {
    let start = Instant::now();
    let dialed = TcpStream::connect(addr).await;
    (unit(dialed.map(drop)), start.elapsed())
}
