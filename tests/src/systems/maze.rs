//! A walk of many doors, of which each must be the right one, with a bug behind the last.
//!
//! A client tells a server which door to take next, a byte each; a wrong one leads back to the
//! start. Which door is right is in a table, so the same code takes the server from each room to the
//! next: coverage of code cannot tell the rooms apart. What it [observes](sim_core::observe) can. A
//! sweep opens the last door once in 4^12 walks. The network is calm, so that a search sees rooms and
//! little else.

use arbitrary::{Arbitrary, Unstructured};
use sim_core::workload::{Client, Operation, Outcome, WorkloadSpec};
use sim_core::{Process, Sim, Target, always, observe, sometimes};
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Mutex;

/// The port of the server.
const PORT: u16 = 7;

/// How many doors a room has.
const DOORS: u8 = 4;

/// The right door of each room.
const RIGHT: [u8; 12] = [3, 2, 1, 3, 0, 1, 2, 1, 3, 2, 0, 3];

/// What a client does: takes a door.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Take(u8);

impl<'a> Arbitrary<'a> for Take {
    fn arbitrary(bytes: &mut Unstructured<'a>) -> arbitrary::Result<Take> {
        Ok(Take(u8::arbitrary(bytes)? % DOORS))
    }

    fn size_hint(_depth: usize) -> (usize, Option<usize>) {
        (1, Some(1))
    }
}

/// The target.
pub fn target() -> Target {
    Target::new("sim_maze_planted", build)
}

fn build(sim: &mut Sim) {
    sim.set_latency(Duration::ZERO);
    sim.set_send_buffer(0);
    sim.set_receive_buffer(0);
    sim.set_pieces(0);
    let server = sim.node("maze", serve);
    let address = SocketAddr::from((server.addresses()[0], PORT));
    let spec = WorkloadSpec::new().clients(1..=1).operations(20).in_flight(1).pause(Duration::ZERO);
    sim.workload(&spec, |_: Client| Mutex::new(None), move |way, op| act(way, op, address));
}

/// The room behind a door: the next one, or the first.
fn behind(room: usize, door: u8) -> usize {
    if RIGHT.get(room) == Some(&door) { room + 1 } else { 0 }
}

/// Leads whoever dials through the rooms, one after the other.
async fn serve(_process: Process) -> io::Result<()> {
    let listener = TcpListener::bind(("0.0.0.0", PORT)).await?;
    loop {
        let (mut stream, _) = listener.accept().await?;
        let (mut room, mut door) = (0, [0]);
        while stream.read_exact(&mut door).await.is_ok() {
            room = behind(room, door[0]);
            observe(room);
            sometimes!(room == RIGHT.len() / 2, "half of the doors are behind");
            if stream.write_all(&[room as u8]).await.is_err() {
                break;
            }
        }
    }
}

/// Takes a door, over the connection that the client keeps.
async fn act(way: Rc<Mutex<Option<TcpStream>>>, op: Operation<Take>, to: SocketAddr) -> Outcome {
    let Take(door) = op.op;
    match take(&mut *way.lock().await, door, to).await {
        Ok(room) => {
            always!(usize::from(room) < RIGHT.len(), "nobody comes out of the maze");
            Outcome::done().with(format!("room {room}"))
        }
        Err(error) => Outcome::indeterminate(error.to_string()),
    }
}

async fn take(way: &mut Option<TcpStream>, door: u8, to: SocketAddr) -> io::Result<u8> {
    let stream = match way {
        Some(stream) => stream,
        None => way.insert(TcpStream::connect(to).await?),
    };
    stream.write_all(&[door]).await?;
    stream.read_u8().await
}
