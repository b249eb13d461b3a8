//! A set of numbers in a store, which one of several candidates writes: the one with the lease.
//!
//! # The system
//! A lock gives the lease to one candidate at a time, for some time by its own clock, and with each
//! lease a token that is higher than all before it. The one that has it is the leader. It takes
//! over the store with its token, is told the set, and from then on adds to it what clients ask
//! for: it writes the whole set each time, and replies once the store has it. It begins no write
//! that its lease may not outlast, by its own clock, and steps down where a write is not answered.
//!
//! That is not enough. A leader may stand still between its look at the clock and its write, or the
//! write is long on its way, and then it is from a set that others have added to. So the store
//! takes writes with the last token alone, in the order of their numbers: a leader that is late is
//! fenced.
//!
//! # The property
//! What a client was told to be in the set is in it from then on, and nothing else comes into it.

pub mod leader;
pub mod lock;
pub mod store;

use self::store::{MayWrite, Set, Written};
use super::parts::life;
use super::parts::line::{Answer, Caller};
use super::parts::log;
use super::parts::serve::PORT;
use arbitrary::{Arbitrary, Unstructured};
use sim_core::node::{Node, NodeSpec};
use sim_core::workload::{Client, Operation, OperationId, Outcome, WorkloadSpec};
use sim_core::{Checker, Sim, Target, Violation, always, sometimes};
use std::cell::RefCell;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep};

/// How long a lease lasts: a line of the longest kind takes half of that on the slowest way.
const LEASE: Duration = Duration::from_secs(20);

/// How long what befalls a candidate may last: longer than its lease.
const LASTING: Duration = Duration::from_secs(80);

/// Within which time a leader answers after the workload: past the end of whatever befell it.
const HEALED: Duration = Duration::from_secs(3_600);

/// For how long a client asks one candidate before it asks the next one.
const ASK: Duration = Duration::from_secs(10);

/// The wait of a client that every candidate refused.
const WAIT: Duration = Duration::from_millis(500);

/// The number that the auditor adds; operations begin at one.
const AUDITOR: u64 = 0;

/// A client adds its operation's number to the set, over which the leader sits so many
/// milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Add {
    millis: u64,
}

impl<'a> Arbitrary<'a> for Add {
    fn arbitrary(bytes: &mut Unstructured<'a>) -> arbitrary::Result<Add> {
        let work: u8 = bytes.arbitrary()?;
        Ok(Add { millis: [0, 1, 20, 300, 1_000, 2_000][usize::from(work % 6)] })
    }

    fn size_hint(_depth: usize) -> (usize, Option<usize>) {
        (1, Some(1))
    }
}

/// The target.
pub fn target() -> Target {
    Target::new("sim_lease", |sim| build(sim, |last, write| write >= last))
}

/// Describes a run whose store takes writes as `may_write` says.
pub fn build(sim: &mut Sim, may_write: MayWrite) {
    let model = Shared::default();
    sim.check(model.clone());
    let locks = sim.node(NodeSpec::new("lock").drains(), lock::run);
    let seen = model.clone();
    let app = move |process| store::run(process, may_write, seen.clone());
    let stores = sim.node(NodeSpec::new("store").drains(), app);
    let spec = NodeSpec::new("leader").replicas(2..=3).drains();
    let candidates = sim.node(spec, leader::run);
    let patience = life::patience(sim);
    let to = addresses(&candidates);
    let state = move |_: Client| Mutex::new(Way::new(&to));
    let seen = model.clone();
    sim.workload(&WorkloadSpec::new().operations(20), state, move |way, operation| {
        act(way, operation, seen.clone(), patience)
    });
    let to = addresses(&candidates);
    sim.last_client("auditor", move |_| audit(Way::new(&to), model.clone()));
    life::faults(sim);
    life::of_servers(sim, &locks);
    life::of_servers(sim, &stores);
    life::everything(sim, &candidates, Some(PORT), LASTING);
}

fn addresses(node: &Node) -> Vec<SocketAddr> {
    node.addresses().iter().map(|address| (*address, PORT).into()).collect()
}

/// What was promised.
#[derive(Debug, Default)]
pub struct Model {
    asked: Set,
    told: Set,
    /// What the store wrote into its log.
    written: Vec<Written>,
    /// Where that is.
    folder: Option<PathBuf>,
}

type Shared = Rc<RefCell<Model>>;

