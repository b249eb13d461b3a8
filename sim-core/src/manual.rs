//! The manual: what lasts and does not fit one item.
//!
//! Not a tutorial and not a reference: the README begins, the items' own docs tell the rest.

/// What is exact, why, and where it ends.
///
/// A run is a function of its bytes and its binary. Three things make it one:
///
/// - **One thread has the turn.** A machine is a current-thread runtime that runs until it is idle;
///   idle is when the runtime asks its driver to wait. Threads that a program makes run to their
///   end, one after the other, when their machine is idle. Nothing runs beside anything else.
/// - **The world is answered.** Clocks, random bytes, sockets, epoll, counters and names come from
///   the simulated kernel, by symbols of libc that the program defines (see `hostsim::seam`).
/// - **Order is canonical before it is chosen.** Pending events are sorted by moment, class and
///   identity; only where several are due is one drawn. Equal moments are kept apart by a
///   nanosecond.
///
/// What a thread keeps is new in each run, because a run has a thread of its own. Where runs share
/// one, as in sweeps and fuzzing, each is proved to have left nothing in it: std's `RandomState`s
/// are counted, and a program that takes random bytes gives its thread up. A failure is never
/// taken from a shared thread: the run is made again on one of its own.
///
/// The self-check is the net below all of that. It cannot find what is constant in a process, such
/// as the addresses that `foldhash` and `ahash` mix in; a child process finds those.
///
/// # What a program must not do
/// Read time or entropy past libc; keep state in a static that changes what a later run does; wait
/// in a thread, without a timeout, for a task of its own machine.
pub mod determinism {}

/// The input: bytes, lanes, draws.
///
/// A file is the lanes of [`crate::source::Lane`] in their order: for each but the last its length
/// as a varint and its bytes; the last takes the rest. Any bytes decode. Empty lanes at the end take
/// no room, so the empty file is the calm run.
///
/// A draw reads a fixed number of bytes, little-endian, and takes the remainder by the number of
/// choices. So a byte that is small is the choice itself, a changed bound does not re-read what
/// follows, and a fuzzer's compare tables see the value. A lane that ran out gives 0, and 0 is calm:
/// no latency, the default buffer, the first event, no loss, no further operation.
///
/// Few things are drawn. A run draws its swarm (a byte a dimension, two for entropy and operations),
/// a byte a link where there is latency, three to six bytes an operation, six a fault, and a byte
/// where several events are due. Nothing is drawn a poll or a call; a segment draws a byte only in a
/// run whose swarm has it arrive in pieces, a datagram one for each thing that may befall it.
///
/// Of a value below 256 choices the remainder is slightly biased toward the small, calm side.
pub mod input {}

/// How failures are shrunk.
///
/// [`crate::shrink`] edits the choices of a failing run: it takes out whole operations, faults and
/// events, cuts lanes, hands a wait on to the operation after, lowers numbers alone, in groups of
/// one value and in pairs, exchanges values, and puts siblings in order. Each proposal is run, and
/// the choices that its run made are what counts. A proposal is taken where it fails with the same
/// class and origin, is simpler, and does the same when it is run once more.
///
/// A proposal is run by labels ([`crate::source::Script`]): a draw takes the next choice of its own
/// label. So a dimension of the swarm goes together with the draws that it called up, and what is
/// taken out does not make the bytes after it mean something else. What the run drew becomes bytes
/// again, and those are what is kept.
///
/// Simpler is: fewer bytes as an input; then less virtual time; then fewer events; then lower values.
/// So a shrunk run is mostly a short one, and what of its plan is not calm is there for a reason:
/// each dimension was tried at zero.
///
/// Where no pass gains, the search leaves its place: random small edits, by a stream that is keyed
/// by the input, are shrunk for some runs each, and taken where they end simpler. A run without
/// operations or without a swarm has nothing to exchange and ends before that.
///
/// Other failures that are met on the way are kept. Up to four that are of the system under test
/// and not reported yet are shrunk afterwards, each within a quarter of the time and runs, with a
/// file and a short report of its own. A sweep counts seeds that fail so to them.
///
/// A failure that has another history when it is run again is `diverged`, is not shrunk, and its
/// report says in how many of its runs it failed the same way.
///
/// Measured by `cargo run --release -p sim-tests --bin shrink-table` (100 failing inputs a case):
/// each of the twelve cases of the shrinking challenge becomes one result, and so do the two of a
/// toy with a swarm. The mean of the runs is below what is published of Hypothesis for calculator
/// (195 to 341) and length list (73 to 85), above it for bound5 (532 to 137), large union list (604
/// to 341) and reverse (62 to 46); the encodings are not the same. Failures of whole systems become
/// short, but not always one and the same: 20 failing inputs of the planted echo, 135 bytes in the
/// mean, become 4 results of at most 26 bytes, 14 of them the shortest that is known, of 23 bytes,
/// in 2,821 runs in the mean. Those of the planted store and queue differ in times and in which
/// fault it is. Both write and sync real files, so their shrinks take the time of a disk; `TMPDIR`
/// on a file system in memory spares it.
pub mod shrinking {}

