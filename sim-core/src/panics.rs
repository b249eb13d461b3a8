//! Panics inside a run, and what hangs on its world: the slot for its first failure, and its history.
//!
//! A hook turns a panic on a thread with a current run into a failure of that run: in a node it is
//! class `panic`, in a checker class `correctness`, in the harness itself and in the simulated
//! kernel class `internal`. Any other panic goes to the hook that was there before.
//!
//! A program may install a hook of its own, which drops this one: it is put back, around that one,
//! after the machine's turn. What panics meanwhile is seen where it ends a node's program or an
//! operation, without its message; in a task that was spawned it is not seen.

use crate::check::place;
use crate::coverage::Coverage;
use crate::failure::{Class, Failure, INTERNAL_PREFIX};
use crate::frames;
use crate::history::{Event, History};
use crate::identity::say;
use crate::log::{Log, LogFilter, OpenLog};
use crate::node::{Allowed, Panic};
use crate::process::{Exit, Life, Shared, print};
use hostsim::kernel::HostId;
use hostsim::seam;
use hostsim::seam::outside::outside_of_run;
use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// Whose code runs in the harness's own turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// The harness.
    Harness,
    /// The body of a test.
    Body,
    /// A checker.
    Checker,
    /// A predicate that a test gave to a control.
    Predicate,
}

/// What hangs on the world of a run.
pub(crate) struct Slot {
    scope: Cell<Scope>,
    first: RefCell<Option<Failure>>,
    names: RefCell<Vec<String>>,
    /// Which panics the program of each host may have.
    allowed: RefCell<Vec<(Option<Allowed>, Shared)>>,
    /// The last panic was allowed.
    was_allowed: Cell<bool>,
    /// The program of a process that is over is dropped: what it says counts for nothing.
    is_dying: Cell<bool>,
    /// Where code of the run puts events, until its end.
    history: RefCell<Option<Rc<RefCell<History>>>>,
    coverage: RefCell<Coverage>,
    /// What its programs say, where the run has a log.
    log: RefCell<Option<OpenLog>>,
}

impl Slot {
    /// The slot of a new run, in the harness's own scope; installs the hook.
    pub(crate) fn new(history: Rc<RefCell<History>>) -> Rc<Slot> {
        install();
        Rc::new(Slot {
            scope: Cell::new(Scope::Harness),
            first: RefCell::default(),
            names: RefCell::default(),
            allowed: RefCell::default(),
            was_allowed: Cell::default(),
            is_dying: Cell::default(),
            history: RefCell::new(Some(history)),
            coverage: RefCell::default(),
            log: RefCell::default(),
        })
    }

    /// The run has a log from now on.
    pub(crate) fn open_log(&self, filter: LogFilter) {
        *self.log.borrow_mut() = Some(OpenLog::new(filter));
    }

    /// Takes what was said; nothing is heard from now on.
    pub(crate) fn take_log(&self) -> Log {
        self.log.take().map(|open| open.log).unwrap_or_default()
    }

    /// The run is over: what comes still is no event of it.
    pub(crate) fn end_history(&self) {
        self.history.take();
    }

    /// Adds to what the run reached.
    pub(crate) fn cover(&self, add: impl FnOnce(&mut Coverage)) {
        add(&mut self.coverage.borrow_mut());
    }

    /// Takes what the run reached.
    pub(crate) fn take_coverage(&self) -> Coverage {
        self.coverage.take()
    }

    /// Tells the name of the next host.
    pub(crate) fn add_name(&self, name: &str) {
        self.names.borrow_mut().push(name.to_owned());
    }

    /// Tells which panics the next host may have, and where its lines go.
    pub(crate) fn allow(&self, allowed: Option<Allowed>, record: Shared) {
        self.allowed.borrow_mut().push((allowed, record));
    }

    /// Drops the program of a process that is over.
    pub(crate) fn while_dying(&self, work: impl FnOnce()) {
        self.is_dying.set(true);
        let _ = catch_unwind(AssertUnwindSafe(work));
        self.is_dying.set(false);
    }

    /// Whether the program of a host may have a panic; then it says so as a program does.
    fn is_allowed(&self, host: HostId, panic: &Panic) -> bool {
        let allowed = self.allowed.borrow().get(host.0 as usize).cloned();
        let (allowed, record) = allowed.expect("every host was told of");
        let is_allowed = allowed.is_some_and(|allowed| allowed(panic));
        self.was_allowed.set(is_allowed);
        if is_allowed {
            let Panic { message, origin, .. } = panic;
            print(host, &record, true, &format!("panicked at {origin}: {message}"));
        }
        is_allowed
    }

