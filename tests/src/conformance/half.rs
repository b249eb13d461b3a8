//! Group C, half-close: shutting one direction or both down, and what still works after it.
//! Halves of a split stream are in `split`.

use std::io::{Read, Write};
use std::net::Shutdown;

use socket2::SockRef;
use tokio::io::AsyncWriteExt;
use tokio::task::spawn_local;

use super::probe::{
    close, count, drain, fill, limited, put, rd, reset, sd, settle, text, unit, wr,
};
use super::{Place, Row, row};

pub(super) const REQUIRED: &[Row] = &[C01, C02, C11];
pub(super) const FURTHER: &[Row] =
    &[C03, C04, C06, C07, C08, C09, C10, C12, C14, C15, C25, C27, C28];

const C01: Row = row!(
    "C01",
    "after our shutdown the peer reads to the end and answers",
    "shutdown Ok(()); S read Ok(3 \"req\"), Ok(0); C read Ok(4 \"resp\"), Ok(0)",
    request_then_shutdown
);
async fn request_then_shutdown(place: Place) -> String {
    let (mut c, mut s) = place.pair().await;
    put(&mut c, b"req").await;
    let shut = sd(&mut c).await;
    let by_s = format!("{}, {}", rd(&mut s).await, rd(&mut s).await);
    put(&mut s, b"resp").await;
    close(s).await;
    let by_c = format!("{}, {}", rd(&mut c).await, rd(&mut c).await);
    format!("shutdown {shut}; S read {by_s}; C read {by_c}")
}

const C02: Row = row!(
    "C02",
    "writing after our own shutdown",
    "write Err(BrokenPipe, os 32), write(\"\") Err(BrokenPipe, os 32), flush Ok(())",
    write_after_shutdown
);
async fn write_after_shutdown(place: Place) -> String {
    let (mut c, _s) = place.pair().await;
    sd(&mut c).await;
    format!(
        "write {}, write(\"\") {}, flush {}",
        wr(&mut c, b"x").await,
        wr(&mut c, b"").await,
        limited(unit, c.flush()).await
    )
}

const C03: Row = row!(
    "C03",
    "shutting down twice, tokio",
    "Ok(()), Ok(()), after the peer closed too Ok(())",
    shutdown_twice
);
async fn shutdown_twice(place: Place) -> String {
    let (mut c, s) = place.pair().await;
    let (first, second) = (sd(&mut c).await, sd(&mut c).await);
    close(s).await;
    format!("{first}, {second}, after the peer closed too {}", sd(&mut c).await)
}

const C04: Row = row!(
    "C04",
    "shutting down twice, std",
    "Ok(()), Ok(()); after the peer closed too: Write Err(NotConnected, os 107), \
     Read Err(NotConnected, os 107), Both Err(NotConnected, os 107)",
    shutdown_twice_std
);
async fn shutdown_twice_std(place: Place) -> String {
    let (c, s) = place.std_pair().await;
    let shut = |how| unit(c.shutdown(how));
    let (first, second) = (shut(Shutdown::Write), shut(Shutdown::Write));
    close(s).await;
    format!(
        "{first}, {second}; after the peer closed too: Write {}, Read {}, Both {}",
        shut(Shutdown::Write),
        shut(Shutdown::Read),
        shut(Shutdown::Both)
    )
}

const C06: Row = row!(
    "C06",
    "shutting a reset connection down, std",
    "Err(NotConnected, os 107) \"Transport endpoint is not connected (os error 107)\"; \
     read Err(ConnectionReset, os 104), shutdown(Both) Err(NotConnected, os 107)",
    shutdown_after_reset
);
async fn shutdown_after_reset(place: Place) -> String {
    let (c, s) = place.pair().await;
    let mut c = c.into_std().expect("into_std");
    reset(s).await;
    format!(
        "{}; read {}, shutdown(Both) {}",
        text(c.shutdown(Shutdown::Write)),
        count(c.read(&mut [0; 8])),
        unit(c.shutdown(Shutdown::Both))
    )
}

const C07: Row = row!(
    "C07",
    "shutting down after the peer closed",
    "shutdown Ok(()), read Ok(0), shutdown Ok(())",
    shutdown_after_close
);
async fn shutdown_after_close(place: Place) -> String {
    let (mut c, s) = place.pair().await;
    close(s).await;
    format!(
        "shutdown {}, read {}, shutdown {}",
        sd(&mut c).await,
        rd(&mut c).await,
        sd(&mut c).await
    )
}

const C08: Row = row!(
    "C08",
    "shutting down after a write drew an RST",
    "write Ok(1), shutdown Ok(())",
    shutdown_after_drawn_rst
);
async fn shutdown_after_drawn_rst(place: Place) -> String {
    let (mut c, s) = place.pair().await;
    close(s).await;
    let written = wr(&mut c, b"x").await;
    settle().await;
    format!("write {written}, shutdown {}", sd(&mut c).await)
}

const C09: Row = row!(
    "C09",
    "a shutdown does not wait for what is unsent",
    "shutdown Ok(()) at once; S got all: true, then Ok(0)",
    shutdown_with_full_buffers
);
async fn shutdown_with_full_buffers(place: Place) -> String {
    let (mut c, mut s) = place.small_pair().await;
    let written = fill(&c).await;
    let shut = sd(&mut c).await;
    let (read, end) = drain(&mut s).await;
    format!("shutdown {shut} at once; S got all: {}, then {end}", read == written)
}

