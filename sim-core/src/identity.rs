//! The identity of a run: one line with all that another person needs to make the same run.
//!
//! It is printed unbuffered before anything that can end the process, and never through the test
//! harness's capture.

use crate::run::Target;
use crate::screen::above_bars;
use crate::settings::workspace;
use std::borrow::Cow;
use std::fmt;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// What decides a run, in words.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Subject<'a> {
    /// Seeds, as `SIM_SEEDS` takes them.
    Seeds(&'a str),
    /// A file of bytes.
    File(&'a Path),
}

/// The identity of a run or of a sweep.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Identity<'a> {
    /// The system under test.
    pub(crate) target: &'a Target,
    /// What decides.
    pub(crate) subject: Subject<'a>,
}

impl Identity<'_> {
    /// Prints the line to standard error.
    pub(crate) fn print(&self) {
        say(&self.to_string());
    }

    /// The command that makes the same run again.
    pub(crate) fn replay(&self) -> String {
        let command = front();
        match self.subject {
            Subject::Seeds(seeds) => format!("SIM_SEEDS={} {command}", word(seeds)),
            Subject::File(file) => {
                let (name, shown) = (self.target.name(), below_workspace(file));
                let is_named = file.parent().is_some_and(|folder| folder.ends_with(name));
                let named =
                    if is_named { String::new() } else { format!("SIM_TARGET={} ", word(name)) };
                format!("SIM_INPUT={} {named}{command}", word(&shown.to_string_lossy()))
            }
        }
    }

    /// The command that makes the run and pins it by a name.
    pub(crate) fn pin(&self, name: &str) -> String {
        format!("SIM_PIN={name} {}", self.replay())
    }
}

impl fmt::Display for Identity<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let subject = match self.subject {
            Subject::Seeds(seeds) => format!("seeds={seeds}"),
            Subject::File(file) => format!("input={}", below_workspace(file).display()),
        };
        write!(
            f,
            "sim: target={} {subject} commit={} toolchain=\"{}\" system={}-{} profile={} \
             select={} replay=`{}`",
            self.target.name(),
            commit(),
            env!("TOOLCHAIN_OF_BUILD"),
            std::env::consts::OS,
            std::env::consts::ARCH,
            if cfg!(debug_assertions) { "debug" } else { "release" },
            if hostsim::machine::SELECT_IS_SEEDED { "seeded" } else { "not-seeded" },
            self.replay(),
        )
    }
}

/// A word as a shell reads it: in quotes, where it would be another thing or several without them.
fn word(text: &str) -> Cow<'_, str> {
    let is_plain =
        |character: char| character.is_alphanumeric() || "_-./:=,+@%".contains(character);
    if !text.is_empty() && text.chars().all(is_plain) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("'{}'", text.replace('\'', r"'\''")))
}

/// A path as it is written below the folder of the workspace, where it is there.
pub(crate) fn below_workspace(file: &Path) -> PathBuf {
    let file = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    file.strip_prefix(workspace()).map_or_else(|_| file.clone(), Path::to_owned)
}

/// Writes a line to standard error, past any capture and buffer.
pub(crate) fn say(line: &str) {
    above_bars(|| {
        let mut stderr = std::io::stderr().lock();
        // There is nowhere to report that standard error is closed.
        let _ = stderr.write_all(format!("{line}\n").as_bytes());
        let _ = stderr.flush();
    });
}

/// Says once a process that the branches of `select!` are not seeded, where they are not.
pub(crate) fn warn_unseeded() {
    static ONCE: OnceLock<()> = OnceLock::new();
    if !hostsim::machine::SELECT_IS_SEEDED {
        ONCE.get_or_init(|| {
            say(
                "sim: built without --cfg tokio_unstable: the branches of tokio::select! start by \
                 a counter of the process, so a run that uses it may differ from another",
            );
        });
    }
}