/// Marks: what a run should have shown, and where to say so.
///
/// A test that passes may have tested nothing. [`sometimes!`](crate::sometimes) and
/// [`reached!`](crate::reached) name what a run should show now and then: the retry that found its
/// first request done, the backup that was asked while it was behind, the reply after a crash.
/// Place a mark
///
/// - where the interesting case is handled, not where it is provoked: a fault that began is marked
///   by itself, what the program made of it is not;
/// - one a case, few in all, and named as a sentence would: `"a retry finds its command done"`;
/// - in the program, the operations or the checkers, whichever sees it best.
///
/// A mark is not an assertion, and what must never be is [`always!`](crate::always) or
/// [`unreachable!`](crate::unreachable!), which fail the run. Outside of a run a mark does nothing,
/// so it may stay in the program.
///
/// A sweep of several seeds ends with a line for each mark of its target that no run reached:
///
/// ```text
/// sim: never reached: "a late worker is fenced" at src/queue.rs:180 (evaluated 0 times)
/// ```
///
/// The marks of a target are those in the source file that makes it, those below the folder beside
/// it that has its name, and every other that its runs evaluated. Two targets that one file makes
/// share its marks, so each is told of the other's.
///
/// # States
/// Marks guide libFuzzer too, as do the states that a program tells by
/// [`observe`](crate::observe): an input that shows a new one is kept and built upon. Tell a state
/// where the code is the same for each: a table of transitions, the phase of a protocol, how long a
/// queue is up to a few. What the simulator sees by itself is told without a word of the program:
/// which segment or kernel timer met which state of TCP, and which control began while which
/// operation was under way. A state is few values. With a clock, a counter or an identity in it,
/// every input is new, and the corpus grows without end.
pub mod marks {}

/// How a search finds what it finds, and what of it helps.
///
/// libFuzzer begins with nothing and keeps what covers more. Of its own it edits bytes; the front
/// ([`mod@crate::fuzz`]) gives it edits of what the bytes decide: choices, and the operations,
/// faults and events that they belong to. Some go far from an input, as a sweep does: lanes are
/// renewed, or a run is kept up to some choice and goes on otherwise. Others stay near it.
///
/// Median runs to the bug, by `cargo run --release -p sim-tests --bin ablation -- --seeds 10 --cap
/// 3000 --target sim_echo_planted --target sim_kv_planted --target sim_queue_planted`; each row
/// has what those above it have. Every cell with a number found its bug with all ten seeds, the
/// others with none.
///
/// | search | `sim_echo_planted` | `sim_kv_planted` | `sim_queue_planted` |
/// |---|---|---|---|
/// | uniform sweep of seeds | 7 | 39 | 125 |
/// | libFuzzer, one flat string | >3000 | >3000 | >3000 |
/// | + lanes | >3000 | >3000 | >3000 |
/// | + mutator and crossover | 38 | 98 | 156 |
/// | + marks | 32 | 96 | 143 |
/// | + value profile | 42 | 128 | 264 |
///
/// So a bug that any rich run may show is found soonest by a sweep: begin with one. libFuzzer with
/// its own mutations, from an empty corpus, stays with inputs of a few bytes for thousands of
/// runs: it begins with short ones by itself (`-len_control`), and the mutator turns that off. One
/// mutation in four puts any bytes in every lane, which is a run of a sweep: without it the rows
/// of the mutator took three to six times as long. The value profile keeps inputs that lead
/// nowhere here: it is not in the commands.
///
/// What marks are for is a bug that lies many steps deep. The target `sim_maze_planted` with
/// `--search=marks -runs=400000 -seed=1`, and 2, finds its bug after 175,251 and 236,767 runs;
/// with `--search=mutator`, all else being the same, it finds nothing. So marks are on.
pub mod search {}

