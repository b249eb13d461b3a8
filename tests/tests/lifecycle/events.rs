//! One test an event.

use crate::passed;
use sim_core::control::{Connections, Control, Skew, Units, Until};
use sim_core::lifecycle::Crash;
use sim_core::node::{Node, NodeSpec};
use sim_core::process::{Exit, Process, Signal};
use sim_core::{Sim, always};
use std::cell::{Cell, RefCell};
use std::io;
use std::rc::Rc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, sleep};

/// Accepts, and answers each byte of each connection with one that is one more.
async fn serve(process: Process) {
    let listener = TcpListener::bind((process.address(), 7)).await.unwrap();
    while let Ok((mut stream, _)) = listener.accept().await {
        tokio::spawn(async move {
            while let Ok(byte) = stream.read_u8().await {
                if stream.write_u8(byte + 1).await.is_err() {
                    return;
                }
            }
        });
    }
}

async fn ask(stream: &mut TcpStream, byte: u8) -> io::Result<u8> {
    stream.write_u8(byte).await?;
    stream.read_u8().await
}

/// What a client sees of a server to which something happens at 1 s.
fn watch(
    event: impl Fn(&Node) -> Control,
    client: impl AsyncFn(Node, TcpStream) + Clone + 'static,
) -> impl Fn(&mut Sim) {
    move |sim| {
        let server = sim.node("server", serve);
        sim.at(1.s(), event(&server));
        let client = client.clone();
        sim.client("client", move |_| {
            let (server, client) = (server.clone(), client.clone());
            async move {
                let mut stream = TcpStream::connect("server:7").await.unwrap();
                always!(ask(&mut stream, 1).await.unwrap() == 2, "the server answers");
                client(server, stream).await;
            }
        });
    }
}

#[test]
pub(crate) fn a_node_starts_when_it_is_told_to() {
    let trace = passed(|sim| {
        let server = sim.node(NodeSpec::new("server").stopped(), serve);
        sim.at(3.s(), Control::start(&server));
        sim.client("client", move |_| {
            let server = server.clone();
            async move {
                let begun = Instant::now();
                let refused = TcpStream::connect("server:7").await.unwrap_err();
                always!(refused.raw_os_error() == Some(111), "nobody listens: {refused}");
                always!(!server.is_up(0) && server.starts(0) == 0, "it does not run");
                server.listening(0, 7).await;
                always!(begun.elapsed().as_secs() == 3, "at once: {:?}", begun.elapsed());
                TcpStream::connect("server:7").await.unwrap();
                always!(server.is_up(0) && server.starts(0) == 1, "it runs");
            }
        });
    });
    assert!(trace.contains("3.000000000 server       start"), "{trace}");
}

#[test]
pub(crate) fn a_signal_reaches_the_program_that_listens() {
    let trace = passed(|sim| {
        let server = sim.node("server", |process| async move {
            let mut signals = process.signals(&[Signal::Terminate, Signal::Hangup]).unwrap();
            loop {
                match signals.recv().await {
                    Signal::Terminate => return 7,
                    other => {
                        process.stdout().write_all(format!("{other}\n").as_bytes()).await.unwrap()
                    }
                }
            }
        });
        sim.at(1.s(), Control::signal(&server, Signal::Hangup));
        sim.at(2.s(), Control::signal(&server, Signal::Terminate));
        sim.client("client", move |_| {
            let server = server.clone();
            async move {
                sleep(3.s()).await;
                always!(server.exits(0) == [Exit::Code(7)], "{:?}", server.exits(0));
                always!(server.lines(0)[0].text == "SIGHUP", "{:?}", server.lines(0));
            }
        });
    });
    assert!(trace.contains("server       stop exit code=7\n"), "{trace}");
}

#[test]
pub(crate) fn a_signal_that_nobody_listens_for_kills() {
    passed(watch(
        |server| Control::signal(server, Signal::Terminate),
        async |server, mut stream| {
            always!(stream.read(&mut [0]).await.unwrap() == 0, "the kernel sends a FIN");
            always!(server.exits(0) == [Exit::Signal(Signal::Terminate)], "{:?}", server.exits(0));
        },
    ));
}

