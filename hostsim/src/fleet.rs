//! The plainest driver: machines on a network, and the first pending event always comes next.
//!
//! For examples, conformance and benchmarks of the kernel alone. It chooses nothing and checks
//! nothing; the harness that does is another crate.
//!
//! # Example
//! ```
//! use hostsim::fleet::Fleet;
//! use tokio::io::{AsyncReadExt, AsyncWriteExt};
//! use tokio::net::{TcpListener, TcpStream};
//!
//! let mut fleet = Fleet::start(&["client", "server"])?;
//! let address = (fleet.address("server"), 7);
//! fleet.spawn("server", async move {
//!     let listener = TcpListener::bind(address).await.unwrap();
//!     let (mut stream, _) = listener.accept().await.unwrap();
//!     stream.write_all(b"hello").await.unwrap();
//! });
//! fleet.spawn("client", async move {
//!     let mut stream = TcpStream::connect(address).await.unwrap();
//!     let mut text = String::new();
//!     stream.read_to_string(&mut text).await.unwrap();
//!     assert_eq!(text, "hello");
//! });
//! fleet.run();
//! # Ok::<(), std::io::Error>(())
//! ```

use crate::agenda::{Class, Key};
use crate::clock::Instant;
use crate::kernel::HostId;
use crate::machine::Machine;
use crate::network::Listening;
use crate::seam::{self, Entered};
use crate::world::{Trouble, World};
use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;

/// Machines, one a host, and the world they share. While it lives, the calls of this thread reach
/// that world.
///
/// ```
/// use hostsim::fleet::Fleet;
/// use std::io::ErrorKind;
/// use tokio::net::{TcpListener, TcpStream};
///
/// let mut fleet = Fleet::start(&["client", "server"])?;
/// let address = (fleet.address("server"), 7).into();
/// fleet.spawn("server", async move {
///     let listener = TcpListener::bind(address).await.unwrap();
///     while listener.accept().await.is_ok() {}
/// });
/// let listening = fleet.listening("server", address);
/// fleet.spawn("client", async move {
///     listening.await;
///     TcpStream::connect("server:7").await.unwrap();
/// });
/// fleet.run();
///
/// // One event at a time, while the server's machine stands still: its kernel lets in all the same.
/// fleet.pause("server");
/// fleet.spawn("client", async move { drop(TcpStream::connect(address).await.unwrap()) });
/// while fleet.step().map_err(|trouble| std::io::Error::other(fleet.describe(&trouble)))? {}
/// fleet.resume("server");
/// fleet.settle().expect("the machines rest");
///
/// fleet.kill("server");
/// fleet.spawn("client", async move {
///     let refused = TcpStream::connect(address).await.unwrap_err();
///     assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
/// });
/// fleet.run();
///
/// fleet.restart("server")?;
/// assert!(fleet.address_v6("server").is_ipv6());
/// assert!(!fleet.world().network().listens(fleet.host("server"), address), "it is a new process");
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Fleet {
    world: Rc<World>,
    machines: Vec<Option<Machine>>,
    deadlines: Vec<Option<Instant>>,
    runnable: Vec<HostId>,
    _entered: Entered,
}

impl Fleet {
    /// Starts a machine for each name.
    ///
    /// # Errors
    /// Where the seam is not live, and what tokio says where it cannot make a runtime.
    ///
    /// ```
    /// use hostsim::fleet::Fleet;
    ///
    /// let mut fleet = Fleet::start(&["client", "server"])?;
    /// fleet.spawn("client", async {
    ///     let error = tokio::net::TcpStream::connect("server:7").await.unwrap_err();
    ///     assert_eq!(error.kind(), std::io::ErrorKind::ConnectionRefused);
    /// });
    /// fleet.run();
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn start(names: &[&str]) -> io::Result<Fleet> {
        seam::probe().map_err(io::Error::other)?;
        let world = World::new();
        let entered = seam::enter(&world);
        let mut machines = Vec::new();
        for (seed, name) in names.iter().enumerate() {
            let host = world.with(|network| network.add_host(name));
            machines.push(Some(Machine::start(&world, host, seed as u64)?));
        }
        let deadlines = vec![None; names.len()];
        let runnable = Vec::new();
        Ok(Fleet { world, machines, deadlines, runnable, _entered: entered })
    }

