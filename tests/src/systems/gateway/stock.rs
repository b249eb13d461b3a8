//! The stock: units that orders take from a shelf, and what becomes of them.
//!
//! An order that has its units has them until the ledger says how it ended: they are sold where it
//! was charged, and go back where it never will be. The stock asks for that itself, some time after
//! the order took them, so an order that its gateway or its client left halfway is settled too.
//!
//! Invariants: the log has at most one `take` or `refuse` of an order, and after a `take` at most
//! one `keep` or `return`. No more units are taken than there are.

use super::entry::{Entry, Event};
use super::ledger;
use super::message::{Order, Version};
use super::model;
use super::service::{Book, Shared, serve};
use super::way::Way;
use crate::systems::parts::log::Log;
use sim_core::process::Process;
use sim_core::{always, reached, sometimes};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// How many units there are.
pub const UNITS: u32 = 24;

/// The path of the method that takes units.
pub const TAKE: &str = "/shop.Stock/Take";

/// How long an order has its units before the stock asks what became of it: longer than a gateway
/// works for it.
pub const SETTLE_AFTER: Duration = Duration::from_secs(15);

/// The wait of the stock between two looks for such orders.
pub const SETTLE_EVERY: Duration = Duration::from_secs(5);

/// How long the ledger has to answer the stock.
pub const SETTLE_WITHIN: Duration = Duration::from_secs(10);

/// The sender of what the stock asks.
const SENDER: u32 = 100;

/// Where an order stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It has its units, as far as this process knows since then.
    Taken(Instant),
    Refused,
    Kept,
    Returned,
}

/// The stock's book.
pub struct Stock {
    log: Log,
    orders: BTreeMap<u64, (State, u32)>,
    version: u32,
    model: model::Shared,
}

impl Stock {
    fn recover(log: Log, version: u32, model: model::Shared) -> Stock {
        let mut stock = Stock { log, orders: BTreeMap::new(), version, model };
        for entry in Entry::all(stock.log.records()) {
            let is_new = entry.sender.is_some();
            sometimes!(version == 1 && is_new, "an old stock begins with entries of a new one");
            sometimes!(version == 2 && !is_new, "a new stock begins with entries of an old one");
            stock.on_entry(entry);
        }
        stock
    }

    fn on_entry(&mut self, Entry { event, order, amount, .. }: Entry) {
        let state = match event {
            Event::Take => State::Taken(Instant::now()),
            Event::Refuse => State::Refused,
            Event::Keep => State::Kept,
            Event::Return => State::Returned,
            Event::Charge | Event::Void => return,
        };
        self.orders.insert(order, (state, amount));
    }

    fn append(&mut self, event: Event, order: u64, amount: u32, sender: Option<u32>) {
        let entry = Entry { event, order, amount, sender };
        self.log.append(&entry.to_string());
        self.on_entry(entry);
        model::lock(&self.model).on_entry(&entry);
    }

    /// The units that no order has.
    fn free(&self) -> u32 {
        let has = |(state, _): &&(State, u32)| matches!(state, State::Taken(_) | State::Kept);
        let units = self.orders.values().filter(has).map(|(_, amount)| amount).sum();
        always!(units <= UNITS, "no more than {UNITS} units are taken, not {units}");
        UNITS.saturating_sub(units)
    }

    /// Takes the units of an order; whether it has or had them.
    fn take(&mut self, order: Order, sender: Option<u32>) -> bool {
        if let Some((state, _)) = self.orders.get(&order.id) {
            reached!("a retry finds its units taken, or none");
            return *state != State::Refused;
        }
        let is_enough = order.amount <= self.free();
        let event = if is_enough { Event::Take } else { Event::Refuse };
        self.append(event, order.id, order.amount, sender);
        is_enough
    }

    /// The orders of which it is time to ask.
    fn due(&self, now: Instant) -> Vec<u64> {
        let is_due = |state: &State| match state {
            State::Taken(since) => *since + SETTLE_AFTER <= now,
            _ => false,
        };
        let due = self.orders.iter().filter(|(_, (state, _))| is_due(state));
        due.map(|(order, _)| *order).collect()
    }

    /// The ledger said how an order ended.
    fn settle(&mut self, order: u64, is_charged: bool) {
        let (_, amount) = self.orders[&order];
        sometimes!(!is_charged, "an order that was left halfway gives its units back");
        let event = if is_charged { Event::Keep } else { Event::Return };
        self.append(event, order, amount, None);
    }
}

impl Book for Stock {
    const NAME: &'static str = "shop.Stock";

    fn answer(&mut self, method: &str, order: Order, sender: Option<u32>) -> Option<bool> {
        let is_mixed = self.version == 2 && sender.is_none();
        sometimes!(is_mixed, "a new stock serves an old gateway");
        TAKE.ends_with(method).then(|| self.take(order, sender))
    }
}

/// The program of the stock.
///
/// # Panics
/// Where the disk fails, or the port is taken.
pub async fn run<V: Version>(process: Process, model: model::Shared) {
    let folder = process.host().dir().expect("the host has a disk");
    let log = Log::open(&folder).expect("the disk is well");
    model::lock(&model).stock = Some(folder);
    let stock = Arc::new(Mutex::new(Stock::recover(log, V::NUMBER, model)));
    let settling = tokio::spawn(settle(stock.clone(), Way::<V>::to("ledger", SENDER).await));
    serve::<Stock, V>(&process, stock).await;
    settling.abort();
}

/// Asks the ledger about every order that has its units for long.
async fn settle<V: Version>(stock: Shared<Stock>, ledger: Way<V>) {
    let lock = || stock.lock().expect("nobody panics with the book");
    loop {
        sleep(SETTLE_EVERY).await;
        let due = lock().due(Instant::now());
        for id in due {
            let (order, end) = (Order { id, ..Order::default() }, Instant::now() + SETTLE_WITHIN);
            if let Ok((is_charged, _)) = ledger.call(ledger::SETTLE, order, end).await {
                lock().settle(id, is_charged);
            }
        }
    }
}
