//! Tests of draws and of what is derived from them.

use core::time::Duration;

use arbitrary::{Arbitrary, Unstructured};
use rand_core::Rng;

use super::{Choice, Lane, Lanes, Ratio, Source, Width};
use crate::seed::Seed;
use crate::tape::{Drawn, SpanKind};

const ONE: Choice = Choice::one("one");
const TWO: Choice = Choice::two("two");
const FOUR: Choice = Choice::four("four");
const EIGHT: Choice = Choice::eight("eight");
const KINDS: [Choice; 4] = [ONE, TWO, FOUR, EIGHT];

/// A source whose network lane has these bytes, and no other lane has any.
fn network(bytes: &[u8]) -> Source {
    let mut lanes = Lanes::default();
    lanes.lane_mut(Lane::Network).extend_from_slice(bytes);
    Source::from_lanes(lanes)
}

#[track_caller]
fn check_draw(bytes: &[u8], choice: Choice, max: u64, expected: u64) {
    assert_eq!(network(bytes).draw(Lane::Network, choice, max), expected);
}

#[test]
fn values_are_little_endian_words_modulo_the_count() {
    check_draw(&[7], ONE, 255, 7);
    check_draw(&[255], ONE, 255, 255);
    check_draw(&[7], ONE, 6, 0);
    check_draw(&[200], ONE, 99, 0);
    check_draw(&[0x34, 0x12, 9], TWO, 65_535, 0x1234);
    check_draw(&[0x34, 0x12, 9], TWO, 999, 0x1234 % 1000);
    check_draw(&[1, 2, 3, 4, 9], FOUR, u64::from(u32::MAX), 0x0403_0201);
    check_draw(&[1, 2, 3, 4, 5, 6, 7, 8, 9], EIGHT, u64::MAX, 0x0807_0605_0403_0201);
    check_draw(&[255; 8], EIGHT, u64::MAX, u64::MAX);
    check_draw(&[255; 8], EIGHT, u64::MAX - 1, 0);
    check_draw(&[255; 8], EIGHT, 1, 1);
}

#[test]
fn a_draw_that_straddles_the_end_reads_high_zeros() {
    check_draw(&[5], TWO, 65_535, 5);
    check_draw(&[1, 2, 3], FOUR, u64::from(u32::MAX), 0x0003_0201);
    check_draw(&[1, 2, 3], EIGHT, u64::MAX, 0x0003_0201);
    let mut source = network(&[1, 2, 3]);
    source.draw(Lane::Network, TWO, 9);
    assert!(!source.is_exhausted(Lane::Network));
    assert_eq!(source.draw(Lane::Network, TWO, 65_535), 3);
    assert!(source.is_exhausted(Lane::Network));
}

#[test]
fn words_near_the_end_are_read_like_any_other() {
    let bytes: Vec<u8> = (1..=40).collect();
    for choice in KINDS {
        let mut source = network(&bytes);
        let width = choice.width.bytes();
        for word in bytes.chunks(width) {
            let mut expected = [0; 8];
            expected[..word.len()].copy_from_slice(word);
            let value = source.draw(Lane::Network, choice, choice.width.value_max());
            assert_eq!(value, u64::from_le_bytes(expected), "{choice:?}");
        }
        assert!(source.is_exhausted(Lane::Network));
    }
}

#[test]
fn nothing_to_decide_reads_nothing_and_is_not_on_the_tape() {
    let mut source = network(&[7]);
    assert_eq!(source.draw(Lane::Network, ONE, 0), 0);
    assert_eq!(source.below(Lane::Network, ONE, 1), 0);
    assert_eq!(source.window(Lane::Network, "window", 0), [0_u8; 0]);
    assert!(!source.chance(Lane::Network, ONE, Ratio::NEVER));
    assert!(source.tape().is_empty());
    assert_eq!(source.draw(Lane::Network, ONE, 255), 7);
}

#[test]
fn the_bound_does_not_change_how_much_is_read() {
    for max in [1, 9, 255] {
        let mut source = network(&[100, 0, 42]);
        source.draw(Lane::Network, TWO, max);
        assert_eq!(source.draw(Lane::Network, ONE, 255), 42, "{max}");
    }
}

#[test]
fn lanes_do_not_touch_each_other() {
    let mut bytes = Source::from_bytes(&[1, 11, 1, 22, 0, 0, 1, 33, 0, 44]);
    assert_eq!(bytes.draw(Lane::App, ONE, 255), 44);
    assert_eq!(bytes.draw(Lane::Network, ONE, 255), 33);
    assert_eq!(bytes.draw(Lane::Swarm, ONE, 255), 11);
    assert_eq!(bytes.draw(Lane::Workload, ONE, 255), 22);

    let mut busy = Source::from_seed(3);
    busy.draw(Lane::Swarm, EIGHT, u64::MAX);
    let mut quiet = Source::from_seed(3);
    let expected = quiet.draw(Lane::App, EIGHT, u64::MAX);
    assert_eq!(busy.draw(Lane::App, EIGHT, u64::MAX), expected);
}

