//! What hosts outside of the core are in stays after the heal, of each kind of control, and what is
//! among hosts of the core ends.

#![forbid(unsafe_code)]

use hostsim::kernel::HostId;
use sim_core::control::{Connections, Control, End, Handle, Units, Until};
use sim_core::failure::Failure;
use sim_core::lifecycle::Crash;
use sim_core::node::{Node, NodeSpec};
use sim_core::run::{Input, run};
use sim_core::{Process, Sim, Target, always};
use std::io;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};

fn failure(body: impl Fn(&mut Sim) + Send + Sync + 'static) -> Option<Failure> {
    let target = Target::new("healed", body);
    run(&target, &Input::Bytes(Vec::new()), Duration::from_secs(60)).failure
}

/// Sends back each byte twice.
async fn serve(process: Process) -> io::Result<()> {
    let listener = TcpListener::bind((process.address(), 7)).await?;
    loop {
        let (mut stream, _) = listener.accept().await?;
        tokio::spawn(async move {
            while let Ok(byte) = stream.read_u8().await {
                stream.write_all(&[byte; 2]).await?;
            }
            io::Result::Ok(())
        });
    }
}

/// Whether both bytes come back in time.
async fn is_echoed(stream: &mut TcpStream) -> bool {
    let echoed = async {
        stream.write_u8(7).await?;
        stream.read_u16().await
    };
    timeout(5.s(), echoed).await.is_ok_and(|read| read.is_ok())
}

/// Whether a host answers over a connection that is new.
async fn answers(name: &str) -> bool {
    let dialed = timeout(5.s(), TcpStream::connect((name, 7))).await;
    match dialed {
        Ok(Ok(mut stream)) => is_echoed(&mut stream).await,
        _ => false,
    }
}

/// A node of the core, one that is not, and who asks both after the heal at 10 s.
struct Hosts {
    db: Node,
    dep: Node,
    probe: Node,
}

fn hosts(sim: &mut Sim) -> Hosts {
    let [db, dep] = ["db", "dep"].map(|name| sim.node(NodeSpec::new(name), serve));
    sim.core(&db);
    let probe = sim.probe("db answers", 60.s(), |_| async {
        while !answers("db").await {
            sleep(1.s()).await;
        }
        let is_answered = answers("dep").await;
        always!(!is_answered, "dep stays as it is");
    });
    sim.client("worker", |_| sleep(10.s()));
    Hosts { db, dep, probe }
}

/// A control about both nodes, or ways to them.
type About = fn(&Hosts) -> Control;

const CONTROLS: [(&str, About); 10] = [
    ("crash", |hosts| Control::crash(both(hosts), Crash::Kill)),
    ("pause", |hosts| Control::pause(both(hosts))),
    ("partition from", |hosts| Control::partition(both(hosts), &hosts.probe)),
    ("partition to", |hosts| Control::partition(&hosts.probe, both(hosts))),
    ("latency", |hosts| Control::latency(&hosts.probe, both(hosts), 100.s())),
    ("refuse", |hosts| Control::refuse(both(hosts))),
    ("black hole", |hosts| Control::black_hole(both(hosts))),
    ("stop accepting", |hosts| Control::stop_accepting(both(hosts))),
    ("silence", |_| Control::silence(Connections::all())),
    ("throttle", |_| Control::throttle(End::Acceptor, Connections::all(), 1, 100.s())),
];

fn both(hosts: &Hosts) -> Vec<HostId> {
    [hosts.db.hosts(), hosts.dep.hosts()].concat()
}

#[test]
fn each_control_ends_in_the_core_and_stays_outside() {
    for (name, control) in CONTROLS {
        let stays = failure(move |sim| {
            let hosts = hosts(sim);
            sim.at(1.s(), control(&hosts));
        });
        assert_eq!(stays, None, "{name}");
    }
    // Where nothing befell it, it answers.
    let failure = failure(|sim| _ = hosts(sim)).expect("dep is well");
    assert_eq!(failure.message, "dep stays as it is");
}

#[test]
fn connections_that_stood_before_the_heal_are_told_apart() {
    let failed = failure(|sim| {
        let Hosts { dep, .. } = hosts(sim);
        sim.set_safety(10.s());
        sim.at(1.s(), Control::silence(Connections::all()));
        sim.client("long", move |_| async move {
            let mut streams = Vec::new();
            for name in ["db", "dep"] {
                let mut stream = TcpStream::connect((name, 7)).await.unwrap();
                always!(is_echoed(&mut stream).await, "{name} is well at first");
                streams.push(stream);
            }
            sleep(100.s()).await;
            let [db, dep] = &mut streams[..] else { panic!("there are two") };
            always!(is_echoed(db).await, "its silence ended");
            always!(!is_echoed(dep).await, "its silence stays");
        });
        drop(dep);
    });
    assert_eq!(failed, None);
}

#[test]
fn a_handle_tells_whether_something_of_its_control_stays() {
    let failed = failure(|sim| {
        let Hosts { db, dep, .. } = hosts(sim);
        let all = [db.hosts(), dep.hosts()].concat();
        let handles: [Handle; 3] = [
            sim.at(1.s(), Control::pause(&db)),
            sim.at(1.s(), Control::pause(all).until(Until::After(30.s()))),
            sim.at(1.s(), Control::pause(&dep)),
        ];
        sim.probe("handles", 60.s(), move |_| {
            let active = handles.each_ref().map(Handle::is_active);
            async move { always!(active == [false, true, true], "{active:?}") }
        });
    });
    assert_eq!(failed, None);
}

#[test]
fn what_is_in_force_after_the_heal_is_said_of_each_control() {
    for (name, control) in CONTROLS {
        let failure = failure(move |sim| {
            let hosts = hosts(sim);
            sim.at(1.s(), control(&hosts));
            sim.eventually("never", 5.s(), |_| false);
        });
        let details = failure.expect("it never comes about").details.join("\n");
        assert_eq!(details.matches("in force: ").count(), 1, "{name}: {details}");
        assert!(!details.contains("db,") && !details.contains(",db"), "{name}: {details}");
    }
}

/// What stays lasts to the end of the run.
#[test]
fn what_is_in_force_after_the_heal_has_no_end() {
    let failure = failure(|sim| {
        let Hosts { db, dep, .. } = hosts(sim);
        let all = [db.hosts(), dep.hosts()].concat();
        sim.at(1.s(), Control::pause(all).until(Until::After(1_000.s())));
        sim.eventually("never", 5.s(), |_| false);
    });
    let details = failure.expect("it never comes about").details.join("\n");
    assert!(details.contains("in force: pause of dep until the end"), "{details}");
    assert_eq!(details.matches("in force: ").count(), 1, "{details}");
}
