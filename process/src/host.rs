//! The host of a process, for code that takes its network as an argument.

use crate::system::System;
use std::fmt;
use std::io;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::net::{TcpListener, TcpStream, ToSocketAddrs};

/// The host that a process runs on. What it gives are tokio's own types, and code that calls tokio
/// itself sees the same network.
///
/// ```
/// use sim_process::{Host, Process};
/// use tokio::io::AsyncWriteExt;
///
/// async fn greet(host: &Host) -> std::io::Result<()> {
///     let listener = host.listen((host.address(), 0)).await?;
///     let port = listener.local_addr()?.port();
///     let mut stream = host.dial(("127.0.0.1", port)).await?;
///     stream.write_all(host.name().as_bytes()).await?;
///     std::fs::read_dir(host.dir()?).map(drop)
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// greet(&Process::os().host()).await
/// # }
/// ```
#[derive(Clone)]
pub struct Host {
    pub(crate) system: Arc<dyn System>,
}

impl Host {
    /// Listens on an address.
    ///
    /// # Errors
    /// Those of [`TcpListener::bind`].
    ///
    /// ```
    /// use sim_process::Process;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let listener = Process::os().host().listen("127.0.0.1:0").await?;
    /// assert_ne!(listener.local_addr()?.port(), 0);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn listen(&self, address: impl ToSocketAddrs) -> io::Result<TcpListener> {
        TcpListener::bind(address).await
    }

    /// Connects to an address.
    ///
    /// # Errors
    /// Those of [`TcpStream::connect`].
    ///
    /// ```
    /// use sim_process::Process;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let host = Process::os().host();
    /// let listener = host.listen("127.0.0.1:0").await?;
    /// let stream = host.dial(listener.local_addr()?).await?;
    /// assert_eq!(stream.peer_addr()?, listener.local_addr()?);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn dial(&self, address: impl ToSocketAddrs) -> io::Result<TcpStream> {
        TcpStream::connect(address).await
    }

    /// The name.
    ///
    /// ```
    /// use sim_process::Process;
    ///
    /// let process = Process::os();
    /// assert_eq!(process.host().name(), process.name());
    /// ```
    pub fn name(&self) -> &str {
        &self.system.facts().name
    }

    /// The address to listen on, as [`crate::Process::address`].
    ///
    /// ```
    /// use sim_process::Process;
    ///
    /// assert_eq!(Process::os().host().address().to_string(), "0.0.0.0", "every one of the host");
    /// ```
    pub fn address(&self) -> IpAddr {
        self.system.facts().address
    }

    /// A folder for the host's own files, which stay when its process ends.
    ///
    /// Over the real system it is `STATE_DIRECTORY`, as systemd sets it, or else the current folder.
    ///
    /// # Errors
    /// What the file system says.
    ///
    /// ```
    /// use sim_process::Process;
    ///
    /// let folder = Process::os().host().dir()?;
    /// assert!(folder.is_dir());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn dir(&self) -> io::Result<PathBuf> {
        self.system.dir()
    }
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Host").field("name", &self.name()).finish()
    }
}
