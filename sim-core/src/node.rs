//! A node: a program on a machine of its own, how its processes begin, and what became of them.

use crate::lifecycle::App;
use crate::process::{Exit, Line, Process, Shared};
use crate::termination::Termination;
use hostsim::kernel::HostId;
use hostsim::network::Listening;
use hostsim::seam;
use hostsim::world::World;
use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::net::IpAddr;
use std::ops::RangeInclusive;
use std::path::{Component, Path};
use std::rc::Rc;
use std::time::Duration;

/// The most bytes of a name: with the number of a replica it is still one of a folder.
const NAME_MAX: usize = 200;

/// A panic of a node's program.
///
/// ```
/// use sim_core::Sim;
/// use sim_core::node::{NodeSpec, Panic};
///
/// fn is_known(panic: &Panic) -> bool {
///     panic.node == "fragile" && panic.message.contains("out of luck")
/// }
///
/// fn build(sim: &mut Sim) {
///     sim.node(NodeSpec::new("fragile").allow_panics(is_known), |_| async {
///         panic!("out of luck");
///     });
/// }
/// # sim_core::sweep::test(&sim_core::Target::new("fragile", build), 0..1);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Panic {
    /// The node's host.
    pub node: String,
    /// What the panic said.
    pub message: String,
    /// Where it was, as file and line.
    pub origin: String,
}

/// Which panics a test allows.
pub(crate) type Allowed = Rc<dyn Fn(&Panic) -> bool>;

/// How the processes of a node begin, and what is asked of them.
#[derive(Clone, Default)]
pub(crate) struct Settings {
    pub(crate) args: Vec<String>,
    pub(crate) vars: BTreeMap<String, String>,
    /// What is read from the standard input; where nothing is set it stays open for the test.
    pub(crate) stdin: Option<Vec<u8>>,
    pub(crate) files: BTreeMap<String, Vec<u8>>,
    pub(crate) drains: bool,
    pub(crate) is_stopped: bool,
    pub(crate) is_client: bool,
    /// On which port it listens, and how long after its start at most.
    pub(crate) ready: Option<(u16, Duration)>,
    pub(crate) allowed: Option<Allowed>,
}

/// What a node is called, how many replicas of it there may be, and how its processes begin.
///
/// ```
/// use sim_core::control::Units;
/// use sim_core::node::NodeSpec;
/// use sim_core::{Process, Sim};
///
/// async fn serve(process: Process) -> std::io::Result<()> {
///     assert_eq!(process.args()[1..], ["--level", "2"]);
///     assert_eq!(process.var("MODE"), Some("test"));
///     assert_eq!(std::fs::read(process.dir()?.join("db.conf"))?, b"sync = true");
///     let listener = process.host().listen((process.address(), 7)).await?;
///     loop {
///         drop(listener.accept().await?);
///     }
/// }
///
/// fn build(sim: &mut Sim) {
///     let spec = NodeSpec::new("db")
///         .replicas(1..=3)
///         .args(["--level", "2"])
///         .env("MODE", "test")
///         .file("db.conf", "sync = true")
///         .stdin("")
///         .ready_on(7, 1.s())
///         .drains();
///     let db = sim.node(spec, serve);
///     // This one starts once a control says so, and may stumble.
///     let spare = NodeSpec::new("spare").stopped().allow_panics(|panic| panic.message == "no");
///     let spare = sim.node(spare, |_| async {});
///     assert!(db.hosts().len() <= 3 && spare.hosts().len() == 1);
/// }
/// # sim_core::sweep::test(&sim_core::Target::new("db", build), 0..4);
/// ```
#[derive(Clone)]
pub struct NodeSpec {
    pub(crate) name: String,
    pub(crate) replicas: RangeInclusive<u64>,
    pub(crate) settings: Settings,
}

