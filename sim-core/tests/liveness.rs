//! What must come about after the heal, what is judged where it does not, and that a run without
//! goals knows nothing of it.

#![forbid(unsafe_code)]

use arbitrary::Arbitrary;
use sim_core::control::{Connections, Control, FaultSpec, Skew, Units, Until};
use sim_core::failure::{Class, Failure};
use sim_core::lifecycle::{Crash, Lifecycle};
use sim_core::node::{Node, NodeSpec};
use sim_core::run::{Input, Run, run};
use sim_core::source::{Lane, Lanes, Ratio};
use sim_core::workload::{Operation, Outcome, WorkloadSpec};
use sim_core::{Process, Sim, Target, always};
use std::cell::Cell;
use std::io;
use std::rc::Rc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio::time::{sleep, timeout};

const WATCHDOG: Duration = Duration::from_secs(60);

fn run_of(body: impl Fn(&mut Sim) + Send + Sync + 'static) -> Run {
    run(&Target::new("lively", body), &Input::Bytes(Vec::new()), WATCHDOG)
}

#[track_caller]
fn failure(body: impl Fn(&mut Sim) + Send + Sync + 'static) -> Failure {
    run_of(body).failure.expect("the scenario fails")
}

#[track_caller]
fn passed(body: impl Fn(&mut Sim) + Send + Sync + 'static) -> String {
    let run = run_of(body);
    let trace = run.history.trace().to_string();
    assert_eq!(run.failure, None, "{trace}");
    trace
}

/// Answers each connection with one byte.
async fn serve(process: Process) -> io::Result<()> {
    let listener = TcpListener::bind((process.address(), 7)).await?;
    loop {
        let (mut stream, _) = listener.accept().await?;
        tokio::spawn(async move { stream.write_all(b"!").await });
    }
}

/// One attempt, which ends within two seconds.
async fn ask(name: &str) -> io::Result<u8> {
    let attempt = async { TcpStream::connect((name, 7)).await?.read_u8().await };
    timeout(2.s(), attempt).await?
}

/// Asks until there is an answer.
async fn ask_until_answered(name: &'static str) {
    while ask(name).await.is_err() {
        sleep(1.s()).await;
    }
}

/// Three replicas that others know by one name each.
fn db(sim: &mut Sim) -> Node {
    sim.node(NodeSpec::new("db").replicas(3..=3), serve)
}

/// Each of these hosts must answer after the heal, at 100 s.
fn asked(sim: &mut Sim, names: &'static [&'static str]) {
    for name in names {
        sim.probe(&format!("{name} answers"), 10.s(), move |_| ask_until_answered(name));
    }
    sim.client("worker", |_| sleep(100.s()));
}

#[test]
fn the_heal_ends_all_that_is_in_force() {
    let trace = passed(|sim| {
        let db = db(sim);
        let [first, second, third] = db.hosts() else { panic!("there are three") };
        for control in [
            Control::crash(*first, Crash::Power),
            Control::pause(*second),
            Control::partition(&db, &db),
            Control::refuse(*third),
            Control::black_hole(*third),
            Control::stop_accepting(*third),
            Control::silence(Connections::to(&db)),
            Control::latency(vec![*second], vec![*third], 100.s()),
            Control::skew(*third, Skew::Ahead(100.s())),
            Control::hold_replies(Connections::all()).until(Until::Released),
            Control::throttle(sim_core::control::End::Acceptor, Connections::all(), 1, 60.s()),
        ] {
            sim.at(1.s(), control);
        }
        // Nothing starts it but the heal.
        sim.at(2.s(), Control::kill_after(*third, 1.s()));
        asked(sim, &["db-0", "db-1", "db-2"]);
    });
    let healed = trace.find("control      heal").expect("it is healed");
    assert_eq!(trace.matches("control      begin ").count(), 11, "{trace}");
    assert_eq!(trace[healed..].matches("control      end ").count(), 11, "{trace}");
    assert_eq!(trace[..healed].matches("control      end ").count(), 0, "{trace}");
}

#[test]
fn nothing_befalls_the_core_after_the_heal() {
    passed(|sim| {
        let db = db(sim);
        sim.at(101.s(), Control::partition(&db, &db));
        sim.at(102.s(), Control::crash(&db, Crash::Kill));
        let node = db.clone();
        sim.probe("they stay", 10.s(), move |_| {
            let node = node.clone();
            async move {
                sleep(5.s()).await;
                ask_until_answered("db-0").await;
                always!(node.starts(0) == 1, "no crash came");
            }
        });
        sim.client("worker", |_| sleep(100.s()));
    });
}

