//! The swarm: how to have runs where bugs are.
//!
//! Each run draws which of its dimensions are on and how far, so that some runs have much of one
//! thing and nothing of another. [`DECLARED`](crate::swarm::DECLARED) is the list of the harness;
//! a test adds [`Sim::dimension`](crate::Sim::dimension), and with
//! [`Sim::tune`](crate::Sim::tune) the settings that the program documents: small batches and short
//! leases meet more in a run than the defaults do.
//!
//! A bug that needs several dimensions at once is rare in the whole swarm. Where such a corner is
//! known, [`Sim::churn`](crate::Sim::churn) names it, and a part of the runs is in it. Keep that
//! part small: what is outside of every region is tested by the others. The planted broker, whose old
//! generations commit late, fails in 182 of 10,000 seeds by default and in 258 in a region of its own
//! (`cargo test --release -p sim-tests --test planted -- --nocapture`).
//!
//! Two dimensions may together be more than any system has. One byte at a time over links of 11 ms is a
//! reply of 125 bytes in 2.8 s: a client that gives up after two seconds and tries again never has
//! it, though it is right. So the smaller the buffers, the shorter the links: no stream is slower than
//! Linux makes it with its smallest buffers over the longest link, which is 11,520 bytes a second.
//!
//! The harness's own, in which a test may set, narrow or leave each:
//!
//! | dimension | what it is; how a test sets it, beside [`Sim::set_dimension`](crate::Sim::set_dimension) |
//! |---|---|
//! | `entropy` | the random bytes of nodes |
//! | `latency` | the longest one-way latency; [`Sim::set_latency`](crate::Sim::set_latency) |
//! | `send buffer` | of sockets; [`Sim::set_send_buffer`](crate::Sim::set_send_buffer) |
//! | `receive buffer` | of sockets; [`Sim::set_receive_buffer`](crate::Sim::set_receive_buffer) |
//! | `pieces` | in which segments arrive; [`Sim::set_pieces`](crate::Sim::set_pieces) |
//! | `replicas` | beyond the fewest; [`NodeSpec::replicas`](crate::node::NodeSpec::replicas) |
//! | `clients` | beyond the fewest; [`WorkloadSpec::clients`](crate::workload::WorkloadSpec::clients) |
//! | `operations` | at most; [`WorkloadSpec::operations`](crate::workload::WorkloadSpec::operations) |
//! | `in flight` | operations at once; [`WorkloadSpec::in_flight`](crate::workload::WorkloadSpec::in_flight) |
//! | `pause` | before an operation; [`WorkloadSpec::pause`](crate::workload::WorkloadSpec::pause) |
//! | `faults` | of the network, at most; [`FaultSpec::count`](crate::control::FaultSpec::count) |
//! | `lifecycle` | events at most; [`Lifecycle::count`](crate::lifecycle::Lifecycle::count) |
//! | `loss` | of datagrams; [`Sim::set_loss`](crate::Sim::set_loss) |
//! | `duplication` | of datagrams; [`Sim::set_duplication`](crate::Sim::set_duplication) |
//! | `reordering` | of datagrams; [`Sim::set_reordering`](crate::Sim::set_reordering) |
//! ```
//! use sim_core::Target;
//! use sim_core::run::{Input, run};
//! use sim_core::source::Ratio;
//! use std::time::Duration;
//!
//! let target = Target::new("batches", |sim| {
//!     sim.set_dimension("latency", 0); // It is not what this test is about.
//!     sim.churn("small batches", Ratio::new(1, 4), |region| region.narrow("batch", 1..=8));
//!     let batch = sim.tune("batch", 100, 1..=1_000);
//!     sim.note(&format!("batches of {batch}"));
//! });
//! // The empty input is calm: no region, and the default of each setting.
//! let calm = run(&target, &Input::Bytes(Vec::new()), Duration::from_secs(60));
//! assert_eq!(calm.plan.to_string(), "calm");
//! sim_core::sweep::test(&target, 0..100);
//! ```
