//! What a process stands on: the real operating system, or a simulator.
//!
//! For who writes such a system; programs see [`crate::Process`] only.
//!
//! # Example
//! ```
//! use sim_process::system::{Facts, Listen, Output, System};
//! use sim_process::{CrashToken, Process, Signal};
//! use std::collections::BTreeMap;
//! use std::io;
//! use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
//! use std::path::PathBuf;
//! use std::sync::Arc;
//! use std::task::{Context, Poll};
//! use tokio::io::{AsyncRead, AsyncWrite, empty, sink};
//!
//! /// A system for unit tests: nothing is typed, nothing is printed, no signal comes.
//! struct Quiet(Facts);
//!
//! struct Deaf;
//!
//! impl Listen for Deaf {
//!     fn poll_recv(&mut self, _: &mut Context<'_>) -> Poll<Signal> {
//!         Poll::Pending
//!     }
//! }
//!
//! impl System for Quiet {
//!     fn facts(&self) -> &Facts {
//!         &self.0
//!     }
//!
//!     fn dir(&self) -> io::Result<PathBuf> {
//!         Ok(std::env::temp_dir())
//!     }
//!
//!     fn stdin(&self) -> Box<dyn AsyncRead + Send + Unpin> {
//!         Box::new(empty())
//!     }
//!
//!     fn output(&self, _: Output) -> Box<dyn AsyncWrite + Send + Unpin> {
//!         Box::new(sink())
//!     }
//!
//!     fn signals(&self, _: &[Signal]) -> io::Result<Box<dyn Listen>> {
//!         Ok(Box::new(Deaf))
//!     }
//!
//!     fn exit(&self, code: i32) -> ! {
//!         panic!("exit {code}")
//!     }
//!
//!     fn crash_token(&self) -> CrashToken {
//!         CrashToken::new()
//!     }
//! }
//!
//! let facts = Facts {
//!     args: vec!["db".to_owned(), "--level".to_owned(), "2".to_owned()],
//!     vars: BTreeMap::new(),
//!     name: "db".to_owned(),
//!     replica: 0,
//!     address: IpAddr::V4(Ipv4Addr::LOCALHOST),
//!     address_v6: IpAddr::V6(Ipv6Addr::LOCALHOST),
//! };
//! let process = Process::over(Arc::new(Quiet(facts)));
//! assert_eq!(process.args()[1..], ["--level", "2"]);
//! ```

use crate::crash::CrashToken;
use crate::signal::Signal;
use std::collections::BTreeMap;
use std::io;
use std::net::IpAddr;
use std::path::PathBuf;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite};

/// What does not change while a process lives.
///
/// ```
/// use sim_process::system::Facts;
/// use std::collections::BTreeMap;
/// use std::net::{Ipv4Addr, Ipv6Addr};
///
/// let facts = Facts {
///     args: vec!["db".to_owned()],
///     vars: BTreeMap::from([("MODE".to_owned(), "test".to_owned())]),
///     name: "db-1".to_owned(),
///     replica: 1,
///     address: Ipv4Addr::new(10, 0, 0, 2).into(),
///     address_v6: Ipv6Addr::LOCALHOST.into(),
/// };
/// assert_eq!(facts.vars["MODE"], "test");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// The arguments, the program's name first.
    pub args: Vec<String>,
    /// The environment.
    pub vars: BTreeMap<String, String>,
    /// The name of the host or node.
    pub name: String,
    /// Which replica of its node the process is, from zero.
    pub replica: usize,
    /// The IPv4 address to listen on.
    pub address: IpAddr,
    /// The IPv6 address to listen on.
    pub address_v6: IpAddr,
}

/// A stream that a process prints to.
///
/// ```
/// use sim_process::system::Output;
///
/// let number = |output| match output {
///     Output::Stdout => 1,
///     Output::Stderr => 2,
/// };
/// assert_eq!(number(Output::Stderr), 2);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Output {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// Hears the signals that a process listens for.
///
/// ```
/// use sim_process::Signal;
/// use sim_process::system::Listen;
/// use std::task::{Context, Poll, Waker};
///
/// /// A terminal that is always hung up.
/// struct HungUp;
///
/// impl Listen for HungUp {
///     fn poll_recv(&mut self, _: &mut Context<'_>) -> Poll<Signal> {
///         Poll::Ready(Signal::Hangup)
///     }
/// }
///
/// let mut context = Context::from_waker(Waker::noop());
/// assert_eq!(HungUp.poll_recv(&mut context), Poll::Ready(Signal::Hangup));
/// ```
pub trait Listen: Send {
    /// The next signal.
    ///
    /// ```
    /// use sim_process::Signal;
    /// use sim_process::system::Listen;
    /// use std::task::{Context, Poll, Waker};
    ///
    /// /// One signal, and then none.
    /// struct Once(Option<Signal>);
    ///
    /// impl Listen for Once {
    ///     fn poll_recv(&mut self, _: &mut Context<'_>) -> Poll<Signal> {
    ///         self.0.take().map_or(Poll::Pending, Poll::Ready)
    ///     }
    /// }
    ///
    /// let (mut once, mut context) = (Once(Some(Signal::Quit)), Context::from_waker(Waker::noop()));
    /// assert_eq!(once.poll_recv(&mut context), Poll::Ready(Signal::Quit));
    /// assert!(once.poll_recv(&mut context).is_pending());
    /// ```
    fn poll_recv(&mut self, context: &mut Context<'_>) -> Poll<Signal>;
}

/// The system that a process runs on.
pub trait System: Send + Sync {
    /// What does not change.
    fn facts(&self) -> &Facts;

    /// A folder of the host's own.
    ///
    /// # Errors
    /// What the file system says.
    fn dir(&self) -> io::Result<PathBuf>;

    /// What is typed or piped in.
    fn stdin(&self) -> Box<dyn AsyncRead + Send + Unpin>;

    /// Where is printed to.
    fn output(&self, output: Output) -> Box<dyn AsyncWrite + Send + Unpin>;

    /// Listens for signals.
    ///
    /// # Errors
    /// Where a signal cannot be had.
    fn signals(&self, of: &[Signal]) -> io::Result<Box<dyn Listen>>;

    /// Ends the process.
    fn exit(&self, code: i32) -> !;

    /// Ends when the process crashes.
    fn crash_token(&self) -> CrashToken;
}
