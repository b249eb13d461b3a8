//! What the judge of the broker finds, on histories written by hand and in runs of brokers that are
//! wrong in other ways than the planted one.

use super::*;
use crate::systems::parts::judging::{folder, text};
use crate::systems::parts::line::Lines;
use crate::systems::parts::serve::{answer_each, serve};
use sim_core::failure::{Class, Failure};
use sim_core::run::{Input, run};
use tokio::task::JoinSet;

/// What is said, step by step and in the end, of a broker that wrote these lines, where clients sent
/// records one to four, and were told that the first two were taken.
fn judged(done: &[u64], lines: &[&str]) -> [Result<(), String>; 2] {
    let folder = folder(lines);
    let mut model = Model {
        sent: [1, 2, 3, 4].into(),
        taken: [1, 2].into(),
        done: done.iter().copied().collect(),
        folder: Some(folder.clone()),
        ..Model::default()
    };
    // A line a step, as in a run.
    let step = lines.iter().try_for_each(|line| {
        model.written = vec![Entry::parse(line).unwrap()];
        model.step()
    });
    let judged = [step, model.end()].map(|result| result.map_err(text));
    std::fs::remove_dir_all(folder).unwrap();
    judged
}

#[track_caller]
fn both(done: &[u64], lines: &[&str], expected: &str) {
    let expected = Err(expected.to_owned());
    assert_eq!(judged(done, lines), [expected.clone(), expected]);
}

#[track_caller]
fn in_the_end(done: &[u64], lines: &[&str], expected: &str) {
    assert_eq!(judged(done, lines), [Ok(()), Err(expected.to_owned())]);
}

/// Two records of the first partition, and one of the second.
const TAKEN: [&str; 4] = ["generation 1", "record 1 0 0", "record 2 0 0", "record 3 1 0"];

fn after_taken<'l>(lines: &[&'l str]) -> Vec<&'l str> {
    [&TAKEN, lines].concat()
}

#[test]
fn offsets_that_go_forward_over_what_was_done_are_right() {
    let lines = after_taken(&["commit 1 0 1", "generation 2", "commit 2 0 1", "commit 2 0 2"]);
    assert_eq!(judged(&[1, 2], &lines), [Ok(()), Ok(())]);
    // Each partition has an offset of its own.
    let lines = after_taken(&["commit 1 0 2", "commit 1 1 0", "commit 1 1 1"]);
    assert_eq!(judged(&[1, 2, 3], &lines), [Ok(()), Ok(())]);
}

#[test]
fn an_offset_that_goes_back_is_found() {
    let expected = "the offset of partition 0 goes back; \
                    got:      1, as generation 1 committed 1 of partition 0 after that";
    both(&[1, 2], &after_taken(&["commit 2 0 2", "commit 1 0 1"]), expected);
    // In one generation too, and however far ahead another partition is.
    let lines = after_taken(&["commit 1 0 2", "commit 1 1 1", "commit 1 0 1"]);
    both(&[1, 2, 3], &lines, expected);
}

/// A broker that takes a commit for done: of what nobody did, or of what is not there.
#[test]
fn an_offset_past_what_was_done_is_found() {
    let what = "an offset is committed past a record that nobody did; got:      generation 1";
    let lines = after_taken(&["commit 1 0 2"]);
    both(&[1], &lines, &format!("{what} committed 2 of partition 0, of [1, 2] done {{1}}"));
    let lines = after_taken(&["commit 1 0 3"]);
    both(&[1, 2], &lines, &format!("{what} committed 3 of partition 0, of [1, 2] done {{1, 2}}"));
    // Those of the other partition do not count.
    let lines = after_taken(&["commit 1 1 1"]);
    both(&[1, 2], &lines, &format!("{what} committed 1 of partition 1, of [3] done {{1, 2}}"));
    // The record came after the commit.
    let lines = ["record 1 0 0", "commit 1 0 2", "record 2 0 0"];
    both(&[1, 2], &lines, &format!("{what} committed 2 of partition 0, of [1] done {{1, 2}}"));
}

/// A broker that takes a record twice, or one that nobody sent.
#[test]
fn a_record_that_was_not_sent_once_is_found_in_the_end() {
    let expected = "not each of [[1, 2, 1], [3]] was sent once";
    in_the_end(&[1, 2], &after_taken(&["record 1 0 0"]), expected);
    let expected = "not each of [[1, 2], [3, 1]] was sent once";
    in_the_end(&[1, 2], &after_taken(&["record 1 1 0"]), expected);
    let expected = "not each of [[1, 2], [3, 9]] was sent once";
    in_the_end(&[1, 2], &after_taken(&["record 9 1 0"]), expected);
}

#[test]
fn a_record_that_was_taken_and_is_not_done_is_found_in_the_end() {
    let expected = "record 2 was taken and is not done";
    in_the_end(&[1], &after_taken(&["commit 1 0 1"]), expected);
    in_the_end(&[1], &TAKEN[..2], expected);
    assert!(Model::default().end().is_err(), "no broker ever ran");
}

/// A broker that says for ever that a record is left.
#[test]
fn a_record_that_is_never_over_is_found() {
    let answer = |lines: Lines| answer_each(lines, |_| "left 1".to_owned());
    let target = Target::new("never_over", move |sim| {
        let broker = sim.node("broker", move |process| async move {
            let answer = move |stream| answer(Lines::new(stream));
            serve(&process, JoinSet::new(), answer).await;
        });
        let broker = (broker.addresses()[0], PORT).into();
        sim.client("auditor", move |_| audit(broker));
    });
    let run = run(&target, &Input::Bytes(Vec::new()), Duration::from_secs(60));
    let Failure { class, message, .. } = run.failure.expect("it is found");
    assert_eq!(class, Class::Correctness, "{message}");
    let expected = "no record is left after 3600s, not Reply(\"left 1\")";
    assert_eq!(message, expected);
    assert_eq!(run.elapsed.as_secs(), HEALED.as_secs());
}
