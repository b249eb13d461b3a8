//! Group B, reset: what an RST does to reads, writes and questions, waiting and to come. A reset
//! is made by closing with `SO_LINGER` of 0.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::task::spawn_local;

use super::probe::{
    bare, bytes, close, count, drain, fill, limited, linger0, put, rd, rd_max, reset, settle, text,
    unit, wr,
};
use super::{Place, Row, row};

pub(super) const REQUIRED: &[Row] = &[B15, B16];
pub(super) const FURTHER: &[Row] = &[B18, B19, B20, B24, B27, B32, B34, B35];

const B15: Row = row!(
    "B15",
    "after a reset, reading first",
    "read Err(ConnectionReset, os 104), read Ok(0), write Err(BrokenPipe, os 32)",
    reads_after_reset
);
async fn reads_after_reset(place: Place) -> String {
    let (mut c, s) = place.pair().await;
    reset(s).await;
    format!(
        "read {}, read {}, write {}",
        rd(&mut c).await,
        rd(&mut c).await,
        wr(&mut c, b"x").await
    )
}

const B16: Row = row!(
    "B16",
    "after a reset, writing first",
    "write Err(ConnectionReset, os 104), write Err(BrokenPipe, os 32), read Ok(0)",
    writes_after_reset
);
async fn writes_after_reset(place: Place) -> String {
    let (mut c, s) = place.pair().await;
    reset(s).await;
    format!(
        "write {}, write {}, read {}",
        wr(&mut c, b"x").await,
        wr(&mut c, b"y").await,
        rd(&mut c).await
    )
}

const B18: Row = row!(
    "B18",
    "a reset drops what was not sent, and keeps what had arrived",
    "C got less than was written: true, more than 0: true, then Err(ConnectionReset, os 104)",
    reset_with_unsent_data
);
async fn reset_with_unsent_data(place: Place) -> String {
    let (mut c, s) = place.small_pair().await;
    let written = fill(&s).await;
    reset(s).await;
    let (read, end) = drain(&mut c).await;
    format!(
        "C got less than was written: {}, more than 0: {}, then {end}",
        read < written,
        read > 0
    )
}

const B19: Row =
    row!("B19", "a reset wakes a waiting read", "Err(ConnectionReset, os 104)", reset_wakes_read);
async fn reset_wakes_read(place: Place) -> String {
    let (mut c, s) = place.pair().await;
    let reading = spawn_local(async move { rd(&mut c).await });
    settle().await;
    reset(s).await;
    reading.await.expect("the read")
}

const B20: Row = row!(
    "B20",
    "a reset wakes a waiting write",
    "Err(ConnectionReset, os 104), next write Err(BrokenPipe, os 32)",
    reset_wakes_write
);
async fn reset_wakes_write(place: Place) -> String {
    let (mut c, s) = place.small_pair().await;
    fill(&c).await;
    let writing = spawn_local(async move {
        let first = wr(&mut c, b"x").await;
        format!("{first}, next write {}", wr(&mut c, b"x").await)
    });
    settle().await;
    reset(s).await;
    writing.await.expect("the write")
}

const B24: Row = row!(
    "B24",
    "after a reset, an empty write takes the error",
    "write(\"\") Err(ConnectionReset, os 104), write Err(BrokenPipe, os 32), \
     read(0 bytes) Ok(0), read Ok(0)",
    empty_write_after_reset
);
async fn empty_write_after_reset(place: Place) -> String {
    let (mut c, s) = place.pair().await;
    reset(s).await;
    format!(
        "write(\"\") {}, write {}, read(0 bytes) {}, read {}",
        wr(&mut c, b"").await,
        wr(&mut c, b"x").await,
        rd_max(&mut c, 0).await,
        rd(&mut c).await
    )
}

const B27: Row = row!(
    "B27",
    "addresses and options after a reset",
    "peer_addr Err(NotConnected, os 107), local_addr Ok, nodelay Ok, set_nodelay Ok",
    questions_after_reset
);
async fn questions_after_reset(place: Place) -> String {
    let (c, s) = place.pair().await;
    reset(s).await;
    format!(
        "peer_addr {}, local_addr {}, nodelay {}, set_nodelay {}",
        bare(c.peer_addr()),
        bare(c.local_addr()),
        bare(c.nodelay()),
        bare(c.set_nodelay(true))
    )
}

const B32: Row =
    row!("B32", "write_all after a reset", "Err(ConnectionReset, os 104)", write_all_after_reset);
async fn write_all_after_reset(place: Place) -> String {
    let (mut c, s) = place.pair().await;
    reset(s).await;
    limited(unit, c.write_all(&vec![0; 1 << 20])).await
}

const B34: Row = row!(
    "B34",
    "read_exact that meets an end or a reset",
    "EOF Err(UnexpectedEof, os none) \"early eof\"; \
     RST Err(ConnectionReset, os 104) \"Connection reset by peer (os error 104)\"",
    read_exact_cut_short
);
async fn read_exact_cut_short(place: Place) -> String {
    let mut seen = Vec::new();
    for (how, is_reset) in [("EOF", false), ("RST", true)] {
        let (mut c, mut s) = place.pair().await;
        put(&mut s, b"abc").await;
        settle().await;
        if is_reset {
            linger0(&s);
        }
        close(s).await;
        seen.push(format!("{how} {}", limited(text, c.read_exact(&mut [0; 8])).await));
    }
    seen.join("; ")
}

const B35: Row = row!(
    "B35",
    "read_to_end keeps what came before a reset",
    r#"Err(ConnectionReset, os 104), kept Ok(3 "abc")"#,
    read_to_end_cut_short
);
async fn read_to_end_cut_short(place: Place) -> String {
    let (mut c, mut s) = place.pair().await;
    put(&mut s, b"abc").await;
    settle().await;
    reset(s).await;
    let mut kept = Vec::new();
    let read = limited(count, c.read_to_end(&mut kept)).await;
    format!("{read}, kept {}", bytes(&kept))
}
