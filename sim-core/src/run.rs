//! One run of one input.
//!
//! A run has an OS thread of its own, so that what a thread keeps (the keys of std's `HashMap`, the
//! generators of `rand`) is new in each. The caller waits for it no longer than the watchdog says.
//!
//! A thread is dear beside a short run, so sweeps and fuzzing make runs one after the other on one
//! thread, as long as each is proved to leave nothing in it: it made no `RandomState`, took no
//! random bytes and asked for no date. A run that did, and one that failed, is made again on a thread of its own, and
//! only that one counts; a target that once did has its own threads from then on.

use crate::coverage::{Coverage, Features};
use crate::failure::{Class, Failure};
use crate::history::{Hash, History, Trace};
use crate::log::{self, Log, LogFilter};
use crate::mark::Marks;
use crate::panics::Scope;
use crate::recording::Recording;
use crate::sim::Sim;
use crate::source::{Ratio, Script, Source};
use crate::stage::Watch;
use crate::swarm::Plan;
use crate::tape::Tape;
use hostsim::machine::{Machine, is_inside_runtime};
use hostsim::seam::{self, ProbeError, outside};
use hostsim::world::World;
use std::cell::Cell;
use std::fmt;
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// A system under test: its name and what a run of it is made of.
///
/// ```
/// use sim_core::source::Ratio;
/// use sim_core::{Sim, Target};
///
/// fn build(sim: &mut Sim) {
///     sim.node("server", |_| async {});
/// }
///
/// let target = Target::new("kv", build);
/// assert_eq!(target.name(), "kv");
/// assert!(target.file().ends_with(".rs"), "the marks of this file are its own");
///
/// // Prepared outside of the run, once for each; and of its runs no more than a tenth are excused.
/// let prepared = Target::with_setup("prepared", || vec![1, 2, 3], |sim, numbers| {
///     sim.note(&format!("{numbers:?}"));
/// });
/// sim_core::sweep::test(&prepared.excused_max(Ratio::new(1, 10)), 0..3);
/// ```
#[derive(Clone)]
pub struct Target {
    name: &'static str,
    /// The file that made it.
    file: &'static str,
    prepare: Arc<dyn Fn() -> Body + Send + Sync>,
    /// A run was seen to leave something in its thread.
    marks_threads: Arc<AtomicBool>,
    excused_max: Ratio,
}

/// The largest share of the runs of a sweep that may be excused, where a target says nothing.
///
/// ```
/// assert_eq!(sim_core::run::EXCUSED_MAX.to_string(), "1/2");
/// ```
pub const EXCUSED_MAX: Ratio = Ratio::new(1, 2);

type Body = Box<dyn FnOnce(&mut Sim) + Send>;

impl Target {
    /// A target whose runs are described by `body`. The name is that of its folders and binaries.
    ///
    /// ```
    /// use sim_core::{Sim, Target};
    ///
    /// fn build(sim: &mut Sim) {
    ///     sim.node("server", |_| async {});
    /// }
    ///
    /// let target = Target::new("kv", build);
    /// sim_core::sweep::test(&target, 0..3);
    /// ```
    #[track_caller]
    pub fn new(name: &'static str, body: impl Fn(&mut Sim) + Send + Sync + 'static) -> Target {
        let body = Arc::new(body);
        let prepare = move || -> Body {
            let body = body.clone();
            Box::new(move |sim: &mut Sim| body(sim))
        };
        Target::of(name, Location::caller().file(), prepare)
    }

