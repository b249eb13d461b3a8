//! The `SIM_*` variables: how a user steers a run from outside.
//!
//! They go before any command that runs a target: `cargo test`, a replay, `cargo fuzz run`. One that
//! cannot be read, or that begins with `SIM_` and is not known, ends the process with code 2 before
//! anything runs ([`settings`](crate::settings)).
//!
//! | variable | values | meaning |
//! |---|---|---|
//! | `SIM_SEEDS` | `7`, `0..2000`, `0..=9`, a commit hash, a comma list | the seeds of sweeps; each test says which it takes without it ([`Seeds`](crate::settings::Seeds)) |
//! | `SIM_INPUT` | the path of a file | the one input to run, of the target that its folder names, and no seeds |
//! | `SIM_TARGET` | the name of a target | the target of `SIM_INPUT`, where its folder has another name |
//! | `SIM_PIN` | lowercase letters, digits, `-` and `_` | pins the file of `SIM_INPUT` by that name ([`pin`](crate::pin)) |
//! | `SIM_TRACE` | `text`, `json`, `html` | the form of the trace of a replay, of each failure that is found, and of a seed that is asked for alone ([`trace`](super::trace)) |
//! | `SIM_LOG` | `debug`, `info,db=trace`, `off` | which events of `tracing` and records of `log` traces and reports show; `info` without it ([`log`](crate::log)) |
//! | `SIM_ARTIFACTS` | the path of a folder | where failing inputs and traces go; `sim` in cargo's target folder without it |
//! | `SIM_WATCHDOG` | `30`, `30s`, `500ms`, `5m` | the most real time of a run; a minute without it |
//! | `SIM_BUDGET` | as `SIM_WATCHDOG` | the most real time of a sweep, and of a corpus that is replayed; no bound and a minute without it |
//! | `SIM_SHRINK` | as `SIM_WATCHDOG`, or `off` | the most real time to shrink a failure; without it 5 s for one that a sweep finds, 10 s for libFuzzer's, none for a file or for what is pinned as open. Others that are met on the way take as long again at most |
//! | `SIM_CHILD` | the name of a target | the simulator's own: the process makes one run and says its hash ([`child`](crate::child)) |
//!
//! `NO_COLOR` keeps reports plain on a terminal, and so does `TERM=dumb`.
//!
//! # Exit codes
//! A replay of `SIM_INPUT` by a binary that returns [`Replayed::exit_code`] ends with that of the
//! failure's class; under `cargo test` with cargo's own.
//!
//! | code | class |
//! |---|---|
//! | 0 | it passed, or was excused |
//! | 2 | something could not be read |
//! | 110 | correctness: a checker, `always!` or `fail` said so |
//! | 111 | panic: a node panicked |
//! | 112 | deadlock: nothing is pending, and work is left |
//! | 113 | leak: a node that drains left tasks or sockets |
//! | 114 | liveness: a bound of virtual time passed |
//! | 115 | diverged: two runs of one input differ |
//! | 116 | inconclusive: the watchdog or a limit ended it |
//! | 117 | internal: a bug of the simulator |
//! | 118 | stale: a pinned file passes, and misses a mark |
//! ```
//! use sim_core::failure::Class;
//! use sim_core::replay::Replayed;
//!
//! assert_eq!(Replayed::Failed(Class::Deadlock).exit_code(), 112);
//! assert_eq!(Replayed::Stale.exit_code(), 118);
//! ```
//!
//! [`Replayed::exit_code`]: crate::replay::Replayed::exit_code
