//! The subscriber of `tracing`: it finds the run whose turn it is on this thread, and writes there.
//!
//! There is one a process, the global default, from the first run with a log on. A program or test
//! that has a subscriber of its own keeps it, and its runs have no log. Who sets a global default
//! does so before that first run.
//!
//! The level that `tracing` keeps for the whole process is set anew when the first run with a log
//! begins and when the last one is over: in all other times nobody hears anything, and that is known
//! without a call. What it keeps of each place in a program never changes, as several runs may be under
//! way, each with its own filter.

use super::fields::Fields;
use super::{LogLine, records};
use crate::identity::say;
use crate::panics::{self, Here, with_log};
use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use tracing_core::callsite::rebuild_interest_cache;
use tracing_core::span::{Attributes, Current, Id, Record};
use tracing_core::subscriber::Interest;
use tracing_core::{Dispatch, Event, LevelFilter, Metadata, Subscriber, dispatcher};

/// How many runs with a log are under way.
static LISTENERS: AtomicUsize = AtomicUsize::new(0);

/// Held while that number changes, and what follows from it.
static CHANGE: Mutex<()> = Mutex::new(());

/// The number of the next span: of the process, so that a handle that outlives its run is no other
/// run's span. It is never shown.
static NEXT_SPAN: AtomicU64 = AtomicU64::new(1);

thread_local! {
    /// The spans that this thread is in, the innermost last.
    static ENTERED: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

/// Hears programs until it is dropped.
pub(crate) struct Listening(());

/// Begins to hear programs, for a run that is about to begin. Outside of runs.
pub(crate) fn listen() -> Listening {
    install();
    change(|| LISTENERS.fetch_add(1, Ordering::AcqRel) == 0);
    Listening(())
}

impl Drop for Listening {
    fn drop(&mut self) {
        change(|| LISTENERS.fetch_sub(1, Ordering::AcqRel) == 1);
    }
}

/// Changes the number of listeners; where somebody hears now or nobody does any more, that is told.
fn change(changes_level: impl FnOnce() -> bool) {
    let _one = CHANGE.lock().unwrap_or_else(PoisonError::into_inner);
    if changes_level() {
        records::hear(LISTENERS.load(Ordering::Acquire) > 0);
        rebuild_interest_cache();
    }
}

/// Makes ours the global default, where there is none; says once where there is another one.
fn install() {
    static INSTALLED: OnceLock<()> = OnceLock::new();
    INSTALLED.get_or_init(|| {
        let is_heard = dispatcher::set_global_default(Dispatch::new(Hearer)).is_ok();
        let others = match (is_heard, records::install()) {
            (true, true) => return,
            (false, false) => "a subscriber of tracing and a logger of log",
            (false, true) => "a subscriber of tracing",
            (true, false) => "a logger of log",
        };
        say(&format!(
            "sim: this process has {others} of its own: what nodes say by it is not in traces"
        ));
    });
}

/// The innermost span that this thread is in.
pub(super) fn innermost() -> Option<u64> {
    ENTERED.try_with(|entered| entered.borrow().last().copied()).ok().flatten()
}

struct Hearer;

impl Subscriber for Hearer {
    fn register_callsite(&self, _metadata: &'static Metadata<'static>) -> Interest {
        Interest::sometimes()
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        let is_heard = LISTENERS.load(Ordering::Acquire) > 0;
        Some(if is_heard { LevelFilter::TRACE } else { LevelFilter::OFF })
    }

    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        with_log(|log| log.filter.hears(metadata.target(), metadata.level())).unwrap_or(false)
    }

    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        let id = NEXT_SPAN.fetch_add(1, Ordering::Relaxed);
        let parent = match attributes.parent() {
            Some(parent) => Some(parent.into_u64()),
            None if attributes.is_contextual() => innermost(),
            None => None,
        };
        with_log(|log| log.open(id, attributes.metadata(), fields.into_list(), parent));
        Id::from_u64(id)
    }

    fn record(&self, span: &Id, values: &Record<'_>) {
        let mut fields = Fields::default();
        values.record(&mut fields);
        with_log(|log| log.add_fields(span.into_u64(), fields.into_list()));
    }

    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let span = match event.parent() {
            Some(parent) => Some(parent.into_u64()),
            None if event.is_contextual() => innermost(),
            None => None,
        };
        let Some(Here { after, at, host }) = panics::here() else { return };
        let (level, target) = (event.metadata().level().as_str(), event.metadata().target().into());
        let Fields { message, others: fields } = fields;
        with_log(|log| {
            let spans = log.context(span);
            log.log.push(LogLine { after, at, host, level, target, spans, message, fields });
        });
    }

    fn enter(&self, span: &Id) {
        let _ = ENTERED.try_with(|entered| entered.borrow_mut().push(span.into_u64()));
    }

    fn exit(&self, span: &Id) {
        let _ = ENTERED.try_with(|entered| {
            let mut entered = entered.borrow_mut();
            let at = entered.iter().rposition(|other| *other == span.into_u64());
            at.map(|at| entered.remove(at));
        });
    }

    fn clone_span(&self, span: &Id) -> Id {
        with_log(|log| log.hold(span.into_u64()));
        span.clone()
    }

    fn try_close(&self, span: Id) -> bool {
        with_log(|log| log.release(span.into_u64())).unwrap_or(false)
    }

    fn current_span(&self) -> Current {
        let current = innermost().and_then(|id| with_log(|log| Some((id, log.metadata(id)?)))?);
        current
            .map_or_else(Current::none, |(id, metadata)| Current::new(Id::from_u64(id), metadata))
    }
}
