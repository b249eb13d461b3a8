//! Panics inside a run, and the slot for a run's first failure.
//!
//! A hook that is installed once turns a panic on a thread with a current run into a failure of
//! that run: in a node it is class `panic`, in a checker class `correctness`, in the harness itself
//! class `internal`. Any other panic goes to the hook that was there before.

use crate::check::place;
use crate::failure::{Class, Failure, INTERNAL_PREFIX};
use hostsim::seam;
use std::backtrace::{Backtrace, BacktraceStatus};
use std::cell::{Cell, RefCell};
use std::panic::PanicHookInfo;
use std::rc::Rc;
use std::sync::Once;

/// Whose code runs in the harness's own turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// The harness.
    Harness,
    /// The body of a test.
    Body,
    /// A checker.
    Checker,
}

/// What hangs on the world of a run.
pub(crate) struct Slot {
    scope: Cell<Scope>,
    first: RefCell<Option<Failure>>,
    names: RefCell<Vec<String>>,
}

impl Slot {
    /// The slot of a new run, in the harness's own scope; installs the hook.
    pub(crate) fn new() -> Rc<Slot> {
        static HOOK: Once = Once::new();
        HOOK.call_once(|| {
            let before = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |info| {
                if !on_panic(info) {
                    before(info);
                }
            }));
        });
        Rc::new(Slot {
            scope: Cell::new(Scope::Harness),
            first: RefCell::default(),
            names: RefCell::default(),
        })
    }

    /// Tells the name of the next host.
    pub(crate) fn add_name(&self, name: &str) {
        self.names.borrow_mut().push(name.to_owned());
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

/// Puts a failure into the slot of the run on this thread.
///
/// # Errors
/// The failure, where no run is under way.
pub(crate) fn report(failure: Failure) -> Result<(), Failure> {
    match current() {
        Some(slot) => {
            slot.put(failure);
            Ok(())
        }
        None => Err(failure),
    }
}

fn on_panic(info: &PanicHookInfo<'_>) -> bool {
    let Some(slot) = current() else { return false };
    let scope = slot.scope.get();
    let payload = info.payload();
    let text = payload.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("a panic");
    let origin = info.location().map_or_else(|| "unknown".to_owned(), place);
    let host = seam::current().and_then(|world| world.host());
    let node = host.map(|host| slot.names.borrow()[host.0 as usize].clone());
    let (class, message) = match (node, scope) {
        _ if text.starts_with(INTERNAL_PREFIX) => (Class::Internal, text.to_owned()),
        (Some(node), _) => (Class::Panic, format!("node {node} panicked: {text}")),
        (None, Scope::Checker) => (Class::Correctness, text.to_owned()),
        (None, Scope::Body) => (Class::Panic, format!("the test's body panicked: {text}")),
        (None, _) => (Class::Internal, text.to_owned()),
    };
    let mut failure = Failure::new(class, origin, message);
    let backtrace = Backtrace::capture();
    if backtrace.status() == BacktraceStatus::Captured {
        failure.details = backtrace.to_string().lines().map(str::to_owned).collect();
    }
    slot.put(failure);
    true
}
