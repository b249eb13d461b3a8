//! Death is exact: what destructors do reaches nobody, and nothing outlives its process.

use crate::passed;
use sim_core::control::{Control, Units, Until};
use sim_core::lifecycle::Crash;
use sim_core::node::NodeSpec;
use sim_core::{always, fail};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::io::AsyncReadExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::sleep;

/// Calls something as it is dropped.
struct OnDrop<F: FnMut()>(F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

const CRASHES: [Crash; 2] = [Crash::Kill, Crash::Power];

/// A node that holds something, crashes at 1 s and is back at 2 s; the trace.
#[track_caller]
fn crash_of<T: 'static>(
    crash: Crash,
    hold: impl AsyncFn() -> T + Clone + Send + Sync + 'static,
) -> String {
    passed(move |sim| {
        let hold = hold.clone();
        let node = sim.node("node", move |_| {
            let hold = hold.clone();
            async move {
                let _held = hold().await;
                std::future::pending::<()>().await;
            }
        });
        sim.at(1.s(), Control::crash(&node, crash).until(Until::After(1.s())));
        sim.client("client", move |_| {
            let node = node.clone();
            async move {
                sleep(5.s()).await;
                always!(node.starts(0) == 2, "it is back");
            }
        });
    })
}

#[test]
fn what_a_destructor_sends_reaches_nobody() {
    for crash in CRASHES {
        passed(move |sim| {
            let received = Rc::new(RefCell::new(Vec::new()));
            let seen = received.clone();
            let node = sim.node("node", |_| async {
                let stream = TcpStream::connect("peer:7").await.unwrap();
                stream.writable().await.unwrap();
                stream.try_write(b"hello").unwrap();
                let _says = OnDrop(move || {
                    let written = stream.try_write(b"bye").unwrap_err();
                    assert_eq!(written.raw_os_error(), Some(libc::EBADF));
                    let dialed =
                        socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None);
                    assert_eq!(dialed.unwrap_err().raw_os_error(), Some(libc::ENETDOWN));
                });
                std::future::pending::<()>().await;
            });
            sim.at(1.s(), Control::crash(&node, crash));
            sim.node("peer", move |_| {
                let seen = seen.clone();
                async move {
                    let listener = TcpListener::bind("0.0.0.0:7").await.unwrap();
                    let (mut stream, _) = listener.accept().await.unwrap();
                    let mut bytes = [0; 16];
                    while let Ok(count @ 1..) = stream.read(&mut bytes).await {
                        seen.borrow_mut().extend_from_slice(&bytes[..count]);
                    }
                }
            });
            sim.client("client", move |_| {
                let received = received.clone();
                async move {
                    sleep(60.s()).await;
                    always!(*received.borrow() == b"hello", "{:?}", received.borrow());
                }
            });
        });
    }
}

#[test]
fn what_a_destructor_writes_is_not_written() {
    passed(|sim| {
        let node = sim.node("node", |process| async move {
            let dir = process.host().dir().unwrap();
            if !dir.join("log").exists() {
                std::fs::write(dir.join("log"), b"whole\n").unwrap();
                std::fs::write(dir.join("lock"), b"").unwrap();
            }
            let log = std::fs::OpenOptions::new().append(true).open(dir.join("log")).unwrap();
            let mut buffered = std::io::BufWriter::new(log);
            std::io::Write::write_all(&mut buffered, b"half").unwrap();
            let _unlocks = OnDrop(move || {
                let errors = [
                    std::fs::remove_file(dir.join("lock")).unwrap_err(),
                    std::fs::write(dir.join("new"), b"").unwrap_err(),
                    std::fs::rename(dir.join("log"), dir.join("old")).unwrap_err(),
                    std::fs::create_dir(dir.join("folder")).unwrap_err(),
                ];
                assert!(errors.iter().all(|error| error.raw_os_error() == Some(libc::EIO)));
                assert!(std::fs::read(dir.join("log")).is_ok(), "reading goes on");
            });
            std::future::pending::<()>().await;
        });
        sim.at(1.s(), Control::crash(&node, Crash::Kill).until(Until::After(1.s())));
        sim.client("client", |process| async move {
            sleep(3.s()).await;
            let dir = process.host().dir().unwrap().with_file_name("node");
            let names: Vec<_> = std::fs::read_dir(&dir).unwrap().collect();
            always!(names.len() == 2, "{names:?}");
            always!(std::fs::read(dir.join("log")).unwrap() == b"whole\n", "nothing was flushed");
        });
    });
}

