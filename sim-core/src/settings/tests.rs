//! Tests of the `SIM_*` variables.

use core::time::Duration;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use super::{RESERVED, Settings, SettingsError, TraceForm, VARIABLES, check_names};

fn parse(set: &[(&str, &str)]) -> Result<Settings, SettingsError> {
    Settings::parse(|variable| {
        let &(_, value) = set.iter().find(|&&(name, _)| name == variable)?;
        Some(value.into())
    })
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Checks the error of one variable, which is one line.
#[track_caller]
fn check_error(variable: &str, value: &str, expected: &str) {
    let error = parse(&[(variable, value)]).expect_err("the value was taken").to_string();
    assert_eq!(error, expected);
    assert!(!error.contains('\n'));
}

#[track_caller]
fn check_seeds(text: &str, expected: &[u64]) {
    let seeds = parse(&[("SIM_SEEDS", text)]).expect(text).seeds.expect("it is set");
    assert_eq!(seeds.iter().collect::<Vec<_>>(), expected);
    assert_eq!(seeds.len(), expected.len() as u64);
    assert_eq!(seeds.to_string(), text);
    assert!(!seeds.is_empty());
}

#[track_caller]
fn check_bad_seeds(text: &str, reason: &str) {
    let expected = format!(
        "cannot read SIM_SEEDS={text:?}: {reason}; expected a number (7), a range (0..1000 or \
         0..=9), a commit hash (7 to 64 hex digits), or a comma list of those"
    );
    check_error("SIM_SEEDS", text, &expected);
}

#[test]
fn no_variable_is_the_default() {
    let settings = parse(&[]).expect("nothing to read");
    assert_eq!(settings, Settings::default());
    assert_eq!(settings.watchdog, Duration::from_secs(60));
}

#[test]
fn every_variable_is_read() {
    let input = folder().join("Cargo.toml");
    let settings = parse(&[
        ("SIM_SEEDS", "3"),
        ("SIM_INPUT", input.to_str().expect("the path is text")),
        ("SIM_PIN", "reply-lost"),
        ("SIM_TRACE", "text"),
        ("SIM_LOG", "warn,db=debug"),
        ("SIM_ARTIFACTS", folder().to_str().expect("the path is text")),
        ("SIM_WATCHDOG", "500ms"),
        ("SIM_BUDGET", "5m"),
    ])
    .expect("all are right");
    assert_eq!(settings.seeds.map(|seeds| seeds.len()), Some(1));
    assert_eq!(settings.input, Some(input));
    assert_eq!(settings.pin.map(|name| name.to_string()).as_deref(), Some("reply-lost"));
    assert_eq!(settings.trace, Some(TraceForm::Text));
    assert_eq!(settings.log.to_string(), "db=debug,warn");
    assert_eq!(settings.artifacts, Some(folder()));
    assert_eq!(settings.watchdog, Duration::from_millis(500));
    assert_eq!(settings.budget, Some(Duration::from_secs(300)));
}

#[test]
fn seeds_are_numbers_ranges_and_lists() {
    check_seeds("7", &[7]);
    check_seeds("18446744073709551615", &[u64::MAX]);
    check_seeds("3..6", &[3, 4, 5]);
    check_seeds("3..=6", &[3, 4, 5, 6]);
    check_seeds("18446744073709551614..=18446744073709551615", &[u64::MAX - 1, u64::MAX]);
    check_seeds("9, 1..3 ,9", &[9, 1, 2, 9]);
}

#[test]
fn seeds_are_commit_hashes() {
    check_seeds("0123456789abcdef0123456789abcdef01234567", &[0x0123_4567_89ab_cdef]);
    check_seeds("0c1d56c", &[0x0c1d56c]);
    check_seeds("DEADBEEF", &[0xdead_beef]);
    check_seeds(&"1".repeat(40), &[0x1111_1111_1111_1111]);
    check_seeds(&"2".repeat(64), &[0x2222_2222_2222_2222]);
    check_seeds(&"f".repeat(64), &[u64::MAX]);
    // A short hash without a letter cannot be told from a number.
    check_seeds("1234567", &[1_234_567]);
    check_seeds("0c1d56c,1", &[0x0c1d56c, 1]);
}

#[test]
fn many_seeds_are_counted_without_being_written_out() {
    let seeds = parse(&[("SIM_SEEDS", "0..18446744073709551615")]).expect("it is a range");
    let seeds = seeds.seeds.expect("it is set");
    assert_eq!(seeds.len(), u64::MAX);
    assert_eq!(seeds.iter().nth(1_000), Some(1_000));
}

#[test]
fn bad_seeds_are_named() {
    check_bad_seeds("", "\"\" is no seed");
    check_bad_seeds("1,,2", "\"\" is no seed");
    check_bad_seeds("seven", "\"seven\" is no seed");
    check_bad_seeds("-1", "\"-1\" is no seed");
    check_bad_seeds("+1", "\"+1\" is no seed");
    check_bad_seeds("1\n2", "\"1\\n2\" is no seed");
    check_bad_seeds("abcdef", "\"abcdef\" is no seed");
    check_bad_seeds(&"f".repeat(65), &format!("\"{}\" is no seed", "f".repeat(65)));
    check_bad_seeds("18446744073709551616", "\"18446744073709551616\" is no seed");
    check_bad_seeds("1..", "\"1..\" is not a range");
    check_bad_seeds("..", "\"..\" is not a range");
    check_bad_seeds("1..x", "\"1..x\" is not a range");
    check_bad_seeds("1...3", "\"1...3\" is not a range");
    check_bad_seeds("5..5", "the range \"5..5\" is empty");
    check_bad_seeds("0..0", "the range \"0..0\" is empty");
    check_bad_seeds("5..=4", "the range \"5..=4\" is empty");
    check_bad_seeds("0..=18446744073709551615", "more than 2^64 - 1 seeds");
    check_bad_seeds("0..18446744073709551615,1", "more than 2^64 - 1 seeds");
}

#[test]
fn times_have_units() {
    let watchdog = |text| parse(&[("SIM_WATCHDOG", text)]).expect(text).watchdog;
    assert_eq!(watchdog("30"), Duration::from_secs(30));
    assert_eq!(watchdog("30s"), Duration::from_secs(30));
    assert_eq!(watchdog("500ms"), Duration::from_millis(500));
    assert_eq!(watchdog("5m"), Duration::from_secs(300));
}

#[test]
fn bad_times_are_named() {
    let bad = [
        ("", "no digits at the start"),
        ("s", "no digits at the start"),
        ("-1", "no digits at the start"),
        ("0", "zero"),
        ("0ms", "zero"),
        ("1.5s", "no such unit"),
        ("5 m", "no such unit"),
        ("1h", "no such unit"),
        ("18446744073709551616", "too long"),
        ("18446744073709551615m", "too long"),
    ];
    for (text, reason) in bad {
        for variable in ["SIM_WATCHDOG", "SIM_BUDGET"] {
            let expected = format!(
                "cannot read {variable}={text:?}: {reason}; expected a time above zero as \
                 seconds (30) or with a unit (500ms, 30s, 5m)"
            );
            check_error(variable, text, &expected);
        }
    }
}

#[test]
fn traces_have_three_forms() {
    let trace = |text| parse(&[("SIM_TRACE", text)]).expect(text).trace;
    assert_eq!(trace("text"), Some(TraceForm::Text));
    assert_eq!(trace("json"), Some(TraceForm::Json));
    assert_eq!(trace("html"), Some(TraceForm::Html));
    check_error(
        "SIM_TRACE",
        "1",
        "cannot read SIM_TRACE=\"1\": no such form; expected text, json or html",
    );
}

#[test]
fn an_input_is_a_file_that_opens() {
    check_error(
        "SIM_INPUT",
        "/no/such/file",
        "cannot use SIM_INPUT=\"/no/such/file\": No such file or directory (os error 2); \
         expected the path of a file of input bytes",
    );
    check_error(
        "SIM_INPUT",
        "",
        "cannot read SIM_INPUT=\"\": empty; expected the path of a file of input bytes",
    );
    check_error(
        "SIM_INPUT",
        "/",
        "cannot use SIM_INPUT=\"/\": is a directory; expected the path of a file of input bytes",
    );
    check_error(
        "SIM_INPUT",
        "/dev/null",
        "cannot read SIM_INPUT=\"/dev/null\": not a regular file; expected the path of a file of \
         input bytes",
    );
}

#[test]
fn artifacts_go_to_a_folder_that_need_not_exist() {
    let text = "/no/such/folder";
    let settings = parse(&[("SIM_ARTIFACTS", text)]).expect("it can be made");
    assert_eq!(settings.artifacts, Some(text.into()));
    check_error(
        "SIM_ARTIFACTS",
        "/dev/null",
        "cannot use SIM_ARTIFACTS=\"/dev/null\": not a directory; expected the path of a folder",
    );
    check_error(
        "SIM_ARTIFACTS",
        "",
        "cannot read SIM_ARTIFACTS=\"\": empty; expected the path of a folder",
    );
}

#[test]
fn values_that_are_not_utf8_are_errors() {
    for variable in VARIABLES {
        let error = Settings::parse(|name| {
            (name == variable).then(|| OsString::from_vec(vec![b'7', 0xff]))
        });
        let error = error.expect_err("the value was taken").to_string();
        let start = format!("cannot read {variable}=\"7\\xFF\": not utf-8; expected ");
        assert!(error.starts_with(&start), "{error}");
    }
}

#[test]
fn a_target_without_a_file_or_a_name_is_an_error() {
    let check = |input: Option<&str>, target: Option<&str>| {
        let settings = Settings { input: input.map(PathBuf::from), ..Settings::default() };
        settings.check_target(target.map(OsString::from)).map_err(|error| error.to_string())
    };
    assert_eq!(check(None, None), Ok(()));
    assert_eq!(check(Some("file"), Some("db")), Ok(()));
    let reason = "cannot use SIM_TARGET=db: it names the target of SIM_INPUT, which is not set";
    assert_eq!(check(None, Some("db")), Err(reason.to_owned()));
    let reason = "cannot use SIM_TARGET=: it is empty";
    assert_eq!(check(Some("file"), Some("")), Err(reason.to_owned()));
}

#[test]
fn unknown_names_are_errors() {
    let check = |names: &[&str]| check_names(names.iter().map(OsString::from));
    assert!(check(&["PATH", "SIMPLE", "MY_SIM_SEED"]).is_ok());
    assert!(check(&VARIABLES).is_ok());
    assert!(check(&RESERVED).is_ok());
    let error = check(&["SIM_SEEDS", "SIM_TRACES", "SIM_SEED"]).expect_err("two are wrong");
    assert_eq!(
        error.to_string(),
        "unknown variable SIM_SEED; expected one of SIM_SEEDS, SIM_INPUT, SIM_PIN, SIM_TRACE, \
         SIM_LOG, SIM_ARTIFACTS, SIM_WATCHDOG, SIM_BUDGET, SIM_SHRINK, SIM_CHILD, \
         SIM_TARGET"
    );
    assert!(check(&["SIM_"]).is_err());
}

#[test]
fn unknown_names_that_are_not_utf8_are_errors() {
    let name = OsString::from_vec(b"SIM_\xff\n".to_vec());
    let error = check_names([name].into_iter()).expect_err("it is unknown").to_string();
    assert!(error.starts_with("unknown variable SIM_\u{fffd}\\n; expected"), "{error}");
}

#[test]
fn lookups_are_the_known_variables() {
    let seen = core::cell::RefCell::new(Vec::new());
    let lookup = |name: &str| {
        seen.borrow_mut().push(name.to_owned());
        None
    };
    Settings::parse(lookup).expect("nothing is set");
    assert_eq!(seen.into_inner(), VARIABLES);
}

/// Not a test by itself: it is what the test below starts as a process of its own.
#[test]
fn child_prints_its_settings() {
    match Settings::from_env() {
        Ok(settings) => println!("settings: {:?}", settings.seeds.map(|seeds| seeds.to_string())),
        Err(error) => println!("error: {error}"),
    }
}

#[test]
fn the_environment_of_a_process_is_read() {
    let child = |variable: &str, value: &str| {
        let program = std::env::current_exe().expect("a test runs from a file");
        let output = std::process::Command::new(program)
            .args(["--exact", "settings::tests::child_prints_its_settings", "--nocapture"])
            .env_clear()
            .env(variable, value)
            .output()
            .expect("the test starts again");
        String::from_utf8(output.stdout).expect("the output is text")
    };
    let output = child("SIM_SEEDS", "7,9");
    assert!(output.contains("settings: Some(\"7,9\")"), "{output}");
    let output = child("SIM_SEED", "7");
    assert!(output.contains("error: unknown variable SIM_SEED; expected"), "{output}");
}

#[test]
fn a_pin_needs_a_name_and_a_file_that_stays_as_it_is() {
    check_error(
        "SIM_PIN",
        "NAME",
        "cannot read SIM_PIN=\"NAME\": it does not begin with a lowercase letter or a digit; \
         expected a name of lowercase letters, digits, `-` and `_`, such as reply-lost",
    );
    check_error(
        "SIM_PIN",
        "reply-lost",
        "cannot use SIM_PIN=reply-lost: it pins the file of SIM_INPUT, which is not set",
    );
    let input = folder().join("Cargo.toml");
    let input = input.to_str().expect("the path is text");
    let set = |shrink| [("SIM_PIN", "x"), ("SIM_INPUT", input), ("SIM_SHRINK", shrink)];
    assert!(parse(&set("off")).is_ok());
    assert_eq!(
        parse(&set("1m")).expect_err("the pin would not be the file").to_string(),
        "cannot use SIM_PIN=x: it pins the file of SIM_INPUT as it is; shrink it first, without \
         SIM_PIN"
    );
}
