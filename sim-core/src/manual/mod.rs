//! The manual: a guide in chapters, each of which may be read alone.
//!
//! It says how to do things and why they are so; what an item does is in the item's own docs. Its
//! code is compiled and run with the other tests.
//!
//! | to learn | read |
//! |---|---|
//! | how to go from nothing to a bug that is found, shrunk, pinned and fixed | [`first_test`] |
//! | what is exact, and what a program may do | [`determinism`], [`app_code`] |
//! | what decides a run, and how its failure becomes simple | [`input`], [`swarms`], [`shrinking`] |
//! | what may befall a program | [`network`], [`lives`] |
//! | what to ask of a program | [`oracles`], [`liveness`], [`marks`] |
//! | how to look at a run, and how to keep it | [`trace`], [`variables`], [`pins`] |
//! | how to search for long | [`fuzzing`], [`search`], [`nightly`] |
//! | what the calls of other simulators are here | [`porting`] |

pub mod app_code;
pub mod determinism;
pub mod first_test;
pub mod fuzzing;
pub mod input;
pub mod liveness;
pub mod lives;
pub mod marks;
pub mod network;
pub mod nightly;
pub mod oracles;
pub mod pins;
pub mod porting;
pub mod search;
pub mod shrinking;
pub mod swarms;
pub mod trace;
pub mod variables;

#[cfg(test)]
mod tests;
