//! Which files an epoll file watches, and by what name.

use super::epoll::{add, control, counter, ready};
use super::{check, check_simulated, check_trouble};
use expect_test::expect;
use libc::{EPOLL_CTL_DEL, EPOLL_CTL_MOD, EPOLLIN, EPOLLONESHOT};
use std::ptr::null_mut;

#[test]
fn an_exclusive_watch_is_added_and_stays() {
    check(
        |log| {
            let epoll = log.keep(call!(epoll_create1(0)));
            let fd = counter(log, 1);
            let exclusive = libc::EPOLLEXCLUSIVE;
            log.note("with EPOLLONESHOT", add(epoll, fd, EPOLLIN | exclusive | EPOLLONESHOT, 1));
            log.note("add", add(epoll, fd, EPOLLIN | exclusive, 1));
            log.note("ready", ready(epoll, 8));
            log.note("change", control(epoll, EPOLL_CTL_MOD, fd, EPOLLIN, 1));
            let plain = counter(log, 1);
            log.note("add a plain one", add(epoll, plain, EPOLLIN, 2));
            let changed = control(epoll, EPOLL_CTL_MOD, plain, EPOLLIN | exclusive, 2);
            log.note("change it to be exclusive", changed);
        },
        expect![[r#"
            with EPOLLONESHOT = EINVAL
            add = 0
            ready = 1:0x1
            change = EINVAL
            add a plain one = 0
            change it to be exclusive = EINVAL
        "#]],
    );
}

#[test]
fn a_closed_file_is_watched_no_more() {
    check(
        |log| {
            let epoll = log.keep(call!(epoll_create1(0)));
            let fd = call!(eventfd(1, 0)).descriptor();
            add(epoll, fd, EPOLLIN, 1);
            log.note("open", ready(epoll, 8));
            log.note("close", call!(close(fd)));
            log.note("closed", ready(epoll, 8));
        },
        expect![[r#"
            open = 1:0x1
            close = 0
            closed = 
        "#]],
    );
}

#[test]
fn a_file_with_another_descriptor_is_watched_on() {
    check(
        |log| {
            let epoll = log.keep(call!(epoll_create1(0)));
            let fd = call!(eventfd(1, 0)).descriptor();
            let copy = log.keep(call!(dup(fd)));
            add(epoll, fd, EPOLLIN, 1);
            log.note("the copy is another watch", add(epoll, copy, EPOLLIN, 2));
            log.note("both", ready(epoll, 8));
            control(epoll, EPOLL_CTL_DEL, copy, 0, 0);
            log.note("one", ready(epoll, 8));
            log.note("close", call!(close(fd)));
            log.note("the copy keeps it", ready(epoll, 8));
            log.note("by its own name it is unknown", control(epoll, EPOLL_CTL_DEL, copy, 0, 0));
        },
        expect![[r#"
            the copy is another watch = 0
            both = 1:0x1 2:0x1
            one = 1:0x1
            close = 0
            the copy keeps it = 1:0x1
            by its own name it is unknown = ENOENT
        "#]],
    );
}

#[test]
fn a_new_file_under_the_number_of_a_watched_one_is_its_own() {
    check_simulated(
        |log| {
            let epoll = log.keep(call!(epoll_create1(0)));
            let fd = call!(eventfd(1, 0)).descriptor();
            log.keep(call!(dup(fd)));
            add(epoll, fd, EPOLLIN, 1);
            call!(close(fd));
            say!(log, epoll_ctl(epoll, EPOLL_CTL_DEL, fd, null_mut()));
            let next = counter(log, 1);
            log.note("the number is used again", next == fd);
            log.note("delete", control(epoll, EPOLL_CTL_DEL, next, 0, 0));
            log.note("add", add(epoll, next, EPOLLIN, 2));
            log.note("both", ready(epoll, 8));
            log.note("delete", control(epoll, EPOLL_CTL_DEL, next, 0, 0));
            log.note("the first", ready(epoll, 8));
        },
        expect![[r#"
            epoll_ctl(epoll, EPOLL_CTL_DEL, fd, null_mut()) = EBADF
            the number is used again = true
            delete = ENOENT
            add = 0
            both = 1:0x1 2:0x1
            delete = 0
            the first = 1:0x1
        "#]],
    );
}

#[test]
fn an_epoll_file_in_another_is_not_simulated() {
    check_trouble(
        |log| {
            let [outer, inner] = [0; 2].map(|flags| log.keep(call!(epoll_create1(flags))));
            log.note("add", add(outer, inner, EPOLLIN, 1));
        },
        expect![[r#"
            add = EINVAL
            not simulated: epoll_ctl: an epoll file in another"#]],
    );
}