    fn name(&self, host: HostId) -> String {
        self.names.borrow()[host.0 as usize].clone()
    }

    /// Runs code of somebody in the harness's turn.
    pub(crate) fn within<T>(&self, scope: Scope, work: impl FnOnce() -> T) -> T {
        let before = self.scope.replace(scope);
        let result = work();
        self.scope.set(before);
        result
    }

    /// Takes the first failure of the run.
    pub(crate) fn take(&self) -> Option<Failure> {
        self.first.borrow_mut().take()
    }

    fn put(&self, failure: Failure) {
        self.first.borrow_mut().get_or_insert(failure);
    }
}

/// The slot of the run whose turn it is on this thread.
fn current() -> Option<Rc<Slot>> {
    seam::current()?.slot()?.downcast().ok()
}

/// Whether the process that has the turn is over: what its program still does counts for nothing.
fn is_over() -> bool {
    seam::current().is_some_and(|world| world.is_over())
}

/// Asks a predicate of the test: a panic of it is the test's.
pub(crate) fn ask<T>(predicate: impl FnOnce() -> T) -> T {
    match current() {
        Some(slot) => slot.within(Scope::Predicate, predicate),
        None => predicate(),
    }
}

/// A panic's text without the numbers of tokio's tasks, which count on from run to run.
pub(crate) fn without_ids(text: &str) -> Cow<'_, str> {
    const BEFORE: [&str; 2] = ["JoinError::Panic(Id(", "JoinError::Cancelled(Id("];
    let mut text = Cow::Borrowed(text);
    for before in BEFORE {
        let mut from = 0;
        while let Some(found) = text[from..].find(before) {
            let at = from + found + before.len();
            let digits = text[at..].bytes().take_while(u8::is_ascii_digit).count();
            text.to_mut().replace_range(at..at + digits, "_");
            from = at;
        }
    }
    text
}

/// Puts a failure into the slot of the run on this thread.
///
/// # Errors
/// The failure, where no run is under way.
pub(crate) fn report(failure: Failure) -> Result<(), Failure> {
    match current() {
        Some(slot) if slot.is_dying.get() || is_over() => Ok(()),
        Some(slot) => {
            slot.put(failure);
            Ok(())
        }
        None => Err(failure),
    }
}

/// The slot of the run on this thread, unless what has the turn is dying or over.
fn living() -> Option<Rc<Slot>> {
    let world = seam::current()?;
    let slot: Rc<Slot> = world.slot()?.downcast().ok()?;
    (!slot.is_dying.get() && !world.is_over()).then_some(slot)
}

/// Adds to what the run on this thread reached.
pub(crate) fn cover(add: impl FnOnce(&mut Coverage)) {
    if let Some(slot) = living() {
        slot.cover(add);
    }
}

/// Puts an event of the run on this thread into its history, in nanoseconds since its start.
pub(crate) fn record(at: u64, event: Event<'_>) {
    let Some(slot) = living() else { return };
    if let Some(history) = slot.history.borrow().as_ref() {
        history.borrow_mut().record(at, event);
    }
}

/// Works with the log of the run on this thread, where it has one.
pub(crate) fn with_log<T>(work: impl FnOnce(&mut OpenLog) -> T) -> Option<T> {
    let slot = current()?;
    let mut log = slot.log.try_borrow_mut().ok()?;
    log.as_mut().map(work)
}

/// Where a run is.
pub(crate) struct Here {
    /// How many events its history has.
    pub(crate) after: u64,
    /// Nanoseconds since its start.
    pub(crate) at: u64,
    /// The host whose program has the turn.
    pub(crate) host: Option<u32>,
}

/// Where the run on this thread is, unless what has the turn is dying or over.
pub(crate) fn here() -> Option<Here> {
    let slot = living()?;
    let world = seam::current().filter(|world| world.is_free())?;
    let history = slot.history.borrow();
    let after = history.as_ref()?.try_borrow().ok()?.len();
    Some(Here { after, at: world.now().0, host: world.host().map(|host| host.0) })
}

/// The exit code of a program that panicked.
const PANICKED: i32 = 101;

