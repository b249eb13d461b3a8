//! What a search keeps of the failures that it goes on past: a folder a bug.
//!
//! Below `<artifacts>/<target>/` the folder of a bug is named by its fingerprint and has
//!
//! | file | what |
//! |---|---|
//! | `input` | bytes that fail so, the first that were met |
//! | `min` | the simplest bytes known that fail so, where simpler ones were found |
//! | `report.txt`, `trace.txt` | report and events, of `min` where it is there |
//! | `bug.txt` | class, origin and message, a line each |
//! | `met` | how often it was met, in all |
//!
//! It neither searches nor judges, and removes nothing.
//!
//! Invariants:
//! - A bug is known once its `bug.txt` is there. Then `input`, report and trace are there too, whenever
//!   the process was killed, and a search that meets it again changes `met` alone.
//! - Each file but `met` is there whole or not at all.
//! - One process at a time writes below the folder of a target.
//!
//! # Example
//! ```
//! use sim_core::Target;
//! use sim_core::fuzz::keep::{self, Keeper};
//! use sim_core::run::{Input, run};
//! use sim_core::settings::Settings;
//! use std::time::Duration;
//!
//! let folder = std::env::temp_dir().join(format!("kept-{}", std::process::id()));
//! let target = Target::new("kv", |sim| sim.fail("no"));
//! let run = run(&target, &Input::Bytes(vec![1, 9]), Duration::from_secs(60));
//! let failure = run.failure.clone().expect("it fails");
//!
//! let mut keeper = Keeper::new(folder.clone());
//! let second = Duration::from_secs(1);
//! keeper.keep(&target, &run, &[1, 9], &failure, &Settings::default(), second)?;
//! assert!(keeper.meet(&target, &failure)?, "it is known from then on");
//!
//! let kept = keep::read(&folder)?;
//! assert_eq!((kept.len(), kept[0].met, kept[0].len), (1, 2, 0), "shrunk to no bytes");
//! let of_bug = folder.join(&kept[0].fingerprint);
//! keep::count(&of_bug)?;
//! assert!(keep::is_kept(&of_bug));
//!
//! // What another program found is kept by it.
//! keep::write(&folder.join("other"), &failure, b"bytes", || "report".to_owned(), "trace")?;
//! assert_eq!(keep::read(&folder)?.len(), 2);
//! std::fs::remove_dir_all(&folder)?;
//! # Ok::<(), std::io::Error>(())
//! ```

use crate::failure::{Class, Failure};
use crate::identity::{Identity, Subject, say};
use crate::report::{self, write_whole};
use crate::run::{Run, Target};
use crate::settings::Settings;
use crate::shrink::{Found, Request};
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The most lines of a trace that are kept.
const TRACE_MAX: usize = 20_000;

const INPUT: &str = "input";
const SIMPLEST: &str = "min";
const REPORT: &str = "report.txt";
const TRACE: &str = "trace.txt";
const BUG: &str = "bug.txt";
const MET: &str = "met";

/// Keeps the failures of one target.
///
/// ```
/// use sim_core::Target;
/// use sim_core::failure::{Class, Failure};
/// use sim_core::fuzz::keep::Keeper;
///
/// let folder = std::env::temp_dir().join(format!("keeper-{}", std::process::id()));
/// let mut keeper = Keeper::new(folder);
/// let failure = Failure::new(Class::Correctness, "kv", "a reply is lost");
/// assert!(!keeper.meet(&Target::new("kv", |_| {}), &failure)?, "nothing is kept yet");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Keeper {
    folder: PathBuf,
    counts: BTreeMap<String, Count>,
}

impl Keeper {
    /// Keeps below `folder`, which is that of the target and need not be there yet.
    ///
    /// ```
    /// use sim_core::fuzz::keep::Keeper;
    ///
    /// let folder = std::env::temp_dir().join(format!("no-keeper-{}", std::process::id()));
    /// let _keeper = Keeper::new(folder.clone());
    /// assert!(!folder.exists(), "it is made with the first bug");
    /// ```
    pub fn new(folder: PathBuf) -> Keeper {
        Keeper { folder, counts: BTreeMap::new() }
    }

