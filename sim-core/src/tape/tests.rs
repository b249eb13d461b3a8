//! Tests of the tape: what it holds, and that its bytes replay a run.

use core::time::Duration;

use rand_core::Rng;

use super::{Drawn, SpanKind};
use crate::seed::{Seed, Stream};
use crate::source::{Choice, Lane, Ratio, Source, Width};

const CHOICES: [Choice; 4] =
    [Choice::one("one"), Choice::two("two"), Choice::four("four"), Choice::eight("eight")];

/// One call on a source, with everything but its outcome fixed.
#[derive(Clone, Debug)]
enum Call {
    Draw(Lane, Choice, u64),
    Chance(Lane, Ratio),
    Weighted(Lane, Vec<u64>),
    Shuffle(Lane, usize),
    Window(Lane, usize),
    Arbitrary(Lane),
    Duration(Lane, Duration),
    Number(Lane),
}

impl Call {
    fn random(stream: &mut Stream) -> Call {
        let mut below = |count: u64| stream.next_u64() % count;
        let lane = Lane::ALL[below(7) as usize];
        match below(10) {
            0 => Call::Chance(lane, Ratio::new(below(9), 8 + below(40))),
            1 => Call::Weighted(lane, (0..=below(4)).map(|_| below(9) + 1).collect()),
            2 => Call::Shuffle(lane, below(6) as usize),
            3 => Call::Window(lane, below(20) as usize),
            4 => Call::Arbitrary(lane),
            5 => Call::Duration(lane, Duration::from_micros(below(60_000))),
            6 => Call::Number(lane),
            _ => {
                let choice = CHOICES[below(4) as usize];
                let max = below(u64::MAX) >> below(64);
                Call::Draw(lane, choice, max.min(choice.width.value_max()))
            }
        }
    }

    /// Makes the call and gives its outcome as text.
    fn make(&self, source: &mut Source) -> String {
        const LABELED: Choice = Choice::two("two");
        match *self {
            Call::Draw(lane, choice, max) => source.draw(lane, choice, max).to_string(),
            Call::Chance(lane, ratio) => source.chance(lane, LABELED, ratio).to_string(),
            Call::Weighted(lane, ref weights) => {
                source.weighted(lane, LABELED, weights).to_string()
            }
            Call::Shuffle(lane, length) => {
                let mut items: Vec<usize> = (0..length).collect();
                source.shuffle(lane, LABELED, &mut items);
                format!("{items:?}")
            }
            Call::Window(lane, length) => format!("{:?}", source.window(lane, "window", length)),
            Call::Arbitrary(lane) => {
                let value: (u8, Option<u16>, Vec<bool>) = source.arbitrary(lane, "typed");
                format!("{value:?}")
            }
            Call::Duration(lane, max) => {
                format!("{:?}", source.duration(lane, LABELED, max, Duration::from_micros(1)))
            }
            Call::Number(lane) => source.rng(lane, "number").next_u64().to_string(),
        }
    }
}

fn script(stream: &mut Stream) -> Vec<Call> {
    (0..stream.next_u64() % 30).map(|_| Call::random(stream)).collect()
}

fn play(script: &[Call], source: &mut Source) -> Vec<String> {
    script.iter().map(|call| call.make(source)).collect()
}

/// Checks that a run and the replay of its tape are the same run.
fn check_replay(script: &[Call], mut source: Source) {
    let values = play(script, &mut source);
    let tape = source.into_tape();
    let bytes = tape.to_bytes();
    let mut replay = Source::from_bytes(&bytes);
    assert_eq!(play(script, &mut replay), values, "{script:?}");
    assert_eq!(replay.tape(), &tape, "{script:?}");
    assert_eq!(replay.tape().to_bytes(), bytes, "{script:?}");
    let mut untrimmed = Source::from_bytes(&tape.to_lanes().encode());
    assert_eq!(play(script, &mut untrimmed), values, "{script:?}");
}