/// Whether the hook is there, or kept by the hook that took its place.
static IS_INSTALLED: AtomicBool = AtomicBool::new(false);

/// Lives as long as the hook does.
struct Installed;

impl Drop for Installed {
    fn drop(&mut self) {
        IS_INSTALLED.store(false, Ordering::Release);
    }
}

/// Installs the hook where it is not.
pub(crate) fn install() {
    static ONE: Mutex<()> = Mutex::new(());
    if IS_INSTALLED.load(Ordering::Acquire) {
        return;
    }
    let _one = ONE.lock();
    if IS_INSTALLED.swap(true, Ordering::AcqRel) {
        return;
    }
    let (before, installed) = (std::panic::take_hook(), Installed);
    std::panic::set_hook(Box::new(move |info| {
        let Installed = &installed;
        if !on_panic(info) {
            before(info);
        } else if cfg!(panic = "abort") {
            tell_first();
        }
    }));
}

/// Says what the run failed with, where the process ends before there can be a report.
fn tell_first() {
    let slot = current();
    let first = slot.as_ref().and_then(|slot| slot.first.try_borrow().ok()?.clone());
    if let Some(Failure { class, origin, message, .. }) = first {
        outside_of_run(|| {
            say(&format!(
                "sim: FAILED class={class} origin=\"{origin}\"\n  {message}\n  this build ends the \
                 process at a panic (panic = \"abort\"): nothing is shrunk or reported further"
            ));
        });
    }
}

/// Tells of a panic that ends a node's program, where no hook did. Of a program with a life, an
/// allowed panic is its end.
pub(crate) struct Witness(pub(crate) Option<Arc<Life>>);

impl Drop for Witness {
    fn drop(&mut self) {
        let host = seam::current().and_then(|world| world.host());
        let (true, Some(host), Some(slot)) = (std::thread::panicking(), host, current()) else {
            return;
        };
        let life = self.0.as_ref();
        if slot.is_dying.get() || life.is_some_and(|life| life.exit().is_some()) {
            return;
        }
        if let Some(life) = life.filter(|_| slot.was_allowed.take()) {
            return life.end(Exit::Code(PANICKED));
        }
        let text = format!("node {} panicked; its own hook has the message", slot.name(host));
        slot.put(Failure::new(Class::Panic, "unknown", text));
    }
}

fn on_panic(info: &PanicHookInfo<'_>) -> bool {
    let Some(slot) = current() else { return false };
    if slot.is_dying.get() {
        return true;
    }
    let scope = slot.scope.get();
    let payload = info.payload();
    let text = payload.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("a panic");
    let text = &*without_ids(text);
    let mut origin = info.location().map_or_else(|| "unknown".to_owned(), place);
    let world = seam::current();
    let is_own = text.starts_with(INTERNAL_PREFIX);
    // A predicate of the test is asked while the harness looks at the network.
    let is_free = world.as_ref().is_none_or(|world| world.is_free());
    let is_kernel = !is_free && scope != Scope::Predicate;
    if !is_own && !is_kernel && is_over() {
        return true;
    }
    let node = world.as_ref().and_then(|world| world.host()).map(|host| slot.name(host));
    let task = world.as_ref().and_then(|world| world.task()).filter(|task| task.number > 0);
    let task = task.map_or_else(String::new, |task| format!(" in {task}"));
    if let (Some(host), false) = (world.as_ref().and_then(|world| world.host()), is_kernel) {
        let panic = Panic { node: slot.name(host), message: text.to_owned(), origin };
        if slot.is_allowed(host, &panic) {
            return true;
        }
        origin = panic.origin;
    }
    let (class, message) = match (node, scope) {
        _ if is_own => (Class::Internal, text.to_owned()),
        _ if is_kernel => (Class::Internal, format!("the simulated kernel panicked: {text}")),
        (_, Scope::Predicate) => {
            (Class::Panic, format!("a predicate of the test panicked: {text}"))
        }
        (Some(node), _) => (Class::Panic, format!("node {node} panicked{task}: {text}")),
        (None, Scope::Checker) => (Class::Correctness, text.to_owned()),
        (None, Scope::Body) => (Class::Panic, format!("the test's body panicked: {text}")),
        (None, _) => (Class::Internal, text.to_owned()),
    };
    let mut failure = Failure::new(class, origin, message);
    if matches!(class, Class::Panic) {
        failure.details = frames::of_panic(&failure.origin);
    }
    slot.put(failure);
    true
}
