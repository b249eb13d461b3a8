//! Tests of the file of a recording.

use super::{RecordedChoice, RecordedDrawn, RecordedSpan, Recording, RecordingError};

fn recording() -> Recording {
    let value = RecordedDrawn::Value { max: u64::MAX, value: 300 };
    let choice = |label: &str, drawn| RecordedChoice {
        lane: "workload".to_owned(),
        label: label.to_owned(),
        drawn,
    };
    Recording {
        class: Some("deadlock".to_owned()),
        marks: vec!["a reply is lost".to_owned()],
        choices: vec![choice("wait", value), choice("op", RecordedDrawn::Bytes(vec![0, 7, 0]))],
        spans: vec![RecordedSpan {
            kind: "operation".to_owned(),
            label: "operation".to_owned(),
            start: 0,
            end: 2,
        }],
    }
}

#[test]
fn a_recording_reads_back_as_it_was_written() {
    for one in [Recording::default(), recording()] {
        assert_eq!(Recording::from_bytes(&one.to_bytes()), Ok(one));
    }
}

#[test]
fn what_is_not_a_whole_recording_is_refused() {
    let bytes = recording().to_bytes();
    for len in 0..bytes.len() {
        let error = Recording::from_bytes(&bytes[..len]).expect_err("it breaks off");
        let expected = if len < 8 { RecordingError::Foreign } else { RecordingError::Damaged };
        assert_eq!(error, expected, "{len} bytes");
    }
    let longer = [bytes.as_slice(), &[0, 0]].concat();
    assert_eq!(Recording::from_bytes(&longer), Err(RecordingError::Trailing { count: 2 }));
    let mut newer = bytes.clone();
    newer[8] = 9;
    let error = Recording::from_bytes(&newer).expect_err("nobody knows that version");
    assert_eq!(error.to_string(), "a tape of version 9; this build reads version 1");
    assert_eq!(Recording::from_bytes(b"SIM_TAPE\x01\0\0\0"), Err(RecordingError::Foreign));
}

#[test]
fn a_length_beyond_the_limit_is_no_reason_to_take_memory() {
    let mut bytes = Recording::default().to_bytes();
    bytes.truncate(8 + 4);
    // No class, and then as many marks as eight bytes can say.
    bytes.extend([0, 253, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]);
    assert_eq!(Recording::from_bytes(&bytes), Err(RecordingError::Damaged));
}

/// The layout of version 1; where this fails, the layout is another and so must be the version.
#[test]
fn version_1_has_its_layout() {
    let expected = b"sim-tape\x01\0\0\0\
        \x01\x08deadlock\
        \x01\x0fa reply is lost\
        \x02\x08workload\x04wait\0\xfd\xff\xff\xff\xff\xff\xff\xff\xff\xfb\x2c\x01\
        \x08workload\x02op\x01\x03\0\x07\0\
        \x01\x09operation\x09operation\0\x02";
    assert_eq!(
        recording().to_bytes().escape_ascii().to_string(),
        expected.escape_ascii().to_string()
    );
}
