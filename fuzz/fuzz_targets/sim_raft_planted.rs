//! Registers on openraft with a planted bug under libFuzzer: it must find it.
#![no_main]

sim_core::fuzz_target!(sim_tests::systems::raft_planted::target);
