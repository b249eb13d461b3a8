//! Traces: what happened in a run, as text, as JSON lines and as a page.
//!
//! `SIM_TRACE` with `SIM_INPUT` shows the trace of that run. Without it, a sweep and libFuzzer show
//! that of each failure that they report, of what it was shrunk to, and `SIM_SEEDS` of one seed that
//! of its run where it passes; `SIM_SHRINK=off` shows the seed's own where it fails. A pinned input
//! that is replayed before shows its trace only where it is not as expected. `text` goes to standard
//! error, below a line that says whose trace it is. `json` and `html` write `FILE.jsonl` and
//! `FILE.html` beside the inputs that failed, and say the path. The report of a
//! failure has all of it up to sixty lines. Of a longer one it has the last thirty, and before them the
//! controls and what nodes said as `WARN` or `ERROR`, the last twenty of those; `…` stands where lines
//! are left out. The plan, the numbers of hosts and timers of machines count as none.
//!
//! # JSON lines
//! Each line is an object. The first is the header:
//!
//! | key | value |
//! |---|---|
//! | `schema`, `version` | `"sim-trace"` and the version of what is written here: 2 |
//! | `target`, `hash` | the name of the target; the hash of the history in hex |
//! | `events`, `elapsed` | how many events of the history follow; the virtual time of the run |
//! | `said`, `left_out` | how many lines of the log follow; how many came before those and are not kept |
//! | `plan` | the dimensions that are not calm: `dimension`, `value`, `meaning` |
//! | `hosts` | the names of the hosts; their places are the numbers that events use |
//! | `failure` | `null`, or `class`, `bug`, `origin`, `message` and `details`, a list of lines |
//!
//! Each other line is an event in its order: its `index` from zero, the moment `at` which it came,
//! `event`, then what is its own, then its `subject` and `text` as in the text form. Times are
//! nanoseconds since the start of the run. `node` is the host it is about. An event `log` is what a
//! program said by `tracing` or `log`, where it said it; it is not of the history and has no `index`.
//!
//! | `event` | what is its own |
//! |---|---|
//! | `plan` | `dimension`, `value`, `meaning`, calm ones too |
//! | `host`, `start`, `finish`, `machine_timer` | `node` |
//! | `stop` | `node`, `how` it ended and what still ran |
//! | `output` | `node`, `stream` (`stdout` or `stderr`), `line` |
//! | `deliver` | `node` that it reached, `from`, when it was `sent`, `connection`, `flags`, `seq`, `ack`, `len`, and the payload |
//! | `datagram` | `node`, `from`, `sent`, `passage` (`received`, `full`, `refused`, `lost`), the addresses `sender` and `receiver`, `len`, and the payload |
//! | `kernel_timer` | `connection` |
//! | `operation` | `node`, `id`, `operation` |
//! | `outcome` | `id`, `ending` (`done`, `failed`, `indeterminate`), `outcome` |
//! | `control` | `phase` (`begin`, `end`, `moment`), `kind`, the `nodes` it names, and the `others` on the far side; both are empty where it is about connections of any host |
//! | `route` | `route`, the `nodes` that take its connections |
//! | `note`, `failure` | `note`; `class` and `message` |
//! | `log` | `node`, unless the test said it; `level`, `target`, `spans` from the outermost, `message`, and `fields` by their names, as text |
//!
//! The payload is `bytes`, as ASCII with the escapes of Rust, or `sha256` where they are more than
//! 256. New keys and events may come within a version; what is there keeps its meaning. Version 1 had
//! no `log`, and each of its lines an `index`.
//!
//! # What nodes say
//! Events and spans of `tracing` in the code of nodes are in traces and reports, with the node
//! and its virtual time: `INFO request{id=3}: retry attempt=2`. `SIM_LOG` says which, by
//! `LEVEL` and `TARGET=LEVEL`; `INFO` and above of every target, if it is not set. They are beside the
//! history ([`crate::log`]): no hash knows them. Sweeps and fuzzing hear none of them; a failing run is
//! made once more to be heard. Records of the `log` crate are heard in the same way. A process that
//! sets a subscriber or a logger of its own keeps it, and has no lines of nodes by it in its traces.
//!
//! # The page
//! A diagram of space and time: a lane a node, time downward. Arrows are segments from their sending
//! to their arrival, or whole messages: the bytes of one direction up to the next of the other.
//! Bands are partitions, pauses and the time a node is down; bars are operations from start to
//! outcome. The failure is chosen when the page opens. Rows are events, equally far apart, or their
//! moments. Diamonds are what nodes say. It needs no network, and no page but itself.
//!
//! ```
//! use sim_core::run::{Input, run};
//! use sim_core::{Target, trace};
//! use std::time::Duration;
//!
//! let target = Target::new("kv", |sim| {
//!     sim.node("server", |_| async {});
//!     sim.client("client", |_| async {});
//! });
//! let run = run(&target, &Input::Bytes(Vec::new()), Duration::from_secs(60));
//! assert!(run.history.trace().to_string().contains("client       finish"));
//! let lines = trace::lines(&target, &run);
//! assert!(lines[0].contains("\"hosts\":[\"server\",\"client\"]"));
//! assert!(trace::page(&target, &run).starts_with("<!doctype html>"));
//! ```
