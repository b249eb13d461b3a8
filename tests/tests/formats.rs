//! Every format that inputs ever had decodes for ever.
//!
//! `tests/formats/N` holds inputs of version N as raw bytes, each with a `.txt` beside it: the bytes
//! of its lanes, and what a fixed list of draws makes of them. What is there stays as it is; a new
//! version of the format gets a folder of its own, and this one decodes both.

use sim_core::source::{Choice, FORMAT, Lane, Lanes, Source};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// The inputs of version 1. A name may be added, none may go.
const VERSION_1: [&str; 16] = [
    "bytes-that-nobody-draws",
    "empty",
    "every-lane",
    "half-a-word",
    "last-lane-alone",
    "length-above-the-rest",
    "length-cut-off",
    "length-without-end",
    "long-length",
    "longest-length",
    "non-canonical-length",
    "one-lane",
    "second-length-above-the-rest",
    "words-above-their-bounds",
    "zeros",
    "zeros-at-the-end-of-lanes",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("formats")
}

/// The lanes of an input and the draws that they answer, as text.
fn text(input: &[u8]) -> String {
    let lanes = Lanes::decode(input);
    let mut text = String::new();
    for lane in Lane::ALL {
        let _ = write!(text, "{lane} 0x");
        lanes.lane(lane).iter().for_each(|byte| write!(text, "{byte:02x}").expect("a string"));
        text.push('\n');
    }
    let mut source = Source::from_bytes(input);
    for lane in Lane::ALL {
        source.draw(lane, Choice::one("flag"), 1);
        source.draw(lane, Choice::one("byte"), 255);
        source.draw(lane, Choice::two("hundred"), 99);
        source.window(lane, "window", 3);
        source.draw(lane, Choice::four("million"), 999_999);
        source.draw(lane, Choice::eight("word"), u64::MAX);
    }
    format!("{text}\n{}", source.tape())
}

/// The names of the inputs of a version, as the file system has them.
fn names(version: u32) -> BTreeSet<String> {
    let folder = root().join(version.to_string());
    let entries = folder.read_dir().unwrap_or_else(|error| {
        panic!(
            "{}: {error}; inputs of every version that ever was are kept and decoded, so the \
             folder of a version stays, and a new version needs one",
            folder.display()
        )
    });
    let names = entries.map(|entry| entry.expect("the folder is readable").file_name());
    let names = names.map(|name| name.into_string().expect("names are text"));
    names.filter(|name| !name.ends_with(".txt")).collect()
}

#[test]
fn every_version_decodes_as_it_always_did() {
    for version in 1..=FORMAT {
        for name in names(version) {
            let file = root().join(version.to_string()).join(&name);
            let input = std::fs::read(&file).expect("the input is readable");
            let expected = std::fs::read_to_string(file.with_extension("txt"));
            let expected = expected.unwrap_or_else(|error| panic!("{name}.txt: {error}"));
            let found = text(&input);
            assert_eq!(found, expected, "version {version}, {name} decodes to\n{found}");
        }
    }
}

#[test]
fn the_inputs_of_version_1_stay() {
    let names = names(1);
    for name in VERSION_1 {
        assert!(names.contains(name), "tests/formats/1/{name} is gone; it is decoded for ever");
    }
}

#[test]
fn there_is_a_folder_for_every_version_and_for_no_other() {
    let entries = root().read_dir().expect("the folder is there");
    let found: BTreeSet<String> = entries
        .map(|entry| entry.expect("the folder is readable").file_name())
        .map(|name| name.into_string().expect("names are text"))
        .collect();
    let versions = (1..=FORMAT).map(|version| version.to_string()).collect();
    assert_eq!(found, versions, "tests/formats has one folder a version, and each stays");
}

#[test]
fn decoding_and_encoding_again_keeps_every_lane() {
    for name in names(1) {
        let input = std::fs::read(root().join("1").join(&name)).expect("the input is readable");
        let lanes = Lanes::decode(&input);
        assert_eq!(Lanes::decode(&lanes.encode()), lanes, "{name}");
        let canonical = lanes.canonical();
        assert_eq!(Source::from_bytes(&input).draw(Lane::App, Choice::one("byte"), 255), {
            let mut source = Source::from_bytes(&canonical.encode());
            source.draw(Lane::App, Choice::one("byte"), 255)
        });
    }
}
