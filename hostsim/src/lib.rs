//! Simulated hosts for programs written with stock tokio.
//!
//! A program's calls into libc are answered by a simulated kernel: many hosts in one thread, each
//! with descriptors, sockets, a clock and random bytes of its own, and between them links that hold
//! every segment until someone delivers it. Nothing here decides or draws; the harness that does is
//! another crate. [`fleet`] is the shortest way to use it by hand; [`network`] shows how to write a
//! driver of one's own.
//!
//! From the bottom: [`tcp`] is one end of a connection, [`kernel`] a host's descriptors, [`network`]
//! the hosts and what is under way, [`world`] whose turn it is, [`machine`] a tokio runtime, [`seam`]
//! the symbols of libc. Who is above knows who is below, never the other way.

pub mod address;
pub mod agenda;
pub mod clock;
pub mod errno;
pub mod fleet;
pub mod kernel;
pub mod machine;
pub mod network;
pub mod place;
pub mod seam;
pub mod tasks;
pub mod tcp;
pub mod waits;
pub mod world;
