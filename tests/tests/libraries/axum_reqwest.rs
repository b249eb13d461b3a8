//! axum's server and reqwest's client: HTTP/1 by host name, over connections that are kept.
//!
//! Every reply equals what was asked for. A slow request that is under way when the server is told
//! to stop is answered, and then the server ends.

use super::script::{self, PORT, SERVER, SLOW, Step, Visit};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::routing::{get, post};
use futures_util::future::join_all;
use futures_util::stream;
use reqwest::Client;
use sim_core::{Target, always};
use std::convert::Infallible;
use std::sync::Arc;
use tokio::sync::Notify;

/// The longest body, in bytes.
const LEN_MAX: usize = 6_000;

/// The parts of a body that is streamed, in bytes.
const PART: usize = 100;

/// The target.
pub(crate) fn target() -> Target {
    Target::new("library_axum", |sim| script::build(sim, LEN_MAX, serve, visit))
}

async fn serve() {
    let listener = script::listen().await;
    let stop = Arc::new(Notify::new());
    let router = Router::new()
        .route("/echo", post(|body: Bytes| async { body }))
        .route("/stream", post(streamed))
        .route("/repeat/{byte}/{len}", get(repeat))
        .route("/stop", post(stopping))
        .with_state(stop.clone());
    let server = axum::serve(listener, router);
    let stopped = async move { stop.notified().await };
    server.with_graceful_shutdown(stopped).await.expect("a server ends well");
}

async fn streamed(body: Bytes) -> Body {
    let count = body.len().div_ceil(PART);
    let part = move |at| body.slice(at * PART..body.len().min((at + 1) * PART));
    Body::from_stream(stream::iter((0..count).map(move |at| Ok::<_, Infallible>(part(at)))))
}

async fn repeat(Path((byte, len)): Path<(u8, usize)>) -> Vec<u8> {
    vec![byte; len]
}

async fn stopping(State(stop): State<Arc<Notify>>, body: Bytes) -> Bytes {
    stop.notify_one();
    tokio::time::sleep(SLOW).await;
    body
}

async fn visit(part: Visit) {
    // A proxy that the environment names would be outside of the run.
    let client = Client::builder().no_proxy().build().expect("a client needs nothing");
    for steps in part.steps.chunks(2) {
        join_all(steps.iter().map(|step| ask(&client, step))).await;
    }
    if part.is_last() {
        let body = b"the last".to_vec();
        let reply = post_to(&client, "stop", body.clone()).await;
        always!(reply == Ok(body), "a request under way is answered, not {reply:?}");
    }
}

async fn ask(client: &Client, step: &Step) {
    let payload = step.payload();
    let (expected, reply) = match step.kind % 3 {
        0 => (payload.clone(), post_to(client, "echo", payload).await),
        1 => (payload.clone(), post_to(client, "stream", payload).await),
        _ => {
            let path = format!("repeat/{}/{}", step.first, step.len);
            (vec![step.first; step.len], body(client.get(url(&path))).await)
        }
    };
    always!(reply == Ok(expected), "the reply to {step:?} is what was asked for, not {reply:?}");
}

fn url(path: &str) -> String {
    format!("http://{SERVER}:{PORT}/{path}")
}

async fn post_to(client: &Client, path: &str, payload: Vec<u8>) -> Result<Vec<u8>, String> {
    body(client.post(url(path)).body(payload)).await
}

async fn body(request: reqwest::RequestBuilder) -> Result<Vec<u8>, String> {
    let reply = async { request.send().await?.error_for_status()?.bytes().await };
    reply.await.map(|bytes| bytes.to_vec()).map_err(|error| format!("{error:?}"))
}
