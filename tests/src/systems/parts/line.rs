//! Requests and replies as lines of text, and how a client asks until it is answered.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep, timeout};

/// How long a client waits for a dial and the reply, before it tries again with another connection;
/// twice as long after each time that was not enough, up to [`ATTEMPT_MAX`]. A line takes that long
/// where a buffer has one byte and the way is long.
pub const ATTEMPT: Duration = Duration::from_secs(3);

/// The longest attempt.
pub const ATTEMPT_MAX: Duration = Duration::from_secs(48);

/// The wait between attempts.
const WAIT: Duration = Duration::from_millis(500);

/// A connection that lines go over.
#[derive(Debug)]
pub struct Lines(BufReader<TcpStream>);

impl Lines {
    /// The lines of a stream.
    pub fn new(stream: TcpStream) -> Lines {
        Lines(BufReader::new(stream))
    }

    /// Dials.
    ///
    /// # Errors
    /// Those of [`TcpStream::connect`].
    pub async fn dial(to: SocketAddr) -> io::Result<Lines> {
        Ok(Lines::new(TcpStream::connect(to).await?))
    }

    /// Reads a line, whole.
    ///
    /// # Errors
    /// What the stream says, `UnexpectedEof` where it ends before the line does.
    pub async fn read(&mut self) -> io::Result<String> {
        let mut line = String::new();
        self.0.read_line(&mut line).await?;
        match line.pop() {
            Some('\n') => Ok(line),
            _ => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    /// Writes a line.
    ///
    /// # Errors
    /// What the stream says.
    pub async fn write(&mut self, line: &str) -> io::Result<()> {
        self.0.write_all(format!("{line}\n").as_bytes()).await
    }
}

/// What came of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The reply.
    Reply(String),
    /// No byte of the request was ever sent.
    Unsent(String),
    /// It was sent, perhaps more than once, and no reply came.
    Lost(String),
}

/// A client's way to one server: a connection that is dialed again where it broke.
#[derive(Debug)]
pub struct Caller {
    to: SocketAddr,
    lines: Option<Lines>,
    /// How long an attempt may take, as far as is known.
    attempt: Duration,
}

impl Caller {
    /// A way that was not gone yet.
    pub fn new(to: impl Into<SocketAddr>) -> Caller {
        Caller { to: to.into(), lines: None, attempt: ATTEMPT }
    }

    /// Asks again and again until a reply comes, and gives up after some time. The request must be
    /// one that the server may be asked many times.
    pub async fn ask(&mut self, request: &str, patience: Duration) -> Answer {
        let end = Instant::now() + patience;
        let mut was_sent = false;
        loop {
            let attempt = self.attempt.min(end.saturating_duration_since(Instant::now()));
            let error = match timeout(attempt, self.exchange(request, &mut was_sent)).await {
                Ok(Ok(reply)) => return Answer::Reply(reply),
                Ok(Err(error)) => error.to_string(),
                Err(_) => {
                    self.attempt = ATTEMPT_MAX.min(attempt * 2).max(self.attempt);
                    "no reply in time".to_owned()
                }
            };
            // A late reply on it would be taken for that of the next request.
            self.lines = None;
            if Instant::now() >= end {
                return if was_sent { Answer::Lost(error) } else { Answer::Unsent(error) };
            }
            sleep(WAIT).await;
        }
    }

    async fn exchange(&mut self, request: &str, was_sent: &mut bool) -> io::Result<String> {
        let lines = match &mut self.lines {
            Some(lines) => lines,
            none => none.insert(Lines::dial(self.to).await?),
        };
        *was_sent = true;
        lines.write(request).await?;
        lines.read().await
    }

    /// Asks how much is left, with rests, until nothing is; gives the last answer where the time is up.
    pub async fn wait_for_none_left(
        &mut self,
        patience: Duration,
        rest: Duration,
    ) -> Result<(), Answer> {
        let end = Instant::now() + patience;
        loop {
            let answer = self.ask("left", patience).await;
            if answer == Answer::Reply("left 0".to_owned()) {
                return Ok(());
            }
            if Instant::now() >= end {
                return Err(answer);
            }
            sleep(rest).await;
        }
    }
}
