//! Group F, silence: an end that hears nothing, for a while or for good. The place says how an
//! end is made deaf. Crashes and stopped processes are not here.

use std::net::TcpStream as StdTcpStream;
use std::time::Duration;

use hostsim::seam::outside::set_syn_count;
use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::{spawn_local, yield_now};
use tokio::time::{Instant, timeout};

use super::probe::{
    PENDING_AFTER, bare, bytes, close, count, err, fill, limited, linger0, millis, put, rd, sd,
    seconds, settle, text, unit, within, wr,
};
use super::{Place, Row, row};

pub(super) const FURTHER: &[Row] =
    &[F01, F02, F03, F03_STD, F04, F05, F06, F08, F09, F11, F12, F13, F19, F20, F21, F22];

const LONG: Duration = Duration::from_secs(10);

const F01: Row = row!(
    "F01",
    "a dial into silence completes by its next SYN after the heal",
    "pending at 0.4 s true, then connect Ok(()) about 1 s after the SYN",
    silent_listener_heals
)
.slow();
async fn silent_listener_heals(place: Place) -> String {
    let (listener, addr) = place.listen().await;
    place.deafen(&*listener);
    let start = Instant::now();
    let dialing = spawn_local(TcpStream::connect(addr));
    millis(400).await;
    let is_pending = !dialing.is_finished();
    place.heal(&*listener);
    let dialed = unit(dialing.await.expect("the dial").map(drop));
    let took = seconds(start.elapsed());
    format!("pending at 0.4 s {is_pending}, then connect {dialed} about {took} after the SYN")
}

const F02: Row = row!(
    "F02",
    "a dial into silence that gives up: TCP_SYNCNT of 1",
    "Err(TimedOut, os 110) \"Connection timed out (os error 110)\" after 3 s",
    silent_listener_gives_up
)
.slow();
async fn silent_listener_gives_up(place: Place) -> String {
    let (listener, addr) = place.listen().await;
    place.deafen(&*listener);
    let socket = place.socket();
    set_syn_count(&socket, 1).expect("TCP_SYNCNT");
    let start = Instant::now();
    let dialed = text(socket.connect(addr).await);
    format!("{dialed} after {}", seconds(start.elapsed()))
}

const F03: Row = row!(
    "F03",
    "a dial into silence with a timeout around it",
    "deadline has elapsed",
    silent_listener_timeout
);
async fn silent_listener_timeout(place: Place) -> String {
    let (listener, addr) = place.listen().await;
    place.deafen(&*listener);
    match timeout(PENDING_AFTER, TcpStream::connect(addr)).await {
        Ok(dialed) => bare(dialed),
        Err(elapsed) => elapsed.to_string(),
    }
}

const F03_STD: Row = row!(
    "F03-std",
    "connect_timeout into silence",
    r#"Err(TimedOut, os none) "connection timed out""#,
    silent_listener_connect_timeout
);
async fn silent_listener_connect_timeout(place: Place) -> String {
    let (listener, addr) = place.listen().await;
    place.deafen(&*listener);
    text(StdTcpStream::connect_timeout(&addr, PENDING_AFTER))
}

const F04: Row = row!(
    "F04",
    "a dial given up in silence leaves nothing",
    "timed out true, accept pending",
    silent_listener_dial_dropped
)
.slow();
async fn silent_listener_dial_dropped(place: Place) -> String {
    let (listener, addr) = place.listen().await;
    place.deafen(&*listener);
    let is_timed_out = within(TcpStream::connect(addr)).await.is_none();
    place.heal(&*listener);
    millis(1200).await;
    let accepted = limited(bare, place.accept(&listener)).await;
    format!("timed out {is_timed_out}, accept {accepted}")
}

