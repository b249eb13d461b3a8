//! Odd uses of the harness: each ends well or with a failure that says what is wrong, never with a
//! hang, a crash or a word that blames the wrong one.

use arbitrary::{Arbitrary, Unstructured};
use sim_core::failure::{Class, Failure};
use sim_core::node::NodeSpec;
use sim_core::run::{Input, Run, run, run_reusing};
use sim_core::settings::{Seeds, Settings};
use sim_core::workload::{Operation, Outcome, WorkloadSpec};
use sim_core::{Checker, Sim, Target, Violation, always};
use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, SystemTime};
use tokio::net::{TcpListener, TcpStream};

const WATCHDOG: Duration = Duration::from_secs(60);

fn run_of(body: fn(&mut Sim)) -> Run {
    run(&Target::new("odd", body), &Input::Bytes(Vec::new()), WATCHDOG)
}

/// Runs a body on the empty input; gives its failure.
#[track_caller]
fn failure(body: fn(&mut Sim)) -> Failure {
    run_of(body).failure.expect("the run fails")
}

#[track_caller]
fn passes(body: fn(&mut Sim)) {
    assert_eq!(run_of(body).failure, None);
}

#[track_caller]
fn check(body: fn(&mut Sim), class: Class, message: &str) {
    let failure = failure(body);
    assert_eq!(failure.class, class, "{failure}");
    assert!(failure.message.contains(message), "{failure}");
}

/// An operation that says nothing.
#[derive(Debug)]
struct Nothing;

impl<'a> Arbitrary<'a> for Nothing {
    fn arbitrary(_: &mut Unstructured<'a>) -> arbitrary::Result<Nothing> {
        Ok(Nothing)
    }
}

/// A checker that counts its calls, and fails at the end of them where it is told to.
struct Counts(Rc<Cell<u32>>, bool);

impl Checker for Counts {
    fn step(&mut self) -> Result<(), Violation> {
        self.0.set(self.0.get() + 1);
        Ok(())
    }

    fn end(&mut self) -> Result<(), Violation> {
        if self.1 { Err(Violation::new("told to fail")) } else { Ok(()) }
    }
}

#[test]
fn a_body_that_makes_nothing_passes() {
    passes(|_| {});
}

#[test]
fn a_workload_without_nodes_does_its_operations() {
    let target = Target::new("odd", |sim: &mut Sim| {
        sim.workload(
            &WorkloadSpec::new(),
            |_| (),
            |_, _: Operation<Nothing>| async { Outcome::done() },
        );
    });
    for seed in 0..20 {
        assert_eq!(run(&target, &Input::Seed(seed), WATCHDOG).failure, None);
    }
}

#[test]
fn nodes_without_work_end_the_run_at_once() {
    let run = run_of(|sim| {
        sim.node("server", |process| async move {
            let listener = TcpListener::bind((process.address(), 7)).await.unwrap();
            drop(listener.accept().await);
        });
        sim.node("short", |_| async {});
    });
    assert_eq!((run.failure, run.steps), (None, 0));
}

#[test]
fn of_two_checkers_the_first_that_is_not_content_speaks() {
    check(
        |sim| {
            let count = Rc::new(Cell::new(0));
            sim.check(Counts(count.clone(), false));
            sim.check(Counts(count, true));
        },
        Class::Correctness,
        "told to fail",
    );
}

#[test]
fn a_client_that_panics_at_once_is_class_panic() {
    check(
        |sim| {
            sim.client("client", |_| async { panic!("at once") });
        },
        Class::Panic,
        "node client panicked: at once",
    );
}

#[test]
fn a_program_that_cannot_be_made_is_class_panic_of_its_node() {
    fn refuse(_: sim_core::Process) -> std::future::Ready<()> {
        panic!("no program")
    }
    check(
        |sim| {
            sim.node("broken", refuse);
        },
        Class::Panic,
        "node broken panicked: no program",
    );
}

#[test]
fn a_failure_in_the_body_is_class_correctness() {
    check(|sim| sim.fail("not today"), Class::Correctness, "not today");
}

#[test]
fn a_dimension_past_its_bounds_says_so() {
    check(
        |sim| {
            sim.dimension("vast", u64::MAX);
        },
        Class::Panic,
        "the largest value of a dimension is 255 at most, not 18446744073709551615",
    );
}

#[test]
fn two_nodes_of_one_name_say_so() {
    check(
        |sim| {
            sim.node(NodeSpec::new("db").replicas(2..=2), |_| async {});
            sim.client("db-1", |_| async {});
        },
        Class::Panic,
        "a node has the name db-1 already",
    );
}

#[test]
fn a_name_that_no_host_could_have_says_so() {
    for name in ["", ".", "../db", "/db", "my\ndb", &"a".repeat(201)] {
        let target = Target::new("odd", {
            let name = name.to_owned();
            move |sim: &mut Sim| {
                sim.client(&name, |_| async {});
            }
        });
        let failure = run(&target, &Input::Seed(0), WATCHDOG).failure.expect("it does not pass");
        let reason = "a name is 1 to 200 bytes, without `/` and a dot in front, not";
        assert!(failure.message.contains(&format!("{reason} {name:?}")), "{failure}");
        assert!(failure.origin.starts_with("tests/tests/odd.rs:"), "{failure}");
    }
}

