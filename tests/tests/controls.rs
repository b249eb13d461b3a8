//! Controls: what a program sees of each, when they end, and that they are in the history.
//!
//! A scenario is two nodes without latency on the empty input: a server that echoes, and a client
//! whose program says what it saw and when.

use sim_core::Process;
use sim_core::control::{Connections, Control, Controls, End, FaultKind, FaultSpec, Units, Until};
use sim_core::failure::Class;
use sim_core::node::Node;
use sim_core::run::{Input, Run, run};
use sim_core::workload::{Outcome, WorkloadSpec};
use sim_core::{Sim, Target};
use std::io;
use std::net::IpAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, sleep};

const WATCHDOG: Duration = Duration::from_secs(60);
const PORT: u16 = 7;

async fn echo(process: Process) {
    let listener = TcpListener::bind((process.address(), PORT)).await.unwrap();
    while let Ok((mut stream, _)) = listener.accept().await {
        tokio::task::spawn_local(async move {
            let (mut reader, mut writer) = stream.split();
            tokio::io::copy(&mut reader, &mut writer).await
        });
    }
}

/// One exchange of `count` bytes on a stream.
async fn exchange(stream: &mut TcpStream, count: usize) -> io::Result<()> {
    stream.write_all(&vec![7; count]).await?;
    stream.read_exact(&mut vec![0; count]).await.map(drop)
}

/// What came of something, and after how many milliseconds.
async fn timed<T>(work: impl Future<Output = io::Result<T>>) -> (Result<(), i32>, u128) {
    let start = Instant::now();
    let result = work.await.map(drop).map_err(|error| error.raw_os_error().unwrap_or(0));
    (result, (start.elapsed() + 500.us()).as_millis())
}

