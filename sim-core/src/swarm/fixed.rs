//! What a test fixes of the network, in place of what the swarm drew.
//!
//! The swarm draws all the same, so that nothing else moves.

use crate::datagram;
use crate::sim::Sim;
use crate::source::Ratio;

impl Sim {
    /// Overrides the latency of every link between hosts that are added from now on, in place of
    /// what the swarm drew.
    ///
    /// ```
    /// use sim_core::Sim;
    /// use sim_core::source::Ratio;
    /// use std::time::Duration;
    ///
    /// fn build(sim: &mut Sim) {
    ///     // The swarm draws all of this, where a test does not call these.
    ///     sim.set_latency(Duration::from_millis(5));
    ///     sim.set_send_buffer(16_384);
    ///     sim.set_receive_buffer(16_384);
    ///     sim.set_pieces(0);
    ///     sim.set_loss(Ratio::new(1, 100));
    ///     sim.set_duplication(Ratio::NEVER);
    ///     sim.set_reordering(Ratio::new(5, 256));
    ///     sim.node("server", |_| async {});
    /// }
    /// # sim_core::sweep::test(&sim_core::Target::new("network", build), 0..4);
    /// ```
    pub fn set_latency(&mut self, latency: std::time::Duration) {
        self.shape.fixed_latency = Some(latency);
    }

    /// Overrides the send buffer of the sockets of hosts that are added from now on, in bytes, in
    /// place of what the swarm drew; zero is the default.
    ///
    /// ```
    /// # use sim_core::Sim;
    /// # fn build(sim: &mut Sim) {
    /// // Whatever the swarm drew: writes of one byte are partial all the same.
    /// sim.set_send_buffer(1);
    /// sim.node("server", |_| async {});
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    pub fn set_send_buffer(&mut self, bytes: usize) {
        self.shape.send_buffer = bytes;
    }

    /// Overrides the receive buffer of the sockets of hosts that are added from now on, in bytes, in
    /// place of what the swarm drew; zero is the default.
    ///
    /// ```
    /// # use sim_core::Sim;
    /// # fn build(sim: &mut Sim) {
    /// sim.set_receive_buffer(4_096);
    /// sim.node("server", |_| async {});
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    pub fn set_receive_buffer(&mut self, bytes: usize) {
        self.shape.receive_buffer = bytes;
    }

    /// Overrides the longest piece in which segments arrive, in bytes, in place of what the swarm
    /// drew; zero leaves them whole. Below [`PIECE_MIN`](super::PIECE_MIN) pieces are of any length
    /// up to it.
    ///
    /// ```
    /// use tokio::io::AsyncReadExt;
    /// use tokio::net::{TcpListener, TcpStream};
    /// # use sim_core::Sim;
    /// # fn build(sim: &mut Sim) {
    /// sim.set_pieces(0); // Segments arrive whole, so a read is of what was written at once.
    /// # sim.set_send_buffer(0);
    /// # sim.set_receive_buffer(0);
    /// sim.node("server", |process| async move {
    ///     let listener = TcpListener::bind((process.address(), 7)).await.unwrap();
    ///     let (stream, _) = listener.accept().await.unwrap();
    ///     assert_eq!(stream.try_write(&[7; 100]).unwrap(), 100);
    ///     drop(stream);
    /// });
    /// sim.client("client", |_| async {
    ///     tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    ///     let mut stream = TcpStream::connect("server:7").await.unwrap();
    ///     assert_eq!(stream.read(&mut [0; 200]).await.unwrap(), 100);
    /// });
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    pub fn set_pieces(&mut self, bytes: u32) {
        self.shape.piece = bytes;
    }

    /// Overrides the odds that a datagram between hosts is lost, in place of what the swarm drew.
    ///
    /// # Panics
    /// Where the denominator is past 256, here and below.
    ///
    /// ```
    /// use sim_core::source::Ratio;
    /// use tokio::net::UdpSocket;
    /// use tokio::time::{Duration, timeout};
    /// # use sim_core::Sim;
    /// # fn build(sim: &mut Sim) {
    /// sim.set_loss(Ratio::new(1, 1));
    /// sim.node("server", |_| std::future::pending::<()>());
    /// sim.client("client", |_| async {
    ///     let socket = UdpSocket::bind("0.0.0.0:0").await.unwrap();
    ///     socket.connect("server:7").await.unwrap();
    ///     socket.send(b"hello").await.unwrap();
    ///     // Nobody has the port, and nobody says so.
    ///     timeout(Duration::from_secs(9), socket.recv(&mut [0; 8])).await.unwrap_err();
    /// });
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    #[track_caller]
    pub fn set_loss(&mut self, odds: Ratio) {
        self.ordered.loss = Some(datagram::check(odds));
    }

    /// Overrides the odds that a datagram between hosts arrives twice.
    ///
    /// ```
    /// use sim_core::source::Ratio;
    /// # use sim_core::Sim;
    /// # fn build(sim: &mut Sim) {
    /// // For a protocol that is promised datagrams once.
    /// sim.set_duplication(Ratio::NEVER);
    /// sim.node("server", |_| async {});
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    #[track_caller]
    pub fn set_duplication(&mut self, odds: Ratio) {
        self.ordered.duplication = Some(datagram::check(odds));
    }

    /// Overrides the odds that a datagram between hosts is late, so that others overtake it.
    ///
    /// ```
    /// use sim_core::source::Ratio;
    /// # use sim_core::Sim;
    /// # fn build(sim: &mut Sim) {
    /// sim.set_reordering(Ratio::new(1, 4));
    /// sim.node("server", |_| async {});
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    #[track_caller]
    pub fn set_reordering(&mut self, odds: Ratio) {
        self.ordered.reordering = Some(datagram::check(odds));
    }
}