impl NodeSpec {
    /// A node with one replica.
    ///
    /// # Panics
    /// Where the name is not 1 to 200 bytes without `/` and control characters, or begins with a
    /// dot. It stands in lines of traces and in paths.
    ///
    /// ```
    /// use sim_core::node::NodeSpec;
    /// # use sim_core::Sim;
    /// # fn build(sim: &mut Sim) {
    /// let db = sim.node(NodeSpec::new("db"), |process| async move {
    ///     assert_eq!((process.name(), process.replica()), ("db", 0));
    /// });
    /// assert_eq!(db.hosts().len(), 1);
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    #[track_caller]
    pub fn new(name: &str) -> NodeSpec {
        let is_plain = !name.contains(|part: char| part == '/' || part.is_control());
        assert!(
            (1..=NAME_MAX).contains(&name.len()) && is_plain && !name.starts_with('.'),
            "a name is 1 to {NAME_MAX} bytes, without `/` and a dot in front, not {name:?}"
        );
        NodeSpec { name: name.to_owned(), replicas: 1..=1, settings: Settings::default() }
    }

    /// Lets the swarm choose how many replicas there are; its calm choice is the fewest.
    ///
    /// # Panics
    /// Where the range is empty, begins at zero or ends past 256.
    ///
    /// ```
    /// use sim_core::node::NodeSpec;
    /// # use sim_core::Sim;
    /// # fn build(sim: &mut Sim) {
    /// let db = sim.node(NodeSpec::new("db").replicas(3..=5), |process| async move {
    ///     assert!(process.replica() < 5);
    /// });
    /// assert!((3..=5).contains(&db.hosts().len()));
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    #[track_caller]
    pub fn replicas(mut self, replicas: RangeInclusive<u64>) -> NodeSpec {
        let (min, max) = (*replicas.start(), *replicas.end());
        assert!(1 <= min && min <= max && max <= 256, "replicas are 1..=256, not {min}..={max}");
        self.replicas = replicas;
        self
    }

