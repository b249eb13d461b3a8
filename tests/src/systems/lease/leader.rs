//! A candidate: it asks for the lease, and while it has it, adds to the set what clients ask for.
//!
//! Invariants: writes come one after the other, and each has the numbers of all before it. After
//! one that was not answered there is no other: what the store has is not known then, so the
//! candidate is no leader until it has another lease.

use super::LEASE;
use super::store::{Set, Stamp, Written};
use crate::systems::parts::line::{Answer, Caller, Lines};
use crate::systems::parts::serve::{PORT, next, reply, serve};
use sim_core::process::Process;
use sim_core::{reached, sometimes};
use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;
use tokio::net::lookup_host;
use tokio::sync::Mutex;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};
use tracing::{Instrument, info, info_span, warn};

/// The reply of a candidate that is no leader, and did nothing.
pub const NO_LEADER: &str = "no leader";

/// The reply of a leader whose write may have been lost.
const LOST: &str = "lost";

/// How long a candidate asks the lock or the store.
const EFFORT: Duration = Duration::from_secs(10);

/// The wait before a leader has its lease made longer, and between two attempts to get one.
const WAIT: Duration = Duration::from_secs(4);

/// How much of its lease must be left where a leader begins to work on a request.
const MARGIN: Duration = Duration::from_secs(4);

/// A lease that a candidate has.
struct Lease {
    token: u64,
    /// When it ends by the clock of the candidate: no later than by that of the lock. In the past
    /// once the leader stepped down.
    until: Cell<Instant>,
}

impl Lease {
    /// Whether it lasts for some time yet.
    fn lasts(&self, time: Duration) -> bool {
        Instant::now() + time < self.until.get()
    }
}

/// What a leader has.
struct Office {
    lease: Rc<Lease>,
    /// The last write. It is answered, or the leader stepped down.
    last: Written,
}

/// A candidate's state: what clients' connections share.
struct Candidate {
    /// What it has while it is the leader; one request at a time works with it.
    office: Mutex<Option<Office>>,
    store: Mutex<Caller>,
}

impl Candidate {
    /// Adds a number to the set where this is the leader.
    async fn add(&self, number: u64, work: Duration) -> &'static str {
        let mut held = self.office.lock().await;
        let office = held.as_mut().filter(|one| one.lease.lasts(MARGIN));
        let Some(office) = office else { return NO_LEADER };
        if office.last.set.has(number) {
            reached!("a number is added again");
            return "ok";
        }
        let left = office.lease.until.get().saturating_duration_since(Instant::now());
        info!(token = office.lease.token, ?left, "works for {work:?}, and then writes");
        sleep(work).await;
        office.last.set.add(number);
        office.last.stamp.number += 1;
        let line = office.last.line();
        let answer = self.store.lock().await.ask(&line, EFFORT).await;
        if answer == Answer::Reply("ok".to_owned()) {
            return "ok";
        }
        sometimes!(
            answer == Answer::Reply("fenced".to_owned()),
            "a leader learns that it is fenced"
        );
        warn!(token = office.lease.token, ?answer, "steps down");
        office.lease.until.set(Instant::now());
        *held = None;
        LOST
    }
}

/// The program of a candidate.
///
/// # Panics
/// Where the port is taken.
pub async fn run(process: Process) {
    let [lock, store] = [address("lock").await, address("store").await];
    let (office, store) = (Mutex::new(None), Mutex::new(store));
    let candidate = Rc::new(Candidate { office, store });
    let mut tasks = JoinSet::new();
    tasks.spawn_local(campaign(candidate.clone(), lock));
    serve(&process, tasks, move |stream| answer(Lines::new(stream), candidate.clone())).await;
}

/// Asks for the lease again and again, and is the leader while it has it.
async fn campaign(candidate: Rc<Candidate>, mut lock: Caller) {
    loop {
        let asked = Instant::now();
        let answer = lock.ask("lease", EFFORT).await;
        if let Some(token) = number(&answer, "token ", 10) {
            let lease = Rc::new(Lease { token, until: Cell::new(asked + LEASE) });
            if let Some(set) = take_over(&candidate, token).await {
                info!(token, %set, "leads");
                let last = Written { stamp: Stamp { token, number: 0 }, set };
                *candidate.office.lock().await = Some(Office { lease: lease.clone(), last });
                keep(&lease, &mut lock).await;
                *candidate.office.lock().await = None;
            }
            // Where it is not heard, the lease ends by the clock.
            let _ = lock.ask(&format!("end {token}"), EFFORT).await;
        }
        sleep(WAIT).await;
    }
}

/// The set, once the store takes writes of this leader and of none before it.
async fn take_over(candidate: &Candidate, token: u64) -> Option<Set> {
    let answer = candidate.store.lock().await.ask(&format!("take {token}"), EFFORT).await;
    number(&answer, "set ", 16).map(Set)
}

/// Has the lease made longer, until it is over or the leader stepped down.
async fn keep(lease: &Lease, lock: &mut Caller) {
    while lease.lasts(Duration::ZERO) {
        sleep(WAIT).await;
        let asked = Instant::now();
        match lock.ask(&format!("keep {}", lease.token), EFFORT).await {
            Answer::Reply(reply) if reply == "lost" => {
                info!(lease.token, "learns that its lease is over");
                return;
            }
            // A leader that stepped down meanwhile stays so.
            Answer::Reply(_) if lease.lasts(Duration::ZERO) => lease.until.set(asked + LEASE),
            _ => {}
        }
    }
}

/// The number in a reply that begins so.
fn number(answer: &Answer, start: &str, radix: u32) -> Option<u64> {
    let Answer::Reply(reply) = answer else { return None };
    u64::from_str_radix(reply.strip_prefix(start)?, radix).ok()
}

/// Answers `add NUMBER MILLIS`.
async fn answer(mut lines: Lines, candidate: Rc<Candidate>) {
    while let Some(request) = next(&mut lines).await {
        let words: Vec<u64> = request.split(' ').filter_map(|word| word.parse().ok()).collect();
        let text = match words[..] {
            [number, millis] => {
                let added = candidate.add(number, Duration::from_millis(millis));
                added.instrument(info_span!("add", number)).await
            }
            _ => "what",
        };
        if reply(&mut lines, text).await.is_none() {
            return;
        }
    }
}

/// The way to a node of one replica.
async fn address(name: &str) -> Caller {
    let mut all = lookup_host((name, PORT)).await.expect("the name is known");
    Caller::new(all.next().expect("it has an address"))
}
