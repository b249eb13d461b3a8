//! The process of a node in a run: what stands behind [`Process`] there.
//!
//! A `Life` is one life of a process, from a start to its end; the next start makes another. The
//! program's side of it is a `Simulated` system, the harness keeps the other: it feeds the input,
//! sends signals, and learns of the exit. What is printed becomes events of the history, line by
//! line. Nothing here decides when a process lives.

use crate::dir::{self, Folder};
use crate::failure::{Class, Failure};
use crate::history::Event;
use crate::panics;
use hostsim::kernel::HostId;
use hostsim::seam;
use sim_process::system::{Facts, Listen, Output, System};
use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

pub use sim_process::{CrashToken, Host, Process, Signal, Signals, Stdin, Stdout};

/// How a life of a process ended.
///
/// ```
/// use sim_core::process::{Exit, Signal};
///
/// assert!(Exit::Kill.is_crash() && Exit::Signal(Signal::Terminate).is_crash());
/// assert!(!Exit::Code(1).is_crash());
/// assert_eq!(Exit::Power.to_string(), "power lost");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Its program returned, or called [`Process::exit`]: a code in `0..=255`.
    Code(i32),
    /// By a signal that it did not listen for.
    Signal(Signal),
    /// By `SIGKILL`.
    Kill,
    /// Its host lost its power.
    Power,
}

impl Exit {
    /// By an exit code, of which the kernel keeps eight bits (`exit(3)`).
    pub(crate) fn code(code: i32) -> Exit {
        Exit::Code(code & 0xff)
    }

    /// Whether it was none of the program's doing.
    ///
    /// ```
    /// use sim_core::process::Exit;
    ///
    /// assert!(Exit::Kill.is_crash() && !Exit::Code(1).is_crash());
    /// ```
    pub fn is_crash(self) -> bool {
        !matches!(self, Exit::Code(_))
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Exit::Code(code) => write!(f, "exit code={code}"),
            Exit::Signal(signal) => write!(f, "killed by {signal}"),
            Exit::Kill => f.write_str("killed"),
            Exit::Power => f.write_str("power lost"),
        }
    }
}

/// A line that a process printed.
///
/// [`Node`](crate::node::Node) shows one.
///
/// ```
/// use sim_core::process::Line;
/// use tokio::io::AsyncWriteExt;
/// # use sim_core::Sim;
/// # fn build(sim: &mut Sim) {
/// let job = sim.node("job", |process| async move {
///     process.stdout().write_all(b"done\n").await.unwrap();
/// });
/// sim.last_client("end", move |_| {
///     let job = job.clone();
///     async move {
///         tokio::time::sleep(std::time::Duration::from_secs(1)).await;
///         assert_eq!(job.lines(0), [Line { is_error: false, text: "done".to_owned() }]);
///     }
/// });
/// # }
/// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Whether it is of the standard error.
    pub is_error: bool,
    /// The line, without its end.
    pub text: String,
}

/// What is known of the processes of one host, for the test and for the harness.
#[derive(Debug, Default)]
pub(crate) struct Record {
    pub(crate) starts: u64,
    pub(crate) exits: Vec<Exit>,
    pub(crate) lines: Vec<Line>,
    /// The life that goes on.
    pub(crate) life: Option<Arc<Life>>,
}

/// The record of a host, shared with its node's handle and its program's streams.
pub(crate) type Shared = Arc<Mutex<Record>>;

/// One life of a process.
#[derive(Debug, Default)]
pub(crate) struct Life {
    state: Mutex<State>,
    /// Whether the program ended itself: asked after each turn of its machine.
    has_ended: AtomicBool,
    pub(crate) token: CrashToken,
}

