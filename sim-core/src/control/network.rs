//! Controls of the ways between hosts and of connections, beside those of processes.

use super::{Action, Connections, Control, End, Hosts};
use hostsim::network::{Dials, Pace};
use std::time::Duration;

impl Control {
    /// Nothing passes between two sets of hosts, either way: bytes wait and are sent again with
    /// growing waits (RFC 6298, 5.5; rows F05, F06, F19), dials send their SYN again (F01), and
    /// who waits for too long is told `ETIMEDOUT` (F02, F11, F12).
    ///
    /// ```
    /// use sim_core::control::{Control, Units, Until};
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
    /// let client = sim.client("client", |_| async {
    ///     tokio::time::sleep(2.s()).await;
    ///     let start = tokio::time::Instant::now();
    ///     TcpStream::connect("server:7").await.expect("it heals");
    ///     assert!(start.elapsed() >= 1.s(), "a SYN was lost");
    /// });
    /// sim.at(1.s(), Control::partition(&client, &server).until(Until::After(2.s())));
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    pub fn partition(some: impl Into<Hosts>, others: impl Into<Hosts>) -> Control {
        Control::new(Action::Cut { from: some.into(), to: others.into(), is_both: true })
    }

    /// Nothing passes from some hosts to others; the way back is open (rows F08, F09).
    ///
    /// ```
    /// use sim_core::control::{Control, Units, Until};
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
    /// let client = sim.client("client", |_| async {
    ///     tokio::time::sleep(2.s()).await;
    ///     let start = tokio::time::Instant::now();
    ///     TcpStream::connect("server:7").await.expect("it heals");
    ///     assert!(start.elapsed() >= 1.s(), "the SYN arrived, and its answer was lost");
    /// });
    /// sim.at(1.s(), Control::one_way(&server, &client).until(Until::After(2.s())));
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    pub fn one_way(from: impl Into<Hosts>, to: impl Into<Hosts>) -> Control {
        Control::new(Action::Cut { from: from.into(), to: to.into(), is_both: false })
    }

    /// What an end of the connections sends waits, as where a firewall forgot one direction of a
    /// flow; a handshake is let through. Connections that are dialed later are held too. Facts as
    /// for a partition.
    ///
    /// ```
    /// use sim_core::control::{Connections, Control, End, Units, Until};
    /// use tokio::io::{AsyncReadExt, AsyncWriteExt};
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
    /// let held = Control::hold(End::Dialer, Connections::to(&server));
    /// sim.at(1.s(), held.until(Until::After(4.s())));
    /// sim.client("client", |_| async {
    ///     tokio::time::sleep(2.s()).await;
    ///     let start = tokio::time::Instant::now();
    ///     let mut stream = TcpStream::connect("server:7").await.unwrap();
    ///     stream.write_all(b"hello").await.unwrap();
    ///     stream.read_exact(&mut [0; 5]).await.expect("nothing is lost");
    ///     assert!(start.elapsed() >= 3.s(), "the request came late");
    /// });
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    pub fn hold(from: End, on: Connections) -> Control {
        Control::new(Action::Hold { on, from: from.alone(), after: 0 })
    }

    /// Replies wait: "the request was processed and the reply was lost" (rows F08, F09).
    ///
    /// ```
    /// use sim_core::control::{Connections, Control, Units, Until};
    /// use tokio::io::{AsyncReadExt, AsyncWriteExt};
    /// use tokio::net::TcpStream;
    /// # use sim_core::Sim;
    /// # fn build(sim: &mut Sim) {
    /// # sim.set_send_buffer(0);
    /// # let server = sim.node("server", |process| async move {
    /// #     let listener = process.host().listen((process.address(), 7)).await.unwrap();
    /// #     while let Ok((mut stream, _)) = listener.accept().await {
    /// #         tokio::task::spawn_local(async move {
    /// #             let (mut from, mut to) = stream.split();
    /// #             let _ = tokio::io::copy(&mut from, &mut to).await;
    /// #         });
    /// #     }
    /// # });
    /// let held = Control::hold_replies(Connections::to(&server));
    /// sim.at(1.s(), held.until(Until::After(4.s())));
    /// sim.client("client", |_| async {
    ///     tokio::time::sleep(2.s()).await;
    ///     let mut stream = TcpStream::connect("server:7").await.unwrap();
    ///     stream.write_all(b"hello").await.unwrap();
    ///     let reply = tokio::time::timeout(2.s(), stream.read_u8()).await;
    ///     assert!(reply.is_err(), "it may have been processed: the client cannot know");
    /// });
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    pub fn hold_replies(on: Connections) -> Control {
        Control::hold(End::Acceptor, on)
    }

