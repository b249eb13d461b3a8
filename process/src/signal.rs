//! Signals that a process may listen for.

use crate::system::Listen;
use std::fmt;
use std::future::poll_fn;
use std::task::{Context, Poll};

/// A signal whose default action ends the process.
///
/// ```
/// use sim_process::Signal;
///
/// assert_eq!((Signal::Terminate.number(), Signal::Hangup.to_string()), (15, "SIGHUP".into()));
/// assert_eq!(Signal::ALL[0], Signal::Hangup);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Signal {
    /// `SIGHUP`
    Hangup,
    /// `SIGINT`
    Interrupt,
    /// `SIGQUIT`
    Quit,
    /// `SIGUSR1`
    User1,
    /// `SIGUSR2`
    User2,
    /// `SIGTERM`
    Terminate,
}

impl Signal {
    /// Every signal, in the order of their numbers.
    pub const ALL: [Signal; 6] = [
        Signal::Hangup,
        Signal::Interrupt,
        Signal::Quit,
        Signal::User1,
        Signal::User2,
        Signal::Terminate,
    ];

    /// The number on Linux (`signal(7)`).
    ///
    /// ```
    /// use sim_process::Signal;
    ///
    /// assert_eq!((Signal::Hangup.number(), Signal::Terminate.number()), (1, 15));
    /// ```
    pub const fn number(self) -> i32 {
        match self {
            Signal::Hangup => 1,
            Signal::Interrupt => 2,
            Signal::Quit => 3,
            Signal::User1 => 10,
            Signal::User2 => 12,
            Signal::Terminate => 15,
        }
    }
}

impl fmt::Display for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Signal::Hangup => "SIGHUP",
            Signal::Interrupt => "SIGINT",
            Signal::Quit => "SIGQUIT",
            Signal::User1 => "SIGUSR1",
            Signal::User2 => "SIGUSR2",
            Signal::Terminate => "SIGTERM",
        })
    }
}

/// The signals that come to a process, of those that were asked for. Several of one kind that come
/// before they are taken are one, as the kernel has it.
///
/// ```
/// use sim_process::{Process, Signal, Signals};
/// use std::future::poll_fn;
///
/// /// Waits until the process is told to end.
/// async fn ended(mut signals: Signals) {
///     while poll_fn(|context| signals.poll_recv(context)).await != Signal::Terminate {}
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// let signals = Process::os().signals(&[Signal::Terminate, Signal::Hangup])?;
/// drop(ended(signals));
/// # Ok(())
/// # }
/// ```
pub struct Signals(pub(crate) Box<dyn Listen>);

impl Signals {
    /// Waits for the next signal. Nothing is lost where the wait is dropped.
    ///
    /// ```
    /// use sim_process::{Process, Signal};
    /// use std::time::Duration;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let mut signals = Process::os().signals(&[Signal::Hangup])?;
    /// let signal = tokio::time::timeout(Duration::from_millis(1), signals.recv()).await;
    /// assert!(signal.is_err(), "nobody sent one");
    /// # Ok(())
    /// # }
    /// ```
    pub async fn recv(&mut self) -> Signal {
        poll_fn(|context| self.poll_recv(context)).await
    }

    /// The next signal, for a future of one's own.
    ///
    /// ```
    /// use sim_process::{Process, Signal};
    /// use std::task::{Context, Waker};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let mut signals = Process::os().signals(&[Signal::Hangup])?;
    /// let mut context = Context::from_waker(Waker::noop());
    /// assert!(signals.poll_recv(&mut context).is_pending(), "nobody sent one");
    /// # Ok(())
    /// # }
    /// ```
    pub fn poll_recv(&mut self, context: &mut Context<'_>) -> Poll<Signal> {
        self.0.poll_recv(context)
    }
}

impl fmt::Debug for Signals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Signals")
    }
}