    /// Adds arguments; the first of all is the name of the node's host.
    ///
    /// ```
    /// use sim_core::node::NodeSpec;
    /// # use sim_core::Sim;
    /// # fn build(sim: &mut Sim) {
    /// sim.node(NodeSpec::new("db").args(["--level", "2"]), |process| async move {
    ///     assert_eq!(process.args(), ["db", "--level", "2"]);
    /// });
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    pub fn args<A: Into<String>>(mut self, args: impl IntoIterator<Item = A>) -> NodeSpec {
        self.settings.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Sets a variable of the environment; there are no others.
    ///
    /// ```
    /// use sim_core::node::NodeSpec;
    /// # use sim_core::Sim;
    /// # fn build(sim: &mut Sim) {
    /// sim.node(NodeSpec::new("db").env("MODE", "test"), |process| async move {
    ///     assert_eq!(process.var("MODE"), Some("test"));
    ///     assert_eq!(process.var("PATH"), None, "nothing of the real environment");
    /// });
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    pub fn env(mut self, name: &str, value: impl Into<String>) -> NodeSpec {
        self.settings.vars.insert(name.to_owned(), value.into());
        self
    }

    /// Sets what each process reads from its standard input.
    ///
    /// ```
    /// use sim_core::node::NodeSpec;
    /// use tokio::io::AsyncReadExt;
    /// # use sim_core::Sim;
    /// # fn build(sim: &mut Sim) {
    /// sim.node(NodeSpec::new("cat").stdin("hello"), |process| async move {
    ///     let mut text = String::new();
    ///     process.stdin().read_to_string(&mut text).await.unwrap();
    ///     assert_eq!(text, "hello");
    /// });
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    pub fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> NodeSpec {
        self.settings.stdin = Some(bytes.into());
        self
    }

    /// Puts a file into the folder of each replica's host before the run, by its path below it.
    ///
    /// # Panics
    /// Where the path does not stay below: from the root on, or with a `..`.
    ///
    /// ```
    /// use sim_core::node::NodeSpec;
    /// # use sim_core::Sim;
    /// # fn build(sim: &mut Sim) {
    /// sim.node(NodeSpec::new("db").file("etc/db.conf", "sync = true"), |process| async move {
    ///     let file = process.dir().unwrap().join("etc/db.conf");
    ///     assert_eq!(std::fs::read_to_string(file).unwrap(), "sync = true");
    /// });
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    #[track_caller]
    pub fn file(mut self, path: &str, bytes: impl Into<Vec<u8>>) -> NodeSpec {
        let is_below = |part| matches!(part, Component::Normal(_) | Component::CurDir);
        let stays = Path::new(path).components().all(is_below);
        assert!(stays, "a file's path is below the folder of its host, and {path:?} is not");
        self.settings.files.insert(path.to_owned(), bytes.into());
        self
    }

    /// Says that a process that ends by itself, also by [`Process::exit`], leaves no task and no
    /// socket: else the run fails with class `leak`.
    ///
    /// ```
    /// use sim_core::Target;
    /// use sim_core::failure::Class;
    /// use sim_core::node::NodeSpec;
    /// use sim_core::run::{Input, run};
    /// use std::time::Duration;
    ///
    /// let target = Target::new("leak", |sim| {
    ///     sim.node(NodeSpec::new("worker").drains(), |_| async {
    ///         tokio::task::spawn_local(std::future::pending::<()>()); // It is left behind.
    ///     });
    /// });
    /// let run = run(&target, &Input::Seed(0), Duration::from_secs(60));
    /// assert_eq!(run.class(), Some(Class::Leak));
    /// ```
    pub fn drains(mut self) -> NodeSpec {
        self.settings.drains = true;
        self
    }

    /// Says that a process listens on a port of its address within a bound of its start, else the run
    /// fails with class `liveness`. That is looked at when the bound passed since a start, where no
    /// control was in force or began meanwhile; and within the same bound of the heal, from which on
    /// nothing stands in the way (see [`crate::liveness`]).
    ///
    /// ```
    /// use sim_core::Target;
    /// use sim_core::control::Units;
    /// use sim_core::failure::Class;
    /// use sim_core::node::NodeSpec;
    /// use sim_core::run::{Input, run};
    ///
    /// let target = Target::new("deaf", |sim| {
    ///     sim.node(NodeSpec::new("deaf").ready_on(7, 2.s()), |_| std::future::pending::<()>());
    ///     sim.client("clock", |_| async { tokio::time::sleep(9.s()).await });
    /// });
    /// assert_eq!(run(&target, &Input::Seed(0), 60.s()).class(), Some(Class::Liveness));
    /// ```
    pub fn ready_on(mut self, port: u16, bound: Duration) -> NodeSpec {
        self.settings.ready = Some((port, bound));
        self
    }

    /// Leaves the node's processes unstarted, until a control starts them.
    ///
    /// ```
    /// use sim_core::control::{Control, Units};
    /// use sim_core::node::NodeSpec;
    /// # use sim_core::Sim;
    /// # fn build(sim: &mut Sim) {
    /// let spare = sim.node(NodeSpec::new("spare").stopped(), |_| std::future::pending::<()>());
    /// sim.at(1.s(), Control::start(&spare));
    /// sim.client("operator", move |_| {
    ///     let spare = spare.clone();
    ///     async move {
    ///         assert!(!spare.is_up(0));
    ///         tokio::time::sleep(2.s()).await;
    ///         assert!(spare.is_up(0));
    ///     }
    /// });
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    pub fn stopped(mut self) -> NodeSpec {
        self.settings.is_stopped = true;
        self
    }

    /// Allows some panics of the node's program. One in the program itself ends its process with
    /// exit code 101, as it does `main`; one in a task that it spawned ends the task.
    ///
    /// The predicate must not panic itself: that is a panic within a panic, which aborts.
    ///
    /// ```
    /// use sim_core::node::NodeSpec;
    /// use sim_core::process::Exit;
    /// # use sim_core::Sim;
    /// # fn build(sim: &mut Sim) {
    /// let spec = NodeSpec::new("fragile").allow_panics(|panic| panic.message == "out of luck");
    /// let fragile = sim.node(spec, |_| async { panic!("out of luck") });
    /// sim.last_client("end", move |_| {
    ///     let fragile = fragile.clone();
    ///     async move {
    ///         tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    ///         assert_eq!(fragile.exits(0), [Exit::Code(101)]);
    ///     }
    /// });
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    pub fn allow_panics(mut self, predicate: impl Fn(&Panic) -> bool + 'static) -> NodeSpec {
        self.settings.allowed = Some(Rc::new(predicate));
        self
    }
}

impl fmt::Debug for NodeSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let NodeSpec { name, replicas, .. } = self;
        f.debug_struct("NodeSpec").field("name", name).field("replicas", replicas).finish()
    }
}

