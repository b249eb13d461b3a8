//! A replica of the store: its log, what executing that makes, and how backups follow.

use crate::systems::parts::line::{ATTEMPT, ATTEMPT_MAX, Lines};
use crate::systems::parts::log::Log;
use crate::systems::parts::serve::{PORT, next, reply, serve};
use sim_core::process::Process;
use sim_core::{always, reached, sometimes};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;
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

/// What a replica has, and who waits for it.
struct Replica {
    log: RefCell<Log>,
    store: RefCell<Store>,
    /// The length of the log.
    len: watch::Sender<usize>,
    /// How long the log of each backup is that is connected.
    followed: watch::Sender<BTreeMap<IpAddr, usize>>,
    is_primary: bool,
}

impl Replica {
    fn execute(&self, command: &str) {
        self.log.borrow_mut().append(command);
        self.store.borrow_mut().execute(command);
        self.len.send_replace(self.log.borrow().len());
    }

    /// The reply to a request of a client.
    async fn answer(&self, request: &str) -> String {
        let words: Vec<&str> = request.split(' ').collect();
        if let ["peek", key] = words[..] {
            return format!("stale {}", self.store.borrow().entry(key).value);
        }
        if !self.is_primary {
            return "not the primary".to_owned();
        }
        let number: u64 = words[0].parse().expect("clients send numbers");
        let last = self.store.borrow().entry(words[1]).number;
        sometimes!(number == last, "a retry finds its command done");
        if number < last {
            reached!("a command comes after a later one");
            return "old".to_owned();
        }
        if number > last {
            self.execute(request);
        }
        let value = self.store.borrow().entry(words[1]).value;
        let len = self.log.borrow().len();
        let mut followed = self.followed.subscribe();
        let all = followed.wait_for(|backups| backups.values().all(|at| *at >= len));
        let followed = timeout(FOLLOW, all).await;
        sometimes!(followed.is_err(), "a reply does not wait for a backup any longer");
        format!("ok {value}")
    }

    /// Takes a record that the primary has at a place of its log; none where one before is missing.
    fn follow(&self, record: &str) -> Option<String> {
        let (at, command) = record.split_once(' ')?;
        let at: usize = at.parse().ok()?;
        let len = self.log.borrow().len();
        if at > len {
            return None;
        }
        if let Some(own) = self.log.borrow().records().get(at) {
            always!(own == command, "record {at} is one on every replica");
        }
        if at == len {
            self.execute(command);
        }
        Some(format!("at {}", self.log.borrow().len()))
    }
}

/// The program of a replica.
///
/// # Panics
/// Where the disk fails, or the port is taken.
pub async fn run(process: Process, recover: Recover) {
    let folder = process.host().dir().expect("the host has a disk");
    let log = Log::open(&folder).expect("the disk is well");
    let replica = Rc::new(Replica {
        store: RefCell::new(recover(log.records())),
        len: watch::Sender::new(log.len()),
        log: RefCell::new(log),
        followed: watch::Sender::default(),
        is_primary: process.replica() == 0,
    });
    let mut tasks = JoinSet::new();
    if replica.is_primary {
        let all = lookup_host(("kv", PORT)).await.expect("the name is known");
        for backup in all.filter(|one| one.is_ipv4() && one.ip() != process.address()) {
            tasks.spawn_local(feed(replica.clone(), backup));
        }
    }
    serve(&process, tasks, move |stream| answer(Lines::new(stream), replica.clone())).await;
}

/// Answers a connection: of a client, or of a primary that feeds this backup.
async fn answer(mut lines: Lines, replica: Rc<Replica>) {
    while let Some(request) = next(&mut lines).await {
        let text = match request.strip_prefix("feed") {
            Some("") => Some(format!("at {}", replica.log.borrow().len())),
            Some(record) => replica.follow(record.trim_start()),
            None => Some(replica.answer(&request).await),
        };
        let Some(text) = text else { return };
        if reply(&mut lines, &text).await.is_none() {
            return;
        }
    }
}

/// Feeds a backup for as long as the primary lives.
async fn feed(replica: Rc<Replica>, backup: SocketAddr) {
    let mut attempt = ATTEMPT;
    loop {
        let _error = feed_once(&replica, backup, attempt).await;
        replica.followed.send_modify(|followed| {
            followed.remove(&backup.ip());
        });
        attempt = ATTEMPT_MAX.min(attempt * 2);
        sleep(WAIT).await;
    }
}

/// Feeds a backup over one connection, until that breaks or an answer does not come in time.
async fn feed_once(replica: &Replica, backup: SocketAddr, attempt: Duration) -> io::Result<()> {
    let mut lines = timeout(attempt, Lines::dial(backup)).await??;
    let mut len = replica.len.subscribe();
    let mut request = "feed".to_owned();
    loop {
        lines.write(&request).await?;
        let reply = timeout(attempt, lines.read()).await??;
        let at = reply.strip_prefix("at ").and_then(|at| at.parse::<usize>().ok());
        let at = at.ok_or(io::ErrorKind::InvalidData)?;
        replica.followed.send_modify(|followed| {
            followed.insert(backup.ip(), at);
        });
        len.wait_for(|len| *len > at).await.map_err(io::Error::other)?;
        request = format!("feed {at} {}", replica.log.borrow().records()[at]);
    }
}
