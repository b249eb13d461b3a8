//! A walk whose states only `observe` shows, under libFuzzer: it finds the way out.
#![no_main]

sim_core::fuzz_target!(sim_tests::systems::maze::target);
