//! The world that the calls of one run reach: its network, whose turn it is, and its clock.
//!
//! Exactly one machine runs at a time, so "the current host" is a property of the world. The seam
//! finds the world through a thread-local; nothing else of it is global.

use crate::clock::{HostClock, Instant, UPTIME};
use crate::kernel::{Descriptor, HostId, Ready};
use crate::network::{Entropy, Listening, Network, fixed_entropy};
use crate::seam::{ThreadWatch, Threads};
use crate::tasks::{Task, Tasks};
use crate::waits::Probe;
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::net::SocketAddr;
use std::rc::Rc;
use std::task::Waker;
use std::time::Duration;

/// Why a run cannot go on as it should.
///
/// ```
/// use hostsim::world::{TURNS_MAX, Trouble};
/// # use hostsim::{machine::Machine, seam, world::World};
/// # let world = World::new();
/// # let _entered = seam::enter(&world);
/// # let host = world.with(|network| network.add_host("alone"));
/// let mut machine = Machine::start(&world, host, 7)?;
/// machine.spawn(async {
///     loop {
///         tokio::task::yield_now().await;
///     }
/// });
/// machine.run();
/// assert_eq!(world.take_trouble(), Some(Trouble::Restless { host, turns: TURNS_MAX }));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// A call on a simulated descriptor would have waited, and the machine has one thread only.
    WouldBlock {
        /// The host whose program made it.
        host: HostId,
        /// The call.
        call: &'static str,
    },
    /// A call that is not simulated, where the real one would break the run.
    Unsupported {
        /// The host whose program made it.
        host: HostId,
        /// The call and what of it is not simulated.
        call: &'static str,
    },
    /// A machine went on for more turns than its limit without becoming idle.
    Restless {
        /// The host of the machine.
        host: HostId,
        /// The limit, in turns of its runtime's driver.
        turns: u64,
    },
    /// The simulated kernel broke one of its own rules.
    Internal(String),
}

impl Trouble {
    /// One line for a person, with the names of hosts.
    ///
    /// ```
    /// use hostsim::kernel::HostId;
    /// use hostsim::world::Trouble;
    ///
    /// let trouble = Trouble::Unsupported { host: HostId(1), call: "accept" };
    /// let line = trouble.describe(|host| ["client", "server"][host.0 as usize].to_owned());
    /// assert_eq!(line, "node server called accept, which is not simulated");
    /// ```
    pub fn describe(&self, name: impl Fn(&HostId) -> String) -> String {
        match self {
            Trouble::WouldBlock { host, call } => format!(
                "node {} called {call} on a simulated socket that is in blocking mode and would \
                 wait: it is the node's only thread, so nothing could end the wait",
                name(host)
            ),
            Trouble::Unsupported { host, call } => {
                format!("node {} called {call}, which is not simulated", name(host))
            }
            Trouble::Restless { host, turns } => format!(
                "node {} did not become idle in {turns} turns of its runtime's driver",
                name(host)
            ),
            Trouble::Internal(text) => format!("the simulated kernel failed: {text}"),
        }
    }
}

/// How many turns of its runtime's driver a machine takes at most in one go. A turn is up to 61
/// polls of tasks.
pub const TURNS_MAX: u64 = 100_000;

/// A network and the machine that has its turn.
///
/// ```
/// use hostsim::seam;
/// use hostsim::world::World;
/// use std::io::Read;
/// use std::net::{TcpListener, TcpStream};
///
/// let world = World::new();
/// let host = world.with(|network| network.add_host("alone"));
/// let entered = seam::enter(&world);
/// assert!(seam::current().is_some() && world.is_free());
/// world.in_turn(host, || {
///     // Calls of std are the host's; one that would wait is a trouble.
///     let listener = TcpListener::bind("127.0.0.1:7").unwrap();
///     let mut stream = TcpStream::connect("127.0.0.1:7").unwrap();
///     drop(listener.accept().unwrap());
///     assert_eq!(stream.read(&mut [0]).unwrap(), 0);
///     assert!(listener.accept().is_err());
/// });
/// let trouble = world.take_trouble().expect("an accept would wait");
/// assert!(trouble.describe(|_| "alone".to_owned()).contains("accept"));
/// drop(entered);
/// assert!(seam::current().is_none());
/// ```
pub struct World {
    network: RefCell<Network>,
    now: Cell<Instant>,
    busy_until: Cell<Instant>,
    host: Cell<Option<HostId>>,
    /// The clocks of whoever has the turn.
    clock: Cell<HostClock>,
    /// What its monotonic clock shows, once it was asked: it stands still from then on until time
    /// moves or the turn goes on. A runtime asks some ten times a turn.
    uptime: Cell<Option<Duration>>,
    /// The current host's process is over: what its program still does reaches nobody.
    is_over: Cell<bool>,
    /// The epoll file that the current machine's runtime waits on.
    pub(crate) epoll: Cell<Option<Descriptor>>,
    pub(crate) deadline: Cell<Option<Instant>>,
    pub(crate) is_idle: Cell<bool>,
    /// The world wakes a machine's own future: its counter need not say so.
    pub(crate) is_waking: Cell<bool>,
    pub(crate) waker: Cell<Option<Waker>>,
    pub(crate) turns: Cell<u64>,
    pub(crate) ready: RefCell<Vec<Ready>>,
    pub(crate) threads: Threads,
    tasks: RefCell<Tasks>,
    pub(crate) probe: Probe,
    trouble: RefCell<Option<Trouble>>,
    slot: RefCell<Option<Rc<dyn Any>>>,
    has_drawn: Cell<bool>,
    has_told_date: Cell<bool>,
    entropy: RefCell<Entropy>,
}

