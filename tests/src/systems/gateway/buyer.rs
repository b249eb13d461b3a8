//! The clients: each places orders, asks again where it is not answered, and knows what it was
//! promised.

use super::front::{ATTEMPT, DEADLINE, DEADLINE_MS};
use super::model::{self, Shared};
use super::stock::{SETTLE_AFTER, SETTLE_EVERY, SETTLE_WITHIN};
use crate::systems::parts::http::{Ask, Connection, Reply, Unanswered, request};
use arbitrary::{Arbitrary, Unstructured};
use hyper::header::HeaderValue;
use hyper::{Method, StatusCode};
use sim_core::workload::{Client, Operation, OperationId, Outcome, WorkloadSpec};
use sim_core::{Sim, always, reached, sometimes};
use sim_process::retry::{Backoff, Exponential};
use std::cell::{Cell, RefCell};
use std::net::SocketAddr;
use std::time::Duration;
use tokio::time::{sleep, timeout};

/// For how long a client waits for an order; the calm one is as long as a gateway works for it.
const DEADLINES: [Duration; 4] =
    [DEADLINE, Duration::from_secs(5), Duration::from_secs(2), Duration::from_millis(500)];

/// How many attempts a client makes.
const ATTEMPTS: [u32; 4] = [6, 3, 2, 1];

/// The waits of a client between them.
const BACKOFF: Backoff = Backoff::new(Duration::from_millis(200), Duration::from_secs(4));

/// How much longer than its deadline a client waits for the answer: more than the ways there and
/// back take.
const MARGIN: Duration = Duration::from_secs(5);

/// How long what was sent before the heal may be on its way: the longest wait before a
/// retransmission (RFC 6298, 2.5), and the work that it is.
const REST: Duration = Duration::from_secs(140);

/// The wait of the probe.
const WAIT: Duration = Duration::from_secs(1);

/// The order of the probe, which no operation has.
const PROBE: u64 = 1 << 32;

/// An order of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    units: u32,
    /// The work of it at the stock and at the ledger, in milliseconds.
    work: [u32; 2],
}

impl<'a> Arbitrary<'a> for Order {
    fn arbitrary(bytes: &mut Unstructured<'a>) -> arbitrary::Result<Order> {
        let [units, stock, ledger]: [u8; 3] = bytes.arbitrary()?;
        let millis = |byte: u8| [0, 1, 10, 50, 100, 200, 300, 300][usize::from(byte % 8)];
        Ok(Order { units: u32::from(units % 3) + 1, work: [millis(stock), millis(ledger)] })
    }

    fn size_hint(_depth: usize) -> (usize, Option<usize>) {
        (3, Some(3))
    }
}

/// How long clients wait, and what they may expect.
#[derive(Clone, Copy, Debug)]
struct Patience {
    deadline: Duration,
    attempts: u32,
    /// Whether nothing but rollouts befalls the run.
    is_good_day: bool,
}

impl Patience {
    /// What a run draws of it; on a good day the clients are patient.
    fn draw(sim: &mut Sim, is_good_day: bool) -> Patience {
        if is_good_day {
            return Patience { deadline: DEADLINE, attempts: ATTEMPTS[0], is_good_day };
        }
        let deadline = DEADLINES[sim.dimension("deadline", DEADLINES.len() as u64 - 1) as usize];
        let attempts = ATTEMPTS[sim.dimension("attempts", ATTEMPTS.len() as u64 - 1) as usize];
        Patience { deadline, attempts, is_good_day }
    }
}

/// Adds the clients of a run, and the probe that the shop is well after it: an order is done or
/// refused, and then none is halfway.
pub fn add(sim: &mut Sim, shop: SocketAddr, is_good_day: bool, model: &Shared) {
    let patience = Patience::draw(sim, is_good_day);
    let seen = model.clone();
    let state = move |_: Client| Buyer::new(shop, patience, seen.clone());
    sim.workload(&WorkloadSpec::new().operations(20), state, |buyer, operation: Operation<_>| {
        let OperationId(id) = operation.id;
        async move { buyer.place(id, operation.op).await }
    });
    let patience = Patience { deadline: DEADLINE, attempts: ATTEMPTS[0], is_good_day: false };
    let seen = model.clone();
    let bound = (DEADLINE + MARGIN) * patience.attempts + BACKOFF.bound(patience.attempts);
    let bound = REST + bound + SETTLE_AFTER + SETTLE_EVERY * 2 + SETTLE_WITHIN * 2;
    sim.probe("an order is answered, and none is halfway", bound, move |_| {
        let buyer = Buyer::new(shop, patience, seen.clone());
        async move {
            sleep(REST).await;
            let order = Order { units: 1, work: [0, 0] };
            let _outcome = buyer.place(PROBE, order).await;
            always!(buyer.answered.get() == 1, "the probe's order is answered");
            while model::lock(&buyer.model).is_halfway() {
                sleep(WAIT).await;
            }
        }
    });
}

