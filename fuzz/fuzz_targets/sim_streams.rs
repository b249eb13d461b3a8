//! Streams of bytes under every fault, under libFuzzer: it must find nothing.
#![no_main]

sim_core::fuzz_target!(sim_tests::systems::streams::target);
