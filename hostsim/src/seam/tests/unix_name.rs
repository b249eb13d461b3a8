//! Names of Unix sockets, and the paths that they are bound to.

use super::unix::{
    OFFSET, Place, accept, address, address_of, bind_to, close, connect_to, listener, unix,
};
use super::{check, send};
use expect_test::expect;
use libc::{SOCK_NONBLOCK, sa_family_t, sockaddr_un, socklen_t};
use std::mem::size_of;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::sync::atomic::{AtomicU32, Ordering};

/// A path of a test, which is removed with it.
struct Path(Place);

impl Path {
    fn new() -> Path {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        Path(Place::new(&format!("{number}-path"), true))
    }
}

impl Drop for Path {
    fn drop(&mut self) {
        self.0.remove();
    }
}

#[test]
fn addresses_are_checked() {
    check(
        |log| {
            let fd = unix(log, SOCK_NONBLOCK);
            let (mut unix, _) = address(b"\0x");
            for len in [0, 1, 111, 200] {
                log.note(&format!("bind {len}"), super::bind(fd, &unix, len));
            }
            for len in [0, 1, 2, 111, 200] {
                log.note(&format!("connect {len}"), super::connect(fd, &unix, len));
            }
            unix.sun_family = libc::AF_INET as sa_family_t;
            log.note("bind", super::bind(fd, &unix, OFFSET + 2));
            log.note("bind", super::bind(fd, &unix, OFFSET));
            log.note("connect", super::connect(fd, &unix, OFFSET + 2));
            unix.sun_family = libc::AF_UNSPEC as sa_family_t;
            log.note("connect", super::connect(fd, &unix, OFFSET + 2));
            say!(log, bind(fd, std::ptr::null(), 9));
        },
        expect![[r#"
            bind 0 = EINVAL
            bind 1 = EINVAL
            bind 111 = EINVAL
            bind 200 = EINVAL
            connect 0 = EINVAL
            connect 1 = EINVAL
            connect 2 = EINVAL
            connect 111 = EINVAL
            connect 200 = EINVAL
            bind = EINVAL
            bind = EINVAL
            connect = EINVAL
            connect = EINVAL
            bind(fd, std::ptr::null(), 9) = EFAULT
        "#]],
    );
}

#[test]
fn names_are_of_one_socket() {
    check(
        |log| {
            let [place, second] = ["first", "second"].map(|name| Place::new(name, false));
            let fd = listener(log, &place, 8);
            log.note("bind it again", bind_to(fd, &second));
            let other = unix(log, 0);
            log.note("bind another", bind_to(other, &place));
            log.note("its name", address_of(other, false));
            log.note("connect", connect_to(other, &place));
            let accepted = accept(log, fd);
            for (name, fd) in [("listener", fd), ("dialed", other), ("accepted", accepted)] {
                let names = format!("{}; {}", address_of(fd, false), address_of(fd, true));
                log.note(name, names);
            }
            log.note("bind a connected one", bind_to(other, &second));
            log.note("the name that its peer sees", address_of(accepted, true));
            send(other, b"x");
            let mut bytes = [0_u8; 4];
            let (mut from, _) = address(b"");
            let mut len = size_of::<sockaddr_un>() as socklen_t;
            let place = (&raw mut from).cast();
            say!(log, recvfrom(accepted, bytes.as_mut_ptr().cast(), 4, 0, place, &mut len));
            log.note("from it", from.sun_path[0] == 0 && len > 10);
            close(log, other);
            log.note("once it is closed", address_of(accepted, true));
            let again = unix(log, 0);
            log.note("the name is free", bind_to(again, &second));
        },
        expect![[r#"
            bind it again = EINVAL
            bind another = EADDRINUSE
            its name = unnamed 
            connect = 0
            listener = abstract rst; ENOTCONN
            dialed = unnamed ; abstract rst
            accepted = abstract rst; unnamed 
            bind a connected one = 0
            the name that its peer sees = abstract ond
            recvfrom(accepted, bytes.as_mut_ptr().cast(), 4, 0, place, &mut len) = 1
            from it = true
            once it is closed = abstract ond
            the name is free = 0
        "#]],
    );
}

#[test]
fn a_socket_without_a_name_gets_one_where_it_asks() {
    check(
        |log| {
            let fds = [0; 2].map(|flags| unix(log, flags));
            let (any, _) = address(b"");
            let mut names = fds.map(|fd| {
                log.note("bind", super::bind(fd, &any, OFFSET));
                log.note("again", super::bind(fd, &any, OFFSET));
                let mut name = any;
                let mut len = size_of::<sockaddr_un>() as socklen_t;
                call!(getsockname(fd, (&raw mut name).cast(), &mut len));
                log.note("length", len);
                let digits = name.sun_path.map(|byte| byte as u8);
                let is_digits = digits[1..6].iter().all(u8::is_ascii_hexdigit) && digits[0] == 0;
                log.note("five digits", is_digits);
                digits
            });
            names.sort_unstable();
            log.note("they differ", names[0] != names[1]);
        },
        expect![[r#"
            bind = 0
            again = 0
            length = 8
            five digits = true
            bind = 0
            again = 0
            length = 8
            five digits = true
            they differ = true
        "#]],
    );
}

#[test]
fn a_path_outlives_its_socket() {
    check(
        |log| {
            let path = Path::new();
            let fd = listener(log, &path.0, 8);
            let other = unix(log, 0);
            log.note("bind another", bind_to(other, &path.0));
            log.note("name", address_of(fd, false));
            log.note("connect", connect_to(other, &path.0));
            close(log, fd);
            let [next, again] = [0; 2].map(|flags| unix(log, flags));
            log.note("nobody listens", connect_to(next, &path.0));
            log.note("the path is there", bind_to(next, &path.0));
            log.note("remove", path.0.remove());
            log.note("remove", path.0.remove());
            log.note("it is not there", connect_to(next, &path.0));
            log.note("bind", bind_to(next, &path.0));
            say!(log, listen(next, 1));
            log.note("remove", path.0.remove());
            log.note("another has the path", bind_to(again, &path.0));
            close(log, next);
            let last = unix(log, 0);
            log.note("it keeps it", bind_to(last, &path.0));
        },
        expect![[r#"
            bind another = EADDRINUSE
            name = path th\x00
            connect = 0
            nobody listens = ECONNREFUSED
            the path is there = EADDRINUSE
            remove = 0
            remove = ENOENT
            it is not there = ENOENT
            bind = 0
            listen(next, 1) = 0
            remove = 0
            another has the path = 0
            it keeps it = EADDRINUSE
        "#]],
    );
}

#[test]
fn a_path_is_found_as_a_file_is() {
    check(
        |log| {
            let path = Path::new();
            let name = path.0.path().into_string().unwrap();
            let is_there = || std::fs::exists(&name).unwrap();
            log.note("before", is_there());
            listener(log, &path.0, 8);
            log.note("bound", is_there());
            let about = std::fs::symlink_metadata(&name).unwrap();
            log.note("a socket", about.file_type().is_socket());
            log.note("length", about.len());
            let mode = std::fs::Permissions::from_mode(0o640);
            log.note("chmod", std::fs::set_permissions(&name, mode).is_ok());
            let mode = std::fs::metadata(&name).unwrap().permissions().mode();
            log.note("mode", format!("{mode:o}"));
            let folder = std::env::temp_dir();
            let base = name.rsplit('/').next().unwrap();
            let round = format!("{}/.//{base}", folder.display());
            let (round, len) = address(round.as_bytes());
            let dialed = unix(log, 0);
            log.note("by another spelling", super::connect(dialed, &round, len));
            log.note("remove", std::fs::remove_file(&name).is_ok());
            log.note("removed", is_there());
            let again = std::fs::remove_file(&name).unwrap_err();
            log.note("again", again.raw_os_error().unwrap());
        },
        expect![[r#"
            before = false
            bound = true
            a socket = true
            length = 0
            chmod = true
            mode = 140640
            by another spelling = 0
            remove = true
            removed = false
            again = 2
        "#]],
    );
}

#[test]
fn a_path_is_removed_from_its_folder() {
    check(
        |log| {
            let path = Path::new();
            listener(log, &path.0, 8);
            let (at, name) = (libc::AT_FDCWD, path.0.path());
            say!(log, unlinkat(at, name.as_ptr(), libc::AT_REMOVEDIR));
            say!(log, unlinkat(at, name.as_ptr(), 0));
            say!(log, unlinkat(at, name.as_ptr(), 0));
            say!(log, unlink(c"".as_ptr()));
        },
        expect![[r#"
            unlinkat(at, name.as_ptr(), libc::AT_REMOVEDIR) = ENOTDIR
            unlinkat(at, name.as_ptr(), 0) = 0
            unlinkat(at, name.as_ptr(), 0) = ENOENT
            unlink(c"".as_ptr()) = ENOENT
        "#]],
    );
}

#[test]
fn real_files_are_no_sockets_here() {
    check(
        |log| {
            let file = std::fs::File::open("/dev/null").unwrap();
            say!(log, shutdown(file.as_raw_fd(), 0));
            let path = Path::new();
            let name = path.0.path().into_string().unwrap();
            std::fs::write(&name, b"x").unwrap();
            log.note("length", std::fs::metadata(&name).unwrap().len());
            log.note("remove", path.0.remove());
            log.note("again", path.0.remove());
        },
        expect![[r#"
            shutdown(file.as_raw_fd(), 0) = ENOTSOCK
            length = 1
            remove = 0
            again = ENOENT
        "#]],
    );
}
