//! Moving stored inputs: the runs of one version of a program, followed by another version of it.
//!
//! Version B draws a dimension that is new, waits before each operation, has operations with one
//! field more, and picks its server from more of them. The bytes of A mean other runs to it.

use arbitrary::Arbitrary;
use sim_core::reencode::{Fate, Reencode};
use sim_core::run::{Input, Run, run};
use sim_core::workload::{Client, Operation, Outcome, WorkloadSpec};
use sim_core::{Sim, Target, always, reached};
use std::path::{Path, PathBuf};
use std::time::Duration;

const WATCHDOG: Duration = Duration::from_secs(60);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Version {
    A,
    B,
    /// B, and the bug is gone with all that led to it.
    WithoutTheBug,
}

#[derive(Arbitrary, Debug)]
struct Put {
    key: u8,
}

mod sized {
    use arbitrary::Arbitrary;

    /// The operation of later versions, which keeps its name: it is a mark.
    #[derive(Arbitrary, Debug)]
    pub(super) struct Put {
        pub(super) key: u8,
        pub(super) size: u8,
    }
}

fn program(sim: &mut Sim, version: Version) {
    let is_new = version != Version::A;
    if is_new {
        sim.dimension("compaction", 9);
    }
    let server = sim.dimension("server", if is_new { 200 } else { 5 });
    let spec = WorkloadSpec::new().clients(1..=1).operations(10);
    if is_new {
        let spec = spec.pause(Duration::from_secs(3));
        sim.workload(
            &spec,
            |_: Client| (),
            move |_, Operation { op, .. }| {
                let sized::Put { key, size } = op;
                act(version, server, key, size)
            },
        );
    } else {
        let spec = spec.pause(Duration::ZERO);
        sim.workload(
            &spec,
            |_: Client| (),
            move |_, Operation { op, .. }| {
                let Put { key } = op;
                act(version, server, key, 0)
            },
        );
    }
}

async fn act(version: Version, server: u64, key: u8, size: u8) -> Outcome {
    always!(size == 0, "no input of version A says a size");
    if key == 7 {
        reached!("the seventh key is put");
    }
    let is_lost = key == 99 && server == 3 && version != Version::WithoutTheBug;
    always!(!is_lost, "key 99 is lost on server 3");
    Outcome::done()
}

fn target(version: Version) -> Target {
    Target::new("moving", move |sim: &mut Sim| program(sim, version))
}

fn run_bytes(version: Version, bytes: &[u8]) -> Run {
    run(&target(version), &Input::Bytes(bytes.to_vec()), WATCHDOG)
}

/// A folder of its own with the inputs of version A: the empty one, one that passes, and one that
/// fails.
fn root(test: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("reencode-{test}"));
    drop(std::fs::remove_dir_all(&root));
    for folder in ["regressions/moving", "corpus/moving", "corpus/others"] {
        std::fs::create_dir_all(root.join(folder)).expect("the folder can be made");
    }
    let write = |name: &str, bytes: &[u8]| {
        std::fs::write(root.join(name), bytes).expect("the folder is there");
    };
    write("corpus/moving/empty", &[]);
    write("corpus/moving/seven", &input(1, &[7, 1, 200]));
    write("regressions/moving/lost", &input(3, &[5, 7, 99, 8]));
    write("corpus/others/calls", &[1, 2, 3]);
    root
}

/// An input of version A in which one client puts these keys.
fn input(server: u8, keys: &[u8]) -> Vec<u8> {
    let calm = run_bytes(Version::A, &[]);
    let mut lanes = calm.tape.to_lanes();
    let width = |entry: &sim_core::tape::Entry<'_>| match entry.drawn {
        sim_core::tape::Drawn::Value { width, .. } => width.bytes(),
        sim_core::tape::Drawn::Bytes(bytes) => bytes.len(),
    };
    let swarm = || calm.tape.iter().filter(|entry| entry.lane == sim_core::source::Lane::Swarm);
    let before = swarm().take_while(|entry| entry.label != "server");
    let place: usize = before.map(|entry| width(&entry)).sum();
    let operations = swarm().take_while(|entry| entry.label != "operations");
    let limit: usize = operations.map(|entry| width(&entry)).sum();
    let swarm = lanes.lane_mut(sim_core::source::Lane::Swarm);
    swarm[place] = server;
    swarm[limit] = 10;
    let workload = lanes.lane_mut(sim_core::source::Lane::Workload);
    workload.clear();
    for key in keys {
        workload.extend([1, *key]);
    }
    lanes.encode()
}

