//! A server that answers lines in capitals until it is told to end: `PORT=7000 cargo run -p
//! sim-process --example upper`. The same `run` is a node of simulated runs.

use sim_process::{Process, Signal};
use std::io;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

/// The program, over whatever process it is given.
pub async fn run(process: Process) -> io::Result<()> {
    let port = process.var("PORT").and_then(|port| port.parse().ok()).unwrap_or(7_000_u16);
    let mut signals = process.signals(&[Signal::Terminate, Signal::Interrupt])?;
    let host = process.host();
    let listener = host.listen((host.address(), port)).await?;
    process.stdout().write_all(b"ready\n").await?;
    let mut clients = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => drop(clients.spawn(answer(accepted?.0))),
            _ = signals.recv() => break,
        }
    }
    // Nobody new is let in; who is served already is served to the end.
    drop(listener);
    while clients.join_next().await.is_some() {}
    Ok(())
}

async fn answer(mut stream: TcpStream) -> io::Result<()> {
    let (reader, mut writer) = stream.split();
    let mut lines = BufReader::new(reader).lines();
    while let Some(line) = lines.next_line().await? {
        writer.write_all(line.to_uppercase().as_bytes()).await?;
        writer.write_all(b"\n").await?;
    }
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    run(Process::os()).await
}
