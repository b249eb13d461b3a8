//! A replica of the store: its log, what executing that makes, and how backups follow.

use crate::systems::parts::http::{ATTEMPT, ATTEMPT_MAX, Connection, request};
use crate::systems::parts::log::Log;
use crate::systems::parts::serve::{PORT, serve_http};
use axum::Router;
use axum::extract::{self, Path};
use axum::routing::{get, post};
use hyper::{Method, StatusCode};
use sim_core::process::Process;
use sim_core::{always, reached, sometimes};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use tokio::net::lookup_host;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

/// How long the primary waits for the backups that are connected.
const FOLLOW: Duration = Duration::from_millis(500);

/// The wait between two dials of the primary to a backup.
const WAIT: Duration = Duration::from_millis(500);

/// Makes a store of the records of a log.
pub type Recover = fn(&[String]) -> Store;

/// A key's value, as the list of the writes that made it, and the number of its last command.
#[derive(Clone, Debug, Default)]
pub struct Entry {
    /// The number; of the first command it is one.
    pub number: u64,
    /// The value; empty where nothing was written.
    pub value: String,
}

/// The values of a replica: what executing its log makes.
#[derive(Debug, Default)]
pub struct Store {
    /// By their keys.
    pub entries: BTreeMap<String, Entry>,
}

impl Store {
    /// Executes a command: `NUMBER KEY get`, `NUMBER KEY put WRITE` or `NUMBER KEY append WRITE`.
    fn execute(&mut self, command: &str) {
        let words: Vec<&str> = command.split(' ').collect();
        let entry = self.entries.entry(words[1].to_owned()).or_default();
        entry.number = words[0].parse().expect("a number");
        match words[2..] {
            ["put", write] => entry.value = write.to_owned(),
            ["append", write] if entry.value.is_empty() => entry.value = write.to_owned(),
            ["append", write] => entry.value += &format!(",{write}"),
            _ => {}
        }
    }

    fn entry(&self, key: &str) -> Entry {
        self.entries.get(key).cloned().unwrap_or_default()
    }
}

/// The store that executing some records makes.
pub fn recover(records: &[String]) -> Store {
    sometimes!(!records.is_empty(), "a replica begins with what it had");
    let mut store = Store::default();
    records.iter().for_each(|record| store.execute(record));
    store
}

/// A log, and what executing it makes.
struct State {
    log: Log,
    store: Store,
}

/// What a replica has, and who waits for it.
struct Replica {
    state: Mutex<State>,
    /// The length of the log.
    len: watch::Sender<usize>,
    /// How long the log of each backup is that is connected.
    followed: watch::Sender<BTreeMap<IpAddr, usize>>,
    is_primary: bool,
}

/// A status and a text.
type Answer = (StatusCode, String);

impl Replica {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nobody panics with the state")
    }

    fn execute(&self, state: &mut State, command: &str) {
        state.log.append(command);
        state.store.execute(command);
        self.len.send_replace(state.log.len());
    }

    /// Executes a command of a client, unless that was done; what the answer is, and how long the
    /// log must be on the backups for it.
    fn command(&self, key: &str, number: u64, op: &str) -> Result<(String, usize), Answer> {
        let mut state = self.state();
        let last = state.store.entry(key).number;
        sometimes!(number == last, "a retry finds its command done");
        if number < last {
            reached!("a command comes after a later one");
            return Err((StatusCode::CONFLICT, "old".to_owned()));
        }
        if number > last {
            self.execute(&mut state, &format!("{number} {key} {op}"));
        }
        Ok((state.store.entry(key).value, state.log.len()))
    }

    /// Waits a while for the backups that are connected to have the log up to a length.
    async fn wait_for_backups(&self, len: usize) {
        let mut followed = self.followed.subscribe();
        let all = followed.wait_for(|backups| backups.values().all(|at| *at >= len));
        let followed = timeout(FOLLOW, all).await;
        sometimes!(followed.is_err(), "a reply does not wait for a backup any longer");
    }

    /// Takes a record that the primary has at a place of its log; none where one before is missing.
    fn follow(&self, at: usize, command: &str) -> Option<usize> {
        let mut state = self.state();
        let len = state.log.len();
        if at > len {
            return None;
        }
        if let Some(own) = state.log.records().get(at) {
            always!(own == command, "record {at} is one on every replica");
        }
        if at == len {
            self.execute(&mut state, command);
        }
        Some(state.log.len())
    }
}

