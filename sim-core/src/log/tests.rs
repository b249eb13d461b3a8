//! Tests of the log: what is heard, in which run, and that it changes none.

use super::*;
use crate::Sim;
use crate::control::Control;
use crate::lifecycle::Crash;
use crate::run::{run, run_reusing};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tracing::level_filters::LevelFilter;
use tracing::{Instrument, debug, debug_span, error, info, info_span, trace, warn};

const WATCHDOG: Duration = Duration::from_secs(60);

/// A run of no bytes, with a log of what the filter lets through.
fn logged(filter: &str, body: impl Fn(&mut Sim) + Send + Sync + 'static) -> Run {
    let filter = filter.parse().expect("a filter");
    run_logged(&Target::new("said", body), &Input::Bytes(Vec::new()), WATCHDOG, &filter)
}

/// The lines of the log of a client, without moments.
#[track_caller]
fn check(filter: &str, client: fn(), lines: &[&str]) {
    let run = logged(filter, move |sim| {
        sim.client("client", move |_| async move { client() });
    });
    assert_eq!(run.failure, None);
    let said: Vec<String> = run.log.iter().map(LogLine::to_string).collect();
    assert_eq!(said, lines);
}

#[test]
fn an_event_is_its_level_its_message_and_its_fields() {
    let client = || {
        info!(count = 3, is_last = false, name = "a b", ?WATCHDOG, share = 0.5, "retry {}", 1 + 1);
        warn!("late");
        error!(code = %7);
        info!(name: "named", "two\nlines \u{1b}[1m");
    };
    let lines = [
        "INFO retry 2 count=3 is_last=false name=\"a b\" WATCHDOG=60s share=0.5",
        "WARN late",
        "ERROR code=7",
        "INFO two\\nlines \\u{1b}[1m",
    ];
    check("info", client, &lines);
}

#[test]
fn spans_are_the_context_of_what_is_said_in_them() {
    let client = || {
        let outer = info_span!("request", id = 3, answer = tracing::field::Empty);
        let entered = outer.enter();
        info!("one");
        outer.record("answer", "yes");
        info_span!("attempt").in_scope(|| info!("two"));
        info!(parent: None, "three");
        drop(entered);
        info!(parent: &outer, "four");
        drop(outer);
        info!("five");
    };
    let lines = [
        "INFO request{id=3}: one",
        "INFO request{id=3 answer=\"yes\"}:attempt: two",
        "INFO three",
        "INFO request{id=3 answer=\"yes\"}: four",
        "INFO five",
    ];
    check("info", client, &lines);
}

#[test]
fn a_task_keeps_its_spans_to_itself() {
    let run = logged("info", |sim| {
        sim.client("client", |_| async {
            let one = async {
                tokio::task::yield_now().await;
                info!("in one");
            };
            let one = tokio::spawn(one.instrument(info_span!("one")));
            let two = async {
                tokio::task::yield_now().await;
                tokio::spawn(async { info!("in two") }.in_current_span()).await.expect("it ends");
            };
            tokio::spawn(two.instrument(info_span!("two"))).await.expect("it ends");
            one.await.expect("it ends");
            tokio::task::spawn_blocking(|| info!("in a thread")).await.expect("it ends");
        });
    });
    let mut said: Vec<String> = run.log.iter().map(LogLine::to_string).collect();
    said.sort();
    assert_eq!(said, ["INFO in a thread", "INFO one: in one", "INFO two: in two"]);
}

#[test]
fn records_of_the_log_crate_are_lines_too() {
    let client = || {
        info_span!("request", id = 3).in_scope(|| log::info!("retry {}", 1 + 1));
        log::error!("two\nlines");
        log::warn!("late");
        log::debug!("one");
        log::trace!(target: "wire", "two");
    };
    let lines = ["INFO request{id=3}: retry 2", "ERROR two\\nlines", "WARN late"];
    check("info", client, &lines);
    check("wire=trace", client, &["TRACE two"]);
    check("off", client, &[]);
}

#[test]
fn a_record_is_made_where_somebody_hears_it_alone() {
    static SHOWN: AtomicU64 = AtomicU64::new(0);
    struct Shown;
    impl fmt::Display for Shown {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            SHOWN.fetch_add(1, Ordering::Relaxed);
            f.write_str("shown")
        }
    }
    let body = |sim: &mut Sim| {
        sim.client("client", |_| async { log::info!("{Shown}") });
    };
    let unheard = run(&Target::new("said", body), &Input::Bytes(Vec::new()), WATCHDOG);
    assert_eq!(SHOWN.load(Ordering::Relaxed), 0);
    let heard = logged("info", body);
    assert_eq!(SHOWN.load(Ordering::Relaxed), 1);
    assert_eq!((heard.log.len(), unheard.hash), (1, heard.hash));
    let line = heard.log.iter().next().expect("there is one");
    assert_eq!((line.level, &*line.target, line.host), ("INFO", module_path!(), Some(0)));
}

