//! The edge cases of the man pages, asked of the real kernel and of the simulated one.
//!
//! A script makes calls of libc and logs each with what it gave. [`check`] runs it outside a run and
//! in a machine's turn: both logs are the text that the test expects. Where the two differ, or the
//! real kernel cannot be asked, [`check_simulated`] runs it in a machine's turn only.
//!
//! Calls go through `libc::`, so that the tests are of the symbols as programs link them.

/// Makes a call and logs it as it stands here, with what it gave.
macro_rules! say {
    ($log:ident, $name:ident($($argument:expr),* $(,)?)) => {{
        let outcome = call!($name($($argument),*));
        $log.note(&stringify!($name($($argument),*)).replacen(" (", "(", 1), outcome);
    }};
}

mod address;
mod clock;
mod control;
mod counter;
mod datagram;
mod descriptor;
mod entropy;
mod epoll;
mod message;
mod names;
mod option;
mod outside;
mod poll;
mod socket;
mod stream;
mod threads;
mod unix;
mod unix_name;
mod unix_option;
mod unix_random;
mod value;
mod wait;
mod watch;

use super::raw::Outcome;
use crate::fleet::Fleet;
use crate::world::Trouble;
use expect_test::Expect;
use libc::{c_int, sockaddr, sockaddr_in, socklen_t};
use std::cell::Cell;
use std::fmt::Display;
use std::mem::size_of;
use std::ptr::{null, null_mut};
use std::rc::Rc;

/// What a script saw, and the descriptors it opened: closed when the log is dropped.
#[derive(Default)]
struct Log {
    text: String,
    opened: Vec<c_int>,
}

impl Log {
    fn note(&mut self, what: &str, outcome: impl Display) {
        self.text += &format!("{what} = {outcome}\n");
    }

    /// Keeps a descriptor open until the end of the script.
    #[track_caller]
    fn keep(&mut self, opened: Outcome) -> c_int {
        let fd = opened.descriptor();
        self.opened.push(fd);
        fd
    }

    /// A socket of TCP over IPv4 with these flags.
    fn socket(&mut self, flags: c_int) -> c_int {
        self.keep(call!(socket(libc::AF_INET, libc::SOCK_STREAM | flags, 0)))
    }

    /// A listener on loopback with these flags, and its address.
    fn listener(&mut self, flags: c_int) -> (c_int, sockaddr_in) {
        let fd = self.socket(flags);
        assert_eq!(bind(fd, &loopback(0), size_of::<sockaddr_in>()), Outcome(Ok(0)));
        assert_eq!(call!(listen(fd, 8)), Outcome(Ok(0)));
        (fd, local_address(fd))
    }

    /// Two ends of a connection, the one that dialed first; both in blocking mode.
    fn pair(&mut self) -> [c_int; 2] {
        let (listener, address) = self.listener(0);
        let dialed = self.socket(0);
        assert_eq!(connect(dialed, &address, size_of::<sockaddr_in>()), Outcome(Ok(0)));
        [dialed, self.keep(call!(accept(listener, null_mut(), null_mut())))]
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        for fd in &self.opened {
            call!(close(*fd));
        }
    }
}

fn loopback(port: u16) -> sockaddr_in {
    sockaddr_in {
        sin_family: libc::AF_INET as libc::sa_family_t,
        sin_port: port.to_be(),
        sin_addr: libc::in_addr { s_addr: u32::from_ne_bytes([127, 0, 0, 1]) },
        sin_zero: [0; 8],
    }
}

fn bind<T>(fd: c_int, address: &T, len: usize) -> Outcome {
    call!(bind(fd, (&raw const *address).cast(), len as socklen_t))
}

fn connect<T>(fd: c_int, address: &T, len: usize) -> Outcome {
    call!(connect(fd, (&raw const *address).cast(), len as socklen_t))
}

fn local_address(fd: c_int) -> sockaddr_in {
    let mut address = loopback(0);
    let mut len = size_of::<sockaddr_in>() as socklen_t;
    let place: *mut sockaddr = (&raw mut address).cast();
    assert_eq!(call!(getsockname(fd, place, &mut len)), Outcome(Ok(0)));
    address
}

fn send(fd: c_int, bytes: &[u8]) -> Outcome {
    call!(send(fd, bytes.as_ptr().cast(), bytes.len(), libc::MSG_NOSIGNAL))
}

/// Receives up to eight bytes: as text, or the error.
fn recv(fd: c_int, flags: c_int) -> String {
    let mut bytes = [0_u8; 8];
    match call!(recv(fd, bytes.as_mut_ptr().cast(), bytes.len(), flags)) {
        Outcome(Ok(count)) => format!("{:?}", String::from_utf8_lossy(&bytes[..count as usize])),
        failed => failed.to_string(),
    }
}

/// Waits until a descriptor reports one of `events`, on the real kernel for a second at most.
fn poll(fd: c_int, events: i16) -> i16 {
    let mut entry = libc::pollfd { fd, events, revents: 0 };
    let timeout = if fd >= crate::kernel::DESCRIPTOR_MIN { 0 } else { 1000 };
    call!(poll(&mut entry, 1, timeout));
    entry.revents
}

/// The log of a script.
fn log_of(script: fn(&mut Log)) -> String {
    let mut log = Log::default();
    script(&mut log);
    std::mem::take(&mut log.text)
}

/// Runs `work` in the turn of a machine; gives what it gave and the trouble that it made.
#[track_caller]
fn inside<T: 'static>(work: impl FnOnce() -> T + 'static) -> (T, Option<Trouble>) {
    let mut fleet = Fleet::start(&["client"]).expect("machines start");
    let result = Rc::new(Cell::new(None));
    let into = result.clone();
    fleet.spawn("client", async move { into.set(Some(work())) });
    let trouble = loop {
        match fleet.step() {
            Ok(true) => {}
            Ok(false) => break None,
            Err(trouble) => break Some(trouble),
        }
    };
    (result.take().expect("the task ends"), trouble)
}

/// Checks that a script sees the same on both kernels, and that this is what is expected.
#[track_caller]
fn check(script: fn(&mut Log), expected: Expect) {
    let real = log_of(script);
    expected.assert_eq(&real);
    let (simulated, trouble) = inside(move || log_of(script));
    assert_eq!(differences(&simulated, &real), Vec::<String>::new());
    assert_eq!(simulated, real);
    assert_eq!(trouble, None);
}

/// The lines that differ.
fn differences(simulated: &str, real: &str) -> Vec<String> {
    let pairs = simulated.lines().zip(real.lines()).filter(|(simulated, real)| simulated != real);
    pairs.map(|(simulated, real)| format!("{simulated}, and really: {real}")).collect()
}

/// Checks what a script sees on the simulated kernel.
#[track_caller]
fn check_simulated(script: fn(&mut Log), expected: Expect) {
    let (simulated, trouble) = inside(move || log_of(script));
    expected.assert_eq(&simulated);
    assert_eq!(trouble, None);
}

/// Checks that a script is a trouble, by what is said of it and of the call.
#[track_caller]
fn check_trouble(script: fn(&mut Log), expected: Expect) {
    let (log, trouble) = inside(move || log_of(script));
    let said = match trouble {
        Some(Trouble::WouldBlock { call, .. }) => format!("would wait: {call}"),
        Some(Trouble::Unsupported { call, .. }) => format!("not simulated: {call}"),
        other => format!("{other:?}"),
    };
    expected.assert_eq(&format!("{log}{said}"));
}

/// No place for an address.
const NO_ADDRESS: *mut sockaddr = null_mut();

/// No bytes.
const NOTHING: *const libc::c_void = null();
