//! A draft: the choices of a run, to be edited, and how simple they are.

use crate::source::{Lane, Lanes, Width};
use crate::tape::{Drawn, Span, Tape};
use std::time::Duration;

/// One choice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cell {
    pub(crate) lane: Lane,
    pub(crate) label: &'static str,
    pub(crate) value: Value,
}

/// What was chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    /// A number up to a bound.
    Number { width: Width, max: u64, value: u64 },
    /// A window of bytes.
    Bytes(Vec<u8>),
}

impl Cell {
    pub(crate) fn number(&self) -> Option<u64> {
        match self.value {
            Value::Number { value, .. } => Some(value),
            Value::Bytes(_) => None,
        }
    }

    pub(crate) fn max(&self) -> Option<u64> {
        match self.value {
            Value::Number { max, .. } => Some(max),
            Value::Bytes(_) => None,
        }
    }

    /// Sets a number; a window is left as it is.
    pub(crate) fn set_number(&mut self, new: u64) {
        if let Value::Number { value, .. } = &mut self.value {
            *value = new;
        }
    }

    /// Makes it the simplest there is.
    pub(crate) fn zero(&mut self) {
        match &mut self.value {
            Value::Number { value, .. } => *value = 0,
            Value::Bytes(bytes) => bytes.fill(0),
        }
    }

    pub(crate) fn is_zero(&self) -> bool {
        match &self.value {
            Value::Number { value, .. } => *value == 0,
            Value::Bytes(bytes) => bytes.iter().all(|byte| *byte == 0),
        }
    }

    /// Its values, for comparing: a window's bytes are so many small numbers.
    fn values(&self) -> impl Iterator<Item = u64> + '_ {
        let (number, bytes): (Option<u64>, &[u8]) = match &self.value {
            Value::Number { value, .. } => (Some(*value), &[]),
            Value::Bytes(bytes) => (None, bytes),
        };
        number.into_iter().chain(bytes.iter().map(|byte| u64::from(*byte)))
    }
}

/// The choices of a run in their order, and what belongs together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Draft {
    pub(crate) cells: Vec<Cell>,
    pub(crate) spans: Vec<Span>,
}

impl Draft {
    pub(crate) fn of(tape: &Tape) -> Draft {
        let cells = tape.iter().map(|entry| Cell {
            lane: entry.lane,
            label: entry.label,
            value: match entry.drawn {
                Drawn::Value { width, max, value } => Value::Number { width, max, value },
                Drawn::Bytes(bytes) => Value::Bytes(bytes.to_vec()),
            },
        });
        Draft { cells: cells.collect(), spans: tape.spans().collect() }
    }

    /// The canonical input.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut lanes = Lanes::default();
        for cell in &self.cells {
            let lane = lanes.lane_mut(cell.lane);
            match &cell.value {
                Value::Number { width, value, .. } => {
                    lane.extend_from_slice(&value.to_le_bytes()[..width.bytes()]);
                }
                Value::Bytes(bytes) => lane.extend_from_slice(bytes),
            }
        }
        lanes.canonical().encode()
    }

    /// The places of a lane's cells.
    pub(crate) fn lane(&self, lane: Lane) -> Vec<usize> {
        (0..self.cells.len()).filter(|at| self.cells[*at].lane == lane).collect()
    }
}

/// How simple a run is: less is simpler.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Rank {
    len: usize,
    elapsed: Duration,
    steps: u64,
    /// The values, lane by lane.
    values: Vec<u64>,
}

impl Rank {
    pub(super) fn of(draft: &Draft, len: usize, elapsed: Duration, steps: u64) -> Rank {
        let values = Lane::ALL.iter().flat_map(|lane| {
            let cells = draft.cells.iter().filter(|cell| cell.lane == *lane);
            cells.flat_map(Cell::values)
        });
        Rank { len, elapsed, steps, values: values.collect() }
    }
}
