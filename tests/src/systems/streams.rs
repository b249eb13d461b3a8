//! Streams of bytes under every fault: what is received is what was sent, in order, up to an end.
//!
//! The bytes of a direction follow from its connection and their offsets. The model: what an end
//! receives is a prefix of what its peer wrote; it is all of it where the stream ended with a FIN
//! and neither end was told of an error. Errors are those that TCP has for what befell the run.
//!
//! Clients give up with whatever error comes, so no fault makes this system fail.

use arbitrary::{Arbitrary, Unstructured};
use sim_core::Process;
use sim_core::control::FaultSpec;
use sim_core::node::NodeSpec;
use sim_core::workload::{Client, Operation, Outcome, WorkloadSpec};
use sim_core::{Sim, Target, always, reached};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::spawn_local;

const PORT: u16 = 9;

/// How long a client waits for a conversation to end: past every timer of TCP.
const PATIENCE: Duration = Duration::from_secs(10_000);

/// The errors that faults may bring, as Linux numbers them: `EPIPE`, `ECONNRESET`, `ENOTCONN`,
/// `ETIMEDOUT`, `ECONNREFUSED`.
const ERRNOS: [i32; 5] = [32, 104, 107, 110, 111];

/// What a client does: a conversation on a connection of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Talk {
    /// How many bytes it sends.
    request: u32,
    /// How many the server sends meanwhile.
    reply: u32,
    /// How large its writes and reads are, in bytes.
    step: u32,
    /// How it ends.
    ending: Ending,
}

/// How a client ends its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    /// It ends its direction and reads to the end.
    Orderly,
    /// It drops the connection once its bytes are written.
    Drop,
    /// It drops the connection after so many milliseconds.
    Leave(u64),
}

impl<'a> Arbitrary<'a> for Talk {
    fn arbitrary(bytes: &mut Unstructured<'a>) -> arbitrary::Result<Talk> {
        let [request, reply, step, ending]: [u8; 4] = bytes.arbitrary()?;
        let ending = match ending % 8 {
            0..5 => Ending::Orderly,
            5..7 => Ending::Drop,
            _ => Ending::Leave(u64::from(ending)),
        };
        let (request, reply) = (size(request), size(reply));
        Ok(Talk { request, reply, step: size(step).max(1), ending })
    }

    fn size_hint(_depth: usize) -> (usize, Option<usize>) {
        (4, Some(4))
    }
}

/// Few bytes mostly, many sometimes.
fn size(byte: u8) -> u32 {
    match byte {
        0..224 => u32::from(byte),
        byte => u32::from(byte - 223) * 64,
    }
}

/// How many bytes were written on each direction: a conversation's number, and whether the client
/// wrote.
type Model = Rc<RefCell<BTreeMap<(u64, bool), u64>>>;

/// The target.
pub fn target() -> Target {
    Target::new("sim_streams", build)
}

fn build(sim: &mut Sim) {
    let model = Model::default();
    let seen = model.clone();
    let servers = sim
        .node(NodeSpec::new("server").replicas(1..=2), move |process| serve(process, seen.clone()));
    sim.faults(FaultSpec::new().count(6).lasting(Duration::from_secs(2_000)));
    let addresses = servers.addresses().to_vec();
    let spec = WorkloadSpec::new().operations(12).in_flight(4);
    sim.workload(
        &spec,
        move |_: Client| addresses.clone(),
        move |servers, operation| act(servers, operation, model.clone()),
    );
}

async fn serve(process: Process, model: Model) {
    let address = SocketAddr::new(process.address(), PORT);
    let listener = TcpListener::bind(address).await.expect("nothing else has the port");
    while let Ok((stream, _)) = listener.accept().await {
        spawn_local(answer(stream, model.clone()));
    }
}

/// Reads what a client asks for, then talks both ways; whatever fails ends it.
async fn answer(mut stream: TcpStream, model: Model) {
    let mut head = [0; 16];
    if let Err(error) = stream.read_exact(&mut head).await {
        return check_error(&error);
    }
    let word = |at: usize| u32::from_be_bytes(*head[at..].first_chunk().expect("four bytes"));
    let id = u64::from_be_bytes(*head.first_chunk().expect("eight bytes"));
    let (reply, step) = (word(8), word(12));
    let (reader, mut writer) = stream.split();
    let reading = receive(reader, (id, true), step as usize, &model);
    let writing = async {
        send(&mut writer, (id, false), reply, step as usize, &model).await?;
        writer.shutdown().await
    };
    let (read, written) = tokio::join!(reading, writing);
    if let (Ok(is_whole), Ok(())) = (&read, &written) {
        always!(*is_whole, "conversation {id} ends within what the client wrote");
    }
    for error in [read.err(), written.err()].into_iter().flatten() {
        check_error(&error);
    }
}

