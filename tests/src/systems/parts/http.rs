//! Requests over HTTP/1, by hyper's own connections, and how a client asks until it is answered.
//!
//! A connection is driven by whoever asks over it: between two requests it does nothing, and no task
//! of it is left when its client ends.

use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::client::conn::http1::{self, SendRequest};
use hyper::header::HOST;
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::TokioIo;
use std::net::SocketAddr;
use std::pin::pin;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep, timeout};

/// A request with its whole body.
pub type Ask = Request<Full<Bytes>>;

/// How long a client waits for a dial and the reply, before it tries again with another connection;
/// twice as long after each time that was not enough, up to [`ATTEMPT_MAX`]. An exchange takes that
/// long where a fault lets few bytes through at a time.
pub const ATTEMPT: Duration = Duration::from_secs(3);

/// The longest attempt.
pub const ATTEMPT_MAX: Duration = Duration::from_secs(96);

/// The wait between attempts.
const WAIT: Duration = Duration::from_millis(500);

/// A request to one server.
///
/// # Panics
/// Where the path is none.
pub fn request(method: Method, path: &str, body: impl Into<Bytes>) -> Ask {
    let request = Request::builder().method(method).uri(path).header(HOST, "server");
    request.body(Full::new(body.into())).expect("the path is one")
}

/// A reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// Its status.
    pub status: StatusCode,
    /// Its whole body, as text.
    pub body: String,
}

/// Why there is no reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unanswered {
    /// No byte of the request was ever sent.
    Unsent(String),
    /// It may have been sent.
    Lost(String),
}

/// A connection to a server, with one request at a time.
#[derive(Debug)]
pub struct Connection {
    sender: SendRequest<Full<Bytes>>,
    driver: http1::Connection<TokioIo<TcpStream>, Full<Bytes>>,
    is_over: bool,
}

impl Connection {
    /// Dials.
    ///
    /// # Errors
    /// That nothing was sent, and why.
    pub async fn dial(to: SocketAddr) -> Result<Connection, Unanswered> {
        let unsent = |error: String| Unanswered::Unsent(error);
        let stream = TcpStream::connect(to).await.map_err(|error| unsent(error.to_string()))?;
        let made = http1::handshake(TokioIo::new(stream)).await;
        let (sender, driver) = made.map_err(|error| unsent(error.to_string()))?;
        Ok(Connection { sender, driver, is_over: false })
    }

    /// Whether another request may go over it, as far as is known.
    pub fn is_open(&self) -> bool {
        !self.is_over && !self.sender.is_closed()
    }

    /// Asks once. A connection whose caller does not wait for the end must not be used again.
    ///
    /// # Errors
    /// Whether the request may have been sent, and why there is no reply.
    pub async fn ask(&mut self, request: Ask) -> Result<Reply, Unanswered> {
        let Connection { sender, driver, is_over } = self;
        let mut exchange = pin!(exchange(sender, request));
        let answer = tokio::select! {
            biased;
            answer = &mut exchange => answer,
            _ = driver, if !*is_over => {
                *is_over = true;
                // What the connection had for its caller is there, or never will be.
                exchange.await
            }
        };
        answer.map_err(|error| match error.is_canceled() {
            true => Unanswered::Unsent(error.to_string()),
            false => Unanswered::Lost(error.to_string()),
        })
    }
}

async fn exchange(sender: &mut SendRequest<Full<Bytes>>, request: Ask) -> hyper::Result<Reply> {
    let reply = sender.send_request(request).await?;
    let status = reply.status();
    let body = reply.into_body().collect().await?.to_bytes();
    Ok(Reply { status, body: String::from_utf8_lossy(&body).into_owned() })
}

/// A client's way to one server: a connection that is dialed again where it broke.
#[derive(Debug)]
pub struct Caller {
    to: SocketAddr,
    connection: Option<Connection>,
    /// How long an attempt may take, as far as is known.
    attempt: Duration,
}

