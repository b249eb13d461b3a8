//! What a sweep counts and keeps of its runs, and which failures it shrinks.

#![forbid(unsafe_code)]

use sim_core::control::Units;
use sim_core::failure::Class;
use sim_core::replay::{self, Replayed, replay};
use sim_core::run::{Input, Run, run};
use sim_core::settings::{Seeds, Settings, Shrinking, TraceForm};
use sim_core::sweep::{Sweep, sweep};
use sim_core::{Sim, Target, always, child, fail};
use std::path::{Path, PathBuf};
use std::time::Duration;

const WATCHDOG: Duration = Duration::from_secs(60);

/// Settings with a folder of their own for what is found.
fn settings(name: &str, shrink: Shrinking) -> Settings {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    drop(std::fs::remove_dir_all(&folder));
    Settings { artifacts: Some(folder), shrink, ..Settings::default() }
}

fn swept(target: &Target, seeds: std::ops::Range<u64>, name: &str, shrink: Shrinking) -> Sweep {
    child::serve(target);
    sweep(target, &Seeds::range(seeds), &settings(name, shrink))
}

/// Fails in two ways, by inputs of many lengths.
fn two_ways(sim: &mut Sim) {
    let count = sim.dimension("count", 9);
    (0..count).for_each(|_| _ = sim.dimension("more", 255));
    let number = sim.dimension("number", 9);
    sim.client("client", move |_| async move {
        tokio::time::sleep(1.s()).await;
        always!(number != 7, "it is seven");
        always!(number != 8, "it is eight");
    });
}

#[test]
fn a_bug_is_counted_and_its_smallest_input_is_kept() {
    let target = Target::new("two_ways", two_ways);
    child::serve(&target);
    let runs: Vec<Run> = (9..100).map(|seed| run(&target, &Input::Seed(seed), WATCHDOG)).collect();
    let swept = swept(&target, 9..100, "smallest", Shrinking::Off);
    assert_eq!((swept.runs, swept.bugs.len()), (91, 2));
    assert_eq!(swept.elapsed, 91.s());
    let mut is_other = [false; 2];
    for bug in &swept.bugs {
        let is_same =
            |run: &&Run| run.failure.as_ref().is_some_and(|f| f.is_same_bug(&bug.failure));
        let lens: Vec<usize> =
            runs.iter().filter(is_same).map(|run| run.tape.to_bytes().len()).collect();
        let min = lens.iter().min();
        assert!(lens.len() > 3, "{lens:?}");
        is_other = [is_other[0] || min < lens.first(), is_other[1] || min < lens.last()];
        assert_eq!((bug.count, Some(&bug.len)), (lens.len() as u64, min));
        let bytes = std::fs::read(bug.file.as_ref().expect("it is written")).expect("it is there");
        assert_eq!(bytes.len(), bug.len);
        let again = run(&target, &Input::Bytes(bytes), WATCHDOG).failure.expect("it fails");
        assert!(again.is_same_bug(&bug.failure), "{again}");
    }
    assert_eq!(is_other, [true; 2], "the smallest is neither always the first nor the last");
    assert_eq!(swept.failures, swept.bugs.iter().map(|bug| bug.count).sum::<u64>());
}

#[test]
fn one_of_sixteen_passing_runs_is_checked() {
    let target = Target::new("passes", |_| {});
    for (runs, checked) in [(1, 1), (16, 1), (17, 2), (40, 3)] {
        assert_eq!(swept(&target, 0..runs, "checked", Shrinking::Off).checked, checked);
    }
}

