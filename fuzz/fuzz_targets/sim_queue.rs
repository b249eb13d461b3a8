//! The queue of jobs under everything that may befall it, under libFuzzer: it must find nothing.
#![no_main]

sim_core::fuzz_target!(sim_tests::systems::queue::target);
