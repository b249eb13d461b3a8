//! A planted bug from its first seed to a stale pin, each step a process of its own, as a user starts
//! it; and a target that lets the world in, which must be found out.
//!
//! Each test starts this binary again in a workspace of its own. The processes know only what the one
//! before them printed or wrote.

use sim_core::node::NodeSpec;
use sim_core::{Process, Target, child, sweep};
use sim_tests::systems::echo::{self, Shared};
use sim_tests::systems::{echo_planted, leaks};
use std::path::PathBuf;
use std::process::{Command, Output};

/// The variable that makes this process a step; its value is the version of the program.
const VARIABLE: &str = "CANARY";

/// The most bytes of the shrunk input: a bound that the shrinker keeps for any seed.
const SHRUNK_MAX: u64 = 38;

/// What the other process does: one test of a target, as any crate has.
#[test]
fn step() {
    let Ok(version) = std::env::var(VARIABLE) else { return };
    let target = match version.as_str() {
        "planted" => echo_planted::target(),
        "fixed" => Target::new("sim_echo_planted", |sim| echo::build(sim, serve)),
        "without" => Target::new("sim_echo_planted", |sim| {
            sim.node(NodeSpec::new("echo"), |_| async {});
        }),
        "leak" => leaks::clock(),
        other => panic!("there is no version {other}"),
    };
    sweep::test(&target, 0..100);
}

/// The server without the bug.
async fn serve(process: Process, model: Shared) {
    let listener = echo::listen(&process).await;
    while let Ok((stream, _)) = listener.accept().await {
        tokio::task::spawn_local(echo::answer(stream, model.clone()));
    }
}

/// A workspace of its own, outside of ours; it goes with the test.
struct Workspace(PathBuf);

impl Drop for Workspace {
    fn drop(&mut self) {
        // What stays in the system's folder for such things hurts nobody.
        drop(std::fs::remove_dir_all(&self.0));
    }
}

impl Workspace {
    fn new(name: &str) -> Workspace {
        let own = format!("sim-canary-{name}-{}", std::process::id());
        let folder = std::env::temp_dir().join(own);
        std::fs::create_dir_all(&folder).expect("the folder can be made");
        std::fs::write(folder.join("Cargo.lock"), "").expect("the folder is there");
        Workspace(folder)
    }

    /// Starts a step with some variables; whether it passed, and what it said.
    #[track_caller]
    fn step(&self, version: &str, variables: &[(&str, &str)]) -> (bool, String) {
        let mut command = Command::new(std::env::current_exe().expect("this binary has a path"));
        command.args(["step", "--exact", "--nocapture"]).current_dir(&self.0);
        command.env(VARIABLE, version).env("SIM_ARTIFACTS", "artifacts");
        command.envs(variables.iter().copied());
        let Output { status, stdout, stderr } = command.output().expect("it can be started");
        let text = [stderr, stdout].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        (status.success(), text.concat())
    }

    /// A step that must pass.
    #[track_caller]
    fn passes(&self, version: &str, variables: &[(&str, &str)]) -> String {
        let (passed, text) = self.step(version, variables);
        assert!(passed, "{version} {variables:?} failed:\n{text}");
        text
    }

    /// A step that must fail.
    #[track_caller]
    fn fails(&self, version: &str, variables: &[(&str, &str)]) -> String {
        let (passed, text) = self.step(version, variables);
        assert!(!passed, "{version} {variables:?} passed:\n{text}");
        text
    }
}

/// The rest of the first line that begins so.
#[track_caller]
fn rest<'t>(text: &'t str, start: &str) -> &'t str {
    let found = text.lines().find_map(|line| line.trim_start().strip_prefix(start));
    found.unwrap_or_else(|| panic!("no line begins with {start:?}:\n{text}"))
}

/// The word after a word.
#[track_caller]
fn after<'t>(text: &'t str, start: &str) -> &'t str {
    let (_, found) = text.split_once(start).unwrap_or_else(|| panic!("no {start:?} in {text:?}"));
    found.split_whitespace().next().unwrap_or_default()
}

/// What a report says of a bug: class, origin, fingerprint.
#[track_caller]
fn bug(text: &str) -> String {
    rest(text, "sim: FAILED ").to_owned()
}

#[test]
fn a_planted_bug_is_found_shrunk_replayed_pinned_fixed_and_stale() {
    if child::is_child() {
        return;
    }
    let place = Workspace::new("life");
    let found = place.fails("planted", &[]);
    let identity = rest(&found, "sim: target=sim_echo_planted ");
    assert!(identity.contains("seeds=0..100 ") && identity.contains("replay=`"), "{identity}");
    let first = bug(&found);
    assert!(first.starts_with("target=sim_echo_planted class=deadlock "), "{first}");
    assert_eq!(after(&first, "bug=").len(), 8, "{first}");
    let shrunk: u64 = after(rest(&found, "shrunk: from "), "to ").parse().expect("a number");
    assert!(shrunk <= SHRUNK_MAX, "{shrunk} bytes");

    let seed = after(rest(&found, "found:  "), "SIM_SEEDS=").to_owned();
    assert_eq!(bug(&place.fails("planted", &[("SIM_SEEDS", &seed)])), first, "the seed replays");
    let input = rest(&found, "input:  ").split(" (").next().expect("a path").to_owned();
    let replayed = place.fails("planted", &[("SIM_INPUT", &input)]);
    assert_eq!(bug(&replayed), first, "the file replays");

    let pin = [("SIM_INPUT", input.as_str()), ("SIM_PIN", "reply-cut")];
    place.passes("planted", &pin);
    let one = [("SIM_SEEDS", "0")];
    let text = place.passes("planted", &[one[0], ("SIM_TRACE", "text")]);
    let traces: Vec<&str> =
        text.lines().filter(|line| line.starts_with("sim: trace of ")).collect();
    assert_eq!(traces.len(), 1, "only what was asked for is traced: {traces:?}");
    assert!(traces[0].starts_with("sim: trace of seed-0: target=sim_echo_planted lines="));
    let text = place.fails("planted", &[("SIM_SEEDS", &seed)]);
    let pinned = "sim: not shrunk: it is pinned already, as regressions/sim_echo_planted/reply-cut";
    assert!(text.lines().any(|line| line == pinned), "{text}");
    assert!(!text.contains("shrunk: from "), "{text}");
    assert_eq!(bug(&text), first, "it is reported as it was found");
    let text = place.fails("fixed", &one);
    assert!(text.contains("fixed: the run passes and "), "{text}");
    let pinned = "regressions/sim_echo_planted/reply-cut";
    place.passes("fixed", &[("SIM_INPUT", pinned), ("SIM_PIN", "reply-cut")]);
    place.passes("fixed", &one);
    let text = place.fails("without", &one);
    assert!(text.contains("stale: the run no longer reaches"), "{text}");
    let text = place.fails("planted", &one);
    assert_eq!(bug(&text), first, "the bug that comes back is the one that was pinned");
}

#[test]
fn a_target_that_lets_the_world_in_is_diverged() {
    let place = Workspace::new("leak");
    let text = place.fails("leak", &[("SIM_SEEDS", "0..50")]);
    let first = bug(&text);
    assert!(first.starts_with("target=leak_clock class=diverged "), "{first}");
    assert!(text.contains("first run:  ") && text.contains("second run: "), "{text}");
}