/// Liveness: what to promise, and how to bound it.
///
/// A system that does nothing is safe. What it is for comes about only while enough of it works, so
/// that is asked for once the core is healed ([`crate::liveness`]). Three questions find the goals:
///
/// - **What comes back by itself?** A replica that crashed, a connection that was cut, a leader that
///   stood still: a probe asks the system as a client would, and returns once it is answered.
/// - **What ends, however it ends?** Operations that were under way when the faults ended:
///   [`Sim::work_ends_within`](crate::Sim::work_ends_within).
/// - **What fails fast?** With a dependency outside of the core, which stays as it is, the same
///   probe returns once it has its error. One that waits for ever has found a missing timeout.
///
/// A bound is computed from the program's own settings: the timeouts of the attempts and
/// [`Backoff::bound`](crate::retry::Backoff::bound) for the waits between them. A bound that was
/// found by trying says nothing, and breaks with the next setting that the swarm tunes.
///
/// Faults are not all there is in the way. Clocks stay as late as a pause made them, bytes that
/// waited are sent again after their retransmission timer, a program that ended by itself stays
/// down, and latency, small buffers and pieces are the run's own to its end.
///
/// # Excuses
/// Where a dependency is outside of what the system was promised of it, there is nothing to judge:
/// [`excuse`](crate::excuse) ends the run. It is for what the test sees for sure, at the moment at
/// which it breaks; to excuse a run after it failed is to hide the failure.
pub mod liveness {}

/// The swarm: how to have runs where bugs are.
///
/// Each run draws which of its dimensions are on and how far, so that some runs have much of one
/// thing and nothing of another. [`DECLARED`](crate::swarm::DECLARED) is the list of the harness;
/// a test adds [`Sim::dimension`](crate::Sim::dimension), and with
/// [`Sim::tune`](crate::Sim::tune) the settings that the program documents: small batches and short
/// leases meet more in a run than the defaults do.
///
/// A bug that needs several dimensions at once is rare in the whole swarm. Where such a corner is
/// known, [`Sim::churn`](crate::Sim::churn) names it, and a part of the runs is in it. Keep that
/// part small: what is outside of every region is tested by the others.
pub mod swarms {}

/// How segments become events.
///
/// A segment that carries bytes, a SYN, a FIN or a RST is an event: it waits on its link until the
/// driver delivers it. One that only acknowledges is an event where its arrival could be seen: the
/// sender waits for room or has bytes that the window holds back, or a handshake needs it. Else it
/// is quiet: it takes effect with the next call or segment that could tell the difference. So an
/// exchange of request and reply is two events, not four, and a program cannot tell.
///
/// Bytes stay in the sender's queue until they are acknowledged; a segment is an offset and a
/// length. Within one host delivery is part of the call, as on Linux's loopback, where the answer
/// to a segment arrives before `send` returns.
pub mod segments {}

/// Datagrams: what a way does with them.
///
/// UDP promises little, and a run may take all of it: the swarm draws odds for loss, duplication and
/// reordering (see [`crate::datagram`]), each calm at zero. Where all are zero, a way between hosts
/// loses nothing and keeps its order; within a host it always does, and takes no time. A socket that
/// is full drops what comes, as on Linux: the default holds 256 short datagrams.
///
/// A datagram is an event when its way ends, and the history has it, also where it was lost, met a
/// full socket, or nobody. One that met nobody is answered (ICMP), and a connected socket is told
/// `ECONNREFUSED` after the way back.
///
/// Partitions and latencies are of ways, and so of datagrams too. What a partition meets is lost for
/// good: UDP sends nothing again. Holds, resets, throttles, refused dials and late accepts are about
/// connections, and the small buffers of the swarm are those of streams; datagrams know none of them.
pub mod datagrams {}

/// Silence: partitions, deaf ends, holds, and what a program sees of them.
///
/// A way between hosts that is cut loses segments, as a real one does, and TCP sends them again. The
/// simulator does not make each retransmission an event: what is lost waits in its queue, and when
/// the way is open it is due with the first retransmission that finds it so: 0.2, 0.4, 0.8, … s
/// after it was lost, never more than two minutes apart (RFC 6298 and the tail probe of RFC 8985; rows
/// F19, F20). SYNs are events, since each may meet a listener or none (1, 3, 7, … s; row F01).
///
/// Who waits for too long gives up with `ETIMEDOUT`, by a kernel timer in virtual time: a dial after
/// 127 s, unacknowledged bytes after 924.6 s or `TCP_USER_TIMEOUT`, an idle end with keepalive after
/// its probes, an end that its program closed after 102 s. A RST is sent once: where it is lost the
/// peer stays half-open until it says something. So a run that ends in a deadlock after a reset of
/// one end is no fault of the simulator: a program that only reads, without keepalive or a timeout
/// of its own, waits for ever on Linux too.
///
/// None of these timers runs between ends that hear each other, so idle connections cost nothing.
///
/// Bytes within a stream are never lost for good while both ends live, never repeated, reordered or
/// changed: that is TCP's promise, and a simulator that broke it would find bugs that are none.
pub mod silence {}

