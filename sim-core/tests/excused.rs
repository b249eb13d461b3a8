//! A run may be excused: it is no failure, a sweep says how many were, and too many fail it.

#![forbid(unsafe_code)]

use sim_core::failure::Class;
use sim_core::fuzz;
use sim_core::replay::{Case, Expectation, test_case};
use sim_core::run::{Input, run};
use sim_core::settings::{Seeds, Settings, Shrinking};
use sim_core::source::Ratio;
use sim_core::sweep::{Sweep, sweep};
use sim_core::{Sim, Target, always, excuse};
use std::path::PathBuf;
use std::time::Duration;

const WATCHDOG: Duration = Duration::from_secs(60);

/// Excuses a part of its runs from a node, some from its body, and goes on after it.
fn part(sim: &mut Sim) {
    let value = sim.dimension("envelope", 255);
    if value >= 240 {
        excuse("the disk is too small");
    }
    sim.client("client", move |_| async move {
        if value >= 160 {
            excuse("the clock service is late");
            always!(false, "what comes after it is not judged");
            std::future::pending::<()>().await;
        }
    });
}

fn settings() -> Settings {
    let artifacts = Some(PathBuf::from(env!("CARGO_TARGET_TMPDIR")));
    Settings { artifacts, shrink: Shrinking::Off, ..Settings::default() }
}

fn sweep_of(target: &Target, seeds: std::ops::Range<u64>) -> Sweep {
    sweep(target, &Seeds::range(seeds), &settings())
}

#[test]
fn an_excused_run_is_no_failure_and_ends_there() {
    let target = Target::new("excused", |sim| {
        sim.client("client", |_| async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            excuse("the clock service is late");
            tokio::time::sleep(Duration::from_secs(1)).await;
            always!(false, "it is not asked for this");
        });
    });
    let run = run(&target, &Input::Bytes(Vec::new()), WATCHDOG);
    assert_eq!((run.failure.as_ref(), run.class()), (None, Some(Class::Excused)));
    assert_eq!(run.excuse.as_deref(), Some("the clock service is late"));
    assert_eq!(run.elapsed, Duration::from_secs(1));
    let trace = run.history.trace().to_string();
    assert!(trace.ends_with("failure      excused: the clock service is late\n"), "{trace:?}");
}

#[test]
fn a_failure_before_the_excuse_stands() {
    let target = Target::new("failed", |sim| {
        sim.client("client", |_| async {
            always!(false, "it failed before");
            excuse("too late");
        });
    });
    let run = run(&target, &Input::Bytes(Vec::new()), WATCHDOG);
    assert_eq!((run.class(), run.excuse), (Some(Class::Correctness), None));
}

#[test]
fn a_sweep_tells_the_share_and_the_reasons() {
    let target = Target::new("part", part);
    let swept = sweep_of(&target, 0..200);
    assert_eq!((swept.failures, swept.diverged, swept.bugs.len()), (0, 0, 0));
    assert!((40..100).contains(&swept.excused), "{}", swept.excused);
    assert_eq!(swept.excuses.values().sum::<u64>(), swept.excused);
    let lines = swept.excused_lines();
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(lines[0].ends_with(" of 200 runs: the clock service is late"), "{lines:?}");
    let text = format!(" excused {} of 200", swept.excused);
    assert!(swept.summary(&target).contains(&text), "{}", swept.summary(&target));
    assert_eq!((swept.too_excused(&target), swept.exit_code(&target)), (None, 0));
}

#[test]
fn a_share_over_the_limit_fails_the_sweep() {
    let target = Target::new("part", part).excused_max(Ratio::new(1, 10));
    let swept = sweep_of(&target, 0..200);
    let text = format!("{} of 200 runs of part were excused, more than 1/10", swept.excused);
    assert_eq!(swept.too_excused(&target), Some(text));
    assert_eq!(swept.exit_code(&target), Class::Inconclusive.exit_code());
    let all = Target::new("all", |_| excuse("never tested"));
    assert_eq!(sweep_of(&all, 0..1).too_excused(&all), None, "one is looked at for its own sake");
    assert!(sweep_of(&all, 0..2).too_excused(&all).is_some());
    assert_eq!(sweep_of(&all.clone().excused_max(Ratio::new(1, 1)), 0..2).excused, 2);
}

#[test]
fn a_share_at_the_limit_is_not_over_it() {
    let target = Target::new("part", part);
    let of = |runs, excused| Sweep { runs, excused, ..Sweep::default() };
    let thirds = target.clone().excused_max(Ratio::new(1, 3));
    assert_eq!(
        [100, 101].map(|count| of(300, count).too_excused(&thirds).is_some()),
        [false, true]
    );
    // A half, where the target says nothing.
    assert_eq!([5, 6].map(|count| of(10, count).too_excused(&target).is_some()), [false, true]);
}

#[test]
fn the_most_frequent_reason_comes_first() {
    let excuses = [("a", 1), ("b", 3), ("c", 2)].map(|(reason, count)| (reason.to_owned(), count));
    let swept = Sweep { runs: 9, excused: 6, excuses: excuses.into(), ..Sweep::default() };
    let lines = ["3 of 9 runs: b", "2 of 9 runs: c", "1 of 9 runs: a"];
    assert_eq!(swept.excused_lines(), lines.map(|line| format!("sim: excused: {line}")));
}

#[test]
#[should_panic(expected = "20 of 20 runs of all were excused, more than 1/2")]
fn a_test_whose_runs_are_excused_fails() {
    sim_core::sweep::test(&Target::new("all", |_| excuse("never tested")), 0..20);
}

/// What an excused run reaches is not built upon.
#[test]
fn an_excused_input_is_not_kept_by_a_fuzzer() {
    let one = |name, body: fn(&mut Sim)| fuzz::one(&Target::new(name, body), fuzz::Case(&[]));
    assert!(one("passes", |_| {}));
    assert!(!one("excused", |_| excuse("never tested")));
}

/// A pinned file that is excused tests nothing, unless that is what it is pinned for.
#[test]
fn a_pinned_file_that_is_excused_says_so() {
    let target = Target::new("all", |_| excuse("never tested"));
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("excused-input");
    std::fs::write(&file, b"").expect("the folder for temporary files is there");
    let case = |class: Option<&str>| {
        let expectation = Expectation { class: class.map(str::to_owned), ..Expectation::default() };
        let (name, target) = ("excused-input".to_owned(), "all".to_owned());
        Case { name, file: file.clone(), target, expectation }
    };
    let said = test_case(&target, &case(None), &settings());
    assert_eq!(said, Err("the run was excused: never tested".to_owned()));
    assert_eq!(test_case(&target, &case(Some("excused")), &settings()), Ok(()));
}
