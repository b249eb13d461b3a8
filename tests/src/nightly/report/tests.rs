//! Tests of the report of a night.

use super::*;
use sim_core::failure::Failure;

fn bug(target: &str, class: Class, status: Status) -> Bug {
    let failure = Failure::new(class, "a.rs:1", "wrong");
    let fingerprint = failure.fingerprint(target);
    let kept = Kept { fingerprint, failure, file: PathBuf::from("a/min"), len: 6, met: 9 };
    Bug { target: target.to_owned(), status, count: 3, kept }
}

/// A night of one target that met some bugs.
fn night(bugs: Vec<Bug>) -> Night {
    let mut night = Night::default();
    night.add(Row::new("sim_a", false), bugs);
    night
}

fn of_new(classes: &[Class]) -> u8 {
    night(classes.iter().map(|class| bug("sim_a", *class, Status::New)).collect()).exit_code()
}

#[test]
fn the_exit_code_is_that_of_the_worst_new_class() {
    assert_eq!(of_new(&[]), 0);
    assert_eq!(of_new(&[Class::Leak]), 113);
    assert_eq!(of_new(&[Class::Leak, Class::Panic]), 111);
    assert_eq!(of_new(&[Class::Panic, Class::Correctness, Class::Deadlock]), 110);
    assert_eq!(of_new(&[Class::Correctness, Class::Diverged]), 115);
    assert_eq!(of_new(&[Class::Diverged, Class::Internal, Class::Correctness]), 117);
    assert_eq!(of_new(&[Class::Inconclusive, Class::Leak]), 113);
    assert_eq!(of_new(&[Class::Inconclusive]), 116);
}

#[test]
fn every_class_that_is_a_failure_has_its_code() {
    for class in Class::ALL {
        assert_eq!(of_new(&[class]), class.exit_code(), "{class}");
    }
}

#[test]
fn what_is_known_does_not_count() {
    let pinned = Status::Pinned("regressions/sim_a/one".to_owned());
    for status in [Status::Known, pinned, Status::Planted] {
        let night = night(vec![bug("sim_a", Class::Correctness, status)]);
        assert_eq!(night.exit_code(), 0, "{}", night.text());
    }
}

#[test]
fn units_and_faults_are_no_bugs() {
    let with = |kinds: &[Unit], fault: Option<&str>, bugs: Vec<Bug>| {
        let mut row = Row::new("sim_a", false);
        row.units = kinds.iter().map(|kind| (*kind, PathBuf::from("u"))).collect();
        let mut night =
            Night { faults: fault.map(str::to_owned).into_iter().collect(), ..Night::default() };
        night.add(row, bugs);
        night.exit_code()
    };
    assert_eq!(with(&[Unit::Slow], None, Vec::new()), 0);
    assert_eq!(with(&[Unit::Slow], Some("no cargo"), Vec::new()), 2);
    assert_eq!(with(&[Unit::Timeout], None, Vec::new()), 116);
    assert_eq!(with(&[Unit::Memory], Some("no cargo"), Vec::new()), 116);
    let panic = vec![bug("sim_a", Class::Panic, Status::New)];
    assert_eq!(with(&[Unit::Timeout], Some("no cargo"), panic), 111);
}

#[test]
fn a_planted_bug_that_is_not_found_is_a_fault() {
    let mut night = Night::default();
    night.add(Row::new("sim_a_planted", true), Vec::new());
    assert_eq!(night.faults, ["sim_a_planted: its planted bug was not found"]);
    assert_eq!(night.exit_code(), 2);
}

#[test]
fn files_of_units_tell_their_kind() {
    let of = |name: &str| Unit::of(&Path::new("sim_a/units").join(name));
    assert_eq!(of("timeout-0a"), Some(Unit::Timeout));
    assert_eq!(of("oom-0a"), Some(Unit::Memory));
    assert_eq!(of("slow-unit-0a"), Some(Unit::Slow));
    assert_eq!(of("crash-0a"), None);
    assert_eq!(of("leak-0a"), None);
}

#[test]
fn the_report_has_a_row_a_target_and_then_a_row_a_bug() {
    let mut night = Night::default();
    let mut row = Row::new("sim_bb", false);
    let mut log = Log::default();
    log.read("#3000\tDONE   cov: 45 ft: 67 corp: 3/9b lim: 4 exec/s: 1500 rss: 31Mb");
    row.add(Build::Plain, &log, Duration::from_secs(2));
    log.read("#100\tDONE   cov: 99 ft: 67 corp: 3/9b lim: 4 exec/s: 1500 rss: 31Mb");
    row.add(Build::Asan, &log, Duration::from_secs(1));
    row.units = vec![(Unit::Slow, PathBuf::from("sim_bb/units/slow-unit-1"))];
    row.faults = vec!["sim_bb asan: ended with signal: 9".to_owned()];
    night.add(row, vec![bug("sim_bb", Class::Panic, Status::New)]);
    let raft = bug("sim_raft", Class::Panic, Status::New);
    assert!(
        lines_of(&raft)[1]
            .ends_with(" SIM_TARGET=sim_raft cargo test --features raft --test replay")
    );
    night.add(
        Row::new("sim_a", false),
        vec![bug("sim_a", Class::Deadlock, Status::Pinned("regressions/sim_a/one".to_owned()))],
    );
    let expected = "\
target  runs  plain/s  asan/s  corpus  after  edges  new  known  timeout  memory  slow
sim_a      0        0       0       0      0      0    0      1        0       0     0
sim_bb  3100     1500     100       0      0     45    1      0        0       0     1
bug 77: pinned target=sim_a class=deadlock origin=\"a.rs:1\" bytes=6 met=3
  pinned: regressions/sim_a/one
bug 77: new target=sim_bb class=panic origin=\"a.rs:1\" bytes=6 met=3
  replay: SIM_INPUT=a/min SIM_TARGET=sim_bb cargo test --test replay
unit slow-unit: sim_bb/units/slow-unit-1
fault: sim_bb asan: ended with signal: 9
nightly: 2 bugs, 1 of them new, 1 faults, code 111
";
    let mut text = night.text();
    for bug in &night.bugs {
        text = text.replace(&bug.kept.fingerprint, "77");
    }
    assert_eq!(text, expected);
}