const C10: Row =
    row!("C10", "the FIN comes after all data", "S got 1048576, then Ok(0)", fin_comes_last);
async fn fin_comes_last(place: Place) -> String {
    let (mut c, mut s) = place.pair().await;
    let writing = spawn_local(async move {
        put(&mut c, &vec![7; 1 << 20]).await;
        sd(&mut c).await;
        c
    });
    let (read, end) = drain(&mut s).await;
    writing.await.expect("the write");
    format!("S got {read}, then {end}")
}

const C11: Row = row!(
    "C11",
    "writing goes on to a peer that half-closed",
    r#"writes Ok(1), Ok(1), Ok(1), S read Ok(3 "xxx")"#,
    writes_to_half_closed_peer
);
async fn writes_to_half_closed_peer(place: Place) -> String {
    let (mut c, mut s) = place.pair().await;
    sd(&mut s).await;
    settle().await;
    let mut writes = Vec::new();
    for _ in 0..3 {
        writes.push(wr(&mut c, b"x").await);
        settle().await;
    }
    format!("writes {}, S read {}", writes.join(", "), rd(&mut s).await)
}

const C12: Row = row!(
    "C12",
    "data that comes after a shutdown of reading is read all the same",
    "shutdown Ok(()), read Ok(0), peer write Ok(2), read Ok(2), read Ok(0), peer write Ok(4)",
    data_after_shutdown_of_reading
);
async fn data_after_shutdown_of_reading(place: Place) -> String {
    let (mut c, mut s) = place.std_pair().await;
    let shut = unit(c.shutdown(Shutdown::Read));
    let before = count(c.read(&mut [0; 8]));
    let written = count(s.write(b"hi"));
    settle().await;
    format!(
        "shutdown {shut}, read {before}, peer write {written}, read {}, read {}, peer write {}",
        count(c.read(&mut [0; 8])),
        count(c.read(&mut [0; 8])),
        count(s.write(b"more"))
    )
}

const C14: Row = row!(
    "C14",
    "both directions shut down",
    "shutdown Ok(()), C read Ok(2), read Ok(0), write Err(BrokenPipe, os 32); \
     S read Ok(0), write Ok(4), write Err(BrokenPipe, os 32); \
     C read Err(ConnectionReset, os 104)",
    shutdown_of_both
);
async fn shutdown_of_both(place: Place) -> String {
    let (mut c, mut s) = place.std_pair().await;
    let mut buffer = [0; 16];
    s.write_all(b"hi").expect("write_all");
    settle().await;
    let shut = unit(c.shutdown(Shutdown::Both));
    settle().await;
    let by_c = format!(
        "C read {}, read {}, write {}",
        count(c.read(&mut buffer)),
        count(c.read(&mut buffer)),
        count(c.write(b"x"))
    );
    let (read, first) = (count(s.read(&mut buffer)), count(s.write(b"more")));
    settle().await;
    let by_s = format!("S read {read}, write {first}, write {}", count(s.write(b"more")));
    format!("shutdown {shut}, {by_c}; {by_s}; C read {}", count(c.read(&mut buffer)))
}

const C15: Row =
    row!("C15", "a shutdown of reading wakes a waiting reader", "Ok(0)", shutdown_of_reading_wakes);
async fn shutdown_of_reading_wakes(place: Place) -> String {
    let (c, _s) = place.pair().await;
    let (mut reader, writer) = c.into_split();
    let reading = spawn_local(async move { rd(&mut reader).await });
    settle().await;
    SockRef::from(writer.as_ref()).shutdown(Shutdown::Read).expect("shutdown");
    reading.await.expect("the read")
}

const C25: Row = row!(
    "C25",
    "both ends shut down at once",
    "C read Ok(1 \"s\"), Ok(0); S read Ok(1 \"c\"), Ok(0); \
     C write Err(BrokenPipe, os 32), shutdown Ok(())",
    shutdown_at_once
);
async fn shutdown_at_once(place: Place) -> String {
    let (mut c, mut s) = place.pair().await;
    put(&mut c, b"c").await;
    put(&mut s, b"s").await;
    sd(&mut c).await;
    sd(&mut s).await;
    settle().await;
    format!(
        "C read {}, {}; S read {}, {}; C write {}, shutdown {}",
        rd(&mut c).await,
        rd(&mut c).await,
        rd(&mut s).await,
        rd(&mut s).await,
        wr(&mut c, b"x").await,
        sd(&mut c).await
    )
}

const C27: Row = row!(
    "C27",
    "the peer half-closed, then closed, and we write",
    "write Ok(1), write Err(BrokenPipe, os 32), read Ok(0)",
    writes_after_half_close_and_close
);
async fn writes_after_half_close_and_close(place: Place) -> String {
    let (mut c, mut s) = place.pair().await;
    sd(&mut c).await;
    close(c).await;
    let first = wr(&mut s, b"x").await;
    settle().await;
    format!("write {first}, write {}, read {}", wr(&mut s, b"y").await, rd(&mut s).await)
}

const C28: Row = row!(
    "C28",
    "a reset after our half-close",
    "read Err(ConnectionReset, os 104), read Ok(0)",
    reset_after_half_close
);
async fn reset_after_half_close(place: Place) -> String {
    let (mut c, s) = place.pair().await;
    sd(&mut c).await;
    settle().await;
    reset(s).await;
    format!("read {}, read {}", rd(&mut c).await, rd(&mut c).await)
}
