//! What a program knows of its own process: arguments, environment, streams, signals, exit.
//!
//! The same [`Process`] stands over the real operating system ([`Process::os`]) and is handed to a
//! node of a simulated run, so that one `main` serves both. This crate is what a program in
//! production links: it holds no simulator, and nothing of it draws, records or judges.
//!
//! # Example
//! ```
//! use sim_process::{Process, Signal};
//! use tokio::io::AsyncWriteExt;
//!
//! async fn run(process: Process) -> std::io::Result<()> {
//!     let port = process.var("PORT").and_then(|port| port.parse().ok()).unwrap_or(0_u16);
//!     let host = process.host();
//!     let listener = host.listen((host.address(), port)).await?;
//!     let mut signals = process.signals(&[Signal::Terminate])?;
//!     process.stdout().write_all(b"ready\n").await?;
//!     loop {
//!         tokio::select! {
//!             connection = listener.accept() => drop(connection?),
//!             _ = signals.recv() => return Ok(()),
//! #           () = std::future::ready(()) => return Ok(()),
//!         }
//!     }
//! }
//!
//! #[tokio::main(flavor = "current_thread")]
//! async fn main() -> std::io::Result<()> {
//!     run(Process::os()).await
//! }
//! ```

mod crash;
mod host;
#[cfg(feature = "os")]
mod os;
pub mod retry;
mod signal;
mod stream;
pub mod system;

pub use crash::CrashToken;
pub use host::Host;
pub use signal::{Signal, Signals};
pub use stream::{Stdin, Stdout};

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;
use system::{Output, System};

/// A program's own process. Clones are the same process.
///
/// ```
/// use sim_process::Process;
/// use tokio::io::{AsyncReadExt, AsyncWriteExt};
///
/// async fn copy(process: &Process) -> std::io::Result<()> {
///     if process.args().get(1).map(String::as_str) == Some("--help") {
///         process.stderr().write_all(b"copies what is piped in\n").await?;
///         process.exit(2);
///     }
///     let mut bytes = Vec::new();
///     process.stdin().take(1_000).read_to_end(&mut bytes).await?;
///     process.stdout().write_all(&bytes).await?;
///     std::fs::read_dir(process.dir()?).map(drop)
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// let process = Process::os();
/// assert_eq!(process.vars().get("PATH").cloned(), std::env::var("PATH").ok());
/// assert_eq!(process.replica(), 0);
/// assert!(process.address_v6().is_unspecified() && !process.name().is_empty());
/// copy(&process).await
/// # }
/// ```
#[derive(Clone)]
pub struct Process {
    pub(crate) system: Arc<dyn System>,
}

impl Process {
    /// The process that this program is, on the real operating system.
    ///
    /// Arguments that are no Unicode are shown as well as they can be, variables that are none are
    /// left out.
    ///
    /// ```
    /// use sim_process::Process;
    ///
    /// let process = Process::os();
    /// assert_eq!(process.args().len(), std::env::args().count());
    /// ```
    #[cfg(feature = "os")]
    pub fn os() -> Process {
        Process::over(Arc::new(os::Os::new()))
    }

    /// A process over a system of one's own: for simulators and for tests.
    ///
    /// ```
    /// use sim_process::Process;
    /// use sim_process::system::System;
    /// use std::sync::Arc;
    ///
    /// /// What a simulator does with a system of its own.
    /// fn process_of(system: impl System + 'static) -> Process {
    ///     Process::over(Arc::new(system))
    /// }
    /// ```
    pub fn over(system: Arc<dyn System>) -> Process {
        Process { system }
    }

    /// The arguments, the program's name first, as [`std::env::args`] gives them.
    ///
    /// ```
    /// use sim_process::Process;
    ///
    /// assert_eq!(Process::os().args().first().cloned(), std::env::args().next());
    /// ```
    pub fn args(&self) -> &[String] {
        &self.system.facts().args
    }

    /// A variable of the environment.
    ///
    /// ```
    /// use sim_process::Process;
    ///
    /// assert_eq!(Process::os().var("PATH").map(str::to_owned), std::env::var("PATH").ok());
    /// ```
    pub fn var(&self, name: &str) -> Option<&str> {
        self.vars().get(name).map(String::as_str)
    }

    /// The environment, as it was when the process began.
    ///
    /// ```
    /// use sim_process::Process;
    ///
    /// let process = Process::os();
    /// let in_order = process.vars().keys().is_sorted();
    /// assert!(in_order, "the same order in every run");
    /// ```
    pub fn vars(&self) -> &BTreeMap<String, String> {
        &self.system.facts().vars
    }

    /// What is typed or piped in. Each reader takes bytes from the same stream.
    ///
    /// ```
    /// use sim_process::Process;
    /// use tokio::io::AsyncReadExt;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let mut bytes = Vec::new();
    /// Process::os().stdin().read_to_end(&mut bytes).await?;
    /// assert!(bytes.is_empty(), "nothing is piped into this example");
    /// # Ok(())
    /// # }
    /// ```
    pub fn stdin(&self) -> Stdin {
        Stdin(self.system.stdin())
    }

