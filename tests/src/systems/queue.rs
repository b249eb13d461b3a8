//! A queue of jobs: a broker with a log on its disk, workers that lease jobs, and clients that
//! submit them until they are accepted.
//!
//! # The queue
//! The broker appends to its log each job that it accepts, each lease and each completion, before it
//! says so. A client gives a job its identity, so one that is submitted again is accepted once. A
//! lease ends by the clock of the broker, and after a restart of it begins anew; then the job is
//! for the next worker that asks. Each lease has a token, higher than all before it, and a job is
//! completed only with its last token: a worker that was paused for too long is fenced off.
//!
//! # The properties
//! In the end every accepted job is complete. The log has one completion for each complete job, with
//! the last of its tokens, after a worker did it under that token; and no job that nobody submitted.

use super::parts::life;
use super::parts::line::{Answer, Caller, Lines};
use super::parts::log::{self, Log};
use super::parts::serve::{PORT, answer_each, serve};
use arbitrary::{Arbitrary, Unstructured};
use sim_core::check::fail;
use sim_core::node::NodeSpec;
use sim_core::process::{Process, Signal};
use sim_core::workload::{Client, Operation, OperationId, Outcome, WorkloadSpec};
use sim_core::{Checker, Sim, Target, Violation, always, reached, sometimes};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::mem::take;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;
use tokio::net::lookup_host;
use tokio::sync::Mutex;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};
use tracing::info;

/// How long a lease lasts by the clock of the broker: longer than the longest job and the two lines
/// before and after it on the slowest way.
const LEASE: Duration = Duration::from_secs(20);

/// How long what befalls a worker may last: longer than its lease.
const LASTING: Duration = Duration::from_secs(80);

/// How long a worker tries to get a job, and to say that it is done.
const EFFORT: Duration = Duration::from_secs(30);

/// Within which time every job is complete after the workload: past the end of whatever befell the
/// queue.
const HEALED: Duration = Duration::from_secs(3_600);

/// The longest wait of a worker that was given nothing.
const IDLE_MAX: Duration = Duration::from_secs(5);

/// A client submits a job, which takes a worker so many milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Submit {
    millis: u64,
}

impl<'a> Arbitrary<'a> for Submit {
    fn arbitrary(bytes: &mut Unstructured<'a>) -> arbitrary::Result<Submit> {
        let work: u8 = bytes.arbitrary()?;
        Ok(Submit { millis: [0, 1, 20, 300, 1_000, 2_000, 3_000, 4_000][usize::from(work % 8)] })
    }

    fn size_hint(_depth: usize) -> (usize, Option<usize>) {
        (1, Some(1))
    }
}

/// The target.
pub fn target() -> Target {
    Target::new("sim_queue", |sim| build(sim, |job, token| job.token == token))
}

/// Whether a job may be completed with a token.
pub type MayComplete = fn(&Job, u64) -> bool;

/// Describes a run whose broker lets jobs be completed as `may_complete` says.
pub fn build(sim: &mut Sim, may_complete: MayComplete) {
    let model = Shared::default();
    sim.check(model.clone());
    let seen = model.clone();
    let app = move |process| broker(process, may_complete, seen.clone());
    let brokers = sim.node(NodeSpec::new("broker").drains(), app);
    let broker: SocketAddr = (brokers.addresses()[0], PORT).into();
    let seen = model.clone();
    let app = move |process| worker(process, seen.clone());
    let workers = sim.node(NodeSpec::new("worker").replicas(1..=3).drains(), app);
    let patience = life::patience(sim);
    let state = move |_: Client| Mutex::new(Caller::new(broker));
    sim.workload(&WorkloadSpec::new().operations(20), state, move |caller, operation| {
        act(caller, operation, model.clone(), patience)
    });
    sim.last_client("auditor", move |_| audit(broker));
    life::faults(sim);
    life::of_servers(sim, &brokers);
    life::everything(sim, &workers, None, LASTING);
}

/// A job, as the broker knows it.
#[derive(Clone, Debug, Default)]
pub struct Job {
    /// How long it takes.
    pub millis: u64,
    /// The token of its last lease; zero where it never had one.
    pub token: u64,
    /// The token that it was completed with.
    pub completed: Option<u64>,
    until: Option<Instant>,
}

/// The broker's state: what its log makes.
struct Broker {
    log: Log,
    jobs: BTreeMap<u64, Job>,
    /// The last token that was given.
    token: u64,
    may_complete: MayComplete,
    /// Who is told of each line of the log.
    model: Shared,
}

impl Broker {
    /// Begins with the records of a log. Leases that are in it begin anew.
    fn recover(log: Log, may_complete: MayComplete, model: Shared) -> Broker {
        let records = log.records().to_vec();
        let mut broker = Broker { log, jobs: BTreeMap::new(), token: 0, may_complete, model };
        records.iter().for_each(|record| broker.execute(record));
        broker
    }

