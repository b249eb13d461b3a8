//! Lifecycles: how processes start, are told to end, crash, pause and are rolled out.
//!
//! What a test orders is a [`Control`](crate::control::Control), as for the network: for a moment of
//! the run with [`Sim::at`](crate::Sim::at), or from inside it with
//! [`Controls::apply`](crate::control::Controls::apply). [`Lifecycle`] has the run draw such events
//! within bounds that the test gives.
//!
//! # Death is exact
//! A process ends by its kernel's hand: first its sockets are closed (or, where its host lost its
//! power, forgotten without a word), then its runtime is dropped on the thread of the run. What the
//! destructors of its program do comes after its end: its sockets are closed for it, it makes no
//! new ones, the files it would change stay as they are, its panics, lines and failures count for
//! nothing. What it shares with other nodes in the memory of the test is the test's own, and is not
//! protected; [`Process::crash_token`](crate::process::Process::crash_token) is for that.
//!
//! What still ran is named in the trace, by the place of its spawn. Then no task, timer, thread or
//! socket of the process is left, which is asserted. A socket that somebody still holds (in a
//! cycle of `Arc`s, or forgotten) is nothing but its descriptor, and the trace counts it.
//!
//! Statics of a package are of the test's process, not of the node's: they survive a restart, as
//! they survive a run.
//!
//! # Example
//! ```
//! use sim_core::Sim;
//! use sim_core::control::{Control, Units, Until};
//! use sim_core::lifecycle::{Crash, Lifecycle, Rollout};
//! use sim_core::node::NodeSpec;
//! # fn test(sim: &mut Sim) {
//! let db = sim.node(NodeSpec::new("db").replicas(3..=3), |process| async move {
//!     let listener = process.host().listen((process.address(), 7)).await.unwrap();
//!     while listener.accept().await.is_ok() {}
//! });
//! // Killed at 2 s, and started again 5 s later.
//! sim.at(2.s(), Control::crash(&db, Crash::Kill).until(Until::After(5.s())));
//! // New processes one after the other, each once the one before listens.
//! sim.at(20.s(), Control::rollout(Rollout::of(&db).ready_on(7)));
//! // And whatever else may befall it, one replica at a time.
//! sim.lifecycle(Lifecycle::of(&db).down_at_most(1).crashes().pauses().skews());
//! # }
//! # sim_core::sweep::test(&sim_core::Target::new("lives", test), 0..4);
//! ```

mod drawn;
mod rollout;
mod seat;

pub(crate) use drawn::Drawn;
pub use drawn::Lifecycle;
pub use rollout::Rollout;
pub(crate) use rollout::Running;
pub(crate) use seat::{App, Seat};

use crate::process::Exit;
use hostsim::agenda::{Class, Key};

/// How a process crashes.
///
/// ```
/// use sim_core::control::{Control, Units};
/// use sim_core::lifecycle::Crash;
/// use tokio::io::AsyncReadExt;
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
/// sim.at(5.s(), Control::crash(&server, Crash::Power));
/// sim.client("client", |_| async {
///     let mut stream = TcpStream::connect("server:7").await.unwrap();
///     // Of a kill the kernel would tell; of a loss of power nobody does.
///     let read = tokio::time::timeout(3_600.s(), stream.read_u8()).await;
///     assert!(read.is_err());
/// });
/// # }
/// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Crash {
    /// `SIGKILL`: its kernel closes its sockets with a FIN each, or a RST where bytes were unread or
    /// a connection was not accepted (row F15).
    Kill,
    /// Its host loses its power: nothing is sent. Peers learn of it by their timers, or by a RST for
    /// what they send once the host is back (row F18).
    Power,
}

impl Crash {
    pub(crate) fn exit(self) -> Exit {
        match self {
            Crash::Kill => Exit::Kill,
            Crash::Power => Exit::Power,
        }
    }
}

/// Which event of a lifecycle an agenda's key means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    /// A process had its time to end by itself.
    Kill,
    /// The next event of a drawn lifecycle.
    Drawn,
    /// A rollout's bound for the readiness of a replica.
    Bound,
    /// The safety phase may be over.
    Safety,
    /// The bound of a goal.
    Goal,
    /// A process had its time to be ready.
    Ready,
}

impl Moment {
    /// The key of such an event, of a host, a drawn lifecycle or a rollout by its number.
    pub(crate) fn key(self, number: u32) -> Key {
        Key { class: Class::Lifecycle, major: number, minor: self as u32 }
    }

    pub(crate) fn of(key: Key) -> Moment {
        match key.minor {
            0 => Moment::Kill,
            1 => Moment::Drawn,
            2 => Moment::Bound,
            3 => Moment::Safety,
            4 => Moment::Goal,
            _ => Moment::Ready,
        }
    }
}
