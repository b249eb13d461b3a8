//! Tests of what is made of the end of a process.

use super::*;
use std::os::unix::process::ExitStatusExt;

/// What libFuzzer ends a process with.
const CRASH: i32 = 77;
const TIMEOUT: i32 = 70;

/// Ends a process of `sim_kernel` that said some lines with a code; its units are made in `folder`.
fn end(folder: &Path, lines: &[&str], unit: Option<&str>, code: i32) -> (Ending, Row) {
    let artifacts = folder.parent().expect("it is below another").to_owned();
    let (root, other) = (artifacts.clone(), artifacts.clone());
    let places = Places { root, fuzz_binaries: other.clone(), builds: other, artifacts };
    let mut log = Log::default();
    for line in lines {
        log.read(line);
    }
    if let Some(unit) = unit {
        std::fs::create_dir_all(folder).expect("the folder can be made");
        let file = folder.join(unit);
        std::fs::write(&file, "bytes").expect("the folder is there");
        log.read(&format!("artifact_prefix='x'; Test unit written to {}", file.display()));
    }
    let mut row = Row::new("sim_kernel", false);
    let fuzzer = Fuzzer { places: &places, name: "sim_kernel", build: Build::Asan, folder };
    let status = ExitStatus::from_raw(code << 8);
    let ending = fuzzer.judge(&log, status, &mut row).expect("what it shows can be kept");
    (ending, row)
}

fn folder(name: &str) -> PathBuf {
    let root = std::env::temp_dir().join(format!("nightly-{name}-{}", std::process::id()));
    root.join("sim_kernel")
}

#[test]
fn crashes_of_one_place_are_one_internal_bug() {
    let folder = folder("crashes");
    for number in ["12", "345"] {
        let line = format!("  gave {number}, not legal");
        let lines = [
            "sim: FAILED target=sim_kernel class=internal",
            &line,
            "SUMMARY: libFuzzer: deadly signal",
        ];
        let (ending, row) = end(&folder, &lines, Some(&format!("crash-{number}")), CRASH);
        assert_eq!(ending, Ending::ByUnit);
        assert!(row.units.is_empty() && row.faults.is_empty());
    }
    let bugs = keep::read(&folder).expect("the folder is there");
    assert_eq!(bugs.len(), 1, "{bugs:?}");
    let (failure, met) = (&bugs[0].failure, bugs[0].met);
    assert_eq!((failure.class, &*failure.origin, met), (Class::Internal, "gave #, not legal", 2));
    assert_eq!(bugs[0].fingerprint, failure.fingerprint("sim_kernel"));
    std::fs::remove_dir_all(folder.parent().expect("it is below another")).expect("it is ours");
}

#[test]
fn a_unit_that_was_given_up_is_no_bug() {
    let folder = folder("timeout");
    let lines = ["SUMMARY: libFuzzer: timeout"];
    let (ending, row) = end(&folder, &lines, Some("timeout-1"), TIMEOUT);
    assert_eq!(ending, Ending::ByUnit);
    assert_eq!(row.units, [(Unit::Timeout, PathBuf::from("sim_kernel/timeout-1"))]);
    assert_eq!(keep::read(&folder).expect("the folder is there"), []);
    std::fs::remove_dir_all(folder.parent().expect("it is below another")).expect("it is ours");
}

#[test]
fn an_end_that_no_unit_explains_is_a_fault() {
    let folder = folder("fault");
    let (ending, row) = end(&folder, &["cannot load a library"], None, 127);
    let text = "ended with exit status: 127: cannot load a library";
    assert_eq!(ending, Ending::Fault(text.to_owned()));
    assert!(row.units.is_empty());
    let (ending, row) = end(&folder, &["sim: cannot keep a failure of sim_a: full"], None, 0);
    assert_eq!(ending, Ending::Whole);
    assert_eq!(row.faults, ["sim: cannot keep a failure of sim_a: full"]);
}

#[test]
fn a_night_leaves_out_what_this_build_does_not_know() {
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let all = || owned(&["sim_echo", "sim_echo_planted", "sim_kernel", "sim_raft"]);
    let chosen = |absent: &[&str], given: &[&str]| chosen(all(), absent, &owned(given));
    let searched = ["sim_echo", "sim_kernel", "sim_raft"];
    assert_eq!(chosen(&[], &[]), Ok(owned(&searched)));
    assert_eq!(chosen(&["sim_raft"], &[]), Ok(owned(&searched[..2])));
    assert_eq!(chosen(&["sim_raft"], &["sim_echo_planted"]), Ok(owned(&["sim_echo_planted"])));
    let needs = "sim_raft needs `--features raft`".to_owned();
    assert_eq!(chosen(&["sim_raft"], &["sim_raft"]), Err(needs));
    let error = chosen(&[], &["sim_a"]).expect_err("it is no target");
    assert!(error.starts_with("sim_a is no fuzz target; the targets are sim_echo, "), "{error}");
}
