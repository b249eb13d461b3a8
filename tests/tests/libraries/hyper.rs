//! hyper's own connections, client and server: HTTP/1 and HTTP/2.
//!
//! Every reply equals what was asked for. A server that is told to stop answers what is under way,
//! ends every connection, those included that idle, and then itself.

use super::script::{self, PORT, SERVER, SLOW, Step, Visit};
use futures_util::future::join_all;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::{Bytes, Frame, Incoming};
use hyper::header::{HOST, HeaderMap, HeaderValue};
use hyper::service::service_fn;
use hyper::{Request, Response, client, server};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::graceful::GracefulShutdown;
use sim_core::{Target, always};
use std::convert::Infallible;
use std::error::Error;
use std::io::{self, ErrorKind};
use std::sync::Arc;
use tokio::net::TcpStream;
use tokio::sync::Notify;

type Body = BoxBody<Bytes, Infallible>;

/// The longest body, in bytes.
const LEN_MAX: usize = 6_000;

/// The parts of a body that is streamed, in bytes.
const PART: usize = 100;

/// The trailer after a streamed body.
const TRAILER: &str = "length";

/// The target of HTTP/1.
pub(crate) fn http1() -> Target {
    Target::new("library_hyper1", |sim| script::build(sim, LEN_MAX, serve1, visit1))
}

/// The target of HTTP/2.
pub(crate) fn http2() -> Target {
    Target::new("library_hyper2", |sim| script::build(sim, LEN_MAX, serve2, visit2))
}

/// Serves until it is told to stop, and judges how each connection ended.
macro_rules! serve {
    ($builder:expr, $judge:expr) => {{
        let listener = script::listen().await;
        let (stop, graceful) = (Arc::new(Notify::new()), GracefulShutdown::new());
        loop {
            let stream = tokio::select! {
                accepted = listener.accept() => accepted.expect("a connection came").0,
                () = stop.notified() => break,
            };
            let told = stop.clone();
            let service = service_fn(move |request| answer(request, told.clone()));
            let connection = $builder.serve_connection(TokioIo::new(stream), service);
            let watched = graceful.watch(connection);
            tokio::spawn(async move { $judge(watched.await) });
        }
        graceful.shutdown().await;
    }};
}

async fn serve1() {
    serve!(server::conn::http1::Builder::new(), is_clean);
}

async fn serve2() {
    serve!(server::conn::http2::Builder::new(TokioExecutor::new()), is_over);
}

async fn answer(
    request: Request<Incoming>,
    stop: Arc<Notify>,
) -> Result<Response<Body>, hyper::Error> {
    let path = request.uri().path().to_owned();
    let body = request.into_body().collect().await?.to_bytes();
    if path == "/stop" {
        stop.notify_one();
    }
    if path != "/echo" {
        tokio::time::sleep(SLOW).await;
    }
    let body = if path == "/stream" { streamed(body) } else { Full::new(body).boxed() };
    Ok(Response::new(body))
}

/// A body in parts, with its length in a trailer.
fn streamed(body: Bytes) -> Body {
    let length = HeaderValue::from(body.len());
    let trailers = Frame::trailers(HeaderMap::from_iter([(
        hyper::header::HeaderName::from_static(TRAILER),
        length,
    )]));
    let count = body.len().div_ceil(PART);
    let part = move |at| body.slice(at * PART..body.len().min((at + 1) * PART));
    let parts = (0..count).map(move |at| Frame::data(part(at))).chain([trailers]);
    StreamBody::new(futures_util::stream::iter(parts.map(Ok))).boxed()
}

async fn visit1(part: Visit) {
    let stream = TcpStream::connect((SERVER, PORT)).await.expect("the server listens");
    let (mut sender, connection) =
        client::conn::http1::handshake(TokioIo::new(stream)).await.expect("nothing is sent yet");
    let connection = tokio::spawn(connection);
    for step in &part.steps {
        let (path, payload) = (path(step), step.payload());
        sender.ready().await.expect("the connection is kept");
        let reply = sender.send_request(request(path, &payload)).await;
        // HTTP/1 sends trailers only to who asks for them.
        check(step, false, reply).await;
    }
    if part.is_last() {
        let last = sender.send_request(request("/stop", b"the last")).await;
        let body = last.expect("a request under way is answered").into_body().collect().await;
        always!(body.expect("it is whole").to_bytes() == "the last", "the last reply is right");
    }
    let ended = connection.await.expect("the task does not panic");
    is_clean(ended);
}

async fn visit2(part: Visit) {
    let stream = TcpStream::connect((SERVER, PORT)).await.expect("the server listens");
    let handshake = client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream));
    let (sender, connection) = handshake.await.expect("the server speaks HTTP/2");
    let connection = tokio::spawn(connection);
    for steps in part.steps.chunks(3) {
        join_all(steps.iter().map(|step| {
            let mut sender = sender.clone();
            async move {
                let (path, payload) = (path(step), step.payload());
                sender.ready().await.expect("the connection is kept");
                let reply = sender.send_request(request(path, &payload)).await;
                check(step, path == "/stream", reply).await;
            }
        }))
        .await;
    }
    if part.is_last() {
        let last = sender.clone().send_request(request("/stop", b"the last")).await;
        let body = last.expect("a request under way is answered").into_body().collect().await;
        always!(body.expect("it is whole").to_bytes() == "the last", "the last reply is right");
    }
    let ended = connection.await.expect("the task does not panic");
    is_over(ended);
}

/// Judges the end of a connection of HTTP/1.
fn is_clean(ended: hyper::Result<()>) {
    always!(ended.is_ok(), "a connection ends well, not with {ended:?}");
}

/// Judges the end of a connection of HTTP/2. A side that has all it asked for closes, and what the
/// other one still says of the connection itself then meets a closed socket.
fn is_over(ended: hyper::Result<()>) {
    let kind = ended.as_ref().err().and_then(|error| error.source()?.downcast_ref::<io::Error>());
    let kind = kind.map(io::Error::kind);
    let is_closed = matches!(kind, Some(ErrorKind::BrokenPipe | ErrorKind::ConnectionReset));
    always!(ended.is_ok() || is_closed, "a connection ends well, not with {ended:?}");
}

fn path(step: &Step) -> &'static str {
    ["/echo", "/slow", "/stream"][step.kind as usize % 3]
}

fn request(path: &str, payload: &[u8]) -> Request<Full<Bytes>> {
    let body = Full::new(Bytes::copy_from_slice(payload));
    let uri = format!("http://{SERVER}{path}");
    let request = Request::post(uri).header(HOST, SERVER).body(body);
    request.expect("every part of the request is right")
}

async fn check(step: &Step, has_trailer: bool, reply: hyper::Result<Response<Incoming>>) {
    let reply = match reply {
        Ok(reply) => reply.into_body().collect().await,
        Err(error) => Err(error),
    };
    match reply {
        Ok(reply) => {
            let trailer = reply.trailers().and_then(|trailers| trailers.get(TRAILER).cloned());
            let expected = has_trailer.then(|| HeaderValue::from(step.len));
            always!(trailer == expected, "the trailer of {step:?} is {trailer:?}");
            always!(reply.to_bytes() == step.payload(), "the reply to {step:?} equals it");
        }
        Err(error) => always!(false, "{step:?} is answered, not {error:?}"),
    }
}
