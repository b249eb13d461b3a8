//! An echo server and clients that keep a few connections each.
//!
//! The model: every reply equals its request, and every acknowledged message was received once, and
//! none twice.
//! Without faults every operation ends well, so a client that waits for ever is a failure too.
//!
//! A frame is a length of two bytes, an identity of eight and a payload.

use arbitrary::{Arbitrary, Unstructured};
use sim_core::Process;
use sim_core::node::NodeSpec;
use sim_core::workload::{Client, Operation, OperationId, Outcome, WorkloadSpec};
use sim_core::{Checker, Sim, Target, Violation, always, sometimes};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Mutex;

/// The port of the server.
pub const PORT: u16 = 7;

/// How many connections a client keeps.
const CONNECTIONS: usize = 3;

/// How many lengths a payload may have, in bytes from zero.
const PAYLOADS: usize = 100;

/// What a client does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Op {
    /// Sends a message of so many bytes on a connection, dialing where it has none, and waits for
    /// the reply.
    Send {
        /// The connection.
        on: usize,
        /// The length of the payload, in bytes.
        len: usize,
    },
    /// Closes a connection.
    Close {
        /// The connection.
        on: usize,
    },
}

impl<'a> Arbitrary<'a> for Op {
    fn arbitrary(bytes: &mut Unstructured<'a>) -> arbitrary::Result<Op> {
        let [kind, on, len]: [u8; 3] = bytes.arbitrary()?;
        let on = usize::from(on) % CONNECTIONS;
        Ok(match kind % 4 {
            3 => Op::Close { on },
            _ => Op::Send { on, len: usize::from(len) % PAYLOADS },
        })
    }

    fn size_hint(_depth: usize) -> (usize, Option<usize>) {
        (3, Some(3))
    }
}

/// What was promised, and what was seen of it.
#[derive(Debug, Default)]
pub struct Model {
    received: BTreeMap<u64, u32>,
    acknowledged: Vec<u64>,
}

impl Model {
    /// The server received a message.
    pub fn on_received(&mut self, id: u64) {
        *self.received.entry(id).or_default() += 1;
    }

    /// The reply to a message came.
    pub fn on_acknowledged(&mut self, id: u64) {
        self.acknowledged.push(id);
    }
}

impl Checker for Model {
    fn end(&mut self) -> Result<(), Violation> {
        for id in &self.acknowledged {
            let count = self.received.get(id).copied().unwrap_or(0);
            if count != 1 {
                let text = format!("message {id} was acknowledged and received {count} times");
                return Err(Violation::new(text));
            }
        }
        match self.received.iter().find(|(_, count)| **count > 1) {
            Some((id, count)) => Err(Violation::new(format!(
                "message {id} was sent once and received {count} times"
            ))),
            None => Ok(()),
        }
    }
}

/// The model, shared by the nodes and operations of a run.
pub type Shared = Rc<RefCell<Model>>;

/// The target.
pub fn target() -> Target {
    Target::new("sim_echo", |sim| build(sim, serve))
}

/// Describes a run whose servers are `serve`.
pub fn build<F>(sim: &mut Sim, serve: fn(Process, Shared) -> F)
where
    F: Future<Output = ()> + 'static,
{
    let model = Shared::default();
    sim.check(model.clone());
    let seen = model.clone();
    let app = move |process| serve(process, seen.clone());
    let servers = sim.node(NodeSpec::new("echo").replicas(1..=3), app);
    let addresses = servers.addresses().to_vec();
    let state = move |_: Client| Connections::new(&addresses);
    sim.workload(&WorkloadSpec::new(), state, move |connections, operation| {
        act(connections, operation, model.clone())
    });
}

async fn serve(process: Process, model: Shared) {
    let listener = listen(&process).await;
    while let Ok((stream, _)) = listener.accept().await {
        tokio::task::spawn_local(answer(stream, model.clone()));
    }
}

