//! A file that is included by two paths, as a test and a fuzz target do it, has one name for a bug.

use sim_core::run::{Input, run};
use sim_core::{Sim, Target};
use std::time::Duration;

mod fails;
#[expect(clippy::duplicate_mod, reason = "that is what is tested")]
#[path = "../places/fails.rs"]
mod fails_by_another_path;

#[test]
fn a_bug_has_one_origin_by_whatever_path_its_file_is_included() {
    let failures = |body: fn(&mut Sim)| {
        let run = run(&Target::new("db", body), &Input::Bytes(Vec::new()), Duration::from_secs(60));
        run.failure.expect("it fails")
    };
    let by_paths = [
        [fails::fails, fails_by_another_path::fails],
        [fails::panics, fails_by_another_path::panics],
        [fails::breaks_a_rule, fails_by_another_path::breaks_a_rule],
    ];
    for [one, other] in by_paths.map(|bodies| bodies.map(failures)) {
        assert_eq!(one.origin, other.origin);
        assert_eq!(one.fingerprint("db"), other.fingerprint("db"));
        assert!(one.origin.starts_with("sim-core/tests/places/fails.rs:"), "{one}");
        let is_clean = |line: &String| !line.contains("..");
        assert!(other.details.iter().all(is_clean), "{:?}", other.details);
    }
}
