//! Replay: pinned files of bytes, each an ordinary test.
//!
//! `regressions/<target>/<behavior>` once failed and passes now, or has a `<behavior>.toml` beside
//! it that says which class it still has; `corpus/<target>/…` passes. Files that begin with a dot
//! are not inputs. How files are pinned is in [`crate::pin`].
//!
//! Invariant: a pinned input is green only where it ends as expected and reaches the marks that it
//! was pinned with. One that misses a mark is stale: whatever it passes, it no longer tests.
//!
//! # Example
//! What a `replay` test of a workspace does with each pinned file:
//! ```
//! use sim_core::Target;
//! use sim_core::failure::Class;
//! use sim_core::replay::{self, CasesError, Expectation, Replayed, Verdict};
//! use sim_core::settings::Settings;
//! use std::time::Duration;
//!
//! let root = std::env::temp_dir().join(format!("pinned-{}", std::process::id()));
//! std::fs::create_dir_all(root.join("regressions/kv"))?;
//! std::fs::write(root.join("regressions/kv/lost"), [])?;
//! std::fs::write(root.join("regressions/kv/lost.toml"), "class = \"correctness\"\n")?;
//!
//! let target = Target::new("kv", |sim| sim.fail("no"));
//! let settings = Settings::default();
//! let cases = replay::cases(&root, "regressions", &["kv"])?;
//! assert_eq!((cases.len(), cases[0].name.as_str()), (1, "regressions/kv/lost"));
//! for case in &cases {
//!     assert!(replay::is_due(case, Duration::from_secs(3_600), &settings), "it failed once");
//!     assert_eq!(replay::target_of(&case.file), "kv");
//!     replay::test_case(&target, case, &settings)?;
//! }
//!
//! // One run, judged by hand.
//! let run = replay::replay(&target, &cases[0].file, &settings)?;
//! assert_eq!(cases[0].expectation.judge(&run), Verdict::Expected);
//! assert_eq!(Expectation::default().judge(&run), Verdict::Failed);
//!
//! // What `SIM_INPUT` does, and the exit code of it.
//! let replayed = replay::input(&target, &cases[0].file, &settings);
//! assert_eq!(replayed, Replayed::Failed(Class::Correctness));
//! assert_eq!(replayed.exit_code(), 110);
//!
//! let unknown = replay::cases(&root, "regressions", &["queue"]);
//! assert!(matches!(unknown, Err(CasesError::UnknownTarget { .. })));
//! std::fs::remove_dir_all(&root)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::child;
use crate::failure::{Class, Failure};
use crate::identity::{self, Identity, Subject, below_workspace, say, warn_unseeded};
use crate::pin;
use crate::report;
use crate::run::{Input, Run, Target, run_logged};
use crate::settings::Settings;
use crate::shrink::Request;
use crate::source::FORMAT;
use crate::sweep::confirm;
use crate::trace;
use crate::workspace::workspace;
use serde::Deserialize;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What is expected of a pinned file.
///
/// ```
/// use sim_core::replay::Expectation;
///
/// let expectation = Expectation::default();
/// assert_eq!(expectation.class, None, "it is to pass");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expectation {
    /// The class that it still has; none where it passes.
    pub class: Option<String>,
    /// A sentence on what it shows.
    pub sentence: Option<String>,
    /// The names of the marks that its run must reach.
    #[serde(default)]
    pub marks: Vec<String>,
    /// The version of the input format of its bytes; where it says none, that is the first.
    pub format: Option<u32>,
}

/// What a run is beside what is expected of it.
///
/// ```
/// # use sim_core::Target;
/// # use sim_core::run::{Input, run};
/// # use std::time::Duration;
/// # let minute = Duration::from_secs(60);
/// use sim_core::replay::{Expectation, Verdict};
/// let target = Target::new("kv", |_| {});
/// let run = run(&target, &Input::Seed(7), minute);
/// let expected = Expectation { marks: vec!["a crash".to_owned()], ..Expectation::default() };
/// assert_eq!(expected.judge(&run), Verdict::Stale(vec!["a crash".to_owned()]));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is as expected.
    Expected,
    /// It passes, and was expected to fail.
    Fixed,
    /// It fails, and not as expected.
    Failed,
    /// It ends as it may, but misses these marks.
    Stale(Vec<String>),
}