    /// The connections are silent: they stand, and nothing passes either way (rows F05, F13).
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
    /// sim.at(1.s(), Control::silence(Connections::to(&server)));
    /// sim.client("client", |_| async {
    ///     let mut stream = TcpStream::connect("server:7").await.unwrap();
    ///     // A client without a timeout of its own would wait for ever.
    ///     let read = tokio::time::timeout(3_600.s(), stream.read_u8()).await;
    ///     assert!(read.is_err());
    /// });
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    pub fn silence(on: Connections) -> Control {
        Control::new(Action::Hold { on, from: &End::BOTH, after: 0 })
    }

    /// Lets so many bytes of a held direction arrive first, counted from the beginning of the
    /// control, or of the connection where that is later.
    ///
    /// ```
    /// use sim_core::control::{Connections, Control, Units, Until};
    /// use tokio::io::{AsyncReadExt, AsyncWriteExt};
    /// use tokio::net::TcpStream;
    /// # use sim_core::Sim;
    /// # fn build(sim: &mut Sim) {
    /// # sim.set_send_buffer(0);
    /// # let server = sim.node("server", |process| async move {
    /// #     let listener = process.host().listen((process.address(), 7)).await.unwrap();
    /// #     while let Ok((mut stream, _)) = listener.accept().await {
    /// #         tokio::task::spawn_local(async move {
    /// #             let (mut from, mut to) = stream.split();
    /// #             let _ = tokio::io::copy(&mut from, &mut to).await;
    /// #         });
    /// #     }
    /// # });
    /// let held = Control::hold_replies(Connections::to(&server)).after_bytes(2);
    /// sim.at(0.s(), held.until(Until::After(9.s())));
    /// sim.client("client", |_| async {
    ///     tokio::time::sleep(2.s()).await;
    ///     let mut stream = TcpStream::connect("server:7").await.unwrap();
    ///     stream.write_all(b"hello").await.unwrap();
    ///     let mut bytes = [0; 2];
    ///     tokio::time::timeout(3.s(), stream.read_exact(&mut bytes)).await.expect("in time").unwrap();
    ///     let rest = tokio::time::timeout(2.s(), stream.read_u8()).await;
    ///     assert!(rest.is_err(), "the reply ends in its middle");
    /// });
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    #[must_use]
    pub fn after_bytes(mut self, bytes: u64) -> Control {
        if let Action::Hold { after, .. } = &mut self.action {
            *after = bytes;
        }
        self
    }

    /// Resets both ends of the connections that stand then, as a box on the way that lost its
    /// table (RFC 9293, 3.10.7.4; rows B16, B18).
    ///
    /// ```
    /// use sim_core::control::{Connections, Control, Units};
    /// use std::io::ErrorKind;
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
    /// sim.at(5.s(), Control::reset(Connections::to(&server)));
    /// sim.client("client", |_| async {
    ///     let mut stream = TcpStream::connect("server:7").await.unwrap();
    ///     let error = stream.read_u8().await.unwrap_err();
    ///     assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    /// });
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    pub fn reset(on: Connections) -> Control {
        Control::new(Action::Reset { on, ends: &End::BOTH })
    }

    /// Resets one end; the other learns of it when it sends (row F18).
    ///
    /// ```
    /// use sim_core::control::{Connections, Control, End, Units};
    /// use tokio::io::{AsyncReadExt, AsyncWriteExt};
    /// use tokio::net::TcpStream;
    /// # use sim_core::Sim;
    /// # fn build(sim: &mut Sim) {
    /// # sim.set_send_buffer(0);
    /// # let server = sim.node("server", |process| async move {
    /// #     let listener = process.host().listen((process.address(), 7)).await.unwrap();
    /// #     while let Ok((mut stream, _)) = listener.accept().await {
    /// #         tokio::task::spawn_local(async move {
    /// #             let (mut from, mut to) = stream.split();
    /// #             let _ = tokio::io::copy(&mut from, &mut to).await;
    /// #         });
    /// #     }
    /// # });
    /// sim.at(5.s(), Control::reset_end(End::Acceptor, Connections::to(&server)));
    /// sim.client("client", |_| async {
    ///     let mut stream = TcpStream::connect("server:7").await.unwrap();
    ///     tokio::time::sleep(9.s()).await;
    ///     stream.write_all(b"hello").await.expect("nothing told it");
    ///     stream.read_u8().await.expect_err("the server knows nothing of the connection");
    /// });
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    pub fn reset_end(end: End, on: Connections) -> Control {
        Control::new(Action::Reset { on, ends: end.alone() })
    }

