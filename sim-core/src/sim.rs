//! What a test makes a run of: nodes, clients, a workload and checkers.

use crate::check::Checker;
use crate::control::{self, Control, Controls, FaultSpec, Handle};
use crate::datagram::{self, Odds, Ordered};
use crate::dir::Folder;
use crate::driver::{self, Limits};
use crate::history::{Event, History};
use crate::lifecycle::{self, Lifecycle, Seat};
use crate::liveness::Liveness;
use crate::node::{Node, NodeSpec, wrap};
use crate::panics::Slot;
use crate::process::Process;
use crate::route::{self, Route};
use crate::seed::{Seed, Stream};
use crate::source::{Choice, Source};
use crate::stage::Watch;
use crate::swarm::{self, CLIENTS, IN_FLIGHT, OPERATIONS, PAUSE, Plan, Shape};
use crate::termination::Termination;
use crate::workload::{
    Client, Ended, Frame, Next, Operation, OperationId, Outcome, PAUSE_LEVEL_MAX, Typed, Work,
    WorkloadSpec, pause_of,
};
use arbitrary::Arbitrary;
use hostsim::kernel::HostId;
use hostsim::world::World;
use rand_core::Rng;
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::fmt::Debug;
use std::future::Future;
use std::hash::Hash;
use std::marker::PhantomData;
use std::rc::Rc;
use std::sync::Arc;

/// Clients of a scenario that have not ended, and those that just did.
#[derive(Clone, Default)]
pub(crate) struct Progress(Rc<RefCell<(BTreeSet<HostId>, Vec<HostId>)>>);

impl Progress {
    /// How many have not ended.
    pub(crate) fn clients(&self) -> u64 {
        self.0.borrow().0.len() as u64
    }

    /// Takes those that ended.
    pub(crate) fn take_finished(&self) -> Vec<HostId> {
        std::mem::take(&mut self.0.borrow_mut().1)
    }

    /// Whether one has not ended.
    pub(crate) fn has(&self, host: HostId) -> bool {
        self.0.borrow().0.contains(&host)
    }

    pub(crate) fn begin(&self, host: HostId) {
        self.0.borrow_mut().0.insert(host);
    }

    /// A client ended; one that was started again may do so more than once.
    pub(crate) fn finish(&self, host: HostId) {
        let mut progress = self.0.borrow_mut();
        if progress.0.remove(&host) {
            progress.1.push(host);
        }
    }
}

/// One run, while its test describes it.
///
/// # Determinism
/// The calls draw from the swarm and network lanes, in the order in which they are made.
///
/// ```
/// use sim_core::driver::Limits;
/// use sim_core::{Sim, Target};
/// use std::time::Duration;
///
/// fn build(sim: &mut Sim) {
///     // What the run is made of. The swarm may choose; zero is calm.
///     let batch = 1 + sim.dimension("batch", 7);
///     sim.note(&format!("batches of {batch}"));
///     sim.set_limits(Limits { events_max: 10_000, ..Limits::default() });
///     let server = sim.node("server", |_| async {});
///     sim.client("client", move |_| {
///         let server = server.clone();
///         async move {
///             tokio::time::sleep(Duration::from_secs(3_600)).await;
///             assert_eq!(server.starts(0), 1);
///         }
///     });
/// }
///
/// sim_core::sweep::test(&Target::new("hour", build), 0..10);
/// ```
pub struct Sim {
    pub(crate) world: Rc<World>,
    pub(crate) watch: Arc<Watch>,
    pub(crate) slot: Rc<Slot>,
    /// Shared with what the network asks for a choice.
    pub(crate) source: Rc<RefCell<Source>>,
    pub(crate) plan: Plan,
    pub(crate) shape: Shape,
    /// What a test ordered for datagrams.
    pub(crate) ordered: Ordered,
    /// What datagrams may meet, shared with what the network asks.
    pub(crate) odds: Rc<Cell<Odds>>,
    pub(crate) entropy: Seed,
    pub(crate) history: Rc<RefCell<History>>,
    pub(crate) limits: Limits,
    pub(crate) seats: Vec<Seat>,
    pub(crate) checkers: Vec<Box<dyn Checker>>,
    pub(crate) workload: Option<Box<dyn Work>>,
    pub(crate) frame: Frame,
    pub(crate) ended: Ended,
    pub(crate) next: Option<Next>,
    pub(crate) is_planned: bool,
    pub(crate) operations: u64,
    pub(crate) outstanding: u64,
    /// The operations that are under way and their kinds.
    pub(crate) under_way: Vec<(OperationId, String)>,
    pub(crate) work: Progress,
    /// Clients that start once no work is left.
    pub(crate) last: Vec<HostId>,
    pub(crate) runnable: Vec<HostId>,
    pub(crate) steps: u64,
    pub(crate) machines: u32,
    pub(crate) active: control::Active,
    pub(crate) controls: Controls,
    pub(crate) faults: control::Drawn,
    pub(crate) next_fault: Option<control::NextFault>,
    pub(crate) lifecycles: Vec<lifecycle::Drawn>,
    pub(crate) rollouts: Vec<Option<lifecycle::Running>>,
    pub(crate) liveness: Liveness,
    /// Real files of the hosts.
    pub(crate) folder: Arc<Folder>,
}