impl Expectation {
    /// Judges a run.
    ///
    /// Whoever misses a mark may pass only because its way leads elsewhere, so that comes before
    /// being fixed; and one that fails as expected on another way is another bug.
    ///
    /// ```
    /// # use sim_core::Target;
    /// # use sim_core::run::{Input, run};
    /// # use std::time::Duration;
    /// # let minute = Duration::from_secs(60);
    /// use sim_core::replay::{Expectation, Verdict};
    /// let open = Expectation { class: Some("correctness".to_owned()), ..Expectation::default() };
    /// let judge = |fails: bool| {
    ///     let target = Target::new("kv", move |sim| if fails { sim.fail("no") });
    ///     open.judge(&run(&target, &Input::Seed(7), minute))
    /// };
    /// assert_eq!((judge(true), judge(false)), (Verdict::Expected, Verdict::Fixed));
    /// ```
    pub fn judge(&self, run: &Run) -> Verdict {
        let class = run.class().map(Class::name);
        if class.is_some() && class != self.class.as_deref() {
            return Verdict::Failed;
        }
        let missed = self.marks.iter().filter(|name| !run.marks.contains(name));
        let missed: Vec<String> = missed.cloned().collect();
        match class == self.class.as_deref() {
            _ if !missed.is_empty() => Verdict::Stale(missed),
            true => Verdict::Expected,
            false => Verdict::Fixed,
        }
    }

    /// Writes it as the file beside a pinned one.
    pub(crate) fn to_toml(&self) -> String {
        let mut lines = Vec::new();
        lines.extend(self.class.iter().map(|class| format!("class = {}", quote(class))));
        let sentence = self.sentence.iter();
        lines.extend(sentence.map(|sentence| format!("sentence = {}", quote(sentence))));
        if !self.marks.is_empty() {
            lines.push("marks = [".to_owned());
            lines.extend(self.marks.iter().map(|mark| format!("    {},", quote(mark))));
            lines.push("]".to_owned());
        }
        lines.extend(self.format.map(|format| format!("format = {format}")));
        lines.join("\n") + "\n"
    }
}

/// A basic string of TOML.
fn quote(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            _ if character.is_control() => {
                quoted.push_str(&format!("\\u{:04x}", u32::from(character)));
            }
            _ => quoted.push(character),
        }
    }
    quoted.push('"');
    quoted
}

/// A pinned file.
///
/// The [module's example](self) makes tests of some.
///
/// ```
/// use sim_core::replay::{Case, Expectation};
///
/// let case = Case {
///     name: "regressions/kv/lost".to_owned(),
///     file: "regressions/kv/lost".into(),
///     target: "kv".to_owned(),
///     expectation: Expectation::default(),
/// };
/// assert!(case.file.ends_with("lost"));
/// ```
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
///
/// ```
/// use sim_core::replay::{CasesError, cases};
///
/// let root = std::env::temp_dir().join(format!("foreign-{}", std::process::id()));
/// std::fs::create_dir_all(root.join("regressions/queue"))?;
/// let error = cases(&root, "regressions", &["kv"]).unwrap_err();
/// assert!(matches!(error, CasesError::UnknownTarget { .. }));
/// assert!(error.to_string().ends_with("has the name of no target; the targets are kv"));
/// std::fs::remove_dir_all(&root)?;
/// # Ok::<(), std::io::Error>(())
/// ```
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
    /// A file has a name that no command and no test can have.
    #[error("{path:?}: the name of a pinned file is utf-8; rename it")]
    Name {
        /// The file.
        path: PathBuf,
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
///
/// ```
/// use sim_core::replay::cases;
///
/// let root = std::env::temp_dir().join(format!("cases-{}", std::process::id()));
/// std::fs::create_dir_all(root.join("corpus/kv"))?;
/// std::fs::write(root.join("corpus/kv/one"), [])?;
/// let cases = cases(&root, "corpus", &["kv"])?;
/// assert_eq!((cases[0].name.as_str(), cases[0].target.as_str()), ("corpus/kv/one", "kv"));
/// std::fs::remove_dir_all(&root)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
        if file.file_name().is_none_or(|name| name.to_str().is_none()) {
            return Err(CasesError::Name { path: file });
        }
        if file.extension().is_none_or(|extension| extension != "toml") {
            let name = format!("{folder}/{target}/{}", file_name(&file));
            let expectation = expectation(&file)?;
            cases.push(Case { name, file, target: target.to_owned(), expectation });
        } else if !file.with_extension("").is_file() {
            let text = "there is no input beside it".to_owned();
            return Err(CasesError::Expectation { path: file, text });
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

/// The file beside a pinned one that says what is expected of it.
pub(crate) fn expectation_file(file: &Path) -> PathBuf {
    file.with_added_extension("toml")
}

/// What is expected of a file; where nothing is beside it, that it passes.
pub(crate) fn expectation(file: &Path) -> Result<Expectation, CasesError> {
    let path = expectation_file(file);
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Expectation::default()),
        Err(source) => return Err(CasesError::Read { path, source }),
    };
    let parsed: Result<Expectation, _> = toml::from_str(&text);
    let wrong = |path, text| CasesError::Expectation { path, text };
    let expectation = parsed.map_err(|error| wrong(path.clone(), error.message().to_owned()))?;
    match expectation.format {
        Some(0) => Err(wrong(path, "there never was a format 0; the first is 1".to_owned())),
        Some(format) if format > FORMAT => Err(wrong(
            path,
            format!("its input has format {format}; this version reads up to format {FORMAT}"),
        )),
        _ => Ok(expectation),
    }
}

