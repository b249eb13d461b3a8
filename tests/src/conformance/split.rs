//! Group C, split: what the halves of a tokio stream do to the connection when they go, and a
//! proxy made of two streams.

use tokio::io::copy_bidirectional;
use tokio::task::spawn_local;

use super::probe::{close, drain, err, put, rd, sd, settle, within, wr};
use super::{Place, Row, row};

pub(super) const REQUIRED: &[Row] = &[C16, C18];
pub(super) const FURTHER: &[Row] = &[C17, C20, C21, C22, C23, C24, C30];

const C16: Row = row!(
    "C16",
    "into_split: the write half that goes half-closes",
    r#"S read Ok(0), C read half read Ok(4 "pong")"#,
    write_half_dropped
);
async fn write_half_dropped(place: Place) -> String {
    let (c, mut s) = place.pair().await;
    let (mut reader, writer) = c.into_split();
    close(writer).await;
    let by_s = rd(&mut s).await;
    put(&mut s, b"pong").await;
    settle().await;
    format!("S read {by_s}, C read half read {}", rd(&mut reader).await)
}

const C17: Row = row!(
    "C17",
    "into_split: a forgotten write half does not half-close",
    "S read pending",
    write_half_forgotten
);
async fn write_half_forgotten(place: Place) -> String {
    let (c, mut s) = place.pair().await;
    let (_reader, writer) = c.into_split();
    writer.forget();
    settle().await;
    format!("S read {}", rd(&mut s).await)
}

const C18: Row = row!(
    "C18",
    "into_split: the read half that goes does nothing",
    "S read pending, S write Ok(1), Ok(1), C write Ok(2)",
    read_half_dropped
);
async fn read_half_dropped(place: Place) -> String {
    let (c, mut s) = place.pair().await;
    let (reader, mut writer) = c.into_split();
    close(reader).await;
    let read = rd(&mut s).await;
    let first = wr(&mut s, b"x").await;
    settle().await;
    let second = wr(&mut s, b"x").await;
    format!("S read {read}, S write {first}, {second}, C write {}", wr(&mut writer, b"hi").await)
}

const C20: Row = row!(
    "C20",
    "into_split: the write half goes, then the read half with data unread",
    "write half gone: S read Ok(0); read half gone: S read Ok(0), read Ok(0), \
     write Err(BrokenPipe, os 32)",
    halves_dropped_with_unread_data
);
async fn halves_dropped_with_unread_data(place: Place) -> String {
    let (c, mut s) = place.pair().await;
    put(&mut s, b"hi").await;
    settle().await;
    let (reader, writer) = c.into_split();
    close(writer).await;
    let first = rd(&mut s).await;
    close(reader).await;
    format!(
        "write half gone: S read {first}; read half gone: S read {}, read {}, write {}",
        rd(&mut s).await,
        rd(&mut s).await,
        wr(&mut s, b"x").await
    )
}

const C21: Row = row!(
    "C21",
    "into_split: the last half that goes closes, forgotten or not",
    "S read Ok(0)",
    last_half_forgotten
);
async fn last_half_forgotten(place: Place) -> String {
    let (c, mut s) = place.pair().await;
    let (reader, writer) = c.into_split();
    drop(reader);
    writer.forget();
    settle().await;
    format!("S read {}", rd(&mut s).await)
}

const C22: Row = row!(
    "C22",
    "into_split: halves that are reunited leave the connection as it was",
    r#"S read pending, then Ok(2 "hi")"#,
    halves_reunited
);
async fn halves_reunited(place: Place) -> String {
    let (c, mut s) = place.pair().await;
    let (reader, writer) = c.into_split();
    let mut c = reader.reunite(writer).expect("halves of one stream");
    let first = rd(&mut s).await;
    put(&mut c, b"hi").await;
    format!("S read {first}, then {}", rd(&mut s).await)
}

const C23: Row = row!(
    "C23",
    "io::split: only the last half that goes closes",
    "write half gone: S read pending, both gone: S read Ok(0)",
    io_split
);
async fn io_split(place: Place) -> String {
    let (c, mut s) = place.pair().await;
    let (reader, writer) = tokio::io::split(c);
    close(writer).await;
    let first = rd(&mut s).await;
    close(reader).await;
    format!("write half gone: S read {first}, both gone: S read {}", rd(&mut s).await)
}

const C24: Row =
    row!("C24", "borrowed halves that go do nothing", "S read pending", borrowed_split);
async fn borrowed_split(place: Place) -> String {
    let (mut c, mut s) = place.pair().await;
    close(c.split()).await;
    format!("S read {}", rd(&mut s).await)
}

const C30: Row = row!(
    "C30",
    "copy_bidirectional passes a half-close on",
    "B got 3 then Ok(0); A got 8 then Ok(0); copy_bidirectional Ok((3, 8))",
    proxy_passes_half_close
);
async fn proxy_passes_half_close(place: Place) -> String {
    let (mut a, mut from_a) = place.pair().await;
    let (mut to_b, mut b) = place.pair().await;
    let proxy = spawn_local(async move { copy_bidirectional(&mut from_a, &mut to_b).await });
    put(&mut a, b"req").await;
    sd(&mut a).await;
    let (b_read, b_end) = drain(&mut b).await;
    put(&mut b, b"response").await;
    drop(b);
    let (a_read, a_end) = drain(&mut a).await;
    let copied = match within(proxy).await {
        None => "pending".into(),
        Some(done) => match done.expect("the proxy") {
            Ok(copied) => format!("Ok({copied:?})"),
            Err(error) => err(&error),
        },
    };
    format!("B got {b_read} then {b_end}; A got {a_read} then {a_end}; copy_bidirectional {copied}")
}
