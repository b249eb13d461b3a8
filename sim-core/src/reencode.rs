//! Re-encoding: stored inputs keep their runs when a change gives their bytes another meaning.
//!
//! It takes two builds. The one before the change saves a [`Recording`] of the run of each stored
//! input; the one after it lets each run follow its recording, and the bytes of what it then chose
//! replace the input, if the run still ends as it did and reaches the marks that it did. An input for
//! which that fails stays as it is.
//!
//! It moves what draws mean by name. Where a value of the same name means something else now, such
//! as a fault of a list that got longer, it cannot know; the check of class and marks is what there is.

use crate::recording::{Recording, RecordingError};
use crate::replay::{Case, CasesError, cases};
use crate::report::write_whole;
use crate::run::{Input, Run, Target, run};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;
use thiserror::Error;

/// The folders whose inputs are moved.
pub const FOLDERS: [&str; 2] = ["regressions", "corpus"];

/// Which inputs are moved, and where their recordings are.
///
/// ```
/// use sim_core::Target;
/// use sim_core::reencode::{FOLDERS, Fate, Reencode, ReencodeError};
/// use std::time::Duration;
///
/// let root = std::env::temp_dir().join(format!("moved-{}", std::process::id()));
/// for folder in FOLDERS {
///     std::fs::create_dir_all(root.join(folder).join("kv"))?;
/// }
/// let file = root.join("corpus/kv/one");
/// std::fs::write(&file, [6, 0, 0, 0, 0, 0, 3])?;
///
/// // The swarm draws a dimension more after the change, in front of the one that there was.
/// let before = Target::new("kv", |sim| drop(sim.tune("batch", 0, 1..=9)));
/// let after = Target::new("kv", |sim| {
///     sim.dimension("cache", 1);
///     sim.tune("batch", 0, 1..=9);
/// });
/// let tapes = root.join("tapes");
/// let reencode = |target| Reencode {
///     root: &root,
///     tapes: &tapes,
///     targets: std::slice::from_ref(target),
///     others: &[],
///     watchdog: Duration::from_secs(60),
/// };
/// assert_eq!(reencode(&before).save()?, ["corpus/kv/one"]);
/// let fates = reencode(&after).load()?;
/// assert!(matches!(fates[0].1, Fate::Same | Fate::Moved { .. }), "{fates:?}");
/// std::fs::remove_dir_all(&root)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Reencode<'a> {
    /// The folder that [`FOLDERS`] are in.
    pub root: &'a Path,
    /// The folder of the recordings.
    pub tapes: &'a Path,
    /// The targets.
    pub targets: &'a [Target],
    /// Names of folders whose files are no inputs of a target, and are passed over.
    pub others: &'a [&'a str],
    /// The most real time of a run.
    pub watchdog: Duration,
}

/// What became of a stored input.
///
/// ```
/// use sim_core::reencode::Fate;
///
/// assert_eq!(Fate::Moved { from: 9, to: 12 }.to_string(), "moved: from 9 to 12 bytes");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Its bytes still mean the run that they meant.
    Same,
    /// It was written anew.
    Moved {
        /// How many bytes it had.
        from: usize,
        /// How many it has.
        to: usize,
    },
    /// No bytes were found that do what it did; it was left as it is.
    Lost(String),
}

impl fmt::Display for Fate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fate::Same => f.write_str("same"),
            Fate::Moved { from, to } => write!(f, "moved: from {from} to {to} bytes"),
            Fate::Lost(reason) => write!(f, "lost: {reason}"),
        }
    }
}

