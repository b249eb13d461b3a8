//! Pinning: a file of bytes becomes a test of its own, by one command.
//!
//! `SIM_PIN=NAME SIM_INPUT=FILE` before a test runs the file, writes its canonical bytes to
//! `regressions/TARGET/NAME` and what is expected of it to `NAME.toml` beside it: the class while it
//! fails, and the marks that it reaches. The same command on the pinned file brings what is expected
//! up to date, so that a bug that is fixed is pinned as fixed. It neither shrinks nor searches.
//!
//! Invariants:
//! - The pinned bytes make the run that the file made; a run that is not the same twice is refused.
//! - What is expected is written first and each file is whole or not there, so an interrupt leaves
//!   no pin that expects something else.
//! - Another pin is never overwritten, and a sentence is never lost.
//!
//! # Example
//! ```
//! use sim_core::pin::{Name, PinError, pin};
//! use sim_core::settings::Settings;
//! use sim_core::{Target, pin, replay};
//!
//! let root = std::env::temp_dir().join(format!("pins-{}", std::process::id()));
//! std::fs::create_dir_all(&root)?;
//! let found = root.join("found");
//! std::fs::write(&found, [])?;
//!
//! let target = Target::new("kv", |sim| sim.fail("no"));
//! let settings = Settings::default();
//! let name = Name::parse("reply-lost")?;
//! assert_eq!(Name::parse("reply lost"), Err("it has other characters"));
//!
//! let pinned = pin(&target, &found, &name, &root, &settings)?;
//! assert_eq!(pinned.expectation.class.as_deref(), Some("correctness"));
//! assert!(pinned.file.ends_with("regressions/kv/reply-lost") && pinned.before.is_none());
//! // What `SIM_PIN` does: it says what was done, or why not.
//! assert!(pin::input(&target, &pinned.file, &name, &root, &settings));
//!
//! let missing = pin(&target, &root.join("nowhere"), &name, &root, &settings);
//! assert!(matches!(missing, Err(PinError::File { .. })));
//! assert_eq!(replay::cases(&root, "regressions", &["kv"])?.len(), 1);
//! std::fs::remove_dir_all(&root)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::child;
use crate::failure::Class;
use crate::identity::{Identity, Subject, below_workspace, say};
use crate::replay::{CasesError, Expectation, expectation, expectation_file, replay};
use crate::report::write_whole;
use crate::run::{Input, Run, Target};
use crate::self_check;
use crate::settings::Settings;
use crate::source::FORMAT;
use crate::sweep::confirm;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// The most bytes of a name.
const NAME_MAX: usize = 100;

/// The name of a pinned file: what it does, in lowercase letters, digits, `-` and `_`.
///
/// ```
/// use sim_core::pin::Name;
///
/// assert_eq!(Name::parse("lost-reply")?.to_string(), "lost-reply");
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name(String);

impl Name {
    /// Reads a name.
    ///
    /// # Errors
    /// What is wrong with it.
    ///
    /// ```
    /// use sim_core::pin::Name;
    ///
    /// assert!(Name::parse("lost-reply_2").is_ok());
    /// assert_eq!(Name::parse("-x"), Err("it does not begin with a lowercase letter or a digit"));
    /// ```
    pub fn parse(text: &str) -> Result<Name, &'static str> {
        let is_word = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        if !text.bytes().next().is_some_and(is_word) {
            return Err("it does not begin with a lowercase letter or a digit");
        }
        if !text.bytes().all(|byte| is_word(byte) || byte == b'-' || byte == b'_') {
            return Err("it has other characters");
        }
        if text.len() > NAME_MAX {
            return Err("it is longer than 100 bytes");
        }
        Ok(Name(text.to_owned()))
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// What was pinned.
///
/// ```
/// use sim_core::Target;
/// use sim_core::pin::{Name, Pinned, pin};
/// use sim_core::settings::Settings;
///
/// let root = std::env::temp_dir().join(format!("pinned-{}", std::process::id()));
/// std::fs::create_dir_all(&root)?;
/// std::fs::write(root.join("found"), [])?;
/// let settings = Settings::default();
/// let once_more = |fails: bool| {
///     let body = move |sim: &mut sim_core::Sim| if fails { sim.fail("no") };
///     let name = Name::parse("reply-lost").expect("it is one");
///     pin(&Target::new("kv", body), &root.join("found"), &name, &root, &settings)
/// };
/// once_more(true)?;
/// let Pinned { expectation, before, .. } = once_more(false)?;
/// assert_eq!(before.and_then(|before| before.class).as_deref(), Some("correctness"));
/// assert_eq!(expectation.class, None, "it is fixed");
/// std::fs::remove_dir_all(&root)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pinned {
    /// The pinned file.
    pub file: PathBuf,
    /// How many bytes it has.
    pub bytes_count: usize,
    /// What is expected of it now.
    pub expectation: Expectation,
    /// What was expected of it before, where it was pinned already.
    pub before: Option<Expectation>,
}

