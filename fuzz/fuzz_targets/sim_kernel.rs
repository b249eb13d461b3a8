//! Random calls on the simulated kernel under libFuzzer: it must find nothing.
#![no_main]

use sim_tests::kernel_fuzz::fuzz;

libfuzzer_sys::fuzz_target!(init: fuzz::init(), |bytes: &[u8]| fuzz::one(bytes));
