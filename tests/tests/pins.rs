//! Pins: a file becomes a test, its bug is fixed, and it goes stale where its way is gone.
//!
//! The program acknowledges a write before it is stored. Its later versions have the bug fixed, or
//! no longer have the code that the bug was in.

use sim_core::pin::{Name, PinError, Pinned, pin};
use sim_core::replay::{Case, Expectation, Replayed, cases, input, test_case};
use sim_core::settings::Settings;
use sim_core::source::Lane;
use sim_core::{Sim, Target, child, fail, reached, sometimes};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// A version of the program.
#[derive(Clone, Copy)]
enum Version {
    Buggy,
    Fixed,
    /// Nothing is ever stored late any more.
    WithoutTheWay,
    /// It breaks a promise on the way to the old bug.
    BuggyElsewhere,
}

const LATE: &str = "late";
const REST: &str = "rest";

fn program(sim: &mut Sim, version: Version) {
    let late = sim.dimension(LATE, 7);
    let rest = sim.dimension(REST, 7);
    sim.client("client", move |_| async move {
        if matches!(version, Version::WithoutTheWay) {
            reached!("a write is acknowledged");
            return;
        }
        if late < 5 {
            reached!("a write is stored at once");
        } else {
            reached!("a write is stored late");
        }
        let is_lost = late >= 5 && matches!(version, Version::Buggy);
        if is_lost {
            return fail("an acknowledged write is lost");
        }
        let is_elsewhere = matches!(version, Version::BuggyElsewhere);
        assert!(!is_elsewhere, "the program has another bug");
        sometimes!(rest > 0, "there was time to rest");
        reached!("a write is acknowledged");
    });
}

fn target(name: &'static str, version: Version) -> Target {
    Target::new(name, move |sim: &mut Sim| program(sim, version))
}

/// A folder of its own, with an input that is no simpler than it was found.
struct Place {
    root: PathBuf,
    found: PathBuf,
}

impl Place {
    fn new(test: &str) -> Place {
        let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("pins-{test}"));
        // The process that runs a failing input once more is this test, in the same folder.
        if !child::is_child() {
            drop(std::fs::remove_dir_all(&root));
        }
        std::fs::create_dir_all(&root).expect("the folder can be made");
        let found = root.join("found");
        std::fs::write(&found, input_bytes()).expect("the folder is there");
        Place { root, found }
    }

    fn pin(&self, target: &Target, file: &Path, name: &str) -> Result<Pinned, PinError> {
        let name = Name::parse(name).expect("it is a name");
        pin(target, file, &name, &self.root, &settings())
    }

    /// The one pinned file of a target, as `cargo test` finds it.
    fn case(&self, target: &Target) -> Case {
        let found = cases(&self.root, "regressions", &[target.name()]);
        let found = found.expect("what is pinned can be read");
        assert_eq!(found.len(), 1);
        found[0].clone()
    }

    fn test(&self, target: &Target) -> Result<(), String> {
        test_case(target, &self.case(target), &settings())
    }

    fn toml(&self, target: &Target) -> String {
        let file = self.case(target).file.with_added_extension("toml");
        std::fs::read_to_string(file).expect("it is beside the pinned file")
    }
}

fn settings() -> Settings {
    Settings { shrink: sim_core::settings::Shrinking::Off, ..Settings::default() }
}

/// Everything calm but a late write; a zero at the end and bytes that nobody draws.
fn input_bytes() -> Vec<u8> {
    let mut lanes = sim_core::source::Lanes::default();
    let dimensions = calm_dimensions();
    let swarm = lanes.lane_mut(Lane::Swarm);
    swarm.resize(dimensions, 0);
    swarm.extend([6, 0]);
    lanes.lane_mut(Lane::App).extend([1, 2, 3]);
    lanes.encode()
}

/// How many bytes the swarm reads before the dimensions of the test.
fn calm_dimensions() -> usize {
    let target = target("calm", Version::Fixed);
    let input = sim_core::run::Input::Bytes(Vec::new());
    let run = sim_core::run::run(&target, &input, settings().watchdog);
    let own = run.tape.iter().position(|entry| entry.label == LATE);
    let lanes = run.tape.iter().take(own.expect("it is drawn"));
    let widths = lanes.filter(|entry| entry.lane == Lane::Swarm).map(|entry| match entry.drawn {
        sim_core::tape::Drawn::Value { width, .. } => width.bytes(),
        sim_core::tape::Drawn::Bytes(bytes) => bytes.len(),
    });
    widths.sum()
}

