//! Storms: many controls of every kind at few moments, so that they meet in every order.
//!
//! Nobody but the clock is spared, so nothing is judged but that the run passes, that its history is
//! one, and that the tables of the kernels and the network agree after every event.

use hostsim::kernel::HostId;
use hostsim::seam;
use rand_core::Rng;
use sim_core::control::{Connections, Control, Hosts, Skew, Units, Until};
use sim_core::lifecycle::{Crash, Rollout};
use sim_core::node::NodeSpec;
use sim_core::process::{Process, Signal};
use sim_core::{Checker, Sim, Target, Violation, sweep};
use std::io;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UnixListener};
use tokio::task::spawn_blocking;
use tokio::time::{sleep, timeout};

/// Looks at the tables after each event.
struct Tables;

impl Checker for Tables {
    fn step(&mut self) -> Result<(), Violation> {
        seam::current().expect("a run goes on").network().check_invariants();
        Ok(())
    }
}

/// Echoes what comes until it ends, stays half closed for a while, and is slow to accept.
async fn serve(process: Process) -> io::Result<()> {
    let mut signals = process.signals(&[Signal::Terminate])?;
    let _local = UnixListener::bind(format!("\0{}", process.name()))?;
    let listener = TcpListener::bind((process.address(), 7)).await?;
    loop {
        tokio::select! {
            accepted = listener.accept() => drop(tokio::spawn(echo(accepted?.0))),
            _ = signals.recv() => break,
        }
        sleep(3.ms()).await;
    }
    sleep(5.ms()).await;
    process.exit(0)
}

async fn echo(mut stream: TcpStream) -> io::Result<()> {
    let mut bytes = [0; 512];
    while let count @ 1.. = stream.read(&mut bytes).await? {
        stream.write_all(&bytes[..count]).await?;
    }
    sleep(20.ms()).await;
    stream.shutdown().await
}

/// Sends more than the buffers hold, again and again; what it meets is none of its business.
async fn use_them(process: Process) {
    for _ in 0..9 {
        let exchange = async {
            let stream = TcpStream::connect("server:7").await?;
            let (mut reader, mut writer) = stream.into_split();
            let sends = tokio::spawn(async move { writer.write_all(&[7; 6_000]).await });
            let mut echoed = Vec::new();
            reader.read_to_end(&mut echoed).await?;
            sends.await.map_err(io::Error::other)?
        };
        let result = timeout(2.s(), exchange).await;
        spawn_blocking(|| stall(300.us())).await.expect("it ends");
        process.stdout().write_all(format!("{result:?}\n").as_bytes()).await.expect("it prints");
    }
}

#[expect(clippy::disallowed_methods, reason = "a program that blocks its thread")]
fn stall(time: Duration) {
    std::thread::sleep(time);
}

fn build(sim: &mut Sim) {
    sim.set_latency(10.ms());
    sim.set_send_buffer(2_048);
    sim.set_receive_buffer(1_024);
    let server = sim.node(NodeSpec::new("server").replicas(3..=3), serve);
    let route = sim.route("server", &server);
    sim.node("user", use_them);
    sim.client("clock", |_| sleep(60.s()));
    sim.check(Tables);
    let mut random = sim.rand("storm");
    let mut draw = move |count: usize| (random.next_u64() % count as u64) as usize;
    for number in 0..1 + draw(16) {
        let hosts: Hosts = match draw(5) {
            4 => (&server).into(),
            host => HostId(host as u32).into(),
        };
        let time = [0, 1, 10, 100, 1_000, 5_000][draw(6)].ms();
        let crash = [Crash::Kill, Crash::Power][draw(2)];
        let control = match draw(14) {
            0 => Control::start(hosts),
            1 => Control::signal(hosts, Signal::ALL[draw(6)]),
            2 => Control::kill_after(hosts, time),
            3 | 4 => Control::crash(hosts, crash),
            5 => Control::restart(hosts, crash),
            6 | 7 => Control::pause(hosts),
            8 => Control::skew(hosts, Skew::Behind(time * 1_000_000)),
            9 => Control::drift(hosts, [i32::MAX, i32::MIN, 500][draw(3)]),
            10 => Control::rollout(Rollout::of(hosts).grace(time)),
            11 => Control::rollout(Rollout::of(&server).to(serve).route(&route).grace(time)),
            12 => Control::reset(Connections::to(hosts)),
            _ => Control::partition(hosts, HostId(3)),
        };
        let moment = [0, 50, 51, 200, 500, 1_000, 1_500, 3_000][draw(8)];
        let until = match draw(4) {
            0 => Until::Released,
            1 => Until::when(move |look| look.now.elapsed() > (moment * 2).ms()),
            _ => Until::After(time),
        };
        let control = control.until(until);
        if draw(4) == 0 {
            give_from_inside(sim, number, moment.ms(), control);
        } else {
            sim.at(moment.ms(), control);
        }
    }
}

/// A node gives the control at its moment and releases it later.
fn give_from_inside(sim: &mut Sim, number: usize, moment: Duration, control: Control) {
    let controls = sim.controls();
    sim.node(NodeSpec::new(&format!("operator-{number}")), move |_| {
        let (controls, control) = (controls.clone(), control.clone());
        async move {
            sleep(moment).await;
            let handle = controls.apply(control);
            sleep(300.ms()).await;
            handle.release();
        }
    });
}

#[test]
fn controls_meet_in_every_order() {
    sweep::test(&Target::new("storm", build), 0..60);
}