const F05: Row = row!(
    "F05",
    "a silent peer: writes succeed, reads wait",
    "writes Ok(1), Ok(1), Ok(1), read pending, shutdown Ok(()), peer_addr Ok",
    silent_peer
);
async fn silent_peer(place: Place) -> String {
    let (mut c, s) = place.pair().await;
    place.deafen(&s);
    let mut writes = Vec::new();
    for _ in 0..3 {
        writes.push(wr(&mut c, b"x").await);
        settle().await;
    }
    format!(
        "writes {}, read {}, shutdown {}, peer_addr {}",
        writes.join(", "),
        rd(&mut c).await,
        sd(&mut c).await,
        bare(c.peer_addr())
    )
}

const F06: Row = row!(
    "F06",
    "a silent peer: writes wait once the buffer is full",
    "a bounded amount true, then write pending",
    silent_peer_fills
);
async fn silent_peer_fills(place: Place) -> String {
    let (mut c, s) = place.small_pair().await;
    place.deafen(&s);
    let written = fill(&c).await;
    let is_bounded = written > 0 && written < 256 << 10;
    format!("a bounded amount {is_bounded}, then write {}", wr(&mut c, b"x").await)
}

const F08: Row = row!(
    "F08",
    "a one-way partition: the peer hears us, we do not hear it",
    r#"S read Ok(4 "ping"), S write Ok(4), C read pending, after the heal Ok(4 "pong")"#,
    one_way_partition
);
async fn one_way_partition(place: Place) -> String {
    let (mut c, mut s) = place.pair().await;
    place.deafen(&c);
    put(&mut c, b"ping").await;
    settle().await;
    let read = rd(&mut s).await;
    let written = wr(&mut s, b"pong").await;
    let held = rd(&mut c).await;
    place.heal(&c);
    let healed = read_for_long(&mut c).await;
    format!("S read {read}, S write {written}, C read {held}, after the heal {healed}")
}

const F09: Row = row!(
    "F09",
    "a FIN that is held comes after the heal",
    "held: read pending, after the heal Ok(0)",
    held_fin
);
async fn held_fin(place: Place) -> String {
    let (mut c, s) = place.pair().await;
    place.deafen(&c);
    close(s).await;
    let held = rd(&mut c).await;
    place.heal(&c);
    format!("held: read {held}, after the heal {}", read_for_long(&mut c).await)
}

const F11: Row = row!(
    "F11",
    "keepalive finds a silent peer: idle 1 s, 2 probes 1 s apart",
    "Err(TimedOut, os 110) \"Connection timed out (os error 110)\" after 3 s; \
     then read Ok(0), write Err(BrokenPipe, os 32)",
    keepalive
)
.slow();
async fn keepalive(place: Place) -> String {
    let second = Duration::from_secs(1);
    let (mut c, s) = place.pair().await;
    let probes = TcpKeepalive::new().with_time(second).with_interval(second).with_retries(2);
    SockRef::from(&c).set_tcp_keepalive(&probes).expect("SO_KEEPALIVE");
    place.deafen(&s);
    let start = Instant::now();
    let found = text(c.read(&mut [0; 8]).await);
    let took = seconds(start.elapsed());
    format!(
        "{found} after {took}; then read {}, write {}",
        rd(&mut c).await,
        wr(&mut c, b"x").await
    )
}

const F12: Row = row!(
    "F12",
    "TCP_USER_TIMEOUT of 1 s with data not acknowledged",
    "Err(TimedOut, os 110) after about 1 s; then write Err(BrokenPipe, os 32)",
    user_timeout
)
.slow();
async fn user_timeout(place: Place) -> String {
    let (mut c, s) = place.pair().await;
    let limit = Some(Duration::from_secs(1));
    SockRef::from(&c).set_tcp_user_timeout(limit).expect("TCP_USER_TIMEOUT");
    place.deafen(&s);
    put(&mut c, b"x").await;
    let start = Instant::now();
    let read = count(c.read(&mut [0; 8]).await);
    let took = seconds(start.elapsed());
    format!("{read} after about {took}; then write {}", wr(&mut c, b"x").await)
}

