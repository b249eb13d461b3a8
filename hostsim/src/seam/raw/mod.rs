//! Calls of libc with arguments that no wrapper allows, for who tests a kernel: null, lengths of
//! nothing, descriptors of nobody.
//!
//! Safe code makes them. A pointer is a [`Piece`] of a [`Memory`], or null, which is `None`; a
//! number is never one. A piece ends where forbidden pages begin, as many as a length can count, so
//! that a call which goes too far ends the process and touches nothing of anybody's; what lies
//! before a piece is looked at by [`Memory::check`]. Structures that hold pointers are laid out
//! here, from typed values, in memory that no piece is of.
//!
//! For the simulated kernel and for the real one: each call is what a program makes that is linked
//! to libc. Only with the feature `raw`, for the tests of other crates.
//!
//! # Refused
//! A call panics before it is made where the real kernel would write to memory that the call does
//! not name, or act on what is not the caller's:
//! - a descriptor of the real kernel that no call of this module opened, on this thread;
//! - commands of `fcntl(2)` and requests of `ioctl(2)` that are not listed, some of which follow
//!   pointers, and the option `TCP_ZEROCOPY_RECEIVE`, which does;
//! - two pieces of one use in one call, and parts of a buffer that overlap;
//! - a place for a number that has no room for it or is not aligned.

#[macro_use]
mod outcome;
mod descriptor;
mod epoll;
mod message;
mod name;
mod own;
mod pages;
mod socket;
mod stream;
#[cfg(test)]
mod tests;

pub use descriptor::{close, dup, fcntl, ioctl, unread};
pub use epoll::{
    EVENT_LEN, epoll_create1, epoll_ctl, epoll_wait, event, eventfd, poll, read_event,
};
#[cfg(test)]
pub(in crate::seam) use message::NO_MESSAGE;
pub use message::{Message, Part, Parts, Told, readv, recvmsg, sendmsg, writev};
#[cfg(test)]
pub(in crate::seam) use name::NO_HINTS;
pub use name::{Hints, getaddrinfo, gethostname, getnameinfo, getrandom};
pub use outcome::{Outcome, name_of};
pub use pages::{Memory, Piece, Use};
pub use socket::{
    accept, accept4, bind, connect, getpeername, getsockname, getsockopt, listen, setsockopt,
    shutdown, socket, socketpair,
};
pub use stream::{read, recv, recvfrom, send, sendto, write};
