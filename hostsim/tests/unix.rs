//! Unix sockets of tokio and std between the tasks of one machine.

use hostsim::fleet::Fleet;
use hostsim::network::Census;
use std::cell::RefCell;
use std::io::ErrorKind;
use std::rc::Rc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{UnixListener, UnixStream};

/// Runs one task on a machine; gives what it noted and the network afterwards.
fn run<F: Future<Output = ()> + 'static>(
    task: impl FnOnce(Rc<RefCell<Vec<String>>>) -> F,
) -> Vec<String> {
    let mut fleet = Fleet::start(&["host"]).expect("machines start");
    let notes = Rc::<RefCell<Vec<String>>>::default();
    fleet.spawn("host", task(notes.clone()));
    fleet.run();
    fleet.world().network().check_invariants();
    fleet.world().network().check_at_rest();
    fleet.kill("host");
    fleet.run();
    assert_eq!(fleet.world().network().census(), Census::default(), "nothing is left");
    notes.take()
}

async fn echo(listener: UnixListener) {
    while let Ok((mut stream, _)) = listener.accept().await {
        tokio::task::spawn_local(async move {
            let (mut from, mut to) = stream.split();
            tokio::io::copy(&mut from, &mut to).await.expect("the client reads");
            to.shutdown().await.expect("the client is there");
        });
    }
}

#[test]
fn a_listener_serves_tasks_of_its_machine() {
    let notes = run(|notes| async move {
        let path = "/run/app/echo.sock";
        let refused = UnixStream::connect(path).await.expect_err("nobody listens");
        assert_eq!(refused.kind(), ErrorKind::NotFound);
        assert_eq!(std::fs::remove_file(path).unwrap_err().kind(), ErrorKind::NotFound);
        let server = tokio::task::spawn_local(echo(UnixListener::bind(path).expect("it is free")));
        let clients: Vec<_> = (0..3)
            .map(|client| {
                let notes = notes.clone();
                tokio::task::spawn_local(async move {
                    let mut stream = UnixStream::connect(path).await.expect("the server listens");
                    let bytes = vec![b'a' + client; 300_000];
                    let (mut from, mut to) = stream.split();
                    let mut reply = Vec::new();
                    let write = async {
                        to.write_all(&bytes).await.expect("the server reads");
                        to.shutdown().await.expect("the server is there");
                    };
                    let (_, read) = tokio::join!(write, from.read_to_end(&mut reply));
                    notes.borrow_mut().push(format!("{client} {:?} {}", read.ok(), reply == bytes));
                })
            })
            .collect();
        for client in clients {
            client.await.expect("clients end");
        }
        server.abort();
        assert!(server.await.is_err_and(|error| error.is_cancelled()));
        let refused = UnixStream::connect(path).await.expect_err("nobody listens");
        assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
        assert_eq!(UnixListener::bind(path).unwrap_err().kind(), ErrorKind::AddrInUse);
        assert!(tokio::fs::try_exists(path).await.expect("it can be asked"));
        tokio::fs::remove_file(path).await.expect("it is there");
        UnixListener::bind(path).expect("it is free");
    });
    assert_eq!(notes.len(), 3, "{notes:?}");
    assert!(notes.iter().all(|note| note.ends_with("Some(300000) true")), "{notes:?}");
}

#[test]
fn a_pair_is_two_ends_of_one_stream() {
    run(|_| async {
        let (mut one, mut other) = UnixStream::pair().expect("there are descriptors");
        let own = one.peer_cred().expect("it is known");
        assert_eq!(own.pid(), Some(std::process::id().cast_signed()));
        assert!(one.peer_addr().expect("it is connected").is_unnamed());
        let mut bytes = [0; 8];
        let early = tokio::time::timeout(Duration::from_millis(5), other.read(&mut bytes)).await;
        assert!(early.is_err(), "nothing was written");
        one.write_all(b"hello").await.expect("the other end reads");
        assert_eq!(other.read(&mut bytes).await.expect("the other end writes"), 5);
        one.shutdown().await.expect("the other end is there");
        assert_eq!(other.read(&mut bytes).await.expect("it ended"), 0);
        other.write_all(b"last").await.expect("one end still reads");
        drop(one);
        assert_eq!(other.write(b"x").await.unwrap_err().kind(), ErrorKind::BrokenPipe);
        assert_eq!(other.read(&mut bytes).await.unwrap_err().kind(), ErrorKind::ConnectionReset);
        assert_eq!(other.read(&mut bytes).await.expect("it ended"), 0);
    });
}

