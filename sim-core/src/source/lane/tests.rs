//! Tests of the lanes and of the input format.

use rand_core::Rng;

use super::{Lane, Lanes};
use crate::seed::{Seed, Stream};

fn random_bytes(stream: &mut Stream, length_max: u64) -> Vec<u8> {
    let mut bytes = vec![0; (stream.next_u64() % (length_max + 1)) as usize];
    stream.fill_bytes(&mut bytes);
    // Small bytes make lengths that do not take everything at once, and zeros to be trimmed.
    if !stream.next_u64().is_multiple_of(4) {
        bytes.iter_mut().for_each(|byte| *byte %= 6);
    }
    bytes
}

fn lanes(given: &[(Lane, &[u8])]) -> Lanes {
    let mut lanes = Lanes::default();
    for (lane, bytes) in given {
        lanes.lane_mut(*lane).extend_from_slice(bytes);
    }
    lanes
}

#[track_caller]
fn check_decode(input: &[u8], expected: &[(Lane, &[u8])]) {
    assert_eq!(Lanes::decode(input), lanes(expected));
}

#[test]
fn format_one_decodes_for_ever() {
    let fixture = [3, 1, 2, 3, 0, 1, 9, 2, 7, 0, 0, 1, 5, 0xaa, 0xbb, 0];
    let expected = lanes(&[
        (Lane::Swarm, &[1, 2, 3]),
        (Lane::Lifecycle, &[9]),
        (Lane::Fault, &[7, 0]),
        (Lane::Schedule, &[5]),
        (Lane::App, &[0xaa, 0xbb, 0]),
    ]);
    assert_eq!(Lanes::decode(&fixture), expected);
    assert_eq!(expected.encode(), fixture);
}

#[test]
fn lanes_keep_their_order_and_names() {
    let names: Vec<_> = Lane::ALL.iter().map(|lane| lane.to_string()).collect();
    assert_eq!(names.join(" "), "swarm workload lifecycle fault network schedule app");
    for (place, lane) in Lane::ALL.iter().enumerate() {
        assert_eq!(lane.index(), place);
    }
}

#[test]
fn lengths_are_clipped_to_what_is_left() {
    check_decode(&[], &[]);
    check_decode(&[0], &[]);
    check_decode(&[5, 1, 2], &[(Lane::Swarm, &[1, 2])]);
    check_decode(&[1, 8, 200], &[(Lane::Swarm, &[8])]);
    check_decode(&[0x80], &[]);
}

#[test]
fn long_varints_are_read_and_clipped() {
    // Two bytes for 1.
    check_decode(&[0x81, 0, 9, 1, 8], &[(Lane::Swarm, &[9]), (Lane::Workload, &[8])]);
    // Ten bytes of all ones are more than a u64; nine are a very large length.
    let mut input = vec![0xff; 9];
    input.extend([0x7f, 4, 5]);
    check_decode(&input, &[(Lane::Swarm, &[4, 5])]);
    // The eleventh byte is never part of a varint.
    let mut input = vec![0x80; 10];
    input.extend([1, 7]);
    check_decode(&input, &[(Lane::Workload, &[7])]);
    // A bit that a u64 has no place for is not lost.
    let mut input = vec![0x80; 9];
    input.extend([0x02, 7]);
    check_decode(&input, &[(Lane::Swarm, &[7])]);
}

#[test]
fn two_byte_lengths_come_back() {
    let long = vec![3; 300];
    let lanes = lanes(&[(Lane::Workload, &long), (Lane::App, &[1])]);
    assert_eq!(lanes.encode()[..3], [0, 0xac, 2]);
    assert_eq!(Lanes::decode(&lanes.encode()), lanes);
}

#[test]
fn empty_lanes_are_the_empty_input() {
    assert!(Lanes::default().is_empty());
    assert_eq!(Lanes::default().encode(), [0_u8; 0]);
    assert_eq!(lanes(&[(Lane::Swarm, &[0, 0]), (Lane::App, &[0])]).canonical().encode(), [0_u8; 0]);
}

#[test]
fn encoding_stops_after_the_last_lane_with_bytes() {
    for lane in Lane::ALL {
        let lanes = lanes(&[(lane, &[4])]);
        let length_bytes = lane.index() + usize::from(lane != Lane::App);
        assert_eq!(lanes.encode().len(), length_bytes + 1, "{lane}");
        assert_eq!(Lanes::decode(&lanes.encode()), lanes, "{lane}");
    }
}

#[test]
fn any_bytes_decode_and_encoding_is_stable() {
    let mut stream = Seed::root(1).child("lanes").stream();
    for _ in 0..20_000 {
        let input = random_bytes(&mut stream, 40);
        let lanes = Lanes::decode(&input);
        let encoded = lanes.encode();
        assert_eq!(Lanes::decode(&encoded), lanes, "{input:?}");
        assert_eq!(Lanes::decode(&encoded).encode(), encoded, "{input:?}");
        let canonical = lanes.clone().canonical();
        assert_eq!(canonical.clone().canonical(), canonical, "{input:?}");
        assert!(canonical.encode().len() <= encoded.len(), "{input:?}");
        for lane in Lane::ALL {
            let (short, long) = (canonical.lane(lane), lanes.lane(lane));
            assert!(long.starts_with(short), "{input:?}");
            assert!(long[short.len()..].iter().all(|&byte| byte == 0), "{input:?}");
            assert_ne!(short.last(), Some(&0), "{input:?}");
        }
    }
}
