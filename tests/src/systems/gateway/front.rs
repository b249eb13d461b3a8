//! The gateway: an axum server that has each order done by both services.
//!
//! `POST /orders/ORDER` with `UNITS MILLIS MILLIS`, the work of the order at the stock and at the
//! ledger, is answered with 200 where the order is done, with 409 where it never will be, and else
//! with 502, 503 or 504: it may be asked again. The header `deadline-ms` says how long the client
//! waits. The gateway keeps nothing: an order that it leaves halfway is settled by the stock.

use super::ledger::CHARGE;
use super::message::{Order, Version};
use super::model::{self, PRICE};
use super::stock::TAKE;
use super::way::{Failed, Way};
use crate::systems::parts::serve::PORT;
use axum::Router;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use sim_core::process::{Process, Signal};
use sim_core::sometimes;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, sleep};

/// The header that says how many milliseconds the client waits.
pub const DEADLINE_MS: &str = "deadline-ms";

/// The header that has the number of an attempt, for the model.
pub const ATTEMPT: &str = "attempt";

/// How long an order may take at most.
pub const DEADLINE: Duration = Duration::from_secs(10);

/// For how long at most a gateway that is told to end finishes what it took up, before it ends; none
/// is as long as that takes.
pub type Drain = Option<Duration>;

/// A gateway.
struct Front<V> {
    stock: Way<V>,
    ledger: Way<V>,
    is_draining: watch::Sender<bool>,
    model: model::Shared,
}

/// The program of a gateway.
///
/// # Panics
/// Where the port is taken.
pub async fn run<V: Version>(process: Process, drain: Drain, model: model::Shared) {
    let sender = 1 + process.replica() as u32;
    let front = Arc::new(Front::<V> {
        stock: Way::to("stock", sender).await,
        ledger: Way::to("ledger", sender).await,
        is_draining: watch::Sender::default(),
        model,
    });
    let listener = process.host().listen((process.address(), PORT)).await;
    let listener = listener.expect("nothing else has the port");
    let router = Router::new().route("/orders/{order}", post(place::<V>));
    let mut is_draining = front.is_draining.subscribe();
    let server = axum::serve(listener, router.with_state(front.clone()));
    let mut signals = process.signals(&[Signal::Terminate]).expect("there is such a signal");
    let told = async move {
        signals.recv().await;
        front.is_draining.send_replace(true);
    };
    let drained = server.with_graceful_shutdown(told);
    let ended = match drain {
        None => drained.await,
        Some(most) => tokio::select! {
            ended = drained => ended,
            () = async {
                // It ends with the gateway at the latest.
                let _ = is_draining.wait_for(|is_draining| *is_draining).await;
                sleep(most).await;
            } => Ok(()),
        },
    };
    ended.expect("a server ends well");
}

/// Places an order.
async fn place<V: Version>(
    State(front): State<Arc<Front<V>>>,
    Path(id): Path<u64>,
    headers: HeaderMap,
    body: String,
) -> (StatusCode, &'static str) {
    let number = |name| headers.get(name)?.to_str().ok()?.parse::<u64>().ok();
    let words: Vec<u32> = body.split(' ').filter_map(|word| word.parse().ok()).collect();
    let (Some(wait), Some(attempt), [units, work @ ..]) =
        (number(DEADLINE_MS), number(ATTEMPT), &words[..])
    else {
        return (StatusCode::BAD_REQUEST, "what");
    };
    let &[stock_millis, ledger_millis] = work else {
        return (StatusCode::BAD_REQUEST, "what");
    };
    model::lock(&front.model).begin(attempt);
    let deadline = Instant::now() + DEADLINE.min(Duration::from_millis(wait));
    let take = Order { id, amount: *units, millis: stock_millis };
    let charge = Order { id, amount: units * PRICE, millis: ledger_millis };
    let placed = front.place(take, charge, deadline).await;
    let is_draining = *front.is_draining.borrow();
    sometimes!(is_draining && placed == Ok(true), "an order is done while its gateway drains");
    match placed {
        Ok(true) => (StatusCode::OK, "done"),
        Ok(false) => (StatusCode::CONFLICT, "never"),
        Err(Failed::Down) => (StatusCode::BAD_GATEWAY, "a service is down"),
        Err(Failed::Open) => (StatusCode::SERVICE_UNAVAILABLE, "a breaker is open"),
        Err(Failed::Late) => (StatusCode::GATEWAY_TIMEOUT, "too late"),
    }
}

impl<V: Version> Front<V> {
    /// Has an order done: first its units are taken, then its cents are charged. Whether it is, or
    /// never will be.
    async fn place(&self, take: Order, charge: Order, deadline: Instant) -> Result<bool, Failed> {
        let (is_taken, stock) = self.stock.call(TAKE, take, deadline).await?;
        if !is_taken {
            return Ok(false);
        }
        let (is_charged, ledger) = self.ledger.call(CHARGE, charge, deadline).await?;
        let served = [stock, ledger].map(|version| version.unwrap_or(V::NUMBER));
        sometimes!(served[0] != served[1], "services of two versions serve one order");
        sometimes!(served == [1, 1] && V::NUMBER == 2, "old services serve a new gateway");
        Ok(is_charged)
    }
}