async fn act(servers: Rc<Vec<IpAddr>>, operation: Operation<Talk>, model: Model) -> Outcome {
    let id = operation.id.0;
    let server = servers[id as usize % servers.len()];
    let talking = talk(server, id, &operation.op, &model);
    match tokio::time::timeout(PATIENCE, talking).await {
        Ok(Ok(())) => Outcome::done(),
        // A peer that was reset says nothing until it is spoken to.
        Err(_) => {
            reached!("a peer says nothing any more");
            Outcome::indeterminate("nothing came any more")
        }
        Ok(Err(error)) => {
            reached!("a conversation ends by an error");
            check_error(&error);
            Outcome::indeterminate(error.to_string())
        }
    }
}

async fn talk(server: IpAddr, id: u64, talk: &Talk, model: &Model) -> io::Result<()> {
    let mut stream = TcpStream::connect((server, PORT)).await?;
    let Talk { request, reply, step, ending } = *talk;
    let head = [&id.to_be_bytes()[..], &reply.to_be_bytes(), &step.to_be_bytes()].concat();
    stream.write_all(&head).await?;
    let (reader, mut writer) = stream.split();
    let step = step as usize;
    let writing = async {
        send(&mut writer, (id, true), request, step, model).await?;
        if ending == Ending::Orderly { writer.shutdown().await } else { Ok(()) }
    };
    match ending {
        Ending::Drop => writing.await,
        Ending::Leave(millis) => {
            let both =
                async { tokio::try_join!(writing, receive(reader, (id, false), step, model)) };
            let both = tokio::time::timeout(Duration::from_millis(millis), both).await;
            both.map_or(Ok(()), |result| result.map(drop))
        }
        Ending::Orderly => {
            let reading = receive(reader, (id, false), step, model);
            let ((), is_whole) = tokio::try_join!(writing, reading)?;
            always!(is_whole, "conversation {id} ends within what the server wrote");
            Ok(())
        }
    }
}

/// The byte of a direction at an offset.
fn byte((id, is_client): (u64, bool), offset: u64) -> u8 {
    let word = (id << 1 | u64::from(is_client)).wrapping_mul(0x9e37_79b9).wrapping_add(offset);
    (word ^ (word >> 8) ^ (word >> 16)) as u8
}

async fn send(
    writer: &mut (impl AsyncWrite + Unpin),
    direction: (u64, bool),
    count: u32,
    step: usize,
    model: &Model,
) -> io::Result<()> {
    let bytes: Vec<u8> = (0..u64::from(count)).map(|offset| byte(direction, offset)).collect();
    for mut chunk in bytes.chunks(step) {
        while !chunk.is_empty() {
            let written = writer.write(chunk).await?;
            *model.borrow_mut().entry(direction).or_default() += written as u64;
            chunk = &chunk[written..];
        }
    }
    Ok(())
}

/// Reads to the end; each byte is the next one. Whether the end came after the last: a stream
/// ends by a FIN, which comes after every byte, unless the other half was told of an error.
async fn receive(
    mut reader: impl AsyncRead + Unpin,
    direction: (u64, bool),
    step: usize,
    model: &Model,
) -> io::Result<bool> {
    let mut offset = 0_u64;
    let mut buffer = vec![0; step];
    loop {
        let count = reader.read(&mut buffer).await?;
        let model = model.borrow();
        let written = model.get(&direction).copied().unwrap_or(0);
        if count == 0 {
            return Ok(offset == written);
        }
        for (at, got) in (offset..).zip(&buffer[..count]) {
            always!(*got == byte(direction, at), "{direction:?} has a wrong byte at {at}");
        }
        offset += count as u64;
        always!(offset <= written, "{direction:?} has {offset} bytes of {written}");
    }
}

/// An error is one that a fault may bring.
fn check_error(error: &io::Error) {
    let is_known = match error.raw_os_error() {
        Some(errno) => ERRNOS.contains(&errno),
        None => error.kind() == io::ErrorKind::UnexpectedEof,
    };
    always!(is_known, "no fault brings {error:?}");
}