#[test]
fn a_second_workload_says_so() {
    check(
        |sim| {
            for _ in 0..2 {
                sim.workload(
                    &WorkloadSpec::new(),
                    |_| (),
                    |_, _: Operation<Nothing>| async { Outcome::done() },
                );
            }
        },
        Class::Panic,
        "a run has one workload",
    );
}

#[test]
fn three_hundred_nodes_all_answer() {
    passes(|sim| {
        let nodes: Vec<_> = (0..300).map(|index| format!("node-{index}")).collect();
        for name in &nodes {
            sim.node(name.as_str(), |process| async move {
                let listener = TcpListener::bind((process.address(), 7)).await.unwrap();
                drop(listener.accept().await.unwrap());
            });
        }
        sim.client("client", move |_| {
            let nodes = nodes.clone();
            async move {
                for name in nodes {
                    TcpStream::connect((name.as_str(), 7)).await.unwrap();
                }
            }
        });
    });
}

#[test]
fn a_listener_that_is_dropped_at_once_refuses_or_resets() {
    let target = Target::new("odd", |sim: &mut Sim| {
        let node = sim.node("brief", |process| async move {
            drop(TcpListener::bind((process.address(), 7)).await.unwrap());
        });
        let address = (node.addresses()[0], 7);
        sim.client("client", move |_| async move {
            let error = TcpStream::connect(address).await.unwrap_err();
            assert_eq!(error.raw_os_error(), Some(111));
        });
    });
    for seed in 0..20 {
        assert_eq!(run(&target, &Input::Seed(seed), WATCHDOG).failure, None);
    }
}

#[test]
fn an_operation_that_never_ends_is_class_deadlock() {
    let target = Target::new("odd", |sim: &mut Sim| {
        sim.workload(
            &WorkloadSpec::new(),
            |_| (),
            |_, _: Operation<Nothing>| std::future::pending::<Outcome>(),
        );
    });
    let found = (0..20).filter_map(|seed| run(&target, &Input::Seed(seed), WATCHDOG).failure);
    let classes: Vec<Class> = found.map(|failure| failure.class).collect();
    assert!(!classes.is_empty() && classes.iter().all(|class| *class == Class::Deadlock));
}

#[test]
fn an_operation_that_cannot_be_printed_is_not_a_bug_of_the_simulator() {
    struct Unprintable;
    impl std::fmt::Debug for Unprintable {
        fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            panic!("it cannot be printed")
        }
    }
    impl<'a> Arbitrary<'a> for Unprintable {
        fn arbitrary(_: &mut Unstructured<'a>) -> arbitrary::Result<Unprintable> {
            Ok(Unprintable)
        }
    }
    let target = Target::new("odd", |sim: &mut Sim| {
        sim.workload(
            &WorkloadSpec::new(),
            |_| (),
            |_, _: Operation<Unprintable>| async { Outcome::done() },
        );
    });
    let found = (0..20).filter_map(|seed| run(&target, &Input::Seed(seed), WATCHDOG).failure);
    let found: Vec<Failure> = found.collect();
    assert!(!found.is_empty() && found.iter().all(|failure| failure.class == Class::Panic));
}

#[test]
fn a_run_inside_a_node_a_checker_or_a_body_is_refused_by_name() {
    fn nest() {
        run_of(|_| {});
    }
    struct Nests;
    impl Checker for Nests {
        fn end(&mut self) -> Result<(), Violation> {
            nest();
            Ok(())
        }
    }
    const WORDS: &str = "a run begins outside of runs";
    check(|_| nest(), Class::Panic, WORDS);
    check(|sim| sim.check(Nests), Class::Correctness, WORDS);
    check(
        |sim| {
            sim.client("client", |_| async { nest() });
        },
        Class::Panic,
        WORDS,
    );
}

#[test]
fn a_sweep_inside_a_node_is_refused_by_name() {
    check(
        |sim| {
            sim.client("client", |_| async {
                let target = Target::new("inner", |_| {});
                sim_core::sweep::sweep(&target, &Seeds::range(0..9), &Settings::default());
            });
        },
        Class::Panic,
        "a run begins outside of runs",
    );
}

fn exchange(sim: &mut Sim) {
    let node = sim.node("server", |process| async move {
        let listener = TcpListener::bind((process.address(), 7)).await.unwrap();
        drop(listener.accept().await.unwrap());
    });
    let address = (node.addresses()[0], 7);
    sim.client("client", move |_| async move {
        TcpStream::connect(address).await.unwrap();
    });
}

