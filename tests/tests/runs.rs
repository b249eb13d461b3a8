//! What a run is: the empty input, the classes of failures, and the two feeds of one source.

use sim_core::failure::{Class, Failure};
use sim_core::node::NodeSpec;
use sim_core::run::{Input, Run, run};
use sim_core::seed::Seed;
use sim_core::source::{Lane, Lanes};
use sim_core::{Checker, Sim, Target, Violation, always};
use sim_tests::systems::{all, correct};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Mutex;
use std::thread::ThreadId;
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::net::{TcpListener, TcpStream};

const WATCHDOG: Duration = Duration::from_secs(60);

fn run_bytes(target: &Target, bytes: &[u8]) -> Run {
    run(target, &Input::Bytes(bytes.to_vec()), WATCHDOG)
}

/// Runs a scenario on the empty input; gives its failure.
#[track_caller]
fn failure(body: fn(&mut Sim)) -> Failure {
    run_bytes(&Target::new("scenario", body), &[]).failure.expect("the scenario fails")
}

#[test]
fn the_empty_input_is_calm() {
    for target in all() {
        let run = run_bytes(&target, &[]);
        assert_eq!(run.failure, None, "{}", target.name());
        assert_eq!(run.plan.active().count(), 0, "no dimension is active");
        assert!(!run.history.trace().to_string().contains(" operation "), "there is none");
        assert_eq!(run.tape.to_bytes(), [0; 0]);
    }
}

#[test]
fn a_seed_and_the_bytes_of_its_tape_are_one_run() {
    for target in all() {
        for seed in 0..50 {
            let seeded = run(&target, &Input::Seed(seed), WATCHDOG);
            let replayed = run_bytes(&target, &seeded.tape.to_bytes());
            assert_eq!(seeded.history.divergence(&replayed.history), None, "seed {seed}");
            assert_eq!(seeded.failure, replayed.failure);
        }
    }
}

#[test]
fn any_bytes_are_a_run() {
    use rand_core::Rng;
    let mut stream = Seed::root(1).child("any bytes").stream();
    for target in correct() {
        for _ in 0..300 {
            let mut bytes = vec![0; (stream.next_u32() % 200) as usize];
            stream.fill_bytes(&mut bytes);
            let run = run_bytes(&target, &bytes);
            assert_eq!(run.failure, None, "input {bytes:?}");
        }
    }
}

/// How much of ten bytes a node takes at once, and how much its peer reads first.
fn moved(sim: &mut Sim, expected: (usize, usize)) {
    sim.node(NodeSpec::new("server"), move |_| async move {
        let listener = TcpListener::bind("0.0.0.0:7").await.unwrap();
        let (mut stream, _) = listener.accept().await.unwrap();
        let read = stream.read(&mut [0; 16]).await.unwrap();
        always!(read == expected.1, "{read} bytes are read first");
    });
    sim.client("client", move |_| async move {
        let stream = TcpStream::connect("server:7").await.unwrap();
        stream.writable().await.unwrap();
        let written = stream.try_write(&[7; 10]).unwrap();
        always!(written == expected.0, "{written} bytes are taken at once");
        tokio::time::sleep(Duration::from_secs(1)).await;
    });
}

#[test]
fn a_test_may_ask_for_buffers_and_pieces_that_the_swarm_does_not_draw() {
    let bodies: [fn(&mut Sim); 4] = [
        |sim| moved(sim, (10, 10)),
        |sim| {
            sim.set_send_buffer(1);
            moved(sim, (1, 1));
        },
        |sim| {
            sim.set_receive_buffer(3);
            moved(sim, (10, 3));
        },
        |sim| {
            sim.set_pieces(1);
            moved(sim, (10, 1));
        },
    ];
    let mut lanes = Lanes::default();
    // The segments are cut as soon as they may be.
    *lanes.lane_mut(Lane::Network) = vec![1; 20];
    for body in bodies {
        assert_eq!(run_bytes(&Target::new("asks", body), &lanes.encode()).failure, None);
    }
}

