//! What helps a search: `ablation [--seeds N] [--cap RUNS] [--target NAME]…`.
//!
//! For each planted system and each way to search: the median of how many runs it took to find the
//! bug, by `N` seeds of libFuzzer. A search that did not find it in `RUNS` counts as that many. It
//! builds the fuzz targets by `cargo fuzz build -s none` and starts each search as a process of its
//! own, with a corpus that is empty, as many at a time as there are cores; the runs that the mutator
//! makes count too.

use sim_core::Target;
use sim_tests::{cores, search, systems};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// A way to search: its name in the table, and the arguments of libFuzzer; none is a sweep.
struct Row {
    name: &'static str,
    arguments: Option<&'static [&'static str]>,
}

/// Each has what those above it have. libFuzzer begins with short inputs where there is no mutator of
/// ours and nothing else is said; here it never does, so that the rows differ in their names alone.
const ROWS: [Row; 6] = [
    Row { name: "uniform sweep of seeds", arguments: None },
    Row {
        name: "libFuzzer, one flat string",
        arguments: Some(&["--search=flat", "-len_control=0"]),
    },
    Row { name: "+ lanes", arguments: Some(&["--search=lanes", "-len_control=0"]) },
    Row { name: "+ mutator and crossover", arguments: Some(&["--search=mutator"]) },
    Row { name: "+ marks", arguments: Some(&["--search=marks"]) },
    Row { name: "+ value profile", arguments: Some(&["--search=marks", "-use_value_profile=1"]) },
];

/// What was asked for.
struct Options {
    seeds: u64,
    cap: u64,
    targets: Vec<Target>,
}

fn main() -> ExitCode {
    let options = match options(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(text) => {
            eprintln!("ablation: {text}");
            return ExitCode::from(2);
        }
    };
    let binaries: Option<Vec<PathBuf>> =
        options.targets.iter().map(|target| search::build(target.name())).collect();
    let Some(binaries) = binaries else {
        eprintln!("ablation: a fuzz target cannot be built");
        return ExitCode::from(2);
    };
    let targets = options.targets.iter().zip(&binaries);
    let columns =
        targets.map(|(target, binary)| ROWS.map(|row| cell(target, binary, &row, &options)));
    print(&options, &columns.collect::<Vec<_>>());
    ExitCode::SUCCESS
}

fn options(mut arguments: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options = Options { seeds: 10, cap: 10_000, targets: Vec::new() };
    while let Some(name) = arguments.next() {
        let value = arguments.next().ok_or_else(|| format!("{name} has no value"))?;
        let number = value.parse().ok().filter(|number| *number > 0);
        let number = number.ok_or_else(|| format!("{name} {value}: a number above zero"));
        match name.as_str() {
            "--seeds" => options.seeds = number?,
            "--cap" => options.cap = number?,
            "--target" => {
                let known = searched().into_iter().find(|one| one.name() == value);
                options.targets.push(known.ok_or_else(|| format!("{value} is no planted system"))?);
            }
            _ => return Err(format!("unknown {name}; known are --seeds, --cap and --target")),
        }
    }
    if options.targets.is_empty() {
        options.targets = searched();
    }
    Ok(options)
}

/// The systems with something to find.
fn searched() -> Vec<Target> {
    [systems::planted(), systems::deep()].concat()
}

/// How many runs each seed took; none where it found nothing.
fn cell(target: &Target, binary: &Path, row: &Row, options: &Options) -> Vec<Option<u64>> {
    let seeds: Vec<u64> = (1..=options.seeds).collect();
    cores::map(&seeds, |seed| {
        let found = match row.arguments {
            None => search::sweep(target, *seed, options.cap),
            Some(arguments) => search::fuzz(binary, arguments, *seed, options.cap),
        };
        let text = found.map_or("nothing".to_owned(), |runs| format!("after {runs} runs"));
        println!("{} {} seed {seed}: {text}", target.name(), row.name);
        found
    })
}

fn print(options: &Options, table: &[[Vec<Option<u64>>; ROWS.len()]]) {
    print!("\n{:<28}", "median runs to the bug");
    options.targets.iter().for_each(|target| print!("{:>22}", target.name()));
    println!();
    for (at, row) in ROWS.iter().enumerate() {
        print!("{:<28}", row.name);
        for cells in table {
            let (found, cap) = (&cells[at], options.cap);
            let count = found.iter().flatten().count();
            let text = match search::median(found, cap) {
                runs if runs >= cap => format!(">{cap}"),
                runs => runs.to_string(),
            };
            print!("{:>22}", format!("{text} ({count}/{})", found.len()));
        }
        println!();
    }
}