impl Model {
    /// Whether what clients were told is in the last of some sets.
    fn judge(&self, written: &[Written]) -> Result<(), Violation> {
        let last = written.last().map_or(Set::default(), |write| write.set);
        match self.told.without(last).first() {
            Some(number) => Err(lost(number, written)),
            None => Ok(()),
        }
    }
}

impl Checker for Model {
    /// Judges what the store wrote last, so that a run ends where it went wrong.
    fn step(&mut self) -> Result<(), Violation> {
        self.judge(&self.written)
    }

    /// Judges what is on its disk.
    fn end(&mut self) -> Result<(), Violation> {
        let folder = self.folder.as_ref().ok_or_else(|| Violation::new("no store ever ran"))?;
        let records = log::read(folder).map_err(|error| Violation::new(error.to_string()))?;
        let parse = |record: &String| Written::parse(record).expect("the store wrote it");
        let written: Vec<Written> = records.iter().map(parse).collect();
        if let Some(more) = written.iter().find(|write| !write.set.without(self.asked).is_empty()) {
            return Err(Violation::new(format!("{more} has what nobody asked for")));
        }
        self.judge(&written)
    }
}

/// A number is not in the set, though a client was told so: where it went.
fn lost(number: u64, written: &[Written]) -> Violation {
    let has = |write: &Written| write.set.has(number);
    let pair = written.windows(2).rfind(|pair| has(&pair[0]) && !has(&pair[1]));
    let got = match pair {
        Some([before, after]) => format!("{before}, then {after}"),
        _ => "it never was in it".to_owned(),
    };
    let who = match number {
        AUDITOR => "the auditor".to_owned(),
        operation => format!("operation {operation}"),
    };
    let expected = format!("the set has {number} from then on: {who} was told that it is in it");
    Violation::new(format!("the number {number} is no longer in the set"))
        .with(vec![format!("expected: {expected}"), format!("got:      {got}")])
}

/// A client's ways to the candidates, and which of them it asks first.
struct Way {
    callers: Vec<Caller>,
    first: usize,
}

impl Way {
    fn new(to: &[SocketAddr]) -> Way {
        Way { callers: to.iter().map(|to| Caller::new(*to)).collect(), first: 0 }
    }

    /// Asks one candidate after the other until one does it; else whether one may have done it, and
    /// what the last one said.
    async fn ask(&mut self, request: &str, patience: Duration) -> Result<(), (bool, String)> {
        let end = Instant::now() + patience;
        let mut may_be_done = false;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let why = match self.callers[self.first].ask(request, left.min(ASK)).await {
                Answer::Reply(reply) if reply == "ok" => return Ok(()),
                Answer::Reply(reply) => {
                    may_be_done |= reply != leader::NO_LEADER;
                    reply
                }
                Answer::Unsent(why) => why,
                Answer::Lost(why) => {
                    may_be_done = true;
                    why
                }
            };
            if Instant::now() >= end {
                return Err((may_be_done, why));
            }
            self.first = (self.first + 1) % self.callers.len();
            if self.first == 0 {
                sleep(WAIT).await;
            }
        }
    }
}

async fn act(
    way: Rc<Mutex<Way>>,
    operation: Operation<Add>,
    model: Shared,
    patience: Duration,
) -> Outcome {
    let (OperationId(number), Add { millis }) = (operation.id, operation.op);
    let mut way = way.lock().await;
    model.borrow_mut().asked.add(number);
    let answer = way.ask(&format!("add {number} {millis}"), patience).await;
    sometimes!(matches!(answer, Err((true, _))), "nobody knows whether a number is in the set");
    match answer {
        Ok(()) => {
            model.borrow_mut().told.add(number);
            Outcome::done()
        }
        Err((true, why)) => Outcome::indeterminate(why),
        Err((false, why)) => Outcome::failed(why),
    }
}

/// Adds a number of its own, and then waits for a leader that comes back from whatever befell it.
async fn audit(mut way: Way, model: Shared) {
    model.borrow_mut().asked.add(AUDITOR);
    let answer = way.ask(&format!("add {AUDITOR} 0"), HEALED).await;
    always!(answer.is_ok(), "a leader answers within {HEALED:?}, not {answer:?}");
    if answer.is_ok() {
        model.borrow_mut().told.add(AUDITOR);
        sleep(LASTING).await;
    }
}

#[cfg(test)]
mod tests;