    /// Where results are printed.
    ///
    /// ```
    /// use sim_process::Process;
    /// use tokio::io::AsyncWriteExt;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// Process::os().stdout().write_all(b"42\n").await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn stdout(&self) -> Stdout {
        Stdout(self.system.output(Output::Stdout))
    }

    /// Where errors are printed.
    ///
    /// ```
    /// use sim_process::Process;
    /// use tokio::io::AsyncWriteExt;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// Process::os().stderr().write_all(b"no such file\n").await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn stderr(&self) -> Stdout {
        Stdout(self.system.output(Output::Stderr))
    }

    /// Listens for signals. From the first call on, and for as long as the process lives, their
    /// default action is not taken: a process that never listens for [`Signal::Terminate`] is
    /// killed by it.
    ///
    /// # Errors
    /// What the system says where a signal cannot be had.
    ///
    /// ```
    /// use sim_process::{Process, Signal};
    /// use std::time::Duration;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let mut signals = Process::os().signals(&[Signal::Terminate])?;
    /// // A server's loop: until it is told to end.
    /// tokio::select! {
    ///     signal = signals.recv() => println!("ends by {signal}"),
    ///     () = tokio::time::sleep(Duration::ZERO) => println!("a request"),
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn signals(&self, of: &[Signal]) -> io::Result<Signals> {
        Ok(Signals(self.system.signals(of)?))
    }

    /// Ends the process at once with an exit code: no destructor runs.
    ///
    /// The system keeps eight bits of the code.
    ///
    /// In a simulated run the program's destructors do run, after its sockets were closed, and reach
    /// nobody; what other tasks of the program still do before their turn ends counts for nothing.
    /// There the call unwinds its stack, so it must not come from a destructor that runs because of
    /// a panic.
    ///
    /// ```
    /// use sim_process::Process;
    ///
    /// fn main() {
    ///     let process = Process::os();
    ///     if process.var("NO_SUCH_VARIABLE").is_none() {
    ///         process.exit(0);
    ///     }
    ///     unreachable!("it is not set");
    /// }
    /// ```
    pub fn exit(&self, code: i32) -> ! {
        self.system.exit(code)
    }

    /// The host that the process runs on.
    ///
    /// ```
    /// use sim_process::{Host, Process};
    ///
    /// /// A server that takes its network as an argument.
    /// struct Server {
    ///     host: Host,
    /// }
    ///
    /// let server = Server { host: Process::os().host() };
    /// assert!(!server.host.name().is_empty());
    /// ```
    pub fn host(&self) -> Host {
        Host { system: self.system.clone() }
    }

    /// A folder for the files of the process's host, as [`Host::dir`].
    ///
    /// # Errors
    /// What the file system says.
    ///
    /// ```
    /// use sim_process::Process;
    ///
    /// let process = Process::os();
    /// assert_eq!(process.dir()?, process.host().dir()?);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn dir(&self) -> io::Result<PathBuf> {
        self.host().dir()
    }

    /// The name of the node; over the real system the host's.
    ///
    /// ```
    /// use sim_process::Process;
    ///
    /// assert!(!Process::os().name().is_empty());
    /// ```
    pub fn name(&self) -> &str {
        &self.system.facts().name
    }

    /// Which replica of its node this is, from zero; over the real system always zero.
    ///
    /// ```
    /// use sim_process::Process;
    ///
    /// let leads = |process: &Process| process.replica() == 0;
    /// assert!(leads(&Process::os()));
    /// ```
    pub fn replica(&self) -> usize {
        self.system.facts().replica
    }

    /// The IPv4 address to listen on: the host's own in a simulated run, every one of the host over
    /// the real system.
    ///
    /// ```
    /// use sim_process::Process;
    /// use tokio::net::TcpListener;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let listener = TcpListener::bind((Process::os().address(), 0)).await?;
    /// assert!(listener.local_addr()?.is_ipv4());
    /// # Ok(())
    /// # }
    /// ```
    pub fn address(&self) -> IpAddr {
        self.system.facts().address
    }

    /// The IPv6 address to listen on, as [`Process::address`].
    ///
    /// ```
    /// use sim_process::Process;
    ///
    /// assert_eq!(Process::os().address_v6().to_string(), "::");
    /// ```
    pub fn address_v6(&self) -> IpAddr {
        self.system.facts().address_v6
    }

    /// Ends with the process, when it crashes: for what stands in for something that would lose its
    /// memory then.
    ///
    /// ```
    /// use sim_process::Process;
    ///
    /// let token = Process::os().crash_token();
    /// assert!(!token.is_crashed(), "code that runs has not crashed");
    /// ```
    pub fn crash_token(&self) -> CrashToken {
        self.system.crash_token()
    }
}

impl fmt::Debug for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let facts = self.system.facts();
        f.debug_struct("Process").field("name", &facts.name).field("args", &facts.args).finish()
    }
}
