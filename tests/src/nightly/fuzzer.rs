//! The fuzz targets as processes: built by cargo-fuzz, started, listened to, started again.
//!
//! A target is one process at a time. libFuzzer's own forks would cost more than they give where a
//! target goes on past its failures; more cores search with more targets at a time.

use super::log::Log;
use super::options::Options;
use super::report::{Row, Unit};
use super::{Places, is_planted};
use crate::{search, systems};
use hostsim::seam::outside::monotonic;
use sim_core::failure::{Class, Failure};
use sim_core::fuzz::{KEEP_GOING, keep};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

/// The folder of a target's corpus below its artifact folder.
pub const CORPUS: &str = "corpus";

/// The folder of the units that ended a process, or were slow.
pub const UNITS: &str = "units";

/// How often a process whose unit ended it is followed by another.
const STARTS_MAX: u32 = 100;

/// How often a search says how far it is.
const PROGRESS: Duration = Duration::from_secs(60);

/// The most real time of a run, and of a unit: failing runs are made again and shrunk in it.
const WATCHDOG: &str = "20s";
const SHRINK: &str = "10s";
const UNIT_TIME: &str = "-timeout=120";

/// How a target is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Build {
    /// Without a sanitizer: many times faster, and enough for safe code.
    Plain,
    /// Under AddressSanitizer.
    Asan,
}

impl Build {
    /// Both, in the order in which they search: what the fast one finds, the other begins with.
    pub const ALL: [Build; 2] = [Build::Plain, Build::Asan];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Build::Plain => "plain",
            Build::Asan => "asan",
        }
    }

    /// Its share of the time of a target.
    fn share(self, time: Duration) -> Duration {
        match self {
            Build::Plain => time * 4 / 5,
            Build::Asan => time / 5,
        }
    }

    const fn sanitizer(self) -> &'static str {
        match self {
            Build::Plain => "none",
            Build::Asan => "address",
        }
    }

    const fn memory_max(self) -> &'static str {
        match self {
            Build::Plain => "-rss_limit_mb=2048",
            Build::Asan => "-rss_limit_mb=4096",
        }
    }
}

/// The names of the targets that search.
///
/// # Errors
/// One line on what is wrong: with cargo-fuzz, or with a name that was given.
pub fn targets(places: &Places, options: &Options) -> Result<Vec<String>, String> {
    let output = Command::new("cargo").args(["fuzz", "list"]).current_dir(&places.root).output();
    let output = output.map_err(|error| format!("cargo cannot be started: {error}"))?;
    if !output.status.success() {
        return Err(format!("`cargo fuzz list` ended with {}", output.status));
    }
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let all: Vec<String> = text.lines().map(str::to_owned).collect();
    chosen(all, &systems::absent(), &options.targets)
}

/// The names that were given, or of all those that must find nothing; none is of a system that this
/// build is without: it would not know its pins.
fn chosen(all: Vec<String>, absent: &[&str], given: &[String]) -> Result<Vec<String>, String> {
    let is_absent = |name: &String| absent.contains(&name.as_str());
    if given.is_empty() {
        let is_searched = |name: &String| !is_planted(name) && !is_absent(name);
        return Ok(all.into_iter().filter(is_searched).collect());
    }
    if let Some(name) = given.iter().find(|name| !all.contains(name)) {
        return Err(format!("{name} is no fuzz target; the targets are {}", all.join(", ")));
    }
    match given.iter().find(|name| is_absent(name)) {
        Some(name) => Err(systems::why_none(name)),
        None => Ok(given.to_vec()),
    }
}

/// The binary of a target.
pub fn binary(places: &Places, build: Build, name: &str) -> PathBuf {
    places.builds.join(build.name()).join(name)
}

/// Builds targets and puts the binaries where no other build replaces them.
///
/// # Errors
/// One line on what went wrong.
pub fn build(places: &Places, build: Build, names: &[String]) -> Result<(), String> {
    eprintln!("nightly: building {} targets, {}", names.len(), build.name());
    let mut command = Command::new("cargo");
    command.args(["fuzz", "build", "-s", build.sanitizer()]).current_dir(&places.root);
    if let [name] = names {
        command.arg(name);
    }
    command.args(search::features(names.iter().map(String::as_str)));
    let status = command.stdout(Stdio::null()).status();
    let status = status.map_err(|error| format!("cargo cannot be started: {error}"))?;
    if !status.success() {
        return Err(format!("`cargo fuzz build -s {}` ended with {status}", build.sanitizer()));
    }
    let folder = places.builds.join(build.name());
    let copy = |name: &String| -> io::Result<()> {
        std::fs::create_dir_all(&folder)?;
        let file = folder.join(name);
        // A process may run what is there.
        drop(std::fs::remove_file(&file));
        std::fs::copy(places.fuzz_binaries.join(name), file).map(drop)
    };
    let copied: io::Result<()> = names.iter().try_for_each(copy);
    copied.map_err(|error| format!("the {} targets cannot be kept: {error}", build.name()))
}

