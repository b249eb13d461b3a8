//! A draft: the choices of a run, to be edited, and how simple they are.

use crate::source::{Lane, Lanes, Script, Width};
use crate::tape::{Drawn, Span, Tape};
use sha2::{Digest, Sha256};
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

    /// The highest number that its bytes can say, whatever the bound of the moment was.
    pub(crate) fn highest(&self) -> u64 {
        match self.value {
            Value::Number { width, .. } => width.value_max(),
            Value::Bytes(_) => 0,
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

    /// The bytes of each lane, every choice at its full width.
    pub(crate) fn to_lanes(&self) -> Lanes {
        let mut lanes = Lanes::default();
        for Cell { lane, value, .. } in &self.cells {
            match value {
                Value::Number { width, value, .. } => {
                    let bytes = value.to_le_bytes();
                    lanes.lane_mut(*lane).extend_from_slice(&bytes[..width.bytes()]);
                }
                Value::Bytes(bytes) => lanes.lane_mut(*lane).extend_from_slice(bytes),
            }
        }
        lanes
    }

    /// The same choices to be made again, each where its label is drawn.
    pub(crate) fn to_script(&self) -> Script {
        let mut script = Script::default();
        for Cell { lane, label, value } in &self.cells {
            match value {
                Value::Number { width, value, .. } => {
                    script.push(*lane, label, &value.to_le_bytes()[..width.bytes()]);
                }
                Value::Bytes(bytes) => script.push(*lane, label, bytes),
            }
        }
        script
    }

    /// What tells one draft from another: labels count, since a script goes by them. A zero says as
    /// much as nothing at the end of a lane.
    pub(crate) fn key(&self) -> [u8; 32] {
        let mut hash = Sha256::new();
        for lane in Lane::ALL {
            let places = self.lane(lane);
            let last = places.iter().rposition(|at| !self.cells[*at].is_zero());
            hash.update([lane.index() as u8]);
            for at in &places[..last.map_or(0, |last| last + 1)] {
                let cell = &self.cells[*at];
                hash.update(cell.label);
                cell.values().for_each(|value| hash.update(value.to_le_bytes()));
            }
        }
        hash.finalize().into()
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

    /// The last rank of those of inputs of a length.
    pub(super) fn longest(len: usize) -> Rank {
        Rank { len, elapsed: Duration::MAX, steps: u64::MAX, values: Vec::new() }
    }
}