    /// A target that prepares something on the caller's thread before each run, outside of it.
    ///
    /// ```
    /// use sim_core::Target;
    /// use std::sync::atomic::{AtomicU64, Ordering};
    ///
    /// static PREPARED: AtomicU64 = AtomicU64::new(0);
    ///
    /// // A certificate, say, which takes long to make and is not to be simulated.
    /// let prepare = || PREPARED.fetch_add(1, Ordering::Relaxed);
    /// let target = Target::with_setup("tls", prepare, |sim, number| sim.note(&format!("{number}")));
    /// let run = sim_core::run::run(&target, &sim_core::run::Input::Seed(7), std::time::Duration::MAX);
    /// assert_eq!((run.class(), PREPARED.load(Ordering::Relaxed)), (None, 1));
    /// ```
    #[track_caller]
    pub fn with_setup<S: Send + 'static>(
        name: &'static str,
        setup: impl Fn() -> S + Send + Sync + 'static,
        body: impl Fn(&mut Sim, S) + Send + Sync + 'static,
    ) -> Target {
        let body = Arc::new(body);
        let prepare = move || -> Body {
            let (state, body) = (setup(), body.clone());
            Box::new(move |sim: &mut Sim| body(sim, state))
        };
        Target::of(name, Location::caller().file(), prepare)
    }

    fn of(
        name: &'static str,
        file: &'static str,
        prepare: impl Fn() -> Body + Send + Sync + 'static,
    ) -> Target {
        let marks_threads = Arc::default();
        Target { name, file, prepare: Arc::new(prepare), marks_threads, excused_max: EXCUSED_MAX }
    }

    /// Sets the largest share of the runs of a sweep that may be excused: [`EXCUSED_MAX`], if not set.
    ///
    /// ```
    /// use sim_core::Target;
    /// use sim_core::settings::{Seeds, Settings};
    /// use sim_core::source::Ratio;
    /// use sim_core::sweep::sweep;
    ///
    /// let target = Target::new("kv", |_| sim_core::excuse("out of its envelope"));
    /// let found = sweep(&target, &Seeds::range(0..3), &Settings::default());
    /// assert!(found.too_excused(&target).is_some());
    /// assert_eq!(found.too_excused(&target.excused_max(Ratio::new(1, 1))), None);
    /// ```
    #[must_use]
    pub fn excused_max(mut self, share: Ratio) -> Target {
        self.excused_max = share;
        self
    }

    /// The largest share of the runs of a sweep that may be excused.
    pub(crate) fn excused_share_max(&self) -> Ratio {
        self.excused_max
    }

    /// The name.
    ///
    /// ```
    /// assert_eq!(sim_core::Target::new("kv", |_| {}).name(), "kv");
    /// ```
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The source file in which it was made: the marks there are its own.
    ///
    /// ```
    /// assert_eq!(sim_core::Target::new("kv", |_| {}).file(), file!());
    /// ```
    pub fn file(&self) -> &'static str {
        self.file
    }

    /// Makes the body of a run.
    fn prepare(&self) -> Result<Body, Failure> {
        catch_unwind(AssertUnwindSafe(|| (self.prepare)())).map_err(|_| {
            let text = "the test's setup panicked; its message is above";
            Failure::new(Class::Panic, "setup", text)
        })
    }
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Target").field(&self.name).finish()
    }
}

/// Where the decisions of a run come from.
///
/// ```
/// use sim_core::run::Input;
/// use sim_core::source::{Choice, Lane};
///
/// const FIRST: Choice = Choice::one("first");
///
/// let mut source = Input::Bytes(vec![1, 9]).source();
/// assert_eq!(source.draw(Lane::Swarm, FIRST, 255), 9);
/// let mut source = Input::Flat(vec![1, 9]).source();
/// assert_eq!(source.draw(Lane::Swarm, FIRST, 255), 1, "without lanes there are no lengths");
/// assert!(Input::Seed(7).source().tape().is_empty());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// A seed of the PCG feed.
    Seed(u64),
    /// Bytes.
    Bytes(Vec<u8>),
    /// Bytes without lanes, for the comparison of searches alone.
    Flat(Vec<u8>),
    /// What another run chose, by name.
    Recording(Recording),
    /// Choices by their labels.
    Script(Box<Script>),
}