impl World {
    /// A world with an empty network.
    ///
    /// ```
    /// use hostsim::world::World;
    ///
    /// let world = World::new();
    /// assert_eq!(world.network().hosts().count(), 0);
    /// assert!(world.host().is_none(), "nobody has the turn");
    /// ```
    pub fn new() -> Rc<World> {
        Rc::new(World {
            network: RefCell::new(Network::new()),
            now: Cell::default(),
            busy_until: Cell::default(),
            host: Cell::default(),
            clock: Cell::default(),
            uptime: Cell::default(),
            is_over: Cell::default(),
            epoll: Cell::default(),
            deadline: Cell::default(),
            is_idle: Cell::default(),
            is_waking: Cell::default(),
            waker: Cell::default(),
            turns: Cell::default(),
            ready: RefCell::default(),
            threads: Threads::default(),
            tasks: RefCell::default(),
            probe: Probe::default(),
            trouble: RefCell::default(),
            slot: RefCell::default(),
            has_drawn: Cell::default(),
            has_told_date: Cell::default(),
            entropy: RefCell::new(fixed_entropy(0)),
        })
    }

    /// Works on the network, then wakes who waited for what the work did.
    ///
    /// # Panics
    /// Where the network is being worked on.
    ///
    /// ```
    /// # use hostsim::{machine::Machine, seam, world::World};
    /// # let world = World::new();
    /// # let _entered = seam::enter(&world);
    /// # let host = world.with(|network| network.add_host("alone"));
    /// let address = world.with(|network| {
    ///     network.set_latency(host, host, std::time::Duration::ZERO);
    ///     network.address(host)
    /// });
    /// assert_eq!(address.to_string(), "10.0.0.1");
    /// ```
    #[track_caller]
    pub fn with<T>(&self, work: impl FnOnce(&mut Network) -> T) -> T {
        let mut network = self.network.borrow_mut();
        let result = work(&mut network);
        if network.has_woken() {
            let woken = network.take_woken();
            drop(network);
            woken.into_iter().for_each(Waker::wake);
        }
        result
    }

    /// Waits until something listens at an address of a host: a future for a task of any machine.
    ///
    /// ```
    /// # use hostsim::{machine::Machine, seam, world::World};
    /// # let world = World::new();
    /// # let _entered = seam::enter(&world);
    /// # let host = world.with(|network| network.add_host("alone"));
    /// let listening = world.listening(host, "127.0.0.1:7".parse().expect("it is one"));
    /// let mut machine = Machine::start(&world, host, 7)?;
    /// machine.spawn(async {
    ///     listening.await;
    ///     tokio::net::TcpStream::connect("127.0.0.1:7").await.expect("it is there");
    /// });
    /// machine.spawn(async {
    ///     tokio::net::TcpListener::bind("127.0.0.1:7").await.unwrap().accept().await.unwrap();
    /// });
    /// machine.run();
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn listening(&self, host: HostId, address: SocketAddr) -> Listening {
        self.with(|network| network.listening(host, address))
    }