    /// Dials to the hosts are refused, as by a firewall that rejects (row A01).
    ///
    /// ```
    /// use sim_core::control::{Control, Units};
    /// use std::io::ErrorKind;
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
    /// sim.at(1.s(), Control::refuse(&server));
    /// sim.client("client", |_| async {
    ///     tokio::time::sleep(2.s()).await;
    ///     let error = TcpStream::connect("server:7").await.unwrap_err();
    ///     assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
    /// });
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    pub fn refuse(to: impl Into<Hosts>) -> Control {
        Control::new(Action::Dials { to: to.into(), dials: Dials::Refused })
    }

    /// Dials to the hosts vanish: each SYN is sent again after 1, 3, 7, … seconds (rows F01, F02).
    ///
    /// ```
    /// use sim_core::control::{Control, Units};
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
    /// sim.at(1.s(), Control::black_hole(&server));
    /// sim.client("client", |_| async {
    ///     tokio::time::sleep(2.s()).await;
    ///     let dial = tokio::time::timeout(60.s(), TcpStream::connect("server:7")).await;
    ///     assert!(dial.is_err(), "nobody answers");
    /// });
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    pub fn black_hole(to: impl Into<Hosts>) -> Control {
        Control::new(Action::Dials { to: to.into(), dials: Dials::Dropped })
    }

    /// Programs of the hosts are late to accept: dials succeed until the backlog is full (rows A06,
    /// A08, A09).
    ///
    /// ```
    /// use sim_core::control::{Control, Units};
    /// use tokio::io::{AsyncReadExt, AsyncWriteExt};
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
    /// sim.at(1.s(), Control::stop_accepting(&server));
    /// sim.client("client", |_| async {
    ///     tokio::time::sleep(2.s()).await;
    ///     let mut stream = TcpStream::connect("server:7").await.expect("the kernel lets it in");
    ///     stream.write_all(b"hello").await.unwrap();
    ///     let reply = tokio::time::timeout(60.s(), stream.read_u8()).await;
    ///     assert!(reply.is_err(), "the program does not");
    /// });
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    pub fn stop_accepting(on: impl Into<Hosts>) -> Control {
        Control::new(Action::StopAccepting { on: on.into() })
    }

    /// What an end of the connections sends arrives at so many bytes each so often, as where its
    /// peer is slow to read (rows D05, D13).
    ///
    /// ```
    /// use sim_core::control::{Connections, Control, End, Units};
    /// use tokio::io::{AsyncReadExt, AsyncWriteExt};
    /// use tokio::net::TcpStream;
    /// # use sim_core::Sim;
    /// # fn build(sim: &mut Sim) {
    /// # sim.set_send_buffer(0);
    /// # let server = sim.node("server", |process| async move {
    /// #     let listener = process.host().listen((process.address(), 7)).await.unwrap();
    /// #     while let Ok((mut stream, _)) = listener.accept().await {
    /// #         tokio::task::spawn_local(async move {
    /// #             let (mut from, mut to) = stream.split();
    /// #             let _ = tokio::io::copy(&mut from, &mut to).await;
    /// #         });
    /// #     }
    /// # });
    /// sim.at(0.s(), Control::throttle(End::Acceptor, Connections::to(&server), 1, 1.s()));
    /// sim.client("client", |_| async {
    ///     tokio::time::sleep(1.s()).await;
    ///     let mut stream = TcpStream::connect("server:7").await.unwrap();
    ///     let start = tokio::time::Instant::now();
    ///     stream.write_all(b"hello").await.unwrap();
    ///     stream.read_exact(&mut [0; 5]).await.unwrap();
    ///     assert!(start.elapsed() >= 4.s(), "a byte each second");
    /// });
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    pub fn throttle(from: End, on: Connections, bytes: u32, every: Duration) -> Control {
        Control::new(Action::Pace { on, from, pace: Pace { bytes, every } })
    }

    /// Segments take so long from some hosts to others.
    ///
    /// ```
    /// use sim_core::control::{Control, Units};
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
    /// let client = sim.client("client", |_| async {
    ///     tokio::time::sleep(2.s()).await;
    ///     let start = tokio::time::Instant::now();
    ///     TcpStream::connect("server:7").await.unwrap();
    ///     assert!(start.elapsed() >= 300.ms());
    /// });
    /// sim.at(1.s(), Control::latency(&client, &server, 300.ms()));
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    pub fn latency(from: impl Into<Hosts>, to: impl Into<Hosts>, latency: Duration) -> Control {
        Control::new(Action::Latency { from: from.into(), to: to.into(), latency })
    }
}
