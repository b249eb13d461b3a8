//! What a thread of libFuzzer keeps from one input to the next: the stage, and tapes.
//!
//! libFuzzer's own thread stays outside of every world: its alarm reads the clock there.

use super::settings;
use super::tapes::Tapes;
use crate::run::{Input, Run, Target};
use crate::stage::Stage;
use crate::tape::Tape;
use std::cell::RefCell;
use std::rc::Rc;

/// The runs of one target on one thread.
pub(super) struct Front {
    target: Target,
    stage: Option<Stage>,
    tapes: Tapes,
    /// How many runs there were.
    pub(super) runs: u64,
    /// How many of them were only to know the tape of an input.
    pub(super) extra: u64,
}

impl Front {
    fn new(target: &Target) -> Front {
        Front { target: target.clone(), stage: None, tapes: Tapes::default(), runs: 0, extra: 0 }
    }

    /// Works with what this thread keeps of a target.
    pub(super) fn with<T>(target: &Target, work: impl FnOnce(&mut Front) -> T) -> T {
        thread_local! {
            static FRONT: RefCell<Option<Front>> = const { RefCell::new(None) };
        }
        FRONT.with_borrow_mut(|slot| {
            let kept = slot.take().filter(|front| front.target.name() == target.name());
            work(slot.insert(kept.unwrap_or_else(|| Front::new(target))))
        })
    }

    /// Runs an input on the stage.
    pub(super) fn run(&mut self, input: Input) -> Box<Run> {
        self.runs += 1;
        let start = || Stage::start(&self.target, settings().watchdog);
        let stage = self.stage.get_or_insert_with(start);
        stage.ask(input);
        let (run, goes_on) = stage.take();
        if !goes_on {
            self.stage = None;
        }
        run
    }

    /// An input passed.
    pub(super) fn on_passed(&mut self, input: Input, run: Box<Run>) {
        if let Input::Bytes(bytes) = input {
            self.tapes.keep(&bytes, Rc::new(run.tape));
        }
    }

    /// The tape of an input, which is run where that is not known. libFuzzer resets its maps before
    /// each input that it runs, so what this run covers is never taken for another's.
    pub(super) fn tape(&mut self, bytes: &[u8]) -> Rc<Tape> {
        if let Some(tape) = self.tapes.find(bytes) {
            return tape;
        }
        self.extra += 1;
        let tape = Rc::new(self.run(Input::Bytes(bytes.to_vec())).tape);
        self.tapes.keep(bytes, tape.clone());
        tape
    }
}