/// Why inputs cannot be moved.
///
/// ```
/// use sim_core::recording::RecordingError;
/// use sim_core::reencode::ReencodeError;
///
/// let error = ReencodeError::Recording { path: "a.tape".into(), source: RecordingError::Damaged };
/// assert_eq!(error.to_string(), "a.tape: the tape is damaged");
/// ```
#[derive(Debug, Error)]
pub enum ReencodeError {
    /// The stored inputs cannot be read.
    #[error(transparent)]
    Cases(#[from] CasesError),
    /// A file cannot be read or written.
    #[error("{path}: {source}", path = path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A file is no recording.
    #[error("{path}: {source}", path = path.display())]
    Recording {
        /// Which.
        path: PathBuf,
        /// What is wrong with it.
        source: RecordingError,
    },
}

impl Reencode<'_> {
    /// Saves a recording of the run of every stored input; gives the names of the inputs.
    ///
    /// # Errors
    /// What cannot be read or written; nothing of the stored inputs is changed.
    ///
    /// ```
    /// use sim_core::Target;
    /// use sim_core::reencode::{FOLDERS, Reencode};
    /// use std::time::Duration;
    ///
    /// let root = std::env::temp_dir().join(format!("saved-{}", std::process::id()));
    /// for folder in FOLDERS {
    ///     std::fs::create_dir_all(root.join(folder).join("kv"))?;
    /// }
    /// std::fs::write(root.join("corpus/kv/one"), [1, 7])?;
    /// let (tapes, target) = (root.join("tapes"), Target::new("kv", |_| {}));
    /// let targets = std::slice::from_ref(&target);
    /// let watchdog = Duration::from_secs(60);
    /// let reencode = Reencode { root: &root, tapes: &tapes, targets, others: &[], watchdog };
    /// assert_eq!(reencode.save()?, ["corpus/kv/one"]);
    /// std::fs::remove_dir_all(&root)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn save(&self) -> Result<Vec<String>, ReencodeError> {
        let mut names = Vec::new();
        for (target, case) in self.cases()? {
            let run = self.run(target, Input::Bytes(read(&case.file)?));
            let path = self.tape(&case);
            let error = |source| ReencodeError::File { path: path.clone(), source };
            if let Some(folder) = path.parent() {
                std::fs::create_dir_all(folder).map_err(error)?;
            }
            write_whole(&path, &Recording::of(&run).to_bytes()).map_err(error)?;
            names.push(case.name);
        }
        Ok(names)
    }

    /// Moves every stored input to the bytes that now mean what it meant; gives what became of each.
    ///
    /// # Errors
    /// What cannot be read or written; inputs that were moved before it stay moved.
    ///
    /// ```
    /// use sim_core::Target;
    /// use sim_core::reencode::{FOLDERS, Fate, Reencode};
    /// use std::time::Duration;
    ///
    /// let root = std::env::temp_dir().join(format!("loaded-{}", std::process::id()));
    /// for folder in FOLDERS {
    ///     std::fs::create_dir_all(root.join(folder).join("kv"))?;
    /// }
    /// std::fs::write(root.join("corpus/kv/one"), [1, 7])?;
    /// let (tapes, target) = (root.join("tapes"), Target::new("kv", |_| {}));
    /// let targets = std::slice::from_ref(&target);
    /// let watchdog = Duration::from_secs(60);
    /// let reencode = Reencode { root: &root, tapes: &tapes, targets, others: &[], watchdog };
    /// let fates = reencode.load()?;
    /// assert!(matches!(fates[0].1, Fate::Lost(_)), "nothing was saved before");
    /// std::fs::remove_dir_all(&root)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn load(&self) -> Result<Vec<(String, Fate)>, ReencodeError> {
        let mut fates = Vec::new();
        for (target, case) in self.cases()? {
            let fate = match self.recording(&case)? {
                Some(recording) => self.move_one(target, &case, recording)?,
                None => Fate::Lost(format!("{} is not there", self.tape(&case).display())),
            };
            fates.push((case.name, fate));
        }
        Ok(fates)
    }

    fn move_one(
        &self,
        target: &Target,
        case: &Case,
        recording: Recording,
    ) -> Result<Fate, ReencodeError> {
        let before = read(&case.file)?;
        let followed = self.run(target, Input::Recording(recording.clone()));
        let as_it_is = self.run(target, Input::Bytes(before.clone()));
        let is_same = as_it_is.tape == followed.tape;
        let bytes = followed.tape.to_bytes();
        // What counts is what the bytes do, not what following the recording did.
        let after = if is_same { as_it_is } else { self.run(target, Input::Bytes(bytes.clone())) };
        if let Some(reason) = difference(&recording, &after) {
            return Ok(Fate::Lost(reason));
        }
        if is_same {
            return Ok(Fate::Same);
        }
        let error = |source| ReencodeError::File { path: case.file.clone(), source };
        write_whole(&case.file, &bytes).map_err(error)?;
        Ok(Fate::Moved { from: before.len(), to: bytes.len() })
    }

    /// The stored inputs with their targets.
    fn cases(&self) -> Result<Vec<(&Target, Case)>, ReencodeError> {
        let mut names = self.others.to_vec();
        for target in self.targets {
            names.push(target.name());
        }
        let mut found = Vec::new();
        for folder in FOLDERS {
            for case in cases(self.root, folder, &names)? {
                let target = self.targets.iter().find(|target| target.name() == case.target);
                found.extend(target.map(|target| (target, case)));
            }
        }
        Ok(found)
    }

    fn recording(&self, case: &Case) -> Result<Option<Recording>, ReencodeError> {
        let path = self.tape(case);
        if !path.exists() {
            return Ok(None);
        }
        let recording = Recording::from_bytes(&read(&path)?);
        recording.map(Some).map_err(|source| ReencodeError::Recording { path, source })
    }

    /// Where the recording of an input is.
    fn tape(&self, case: &Case) -> PathBuf {
        self.tapes.join(format!("{}.tape", case.name))
    }

    fn run(&self, target: &Target, input: Input) -> Run {
        run(target, &input, self.watchdog)
    }
}

fn read(path: &Path) -> Result<Vec<u8>, ReencodeError> {
    std::fs::read(path).map_err(|source| ReencodeError::File { path: path.to_owned(), source })
}

/// What a run does not do that its recording did.
fn difference(recording: &Recording, run: &Run) -> Option<String> {
    let class = run.class().map(|class| class.name());
    if class != recording.class.as_deref() {
        let (was, is) = (recording.class.as_deref().unwrap_or("passed"), class.unwrap_or("passed"));
        return Some(format!("it was {was} and is {is}"));
    }
    let missed = recording.marks.iter().find(|name| !run.marks.contains(name));
    missed.map(|name| format!("it no longer reaches {name:?}"))
}