/// The program of a replica.
///
/// # Panics
/// Where the disk fails, or the port is taken.
pub async fn run(process: Process, recover: Recover) {
    let folder = process.host().dir().expect("the host has a disk");
    let log = Log::open(&folder).expect("the disk is well");
    let replica = Arc::new(Replica {
        len: watch::Sender::new(log.len()),
        state: Mutex::new(State { store: recover(log.records()), log }),
        followed: watch::Sender::default(),
        is_primary: process.replica() == 0,
    });
    let mut tasks = JoinSet::new();
    if replica.is_primary {
        let all = lookup_host(("kv", PORT)).await.expect("the name is known");
        for backup in all.filter(|one| one.is_ipv4() && one.ip() != process.address()) {
            tasks.spawn(feed(replica.clone(), backup));
        }
    }
    let router = Router::new()
        .route("/keys/{key}", get(peek))
        .route("/keys/{key}/{number}", post(command))
        .route("/log", get(len))
        .route("/log/{at}", post(follow))
        .with_state(replica);
    serve_http(&process, router).await;
    tasks.shutdown().await;
}

/// Answers with what this replica has of a key, which may be stale.
async fn peek(
    extract::State(replica): extract::State<Arc<Replica>>,
    Path(key): Path<String>,
) -> String {
    replica.state().store.entry(&key).value
}

/// Executes `get`, `put WRITE` or `append WRITE`, and answers with the value after it.
async fn command(
    extract::State(replica): extract::State<Arc<Replica>>,
    Path((key, number)): Path<(String, u64)>,
    op: String,
) -> Answer {
    if !replica.is_primary {
        return (StatusCode::MISDIRECTED_REQUEST, "not the primary".to_owned());
    }
    match replica.command(&key, number, &op) {
        Ok((value, len)) => {
            replica.wait_for_backups(len).await;
            (StatusCode::OK, value)
        }
        Err(refused) => refused,
    }
}

/// Answers a primary with the length of the log.
async fn len(extract::State(replica): extract::State<Arc<Replica>>) -> String {
    replica.state().log.len().to_string()
}

/// Takes a record of the primary, and answers with the length of the log.
async fn follow(
    extract::State(replica): extract::State<Arc<Replica>>,
    Path(at): Path<usize>,
    record: String,
) -> Answer {
    match replica.follow(at, &record) {
        Some(len) => (StatusCode::OK, len.to_string()),
        None => (StatusCode::CONFLICT, "a record before it is missing".to_owned()),
    }
}

/// Feeds a backup for as long as the primary lives.
async fn feed(replica: Arc<Replica>, backup: SocketAddr) {
    let mut attempt = ATTEMPT;
    loop {
        feed_once(&replica, backup, attempt).await;
        replica.followed.send_modify(|followed| {
            followed.remove(&backup.ip());
        });
        attempt = ATTEMPT_MAX.min(attempt * 2);
        sleep(WAIT).await;
    }
}

/// Feeds a backup over one connection, until that breaks or an answer does not come in time; none
/// then.
async fn feed_once(replica: &Replica, backup: SocketAddr, attempt: Duration) -> Option<Infallible> {
    let mut connection = timeout(attempt, Connection::dial(backup)).await.ok()?.ok()?;
    let mut len = replica.len.subscribe();
    let mut ask = request(Method::GET, "/log", "");
    loop {
        let reply = timeout(attempt, connection.ask(ask)).await.ok()?.ok()?;
        let at = reply.body.parse::<usize>().ok().filter(|_| reply.status == StatusCode::OK)?;
        replica.followed.send_modify(|followed| {
            followed.insert(backup.ip(), at);
        });
        len.wait_for(|len| *len > at).await.ok()?;
        let record = replica.state().log.records()[at].clone();
        ask = request(Method::POST, &format!("/log/{at}"), record);
    }
}
