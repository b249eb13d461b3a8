//! The identity of a run: one line with all that another person needs to make the same run.
//!
//! It is printed unbuffered before anything that can end the process, and never through the test
//! harness's capture.

use crate::run::Target;
use crate::screen::above_bars;
use crate::workspace::workspace;
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
    /// A search of libFuzzer.
    Search,
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

    /// The command that makes the same run again, or begins the same search.
    pub(crate) fn replay(&self) -> String {
        match self.subject {
            Subject::Seeds(seeds) => format!("SIM_SEEDS={} {}", word(seeds), front()),
            Subject::File(file) => of_file(self.target.name(), file),
            Subject::Search => front(),
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
            Subject::Search => "search=libFuzzer".to_owned(),
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

/// The command that runs a file of a target again.
pub(crate) fn of_file(target: &str, file: &Path) -> String {
    let shown = below_workspace(file);
    let is_named = file.parent().is_some_and(|folder| folder.ends_with(target));
    of_input(target, &shown.to_string_lossy(), is_named)
}

/// The most bytes of an input that a command spells out.
const SPELLED_MAX: usize = 64;

/// The command that makes a file of an input and runs that, where the input is short.
pub(crate) fn of_bytes(target: &str, bytes: &[u8]) -> Option<String> {
    // Octal escapes are those that every shell knows.
    let spelled: String = bytes.iter().map(|byte| format!("\\{byte:03o}")).collect();
    let command = || format!("printf '{spelled}' > FILE && {}", of_input(target, "FILE", false));
    (bytes.len() <= SPELLED_MAX).then(command)
}

/// The command that runs an input again; `is_named` where its folder has the name of its target. A
/// fuzz target is one alone, and needs no name.
fn of_input(target: &str, input: &str, is_named: bool) -> String {
    let named = match is_named || cfg!(fuzzing) {
        true => String::new(),
        false => format!("SIM_TARGET={} ", word(target)),
    };
    format!("SIM_INPUT={} {named}{}", word(input), front())
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

/// The features that the fuzz target of this process is built with.
static FUZZ_FEATURES: OnceLock<Vec<String>> = OnceLock::new();

/// Tells the manifest of the package of this fuzz target: what it says that the target requires is
/// part of the command that runs it.
pub(crate) fn set_manifest(text: &str) {
    FUZZ_FEATURES.get_or_init(|| required_features(text, &binary_name()));
}

/// The features that a manifest says a binary requires.
fn required_features(manifest: &str, binary: &str) -> Vec<String> {
    #[derive(serde::Deserialize)]
    struct Manifest {
        #[serde(default)]
        bin: Vec<Binary>,
    }
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "kebab-case")]
    struct Binary {
        name: Option<String>,
        #[serde(default)]
        required_features: Vec<String>,
    }
    let binaries =
        toml::from_str::<Manifest>(manifest).map_or_else(|_| Vec::new(), |read| read.bin);
    let own = binaries.into_iter().find(|other| other.name.as_deref() == Some(binary));
    own.map_or_else(Vec::new, |own| own.required_features)
}

/// The command that runs a fuzz target; `rustflags` are those that cargo-fuzz built it with. What
/// seeds `select!` is said again where it came with those: a build without it is another one.
fn fuzz_front(binary: &str, features: &[String], rustflags: Option<&str>) -> String {
    let seeded = match rustflags.is_some_and(|flags| flags.contains("--cfg tokio_unstable")) {
        true => "RUSTFLAGS='--cfg tokio_unstable' ",
        false => "",
    };
    let sanitizer = match rustflags.map(|flags| flags.split_once("-Zsanitizer=")) {
        None => "",
        Some(None) => " -s none",
        Some(Some((_, rest))) if rest.starts_with("address") => "",
        Some(Some((_, rest))) => {
            &format!(" -s {}", rest.split_whitespace().next().unwrap_or_default())
        }
    };
    let features = match features {
        [] => String::new(),
        some => format!(" --features {}", word(&some.join(","))),
    };
    format!("{seeded}cargo fuzz run{sanitizer}{features} {binary}")
}

/// The name of this binary.
fn binary_name() -> String {
    let executable = std::env::current_exe().unwrap_or_default();
    executable.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// The command that runs the current test or fuzz target again.
fn front() -> String {
    // cargo-fuzz builds everything so.
    if cfg!(fuzzing) {
        let features = FUZZ_FEATURES.get().map_or(&[][..], Vec::as_slice);
        return fuzz_front(&binary_name(), features, option_env!("RUSTFLAGS"));
    }
    let package = std::env::var("CARGO_PKG_NAME").unwrap_or_default();
    let executable = std::env::current_exe().unwrap_or_default();
    let stem = binary_name();
    let binary = stem.rsplit_once('-').map_or(stem.clone(), |(name, _)| name.to_owned());
    if !executable.parent().is_some_and(|folder| folder.ends_with("deps")) {
        // A binary: what it found is replayed by the tests of the workspace.
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
    fn the_command_of_a_fuzz_target_builds_it_as_it_is_built() {
        let manifest = "[package]\nname = \"my-fuzz\"\n[[bin]]\nname = \"kv\"\n\
                        [[bin]]\nname = \"raft\"\nrequired-features = [\"raft\", \"log\"]\n";
        let command =
            |binary, flags| fuzz_front(binary, &required_features(manifest, binary), flags);
        let [address, memory] = ["address", "memory"].map(|of| format!("-Cx -Zsanitizer={of} -Cy"));
        assert_eq!(command("kv", None), "cargo fuzz run kv");
        assert_eq!(command("kv", Some(&address)), "cargo fuzz run kv");
        assert_eq!(command("kv", Some(&memory)), "cargo fuzz run -s memory kv");
        assert_eq!(command("raft", Some("-Cx")), "cargo fuzz run -s none --features raft,log raft");
        let seeded = command("kv", Some("-Cx --cfg fuzzing --cfg tokio_unstable"));
        assert_eq!(seeded, "RUSTFLAGS='--cfg tokio_unstable' cargo fuzz run -s none kv");
        assert_eq!(required_features("[package]", "kv"), Vec::<String>::new());
    }

    #[test]
    fn a_search_names_no_seeds() {
        let target = Target::new("kv", |_| {});
        let text = Identity { target: &target, subject: Subject::Search }.to_string();
        assert!(text.starts_with("sim: target=kv search=libFuzzer commit="), "{text}");
        assert!(!text.contains("SIM_"), "{text}");
    }

    #[test]
    fn a_short_input_is_spelled_out_for_a_shell() {
        let bytes: Vec<u8> = (0..=255).step_by(5).chain(*b"%'\\0n").collect();
        let command = of_bytes("kv", &bytes).expect("it is short");
        let (make, run) = command.split_once(" > FILE && ").expect("it makes a file");
        let output = Command::new("sh").args(["-c", make]).output().expect("sh is there");
        assert_eq!(output.stdout, bytes, "{make}");
        assert!(run.starts_with("SIM_INPUT=FILE SIM_TARGET=kv cargo test "), "{run}");
        assert!(
            of_bytes("kv", &[]).is_some_and(|command| command.starts_with("printf '' > FILE "))
        );
        assert_eq!(of_bytes("kv", &[0; SPELLED_MAX + 1]), None);
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
