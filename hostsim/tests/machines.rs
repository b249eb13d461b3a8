//! Machines on a network, driven by hand.

use hostsim::fleet::Fleet;
use hostsim::kernel::HostId;

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

async fn serve(listener: TcpListener) {
    loop {
        let (mut stream, _) = listener.accept().await.expect("accept works");
        tokio::spawn(async move {
            let mut bytes = [0; 64];
            while let Ok(count @ 1..) = stream.read(&mut bytes).await {
                stream.write_all(&bytes[..count]).await.expect("the client reads");
            }
        });
    }
}

#[test]
fn two_machines_talk_in_virtual_time() {
    let mut fleet = Fleet::start(&["client", "server"]).expect("machines start");
    let address = fleet.address("server");
    for (from, to) in [(0, 1), (1, 0)] {
        let latency = Duration::from_millis(10);
        fleet.world().with(|network| network.set_latency(HostId(from), HostId(to), latency));
    }
    fleet.spawn("server", async move {
        serve(TcpListener::bind((address, 7)).await.expect("the port is free")).await;
    });
    let seen = Rc::new(RefCell::new(Vec::new()));
    let log = seen.clone();
    fleet.spawn("client", async move {
        let start = tokio::time::Instant::now();
        let mut stream = TcpStream::connect((address, 7)).await.expect("the server listens");
        log.borrow_mut().push(start.elapsed().as_millis());
        for _ in 0..3 {
            tokio::time::sleep(Duration::from_secs(1)).await;
            stream.write_all(b"ping").await.expect("the server reads");
            let mut bytes = [0; 4];
            stream.read_exact(&mut bytes).await.expect("the server answers");
            assert_eq!(&bytes, b"ping");
            log.borrow_mut().push(start.elapsed().as_millis());
        }
    });
    fleet.run();
    assert_eq!(*seen.borrow(), [20, 1040, 2060, 3080]);
    fleet.world().network().check_invariants();
}

#[test]
fn a_killed_machine_closes_its_sockets() {
    let mut fleet = Fleet::start(&["client", "server"]).expect("machines start");
    let address = fleet.address("server");
    fleet.spawn("server", async move {
        serve(TcpListener::bind((address, 7)).await.expect("the port is free")).await;
    });
    let ended = Rc::new(RefCell::new(None));
    let log = ended.clone();
    fleet.spawn("client", async move {
        let mut stream = TcpStream::connect((address, 7)).await.expect("the server listens");
        *log.borrow_mut() = Some(stream.read(&mut [0; 8]).await.map_err(|e| e.raw_os_error()));
    });
    fleet.run();
    assert_eq!(*ended.borrow(), None);
    fleet.kill("server");
    fleet.run();
    assert_eq!(*ended.borrow(), Some(Ok(0)));
}

#[test]
fn a_wake_from_another_machine_runs_the_one_that_waits() {
    let mut fleet = Fleet::start(&["client", "server"]).expect("machines start");
    let notify = Rc::new(tokio::sync::Notify::new());
    let done = Rc::new(RefCell::new(false));
    let (waits, log) = (notify.clone(), done.clone());
    fleet.spawn("client", async move {
        waits.notified().await;
        *log.borrow_mut() = true;
    });
    fleet.run();
    fleet.spawn("server", async move { notify.notify_one() });
    fleet.run();
    assert!(*done.borrow());
}

#[test]
#[should_panic(expected = "node client called connect on a simulated socket")]
fn a_blocking_call_that_would_wait_is_trouble_that_names_it() {
    let mut fleet = Fleet::start(&["client", "server"]).expect("machines start");
    let address = fleet.address("server");
    fleet.spawn("client", async move {
        let error = std::net::TcpStream::connect((address, 7)).expect_err("it would wait");
        assert_eq!(error.raw_os_error(), Some(libc::EALREADY));
    });
    fleet.run();
}

#[test]
#[should_panic(expected = "node client did not become idle")]
fn a_machine_that_never_rests_is_stopped() {
    let mut fleet = Fleet::start(&["client"]).expect("machines start");
    fleet.spawn("client", async {
        loop {
            tokio::task::yield_now().await;
        }
    });
    fleet.run();
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the sleep is the simulated one")]
fn a_sleeping_thread_stalls_its_own_machine_only() {
    let mut fleet = Fleet::start(&["client"]).expect("machines start");
    let seen = Rc::new(RefCell::new(Duration::ZERO));
    let log = seen.clone();
    fleet.spawn("client", async move {
        let start = std::time::Instant::now();
        std::thread::sleep(Duration::from_secs(5));
        *log.borrow_mut() = start.elapsed();
    });
    fleet.settle().expect("the machine goes on");
    assert_eq!(*seen.borrow(), Duration::from_secs(5));
    assert_eq!(fleet.world().network().now(), hostsim::clock::Instant::START);
}