/// Traces: what happened in a run, as text, as JSON lines and as a page.
///
/// `SIM_TRACE` with `SIM_INPUT` shows the trace of that run. `text` goes to standard error. `json`
/// and `html` write `FILE.jsonl` and `FILE.html` beside the inputs that failed, and say the path. The
/// report of a failure ends with thirty lines of it, which leave out the plan, the numbers of hosts
/// and timers of machines.
///
/// # JSON lines
/// Each line is an object. The first is the header:
///
/// | key | value |
/// |---|---|
/// | `schema`, `version` | `"sim-trace"` and the version of what is written here: 2 |
/// | `target`, `hash` | the name of the target; the hash of the history in hex |
/// | `events`, `elapsed` | how many events of the history follow; the virtual time of the run |
/// | `said`, `left_out` | how many lines of the log follow; how many came before those and are not kept |
/// | `plan` | the dimensions that are not calm: `dimension`, `value`, `meaning` |
/// | `hosts` | the names of the hosts; their places are the numbers that events use |
/// | `failure` | `null`, or `class`, `bug`, `origin`, `message` and `details`, a list of lines |
///
/// Each other line is an event in its order: its `index` from zero, the moment `at` which it came,
/// `event`, then what is its own, then its `subject` and `text` as in the text form. Times are
/// nanoseconds since the start of the run. `node` is the host it is about. An event `log` is what a
/// program said by `tracing`, where it said it; it is not of the history and has no `index`.
///
/// | `event` | what is its own |
/// |---|---|
/// | `plan` | `dimension`, `value`, `meaning`, calm ones too |
/// | `host`, `start`, `finish`, `machine_timer` | `node` |
/// | `stop` | `node`, `how` it ended and what still ran |
/// | `output` | `node`, `stream` (`stdout` or `stderr`), `line` |
/// | `deliver` | `node` that it reached, `from`, when it was `sent`, `connection`, `flags`, `seq`, `ack`, `len`, and the payload |
/// | `datagram` | `node`, `from`, `sent`, `passage` (`received`, `full`, `refused`, `lost`), the addresses `sender` and `receiver`, `len`, and the payload |
/// | `kernel_timer` | `connection` |
/// | `operation` | `node`, `id`, `operation` |
/// | `outcome` | `id`, `ending` (`done`, `failed`, `indeterminate`), `outcome` |
/// | `control` | `phase` (`begin`, `end`, `moment`), `kind`, the `nodes` it names, and the `others` on the far side; both are empty where it is about connections of any host |
/// | `route` | `route`, the `nodes` that take its connections |
/// | `note`, `failure` | `note`; `class` and `message` |
/// | `log` | `node`, unless the test said it; `level`, `target`, `spans` from the outermost, `message`, and `fields` by their names, as text |
///
/// The payload is `bytes`, as ASCII with the escapes of Rust, or `sha256` where they are more than
/// 256. New keys and events may come within a version; what is there keeps its meaning. Version 1 had
/// no `log`, and each of its lines an `index`.
///
/// # What nodes say
/// Events and spans of `tracing` in the code of nodes are in traces and in the last lines of a report,
/// with the node and its virtual time: `INFO request{id=3}: retry attempt=2`. `SIM_LOG` says which, in
/// the directives of `tracing`; `INFO` and above of every target, if it is not set. They are beside the
/// history ([`crate::log`]): no hash knows them. Sweeps and fuzzing hear none of them; a failing run is
/// made once more to be heard. A process that sets a subscriber of its own keeps it, and has no lines
/// of nodes in its traces.
///
/// # The page
/// A diagram of space and time: a lane a node, time downward. Arrows are segments from their sending
/// to their arrival, or whole messages: the bytes of one direction up to the next of the other.
/// Bands are partitions, pauses and the time a node is down; bars are operations from start to
/// outcome. The failure is chosen when the page opens. Rows are events, equally far apart, or their
/// moments. Diamonds are what nodes say. It needs no network, and no page but itself.
pub mod trace {}

