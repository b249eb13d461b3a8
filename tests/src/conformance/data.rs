//! Group D, data: bytes in order, how many at once, and what fits. Readiness is in `ready`.

use std::io::{IoSlice, IoSliceMut, Read, Write};

use tokio::io::{AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;

use super::probe::{
    bytes, count, drain, fill, limited, put, rd, rd_max, reset, sd, settle, unit, within, wr,
};
use super::{Place, Row, row};

pub(super) const REQUIRED: &[Row] = &[D04, D13, D16, D18];
pub(super) const FURTHER: &[Row] = &[D05, D06, D15, D17, D19, D21, D22];

const D04: Row = row!(
    "D04",
    "a stream of bytes, not of messages",
    r#"Ok(6 "abcdef"); Ok(2 "ab"), Ok(4 "cdef")"#,
    bytes_not_messages
);
async fn bytes_not_messages(place: Place) -> String {
    let (mut c, mut s) = place.pair().await;
    put(&mut s, b"abc").await;
    put(&mut s, b"def").await;
    settle().await;
    let joined = rd(&mut c).await;
    put(&mut s, b"abcdef").await;
    settle().await;
    format!("{joined}; {}, {}", rd_max(&mut c, 2).await, rd(&mut c).await)
}

const D05: Row = row!(
    "D05",
    "vectored writes",
    "Ok(5), S read Ok(5 \"abcde\"), is_write_vectored true, no slices Ok(0), \
     1100 slices Ok(1024)",
    vectored_write
);
async fn vectored_write(place: Place) -> String {
    let (mut c, mut s) = place.pair().await;
    let three = [&b"ab"[..], b"", b"cde"].map(IoSlice::new);
    let written = limited(count, c.write_vectored(&three)).await;
    settle().await;
    let read = rd(&mut s).await;
    let none = limited(count, c.write_vectored(&[])).await;
    let many = vec![IoSlice::new(b"x"); 1100];
    format!(
        "{written}, S read {read}, is_write_vectored {}, no slices {none}, 1100 slices {}",
        c.is_write_vectored(),
        limited(count, c.write_vectored(&many)).await
    )
}

const D06: Row =
    row!("D06", "vectored reads", r#"Ok(6), first Ok(2 "ab"), second Ok(4 "cdef")"#, vectored_read);
async fn vectored_read(place: Place) -> String {
    let (c, mut s) = place.pair().await;
    put(&mut s, b"abcdef").await;
    settle().await;
    let (mut first, mut second) = ([0; 2], [0; 64]);
    let _ = within(c.readable()).await;
    let buffers = &mut [IoSliceMut::new(&mut first), IoSliceMut::new(&mut second)];
    let read = count(c.try_read_vectored(buffers));
    format!("{read}, first {}, second {}", bytes(&first), bytes(&second[..4]))
}

const D13: Row = row!(
    "D13",
    "a write waits while the buffers are full",
    "filled to between 16 and 256 kB true, write pending, S drained all true then pending, \
     write Ok(1)",
    full_buffers
);
async fn full_buffers(place: Place) -> String {
    let (mut c, mut s) = place.small_pair().await;
    let written = fill(&c).await;
    let is_bounded = (16 << 10..256 << 10).contains(&written);
    let full = wr(&mut c, b"x").await;
    let (read, end) = drain(&mut s).await;
    format!(
        "filled to between 16 and 256 kB {is_bounded}, write {full}, \
         S drained all {} then {end}, write {}",
        read == written,
        wr(&mut c, b"x").await
    )
}

const D15: Row = row!(
    "D15",
    "how much fits with default buffers while nobody reads",
    "between 64 KiB and 64 MiB true, then write pending",
    default_buffers
);
async fn default_buffers(place: Place) -> String {
    let (mut c, _s) = place.pair().await;
    let written = fill(&c).await;
    let is_bounded = (64 << 10..64 << 20).contains(&written);
    format!("between 64 KiB and 64 MiB {is_bounded}, then write {}", wr(&mut c, b"x").await)
}

const D16: Row = row!(
    "D16",
    "one write takes as much as fits",
    "Ok(n) with 0 < n < 64 MiB: true",
    partial_write
);
async fn partial_write(place: Place) -> String {
    let (mut c, _s) = place.pair().await;
    let much = vec![0; 64 << 20];
    match within(c.write(&much)).await {
        Some(Ok(n)) => format!("Ok(n) with 0 < n < 64 MiB: {}", n > 0 && n < much.len()),
        other => other.map_or("pending".into(), count),
    }
}

const D17: Row = row!(
    "D17",
    "a blocking write of 8 MiB against a slow reader",
    "write returned the full length true, S got all true",
    blocking_write
);
async fn blocking_write(place: Place) -> String {
    const LEN: usize = 8 << 20;
    let (mut c, mut s) = place.std_pair().await;
    c.set_nonblocking(false).expect("set_nonblocking");
    let reader = tokio::task::spawn_blocking(move || {
        s.set_nonblocking(false)?;
        let mut read = Vec::new();
        s.read_to_end(&mut read).map(|_| read.len())
    });
    let written = c.write(&vec![0; LEN]);
    drop(c);
    let read = reader.await.expect("the reader");
    format!(
        "write returned the full length {}, S got all {}",
        written.is_ok_and(|n| n == LEN),
        read.is_ok_and(|n| n == LEN)
    )
}

const D18: Row = row!(
    "D18",
    "a write_all that is dropped has written a prefix",
    "finished false; S got a proper prefix true, then Ok(0)",
    write_all_dropped
);
async fn write_all_dropped(place: Place) -> String {
    let (mut c, mut s) = place.pair().await;
    let much = vec![0; 8 << 20];
    let is_finished = within(c.write_all(&much)).await.is_some();
    sd(&mut c).await;
    let (read, end) = drain(&mut s).await;
    let is_prefix = read > 0 && read < much.len();
    format!("finished {is_finished}; S got a proper prefix {is_prefix}, then {end}")
}

const D19: Row =
    row!("D19", "a flush does nothing", "full Ok(()), reset Ok(())", flush_does_nothing);
async fn flush_does_nothing(place: Place) -> String {
    let (mut c, s) = place.small_pair().await;
    fill(&c).await;
    let full = limited(unit, c.flush()).await;
    reset(s).await;
    format!("full {full}, reset {}", limited(unit, c.flush()).await)
}

const D21: Row = row!(
    "D21",
    "read_buf appends to what is in the buffer",
    r#"Ok(2), buffer Ok(5 "abchi")"#,
    read_buf_appends
);
async fn read_buf_appends(place: Place) -> String {
    let (mut c, mut s) = place.pair().await;
    put(&mut s, b"hi").await;
    settle().await;
    let mut buffer = Vec::with_capacity(19);
    buffer.extend_from_slice(b"abc");
    let read = limited(count, c.read_buf(&mut buffer)).await;
    format!("{read}, buffer {}", bytes(&buffer))
}

const D22: Row = row!(
    "D22",
    "two connections have no order between them",
    r#"second first: Ok(1 "b"), first: Ok(1 "a")"#,
    two_connections
);
async fn two_connections(place: Place) -> String {
    let (listener, addr) = place.listen().await;
    let mut c1 = TcpStream::connect(addr).await.expect("connect");
    let mut c2 = TcpStream::connect(addr).await.expect("connect");
    let (mut s1, _) = place.accept(&listener).await.expect("accept");
    let (mut s2, _) = place.accept(&listener).await.expect("accept");
    put(&mut c1, b"a").await;
    put(&mut c2, b"b").await;
    settle().await;
    format!("second first: {}, first: {}", rd(&mut s2).await, rd(&mut s1).await)
}