/// Binds the server's port.
///
/// # Panics
/// Where the port is taken.
pub async fn listen(process: &Process) -> TcpListener {
    let address = SocketAddr::new(process.address(), PORT);
    TcpListener::bind(address).await.expect("nothing else has the port")
}

/// Answers the frames of one connection until it ends.
pub async fn answer(mut stream: TcpStream, model: Shared) {
    while let Ok(Some((id, frame))) = read_frame(&mut stream).await {
        model.borrow_mut().on_received(id);
        if stream.write_all(&frame).await.is_err() {
            return;
        }
    }
}

/// Reads one frame, whole; `None` where the stream ends before it.
///
/// # Errors
/// What the stream says, `UnexpectedEof` where it ends inside a frame.
pub async fn read_frame(stream: &mut TcpStream) -> io::Result<Option<(u64, Vec<u8>)>> {
    let mut head = [0; 10];
    if stream.read(&mut head[..1]).await? == 0 {
        return Ok(None);
    }
    stream.read_exact(&mut head[1..]).await?;
    let len = usize::from(u16::from_be_bytes([head[0], head[1]]));
    let id = u64::from_be_bytes(*head.last_chunk().expect("ten bytes end in eight"));
    let mut frame = head.to_vec();
    frame.resize(head.len() + len, 0);
    stream.read_exact(&mut frame[head.len()..]).await?;
    Ok(Some((id, frame)))
}

/// The connections of one client.
#[derive(Debug)]
pub struct Connections {
    servers: Vec<IpAddr>,
    /// The streams that stand.
    pub slots: [Mutex<Option<TcpStream>>; CONNECTIONS],
}

impl Connections {
    /// No connections yet, to some servers.
    pub fn new(servers: &[IpAddr]) -> Connections {
        Connections { servers: servers.to_vec(), slots: Default::default() }
    }

    /// The server of a connection.
    pub fn server(&self, on: usize) -> SocketAddr {
        (self.servers[on % self.servers.len()], PORT).into()
    }
}

/// The stream of a connection, dialed where there is none.
///
/// # Errors
/// Those of [`TcpStream::connect`].
pub async fn dialed(
    slot: &mut Option<TcpStream>,
    server: SocketAddr,
) -> io::Result<&mut TcpStream> {
    Ok(match slot {
        Some(stream) => stream,
        none => none.insert(TcpStream::connect(server).await?),
    })
}

async fn act(connections: Rc<Connections>, operation: Operation<Op>, model: Shared) -> Outcome {
    let OperationId(id) = operation.id;
    match operation.op {
        Op::Close { on } => {
            let closed = connections.slots[on].lock().await.take();
            sometimes!(closed.is_some(), "a connection that stands is closed");
            Outcome::done()
        }
        Op::Send { on, len } => {
            let mut slot = connections.slots[on].lock().await;
            sometimes!(slot.is_some(), "a message goes over a connection that stands");
            let sent =
                async { exchange(dialed(&mut slot, connections.server(on)).await?, id, len).await };
            match sent.await {
                Ok(()) => {
                    model.borrow_mut().on_acknowledged(id);
                    Outcome::done()
                }
                Err(error) => {
                    always!(false, "operation {id} failed without a fault: {error}");
                    Outcome::indeterminate(error.to_string())
                }
            }
        }
    }
}

/// Sends a frame and reads the reply, which is the same.
///
/// # Errors
/// What the stream says, `UnexpectedEof` where it ends first.
pub async fn exchange(stream: &mut TcpStream, id: u64, len: usize) -> io::Result<()> {
    let payload: Vec<u8> = (0..len).map(|at| (id as u8).wrapping_add(at as u8)).collect();
    let head = (len as u16).to_be_bytes();
    let frame = [&head[..], &id.to_be_bytes(), &payload].concat();
    stream.write_all(&frame).await?;
    let reply = read_frame(stream).await?;
    let (_, reply) = reply.ok_or(io::ErrorKind::UnexpectedEof)?;
    always!(reply == frame, "the reply to operation {id} is not its request");
    Ok(())
}