#[test]
fn a_checker_that_is_not_content_is_class_correctness() {
    struct Never;
    impl Checker for Never {
        fn end(&mut self) -> Result<(), Violation> {
            Err(Violation::new("it never holds"))
        }
    }
    let failure = failure(|sim| sim.check(Never));
    assert_eq!((failure.class, failure.message.as_str()), (Class::Correctness, "it never holds"));
    assert!(failure.origin.starts_with("tests/tests/runs.rs:"), "{}", failure.origin);
}

#[test]
fn a_checker_that_panics_is_class_correctness() {
    struct Panics;
    impl Checker for Panics {
        fn end(&mut self) -> Result<(), Violation> {
            assert_eq!(1, 2, "numbers differ");
            Ok(())
        }
    }
    let failure = failure(|sim| sim.check(Panics));
    assert_eq!(failure.class, Class::Correctness);
    assert!(failure.message.contains("numbers differ"), "{failure}");
}

#[test]
fn always_fails_from_a_node_and_names_its_place() {
    let failure = failure(|sim| {
        sim.client("client", |_| async { always!(1 > 2, "one is more than {}", 2) });
    });
    let seen = (failure.class, failure.message.as_str());
    assert_eq!(seen, (Class::Correctness, "one is more than 2"));
}

#[test]
fn a_panic_in_a_spawned_task_is_class_panic_and_names_the_node_and_its_spawn() {
    let spawned_at = line!() + 3;
    let failure = failure(|sim| {
        sim.client("client", |_| async {
            let task = tokio::spawn(async { panic!("a task broke") });
            assert!(task.await.is_err());
        });
    });
    let text = format!("node client panicked in a task of {}:{spawned_at}: a task broke", file!());
    assert_eq!((failure.class, failure.message), (Class::Panic, text));
}

#[test]
fn a_panic_in_a_blocking_task_is_class_panic() {
    let failure = failure(|sim| {
        sim.client("client", |_| async {
            let task = tokio::task::spawn_blocking(|| panic!("a thread broke"));
            assert!(task.await.is_err());
        });
    });
    let seen = (failure.class, failure.message.as_str());
    assert_eq!(seen, (Class::Panic, "node client panicked: a thread broke"));
}

#[test]
fn a_panic_in_the_body_is_class_panic() {
    let failure = failure(|_| panic!("the test broke"));
    let seen = (failure.class, failure.message.as_str());
    assert_eq!(seen, (Class::Panic, "the test's body panicked: the test broke"));
}

#[test]
fn a_client_that_waits_for_ever_is_class_deadlock_and_says_on_what() {
    let failure = failure(|sim| {
        let server = sim.node("server", |process| async move {
            let listener = TcpListener::bind((process.address(), 7)).await.unwrap();
            let (_stream, _) = listener.accept().await.unwrap();
            std::future::pending::<()>().await;
        });
        let address = (server.addresses()[0], 7);
        sim.client("client", move |_| async move {
            let mut stream = TcpStream::connect(address).await.unwrap();
            stream.read_u8().await.unwrap();
        });
    });
    assert_eq!(failure.class, Class::Deadlock);
    let waits = "client: the program waits in recv: 10.0.0.2:32768 to 10.0.0.1:7 established";
    let is_said = failure.details.iter().any(|line| line.starts_with(waits));
    assert!(is_said, "{:?}", failure.details);
}

#[test]
fn a_blocking_call_that_would_wait_is_class_deadlock_and_names_the_call() {
    let failure = failure(|sim| {
        sim.client("client", |_| async {
            drop(std::net::TcpStream::connect(("10.0.0.9", 7)));
        });
        sim.node("a", |_| async {});
        for name in ["b", "c", "d", "e", "f", "g", "h"] {
            sim.node(name, |_| async {});
        }
    });
    assert_eq!((failure.class, failure.origin.as_str()), (Class::Deadlock, "blocking connect"));
}

#[test]
fn a_blocking_call_that_would_wait_comes_before_the_panic_it_leads_to() {
    let failure = failure(|sim| {
        let server = sim.node("server", |_| async {});
        let address = (server.addresses()[0], 7);
        sim.client("client", move |_| async move {
            std::net::TcpStream::connect(address).unwrap();
        });
    });
    assert_eq!((failure.class, failure.origin.as_str()), (Class::Deadlock, "blocking connect"));
}