#[test]
pub(crate) fn a_process_that_does_not_end_in_time_is_killed() {
    passed(|sim| {
        let stubborn = |process: Process| async move {
            let _signals = process.signals(&[Signal::Terminate]).unwrap();
            std::future::pending::<()>().await;
        };
        let orderly = |process: Process| async move {
            let mut signals = process.signals(&[Signal::Terminate]).unwrap();
            signals.recv().await;
            sleep(2.s()).await;
        };
        let nodes = [sim.node("stubborn", stubborn), sim.node("orderly", orderly)];
        for node in &nodes {
            sim.at(1.s(), Control::kill_after(node, 5.s()));
        }
        sim.client("client", move |_| {
            let [stubborn, orderly] = nodes.clone();
            async move {
                sleep(Duration::from_millis(5_999)).await;
                always!(stubborn.is_up(0), "it has its time");
                always!(orderly.exits(0) == [Exit::Code(0)], "it ended by itself");
                sleep(2.ms()).await;
                always!(stubborn.exits(0) == [Exit::Kill], "{:?}", stubborn.exits(0));
                sleep(10.s()).await;
                always!(orderly.exits(0).len() == 1, "nobody kills what is over");
            }
        });
    });
}

/// A server that reads the first connection, leaves bytes of the second unread, and does not accept
/// the third.
async fn accept_two(process: Process) {
    let listener = TcpListener::bind((process.address(), 7)).await.unwrap();
    let (mut read, _) = listener.accept().await.unwrap();
    let (_unread, _) = listener.accept().await.unwrap();
    read.read_u8().await.unwrap();
    std::future::pending::<()>().await;
}

#[test]
pub(crate) fn a_killed_process_closes_its_connections_as_its_kernel_does() {
    let trace = passed(|sim| {
        let server = sim.node("server", accept_two);
        sim.at(1.s(), Control::crash(&server, Crash::Kill).until(Until::After(1.s())));
        sim.client("client", |_| async {
            let mut streams = Vec::new();
            for _ in 0..3 {
                let mut stream = TcpStream::connect("server:7").await.unwrap();
                stream.write_u8(1).await.unwrap();
                streams.push(stream);
            }
            let [read, unread, waiting]: &mut [TcpStream; 3] =
                streams.as_mut_slice().try_into().unwrap();
            always!(read.read(&mut [0]).await.unwrap() == 0, "a FIN where all was read");
            for stream in [unread, waiting] {
                let error = stream.read(&mut [0]).await.unwrap_err();
                always!(error.raw_os_error() == Some(104), "a RST: {error}");
            }
            let refused = TcpStream::connect("server:7").await.unwrap_err();
            always!(refused.raw_os_error() == Some(111), "its host is there: {refused}");
            sleep(2.s()).await;
            TcpStream::connect("server:7").await.unwrap();
        });
    });
    assert!(trace.contains("server       stop killed; still ran: the program"), "{trace}");
}

#[test]
pub(crate) fn a_host_without_power_says_nothing() {
    passed(watch(
        |server| Control::crash(server, Crash::Power).until(Until::After(60.s())),
        async |server, mut stream| {
            let waited = tokio::time::timeout(30.s(), stream.read(&mut [0])).await;
            always!(waited.is_err(), "nothing comes");
            always!(server.exits(0) == [Exit::Power], "{:?}", server.exits(0));
            // Sent again until the host is back, which knows nothing of the connection.
            stream.write_u8(1).await.unwrap();
            let error = stream.read(&mut [0]).await.unwrap_err();
            always!(error.raw_os_error() == Some(104), "a RST: {error}");
            always!(server.is_up(0) && server.starts(0) == 2, "it is back");
        },
    ));
}

#[test]
pub(crate) fn a_restart_makes_the_program_anew() {
    let trace = passed(|sim| {
        let counted = Rc::new(RefCell::new(0));
        let node = sim.node("counter", move |process| {
            let count = counted.replace_with(|count| *count + 1);
            async move {
                let line = format!("life {count}\n");
                process.stdout().write_all(line.as_bytes()).await.unwrap();
                std::future::pending::<()>().await;
            }
        });
        sim.at(1.s(), Control::restart(&node, Crash::Kill));
        sim.at(2.s(), Control::restart(&node, Crash::Power));
        sim.client("client", move |_| {
            let node = node.clone();
            async move {
                sleep(3.s()).await;
                let lines: Vec<_> = node.lines(0).into_iter().map(|line| line.text).collect();
                always!(lines == ["life 0", "life 1", "life 2"], "{lines:?}");
                always!(node.exits(0) == [Exit::Kill, Exit::Power], "{:?}", node.exits(0));
            }
        });
    });
    assert!(trace.contains("1.000000000 counter      start"), "{trace}");
    assert!(trace.contains("counter      stdout life 2"), "{trace}");
}