/// Answers each datagram with one of its own.
async fn echo(process: Process) -> io::Result<()> {
    let socket = UdpSocket::bind((process.address(), 7)).await?;
    loop {
        let (count, from) = socket.recv_from(&mut [0; 8]).await?;
        socket.send_to(&[count as u8], from).await?;
    }
}

/// Whether a datagram is answered within a second.
async fn is_echoed(process: &Process) -> bool {
    let socket = UdpSocket::bind((process.address(), 0)).await.unwrap();
    socket.send_to(b"?", "echo:7").await.unwrap();
    timeout(1.s(), socket.recv_from(&mut [0; 8])).await.is_ok()
}

#[test]
fn no_datagram_is_lost_after_the_heal() {
    passed(|sim| {
        sim.set_loss(Ratio::new(1, 1));
        sim.node(NodeSpec::new("echo"), echo);
        sim.client("worker", |process| async move {
            always!(!is_echoed(&process).await, "each datagram is lost");
        });
        sim.probe("an answer comes", 5.s(), |process| async move {
            always!(is_echoed(&process).await, "none is lost");
        });
    });
}

#[test]
fn no_fault_is_drawn_after_the_heal() {
    let target = Target::new("drawn", |sim| {
        sim.set_dimension("faults", 60);
        db(sim);
        sim.faults(FaultSpec::new().count(60).pause(1.s()));
        sim.client("worker", |_| sleep(5.s()));
        sim.eventually("never", 500.s(), |_| false);
    });
    for seed in 0..5 {
        let run = run(&target, &Input::Seed(seed), WATCHDOG);
        assert_eq!(run.class(), Some(Class::Liveness), "seed {seed}");
        let trace = run.history.trace().to_string();
        let (before, after) = trace.split_once("control      heal").expect("it is healed");
        assert!(before.contains("control      begin "), "seed {seed}: {before}");
        assert!(!after.contains("control      begin "), "seed {seed}: {after}");
    }
}

#[test]
fn a_process_that_ended_by_itself_stays_so_and_one_that_never_started_too() {
    passed(|sim| {
        let once = sim.node(NodeSpec::new("once"), |_| sleep(1.s()));
        let never = sim.node(NodeSpec::new("never").ready_on(7, 5.s()).stopped(), serve);
        sim.core(&never);
        sim.core(&once);
        let starts = move || (once.starts(0), never.starts(0));
        sim.client("worker", |_| sleep(3.s()));
        sim.probe("they stay so", 20.s(), move |_| {
            let starts = starts.clone();
            async move {
                sleep(10.s()).await;
                always!(starts() == (1, 0), "nothing starts them, not {:?}", starts());
            }
        });
    });
}

#[test]
fn what_is_not_of_the_core_need_not_be_ready() {
    let body = |is_core: bool| {
        move |sim: &mut Sim| {
            let db = db(sim);
            let dep = sim.node(NodeSpec::new("dep").ready_on(7, 5.s()), serve);
            sim.at(1.s(), Control::crash(&dep, Crash::Power));
            sim.core(&db);
            if is_core {
                sim.core(&dep);
            }
            sim.client("worker", |_| sleep(100.s()));
        }
    };
    let without = passed(body(false));
    assert_eq!(without.matches(" dep          start\n").count(), 1, "{without}");
    assert_eq!(passed(body(true)).matches(" dep          start\n").count(), 2);
}

/// Three operations of some seconds each, with as long a pause before each, of which the end of the
/// safety phase is looked at after five.
fn slowly(seconds: u64, pause: u64) -> String {
    let mut lanes = Lanes::default();
    *lanes.lane_mut(Lane::Workload) = vec![255; 200];
    let target = Target::new("slowly", move |sim| {
        sim.set_dimension("operations", 3);
        sim.set_dimension("pause", 3);
        sim.set_safety(5.s());
        sim.work_ends_within(100.s());
        let spec = WorkloadSpec::new().clients(1..=1).pause(pause.s());
        let act = move |_, _: Operation<Op>| async move {
            sleep(seconds.s()).await;
            Outcome::done()
        };
        sim.workload(&spec, |_| (), act);
    });
    let run = run(&target, &Input::Bytes(lanes.encode()), WATCHDOG);
    assert_eq!(run.failure, None);
    run.history.trace().to_string()
}

/// How many operations began before the heal, and after it.
fn operations(trace: &str) -> [usize; 2] {
    let (before, after) = trace.split_once("control      heal").expect("it is healed");
    [before, after].map(|part| part.matches(" operation id=").count())
}

