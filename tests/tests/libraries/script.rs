//! What the clients of a library's system do: how many there are, and what each asks for.
//!
//! Every system has one server and one or two clients on hosts of their own. A run ends when all of
//! them have ended, so a server that does not end after it was told to stop fails the run.
//!
//! # Determinism
//! The swarm draws how many clients and steps there are, the seed tree what each step is.

use rand_core::Rng;
use sim_core::Sim;
use std::cell::Cell;
use std::net::Ipv4Addr;
use std::rc::Rc;
use std::time::Duration;
use tokio::net::TcpListener;

/// The most clients, and the most steps of each.
const CLIENTS: u64 = 2;
const STEPS: u64 = 8;

/// One step in so many is long, the others have up to `SHORT` bytes.
const LONG: u32 = 8;
const SHORT: usize = 300;

/// The name of the server's host.
pub(crate) const SERVER: &str = "server";

/// The port of the server.
pub(crate) const PORT: u16 = 80;

/// How long a server thinks where it is asked to be slow.
pub(crate) const SLOW: Duration = Duration::from_millis(3);

/// Binds the server's port.
///
/// # Panics
/// Where the port is taken.
pub(crate) async fn listen() -> TcpListener {
    let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, PORT)).await;
    listener.expect("nothing else has the port")
}

/// One thing that a client asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    /// Which kind of thing, as the system reads it.
    pub(crate) kind: u32,
    /// The length of what is sent, in bytes.
    pub(crate) len: usize,
    /// Its first byte.
    pub(crate) first: u8,
}

impl Step {
    fn draw(stream: &mut impl Rng, len_max: usize) -> Step {
        let room = if stream.next_u32().is_multiple_of(LONG) { len_max } else { SHORT };
        let len = stream.next_u32() as usize % (room + 1);
        Step { kind: stream.next_u32(), len, first: stream.next_u32() as u8 }
    }

    /// What is sent.
    pub(crate) fn payload(&self) -> Vec<u8> {
        (0..self.len).map(|at| self.first.wrapping_add((at / 7) as u8)).collect()
    }

    /// As [`Step::payload`], as text.
    pub(crate) fn text(&self) -> String {
        self.payload().into_iter().map(|byte| char::from(b'a' + byte % 26)).collect()
    }
}

/// A client's part of a run.
#[derive(Clone)]
pub(crate) struct Visit {
    /// Which client, from zero.
    pub(crate) client: usize,
    /// What it asks for, in order.
    pub(crate) steps: Vec<Step>,
    left: Rc<Cell<usize>>,
}

impl Visit {
    /// The client has done its steps; whether it is the last one, who tells the server to stop.
    pub(crate) fn is_last(&self) -> bool {
        self.left.set(self.left.get() - 1);
        self.left.get() == 0
    }
}

/// Describes a run of a server and its clients, whose longest step has `len_max` bytes.
pub(crate) fn build<S, C>(
    sim: &mut Sim,
    len_max: usize,
    serve: impl Fn() -> S + 'static,
    visit: impl Fn(Visit) -> C + Clone + 'static,
) where
    S: Future<Output = ()> + 'static,
    C: Future<Output = ()> + 'static,
{
    let clients = 1 + sim.dimension("clients", CLIENTS - 1) as usize;
    let steps = 1 + sim.dimension("steps", STEPS - 1);
    let mut stream = sim.rand("steps");
    sim.client(SERVER, move |_| serve());
    let left = Rc::new(Cell::new(clients));
    for client in 0..clients {
        let steps = (0..steps).map(|_| Step::draw(&mut stream, len_max)).collect();
        let (part, visit) = (Visit { client, steps, left: left.clone() }, visit.clone());
        sim.client(&format!("client-{client}"), move |_| visit(part.clone()));
    }
}