impl Input {
    /// The source of a run.
    ///
    /// ```
    /// use sim_core::run::Input;
    /// use sim_core::source::{Choice, Lane};
    ///
    /// let mut source = Input::Bytes(vec![1, 7]).source();
    /// assert_eq!(source.draw(Lane::Swarm, Choice::one("batch"), 9), 7);
    /// ```
    pub fn source(&self) -> Source {
        match self {
            Input::Seed(seed) => Source::from_seed(*seed),
            Input::Bytes(bytes) => Source::from_bytes(bytes),
            Input::Flat(bytes) => Source::from_flat(bytes),
            Input::Recording(recording) => Source::from_recording(recording),
            Input::Script(script) => Source::from_script((**script).clone()),
        }
    }
}

/// What came of a run.
///
/// ```
/// use sim_core::Target;
/// use sim_core::run::{Input, run, run_reusing};
/// use std::time::Duration;
///
/// let target = Target::new("hour", |sim| {
///     sim.client("client", |_| async { tokio::time::sleep(Duration::from_secs(3_600)).await });
/// });
/// let minute = Duration::from_secs(60);
/// let first = run(&target, &Input::Seed(7), minute);
/// assert_eq!((first.class(), first.failure.as_ref()), (None, None));
/// assert!(first.elapsed >= Duration::from_secs(3_600) && first.steps > 0);
///
/// // Its tape is the same run; on this thread too, where a run leaves nothing in it.
/// let again = run_reusing(&target, &Input::Bytes(first.tape.to_bytes()), minute);
/// assert_eq!(again.hash, first.hash);
/// assert_eq!(again.plan, first.plan);
/// ```
#[derive(Clone, Debug)]
pub struct Run {
    /// Why it did not pass.
    pub failure: Option<Failure>,
    /// Why it was excused; then it neither failed nor passed.
    pub excuse: Option<String>,
    /// What happened.
    pub history: History,
    /// What its programs said, where it was made with a log.
    pub log: Log,
    /// The hash of that.
    pub hash: Hash,
    /// What came out of the swarm.
    pub plan: Plan,
    /// Its choices, which replay it.
    pub tape: Tape,
    /// The virtual time it took.
    pub elapsed: Duration,
    /// How many events were chosen.
    pub steps: u64,
    /// The marks that it reached or missed.
    pub marks: Marks,
    /// What it reached, for a search.
    pub features: Features,
    /// How many machines were started.
    machines: u32,
    /// Whether a program took random bytes or asked for the date.
    may_leave: bool,
}

impl Run {
    /// The class, where it did not pass.
    ///
    /// ```
    /// # use sim_core::Target;
    /// # use sim_core::run::{Input, run};
    /// # use std::time::Duration;
    /// # let minute = Duration::from_secs(60);
    /// use sim_core::failure::Class;
    /// let target = Target::new("kv", |_| panic!("no"));
    /// assert_eq!(run(&target, &Input::Seed(7), minute).class(), Some(Class::Panic));
    /// ```
    pub fn class(&self) -> Option<Class> {
        let excused = self.excuse.as_ref().map(|_| Class::Excused);
        self.failure.as_ref().map(|failure| failure.class).or(excused)
    }

    /// What happened and what was said, as text.
    ///
    /// ```
    /// # use sim_core::Target;
    /// # use sim_core::run::{Input, run};
    /// # use std::time::Duration;
    /// # let minute = Duration::from_secs(60);
    /// let target = Target::new("kv", |sim| sim.note("here"));
    /// assert!(run(&target, &Input::Seed(7), minute).trace().lines().any(|line| line.ends_with("here")));
    /// ```
    pub fn trace(&self) -> Trace<'_> {
        Trace::with_log(&self.history, &self.log)
    }

    /// A run whose thread ended before it.
    pub(crate) fn without_result() -> Run {
        let text = "the thread of the run ended without a result";
        Run::lost(Failure::new(Class::Internal, "thread", text))
    }

    pub(crate) fn lost(failure: Failure) -> Run {
        let history = History::default();
        Run {
            failure: Some(failure),
            excuse: None,
            hash: history.hash(),
            history,
            log: Log::default(),
            plan: Plan::default(),
            tape: Tape::default(),
            elapsed: Duration::ZERO,
            steps: 0,
            marks: Marks::default(),
            features: Features::default(),
            machines: 0,
            may_leave: false,
        }
    }
}

