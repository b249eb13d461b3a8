//! When a control ends, and what a predicate looks at to say so.

use hostsim::clock::Instant;
use hostsim::network::Network;
use std::fmt;
use std::rc::Rc;
use std::time::Duration;

/// What a predicate looks at.
///
/// ```
/// use sim_core::control::{Look, Units};
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
/// sim.eventually("the server listens", 5.s(), |look: &Look<'_>| {
///     look.network.hosts().any(|(id, host)| look.network.listens(id, (host.address, 7).into()))
/// });
/// # }
/// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
/// ```
pub struct Look<'a> {
    /// The moment it is.
    pub now: Instant,
    /// The network: its hosts and connections.
    pub network: &'a Network,
}

/// When a control ends.
///
/// ```
/// # use sim_core::Sim;
/// use sim_core::control::{Connections, Control, End, Look, Units, Until};
///
/// # fn build(sim: &mut Sim) {
/// let server = sim.node("server", |_| async {});
/// let replies = || Control::hold(End::Acceptor, Connections::to(&server));
/// sim.at(1.s(), replies().until(Until::Bytes(16)));
/// sim.at(2.s(), replies().until(Until::GivenUp));
/// let is_late = |look: &Look<'_>| look.now.elapsed() > 9.s() && look.network.hosts().count() > 0;
/// sim.at(3.s(), replies().until(Until::when(is_late)));
/// # }
/// # sim_core::sweep::test(&sim_core::Target::new("until", build), 0..4);
/// ```
#[derive(Clone)]
pub enum Until {
    /// With the run.
    TheEnd,
    /// So long after its beginning.
    After(Duration),
    /// Once the ends whose bytes are held have so many bytes in sum that are not acknowledged. For
    /// controls that hold bytes; others have none.
    Bytes(usize),
    /// Once a predicate holds; it is asked after each event.
    When(Rc<dyn Fn(&Look<'_>) -> bool>),
    /// Once every end that it holds has given up: bytes that nobody
    /// acknowledges are given up after 924.6 seconds where no option says less (`tcp_retries2`). For
    /// controls that hold bytes; any other does not end by it.
    GivenUp,
    /// Once its [`Handle`](super::Handle) is released.
    Released,
}

impl Until {
    /// Once a predicate holds.
    ///
    /// ```
    /// use sim_core::control::{Control, Units, Until};
    /// # use sim_core::Sim;
    /// # fn build(sim: &mut Sim) {
    /// # let db = sim.node("db", |_| std::future::pending::<()>());
    /// let late = Until::when(|look| look.now.elapsed() >= 3.s());
    /// let pause = sim.at(1.s(), Control::pause(&db).until(late));
    /// sim.client("client", move |_| {
    ///     let pause = pause.clone();
    ///     async move {
    ///         tokio::time::sleep(2.s()).await;
    ///         assert!(pause.is_active());
    ///         tokio::time::sleep(2.s()).await;
    ///         assert!(!pause.is_active());
    ///     }
    /// });
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    pub fn when(predicate: impl Fn(&Look<'_>) -> bool + 'static) -> Until {
        Until::When(Rc::new(predicate))
    }
}

impl fmt::Debug for Until {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Until::TheEnd => f.write_str("until the end"),
            Until::After(time) => write!(f, "for {time:?}"),
            Until::Bytes(bytes) => write!(f, "until {bytes} B wait"),
            Until::When(_) => f.write_str("until a predicate holds"),
            Until::GivenUp => f.write_str("until given up"),
            Until::Released => f.write_str("until released"),
        }
    }
}
