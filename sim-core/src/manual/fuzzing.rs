//! Fuzzing: libFuzzer searches the bytes of a target.
//!
//! A sweep draws from seeds and forgets what it saw; libFuzzer keeps the inputs that showed something
//! new and builds upon them. Which of them finds a bug sooner is in [`search`](super::search).
//!
//! # Commands
//! | command | what it does |
//! |---|---|
//! | `.ci/fuzz sim_echo 30` | searches for thirty seconds and says what it found |
//! | `cargo fuzz run sim_echo` | the same by hand, until a failure |
//! | `cargo fuzz run sim_echo -s none` | without AddressSanitizer |
//! | `cargo fuzz run sim_echo -- --keep-going` | goes on past failures, and keeps each bug ([`keep`](crate::fuzz::keep)) |
//! | `cargo fuzz fmt sim_echo FILE` | the plan and the trace that a file means |
//! | `cargo fuzz tmin sim_echo FILE` | libFuzzer's own minimization, which keeps to the bug of the file; the report's `min` is simpler |
//! | `cargo fuzz cmin sim_echo` | makes `corpus/sim_echo` as small as it can be without reaching less |
//! | `SIM_INPUT=FILE cargo fuzz run sim_echo` | replays a file, without a search |
//! | `SIM_PIN=NAME SIM_INPUT=FILE cargo fuzz run sim_echo` | pins it ([`pin`](crate::pin)) |
//! | `SIM_INPUT=FILE cargo test --test replay` | the same in an ordinary build, in this workspace |
//!
//! A failure is reported as in `cargo test`, shrunk, and ends the process as a crash, so that
//! libFuzzer keeps the input. It does so at the end; from the start on the input is in `min-…`, which
//! gets simpler, so an interrupt does not lose it. The lines of the report that replay and pin it are
//! of the fuzz target, with its sanitizer and the features that its manifest says it requires. The
//! other variables steer these replays as they do any ([`variables`](super::variables)).
//!
//! # A target
//! One line for each, of the function that gives the tests their [`Target`](crate::Target):
//! ```text
//! #![no_main]
//!
//! sim_core::fuzz_target!(my_tests::kv);
//! ```
//! [`fuzz_target!`](crate::fuzz_target) has the mutator and the crossover that know lanes and
//! choices. It needs `libfuzzer-sys` beside `sim-core`, and a `fuzz` package as cargo-fuzz makes it.
//! Its inputs are those of replays, sweeps and pins: one format for all.
//!
//! # In a crate of one's own
//! ```text
//! cargo fuzz init -t kv
//! cd fuzz
//! cargo add --path ../../PATH/TO/sim-core
//! ```
//! The test and the fuzz target need the same function. Where the tests are no crate of their own, a
//! file below `tests` serves both: `tests/targets/mod.rs` with `pub fn kv() -> Target`, `mod targets;`
//! in the test, and the whole of `fuzz/fuzz_targets/kv.rs` is
//! ```text
//! #![no_main]
//!
//! #[path = "../../tests/targets/mod.rs"]
//! mod targets;
//!
//! sim_core::fuzz_target!(targets::kv);
//! ```
//! What that file uses beside `sim-core`, as `tokio`, the fuzz package depends on too.
//!
//! cargo-fuzz replaces the `rustflags` of configuration files, and adds to those of the environment:
//! ```text
//! RUSTFLAGS="--cfg tokio_unstable" cargo fuzz run kv -s none       # on a stable toolchain
//! RUSTFLAGS="--cfg tokio_unstable" cargo +nightly fuzz run kv      # with AddressSanitizer
//! ```
//! `fmt`, `tmin` and `cmin` take the same `RUSTFLAGS`, or everything is built anew; the commands of
//! reports have it. They do not have `+nightly`. The corpus is `fuzz/corpus/kv`. Any test that sweeps
//! the target replays what was found, too: `SIM_INPUT=fuzz/artifacts/kv/… cargo test --test kv`.
//!
//! `.cargo/rustc-wrap` and `.cargo/config.toml` of this workspace serve a crate of one's own as they
//! are: then neither `RUSTFLAGS` nor `+nightly` is needed, and runs take less (the next section).
//!
//! # How cargo-fuzz builds this workspace on a stable toolchain
//! cargo-fuzz sets `RUSTFLAGS` itself, which replaces every `rustflags` of a configuration file, and
//! asks for `-Zsanitizer`, which a stable compiler refuses. The wrapper `.cargo/rustc-wrap` sees
//! `--cfg fuzzing` and then adds `--cfg tokio_unstable`, and allows `-Z` where a sanitizer is asked
//! for. It also takes the coverage out of the harness, tokio and the crates below it, and the tracing of
//! comparisons out of the kernel: libFuzzer spends most of its time on what it counts, and what a search
//! is after is in the system under test ([`search`](super::search) has the numbers). Ordinary builds
//! pass through it unchanged.
//!
//! - `RUSTC_WRAPPER` in the environment (sccache, or empty) replaces the wrapper: then a fuzz build
//!   with a sanitizer fails on stable, and one without says at its start that `select!` is not
//!   seeded.
//! - cargo does not see that a wrapper changed: after a change of it, `cargo clean`.
//! - `cargo fuzz` is started at the root.
//! - `-s none` is several times faster and enough for safe code.