/// A signal handler on libFuzzer's own thread reads the clock: it must be the real one.
#[test]
fn a_fuzzer_s_own_thread_stays_outside_of_runs() {
    static RAN_ON: Mutex<Option<ThreadId>> = Mutex::new(None);
    let target = Target::new("threads", |_| {
        *RAN_ON.lock().unwrap() = Some(std::thread::current().id());
    });
    sim_core::fuzz::one(&target, sim_core::fuzz::Case(&[]));
    let ran_on = RAN_ON.lock().unwrap().expect("the body ran");
    assert_ne!(ran_on, std::thread::current().id());
}

#[test]
fn a_node_that_never_rests_is_inconclusive() {
    let failure = failure(|sim| {
        sim.client("client", |_| async {
            loop {
                tokio::task::yield_now().await;
            }
        });
    });
    let seen = (failure.class, failure.origin.as_str());
    assert_eq!(seen, (Class::Inconclusive, "restless client"));
}

#[test]
fn a_node_that_never_returns_is_inconclusive_by_the_watchdog() {
    let target = Target::new("scenario", |sim| {
        sim.client("client", |_| async {
            loop {
                std::hint::spin_loop();
            }
        });
    });
    let run = run(&target, &Input::Bytes(Vec::new()), Duration::from_millis(200));
    let failure = run.failure.expect("it does not pass");
    let seen = (failure.class, failure.origin.as_str());
    assert_eq!(seen, (Class::Inconclusive, "watchdog"));
    assert!(failure.message.contains("node client has the turn"), "{failure}");
}

#[test]
fn the_last_client_comes_after_all_others() {
    let target = Target::new("last", |sim| {
        let order = Rc::<RefCell<Vec<&str>>>::default();
        for (name, millis) in [("slow", 20), ("fast", 10)] {
            let order = order.clone();
            sim.client(name, move |_| {
                let order = order.clone();
                async move {
                    tokio::time::sleep(Duration::from_millis(millis)).await;
                    order.borrow_mut().push(name);
                }
            });
        }
        sim.last_client("last", move |_| {
            let order = order.clone();
            async move {
                always!(*order.borrow() == ["fast", "slow"], "{:?}", order.borrow());
                tokio::time::sleep(Duration::from_millis(70)).await;
            }
        });
    });
    let run = run_bytes(&target, &[]);
    assert_eq!(run.failure, None);
    assert_eq!(run.elapsed.as_millis(), 90, "the run goes on until it ends");
}

#[test]
fn two_months_of_waiting_end_at_once() {
    let target = Target::new("scenario", |sim| {
        sim.client("client", |_| async {
            tokio::time::sleep(Duration::from_secs(60 * 86_400)).await;
        });
    });
    let run = run_bytes(&target, &[]);
    assert_eq!(run.failure, None);
    assert!(run.steps < 10, "the wheel of timers turns a few times: {}", run.steps);
    assert!(run.elapsed >= Duration::from_secs(60 * 86_400));
}

#[test]
fn an_unsupported_socket_is_inconclusive_and_named() {
    let failure = failure(|sim| {
        sim.client("client", |_| async {
            drop(std::os::unix::net::UnixDatagram::unbound());
        });
    });
    assert_eq!(failure.class, Class::Inconclusive);
    assert!(failure.message.contains("SOCK_STREAM"), "{failure}");
}

#[test]
fn a_node_is_dialed_by_its_name() {
    let target = Target::new("scenario", |sim| {
        sim.node("greeter", |_| async {
            let listener = TcpListener::bind("0.0.0.0:7").await.unwrap();
            let (_stream, _) = listener.accept().await.unwrap();
        });
        sim.client("client", |_| async {
            let mut stream = TcpStream::connect("greeter:7").await.unwrap();
            assert_eq!(stream.read(&mut [0; 8]).await.unwrap(), 0);
        });
    });
    assert_eq!(run_bytes(&target, &[]).failure, None);
}