/// Runs one input on a thread of its own, at most as long as `watchdog` of real time.
///
/// A run that the watchdog gives up is inconclusive; its thread goes on until the process ends.
///
/// # Panics
/// Inside a run.
///
/// ```
/// # use sim_core::Target;
/// # use sim_core::run::{Input, run};
/// # use std::time::Duration;
/// # let minute = Duration::from_secs(60);
/// let target = Target::new("kv", |sim| drop(sim.dimension("batch", 9)));
/// let first = run(&target, &Input::Seed(7), minute);
/// assert_eq!(first.hash, run(&target, &Input::Seed(7), minute).hash);
/// ```
#[track_caller]
pub fn run(target: &Target, input: &Input, watchdog: Duration) -> Run {
    run_alone(target, input, watchdog, None)
}

/// As [`run()`], with the log of what its programs say and the filter lets through.
///
/// # Panics
/// Inside a run.
///
/// ```
/// use sim_core::Target;
/// use sim_core::log::LogFilter;
/// use sim_core::run::{Input, run_logged};
/// use std::time::Duration;
///
/// let target = Target::new("loud", |sim| {
///     sim.client("client", |_| async {
///         tracing::debug!("not heard");
///         tracing::info!("hello");
///     });
/// });
/// let filter: LogFilter = "info".parse().expect("it is one");
/// let run = run_logged(&target, &Input::Seed(7), Duration::from_secs(60), &filter);
/// assert_eq!(run.log.len(), 1);
/// assert!(run.trace().lines().any(|line| line.ends_with("INFO hello")));
/// ```
#[track_caller]
pub fn run_logged(target: &Target, input: &Input, watchdog: Duration, filter: &LogFilter) -> Run {
    refuse_nesting();
    let _listening = log::listen();
    run_alone(target, input, watchdog, Some(filter.clone()))
}

#[track_caller]
fn run_alone(target: &Target, input: &Input, watchdog: Duration, filter: Option<LogFilter>) -> Run {
    refuse_nesting();
    if let Err(error) = probe() {
        return Run::lost(Failure::new(Class::Internal, "probe", error.to_string()));
    }
    let body = match target.prepare() {
        Ok(body) => body,
        Err(failure) => return Run::lost(failure),
    };
    let source = input.source();
    let (sender, receiver) = channel();
    let watch = Arc::<Watch>::default();
    let watched = watch.clone();
    let thread = std::thread::Builder::new().name("sim".to_owned());
    let spawned = thread.spawn(move || drop(sender.send(run_here(body, source, &watched, filter))));
    let thread = spawned.expect("the system has a thread for a run");
    match receiver.recv_timeout(watchdog) {
        Ok(run) => {
            drop(thread.join());
            run
        }
        Err(RecvTimeoutError::Timeout) => watch.give_up(watchdog),
        Err(RecvTimeoutError::Disconnected) => Run::without_result(),
    }
}

/// Runs one input on this thread where that is proved to be the same as on one of its own.
///
/// # Panics
/// Inside a run.
///
/// ```
/// # use sim_core::Target;
/// # use sim_core::run::{Input, run};
/// # use std::time::Duration;
/// # let minute = Duration::from_secs(60);
/// use sim_core::run::run_reusing;
/// let target = Target::new("kv", |sim| drop(sim.dimension("batch", 9)));
/// let alone = run(&target, &Input::Seed(7), minute);
/// assert_eq!(run_reusing(&target, &Input::Seed(7), minute).hash, alone.hash);
/// ```
#[track_caller]
pub fn run_reusing(target: &Target, input: &Input, watchdog: Duration) -> Run {
    run_watched(target, input, watchdog, &Arc::default())
}