/// The program of a node, with its types forgotten: its exit code, and what it says of that.
pub(crate) fn wrap<A, F, T>(app: A) -> App
where
    A: Fn(Process) -> F + 'static,
    F: Future<Output = T> + 'static,
    T: Termination + 'static,
{
    Rc::new(move |process| {
        let program = app(process);
        Box::pin(async move { program.await.end() })
    })
}

impl From<&str> for NodeSpec {
    #[track_caller]
    fn from(name: &str) -> NodeSpec {
        NodeSpec::new(name)
    }
}

/// The replicas of a node, as the swarm made them.
///
/// ```
/// use sim_core::Sim;
/// use sim_core::node::NodeSpec;
/// use sim_core::process::{Exit, Line};
/// use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
/// use tokio::net::TcpListener;
///
/// fn build(sim: &mut Sim) {
///     let cat = sim.node(NodeSpec::new("cat"), |process| async move {
///         let _listener = TcpListener::bind((process.address(), 7)).await.unwrap();
///         let mut lines = BufReader::new(process.stdin()).lines();
///         while let Some(line) = lines.next_line().await.unwrap() {
///             process.stdout().write_all(format!("{line}\n").as_bytes()).await.unwrap();
///         }
///     });
///     assert!(cat.addresses()[0].is_ipv4() && cat.addresses_v6()[0].is_ipv6());
///     assert_eq!((cat.hosts().len(), cat.is_up(0)), (1, false), "it starts with the run");
///     sim.client("user", move |_| {
///         let cat = cat.clone();
///         async move {
///             cat.listening(0, 7).await;
///             assert!(cat.is_listening(0, 7) && cat.is_up(0) && cat.starts(0) == 1);
///             cat.feed(0, b"hello\n");
///             cat.end_stdin(0);
///             tokio::time::sleep(std::time::Duration::from_secs(1)).await;
///             assert_eq!(cat.lines(0), [Line { is_error: false, text: "hello".to_owned() }]);
///             assert_eq!(cat.exits(0), [Exit::Code(0)]);
///         }
///     });
/// }
/// # sim_core::sweep::test(&sim_core::Target::new("cat", build), 0..4);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Node {
    pub(crate) hosts: Vec<HostId>,
    pub(crate) addresses: Vec<IpAddr>,
    pub(crate) addresses_v6: Vec<IpAddr>,
    pub(crate) records: Vec<Shared>,
}

impl PartialEq for Node {
    fn eq(&self, other: &Node) -> bool {
        self.hosts == other.hosts
    }
}

impl Eq for Node {}

impl Node {
    /// The IPv4 addresses of the replicas, in their order.
    ///
    /// ```
    /// # use sim_core::Sim;
    /// # fn build(sim: &mut Sim) {
    /// let node = sim.node("db", |_| async {});
    /// assert_eq!(node.addresses()[0].to_string(), "10.0.0.1");
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    pub fn addresses(&self) -> &[IpAddr] {
        &self.addresses
    }

    /// The IPv6 addresses of the replicas, in their order.
    ///
    /// ```
    /// # use sim_core::Sim;
    /// # fn build(sim: &mut Sim) {
    /// let node = sim.node("db", |_| async {});
    /// assert_eq!(node.addresses_v6()[0].to_string(), "fd00::1");
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    pub fn addresses_v6(&self) -> &[IpAddr] {
        &self.addresses_v6
    }

    /// The hosts of the replicas, in their order.
    ///
    /// ```
    /// use sim_core::control::{Control, Units};
    /// use sim_core::node::NodeSpec;
    /// # use sim_core::Sim;
    /// # fn build(sim: &mut Sim) {
    /// let db = sim.node(NodeSpec::new("db").replicas(3..=3), |_| async {});
    /// // The first replica is cut off from the others.
    /// let (first, rest) = (db.hosts()[0], db.hosts()[1..].to_vec());
    /// sim.at(1.s(), Control::partition(first, rest));
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    pub fn hosts(&self) -> &[HostId] {
        &self.hosts
    }