impl Sim {
    /// A run of a source, in a world that is current on this thread.
    pub(crate) fn new(world: Rc<World>, mut source: Source, watch: Arc<Watch>) -> Sim {
        let history = Rc::<RefCell<History>>::default();
        let slot = Slot::new(history.clone());
        world.set_slot(slot.clone());
        let mut plan = Plan::default();
        let shape = swarm::shape(&mut source, &mut plan);
        let entropy = driver::entropy_root(shape.entropy);
        let mut stream = entropy.child("harness").stream();
        world.set_entropy(Box::new(move |into| stream.fill_bytes(into)));
        let sim = Sim {
            world,
            watch,
            slot,
            source: Rc::new(RefCell::new(source)),
            plan,
            shape,
            ordered: Ordered::default(),
            odds: Rc::new(Cell::new(Odds::CALM)),
            entropy,
            history,
            limits: Limits::default(),
            seats: Vec::new(),
            checkers: Vec::new(),
            workload: None,
            frame: Frame::default(),
            ended: Ended::default(),
            next: None,
            is_planned: false,
            operations: 0,
            outstanding: 0,
            under_way: Vec::new(),
            work: Progress::default(),
            last: Vec::new(),
            runnable: Vec::new(),
            steps: 0,
            machines: 0,
            active: control::Active::default(),
            controls: Controls::default(),
            faults: control::Drawn::new(FaultSpec::new(), 0),
            next_fault: None,
            lifecycles: Vec::new(),
            rollouts: Vec::new(),
            liveness: Liveness::default(),
            folder: Arc::default(),
        };
        driver::observe(&sim);
        let chooser = route::chooser(sim.source.clone());
        let fates = datagram::fates(sim.source.clone(), sim.odds.clone());
        sim.world.with(|network| {
            network.set_chooser(chooser);
            network.set_fates(fates);
        });
        sim
    }