/// How long the corpus is replayed where `SIM_BUDGET` says nothing.
const CORPUS_TIME: Duration = Duration::from_secs(60);

/// Whether a pinned file is still to be run that long after the first one.
///
/// What once failed always is. The corpus, which grows by itself, has `SIM_BUDGET`, or a minute;
/// what is passed over should be said.
///
/// ```
/// use sim_core::replay::{Case, Expectation, is_due};
/// use sim_core::settings::Settings;
/// use std::time::Duration;
///
/// let of = |folder: &str| Case {
///     name: format!("{folder}/kv/one"),
///     file: format!("{folder}/kv/one").into(),
///     target: "kv".to_owned(),
///     expectation: Expectation::default(),
/// };
/// let hour = Duration::from_secs(3_600);
/// assert!(is_due(&of("regressions"), hour, &Settings::default()));
/// assert!(!is_due(&of("corpus"), hour, &Settings::default()));
/// ```
pub fn is_due(case: &Case, since_start: Duration, settings: &Settings) -> bool {
    let is_corpus = case.name.starts_with("corpus/");
    !is_corpus || since_start < settings.budget.unwrap_or(CORPUS_TIME)
}

/// Runs one file, with its identity before and its trace after where `SIM_TRACE` asks for one.
///
/// # Errors
/// What the file system says.
///
/// ```
/// use sim_core::Target;
/// use sim_core::replay::replay;
/// use sim_core::settings::Settings;
///
/// let file = std::env::temp_dir().join(format!("replayed-{}", std::process::id()));
/// std::fs::write(&file, [1, 7])?;
/// let target = Target::new("kv", |sim| sim.note("here"));
/// assert_eq!(replay(&target, &file, &Settings::default())?.class(), None);
/// std::fs::remove_file(&file)?;
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn replay(target: &Target, file: &Path, settings: &Settings) -> io::Result<Run> {
    let run = run_file(target, file, settings)?;
    trace::show(target, &run, &file_name(file), settings);
    Ok(run)
}

/// Runs one file, with its identity before.
fn run_file(target: &Target, file: &Path, settings: &Settings) -> io::Result<Run> {
    child::serve(target);
    warn_unseeded();
    let bytes = std::fs::read(file)?;
    Identity { target, subject: Subject::File(file) }.print();
    Ok(run_logged(target, &Input::Bytes(bytes), settings.watchdog, &settings.log))
}

/// Replays a pinned file and judges it. `SIM_TRACE` shows its trace where it is not as expected:
/// nobody asked for that of each pin.
///
/// # Errors
/// One line on what is not as expected; a failure was reported in full before.
///
/// ```
/// use sim_core::Target;
/// use sim_core::replay::{cases, test_case};
/// use sim_core::settings::Settings;
///
/// let root = std::env::temp_dir().join(format!("case-{}", std::process::id()));
/// std::fs::create_dir_all(root.join("regressions/kv"))?;
/// std::fs::write(root.join("regressions/kv/lost"), [])?;
/// std::fs::write(root.join("regressions/kv/lost.toml"), "class = \"correctness\"\n")?;
/// let cases = cases(&root, "regressions", &["kv"])?;
/// let test = |target| test_case(&target, &cases[0], &Settings::default());
/// assert_eq!(test(Target::new("kv", |sim| sim.fail("no"))), Ok(()), "as expected");
/// assert!(test(Target::new("kv", |_| {})).is_err_and(|line| line.starts_with("fixed: ")));
/// std::fs::remove_dir_all(&root)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn test_case(target: &Target, case: &Case, settings: &Settings) -> Result<(), String> {
    expected_run(target, case, settings).map(drop)
}

