//! A consumer: it joins the group, does the records of its partitions, and commits after each.

use super::Shared;
use crate::systems::parts::line::{Answer, Caller};
use crate::systems::parts::serve::PORT;
use sim_core::process::{Process, Signal};
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::net::lookup_host;
use tokio::time::sleep;
use tracing::info;

/// How long a consumer asks the broker for one thing.
const EFFORT: Duration = Duration::from_secs(30);

/// The longest wait of a consumer that has nothing to do.
const IDLE_MAX: Duration = Duration::from_secs(5);

/// What a consumer works for.
struct Assignment {
    generation: u64,
    /// Its partitions, each with the offset of the next record.
    offsets: BTreeMap<u64, u64>,
}

/// A consumer of the group.
struct Consumer {
    caller: Caller,
    member: u64,
    model: Shared,
}

/// Why a consumer has nothing to do for its generation.
enum Over {
    /// There may be another generation.
    Generation,
    /// It is not in the group.
    Member,
}

/// The program of a consumer. With `SIGTERM` it leaves the group.
pub(super) async fn run(process: Process, model: Shared) {
    let mut signals = process.signals(&[Signal::Terminate]).expect("there is such a signal");
    let mut all = lookup_host(("broker", PORT)).await.expect("the name is known");
    let broker = all.next().expect("it has an address");
    let mut consumer = Consumer { caller: Caller::new(broker), member: 0, model };
    tokio::select! {
        biased;
        _ = signals.recv() => {}
        () = consumer.consume() => {}
    }
    // Over a connection of its own: the other one may be amidst a line. Where it is not heard, the
    // broker finds out.
    let _ = Caller::new(broker).ask(&format!("leave {}", consumer.member), EFFORT).await;
}

impl Consumer {
    /// Joins again whenever it is not in the group.
    async fn consume(&mut self) {
        loop {
            let answer = self.caller.ask("join", EFFORT).await;
            if let Some([member]) = numbers(&answer, "member").as_deref() {
                self.member = *member;
                while let Some(mut assignment) = self.sync().await {
                    if assignment.offsets.is_empty() {
                        sleep(IDLE_MAX).await;
                    } else if let Over::Member = self.work(&mut assignment).await {
                        break;
                    }
                }
            }
            sleep(IDLE_MAX).await;
        }
    }

    async fn sync(&mut self) -> Option<Assignment> {
        let answer = self.caller.ask(&format!("sync {}", self.member), EFFORT).await;
        let numbers = numbers(&answer, "generation")?;
        let (generation, rest) = numbers.split_first()?;
        let offsets: BTreeMap<_, _> = rest.chunks_exact(2).map(|at| (at[0], at[1])).collect();
        info!(generation, ?offsets, "is told its partitions");
        Some(Assignment { generation: *generation, offsets })
    }

    /// Does records of each partition in turn, for as long as its generation lasts.
    async fn work(&mut self, assignment: &mut Assignment) -> Over {
        let mut wait = IDLE_MAX / 64;
        loop {
            let mut is_idle = true;
            for partition in 0..super::PARTITIONS as u64 {
                let Some(offset) = assignment.offsets.get(&partition).copied() else { continue };
                match self.next(assignment.generation, partition, offset).await {
                    Ok(false) => {}
                    Ok(true) => {
                        assignment.offsets.insert(partition, offset + 1);
                        is_idle = false;
                    }
                    Err(over) => return over,
                }
            }
            if is_idle {
                sleep(wait).await;
            }
            wait = if is_idle { IDLE_MAX.min(wait * 2) } else { IDLE_MAX / 64 };
        }
    }

    /// Does a record and commits; whether there was one.
    async fn next(&mut self, generation: u64, partition: u64, offset: u64) -> Result<bool, Over> {
        let request = format!("fetch {} {generation} {partition} {offset}", self.member);
        let answer = self.caller.ask(&request, EFFORT).await;
        let Some(numbers) = numbers(&answer, "record") else {
            return match answer {
                Answer::Reply(reply) if reply == "none" => Ok(false),
                Answer::Reply(reply) if reply == "unknown" => Err(Over::Member),
                _ => Err(Over::Generation),
            };
        };
        let &[id, millis] = &numbers[..] else { return Ok(false) };
        sleep(Duration::from_millis(millis)).await;
        self.model.borrow_mut().done.insert(id);
        info!(generation, partition, offset, id, "did a record");
        let request = format!("commit {generation} {partition} {}", offset + 1);
        match self.caller.ask(&request, EFFORT).await {
            Answer::Reply(reply) if reply == "ok" => Ok(true),
            _ => Err(Over::Generation),
        }
    }
}

/// The numbers of a reply that begins with a word.
fn numbers(answer: &Answer, word: &str) -> Option<Vec<u64>> {
    let Answer::Reply(reply) = answer else { return None };
    let mut words = reply.split(' ');
    if words.next() != Some(word) {
        return None;
    }
    words.map(|word| word.parse().ok()).collect()
}
