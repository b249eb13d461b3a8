//! The calls, in one table: how each is made of bytes, how often it comes, and what it may give.
//!
//! To add a call: a function that takes its arguments from [`Args`], says them, and makes it with
//! `call!`; and a row in [`CALLS`].

/// Makes a call and says what it gave.
macro_rules! call {
    ($rig:ident, $name:ident($($argument:expr),* $(,)?)) => {{
        $rig.begin();
        let outcome = hostsim::seam::raw::$name($($argument),*);
        $rig.end(outcome)
    }};
}

mod descriptor;
mod message;
mod name;
mod option;
mod socket;
mod stream;
mod watch;

pub(super) use descriptor::close_at_once;
pub(super) use socket::name_of_socket;

use super::args::Args;
use super::rig::Rig;
use hostsim::seam::raw::Outcome;
use libc::{
    EADDRINUSE, EADDRNOTAVAIL, EAFNOSUPPORT, EAGAIN, EALREADY, EBADF, ECONNABORTED, ECONNREFUSED,
    ECONNRESET, EDESTADDRREQ, EDOM, EEXIST, EFAULT, EINPROGRESS, EINVAL, EIO, EISCONN, EMFILE,
    EMSGSIZE, ENETUNREACH, ENOENT, ENOPROTOOPT, ENOTCONN, ENOTSOCK, ENOTTY, EOPNOTSUPP, EPERM,
    EPIPE, EPROTONOSUPPORT, ESOCKTNOSUPPORT, ETIMEDOUT, c_int,
};

/// What a call gives where it does not fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gives {
    /// Zero.
    Nothing,
    /// A descriptor.
    Descriptor,
    /// A count, or bits; what is more exact is checked where the call is made.
    Number,
    /// Zero or a number of its own.
    Anything,
}

/// A row of the table.
pub(super) struct Call {
    pub(super) name: &'static str,
    /// How often it comes, of all.
    pub(super) weight: usize,
    /// Makes it.
    pub(super) make: fn(&mut Rig<'_>, &mut Args<'_>) -> Outcome,
    pub(super) gives: Gives,
    /// The errors that it may give on Linux.
    pub(super) errnos: &'static [c_int],
    /// Whether the real kernel is asked too.
    pub(super) is_compared: bool,
}

const fn row(
    name: &'static str,
    weight: usize,
    make: fn(&mut Rig<'_>, &mut Args<'_>) -> Outcome,
    gives: Gives,
    errnos: &'static [c_int],
) -> Call {
    Call { name, weight, make, gives, errnos, is_compared: true }
}

impl Call {
    /// A call that only the simulated kernel is asked.
    const fn simulated(self) -> Call {
        Call { is_compared: false, ..self }
    }
}

/// What a send may say: [`stream`].
const SEND: &[c_int] = &[
    EBADF,
    ENOTSOCK,
    EAGAIN,
    EPIPE,
    ECONNRESET,
    ECONNREFUSED,
    ETIMEDOUT,
    EFAULT,
    EINVAL,
    EMSGSIZE,
    EOPNOTSUPP,
    ENOTCONN,
    EISCONN,
    // Of a datagram.
    EDESTADDRREQ,
    ENETUNREACH,
    EAFNOSUPPORT,
    EADDRNOTAVAIL,
];

/// What a receive may say.
const RECEIVE: &[c_int] = &[
    EBADF,
    ENOTSOCK,
    EAGAIN,
    ENOTCONN,
    ECONNRESET,
    ECONNREFUSED,
    ETIMEDOUT,
    EPIPE,
    EFAULT,
    EINVAL,
    EMSGSIZE,
];