#[test]
fn what_a_destructor_says_or_orders_counts_for_nothing() {
    for crash in CRASHES {
        passed(move |sim| {
            let controls = sim.controls();
            let node = sim.node(NodeSpec::new("node").replicas(2..=2), move |_| {
                let controls = controls.clone();
                async move {
                    let _panics = OnDrop(|| panic!("a destructor of the dead"));
                    let _orders = OnDrop(move || {
                        drop(controls.apply(Control::black_hole(hostsim::kernel::HostId(1))));
                        fail("a destructor of the dead");
                    });
                    let listener = TcpListener::bind("0.0.0.0:7").await.unwrap();
                    while listener.accept().await.is_ok() {}
                }
            });
            sim.at(1.s(), Control::crash(node.hosts()[0], crash));
            sim.client("client", move |_| {
                let node = node.clone();
                async move {
                    sleep(2.s()).await;
                    TcpStream::connect((node.addresses()[1], 7)).await.unwrap();
                }
            });
        });
    }
}

/// What outlives its process in the memory of the test, and how the trace tells of it.
#[test]
fn leaks_are_named_and_reach_nobody() {
    for crash in CRASHES {
        // A cycle of `Arc`s that holds a socket.
        let trace = crash_of(crash, async || {
            struct Knot(std::sync::Mutex<Option<Arc<Knot>>>, #[allow(dead_code)] TcpListener);
            let listener = TcpListener::bind("0.0.0.0:7").await.unwrap();
            let knot = Arc::new(Knot(std::sync::Mutex::default(), listener));
            *knot.0.lock().unwrap() = Some(knot.clone());
            knot
        });
        let stop = "; still ran: the program; left open: 1 sockets\n";
        assert!(trace.contains(stop), "{trace}");
        // A task that nobody knows of any more.
        let trace = crash_of(crash, async || {
            std::mem::forget(tokio::task::spawn_local(sleep(1_000.s())));
        });
        assert!(
            trace.contains("still ran: the program, a task of tests/tests/lifecycle/death.rs:")
        );
        // A task that spawns another as it is dropped, which spawns another.
        let spawned = Arc::new(AtomicUsize::new(0));
        let count = spawned.clone();
        crash_of(crash, async move || {
            let count = count.clone();
            tokio::task::spawn_local(async move {
                let _spawns = OnDrop(move || {
                    let count = count.clone();
                    let last = OnDrop(move || {
                        count.fetch_add(1, Ordering::Relaxed);
                    });
                    tokio::task::spawn_local(async move {
                        let _last = last;
                        unreachable!("a runtime that ends runs nothing");
                    });
                });
                sleep(1_000.s()).await;
            });
        });
        assert_eq!(spawned.load(Ordering::Relaxed), 2, "it was dropped with each process");
        // A blocking thread, and one that a destructor makes.
        crash_of(crash, async || {
            tokio::task::spawn_blocking(|| ()).await.unwrap();
            OnDrop(|| drop(spawn_thread().join()))
        });
        // A value that is forgotten, with a socket and a timer in it.
        let trace = crash_of(crash, async || {
            let listener = TcpListener::bind("0.0.0.0:7").await.unwrap();
            std::mem::forget((listener, Box::pin(sleep(1.s()))));
        });
        assert!(trace.contains("left open: 1 sockets\n"), "{trace}");
    }
}

#[expect(clippy::disallowed_methods, reason = "a destructor that makes a thread")]
fn spawn_thread() -> std::thread::JoinHandle<()> {
    std::thread::spawn(|| ())
}

/// A socket that outlived its process names nothing, and its late end closes nothing of the next.
#[test]
fn a_late_close_meets_nothing_of_the_next_process() {
    passed(|sim| {
        let kept = Rc::new(RefCell::new(Vec::new()));
        let node = sim.node("node", {
            let kept = kept.clone();
            move |_| {
                let kept = kept.clone();
                async move {
                    let listener = Rc::new(TcpListener::bind("0.0.0.0:7").await.unwrap());
                    kept.borrow_mut().push(listener.clone());
                    while listener.accept().await.is_ok() {}
                }
            }
        });
        sim.at(1.s(), Control::restart(&node, Crash::Kill));
        sim.client("client", move |_| {
            let kept = kept.clone();
            async move {
                sleep(2.s()).await;
                let old = kept.borrow_mut().remove(0);
                always!(old.local_addr().unwrap_err().raw_os_error() == Some(libc::EBADF), "gone");
                drop(old);
                TcpStream::connect("node:7").await.unwrap();
            }
        });
    });
}

/// Statics are of the test's process: they survive a restart.
#[test]
fn statics_survive_a_restart() {
    static LIVES: AtomicUsize = AtomicUsize::new(0);
    crash_of(Crash::Kill, async || LIVES.fetch_add(1, Ordering::Relaxed));
    assert_eq!(LIVES.load(Ordering::Relaxed), 2);
}