    /// Counts a failure where its bug is known; whether it is.
    ///
    /// # Errors
    /// What the file system says.
    ///
    /// ```
    /// use sim_core::Target;
    /// use sim_core::failure::{Class, Failure};
    /// use sim_core::fuzz::keep::{self, Keeper};
    ///
    /// let folder = std::env::temp_dir().join(format!("met-{}", std::process::id()));
    /// let (target, failure) =
    ///     (Target::new("kv", |_| {}), Failure::new(Class::Correctness, "kv", "a reply is lost"));
    /// let of_bug = folder.join(failure.fingerprint("kv"));
    /// keep::write(&of_bug, &failure, b"bytes", || "report".to_owned(), "trace")?;
    /// assert!(Keeper::new(folder.clone()).meet(&target, &failure)?);
    /// assert_eq!(keep::read(&folder)?[0].met, 1);
    /// std::fs::remove_dir_all(&folder)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn meet(&mut self, target: &Target, failure: &Failure) -> io::Result<bool> {
        let fingerprint = failure.fingerprint(target.name());
        let folder = self.folder.join(&fingerprint);
        if !self.counts.contains_key(&fingerprint) && !is_kept(&folder) {
            return Ok(false);
        }
        self.count(fingerprint, &folder)?;
        Ok(true)
    }

    /// Keeps a failing run: counts it where its bug is known; else writes it, reports it, shrinks it
    /// for `time` at most where the settings say nothing, and reports what became of it.
    ///
    /// # Errors
    /// What the file system says.
    ///
    /// ```
    /// use sim_core::Target;
    /// use sim_core::fuzz::keep::{self, Keeper};
    /// use sim_core::run::{Input, run};
    /// use sim_core::settings::{Settings, Shrinking};
    /// use std::time::Duration;
    ///
    /// let folder = std::env::temp_dir().join(format!("keep-{}", std::process::id()));
    /// let target = Target::new("kv", |sim| sim.fail("no"));
    /// let run = run(&target, &Input::Bytes(Vec::new()), Duration::from_secs(60));
    /// let failure = run.failure.clone().expect("it fails");
    /// let settings = Settings { shrink: Shrinking::Off, ..Settings::default() };
    /// let mut keeper = Keeper::new(folder.clone());
    /// keeper.keep(&target, &run, &[], &failure, &settings, Duration::from_secs(1))?;
    /// assert_eq!(keep::read(&folder)?[0].failure.message, "no");
    /// std::fs::remove_dir_all(&folder)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn keep(
        &mut self,
        target: &Target,
        run: &Run,
        bytes: &[u8],
        failure: &Failure,
        settings: &Settings,
        time: Duration,
    ) -> io::Result<()> {
        if self.meet(target, failure)? {
            return Ok(());
        }
        let fingerprint = failure.fingerprint(target.name());
        let folder = self.folder.join(&fingerprint);
        // A run that was given up has no choices.
        let realized = if run.history.is_empty() { bytes.to_vec() } else { run.tape.to_bytes() };
        let input = folder.join(INPUT);
        let text = || {
            let subject = Subject::File(&input);
            report::file_text(target, run, realized.len(), failure, subject, Some(&input))
        };
        write(&folder, failure, &realized, text, &trace(run))?;
        self.count(fingerprint, &folder)?;
        say(&text());
        let is_known = |failure: &Failure| is_kept(&self.folder_of(target, failure));
        let unset = Some(time);
        let request = Request { target, first: run, failure, settings, unset, is_known: &is_known };
        let outcome = request.shrink(&mut |_, failure, bytes| {
            let folder = self.folder_of(target, failure);
            std::fs::create_dir_all(&folder)?;
            let file = folder.join(SIMPLEST);
            write_whole(&file, bytes).map(|()| file)
        });
        let found_by = Identity { target, subject: Subject::File(&input) }.replay();
        if let Some(found) = &outcome.found {
            let text = report::shrunk_text(target, found, &found_by, realized.len());
            write_whole(&folder.join(TRACE), trace(&found.run).as_bytes())?;
            write_whole(&folder.join(REPORT), text.as_bytes())?;
            say(&text);
        }
        outcome.others.iter().try_for_each(|other| self.keep_other(target, other, &found_by))
    }

    /// Keeps a failure that was met while another one was shrunk, as simple as it became.
    fn keep_other(&mut self, target: &Target, other: &Found, found_by: &str) -> io::Result<()> {
        let Found { shrunk, run, failure, .. } = other;
        let folder = self.folder_of(target, failure);
        let text = report::shrunk_text(target, other, found_by, shrunk.bytes.len());
        write(&folder, failure, &shrunk.bytes, || text.clone(), &trace(run))?;
        self.count(failure.fingerprint(target.name()), &folder)?;
        say(&text);
        Ok(())
    }

    fn folder_of(&self, target: &Target, failure: &Failure) -> PathBuf {
        self.folder.join(failure.fingerprint(target.name()))
    }

    fn count(&mut self, fingerprint: String, folder: &Path) -> io::Result<()> {
        let count = match self.counts.remove(&fingerprint) {
            Some(count) => count,
            None => Count::open(&folder.join(MET))?,
        };
        self.counts.entry(fingerprint).or_insert(count).add()
    }
}