#[test]
fn a_flat_source_has_one_string_for_all_lanes_and_a_tape_that_replays() {
    let mut flat = Source::from_flat(&[7, 8, 9, 0, 5, 0]);
    let draws = [(Lane::Swarm, ONE), (Lane::Network, TWO), (Lane::Swarm, ONE), (Lane::App, ONE)];
    let values = draws.map(|(lane, choice)| flat.draw(lane, choice, 255));
    assert_eq!(values, [7, 8, 0, 5]);
    assert!(flat.is_exhausted(Lane::Swarm) && flat.is_exhausted(Lane::App));
    let mut replay = Source::from_bytes(&flat.tape().to_bytes());
    assert_eq!(draws.map(|(lane, choice)| replay.draw(lane, choice, 255)), values);
}

#[test]
fn seeded_lanes_are_pinned_for_ever() {
    let mut source = Source::from_seed(7);
    assert_eq!(source.draw(Lane::Swarm, EIGHT, u64::MAX), 0x1178_e091_573c_e791);
    assert_eq!(source.draw(Lane::Swarm, ONE, 255), 0x50);
    assert_eq!(source.draw(Lane::App, TWO, 999), 0xd3bf % 1000);
    assert_eq!(source.window(Lane::App, "window", 2), [0x3f, 0x38]);
    assert!(!source.is_exhausted(Lane::App));
}

#[test]
fn bounds_hold_for_every_width_and_both_feeds() {
    let mut stream = Seed::root(2).child("bounds").stream();
    for round in 0..4_000 {
        let mut bytes = vec![0; 256];
        stream.fill_bytes(&mut bytes);
        let mut sources = [network(&bytes), Source::from_seed(round)];
        for source in &mut sources {
            for choice in KINDS {
                let max = stream.next_u64() >> (stream.next_u64() % 64);
                let max = max.min(choice.width.value_max());
                assert!(source.draw(Lane::Network, choice, max) <= max);
                let (start, length) = (stream.next_u64() >> 1, max >> 1);
                let drawn = source.range(Lane::Network, choice, start..=start + length);
                assert!((start..=start + length).contains(&drawn));
            }
        }
    }
}

#[test]
fn an_exhausted_lane_is_calm() {
    let mut source = Source::from_bytes(&[]);
    let second = Duration::from_secs(1);
    for lane in Lane::ALL {
        for choice in KINDS {
            assert!(source.is_exhausted(lane));
            assert_eq!(source.draw(lane, choice, choice.width.value_max()), 0);
            assert_eq!(source.below(lane, choice, 200), 0);
            assert_eq!(source.range(lane, choice, 5..=90), 5);
            assert_eq!(source.choose(lane, choice, &['a', 'b']), &'a');
            assert!(!source.chance(lane, choice, Ratio::new(199, 200)));
            assert_eq!(source.duration(lane, choice, second, second / 10), Duration::ZERO);
            assert_eq!(source.weighted(lane, choice, &[0, 3, 1]), 1);
            let mut items = [1, 2, 3, 4];
            source.shuffle(lane, choice, &mut items);
            assert_eq!(items, [1, 2, 3, 4]);
        }
        assert_eq!(source.window(lane, "window", 3), [0, 0, 0]);
        assert_eq!(source.arbitrary::<(u8, Option<u32>)>(lane, "typed"), (0, None));
        assert_eq!(source.rng(lane, "rng").next_u32(), 0);
    }
    assert_eq!(source.tape().to_bytes(), [0_u8; 0]);
}

#[test]
fn zeros_at_the_end_are_exhaustion() {
    assert!(network(&[0, 0, 0]).is_exhausted(Lane::Network));
    let mut source = network(&[5, 0]);
    source.draw(Lane::Network, ONE, 9);
    assert!(source.is_exhausted(Lane::Network));
}

#[test]
fn the_unlikely_side_of_a_chance_sits_at_the_top() {
    let ratio = Ratio::new(2, 10);
    let yes: Vec<u8> =
        (0..10).filter(|&byte| network(&[byte]).chance(Lane::Network, ONE, ratio)).collect();
    assert_eq!(yes, [8, 9]);
    assert!(!network(&[9]).chance(Lane::Network, ONE, Ratio::new(0, 10)));
    assert!(network(&[]).chance(Lane::Network, ONE, Ratio::new(10, 10)));
}