#[derive(Debug, Default)]
struct State {
    stdin: VecDeque<u8>,
    is_stdin_closed: bool,
    readers: Vec<Waker>,
    /// The signals that the program listens for, and how many of each came.
    caught: [bool; Signal::ALL.len()],
    counts: [u64; Signal::ALL.len()],
    listeners: Vec<Waker>,
    /// The signal whose default action waits for the end of a pause: that of the lowest number.
    put_off: Option<Signal>,
    /// What was printed of lines without their end: to the standard output, to the standard error.
    partial: [Vec<u8>; 2],
    is_output_closed: bool,
    exit: Option<Exit>,
}

impl Life {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nobody panics with the state")
    }

    /// Feeds the standard input.
    pub(crate) fn feed(&self, bytes: &[u8], is_last: bool) {
        let readers = {
            let mut state = self.state();
            state.stdin.extend(bytes);
            state.is_stdin_closed |= is_last;
            std::mem::take(&mut state.readers)
        };
        readers.into_iter().for_each(Waker::wake);
    }

    /// Sends a signal; whether the program listens for it.
    pub(crate) fn send(&self, signal: Signal) -> bool {
        let listeners = {
            let mut state = self.state();
            if !state.caught[place(signal)] {
                return false;
            }
            state.counts[place(signal)] += 1;
            std::mem::take(&mut state.listeners)
        };
        listeners.into_iter().for_each(Waker::wake);
        true
    }

    /// Keeps a signal that would kill for the end of a pause.
    pub(crate) fn put_off(&self, signal: Signal) {
        let put_off = &mut self.state().put_off;
        *put_off = Some(put_off.map_or(signal, |before| before.min(signal)));
    }

    /// Takes the signal that was kept.
    pub(crate) fn take_put_off(&self) -> Option<Signal> {
        self.state().put_off.take()
    }

    /// Prints what a process writes, line by line; whatever handle of a stream it comes through.
    pub(crate) fn write(&self, host: HostId, record: &Shared, is_error: bool, bytes: &[u8]) {
        let is_over = seam::current().is_none_or(|world| world.is_over());
        if is_over || self.state().is_output_closed {
            return;
        }
        let mut pieces = bytes.split(|byte| *byte == b'\n');
        let last = pieces.next_back().unwrap_or_default();
        for piece in pieces {
            let mut line = std::mem::take(&mut self.state().partial[usize::from(is_error)]);
            line.extend_from_slice(piece);
            print(host, record, is_error, &String::from_utf8_lossy(&line));
        }
        self.state().partial[usize::from(is_error)].extend_from_slice(last);
    }

    /// Prints last lines without an end, once the process is over.
    pub(crate) fn end_output(&self, host: HostId, record: &Shared) {
        self.state().is_output_closed = true;
        for is_error in [false, true] {
            let line = std::mem::take(&mut self.state().partial[usize::from(is_error)]);
            if !line.is_empty() {
                print(host, record, is_error, &String::from_utf8_lossy(&line));
            }
        }
    }

    /// Lets go of who waited: nobody is woken any more, and nothing of a runtime outlives it here.
    pub(crate) fn forget(&self) {
        let (readers, listeners) = {
            let mut state = self.state();
            (std::mem::take(&mut state.readers), std::mem::take(&mut state.listeners))
        };
        drop((readers, listeners));
    }

    /// The program ended itself; the first end stands.
    pub(crate) fn end(&self, exit: Exit) {
        self.state().exit.get_or_insert(exit);
        self.has_ended.store(true, Ordering::Relaxed);
    }

    /// How the program ended itself, if it did.
    pub(crate) fn exit(&self) -> Option<Exit> {
        if self.has_ended.load(Ordering::Relaxed) { self.state().exit } else { None }
    }
}

fn place(signal: Signal) -> usize {
    Signal::ALL.iter().position(|other| *other == signal).expect("it is one of all")
}

/// What a panic carries that ends a process by [`Process::exit`].
pub(crate) struct Exited;

/// The system that a program of a run stands on.
pub(crate) struct Simulated {
    pub(crate) facts: Facts,
    pub(crate) host: HostId,
    pub(crate) life: Arc<Life>,
    pub(crate) record: Shared,
    pub(crate) folder: Arc<Folder>,
}

