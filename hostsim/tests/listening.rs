//! Waiting for a listener, from tasks of machines and from a driver's own code.

use hostsim::fleet::Fleet;
use hostsim::kernel::HostId;
use hostsim::network::{Census, Listening};
use std::cell::Cell;
use std::net::SocketAddr;
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};

fn fleet() -> Fleet {
    Fleet::start(&["client", "server", "third"]).expect("machines start")
}

fn waits(fleet: &Fleet) -> usize {
    let network = fleet.world().network();
    network.check_invariants();
    let Census { waits, .. } = network.census();
    waits
}

/// Sets a cell to the milliseconds at which a wait of a host ends.
fn wait_on(fleet: &Fleet, host: &str, wait: Listening) -> Rc<Cell<Option<u128>>> {
    let seen = Rc::new(Cell::new(None));
    let log = seen.clone();
    fleet.spawn(host, async move {
        let start = tokio::time::Instant::now();
        wait.await;
        log.set(Some(start.elapsed().as_millis()));
    });
    seen
}

#[test]
fn who_waits_goes_on_as_the_listener_begins() {
    let mut fleet = fleet();
    let address: SocketAddr = (fleet.address("server"), 7).into();
    let seen = ["client", "server", "third"]
        .map(|host| wait_on(&fleet, host, fleet.listening("server", address)));
    fleet.spawn("server", async move {
        tokio::time::sleep(Duration::from_millis(30)).await;
        let listener = TcpListener::bind(address).await.expect("the port is free");
        listener.accept().await.expect("accept works");
    });
    fleet.run();
    assert_eq!(seen.map(|seen| seen.get()), [Some(30); 3]);
    assert_eq!(waits(&fleet), 0);
}

#[test]
fn a_wait_needs_no_retry_of_the_dial_that_follows() {
    let mut fleet = fleet();
    let address: SocketAddr = (fleet.address("server"), 7).into();
    let (wait, done) = (fleet.listening("server", address), Rc::new(Cell::new(false)));
    let log = done.clone();
    fleet.spawn("client", async move {
        // The future may go to any task.
        tokio::spawn(wait).await.expect("it ends");
        log.set(TcpStream::connect(address).await.is_ok());
    });
    fleet.spawn("server", async {
        // A thread of a program makes the call as well.
        let bind = || std::net::TcpListener::bind("0.0.0.0:7").expect("the port is free");
        let _listener = tokio::task::spawn_blocking(bind).await.expect("the thread ends");
        std::future::pending::<()>().await;
    });
    fleet.run();
    assert!(done.get());
    assert_eq!(waits(&fleet), 0);
}

#[test]
fn a_wildcard_listens_at_each_address_of_its_host_and_no_other() {
    let mut fleet = fleet();
    let own = fleet.address("server");
    let wait =
        |host: &str, address: SocketAddr| wait_on(&fleet, host, fleet.listening(host, address));
    let met = [wait("server", (own, 7).into()), wait("server", ([127, 0, 0, 1], 7).into())];
    let unmet = [
        wait("server", (own, 8).into()),
        wait("client", ([127, 0, 0, 1], 7).into()),
        wait("server", "[::1]:7".parse().expect("it is an address")),
    ];
    fleet.spawn("server", async {
        let _listener = TcpListener::bind("0.0.0.0:7").await.expect("the port is free");
        std::future::pending::<()>().await;
    });
    fleet.run();
    assert_eq!(met.map(|seen| seen.get()), [Some(0); 2]);
    assert_eq!(unmet.map(|seen| seen.get()), [None; 3]);
    assert_eq!(waits(&fleet), 3);
}

#[test]
fn a_bound_socket_does_not_listen_and_a_closed_listener_no_more() {
    let mut fleet = fleet();
    let address: SocketAddr = (fleet.address("server"), 7).into();
    let listens = |fleet: &Fleet| fleet.world().network().listens(fleet.host("server"), address);
    let bound = Rc::new(Cell::new(None));
    let into = bound.clone();
    fleet.spawn("server", async move {
        let socket = tokio::net::TcpSocket::new_v4().expect("there are descriptors");
        socket.bind(address).expect("the port is free");
        into.set(Some(socket));
    });
    let early = wait_on(&fleet, "client", fleet.listening("server", address));
    fleet.run();
    assert_eq!((early.get(), listens(&fleet)), (None, false));
    let (from, into) = (bound.clone(), Rc::new(Cell::new(None)));
    let kept = into.clone();
    fleet.spawn("server", async move {
        let socket = from.take().expect("it is bound");
        kept.set(Some(socket.listen(8).expect("nobody else listens")));
    });
    fleet.run();
    assert_eq!((early.get().is_some(), listens(&fleet)), (true, true));
    // Where somebody listens already there is nothing to wait for.
    let late = wait_on(&fleet, "client", fleet.listening("server", address));
    fleet.run();
    assert_eq!(late.get(), Some(0));
    fleet.spawn("server", async move { drop(into.take()) });
    fleet.run();
    let after = wait_on(&fleet, "client", fleet.listening("server", address));
    fleet.run();
    assert_eq!((after.get(), listens(&fleet)), (None, false));
}

#[test]
fn a_wait_that_is_dropped_leaves_nothing() {
    let mut fleet = fleet();
    let address: SocketAddr = (fleet.address("server"), 7).into();
    let first = fleet.listening("server", address);
    let second = wait_on(&fleet, "client", fleet.listening("server", address));
    fleet.run();
    assert_eq!(waits(&fleet), 2);
    drop(first);
    assert_eq!(waits(&fleet), 1);
    fleet.kill("client");
    assert_eq!((waits(&fleet), second.get()), (0, None));
    assert_eq!(Rc::strong_count(&second), 1, "the task is gone");
}

#[test]
fn a_driver_may_wait_in_its_own_code() {
    let mut fleet = fleet();
    let server = HostId(1);
    let address: SocketAddr = (fleet.address("server"), 7).into();
    let mut wait = pin!(fleet.world().listening(server, address));
    let mut context = Context::from_waker(Waker::noop());
    assert_eq!(wait.as_mut().poll(&mut context), Poll::Pending);
    fleet.spawn("server", async move {
        let _listener = TcpListener::bind(address).await.expect("the port is free");
        std::future::pending::<()>().await;
    });
    fleet.run();
    assert_eq!(wait.as_mut().poll(&mut context), Poll::Ready(()));
}
