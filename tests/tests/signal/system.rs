//! A node that waits for signals while its tasks talk over Unix sockets.

use sim_core::{Sim, Target, always};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use tokio::signal::unix::{SignalKind, signal};

const SOCKET: &str = "/run/worker.sock";

/// A front that hands each connection's bytes to a worker of its own machine, and clients of it.
pub(crate) fn target() -> Target {
    Target::new("signals", |sim: &mut Sim| {
        sim.node("front", |_| serve());
        for name in ["first", "second"] {
            sim.client(name, |_| ask());
        }
    })
}

async fn serve() {
    let listener = TcpListener::bind("0.0.0.0:7").await.expect("the port is free");
    drop(std::fs::remove_file(SOCKET));
    let worker = UnixListener::bind(SOCKET).expect("the name is free");
    let mut terminate = signal(SignalKind::terminate()).expect("the signal can be had");
    loop {
        tokio::select! {
            _ = tokio::signal::ctrl_c() => unreachable!("nobody sends one"),
            _ = terminate.recv() => unreachable!("nobody sends one"),
            Ok((stream, _)) = listener.accept() => {
                tokio::task::spawn_local(hand_on(stream));
            }
            Ok((stream, _)) = worker.accept() => {
                tokio::task::spawn_local(work(stream));
            }
        }
    }
}

async fn hand_on(mut stream: TcpStream) {
    let mut worker = UnixStream::connect(SOCKET).await.expect("the worker listens");
    let _ = tokio::io::copy_bidirectional(&mut stream, &mut worker).await;
}

async fn work(mut stream: UnixStream) {
    let mut bytes = [0; 64];
    while let Ok(count @ 1..) = stream.read(&mut bytes).await {
        bytes[..count].make_ascii_uppercase();
        if stream.write_all(&bytes[..count]).await.is_err() {
            return;
        }
    }
}

async fn ask() {
    let mut stream = TcpStream::connect("front:7").await.expect("the front listens");
    let bytes = b"the bytes of a client ".repeat(20);
    let (mut from, mut to) = stream.split();
    let write = async {
        to.write_all(&bytes).await.expect("the front reads");
        to.shutdown().await.expect("the front is there");
    };
    let mut reply = Vec::new();
    let (_, read) = tokio::join!(write, from.read_to_end(&mut reply));
    read.expect("the worker answers");
    always!(reply == bytes.to_ascii_uppercase(), "the reply is whole");
}

/// The descriptors of this process that are open.
pub(crate) fn open_count() -> usize {
    std::fs::read_dir("/proc/self/fd").expect("the system has it").count()
}

/// Outside of every run a signal reaches the runtime that waits for it.
pub(crate) async fn raised() {
    let mut signal = signal(SignalKind::user_defined1()).expect("the signal can be had");
    let kill = std::process::Command::new("kill")
        .args(["-USR1", &std::process::id().to_string()])
        .status();
    assert!(kill.expect("the system has it").success());
    signal.recv().await.expect("it comes");
}
