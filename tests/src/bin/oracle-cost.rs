//! What it costs to judge a record: 1,000 operations of 5 clients on 10 keys, all of them right.
//!
//! `cargo run --release -p sim-tests --bin oracle-cost` prints a line a record. It is no test: it
//! promises no time.

use rand_core::Rng;
use sim_core::oracle::{
    AppendList, Call, Keyed, Linearizable, ListOp, ListRet, Recorder, Register, RegisterOp,
    RegisterRet, Sequential, Verdict,
};
use sim_core::seed::{Seed, Stream};
use std::time::{Duration, Instant};

const OPERATIONS: u64 = 1_000;
const KEYS: usize = 10;
const CLIENTS: usize = 5;

/// How often each record is judged; the median counts.
const TIMES: usize = 11;

fn main() {
    for lost in [None, Some(20)] {
        let text = lost.map_or("all returned".to_owned(), |one| format!("1 in {one} unknown"));
        let registers = Keyed::new(Register::new(0));
        let cells = record(lost, cell_op, cell_ret);
        let linear = Linearizable::new(registers.clone(), &cells);
        report(&format!("linearizable registers, {text}"), || linear.verdict());
        let sequential = Sequential::new(registers, &cells);
        report(&format!("sequential registers, {text}"), || sequential.verdict());
        let logs = record(lost, list_op, list_ret);
        let linear = Linearizable::new(Keyed::new(AppendList::new()), &logs);
        report(&format!("linearizable lists, {text}"), || linear.verdict());
    }
}

fn cell_op(write: Option<u64>) -> RegisterOp<u64> {
    write.map_or(RegisterOp::Read, RegisterOp::Write)
}

fn cell_ret(op: &RegisterOp<u64>, written: &mut Vec<u64>) -> RegisterRet<u64> {
    match op {
        RegisterOp::Write(value) => {
            written.push(*value);
            RegisterRet::Written
        }
        _ => RegisterRet::Value(written.last().copied().unwrap_or(0)),
    }
}

fn list_op(write: Option<u64>) -> ListOp<u64> {
    write.map_or(ListOp::Read, ListOp::Append)
}

fn list_ret(op: &ListOp<u64>, written: &mut Vec<u64>) -> ListRet<u64> {
    match op {
        ListOp::Append(value) => {
            written.push(*value);
            ListRet::Appended
        }
        ListOp::Read => ListRet::Items(written.clone()),
    }
}

fn below(random: &mut Stream, bound: u64) -> u64 {
    random.next_u64() % bound
}

/// An operation under way: its key and itself, and its result once it was done.
type Open<Op, Ret> = (Call<(usize, Op), Ret>, (usize, Op), Option<Ret>);

/// A record of operations, half of them reads, each done at some moment between its call and its
/// return. One in `lost` is done and does not return.
fn record<Op: Clone, Ret>(
    lost: Option<u64>,
    op: impl Fn(Option<u64>) -> Op,
    ret: impl Fn(&Op, &mut Vec<u64>) -> Ret,
) -> Recorder<(usize, Op), Ret> {
    let (record, mut random) = (Recorder::new(), Seed::root(1).child("cost").stream());
    let mut written: [Vec<u64>; KEYS] = Default::default();
    let mut open: [Option<Open<Op, Ret>>; CLIENTS] = std::array::from_fn(|_| None);
    let mut begun = 0;
    while begun < OPERATIONS || open.iter().any(Option::is_some) {
        let client = below(&mut random, CLIENTS as u64) as usize;
        open[client] = match open[client].take() {
            Some((call, (key, op), None)) => {
                let ret = ret(&op, &mut written[key]);
                Some((call, (key, op), Some(ret)))
            }
            Some((call, _, Some(ret))) => {
                let is_lost = lost.is_some_and(|one| below(&mut random, one) == 0);
                if is_lost {
                    call.indeterminate()
                } else {
                    call.ok(ret)
                }
                None
            }
            None if begun == OPERATIONS => None,
            None => {
                begun += 1;
                let key = below(&mut random, KEYS as u64) as usize;
                let op = (key, op((below(&mut random, 2) == 0).then_some(begun)));
                Some((record.invoke(client, op.clone()), op, None))
            }
        };
    }
    record
}

/// Judges some times, and prints how long that takes.
#[expect(clippy::disallowed_methods, reason = "what is measured is real time")]
fn report(name: &str, judge: impl Fn() -> Verdict) {
    let mut judged: Vec<(Duration, Verdict)> = Vec::new();
    for _ in 0..TIMES {
        let start = Instant::now();
        let verdict = judge();
        judged.push((start.elapsed(), verdict));
    }
    judged.sort_by_key(|(time, _)| *time);
    let (median, verdict) = &judged[TIMES / 2];
    let median = median.as_secs_f64() * 1e3;
    println!("oracle {name}: {OPERATIONS} operations in {median:.2} ms, {verdict:?}");
}
