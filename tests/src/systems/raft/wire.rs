//! What goes over the connections: of nodes to each other, and of clients to nodes.
//!
//! A message is its length in four bytes, little-endian, and its bincode. A connection has one
//! request at a time under way. One that was cut off within a request is not used again.

use super::types::{Command, Reply, State, Types};
use openraft::error::{
    Fatal, RPCError, RaftError, RemoteError, ReplicationClosed, StreamingError, Timeout,
    Unreachable,
};
use openraft::network::RPCOption;
use openraft::raft::{
    AppendEntriesRequest, AppendEntriesResponse, SnapshotResponse, VoteRequest, VoteResponse,
};
use openraft::{
    OptionalSend, RPCTypes, RaftNetwork, RaftNetworkFactory, Snapshot, SnapshotMeta, Vote,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// The longest message, in bytes.
const LEN_MAX: u32 = 1 << 20;

/// What a node is asked.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub enum Request {
    /// By a leader.
    Append(AppendEntriesRequest<Types>),
    /// By a candidate.
    Vote(VoteRequest<u64>),
    /// By a leader, of a node that is far behind.
    Snapshot(Vote<u64>, SnapshotMeta<u64, ()>, Box<State>),
    /// By a client.
    Command(Command),
}

/// What it says.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub enum Response {
    /// To a leader.
    Append(AppendEntriesResponse<u64>),
    /// To a candidate.
    Vote(VoteResponse<u64>),
    /// To a leader that sent its snapshot.
    Snapshot(SnapshotResponse<u64>),
    /// To a client: it is done.
    Done(Reply),
    /// To a client: it is not known to be done, and another node may know more, perhaps this one.
    Elsewhere(Option<u64>),
}

/// Writes a message.
///
/// # Errors
/// What the stream says.
pub async fn write<T: Serialize>(stream: &mut TcpStream, message: &T) -> io::Result<()> {
    let mut bytes = vec![0; 4];
    let config = bincode::config::standard();
    let len = bincode::serde::encode_into_std_write(message, &mut bytes, config);
    let len = u32::try_from(len.map_err(io::Error::other)?).map_err(io::Error::other)?;
    bytes[..4].copy_from_slice(&len.to_le_bytes());
    stream.write_all(&bytes).await
}

/// Reads a message.
///
/// # Errors
/// What the stream says, and `InvalidData` where it is none.
pub async fn read<T: DeserializeOwned>(stream: &mut TcpStream) -> io::Result<T> {
    let len = stream.read_u32_le().await?;
    if len > LEN_MAX {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut bytes = vec![0; len as usize];
    stream.read_exact(&mut bytes).await?;
    let decoded = bincode::serde::decode_from_slice(&bytes, bincode::config::standard());
    let (message, _) = decoded.map_err(|_| io::Error::from(io::ErrorKind::InvalidData))?;
    Ok(message)
}

/// The ways of a node to the others.
#[derive(Clone, Debug)]
pub struct Ways(pub Rc<[SocketAddr]>);

impl RaftNetworkFactory<Types> for Ways {
    type Network = Way;

    async fn new_client(&mut self, target: u64, (): &()) -> Way {
        Way { target, to: self.0[target as usize], stream: None }
    }
}

/// A way to one node: a connection that is dialed again where it broke.
#[derive(Debug)]
pub struct Way {
    target: u64,
    to: SocketAddr,
    stream: Option<TcpStream>,
}

impl Way {
    /// Asks once. The connection is gone with a caller that does not wait for the end.
    async fn ask(&mut self, request: &Request) -> io::Result<Response> {
        let mut stream = match self.stream.take() {
            Some(stream) => stream,
            None => TcpStream::connect(self.to).await?,
        };
        write(&mut stream, request).await?;
        let response = read(&mut stream).await?;
        self.stream = Some(stream);
        Ok(response)
    }

    async fn ask_rpc<T>(
        &mut self,
        request: Request,
        part: impl FnOnce(Response) -> Option<T>,
    ) -> Result<T, RPCError<u64, (), RaftError<u64>>> {
        let response = self
            .ask(&request)
            .await
            .and_then(|response| part(response).ok_or_else(|| io::ErrorKind::InvalidData.into()));
        response.map_err(|error| RPCError::Unreachable(Unreachable::new(&error)))
    }
}

impl RaftNetwork<Types> for Way {
    async fn append_entries(
        &mut self,
        request: AppendEntriesRequest<Types>,
        _: RPCOption,
    ) -> Result<AppendEntriesResponse<u64>, RPCError<u64, (), RaftError<u64>>> {
        let part = |response| match response {
            Response::Append(response) => Some(response),
            _ => None,
        };
        self.ask_rpc(Request::Append(request), part).await
    }

    async fn vote(
        &mut self,
        request: VoteRequest<u64>,
        _: RPCOption,
    ) -> Result<VoteResponse<u64>, RPCError<u64, (), RaftError<u64>>> {
        let part = |response| match response {
            Response::Vote(response) => Some(response),
            _ => None,
        };
        self.ask_rpc(Request::Vote(request), part).await
    }

    async fn full_snapshot(
        &mut self,
        vote: Vote<u64>,
        snapshot: Snapshot<Types>,
        cancel: impl Future<Output = ReplicationClosed> + OptionalSend + 'static,
        option: RPCOption,
    ) -> Result<SnapshotResponse<u64>, StreamingError<Types, Fatal<u64>>> {
        let request = Request::Snapshot(vote, snapshot.meta, snapshot.snapshot);
        let asked = tokio::select! {
            biased;
            closed = cancel => return Err(closed.into()),
            asked = timeout(option.hard_ttl(), self.ask(&request)) => asked,
        };
        match asked {
            Ok(Ok(Response::Snapshot(response))) => Ok(response),
            Ok(Ok(_)) => Err(RemoteError::new(self.target, Fatal::Stopped).into()),
            Ok(Err(error)) => Err(Unreachable::new(&error).into()),
            Err(_) => Err(StreamingError::Timeout(Timeout {
                action: RPCTypes::InstallSnapshot,
                id: vote.leader_id().voted_for().unwrap_or_default(),
                target: self.target,
                timeout: option.hard_ttl(),
            })),
        }
    }
}
