//! The lock: who has the lease, until when, and the last token, which is in a log.
//!
//! A token is in the log before it is given, so no token is given twice, whatever crashes. When a
//! lease ends is not in it: the last one begins anew with each start, so it is never too short.

use super::LEASE;
use crate::systems::parts::line::Lines;
use crate::systems::parts::log::Log;
use crate::systems::parts::serve::{next, reply, serve};
use sim_core::process::Process;
use sim_core::{reached, sometimes};
use std::cell::RefCell;
use std::rc::Rc;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tracing::info;

/// The lock's state. Its log has a line for each token, so the last token is the log's length.
struct Lock {
    log: Log,
    until: Instant,
}

impl Lock {
    fn recover(log: Log) -> Lock {
        let until = if log.is_empty() { Instant::now() } else { Instant::now() + LEASE };
        Lock { log, until }
    }

    /// Answers `lease`, `keep TOKEN` and `end TOKEN`.
    fn answer(&mut self, request: &str) -> String {
        let last = self.log.len() as u64;
        let (kind, token) = request.split_once(' ').unwrap_or((request, ""));
        let is_last = token.parse() == Ok(last);
        match kind {
            "lease" if Instant::now() < self.until => "held".to_owned(),
            "lease" => {
                sometimes!(last > 0, "a lease comes after another one");
                self.log.append("lease");
                self.until = Instant::now() + LEASE;
                info!(token = last + 1, "gives the lease");
                format!("token {}", last + 1)
            }
            // Nobody else was given it, so one that is over may still go on.
            "keep" if is_last => {
                self.until = Instant::now() + LEASE;
                "ok".to_owned()
            }
            "end" if is_last => {
                self.until = Instant::now();
                "ok".to_owned()
            }
            _ => {
                reached!("a leader learns that its lease is another's");
                "lost".to_owned()
            }
        }
    }
}

/// The program of the lock.
///
/// # Panics
/// Where the disk fails, or the port is taken.
pub async fn run(process: Process) {
    let folder = process.host().dir().expect("the host has a disk");
    let log = Log::open(&folder).expect("the disk is well");
    let lock = Rc::new(RefCell::new(Lock::recover(log)));
    serve(&process, JoinSet::new(), move |stream| answer(Lines::new(stream), lock.clone())).await;
}

async fn answer(mut lines: Lines, lock: Rc<RefCell<Lock>>) {
    while let Some(request) = next(&mut lines).await {
        let text = lock.borrow_mut().answer(&request);
        if reply(&mut lines, &text).await.is_none() {
            return;
        }
    }
}