/// The life of a pin: a bug is found and pinned, fixed, and its way is taken out elsewhere.
#[test]
fn a_pin_is_open_then_fixed_then_green_then_stale() {
    let place = Place::new("life");
    let buggy = target("pin_life", Version::Buggy);
    let pinned = place.pin(&buggy, &place.found, "late-write-lost").expect("it is pinned");
    assert_eq!(pinned.before, None);
    assert_eq!(place.case(&buggy).name, "regressions/pin_life/late-write-lost");
    assert_eq!(
        place.toml(&buggy),
        "class = \"correctness\"\nmarks = [\n    \"a write is stored late\",\n]\nformat = 1\n"
    );
    assert_eq!(place.test(&buggy), Ok(()), "while the bug is open, it is as expected");

    // The bug is fixed: the pin says what to do, and the command does it.
    let fixed = target("pin_life", Version::Fixed);
    let text = place.test(&fixed).expect_err("the class is still written down");
    let beside = "regressions/pin_life/late-write-lost.toml still expects class = \"correctness\"; \
                  remove that line, or let `SIM_PIN=late-write-lost SIM_INPUT=";
    assert!(text.starts_with("fixed: the run passes and "), "{text}");
    assert!(text.contains(beside), "{text}");
    let again = place.pin(&fixed, &pinned.file, "late-write-lost").expect("it is its own pin");
    assert_eq!(again.before, Some(pinned.expectation));
    assert_eq!(place.toml(&fixed), "marks = [\n    \"a write is stored late\",\n]\nformat = 1\n");
    assert_eq!(place.test(&fixed), Ok(()), "the bug is fixed and its pin is green");
    let text = place.test(&buggy).expect_err("the bug is back");
    assert_eq!(text, "the run failed: correctness");

    // The way to the bug is gone: what passes tests nothing any more.
    let gone = target("pin_life", Version::WithoutTheWay);
    let text = place.test(&gone).expect_err("the pin is stale");
    println!("{text}");
    let line = "stale: the run no longer reaches \"a write is stored late\"; where its bytes got \
                another meaning, move it with `reencode` or find the bug again; where the mark is \
                gone for good, remove it from ";
    assert!(text.starts_with(line), "{text}");
    let replayed = input(&gone, &pinned.file, &settings());
    assert_eq!((replayed, replayed.exit_code()), (Replayed::Stale, 118));
    let accepted = place.pin(&gone, &pinned.file, "late-write-lost").expect("it is its own pin");
    assert_eq!(accepted.expectation.marks, ["a write is acknowledged"; 0]);
    assert_eq!(place.test(&gone), Ok(()));
}

#[test]
fn the_pinned_bytes_are_canonical_and_make_the_same_run() {
    let place = Place::new("canonical");
    let buggy = target("pin_canonical", Version::Buggy);
    let pinned = place.pin(&buggy, &place.found, "one").expect("it is pinned");
    let bytes = std::fs::read(&pinned.file).expect("it is there");
    assert_eq!(bytes.len(), pinned.bytes_count);
    assert_eq!(bytes.len(), 1 + calm_dimensions() + 1, "neither a zero nor what nobody draws");
    let run = |file: &Path| {
        let input = sim_core::run::Input::Bytes(std::fs::read(file).expect("it is there"));
        sim_core::run::run(&buggy, &input, settings().watchdog)
    };
    assert_eq!(run(&pinned.file).hash, run(&place.found).hash);
}

#[test]
fn another_pin_is_not_overwritten() {
    let place = Place::new("taken");
    let buggy = target("pin_taken", Version::Buggy);
    let pinned = place.pin(&buggy, &place.found, "one").expect("it is pinned");
    let before = (std::fs::read(&pinned.file).expect("it is there"), place.toml(&buggy));
    let other = place.root.join("other");
    std::fs::write(&other, []).expect("the folder is there");
    let error = place.pin(&buggy, &other, "one").expect_err("the name is taken");
    let expected = "regressions/pin_taken/one is another input; choose another name, or remove it";
    assert!(error.to_string().ends_with(expected), "{error}");
    let after = (std::fs::read(&pinned.file).expect("it is there"), place.toml(&buggy));
    assert_eq!(after, before);
    // The file it was made from is no other input.
    assert!(place.pin(&buggy, &place.found, "one").is_ok());
}

#[test]
fn a_sentence_stays_and_marks_that_come_later_do_not_count() {
    let place = Place::new("sentence");
    let buggy = target("pin_sentence", Version::Buggy);
    let pinned = place.pin(&buggy, &place.found, "one").expect("it is pinned");
    let text = place.toml(&buggy) + "sentence = \"A late write is \\\"lost\\\".\"\n";
    let beside = pinned.file.with_added_extension("toml");
    std::fs::write(&beside, text).expect("it can be written");
    let fixed = target("pin_sentence", Version::Fixed);
    let again = place.pin(&fixed, &pinned.file, "one").expect("it is its own pin");
    let expected = Expectation {
        class: None,
        sentence: Some("A late write is \"lost\".".to_owned()),
        marks: vec!["a write is stored late".to_owned()],
        format: Some(1),
    };
    assert_eq!(again.expectation, expected);
    assert_eq!(place.case(&fixed).expectation, expected);
}

#[test]
fn an_open_bug_that_becomes_another_one_is_reported() {
    let place = Place::new("elsewhere");
    let buggy = target("pin_elsewhere", Version::Buggy);
    place.pin(&buggy, &place.found, "one").expect("it is pinned");
    let elsewhere = target("pin_elsewhere_later", Version::BuggyElsewhere);
    let tested = test_case(&elsewhere, &place.case(&buggy), &settings());
    let text = tested.expect_err("it is another bug");
    assert_eq!(text, "expected class correctness, the run is panic");
}

#[test]
fn a_run_that_a_limit_ends_is_not_pinned() {
    let place = Place::new("endless");
    let endless = Target::new("pin_endless", |sim: &mut Sim| {
        sim.client("client", |_| async {
            // Longer than any run may last.
            tokio::time::sleep(std::time::Duration::from_secs(101 * 24 * 3_600)).await;
        });
    });
    let error = place.pin(&endless, &place.found, "one").expect_err("a limit ends it");
    assert!(error.to_string().starts_with("the run is inconclusive: "), "{error}");
    assert!(!place.root.join("regressions/pin_endless").exists(), "nothing is written");
}

#[test]
fn a_run_that_is_not_the_same_twice_is_not_pinned() {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let place = Place::new("diverged");
    let diverged = Target::new("pin_diverged", |sim: &mut Sim| {
        sim.note(&format!("run {}", COUNT.fetch_add(1, Ordering::Relaxed)));
        sim.client("client", |_| async {});
    });
    let error = place.pin(&diverged, &place.found, "one").expect_err("each run is another");
    assert!(error.to_string().starts_with("the run is diverged: "), "{error}");
    assert!(!place.root.join("regressions/pin_diverged").exists(), "nothing is written");
}