/// Runs a scenario: the server, and a client's program that is given the server's address.
fn play<F>(order: impl Fn(&mut Sim, &Node) + Send + Sync + 'static, client: fn(IpAddr) -> F) -> Run
where
    F: Future<Output = ()> + 'static,
{
    let target = Target::new("scenario", move |sim| {
        let server = sim.node("server", echo);
        let address = server.addresses()[0];
        sim.client("client", move |_| client(address));
        order(sim, &server);
    });
    run(&target, &Input::Bytes(Vec::new()), WATCHDOG)
}

#[track_caller]
fn assert_passes(run: &Run) {
    let message = run.failure.as_ref().map(|failure| &failure.message);
    assert_eq!(message, None, "{}", run.history.trace());
}

fn lines(run: &Run) -> Vec<String> {
    let trace = run.history.trace().to_string();
    trace.lines().filter(|line| line.contains(" control ")).map(str::to_owned).collect()
}

#[test]
fn bytes_of_a_partition_arrive_with_the_first_retransmission_after_it() {
    let run = play(
        |sim, server| {
            let client = hosts_of_client(server);
            let partition = Control::partition(client, server).until(Until::After(3.s()));
            sim.at(2.s(), partition);
        },
        |server| async move {
            let mut stream = TcpStream::connect((server, PORT)).await.unwrap();
            sleep(2.s()).await;
            let (result, millis) = timed(exchange(&mut stream, 3)).await;
            // Sent again 0.2, 0.4, 0.8, 1.6 and 3.2 s after it was lost; healed after 3 s.
            assert_eq!((result, millis), (Ok(()), 3_200));
        },
    );
    assert_passes(&run);
    let [begin, end] = &lines(&run)[..] else { panic!("{:?}", lines(&run)) };
    assert!(begin.ends_with("begin partition client | server for 3s"), "{begin}");
    assert!(end.ends_with("end partition client | server for 3s"), "{end}");
}

/// The client is the host after the server's.
fn hosts_of_client(server: &Node) -> hostsim::kernel::HostId {
    hostsim::kernel::HostId(server.hosts()[0].0 + 1)
}

#[test]
fn the_request_is_processed_and_the_reply_is_lost() {
    let run = play(
        |sim, server| {
            let replies = Control::hold_replies(Connections::to(server).port(PORT));
            sim.at(0.s(), replies.after_bytes(10).until(Until::GivenUp));
        },
        |server| async move {
            let mut stream = TcpStream::connect((server, PORT)).await.unwrap();
            assert_eq!(timed(exchange(&mut stream, 10)).await.0, Ok(()));
            stream.write_all(b"once more").await.unwrap();
            // The server has it, and its reply is on its way for ever.
            let (result, millis) = timed(stream.read(&mut [0; 9])).await;
            assert_eq!(result, Err(110), "its own bytes are not acknowledged either");
            assert!((924_600..1_100_000).contains(&millis), "{millis}");
        },
    );
    assert_passes(&run);
}

#[test]
fn a_silent_connection_stands_and_says_nothing() {
    let run = play(
        |sim, server| {
            sim.at(0.s(), Control::silence(Connections::to(server)).until(Until::After(7.s())));
        },
        |server| async move {
            let mut stream = TcpStream::connect((server, PORT)).await.unwrap();
            assert!(tokio::time::timeout(6.s(), exchange(&mut stream, 1)).await.is_err());
            let (result, _) = timed(stream.read(&mut [0; 1])).await;
            assert_eq!(result, Ok(()));
        },
    );
    assert_passes(&run);
}

#[test]
fn a_hold_ends_once_so_many_bytes_wait() {
    let run = play(
        |sim, server| {
            let held = Control::hold(End::Dialer, Connections::to(server));
            sim.at(0.s(), held.until(Until::Bytes(6)));
        },
        |server| async move {
            let mut stream = TcpStream::connect((server, PORT)).await.unwrap();
            stream.write_all(&[0; 4]).await.unwrap();
            let none = tokio::time::timeout(20.s(), stream.read(&mut [0; 1])).await;
            assert!(none.is_err(), "four bytes wait");
            stream.write_all(&[0; 2]).await.unwrap();
            stream.read_exact(&mut [0; 6]).await.unwrap();
        },
    );
    assert_passes(&run);
    assert_eq!(lines(&run).len(), 2);
}

#[test]
fn a_hold_ends_when_a_predicate_holds() {
    let run = play(
        |sim, server| {
            let noon = Until::when(|look| look.now.elapsed() >= 12.s());
            sim.at(0.s(), Control::hold_replies(Connections::to(server)).until(noon));
        },
        |server| async move {
            let mut stream = TcpStream::connect((server, PORT)).await.unwrap();
            // Something must happen for the predicate to be asked.
            let ticks = async { sleep(12.s()).await };
            let (_, (result, millis)) = tokio::join!(ticks, timed(exchange(&mut stream, 1)));
            assert_eq!((result, millis), (Ok(()), 12_800));
        },
    );
    assert_passes(&run);
}

#[test]
fn a_hold_ends_when_it_is_released_from_inside_the_run() {
    let run = play(
        |sim, server| {
            let held = Control::hold_replies(Connections::to(server)).until(Until::Released);
            let hold = sim.at(0.s(), held);
            sim.client("releaser", move |_| {
                let hold = hold.clone();
                async move {
                    sleep(5.s()).await;
                    assert!(hold.is_active());
                    hold.release();
                    sleep(1.s()).await;
                    assert!(!hold.is_active());
                }
            });
        },
        |server| async move {
            let mut stream = TcpStream::connect((server, PORT)).await.unwrap();
            assert_eq!(timed(exchange(&mut stream, 1)).await, (Ok(()), 6_400));
        },
    );
    assert_passes(&run);
}

#[test]
fn resets_are_errors_of_both_ends_or_of_one() {
    let run = play(
        |sim, server| {
            let of_port = Connections::to(server).that(|view| view.addresses[1].port() == PORT);
            sim.at(1.s(), Control::reset(of_port));
            sim.at(3.s(), Control::reset_end(End::Acceptor, Connections::to(server)));
        },
        |server| async move {
            let mut stream = TcpStream::connect((server, PORT)).await.unwrap();
            assert_eq!(timed(stream.read(&mut [0; 1])).await, (Err(104), 1_000));
            let mut stream = TcpStream::connect((server, PORT)).await.unwrap();
            sleep(3.s()).await;
            // It is told once it speaks.
            let (result, _) = timed(exchange(&mut stream, 1)).await;
            assert_eq!(result, Err(104));
        },
    );
    assert_passes(&run);
    assert_eq!(lines(&run).len(), 2, "a reset is one moment");
}

#[test]
fn dials_are_refused_and_vanish() {
    let run = play(
        |sim, server| {
            sim.at(1.s(), Control::refuse(server).until(Until::After(1.s())));
            sim.at(3.s(), Control::black_hole(server).until(Until::After(2.s())));
        },
        |server| async move {
            sleep(1_500.ms()).await;
            assert_eq!(timed(TcpStream::connect((server, PORT))).await, (Err(111), 0));
            sleep(1_000.ms()).await;
            assert_eq!(timed(TcpStream::connect((server, PORT))).await, (Ok(()), 0));
            sleep(1_000.ms()).await;
            // SYNs at 3.5, 4.5 and 6.5 s; dials are open from 5 s on.
            assert_eq!(timed(TcpStream::connect((server, PORT))).await, (Ok(()), 3_000));
        },
    );
    assert_passes(&run);
}

#[test]
fn a_program_is_late_to_accept_and_a_reader_is_slow() {
    let run = play(
        |sim, server| {
            sim.at(0.s(), Control::stop_accepting(server).until(Until::After(4.s())));
            let slow = Control::throttle(End::Dialer, Connections::to(server), 10, 1.s());
            sim.at(0.s(), slow);
        },
        |server| async move {
            let mut stream = TcpStream::connect((server, PORT)).await.unwrap();
            assert_eq!(timed(exchange(&mut stream, 1)).await, (Ok(()), 4_000));
            assert_eq!(timed(exchange(&mut stream, 45)).await, (Ok(()), 4_000));
        },
    );
    assert_passes(&run);
}

#[test]
fn a_latency_is_what_it_was_once_the_last_control_of_it_ended() {
    let run = play(
        |sim, server| {
            let client = hosts_of_client(server);
            for (at, latency) in [(1, 100), (2, 700)] {
                let slow = Control::latency(client, server, latency.ms());
                sim.at(at.s(), slow.until(Until::After((3 * at).s())));
            }
        },
        |server| async move {
            let (start, mut seen) = (Instant::now(), Vec::new());
            let mut stream = TcpStream::connect((server, PORT)).await.unwrap();
            for at in [500, 1_500, 2_500, 6_000, 8_500] {
                tokio::time::sleep_until(start + at.ms()).await;
                seen.push(timed(exchange(&mut stream, 1)).await.1);
            }
            assert_eq!(seen, [0, 100, 700, 700, 0]);
        },
    );
    assert_passes(&run);
}

#[test]
fn two_partitions_of_the_same_hosts_end_with_the_last() {
    let run = play(
        |sim, server| {
            let client = hosts_of_client(server);
            sim.at(1.s(), Control::partition(client, server).until(Until::After(5.s())));
            sim.at(2.s(), Control::one_way(client, server).until(Until::After(1.s())));
        },
        |server| async move {
            let mut stream = TcpStream::connect((server, PORT)).await.unwrap();
            sleep(1.s()).await;
            let (result, millis) = timed(exchange(&mut stream, 1)).await;
            assert_eq!((result, millis), (Ok(()), 6_400));
        },
    );
    assert_passes(&run);
}

#[test]
fn an_operation_orders_controls() {
    let target = Target::new("orders", |sim| {
        let server = sim.node("server", echo);
        let (address, controls): (_, Controls) = (server.addresses()[0], sim.controls());
        let spec = WorkloadSpec::new().operations(3).in_flight(1);
        sim.workload(
            &spec,
            |_| (),
            move |_, _: sim_core::workload::Operation<u8>| {
                let (server, controls) = (server.clone(), controls.clone());
                async move {
                    let handle = controls.apply(Control::refuse(&server).until(Until::Released));
                    tokio::task::yield_now().await;
                    sleep(1.ms()).await;
                    let (refused, _) = timed(TcpStream::connect((address, PORT))).await;
                    handle.release();
                    sleep(1.ms()).await;
                    let (taken, _) = timed(TcpStream::connect((address, PORT))).await;
                    assert_eq!((refused, taken), (Err(111), Ok(())));
                    Outcome::done()
                }
            },
        );
    });
    let mut begun = 0;
    for seed in 0..20 {
        let run = run(&target, &Input::Seed(seed), WATCHDOG);
        assert_passes(&run);
        begun += lines(&run).len();
    }
    assert!(begun > 10, "controls were ordered: {begun}");
}

#[test]
fn a_run_that_waits_for_a_hold_says_so() {
    let run = play(
        |sim, server| {
            sim.at(0.s(), Control::silence(Connections::to(server)).until(Until::Released));
        },
        |server| async move {
            let mut stream = TcpStream::connect((server, PORT)).await.unwrap();
            let _ = stream.read(&mut [0; 1]).await;
        },
    );
    let failure = run.failure.expect("nothing goes on");
    assert_eq!(failure.class, Class::Deadlock);
    let texts = [
        "client: the client has not ended",
        "in force: hold [Dialer, Acceptor] of to server until released",
    ];
    assert_eq!(failure.details[..2], texts);
}

#[test]
fn faults_are_drawn_and_zero_draws_none() {
    let target = Target::new("faulty", |sim| {
        let server = sim.node("server", echo);
        let address = server.addresses()[0];
        sim.faults(FaultSpec::new().kinds(FaultKind::ALL).count(9).pause(200.ms()));
        sim.client("client", move |_| async move {
            for _ in 0..20 {
                sleep(50.ms()).await;
                let talk = async {
                    let mut stream = TcpStream::connect((address, PORT)).await?;
                    exchange(&mut stream, 100).await?;
                    sleep(30.ms()).await;
                    io::Result::Ok(())
                };
                let _ = tokio::time::timeout(1.s(), talk).await;
            }
        });
    });
    let calm = run(&target, &Input::Bytes(Vec::new()), WATCHDOG);
    assert_passes(&calm);
    assert_eq!(lines(&calm), Vec::<String>::new());
    let mut kinds = std::collections::BTreeSet::new();
    for seed in 0..200 {
        let run = run(&target, &Input::Seed(seed), WATCHDOG);
        assert_passes(&run);
        for line in lines(&run) {
            let text = line.split_once(" control ").expect("it was chosen by this").1;
            let word = text.trim_start().trim_start_matches("begin ").split(' ').next();
            kinds.extend(word.map(str::to_owned));
        }
    }
    let kinds: Vec<&str> = kinds.iter().map(String::as_str).collect();
    let all = ["cut", "dials", "end", "hold", "latency", "no", "partition", "reset", "throttle"];
    assert_eq!(kinds, all);
}