/// Why a file was not pinned; nothing was written then, but where the system refused to.
///
/// ```
/// use sim_core::Target;
/// use sim_core::pin::{Name, PinError, pin};
/// use sim_core::settings::Settings;
/// use std::path::Path;
///
/// let target = Target::new("kv", |_| {});
/// let (name, nowhere) = (Name::parse("lost")?, Path::new("no/such/folder"));
/// let error = pin(&target, &nowhere.join("file"), &name, nowhere, &Settings::default());
/// assert!(matches!(error, Err(PinError::File { .. })));
/// # Ok::<(), &str>(())
/// ```
#[derive(Debug, Error)]
pub enum PinError {
    /// A file cannot be read or written.
    #[error("{path}: {source}", path = path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// Another input has the name.
    #[error("{path} is another input; choose another name, or remove it", path = path.display())]
    Taken {
        /// The other input.
        path: PathBuf,
    },
    /// What is expected so far cannot be understood.
    #[error(transparent)]
    Expectation(#[from] CasesError),
    /// The run says nothing of the program.
    #[error("the run is {class}: {message}; such a run shows nothing that could be pinned")]
    Unusable {
        /// The class of the run.
        class: Class,
        /// Its message.
        message: String,
    },
}

/// Runs a file and pins it below `root` by a name; a file that is pinned by that name already is
/// brought up to date.
///
/// A pin that is brought up to date keeps its sentence, and of its marks those that it still
/// reaches: they lead to the bug, and what a fixed run reaches after it does not count.
///
/// # Errors
/// See [`PinError`].
///
/// ```
/// use sim_core::Target;
/// use sim_core::pin::{Name, pin};
/// use sim_core::settings::Settings;
///
/// let root = std::env::temp_dir().join(format!("pin-{}", std::process::id()));
/// std::fs::create_dir_all(&root)?;
/// std::fs::write(root.join("found"), [])?;
/// let (target, name) = (Target::new("kv", |sim| sim.fail("no")), Name::parse("lost-reply")?);
/// let pinned = pin(&target, &root.join("found"), &name, &root, &Settings::default())?;
/// assert_eq!(pinned.file, root.join("regressions/kv/lost-reply"));
/// assert!(pinned.file.with_extension("toml").is_file());
/// std::fs::remove_dir_all(&root)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn pin(
    target: &Target,
    file: &Path,
    name: &Name,
    root: &Path,
    settings: &Settings,
) -> Result<Pinned, PinError> {
    child::serve(target);
    let folder = root.join("regressions").join(target.name());
    let place = folder.join(&name.0);
    let run = replay(target, file, settings).map_err(of_file(file))?;
    refuse_unusable(target, file, &run, settings)?;
    let bytes = run.tape.to_bytes();
    let before = before(file, &place, &bytes)?;
    let expectation = expectation_of(&run, before.as_ref());
    let text = expectation.to_toml();
    let beside = expectation_file(&place);
    std::fs::create_dir_all(&folder).map_err(of_file(&folder))?;
    write_whole(&beside, text.as_bytes()).map_err(of_file(&beside))?;
    write_whole(&place, &bytes).map_err(of_file(&place))?;
    Ok(Pinned { file: place, bytes_count: bytes.len(), expectation, before })
}

fn of_file(path: &Path) -> impl Fn(io::Error) -> PinError {
    let path = path.to_owned();
    move |source| PinError::File { path: path.clone(), source }
}

