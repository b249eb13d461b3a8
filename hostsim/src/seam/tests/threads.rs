//! Threads that programs make, in their machine's turn.
#![expect(clippy::disallowed_methods, reason = "threads, clocks and sleeps are the simulated ones")]

use crate::clock::Instant;
use crate::fleet::Fleet;
use std::cell::RefCell;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::rc::Rc;
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::task::spawn_blocking;

/// Lines that tasks and threads write.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    fn push(&self, line: impl Into<String>) {
        self.0.lock().expect("nobody panics with it").push(line.into());
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().expect("nobody panics with it"))
    }
}

fn one() -> Fleet {
    Fleet::start(&["client"]).expect("machines start")
}

/// Runs one task on one machine to its end.
fn run<T: 'static>(task: impl Future<Output = T> + 'static) -> T {
    let mut fleet = one();
    let result = Rc::new(RefCell::new(None));
    let into = result.clone();
    fleet.spawn("client", async move {
        let value = task.await;
        *into.borrow_mut() = Some(value);
    });
    fleet.run();
    result.take().expect("the task ends")
}

#[test]
fn blocking_work_gives_its_result() {
    assert_eq!(run(async { spawn_blocking(|| 7).await.expect("it ends") }), 7);
}

#[test]
fn a_thread_of_std_runs_once_the_machine_is_idle() {
    let log = Log::default();
    let lines = log.clone();
    run(async move {
        let (tell, told) = oneshot::channel();
        let inside = lines.clone();
        std::thread::spawn(move || {
            inside.push("thread");
            tell.send(()).expect("the task listens");
        });
        lines.push("made");
        tokio::task::yield_now().await;
        lines.push("after a yield");
        told.await.expect("the thread tells");
        lines.push("told");
    });
    assert_eq!(log.take(), ["made", "after a yield", "thread", "told"]);
}

#[test]
fn a_real_file_is_read() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    let bytes = run(tokio::fs::read(path)).expect("the package has a manifest");
    assert!(bytes.starts_with(b"[package]"));
}

#[test]
fn threads_made_by_a_thread_follow_it() {
    let log = Log::default();
    let lines = log.clone();
    run(async move {
        let (tell, told) = oneshot::channel();
        let first = lines.clone();
        spawn_blocking(move || {
            let inner = first.clone();
            std::thread::spawn(move || {
                inner.push("inner");
                tell.send(()).expect("the task listens");
            });
            first.push("outer ends");
        })
        .await
        .expect("it ends");
        told.await.expect("the inner thread tells");
    });
    assert_eq!(log.take(), ["outer ends", "inner"]);
}

/// Four tasks with five pieces of blocking work each, their times and their random keys.
fn twenty_pieces() -> Vec<String> {
    let mut fleet = one();
    let log = Log::default();
    for task in 0..4 {
        let log = log.clone();
        fleet.spawn("client", async move {
            for piece in 0..5 {
                let inside = log.clone();
                let work = move || {
                    let key = RandomState::new().hash_one(piece);
                    inside.push(format!(
                        "run {task} {piece} {:?} {key}",
                        std::thread::current().name()
                    ));
                    task * 10 + piece
                };
                let value = spawn_blocking(work).await.expect("it ends");
                log.push(format!("got {value}"));
                if piece == 2 {
                    tokio::time::sleep(Duration::from_millis(3)).await;
                }
            }
        });
    }
    fleet.run();
    log.take()
}

#[test]
fn a_hundred_runs_are_the_same() {
    // A fresh thread for each: std makes the keys of its hash maps once a thread.
    let in_a_thread = || std::thread::spawn(twenty_pieces).join().expect("the run ends");
    let first = in_a_thread();
    assert_eq!(first.len(), 40);
    for _ in 0..100 {
        assert_eq!(in_a_thread(), first);
    }
}

#[test]
fn a_panic_of_blocking_work_is_a_join_error() {
    let error = run(async { spawn_blocking(|| panic!("planted")).await }).expect_err("it panics");
    assert_eq!(error.into_panic().downcast_ref(), Some(&"planted"));
}

