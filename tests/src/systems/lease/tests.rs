//! What the judge of the leases finds, on histories written by hand and in runs of stores that are
//! wrong in other ways than the planted one.

use super::*;
use crate::systems::parts::judging::{folder, text};
use sim_core::failure::{Class, Failure};
use sim_core::run::{Input, run};

fn set(numbers: &[u64]) -> Set {
    let mut set = Set::default();
    numbers.iter().for_each(|number| set.add(*number));
    set
}

/// What is said, step by step and in the end, of a store that wrote these lines, where clients asked
/// for numbers up to three and were told these.
fn judged(told: &[u64], lines: &[&str]) -> [Result<(), String>; 2] {
    let parse = |line: &&str| Written::parse(line).unwrap();
    let written = lines.iter().map(parse).collect();
    let folder = folder(lines);
    let (asked, told) = (set(&[0, 1, 2, 3]), set(told));
    let mut model = Model { asked, told, written, folder: Some(folder.clone()) };
    let judged = [model.step(), model.end()].map(|result| result.map_err(text));
    std::fs::remove_dir_all(folder).unwrap();
    judged
}

#[track_caller]
fn both(told: &[u64], lines: &[&str], expected: &str) {
    let expected = Err(expected.to_owned());
    assert_eq!(judged(told, lines), [expected.clone(), expected]);
}

#[test]
fn sets_that_keep_what_was_told_are_right() {
    let right = [Ok(()), Ok(())];
    assert_eq!(judged(&[], &[]), right);
    // Two was asked for, and nobody knows whether it is in the set.
    assert_eq!(judged(&[1], &["1 0 0", "1 1 2", "2 0 2"]), right);
    assert_eq!(judged(&[1, 3], &["1 0 0", "1 1 2", "1 2 6", "2 0 6", "2 1 e"]), right);
    // A leader may be late with what nobody was told.
    assert_eq!(judged(&[1], &["1 1 2", "2 1 6", "1 2 2"]), right);
}

#[test]
fn a_number_that_was_told_and_is_gone_is_found() {
    let expected = "the number 1 is no longer in the set; \
                    got:      token 1 wrote {1, 2}, then token 2 wrote {2}";
    both(&[1, 2], &["1 1 2", "1 2 6", "2 0 4"], expected);
}

/// A store that says so before it writes, or never does.
#[test]
fn a_number_that_was_told_and_never_written_is_found() {
    let never = "the number 2 is no longer in the set; got:      it never was in it";
    both(&[1, 2], &["1 1 2"], never);
    both(&[2], &[], never);
}

#[test]
fn a_number_that_nobody_asked_for_is_found_in_the_end() {
    let [step, end] = judged(&[1], &["1 1 12", "2 0 2"]);
    assert_eq!((step, end), (Ok(()), Err("token 1 wrote {1, 4} has what nobody asked for".into())));
}

/// A disk that lost what the store said that it wrote.
#[test]
fn what_the_disk_lost_is_found_in_the_end() {
    let folder = folder(&["1 1 2"]);
    let written = ["1 1 2", "1 2 6"].map(|line| Written::parse(line).unwrap()).to_vec();
    let (asked, told) = (set(&[1, 2]), set(&[1, 2]));
    let mut model = Model { asked, told, written, folder: Some(folder.clone()) };
    assert!(model.step().is_ok() && model.end().is_err());
    std::fs::remove_dir_all(folder).unwrap();
    assert!(Model::default().end().is_err(), "no store ever ran");
}

/// A store that takes over and then fences everybody: nothing is lost, and nothing gets done.
#[test]
fn a_set_that_no_leader_writes_is_found() {
    let fences = |last: store::Stamp, write: store::Stamp| write.number == 0 && write >= last;
    let target = Target::new("sim_lease", move |sim| build(sim, fences));
    let run = run(&target, &Input::Bytes(Vec::new()), Duration::from_secs(60));
    let Failure { class, message, .. } = run.failure.expect("it is found");
    assert_eq!(class, Class::Correctness, "{message}");
    assert!(message.starts_with("a leader answers within 3600s, not "), "{message}");
}