impl System for Simulated {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn dir(&self) -> io::Result<PathBuf> {
        let name = &self.facts.name;
        self.folder.of(name).inspect_err(|error| {
            let root = dir::root().display();
            let text = format!("the folder of node {name} cannot be made below {root}: {error}");
            // Whatever the program makes of it, this machine is at fault and not the program.
            let _ = panics::report(Failure::new(Class::Inconclusive, "folders of nodes", text));
        })
    }

    fn stdin(&self) -> Box<dyn AsyncRead + Send + Unpin> {
        Box::new(Input(self.life.clone()))
    }

    fn output(&self, output: Output) -> Box<dyn AsyncWrite + Send + Unpin> {
        let (host, record, life) = (self.host, self.record.clone(), self.life.clone());
        let is_error = output == Output::Stderr;
        Box::new(Printer { host, is_error, record, life })
    }

    fn signals(&self, of: &[Signal]) -> io::Result<Box<dyn Listen>> {
        let mut state = self.life.state();
        of.iter().for_each(|signal| state.caught[place(*signal)] = true);
        let seen = state.counts;
        Ok(Box::new(Listening { life: self.life.clone(), of: of.to_vec(), seen }))
    }

    fn exit(&self, code: i32) -> ! {
        let world = seam::current().filter(|world| world.host() == Some(self.host));
        let Some(world) = world else {
            let name = &self.facts.name;
            panic!(
                "only its own program ends the process of {name} by `exit`; a control does else"
            );
        };
        self.life.end(Exit::code(code));
        world.end_process(self.host);
        std::panic::resume_unwind(Box::new(Exited))
    }

    fn crash_token(&self) -> CrashToken {
        self.life.token.clone()
    }
}

/// The standard input of a life.
struct Input(Arc<Life>);

impl AsyncRead for Input {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let mut state = self.0.state();
        if state.stdin.is_empty() && !state.is_stdin_closed {
            remember(&mut state.readers, context.waker());
            return Poll::Pending;
        }
        let count = state.stdin.len().min(into.remaining());
        let bytes: Vec<u8> = state.stdin.drain(..count).collect();
        into.put_slice(&bytes);
        Poll::Ready(Ok(()))
    }
}

fn remember(wakers: &mut Vec<Waker>, waker: &Waker) {
    if !wakers.iter().any(|other| other.will_wake(waker)) {
        wakers.push(waker.clone());
    }
}

/// What a process prints to. A last line without an end counts when the process ends.
struct Printer {
    host: HostId,
    is_error: bool,
    record: Shared,
    life: Arc<Life>,
}

/// Puts a line that a process printed into the history and its record, while it lives.
pub(crate) fn print(host: HostId, record: &Shared, is_error: bool, text: &str) {
    let Some(world) = seam::current().filter(|world| !world.is_over()) else { return };
    panics::record(world.now().0, Event::Output { host: host.0, is_error, text });
    let line = Line { is_error, text: text.to_owned() };
    record.lock().expect("nobody panics with the record").lines.push(line);
}

impl AsyncWrite for Printer {
    fn poll_write(
        self: Pin<&mut Self>,
        _context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.life.write(self.host, &self.record, self.is_error, bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// A program's ear for some signals.
struct Listening {
    life: Arc<Life>,
    of: Vec<Signal>,
    seen: [u64; Signal::ALL.len()],
}

impl Listen for Listening {
    fn poll_recv(&mut self, context: &mut Context<'_>) -> Poll<Signal> {
        let mut state = self.life.state();
        for signal in &self.of {
            let at = place(*signal);
            if state.counts[at] != self.seen[at] {
                self.seen[at] = state.counts[at];
                return Poll::Ready(*signal);
            }
        }
        remember(&mut state.listeners, context.waker());
        Poll::Pending
    }
}