#[test]
#[expect(unsafe_code, reason = "std offers no way to leave a thread")]
fn a_thread_that_leaves_by_exit_gives_the_turn_back() {
    unsafe extern "C-unwind" {
        fn pthread_exit(value: *mut libc::c_void) -> !;
        fn pthread_create(
            into: *mut libc::pthread_t,
            attributes: *const libc::pthread_attr_t,
            routine: extern "C-unwind" fn(*mut libc::c_void) -> *mut libc::c_void,
            argument: *mut libc::c_void,
        ) -> libc::c_int;
    }
    extern "C-unwind" fn leave(argument: *mut libc::c_void) -> *mut libc::c_void {
        // SAFETY: no frame between here and the thread's first holds anything.
        unsafe { pthread_exit(argument) }
    }
    let left = run(async {
        let (mut thread, mut left) = (0, std::ptr::null_mut());
        let argument = std::ptr::without_provenance_mut(7);
        // SAFETY: a place for the thread, and a routine that takes any argument.
        let made = unsafe { pthread_create(&mut thread, std::ptr::null(), leave, argument) };
        assert_eq!(made, 0);
        // SAFETY: the thread was made, and is joined once.
        assert_eq!(unsafe { libc::pthread_join(thread, &mut left) }, 0);
        let left = left.addr();
        spawn_blocking(move || left).await.expect("it ends")
    });
    assert_eq!(left, 7);
}

/// Writes a line where the thread-locals of its thread end.
struct Tells(Log);

impl Drop for Tells {
    fn drop(&mut self) {
        let elapsed = std::time::Instant::now().elapsed();
        self.0.push(format!("local dropped after {elapsed:?}"));
    }
}

thread_local! {
    static LOCAL: RefCell<Option<Tells>> = const { RefCell::new(None) };
}

#[test]
fn a_thread_and_its_locals_end_before_the_next_one_runs() {
    let log = Log::default();
    let lines = log.clone();
    run(async move {
        for name in ["first", "second"] {
            let lines = lines.clone();
            std::thread::spawn(move || {
                lines.push(name);
                LOCAL.set(Some(Tells(lines)));
            });
        }
        // The thread of the pool waits for more work, and is told at once that there is none.
        let pool = lines.clone();
        let work = spawn_blocking(move || {
            pool.push("pool");
            LOCAL.set(Some(Tells(pool)));
        });
        std::thread::spawn(move || lines.push("last"));
        work.await.expect("it ends");
    });
    let dropped = "local dropped after 0ns";
    let expected = ["first", dropped, "second", dropped, "pool", dropped, "last"];
    assert_eq!(log.take(), expected);
}

#[test]
fn a_thread_has_the_time_of_its_machine() {
    let mut fleet = one();
    let seen = Rc::new(RefCell::new(Vec::new()));
    let log = seen.clone();
    fleet.spawn("client", async move {
        tokio::time::sleep(Duration::from_secs(3)).await;
        let start = std::time::Instant::now();
        let walls = spawn_blocking(std::time::SystemTime::now).await.expect("it ends");
        assert_eq!(walls, std::time::SystemTime::now());
        let inside = spawn_blocking(move || {
            let before = start.elapsed();
            std::thread::sleep(Duration::from_secs(5));
            (before, start.elapsed())
        });
        let inside = inside.await.expect("it ends");
        log.borrow_mut().extend([inside.0, inside.1, start.elapsed()]);
    });
    fleet.run();
    // The thread slept within one turn, and its machine went on once that was over.
    let [zero, five] = [0, 5].map(Duration::from_secs);
    assert_eq!(*seen.borrow(), [zero, five, five]);
    assert_eq!(fleet.world().network().now(), Instant::START + Duration::from_secs(8));
}

#[test]
fn a_wait_with_a_timeout_takes_virtual_time() {
    let waited = run(async {
        spawn_blocking(|| {
            let start = std::time::Instant::now();
            let (_tell, told) = mpsc::channel::<()>();
            told.recv_timeout(Duration::from_secs(3600)).expect_err("nobody tells");
            start.elapsed()
        })
        .await
        .expect("it ends")
    });
    assert_eq!(waited, Duration::from_secs(3600));
}