#[test]
fn ratios_are_at_most_one() {
    assert_eq!(Ratio::new(1, 1000).to_string(), "1/1000");
    assert_panics("a ratio is at most one", || Ratio::new(2, 1));
    assert_panics("a ratio needs a denominator above zero", || Ratio::new(0, 0));
}

#[test]
fn durations_count_in_units() {
    let ms = Duration::from_millis;
    let draw = |bytes: &[u8], choice, max, unit| {
        let mut source = network(bytes);
        (source.duration(Lane::Network, choice, max, unit), source.tape().len())
    };
    assert_eq!(draw(&[3], ONE, ms(25), ms(10)), (ms(0), 1));
    assert_eq!(draw(&[2], ONE, ms(25), ms(10)), (ms(20), 1));
    assert_eq!(draw(&[255, 255], TWO, ms(65_535), ms(1)), (ms(65_535), 1));
    assert_eq!(draw(&[9], ONE, ms(9), ms(10)), (ms(0), 0));
    let nanosecond = Duration::from_nanos(1);
    let years = Duration::from_nanos(u64::MAX);
    assert_eq!(draw(&[255; 8], EIGHT, years, nanosecond), (years, 1));
    let second = Duration::from_secs(1);
    let end = Duration::from_secs(u64::MAX);
    assert_eq!(draw(&[255; 8], EIGHT, Duration::MAX, second), (end, 1));
    assert_panics("cannot count", || draw(&[], EIGHT, Duration::MAX, nanosecond));
    assert_panics("in units of no time", || draw(&[], EIGHT, second, Duration::ZERO));
}

#[test]
fn weights_share_the_values_in_order() {
    let weights = [2, 0, 3, 1];
    let indexes: Vec<usize> =
        (0..6).map(|byte| network(&[byte]).weighted(Lane::Network, ONE, &weights)).collect();
    assert_eq!(indexes, [0, 0, 2, 2, 2, 3]);
    assert_panics("nothing to choose", || network(&[]).weighted(Lane::App, ONE, &[0, 0]));
    assert_panics("overflow", || network(&[]).weighted(Lane::App, EIGHT, &[u64::MAX, 1]));
}

#[test]
fn a_shuffle_reaches_every_order() {
    let mut orders = std::collections::BTreeSet::new();
    for first in 0..3 {
        for second in 0..2 {
            let mut items = ['a', 'b', 'c'];
            let mut source = network(&[first, second]);
            source.shuffle(Lane::Network, ONE, &mut items);
            assert_eq!(source.tape().len(), 2);
            orders.insert(items);
        }
    }
    assert_eq!(orders.len(), 6);
    network(&[]).shuffle::<u8>(Lane::Network, ONE, &mut []);
}

#[test]
fn windows_are_raw_bytes_padded_with_zeros() {
    let mut source = network(&[1, 2, 3]);
    assert_eq!(source.window(Lane::Network, "first", 2), [1, 2]);
    let mut buffer = [9; 3];
    source.window_into(Lane::Network, "second", &mut buffer);
    assert_eq!(buffer, [3, 0, 0]);
    let drawn: Vec<_> = source.tape().iter().map(|entry| entry.drawn).collect();
    assert_eq!(drawn, [Drawn::Bytes(&[1, 2]), Drawn::Bytes(&[3, 0, 0])]);
}

/// Reads one byte, though it says that it may read four.
#[derive(Debug, PartialEq, Eq)]
struct Frugal(u8);

impl<'a> Arbitrary<'a> for Frugal {
    fn arbitrary(u: &mut Unstructured<'a>) -> arbitrary::Result<Frugal> {
        Ok(Frugal(u.arbitrary()?))
    }

    fn size_hint(_depth: usize) -> (usize, Option<usize>) {
        (1, Some(4))
    }
}

/// Refuses bytes that start with an odd one.
#[derive(Debug, PartialEq, Eq)]
struct Even(u8);

impl<'a> Arbitrary<'a> for Even {
    fn arbitrary(u: &mut Unstructured<'a>) -> arbitrary::Result<Even> {
        let byte: u8 = u.arbitrary()?;
        if byte.is_multiple_of(2) { Ok(Even(byte)) } else { Err(arbitrary::Error::IncorrectFormat) }
    }

    fn size_hint(_depth: usize) -> (usize, Option<usize>) {
        (1, Some(1))
    }
}

/// Refuses everything.
#[derive(Debug)]
struct Never;

impl<'a> Arbitrary<'a> for Never {
    fn arbitrary(_u: &mut Unstructured<'a>) -> arbitrary::Result<Never> {
        Err(arbitrary::Error::IncorrectFormat)
    }
}

