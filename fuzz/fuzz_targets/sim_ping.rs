//! Requests over UDP under loss, duplication and reordering, under libFuzzer: it must find nothing.
#![no_main]

sim_core::fuzz_target!(sim_tests::systems::ping::target);
