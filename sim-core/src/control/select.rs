//! Which hosts and which connections a control is about.

use super::End;
use crate::node::Node;
use crate::panics::ask;
use hostsim::kernel::HostId;
use hostsim::network::{ConnectionView, Network};
use std::fmt;
use std::rc::Rc;

/// Some hosts.
///
/// ```
/// # use sim_core::Sim;
/// use sim_core::control::{Control, Hosts, Units};
/// use sim_core::node::NodeSpec;
///
/// # fn build(sim: &mut Sim) {
/// let db = sim.node(NodeSpec::new("db").replicas(3..=3), |_| async {});
/// let [first, rest @ ..] = db.hosts() else { panic!("three replicas") };
/// // A node, one host of it, or some.
/// let _: [Hosts; 3] = [Hosts::from(&db), Hosts::from(*first), Hosts::from(rest.to_vec())];
/// sim.at(1.s(), Control::partition(*first, rest.to_vec()));
/// # }
/// # sim_core::sweep::test(&sim_core::Target::new("hosts", build), 0..4);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hosts(pub(crate) Vec<HostId>);

impl Hosts {
    pub(super) fn has(&self, host: HostId) -> bool {
        self.0.contains(&host)
    }

    pub(crate) fn describe(&self, network: &Network) -> String {
        let names: Vec<&str> =
            self.0.iter().map(|host| network.host(*host).name.as_str()).collect();
        names.join(",")
    }
}

impl From<&Node> for Hosts {
    fn from(node: &Node) -> Hosts {
        Hosts(node.hosts().to_vec())
    }
}

impl From<HostId> for Hosts {
    fn from(host: HostId) -> Hosts {
        Hosts(vec![host])
    }
}

impl From<Vec<HostId>> for Hosts {
    fn from(hosts: Vec<HostId>) -> Hosts {
        Hosts(hosts)
    }
}

/// A condition on a connection.
type Predicate = Rc<dyn Fn(&ConnectionView) -> bool>;

/// Some connections: those that meet every condition given.
///
/// ```
/// use sim_core::control::{Connections, Control, Units};
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
/// let lucky = sim.client("lucky", |_| async {
///     let mut stream = TcpStream::connect("server:7").await.unwrap();
///     tokio::time::timeout(9.s(), stream.read_u8()).await.expect_err("it stands");
/// });
/// let unlucky = sim.client("unlucky", |_| async {
///     let mut stream = TcpStream::connect("server:7").await.unwrap();
///     stream.read_u8().await.expect_err("it is reset");
/// });
/// sim.at(5.s(), Control::reset(Connections::from(&unlucky).port(7)));
/// # }
/// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
/// ```
#[derive(Clone, Default)]
pub struct Connections {
    from: Option<Hosts>,
    to: Option<Hosts>,
    port: Option<u16>,
    one: Option<u32>,
    predicate: Option<Predicate>,
}

impl Connections {
    /// Every connection.
    ///
    /// ```
    /// use sim_core::control::{Connections, Control, Units};
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
    /// sim.at(1.s(), Control::reset(Connections::all()));
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    pub fn all() -> Connections {
        Connections::default()
    }

    /// Those that some hosts dialed.
    ///
    /// ```
    /// use sim_core::control::{Connections, Control, Units};
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
    /// let client = sim.client("client", |_| async { tokio::time::sleep(2.s()).await });
    /// sim.at(1.s(), Control::silence(Connections::from(&client)));
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    pub fn from(hosts: impl Into<Hosts>) -> Connections {
        Connections { from: Some(hosts.into()), ..Connections::default() }
    }

    /// Those to some hosts.
    ///
    /// ```
    /// use sim_core::control::{Connections, Control, Units};
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
    /// sim.at(1.s(), Control::hold_replies(Connections::to(&server)));
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    pub fn to(hosts: impl Into<Hosts>) -> Connections {
        Connections { to: Some(hosts.into()), ..Connections::default() }
    }

    /// The one of this number, in the order of the dials, from zero.
    ///
    /// ```
    /// use sim_core::control::{Connections, Control, Units};
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
    /// sim.at(5.s(), Control::reset(Connections::one(0)));
    /// sim.client("client", |_| async {
    ///     let mut first = TcpStream::connect("server:7").await.unwrap();
    ///     let mut second = TcpStream::connect("server:7").await.unwrap();
    ///     first.read_u8().await.expect_err("it is reset");
    ///     tokio::time::timeout(9.s(), second.read_u8()).await.expect_err("it stands");
    /// });
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    pub fn one(number: u32) -> Connections {
        Connections { one: Some(number), ..Connections::default() }
    }