impl Caller {
    /// A way that was not gone yet.
    pub fn new(to: SocketAddr) -> Caller {
        Caller { to, connection: None, attempt: ATTEMPT }
    }

    /// Asks again and again until a reply comes, and gives up after some time. The request must be
    /// one that the server may be asked many times.
    ///
    /// # Errors
    /// Whether one of the attempts may have been sent, and why the last one has no reply.
    pub async fn ask(&mut self, request: &Ask, patience: Duration) -> Result<Reply, Unanswered> {
        let end = Instant::now() + patience;
        let mut was_sent = false;
        loop {
            let attempt = self.attempt.min(end.saturating_duration_since(Instant::now()));
            let error = match self.attempt(request, attempt).await {
                Ok(reply) => return Ok(reply),
                Err(Unanswered::Unsent(error)) => error,
                Err(Unanswered::Lost(error)) => {
                    was_sent = true;
                    error
                }
            };
            if Instant::now() >= end {
                let unanswered = if was_sent { Unanswered::Lost } else { Unanswered::Unsent };
                return Err(unanswered(error));
            }
            sleep(WAIT).await;
        }
    }

    /// Asks once, for so long at most. The connection stays where it had its reply in time.
    async fn attempt(&mut self, request: &Ask, most: Duration) -> Result<Reply, Unanswered> {
        let end = Instant::now() + most;
        let late = || "no reply in time".to_owned();
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => match timeout(most, Connection::dial(self.to)).await {
                Ok(dialed) => dialed?,
                Err(_) => return Err(Unanswered::Unsent(late())),
            },
        };
        let left = end.saturating_duration_since(Instant::now());
        let Ok(answer) = timeout(left, connection.ask(request.clone())).await else {
            self.attempt = ATTEMPT_MAX.min(most * 2).max(self.attempt);
            return Err(Unanswered::Lost(late()));
        };
        if answer.is_ok() && connection.is_open() {
            self.connection = Some(connection);
        }
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    /// A server that reads a request each time, and gives these replies; then it closes.
    async fn server(replies: Vec<&'static str>) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            for reply in replies {
                let count = stream.read(&mut [0; 1_000]).await.unwrap();
                assert!(count > 0, "the connection is kept");
                stream.write_all(reply.as_bytes()).await.unwrap();
            }
        });
        address
    }

    #[tokio::test]
    async fn a_connection_is_used_again_until_the_server_closes_it() {
        let kept = "HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\na";
        let last = "HTTP/1.1 409 Conflict\r\nconnection: close\r\ncontent-length: 1\r\n\r\nb";
        let mut connection = Connection::dial(server(vec![kept, last]).await).await.unwrap();
        let reply = connection.ask(request(Method::GET, "/", "")).await.unwrap();
        assert_eq!((reply.status, &*reply.body), (StatusCode::OK, "a"));
        assert!(connection.is_open());
        let reply = connection.ask(request(Method::POST, "/", "more")).await.unwrap();
        assert_eq!((reply.status, &*reply.body), (StatusCode::CONFLICT, "b"));
        let after = connection.ask(request(Method::GET, "/", "")).await;
        assert!(matches!(after, Err(Unanswered::Unsent(_))), "{after:?}");
        assert!(!connection.is_open());
    }

    #[tokio::test]
    async fn a_request_without_a_reply_may_have_been_sent() {
        let mut connection = Connection::dial(server(vec![""]).await).await.unwrap();
        let answer = connection.ask(request(Method::GET, "/", "")).await;
        assert!(matches!(answer, Err(Unanswered::Lost(_))), "{answer:?}");
    }

    #[tokio::test]
    async fn a_request_to_nobody_was_not_sent() {
        let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
        let mut caller = Caller::new(closed);
        let answer = caller.ask(&request(Method::GET, "/", ""), Duration::ZERO).await;
        assert!(matches!(answer, Err(Unanswered::Unsent(_))), "{answer:?}");
    }
}
