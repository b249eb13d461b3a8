//! Nights: searches of hours over all targets, with one report.
//!
//! ```text
//! .ci/nightly 3600                   every target for its share of an hour
//! .ci/nightly 600 sim_echo           one target
//! .ci/nightly 3600 --jobs 8 --update-corpus
//! ```
//! No failure ends a search: each bug is kept in a folder of its own by [`fuzz::keep`], named by its
//! [fingerprint], and met again it is only counted. So a night reports every bug that it comes to,
//! not the first.
//!
//! | below `target/nightly/TARGET/`, or `SIM_ARTIFACTS` | what |
//! |---|---|
//! | `BUG/input`, `BUG/min` | the bytes that failed, and what they were shrunk to |
//! | `BUG/report.txt`, `BUG/trace.txt` | what a person sees of it |
//! | `corpus` | the inputs that show something, minimized; with `--update-corpus` they become those of `corpus/` |
//!
//! A bug is new until a night reported it, where it is not pinned as open. The exit code is that of
//! the worst class that is new; else 116 where a run or a unit was given up; else 2 where the search
//! itself had a fault; else 0. Targets with a planted bug search where they are named, and must find
//! it.
//!
//! The next day: `SIM_SHRINK=5m SIM_INPUT=…/min` if it is long, `SIM_TRACE=html` to see it,
//! `SIM_PIN=NAME` to have it as a test ([`first_test`](super::first_test)).
//!
//! Elsewhere: [`KEEP_GOING`] has one target of one's own go on past failures, and
//! `.clusterfuzzlite/build.sh` builds the targets as ClusterFuzzLite and OSS-Fuzz want them, which
//! `.ci/clusterfuzzlite-check` tries.
//!
//! [`KEEP_GOING`]: crate::fuzz::KEEP_GOING
//! [`fuzz::keep`]: crate::fuzz::keep
//! [fingerprint]: crate::failure::Failure::fingerprint