    /// Only those dialed by some hosts.
    ///
    /// ```
    /// use sim_core::control::{Connections, Control, Units};
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
    /// let client = sim.client("client", |_| async { tokio::time::sleep(2.s()).await });
    /// sim.at(1.s(), Control::reset(Connections::to(&server).dialed_by(&client)));
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    #[must_use]
    pub fn dialed_by(mut self, hosts: impl Into<Hosts>) -> Connections {
        self.from = Some(hosts.into());
        self
    }

    /// Only those to this port.
    ///
    /// ```
    /// use sim_core::control::{Connections, Control, Units};
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
    /// // What it serves is held; its metrics, on another port, are not.
    /// sim.at(1.s(), Control::silence(Connections::to(&server).port(7)));
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    #[must_use]
    pub fn port(mut self, port: u16) -> Connections {
        self.port = Some(port);
        self
    }

    /// Only those that a predicate holds for.
    ///
    /// ```
    /// use sim_core::control::{Connections, Control, Units};
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
    /// // Those alone whose dialer waits for an acknowledgment.
    /// let busy = Connections::to(&server).that(|connection| connection.unacknowledged[0] > 0);
    /// sim.at(1.s(), Control::reset(busy));
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    #[must_use]
    pub fn that(mut self, predicate: impl Fn(&ConnectionView) -> bool + 'static) -> Connections {
        self.predicate = Some(Rc::new(predicate));
        self
    }

    /// Only those that the simulator's own condition holds for too.
    pub(super) fn and(self, more: impl Fn(&ConnectionView) -> bool + 'static) -> Connections {
        let before = self.predicate.clone();
        self.that(move |view| more(view) && before.as_ref().is_none_or(|before| before(view)))
    }

    pub(super) fn has(&self, connection: &ConnectionView) -> bool {
        let [dialer, acceptor] = connection.hosts;
        self.from.as_ref().is_none_or(|hosts| hosts.has(dialer))
            && self.to.as_ref().is_none_or(|hosts| connection.has_host && hosts.has(acceptor))
            && self.port.is_none_or(|port| port == connection.addresses[1].port())
            && self.one.is_none_or(|number| number == connection.wire.0)
            && self.predicate.as_ref().is_none_or(|predicate| ask(|| predicate(connection)))
    }

    /// The hosts that dialed and those that were dialed, where it names them.
    pub(super) fn sides(&self) -> [Option<&Hosts>; 2] {
        [self.from.as_ref(), self.to.as_ref()]
    }

    pub(super) fn describe(&self, network: &Network) -> String {
        let names = |hosts: &Hosts| hosts.describe(network);
        let mut parts = Vec::new();
        parts.extend(self.one.map(|number| format!("connection {number}")));
        parts.extend(self.from.as_ref().map(|hosts| format!("from {}", names(hosts))));
        parts.extend(self.to.as_ref().map(|hosts| format!("to {}", names(hosts))));
        parts.extend(self.port.map(|port| format!("port {port}")));
        parts.extend(self.predicate.as_ref().map(|_| "that meet a predicate".to_owned()));
        if parts.is_empty() { "every connection".to_owned() } else { parts.join(" ") }
    }
}

impl fmt::Debug for Connections {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Connections { from, to, port, one, predicate } = self;
        let is_chosen = predicate.is_some();
        f.debug_struct("Connections")
            .field("from", from)
            .field("to", to)
            .field("port", port)
            .field("one", one)
            .field("has_predicate", &is_chosen)
            .finish()
    }
}

impl End {
    /// Both ends, the dialer first.
    pub(super) const BOTH: [End; 2] = [End::Dialer, End::Acceptor];

    /// This end alone.
    pub(super) fn alone(self) -> &'static [End] {
        match self {
            End::Dialer => &End::BOTH[..1],
            End::Acceptor => &End::BOTH[1..],
        }
    }

    /// The side of a connection, as the network numbers them.
    pub(super) fn side(self) -> u8 {
        match self {
            End::Dialer => 0,
            End::Acceptor => 1,
        }
    }
}
