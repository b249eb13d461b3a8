//! Systems under test, and what every test shares.
pub mod conformance;
pub mod cores;
pub mod kernel_fuzz;
pub mod nightly;
pub mod remember;
pub mod search;
pub mod shrink_cases;
pub mod systems;
