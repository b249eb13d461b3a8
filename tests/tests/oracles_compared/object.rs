//! The objects whose histories are compared, as the other checker wants them.
//!
//! They share no code with the models of the oracles.

use rand_core::Rng;
use sim_core::oracle::{ListOp, ListRet, QueueOp, QueueRet, RegisterOp, RegisterRet};
use sim_core::seed::Stream;
use stateright::semantics::SequentialSpec;
use std::collections::VecDeque;
use std::fmt::Debug;

/// A number below another.
pub(crate) fn below(random: &mut Stream, bound: u64) -> u64 {
    random.next_u64() % bound
}

/// An object with operations that can be drawn.
pub(crate) trait Object:
    SequentialSpec<Op: Clone + Debug, Ret: Clone + Debug> + Clone + Default + Debug
{
    /// An operation. Values are few, so that histories are close to right.
    fn draw(random: &mut Stream) -> Self::Op;
}

/// A register.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cell(u64);

impl SequentialSpec for Cell {
    type Op = RegisterOp<u64>;
    type Ret = RegisterRet<u64>;

    fn invoke(&mut self, op: &RegisterOp<u64>) -> RegisterRet<u64> {
        match *op {
            RegisterOp::Read => RegisterRet::Value(self.0),
            RegisterOp::Write(value) => {
                self.0 = value;
                RegisterRet::Written
            }
            RegisterOp::Cas { expected, new } if expected == self.0 => {
                self.0 = new;
                RegisterRet::Swapped(true)
            }
            RegisterOp::Cas { .. } => RegisterRet::Swapped(false),
        }
    }
}

impl Object for Cell {
    fn draw(random: &mut Stream) -> RegisterOp<u64> {
        match below(random, 4) {
            0 | 1 => RegisterOp::Read,
            2 => RegisterOp::Write(below(random, 4)),
            _ => RegisterOp::Cas { expected: below(random, 4), new: below(random, 4) },
        }
    }
}

/// Two registers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cells([Cell; 2]);

impl SequentialSpec for Cells {
    type Op = (usize, RegisterOp<u64>);
    type Ret = RegisterRet<u64>;

    fn invoke(&mut self, (key, op): &(usize, RegisterOp<u64>)) -> RegisterRet<u64> {
        self.0[*key].invoke(op)
    }
}

impl Object for Cells {
    fn draw(random: &mut Stream) -> (usize, RegisterOp<u64>) {
        (below(random, 2) as usize, Cell::draw(random))
    }
}

/// A list that is appended to.
#[derive(Clone, Debug, Default)]
pub(crate) struct List(Vec<u64>);

impl SequentialSpec for List {
    type Op = ListOp<u64>;
    type Ret = ListRet<u64>;

    fn invoke(&mut self, op: &ListOp<u64>) -> ListRet<u64> {
        match op {
            ListOp::Append(value) => {
                self.0.push(*value);
                ListRet::Appended
            }
            ListOp::Read => ListRet::Items(self.0.clone()),
        }
    }
}

impl Object for List {
    fn draw(random: &mut Stream) -> ListOp<u64> {
        match below(random, 2) {
            0 => ListOp::Read,
            _ => ListOp::Append(below(random, 3)),
        }
    }
}

/// A queue.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fifo(VecDeque<u64>);

impl SequentialSpec for Fifo {
    type Op = QueueOp<u64>;
    type Ret = QueueRet<u64>;

    fn invoke(&mut self, op: &QueueOp<u64>) -> QueueRet<u64> {
        match op {
            QueueOp::Push(value) => {
                self.0.push_back(*value);
                QueueRet::Pushed
            }
            QueueOp::Pop => QueueRet::Popped(self.0.pop_front()),
        }
    }
}

impl Object for Fifo {
    fn draw(random: &mut Stream) -> QueueOp<u64> {
        match below(random, 2) {
            0 => QueueOp::Pop,
            _ => QueueOp::Push(below(random, 3)),
        }
    }
}
