//! Tests of a source that follows a recording: one program records, a changed one follows.

use crate::recording::Recording;
use crate::source::{Choice, Lane, Source};
use crate::tape::{SpanKind, Tape};

const GO_ON: Choice = Choice::one("go on");
const WHO: Choice = Choice::one("who");
const WAIT: Choice = Choice::one("wait");

/// What a version of the program draws inside each operation.
type Draws = fn(&mut Source) -> Vec<u64>;

/// Operations until a draw says stop; gives what each drew.
fn operations(source: &mut Source, draws: Draws) -> Vec<Vec<u64>> {
    let mut all = Vec::new();
    loop {
        source.open(SpanKind::Operation, "operation");
        let goes_on = source.draw(Lane::Workload, GO_ON, 255) != 0;
        let drawn = if goes_on { draws(source) } else { Vec::new() };
        source.close();
        if !goes_on {
            return all;
        }
        all.push(drawn);
    }
}

fn who_and_wait(source: &mut Source) -> Vec<u64> {
    vec![source.draw(Lane::Workload, WHO, 9), source.draw(Lane::Workload, WAIT, 255)]
}

/// A recording of three operations.
fn three() -> Recording {
    let mut source = Source::from_bytes(&[0, 9, 1, 5, 50, 1, 6, 60, 1, 7, 70]);
    assert_eq!(operations(&mut source, who_and_wait), [[5, 50], [6, 60], [7, 70]]);
    recorded(source.tape())
}

fn recorded(tape: &Tape) -> Recording {
    let mut run = crate::run::Run::without_result();
    run.tape = tape.clone();
    Recording::of(&run)
}

/// What a program draws from the recording of [`three`], and what it draws from the bytes of that.
#[track_caller]
fn check(draws: Draws, expected: &[&[u64]]) {
    let mut followed = Source::from_recording(&three());
    assert_eq!(operations(&mut followed, draws), expected);
    let mut replayed = Source::from_bytes(&followed.tape().to_bytes());
    assert_eq!(operations(&mut replayed, draws), expected);
    assert_eq!(replayed.tape(), followed.tape());
}

#[test]
fn the_same_program_draws_the_same() {
    check(who_and_wait, &[&[5, 50], &[6, 60], &[7, 70]]);
}

#[test]
fn an_inserted_draw_is_calm() {
    let draws: Draws = |source| {
        let who = source.draw(Lane::Workload, WHO, 9);
        let size = source.draw(Lane::Workload, Choice::two("size"), 999);
        vec![who, size, source.draw(Lane::Workload, WAIT, 255)]
    };
    check(draws, &[&[5, 0, 50], &[6, 0, 60], &[7, 0, 70]]);
}

#[test]
fn a_dropped_draw_is_skipped() {
    check(|source| vec![source.draw(Lane::Workload, WHO, 9)], &[&[5], &[6], &[7]]);
    check(|source| vec![source.draw(Lane::Workload, WAIT, 255)], &[&[50], &[60], &[70]]);
    check(|_| Vec::new(), &[&[], &[], &[]]);
}

#[test]
fn draws_in_another_order_keep_their_values() {
    let draws: Draws =
        |source| vec![source.draw(Lane::Workload, WAIT, 255), source.draw(Lane::Workload, WHO, 9)];
    check(draws, &[&[50, 5], &[60, 6], &[70, 7]]);
}

#[test]
fn a_draw_of_another_width_or_bound_keeps_its_value_or_is_clipped() {
    let draws: Draws = |source| {
        let who = source.draw(Lane::Workload, WHO, 5);
        vec![who, source.draw(Lane::Workload, Choice::four("wait"), 1_000_000)]
    };
    check(draws, &[&[5, 50], &[5, 60], &[5, 70]]);
}

#[test]
fn a_draw_that_nothing_is_left_for_is_calm() {
    let draws: Draws = |source| (0..3).map(|_| source.draw(Lane::Workload, WAIT, 255)).collect();
    check(draws, &[&[50, 0, 0], &[60, 0, 0], &[70, 0, 0]]);
}

#[test]
fn a_draw_on_another_lane_is_another_draw() {
    let draws: Draws =
        |source| vec![source.draw(Lane::App, WHO, 9), source.draw(Lane::Workload, WAIT, 255)];
    check(draws, &[&[0, 50], &[0, 60], &[0, 70]]);
}

#[test]
fn choices_of_one_label_in_one_span_keep_their_order() {
    let draw = |source: &mut Source| [(); 3].map(|()| source.draw(Lane::App, WAIT, 255));
    let mut source = Source::from_bytes(&[0, 0, 0, 0, 0, 0, 3, 1, 2]);
    assert_eq!(draw(&mut source), [3, 1, 2]);
    let mut followed = Source::from_recording(&recorded(source.tape()));
    assert_eq!(draw(&mut followed), [3, 1, 2]);
}

#[test]
fn spans_are_told_apart_by_kind_label_and_what_they_are_in() {
    let inner = |source: &mut Source, kind, label| {
        source.open(kind, label);
        let value = source.draw(Lane::Fault, WAIT, 255);
        source.close();
        value
    };
    let mut source = Source::from_bytes(&[0, 0, 0, 4, 1, 2, 3, 4]);
    source.open(SpanKind::Operation, "outer");
    assert_eq!(inner(&mut source, SpanKind::Event, "a"), 1);
    assert_eq!(source.draw(Lane::Fault, WAIT, 255), 2);
    assert_eq!(inner(&mut source, SpanKind::Event, "b"), 3);
    source.close();
    assert_eq!(source.draw(Lane::Fault, WAIT, 255), 4);
    let mut followed = Source::from_recording(&recorded(source.tape()));
    assert_eq!(followed.draw(Lane::Fault, WAIT, 255), 4);
    assert_eq!(inner(&mut followed, SpanKind::Event, "a"), 0);
    followed.open(SpanKind::Operation, "outer");
    assert_eq!(inner(&mut followed, SpanKind::Fault, "a"), 0);
    assert_eq!(inner(&mut followed, SpanKind::Event, "b"), 3);
    assert_eq!(inner(&mut followed, SpanKind::Event, "a"), 1);
    assert_eq!(inner(&mut followed, SpanKind::Event, "a"), 0);
    assert_eq!(followed.draw(Lane::Fault, WAIT, 255), 2);
    followed.close();
}

#[test]
fn windows_keep_their_front() {
    let mut source = Source::from_bytes(&[4, 1, 2, 3, 4]);
    source.window(Lane::Swarm, "w", 2);
    source.window(Lane::Swarm, "w", 2);
    let recording = recorded(source.tape());
    let mut followed = Source::from_recording(&recording);
    assert_eq!(followed.window(Lane::Swarm, "w", 0), [0; 0]);
    assert_eq!(followed.window(Lane::Swarm, "w", 3), [1, 2, 0]);
    assert_eq!(followed.window(Lane::Swarm, "w", 1), [3]);
    assert_eq!(followed.window(Lane::Swarm, "w", 1), [0]);
    assert!(!followed.is_exhausted(Lane::Swarm), "that cannot be known");
}