/// Every call.
pub(super) const CALLS: &[Call] = &[
    row(
        "socket",
        12,
        socket::socket,
        Gives::Descriptor,
        &[EINVAL, EMFILE, EAFNOSUPPORT, EPROTONOSUPPORT, ESOCKTNOSUPPORT],
    ),
    row(
        "socketpair",
        3,
        socket::socketpair,
        Gives::Nothing,
        &[EINVAL, EMFILE, EFAULT, EAFNOSUPPORT, EPROTONOSUPPORT, ESOCKTNOSUPPORT, EOPNOTSUPP],
    ),
    row(
        "bind",
        12,
        socket::bind,
        Gives::Nothing,
        &[EBADF, ENOTSOCK, EINVAL, EFAULT, EAFNOSUPPORT, EADDRNOTAVAIL, EADDRINUSE],
    ),
    row(
        "listen",
        12,
        socket::listen,
        Gives::Nothing,
        &[EBADF, ENOTSOCK, EINVAL, EADDRINUSE, EOPNOTSUPP],
    ),
    row(
        "accept",
        4,
        socket::accept,
        Gives::Descriptor,
        &[EBADF, ENOTSOCK, EINVAL, EAGAIN, EFAULT, EMFILE, EOPNOTSUPP],
    ),
    row(
        "accept4",
        14,
        socket::accept4,
        Gives::Descriptor,
        &[EBADF, ENOTSOCK, EINVAL, EAGAIN, EFAULT, EMFILE, EOPNOTSUPP],
    ),
    row(
        "connect",
        20,
        socket::connect,
        Gives::Nothing,
        &[
            EBADF,
            ENOTSOCK,
            EINVAL,
            EFAULT,
            EAFNOSUPPORT,
            EINPROGRESS,
            EALREADY,
            EISCONN,
            ECONNREFUSED,
            ECONNRESET,
            ECONNABORTED,
            ETIMEDOUT,
            ENETUNREACH,
            EADDRNOTAVAIL,
            EADDRINUSE,
            EPIPE,
            ENOENT,
            EAGAIN,
            libc::EPROTOTYPE,
        ],
    ),
    row("shutdown", 6, socket::shutdown, Gives::Nothing, &[EBADF, ENOTSOCK, EINVAL, ENOTCONN]),
    row("getsockname", 4, socket::getsockname, Gives::Nothing, &[EBADF, ENOTSOCK, EFAULT, EINVAL]),
    row(
        "getpeername",
        4,
        socket::getpeername,
        Gives::Nothing,
        &[EBADF, ENOTSOCK, EFAULT, EINVAL, ENOTCONN],
    ),
    row("send", 10, stream::send, Gives::Number, SEND),
    row("sendto", 4, stream::sendto, Gives::Number, SEND),
    row("sendmsg", 4, message::sendmsg, Gives::Number, SEND),
    row("write", 8, stream::write, Gives::Number, SEND),
    row("writev", 4, message::writev, Gives::Number, SEND),
    row("recv", 14, stream::recv, Gives::Number, RECEIVE),
    row("recvfrom", 4, stream::recvfrom, Gives::Number, RECEIVE),
    row("recvmsg", 4, message::recvmsg, Gives::Number, RECEIVE),
    row("read", 8, stream::read, Gives::Number, RECEIVE),
    row("readv", 4, message::readv, Gives::Number, RECEIVE),
    row("close", 12, descriptor::close, Gives::Nothing, &[EBADF]),
    row("dup", 2, descriptor::dup, Gives::Descriptor, &[EBADF, EMFILE]),
    row("fcntl", 4, descriptor::fcntl, Gives::Number, &[EBADF, EINVAL, EMFILE]),
    row("ioctl", 4, descriptor::ioctl, Gives::Number, &[EBADF, EINVAL, ENOTTY, EFAULT]),
    row(
        "setsockopt",
        10,
        option::setsockopt,
        Gives::Nothing,
        &[EBADF, ENOTSOCK, EINVAL, EFAULT, ENOPROTOOPT, EDOM, EOPNOTSUPP],
    ),
    row(
        "getsockopt",
        8,
        option::getsockopt,
        Gives::Nothing,
        &[EBADF, ENOTSOCK, EINVAL, EFAULT, ENOPROTOOPT, EOPNOTSUPP],
    ),
    row("epoll_create1", 2, watch::epoll_create1, Gives::Descriptor, &[EINVAL, EMFILE]),
    row(
        "epoll_ctl",
        12,
        watch::epoll_ctl,
        Gives::Nothing,
        &[EBADF, EINVAL, EFAULT, EEXIST, ENOENT, EPERM],
    ),
    row("epoll_wait", 10, watch::epoll_wait, Gives::Number, &[EBADF, EINVAL, EFAULT, EIO]),
    row("eventfd", 2, watch::eventfd, Gives::Descriptor, &[EINVAL, EMFILE]),
    row("poll", 8, watch::poll, Gives::Number, &[EFAULT, EINVAL, EIO]),
    row("getrandom", 1, name::getrandom, Gives::Number, &[EINVAL, EFAULT]).simulated(),
    row("getaddrinfo", 2, name::getaddrinfo, Gives::Anything, &[]).simulated(),
    row("getnameinfo", 1, name::getnameinfo, Gives::Anything, &[]).simulated(),
    row("gethostname", 1, name::gethostname, Gives::Nothing, &[EFAULT, libc::ENAMETOOLONG, EINVAL])
        .simulated(),
];

/// Which call a byte says; the calls that are not compared are left out where they are.
pub(super) fn choose(byte: u8, is_compared: bool) -> &'static Call {
    let calls = || CALLS.iter().filter(move |call| call.is_compared || !is_compared);
    let total: usize = calls().map(|call| call.weight).sum();
    let mut left = usize::from(byte) % total;
    let mut is_it = |call: &&Call| {
        let is_it = left < call.weight;
        left = left.saturating_sub(call.weight);
        is_it
    };
    calls().find(&mut is_it).expect("the weights are those that were summed")
}

/// The call of a name.
pub(super) fn named(name: &str) -> &'static Call {
    CALLS.iter().find(|call| call.name == name).expect("the name is in the table")
}

/// What is wrong with what a call gave.
pub(super) fn judge(call: &Call, outcome: Outcome) -> Option<&'static str> {
    let is_legal = match (outcome.0, call.gives) {
        (Ok(value), Gives::Nothing) => value == 0,
        (Ok(value), Gives::Descriptor) => (0..=i64::from(c_int::MAX)).contains(&value),
        (_, Gives::Anything) => true,
        (Ok(value), Gives::Number) => value >= 0,
        (Err(errno), _) => call.errnos.contains(&errno),
    };
    (!is_legal).then_some("the call never gives")
}