    /// Waits until a replica listens on a port of its address: a future for a task of any node.
    ///
    /// A program would dial until it is let in; this is for tests, which then need no retries.
    ///
    /// # Panics
    /// Where there is no such replica, and outside of a run.
    ///
    /// ```
    /// use tokio::net::TcpStream;
    /// # use sim_core::Sim;
    /// # fn build(sim: &mut Sim) {
    /// # let server = sim.node("server", |process| async move {
    /// #     let listener = process.host().listen((process.address(), 7)).await.unwrap();
    /// #     while let Ok((mut stream, _)) = listener.accept().await {
    /// #         tokio::task::spawn_local(async move {
    /// #             let (mut from, mut to) = stream.split();
    /// #             let _ = tokio::io::copy(&mut from, &mut to).await;
    /// #         });
    /// #     }
    /// # });
    /// sim.client("client", move |_| {
    ///     let server = server.clone();
    ///     async move {
    ///         server.listening(0, 7).await;
    ///         TcpStream::connect("server:7").await.expect("it is there");
    ///     }
    /// });
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    #[track_caller]
    pub fn listening(&self, replica: usize, port: u16) -> Listening {
        world().listening(self.hosts[replica], (self.addresses[replica], port).into())
    }

    /// Whether a replica listens on a port of its address.
    ///
    /// # Panics
    /// Where there is no such replica, and outside of a run.
    ///
    /// ```
    /// use sim_core::control::Units;
    /// # use sim_core::Sim;
    /// # fn build(sim: &mut Sim) {
    /// # let server = sim.node("server", |process| async move {
    /// #     let listener = process.host().listen((process.address(), 7)).await.unwrap();
    /// #     while let Ok((mut stream, _)) = listener.accept().await {
    /// #         tokio::task::spawn_local(async move {
    /// #             let (mut from, mut to) = stream.split();
    /// #             let _ = tokio::io::copy(&mut from, &mut to).await;
    /// #         });
    /// #     }
    /// # });
    /// sim.client("client", move |_| {
    ///     let server = server.clone();
    ///     async move {
    ///         tokio::time::sleep(1.s()).await;
    ///         assert!(server.is_listening(0, 7) && !server.is_listening(0, 8));
    ///     }
    /// });
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    #[track_caller]
    pub fn is_listening(&self, replica: usize, port: u16) -> bool {
        let address = (self.addresses[replica], port).into();
        world().network().listens(self.hosts[replica], address)
    }
}

/// What became of the processes of a node: for checkers, operations and clients.
///
/// # Panics
/// Each where there is no such replica.
impl Node {
    /// Whether a replica's process runs.
    ///
    /// ```
    /// use sim_core::control::Units;
    /// # use sim_core::Sim;
    /// # fn build(sim: &mut Sim) {
    /// let job = sim.node("job", |_| async { tokio::time::sleep(2.s()).await });
    /// sim.client("client", move |_| {
    ///     let job = job.clone();
    ///     async move {
    ///         tokio::time::sleep(1.s()).await;
    ///         assert!(job.is_up(0));
    ///         tokio::time::sleep(2.s()).await;
    ///         assert!(!job.is_up(0), "it returned");
    ///     }
    /// });
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    pub fn is_up(&self, replica: usize) -> bool {
        self.record(replica).life.is_some()
    }

    /// How often a replica's process was started.
    ///
    /// ```
    /// use sim_core::control::{Control, Units};
    /// use sim_core::lifecycle::Crash;
    /// # use sim_core::Sim;
    /// # fn build(sim: &mut Sim) {
    /// # let db = sim.node("db", |_| std::future::pending::<()>());
    /// sim.at(1.s(), Control::restart(&db, Crash::Kill));
    /// sim.client("client", move |_| {
    ///     let db = db.clone();
    ///     async move {
    ///         tokio::time::sleep(2.s()).await;
    ///         assert_eq!(db.starts(0), 2);
    ///     }
    /// });
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    pub fn starts(&self, replica: usize) -> u64 {
        self.record(replica).starts
    }

