//! Replay: pinned files of bytes, each an ordinary test.
//!
//! `regressions/<target>/<behavior>` once failed and passes now, or has a `<behavior>.toml` beside
//! it that says which class it still has; `corpus/<target>/…` passes. Files that begin with a dot
//! are not inputs.

use crate::child;
use crate::failure::{Class, Failure};
use crate::identity::{Identity, Subject, say, warn_unseeded};
use crate::report;
use crate::run::{Input, Run, Target, run};
use crate::settings::{Settings, TraceForm};
use crate::shrink::shrink_failure;
use crate::sweep::confirm;
use serde::Deserialize;
use std::io;
use std::path::{Path, PathBuf};

/// What is expected of a pinned file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expectation {
    /// The class that it still has; none where it passes.
    pub class: Option<String>,
    /// A sentence on what it shows.
    pub sentence: Option<String>,
}

/// A pinned file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// The name of its test: folder, target and file.
    pub name: String,
    /// The file.
    pub file: PathBuf,
    /// The name of its target.
    pub target: String,
    /// What is expected of it.
    pub expectation: Expectation,
}

/// Why pinned files cannot be replayed.
#[derive(Debug, thiserror::Error)]
pub enum CasesError {
    /// A folder or file cannot be read.
    #[error("cannot read {path}: {source}", path = path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A folder has the name of no target.
    #[error("{path} has the name of no target; the targets are {targets}", path = path.display())]
    UnknownTarget {
        /// The folder.
        path: PathBuf,
        /// The names of the targets.
        targets: String,
    },
    /// The file beside a pinned one cannot be understood.
    #[error("{path}: {text}", path = path.display())]
    Expectation {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        text: String,
    },
}

/// Finds the pinned files below `root/folder` of the targets of these names, sorted by name.
///
/// # Errors
/// A folder that belongs to no target, and what cannot be read.
pub fn cases(root: &Path, folder: &str, targets: &[&str]) -> Result<Vec<Case>, CasesError> {
    let mut cases = Vec::new();
    for target_folder in list(&root.join(folder))? {
        let target = file_name(&target_folder);
        if !targets.contains(&&*target) {
            let targets = targets.join(", ");
            return Err(CasesError::UnknownTarget { path: target_folder, targets });
        }
        cases.extend(cases_of(&target_folder, folder, &target)?);
    }
    Ok(cases)
}

/// The pinned files in the folder of one target.
fn cases_of(path: &Path, folder: &str, target: &str) -> Result<Vec<Case>, CasesError> {
    let mut cases = Vec::new();
    for file in list(path)? {
        if file.extension().is_none_or(|extension| extension != "toml") {
            let name = format!("{folder}/{target}/{}", file_name(&file));
            let expectation = expectation(&file)?;
            cases.push(Case { name, file, target: target.to_owned(), expectation });
        }
    }
    Ok(cases)
}