#[test]
pub(crate) fn a_partition_stops_both_ways() {
    passed(|sim| {
        let server = sim.node("server", serve);
        let client = sim.client("client", |_| async {
            let mut stream = TcpStream::connect("server:7").await.unwrap();
            sleep(2.s()).await;
            let begun = Instant::now();
            always!(ask(&mut stream, 1).await.unwrap() == 2, "it comes late, and whole");
            always!(begun.elapsed() > 3.s(), "{:?}", begun.elapsed());
        });
        sim.at(1.s(), Control::partition(&server, &client).until(Until::After(5.s())));
    });
}

#[test]
pub(crate) fn a_one_way_partition_lets_the_other_way_through() {
    passed(|sim| {
        let received = Rc::new(RefCell::new(Vec::new()));
        let seen = received.clone();
        let server = sim.node("server", move |_| {
            let seen = seen.clone();
            async move {
                let listener = TcpListener::bind("0.0.0.0:7").await.unwrap();
                let (mut stream, _) = listener.accept().await.unwrap();
                while let Ok(byte) = stream.read_u8().await {
                    seen.borrow_mut().push(byte);
                    stream.write_u8(byte).await.unwrap();
                }
            }
        });
        let client = sim.client("client", move |_| {
            let received = received.clone();
            async move {
                let mut stream = TcpStream::connect("server:7").await.unwrap();
                sleep(2.s()).await;
                stream.write_u8(5).await.unwrap();
                let reply = tokio::time::timeout(2.s(), stream.read_u8()).await;
                always!(reply.is_err(), "no reply comes");
                always!(*received.borrow() == [5], "the request was received");
                always!(stream.read_u8().await.unwrap() == 5, "the reply comes after the heal");
            }
        });
        sim.at(1.s(), Control::one_way(&server, &client).until(Until::After(5.s())));
    });
}

#[test]
pub(crate) fn a_paused_machine_stands_still_and_its_timers_are_late() {
    passed(|sim| {
        let ticks = Rc::new(RefCell::new(Vec::new()));
        let seen = ticks.clone();
        let node = sim.node("node", move |process| {
            let ticks = ticks.clone();
            async move {
                tokio::task::spawn_local(serve(process));
                let start = Instant::now();
                loop {
                    sleep(1.s()).await;
                    ticks.borrow_mut().push(start.elapsed().as_secs());
                }
            }
        });
        sim.at(Duration::from_millis(1_500), Control::pause(&node).until(Until::After(5.s())));
        sim.client("client", move |_| {
            let seen = seen.clone();
            async move {
                sleep(2.s()).await;
                // Its kernel goes on: a dial is accepted and bytes are acknowledged.
                let mut stream = TcpStream::connect("node:7").await.unwrap();
                stream.write_u8(1).await.unwrap();
                let reply = tokio::time::timeout(4.s(), stream.read_u8()).await;
                always!(reply.is_err(), "its program does not run");
                always!(stream.read_u8().await.unwrap() == 2, "and goes on afterwards");
                sleep(Duration::from_millis(1_700)).await;
                always!(*seen.borrow() == [1, 6, 7], "late, not made up for: {:?}", seen.borrow());
            }
        });
    });
}

#[expect(
    clippy::disallowed_methods,
    reason = "a program that asks for the date, as it is its right"
)]
fn system_time() -> std::time::SystemTime {
    std::time::SystemTime::now()
}

#[test]
pub(crate) fn a_skewed_wall_clock_steps_and_timers_do_not_see_it() {
    passed(|sim| {
        let node = sim.node("node", |process| async move {
            let (begun, date) = (Instant::now(), system_time());
            sleep(2.s()).await;
            let ahead = system_time().duration_since(date).unwrap();
            always!(begun.elapsed() == 2.s(), "timers follow the monotonic clock");
            always!(ahead == Duration::from_secs(3_602), "an hour ahead: {ahead:?}");
            sleep(2.s()).await;
            let behind = date.duration_since(system_time()).unwrap();
            always!(behind == Duration::from_secs(56), "a minute behind: {behind:?}");
            sleep(2.s()).await;
            always!(system_time().duration_since(date).unwrap() == 6.s(), "and right again");
            process.stdout().write_all(b"done\n").await.unwrap();
        });
        let hour = Skew::Ahead(Duration::from_secs(3_600));
        sim.at(1.s(), Control::skew(&node, hour).until(Until::After(2.s())));
        let minute = Skew::Behind(Duration::from_secs(60));
        sim.at(3.s(), Control::skew(&node, minute).until(Until::After(2.s())));
        sim.client("client", move |_| {
            let node = node.clone();
            async move {
                let date = system_time();
                sleep(10.s()).await;
                always!(system_time().duration_since(date).unwrap() == 10.s(), "others are right");
                always!(node.lines(0).len() == 1, "the node went on");
            }
        });
    });
}

