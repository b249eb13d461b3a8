//! Tests of what is expected of pinned files.

use super::{Case, Expectation, cases, is_due, quote};
use crate::settings::Settings;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A root of its own, with these files of one target in `regressions`.
fn root(test: &str, files: &[(&str, &str)]) -> PathBuf {
    let root = std::env::temp_dir().join(format!("sim-replay-{test}-{}", std::process::id()));
    let folder = root.join("regressions/known");
    std::fs::create_dir_all(&folder).expect("the folder for temporary files is there");
    for (name, text) in files {
        std::fs::write(folder.join(name), text).expect("the folder is there");
    }
    root
}

#[track_caller]
fn check_error(root: &Path, targets: &[&str], expected: &str) {
    let error = cases(root, "regressions", targets).expect_err("it is wrong").to_string();
    std::fs::remove_dir_all(root).expect("it was made");
    assert!(error.ends_with(expected), "{error}");
    assert!(!error.contains('\n'));
}

#[test]
fn what_is_expected_reads_back_as_it_is_written() {
    let expectation = Expectation {
        class: Some("panic".to_owned()),
        sentence: Some("It says \"no\", a \\ and\n a \u{7f}, a tab\t and ü.".to_owned()),
        marks: vec!["a reply is lost".to_owned(), "operation Send".to_owned()],
        format: Some(1),
    };
    for one in [expectation, Expectation { format: Some(1), ..Expectation::default() }] {
        assert_eq!(toml::from_str(&one.to_toml()), Ok(one));
    }
    assert_eq!(quote("a\"b\\c\u{1}"), r#""a\"b\\c\u0001""#);
}

#[test]
fn a_newer_format_is_not_read_as_an_older_one() {
    let root = root("newer", &[("input", ""), ("input.toml", "format = 2\n")]);
    let expected = "regressions/known/input.toml: its input has format 2; this version reads up to \
                    format 1";
    check_error(&root, &["known"], expected);
}

#[test]
fn the_first_format_is_1() {
    let root = root("zero", &[("input", ""), ("input.toml", "format = 0\n")]);
    check_error(&root, &["known"], "input.toml: there never was a format 0; the first is 1");
}

#[test]
fn what_is_expected_of_no_input_is_an_error() {
    let root = root("alone", &[("gone.toml", "class = \"panic\"\n")]);
    check_error(&root, &["known"], "gone.toml: there is no input beside it");
}

#[test]
fn a_name_that_is_not_utf_8_is_an_error_in_one_line() {
    let root = root("name", &[("fine", "")]);
    let name = OsStr::from_bytes(b"lost-\xff");
    std::fs::write(root.join("regressions/known").join(name), []).expect("the folder is there");
    let expected = r#"regressions/known/lost-\xFF": the name of a pinned file is utf-8; rename it"#;
    check_error(&root, &["known"], expected);
}

#[test]
fn a_folder_has_the_name_of_a_target() {
    let root = root("folder", &[("input", "")]);
    let expected = "regressions/known has the name of no target; the targets are a, b";
    check_error(&root, &["a", "b"], expected);
}

#[test]
fn the_corpus_has_a_budget_and_what_once_failed_has_none() {
    let case = |name: &str| Case {
        name: name.to_owned(),
        file: PathBuf::new(),
        target: "known".to_owned(),
        expectation: Expectation::default(),
    };
    let (corpus, regression) = (case("corpus/known/a"), case("regressions/known/a"));
    let second = Settings { budget: Some(Duration::from_secs(1)), ..Settings::default() };
    assert!(is_due(&corpus, Duration::from_millis(999), &second));
    assert!(!is_due(&corpus, Duration::from_secs(1), &second));
    assert!(is_due(&corpus, Duration::from_secs(59), &Settings::default()));
    assert!(!is_due(&corpus, Duration::from_secs(60), &Settings::default()));
    assert!(is_due(&regression, Duration::MAX, &second));
}

#[test]
fn pinned_files_that_cannot_be_looked_at_are_not_passed_over() {
    let root = std::env::temp_dir().join(format!("unlooked-{}", std::process::id()));
    std::fs::create_dir_all(&root).unwrap();
    let target = crate::run::Target::new("kv", |_| {});
    let test = || super::test_pinned(&target, &root, &Settings::default());
    test();
    std::fs::write(root.join("regressions"), "a file").unwrap();
    let refused = std::panic::catch_unwind(std::panic::AssertUnwindSafe(test));
    std::fs::remove_dir_all(&root).unwrap();
    let text = refused.expect_err("it is refused").downcast::<String>().unwrap();
    assert!(text.starts_with("cannot read ") && text.contains("regressions/kv"), "{text}");
}
