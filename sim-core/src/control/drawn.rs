//! Controls that the fault lane draws.
//!
//! How many there are at most is a dimension of the swarm; each is drawn when the one before began:
//! whether there is another and of which kind, when, about whom, and for how long. All zeros draw
//! none. Every drawn control ends: a run is never left broken by it.

use super::{Connections, Control, End, Hosts, Until};
use crate::source::{Choice, Lane, Source};
use crate::tape::SpanKind;
use hostsim::kernel::HostId;
use hostsim::network::Network;
use std::time::Duration;

/// The kinds of control that may be drawn.
///
/// ```
/// use sim_core::control::{FaultKind, FaultSpec};
/// # use sim_core::Sim;
/// # fn build(sim: &mut Sim) {
/// # let server = sim.node("server", |process| async move {
/// #     let listener = process.host().listen((process.address(), 7)).await.unwrap();
/// #     while let Ok((mut stream, _)) = listener.accept().await {
/// #         tokio::task::spawn_local(async move {
/// #             let (mut from, mut to) = stream.split();
/// #             let _ = tokio::io::copy(&mut from, &mut to).await;
/// #         });
/// #     }
/// # });
/// // What a program without timeouts stands: everything that ends with an error or by itself.
/// let is_told = |kind: &FaultKind| matches!(kind, FaultKind::Reset | FaultKind::Delay);
/// sim.faults(FaultSpec::new().kinds(FaultKind::ALL.into_iter().filter(is_told)));
/// # }
/// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FaultKind {
    /// Nothing passes between two hosts.
    Partition,
    /// Nothing passes from one host to another.
    OneWay,
    /// Nothing passes between one host and all others.
    Isolation,
    /// What an end of a connection sends waits, at once or after some bytes.
    Hold,
    /// A connection is reset, at one end or both.
    Reset,
    /// Dials to a host are refused.
    Refusal,
    /// Dials to a host vanish.
    BlackHole,
    /// Programs of a host are late to accept.
    LateAccept,
    /// What an end of a connection sends arrives slowly.
    Throttle,
    /// Segments between two hosts take longer.
    Delay,
}

impl FaultKind {
    /// Every kind.
    pub const ALL: [FaultKind; 10] = [
        FaultKind::Partition,
        FaultKind::OneWay,
        FaultKind::Isolation,
        FaultKind::Hold,
        FaultKind::Reset,
        FaultKind::Refusal,
        FaultKind::BlackHole,
        FaultKind::LateAccept,
        FaultKind::Throttle,
        FaultKind::Delay,
    ];
}

/// Which controls a run may draw: how many, of which kinds, how long.
///
/// ```
/// use sim_core::Sim;
/// use sim_core::control::{FaultKind, FaultSpec, Units};
///
/// fn build(sim: &mut Sim) {
///     sim.node("server", |_| async {});
///     let spec = FaultSpec::new().count(5).lasting(30.s()).pause(1.s());
///     // All but those that a firewall makes.
///     let is_wanted = |kind: &FaultKind| !matches!(kind, FaultKind::Refusal | FaultKind::BlackHole);
///     sim.faults(spec.kinds(FaultKind::ALL.into_iter().filter(is_wanted)));
/// }
/// # sim_core::sweep::test(&sim_core::Target::new("faults", build), 0..4);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultSpec {
    pub(crate) count_max: u64,
    kinds: Vec<FaultKind>,
    time_max: Duration,
    pause_max: Duration,
}

impl FaultSpec {
    /// Up to three of any kind, each for ten seconds at most, with pauses of up to two seconds.
    ///
    /// ```
    /// use sim_core::control::FaultSpec;
    ///
    /// assert_eq!(FaultSpec::new(), FaultSpec::default());
    /// ```
    pub fn new() -> FaultSpec {
        FaultSpec {
            count_max: 3,
            kinds: FaultKind::ALL.to_vec(),
            time_max: Duration::from_secs(10),
            pause_max: Duration::from_secs(2),
        }
    }

