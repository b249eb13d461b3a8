//! Error numbers as a call returns them.
//!
//! A simulated call fails with the number that Linux would put into `errno`, never with a text of
//! its own, so that `std::io::Error::raw_os_error` is `Some` in the program that made the call.

/// An error number of Linux, positive, as in `errno(3)`.
///
/// ```
/// use hostsim::errno::{Errno, Sys};
/// use std::io::{Error, ErrorKind};
///
/// let refused: Sys<()> = Err(Errno::ECONNREFUSED);
/// let error = Error::from_raw_os_error(refused.unwrap_err().0);
/// assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Errno(pub i32);

/// What a simulated call returns.
pub type Sys<T> = Result<T, Errno>;

macro_rules! numbers {
    ($($name:ident)*) => {
        impl Errno {
            $(#[doc = concat!("`", stringify!($name), "`")] pub const $name: Errno = Errno(libc::$name);)*
        }
    };
}

numbers! {
    EBADF EAGAIN ENOMEM EFAULT EINVAL EMFILE EPIPE EEXIST ENOENT ENOTSOCK EDESTADDRREQ ENOPROTOOPT
    EPROTONOSUPPORT EOPNOTSUPP EAFNOSUPPORT EADDRINUSE EADDRNOTAVAIL ENETUNREACH ECONNRESET EISCONN
    ENOTCONN ETIMEDOUT ECONNREFUSED ECONNABORTED EALREADY EINPROGRESS EPERM ENOTTY EIO EPROTOTYPE ESOCKTNOSUPPORT
    EDOM EMSGSIZE ENOTDIR ENETDOWN ENODEV
}

impl std::fmt::Display for Errno {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::io::Error::from_raw_os_error(self.0).fmt(f)
    }
}
