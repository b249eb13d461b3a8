//! Requests and replies over UDP, under loss, duplication, reordering and partitions.
//!
//! A client sends its request again until the reply is there, with growing waits. A server does what
//! a request asks for once, however often it comes, and answers each time. The model: no request is
//! done twice, and a client's reply is the one of its request, whatever else arrives at its port.
//!
//! A datagram that is lost, late or doubled makes no request fail, and neither does `ECONNREFUSED`
//! while a server is not there yet.

use arbitrary::{Arbitrary, Unstructured};
use sim_core::control::{FaultKind, FaultSpec};
use sim_core::node::NodeSpec;
use sim_core::process::Process;
use sim_core::workload::{Client, Operation, Outcome, WorkloadSpec};
use sim_core::{Sim, Target, always, reached, sometimes};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::rc::Rc;
use std::time::Duration;
use tokio::net::UdpSocket;
use tokio::time::timeout;

const PORT: u16 = 7;

/// The first wait for a reply, and the longest.
const WAIT_MIN: Duration = Duration::from_millis(250);
const WAIT_MAX: Duration = Duration::from_secs(4);

/// How often a client asks at most: past the longest partition of a run.
const TRIES_MAX: u32 = 1_000;

/// The identity at the head of requests and replies, and the value after it in replies.
const WORD: usize = 8;

/// The errno of a port that nobody has.
const ECONNREFUSED: i32 = 111;

/// What a client does: it asks a server for something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ping {
    /// The length of the request beside its identity, in bytes.
    len: u16,
    /// Over IPv6.
    is_v6: bool,
    /// From a socket that is connected.
    is_connected: bool,
}

impl<'a> Arbitrary<'a> for Ping {
    fn arbitrary(bytes: &mut Unstructured<'a>) -> arbitrary::Result<Ping> {
        let [len, kind]: [u8; 2] = bytes.arbitrary()?;
        let len = if len < 224 { u16::from(len) } else { u16::from(len - 223) * 600 };
        Ok(Ping { len, is_v6: kind & 1 != 0, is_connected: kind & 2 != 0 })
    }

    fn size_hint(_depth: usize) -> (usize, Option<usize>) {
        (2, Some(2))
    }
}

/// The value that a server gave each request.
type Model = Rc<RefCell<BTreeMap<u64, u64>>>;

/// The addresses of one server.
type Place = [IpAddr; 2];

/// What a client keeps: where the servers are, and its sockets that no request uses. What comes late
/// for one request comes to the next of its socket.
struct Keep {
    places: Vec<Place>,
    idle: RefCell<BTreeMap<(bool, bool), Vec<UdpSocket>>>,
}

/// The target.
pub fn target() -> Target {
    Target::new("sim_ping", build)
}

fn build(sim: &mut Sim) {
    let model = Model::default();
    let done = model.clone();
    let servers = sim.node(NodeSpec::new("server").replicas(1..=2), move |process: Process| {
        serve(process.replica() as u64, done.clone())
    });
    let kinds = [FaultKind::Partition, FaultKind::OneWay, FaultKind::Isolation, FaultKind::Delay];
    sim.faults(FaultSpec::new().kinds(kinds));
    let both = servers.addresses().iter().zip(servers.addresses_v6());
    let places: Vec<Place> = both.map(|(v4, v6)| [*v4, *v6]).collect();
    let spec = WorkloadSpec::new().operations(20).in_flight(6);
    sim.workload(
        &spec,
        move |_: Client| Keep { places: places.clone(), idle: RefCell::default() },
        move |keep, operation| act(keep, operation, model.clone()),
    );
}

/// Does each request once, and answers it each time.
async fn serve(replica: u64, model: Model) {
    let socket = UdpSocket::bind((Ipv6Addr::UNSPECIFIED, PORT)).await;
    let socket = socket.expect("nothing else has the port");
    let (mut done, mut buffer) = (BTreeMap::new(), vec![0; 65_536]);
    while let Ok((len, from)) = socket.recv_from(&mut buffer).await {
        let id = word(&buffer[..len], 0);
        let count = done.len() as u64;
        sometimes!(done.contains_key(&id), "a request comes again");
        let value = *done.entry(id).or_insert_with(|| {
            let value = replica << 32 | count;
            let before = model.borrow_mut().insert(id, value);
            always!(before.is_none(), "request {id} is done once, not as {before:?} and {value}");
            value
        });
        let mut reply = id.to_be_bytes().to_vec();
        reply.extend(value.to_be_bytes());
        reply.extend(buffer[WORD..len].iter().rev());
        let sent = socket.send_to(&reply, from).await;
        always!(sent.as_ref().is_ok_and(|sent| *sent == reply.len()), "a reply is sent: {sent:?}");
    }
}

