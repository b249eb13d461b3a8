//! The simulated kernel under random calls, as programs make them: through the symbols of libc.
//!
//! An input is a list of calls. [`free::run`] makes them on two simulated hosts, with random events
//! between them, and checks what must hold whatever the calls are; [`compared::run`] makes those
//! that have one possible result on the real kernel and on the simulated one, which must agree.
//! Both take every call from the one table in `call`; what is said of a call is text that means
//! the same on both kernels.

mod address;
mod args;
mod call;
pub mod compared;
mod flow;
pub mod free;
pub mod fuzz;
pub mod replay;
mod rig;

/// The name of the fuzz target, and of the folders of its files.
pub const NAME: &str = "sim_kernel";

use args::Args;
use hostsim::seam::raw::Memory;

/// The calls that an input begins with, in the plainest way, as many as its first byte says: so
/// that what follows finds a connection.
const BEGINNING: [&str; 10] = [
    "epoll_create1",
    "socket",
    "bind",
    "listen",
    "socket",
    "connect",
    "accept4",
    "eventfd",
    "epoll_ctl",
    "socket",
];

/// The calls of an input, each by its window of bytes.
fn windows(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.chunks(Args::LEN)
}

/// Runs `work` with this thread's memory for calls.
fn with_memory<T>(work: impl FnOnce(&Memory) -> T) -> T {
    thread_local! {
        static MEMORY: Memory = Memory::new();
    }
    MEMORY.with(work)
}

/// Bytes that a seed decides, for sweeps: `count` calls.
pub fn expand(seed: u64, count: usize) -> Vec<u8> {
    let words = (0..(count * Args::LEN).div_ceil(8) as u64)
        .map(|index| flow::mix(flow::mix(seed ^ 0x9e37_79b9_7f4a_7c15).wrapping_add(index)));
    words.flat_map(u64::to_le_bytes).take(count * Args::LEN).collect()
}

/// Replaces each number, decimal or of hex digits after `0x`, by a mark.
pub(crate) fn without_numbers(text: &str) -> String {
    let mut short = String::new();
    let mut is_number = false;
    for letter in text.chars() {
        let goes_on = is_number && (letter.is_ascii_hexdigit() || letter == 'x');
        is_number = letter.is_ascii_digit() || goes_on;
        match is_number {
            true if short.ends_with('#') => {}
            true => short.push('#'),
            false => short.push(letter),
        }
    }
    short
}

/// Whether each call is printed before it is made, for those that end the process.
fn is_told() -> bool {
    std::env::var_os("SIM_TRACE").is_some()
}