/// Refuses a run that is not the same twice, or that was ended from outside.
fn refuse_unusable(
    target: &Target,
    file: &Path,
    run: &Run,
    settings: &Settings,
) -> Result<(), PinError> {
    let diverged = match &run.failure {
        Some(failure) => confirm(target, run, failure, Some(file), settings),
        None => {
            let bytes = Input::Bytes(run.tape.to_bytes());
            self_check::in_process(target, &bytes, run, 1, settings.watchdog)
        }
    };
    let failure = diverged.or_else(|| run.failure.clone());
    match failure {
        Some(failure) if matches!(failure.class, Class::Diverged | Class::Inconclusive) => {
            Err(PinError::Unusable { class: failure.class, message: failure.message })
        }
        _ => Ok(()),
    }
}

/// What is expected so far of the input at `place`, where that is this one.
fn before(file: &Path, place: &Path, bytes: &[u8]) -> Result<Option<Expectation>, PinError> {
    let there = match std::fs::read(place) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        there => there.map_err(of_file(place))?,
    };
    let is_itself = || Some(file.canonicalize().ok()? == place.canonicalize().ok()?);
    if there == bytes || is_itself() == Some(true) {
        return Ok(Some(expectation(place)?));
    }
    Err(PinError::Taken { path: below_workspace(place) })
}

fn expectation_of(run: &Run, before: Option<&Expectation>) -> Expectation {
    let marks: Vec<String> = match before {
        Some(Expectation { marks, .. }) if !marks.is_empty() => {
            marks.iter().filter(|name| run.marks.contains(name)).cloned().collect()
        }
        _ => run.marks.iter().map(str::to_owned).collect(),
    };
    Expectation {
        class: run.class().map(|class| class.name().to_owned()),
        sentence: before.and_then(|before| before.sentence.clone()),
        marks,
        format: Some(FORMAT),
    }
}

/// Pins `SIM_INPUT` and says what was done and what is next, or why not; whether it was pinned.
///
/// ```
/// use sim_core::pin::{self, Name};
/// use sim_core::settings::Settings;
/// use std::path::Path;
///
/// let (target, name) = (sim_core::Target::new("kv", |_| {}), Name::parse("lost-reply")?);
/// let nowhere = Path::new("no/such/folder");
/// let is_pinned = pin::input(&target, &nowhere.join("file"), &name, nowhere, &Settings::default());
/// assert!(!is_pinned, "it says why");
/// # Ok::<(), &str>(())
/// ```
pub fn input(target: &Target, file: &Path, name: &Name, root: &Path, settings: &Settings) -> bool {
    match pin(target, file, name, root, settings) {
        Ok(pinned) => {
            say(&text(target, name, &pinned));
            true
        }
        Err(error) => {
            say(&format!("sim: SIM_PIN={name} SIM_INPUT={}: {error}", file.display()));
            false
        }
    }
}

/// What is said of a new pin.
fn text(target: &Target, name: &Name, pinned: &Pinned) -> String {
    let Pinned { file, bytes_count, expectation, before } = pinned;
    let same = Identity { target, subject: Subject::File(file) };
    let class = expectation.class.as_deref();
    let state = class.map_or("passes".to_owned(), |class| format!("class={class}"));
    let marks = expectation.marks.len();
    let mut lines = vec![
        format!("sim: PINNED target={} name={name} {state} marks={marks}", target.name()),
        format!("  input:  {} ({bytes_count} bytes)", below_workspace(file).display()),
        format!("  beside: {}", below_workspace(&expectation_file(file)).display()),
    ];
    let was = before.as_ref().and_then(|before| before.class.as_deref());
    if let Some(was) = was.filter(|_| class.is_none()) {
        lines.push(format!("  fixed:  it was {was}; from now on it must pass"));
    }
    let lost = before.iter().flat_map(|before| &before.marks);
    let lost = lost.filter(|mark| !expectation.marks.contains(mark));
    lines.extend(lost.map(|mark| format!("  gone:   it is no longer asked to reach {mark:?}")));
    if marks == 0 {
        lines.push(
            "  marks:  none, so it cannot be told when it goes stale; `sometimes!` and `reached!` \
             place them"
                .to_owned(),
        );
    }
    lines.push(match class {
        Some(_) => format!("  next:   commit both; when the bug is fixed: {}", same.pin(&name.0)),
        None => "  next:   commit both".to_owned(),
    });
    lines.join("\n")
}

#[cfg(test)]
mod tests;
