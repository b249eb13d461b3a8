//! Tests of the names of pinned files.

use super::Name;

#[test]
fn names_say_what_an_input_does() {
    for text in ["reply-lost", "7", "a_b-c9", &"a".repeat(100)] {
        assert_eq!(Name::parse(text).map(|name| name.to_string()).as_deref(), Ok(text));
    }
}

#[test]
fn names_that_are_no_file_of_their_own_are_refused() {
    let bad = ["", "NAME", ".hidden", "-rf", "_x", "../x", "a/b", "x.toml", "a b", "ä", "a\n"];
    for text in bad {
        assert!(Name::parse(text).is_err(), "{text:?}");
    }
    assert_eq!(Name::parse(&"a".repeat(101)), Err("it is longer than 100 bytes"));
}