/// The run of a pinned file, where it is as expected.
fn expected_run(target: &Target, case: &Case, settings: &Settings) -> Result<Run, String> {
    let run = run_file(target, &case.file, settings).map_err(|error| error.to_string())?;
    let verdict = case.expectation.judge(&run);
    if verdict != Verdict::Expected {
        trace::show(target, &run, &file_name(&case.file), settings);
    }
    if let (Verdict::Failed, Some(failure)) = (&verdict, &run.failure) {
        let class = print_failure(target, &run, failure, &case.file, settings).class;
        return Err(match &case.expectation.class {
            Some(expected) => format!("expected class {expected}, the run is {class}"),
            None => format!("the run failed: {class}"),
        });
    }
    if let (Verdict::Failed, Some(reason)) = (&verdict, &run.excuse) {
        return Err(format!("the run was excused: {reason}"));
    }
    advice(target, &case.file, &case.expectation, &verdict).map_or(Ok(run), Err)
}

/// What to do about a pinned file that is fixed or stale.
fn advice(
    target: &Target,
    file: &Path,
    expectation: &Expectation,
    verdict: &Verdict,
) -> Option<String> {
    let command = Identity { target, subject: Subject::File(file) }.pin(&file_name(file));
    let beside = below_workspace(&expectation_file(file));
    let beside = beside.display();
    match verdict {
        Verdict::Expected | Verdict::Failed => None,
        Verdict::Fixed => {
            let class = expectation.class.as_deref().unwrap_or_default();
            Some(format!(
                "fixed: the run passes and {beside} still expects class = {class:?}; remove that \
                 line, or let `{command}` do it"
            ))
        }
        Verdict::Stale(missed) => {
            let missed: Vec<String> = missed.iter().map(|name| format!("{name:?}")).collect();
            let missed = missed.join(" and ");
            Some(format!(
                "stale: the run no longer reaches {missed}; where its bytes got another meaning, \
                 move it with `reencode` or find the bug again; where the mark is gone for good, \
                 remove it from {beside}, or let `{command}` do it"
            ))
        }
    }
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
    let (first, unset) = (run, None);
    let request =
        Request { target, first, failure: &failure, settings, unset, is_known: &|_| false };
    let outcome = request.shrink(&mut |first, failure, bytes| {
        report::save_shrunk(settings, target, first, failure, bytes)
    });
    if !report::print_outcome(target, &failure, &outcome, &found_by, run.tape.to_bytes().len()) {
        report::print(target, run, &failure, subject, Some(file));
    }
    failure
}

/// What came of a replay of `SIM_INPUT`.
///
/// ```
/// use sim_core::failure::Class;
/// use sim_core::replay::Replayed;
///
/// assert_ne!(Replayed::Passed, Replayed::Failed(Class::Panic));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replayed {
    /// It passed.
    Passed,
    /// It failed with this class.
    Failed(Class),
    /// It passed, and misses a mark that the file was pinned with.
    Stale,
}

impl Replayed {
    /// The exit code of a process that did nothing else: that of the class, and 118 for what is stale.
    ///
    /// ```
    /// use sim_core::failure::Class;
    /// use sim_core::replay::Replayed;
    ///
    /// let codes = [Replayed::Passed, Replayed::Failed(Class::Leak), Replayed::Stale];
    /// assert_eq!(codes.map(Replayed::exit_code), [0, 113, 118]);
    /// ```
    pub fn exit_code(self) -> u8 {
        match self {
            Replayed::Passed => 0,
            Replayed::Failed(class) => class.exit_code(),
            Replayed::Stale => 118,
        }
    }
}

/// Replays `SIM_INPUT` where its folder is that of the target, and says what came of it.
///
/// ```
/// use sim_core::Target;
/// use sim_core::replay::{self, Replayed};
/// use sim_core::settings::Settings;
///
/// let file = std::env::temp_dir().join(format!("asked-{}", std::process::id()));
/// std::fs::write(&file, [])?;
/// let replayed = replay::input(&Target::new("kv", |_| {}), &file, &Settings::default());
/// assert_eq!(replayed, Replayed::Passed);
/// std::fs::remove_file(&file)?;
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn input(target: &Target, file: &Path, settings: &Settings) -> Replayed {
    let replayed = replay(target, file, settings).map_err(|error| error.to_string());
    let expectation = expectation(file).map_err(|error| error.to_string());
    let (run, expectation) = match (replayed, expectation) {
        (Ok(run), Ok(expectation)) => (run, expectation),
        (Err(error), _) | (_, Err(error)) => {
            say(&format!("sim: SIM_INPUT={}: {error}", file.display()));
            std::process::exit(2);
        }
    };
    if let Some(failure) = &run.failure {
        return Replayed::Failed(print_failure(target, &run, failure, file, settings).class);
    }
    let (hash, events) = (run.hash, run.history.len());
    let how = if run.excuse.is_some() { "EXCUSED" } else { "PASSED" };
    say(&format!("sim: {how} target={} hash={hash} events={events}", target.name()));
    if let Some(reason) = &run.excuse {
        say(&format!("  excused: {reason}"));
    }
    let verdict = expectation.judge(&run);
    if let Some(advice) = advice(target, file, &expectation, &verdict) {
        say(&format!("  {advice}"));
    }
    if matches!(verdict, Verdict::Stale(_)) { Replayed::Stale } else { Replayed::Passed }
}