    /// The network, to look at.
    ///
    /// ```
    /// # use hostsim::{machine::Machine, seam, world::World};
    /// # let world = World::new();
    /// # let _entered = seam::enter(&world);
    /// # let host = world.with(|network| network.add_host("alone"));
    /// assert_eq!(world.network().host(host).name, "alone");
    /// ```
    #[track_caller]
    pub fn network(&self) -> std::cell::Ref<'_, Network> {
        self.network.borrow()
    }

    /// Whether nobody works on the network: while somebody does, no program's code runs.
    ///
    /// ```
    /// # use hostsim::{machine::Machine, seam, world::World};
    /// # let world = World::new();
    /// # let _entered = seam::enter(&world);
    /// # let host = world.with(|network| network.add_host("alone"));
    /// assert!(world.is_free());
    /// world.with(|_network| assert!(!world.is_free()));
    /// ```
    pub fn is_free(&self) -> bool {
        self.network.try_borrow_mut().is_ok()
    }

    /// Tells a watchdog on another thread whose program's thread has the turn.
    ///
    /// ```
    /// # use hostsim::{machine::Machine, seam, world::World};
    /// # let world = World::new();
    /// # let _entered = seam::enter(&world);
    /// # let host = world.with(|network| network.add_host("alone"));
    /// let watch = world.thread_watch();
    /// let mut machine = Machine::start(&world, host, 7)?;
    /// machine.spawn(async move {
    ///     let seen = tokio::task::spawn_blocking(move || watch.host()).await.unwrap();
    ///     assert_eq!(seen, Some(host));
    /// });
    /// machine.run();
    /// assert_eq!(world.thread_watch().host(), None);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn thread_watch(&self) -> ThreadWatch {
        self.threads.watch()
    }

    /// The moment it is for whoever has the turn.
    ///
    /// ```
    /// use hostsim::clock::Instant;
    /// use std::time::Duration;
    /// # use hostsim::{machine::Machine, seam, world::World};
    /// # let world = World::new();
    /// # let _entered = seam::enter(&world);
    /// # let host = world.with(|network| network.add_host("alone"));
    /// let mut machine = Machine::start(&world, host, 7)?;
    /// machine.spawn(async {
    ///     // A sleep of std takes virtual time, and the machine's only.
    ///     std::thread::sleep(Duration::from_secs(1));
    ///     let world = seam::current().expect("it is a run");
    ///     assert_eq!(world.now().elapsed().as_secs(), 1);
    /// });
    /// machine.run();
    /// assert_eq!(world.now(), Instant::START);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn now(&self) -> Instant {
        self.now.get().max(self.busy_until.get())
    }

    /// Moves time on and makes what is due ready.
    ///
    /// ```
    /// use hostsim::clock::Instant;
    /// use std::time::Duration;
    /// # use hostsim::{machine::Machine, seam, world::World};
    /// # let world = World::new();
    /// # let _entered = seam::enter(&world);
    /// # let host = world.with(|network| network.add_host("alone"));
    /// let later = Instant::START + Duration::from_secs(3_600);
    /// world.advance(later);
    /// assert_eq!((world.now(), world.network().now()), (later, later));
    /// ```
    pub fn advance(&self, now: Instant) {
        self.with(|network| network.advance(now));
        self.now.set(now);
        self.uptime.set(None);
    }

    /// The time since the start of the run as the clocks of whoever has the turn show it.
    pub(crate) fn elapsed(&self) -> Duration {
        self.clock.get().elapsed(self.now())
    }

    /// What the monotonic clock of whoever has the turn shows.
    pub(crate) fn uptime(&self) -> Duration {
        self.uptime.get().unwrap_or_else(|| {
            let uptime = UPTIME + self.elapsed();
            self.uptime.set(Some(uptime));
            uptime
        })
    }

    /// The moment at which so much time has passed by the clocks of whoever has the turn.
    pub(crate) fn after(&self, own: Duration) -> Instant {
        self.now() + self.clock.get().span(own)
    }

    /// Whether the process of the host that has the turn is over.
    ///
    /// ```
    /// # use hostsim::{machine::Machine, seam, world::World};
    /// # let world = World::new();
    /// # let _entered = seam::enter(&world);
    /// # let host = world.with(|network| network.add_host("alone"));
    /// let mut machine = Machine::start(&world, host, 7)?;
    /// machine.spawn(async move {
    ///     let world = seam::current().expect("it is a run");
    ///     world.end_process(host);
    ///     assert!(world.is_over());
    ///     let error = tokio::net::UdpSocket::bind("0.0.0.0:7").await.unwrap_err();
    ///     assert_eq!(error.kind(), std::io::ErrorKind::NetworkDown);
    /// });
    /// machine.run();
    /// assert!(!world.is_over(), "nobody has the turn");
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn is_over(&self) -> bool {
        self.is_over.get()
    }

    /// The host whose machine has its turn.
    ///
    /// ```
    /// # use hostsim::{machine::Machine, seam, world::World};
    /// # let world = World::new();
    /// # let _entered = seam::enter(&world);
    /// # let host = world.with(|network| network.add_host("alone"));
    /// world.in_turn(host, || assert_eq!(world.host(), Some(host)));
    /// assert_eq!(world.host(), None);
    /// ```
    pub fn host(&self) -> Option<HostId> {
        self.host.get()
    }

    /// The current machine sleeps. Its code goes on at once, at the later time that it is for it then,
    /// as far as the next await; its other tasks do once that time has come.
    pub(crate) fn stall(&self, duration: Duration) {
        let Some(host) = self.host() else { return };
        let until = self.after(duration);
        self.busy_until.set(until);
        self.uptime.set(None);
        self.with(|network| network.host_mut(host).busy_until = until);
        self.end_turn();
    }

    /// Until when the current machine sleeps, where it does.
    pub(crate) fn stalled_until(&self) -> Option<Instant> {
        let until = self.busy_until.get();
        (until > self.now.get()).then_some(until)
    }

    /// Ends the process of a host, as [`Network::end_process`], at once also where it has the turn.
    ///
    /// ```
    /// # use hostsim::{machine::Machine, seam, world::World};
    /// # let world = World::new();
    /// # let _entered = seam::enter(&world);
    /// # let host = world.with(|network| network.add_host("alone"));
    /// let mut machine = Machine::start(&world, host, 7)?;
    /// machine.spawn(async move {
    ///     // As `std::process::exit`: the task goes no further than its next await.
    ///     seam::current().expect("it is a run").end_process(host);
    ///     tokio::task::yield_now().await;
    ///     unreachable!("the process is over");
    /// });
    /// machine.run();
    /// assert!(world.network().host(host).is_down());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn end_process(&self, host: HostId) {
        self.with(|network| network.end_process(host));
        if self.host() == Some(host) {
            self.is_over.set(true);
            self.end_turn();
        }
    }

    /// Whether threads that a program of a host made wait for their run.
    ///
    /// ```
    /// # use hostsim::{machine::Machine, seam, world::World};
    /// # let world = World::new();
    /// # let _entered = seam::enter(&world);
    /// # let host = world.with(|network| network.add_host("alone"));
    /// let mut machine = Machine::start(&world, host, 7)?;
    /// machine.spawn(async move {
    ///     let world = seam::current().expect("it is a run");
    ///     let thread = std::thread::spawn(|| 42);
    ///     assert!(world.has_threads(host), "it runs once somebody waits for it");
    ///     assert_eq!(thread.join().unwrap(), 42);
    ///     assert!(!world.has_threads(host));
    /// });
    /// machine.run();
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn has_threads(&self, host: HostId) -> bool {
        self.threads.has(host)
    }

    /// Runs a program's code as that of a host, without a runtime: its calls are the host's. What
    /// would wait is a [`Trouble`].
    ///
    /// ```
    /// use std::net::UdpSocket;
    /// # use hostsim::{machine::Machine, seam, world::World};
    /// # let world = World::new();
    /// # let _entered = seam::enter(&world);
    /// # let host = world.with(|network| network.add_host("alone"));
    /// world.in_turn(host, || {
    ///     let socket = UdpSocket::bind("0.0.0.0:7").unwrap();
    ///     assert!(UdpSocket::bind("0.0.0.0:7").is_err(), "it is the host's port, and taken");
    ///     assert_eq!(socket.local_addr().unwrap().port(), 7);
    /// });
    /// assert_eq!(world.network().census().files, 0, "it was dropped");
    /// ```
    pub fn in_turn<T>(&self, host: HostId, work: impl FnOnce() -> T) -> T {
        // No program's descriptor: its waits end no turn.
        let epoll = Descriptor { host, number: u16::MAX };
        let _turn = self.begin_turn(host, Some(epoll));
        work()
    }

    /// Gives the turn to a machine.
    pub(crate) fn begin_turn(&self, host: HostId, epoll: Option<Descriptor>) -> Turn<'_> {
        self.host.set(Some(host));
        self.epoll.set(epoll);
        let network = self.network();
        let at = network.host(host);
        self.busy_until.set(at.busy_until);
        self.clock.set(at.clock);
        self.uptime.set(None);
        self.is_over.set(at.is_down());
        drop(network);
        self.deadline.set(None);
        self.is_idle.set(false);
        self.turns.set(0);
        Turn(self)
    }

    /// The current machine has nothing to do before `deadline`: ends its turn.
    pub(crate) fn on_idle(&self, deadline: Option<Instant>) {
        self.deadline.set(deadline);
        self.is_idle.set(true);
        if let Some(host) = self.host() {
            self.with(|network| network.mark_idle(host));
        }
        self.end_turn();
    }

    /// Has the current machine's turn end with its next look at whether it should.
    fn end_turn(&self) {
        if let Some(waker) = self.waker.take() {
            self.is_waking.set(true);
            waker.wake();
            self.is_waking.set(false);
        }
    }

    pub(crate) fn begin_tasks(&self, host: HostId) {
        self.tasks.borrow_mut().begin(host);
    }

    #[cfg(tokio_unstable)]
    pub(crate) fn add_task(
        &self,
        host: HostId,
        id: tokio::task::Id,
        spawned_at: &'static std::panic::Location<'static>,
    ) {
        // A runtime that ends says so of a task that it refuses after it dropped it.
        if !self.is_over() {
            self.tasks.borrow_mut().add(host, id, spawned_at);
        }
    }

    #[cfg(tokio_unstable)]
    pub(crate) fn remove_task(&self, id: tokio::task::Id) {
        self.tasks.borrow_mut().remove(id);
    }

    /// The tasks of a host's machine that have not ended, in the order of their spawns.
    ///
    /// ```
    /// use hostsim::machine::SELECT_IS_SEEDED;
    /// # use hostsim::{machine::Machine, seam, world::World};
    /// # let world = World::new();
    /// # let _entered = seam::enter(&world);
    /// # let host = world.with(|network| network.add_host("alone"));
    /// let mut machine = Machine::start(&world, host, 7)?;
    /// machine.spawn(std::future::pending());
    /// machine.spawn(async {});
    /// machine.run();
    /// // tokio tells of tasks where it was built to.
    /// let left: Vec<u64> = world.tasks(host).iter().map(|task| task.number).collect();
    /// assert_eq!(left, if SELECT_IS_SEEDED { vec![0] } else { vec![] });
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn tasks(&self, host: HostId) -> Vec<Task> {
        self.tasks.borrow().of(host).into_iter().map(|(_, task)| task).collect()
    }

    /// The task whose code runs, inside a machine's turn.
    ///
    /// ```
    /// use hostsim::machine::SELECT_IS_SEEDED;
    /// # use hostsim::{machine::Machine, seam, world::World};
    /// # let world = World::new();
    /// # let _entered = seam::enter(&world);
    /// # let host = world.with(|network| network.add_host("alone"));
    /// let mut machine = Machine::start(&world, host, 7)?;
    /// machine.spawn(async move {
    ///     let world = seam::current().expect("it is a run");
    ///     assert_eq!(world.task().is_some(), SELECT_IS_SEEDED, "tokio was built to tell");
    /// });
    /// machine.run();
    /// assert_eq!(world.task(), None, "nobody has the turn");
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn task(&self) -> Option<Task> {
        self.task_of(tokio::task::try_id()?)
    }

    pub(crate) fn task_of(&self, id: tokio::task::Id) -> Option<Task> {
        self.tasks.borrow().get(id)
    }

    /// Fills `into` with random bytes of the current host, or of the world outside a turn.
    pub(crate) fn fill(&self, into: &mut [u8]) {
        self.has_drawn.set(true);
        match self.host() {
            Some(host) => self.with(|network| (network.host_mut(host).entropy)(into)),
            None => (self.entropy.borrow_mut())(into),
        }
    }

    /// Gives the world its random bytes for what runs outside a machine's turn.
    ///
    /// ```
    /// use std::hash::RandomState;
    /// use std::cell::Cell;
    /// use std::rc::Rc;
    /// # use hostsim::{machine::Machine, seam, world::World};
    /// # let world = World::new();
    /// # let _entered = seam::enter(&world);
    /// # let host = world.with(|network| network.add_host("alone"));
    /// let count = Rc::new(Cell::new(0));
    /// let asked = count.clone();
    /// world.set_entropy(Box::new(move |into| {
    ///     asked.set(asked.get() + into.len());
    ///     into.fill(7);
    /// }));
    /// // std asks for the keys of its hash maps, once a thread.
    /// let _state = RandomState::new();
    /// assert_eq!(count.get(), 16);
    /// ```
    pub fn set_entropy(&self, entropy: Entropy) {
        *self.entropy.borrow_mut() = entropy;
    }

    /// Records why the run cannot go on; the first reason stands.
    pub(crate) fn record(&self, trouble: Trouble) {
        self.trouble.borrow_mut().get_or_insert(trouble);
    }

    /// Whether a program of the world took random bytes: then its thread may keep a generator.
    ///
    /// ```
    /// use std::hash::RandomState;
    /// # use hostsim::{machine::Machine, seam, world::World};
    /// # let world = World::new();
    /// # let _entered = seam::enter(&world);
    /// # let host = world.with(|network| network.add_host("alone"));
    /// assert!(!world.has_drawn());
    /// world.in_turn(host, RandomState::new);
    /// assert!(world.has_drawn());
    /// ```
    pub fn has_drawn(&self) -> bool {
        self.has_drawn.get()
    }

    /// The moment of the wall clock, for a program that asks for it.
    pub(crate) fn tell_date(&self) -> Duration {
        self.has_told_date.set(true);
        self.clock.get().date(self.now())
    }

    /// Whether a program of the world asked for the date: then its thread may keep it, as hyper
    /// keeps the `Date` of a second.
    ///
    /// ```
    /// use hostsim::clock::EPOCH;
    /// use std::time::SystemTime;
    /// # use hostsim::{machine::Machine, seam, world::World};
    /// # let world = World::new();
    /// # let _entered = seam::enter(&world);
    /// # let host = world.with(|network| network.add_host("alone"));
    /// assert!(!world.has_told_date());
    /// let date = world.in_turn(host, SystemTime::now);
    /// assert_eq!(date, SystemTime::UNIX_EPOCH + EPOCH);
    /// assert!(world.has_told_date());
    /// ```
    pub fn has_told_date(&self) -> bool {
        self.has_told_date.get()
    }

    /// Hangs something of the harness on the world, for code that finds the world through
    /// [`crate::seam::current`], whatever thread has the turn.
    ///
    /// ```
    /// use std::rc::Rc;
    /// # use hostsim::{machine::Machine, seam, world::World};
    /// # let world = World::new();
    /// # let _entered = seam::enter(&world);
    /// # let host = world.with(|network| network.add_host("alone"));
    /// world.set_slot(Rc::new("what the harness keeps"));
    /// let code_below = || {
    ///     let slot = seam::current()?.slot()?;
    ///     slot.downcast_ref::<&str>().copied()
    /// };
    /// assert_eq!(code_below(), Some("what the harness keeps"));
    /// ```
    pub fn set_slot(&self, slot: Rc<dyn Any>) {
        *self.slot.borrow_mut() = Some(slot);
    }

    /// What the harness hung on the world.
    ///
    /// ```
    /// use std::rc::Rc;
    /// # use hostsim::{machine::Machine, seam, world::World};
    /// # let world = World::new();
    /// # let _entered = seam::enter(&world);
    /// # let host = world.with(|network| network.add_host("alone"));
    /// assert!(world.slot().is_none());
    /// world.set_slot(Rc::new(42_u32));
    /// let slot = world.slot().expect("it was set");
    /// assert_eq!(slot.downcast_ref::<u32>(), Some(&42));
    /// ```
    pub fn slot(&self) -> Option<Rc<dyn Any>> {
        self.slot.borrow().clone()
    }

    /// Takes the reason why the run cannot go on.
    ///
    /// ```
    /// use std::net::UdpSocket;
    /// # use hostsim::{machine::Machine, seam, world::World};
    /// # let world = World::new();
    /// # let _entered = seam::enter(&world);
    /// # let host = world.with(|network| network.add_host("alone"));
    /// world.in_turn(host, || {
    ///     let socket = UdpSocket::bind("0.0.0.0:7").unwrap();
    ///     // It is in blocking mode, and nobody could send to it meanwhile.
    ///     socket.recv(&mut [0; 8]).unwrap_err();
    /// });
    /// assert!(world.take_trouble().is_some());
    /// assert_eq!(world.take_trouble(), None, "it is told once");
    /// ```
    pub fn take_trouble(&self) -> Option<Trouble> {
        self.trouble.borrow_mut().take()
    }
}

/// A machine's turn, until it is dropped.
pub(crate) struct Turn<'a>(&'a World);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.host.set(None);
        self.0.epoll.set(None);
        self.0.busy_until.set(Instant::START);
        self.0.clock.set(HostClock::default());
        self.0.uptime.set(None);
        self.0.is_over.set(false);
        self.0.waker.set(None);
    }
}
