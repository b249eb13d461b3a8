//! Runs random strings of bytes: `soak TARGET COUNT [THREADS]`.
//!
//! Half of the strings are bytes of any kind, half are lanes of random lengths. The strings follow
//! from their numbers, so that a soak of the same COUNT is the same soak, on however many threads.
//! It prints one line of counts and, where a run did not pass, the first such input in hex. The exit
//! code is 0 where every run passed, else that of the first failure's class.

use rand_core::Rng;
use sim_core::Target;
use sim_core::failure::{Class, Failure};
use sim_core::run::{Input, run_reusing};
use sim_core::seed::Seed;
use sim_core::source::{Lane, Lanes};
use sim_tests::systems;
use std::process::ExitCode;
use std::time::Duration;

const WATCHDOG: Duration = Duration::from_secs(60);

/// The longest string, in bytes.
const BYTES_MAX: usize = 300;

/// What came of some runs.
#[derive(Default)]
struct Tally {
    runs: u64,
    failures: u64,
    internal: u64,
    inconclusive: u64,
    first: Option<(u64, Vec<u8>, Failure)>,
}

impl Tally {
    fn add(&mut self, index: u64, bytes: Vec<u8>, failure: Option<Failure>) {
        self.runs += 1;
        let Some(failure) = failure else { return };
        match failure.class {
            Class::Internal => self.internal += 1,
            Class::Inconclusive => self.inconclusive += 1,
            _ => self.failures += 1,
        }
        if self.first.as_ref().is_none_or(|(first, ..)| index < *first) {
            self.first = Some((index, bytes, failure));
        }
    }

    fn merge(mut self, other: Tally) -> Tally {
        self.runs += other.runs;
        self.failures += other.failures;
        self.internal += other.internal;
        self.inconclusive += other.inconclusive;
        let both = [self.first, other.first].into_iter().flatten();
        self.first = both.min_by_key(|(index, ..)| *index);
        self
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |index: usize| arguments.get(index).map(|text| text.parse::<u64>());
    let (Some(name), Some(Ok(count)), threads @ (None | Some(Ok(1..)))) =
        (arguments.first(), number(1), number(2))
    else {
        eprintln!("soak: needs the name of a target and how many runs, and may have threads");
        return ExitCode::from(2);
    };
    let target = match systems::find(name) {
        Ok(target) => target,
        Err(why) => {
            eprintln!("soak: {why}");
            return ExitCode::from(2);
        }
    };
    let threads = threads.map_or(1, |threads| threads.expect("it was matched"));
    let tally = std::thread::scope(|scope| {
        let soak = |thread: u64| {
            let target = &target;
            scope.spawn(move || soak(target, (thread..count).step_by(threads as usize)))
        };
        let soaks: Vec<_> = (0..threads).map(soak).collect();
        let tallies = soaks.into_iter().map(|soak| soak.join().expect("a soak does not panic"));
        tallies.fold(Tally::default(), Tally::merge)
    });
    report(name, &tally)
}

fn report(name: &str, tally: &Tally) -> ExitCode {
    let Tally { runs, failures, internal, inconclusive, first } = tally;
    println!(
        "soak {name} runs {runs} failures {failures} internal {internal} \
         inconclusive {inconclusive}"
    );
    let Some((index, bytes, failure)) = first else { return ExitCode::SUCCESS };
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    println!("first {index} {failure}\ninput {hex}");
    ExitCode::from(failure.class.exit_code())
}

fn soak(target: &Target, indices: impl Iterator<Item = u64>) -> Tally {
    let mut tally = Tally::default();
    for index in indices {
        let bytes = input(index);
        let run = run_reusing(target, &Input::Bytes(bytes.clone()), WATCHDOG);
        tally.add(index, bytes, run.failure);
    }
    tally
}

/// The string of a number.
fn input(index: u64) -> Vec<u8> {
    let mut stream = Seed::root(index).child("soak").stream();
    let mut bytes = |len: usize| {
        let mut bytes = vec![0; len];
        stream.fill_bytes(&mut bytes);
        bytes
    };
    let len = |bytes: Vec<u8>| usize::from(u16::from_le_bytes([bytes[0], bytes[1]]));
    if index.is_multiple_of(2) {
        let len = len(bytes(2)) % (BYTES_MAX + 1);
        return bytes(len);
    }
    let mut lanes = Lanes::default();
    for lane in Lane::ALL {
        let len = len(bytes(2)) % (BYTES_MAX / Lane::COUNT);
        *lanes.lane_mut(lane) = bytes(len);
    }
    lanes.encode()
}
