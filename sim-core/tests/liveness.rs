//! What must come about after the heal, what is judged where it does not, and that a run without
//! goals knows nothing of it.

#![forbid(unsafe_code)]

use arbitrary::Arbitrary;
use sim_core::control::{Connections, Control, FaultSpec, Skew, Units, Until};
use sim_core::failure::{Class, Failure};
use sim_core::lifecycle::{Crash, Lifecycle};
use sim_core::node::{Node, NodeSpec};
use sim_core::run::{Input, Run, run};
use sim_core::workload::{Operation, Outcome, WorkloadSpec};
use sim_core::{Process, Sim, Target, always};
use std::cell::Cell;
use std::io;
use std::rc::Rc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
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
    use sim_core::source::{Lane, Lanes};
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
    // What a pause made late is not late.
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
