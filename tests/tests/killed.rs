//! A process that is killed in the middle: what it said before, and what it leaves behind.
//!
//! Each test starts this binary again, waits for words of it and kills it. Nothing here depends on
//! how long anything takes.

use sim_core::run::Input;
use sim_core::settings::{Seeds, Settings};
use sim_core::{Sim, Target, fuzz, replay, run, sweep};
use sim_tests::systems::echo_planted;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The variable that makes this process the one that is killed; its value is where it writes.
const VARIABLE: &str = "KILLED_IN";

/// An hour that nobody waits for.
const WATCHDOG: Duration = Duration::from_secs(3_600);

fn folder() -> Option<PathBuf> {
    std::env::var_os(VARIABLE).map(PathBuf::from)
}

fn endless() -> Target {
    Target::new("endless", |sim: &mut Sim| {
        sim.client("client", |_| async {
            loop {
                std::hint::spin_loop();
            }
        });
    })
}

/// What the killed process does where it sweeps.
#[test]
fn sweeps_in_another_process() {
    let Some(folder) = folder() else { return };
    let settings = Settings { artifacts: Some(folder), ..Settings::default() };
    sweep::sweep(&echo_planted::target(), &Seeds::range(0..u64::MAX), &settings);
}

/// What the killed process does where it replays a run that never ends.
#[test]
fn replays_in_another_process() {
    let Some(folder) = folder() else { return };
    let file = folder.join("input");
    std::fs::write(&file, [1, 2, 3]).expect("the folder is there");
    let settings = Settings { watchdog: WATCHDOG, ..Settings::default() };
    replay::replay(&endless(), &file, &settings).expect("the file is there");
}

/// Fails with one number; with every other one a run never ends, once `IS_STUCK`.
fn stuck() -> Target {
    Target::new("stuck", |sim: &mut Sim| match sim.dimension("batch", 255) {
        200 => sim.fail("a batch of 200 is lost"),
        _ if IS_STUCK.load(Ordering::Relaxed) => loop {
            std::hint::spin_loop();
        },
        _ => {}
    })
}

static IS_STUCK: AtomicBool = AtomicBool::new(false);

/// What the killed process does where libFuzzer gives it an input that fails: it shrinks it without
/// an end.
#[test]
fn searches_in_another_process() {
    if folder().is_none() {
        return;
    }
    let runs = (0..).map(|seed| run::run(&stuck(), &Input::Seed(seed), WATCHDOG));
    let failing = runs.into_iter().find(|run| run.failure.is_some()).expect("there are many seeds");
    IS_STUCK.store(true, Ordering::Relaxed);
    fuzz::one(&stuck(), fuzz::Case(&failing.tape.to_bytes()));
}

/// Ends the process in runs with one number.
fn leaves() -> Target {
    Target::new("leaves", |sim: &mut Sim| {
        let batch = sim.dimension("batch", 255);
        sim.client("client", move |_| async move {
            if batch == 200 {
                std::process::exit(7);
            }
        });
    })
}

/// What the process does that a node ends.
#[test]
fn is_left_by_a_node() {
    if folder().is_some() {
        sweep::sweep(&leaves(), &Seeds::range(0..u64::MAX), &Settings::default());
    }
}

/// Starts a test of this binary in a process of its own, which has a folder of its own.
fn start(test: &str, name: &str) -> (Child, BufReader<ChildStderr>, PathBuf) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    drop(std::fs::remove_dir_all(&folder));
    std::fs::create_dir_all(&folder).expect("the folder can be made");
    let mut child = Command::new(std::env::current_exe().expect("this binary has a path"))
        .args([test, "--exact", "--nocapture", "--"])
        // As libFuzzer is told it; to the test harness it is the name of a test that there is not.
        .arg(format!("-artifact_prefix={}/", folder.display()))
        .env(VARIABLE, &folder)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("this binary can be started");
    let stderr = BufReader::new(child.stderr.take().expect("it is piped"));
    (child, stderr, folder)
}

/// Reads lines until one begins as it should.
fn wait_for(lines: &mut impl Iterator<Item = std::io::Result<String>>, start: &str) -> String {
    let found = lines.find_map(|line| line.ok().filter(|line| line.starts_with(start)));
    found.unwrap_or_else(|| panic!("no line begins with {start}"))
}