/// The command that runs a file of a target again: the current test, fuzz target or `replay` test, as
/// a shell reads it.
///
/// ```
/// use sim_core::replay::command;
/// use std::path::Path;
///
/// let command = command("kv", Path::new("it's"));
/// assert!(command.ends_with("it'\\''s' SIM_TARGET=kv cargo test --test replay"), "{command}");
/// ```
pub fn command(target: &str, file: &Path) -> String {
    identity::of_file(target, file)
}

/// The target that a file belongs to: that of `SIM_TARGET`, else of the folder it is in.
///
/// ```
/// use sim_core::replay::target_of;
/// use std::path::Path;
///
/// assert_eq!(target_of(Path::new("regressions/sim_kv/lost-reply")), "sim_kv");
/// ```
pub fn target_of(file: &Path) -> String {
    let folder = || file.parent().map(file_name).unwrap_or_default();
    std::env::var("SIM_TARGET").unwrap_or_else(|_| folder())
}

/// Replays `SIM_INPUT` in a test; one that belongs to another target is left to that one's test.
///
/// With `SIM_PIN` it is pinned.
///
/// # Panics
/// Where the run failed or is stale, or the file was not pinned.
#[track_caller]
pub(crate) fn test_input(target: &Target, file: &Path, settings: &Settings) {
    let of_file = target_of(file);
    if of_file == target.name() {
        replay_or_pin(target, file, settings);
    } else {
        let (name, file) = (target.name(), file.display());
        say(&format!(
            "sim: not run: SIM_INPUT={file} is for target \"{of_file}\", this test's is \"{name}\"; \
             SIM_TARGET={name} makes it so"
        ));
    }
}

/// Replays the one file that a fuzz target was asked for, or pins it; the exit code. The target is the
/// only one of its process, so the folder of the file may have any name.
pub(crate) fn fuzz_input(target: &Target, file: &Path, settings: &Settings) -> u8 {
    let name = target.name();
    if let Some(other) = std::env::var("SIM_TARGET").ok().filter(|other| other != name) {
        say(&format!("sim: SIM_TARGET={other}: this fuzz target is of \"{name}\""));
        return 2;
    }
    match &settings.pin {
        Some(pin) if pin::input(target, file, pin, &workspace(), settings) => 0,
        Some(_) => 2,
        None => input(target, file, settings).exit_code(),
    }
}

#[track_caller]
fn replay_or_pin(target: &Target, file: &Path, settings: &Settings) {
    if let Some(name) = &settings.pin {
        assert!(pin::input(target, file, name, &workspace(), settings), "the file was not pinned");
        return;
    }
    match input(target, file, settings) {
        Replayed::Passed => {}
        Replayed::Failed(class) => panic!("the run failed: {class}"),
        Replayed::Stale => panic!("the pinned input is stale"),
    }
}

/// A bug that is pinned as open.
#[derive(Clone, Debug)]
pub(crate) struct OpenPin {
    /// The name of its file: folder, target and file.
    pub(crate) name: String,
    /// What its run fails with.
    pub(crate) failure: Failure,
}

/// Replays the files that are pinned for a target below `root`, where there are some; gives the bugs
/// that are still open.
///
/// # Panics
/// Where one is not as expected, or cannot be read.
#[track_caller]
pub(crate) fn test_pinned(target: &Target, root: &Path, settings: &Settings) -> Vec<OpenPin> {
    let folder = root.join("regressions").join(target.name());
    // What cannot be looked at may well be there.
    if !folder.try_exists().unwrap_or(true) {
        return Vec::new();
    }
    let cases = match cases_of(&folder, "regressions", target.name()) {
        Ok(cases) => cases,
        Err(error) => panic!("{error}"),
    };
    let mut open = Vec::new();
    for case in cases {
        match expected_run(target, &case, settings) {
            Ok(run) => open.extend(run.failure.map(|failure| OpenPin { name: case.name, failure })),
            Err(text) => panic!("{}: {text}", case.name),
        }
    }
    open
}

#[cfg(test)]
mod tests;
