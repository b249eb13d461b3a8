//! The canary of the nightly search, without libFuzzer: what is kept of a planted bug that is met
//! again and again.

use sim_core::Target;
use sim_core::failure::Class;
use sim_core::fuzz::keep::{self, Keeper};
use sim_core::run::{Input, Run, run};
use sim_core::settings::Settings;
use sim_tests::nightly::known;
use sim_tests::systems::{echo, echo_planted};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Far more than it takes.
const TIME: Duration = Duration::from_secs(600);

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("nightly").join(name);
    drop(std::fs::remove_dir_all(&folder));
    folder
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace is above")
}

/// An input that the planted bug fails, and that is not the simplest.
const FAILING: [u8; 37] = [
    9, 0, 0, 1, 6, 0, 0, 1, 1, 3, 15, 1, 0, 0, 0, 0, 1, 0, 3, 0, 0, 1, 1, 0, 0, 7, 0, 0, 8, 0, 0,
    0, 207, 0, 0, 58, 54,
];

/// That input, with draws after its last that no run asks for.
fn failing(unused: usize) -> Vec<u8> {
    [FAILING.as_slice(), &vec![7; unused]].concat()
}

fn made(target: &Target, bytes: &[u8]) -> Run {
    run(target, &Input::Bytes(bytes.to_vec()), TIME)
}

/// Meets a failing input as a search does.
fn meet(keeper: &mut Keeper, target: &Target, bytes: &[u8]) {
    let run = made(target, bytes);
    let failure = run.failure.as_ref().expect("the input fails");
    let settings = Settings { watchdog: TIME, ..Settings::default() };
    let kept = keeper.keep(target, &run, bytes, failure, &settings, TIME);
    kept.expect("it can be kept");
}

fn text(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join(name)).expect(name)
}

#[test]
fn a_bug_that_is_met_often_is_kept_once_and_shrunk() {
    let (folder, target) = (folder("often"), echo_planted::target());
    let mut keeper = Keeper::new(folder.clone());
    (0..20).for_each(|unused| meet(&mut keeper, &target, &failing(unused)));
    let bugs = keep::read(&folder).expect("the folder is there");
    assert_eq!(bugs.len(), 1, "{bugs:?}");
    let bug = &bugs[0];
    assert_eq!((bug.failure.class, bug.met), (Class::Deadlock, 20));
    assert_eq!(bug.fingerprint, bug.failure.fingerprint(target.name()));
    let of_bug = folder.join(&bug.fingerprint);
    assert_eq!(bug.file, of_bug.join("min"));
    let (input, least) = (of_bug.join("input"), std::fs::read(&bug.file).expect("it is there"));
    assert!(least.len() as u64 == bug.len && least.len() < failing(0).len());
    for bytes in [std::fs::read(input).expect("it is there"), least] {
        let again = made(&target, &bytes).failure.expect("what is kept fails");
        assert_eq!((again.class, &again.origin), (Class::Deadlock, &bug.failure.origin));
    }
    let report = text(&of_bug, "report.txt");
    assert!(report.contains("\n  shrunk: from 37 to "), "{report}");
    assert!(report.contains("/min SIM_TARGET=sim_echo_planted cargo test"), "{report}");
    assert!(text(&of_bug, "trace.txt").contains("failure      deadlock: "));
}

#[test]
fn a_bug_that_an_earlier_process_kept_is_only_counted() {
    let (folder, target) = (folder("earlier"), echo_planted::target());
    meet(&mut Keeper::new(folder.clone()), &target, &failing(0));
    let bug = keep::read(&folder).expect("the folder is there").remove(0);
    std::fs::write(&bug.file, "as it was").expect("it is ours");
    meet(&mut Keeper::new(folder.clone()), &target, &failing(0));
    let again = keep::read(&folder).expect("the folder is there").remove(0);
    assert_eq!((bug.met, again.met), (1, 2));
    assert_eq!(std::fs::read(&again.file).expect("it is there"), b"as it was");
}

#[test]
fn a_folder_that_a_killed_process_began_is_no_known_bug() {
    let (folder, target) = (folder("killed"), echo_planted::target());
    let failure = made(&target, &failing(0)).failure.expect("the input fails");
    let begun = folder.join(failure.fingerprint(target.name()));
    std::fs::create_dir_all(&begun).expect("the folder can be made");
    std::fs::write(begun.join("input"), failing(0)).expect("the folder is there");
    let mut keeper = Keeper::new(folder.clone());
    assert!(!keeper.meet(&target, &failure).expect("nothing to read"));
    assert_eq!(keep::read(&folder).expect("the folder is there"), []);
    meet(&mut keeper, &target, &failing(0));
    assert_eq!(keep::read(&folder).expect("the folder is there").len(), 1);
}

#[test]
fn a_planted_bug_and_a_pin_that_passes_stay_unknown() {
    let workspace = folder("pins");
    for (name, pin) in [("sim_echo", "passes"), ("sim_echo_planted", "planted")] {
        let pins = workspace.join("regressions").join(name);
        std::fs::create_dir_all(&pins).expect("the folder can be made");
        std::fs::write(pins.join(pin), failing(0)).expect("the folder is there");
        let expected = "class = \"deadlock\"\n";
        std::fs::write(pins.join(format!("{pin}.toml")), expected).expect("the folder is there");
    }
    for target in [echo::target(), echo_planted::target()] {
        let folder = workspace.join("artifacts").join(target.name());
        let pins = known::pinned(&workspace, target.name(), &folder).expect("they can be read");
        assert!(pins.is_empty(), "{pins:?}");
    }
}

#[test]
fn the_bug_of_an_open_pin_is_in_the_folder_before_the_search() {
    let (folder, target) = (folder("open"), echo_planted::target());
    let pins = known::of_target(&target, root(), &folder).expect("they can be read");
    let bugs = keep::read(&folder).expect("the folder is there");
    let found: Vec<_> = bugs.iter().map(|bug| (&bug.fingerprint, bug.met)).collect();
    let expected: Vec<_> = pins.keys().map(|fingerprint| (fingerprint, 0)).collect();
    assert!(!expected.is_empty());
    assert_eq!(found, expected);
    let mut keeper = Keeper::new(folder);
    let failure = made(&target, &failing(0)).failure.expect("the input fails");
    assert!(keeper.meet(&target, &failure).expect("it is known"));
}
