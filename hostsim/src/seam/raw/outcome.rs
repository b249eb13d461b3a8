//! What a call gave, and the names of errors.

use libc::c_int;
use std::fmt::{self, Display};

/// Makes a call of libc; gives what it gave, with the error.
macro_rules! call {
    ($name:ident($($argument:expr),* $(,)?)) => {{
        // SAFETY: each pointer is null where the man page allows it or names an error for it, or is
        // to what lives for the time of the call, and what follows is of the length that the call is
        // told or forbidden.
        let value = unsafe { libc::$name($($argument),*) };
        #[allow(clippy::unnecessary_cast, reason = "calls return int, long and ssize_t")]
        $crate::seam::raw::Outcome::of(value as i64)
    }};
}

/// What a call gave: its value, or the error number where it gave -1.
///
/// ```
/// use hostsim::seam::raw::{self, Outcome};
///
/// // A descriptor of nobody.
/// let outcome = raw::close(-1);
/// assert_eq!(outcome, Outcome(Err(libc::EBADF)));
/// assert_eq!(outcome.to_string(), "EBADF");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome(pub Result<i64, i32>);

impl Outcome {
    /// Reads `errno` where the call failed; to be made right after it.
    pub(in crate::seam) fn of(value: i64) -> Outcome {
        let errno = || std::io::Error::last_os_error().raw_os_error().unwrap_or(0);
        Outcome(if value == -1 { Err(errno()) } else { Ok(value) })
    }

    /// The descriptor that a call opened.
    ///
    /// # Panics
    /// Where it failed.
    ///
    /// ```
    /// use hostsim::seam::raw;
    ///
    /// let fd = raw::eventfd(0, 0).descriptor();
    /// assert!(raw::close(fd).0.is_ok());
    /// ```
    #[track_caller]
    pub fn descriptor(self) -> c_int {
        self.0.expect("the call opens a descriptor") as c_int
    }

    /// The outcome without its value, which differs from run to run.
    ///
    /// ```
    /// use hostsim::seam::raw::{self, Outcome};
    ///
    /// let made = raw::eventfd(0, 0);
    /// assert_eq!(made.is_done(), Outcome(Ok(0)), "whatever number it has");
    /// raw::close(made.descriptor());
    /// ```
    pub fn is_done(self) -> Outcome {
        Outcome(self.0.map(|_| 0))
    }

    /// How many bytes or entries a call gave, zero where it failed.
    ///
    /// # Panics
    /// Where the count is negative, which no kernel gives.
    ///
    /// ```
    /// use hostsim::seam::raw::Outcome;
    ///
    /// assert_eq!(Outcome(Ok(5)).count(), 5);
    /// assert_eq!(Outcome(Err(libc::EAGAIN)).count(), 0);
    /// ```
    #[track_caller]
    pub fn count(self) -> usize {
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
    EPERM ENOENT EIO EBADF EAGAIN ENOMEM EACCES EFAULT EEXIST ENODEV ENOTDIR EINVAL EMFILE ENOTTY
    EPIPE EDOM ELOOP ENOSYS ENOTSOCK EDESTADDRREQ EMSGSIZE EPROTOTYPE ENOPROTOOPT EPROTONOSUPPORT
    ESOCKTNOSUPPORT EOPNOTSUPP EAFNOSUPPORT EADDRINUSE EADDRNOTAVAIL ENETUNREACH EHOSTUNREACH
    ECONNRESET EISCONN ENOTCONN ETIMEDOUT ECONNREFUSED ECONNABORTED EALREADY EINPROGRESS
}

/// The name of an error.
///
/// ```
/// use hostsim::seam::raw::name_of;
///
/// assert_eq!(name_of(libc::ECONNREFUSED), "ECONNREFUSED");
/// ```
pub fn name_of(errno: i32) -> &'static str {
    let found = NAMES.iter().find(|(number, _)| *number == errno);
    found.map_or("an error without a name here", |(_, name)| name)
}