/// How often a bug was met, in an open file.
#[derive(Debug)]
struct Count {
    file: File,
    count: u64,
}

impl Count {
    fn open(path: &Path) -> io::Result<Count> {
        let before = std::fs::read_to_string(path).ok();
        let count = before.and_then(|text| text.trim().parse().ok()).unwrap_or(0);
        let file = File::options().create(true).truncate(false).write(true).open(path)?;
        Ok(Count { file, count })
    }

    fn add(&mut self) -> io::Result<()> {
        self.count += 1;
        // As wide as any number, so that a write replaces the one before it.
        self.file.write_all_at(format!("{:20}\n", self.count).as_bytes(), 0)
    }
}

/// The trace of a run, of a long one its end.
fn trace(run: &Run) -> String {
    let trace = run.trace();
    let mut lines = trace.last(TRACE_MAX);
    let left_out = trace.len() - lines.len();
    if left_out > 0 {
        lines.insert(0, format!("the first {left_out} lines are left out"));
    }
    lines.push(String::new());
    lines.join("\n")
}

/// Whether a folder is that of a bug.
///
/// ```
/// use sim_core::fuzz::keep::is_kept;
///
/// assert!(!is_kept(&std::env::temp_dir()));
/// ```
pub fn is_kept(folder: &Path) -> bool {
    folder.join(BUG).is_file()
}

/// Makes the folder of a bug, which is known from then on.
///
/// # Errors
/// What the file system says.
///
/// ```
/// use sim_core::failure::{Class, Failure};
/// use sim_core::fuzz::keep;
///
/// let folder = std::env::temp_dir().join(format!("written-{}", std::process::id()));
/// let failure = Failure::new(Class::Panic, "src/db.rs:7", "index out of bounds");
/// keep::write(&folder, &failure, b"bytes", || "report".to_owned(), "trace")?;
/// assert!(keep::is_kept(&folder));
/// std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn write(
    folder: &Path,
    failure: &Failure,
    input: &[u8],
    report: impl FnOnce() -> String,
    trace: &str,
) -> io::Result<()> {
    std::fs::create_dir_all(folder)?;
    write_whole(&folder.join(INPUT), input)?;
    write_whole(&folder.join(REPORT), report().as_bytes())?;
    write_whole(&folder.join(TRACE), trace.as_bytes())?;
    let line = |text: &str| text.lines().next().unwrap_or_default().to_owned();
    let (origin, message) = (line(&failure.origin), line(&failure.message));
    let text = format!("class: {}\norigin: {origin}\nmessage: {message}\n", failure.class);
    write_whole(&folder.join(BUG), text.as_bytes())
}

