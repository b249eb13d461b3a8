//! A thousand restarts of a server with ten connections leave nothing behind: the memory that is
//! resident does not grow. In a process of its own, where nothing else allocates.

use sim_core::control::{Control, Units};
use sim_core::lifecycle::Crash;
use sim_core::run::{Input, run};
use sim_core::{Sim, Target};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::sleep;

const RESTARTS: u64 = 1_000;

fn build(sim: &mut Sim) {
    let node = sim.node("server", |process| async move {
        let listener = TcpListener::bind((process.address(), 7)).await.expect("the port is free");
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(answer(stream));
        }
    });
    for restart in 1..=RESTARTS {
        let crash = if restart % 2 == 0 { Crash::Kill } else { Crash::Power };
        sim.at(restart.s(), Control::restart(&node, crash));
    }
    sim.client("client", move |_| {
        let node = node.clone();
        async move {
            while node.starts(0) <= RESTARTS {
                let mut streams = Vec::new();
                for _ in 0..10 {
                    streams.extend(TcpStream::connect((node.addresses()[0], 7)).await.ok());
                }
                sleep(1.s()).await;
            }
        }
    });
}

async fn answer(mut stream: TcpStream) {
    let mut bytes = [0; 64];
    while let Ok(1..) = stream.read(&mut bytes).await {
        if stream.write_all(&bytes).await.is_err() {
            return;
        }
    }
}

/// The memory of this process that is resident, in KiB.
fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").expect("the system has it");
    let pages: u64 = text.split(' ').nth(1).and_then(|word| word.parse().ok()).expect("a number");
    pages * 4
}

#[test]
fn a_thousand_restarts_leak_nothing() {
    let target = Target::new("restarts", build);
    let go = || {
        let run = run(&target, &Input::Bytes(Vec::new()), Duration::from_secs(60));
        assert_eq!(run.failure, None);
        assert!(run.elapsed >= RESTARTS.s());
    };
    // Each run has a thread of its own, and the allocator an arena for each of the first threads.
    (0..5).for_each(|_| go());
    let before = resident();
    go();
    let grown = resident().saturating_sub(before);
    println!("{RESTARTS} restarts: {grown} KiB more resident");
    assert!(grown < 512, "{grown} KiB more are resident, half of one a restart");
}
