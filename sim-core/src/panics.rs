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
use std::sync::Once;

/// Whose code runs in the harness's own turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// No run is under way on this thread.
    Outside,
    /// The harness.
    Harness,
    /// The body of a test.
    Body,
    /// A checker.
    Checker,
}

thread_local! {
    static SCOPE: Cell<Scope> = const { Cell::new(Scope::Outside) };
    static FIRST: RefCell<Option<Failure>> = const { RefCell::new(None) };
    static NAMES: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// Tells the name of the next host.
pub(crate) fn add_name(name: &str) {
    NAMES.with_borrow_mut(|names| names.push(name.to_owned()));
}

/// Runs code of somebody in the harness's turn.
pub(crate) fn within<T>(scope: Scope, work: impl FnOnce() -> T) -> T {
    let before = SCOPE.replace(scope);
    let result = work();
    SCOPE.set(before);
    result
}

/// Begins a run on this thread.
pub(crate) fn begin() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !on_panic(info) {
                before(info);
            }
        }));
    });
    FIRST.take();
    NAMES.take();
    SCOPE.set(Scope::Harness);
}

/// Ends a run on this thread.
pub(crate) fn end() {
    SCOPE.set(Scope::Outside);
}

/// Puts a failure into the slot of the run on this thread.
///
/// # Errors
/// The failure, where no run is under way.
pub(crate) fn report(failure: Failure) -> Result<(), Failure> {
    if SCOPE.get() == Scope::Outside {
        return Err(failure);
    }
    FIRST.with_borrow_mut(|first| {
        first.get_or_insert(failure);
    });
    Ok(())
}

/// Takes the first failure of the run on this thread.
pub(crate) fn take() -> Option<Failure> {
    FIRST.take()
}

/// Whether the run on this thread failed.
pub(crate) fn has_failed() -> bool {
    FIRST.with_borrow(Option::is_some)
}

fn on_panic(info: &PanicHookInfo<'_>) -> bool {
    let scope = SCOPE.get();
    if scope == Scope::Outside {
        return false;
    }
    let payload = info.payload();
    let text = payload.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("a panic");
    let origin = info.location().map_or_else(|| "unknown".to_owned(), place);
    let host = seam::current().and_then(|world| world.host());
    let node = host.map(|host| NAMES.with_borrow(|names| names[host.0 as usize].clone()));
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
    report(failure).is_ok()
}