#[test]
fn tapes_of_random_bytes_replay() {
    let mut stream = Seed::root(3).child("bytes").stream();
    for _ in 0..5_000 {
        let script = script(&mut stream);
        let mut input = vec![0; (stream.next_u64() % 200) as usize];
        stream.fill_bytes(&mut input);
        if stream.next_u64().is_multiple_of(2) {
            input.iter_mut().for_each(|byte| *byte %= 24);
        }
        check_replay(&script, Source::from_bytes(&input));
    }
}

#[test]
fn tapes_of_seeds_replay_as_bytes() {
    let mut stream = Seed::root(3).child("seeds").stream();
    for seed in 0..5_000 {
        check_replay(&script(&mut stream), Source::from_seed(seed));
    }
}

#[test]
fn values_on_the_tape_obey_their_bounds() {
    let mut stream = Seed::root(3).child("invariants").stream();
    for seed in 0..1_000 {
        let mut source = Source::from_seed(seed);
        play(&script(&mut stream), &mut source);
        for entry in source.tape().iter() {
            match entry.drawn {
                Drawn::Value { width, max, value } => {
                    assert!(max > 0 && value <= max && max <= width.value_max(), "{entry}");
                }
                Drawn::Bytes(bytes) => assert!(!bytes.is_empty(), "{entry}"),
            }
        }
    }
}

#[test]
fn every_choice_is_a_line() {
    let mut source = Source::from_bytes(&[1, 4, 0, 0, 0, 0, 0, 0xab, 1]);
    source.draw(Lane::Swarm, Choice::one("nodes"), 6);
    source.window(Lane::App, "payload", 2);
    source.draw(Lane::Fault, Choice::two("kind"), 300);
    let tape = source.into_tape();
    let expected = "swarm nodes 4/6\napp payload 0xab01\nfault kind 0/300\n";
    assert_eq!(tape.to_string(), expected);
    assert_eq!(format!("{tape:?}"), expected);
    assert_eq!(tape.len(), 3);
    assert_eq!(tape.iter().next_back().map(|entry| entry.label), Some("kind"));
}

#[test]
fn bytes_hold_each_value_at_its_width_without_zeros_at_the_end() {
    let mut source = Source::from_bytes(&[4, 1, 0, 6, 0]);
    source.draw(Lane::Swarm, Choice::two("first"), 9);
    source.draw(Lane::Swarm, Choice::four("second"), 9);
    let tape = source.into_tape();
    assert_eq!(tape.to_lanes().lane(Lane::Swarm), [1, 0, 6, 0, 0, 0]);
    assert_eq!(tape.to_bytes(), [3, 1, 0, 6]);
}

#[test]
fn bytes_hold_the_value_and_not_the_word() {
    let mut source = Source::from_bytes(&[1, 200]);
    source.draw(Lane::Swarm, Choice::one("first"), 9);
    // 200 % 10 is 0: calm, so there is nothing to write down.
    assert_eq!(source.tape().to_bytes(), [0_u8; 0]);
}

#[test]
fn spans_nest_and_an_open_one_ends_at_the_last_choice() {
    let draw = |source: &mut Source| source.draw(Lane::Swarm, Choice::one("draw"), 9);
    let mut source = Source::from_bytes(&[]);
    draw(&mut source);
    source.open(SpanKind::Operation, "write");
    draw(&mut source);
    source.open(SpanKind::Event, "deliver");
    draw(&mut source);
    source.close();
    source.open(SpanKind::Fault, "none");
    source.close();
    source.close();
    source.open(SpanKind::Swarm, "late");
    draw(&mut source);
    draw(&mut source);
    let spans: Vec<_> =
        source.tape().spans().map(|span| (span.kind, span.label, span.choices)).collect();
    assert_eq!(
        spans,
        [
            (SpanKind::Operation, "write", 1..3),
            (SpanKind::Event, "deliver", 2..3),
            (SpanKind::Fault, "none", 3..3),
            (SpanKind::Swarm, "late", 3..5),
        ]
    );
}

#[test]
fn widths_say_what_they_hold() {
    let held = [Width::One, Width::Two, Width::Four, Width::Eight].map(Width::value_max);
    assert_eq!(held, [0xff, 0xffff, 0xffff_ffff, u64::MAX]);
}