    /// How the processes of a replica ended, in their order.
    ///
    /// ```
    /// use sim_core::control::Units;
    /// use sim_core::process::Exit;
    /// # use sim_core::Sim;
    /// # fn build(sim: &mut Sim) {
    /// let job = sim.node("job", |process| async move { process.exit(3) });
    /// sim.client("client", move |_| {
    ///     let job = job.clone();
    ///     async move {
    ///         tokio::time::sleep(1.s()).await;
    ///         assert_eq!(job.exits(0), [Exit::Code(3)]);
    ///     }
    /// });
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    pub fn exits(&self, replica: usize) -> Vec<Exit> {
        self.record(replica).exits.clone()
    }

    /// The lines that the processes of a replica printed so far. A last one without an end is a
    /// line once its process ended.
    ///
    /// ```
    /// use sim_core::control::Units;
    /// use sim_core::process::Line;
    /// use tokio::io::AsyncWriteExt;
    /// # use sim_core::Sim;
    /// # fn build(sim: &mut Sim) {
    /// let job = sim.node("job", |process| async move {
    ///     process.stderr().write_all(b"out of space\n").await.unwrap();
    /// });
    /// sim.client("client", move |_| {
    ///     let job = job.clone();
    ///     async move {
    ///         tokio::time::sleep(1.s()).await;
    ///         assert_eq!(job.lines(0), [Line { is_error: true, text: "out of space".to_owned() }]);
    ///     }
    /// });
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    pub fn lines(&self, replica: usize) -> Vec<Line> {
        self.record(replica).lines.clone()
    }

    /// Feeds the standard input of a replica's process, which [`NodeSpec::stdin`] leaves open where
    /// it was not set; where none runs the bytes go nowhere.
    ///
    /// ```
    /// use sim_core::control::Units;
    /// use tokio::io::AsyncReadExt;
    /// # use sim_core::Sim;
    /// # fn build(sim: &mut Sim) {
    /// let job = sim.node("job", |process| async move {
    ///     let mut bytes = [0; 5];
    ///     process.stdin().read_exact(&mut bytes).await.unwrap();
    ///     assert_eq!(&bytes, b"hello");
    /// });
    /// sim.client("user", move |_| {
    ///     let job = job.clone();
    ///     async move {
    ///         tokio::time::sleep(1.s()).await;
    ///         job.feed(0, b"hello");
    ///     }
    /// });
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    pub fn feed(&self, replica: usize, bytes: &[u8]) {
        self.feed_life(replica, bytes, false);
    }

    /// Ends the standard input of a replica's process.
    ///
    /// ```
    /// use sim_core::control::Units;
    /// use tokio::io::AsyncReadExt;
    /// # use sim_core::Sim;
    /// # fn build(sim: &mut Sim) {
    /// let job = sim.node("job", |process| async move {
    ///     let mut text = String::new();
    ///     process.stdin().read_to_string(&mut text).await.unwrap();
    /// });
    /// sim.client("user", move |_| {
    ///     let job = job.clone();
    ///     async move {
    ///         tokio::time::sleep(1.s()).await;
    ///         assert!(job.is_up(0), "it waits for more");
    ///         job.end_stdin(0);
    ///         tokio::time::sleep(1.s()).await;
    ///         assert!(!job.is_up(0));
    ///     }
    /// });
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    pub fn end_stdin(&self, replica: usize) {
        self.feed_life(replica, &[], true);
    }

    fn feed_life(&self, replica: usize, bytes: &[u8], is_last: bool) {
        let life = self.record(replica).life.clone();
        if let Some(life) = life {
            life.feed(bytes, is_last);
        }
    }

    #[track_caller]
    fn record(&self, replica: usize) -> std::sync::MutexGuard<'_, crate::process::Record> {
        self.records[replica].lock().expect("nobody panics with the record")
    }
}

/// A node is where its replicas are.
impl AsRef<[HostId]> for Node {
    fn as_ref(&self) -> &[HostId] {
        &self.hosts
    }
}

#[track_caller]
fn world() -> Rc<World> {
    seam::current().expect("a node listens inside of its run")
}