#[test]
fn a_workload_that_goes_on_is_not_healed_and_one_that_stands_still_begins_no_more() {
    assert_eq!(operations(&slowly(4, 0)), [3, 0], "operations that end are progress");
    assert_eq!(operations(&slowly(4, 8)), [3, 0], "one that comes is awaited");
    assert_eq!(operations(&slowly(6, 0)), [1, 0]);
}

#[test]
fn a_probe_has_its_bound_and_no_more() {
    let body =
        |waits: u64| move |sim: &mut Sim| _ = sim.probe("p", 10.s(), move |_| sleep(waits.s()));
    passed(body(9));
    assert_eq!(failure(body(11)).origin, "eventually p");
}

/// A process that starts again has its time from then on.
#[test]
fn a_process_that_starts_again_has_its_time_to_be_ready_again() {
    passed(|sim| {
        let slow = sim.node(NodeSpec::new("slow").ready_on(7, 5.s()), |process| async move {
            sleep(4.s()).await;
            serve(process).await
        });
        sim.at(1.s(), Control::crash(&slow, Crash::Kill).until(Until::After(2.s())));
        sim.client("worker", |_| sleep(100.s()));
    });
}

#[test]
fn clients_that_are_under_way_are_work_and_probes_are_not() {
    let body = |waits: u64| {
        move |sim: &mut Sim| {
            sim.set_safety(5.s());
            sim.work_ends_within(10.s());
            sim.probe("long", 60.s(), |_| sleep(50.s()));
            sim.client("worker", move |_| sleep(waits.s()));
        }
    };
    passed(body(14));
    let failure = failure(body(16));
    assert_eq!(failure.origin, "eventually the work that was under way ends");
    assert!(failure.message.starts_with("not within 10s of the heal at 5"), "{failure}");
}