#[test]
fn what_is_shrunk_is_beside_the_input_under_a_name_of_its_own() {
    let target = Target::new("shrinks", |sim| {
        if sim.dimension("number", 255) > 0 {
            fail("it is more than nothing");
        }
    });
    let swept = swept(&target, 0..3, "beside", Shrinking::For(60.s()));
    let [bug] = &swept.bugs[..] else { panic!("{:?}", swept.bugs) };
    let file = bug.file.as_ref().expect("it is written");
    let name = file.file_name().and_then(|name| name.to_str()).expect("a text");
    let first = name.strip_suffix("-min").expect("it is told apart");
    assert!(first.starts_with("correctness-") && file.with_file_name(first).is_file(), "{name}");
    let bytes = std::fs::read(file).expect("it is written");
    assert_eq!((bytes.last(), bytes.len()), (Some(&1), bug.len));
}

#[test]
fn what_a_limit_ended_is_not_shrunk_and_of_what_is_met_a_few_are() {
    let restless = |_| async {
        loop {
            tokio::task::yield_now().await;
        }
    };
    let target = Target::new("many_ways", move |sim| {
        let number = sim.dimension("number", 255);
        if number == 1 {
            sim.client("restless", restless);
        }
        // Each of them fails at a place of its own.
        match (number, number % 8) {
            (200.., _) => fail("large"),
            (0 | 1, _) => {}
            (_, 0) => fail("zero"),
            (_, 1) => fail("one"),
            (_, 2) => fail("two"),
            (_, 3) => fail("three"),
            (_, 4) => fail("four"),
            (_, 5) => fail("five"),
            (_, 6) => fail("six"),
            (_, _) => fail("seven"),
        }
    });
    child::serve(&target);
    let seed_of = |class: Option<Class>, least: u64| {
        let is_it = |seed: &u64| {
            let run = run(&target, &Input::Seed(*seed), WATCHDOG);
            run.class() == class && run.plan.dimensions[5].value >= least
        };
        (0..5_000).find(is_it).expect("a seed draws it")
    };
    let first = seed_of(Some(Class::Correctness), 200);
    let many = swept(&target, first..first + 1, "others", Shrinking::For(60.s()));
    let classes: Vec<Class> = many.bugs.iter().map(|bug| bug.failure.class).collect();
    assert_eq!(classes, [Class::Correctness; 5], "itself and four others");
    let restless = seed_of(Some(Class::Inconclusive), 1);
    let one = swept(&target, restless..restless + 1, "limit", Shrinking::For(60.s()));
    let file: &PathBuf = one.bugs[0].file.as_ref().expect("it is written");
    assert!(!file.to_string_lossy().ends_with("-min"), "{}", file.display());
}

#[test]
fn a_trace_is_written_in_the_form_that_was_asked_for() {
    let target = Target::new("traced", |sim| sim.note("a note"));
    let mut settings = settings("traced", Shrinking::Off);
    let folder = settings.artifacts.clone().expect("it is set").join("traced");
    let input = Path::new(env!("CARGO_TARGET_TMPDIR")).join("traced-input");
    std::fs::write(&input, b"").expect("the folder for temporary files is there");
    for (form, name, start) in [
        (TraceForm::Json, "traced-input.jsonl", "{\"schema\":\"sim-trace\","),
        (TraceForm::Html, "traced-input.html", "<!doctype html>"),
    ] {
        settings.trace = Some(form);
        replay(&target, &input, &settings).expect("the file is there");
        let text = std::fs::read_to_string(folder.join(name)).expect(name);
        assert!(text.to_lowercase().starts_with(start), "{}", &text[..80]);
    }
}

