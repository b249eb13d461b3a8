//! The ledger: the cents that orders are charged. It decides what becomes of an order.
//!
//! An order is charged or void, whichever comes first, and stays so: the gateway charges it, and the
//! stock, which asks what became of it, makes it void where it is not charged.
//!
//! Invariants: the log has one entry of an order at most.

use super::entry::{Entry, Event};
use super::message::{Order, Version};
use super::model;
use super::service::{Book, serve};
use crate::systems::parts::log::Log;
use sim_core::process::Process;
use sim_core::sometimes;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// The path of the method that charges an order.
pub const CHARGE: &str = "/shop.Ledger/Charge";

/// The path of the method that says whether an order was charged, and if not, it never will be.
pub const SETTLE: &str = "/shop.Ledger/Settle";

/// The ledger's book.
pub struct Ledger {
    log: Log,
    /// Whether an order was charged.
    orders: BTreeMap<u64, bool>,
    version: u32,
    model: model::Shared,
}

impl Ledger {
    fn recover(log: Log, version: u32, model: model::Shared) -> Ledger {
        let mut ledger = Ledger { log, orders: BTreeMap::new(), version, model };
        for entry in Entry::all(ledger.log.records()) {
            let is_new = entry.sender.is_some();
            sometimes!(version == 1 && is_new, "an old ledger begins with entries of a new one");
            ledger.orders.insert(entry.order, entry.event == Event::Charge);
        }
        ledger
    }

    /// Ends an order in a way, unless it has ended; whether it is charged.
    fn end(&mut self, event: Event, order: Order, sender: Option<u32>) -> bool {
        if let Some(is_charged) = self.orders.get(&order.id) {
            return *is_charged;
        }
        let entry = Entry { event, order: order.id, amount: order.amount, sender };
        self.log.append(&entry.to_string());
        self.orders.insert(order.id, event == Event::Charge);
        model::lock(&self.model).on_entry(&entry);
        event == Event::Charge
    }

    fn charge(&mut self, order: Order, sender: Option<u32>) -> bool {
        let had = self.orders.contains_key(&order.id);
        let is_charged = self.end(Event::Charge, order, sender);
        sometimes!(had && is_charged, "a retry finds its order charged");
        sometimes!(!is_charged, "a charge comes after its order was void");
        is_charged
    }
}

impl Book for Ledger {
    const NAME: &'static str = "shop.Ledger";

    fn answer(&mut self, method: &str, order: Order, sender: Option<u32>) -> Option<bool> {
        let is_mixed = self.version == 2 && sender.is_none();
        sometimes!(is_mixed, "a new ledger serves an old program");
        if CHARGE.ends_with(method) {
            return Some(self.charge(order, sender));
        }
        SETTLE.ends_with(method).then(|| {
            let is_charged = self.end(Event::Void, order, sender);
            sometimes!(!is_charged, "an order is void");
            is_charged
        })
    }
}

/// The program of the ledger.
///
/// # Panics
/// Where the disk fails, or the port is taken.
pub async fn run<V: Version>(process: Process, model: model::Shared) {
    let folder = process.host().dir().expect("the host has a disk");
    let log = Log::open(&folder).expect("the disk is well");
    model::lock(&model).ledger = Some(folder);
    let ledger = Arc::new(Mutex::new(Ledger::recover(log, V::NUMBER, model)));
    serve::<Ledger, V>(&process, ledger).await;
}
