//! What a request, an empty run and idle time cost, with the history hash on.
//!
//! `cargo bench -p sim-core`. Every run has a thread of its own, which is part of its time.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use sim_core::control::{Control, Until};
use sim_core::lifecycle::Crash;
use sim_core::run::{Input, run};
use sim_core::{Sim, Target};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// The length of a request, in bytes.
const SIZE: usize = 64;

/// A server and clients that send requests of 64 bytes one after the other, then idle.
fn echo(clients: usize, requests: usize, latency: Duration, idle: Duration) -> Target {
    Target::new("bench_echo", move |sim| build(sim, clients, requests, latency, idle))
}

fn build(sim: &mut Sim, clients: usize, requests: usize, latency: Duration, idle: Duration) {
    sim.set_latency(latency);
    let server = sim.node("echo", |process| async move {
        let listener = TcpListener::bind((process.address(), 7)).await.expect("the port is free");
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(answer(stream));
        }
    });
    let address = server.addresses()[0];
    for index in 0..clients {
        sim.client(&format!("client-{index}"), move |_| async move {
            let mut stream = TcpStream::connect((address, 7)).await.expect("the server listens");
            let (request, mut reply) = ([7; SIZE], [0; SIZE]);
            for _ in 0..requests {
                stream.write_all(&request).await.expect("the server reads");
                stream.read_exact(&mut reply).await.expect("the server answers");
            }
            tokio::time::sleep(idle).await;
        });
    }
}

async fn answer(mut stream: TcpStream) {
    let mut bytes = [0; SIZE];
    while stream.read_exact(&mut bytes).await.is_ok() {
        if stream.write_all(&bytes).await.is_err() {
            return;
        }
    }
}

fn check(target: &Target) {
    let run = run(target, &Input::Bytes(Vec::new()), Duration::from_secs(60));
    assert_eq!(run.failure, None);
}

fn requests(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("echo request");
    for (clients, requests) in [(1, 1000), (10, 1000), (100, 100)] {
        for millis in [0, 1, 10] {
            let target = echo(clients, requests, Duration::from_millis(millis), Duration::ZERO);
            group.throughput(Throughput::Elements((clients * requests) as u64));
            let name = BenchmarkId::new(format!("{clients} clients"), format!("{millis} ms"));
            group.bench_with_input(name, &target, |bencher, target| bencher.iter(|| check(target)));
        }
    }
    group.finish();
}

fn empty_runs(criterion: &mut Criterion) {
    let target = echo(3, 0, Duration::from_millis(1), Duration::ZERO);
    criterion.bench_function("empty run, 3 clients", |bencher| bencher.iter(|| check(&target)));
    let target = echo(100, 0, Duration::from_millis(1), Duration::from_secs(60));
    criterion.bench_function("60 s idle, 100 clients", |bencher| bencher.iter(|| check(&target)));
}

/// A server with ten connections that crashes so many times, and is back at once.
fn restarts(count: u64) -> Target {
    Target::new("bench_restarts", move |sim| {
        sim.set_latency(Duration::from_millis(1));
        let server = sim.node("server", |process| async move {
            let listener =
                TcpListener::bind((process.address(), 7)).await.expect("the port is free");
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(answer(stream));
            }
        });
        for crash in 1..=count {
            let moment = Duration::from_secs(crash);
            sim.at(moment, Control::restart(&server, Crash::Kill));
        }
        let address = server.addresses()[0];
        for index in 0..10 {
            sim.client(&format!("client-{index}"), move |_| async move {
                for _ in 0..=count {
                    let stream = TcpStream::connect((address, 7)).await;
                    let mut stream = stream.expect("the server is back");
                    // Until the crash, but for the last.
                    let wait = Duration::from_secs(1) - Duration::from_millis(1);
                    let _ = tokio::time::timeout(wait, stream.read_u8()).await;
                    tokio::time::sleep(Duration::from_millis(2)).await;
                }
            });
        }
    })
}

fn crashes(criterion: &mut Criterion) {
    for count in [0, 50] {
        let target = restarts(count);
        let name = format!("{count} crash-restarts, 10 connections");
        criterion.bench_function(&name, |bencher| bencher.iter(|| check(&target)));
    }
}

/// One node that wakes once a second for a day.
fn heartbeats(criterion: &mut Criterion) {
    let target = Target::new("bench_heartbeats", |sim| {
        sim.client("node", |_| async {
            for _ in 0..86_400 {
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        });
    });
    criterion.bench_function("24 h of 1 Hz heartbeats", |bencher| bencher.iter(|| check(&target)));
}

/// Bytes are queued on both sides of a partition of eleven minutes, then it is healed.
fn partition(criterion: &mut Criterion) {
    let target = Target::new("bench_partition", |sim| {
        sim.set_latency(Duration::from_millis(1));
        let server = sim.node("echo", |process| async move {
            let listener =
                TcpListener::bind((process.address(), 7)).await.expect("the port is free");
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(answer(stream));
            }
        });
        let address = server.addresses()[0];
        let client = sim.client("client", move |_| async move {
            let mut stream = TcpStream::connect((address, 7)).await.expect("the server listens");
            tokio::time::sleep(Duration::from_secs(2)).await;
            let (request, mut reply) = ([7; SIZE], [0; SIZE]);
            let (mut reader, mut writer) = stream.split();
            let writing = async {
                for _ in 0..600 {
                    writer.write_all(&request).await.expect("the kernel takes it");
                    tokio::time::sleep(Duration::from_secs(1)).await;
                }
            };
            let reading = async {
                for _ in 0..600 {
                    reader.read_exact(&mut reply).await.expect("all comes after the heal");
                }
            };
            tokio::join!(writing, reading);
        });
        let cut = Control::partition(&server, &client);
        sim.at(Duration::from_secs(1), cut.until(Until::After(Duration::from_secs(660))));
    });
    criterion
        .bench_function("11-minute partition, healed", |bencher| bencher.iter(|| check(&target)));
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
        .without_plots();
    targets = requests, empty_runs, crashes, heartbeats, partition
}
criterion_main!(benches);
