//! What clients were promised, what the services did, and whether the two agree.

use super::entry::{Entry, Event};
use super::stock::UNITS;
use crate::systems::parts::log;
use sim_core::oracle::{Delivery, Times};
use sim_core::{Checker, Violation};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

/// The cents of a unit.
pub const PRICE: u32 = 250;

/// Where something is done for an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// Its units are sold.
    Stock,
    /// Its cents are charged.
    Ledger,
}

const PLACES: [Place; 2] = [Place::Stock, Place::Ledger];

/// The model, which clients, gateways and services tell what they do.
#[derive(Debug)]
pub struct Model {
    delivery: Delivery<(Place, u64)>,
    /// The orders that have units and are not settled.
    halfway: BTreeSet<u64>,
    /// The attempts of clients that a gateway took up.
    begun: BTreeSet<u64>,
    /// The number of the last attempt.
    attempts: u64,
    /// Where the stock's log is.
    pub stock: Option<PathBuf>,
    /// Where the ledger's log is.
    pub ledger: Option<PathBuf>,
}

/// A model that is shared, also with what axum and tonic want to send to other threads.
pub type Shared = Arc<Mutex<Model>>;

/// The model, for a moment.
///
/// # Panics
/// Where somebody panicked with it.
pub fn lock(model: &Shared) -> MutexGuard<'_, Model> {
    model.lock().expect("nobody panics with the model")
}

impl Default for Model {
    fn default() -> Model {
        Model {
            delivery: Delivery::new(Times::ExactlyOnce),
            halfway: BTreeSet::new(),
            begun: BTreeSet::new(),
            attempts: 0,
            stock: None,
            ledger: None,
        }
    }
}

impl Model {
    /// A client is about to place an order.
    pub fn submit(&mut self, order: u64) {
        PLACES.into_iter().for_each(|place| self.delivery.submit((place, order)));
    }

    /// A client was told that its order is done.
    pub fn accept(&mut self, order: u64) {
        PLACES.into_iter().for_each(|place| self.delivery.accept((place, order)));
    }

    /// A client knows that its order never will be done.
    pub fn reject(&mut self, order: u64) {
        PLACES.into_iter().for_each(|place| self.delivery.reject((place, order)));
    }

    /// A client makes an attempt; its number.
    pub fn attempt(&mut self) -> u64 {
        self.attempts += 1;
        self.attempts
    }

    /// A gateway took up an attempt.
    pub fn begin(&mut self, attempt: u64) {
        self.begun.insert(attempt);
    }

    /// Whether a gateway took up an attempt.
    pub fn is_begun(&self, attempt: u64) -> bool {
        self.begun.contains(&attempt)
    }

    /// A service did something.
    pub fn on_entry(&mut self, entry: &Entry) {
        match entry.event {
            Event::Take => drop(self.halfway.insert(entry.order)),
            Event::Keep => self.delivery.deliver((Place::Stock, entry.order)),
            Event::Charge => self.delivery.deliver((Place::Ledger, entry.order)),
            Event::Return | Event::Refuse | Event::Void => {}
        }
        if matches!(entry.event, Event::Keep | Event::Return) {
            self.halfway.remove(&entry.order);
        }
    }

    /// Whether an order has its units and is not settled.
    pub fn is_halfway(&self) -> bool {
        !self.halfway.is_empty()
    }

    /// Whether the logs of the services agree: what is sold is charged, and what is charged is sold.
    fn agree(&self) -> Result<(), Violation> {
        let (stock, ledger) = (read(self.stock.as_deref())?, read(self.ledger.as_deref())?);
        let sold = only(&stock, Event::Keep)?;
        let charged = only(&ledger, Event::Charge)?;
        let price: BTreeMap<u64, u32> =
            sold.iter().map(|(order, units)| (*order, units * PRICE)).collect();
        if price != charged {
            let text = format!("sold for {price:?} cents by order, charged {charged:?}");
            return Err(Violation::new(text));
        }
        match sold.values().sum() {
            0..=UNITS => Ok(()),
            units => Err(Violation::new(format!("{units} units are sold, of {UNITS}"))),
        }
    }
}

/// The entries of a log.
fn read(folder: Option<&Path>) -> Result<Vec<Entry>, Violation> {
    let folder = folder.ok_or_else(|| Violation::new("a service never ran"))?;
    let lines = log::read(folder).map_err(|error| Violation::new(error.to_string()))?;
    Ok(Entry::all(&lines))
}

/// The amounts of the entries of one event, by their orders, each of which has one at most.
fn only(entries: &[Entry], event: Event) -> Result<BTreeMap<u64, u32>, Violation> {
    let mut amounts = BTreeMap::new();
    for entry in entries.iter().filter(|entry| entry.event == event) {
        if amounts.insert(entry.order, entry.amount).is_some() {
            return Err(Violation::new(format!("{event:?} of order {} comes twice", entry.order)));
        }
    }
    Ok(amounts)
}

/// The judge of a run that has the model.
pub struct Judge(pub Shared);

impl Checker for Judge {
    fn step(&mut self) -> Result<(), Violation> {
        lock(&self.0).delivery.step()
    }

    fn end(&mut self) -> Result<(), Violation> {
        let mut model = lock(&self.0);
        model.delivery.end()?;
        model.agree()
    }
}