#[test]
fn the_filter_is_of_levels_and_targets() {
    let client = || {
        debug!("one");
        trace!(target: "wire", "two");
        trace!("three");
        debug_span!("inner").in_scope(|| info!("four"));
    };
    check("info", client, &["INFO four"]);
    check("debug", client, &["DEBUG one", "INFO inner: four"]);
    check("wire=trace", client, &["TRACE two"]);
    check("off", client, &[]);
}

#[test]
fn a_filter_that_cannot_be_read_is_an_error() {
    let check = |text: &str, reason: &str| {
        assert_eq!(text.parse::<LogFilter>().unwrap_err().to_string(), reason, "{text:?}");
    };
    for text in ["", " ", ",", "info,", "info,,db=debug"] {
        check(text, "a directive is empty");
    }
    for (text, word) in [("inof", "inof"), ("info,9", "9"), ("debug info", "debug info")] {
        check(text, &format!("{word:?} is no level; one of a target is TARGET=LEVEL"));
    }
    for (text, word) in [("db=loud", "loud"), ("db=", ""), ("db=info=debug", "info=debug")] {
        check(text, &format!("{word:?} is no level; one of a target is TARGET=LEVEL"));
    }
    for (text, word) in [("=info", ""), ("[span]=info", "[span]"), ("my db=info", "my db")] {
        check(text, &format!("{word:?} is no target"));
    }
}

#[test]
fn a_filter_may_have_spaces_between_its_directives() {
    let filter: LogFilter = " info, db::store=TRACE ".parse().unwrap();
    assert_eq!(filter, "info,db::store=trace".parse().unwrap());
}

/// A server that says what it does, and a client that fails in the end.
fn failing(sim: &mut Sim) {
    sim.set_latency(Duration::from_millis(5));
    sim.node("server", |_| async {
        let listener = TcpListener::bind("0.0.0.0:7").await.expect("the port is free");
        let (mut stream, _) = listener.accept().await.expect("a client");
        let byte = stream.read_u8().await.expect("a byte");
        info!(byte, "asked");
        stream.write_u8(byte + 1).await.expect("it reads");
    });
    sim.client("client", |_| async {
        let mut stream = TcpStream::connect("server:7").await.expect("it listens");
        stream.write_u8(7).await.expect("it reads");
        let reply = stream.read_u8().await.expect("it answers");
        info!(reply, "answered");
        crate::always!(reply == 7, "the reply is the request");
    });
}

#[test]
fn lines_stand_in_the_trace_where_they_were_said() {
    let run = logged("info", failing);
    let trace = run.trace().to_string();
    let place = |text: &str| {
        let at = trace.lines().position(|line| line.contains(text));
        at.unwrap_or_else(|| panic!("{text} is not in\n{trace}"))
    };
    let asked = place("server       INFO asked byte=7");
    let answered = place("client       INFO answered reply=8");
    assert!(trace.lines().nth(asked - 1).is_some_and(|line| line.contains("len=1 \"\\x07\"")));
    assert!(asked < answered && answered < place("failure      correctness"));
    let line = trace.lines().nth(asked).expect("it is there");
    assert!(line.starts_with("  0.015"), "{line}");
    assert_eq!(run.trace().len(), trace.lines().count());
    assert_eq!(run.trace().last(2).len(), 2);
    let report = crate::report::text(
        &Target::new("said", failing),
        &run,
        run.failure.as_ref().expect("it fails"),
        &[],
    );
    assert!(report.contains("INFO answered reply=8"), "{report}");
}

#[test]
fn no_run_is_changed_by_what_is_heard() {
    let (target, bytes) = (Target::new("said", failing), Input::Bytes(Vec::new()));
    let filter = "trace".parse().expect("a filter");
    let heard = run_logged(&target, &bytes, WATCHDOG, &filter);
    let others = [run(&target, &bytes, WATCHDOG), run_reusing(&target, &bytes, WATCHDOG)];
    for other in others {
        assert_eq!(other.hash, heard.hash);
        assert!(other.log.is_empty());
    }
    assert_eq!(heard.log.len(), 2);
}

