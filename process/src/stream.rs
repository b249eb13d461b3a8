//! The streams of a process.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// What is typed or piped into a process.
///
/// ```
/// use sim_process::{Process, Stdin};
/// use tokio::io::{AsyncBufReadExt, BufReader};
///
/// /// Counts the lines that are piped in.
/// async fn count(stdin: Stdin) -> std::io::Result<usize> {
///     let mut lines = BufReader::new(stdin).lines();
///     let mut count = 0;
///     while lines.next_line().await?.is_some() {
///         count += 1;
///     }
///     Ok(count)
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// assert_eq!(count(Process::os().stdin()).await?, 0);
/// # Ok(())
/// # }
/// ```
pub struct Stdin(pub(crate) Box<dyn AsyncRead + Send + Unpin>);

impl AsyncRead for Stdin {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, into)
    }
}

impl fmt::Debug for Stdin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Stdin")
    }
}

/// What a process prints to: its standard output or its standard error.
///
/// ```
/// use sim_process::{Process, Stdout};
/// use tokio::io::AsyncWriteExt;
///
/// async fn greet(mut to: Stdout, name: &str) -> std::io::Result<()> {
///     to.write_all(format!("hello, {name}\n").as_bytes()).await?;
///     to.flush().await
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// let process = Process::os();
/// greet(process.stdout(), "client").await?;
/// greet(process.stderr(), "operator").await
/// # }
/// ```
pub struct Stdout(pub(crate) Box<dyn AsyncWrite + Send + Unpin>);

impl AsyncWrite for Stdout {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}

impl fmt::Debug for Stdout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Stdout")
    }
}
