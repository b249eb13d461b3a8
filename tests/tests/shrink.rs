//! Shrinking of whole runs: an artifact as libFuzzer leaves it, other failures that are met on the
//! way, and failures that do not come again.

use sim_core::failure::Class;
use sim_core::run::Input;
use sim_core::settings::{Seeds, Settings};
use sim_core::shrink::{Budget, Shrunk, TargetSubject, shrink};
use sim_core::sweep::Sweep;
use sim_core::{Sim, Target, always, child, run, sweep};
use sim_tests::systems::echo_planted;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

const WATCHDOG: Duration = Duration::from_secs(60);

fn shrunk(target: &Target, bytes: &[u8]) -> Shrunk {
    let mut subject = TargetSubject { target, watchdog: WATCHDOG };
    // Runs alone end it: the result is the same wherever it is made.
    let budget = Budget { time_max: Duration::from_secs(3_600), ..Budget::default() };
    shrink(&mut subject, bytes, budget, &mut |_| {}).expect("it fails")
}

#[test]
fn an_artifact_of_four_hundred_bytes_becomes_three_operations() {
    let artifact = include_bytes!("../inputs/sim_echo_planted/cut-reply");
    assert!(artifact.len() >= 400);
    let shrunk = shrunk(&echo_planted::target(), artifact);
    println!("{} to {} bytes in {} runs", artifact.len(), shrunk.bytes.len(), shrunk.runs);
    assert_eq!(shrunk.bug.0, Class::Deadlock);
    assert!(shrunk.bytes.len() <= ARTIFACT_MAX, "{:?}", shrunk.bytes);
    assert!(!shrunk.is_cut);
}

/// The shortest input that is known of this bug has 23 bytes.
const ARTIFACT_MAX: usize = 23;

/// Fails in one way where a number is large and in another where it is in the middle.
fn two_bugs() -> Target {
    Target::new("two_bugs", |sim: &mut Sim| {
        let number = sim.dimension("number", 255);
        sim.client("client", move |_| async move {
            always!(number < 200, "the number is large");
            always!(number < 100, "the number is in the middle");
        });
    })
}

/// Sweeps seeds with a folder of their own for what is found.
fn sweep_in(target: &Target, seeds: std::ops::Range<u64>, name: &str) -> (Sweep, PathBuf) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    drop(std::fs::remove_dir_all(&folder));
    let artifacts = Some(folder.clone());
    let settings = Settings { artifacts, ..Settings::default() };
    (sweep::sweep(target, &Seeds::range(seeds), &settings), folder)
}

#[test]
fn another_failure_on_the_way_is_a_bug_of_its_own() {
    let target = two_bugs();
    child::serve(&target);
    let is_large = |seed: &u64| {
        let failure = run::run(&target, &Input::Seed(*seed), WATCHDOG).failure;
        failure.is_some_and(|failure| failure.message.contains("large"))
    };
    let first = (0..1_000).find(is_large).expect("a seed draws a large number");
    let (found, folder) = sweep_in(&target, first..first + 1, "another-failure");
    let messages: Vec<&str> = found.bugs.iter().map(|bug| &*bug.failure.message).collect();
    assert_eq!(messages, ["the number is large", "the number is in the middle"]);
    assert_eq!(found.bugs.iter().map(|bug| bug.count).collect::<Vec<_>>(), [1, 0]);
    assert!(found.bugs[0].file != found.bugs[1].file);
    let file = found.bugs[1].file.as_ref().expect("it is on disk");
    assert!(file.starts_with(folder));
    // Its least number, after the swarm's own six bytes.
    let bytes = std::fs::read(file).expect("it is on disk");
    assert_eq!(bytes, [7, 0, 0, 0, 0, 0, 0, 100]);
}

#[test]
fn a_seed_that_meets_a_known_failure_is_counted_to_it() {
    let target = two_bugs();
    child::serve(&target);
    let (found, _) = sweep_in(&target, 0..60, "known-failure");
    assert_eq!(found.bugs.len(), 2, "{:?}", found.bugs);
    let counts: Vec<u64> = found.bugs.iter().map(|bug| bug.count).collect();
    assert!(counts.iter().all(|count| *count > 0), "{counts:?}");
    assert_eq!(counts.iter().sum::<u64>(), found.failures);
}

#[test]
fn a_failure_that_does_not_come_again_is_told_as_so_many_of_so_many() {
    // A run that fails is made again before it counts, and four times to check it.
    const FAILS: [bool; 5] = [true, true, false, true, false];
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let target = Target::new("flaky", |sim: &mut Sim| {
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let fails = FAILS.get(number).copied().unwrap_or(false);
        sim.client("client", move |_| async move {
            always!(!fails, "it fails at times");
        });
    });
    child::serve(&target);
    let (found, _) = sweep_in(&target, 0..1, "flaky");
    let [bug] = &found.bugs[..] else { panic!("{:?}", found.bugs) };
    assert_eq!(bug.failure.class, Class::Diverged);
    let told = bug.failure.details.last().expect("it is told");
    assert!(told.starts_with("failed the same way in 2 of 4 runs: correctness at "), "{told}");
    assert!(told.ends_with("it fails at times"), "{told}");
}
