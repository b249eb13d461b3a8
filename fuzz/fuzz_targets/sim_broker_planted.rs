//! The broker and its group with a planted bug under libFuzzer: it must find it.
#![no_main]

sim_core::fuzz_target!(sim_tests::systems::broker_planted::target);