async fn act(keep: Rc<Keep>, operation: Operation<Ping>, model: Model) -> Outcome {
    let (id, ping) = (operation.id.0, operation.op);
    let place = keep.places[id as usize % keep.places.len()];
    let to = SocketAddr::new(place[usize::from(ping.is_v6)], PORT);
    match ask(&keep, to, id, ping).await {
        Ok(Some(value)) => {
            let done = model.borrow().get(&id).copied();
            always!(done == Some(value), "request {id} is done as {done:?} and answered {value}");
            Outcome::done()
        }
        Ok(None) => Outcome::indeterminate("no reply came"),
        Err(error) => {
            always!(false, "no fault makes a call fail: {error:?}");
            Outcome::failed("a call failed")
        }
    }
}

/// Asks until the reply comes; gives its value.
async fn ask(keep: &Keep, to: SocketAddr, id: u64, ping: Ping) -> io::Result<Option<u64>> {
    let kind = (ping.is_v6, ping.is_connected);
    let idle = keep.idle.borrow_mut().entry(kind).or_default().pop();
    let socket = match idle {
        Some(socket) => socket,
        None => UdpSocket::bind((any(ping.is_v6), 0)).await?,
    };
    if ping.is_connected {
        socket.connect(to).await?;
    }
    let value = ask_from(&socket, to, id, ping).await;
    keep.idle.borrow_mut().entry(kind).or_default().push(socket);
    value
}

fn any(is_v6: bool) -> IpAddr {
    if is_v6 { Ipv6Addr::UNSPECIFIED.into() } else { Ipv4Addr::UNSPECIFIED.into() }
}

async fn ask_from(
    socket: &UdpSocket,
    to: SocketAddr,
    id: u64,
    ping: Ping,
) -> io::Result<Option<u64>> {
    let mut request = id.to_be_bytes().to_vec();
    request.extend((0..ping.len).map(|at| byte(id, at)));
    let mut wait = WAIT_MIN;
    for _ in 0..TRIES_MAX {
        let sent = match ping.is_connected {
            true => socket.send(&request).await,
            false => socket.send_to(&request, to).await,
        };
        tolerate(sent.map(|_| ()))?;
        match timeout(wait, answer(socket, to, id, ping)).await {
            Ok(Ok(value)) => return Ok(Some(value)),
            Ok(Err(error)) => {
                tolerate(Err(error))?;
                tokio::time::sleep(wait).await;
            }
            Err(_) => {}
        }
        wait = (wait * 2).min(WAIT_MAX);
    }
    Ok(None)
}

/// The value of the reply to a request; replies to whoever had the socket before are none.
async fn answer(socket: &UdpSocket, server: SocketAddr, id: u64, ping: Ping) -> io::Result<u64> {
    let mut buffer = vec![0; 65_536];
    loop {
        let (len, from) = socket.recv_from(&mut buffer).await?;
        let reply = &buffer[..len];
        if word(reply, 0) != id || from != server {
            reached!("a reply comes too late for its request");
            continue;
        }
        let expected = (0..ping.len).rev().map(|at| byte(id, at));
        let is_whole = reply[2 * WORD..].iter().copied().eq(expected);
        always!(is_whole, "the reply to {id} is whole");
        return Ok(word(reply, WORD));
    }
}

/// A refusal would be of a server that is not there yet.
fn tolerate(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.raw_os_error() == Some(ECONNREFUSED) => Ok(()),
        result => result,
    }
}

fn word(bytes: &[u8], at: usize) -> u64 {
    let word = bytes.get(at..).and_then(|bytes| bytes.first_chunk());
    always!(word.is_some(), "a datagram of {} bytes is whole", bytes.len());
    word.map_or(0, |word| u64::from_be_bytes(*word))
}

/// The byte of a request at an offset.
fn byte(id: u64, at: u16) -> u8 {
    (id.wrapping_mul(0x9e37_79b9) >> 8) as u8 ^ at as u8 ^ (at >> 8) as u8
}
