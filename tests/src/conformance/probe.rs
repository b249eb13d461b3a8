//! What rows look with: calls with a time limit, and results as text. It decides nothing.

use std::future::Future;
use std::io;
use std::time::Duration;

use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

/// How long "nothing happens" lasts before a row says `pending`.
pub(super) const PENDING_AFTER: Duration = Duration::from_millis(150);

const SETTLE: Duration = Duration::from_millis(25);
const FILL_STEP: Duration = Duration::from_millis(50);
/// Zero-window probes go on moving a few bytes for a while after the first `WouldBlock`.
const FILL_QUIET_STEPS: u32 = 10;

/// Waits until what is on its way has arrived.
pub(super) async fn settle() {
    sleep(SETTLE).await;
}

/// Waits.
pub(super) async fn millis(count: u64) {
    sleep(Duration::from_millis(count)).await;
}

/// Returns what a call gives within the limit; drops it and returns none after that.
pub(super) async fn within<F: Future>(call: F) -> Option<F::Output> {
    timeout(PENDING_AFTER, call).await.ok()
}

/// Shows what a call gives within the limit, or `pending`.
pub(super) async fn limited<T>(
    show: fn(io::Result<T>) -> String,
    call: impl Future<Output = io::Result<T>>,
) -> String {
    within(call).await.map_or("pending".into(), show)
}

/// Shows an error: its kind and errno.
pub(super) fn err(error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(errno) => format!("Err({:?}, os {errno})", error.kind()),
        None => format!("Err({:?}, os none)", error.kind()),
    }
}

/// Shows an error with its text; a success as `Ok`.
pub(super) fn text<T>(result: io::Result<T>) -> String {
    match result {
        Ok(_) => "Ok".into(),
        Err(error) => format!("{} {:?}", err(&error), error.to_string()),
    }
}

/// Shows a result without a value.
pub(super) fn unit(result: io::Result<()>) -> String {
    result.map_or_else(|error| err(&error), |()| "Ok(())".into())
}

/// Shows a result that is a number of bytes.
pub(super) fn count(result: io::Result<usize>) -> String {
    result.map_or_else(|error| err(&error), |n| format!("Ok({n})"))
}

/// Shows whether a call succeeded, whatever its value.
pub(super) fn bare<T>(result: io::Result<T>) -> String {
    result.map_or_else(|error| err(&error), |_| "Ok".into())
}

/// Shows bytes that were read: how many, and which, where they are few.
pub(super) fn bytes(read: &[u8]) -> String {
    match str::from_utf8(read) {
        Ok(ascii) if !read.is_empty() && read.len() <= 16 => {
            format!("Ok({} {ascii:?})", read.len())
        }
        _ => format!("Ok({})", read.len()),
    }
}

/// Shows a time in whole seconds.
pub(super) fn seconds(time: Duration) -> String {
    format!("{:.0} s", time.as_secs_f64())
}

/// Reads once, up to 64 bytes.
pub(super) async fn rd(end: &mut (impl AsyncRead + Unpin)) -> String {
    rd_max(end, 64).await
}

/// Reads once, up to `max` bytes.
pub(super) async fn rd_max(end: &mut (impl AsyncRead + Unpin), max: usize) -> String {
    let mut buffer = vec![0; max];
    match within(end.read(&mut buffer)).await {
        None => "pending".into(),
        Some(Ok(n)) => bytes(&buffer[..n]),
        Some(Err(error)) => err(&error),
    }
}

/// Writes once.
pub(super) async fn wr(end: &mut (impl AsyncWrite + Unpin), bytes: &[u8]) -> String {
    limited(count, end.write(bytes)).await
}

/// Writes all of it.
///
/// # Panics
///
/// If that fails: the row only prepares something.
pub(super) async fn put(end: &mut (impl AsyncWrite + Unpin), bytes: &[u8]) {
    end.write_all(bytes).await.expect("write_all");
}

/// Shuts the writing direction down.
pub(super) async fn sd(end: &mut (impl AsyncWrite + Unpin)) -> String {
    limited(unit, end.shutdown()).await
}

/// Reads until `Ok(0)`, an error or `pending`: how many bytes, and how it ended.
pub(super) async fn drain(end: &mut (impl AsyncRead + Unpin)) -> (usize, String) {
    let mut buffer = vec![0; 64 * 1024];
    let mut total = 0;
    loop {
        match within(end.read(&mut buffer)).await {
            Some(Ok(n)) if n > 0 => total += n,
            Some(end) => return (total, count(end)),
            None => return (total, "pending".into()),
        }
    }
}

/// Writes until nothing is taken for half a second: how many bytes were.
pub(super) async fn fill(end: &TcpStream) -> usize {
    let chunk = [b'x'; 4096];
    let mut total = 0;
    let mut quiet = 0;
    while quiet < FILL_QUIET_STEPS {
        match end.try_write(&chunk) {
            Ok(n) => (total, quiet) = (total + n, 0),
            Err(error) => {
                assert_eq!(error.kind(), io::ErrorKind::WouldBlock, "fill: {error}");
                quiet += 1;
                sleep(FILL_STEP).await;
            }
        }
    }
    total
}

/// Makes the close of an end a reset (`SO_LINGER` of 0).
pub(super) fn linger0(end: &TcpStream) {
    SockRef::from(end).set_linger(Some(Duration::ZERO)).expect("SO_LINGER");
}

/// Resets a connection, and waits until the other end has heard.
pub(super) async fn reset(end: TcpStream) {
    linger0(&end);
    close(end).await;
}

/// Closes an end, and waits until the other has heard.
pub(super) async fn close<T>(end: T) {
    drop(end);
    settle().await;
}