/// A node that does not come back, and what is said of it.
#[test]
fn a_node_that_never_recovers_is_class_liveness() {
    let failure = failure(|sim| {
        let db = sim.node(NodeSpec::new("db"), |process| async move {
            // Planted: a second life waits for a lock that the first one left behind.
            let lock = process.dir()?.join("lock");
            while lock.exists() {
                sleep(1.s()).await;
            }
            std::fs::write(lock, b"")?;
            serve(process).await
        });
        sim.at(1.s(), Control::crash(&db, Crash::Kill));
        sim.client("worker", |_| sleep(2.s()));
        sim.probe("db answers", 30.s(), |_| ask_until_answered("db"));
    });
    assert_eq!((failure.class, &*failure.origin), (Class::Liveness, "eventually db answers"));
    let head = "not within 30s of the heal at ";
    assert!(failure.message.starts_with(head), "{}", failure.message);
    assert!(failure.message.ends_with(": db answers"), "{}", failure.message);
    let waits = failure.details.join("\n");
    assert!(waits.contains("db: the program waits for no socket"), "{waits}");
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Op {
    Get,
}

/// Operations that go through a node to a dependency which is down. With a limit the node says so
/// in time, and without one it hangs.
fn through(sim: &mut Sim, limit: Option<Duration>) {
    let dep = sim.node(NodeSpec::new("dep"), serve);
    let front = sim.node(NodeSpec::new("front"), move |process| async move {
        let listener = TcpListener::bind((process.address(), 7)).await?;
        loop {
            let (mut stream, _) = listener.accept().await?;
            tokio::spawn(async move {
                let call = async { TcpStream::connect("dep:7").await?.read_u8().await };
                let answer = match limit {
                    Some(limit) => {
                        timeout(limit, call).await.unwrap_or_else(|late| Err(late.into()))
                    }
                    None => call.await,
                };
                stream.write_u8(answer.map_or(b'?', |_| b'!')).await
            });
        }
        #[expect(unreachable_code, reason = "the type of a program that serves for ever")]
        io::Result::Ok(())
    });
    sim.core(&front);
    // The dialed connection stands, and stays without an answer.
    sim.at(0.s(), Control::pause(&dep));
    sim.work_ends_within(10.s());
    sim.set_safety(20.s());
    let spec = WorkloadSpec::new().clients(1..=1);
    sim.workload(
        &spec,
        |_| (),
        |_, _: Operation<Op>| async {
            let ask = async { TcpStream::connect("front:7").await?.read_u8().await };
            match ask.await {
                Ok(b'!') => Outcome::done(),
                Ok(_) => Outcome::failed("front says no"),
                Err(error) => Outcome::indeterminate(error.to_string()),
            }
        },
    );
}

/// The input of one operation.
fn one_operation() -> Input {
    let mut lanes = Lanes::default();
    // The operations are the seventh dimension: after the five of every run and the clients, of
    // which there is one choice.
    *lanes.lane_mut(Lane::Swarm) = vec![0, 0, 0, 0, 0, 0, 1, 0];
    *lanes.lane_mut(Lane::Workload) = vec![1];
    Input::Bytes(lanes.encode())
}

#[test]
fn an_operation_that_hangs_in_place_of_failing_fast_is_class_liveness() {
    let hangs = Target::new("hangs", |sim| through(sim, None));
    let hung = run(&hangs, &one_operation(), WATCHDOG);
    let trace = hung.history.trace().to_string();
    let failure = hung.failure.expect("it hangs");
    assert_eq!(failure.class, Class::Liveness, "{failure}");
    assert_eq!(failure.origin, "eventually the work that was under way ends");
    assert!(trace.contains("control      heal, but for dep"), "{trace}");
    let details = failure.details.join("\n");
    assert!(details.contains("in force: pause of dep until the end"), "{details}");
    assert!(details.contains("front: a task of "), "{details}");

    let fails_fast = Target::new("fails fast", |sim| through(sim, Some(5.s())));
    let fast = run(&fails_fast, &one_operation(), WATCHDOG);
    let trace = fast.history.trace().to_string();
    assert_eq!(fast.failure, None);
    assert!(trace.contains("failed front says no"), "{trace}");
}

/// What hosts outside of the core are in stays, and no more than that.
#[test]
fn a_control_about_both_sides_is_split() {
    let trace = passed(|sim| {
        let (db, dep) = (db(sim), sim.node(NodeSpec::new("dep"), serve));
        sim.core(&db);
        let all: Vec<_> = db.hosts().iter().chain(dep.hosts()).copied().collect();
        sim.at(1.s(), Control::partition(db.hosts()[0], all.clone()).until(Until::After(200.s())));
        sim.at(1.s(), Control::crash(all.clone(), Crash::Kill).until(Until::After(300.s())));
        asked(sim, &["db-0", "db-1", "db-2"]);
        sim.probe("dep is down for db-0", 20.s(), move |_| {
            let (dep, db) = (dep.clone(), db.clone());
            async move {
                always!(!dep.is_up(0), "the dependency stays down");
                sleep(15.s()).await;
                always!(!dep.is_up(0), "the dependency stays down");
                always!((0..3).all(|replica| db.starts(replica) == 2), "the replicas are back");
            }
        });
    });
    assert!(trace.contains("control      end crash of db-0,db-1,db-2: Kill"), "{trace}");
    assert!(trace.contains("control      end partition db-0 | db-0,db-1,db-2 for 200s"), "{trace}");
}

#[test]
fn a_predicate_is_asked_from_the_heal_on() {
    let body = |at: u64| {
        move |sim: &mut Sim| {
            let count = Rc::new(Cell::new(0));
            let seen = count.clone();
            sim.node(NodeSpec::new("counter"), move |_| {
                let count = count.clone();
                async move {
                    loop {
                        sleep(1.s()).await;
                        count.set(count.get() + 1);
                    }
                }
            });
            sim.eventually("it counts", 10.s(), move |look| {
                always!(look.now.elapsed() >= 5.s(), "it is not asked before the heal");
                seen.get() >= at
            });
            sim.client("worker", |_| sleep(5.s()));
        }
    };
    passed(body(15));
    let failure = failure(body(17));
    assert_eq!((failure.class, &*failure.origin), (Class::Liveness, "eventually it counts"));
}

#[test]
fn a_workload_that_stands_still_is_healed() {
    let body = |safety: bool| {
        move |sim: &mut Sim| {
            let db = sim.node(NodeSpec::new("db"), serve);
            // Something that always comes: the run is never idle.
            sim.node(NodeSpec::new("clock"), |_| async {
                loop {
                    sleep(1.s()).await;
                }
            });
            sim.at(0.s(), Control::pause(&db));
            if safety {
                sim.work_ends_within(1.s());
            }
            sim.set_limits(sim_core::driver::Limits { time_max: 1000.s(), ..Default::default() });
            let spec = WorkloadSpec::new().clients(1..=1);
            sim.workload(
                &spec,
                |_| (),
                |_, _: Operation<Op>| async {
                    let answer = async { TcpStream::connect("db:7").await?.read_u8().await };
                    answer.await.map_or_else(
                        |error| Outcome::failed(error.to_string()),
                        |_| Outcome::done(),
                    )
                },
            );
        }
    };
    let with = run(&Target::new("still", body(true)), &one_operation(), WATCHDOG);
    assert_eq!(with.failure, None);
    assert_eq!(with.elapsed.as_secs(), sim_core::liveness::SAFETY.as_secs());
    let without = run(&Target::new("still", body(false)), &one_operation(), WATCHDOG);
    assert_eq!(without.class(), Some(Class::Inconclusive));
}

#[test]
fn readiness_is_looked_at_after_a_calm_start_and_after_the_heal() {
    let slow = |sim: &mut Sim, wait: u64| {
        sim.node(NodeSpec::new("slow").ready_on(7, 5.s()), move |process| async move {
            sleep(wait.s()).await;
            serve(process).await
        })
    };
    let late = failure(move |sim| {
        slow(sim, 6);
        sim.client("worker", |_| sleep(100.s()));
    });
    assert_eq!((late.class, &*late.origin), (Class::Liveness, "readiness of slow"));
    let text = "node slow does not listen on port 7 5s after its start; it runs";
    assert_eq!(late.message, text);
    // A run that ends before is judged by its heal.
    let late = failure(move |sim| drop(slow(sim, 6)));
    assert_eq!(late.class, Class::Liveness);
    passed(move |sim| drop(slow(sim, 4)));
    // What a control made late is not late, whether it is in force yet or began and ended.
    passed(move |sim| {
        let slow = sim.node(NodeSpec::new("slow").ready_on(7, 5.s()), |process| async move {
            sleep(3.s()).await;
            sleep(1.s()).await;
            serve(process).await
        });
        sim.at(1.s(), Control::pause(&slow).until(Until::After(3500.ms())));
        sim.client("worker", |_| sleep(100.s()));
    });
    passed(move |sim| {
        let slow = slow(sim, 6);
        sim.at(0.s(), Control::crash(&slow, Crash::Kill).until(Until::After(2.s())));
        sim.at(0.s(), Control::partition(&slow, &slow));
        sim.client("worker", |_| sleep(100.s()));
    });
    passed(move |sim| {
        let slow = slow(sim, 4);
        sim.at(1.s(), Control::pause(&slow).until(Until::After(20.s())));
        sim.client("worker", |_| sleep(100.s()));
    });
}

#[test]
fn a_run_without_goals_is_not_healed() {
    let body = |goal: bool| {
        move |sim: &mut Sim| {
            let db = db(sim);
            sim.at(1.s(), Control::pause(&db));
            sim.client("worker", |_| sleep(3.s()));
            if goal {
                sim.core(&db);
            }
        }
    };
    let without = passed(body(false));
    assert!(!without.contains("heal") && !without.contains("end pause"), "{without}");
    assert!(passed(body(true)).starts_with(&without));
}

/// A correct system, whatever befalls it, by many seeds.
#[test]
fn a_correct_system_is_alive_after_each_heal() {
    let target = Target::new("correct", |sim| {
        let dep = sim.node(NodeSpec::new("dep"), serve);
        let db = sim.node(NodeSpec::new("db").replicas(1..=3).ready_on(7, 1.s()), serve);
        sim.core(&db);
        sim.faults(FaultSpec::new());
        let lives = |hosts| Lifecycle::of(hosts).crashes().restarts().partitions().pauses().skews();
        sim.lifecycle(lives(&db).down_at_most(3).lasting(1000.s()));
        sim.lifecycle(lives(&dep).lasting(1000.s()));
        sim.work_ends_within(10.s());
        sim.probe("db answers", 20.s(), |_| ask_until_answered("db"));
        sim.probe("dep answers or fails", 10.s(), |_| async { drop(ask("dep").await) });
        let spec = WorkloadSpec::new().operations(5);
        sim.workload(
            &spec,
            |_| (),
            |_, _: Operation<Op>| async {
                match ask("db").await {
                    Ok(_) => Outcome::done(),
                    Err(error) => Outcome::failed(error.to_string()),
                }
            },
        );
    });
    let mut healed_with_outside = 0;
    for seed in 0..2_000 {
        let run = sim_core::run::run_reusing(&target, &Input::Seed(seed), WATCHDOG);
        assert_eq!(run.failure, None, "seed {seed}\n{}", run.history.trace());
        let trace = run.history.trace().to_string();
        let healed = trace.find("control      heal").expect("each is healed");
        healed_with_outside += u64::from(trace[healed..].contains("control      end "));
    }
    assert!(healed_with_outside > 100, "{healed_with_outside} heals ended something");
}
