//! The echo system under libFuzzer: it must find nothing.
#![no_main]

sim_core::fuzz_target!(sim_tests::systems::echo::target);
