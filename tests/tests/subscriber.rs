//! A process with a subscriber of `tracing` of its own: it keeps it, and its runs have no log.
//!
//! Alone in its process, whose global default it sets.

use sim_core::Target;
use sim_core::log::LogFilter;
use sim_core::run::{Input, run, run_logged};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// How many events the test's own subscriber heard.
static HEARD: AtomicU64 = AtomicU64::new(0);

/// Counts events.
struct Counts;

impl Subscriber for Counts {
    fn enabled(&self, _metadata: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _attributes: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _span: &Id, _values: &Record<'_>) {}

    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}

    fn event(&self, _event: &Event<'_>) {
        HEARD.fetch_add(1, Ordering::Relaxed);
    }

    fn enter(&self, _span: &Id) {}

    fn exit(&self, _span: &Id) {}
}

#[test]
fn a_subscriber_of_the_test_stays() {
    tracing::subscriber::set_global_default(Counts).expect("there is none");
    let target = Target::new("heard", |sim| {
        sim.client("client", |_| async { tracing::info!("hello") });
    });
    let (bytes, watchdog) = (Input::Bytes(Vec::new()), Duration::from_secs(60));
    let first = run_logged(&target, &bytes, watchdog, &LogFilter::default());
    assert_eq!(first.failure, None);
    assert!(first.log.is_empty());
    assert_eq!(HEARD.load(Ordering::Relaxed), 1);
    assert_eq!(run(&target, &bytes, watchdog).hash, first.hash);
    assert_eq!(HEARD.load(Ordering::Relaxed), 2);
}