/// The commit that was checked out and whether the tree differs from it: of the CI's variables,
/// else of git, else unknown.
fn commit() -> &'static str {
    static COMMIT: OnceLock<String> = OnceLock::new();
    COMMIT.get_or_init(|| {
        let of_ci = ["GITHUB_SHA", "CI_COMMIT_SHA", "BUILDKITE_COMMIT"];
        let of_ci = of_ci.iter().find_map(|name| std::env::var(name).ok());
        if let Some(commit) = of_ci {
            return commit;
        }
        let Some(commit) = git(&["rev-parse", "--short=12", "HEAD"]) else {
            return "unknown".to_owned();
        };
        let is_dirty = git(&["status", "--porcelain"]).is_none_or(|changes| !changes.is_empty());
        if is_dirty { format!("{commit}-dirty") } else { commit }
    })
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// The command that runs the current test again.
fn front() -> String {
    let package = std::env::var("CARGO_PKG_NAME").unwrap_or_default();
    let executable = std::env::current_exe().unwrap_or_default();
    let stem = executable.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let binary = stem.rsplit_once('-').map_or(stem.clone(), |(name, _)| name.to_owned());
    if !executable.parent().is_some_and(|folder| folder.ends_with("deps")) {
        // A fuzz target or a binary: what it found is replayed by the tests of the workspace.
        return "cargo test --test replay".to_owned();
    }
    let package_flag = if package.is_empty() { String::new() } else { format!(" -p {package}") };
    let folder = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let binary_flag = binary_flag(&binary, &package, &folder);
    let filter = test_name().map_or(String::new(), |name| format!(" {name} -- --exact"));
    format!("cargo test{package_flag}{binary_flag}{filter}")
}

/// The flag that chooses a test binary: that of the library has the name of its package. A test may
/// have that name too, and then the command is one of both.
fn binary_flag(binary: &str, package: &str, folder: &Path) -> String {
    let tests = folder.join("tests");
    let has_test = || {
        [format!("{binary}.rs"), format!("{binary}/main.rs")]
            .iter()
            .any(|file| tests.join(file).is_file())
    };
    match binary == package.replace('-', "_") {
        true if has_test() => String::new(),
        true => " --lib".to_owned(),
        false => format!(" --test {binary}"),
    }
}

/// The name of the test on this thread, where the standard harness runs it on one of its own.
pub(crate) fn test_name() -> Option<String> {
    let thread = std::thread::current();
    thread.name().filter(|name| *name != "main").map(str::to_owned)
}

/// The folder where failing inputs go by default: `sim` in cargo's target folder.
pub(crate) fn artifacts() -> PathBuf {
    let executable = std::env::current_exe().unwrap_or_default();
    let target = executable.ancestors().find(|folder| folder.join("CACHEDIR.TAG").is_file());
    target.map_or_else(|| std::env::temp_dir().join("sim"), |target| target.join("sim"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_read_by_a_shell_as_it_was_meant() {
        for text in ["my folder/min", "it's", "a;b", "$HOME", "*", " 7", "", "été", "0..=9,c0ffee1"]
        {
            let command = format!("printf %s {}", word(text));
            let output = Command::new("sh").args(["-c", &command]).output().expect("sh is there");
            assert_eq!(String::from_utf8_lossy(&output.stdout), text, "{command}");
        }
        let plain = "target/sim/upper/panic-60995b4c2f58-min";
        assert_eq!(word(plain), plain);

        let target = Target::new("db", |_| {});
        let of = |subject| Identity { target: &target, subject }.replay();
        let replay = of(Subject::File(Path::new("/my folder/min")));
        assert!(replay.starts_with("SIM_INPUT='/my folder/min' SIM_TARGET=db cargo "), "{replay}");
        assert!(of(Subject::Seeds(" 7")).starts_with("SIM_SEEDS=' 7' cargo "));
    }

    #[test]
    fn a_test_of_the_name_of_its_package_is_not_taken_for_the_library() {
        let folder = std::env::temp_dir().join(format!("flags-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("tests/my_db")).expect("there is room");
        assert_eq!(binary_flag("other", "my-db", &folder), " --test other");
        assert_eq!(binary_flag("my_db", "my-db", &folder), " --lib");
        std::fs::write(folder.join("tests/my_db/main.rs"), []).expect("there is room");
        assert_eq!(binary_flag("my_db", "my-db", &folder), "");
        std::fs::remove_dir_all(&folder).expect("it is there");
    }
}
