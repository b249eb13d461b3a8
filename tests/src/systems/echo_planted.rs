//! The echo server with a planted bug that needs two things at once.
//!
//! A reply is cut where the send buffer takes only a part of it and another connection was closed
//! since this one was opened. Everything else is [`super::echo`].

use super::echo::{self, Shared};
use sim_core::Process;
use sim_core::Target;
use std::cell::Cell;
use std::io;
use std::rc::Rc;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

/// The target.
pub fn target() -> Target {
    Target::new("sim_echo_planted", |sim| echo::build(sim, serve))
}

async fn serve(process: Process, model: Shared) {
    let listener = echo::listen(&process).await;
    let closed = Rc::new(Cell::new(0));
    while let Ok((stream, _)) = listener.accept().await {
        tokio::task::spawn_local(answer(stream, model.clone(), closed.clone()));
    }
}

async fn answer(mut stream: TcpStream, model: Shared, closed: Rc<Cell<u32>>) {
    let closed_before = closed.get();
    while let Ok(Some((id, frame))) = echo::read_frame(&mut stream).await {
        model.borrow_mut().on_received(id);
        let sent = match stream.try_write(&frame) {
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => 0,
            Err(_) => break,
        };
        let is_cut = (1..frame.len()).contains(&sent) && closed.get() > closed_before;
        if !is_cut && stream.write_all(&frame[sent..]).await.is_err() {
            break;
        }
    }
    closed.set(closed.get() + 1);
}
