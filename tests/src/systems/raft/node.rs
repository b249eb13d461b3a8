//! A node: openraft over a store on the host's disk, and what it answers.
//!
//! A command goes through the log, and is answered once it is applied. A read does not: the leader
//! makes sure that it still leads, and reads what is applied by then.

use super::disk::Disk;
use super::store::{Acknowledge, Log, Machine};
use super::types::{Action, Command, Reply, Types};
use super::wire::{self, Request, Response, Ways};
use crate::systems::parts::serve::{PORT, serve};
use openraft::error::CheckIsLeaderError;
use openraft::{Config, Raft, Snapshot};
use sim_core::node::Node;
use sim_core::process::{Exit, Process};
use sim_core::reached;
use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::timeout;

/// How long a connection may be silent.
const IDLE: Duration = Duration::from_secs(60);

/// The nodes of a run, with what outlives their processes.
#[derive(Debug)]
pub struct Cluster {
    /// How openraft is set.
    pub config: Arc<Config>,
    /// When appends are acknowledged.
    pub acknowledge: Acknowledge,
    /// The disk of each host.
    pub disks: Vec<Disk>,
    /// The hosts; known before the first of them starts.
    pub node: OnceCell<Node>,
}

impl Cluster {
    fn node(&self) -> &Node {
        self.node.get().expect("the nodes are known before the run")
    }

    /// The disk of a replica as its new process finds it.
    fn disk(&self, replica: usize) -> &Disk {
        let disk = &self.disks[replica];
        if self.node().exits(replica).last() == Some(&Exit::Power) {
            disk.lose_power();
        }
        disk
    }
}

/// The program of a node. It ends with `SIGTERM`.
pub async fn run(process: Process, cluster: Rc<Cluster>) {
    let replica = process.replica();
    let log = Log::recover(cluster.disk(replica), cluster.acknowledge);
    let machine = Machine::recover(&log);
    let addresses = cluster.node().addresses().iter();
    let ways = Ways(addresses.map(|address| SocketAddr::new(*address, PORT)).collect());
    let members: BTreeSet<u64> = (0..ways.0.len() as u64).collect();
    let raft = Raft::new(replica as u64, cluster.config.clone(), ways, log, machine.clone());
    let server = Server { raft: raft.await.expect("the disk is well"), machine };
    // Where the node has a log already it is not allowed, and not needed.
    let _ = server.raft.initialize(members).await;
    let raft = server.raft.clone();
    serve(&process, JoinSet::new(), move |stream| answer(stream, server.clone())).await;
    // What it did not end by itself ends with the process.
    let _ = raft.shutdown().await;
}

/// What answers requests.
#[derive(Clone)]
struct Server {
    raft: Raft<Types>,
    machine: Machine,
}

/// Answers a connection until it is over, or openraft is.
async fn answer(mut stream: TcpStream, server: Server) {
    while let Ok(Ok(request)) = timeout(IDLE, wire::read(&mut stream)).await {
        let Some(response) = server.respond(request).await else { return };
        if !matches!(timeout(IDLE, wire::write(&mut stream, &response)).await, Ok(Ok(()))) {
            return;
        }
    }
}

impl Server {
    async fn respond(&self, request: Request) -> Option<Response> {
        match request {
            Request::Append(request) => {
                self.raft.append_entries(request).await.ok().map(Response::Append)
            }
            Request::Vote(request) => self.raft.vote(request).await.ok().map(Response::Vote),
            Request::Snapshot(vote, meta, state) => {
                let snapshot = Snapshot { meta, snapshot: state };
                let installed = self.raft.install_full_snapshot(vote, snapshot).await;
                installed.ok().map(Response::Snapshot)
            }
            Request::Command(Command { key, action: Action::Read, .. }) => self.read(key).await,
            Request::Command(command) => self.command(command).await,
        }
    }

    /// Has a command go through the log. That another leads does not say that it is not done: it may
    /// be in the log of a node that leads later.
    async fn command(&self, command: Command) -> Option<Response> {
        match self.raft.client_write(command).await {
            Ok(written) => Some(Response::Done(written.data)),
            Err(error) => {
                reached!("a command is sent to another node");
                let other = error.forward_to_leader::<()>()?.leader_id;
                Some(Response::Elsewhere(other))
            }
        }
    }

    async fn read(&self, key: u8) -> Option<Response> {
        match self.raft.ensure_linearizable().await {
            Ok(_) => Some(Response::Done(Reply::Value(self.machine.value(key)))),
            Err(error) => {
                let api = error.into_api_error()?;
                let other = match api {
                    CheckIsLeaderError::ForwardToLeader(to) => to.leader_id,
                    CheckIsLeaderError::QuorumNotEnough(_) => None,
                };
                Some(Response::Elsewhere(other))
            }
        }
    }
}