    /// Appends a record and executes it.
    fn commit(&mut self, record: &str) {
        self.log.append(record);
        self.model.borrow_mut().written.push(record.to_owned());
        info!("writes {record}");
        self.execute(record);
    }

    /// Executes `submit JOB MILLIS`, `lease JOB TOKEN` or `complete JOB TOKEN`.
    fn execute(&mut self, record: &str) {
        let (kind, [id, value]) = parse(record).expect("the broker wrote it");
        let job = self.jobs.entry(id).or_default();
        match kind {
            "submit" => job.millis = value,
            "lease" => {
                (job.token, job.until) = (value, Some(Instant::now() + LEASE));
                self.token = value;
            }
            _ => job.completed = Some(value),
        }
    }

    fn answer(&mut self, request: &str) -> String {
        match (request, parse(request)) {
            ("lease", _) => self.lease(),
            ("left", _) => {
                format!("left {}", self.jobs.values().filter(|job| job.completed.is_none()).count())
            }
            (_, Some(("submit", [id, _]))) => {
                sometimes!(self.jobs.contains_key(&id), "a job is submitted again");
                if !self.jobs.contains_key(&id) {
                    self.commit(request);
                }
                "ok".to_owned()
            }
            (_, Some(("complete", [id, token]))) => self.complete(request, id, token),
            _ => "what".to_owned(),
        }
    }

    /// Leases the first job that is not complete and that nobody has.
    fn lease(&mut self) -> String {
        let now = Instant::now();
        let is_free =
            |job: &Job| job.completed.is_none() && job.until.is_none_or(|until| until <= now);
        let Some((id, job)) = self.jobs.iter().find(|(_, job)| is_free(job)) else {
            return "none".to_owned();
        };
        sometimes!(job.token > 0, "a job is leased again");
        let (id, millis, token) = (*id, job.millis, self.token + 1);
        self.commit(&format!("lease {id} {token}"));
        format!("job {id} {token} {millis}")
    }

    fn complete(&mut self, request: &str, id: u64, token: u64) -> String {
        let Some(job) = self.jobs.get(&id) else { return "what".to_owned() };
        if !(self.may_complete)(job, token) {
            reached!("a late worker is fenced");
            info!(id, token, last = job.token, "fences a worker");
            return "fenced".to_owned();
        }
        sometimes!(job.completed == Some(token), "a worker says again that a job is complete");
        if job.completed != Some(token) {
            self.commit(request);
        }
        "ok".to_owned()
    }
}

/// A word and two numbers.
fn parse(line: &str) -> Option<(&str, [u64; 2])> {
    let mut words = line.split(' ');
    let kind = words.next()?;
    let mut number = || words.next()?.parse().ok();
    Some((kind, [number()?, number()?]))
}

async fn broker(process: Process, may_complete: MayComplete, model: Shared) {
    let folder = process.host().dir().expect("the host has a disk");
    let log = Log::open(&folder).expect("the disk is well");
    model.borrow_mut().folder = Some(folder);
    let broker = Rc::new(RefCell::new(Broker::recover(log, may_complete, model)));
    serve(&process, JoinSet::new(), move |stream| answer(Lines::new(stream), broker.clone())).await;
}

async fn answer(lines: Lines, broker: Rc<RefCell<Broker>>) {
    answer_each(lines, |request| broker.borrow_mut().answer(request)).await;
}

/// Does jobs, one after the other. After `SIGTERM` it ends the one that it has.
async fn worker(process: Process, model: Shared) {
    let mut signals = process.signals(&[Signal::Terminate]).expect("there is such a signal");
    let mut all = lookup_host(("broker", PORT)).await.expect("the name is known");
    let mut caller = Caller::new(all.next().expect("it has an address"));
    let mut wait = IDLE_MAX / 64;
    loop {
        let asked = tokio::select! {
            biased;
            _ = signals.recv() => return,
            answer = caller.ask("lease", EFFORT) => answer,
        };
        if let Some([id, token, millis]) = leased(&asked) {
            info!(id, token, "works for {millis} ms");
            sleep(Duration::from_millis(millis)).await;
            info!(id, token, "did the job");
            model.borrow_mut().done.insert((id, token));
            // Where it is not heard, the lease ends and another worker does the job again.
            let _ = caller.ask(&format!("complete {id} {token}"), EFFORT).await;
            wait = IDLE_MAX / 64;
            continue;
        }
        tokio::select! {
            biased;
            _ = signals.recv() => return,
            () = sleep(wait) => wait = IDLE_MAX.min(wait * 2),
        }
    }
}