#[test]
fn a_sweep_writes_the_trace_of_what_it_reports_and_of_a_seed_alone() {
    let target = Target::new("swept", |sim| {
        if sim.dimension("number", 255) == 7 {
            fail("it is seven");
        }
    });
    child::serve(&target);
    let fails = |seed: &u64| run(&target, &Input::Seed(*seed), WATCHDOG).failure.is_some();
    let seed = (0..5_000).find(fails).expect("a seed draws it");
    for (shrink, seeds, names) in [
        (Shrinking::Off, seed..seed + 1, [".html"].as_slice()),
        (Shrinking::For(60.s()), 0..seed + 1, &["-min.html"]),
        (Shrinking::Off, seed + 1..seed + 2, &["seed-"]),
        (Shrinking::Off, seed + 1..seed + 3, &[]),
    ] {
        let settings = settings("swept", shrink);
        let folder = settings.artifacts_folder().join("swept");
        let settings = Settings { trace: Some(TraceForm::Html), ..settings };
        sweep(&target, &Seeds::range(seeds), &settings);
        let files = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        let files = files.map(|file| file.file_name().to_string_lossy().into_owned());
        let pages: Vec<String> = files.filter(|name| name.ends_with(".html")).collect();
        assert_eq!(pages.len(), names.len(), "{pages:?}");
        let is_named = |(page, name): (&String, &&str)| page.contains(*name);
        assert!(pages.iter().zip(names).all(is_named), "{pages:?} {names:?}");
    }
}

#[test]
fn of_a_run_that_was_given_up_no_input_is_said_to_be_the_same() {
    let target = Target::new("given_up", |sim| {
        if sim.dimension("number", 3) == 3 {
            sim.client("client", |_| async {
                loop {
                    std::hint::spin_loop();
                }
            });
        }
    });
    child::serve(&target);
    let watchdog = Duration::from_millis(300);
    let is_lost = |seed: &u64| {
        let run = run(&target, &Input::Seed(*seed), watchdog);
        run.failure.is_some_and(|failure| failure.origin == "watchdog")
    };
    let seed = (0..100).find(is_lost).expect("a seed draws it");
    let settings = Settings { watchdog, ..settings("given_up", Shrinking::Unset) };
    let swept = sweep(&target, &Seeds::range(seed..seed + 1), &settings);
    assert_eq!((swept.inconclusive, swept.bugs[0].seed), (1, seed));
    assert_eq!(swept.bugs[0].file, None, "its bytes are not known, and none are another run");
    assert!(!settings.artifacts_folder().join("given_up").exists());
}

#[test]
fn the_trace_of_a_seed_that_passed_is_of_a_run_that_passed() {
    struct Decides;
    impl std::fmt::Display for Decides {
        fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            panic!("only where it is heard")
        }
    }
    let target = Target::new("decides", |sim| {
        sim.client("client", |_| async { tracing::info!("it is {Decides}") });
    });
    child::serve(&target);
    let settings = settings("decides", Shrinking::Off);
    let settings = Settings { trace: Some(TraceForm::Html), ..settings };
    assert_eq!(sweep(&target, &Seeds::range(5..6), &settings).failures, 0);
    let page = settings.artifacts_folder().join("decides/seed-5.html");
    let page = std::fs::read_to_string(page).expect("it is written");
    assert!(page.contains("<title>decides: passed</title>"));
}

#[test]
fn a_file_that_gets_other_bytes_while_it_is_replayed_is_no_divergence() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("replaced");
    let (file, other) = (folder.join("input"), folder.join("other"));
    let (place, simpler) = (file.clone(), other.clone());
    let target = Target::new("replaced", move |sim| {
        // As a sweep does that shrinks the same failure.
        if !child::is_child() && simpler.exists() {
            std::fs::copy(&simpler, &place).expect("both are there");
        }
        always!(sim.dimension("number", 255) < 5, "it is large");
    });
    child::serve(&target);
    drop(std::fs::remove_dir_all(&folder));
    std::fs::create_dir_all(&folder).expect("it can be made");
    let runs = (0..100).map(|seed| run(&target, &Input::Seed(seed), WATCHDOG));
    let failing: Vec<Run> = runs.filter(|run| run.failure.is_some()).take(2).collect();
    for (run, path) in failing.iter().zip([&file, &other]) {
        std::fs::write(path, run.tape.to_bytes()).expect("the folder is there");
    }
    let settings = settings("replaced_artifacts", Shrinking::Off);
    let replayed = replay::input(&target, &file, &settings);
    assert_eq!(std::fs::read(&file).ok(), std::fs::read(&other).ok());
    assert_eq!(replayed, Replayed::Failed(Class::Correctness));
}