    /// Sets how many there may be.
    ///
    /// # Panics
    /// Where it is past 255.
    ///
    /// ```
    /// use sim_core::control::FaultSpec;
    /// use tokio::net::TcpStream;
    /// # use sim_core::Sim;
    /// # fn build(sim: &mut Sim) {
    /// # let server = sim.node("server", |process| async move {
    /// #     let listener = process.host().listen((process.address(), 7)).await.unwrap();
    /// #     while let Ok((mut stream, _)) = listener.accept().await {
    /// #         tokio::task::spawn_local(async move {
    /// #             let (mut from, mut to) = stream.split();
    /// #             let _ = tokio::io::copy(&mut from, &mut to).await;
    /// #         });
    /// #     }
    /// # });
    /// sim.faults(FaultSpec::new().count(0)); // None ever comes.
    /// sim.client("client", |_| async {
    ///     tokio::time::sleep(std::time::Duration::from_secs(9)).await;
    ///     TcpStream::connect("server:7").await.unwrap();
    /// });
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    #[must_use]
    #[track_caller]
    pub fn count(mut self, max: u64) -> FaultSpec {
        assert!(max <= 255, "a run draws 255 faults at most, not {max}");
        self.count_max = max;
        self
    }

    /// Allows these kinds only.
    ///
    /// # Panics
    /// Where there is none.
    ///
    /// ```
    /// use sim_core::control::{FaultKind, FaultSpec};
    ///
    /// let twice = FaultSpec::new().kinds([FaultKind::Reset, FaultKind::Hold, FaultKind::Reset]);
    /// assert_eq!(twice, FaultSpec::new().kinds([FaultKind::Hold, FaultKind::Reset]));
    /// ```
    #[must_use]
    #[track_caller]
    pub fn kinds(mut self, kinds: impl IntoIterator<Item = FaultKind>) -> FaultSpec {
        self.kinds = kinds.into_iter().collect();
        self.kinds.sort_unstable();
        self.kinds.dedup();
        assert!(!self.kinds.is_empty(), "faults that may be drawn are of some kind");
        self
    }

    /// Sets how long one lasts at most. Bytes that wait for 924.6 s are given up (`tcp_retries2`).
    ///
    /// ```
    /// use sim_core::control::{FaultKind, FaultSpec, Units};
    /// use tokio::net::TcpStream;
    /// # use sim_core::Sim;
    /// # fn build(sim: &mut Sim) {
    /// # let server = sim.node("server", |process| async move {
    /// #     let listener = process.host().listen((process.address(), 7)).await.unwrap();
    /// #     while let Ok((mut stream, _)) = listener.accept().await {
    /// #         tokio::task::spawn_local(async move {
    /// #             let (mut from, mut to) = stream.split();
    /// #             let _ = tokio::io::copy(&mut from, &mut to).await;
    /// #         });
    /// #     }
    /// # });
    /// let refusals = FaultSpec::new().kinds([FaultKind::Refusal]).lasting(3.s());
    /// sim.faults(refusals.count(1));
    /// sim.client("client", |_| async {
    ///     tokio::time::sleep(9.s()).await;
    ///     TcpStream::connect("server:7").await.expect("a refusal ended long ago");
    /// });
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    #[must_use]
    pub fn lasting(mut self, max: Duration) -> FaultSpec {
        self.time_max = max;
        self
    }

    /// Sets the longest pause before one.
    ///
    /// ```
    /// use sim_core::control::{FaultKind, FaultSpec, Units};
    /// # use sim_core::Sim;
    /// # fn build(sim: &mut Sim) {
    /// # let server = sim.node("server", |process| async move {
    /// #     let listener = process.host().listen((process.address(), 7)).await.unwrap();
    /// #     while let Ok((mut stream, _)) = listener.accept().await {
    /// #         tokio::task::spawn_local(async move {
    /// #             let (mut from, mut to) = stream.split();
    /// #             let _ = tokio::io::copy(&mut from, &mut to).await;
    /// #         });
    /// #     }
    /// # });
    /// // Resets come thick and fast.
    /// sim.faults(FaultSpec::new().kinds([FaultKind::Reset]).pause(10.ms()).count(20));
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    #[must_use]
    pub fn pause(mut self, max: Duration) -> FaultSpec {
        self.pause_max = max;
        self
    }
}