#[test]
fn a_field_is_evaluated_only_where_it_is_heard() {
    let count = Arc::new(AtomicU64::new(0));
    let target = {
        let count = count.clone();
        Target::new("said", move |sim| {
            let count = count.clone();
            sim.client("client", move |_| {
                let count = count.clone();
                async move { info!(count = count.fetch_add(1, Ordering::Relaxed)) }
            });
        })
    };
    let bytes = Input::Bytes(Vec::new());
    run(&target, &bytes, WATCHDOG);
    assert_eq!(count.load(Ordering::Relaxed), 0);
    run_logged(&target, &bytes, WATCHDOG, &LogFilter::default());
    assert_eq!(count.load(Ordering::Relaxed), 1);
    run(&target, &bytes, WATCHDOG);
    assert_eq!(count.load(Ordering::Relaxed), 1);
}

#[test]
fn a_run_that_differs_where_it_is_heard_gets_no_log() {
    let target = Target::new("said", |sim| {
        sim.client("client", |process| async move {
            let print = || {
                let mut text = process.stdout();
                tokio::spawn(async move { text.write_all(b"heard\n").await });
                7
            };
            info!(value = print(), "a field that does something");
            tokio::task::yield_now().await;
            crate::check::fail("no");
        });
    });
    let mut failed = run(&target, &Input::Bytes(Vec::new()), WATCHDOG);
    add_to(&target, &mut failed, &Settings::default());
    assert!(failed.log.is_empty());
    let mut failed = run(&Target::new("said", failing), &Input::Bytes(Vec::new()), WATCHDOG);
    add_to(&Target::new("said", failing), &mut failed, &Settings::default());
    assert_eq!(failed.log.len(), 2);
}

#[test]
fn what_a_dead_process_says_is_not_heard() {
    struct Says;
    impl Drop for Says {
        fn drop(&mut self) {
            info!("dropped");
        }
    }
    let run = logged("info", |sim| {
        let node = sim.node("node", |_| async {
            let _says = Says;
            info!("started");
            std::future::pending::<()>().await;
        });
        sim.at(Duration::from_secs(1), Control::crash(node.hosts()[0], Crash::Kill));
        sim.client("client", |_| tokio::time::sleep(Duration::from_secs(2)));
    });
    assert_eq!(run.failure, None);
    let said: Vec<String> = run.log.iter().map(LogLine::to_string).collect();
    assert_eq!(said, ["INFO started"]);
}

#[test]
fn a_log_keeps_its_last_lines() {
    let mut log = Log::default();
    let line = |after| LogLine {
        after,
        at: after,
        host: None,
        level: "INFO",
        target: "t".into(),
        spans: Vec::new(),
        message: String::new(),
        fields: Vec::new(),
    };
    (0..LINES_MAX as u64 + 3).for_each(|after| log.push(line(after)));
    assert_eq!((log.len(), log.dropped()), (LINES_MAX, 3));
    assert_eq!(log.iter().next(), Some(&line(3)));
}

/// Who begins to hear while another one ends hears all the same.
#[test]
fn the_level_of_the_process_is_that_of_who_hears() {
    let hear = || {
        for _ in 0..20_000 {
            let _listening = listen();
            assert_eq!(LevelFilter::current(), LevelFilter::TRACE);
        }
    };
    std::thread::scope(|scope| {
        let threads = [(); 4].map(|()| scope.spawn(hear));
        threads.into_iter().for_each(|thread| thread.join().expect("it heard each time"));
    });
}

#[test]
fn long_texts_are_cut() {
    let run = logged("info", |sim| {
        sim.client("client", |_| async { info!("{}", "x".repeat(10 * TEXT_MAX)) });
    });
    let line = run.log.iter().next().expect("it was said");
    assert_eq!(line.message.chars().count(), TEXT_MAX + 1);
}

#[test]
fn spans_are_forgotten_once_nobody_holds_them() {
    let run = logged("info", |sim| {
        sim.client("client", |_| async {
            let outer = info_span!("outer");
            let inner = outer.in_scope(|| info_span!("inner"));
            let again = inner.clone();
            drop(outer);
            drop(inner);
            again.in_scope(|| info!("held"));
            let count = || crate::panics::with_log(|log| log.spans.len());
            assert_eq!(count(), Some(2));
            drop(again);
            assert_eq!(count(), Some(0));
        });
    });
    assert_eq!(run.failure, None);
    assert_eq!(
        run.log.iter().next().map(LogLine::to_string).as_deref(),
        Some("INFO outer:inner: held")
    );
}
