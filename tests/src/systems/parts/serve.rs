//! A server: a task for each connection, until a signal says that it is enough; or one of axum.

use super::line::Lines;
use axum::Router;
use sim_core::process::{Process, Signal};
use std::net::SocketAddr;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::timeout;

/// The port of the servers.
pub const PORT: u16 = 7;

/// How long a connection may be silent.
const IDLE: Duration = Duration::from_secs(60);

/// Has each connection answered by a task of its own, beside the tasks that are given. It ends with
/// `SIGTERM`, and leaves no task and no socket.
///
/// # Panics
/// Where the port is taken.
pub async fn serve<F>(process: &Process, mut tasks: JoinSet<()>, answer: impl Fn(TcpStream) -> F)
where
    F: Future<Output = ()> + 'static,
{
    let mut signals = process.signals(&[Signal::Terminate]).expect("there is such a signal");
    let address = SocketAddr::new(process.address(), PORT);
    let listener = TcpListener::bind(address).await.expect("nothing else has the port");
    loop {
        tokio::select! {
            biased;
            _ = signals.recv() => break,
            Some(_) = tasks.join_next() => {}
            accepted = listener.accept() => {
                if let Ok((stream, _)) = accepted {
                    tasks.spawn_local(answer(stream));
                }
            }
        }
    }
    drop(listener);
    tasks.shutdown().await;
}

/// Has a router of axum answer. It ends with `SIGTERM`, once what is under way is answered.
///
/// # Panics
/// Where the port is taken.
pub async fn serve_http(process: &Process, router: Router) {
    let mut signals = process.signals(&[Signal::Terminate]).expect("there is such a signal");
    let told = async move {
        signals.recv().await;
    };
    let listener = process.host().listen((process.address(), PORT)).await;
    let server = axum::serve(listener.expect("nothing else has the port"), router);
    server.with_graceful_shutdown(told).await.expect("a server ends well");
}

/// Answers the requests of one connection, each by `answer`, until it is over.
pub async fn answer_each(mut lines: Lines, mut answer: impl FnMut(&str) -> String) {
    while let Some(request) = next(&mut lines).await {
        if reply(&mut lines, &answer(&request)).await.is_none() {
            return;
        }
    }
}

/// Reads the next request; none where the connection is over, or silent for too long.
pub async fn next(lines: &mut Lines) -> Option<String> {
    timeout(IDLE, lines.read()).await.ok()?.ok()
}

/// Writes a reply; none where the connection is over, or does not take it for too long.
pub async fn reply(lines: &mut Lines, text: &str) -> Option<()> {
    timeout(IDLE, lines.write(text)).await.ok()?.ok()
}