    /// The world of the fleet.
    ///
    /// ```
    /// # use hostsim::fleet::Fleet;
    /// # let mut fleet = Fleet::start(&["client", "server"])?;
    /// # let (client, server) = (fleet.host("client"), fleet.host("server"));
    /// # let world = fleet.world().clone();
    /// fleet.world().with(|network| network.add_name("api", server));
    /// assert_eq!(fleet.world().network().resolve("api")[0], fleet.address("server"));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn world(&self) -> &Rc<World> {
        &self.world
    }

    /// The IPv4 address of a host.
    ///
    /// # Panics
    /// Where no host has the name.
    ///
    /// ```
    /// # use hostsim::fleet::Fleet;
    /// # let mut fleet = Fleet::start(&["client", "server"])?;
    /// # let (client, server) = (fleet.host("client"), fleet.host("server"));
    /// # let world = fleet.world().clone();
    /// assert_eq!(fleet.address("server").to_string(), "10.0.0.2");
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[track_caller]
    pub fn address(&self, name: &str) -> IpAddr {
        let host = self.host(name);
        self.world.network().address(host)
    }

    /// The IPv6 address of a host.
    ///
    /// # Panics
    /// Where no host has the name.
    ///
    /// ```
    /// # use hostsim::fleet::Fleet;
    /// # let mut fleet = Fleet::start(&["client", "server"])?;
    /// # let (client, server) = (fleet.host("client"), fleet.host("server"));
    /// # let world = fleet.world().clone();
    /// assert_eq!(fleet.address_v6("server").to_string(), "fd00::2");
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[track_caller]
    pub fn address_v6(&self, name: &str) -> IpAddr {
        let host = self.host(name);
        self.world.network().address_v6(host)
    }

    /// The host of a name.
    ///
    /// # Panics
    /// Where no host has the name.
    ///
    /// ```
    /// use hostsim::fleet::Fleet;
    ///
    /// let fleet = Fleet::start(&["client", "server"])?;
    /// let server = fleet.host("server");
    /// assert_eq!(fleet.world().network().host(server).name, "server");
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[track_caller]
    pub fn host(&self, name: &str) -> HostId {
        let network = self.world.network();
        let host = network.hosts().find(|(_, host)| host.name == name);
        host.unwrap_or_else(|| panic!("no host is called {name}")).0
    }

    /// Hands a task to the machine of a host.
    ///
    /// # Panics
    /// Where no host has the name, or its machine was killed.
    ///
    /// ```
    /// use std::cell::Cell;
    /// use std::rc::Rc;
    /// # use hostsim::fleet::Fleet;
    /// # let mut fleet = Fleet::start(&["client", "server"])?;
    /// # let (client, server) = (fleet.host("client"), fleet.host("server"));
    /// # let world = fleet.world().clone();
    /// // A task need not be `Send`.
    /// let answer = Rc::new(Cell::new(0));
    /// let place = answer.clone();
    /// fleet.spawn("server", async move { place.set(42) });
    /// assert_eq!(answer.get(), 0, "nothing runs by itself");
    /// fleet.run();
    /// assert_eq!(answer.get(), 42);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[track_caller]
    pub fn spawn(&self, name: &str, task: impl Future<Output = ()> + 'static) {
        let machine = self.machines[self.host(name).0 as usize].as_ref();
        machine.expect("the machine lives").spawn(task);
    }

    /// Waits until something listens at an address of a host, as [`World::listening`].
    ///
    /// # Panics
    /// Where no host has the name.
    ///
    /// ```
    /// use tokio::net::{TcpListener, TcpStream};
    /// # use hostsim::fleet::Fleet;
    /// # let mut fleet = Fleet::start(&["client", "server"])?;
    /// # let (client, server) = (fleet.host("client"), fleet.host("server"));
    /// # let world = fleet.world().clone();
    /// let address = (fleet.address("server"), 7).into();
    /// let listening = fleet.listening("server", address);
    /// fleet.spawn("client", async move {
    ///     listening.await;
    ///     TcpStream::connect(address).await.expect("it is there");
    /// });
    /// fleet.spawn("server", async move {
    ///     TcpListener::bind(address).await.unwrap().accept().await.unwrap();
    /// });
    /// fleet.run();
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[track_caller]
    pub fn listening(&self, name: &str, address: SocketAddr) -> Listening {
        self.world.listening(self.host(name), address)
    }

    /// Ends the process of a host: its kernel closes what it had open, then its machine is dropped
    /// with all that is on it.
    ///
    /// # Panics
    /// Where no host has the name.
    ///
    /// ```
    /// use tokio::io::AsyncReadExt;
    /// use tokio::net::TcpStream;
    /// # use hostsim::fleet::Fleet;
    /// # let mut fleet = Fleet::start(&["client", "server"])?;
    /// # let (client, server) = (fleet.host("client"), fleet.host("server"));
    /// # let world = fleet.world().clone();
    /// # fleet.spawn("server", async {
    /// #     let listener = tokio::net::TcpListener::bind("0.0.0.0:7").await.unwrap();
    /// #     while let Ok((mut stream, _)) = listener.accept().await {
    /// #         tokio::task::spawn_local(async move {
    /// #             let (mut from, mut to) = stream.split();
    /// #             let _ = tokio::io::copy(&mut from, &mut to).await;
    /// #         });
    /// #     }
    /// # });
    /// let address = (fleet.address("server"), 7);
    /// fleet.spawn("client", async move {
    ///     let mut stream = TcpStream::connect(address).await.unwrap();
    ///     assert_eq!(stream.read(&mut [0; 8]).await.unwrap(), 0, "the kernel sent a FIN");
    /// });
    /// fleet.settle().expect("the machines rest");
    /// while world.network().connections().all(|view| view.states[1].name() != "established") {
    ///     fleet.step().expect("the machines rest");
    /// }
    /// fleet.kill("server");
    /// fleet.run();
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[track_caller]
    pub fn kill(&mut self, name: &str) {
        let host = self.host(name);
        self.world.with(|network| network.end_process(host));
        self.machines[host.0 as usize] = None;
        self.set_deadline(host, None);
    }

    /// Starts a machine anew on a host whose process is over.
    ///
    /// # Errors
    /// What tokio says where it cannot make a runtime.
    ///
    /// # Panics
    /// Where no host has the name.
    ///
    /// ```
    /// # use hostsim::fleet::Fleet;
    /// # let mut fleet = Fleet::start(&["client", "server"])?;
    /// # let (client, server) = (fleet.host("client"), fleet.host("server"));
    /// # let world = fleet.world().clone();
    /// # fleet.spawn("server", async {
    /// #     let listener = tokio::net::TcpListener::bind("0.0.0.0:7").await.unwrap();
    /// #     while let Ok((mut stream, _)) = listener.accept().await {
    /// #         tokio::task::spawn_local(async move {
    /// #             let (mut from, mut to) = stream.split();
    /// #             let _ = tokio::io::copy(&mut from, &mut to).await;
    /// #         });
    /// #     }
    /// # });
    /// fleet.run();
    /// let address = (fleet.address("server"), 7).into();
    /// assert!(world.network().listens(server, address));
    /// fleet.restart("server")?;
    /// assert!(!world.network().listens(server, address), "it runs nothing yet");
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[track_caller]
    pub fn restart(&mut self, name: &str) -> io::Result<()> {
        let host = self.host(name);
        self.kill(name);
        self.world.with(|network| network.begin_process(host));
        let machine = Machine::start(&self.world, host, u64::from(host.0))?;
        self.machines[host.0 as usize] = Some(machine);
        Ok(())
    }

    /// Keeps a machine from running, as a stopped process: its kernel goes on, and its timers are
    /// late.
    ///
    /// # Panics
    /// Where no host has the name.
    ///
    /// ```
    /// use std::cell::Cell;
    /// use std::rc::Rc;
    /// # use hostsim::fleet::Fleet;
    /// # let mut fleet = Fleet::start(&["client", "server"])?;
    /// # let (client, server) = (fleet.host("client"), fleet.host("server"));
    /// # let world = fleet.world().clone();
    /// let is_done = Rc::new(Cell::new(false));
    /// let done = is_done.clone();
    /// fleet.pause("server");
    /// fleet.spawn("server", async move { done.set(true) });
    /// fleet.run();
    /// assert!(!is_done.get());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[track_caller]
    pub fn pause(&mut self, name: &str) {
        let host = self.host(name);
        self.world.with(|network| network.host_mut(host).is_paused = true);
    }

    /// Lets a machine run again.
    ///
    /// # Panics
    /// Where no host has the name.
    ///
    /// ```
    /// use std::time::Duration;
    /// use tokio::time::{Instant, sleep};
    /// # use hostsim::fleet::Fleet;
    /// # let mut fleet = Fleet::start(&["client", "server"])?;
    /// # let (client, server) = (fleet.host("client"), fleet.host("server"));
    /// # let world = fleet.world().clone();
    /// fleet.pause("server");
    /// fleet.spawn("server", async move {
    ///     let start = Instant::now();
    ///     sleep(Duration::from_secs(1)).await;
    ///     assert_eq!(start.elapsed().as_secs(), 1);
    /// });
    /// fleet.run();
    /// assert_eq!(world.now().elapsed().as_secs(), 0);
    /// fleet.resume("server");
    /// fleet.run();
    /// assert_eq!(world.now().elapsed().as_secs(), 1);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[track_caller]
    pub fn resume(&mut self, name: &str) {
        let host = self.host(name);
        self.world.with(|network| {
            network.host_mut(host).is_paused = false;
            network.mark_runnable(host);
        });
    }

    /// Makes one thing happen; whether there was one.
    ///
    /// # Errors
    /// Why a machine cannot go on.
    ///
    /// ```
    /// use std::time::Duration;
    /// use tokio::time::sleep;
    /// # use hostsim::fleet::Fleet;
    /// # let mut fleet = Fleet::start(&["client", "server"])?;
    /// # let (client, server) = (fleet.host("client"), fleet.host("server"));
    /// # let world = fleet.world().clone();
    /// for (name, seconds) in [("client", 2), ("server", 1)] {
    ///     fleet.spawn(name, async move { sleep(Duration::from_secs(seconds)).await });
    /// }
    /// let mut before = world.now();
    /// while fleet.step().expect("the machines rest") {
    ///     assert!(world.now() > before, "time moves on with each event");
    ///     before = world.now();
    /// }
    /// assert_eq!(before.elapsed().as_secs(), 2);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn step(&mut self) -> Result<bool, Trouble> {
        self.settle()?;
        let (now, earliest) = {
            let network = self.world.network();
            (network.now(), network.agenda().earliest())
        };
        let Some(due) = earliest else { return Ok(false) };
        self.world.advance(due.max(now.next()));
        let event = self.world.with(|network| network.take(0));
        if event.key.class == Class::MachineTimer {
            self.deadlines[event.key.major as usize] = None;
            self.world.with(|network| network.mark_runnable(HostId(event.key.major)));
        } else {
            self.world.with(|network| network.deliver(event.key));
        }
        Ok(true)
    }

    /// Runs until nothing is pending.
    ///
    /// # Panics
    /// Where a machine cannot go on.
    ///
    /// ```
    /// use std::time::Duration;
    /// use tokio::time::sleep;
    /// # use hostsim::fleet::Fleet;
    /// # let mut fleet = Fleet::start(&["client", "server"])?;
    /// # let (client, server) = (fleet.host("client"), fleet.host("server"));
    /// # let world = fleet.world().clone();
    /// const DAY: Duration = Duration::from_secs(86_400);
    /// fleet.spawn("server", async { sleep(365 * DAY).await });
    /// fleet.run();
    /// assert_eq!(world.now().elapsed().as_secs(), 365 * DAY.as_secs());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[track_caller]
    pub fn run(&mut self) {
        loop {
            match self.step() {
                Ok(true) => {}
                Ok(false) => return,
                Err(trouble) => panic!("{}", self.describe(&trouble)),
            }
        }
    }

    /// Runs every machine that has something to do, until none has.
    ///
    /// # Errors
    /// Why a machine cannot go on.
    ///
    /// ```
    /// # use hostsim::fleet::Fleet;
    /// # let mut fleet = Fleet::start(&["client", "server"])?;
    /// # let (client, server) = (fleet.host("client"), fleet.host("server"));
    /// # let world = fleet.world().clone();
    /// # fleet.spawn("server", async {
    /// #     let listener = tokio::net::TcpListener::bind("0.0.0.0:7").await.unwrap();
    /// #     while let Ok((mut stream, _)) = listener.accept().await {
    /// #         tokio::task::spawn_local(async move {
    /// #             let (mut from, mut to) = stream.split();
    /// #             let _ = tokio::io::copy(&mut from, &mut to).await;
    /// #         });
    /// #     }
    /// # });
    /// fleet.settle().expect("the machines rest");
    /// let address = (fleet.address("server"), 7).into();
    /// assert!(world.network().listens(server, address), "its program ran as far as it could");
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn settle(&mut self) -> Result<(), Trouble> {
        while self.world.network().has_runnable() {
            let mut runnable = std::mem::take(&mut self.runnable);
            self.world.with(|network| network.take_runnable(&mut runnable));
            for host in &runnable {
                self.run_machine(*host)?;
            }
            self.runnable = runnable;
        }
        Ok(())
    }

    fn run_machine(&mut self, host: HostId) -> Result<(), Trouble> {
        if self.world.network().host(host).is_paused {
            return Ok(());
        }
        let Some(machine) = &mut self.machines[host.0 as usize] else { return Ok(()) };
        let (now, busy_until) = {
            let network = self.world.network();
            (network.now(), network.host(host).busy_until)
        };
        let deadline = if busy_until > now { Some(busy_until) } else { machine.run() };
        self.set_deadline(host, deadline);
        self.world.take_trouble().map_or(Ok(()), Err)
    }

    /// One line for a person.
    ///
    /// ```
    /// use std::net::TcpListener;
    /// # use hostsim::fleet::Fleet;
    /// # let mut fleet = Fleet::start(&["client", "server"])?;
    /// # let (client, server) = (fleet.host("client"), fleet.host("server"));
    /// # let world = fleet.world().clone();
    /// fleet.spawn("server", async {
    ///     // Without `await` this waits on the machine's only thread.
    ///     drop(TcpListener::bind("0.0.0.0:7").unwrap().accept());
    /// });
    /// let trouble = fleet.settle().expect_err("nothing could end the wait");
    /// assert!(fleet.describe(&trouble).starts_with("node server called accept"));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn describe(&self, trouble: &Trouble) -> String {
        let name = |host: &HostId| self.world.network().host(*host).name.clone();
        trouble.describe(name)
    }

    fn set_deadline(&mut self, host: HostId, deadline: Option<Instant>) {
        let key = Key { class: Class::MachineTimer, major: host.0, minor: 0 };
        let before = std::mem::replace(&mut self.deadlines[host.0 as usize], deadline);
        if before == deadline {
            return;
        }
        self.world.with(|network| {
            if let Some(due) = before {
                network.cancel(due, key);
            }
            if let Some(due) = deadline {
                network.schedule(due, key);
            }
        });
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        self.machines.clear();
    }
}
