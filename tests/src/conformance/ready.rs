//! Group D, readiness: calls that may have nothing to do, and how a program is told when they do.

use std::io::{Read, Write};
use std::time::Duration;

use super::probe::{close, count, fill, limited, put, rd, rd_max, reset, settle, text, unit, wr};
use super::{Place, Row, row};

pub(super) const REQUIRED: &[Row] = &[D12];
pub(super) const FURTHER: &[Row] = &[D01, D02, D07, D08, D09, D09_STD, D10];

const D01: Row = row!(
    "D01",
    "empty writes and reads on an idle connection, tokio",
    "write Ok(0), read pending, try_write Ok(0), try_read Err(WouldBlock, os none)",
    empty_calls
);
async fn empty_calls(place: Place) -> String {
    let (mut c, _s) = place.pair().await;
    format!(
        "write {}, read {}, try_write {}, try_read {}",
        wr(&mut c, b"").await,
        rd_max(&mut c, 0).await,
        count(c.try_write(b"")),
        count(c.try_read(&mut []))
    )
}

const D02: Row = row!(
    "D02",
    "an empty read, std",
    "nothing Err(WouldBlock, os 11), with data Ok(0)",
    empty_read_std
);
async fn empty_read_std(place: Place) -> String {
    let (mut c, mut s) = place.std_pair().await;
    let nothing = count(c.read(&mut []));
    s.write_all(b"x").expect("write_all");
    settle().await;
    format!("nothing {nothing}, with data {}", count(c.read(&mut [])))
}

const D07: Row = row!(
    "D07",
    "try_read with nothing there and try_write with no room",
    "try_read Err(WouldBlock, os none) \"operation would block\", \
     again Err(WouldBlock, os none); \
     try_write Err(WouldBlock, os none) \"operation would block\", \
     again Err(WouldBlock, os none)",
    would_block
);
async fn would_block(place: Place) -> String {
    let (c, _s) = place.small_pair().await;
    let read = text(c.try_read(&mut [0; 8]));
    fill(&c).await;
    let written = text(c.try_write(b"x"));
    format!(
        "try_read {read}, again {}; try_write {written}, again {}",
        count(c.try_read(&mut [0; 8])),
        count(c.try_write(b"x"))
    )
}

const D08: Row = row!(
    "D08",
    "try_read knows only what the driver has seen",
    "before Err(WouldBlock, os none); written, no yield Err(WouldBlock, os none); \
     driver ran Ok(2)",
    try_read_needs_the_driver
);
async fn try_read_needs_the_driver(place: Place) -> String {
    let (c, mut s) = place.pair().await;
    let before = count(c.try_read(&mut [0; 8]));
    put(&mut s, b"hi").await;
    let at_once = count(c.try_read(&mut [0; 8]));
    settle().await;
    let later = count(c.try_read(&mut [0; 8]));
    format!("before {before}; written, no yield {at_once}; driver ran {later}")
}

const D09: Row = row!(
    "D09",
    "a non-blocking read with nothing there, std",
    "Err(WouldBlock, os 11)",
    nonblocking_read
);
async fn nonblocking_read(place: Place) -> String {
    let (mut c, _s) = place.std_pair().await;
    count(c.read(&mut [0; 8]))
}

const D09_STD: Row = row!(
    "D09-std",
    "read and write timeouts of blocking sockets",
    "read timeout Err(WouldBlock, os 11), write timeout Err(WouldBlock, os 11)",
    blocking_timeouts
);
async fn blocking_timeouts(place: Place) -> String {
    let limit = Some(Duration::from_millis(50));
    let (mut c, _s) = place.std_pair().await;
    c.set_read_timeout(limit).expect("SO_RCVTIMEO");
    c.set_write_timeout(limit).expect("SO_SNDTIMEO");
    c.set_nonblocking(false).expect("set_nonblocking");
    let read = count(c.read(&mut [0; 8]));
    let written = unit(c.write_all(&vec![0; 64 << 20]));
    format!("read timeout {read}, write timeout {written}")
}

const D10: Row = row!(
    "D10",
    "readable and writable",
    "fresh: writable Ok(()), readable pending; data: readable Ok(()); \
     read to WouldBlock: readable pending; EOF: readable Ok(()), writable Ok(()); \
     RST: readable Ok(()), writable Ok(())",
    readiness
);
async fn readiness(place: Place) -> String {
    let (mut c, mut s) = place.pair().await;
    let fresh = limited(unit, c.writable()).await;
    let mut seen =
        vec![format!("fresh: writable {fresh}, readable {}", limited(unit, c.readable()).await)];
    put(&mut s, b"x").await;
    seen.push(format!("data: readable {}", limited(unit, c.readable()).await));
    rd(&mut c).await;
    rd(&mut c).await;
    seen.push(format!("read to WouldBlock: readable {}", limited(unit, c.readable()).await));
    close(s).await;
    let readable = limited(unit, c.readable()).await;
    let writable = limited(unit, c.writable()).await;
    seen.push(format!("EOF: readable {readable}, writable {writable}"));
    let (c, s) = place.pair().await;
    reset(s).await;
    let readable = limited(unit, c.readable()).await;
    let writable = limited(unit, c.writable()).await;
    seen.push(format!("RST: readable {readable}, writable {writable}"));
    seen.join("; ")
}

const D12: Row = row!(
    "D12",
    "peek takes no data, but takes the error",
    "data Ok(2), Ok(2), read Ok(2 \"hi\"); nothing pending; EOF Ok(0), Ok(0); \
     RST Err(ConnectionReset, os 104), Ok(0), read Ok(0)",
    peeks
);
async fn peeks(place: Place) -> String {
    let mut buffer = [0; 8];
    let (mut c, mut s) = place.pair().await;
    put(&mut s, b"hi").await;
    settle().await;
    let first = limited(count, c.peek(&mut buffer)).await;
    let second = limited(count, c.peek(&mut buffer)).await;
    let data = format!("data {first}, {second}, read {}", rd(&mut c).await);
    let nothing = limited(count, c.peek(&mut buffer)).await;
    close(s).await;
    let first = limited(count, c.peek(&mut buffer)).await;
    let second = limited(count, c.peek(&mut buffer)).await;
    let eof = format!("EOF {first}, {second}");
    let (mut c, s) = place.pair().await;
    reset(s).await;
    let first = limited(count, c.peek(&mut buffer)).await;
    let second = limited(count, c.peek(&mut buffer)).await;
    let rst = format!("RST {first}, {second}, read {}", rd(&mut c).await);
    format!("{data}; nothing {nothing}; {eof}; {rst}")
}
