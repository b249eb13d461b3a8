//! Registers on openraft under everything that may befall them, under libFuzzer: it must find
//! nothing.
#![no_main]

sim_core::fuzz_target!(sim_tests::systems::raft::target);