/// Counts a bug that is kept in `folder` once more, by another than a [`Keeper`].
///
/// # Errors
/// What the file system says.
///
/// ```
/// use sim_core::failure::{Class, Failure};
/// use sim_core::fuzz::keep;
///
/// let folder = std::env::temp_dir().join(format!("counted-{}", std::process::id()));
/// let failure = Failure::new(Class::Panic, "src/db.rs:7", "index out of bounds");
/// let of_bug = folder.join(failure.fingerprint("kv"));
/// keep::write(&of_bug, &failure, b"bytes", || "report".to_owned(), "trace")?;
/// keep::count(&of_bug)?;
/// assert_eq!(keep::read(&folder)?[0].met, 1);
/// std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn count(folder: &Path) -> io::Result<()> {
    Count::open(&folder.join(MET))?.add()
}

/// A bug that was kept.
///
/// ```
/// use sim_core::failure::{Class, Failure};
/// use sim_core::fuzz::keep::{self, Kept};
///
/// let folder = std::env::temp_dir().join(format!("one-kept-{}", std::process::id()));
/// let failure = Failure::new(Class::Correctness, "kv", "a reply is lost");
/// keep::write(&folder.join("1f2e"), &failure, b"bytes", || "report".to_owned(), "trace")?;
///
/// let Kept { fingerprint, failure, file, len, met } = keep::read(&folder)?.remove(0);
/// assert_eq!((fingerprint.as_str(), failure.class), ("1f2e", Class::Correctness));
/// assert_eq!((std::fs::read(file)?.len() as u64, met), (len, 0));
/// std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Its fingerprint, the name of its folder.
    pub fingerprint: String,
    /// Class, origin and message, a line each.
    pub failure: Failure,
    /// The simplest input known.
    pub file: PathBuf,
    /// How long that is, in bytes.
    pub len: u64,
    /// How often it was met.
    pub met: u64,
}

/// Finds the bugs that are kept for a target, sorted by fingerprint; none where there is no folder.
///
/// # Errors
/// What the file system says, and a `bug.txt` that is none.
///
/// ```
/// use sim_core::fuzz::keep;
///
/// let nowhere = std::env::temp_dir().join("no folder of a target");
/// assert!(keep::read(&nowhere)?.is_empty());
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn read(folder: &Path) -> io::Result<Vec<Kept>> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut bugs = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        if is_kept(&path) {
            bugs.push(read_bug(&path, entry.file_name().to_string_lossy().into_owned())?);
        }
    }
    bugs.sort_by(|one, other| one.fingerprint.cmp(&other.fingerprint));
    Ok(bugs)
}

fn read_bug(folder: &Path, fingerprint: String) -> io::Result<Kept> {
    let path = folder.join(BUG);
    let text = std::fs::read_to_string(&path)?;
    let failure = parse(&text).ok_or_else(|| {
        let text = format!("{} is not the file of a bug", path.display());
        io::Error::new(io::ErrorKind::InvalidData, text)
    })?;
    let simplest = folder.join(SIMPLEST);
    let file = if simplest.is_file() { simplest } else { folder.join(INPUT) };
    let len = std::fs::metadata(&file)?.len();
    let met = std::fs::read_to_string(folder.join(MET)).ok();
    let met = met.and_then(|text| text.trim().parse().ok()).unwrap_or(0);
    Ok(Kept { fingerprint, failure, file, len, met })
}

fn parse(text: &str) -> Option<Failure> {
    let mut lines = text.lines();
    let mut value = |name: &str| lines.next()?.strip_prefix(name)?.strip_prefix(": ");
    let class = Class::from_name(value("class")?)?;
    Some(Failure::new(class, value("origin")?, value("message")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_of_a_bug_reads_back() {
        let failure = Failure::new(Class::Deadlock, "a.rs:1", "x: y");
        assert_eq!(parse("class: deadlock\norigin: a.rs:1\nmessage: x: y\n"), Some(failure));
        assert_eq!(parse("class: dead\norigin: a.rs:1\nmessage: x\n"), None);
        assert_eq!(parse("class: deadlock\n"), None);
    }
}