/// A client, with its connections to gateways.
struct Buyer {
    shop: SocketAddr,
    patience: Patience,
    model: Shared,
    retry: Exponential,
    /// Those that no request uses.
    idle: RefCell<Vec<Connection>>,
    /// How many orders are done, or known to be never done.
    answered: Cell<u64>,
}

impl Buyer {
    fn new(shop: SocketAddr, patience: Patience, model: Shared) -> Buyer {
        let (retry, idle) = (Exponential::new(BACKOFF), RefCell::default());
        Buyer { shop, patience, model, retry, idle, answered: Cell::new(0) }
    }

    /// Places an order, and tells the model what it was promised.
    async fn place(&self, id: u64, order: Order) -> Outcome {
        model::lock(&self.model).submit(id);
        let was_sent = Cell::new(false);
        let attempt = || self.attempt(id, order, &was_sent);
        match self.retry.retry(self.patience.attempts, attempt).await {
            Ok(StatusCode::OK) => {
                model::lock(&self.model).accept(id);
                self.answered.update(|count| count + 1);
                Outcome::done()
            }
            Ok(_) => {
                reached!("a client learns that its order never will be done");
                model::lock(&self.model).reject(id);
                self.answered.update(|count| count + 1);
                Outcome::failed("never")
            }
            Err(why) if was_sent.get() => Outcome::indeterminate(why),
            Err(why) => {
                model::lock(&self.model).reject(id);
                Outcome::failed(why)
            }
        }
    }

    /// Makes one attempt: 200 where the order is done, 409 where it never will be, else why it may be
    /// asked again.
    async fn attempt(
        &self,
        id: u64,
        Order { units, work: [stock, ledger] }: Order,
        was_sent: &Cell<bool>,
    ) -> Result<StatusCode, String> {
        let Patience { deadline, is_good_day, .. } = self.patience;
        let body = format!("{units} {stock} {ledger}");
        let mut ask = request(Method::POST, &format!("/orders/{id}"), body);
        let attempt = model::lock(&self.model).attempt();
        ask.headers_mut().insert(DEADLINE_MS, HeaderValue::from(deadline.as_millis() as u64));
        ask.headers_mut().insert(ATTEMPT, HeaderValue::from(attempt));
        let answer = timeout(deadline + MARGIN, self.ask(ask)).await;
        let answer =
            answer.unwrap_or_else(|_| Err(Unanswered::Lost("no reply in time".to_owned())));
        was_sent.set(was_sent.get() || !matches!(answer, Err(Unanswered::Unsent(_))));
        let was_begun = model::lock(&self.model).is_begun(attempt);
        match answer {
            Ok(Reply { status: status @ (StatusCode::OK | StatusCode::CONFLICT), .. }) => {
                Ok(status)
            }
            Ok(Reply { status, body }) => {
                always!(
                    !is_good_day,
                    "order {id} is done on a good day, not answered with {status}"
                );
                Err(body)
            }
            Err(Unanswered::Lost(why) | Unanswered::Unsent(why)) => {
                sometimes!(was_begun, "an order is without an answer and was taken up");
                let is_lost = was_begun && is_good_day;
                always!(!is_lost, "order {id} is answered by the gateway that took it up: {why}");
                Err(why)
            }
        }
    }

    /// Asks over a connection that is idle, or another one.
    async fn ask(&self, request: Ask) -> Result<Reply, Unanswered> {
        let idle = self.idle.borrow_mut().pop();
        let mut connection = match idle {
            Some(connection) => connection,
            None => Connection::dial(self.shop).await?,
        };
        let answer = connection.ask(request).await;
        if answer.is_ok() && connection.is_open() {
            self.idle.borrow_mut().push(connection);
        }
        answer
    }
}
