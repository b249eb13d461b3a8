//! What a call gave, and the names of errors.

use std::fmt::{self, Display};

/// What a call gave: its value, or the error number where it gave -1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Outcome(pub(super) Result<i64, i32>);

impl Outcome {
    /// Reads `errno` where the call failed; to be made right after it.
    pub(super) fn of(value: i64) -> Outcome {
        let errno = || std::io::Error::last_os_error().raw_os_error().unwrap_or(0);
        Outcome(if value == -1 { Err(errno()) } else { Ok(value) })
    }

    /// How many bytes a call moved.
    pub(super) fn count(self) -> usize {
        self.0.map_or(0, |count| usize::try_from(count).expect("a count is not negative"))
    }
}

impl Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Ok(value) => write!(f, "{value}"),
            Err(errno) => f.write_str(name_of(errno)),
        }
    }
}

macro_rules! names {
    ($($name:ident)*) => {
        const NAMES: &[(i32, &str)] = &[$((libc::$name, stringify!($name))),*];
    };
}

names! {
    EPERM ENOENT EIO EBADF EAGAIN ENOMEM EACCES EFAULT EEXIST ENODEV EINVAL EMFILE ENOTTY EPIPE EDOM
    ENOTSOCK EDESTADDRREQ EMSGSIZE EPROTOTYPE ENOPROTOOPT EPROTONOSUPPORT ESOCKTNOSUPPORT EOPNOTSUPP
    EAFNOSUPPORT EADDRINUSE EADDRNOTAVAIL ENETUNREACH EHOSTUNREACH ECONNRESET EISCONN ENOTCONN
    ETIMEDOUT ECONNREFUSED ECONNABORTED EALREADY EINPROGRESS ELOOP ENOSYS
}

/// The name of an error.
pub(super) fn name_of(errno: i32) -> &'static str {
    let found = NAMES.iter().find(|(number, _)| *number == errno);
    found.map_or("an error without a name here", |(_, name)| name)
}