fn terminate(child: &mut Child) {
    let kill = Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
    assert!(kill.is_ok_and(|status| status.success()));
}

fn end(mut child: Child, kill: fn(&mut Child)) {
    kill(&mut child);
    let status = child.wait().expect("the process was ours");
    assert!(!status.success() && status.code().is_none(), "it was killed: {status}");
}

fn kill(child: &mut Child) {
    child.kill().expect("the process is ours");
}

/// Each input that a sweep left is whole: it fails again.
fn check_artifacts(folder: &Path) -> usize {
    let folder = folder.join("sim_echo_planted");
    let mut count = 0;
    for entry in std::fs::read_dir(&folder).expect("something was written") {
        let file = entry.expect("the folder can be read").path();
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.starts_with('.') {
            continue;
        }
        let bytes = std::fs::read(&file).expect("the file can be read");
        let run = run::run(&echo_planted::target(), &Input::Bytes(bytes), WATCHDOG);
        let class = run.class().map_or("passed", sim_core::failure::Class::name);
        match name.strip_suffix("-min") {
            // The name is that of the failure that it was shrunk from.
            Some(name) => assert!(name.starts_with(class), "{name} is {class}"),
            None => assert_eq!(name, format!("{class}-{}", &run.hash.to_string()[..12])),
        }
        count += 1;
    }
    count
}

#[test]
fn a_sweep_that_is_killed_said_what_it_is_and_left_whole_inputs() {
    for (name, kill) in [("sweep-kill", kill as fn(&mut Child)), ("sweep-term", terminate)] {
        let (child, stderr, folder) = start("sweeps_in_another_process", name);
        let mut lines = stderr.lines();
        let identity = wait_for(&mut lines, "sim: target=");
        assert!(identity.contains("replay=`SIM_SEEDS=0.."), "{identity}");
        wait_for(&mut lines, "sim: FAILED target=sim_echo_planted");
        end(child, kill);
        assert!(check_artifacts(&folder) > 0);
    }
}

#[test]
fn a_replay_that_is_killed_said_what_it_is() {
    for (name, kill) in [("replay-kill", kill as fn(&mut Child)), ("replay-term", terminate)] {
        let (child, stderr, _) = start("replays_in_another_process", name);
        let identity = wait_for(&mut stderr.lines(), "sim: target=endless input=");
        assert!(identity.contains("replay=`SIM_INPUT="), "{identity}");
        end(child, kill);
    }
}

#[test]
fn a_search_that_is_killed_while_it_shrinks_left_the_input_that_failed() {
    let (child, stderr, folder) = start("searches_in_another_process", "search-kill");
    wait_for(&mut stderr.lines(), "sim: FAILED target=stuck class=correctness ");
    end(child, kill);
    let entries = std::fs::read_dir(&folder).expect("something was written");
    let files: Vec<_> = entries.map(|entry| entry.expect("it can be read").path()).collect();
    assert_eq!(files.len(), 1, "{files:?}");
    assert!(files[0].to_string_lossy().contains("/min-correctness-"), "{files:?}");
    let bytes = std::fs::read(&files[0]).expect("the file can be read");
    let failure = run::run(&stuck(), &Input::Bytes(bytes), WATCHDOG).failure;
    assert_eq!(failure.map(|failure| failure.message).as_deref(), Some("a batch of 200 is lost"));
}

#[test]
fn a_node_that_ends_the_process_leaves_the_line_that_replays_its_run() {
    let (mut child, stderr, folder) = start("is_left_by_a_node", "left");
    let mut lines = stderr.lines();
    let line = wait_for(&mut lines, "sim: the process ends in the middle of a run: replay=`");
    assert_eq!(child.wait().expect("it ended").code(), Some(7));
    let (_, seed) = line.split_once("SIM_SEEDS=").expect("it names a seed");
    let seed: u64 = seed.split(' ').next().and_then(|seed| seed.parse().ok()).expect("a seed");
    assert!(line.contains("--test killed is_left_by_a_node"), "{line}");
    let batch = run::run(&batches(), &Input::Seed(seed), WATCHDOG).plan;
    assert!(batch.to_string().contains("batch=200"), "that seed ends it: {batch}");
    drop(std::fs::remove_dir_all(folder));
}

/// As [`leaves`], and nobody leaves.
fn batches() -> Target {
    Target::new("batches", |sim: &mut Sim| {
        sim.dimension("batch", 255);
    })
}
