//! Tests of the seed tree. The numbers were computed with Python's hashlib and a PCG written
//! from its paper, not with this code.

use rand_core::Rng;

use super::Seed;

fn hex(seed: Seed) -> String {
    seed.bytes().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn hashes_are_pinned_for_ever() {
    let root = Seed::root(7);
    assert_eq!(
        hex(Seed::root(0)),
        "542762a60dad7155bed2d9d931bee6cb359f5c2c9b8661f2d921be0c0e9e043c"
    );
    assert_eq!(hex(root), "e567ca0238ad9c4552498dcaa2c91d927bd5f2e49e68c84f4c3879fbe2e63d15");
    assert_eq!(
        hex(root.child("lane")),
        "e4df79c55c9a731b0cd6982a5182358d5ae7c64cd75eeb8efb2872527f8ece02"
    );
    assert_eq!(
        hex(root.child_n("node", 3)),
        "af6955fa291a39bfc1ba75c2c0e7504e9900a4e07f355e195d5a383cea6cedde"
    );
}

#[test]
fn streams_are_pinned_for_ever() {
    let mut stream = Seed::root(7).child("lane").stream();
    let words = [stream.next_u64(), stream.next_u64(), stream.next_u64()];
    assert_eq!(words, [0x90e7_9392_ddb3_14b0, 0x0dfd_d3f9_e518_4c23, 0x9eec_a2ea_af1a_409d]);
}

#[test]
fn streams_fill_bytes_from_their_words() {
    let mut bytes = [0; 10];
    Seed::root(7).child("lane").stream().fill_bytes(&mut bytes);
    assert_eq!(bytes, [0xb0, 0x14, 0xb3, 0xdd, 0x92, 0x93, 0xe7, 0x90, 0x23, 0x4c]);
}

#[test]
fn paths_that_read_alike_are_apart() {
    let root = Seed::root(1);
    let seeds = [
        root,
        root.child(""),
        root.child("ab"),
        root.child("a").child("b"),
        root.child("b").child("a"),
        root.child_n("ab", 0),
        root.child_n("ab", 1),
        root.child("ab\0\0\0\0\0\0\0\0"),
    ];
    for (place, seed) in seeds.iter().enumerate() {
        assert!(!seeds[..place].contains(seed), "{place}");
    }
}

#[test]
fn clones_of_a_stream_go_on_from_the_same_place() {
    let mut stream = Seed::from_bytes([9; 32]).stream();
    stream.next_u64();
    let mut clone = stream.clone();
    assert_eq!(clone.next_u64(), stream.next_u64());
}

#[test]
fn debug_shows_the_seed_and_hides_the_stream() {
    let seed = Seed::from_bytes([0xab; 32]);
    assert_eq!(format!("{seed:?}"), format!("Seed({})", "ab".repeat(32)));
    assert_eq!(format!("{:?}", seed.stream()), "Stream { .. }");
}
