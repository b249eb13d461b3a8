//! Marks: what a run should have shown, and where to say so.
//!
//! A test that passes may have tested nothing. [`sometimes!`](crate::sometimes) and
//! [`reached!`](crate::reached) name what a run should show now and then: the retry that found its
//! first request done, the backup that was asked while it was behind, the reply after a crash.
//! Place a mark
//!
//! - where the interesting case is handled, not where it is provoked: a fault that began is marked
//!   by itself, what the program made of it is not;
//! - one a case, few in all, and named as a sentence would: `"a retry finds its command done"`;
//! - in the program, the operations or the checkers, whichever sees it best.
//!
//! A mark is not an assertion, and what must never be is [`always!`](crate::always) or
//! [`unreachable!`](crate::unreachable!), which fail the run. Outside of a run a mark does nothing,
//! so it may stay in the program.
//!
//! ```
//! use sim_core::{Sim, Target, reached, sometimes};
//!
//! fn build(sim: &mut Sim) {
//!     let attempts = 1 + sim.dimension("attempts", 3);
//!     sometimes!(attempts > 1, "a request is tried again");
//!     if attempts == 4 {
//!         reached!("the last attempt is made");
//!     }
//! }
//!
//! sim_core::sweep::test(&Target::new("attempts", build), 0..100);
//! ```
//!
//! A sweep of several seeds ends with a line for each mark of its target that no run reached:
//!
//! ```text
//! sim: never reached: "a late worker is fenced" at src/queue.rs:180 (evaluated 0 times)
//! ```
//!
//! The marks of a target are those in the source file that makes it, those below the folder beside
//! it that has its name, and every other that its runs evaluated. Two targets that one file makes
//! share its marks, so each is told of the other's.
//!
//! # States
//! Marks guide libFuzzer too, as do the states that a program tells by
//! [`observe`](crate::observe): an input that shows a new one is kept and built upon. Tell a state
//! where the code is the same for each: a table of transitions, the phase of a protocol, how long a
//! queue is up to a few. What the simulator sees by itself is told without a word of the program:
//! which segment or kernel timer met which state of TCP, and which control began while which
//! operation was under way. A state is few values. With a clock, a counter or an identity in it,
//! every input is new, and the corpus grows without end.
