//! The shop under everything that may befall it and its rollouts, under libFuzzer: it must find
//! nothing.
#![no_main]

sim_core::fuzz_target!(sim_tests::systems::gateway::target);