#[test]
pub(crate) fn a_drifting_clock_passes_faster_and_never_back() {
    passed(|sim| {
        let ticks = Rc::new(RefCell::new(Vec::new()));
        let seen = ticks.clone();
        let node = sim.node("fast", move |_| {
            let ticks = ticks.clone();
            async move {
                let mut before = Instant::now();
                for _ in 0..10 {
                    sleep(10.s()).await;
                    let now = Instant::now();
                    ticks.borrow_mut().push(now - before);
                    before = now;
                }
            }
        });
        sim.at(0.s(), Control::drift(&node, 100_000).until(Until::After(50.s())));
        sim.client("client", move |_| {
            let (node, seen) = (node.clone(), seen.clone());
            async move {
                // Fifty seconds of ours are 55 of its own; then both pass alike.
                sleep(Duration::from_millis(94_900)).await;
                always!(node.is_up(0), "not yet");
                sleep(200.ms()).await;
                always!(node.exits(0) == [Exit::Code(0)], "a hundred seconds of its own passed");
                let ticks = seen.borrow();
                let is_own =
                    |tick: &Duration| (10.s()..Duration::from_millis(10_003)).contains(tick);
                always!(ticks.iter().all(is_own), "{ticks:?}");
            }
        });
    });
}

#[test]
pub(crate) fn a_sleep_of_a_thread_stalls_its_machine_only() {
    passed(|sim| {
        sim.node("sleeper", |process| async move {
            let listener = TcpListener::bind((process.address(), 7)).await.unwrap();
            let (mut stream, _) = listener.accept().await.unwrap();
            stall(4.s());
            stream.write_u8(1).await.unwrap();
            std::future::pending::<()>().await;
        });
        sim.client("client", |_| async {
            let begun = Instant::now();
            let mut stream = TcpStream::connect("sleeper:7").await.unwrap();
            sleep(1.s()).await;
            always!(begun.elapsed() < Duration::from_millis(1_100), "others go on");
            stream.read_u8().await.unwrap();
            always!(begun.elapsed() >= 4.s(), "{:?}", begun.elapsed());
        });
    });
}

#[expect(clippy::disallowed_methods, reason = "a program that blocks its thread")]
fn stall(time: Duration) {
    std::thread::sleep(time);
}

/// Two crashes that overlap keep the host down until both are over.
#[test]
fn crashes_overlap() {
    passed(|sim| {
        let server = sim.node("server", serve);
        sim.at(1.s(), Control::crash(&server, Crash::Kill).until(Until::After(4.s())));
        sim.at(3.s(), Control::crash(&server, Crash::Power).until(Until::After(5.s())));
        sim.at(6.s(), Control::start(&server));
        sim.at(4.s(), Control::reset(Connections::to(&server)));
        sim.client("client", move |_| {
            let server = server.clone();
            async move {
                sleep(Duration::from_millis(7_900)).await;
                always!(!server.is_up(0), "the second crash lasts");
                sleep(200.ms()).await;
                always!(server.is_up(0) && server.starts(0) == 2, "both are over");
            }
        });
    });
}

#[test]
fn a_pause_is_of_a_process_and_not_of_the_next() {
    passed(|sim| {
        let ticks = Rc::<Cell<u32>>::default();
        let count = ticks.clone();
        let node = sim.node("node", move |_| {
            let count = count.clone();
            async move {
                loop {
                    sleep(1.s()).await;
                    count.set(count.get() + 1);
                }
            }
        });
        let other = sim.node("other", |_| std::future::pending::<()>());
        sim.at(500.ms(), Control::pause(&node).until(Until::After(20.s())));
        sim.at(1_500.ms(), Control::restart(&node, Crash::Kill));
        // The end of another's pause changes nothing.
        sim.at(2.s(), Control::pause(&other).until(Until::After(1.s())));
        sim.client("client", move |_| {
            let ticks = ticks.clone();
            async move {
                sleep(10.s()).await;
                always!(ticks.get() == 8, "{} seconds are seen", ticks.get());
            }
        });
    });
}

#[test]
fn a_client_that_ended_may_start_again() {
    let trace = passed(|sim| {
        let client = sim.client("client", |_| sleep(1.s()));
        sim.client("other", |_| sleep(10.s()));
        sim.at(5.s(), Control::start(&client));
    });
    assert!(trace.contains("10.000000000 other        finish"), "{trace}");
}