    /// Adds a node: a program that is made anew at each start of each replica.
    ///
    /// ```
    /// # use sim_core::{Sim, node::NodeSpec};
    /// # fn test(sim: &mut Sim) {
    /// let echo = sim.node(NodeSpec::new("echo").replicas(1..=3), |process| async move {
    ///     let address = (process.address(), 7);
    ///     let listener = tokio::net::TcpListener::bind(address).await.unwrap();
    ///     while let Ok((mut stream, _)) = listener.accept().await {
    ///         tokio::spawn(async move {
    ///             let (mut reader, mut writer) = stream.split();
    ///             tokio::io::copy(&mut reader, &mut writer).await
    ///         });
    ///     }
    /// });
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("echo", test), 0..4);
    /// ```
    /// A program that returns ends its process, as `main` does, with what it still has running.
    ///
    /// # Panics
    /// Where a node, a client or a replica of the run has this name.
    #[track_caller]
    pub fn node<A, F, T>(&mut self, spec: impl Into<NodeSpec>, app: A) -> Node
    where
        A: Fn(Process) -> F + 'static,
        F: Future<Output = T> + 'static,
        T: Termination + 'static,
    {
        self.seat(&spec.into(), Some(&wrap(app)))
    }

    /// Adds a client of a scenario: a program on a host of its own. The run goes on until it ends by
    /// itself, by a return or by [`Process::exit`]. One that a control kills has not ended: unless
    /// it is started again, the run ends in a deadlock or at a limit.
    ///
    /// ```
    /// # use sim_core::Sim;
    /// use std::cell::Cell;
    /// use std::rc::Rc;
    ///
    /// # fn build(sim: &mut Sim) {
    /// let count = Rc::new(Cell::new(0));
    /// let counted = count.clone();
    /// sim.client("writer", move |_| {
    ///     let count = count.clone();
    ///     async move { count.set(count.get() + 1) }
    /// });
    /// // It begins once the writer has ended.
    /// sim.last_client("reader", move |_| {
    ///     let count = counted.clone();
    ///     async move { assert_eq!(count.get(), 1) }
    /// });
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("count", build), 0..4);
    /// ```
    #[track_caller]
    pub fn client<A, F>(&mut self, name: &str, app: A) -> Node
    where
        A: Fn(Process) -> F + 'static,
        F: Future<Output = ()> + 'static,
    {
        self.work.begin(HostId(self.seats.len() as u32));
        self.add_client(NodeSpec::new(name), app)
    }

    /// Adds a client that starts once the workload and every other client have ended: it sees what
    /// they left, while the system goes on and what was drawn to befall it still may. In a run with a
    /// probe ([`Sim::probe`]) it starts once the probe has ended, which is after the heal.
    ///
    /// ```
    /// use std::cell::Cell;
    /// use std::rc::Rc;
    /// # use sim_core::Sim;
    /// # fn build(sim: &mut Sim) {
    /// let count = Rc::new(Cell::new(0));
    /// let counted = count.clone();
    /// sim.client("writer", move |_| {
    ///     let count = count.clone();
    ///     async move { count.set(count.get() + 1) }
    /// });
    /// sim.last_client("reader", move |_| {
    ///     let count = counted.clone();
    ///     async move { assert_eq!(count.get(), 1, "the writer has ended") }
    /// });
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    #[track_caller]
    pub fn last_client<A, F>(&mut self, name: &str, app: A) -> Node
    where
        A: Fn(Process) -> F + 'static,
        F: Future<Output = ()> + 'static,
    {
        self.last.push(HostId(self.seats.len() as u32));
        self.add_client(NodeSpec::new(name).stopped(), app)
    }

    #[track_caller]
    pub(crate) fn add_client<A, F>(&mut self, mut spec: NodeSpec, app: A) -> Node
    where
        A: Fn(Process) -> F + 'static,
        F: Future<Output = ()> + 'static,
    {
        let work = self.work.clone();
        let host = HostId(self.seats.len() as u32);
        let app = wrap(move |process| {
            let (program, work) = (app(process), work.clone());
            async move {
                program.await;
                work.finish(host);
            }
        });
        spec.settings.is_client = true;
        self.seat(&spec, Some(&app))
    }

    /// Adds a route: a name whose connections go to one of some hosts each, such as the replicas of
    /// a node. The name then is the route's, also where a node has it.
    ///
    /// # Panics
    /// Where the run has a route of this name.
    ///
    /// ```
    /// # use sim_core::Sim;
    /// # fn build(sim: &mut Sim) {
    /// let api = sim.node("api-1", |_| async {});
    /// let route = sim.route("api", &api);
    /// assert_eq!((route.name(), route.hosts()), ("api", api.hosts().to_vec()));
    /// assert_ne!(route.address(), api.addresses()[0], "it has an address of its own");
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("routed", build), 0..4);
    /// ```
    #[track_caller]
    pub fn route(&mut self, name: &str, hosts: impl AsRef<[HostId]>) -> Route {
        Route::add(&self.world, name, hosts.as_ref())
    }

    /// Adds the workload: what a client keeps between its operations, and how it does one.
    ///
    /// # Panics
    /// Where the run has a workload.
    ///
    /// ```
    /// # use sim_core::Sim;
    /// use sim_core::workload::{Operation, Outcome, WorkloadSpec};
    /// use tokio::net::{TcpListener, TcpStream};
    ///
    /// #[derive(arbitrary::Arbitrary, Debug)]
    /// enum Op {
    ///     Dial,
    /// }
    ///
    /// # fn build(sim: &mut Sim) {
    /// let server = sim.node("server", |_| async {
    ///     let listener = TcpListener::bind("0.0.0.0:7").await.unwrap();
    ///     while listener.accept().await.is_ok() {}
    /// });
    /// sim.workload(&WorkloadSpec::new(), |_| (), move |_, _: Operation<Op>| {
    ///     let server = server.clone();
    ///     async move {
    ///         server.listening(0, 7).await;
    ///         match TcpStream::connect("server:7").await {
    ///             Ok(_) => Outcome::done(),
    ///             Err(error) => Outcome::failed(error.to_string()),
    ///         }
    ///     }
    /// });
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("dials", build), 0..10);
    /// ```
    #[track_caller]
    pub fn workload<T, S, R, F>(&mut self, spec: &WorkloadSpec, state: impl Fn(Client) -> S, run: R)
    where
        T: for<'a> Arbitrary<'a> + Debug + 'static,
        S: 'static,
        R: Fn(Rc<S>, Operation<T>) -> F + 'static,
        F: Future<Output = Outcome> + 'static,
    {
        assert!(self.workload.is_none(), "a run has one workload");
        let (min, max) = (*spec.clients.start(), *spec.clients.end());
        let clients = self.draw(CLIENTS, max - min, swarm::count_from(min));
        let operations_max = self.draw(OPERATIONS, spec.operations_max, swarm::number);
        let in_flight_max = self.draw(IN_FLIGHT, spec.in_flight_max - 1, swarm::count_from(1));
        let pause_max = self.draw(PAUSE, PAUSE_LEVEL_MAX, |level| {
            let pause = pause_of(spec, level);
            (pause, format!("{pause:?}"))
        });
        let (mut hosts, mut states) = (Vec::new(), Vec::new());
        for index in 0..clients as usize {
            let node = self.seat(&NodeSpec::new(&format!("client-{index}")), None);
            hosts.extend(node.hosts);
            states.push(Rc::new(state(Client { index, address: node.addresses[0] })));
        }
        self.frame = Frame { clients: hosts, operations_max, in_flight_max, pause_max };
        let (run, ended) = (Rc::new(run), self.ended.clone());
        self.workload = Some(Box::new(Typed { states, run, ended, operation: PhantomData::<T> }));
    }

    pub(crate) fn draw<T>(
        &mut self,
        choice: Choice,
        max: u64,
        meaning: impl FnOnce(u64) -> (T, String),
    ) -> T {
        swarm::draw(&mut self.source.borrow_mut(), &mut self.plan, choice, max, meaning)
    }

    /// Draws a dimension of the test's own, in `0..=max`; zero must be the calm value.
    ///
    /// # Panics
    /// Where `max` is past 255.
    ///
    /// ```
    /// # use sim_core::Sim;
    /// # fn build(sim: &mut Sim) {
    /// let is_cached = sim.dimension("cache", 1) == 1;
    /// let workers = 1 + sim.dimension("workers", 7);
    /// # assert!(workers <= 8 || is_cached);
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("dimensions", build), 0..4);
    /// ```
    #[track_caller]
    pub fn dimension(&mut self, name: &'static str, max: u64) -> u64 {
        assert!(max <= 255, "the largest value of a dimension is 255 at most, not {max}");
        self.draw(Choice::one(name), max, swarm::number)
    }

    /// Gives the run a control for a moment of it.
    ///
    /// # Panics
    /// Where it is about a host that is not of the run.
    ///
    /// ```
    /// # use sim_core::Sim;
    /// use sim_core::control::{Control, Units, Until};
    ///
    /// # fn build(sim: &mut Sim) {
    /// let db = sim.node("db", |_| std::future::pending::<()>());
    /// let pause = sim.at(1.s(), Control::pause(&db).until(Until::After(2.s())));
    /// let controls = sim.controls();
    /// sim.client("operator", move |_| {
    ///     let (db, pause, controls) = (db.clone(), pause.clone(), controls.clone());
    ///     async move {
    ///         tokio::time::sleep(2.s()).await;
    ///         assert!(pause.is_active());
    ///         controls.apply(Control::start(&db));
    ///     }
    /// });
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("pause", build), 0..4);
    /// ```
    #[track_caller]
    pub fn at(&mut self, moment: std::time::Duration, control: Control) -> Handle {
        control.check_hosts(self.seats.len());
        let handle = Handle::default();
        let number = self.active.add(control, handle.clone());
        self.schedule_control(moment, number);
        handle
    }

    /// Gives controls from inside the run: clone it into operations, checkers and nodes.
    ///
    /// ```
    /// use sim_core::control::{Control, Units};
    /// # use sim_core::Sim;
    /// # fn build(sim: &mut Sim) {
    /// # let db = sim.node("db", |_| std::future::pending::<()>());
    /// let controls = sim.controls();
    /// sim.client("operator", move |_| {
    ///     let (db, controls) = (db.clone(), controls.clone());
    ///     async move {
    ///         let pause = controls.apply(Control::pause(&db));
    ///         tokio::time::sleep(1.s()).await;
    ///         assert!(pause.is_active());
    ///     }
    /// });
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    pub fn controls(&self) -> Controls {
        self.controls.clone()
    }

    /// Lets the run draw controls of its own from the fault lane; the swarm says how many, and
    /// none is calm. A run that is given this again draws as the last one says.
    ///
    /// ```
    /// # use sim_core::Sim;
    /// use sim_core::control::FaultSpec;
    ///
    /// # fn build(sim: &mut Sim) {
    /// # sim.node("server", |_| async {});
    /// sim.faults(FaultSpec::new());
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("faulty", build), 0..4);
    /// ```
    pub fn faults(&mut self, spec: FaultSpec) {
        let count = self.draw(swarm::FAULTS, spec.count_max, swarm::number);
        self.faults = control::Drawn::new(spec, count);
    }

    /// Lets the run draw events of lifecycles from the lifecycle lane; the swarm says how many, and
    /// none is calm. Each call adds some, for hosts of its own or with bounds of its own.
    ///
    /// # Panics
    /// Where it is about a host that is not of the run.
    ///
    /// ```
    /// # use sim_core::Sim;
    /// use sim_core::lifecycle::Lifecycle;
    ///
    /// # fn build(sim: &mut Sim) {
    /// let db = sim.node("db", |_| std::future::pending::<()>());
    /// sim.lifecycle(Lifecycle::of(&db).crashes().pauses());
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("crashes", build), 0..4);
    /// ```
    #[track_caller]
    pub fn lifecycle(&mut self, spec: Lifecycle) {
        spec.check_hosts(self.seats.len());
        let whose = self.names(&spec.hosts.0);
        let count = self.draw(swarm::LIFECYCLE, spec.count_max, |count| {
            (count, if count == 0 { count.to_string() } else { format!("{count} at {whose}") })
        });
        self.lifecycles.push(lifecycle::Drawn::new(spec, count));
    }

    /// Some hosts in words: of many, the first and the last.
    fn names(&self, hosts: &[HostId]) -> String {
        let name = |host: &HostId| self.seats[host.0 as usize].facts.name.as_str();
        match hosts {
            [first, _, .., last] => format!("{} to {}", name(first), name(last)),
            few => few.iter().map(name).collect::<Vec<_>>().join(" and "),
        }
    }

    /// Adds a judge of the run.
    ///
    /// ```
    /// # use sim_core::Sim;
    /// use sim_core::{Checker, Violation};
    /// use std::cell::RefCell;
    /// use std::rc::Rc;
    ///
    /// /// How many requests were answered more often than once.
    /// #[derive(Default)]
    /// struct Twice(u64);
    ///
    /// impl Checker for Twice {
    ///     fn step(&mut self) -> Result<(), Violation> {
    ///         let text = format!("{} requests were answered twice", self.0);
    ///         if self.0 == 0 { Ok(()) } else { Err(Violation::new(text)) }
    ///     }
    /// }
    ///
    /// # fn build(sim: &mut Sim) {
    /// let twice = Rc::new(RefCell::new(Twice::default()));
    /// // The other half goes to the nodes and operations that see what happens.
    /// sim.check(twice.clone());
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("twice", build), 0..4);
    /// ```
    pub fn check(&mut self, checker: impl Checker + 'static) {
        self.checkers.push(Box::new(checker));
    }

    /// Fails the run.
    ///
    /// ```
    /// use sim_core::Target;
    /// use sim_core::failure::Class;
    /// use sim_core::run::{Input, run};
    /// use std::time::Duration;
    ///
    /// let target = Target::new("kv", |sim| sim.fail("the batch is too large"));
    /// let failure = run(&target, &Input::Seed(7), Duration::from_secs(60)).failure.expect("it fails");
    /// assert_eq!((failure.class, &*failure.message), (Class::Correctness, "the batch is too large"));
    /// ```
    #[track_caller]
    pub fn fail(&mut self, message: impl Into<String>) {
        crate::check::fail(message);
    }

    /// Tells an abstract state of the application, as guidance for a search
    /// ([`coverage::observe`](crate::coverage::observe)).
    ///
    /// ```
    /// use sim_core::Target;
    /// use sim_core::run::{Input, run};
    /// use std::time::Duration;
    ///
    /// let features = |replicas: u32| {
    ///     let target = Target::new("kv", move |sim| sim.observe(("replicas", replicas)));
    ///     run(&target, &Input::Bytes(Vec::new()), Duration::from_secs(60)).features
    /// };
    /// assert_ne!(features(1), features(3), "a search sees that they differ");
    /// ```
    pub fn observe(&self, state: impl Hash) {
        crate::coverage::observe(state);
    }

    /// The stream of random numbers at a label of the run's seed tree.
    ///
    /// ```
    /// # use sim_core::Sim;
    /// use rand_core::Rng;
    ///
    /// # fn build(sim: &mut Sim) {
    /// // Bytes without a meaning of their own; what is to be searched for is drawn instead.
    /// let mut payload = [0; 32];
    /// sim.rand("payload").fill_bytes(&mut payload);
    /// sim.observe(payload[0] % 4);
    /// if payload == [0; 32] {
    ///     sim.fail("the payload is empty");
    /// }
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("payload", build), 0..4);
    /// ```
    pub fn rand(&self, label: &str) -> Stream {
        self.entropy.child("test").child(label).stream()
    }

    /// Puts a line into the history.
    ///
    /// ```
    /// use sim_core::Target;
    /// use sim_core::run::{Input, run};
    /// use std::time::Duration;
    ///
    /// let target = Target::new("kv", |sim| sim.note("batches of three"));
    /// let run = run(&target, &Input::Seed(7), Duration::from_secs(60));
    /// assert!(run.trace().lines().any(|line| line.contains("batches of three")));
    /// ```
    pub fn note(&mut self, text: &str) {
        self.history.borrow_mut().record(self.world.now().0, Event::Note { text });
    }

    /// Sets where the run ends at the latest.
    ///
    /// ```
    /// use sim_core::Target;
    /// use sim_core::driver::Limits;
    /// use sim_core::failure::Class;
    /// use sim_core::run::{Input, run};
    /// use std::time::Duration;
    ///
    /// let target = Target::new("endless", |sim| {
    ///     sim.set_limits(Limits { events_max: 10, ..Limits::default() });
    ///     sim.client("client", |_| async {
    ///         loop {
    ///             tokio::time::sleep(Duration::from_secs(1)).await;
    ///         }
    ///     });
    /// });
    /// let run = run(&target, &Input::Seed(7), Duration::from_secs(60));
    /// assert_eq!(run.class(), Some(Class::Inconclusive));
    /// ```
    pub fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
    }
}
