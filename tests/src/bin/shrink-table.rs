//! How well failures are shrunk: `shrink-table [COUNT [NAME]]`, of every case or of that name. By
//! default it takes a hundred failing inputs of each. As many are shrunk at a time as there are cores.
//!
//! One row a case: the mean real time of a shrink, how many distinct results its failing inputs
//! became, the longest in bytes, the mean and the most runs; then what is published of other
//! shrinkers. The planted systems follow, with the lengths that their inputs had. Shrinks of one bug
//! propose the same runs again and again: each is made once and remembered, so the time of these rows
//! is not that of a shrink by itself, and `runs made` says how many there were.

use sim_core::Target;
use sim_core::failure::Class;
use sim_core::history::Hash;
use sim_core::run::{Input, run};
use sim_core::shrink::{Attempt, Budget, Bug, Shrunk, Subject, TargetSubject, shrink};
use sim_core::source::Source;
use sim_tests::remember::{Memory, Remembering};
use sim_tests::shrink_cases::{CASES, Case};
use sim_tests::{cores, systems};
use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Duration;

const WATCHDOG: Duration = Duration::from_secs(60);

/// How many failing inputs a case or a planted system has by default.
const INPUTS: usize = 100;

/// The default's runs, and more time than they take: a busy machine changes no row.
fn budget() -> Budget {
    Budget { time_max: Duration::from_secs(3600), ..Budget::default() }
}

fn main() -> ExitCode {
    let (count, only) = (std::env::args().nth(1), std::env::args().nth(2));
    let count = match count.map(|text| text.parse()) {
        None => INPUTS,
        Some(Ok(count @ 1..)) => count,
        Some(_) => {
            eprintln!("shrink-table: COUNT is a number above zero");
            return ExitCode::from(2);
        }
    };
    let is_asked = |name: &str| only.as_ref().is_none_or(|only| only == name);
    let planted = systems::planted();
    let names = CASES.iter().map(|case| case.name).chain(planted.iter().map(Target::name));
    let names: Vec<&str> = names.collect();
    if !names.iter().any(|name| is_asked(name)) {
        eprintln!("shrink-table: NAME is none of {}", names.join(", "));
        return ExitCode::from(2);
    }
    for case in CASES.into_iter().filter(|case| is_asked(case.name)) {
        let row = of_case(case, count);
        println!("{:<20} {row}   {}", case.name, case.published);
        if row.results.len() > 1 {
            row.print_results();
        }
    }
    for target in planted.iter().filter(|target| is_asked(target.name())) {
        of_target(target, count);
    }
    ExitCode::SUCCESS
}

/// What failing inputs became.
#[derive(Default)]
struct Row {
    results: BTreeMap<Vec<u8>, u64>,
    runs: Vec<u64>,
    lens: Vec<usize>,
    time: Duration,
    cut: u64,
}

impl Row {
    fn print_results(&self) {
        for (bytes, times) in &self.results {
            println!("{:<20}   {times} times {bytes:?}", "");
        }
    }

    fn add(&mut self, len: usize, shrunk: Shrunk) {
        *self.results.entry(shrunk.bytes).or_default() += 1;
        self.runs.push(shrunk.runs);
        self.time += shrunk.time;
        self.lens.push(len);
        self.cut += u64::from(shrunk.is_cut);
    }
}

impl std::fmt::Display for Row {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let bytes = self.results.keys().map(Vec::len).max().unwrap_or(0);
        let mean = self.runs.iter().sum::<u64>() as f64 / self.runs.len().max(1) as f64;
        let most = self.runs.iter().max().copied().unwrap_or(0);
        let len = self.lens.iter().sum::<usize>() / self.lens.len().max(1);
        write!(f, "inputs {} of {len} bytes", self.lens.len())?;
        let millis = self.time.as_millis() / self.lens.len().max(1) as u128;
        write!(f, "  most runs {most}  cut {}  mean ms {millis}", self.cut)?;
        write!(f, "  distinct {} bytes {bytes} runs {mean:.1}", self.results.len())
    }
}

/// A predicate as what is shrunk.
struct Draws(fn(&mut Source) -> bool);

impl Subject for Draws {
    fn attempt(&mut self, input: &Input) -> Attempt {
        attempt(self.0, input.source())
    }
}

fn attempt(fails: fn(&mut Source) -> bool, mut source: Source) -> Attempt {
    let bug = fails(&mut source).then(|| (Class::Correctness, "case".to_owned()));
    let (hash, elapsed, steps) = (Hash([0; 32]), Duration::ZERO, 0);
    Attempt { tape: source.into_tape(), bug, hash, elapsed, steps }
}

fn of_case(case: Case, count: usize) -> Row {
    let mut row = Row::default();
    for seed in 0..50_000_000 {
        let first = attempt(case.fails, Source::from_seed(seed));
        if first.bug.is_none() {
            continue;
        }
        let bytes = first.tape.to_bytes();
        let shrunk = shrink(&mut Draws(case.fails), &bytes, budget(), &mut |_| {});
        row.add(bytes.len(), shrunk.expect("it fails again"));
        if row.lens.len() == count {
            break;
        }
    }
    row
}

/// Each bug of a planted system, from as many failing seeds.
fn of_target(target: &Target, count: usize) {
    let mut inputs: BTreeMap<Bug, Vec<Vec<u8>>> = BTreeMap::new();
    for seed in 0..100_000 {
        let run = run(target, &Input::Seed(seed), WATCHDOG);
        let Some(failure) = run.failure else { continue };
        let inputs = inputs.entry((failure.class, failure.origin)).or_default();
        if inputs.len() == count {
            break;
        }
        inputs.push(run.tape.to_bytes());
    }
    for ((class, origin), inputs) in inputs {
        let (mut row, memory) = (Row::default(), Memory::default());
        shrink_all(target, &inputs, &memory)
            .into_iter()
            .for_each(|(len, shrunk)| row.add(len, shrunk));
        let made = memory.runs();
        println!("{:<20} {row}   {made} runs made   {class} at {origin}", target.name());
        row.print_results();
    }
}

/// Shrinks inputs, some at a time; gives their lengths and what they became.
fn shrink_all(target: &Target, inputs: &[Vec<u8>], memory: &Memory) -> Vec<(usize, Shrunk)> {
    cores::map(inputs, |input| {
        let subject = TargetSubject { target, watchdog: WATCHDOG };
        let mut subject = Remembering { subject, memory };
        let shrunk = shrink(&mut subject, input, budget(), &mut |_| {});
        let shrunk = shrunk.expect("it fails again");
        eprintln!("{}: from {} to {} bytes", target.name(), input.len(), shrunk.bytes.len());
        (input.len(), shrunk)
    })
}