#[test]
fn a_task_that_joins_or_parks_lets_its_threads_run() {
    let log = Log::default();
    let lines = log.clone();
    run(async move {
        let inside = lines.clone();
        let thread = std::thread::spawn(move || inside.push("joined"));
        thread.join().expect("it ends");
        std::thread::scope(|scope| {
            scope.spawn(|| lines.push("scoped"));
        });
        let (tell, told) = mpsc::channel();
        std::thread::spawn(move || tell.send("received"));
        lines.push(told.recv().expect("the thread sends"));
        let (tell, told) = mpsc::channel();
        std::thread::spawn(move || tell.send("in time"));
        lines.push(told.recv_timeout(Duration::from_secs(1)).expect("the thread sends"));
    });
    assert_eq!(log.take(), ["joined", "scoped", "received", "in time"]);
}

#[test]
fn the_threads_of_each_machine_are_its_own() {
    let mut fleet = Fleet::start(&["client", "server"]).expect("machines start");
    let log = Log::default();
    let watch = fleet.world().thread_watch();
    for name in ["server", "client"] {
        let (log, watch) = (log.clone(), watch.clone());
        fleet.spawn(name, async move {
            let outside = watch.clone();
            let host = spawn_blocking(move || watch.host()).await.expect("it ends");
            log.push(format!("{name} {host:?} {:?}", outside.host()));
        });
    }
    fleet.run();
    assert_eq!(log.take(), ["client Some(HostId(0)) None", "server Some(HostId(1)) None"]);
}

/// Makes threads where it is dropped.
struct Spawns(Log);

impl Drop for Spawns {
    fn drop(&mut self) {
        let [pool, thread] = [self.0.clone(), self.0.clone()];
        let runtime = tokio::runtime::Handle::current();
        let alive = move || runtime.metrics().num_alive_tasks();
        drop(spawn_blocking(move || pool.push(format!("pool, {} tasks", alive()))));
        std::thread::spawn(move || thread.push("thread"));
    }
}

#[test]
fn a_fleet_with_work_outstanding_is_dropped() {
    let log = Log::default();
    let mut fleet = Fleet::start(&["client", "server"]).expect("machines start");
    let lines = log.clone();
    fleet.spawn("client", async move {
        let _guards = [Spawns(lines.clone()), Spawns(lines.clone())];
        let shared = Spawns(lines.clone());
        tokio::spawn(async move {
            let _shared = shared;
            std::future::pending::<()>().await;
        });
        std::thread::spawn(move || lines.push("made before"));
        loop {
            tokio::task::yield_now().await;
        }
    });
    fleet.settle().expect_err("the machine never rests");
    fleet.kill("server");
    assert!(log.take().is_empty());
    drop(fleet);
    // Threads run to their end. What dying tasks leave to the runtime's pool is canceled, as in
    // tokio.
    assert_eq!(log.take(), ["made before", "thread", "thread", "thread"]);
}

#[test]
fn outside_a_turn_threads_are_real() {
    let fleet = one();
    let thread = std::thread::spawn(|| crate::seam::current().is_none());
    assert!(thread.join().expect("it ends"));
    drop(fleet);
}

#[test]
fn a_run_has_one_processor_and_its_thread_is_let_go_after_it() {
    let parallelism = || std::thread::available_parallelism().expect("the system says").get();
    let allowed = || std::fs::read_to_string("/proc/thread-self/status").map(status_line);
    let before = (parallelism(), allowed().expect("the system says"));
    let inside = run(async move {
        let first = parallelism();
        let of_thread = move || (parallelism(), allowed().expect("the system says"));
        let (in_thread, line) = spawn_blocking(of_thread).await.expect("it ends");
        assert!(line.trim().parse::<u32>().is_ok(), "its thread has one processor: {line}");
        [first, in_thread, parallelism()]
    });
    assert_eq!(inside, [1, 1, 1]);
    assert_eq!((parallelism(), allowed().expect("the system says")), before);
}

/// The processors of a thread, as its status in `/proc` lists them.
fn status_line(status: String) -> String {
    let line = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    line.expect("the system says").trim().to_owned()
}