/// The job that a worker was given: its identity, the token, and how long it takes.
fn leased(answer: &Answer) -> Option<[u64; 3]> {
    let Answer::Reply(reply) = answer else { return None };
    let numbers: Vec<u64> = reply.strip_prefix("job ")?.split(' ').flat_map(str::parse).collect();
    numbers.try_into().ok()
}

/// What was promised, and what was seen of it.
#[derive(Debug, Default)]
struct Model {
    submitted: BTreeSet<u64>,
    accepted: BTreeSet<u64>,
    /// The jobs that a worker did, each with its token.
    done: BTreeSet<(u64, u64)>,
    /// What the broker wrote into its log, and how much of it is judged.
    written: Vec<String>,
    judged: Judged,
    /// Where that log is.
    folder: Option<PathBuf>,
}

/// What lines of the broker's log come to.
#[derive(Debug, Default)]
struct Judged {
    count: usize,
    /// The last token of each job.
    tokens: BTreeMap<u64, u64>,
    complete: BTreeSet<u64>,
}

type Shared = Rc<RefCell<Model>>;

impl Checker for Model {
    /// Judges what the broker writes, so that a run ends where it went wrong.
    fn step(&mut self) -> Result<(), Violation> {
        if self.judged.count == self.written.len() {
            return Ok(());
        }
        let mut judged = take(&mut self.judged);
        let result = self.judge(&mut judged, &self.written);
        self.judged = judged;
        result
    }

    /// Judges what is on its disk.
    fn end(&mut self) -> Result<(), Violation> {
        let folder = self.folder.as_ref().ok_or_else(|| Violation::new("no broker ever ran"))?;
        let records = log::read(folder).map_err(|error| Violation::new(error.to_string()))?;
        let mut judged = Judged::default();
        self.judge(&mut judged, &records)?;
        match self.accepted.difference(&judged.complete).next() {
            Some(id) => Err(Violation::new(format!("job {id} was accepted and is not complete"))),
            None => Ok(()),
        }
    }
}

impl Model {
    /// Judges the lines of a log that were not judged yet.
    fn judge(&self, judged: &mut Judged, records: &[String]) -> Result<(), Violation> {
        for record in &records[judged.count..] {
            judged.count += 1;
            let (kind, [id, value]) = parse(record).expect("the broker wrote it");
            let (tokens, complete) = (&mut judged.tokens, &mut judged.complete);
            let is_right = match kind {
                "submit" => self.submitted.contains(&id) && tokens.insert(id, 0).is_none(),
                "lease" => tokens.insert(id, value).is_some_and(|before| before < value),
                _ => {
                    let is_last = tokens.get(&id) == Some(&value);
                    is_last && self.done.contains(&(id, value)) && complete.insert(id)
                }
            };
            if !is_right {
                return Err(wrong(record, id, &records[..judged.count]));
            }
        }
        Ok(())
    }
}

/// A line of the broker's log is not right after those before it, which are shown where they are of
/// its job.
fn wrong(record: &str, id: u64, records: &[String]) -> Violation {
    let expected = match parse(record) {
        Some(("submit", _)) => "a job that a client submitted, once",
        Some(("lease", _)) => "a token that is higher than all before it",
        _ => "one completion, with the job's last token, by a worker that did it",
    };
    let is_of_job = |record: &&String| parse(record).is_some_and(|(_, of)| of[0] == id);
    let of_job: Vec<&str> = records.iter().filter(is_of_job).map(String::as_str).collect();
    let got = format!("got:      {}", of_job.join(", "));
    Violation::new(format!("{record:?} is not right in the log of job {id}"))
        .with(vec![format!("expected: {expected}"), got])
}

async fn act(
    caller: Rc<Mutex<Caller>>,
    operation: Operation<Submit>,
    model: Shared,
    patience: Duration,
) -> Outcome {
    let OperationId(id) = operation.id;
    let Submit { millis } = operation.op;
    let mut caller = caller.lock().await;
    model.borrow_mut().submitted.insert(id);
    match caller.ask(&format!("submit {id} {millis}"), patience).await {
        Answer::Reply(reply) => {
            always!(reply == "ok", "a job is accepted, not {reply:?}");
            model.borrow_mut().accepted.insert(id);
            Outcome::done()
        }
        Answer::Unsent(why) => Outcome::failed(why),
        Answer::Lost(why) => Outcome::indeterminate(why),
    }
}

/// Waits until no job is left, and then for a worker that comes back from whatever befell it.
async fn audit(broker: SocketAddr) {
    let mut caller = Caller::new(broker);
    if let Err(answer) = caller.wait_for_none_left(HEALED, IDLE_MAX).await {
        fail(format!("no job is left after {HEALED:?}, not {answer:?}"));
    }
    sleep(LASTING).await;
}