impl Default for FaultSpec {
    fn default() -> FaultSpec {
        FaultSpec::new()
    }
}

const KIND: Choice = Choice::one("kind");
const WAIT: Choice = Choice::one("wait");
const FIRST: Choice = Choice::one("first");
const SECOND: Choice = Choice::one("second");
const EXTENT: Choice = Choice::one("extent");
const TIME: Choice = Choice::one("time");

/// The bytes after which a hold begins, and those of a throttle, by level.
const EXTENTS: [u32; 8] = [0, 1, 2, 8, 32, 128, 1_024, 8_192];

/// The faults that a run still draws.
#[derive(Clone, Debug)]
pub(crate) struct Drawn {
    spec: FaultSpec,
    left: u64,
}

/// A fault that comes next: what of it does not depend on the moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NextFault {
    kind: FaultKind,
    pub(crate) wait: Duration,
    first: u64,
    second: u64,
    extent: u64,
    time: Duration,
}

impl Drawn {
    pub(crate) fn new(spec: FaultSpec, left: u64) -> Drawn {
        Drawn { spec, left }
    }

    /// Draws the next fault; zero draws none, and none after it.
    pub(crate) fn next(&mut self, source: &mut Source) -> Option<NextFault> {
        if self.left == 0 {
            return None;
        }
        self.left -= 1;
        source.open(SpanKind::Fault, "fault");
        let kind = match source.draw(Lane::Fault, KIND, 255) {
            0 => {
                source.close();
                self.left = 0;
                return None;
            }
            value => self.spec.kinds[(value - 1) as usize % self.spec.kinds.len()],
        };
        let wait = source.part(Lane::Fault, WAIT, self.spec.pause_max);
        let first = source.draw(Lane::Fault, FIRST, 255);
        let second = source.draw(Lane::Fault, SECOND, 255);
        let extent = source.draw(Lane::Fault, EXTENT, 255);
        let time = source.doubling(Lane::Fault, TIME, self.spec.time_max);
        source.close();
        Some(NextFault { kind, wait, first, second, extent, time })
    }
}

impl NextFault {
    /// The control, now that the hosts and connections are known; none where there is nobody that
    /// it could be about.
    pub(crate) fn control(&self, network: &Network) -> Option<Control> {
        let hosts: Vec<HostId> = network.hosts().map(|(host, _)| host).collect();
        let first = pick(&hosts, self.first)?;
        let others: Vec<HostId> = hosts.into_iter().filter(|host| *host != first).collect();
        let second = || pick(&others, self.second);
        let extent = EXTENTS[self.extent as usize % EXTENTS.len()];
        let end = if self.second.is_multiple_of(2) { End::Acceptor } else { End::Dialer };
        let control = match self.kind {
            FaultKind::Partition => Control::partition(first, second()?),
            FaultKind::OneWay => Control::one_way(first, second()?),
            FaultKind::Isolation => Control::partition(first, Hosts(others)),
            FaultKind::Refusal => Control::refuse(first),
            FaultKind::BlackHole => Control::black_hole(first),
            FaultKind::LateAccept => Control::stop_accepting(first),
            FaultKind::Delay => {
                Control::latency(first, second()?, Duration::from_millis(self.extent))
            }
            FaultKind::Hold => {
                Control::hold(end, self.connection(network)?).after_bytes(extent.into())
            }
            FaultKind::Throttle => {
                let every = Duration::from_millis(10);
                Control::throttle(end, self.connection(network)?, extent.max(1), every)
            }
            FaultKind::Reset if self.second.is_multiple_of(3) => {
                Control::reset(self.connection(network)?)
            }
            FaultKind::Reset => Control::reset_end(end, self.connection(network)?),
        };
        Some(control.until(Until::After(self.time)))
    }

    /// One of the connections that stand.
    fn connection(&self, network: &Network) -> Option<Connections> {
        let count = network.connections().count();
        let index = self.first as usize % count.max(1);
        let view = network.connections().nth(index)?;
        Some(Connections::one(view.wire.0))
    }
}

fn pick(hosts: &[HostId], value: u64) -> Option<HostId> {
    hosts.get(value as usize % hosts.len().max(1)).copied()
}
