//! What is mutated: an input with its lanes, and the choices that its run made.

use crate::shrink::Draft;
use crate::source::Lanes;
use crate::tape::Tape;

#[derive(Debug)]
pub(super) struct Parent {
    /// The lanes as they are, without zeros at their ends.
    pub(super) lanes: Lanes,
    /// The choices that the run made of them.
    pub(super) draft: Draft,
}

impl Parent {
    pub(super) fn new(bytes: &[u8], tape: &Tape) -> Parent {
        Parent { lanes: Lanes::decode(bytes).canonical(), draft: Draft::of(tape) }
    }
}