const F13: Row = row!(
    "F13",
    "an idle connection to a silent peer, no keepalive, says nothing",
    "pending for 5 s",
    idle_and_silent
)
.slow();
async fn idle_and_silent(place: Place) -> String {
    let (mut c, s) = place.pair().await;
    place.deafen(&s);
    let read = timeout(Duration::from_secs(5), c.read(&mut [0; 8])).await;
    read.map_or("pending for 5 s".into(), count)
}

const F19: Row = row!(
    "F19",
    "after 3 s of silence the next retransmission delivers, then all is quick",
    "S read Ok(1) within 2 s of the heal true, a new write at once true",
    long_silence_heals
)
.slow();
async fn long_silence_heals(place: Place) -> String {
    let (mut c, mut s) = place.pair().await;
    place.deafen(&s);
    put(&mut c, b"x").await;
    millis(3000).await;
    place.heal(&s);
    let start = Instant::now();
    let first = count(s.read(&mut [0; 8]).await);
    let is_soon = start.elapsed() < Duration::from_secs(2);
    c.write_all(b"y").await.expect("write_all");
    let is_at_once = within(s.read(&mut [0; 8])).await.is_some();
    format!("S read {first} within 2 s of the heal {is_soon}, a new write at once {is_at_once}")
}

const F20: Row = row!(
    "F20",
    "after a heal a new write queues behind the retransmission",
    r#"S has Ok(2 "xy") within 2 s of the heal true"#,
    write_behind_retransmission
)
.slow();
async fn write_behind_retransmission(place: Place) -> String {
    let (mut c, mut s) = place.pair().await;
    place.deafen(&s);
    put(&mut c, b"x").await;
    millis(1500).await;
    place.heal(&s);
    put(&mut c, b"y").await;
    let start = Instant::now();
    let mut both = [0; 2];
    let read = timeout(LONG, s.read_exact(&mut both)).await;
    let is_soon = start.elapsed() < Duration::from_secs(2);
    match read {
        Ok(Ok(_)) => format!("S has {} within 2 s of the heal {is_soon}", bytes(&both)),
        Ok(Err(error)) => err(&error),
        Err(_) => "pending".into(),
    }
}

const F21: Row = row!(
    "F21",
    "closing with SO_LINGER of 1 s and a silent peer stops the thread",
    "drop took about 1 s",
    lingering_close
)
.slow();
async fn lingering_close(place: Place) -> String {
    let (mut c, s) = place.pair().await;
    place.deafen(&s);
    put(&mut c, b"x").await;
    SockRef::from(&c).set_linger(Some(Duration::from_secs(1))).expect("SO_LINGER");
    let start = Instant::now();
    drop(c);
    format!("drop took about {}", seconds(start.elapsed()))
}

const F22: Row = row!(
    "F22",
    "100 dials to a listener that resets each",
    "100 of 100: connect Ok, read Err(ConnectionReset, os 104)",
    reset_storm
);
async fn reset_storm(place: Place) -> String {
    let (listener, addr) = place.listen().await;
    let serving = place.clone();
    let server = spawn_local(async move {
        while let Ok((s, _)) = serving.accept(&listener).await {
            linger0(&s);
            // Both ends wake at once on loopback: C's dial is to be polled before it is reset.
            yield_now().await;
        }
    });
    let mut seen = Vec::new();
    for _ in 0..100 {
        seen.push(match TcpStream::connect(addr).await {
            Ok(mut c) => format!("connect Ok, read {}", rd(&mut c).await),
            Err(error) => format!("connect {}", err(&error)),
        });
    }
    server.abort();
    let first = seen[0].clone();
    let same_count = seen.iter().filter(|one| **one == first).count();
    format!("{same_count} of {}: {first}", seen.len())
}

async fn read_for_long(end: &mut TcpStream) -> String {
    let mut buffer = [0; 8];
    match timeout(LONG, end.read(&mut buffer)).await {
        Ok(Ok(n)) => bytes(&buffer[..n]),
        Ok(Err(error)) => err(&error),
        Err(_) => "pending".into(),
    }
}