/// Lives of nodes: what is simulated of a process, and what is the real thing.
///
/// A process is a runtime on a host: it starts, is told to end, ends, and starts again (see
/// [`crate::lifecycle`] for how exact its death is). Of its surroundings
///
/// - the network, clocks, random bytes, threads and names are simulated, as everywhere;
/// - arguments, environment, standard streams, signals and exit are simulated where a program uses
///   its [`Process`](crate::Process). `std::env`, `println!`, `tokio::signal` and
///   `std::process::exit` are those of the test's process: tokio keeps one registry of signals a
///   process, which cannot tell one node from another;
/// - files are real, in a folder a host that is emptied at the end of the run. A crash keeps what
///   was written, flushed or not; that is for a simulated disk;
/// - statics are the test process's.
///
/// A pause stops a machine as `SIGSTOP` does: its kernel acknowledges and accepts, its timers are
/// late. Clocks of a machine may be skewed (the wall clock alone) and drift (all of them, and its
/// timers); the kernel's own timers of TCP go by the true time.
///
/// A call that sleeps (`std::thread::sleep`) stalls its machine: nothing else of it runs until it is
/// over. What the same task does after it, up to its next await, is done when the sleep begins, at
/// the later time that it then is for it: a crash meanwhile comes too late to prevent that, though
/// what it sends is late as it should be.
///
/// The path of a host's folder may differ from run to run where several runs go on at once on a
/// machine: a program that prints it, or sends it, makes runs that diverge.
///
/// A program with timeouts must be right whatever of this comes: a lease by a machine's own clock
/// has to allow for drift, and work that began before a pause may end long after it.
pub mod lives {}

/// Oracles: which one to take, and what a record is worth.
///
/// | promised | oracle |
/// |---|---|
/// | every operation at one moment between its call and its return | [`Linearizable`] |
/// | one order for all, each client's operations in its own | [`Sequential`] |
/// | a client sees its own writes, and never goes back | [`Sessions`] |
/// | what was accepted arrives, once or at least once | [`Delivery`] |
/// | what a producer sent first arrives first | [`KeyOrder`] |
/// | a total stays | [`Conservation`] |
///
/// An oracle is as good as what it is told. Three mistakes make one blind, or have it blame a system
/// that is right:
///
/// - **An error taken for "not done".** A request may have been executed, though its reply was lost;
///   one that was abandoned may be executed later. Only what struck before the first byte was given
///   to a socket is certain ([`Struck`]). So a client that asks again until it is answered has one
///   operation, and its record begins with the first attempt.
/// - **A call that is recorded late.** [`Recorder::invoke`] comes before anything of the operation
///   may have an effect, and the end of the call after the reply was read.
/// - **Values that repeat.** Where two writes write the same, a read does not tell which of them it
///   saw, and bugs hide. The identity of an operation is a good value.
///
/// Whether a record has an order is a hard problem in general, and easy in most runs: an operation
/// competes only with those of its key that overlap it. Indeterminate operations overlap everything
/// after them, so records in which most are so are costly; reads in between make them cheap. Of
/// sequential consistency the search is long where the record is not linearizable. A search that
/// would take more than its steps ends the run as inconclusive. What records cost is printed by
/// `cargo run --release -p sim-tests --bin oracle-cost`.
///
/// A failure shows operations that cannot be ordered whatever all the others did; where every search
/// for fewer came to an end, as few as there can be. What is left out may have been done at any time,
/// or never: the write that a stale read is of is often not needed to see that two reads contradict
/// each other.
///
/// [`Linearizable`]: crate::oracle::Linearizable
/// [`Sequential`]: crate::oracle::Sequential
/// [`Sessions`]: crate::oracle::Sessions
/// [`Delivery`]: crate::oracle::Delivery
/// [`KeyOrder`]: crate::oracle::KeyOrder
/// [`Conservation`]: crate::oracle::Conservation
/// [`Struck`]: crate::oracle::Struck
/// [`Recorder::invoke`]: crate::oracle::Recorder::invoke
pub mod oracles {}

/// How cargo-fuzz builds this workspace on a stable toolchain.
///
/// cargo-fuzz sets `RUSTFLAGS` itself, which replaces every `rustflags` of a configuration file, and
/// asks for `-Zsanitizer`, which a stable compiler refuses. The wrapper `.cargo/rustc-wrap` sees
/// `--cfg fuzzing` and then adds `--cfg tokio_unstable`, and allows `-Z` where a sanitizer is asked
/// for. It also takes the tracing of comparisons out of the simulator and the crates below it; their
/// coverage stays. Ordinary builds pass through it unchanged.
///
/// - `RUSTC_WRAPPER` in the environment (sccache, or empty) replaces the wrapper: then a fuzz build
///   with a sanitizer fails on stable, and one without says at its start that `select!` is not
///   seeded.
/// - cargo does not see that a wrapper changed: after a change of it, `cargo clean`.
/// - `cargo fuzz` is started at the root.
/// - `-s none` is several times faster and enough for safe code.
pub mod fuzzing {}
