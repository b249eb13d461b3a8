//! The network: how segments become events, what befalls them, and what a program sees of it.
//!
//! Every decision about the network is one of four:
//!
//! | what | drawn by | ordered by |
//! |---|---|---|
//! | latency, small buffers, pieces | the swarm, once a run | [`Sim::set_latency`], [`Sim::set_send_buffer`], [`Sim::set_receive_buffer`], [`Sim::set_pieces`] |
//! | loss, duplication and reordering of datagrams | the swarm's odds, then each datagram | [`Sim::set_loss`], [`Sim::set_duplication`], [`Sim::set_reordering`] |
//! | faults: partitions, holds, resets, refused dials, … | [`Sim::faults`] within a [`FaultSpec`] | a [`Control`] at a moment ([`Sim::at`]), or from inside the run ([`Controls::apply`]) |
//! | which of the events that are due comes first | the driver | nobody |
//!
//! A test that is about one situation orders it, and leaves the rest calm:
//! ```
//! use sim_core::control::{Connections, Control, Units, Until};
//! use sim_core::{Sim, Target};
//! use std::io::ErrorKind;
//! use tokio::io::AsyncReadExt;
//! use tokio::net::{TcpListener, TcpStream};
//!
//! fn build(sim: &mut Sim) {
//!     let server = sim.node("server", |_| async {
//!         let listener = TcpListener::bind("0.0.0.0:7").await.unwrap();
//!         let mut held = Vec::new();
//!         while let Ok((stream, _)) = listener.accept().await {
//!             held.push(stream);
//!         }
//!     });
//!     sim.at(1.s(), Control::reset(Connections::to(&server).port(7)));
//!     sim.at(2.s(), Control::refuse(&server).until(Until::After(1.s())));
//!     sim.client("client", |_| async {
//!         let mut stream = TcpStream::connect("server:7").await.unwrap();
//!         let reset = stream.read_u8().await.unwrap_err();
//!         assert_eq!(reset.kind(), ErrorKind::ConnectionReset);
//!         tokio::time::sleep(1_500.ms()).await;
//!         let refused = TcpStream::connect("server:7").await.unwrap_err();
//!         assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
//!     });
//! }
//!
//! sim_core::sweep::test(&Target::new("resets", build), 0..10);
//! ```
//! Errors carry their number, as those of the kernel do.
//!
//! # Segments
//! A segment that carries bytes, a SYN, a FIN or a RST is an event: it waits on its link until the
//! driver delivers it. One that only acknowledges is an event where its arrival could be seen: the
//! sender waits for room or has bytes that the window holds back, or a handshake needs it. Else it
//! is quiet: it takes effect with the next call or segment that could tell the difference. So an
//! exchange of request and reply is two events, not four, and a program cannot tell.
//!
//! Bytes stay in the sender's queue until they are acknowledged; a segment is an offset and a
//! length. Within one host delivery is part of the call, as on Linux's loopback, where the answer
//! to a segment arrives before `send` returns.
//!
//! # Silence
//! A way between hosts that is cut loses segments, as a real one does, and TCP sends them again. The
//! simulator does not make each retransmission an event: what is lost waits in its queue, and when
//! the way is open it is due with the first retransmission that finds it so: 0.2, 0.4, 0.8, … s
//! after it was lost, never more than two minutes apart (RFC 6298 and the tail probe of RFC 8985; rows
//! F19, F20). SYNs are events, since each may meet a listener or none (1, 3, 7, … s; row F01).
//!
//! Who waits for too long gives up with `ETIMEDOUT`, by a kernel timer in virtual time: a dial after
//! 127 s, unacknowledged bytes after 924.6 s or `TCP_USER_TIMEOUT`, an idle end with keepalive after
//! its probes, an end that its program closed after 102 s. A RST is sent once: where it is lost the
//! peer stays half-open until it says something. So a run that ends in a deadlock after a reset of
//! one end is no fault of the simulator: a program that only reads, without keepalive or a timeout
//! of its own, waits for ever on Linux too.
//!
//! None of these timers runs between ends that hear each other, so idle connections cost nothing.
//!
//! Bytes within a stream are never lost for good while both ends live, never repeated, reordered or
//! changed: that is TCP's promise, and a simulator that broke it would find bugs that are none.
//!
//! # Datagrams
//! UDP promises little, and a run may take all of it: the swarm draws odds for loss, duplication and
//! reordering (see [`crate::datagram`]), each calm at zero. Where all are zero, a way between hosts
//! loses nothing and keeps its order; within a host it always does, and takes no time. A socket that
//! is full drops what comes, as on Linux: the default holds 256 short datagrams.
//!
//! A datagram is an event when its way ends, and the history has it, also where it was lost, met a
//! full socket, or nobody. One that met nobody is answered (ICMP), and a connected socket is told
//! `ECONNREFUSED` after the way back.
//!
//! Partitions and latencies are of ways, and so of datagrams too. What a partition meets is lost for
//! good: UDP sends nothing again. Holds, resets, throttles, refused dials and late accepts are about
//! connections, and the small buffers of the swarm are those of streams; datagrams know none of them.
//!
//! [`Control`]: crate::control::Control
//! [`Controls::apply`]: crate::control::Controls::apply
//! [`FaultSpec`]: crate::control::FaultSpec
//! [`Sim::at`]: crate::Sim::at
//! [`Sim::faults`]: crate::Sim::faults
//! [`Sim::set_duplication`]: crate::Sim::set_duplication
//! [`Sim::set_latency`]: crate::Sim::set_latency
//! [`Sim::set_loss`]: crate::Sim::set_loss
//! [`Sim::set_pieces`]: crate::Sim::set_pieces
//! [`Sim::set_receive_buffer`]: crate::Sim::set_receive_buffer
//! [`Sim::set_reordering`]: crate::Sim::set_reordering
//! [`Sim::set_send_buffer`]: crate::Sim::set_send_buffer
