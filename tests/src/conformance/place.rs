//! Where the two ends of a row live.
//!
//! A row runs in a task of C, the dialing machine. A descriptor belongs to the machine that made
//! it, so whatever S has to make (a listener, an accepted stream, a server's task) is made
//! through [`Place::far`]. Once made it may be used from the row's task. Not a simulator: it
//! carries futures from one machine's task to another's, in one thread, and nothing else.

use std::future::Future;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd};
use std::pin::Pin;
use std::rc::Rc;

use socket2::{SockFilter, SockRef};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::{mpsc, oneshot};
use tokio::task::spawn_local;

/// A boxed future that stays in its thread.
pub type LocalBoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

/// The kinds of place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// The real kernel, over 127.0.0.1.
    Loopback,
    /// One simulated machine, over its own 127.0.0.1.
    OneMachine,
    /// Two simulated machines with a route between them.
    TwoHosts,
}

/// Where the two ends of a row live, and how they are made there.
#[derive(Clone)]
pub struct Place {
    kind: Kind,
    far: Option<Far>,
    /// What S binds and C dials.
    ip: IpAddr,
    /// S by name.
    name: Rc<str>,
    faults: Rc<dyn Faults>,
}

impl Place {
    /// Returns the real kernel's loopback.
    pub fn loopback() -> Place {
        Place::local(Kind::Loopback)
    }

    /// Returns one simulated machine, both ends of every row in the current runtime.
    pub fn one_machine() -> Place {
        Place::local(Kind::OneMachine)
    }

    /// Returns two simulated machines: C is the current runtime, S serves `far` at `server_ip`.
    pub fn two_hosts(far: Far, server_ip: IpAddr) -> Place {
        Place { far: Some(far), ip: server_ip, ..Place::local(Kind::TwoHosts) }
    }

    /// Says how S is called; else it has the name of the real machine.
    #[must_use]
    pub fn named(self, name: &str) -> Place {
        Place { name: name.into(), ..self }
    }

    /// Replaces the socket filter, which is how a row makes an end deaf.
    #[must_use]
    pub fn with_faults(self, faults: Rc<dyn Faults>) -> Place {
        Place { faults, ..self }
    }

    /// Returns the kind.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Returns the name of S.
    pub fn name(&self) -> String {
        self.name.to_string()
    }

    /// Lets this process have few more descriptors than it has, where they are the real kernel's,
    /// until the guard is dropped. A simulated machine has few enough to use them up.
    ///
    /// # Panics
    ///
    /// If `prlimit` is not installed.
    pub fn limit_descriptors(&self) -> Option<DescriptorLimit> {
        (self.kind == Kind::Loopback).then(DescriptorLimit::set)
    }

    /// Returns this place with both ends on C, over 127.0.0.1.
    ///
    /// For rows about the addresses of one host.
    pub fn here(&self) -> Place {
        Place { far: None, ip: Ipv4Addr::LOCALHOST.into(), ..self.clone() }
    }

    /// Runs `work` on S and waits for its value.
    ///
    /// Dropping the returned future drops `work`, on S.
    ///
    /// # Panics
    ///
    /// If `work` panics, or S has stopped serving.
    pub async fn far<T: 'static>(&self, work: impl Future<Output = T> + 'static) -> T {
        match &self.far {
            None => work.await,
            Some(far) => far.run(work).await,
        }
    }

    /// Returns what S binds, port 0 being any.
    pub fn far_addr(&self, port: u16) -> SocketAddr {
        SocketAddr::new(self.ip, port)
    }

    /// Returns what C binds where a row needs a source port of its own.
    pub fn near_addr(&self) -> SocketAddr {
        match (self.far.is_some(), self.ip) {
            (false, ip) => SocketAddr::new(ip, 0),
            (true, IpAddr::V4(_)) => SocketAddr::from(([0; 4], 0)),
            (true, IpAddr::V6(_)) => SocketAddr::from(([0; 16], 0)),
        }
    }

    /// Returns a new socket of the family that this place speaks; it belongs to who calls.
    pub fn socket(&self) -> TcpSocket {
        if self.ip.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }.expect("socket")
    }

    /// Binds an address on S and listens, with what tokio takes as defaults.
    pub async fn bind(&self, addr: SocketAddr) -> io::Result<TcpListener> {
        self.far(async move { TcpListener::bind(addr).await }).await
    }

    /// Listens on any port of S and returns the address to dial.
    pub async fn listen(&self) -> (Rc<TcpListener>, SocketAddr) {
        let listener = self.bind(self.far_addr(0)).await.expect("bind");
        let addr = listener.local_addr().expect("local_addr");
        (Rc::new(listener), addr)
    }

    /// Listens like [`Place::listen`], with a backlog.
    pub async fn backlog(&self, backlog: u32) -> (Rc<TcpListener>, SocketAddr) {
        self.listen_with(backlog, |_| ()).await
    }

    /// Accepts one connection on S.
    pub async fn accept(&self, listener: &Rc<TcpListener>) -> io::Result<(TcpStream, SocketAddr)> {
        let listener = listener.clone();
        self.far(async move { listener.accept().await }).await
    }

    /// Returns a connection: C's end and S's end.
    pub async fn pair(&self) -> (TcpStream, TcpStream) {
        let (listener, addr) = self.listen().await;
        let near = TcpStream::connect(addr).await.expect("connect");
        let (far, _) = self.accept(&listener).await.expect("accept");
        (near, far)
    }

    /// Returns a connection whose four buffers were asked to be 16 kB, so that "full" is soon.
    pub async fn small_pair(&self) -> (TcpStream, TcpStream) {
        let (listener, addr) = self.listen_with(16, shrink_buffers).await;
        let socket = self.socket();
        shrink_buffers(&socket);
        let near = socket.connect(addr).await.expect("connect");
        let (far, _) = self.accept(&listener).await.expect("accept");
        (near, far)
    }

    /// Returns a connection in std's types, non-blocking, so that no call can stop the thread.
    pub async fn std_pair(&self) -> (std::net::TcpStream, std::net::TcpStream) {
        let (near, far) = self.pair().await;
        (near.into_std().expect("into_std"), far.into_std().expect("into_std"))
    }

    /// Makes an end lose every segment that arrives, silently.
    pub fn deafen(&self, end: &impl AsFd) {
        self.faults.deafen(end.as_fd());
    }

    /// Lets a deaf end hear again.
    pub fn heal(&self, end: &impl AsFd) {
        self.faults.heal(end.as_fd());
    }

    fn local(kind: Kind) -> Place {
        let ip = Ipv4Addr::LOCALHOST.into();
        let name = std::fs::read_to_string("/proc/sys/kernel/hostname").expect("/proc");
        Place { kind, far: None, ip, name: name.trim().into(), faults: Rc::new(SocketFilter) }
    }

    async fn listen_with(
        &self,
        backlog: u32,
        prepare: fn(&TcpSocket),
    ) -> (Rc<TcpListener>, SocketAddr) {
        let place = self.clone();
        let listener = self.far(async move {
            let socket = place.socket();
            socket.set_reuseaddr(true).expect("SO_REUSEADDR");
            prepare(&socket);
            socket.bind(place.far_addr(0)).expect("bind");
            socket.listen(backlog).expect("listen")
        });
        let listener = listener.await;
        let addr = listener.local_addr().expect("local_addr");
        (Rc::new(listener), addr)
    }
}