fn reencode<'a>(root: &'a Path, tapes: &'a Path, targets: &'a [Target]) -> Reencode<'a> {
    Reencode { root, tapes, targets, others: &["others"], watchdog: WATCHDOG }
}

/// The keys that a run puts, as its history has them.
fn keys(run: &Run) -> Vec<String> {
    let text = run.history.trace().to_string();
    let keys = text.split("key: ").skip(1);
    keys.map(|rest| rest.chars().take_while(char::is_ascii_digit).collect()).collect()
}

#[test]
fn runs_are_moved_to_a_version_that_draws_more() {
    let root = root("moved");
    let (tapes, lost) = (root.join("tapes"), root.join("regressions/moving/lost"));
    let saved = reencode(&root, &tapes, &[target(Version::A)]).save().expect("all are saved");
    let names = ["regressions/moving/lost", "corpus/moving/empty", "corpus/moving/seven"];
    assert_eq!(saved, names);
    let old = std::fs::read(&lost).expect("it is there");
    assert_eq!(keys(&run_bytes(Version::A, &old)), ["5", "7", "99"]);
    assert_eq!(run_bytes(Version::A, &old).class().map(|class| class.name()), Some("correctness"));
    assert_ne!(keys(&run_bytes(Version::B, &old)), ["5", "7", "99"], "the bytes mean another run");

    let fates = reencode(&root, &tapes, &[target(Version::B)]).load().expect("all are read");
    let new = std::fs::read(&lost).expect("it is there");
    let moved = Fate::Moved { from: old.len(), to: new.len() };
    assert_eq!(fates[0], ("regressions/moving/lost".to_owned(), moved));
    assert_eq!(fates[1], ("corpus/moving/empty".to_owned(), Fate::Same));
    assert!(matches!(fates[2].1, Fate::Moved { .. }), "{}", fates[2].1);
    let run = run_bytes(Version::B, &new);
    assert_eq!(keys(&run), ["5", "7", "99"]);
    let failure = run.failure.as_ref().expect("it fails as it did");
    assert_eq!(failure.message, "key 99 is lost on server 3");
    assert_eq!(run.tape.to_bytes(), new, "the bytes are canonical");
    assert_eq!(std::fs::read(root.join("corpus/others/calls")).expect("it is there"), [1, 2, 3]);

    // What was moved needs no move.
    let again = reencode(&root, &tapes, &[target(Version::B)]).load().expect("all are read");
    assert!(again.iter().all(|(_, fate)| *fate == Fate::Same), "{again:?}");
}

#[test]
fn an_input_whose_run_ends_otherwise_is_lost_and_stays() {
    let root = root("lost");
    let (tapes, lost) = (root.join("tapes"), root.join("regressions/moving/lost"));
    reencode(&root, &tapes, &[target(Version::A)]).save().expect("all are saved");
    let old = std::fs::read(&lost).expect("it is there");
    std::fs::remove_file(tapes.join("corpus/moving/empty.tape")).expect("it was saved");
    let targets = [target(Version::WithoutTheBug)];
    let fates = reencode(&root, &tapes, &targets).load().expect("all are read");
    assert_eq!(fates[0].1, Fate::Lost("it was correctness and is passed".to_owned()));
    assert_eq!(std::fs::read(&lost).expect("it is there"), old);
    let Fate::Lost(reason) = &fates[1].1 else { panic!("{}", fates[1].1) };
    assert!(reason.ends_with("corpus/moving/empty.tape is not there"), "{reason}");
}

#[test]
fn an_input_that_misses_a_mark_is_lost() {
    let root = root("mark");
    let tapes = root.join("tapes");
    reencode(&root, &tapes, &[target(Version::A)]).save().expect("all are saved");
    let without = Target::new("moving", |sim: &mut Sim| {
        let states = |_: Client| ();
        sim.workload(&WorkloadSpec::new(), states, |_, _: Operation<Put>| async {
            Outcome::done()
        });
    });
    let fates = reencode(&root, &tapes, &[without]).load().expect("all are read");
    let expected = "lost: it no longer reaches \"the seventh key is put\"";
    assert_eq!(fates[2].1.to_string(), expected);
}

#[test]
fn what_is_no_tape_is_an_error_that_names_it() {
    let root = root("foreign");
    let tapes = root.join("tapes");
    let targets = [target(Version::A)];
    reencode(&root, &tapes, &targets).save().expect("all are saved");
    std::fs::write(tapes.join("corpus/moving/seven.tape"), "seven").expect("it can be written");
    let error = reencode(&root, &tapes, &targets).load().expect_err("it is no tape").to_string();
    assert!(error.ends_with("corpus/moving/seven.tape: not the tape of a run"), "{error}");
}
