//! Group B, closing in order: FIN, unread data, and what each end may still do. What a reset
//! looks like is in `reset`.

use std::io::{Read, Write};

use tokio::io::AsyncWriteExt;

use super::probe::{bare, close, count, drain, err, fill, put, rd, sd, settle, unit, within, wr};
use super::{Place, Row, row};

pub(super) const REQUIRED: &[Row] = &[B01, B05, B07, B09, B11];
pub(super) const FURTHER: &[Row] =
    &[B02, B03, B04, B08, B12, B13, B14, B22, B23, B26, B29, B30, B31, B33];

const B01: Row = row!(
    "B01",
    "writing after the peer closed: the first write draws the RST",
    "write Ok(3), after the RST: write Err(BrokenPipe, os 32), write Err(BrokenPipe, os 32), \
     read Ok(0), read Ok(0)",
    writes_after_close
);
async fn writes_after_close(place: Place) -> String {
    let (mut c, s) = place.pair().await;
    close(s).await;
    let first = wr(&mut c, b"one").await;
    settle().await;
    format!(
        "write {first}, after the RST: write {}, write {}, read {}, read {}",
        wr(&mut c, b"two").await,
        wr(&mut c, b"three").await,
        rd(&mut c).await,
        rd(&mut c).await
    )
}

const B02: Row = row!(
    "B02",
    "writing after the peer closed, std",
    "write Ok(3), after the RST: write Err(BrokenPipe, os 32), read Ok(0)",
    writes_after_close_std
);
async fn writes_after_close_std(place: Place) -> String {
    let (mut c, s) = place.std_pair().await;
    close(s).await;
    let first = count(c.write(b"one"));
    settle().await;
    format!(
        "write {first}, after the RST: write {}, read {}",
        count(c.write(b"two")),
        count(c.read(&mut [0; 8]))
    )
}

const B03: Row = row!(
    "B03",
    "reading after a write drew the RST",
    "write Ok(3), read Ok(0), read Ok(0), write Err(BrokenPipe, os 32)",
    reads_after_rst
);
async fn reads_after_rst(place: Place) -> String {
    let (mut c, s) = place.pair().await;
    close(s).await;
    let first = wr(&mut c, b"one").await;
    settle().await;
    format!(
        "write {first}, read {}, read {}, write {}",
        rd(&mut c).await,
        rd(&mut c).await,
        wr(&mut c, b"x").await
    )
}

const B04: Row = row!(
    "B04",
    "two writes after the peer closed, with no yield between",
    "try_write Ok(3), try_write Err(BrokenPipe, os 32)",
    two_writes_at_once
);
async fn two_writes_at_once(place: Place) -> String {
    let (c, s) = place.pair().await;
    close(s).await;
    let (first, second) = (c.try_write(b"one"), c.try_write(b"two"));
    format!("try_write {}, try_write {}", count(first), count(second))
}

const B05: Row = row!(
    "B05",
    "reading after the peer wrote and closed",
    r#"Ok(3 "bye"), Ok(0), Ok(0), Ok(0)"#,
    reads_after_close
);
async fn reads_after_close(place: Place) -> String {
    let (mut c, mut s) = place.pair().await;
    put(&mut s, b"bye").await;
    close(s).await;
    let mut seen = Vec::new();
    for _ in 0..4 {
        seen.push(rd(&mut c).await);
    }
    seen.join(", ")
}

const B07: Row = row!(
    "B07",
    "closing with unread data resets, after what was sent before",
    "read Ok(4 \"resp\"), read Err(ConnectionReset, os 104), read Ok(0), \
     write Err(BrokenPipe, os 32)",
    close_with_unread_data
);
async fn close_with_unread_data(place: Place) -> String {
    let (mut c, mut s) = place.pair().await;
    put(&mut c, b"req").await;
    settle().await;
    put(&mut s, b"resp").await;
    close(s).await;
    format!(
        "read {}, read {}, read {}, write {}",
        rd(&mut c).await,
        rd(&mut c).await,
        rd(&mut c).await,
        wr(&mut c, b"x").await
    )
}

const B08: Row = row!(
    "B08",
    "closing with unread data resets, std",
    "read Ok(4), read Err(ConnectionReset, os 104), read Ok(0)",
    close_with_unread_data_std
);
async fn close_with_unread_data_std(place: Place) -> String {
    let (mut c, mut s) = place.std_pair().await;
    c.write_all(b"req").expect("write_all");
    settle().await;
    s.write_all(b"resp").expect("write_all");
    close(s).await;
    let mut read = || count(c.read(&mut [0; 8]));
    format!("read {}, read {}, read {}", read(), read(), read())
}

const B09: Row = row!(
    "B09",
    "closing with unread data resets, and the peer writes first",
    "write Err(ConnectionReset, os 104), write Err(BrokenPipe, os 32), read Ok(0), read Ok(0)",
    close_with_unread_data_then_writes
);
async fn close_with_unread_data_then_writes(place: Place) -> String {
    let (mut c, s) = place.pair().await;
    put(&mut c, b"req").await;
    settle().await;
    close(s).await;
    format!(
        "write {}, write {}, read {}, read {}",
        wr(&mut c, b"x").await,
        wr(&mut c, b"y").await,
        rd(&mut c).await,
        rd(&mut c).await
    )
}

