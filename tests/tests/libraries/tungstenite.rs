//! tokio-tungstenite, client and server: messages of all sizes, ping and pong, the closing
//! handshake from either side.
//!
//! Replies equal what was sent and come in order. Each side sees the other's close frame and then
//! the end.
//!
//! Either side takes a handshake that comes in more than 64 small pieces for an attack
//! (`AttackAttempt`), as a window of one or two bytes makes them. So the programs ask for buffers of
//! their own, in place of the swarm's: the smallest that Linux gives.

use super::script::{self, PORT, SERVER, Step, Visit};
use futures_util::future::join;
use futures_util::{Sink, SinkExt, Stream, StreamExt};
use sim_core::{Target, always};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use tokio::net::{TcpListener, TcpSocket, TcpStream, lookup_host};
use tokio::sync::mpsc;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{WebSocketStream, accept_async, client_async};

/// The longest message, in bytes: its length takes eight bytes of a frame's head.
const LEN_MAX: usize = 70_000;

/// The longest ping, in bytes (RFC 6455 5.5).
const PING_MAX: usize = 125;

/// What the programs ask for, in bytes; the kernel makes some thousands of it.
const BUFFER: u32 = 1;

/// Tells the server to close, and to stop.
const STOP: &str = "stop";

/// The target.
pub(crate) fn target() -> Target {
    Target::new("library_tungstenite", |sim| {
        script::build(sim, LEN_MAX, serve, visit);
    })
}

async fn serve() {
    let listener = listen().expect("nothing else has the port");
    let (stop, mut stopped) = mpsc::unbounded_channel();
    loop {
        let stream = tokio::select! {
            accepted = listener.accept() => accepted.expect("a connection came").0,
            _ = stopped.recv() => break,
        };
        let stop = stop.clone();
        tokio::spawn(async move {
            let socket = accept_async(stream).await.expect("the client asks for a socket");
            answer(socket, stop).await.expect("a socket ends well");
        });
    }
    drop(stop);
    // Sockets that are under way end before the server does.
    while stopped.recv().await.is_some() {}
}

/// A socket with small buffers, which those that it accepts have too.
fn socket() -> io::Result<TcpSocket> {
    let socket = TcpSocket::new_v4()?;
    socket.set_recv_buffer_size(BUFFER)?;
    socket.set_send_buffer_size(BUFFER)?;
    Ok(socket)
}

fn listen() -> io::Result<TcpListener> {
    let socket = socket()?;
    socket.bind(SocketAddr::from((Ipv4Addr::UNSPECIFIED, PORT)))?;
    socket.listen(16)
}

async fn dial() -> io::Result<TcpStream> {
    let mut addresses = lookup_host((SERVER, PORT)).await?;
    socket()?.connect(addresses.next().expect("a name has an address")).await
}

async fn answer(
    mut socket: WebSocketStream<TcpStream>,
    stop: mpsc::UnboundedSender<()>,
) -> Result<(), Error> {
    while let Some(message) = socket.next().await {
        match message? {
            Message::Text(text) if text == STOP => {
                stop.send(()).expect("the server waits");
                socket.close(Some(farewell())).await?;
            }
            message @ (Message::Text(_) | Message::Binary(_)) => socket.send(message).await?,
            // The library answers pings, and a close frame with one of its own.
            Message::Ping(_) | Message::Pong(_) | Message::Close(_) | Message::Frame(_) => {}
        }
    }
    Ok(())
}

fn farewell() -> CloseFrame {
    CloseFrame { code: CloseCode::Away, reason: "farewell".into() }
}

async fn visit(part: Visit) {
    let url = format!("ws://{SERVER}:{PORT}/socket");
    let stream = dial().await.expect("the server listens");
    let (mut socket, _) = client_async(url, stream).await.expect("the server gives a socket");
    for steps in part.steps.chunks(2) {
        // Both at once: messages are longer than what the buffers between the two sides hold.
        let (mut sink, mut replies) = (&mut socket).split();
        join(send(&mut sink, steps), receive(&mut replies, steps)).await;
    }
    if part.is_last() {
        socket.send(STOP.into()).await.expect("the server listens");
    } else {
        socket.close(Some(farewell())).await.expect("the server listens");
    }
    let close = socket.next().await;
    let is_close = matches!(&close, Some(Ok(Message::Close(Some(frame)))) if *frame == farewell());
    always!(is_close, "the other side closes, not {close:?}");
    let end = socket.next().await;
    always!(end.is_none(), "after the close frames comes the end, not {end:?}");
}

async fn send(socket: &mut (impl Sink<Message, Error = Error> + Unpin), steps: &[Step]) {
    for step in steps {
        let sent = socket.feed(message(step)).await;
        always!(sent.is_ok(), "{step:?} can be sent, not {sent:?}");
    }
    let sent = socket.flush().await;
    always!(sent.is_ok(), "what was fed can be sent, not {sent:?}");
}

async fn receive(
    socket: &mut (impl Stream<Item = Result<Message, Error>> + Unpin),
    steps: &[Step],
) {
    for step in steps {
        let expected = match message(step) {
            Message::Ping(payload) => Message::Pong(payload),
            message => message,
        };
        match socket.next().await {
            Some(Ok(reply)) => always!(reply == expected, "the reply to {step:?} is right"),
            other => always!(false, "{step:?} is answered, not {other:?}"),
        }
    }
}

fn message(step: &Step) -> Message {
    match step.kind % 3 {
        0 => Message::Text(step.text().into()),
        1 => Message::Binary(step.payload().into()),
        _ => {
            let mut payload = step.payload();
            payload.truncate(PING_MAX);
            Message::Ping(payload.into())
        }
    }
}
