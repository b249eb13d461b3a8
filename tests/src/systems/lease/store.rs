//! The store: a log of the sets that leaders wrote, each with its stamp.

use super::Shared;
use crate::systems::parts::line::Lines;
use crate::systems::parts::log::Log;
use crate::systems::parts::serve::{answer_each, serve};
use sim_core::process::Process;
use sim_core::{reached, sometimes};
use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;
use tokio::task::JoinSet;
use tracing::info;

/// A set of numbers below 64, in the lines of a leader as sixteen hexadecimal digits or fewer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Set(pub u64);

impl Set {
    /// Adds a number.
    ///
    /// # Panics
    /// Where it is past 63.
    pub fn add(&mut self, number: u64) {
        assert!(number < 64, "a set has numbers below 64, and {number} is none");
        self.0 |= 1 << number;
    }

    /// Whether it has a number.
    pub fn has(self, number: u64) -> bool {
        number < 64 && self.0 >> number & 1 == 1
    }

    /// What is in this set and not in another.
    #[must_use]
    pub fn without(self, other: Set) -> Set {
        Set(self.0 & !other.0)
    }

    /// Whether it has no number.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The least number.
    pub fn first(self) -> Option<u64> {
        (!self.is_empty()).then(|| self.0.trailing_zeros().into())
    }
}

impl fmt::Display for Set {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers = (0..64).filter(|number| self.has(*number));
        f.debug_set().entries(numbers).finish()
    }
}

/// Which leader writes, and its how many-th write it is. The first is zero: it takes over the
/// store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stamp {
    /// The token of its lease.
    pub token: u64,
    /// The number of the write.
    pub number: u64,
}

/// Whether a write may come after the last one, by their stamps. The last one may come again.
pub type MayWrite = fn(Stamp, Stamp) -> bool;

/// What a leader wrote.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Its stamp.
    pub stamp: Stamp,
    /// The set.
    pub set: Set,
}

impl Written {
    /// Reads `TOKEN NUMBER SET`.
    pub fn parse(line: &str) -> Option<Written> {
        let mut words = line.split(' ');
        let mut number = |radix| u64::from_str_radix(words.next()?, radix).ok();
        let stamp = Stamp { token: number(10)?, number: number(10)? };
        Some(Written { stamp, set: Set(number(16)?) })
    }

    /// The line of it.
    pub fn line(&self) -> String {
        format!("{} {} {:x}", self.stamp.token, self.stamp.number, self.set.0)
    }
}

impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "token {} wrote {}", self.stamp.token, self.set)
    }
}

/// The store's state.
struct Store {
    log: Log,
    last: Written,
    may_write: MayWrite,
    /// Who is told of each write.
    model: Shared,
}

impl Store {
    fn recover(log: Log, may_write: MayWrite, model: Shared) -> Store {
        let last = log.records().last().and_then(|record| Written::parse(record));
        Store { log, last: last.unwrap_or_default(), may_write, model }
    }

    /// Answers `take TOKEN` with the set, and `TOKEN NUMBER SET` once it is written.
    fn answer(&mut self, request: &str) -> String {
        let take = request.strip_prefix("take ").and_then(|token| token.parse().ok());
        let taken = take.map(|token| Written { stamp: Stamp { token, number: 0 }, ..self.last });
        let Some(write) = taken.or_else(|| Written::parse(request)) else {
            return "what".to_owned();
        };
        if !(self.may_write)(self.last.stamp, write.stamp) {
            reached!("a late leader is fenced");
            info!(last = self.last.stamp.token, "fences token {}", write.stamp.token);
            return "fenced".to_owned();
        }
        sometimes!(self.last.stamp == write.stamp, "a leader writes again what is written");
        if self.last.stamp != write.stamp {
            self.log.append(&write.line());
            let Written { stamp: Stamp { token, number }, set } = write;
            info!(token, number, %set, "writes");
            self.model.borrow_mut().written.push(write);
            self.last = write;
        }
        if taken.is_some() { format!("set {:x}", self.last.set.0) } else { "ok".to_owned() }
    }
}

/// The program of the store.
///
/// # Panics
/// Where the disk fails, or the port is taken.
pub(super) async fn run(process: Process, may_write: MayWrite, model: Shared) {
    let folder = process.host().dir().expect("the host has a disk");
    let log = Log::open(&folder).expect("the disk is well");
    model.borrow_mut().folder = Some(folder);
    let store = Rc::new(RefCell::new(Store::recover(log, may_write, model)));
    serve(&process, JoinSet::new(), move |stream| answer(Lines::new(stream), store.clone())).await;
}

async fn answer(lines: Lines, store: Rc<RefCell<Store>>) {
    answer_each(lines, |request| store.borrow_mut().answer(request)).await;
}