const B11: Row = row!(
    "B11",
    "closing with nothing unread still delivers what was not sent",
    "C got everything written: true, then Ok(0)",
    close_delivers_the_rest
);
async fn close_delivers_the_rest(place: Place) -> String {
    let (mut c, s) = place.small_pair().await;
    let written = fill(&s).await;
    close(s).await;
    let (read, end) = drain(&mut c).await;
    format!("C got everything written: {}, then {end}", read == written)
}

const B12: Row = row!(
    "B12",
    "closing after reading all is no reset",
    r#"S read Ok(3 "req"), C read Ok(0)"#,
    close_after_reading_all
);
async fn close_after_reading_all(place: Place) -> String {
    let (mut c, mut s) = place.pair().await;
    put(&mut c, b"req").await;
    let read = rd(&mut s).await;
    close(s).await;
    format!("S read {read}, C read {}", rd(&mut c).await)
}

const B13: Row = row!(
    "B13",
    "closing with only a FIN unread is no reset",
    "C read Ok(0)",
    close_with_unread_fin
);
async fn close_with_unread_fin(place: Place) -> String {
    let (mut c, s) = place.pair().await;
    sd(&mut c).await;
    settle().await;
    close(s).await;
    format!("C read {}", rd(&mut c).await)
}

const B14: Row = row!(
    "B14",
    "data that arrives after the close draws an RST, held as the socket's error",
    "take_error Err(BrokenPipe, os 32), read Ok(0)",
    late_data_draws_rst
);
async fn late_data_draws_rst(place: Place) -> String {
    let (mut c, s) = place.pair().await;
    close(s).await;
    put(&mut c, b"x").await;
    settle().await;
    let error = c.take_error().expect("take_error");
    let error = error.map_or("none".into(), |error| err(&error));
    format!("take_error {error}, read {}", rd(&mut c).await)
}

const B22: Row = row!(
    "B22",
    "the peer closes, our data unread, while a write waits",
    "Err(ConnectionReset, os 104)",
    close_under_waiting_write
);
async fn close_under_waiting_write(place: Place) -> String {
    let (mut c, s) = place.small_pair().await;
    fill(&c).await;
    let writing = tokio::task::spawn_local(async move { wr(&mut c, b"x").await });
    settle().await;
    drop(s);
    writing.await.expect("the write")
}

const B23: Row = row!(
    "B23",
    "the peer only half-closes while a write waits",
    "write pending, read Ok(0)",
    half_close_under_waiting_write
);
async fn half_close_under_waiting_write(place: Place) -> String {
    let (mut c, mut s) = place.small_pair().await;
    fill(&c).await;
    sd(&mut s).await;
    settle().await;
    format!("write {}, read {}", wr(&mut c, b"x").await, rd(&mut c).await)
}

const B26: Row = row!(
    "B26",
    "addresses after the peer closed",
    "peer_addr Ok, local_addr Ok; after EOF peer_addr Ok",
    addresses_after_close
);
async fn addresses_after_close(place: Place) -> String {
    let (mut c, s) = place.pair().await;
    close(s).await;
    let (peer, local) = (bare(c.peer_addr()), bare(c.local_addr()));
    rd(&mut c).await;
    format!("peer_addr {peer}, local_addr {local}; after EOF peer_addr {}", bare(c.peer_addr()))
}

const B29: Row = row!(
    "B29",
    "C has shut down, S closes with data unread",
    r#"C read Ok(1 "y"), Err(ConnectionReset, os 104), Ok(0)"#,
    close_with_unread_data_and_fin
);
async fn close_with_unread_data_and_fin(place: Place) -> String {
    let (mut c, mut s) = place.pair().await;
    put(&mut c, b"x").await;
    put(&mut s, b"y").await;
    sd(&mut c).await;
    settle().await;
    close(s).await;
    format!("C read {}, {}, {}", rd(&mut c).await, rd(&mut c).await, rd(&mut c).await)
}

const B30: Row = row!(
    "B30",
    "a duplicate of the descriptor keeps the connection open",
    "first dropped: read Err(WouldBlock, os 11), second dropped: read Ok(0)",
    duplicate_keeps_open
);
async fn duplicate_keeps_open(place: Place) -> String {
    let (c, mut s) = place.std_pair().await;
    let duplicate = c.try_clone().expect("try_clone");
    close(c).await;
    let first = count(s.read(&mut [0; 8]));
    close(duplicate).await;
    let second = count(s.read(&mut [0; 8]));
    format!("first dropped: read {first}, second dropped: read {second}")
}

const B31: Row = row!(
    "B31",
    "a read that is dropped loses no data",
    r#"first pending, second Ok(4 "late")"#,
    read_is_cancel_safe
);
async fn read_is_cancel_safe(place: Place) -> String {
    let (mut c, mut s) = place.pair().await;
    let first = rd(&mut c).await;
    put(&mut s, b"late").await;
    settle().await;
    format!("first {first}, second {}", rd(&mut c).await)
}

const B33: Row = row!(
    "B33",
    "write_all of 1 MiB after the peer closed",
    "Err(BrokenPipe, os 32)",
    write_all_after_close
);
async fn write_all_after_close(place: Place) -> String {
    let (mut c, s) = place.pair().await;
    close(s).await;
    within(c.write_all(&vec![0; 1 << 20])).await.map_or("pending".into(), unit)
}