#[test]
fn typed_values_consume_their_window_whole() {
    let mut source = network(&[1, 2, 3, 4, 5]);
    assert_eq!(source.arbitrary::<Frugal>(Lane::Network, "frugal"), Frugal(1));
    assert_eq!(source.draw(Lane::Network, ONE, 255), 5);
}

#[test]
fn typed_values_without_a_hint_read_64_bytes() {
    let mut bytes = vec![1; 64];
    bytes.push(77);
    let mut source = network(&bytes);
    source.arbitrary::<Vec<u8>>(Lane::Network, "list");
    assert_eq!(source.draw(Lane::Network, ONE, 255), 77);
    let mut source = network(&bytes);
    source.arbitrary::<[u64; 100]>(Lane::Network, "array");
    assert_eq!(source.draw(Lane::Network, ONE, 255), 77);
}

#[test]
fn typed_values_of_no_bytes_are_no_choice() {
    let mut source = network(&[1]);
    source.arbitrary::<()>(Lane::Network, "unit");
    assert!(source.tape().is_empty());
}

#[test]
fn refused_bytes_count_as_zeros() {
    let mut source = network(&[3, 8]);
    assert_eq!(source.arbitrary::<Even>(Lane::Network, "even"), Even(0));
    assert_eq!(source.arbitrary::<Even>(Lane::Network, "even"), Even(8));
    assert_panics("cannot be made from zeros", || {
        network(&[]).arbitrary::<Never>(Lane::Network, "never");
    });
}

#[test]
fn a_lane_is_a_generator_of_recorded_numbers() {
    let mut source = network(&[1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 9, 9]);
    let mut rng = source.rng(Lane::Network, "rng");
    assert_eq!(rng.next_u32(), 1);
    assert_eq!(rng.next_u64(), 2);
    let mut bytes = [0; 2];
    rng.fill_bytes(&mut bytes);
    assert_eq!(bytes, [9, 9]);
    let widths: Vec<_> = source.tape().iter().map(|entry| entry.drawn).collect();
    assert_eq!(
        widths,
        [
            Drawn::Value { width: Width::Four, max: u64::from(u32::MAX), value: 1 },
            Drawn::Value { width: Width::Eight, max: u64::MAX, value: 2 },
            Drawn::Bytes(&[9, 9]),
        ]
    );
}

#[test]
fn misuse_is_a_panic_that_names_the_choice() {
    assert_panics("`one` reads 1 bytes, which cannot say 0..=256", || {
        network(&[]).draw(Lane::App, ONE, 256)
    });
    assert_panics("`two` has nothing to choose from", || network(&[]).below(Lane::App, TWO, 0));
    assert_panics("`two` has nothing", || *network(&[]).choose::<u8>(Lane::App, TWO, &[]));
    #[expect(clippy::reversed_empty_ranges, reason = "the misuse under test")]
    let empty = 5..=4;
    assert_panics("`two` has an empty range", || network(&[]).range(Lane::App, TWO, empty));
    assert_panics("no span is open", || network(&[]).close());
    assert_panics("no span is open", || {
        let mut source = network(&[]);
        source.open(SpanKind::Event, "event");
        source.close();
        source.close();
    });
}

/// Checks that `misuse` panics with a message that contains `expected`.
#[track_caller]
fn assert_panics<T>(expected: &str, misuse: impl FnOnce() -> T) {
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        misuse();
    }));
    let payload = outcome.expect_err("the misuse was let through");
    let message = payload
        .downcast_ref::<String>()
        .cloned()
        .or_else(|| payload.downcast_ref::<&str>().map(|&text| text.to_owned()))
        .expect("the payload is a message");
    assert!(message.contains(expected), "{message}");
}

#[test]
fn times_are_parts_of_the_longest_and_none_overflows() {
    const TIME: Choice = Choice::one("time");
    let source = |byte: u8| {
        Source::from_lanes({
            let mut lanes = Lanes::default();
            lanes.lane_mut(Lane::Fault).push(byte);
            lanes
        })
    };
    let max = Duration::from_secs(255);
    for byte in [0, 1, 100, 255] {
        let part = source(byte).part(Lane::Fault, TIME, max);
        assert_eq!(part, Duration::from_secs(byte.into()));
        assert!(source(byte).part(Lane::Fault, TIME, Duration::MAX) <= Duration::MAX);
    }
    let doubling = |byte| source(byte).doubling(Lane::Fault, TIME, max);
    assert_eq!([doubling(255), doubling(239), doubling(223)], [max, max / 2, max / 4]);
    assert_eq!(doubling(0), max / 32_768);
}