fn list(folder: &Path) -> Result<Vec<PathBuf>, CasesError> {
    let error = |source| CasesError::Read { path: folder.to_owned(), source };
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(error)? {
        let path = entry.map_err(error)?.path();
        if !file_name(&path).starts_with('.') {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn expectation(file: &Path) -> Result<Expectation, CasesError> {
    let path = file.with_added_extension("toml");
    match std::fs::read_to_string(&path) {
        Ok(text) => toml::from_str(&text)
            .map_err(|error| CasesError::Expectation { path, text: error.message().to_owned() }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Expectation::default()),
        Err(source) => Err(CasesError::Read { path, source }),
    }
}

/// Runs one file, with its identity before and its trace after where `SIM_TRACE` asks for it.
///
/// # Errors
/// What the file system says.
pub fn replay(target: &Target, file: &Path, settings: &Settings) -> io::Result<Run> {
    child::serve(target);
    warn_unseeded();
    let bytes = std::fs::read(file)?;
    Identity { target, subject: Subject::File(file) }.print();
    let run = run(target, &Input::Bytes(bytes), settings.watchdog);
    if settings.trace == Some(TraceForm::Text) {
        say(&run.history.trace().to_string());
    }
    Ok(run)
}

/// Replays a pinned file and judges it.
///
/// # Errors
/// One line on what is not as expected; a failure was reported in full before.
pub fn test_case(target: &Target, case: &Case, settings: &Settings) -> Result<(), String> {
    let run = replay(target, &case.file, settings).map_err(|error| error.to_string())?;
    let class = run.class().map(Class::name);
    if class == case.expectation.class.as_deref() {
        return Ok(());
    }
    if let Some(failure) = &run.failure {
        print_failure(target, &run, failure, &case.file, settings);
    }
    Err(match &case.expectation.class {
        Some(expected) => {
            format!("expected class {expected}, the run is {}", class.unwrap_or("passed"))
        }
        None => format!("the run failed: {}", class.unwrap_or("passed")),
    })
}

fn print_failure(
    target: &Target,
    run: &Run,
    failure: &Failure,
    file: &Path,
    settings: &Settings,
) -> Failure {
    let diverged = confirm(target, run, failure, Some(file), settings);
    let failure = diverged.unwrap_or_else(|| failure.clone());
    let subject = Subject::File(file);
    let found_by = Identity { target, subject }.replay();
    let save = &mut |bytes: &[u8]| report::save_shrunk(settings, target, run, &failure, bytes);
    match shrink_failure(target, run, &failure, settings, None, save) {
        Some(found) => report::print_shrunk(target, &found, &found_by, run.tape.to_bytes().len()),
        None => report::print(target, run, &failure, subject, Some(file)),
    }
    failure
}

/// Replays `SIM_INPUT` where its folder is that of the target; gives the class it failed with.
pub fn input(target: &Target, file: &Path, settings: &Settings) -> Option<Class> {
    let run = match replay(target, file, settings) {
        Ok(run) => run,
        Err(error) => {
            say(&format!("sim: SIM_INPUT={}: {error}", file.display()));
            std::process::exit(2);
        }
    };
    match &run.failure {
        Some(failure) => Some(print_failure(target, &run, failure, file, settings).class),
        None => {
            let (hash, events) = (run.hash, run.history.len());
            say(&format!("sim: PASSED target={} hash={hash} events={events}", target.name()));
            None
        }
    }
}

/// The target that a file belongs to: that of `SIM_TARGET`, else of the folder it is in.
pub fn target_of(file: &Path) -> String {
    let folder = || file.parent().map(file_name).unwrap_or_default();
    std::env::var("SIM_TARGET").unwrap_or_else(|_| folder())
}

/// Replays `SIM_INPUT` in a test; one that belongs to another target is left to that one's test.
///
/// # Panics
/// Where the run failed.
pub(crate) fn test_input(target: &Target, file: &Path, settings: &Settings) {
    let of_file = target_of(file);
    if of_file == target.name() {
        let class = input(target, file, settings);
        assert!(class.is_none(), "the run failed: {}", class.map_or("", Class::name));
    } else {
        let (name, file) = (target.name(), file.display());
        say(&format!(
            "sim: not run: SIM_INPUT={file} is for target \"{of_file}\", this test's is \"{name}\"; \
             SIM_TARGET={name} makes it so"
        ));
    }
}

/// Replays the files that are pinned for a target below `root`, where there are some.
///
/// # Panics
/// Where one is not as expected, or cannot be read.
pub(crate) fn test_pinned(target: &Target, root: &Path, settings: &Settings) {
    let folder = root.join("regressions").join(target.name());
    if !folder.is_dir() {
        return;
    }
    let cases = cases_of(&folder, "regressions", target.name());
    for case in cases.unwrap_or_else(|error| panic!("{error}")) {
        if let Err(text) = test_case(target, &case, settings) {
            panic!("{}: {text}", case.name);
        }
    }
}