#[test]
fn a_run_inside_a_tokio_runtime_is_like_any_other() {
    let target = Target::new("odd", exchange);
    let input = Input::Seed(3);
    let outside = run(&target, &input, WATCHDOG);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let (inside, reusing) = runtime.block_on(async {
        (run(&target, &input, WATCHDOG), run_reusing(&target, &input, WATCHDOG))
    });
    assert_eq!((inside.failure, reusing.failure), (None, None));
    assert_eq!((inside.hash, reusing.hash), (outside.hash, outside.hash));
}

thread_local! {
    /// What a library keeps, as hyper does for its `Date` header.
    static DATE: Cell<Option<SystemTime>> = const { Cell::new(None) };
}

#[test]
fn a_date_that_a_program_keeps_is_not_there_in_the_next_run() {
    let target = Target::new("odd", |sim: &mut Sim| {
        sim.client("client", |_| async {
            always!(DATE.get().is_none(), "nobody was here before");
            #[expect(clippy::disallowed_methods, reason = "a program asks for the date")]
            DATE.set(Some(SystemTime::now()));
        });
    });
    for seed in 0..3 {
        assert_eq!(run_reusing(&target, &Input::Seed(seed), WATCHDOG).failure, None);
    }
}

#[test]
fn runs_on_two_threads_do_not_see_each_other() {
    let target = Target::new("odd", exchange);
    let hashes = || {
        let runs = (0..200).map(|seed| run_reusing(&target, &Input::Seed(seed), WATCHDOG));
        runs.map(|run| (run.failure, run.hash)).collect::<Vec<_>>()
    };
    let alone = hashes();
    let [first, second] = std::thread::scope(|scope| {
        [scope.spawn(hashes), scope.spawn(hashes)].map(|thread| thread.join().unwrap())
    });
    assert_eq!((&first, &second), (&alone, &alone));
}

/// Panics as it is dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("a bomb was dropped");
    }
}

#[test]
fn a_destructor_that_panics_in_the_run_is_class_panic() {
    check(
        |sim| {
            sim.client("client", |_| async {
                let task = tokio::spawn(async {
                    let _bomb = Bomb;
                    std::future::pending::<()>().await;
                });
                tokio::task::yield_now().await;
                task.abort();
                drop(task.await);
            });
        },
        Class::Panic,
        "node client panicked in a task of tests/tests/odd.rs:380: a bomb was dropped",
    );
}

#[test]
fn a_destructor_that_panics_after_the_end_is_not_judged() {
    struct Armed(Bomb);
    impl Checker for Armed {
        fn step(&mut self) -> Result<(), Violation> {
            let Bomb = &self.0;
            Ok(())
        }
    }
    passes(|sim| {
        sim.check(Armed(Bomb));
        let kept = Bomb;
        sim.node("node", move |_| {
            let Bomb = &kept;
            async move {
                let _bomb = Bomb;
                drop(tokio::spawn(async {
                    let _bomb = Bomb;
                    std::future::pending::<()>().await;
                }));
                std::future::pending::<()>().await;
            }
        });
    });
}

#[test]
fn a_checker_that_sleeps_takes_real_time_and_no_virtual_time() {
    struct Sleeps;
    impl Checker for Sleeps {
        #[expect(clippy::disallowed_methods, reason = "a checker that does what it should not")]
        fn end(&mut self) -> Result<(), Violation> {
            std::thread::sleep(Duration::from_millis(1));
            Ok(())
        }
    }
    let run = run_of(|sim| sim.check(Sleeps));
    assert_eq!((run.failure, run.elapsed), (None, Duration::ZERO));
}

#[track_caller]
fn check_watchdog(body: fn(&mut Sim)) {
    let run = run(&Target::new("odd", body), &Input::Bytes(Vec::new()), Duration::from_millis(300));
    let failure = run.failure.expect("it does not pass");
    assert_eq!((failure.class, failure.origin.as_str()), (Class::Inconclusive, "watchdog"));
}

#[test]
fn a_checker_that_waits_for_ever_is_inconclusive_by_the_watchdog() {
    struct Waits;
    impl Checker for Waits {
        fn end(&mut self) -> Result<(), Violation> {
            let (_sender, receiver) = std::sync::mpsc::channel::<()>();
            let _ = receiver.recv();
            Ok(())
        }
    }
    check_watchdog(|sim| sim.check(Waits));
}

#[test]
fn a_thread_that_never_ends_is_inconclusive_by_the_watchdog() {
    check_watchdog(|sim| {
        sim.client("client", |_| async {
            #[expect(clippy::disallowed_methods, reason = "the threads of a node are simulated")]
            std::thread::spawn(|| {
                loop {
                    std::thread::park();
                    std::hint::spin_loop();
                }
            });
            tokio::time::sleep(Duration::from_secs(1)).await;
        });
    });
}

#[test]
fn a_setup_that_panics_is_class_panic() {
    let target = Target::with_setup("odd", || -> u32 { panic!("no setup") }, |_, _| {});
    for run in [run, run_reusing] {
        let failure = run(&target, &Input::Seed(0), WATCHDOG).failure.expect("it does not pass");
        assert_eq!((failure.class, failure.origin.as_str()), (Class::Panic, "setup"));
    }
}