/// As [`run_reusing`], while somebody watches.
#[track_caller]
pub(crate) fn run_watched(
    target: &Target,
    input: &Input,
    watchdog: Duration,
    watch: &Arc<Watch>,
) -> Run {
    refuse_nesting();
    let is_marked = target.marks_threads.load(Ordering::Relaxed);
    if is_marked || is_inside_runtime() || probe().is_err() {
        return run(target, input, watchdog);
    }
    let per_machine = states_per_machine();
    let body = match target.prepare() {
        Ok(body) => body,
        Err(failure) => return Run::lost(failure),
    };
    let before = outside::hash_states();
    let run_of_reuse = run_here(body, input.source(), watch, None);
    let made = outside::hash_states().wrapping_sub(before).wrapping_sub(1);
    let is_marked =
        run_of_reuse.may_leave || made != per_machine * u64::from(run_of_reuse.machines);
    if is_marked {
        target.marks_threads.store(true, Ordering::Relaxed);
    }
    if is_marked || run_of_reuse.failure.is_some() {
        return run(target, input, watchdog);
    }
    run_of_reuse
}

/// Whether the calls of this program reach the seam, which no run changes: it is asked for once.
fn probe() -> &'static Result<(), ProbeError> {
    static PROBED: OnceLock<Result<(), ProbeError>> = OnceLock::new();
    PROBED.get_or_init(seam::probe)
}

/// A run that begins inside another one would take its thread and its world.
#[track_caller]
pub(crate) fn refuse_nesting() {
    assert!(seam::current().is_none(), "a run begins outside of runs, not inside another one");
}

/// How many `RandomState`s tokio makes for a machine. The first machine of a thread makes more.
fn states_per_machine() -> u64 {
    thread_local! {
        static COUNT: Cell<Option<u64>> = const { Cell::new(None) };
    }
    let count = || {
        let world = World::new();
        let _entered = seam::enter(&world);
        let host = world.with(|network| network.add_host("probe"));
        let before = outside::hash_states();
        drop(Machine::start(&world, host, 0).map(|mut machine| machine.run()));
        outside::hash_states().wrapping_sub(before).wrapping_sub(1)
    };
    COUNT.get().unwrap_or_else(|| {
        count();
        let count = count();
        COUNT.set(Some(count));
        count
    })
}

/// Runs one input on this thread.
fn run_here(body: Body, source: Source, watch: &Arc<Watch>, filter: Option<LogFilter>) -> Run {
    let world = World::new();
    watch.begin(&world);
    let entered = seam::enter(&world);
    let mut sim = Sim::new(world, source, watch.clone());
    let slot = sim.slot.clone();
    filter.into_iter().for_each(|filter| slot.open_log(filter));
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        slot.within(Scope::Body, || body(&mut sim));
        sim.drive()
    }));
    let failure = match outcome {
        Ok(failure) => failure,
        Err(_) => slot.take(),
    };
    let Coverage { marks, features } = slot.take_coverage();
    let broken = sim.let_go();
    let (excused, failure): (Vec<_>, Vec<_>) =
        failure.into_iter().chain(broken).partition(|failure| failure.class == Class::Excused);
    let failure = failure.into_iter().next();
    let excuse = excused.into_iter().next().map(|excused| excused.message);
    let excuse = excuse.filter(|_| failure.is_none());
    let history = sim.history.take();
    let run = Run {
        failure,
        excuse,
        hash: history.hash(),
        history,
        log: slot.take_log(),
        plan: std::mem::take(&mut sim.plan),
        tape: sim.source.borrow().tape().clone(),
        elapsed: sim.world.now().elapsed(),
        steps: sim.steps,
        marks,
        features,
        machines: sim.machines,
        may_leave: sim.world.has_drawn() || sim.world.has_told_date(),
    };
    drop(sim);
    drop(entered);
    run
}