#[test]
fn a_slow_reader_holds_its_writer_back() {
    run(|_| async {
        let (mut one, mut other) = UnixStream::pair().expect("there are descriptors");
        let writer = tokio::task::spawn_local(async move {
            one.write_all(&vec![7; 2_000_000]).await.expect("the reader reads");
        });
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert!(!writer.is_finished(), "the buffer is bounded");
        let mut bytes = Vec::new();
        other.read_to_end(&mut bytes).await.expect("the writer ends");
        assert_eq!(bytes.len(), 2_000_000);
        writer.await.expect("it wrote everything");
    });
}

#[test]
fn small_buffers_for_sending_are_small_here_too() {
    for limit in [1, 2, 7, 100, 700, 4_607, 4_608, 70_000] {
        let mut fleet = Fleet::start(&["host"]).expect("machines start");
        let id = fleet.world().network().hosts().next().expect("there is one").0;
        fleet.world().with(|network| network.host_mut(id).send_limit = limit);
        fleet.spawn("host", async move {
            let (mut one, mut other) = UnixStream::pair().expect("there are descriptors");
            let writer = tokio::task::spawn_local(async move {
                one.write_all(&[7; 1_000]).await.expect("the reader reads");
            });
            let mut bytes = Vec::new();
            other.read_to_end(&mut bytes).await.expect("the writer ends");
            assert_eq!(bytes, [7; 1_000]);
            writer.await.expect("it wrote everything");
        });
        fleet.run();
    }
}

#[test]
fn hosts_have_names_of_their_own() {
    let mut fleet = Fleet::start(&["one", "other"]).expect("machines start");
    for host in ["one", "other"] {
        fleet.spawn(host, async move {
            let listener = UnixListener::bind("/run/app.sock").expect("the name is the host's own");
            let mut dialed = UnixStream::connect("/run/app.sock").await.expect("it listens");
            let (mut accepted, _) = listener.accept().await.expect("it was dialed");
            dialed.write_all(host.as_bytes()).await.expect("there is room");
            drop(dialed);
            let mut name = String::new();
            accepted.read_to_string(&mut name).await.expect("it ended");
            assert_eq!(name, host);
        });
    }
    fleet.run();
}

#[test]
fn what_a_machine_waits_for_is_described() {
    let mut fleet = Fleet::start(&["host"]).expect("machines start");
    fleet.spawn("host", async {
        let listener = UnixListener::bind("/run/app.sock").expect("it is free");
        let mut dialed = UnixStream::connect("/run/app.sock").await.expect("it listens");
        let (accepted, _) = listener.accept().await.expect("it was dialed");
        dialed.write_all(b"hello").await.expect("there is room");
        let queued = UnixStream::connect("/run/app.sock").await.expect("it listens");
        std::future::pending::<()>().await;
        drop((accepted, queued));
    });
    fleet.run();
    let id = fleet.world().network().hosts().next().expect("there is one").0;
    let lines = fleet.world().network().describe(id);
    expect_test::expect![[r#"
        unix /run/app.sock listens, 1 to accept
        unix unnamed to /run/app.sock connected, 0 B unread, 5 B not read by its peer
        unix /run/app.sock to unnamed connected, 5 B unread, 0 B not read by its peer
        unix unnamed to /run/app.sock connected, 0 B unread, 0 B not read by its peer
    "#]]
    .assert_eq(&(lines.join("\n") + "\n"));
    fleet.kill("host");
    assert_eq!(fleet.world().network().census(), Census::default());
}
