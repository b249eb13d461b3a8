//! Pins: failing inputs as tests for ever.
//!
//! ```text
//! SIM_PIN=reply-cut SIM_INPUT=FILE cargo test …
//! ```
//! runs the file once more and writes two: its canonical bytes as `regressions/TARGET/NAME`, and what
//! is expected of them as `NAME.toml` beside it ([`crate::pin`]):
//! ```toml
//! class = "deadlock"
//! sentence = "A reply is cut, and its client waits for ever."
//! marks = [
//!     "a reply is sent in parts",
//! ]
//! format = 1
//! ```
//!
//! | line | meaning |
//! |---|---|
//! | `class` | the failure that it still is; without this line it must pass |
//! | `sentence` | what it shows, written by hand; pinning again keeps it |
//! | `marks` | the [`sometimes!`](crate::sometimes) and [`reached!`](crate::reached) that its run must reach |
//! | `format` | the version of the input format; one that is newer than this code is an error |
//!
//! [`sweep::test`](crate::sweep::test) of a target replays what is pinned for it before its seeds. A seed
//! that fails as an open pin does is reported as any other, and not shrunk once more. A
//! workspace with many targets may have a `replay` test that makes a named test of each file
//! ([`crate::replay`] shows how).
//!
//! A pinned file fails its test in three ways:
//!
//! - **Fixed**: it passes and still has a `class`. The same command on the pinned file removes the
//!   line, as the message says.
//! - **Stale**: its run misses a mark, so it passes without testing anything, or fails on another
//!   way.
//! - **Failed**: with another class, reported in full.
//!
//! # When draws change
//! A change of what a target draws gives stored bytes another meaning. The code before it saves what
//! each run chose, the code after it writes the bytes that choose the same ([`crate::reencode`]):
//! ```text
//! cargo run --release -p sim-tests --bin reencode -- save target/tapes    # before the change
//! cargo run --release -p sim-tests --bin reencode -- load target/tapes    # after it
//! ```
//! Draws are matched by lane, label and the span they are in; one that is new is calm, one that is
//! gone is skipped. An input counts as moved only where its run has the class and the marks it had;
//! one that is lost stays as it is, and the command ends with code 1.
//!
//! # The corpus
//! `corpus/TARGET` has inputs that pass and show something, for libFuzzer to begin with. They are
//! replayed too, for a minute in all or `SIM_BUDGET`, and each that its time did not reach is named;
//! what is in `regressions` always runs.
