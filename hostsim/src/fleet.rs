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
    pub fn world(&self) -> &Rc<World> {
        &self.world
    }

    /// The IPv4 address of a host.
    ///
    /// # Panics
    /// Where no host has the name.
    #[track_caller]
    pub fn address(&self, name: &str) -> IpAddr {
        let host = self.host(name);
        self.world.network().address(host)
    }

    /// The IPv6 address of a host.
    ///
    /// # Panics
    /// Where no host has the name.
    #[track_caller]
    pub fn address_v6(&self, name: &str) -> IpAddr {
        let host = self.host(name);
        self.world.network().address_v6(host)
    }

    /// The host of a name.
    ///
    /// # Panics
    /// Where no host has the name.
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
    #[track_caller]
    pub fn spawn(&self, name: &str, task: impl Future<Output = ()> + 'static) {
        let machine = self.machines[self.host(name).0 as usize].as_ref();
        machine.expect("the machine lives").spawn(task);
    }

    /// Waits until something listens at an address of a host, as [`World::listening`].
    ///
    /// # Panics
    /// Where no host has the name.
    #[track_caller]
    pub fn listening(&self, name: &str, address: SocketAddr) -> Listening {
        self.world.listening(self.host(name), address)
    }

    /// Ends the process of a host: its kernel closes what it had open, then its machine is dropped
    /// with all that is on it.
    ///
    /// # Panics
    /// Where no host has the name.
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
    #[track_caller]
    pub fn pause(&mut self, name: &str) {
        let host = self.host(name);
        self.world.with(|network| network.host_mut(host).is_paused = true);
    }

    /// Lets a machine run again.
    ///
    /// # Panics
    /// Where no host has the name.
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