/// A lower limit of descriptors (`RLIMIT_NOFILE`), until it is dropped.
pub struct DescriptorLimit {
    before: String,
}

impl DescriptorLimit {
    /// How many descriptors there are while the limit is low: those that tests have, and some.
    const LOW: &str = "256";

    fn set() -> DescriptorLimit {
        let limits = std::fs::read_to_string("/proc/self/limits").expect("/proc");
        let line = limits.lines().find(|line| line.starts_with("Max open files"));
        let before = line.and_then(|line| line.split_whitespace().nth(3)).expect("the soft limit");
        DescriptorLimit::prlimit(DescriptorLimit::LOW);
        DescriptorLimit { before: before.to_owned() }
    }

    fn prlimit(soft: &str) {
        let mut prlimit = std::process::Command::new("prlimit");
        prlimit.arg(format!("--pid={}", std::process::id()));
        let status = prlimit.arg(format!("--nofile={soft}:")).status();
        assert!(status.expect("prlimit is installed").success());
    }
}

impl Drop for DescriptorLimit {
    fn drop(&mut self) {
        DescriptorLimit::prlimit(&self.before);
    }
}

fn shrink_buffers(socket: &TcpSocket) {
    socket.set_recv_buffer_size(16 * 1024).expect("SO_RCVBUF");
    socket.set_send_buffer_size(16 * 1024).expect("SO_SNDBUF");
}

/// How a place makes an end deaf.
///
/// The other side then sees a peer that neither acknowledges, answers nor resets, which is what
/// a one-way partition looks like.
pub trait Faults {
    /// Loses every segment that arrives at `end`, a stream or a listener, until healed.
    fn deafen(&self, end: BorrowedFd<'_>);

    /// Ends it.
    fn heal(&self, end: BorrowedFd<'_>);
}

/// Makes an end deaf with a socket filter that keeps nothing (`SO_ATTACH_FILTER`).
pub struct SocketFilter;

impl Faults for SocketFilter {
    fn deafen(&self, end: BorrowedFd<'_>) {
        const RETURN_CONSTANT: u16 = 0x06;
        let keep_nothing = SockFilter::new(RETURN_CONSTANT, 0, 0, 0);
        SockRef::from(&end).attach_filter(&[keep_nothing]).expect("SO_ATTACH_FILTER");
    }

    fn heal(&self, end: BorrowedFd<'_>) {
        SockRef::from(&end).detach_filter().expect("SO_DETACH_FILTER");
    }
}

type Job = LocalBoxFuture<'static, ()>;

/// The row's end of the way to S.
#[derive(Clone)]
pub struct Far {
    jobs: mpsc::UnboundedSender<Job>,
}

impl Far {
    /// Returns the two ends of a new way: one for the place, one to be served on S.
    pub fn channel() -> (Far, Agent) {
        let (sender, receiver) = mpsc::unbounded_channel();
        (Far { jobs: sender }, Agent { jobs: receiver })
    }

    async fn run<T: 'static>(&self, work: impl Future<Output = T> + 'static) -> T {
        let (mut answer, value) = oneshot::channel();
        let job = Box::pin(async move {
            tokio::select! {
                biased;
                () = answer.closed() => (),
                value = work => drop(answer.send(value)),
            }
        });
        assert!(self.jobs.send(job).is_ok(), "S has stopped serving");
        value.await.expect("work on S panicked, or S stopped")
    }
}

/// S's end: runs there what rows send.
pub struct Agent {
    jobs: mpsc::UnboundedReceiver<Job>,
}

impl Agent {
    /// Serves until every [`Far`] of the way is gone.
    ///
    /// Needs a `LocalSet` around it: jobs run side by side as local tasks.
    pub async fn serve(mut self) {
        while let Some(job) = self.jobs.recv().await {
            spawn_local(job);
        }
    }
}
