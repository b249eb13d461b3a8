//! Porting: what the calls of turmoil and madsim are here.
//!
//! Of turmoil 0.7.2 and madsim 0.2.34, as their sources have them. What changes with all of it:
//!
//! - The program is built as for production: `tokio::net` and its libraries, no other names for
//!   them, no patched dependencies. Of its build only `--cfg tokio_unstable` is asked.
//! - A test describes a run and is given inputs; it does not drive. Where theirs step a simulation
//!   or sleep in a test, here a [`Control`] has its moment, or an operator is a client.
//! - What was a rate is drawn once a run by the [swarm](super::swarms), or set by the test.
//! - A failing run is a file that is shrunk and pinned, not a seed.
//!
//! ```
//! use sim_core::control::{Control, Units, Until};
//! use sim_core::lifecycle::Crash;
//! use sim_core::{Sim, Target};
//! use tokio::net::{TcpListener, TcpStream};
//!
//! fn build(sim: &mut Sim) {
//!     // turmoil: sim.host("server", || async { … }); madsim: create_node().name("server").init(…)
//!     let server = sim.node("server", |_| async {
//!         let listener = TcpListener::bind("0.0.0.0:7").await?;
//!         loop {
//!             drop(listener.accept().await?);
//!         }
//! #       #[expect(unreachable_code, reason = "it says what the program returns")]
//! #       std::io::Result::Ok(())
//!     });
//!     // turmoil: sim.client("client", async { … }); madsim: the body of #[madsim::test]
//!     let client = sim.client("client", |_| async {
//!         while TcpStream::connect("server:7").await.is_err() {
//!             tokio::time::sleep(1.s()).await;
//!         }
//!     });
//!     // turmoil: partition, then repair; madsim: clog_link twice, then unclog_link twice
//!     sim.at(0.s(), Control::partition(&client, &server).until(Until::After(5.s())));
//!     // turmoil: crash, then bounce; madsim: kill, then restart
//!     sim.at(1.s(), Control::crash(&server, Crash::Kill).until(Until::After(2.s())));
//! }
//!
//! // turmoil: Builder::new().rng_seed(7).build(), then run; madsim: MADSIM_TEST_NUM=100
//! sim_core::sweep::test(&Target::new("ported", build), 0..100);
//! ```
//!
//! # turmoil
//! | turmoil 0.7.2 | here |
//! |---|---|
//! | `turmoil::net::{TcpListener, TcpStream, UdpSocket}` | those of `tokio::net` |
//! | `Builder::build`, `Sim::run`, `Sim::step` | [`Target::new`] and [`sweep::test`]; one run is [`run`](crate::run::run()) |
//! | `Builder::rng_seed` | `SIM_SEEDS`, or [`Input::Seed`] |
//! | `Builder::simulation_duration` | [`Limits::time_max`]; to reach it is inconclusive |
//! | `Builder::tick_duration` | nothing: time goes from event to event |
//! | `Builder::epoch` | nothing: the wall clock begins at [`EPOCH`]; [`Control::skew`] puts a machine's off |
//! | `Builder::enable_random_order` | always: which of the events that are due comes first is drawn |
//! | `Builder::enable_tokio_io` | always |
//! | `Builder::ip_version` | a host has an address of each |
//! | `Builder::{min_message_latency, max_message_latency}`, `Sim::{set_max_message_latency, set_message_latency_curve}` | drawn by the swarm, or [`Sim::set_latency`] |
//! | `Sim::{set_link_latency, set_link_max_message_latency}` | [`Control::latency`] |
//! | `Builder::{fail_rate, repair_rate}`, `Sim::{set_fail_rate, set_link_fail_rate}` | of datagrams [`Sim::set_loss`]; a stream loses nothing, so what breaks it is [`Sim::faults`] |
//! | `Builder::tcp_capacity` | [`Sim::set_send_buffer`], [`Sim::set_receive_buffer`], in bytes |
//! | `Builder::udp_capacity` | the program's `SO_RCVBUF`, as on Linux |
//! | `Builder::ephemeral_ports` | nothing: Linux's own range |
//! | `Sim::host` | [`Sim::node`]; replicas are one node |
//! | `Sim::client` | [`Sim::client`] |
//! | `Sim::crash` | [`Control::crash`], by [`Crash`], which says whether peers learn of it |
//! | `Sim::bounce` | [`Control::restart`]; after a crash the end of its control |
//! | `Sim::is_host_running` | [`Node::is_up`] |
//! | `partition`, `repair` | [`Control::partition`] and its [`Until`]; TCP sends again what was lost |
//! | `partition_oneway`, `repair_oneway` | [`Control::one_way`] |
//! | `hold`, `release` | [`Control::silence`] and [`Handle::release`], of connections |
//! | `Sim::links`, `SentRef::deliver` | nothing: the order is drawn; a driver of one's own is built on [`hostsim::network`] |
//! | `lookup`, `lookup_many` | `tokio::net::lookup_host`, [`Node::addresses`] |
//! | `reverse_lookup` | nothing |
//! | `elapsed`, `sim_elapsed`, `since_epoch` | the clocks of tokio and std; in a predicate [`Look::now`] |
//! | `in_simulation` | nothing: a program cannot tell |
//! | `established_tcp_stream_count` | `look.network.connections()` in a predicate ([`Look`]) |
//! | `barriers::trigger`, `Barrier::wait` | to see: [`reached!`](crate::reached); to act then: [`Until::when`], [`Controls::apply`] |
//! | `fs` (unstable) | real files of the host's own ([`Process::dir`]), kept over a crash; no simulated disk |
//!
//! # madsim
//! | madsim 0.2.34 | here |
//! |---|---|
//! | `--cfg madsim`, `madsim-tokio`, `madsim-tonic` and other stand-ins | tokio, tonic and the others as they are |
//! | `madsim-etcd-client`, `madsim-rdkafka`, `madsim-aws-sdk-s3` | nothing: what answers the stock client is a node of the test's |
//! | `#[madsim::test]`, `Runtime::block_on` | a test of std that calls [`sweep::test`] |
//! | `MADSIM_TEST_SEED`, `MADSIM_TEST_NUM` | `SIM_SEEDS=7`, `SIM_SEEDS=0..100` |
//! | `MADSIM_TEST_JOBS` | nothing: tests run side by side as cargo has them |
//! | `MADSIM_TEST_TIME_LIMIT`, `Runtime::set_time_limit` | [`Limits::time_max`] |
//! | `MADSIM_TEST_CONFIG`, `Runtime::with_seed_and_config` | [`Sim::set_dimension`] and what begins with `set_` |
//! | `MADSIM_TEST_CHECK_DETERMINISM`, `Runtime::check_determinism` | always, of failing runs and of some that pass |
//! | `MADSIM_ALLOW_SYSTEM_THREAD`, `Runtime::set_allow_system_thread` | nothing: threads are simulated |
//! | `Runtime::create_node`, `NodeBuilder::{name, init, build}` | [`Sim::node`] |
//! | `NodeBuilder::ip` | nothing: addresses are given, names are dialed |
//! | `NodeBuilder::cores` | nothing: a node has one thread |
//! | `NodeBuilder::{restart_on_panic, restart_on_panic_matching}` | [`NodeSpec::allow_panics`]; to start it again is [`Control::start`] |
//! | `NodeHandle::spawn` | `tokio::spawn` in the node's program |
//! | `Handle::current` | [`Sim::controls`] |
//! | `Handle::{kill, restart}` | [`Control::crash`], [`Control::restart`] |
//! | `Handle::{pause, resume}` | [`Control::pause`] and its [`Until`] |
//! | `Handle::send_ctrl_c`, `signal::ctrl_c` | [`Control::signal`] with `Signal::Interrupt`, [`Process::signals`] |
//! | `Handle::is_exit` | [`Node::is_up`], [`Node::exits`] |
//! | `Handle::metrics` | tasks that stayed are a failure where [`NodeSpec::drains`] is said |
//! | `NetSim::{clog_node, unclog_node}`, and `_in`, `_out` | [`Control::partition`], [`Control::one_way`] between the node and all others |
//! | `NetSim::{clog_link, unclog_link}` | [`Control::one_way`] |
//! | `NetSim::reset_node` | [`Control::reset`] |
//! | `NetSim::update_config`: `packet_loss_rate`, `send_latency` | [`Sim::set_loss`] of datagrams, [`Sim::set_latency`] |
//! | `NetSim::add_dns_record` | names of nodes, [`Sim::route`] |
//! | `NetSim::global_ipvs` | [`Sim::route`] |
//! | `NetSim::{hook_rpc_req, hook_rpc_rsp}` | [`Control::hold`], [`Control::hold_replies`], of bytes |
//! | `net::Endpoint`, `net::rpc` | nothing: protocols are real ones |
//! | `rand::thread_rng`, `rand::random` | the `rand` crate, seeded by the run; of a test's own [`Sim::rand`] |
//! | `buggify::{buggify, buggify_with_prob}` | [`Sim::dimension`] or [`Sim::tune`], handed to the program as a setting |
//! | `time::{sleep, timeout, advance}` | `tokio::time`; nothing advances time by hand |
//! | `fs::File`, `FsSim::power_fail` | real files ([`Process::dir`]); no simulated disk |
//! | `plugin::Simulator` | nothing |
//!
//! [`Control`]: crate::control::Control
//! [`Control::crash`]: crate::control::Control::crash
//! [`Control::hold`]: crate::control::Control::hold
//! [`Control::hold_replies`]: crate::control::Control::hold_replies
//! [`Control::latency`]: crate::control::Control::latency
//! [`Control::one_way`]: crate::control::Control::one_way
//! [`Control::partition`]: crate::control::Control::partition
//! [`Control::pause`]: crate::control::Control::pause
//! [`Control::reset`]: crate::control::Control::reset
//! [`Control::restart`]: crate::control::Control::restart
//! [`Control::signal`]: crate::control::Control::signal
//! [`Control::silence`]: crate::control::Control::silence
//! [`Control::skew`]: crate::control::Control::skew
//! [`Control::start`]: crate::control::Control::start
//! [`Controls::apply`]: crate::control::Controls::apply
//! [`Crash`]: crate::lifecycle::Crash
//! [`EPOCH`]: hostsim::clock::EPOCH
//! [`Handle::release`]: crate::control::Handle::release
//! [`Input::Seed`]: crate::run::Input::Seed
//! [`Limits::time_max`]: crate::driver::Limits::time_max
//! [`Look`]: crate::control::Look
//! [`Look::now`]: crate::control::Look::now
//! [`Node::addresses`]: crate::node::Node::addresses
//! [`Node::exits`]: crate::node::Node::exits
//! [`Node::is_up`]: crate::node::Node::is_up
//! [`NodeSpec::allow_panics`]: crate::node::NodeSpec::allow_panics
//! [`NodeSpec::drains`]: crate::node::NodeSpec::drains
//! [`Process::dir`]: crate::Process::dir
//! [`Process::signals`]: crate::Process::signals
//! [`Sim::client`]: crate::Sim::client
//! [`Sim::controls`]: crate::Sim::controls
//! [`Sim::dimension`]: crate::Sim::dimension
//! [`Sim::faults`]: crate::Sim::faults
//! [`Sim::node`]: crate::Sim::node
//! [`Sim::rand`]: crate::Sim::rand
//! [`Sim::route`]: crate::Sim::route
//! [`Sim::set_dimension`]: crate::Sim::set_dimension
//! [`Sim::set_latency`]: crate::Sim::set_latency
//! [`Sim::set_loss`]: crate::Sim::set_loss
//! [`Sim::set_receive_buffer`]: crate::Sim::set_receive_buffer
//! [`Sim::set_send_buffer`]: crate::Sim::set_send_buffer
//! [`Sim::tune`]: crate::Sim::tune
//! [`Target::new`]: crate::Target::new
//! [`Until`]: crate::control::Until
//! [`Until::when`]: crate::control::Until::when
//! [`sweep::test`]: crate::sweep::test