/// A process that makes runs for a night, where nothing outside says how.
pub fn prepared(binary: &Path, places: &Places) -> Command {
    let mut command = Command::new(binary);
    command.current_dir(&places.root).stdin(Stdio::null()).stdout(Stdio::null());
    for variable in ["SIM_SEEDS", "SIM_INPUT", "SIM_TARGET", "SIM_TRACE", "SIM_BUDGET"] {
        command.env_remove(variable);
    }
    command.env("SIM_ARTIFACTS", &places.artifacts);
    command.env("SIM_WATCHDOG", WATCHDOG).env("SIM_SHRINK", SHRINK);
    // As cargo-fuzz has it.
    command.env("ASAN_OPTIONS", "detect_odr_violation=0");
    command
}

/// One target in one build.
#[derive(Clone, Copy, Debug)]
pub struct Fuzzer<'p> {
    /// Where everything is.
    pub places: &'p Places,
    /// The target.
    pub name: &'p str,
    /// The build.
    pub build: Build,
    /// The artifact folder of the target.
    pub folder: &'p Path,
}

/// How a process ended.
#[derive(Debug, PartialEq, Eq)]
enum Ending {
    /// Its time was over.
    Whole,
    /// A unit ended it.
    ByUnit,
    /// Something that no unit explains.
    Fault(String),
}

impl Fuzzer<'_> {
    /// Searches for the build's share of `time`. A process that a unit ended is followed by another.
    ///
    /// # Errors
    /// What the file system says.
    pub fn search(&self, time: Duration, row: &mut Row) -> io::Result<()> {
        let (start, time) = (monotonic(), self.build.share(time));
        let log_file = self.folder.join(format!("log-{}.txt", self.build.name()));
        let mut log_file = File::create(log_file)?;
        for _ in 0..STARTS_MAX {
            let left = time.saturating_sub(monotonic() - start).as_secs();
            if left == 0 && row.runs(self.build) > 0 {
                return Ok(());
            }
            let begin = monotonic();
            let mut child = self.start(left.max(1))?;
            let log = self.listen(&mut child, &mut log_file)?;
            let status = child.wait()?;
            row.add(self.build, &log, monotonic() - begin);
            match self.judge(&log, status, row)? {
                Ending::Whole => return Ok(()),
                Ending::ByUnit => {}
                Ending::Fault(fault) => {
                    row.faults.push(format!("{} {}: {fault}", self.name, self.build.name()));
                    return Ok(());
                }
            }
        }
        let text =
            format!("{} {}: {STARTS_MAX} processes were ended", self.name, self.build.name());
        row.faults.push(text);
        Ok(())
    }

    fn start(&self, seconds: u64) -> io::Result<Child> {
        let mut command = prepared(&binary(self.places, self.build, self.name), self.places);
        let seeds = self.places.root.join("corpus").join(self.name);
        command.arg(self.folder.join(CORPUS)).args(seeds.is_dir().then_some(seeds));
        command.arg(format!("-max_total_time={seconds}"));
        command.arg(format!("-artifact_prefix={}/", self.folder.join(UNITS).display()));
        command.args([UNIT_TIME, self.build.memory_max(), "-report_slow_units=30"]);
        command.args(["-print_final_stats=1", KEEP_GOING]).stderr(Stdio::piped()).spawn()
    }

    /// Reads what a process says until its end, keeps that, and passes on what a person waits for.
    fn listen(&self, child: &mut Child, file: &mut File) -> io::Result<Log> {
        let (mut log, mut said) = (Log::default(), monotonic());
        let title = format!("nightly: {} {}", self.name, self.build.name());
        let stderr = child.stderr.take().expect("it is piped");
        for line in BufReader::new(stderr).split(b'\n') {
            let line = line?;
            file.write_all(&line)?;
            file.write_all(b"\n")?;
            let line = String::from_utf8_lossy(&line);
            if let Some(report) = log.read(&line) {
                eprintln!("{title}: {report}");
            } else if monotonic() - said >= PROGRESS {
                said = monotonic();
                eprintln!("{title}: {} runs so far", log.runs);
            }
        }
        eprintln!("{title}: {} runs, {} edges", log.runs, log.coverage);
        Ok(log)
    }

    /// Tells why a process ended, and keeps what a unit that ended it shows.
    fn judge(&self, log: &Log, status: ExitStatus, row: &mut Row) -> io::Result<Ending> {
        let mut ending = Ending::ByUnit;
        for file in &log.units {
            match Unit::of(file) {
                Some(kind) => row.units.push((kind, self.places.shown(file))),
                None => self.keep_crash(log, file)?,
            }
        }
        row.faults.extend(log.lost.iter().cloned());
        let was_ended = log.units.iter().any(|file| Unit::of(file) != Some(Unit::Slow));
        if status.success() {
            ending = Ending::Whole;
        } else if !was_ended {
            ending = Ending::Fault(format!("ended with {status}: {}", log.last()));
        }
        Ok(ending)
    }

    /// Keeps a unit that crashed the process. No run's own failure does that here: it is the code of
    /// the simulator, or unsafe code below it, or a call that ends the process.
    fn keep_crash(&self, log: &Log, file: &Path) -> io::Result<()> {
        let failure = Failure::new(Class::Internal, log.crash_origin(), log.last());
        let folder = self.folder.join(failure.fingerprint(self.name));
        if !keep::is_kept(&folder) {
            keep::write(&folder, &failure, &std::fs::read(file)?, || log.tail(), "")?;
        }
        keep::count(&folder)
    }
}

#[cfg(test)]
mod tests;
