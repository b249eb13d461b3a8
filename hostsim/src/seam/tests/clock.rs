//! `clock_gettime`, `gettimeofday`, `time`, `nanosleep` and `clock_nanosleep`.

use super::{Log, Outcome, check, check_simulated, inside};
use crate::clock::{EPOCH, UPTIME};
use expect_test::expect;
use libc::{CLOCK_MONOTONIC, CLOCK_REALTIME, TIMER_ABSTIME, clockid_t, timespec, timeval};
use std::ptr::{null, null_mut};
use std::time::Duration;

fn read(clock: clockid_t) -> Duration {
    let mut time = timespec { tv_sec: 0, tv_nsec: 0 };
    assert_eq!(call!(clock_gettime(clock, &mut time)), Outcome(Ok(0)));
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

fn spec(tv_sec: i64, tv_nsec: i64) -> timespec {
    timespec { tv_sec, tv_nsec }
}

#[test]
fn an_unknown_clock_is_invalid() {
    check(
        |log| {
            let mut time = spec(0, 0);
            for clock in [12, 99, CLOCK_REALTIME, libc::CLOCK_MONOTONIC_RAW] {
                log.note(&format!("clock {clock}"), call!(clock_gettime(clock, &mut time)));
            }
        },
        expect![[r#"
            clock 12 = EINVAL
            clock 99 = EINVAL
            clock 0 = 0
            clock 4 = 0
        "#]],
    );
}

#[test]
fn a_null_place_for_the_time_is_a_fault() {
    // The real kernel is not asked: its vDSO writes in the program's own name.
    check_simulated(
        |log| {
            say!(log, clock_gettime(CLOCK_MONOTONIC, null_mut()));
            say!(log, clock_gettime(99, null_mut()));
        },
        expect![[r#"
            clock_gettime(CLOCK_MONOTONIC, null_mut()) = EFAULT
            clock_gettime(99, null_mut()) = EINVAL
        "#]],
    );
}

#[test]
fn clocks_start_at_the_epoch_and_the_uptime() {
    let (times, _) = inside(|| {
        use libc::{CLOCK_BOOTTIME, CLOCK_PROCESS_CPUTIME_ID, CLOCK_REALTIME_COARSE, CLOCK_TAI};
        [CLOCK_REALTIME, CLOCK_REALTIME_COARSE, CLOCK_TAI, CLOCK_MONOTONIC, CLOCK_BOOTTIME]
            .into_iter()
            .chain([CLOCK_PROCESS_CPUTIME_ID])
            .map(read)
            .collect::<Vec<_>>()
    });
    let tai = EPOCH + Duration::from_secs(37);
    assert_eq!(times, [EPOCH, EPOCH, tai, UPTIME, UPTIME, Duration::ZERO]);
}

#[test]
fn wall_clocks_agree_and_take_null() {
    fn script(log: &mut Log) {
        let mut value = timeval { tv_sec: 0, tv_usec: -1 };
        let mut zone = [7, 7];
        say!(log, gettimeofday(null_mut(), null_mut()));
        say!(log, gettimeofday(&mut value, (&raw mut zone).cast()));
        log.note("the zone", format!("{zone:?}"));
        let mut seconds = 0;
        let told = call!(time(&mut seconds));
        log.note("time() tells what it writes", told == Outcome(Ok(seconds)));
        let told = call!(time(null_mut()));
        let is_near = |second: i64| told.0.is_ok_and(|told| (0..=2).contains(&(told - second)));
        log.note("all show one time", is_near(seconds) && is_near(value.tv_sec));
        let real = read(CLOCK_REALTIME).as_secs() as i64;
        log.note("and CLOCK_REALTIME too", (0..=2).contains(&(real - seconds)));
        log.note("microseconds", (0..1_000_000).contains(&value.tv_usec));
    }
    check(
        script,
        expect![[r#"
        gettimeofday(null_mut(), null_mut()) = 0
        gettimeofday(&mut value, (&raw mut zone).cast()) = 0
        the zone = [0, 0]
        time() tells what it writes = true
        all show one time = true
        and CLOCK_REALTIME too = true
        microseconds = true
    "#]],
    );
}

#[test]
fn sleeps_check_their_time() {
    check(
        |log| {
            say!(log, nanosleep(null(), null_mut()));
            say!(log, nanosleep(&spec(0, -1), null_mut()));
            say!(log, nanosleep(&spec(0, 1_000_000_000), null_mut()));
            say!(log, nanosleep(&spec(-1, 0), null_mut()));
            say!(log, nanosleep(&spec(0, 0), null_mut()));
            say!(log, nanosleep(&spec(0, 1), null_mut()));
            let mut rest = spec(5, 5);
            say!(log, nanosleep(&spec(0, 1), &mut rest));
            log.note("the rest of a whole sleep", format!("{} {}", rest.tv_sec, rest.tv_nsec));
        },
        expect![[r#"
            nanosleep(null(), null_mut()) = EFAULT
            nanosleep(&spec(0, -1), null_mut()) = EINVAL
            nanosleep(&spec(0, 1_000_000_000), null_mut()) = EINVAL
            nanosleep(&spec(-1, 0), null_mut()) = EINVAL
            nanosleep(&spec(0, 0), null_mut()) = 0
            nanosleep(&spec(0, 1), null_mut()) = 0
            nanosleep(&spec(0, 1), &mut rest) = 0
            the rest of a whole sleep = 5 5
        "#]],
    );
}

#[test]
fn clock_nanosleep_returns_its_error() {
    fn script(log: &mut Log) {
        say!(log, close(-1));
        say!(log, clock_nanosleep(CLOCK_MONOTONIC, 0, null(), null_mut()));
        say!(log, clock_nanosleep(CLOCK_MONOTONIC, 0, &spec(0, -1), null_mut()));
        say!(log, clock_nanosleep(CLOCK_MONOTONIC, 0, &spec(0, 1_000_000_000), null_mut()));
        say!(log, clock_nanosleep(CLOCK_MONOTONIC, 0, &spec(-1, 0), null_mut()));
        say!(log, clock_nanosleep(99, 0, &spec(0, 0), null_mut()));
        say!(log, clock_nanosleep(99, 0, null(), null_mut()));
        say!(log, clock_nanosleep(libc::CLOCK_THREAD_CPUTIME_ID, 0, &spec(0, 0), null_mut()));
        say!(log, clock_nanosleep(libc::CLOCK_MONOTONIC_RAW, 0, &spec(0, 0), null_mut()));
        say!(log, clock_nanosleep(libc::CLOCK_MONOTONIC_COARSE, 0, &spec(0, 0), null_mut()));
        say!(log, clock_nanosleep(libc::CLOCK_REALTIME_COARSE, 0, null(), null_mut()));
        say!(log, clock_nanosleep(libc::CLOCK_BOOTTIME, 0, &spec(0, 1), null_mut()));
        say!(log, clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &spec(1, 0), null_mut()));
        let errno = std::io::Error::last_os_error().raw_os_error();
        log.note("errno is still that of close", errno == Some(libc::EBADF));
    }
    check(
        script,
        expect![[r#"
        close(-1) = EBADF
        clock_nanosleep(CLOCK_MONOTONIC, 0, null(), null_mut()) = 14
        clock_nanosleep(CLOCK_MONOTONIC, 0, &spec(0, -1), null_mut()) = 22
        clock_nanosleep(CLOCK_MONOTONIC, 0, &spec(0, 1_000_000_000), null_mut()) = 22
        clock_nanosleep(CLOCK_MONOTONIC, 0, &spec(-1, 0), null_mut()) = 22
        clock_nanosleep(99, 0, &spec(0, 0), null_mut()) = 22
        clock_nanosleep(99, 0, null(), null_mut()) = 22
        clock_nanosleep(libc::CLOCK_THREAD_CPUTIME_ID, 0, &spec(0, 0), null_mut()) = 22
        clock_nanosleep(libc::CLOCK_MONOTONIC_RAW, 0, &spec(0, 0), null_mut()) = 95
        clock_nanosleep(libc::CLOCK_MONOTONIC_COARSE, 0, &spec(0, 0), null_mut()) = 95
        clock_nanosleep(libc::CLOCK_REALTIME_COARSE, 0, null(), null_mut()) = 95
        clock_nanosleep(libc::CLOCK_BOOTTIME, 0, &spec(0, 1), null_mut()) = 0
        clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &spec(1, 0), null_mut()) = 0
        errno is still that of close = true
    "#]],
    );
}

#[test]
fn a_sleep_moves_every_clock_of_its_machine() {
    let (passed, _) = inside(|| {
        let wall = read(CLOCK_REALTIME);
        let start = read(CLOCK_MONOTONIC);
        let mut passed = vec![];
        call!(nanosleep(&spec(3, 500), null_mut()));
        passed.push(read(CLOCK_MONOTONIC) - start);
        call!(clock_nanosleep(CLOCK_MONOTONIC, 0, &spec(1, 0), null_mut()));
        passed.push(read(CLOCK_MONOTONIC) - start);
        let until = spec((UPTIME.as_secs() + 10) as i64, 0);
        call!(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, null_mut()));
        passed.push(read(CLOCK_MONOTONIC) - start);
        let until = spec(EPOCH.as_secs() as i64 + 20, 0);
        call!(clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &until, null_mut()));
        passed.push(read(CLOCK_REALTIME) - wall);
        // A moment that is over is no sleep.
        call!(clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &until, null_mut()));
        passed.push(read(CLOCK_REALTIME) - wall);
        passed
    });
    let seconds = Duration::from_secs;
    let expected =
        [Duration::new(3, 500), Duration::new(4, 500), seconds(10), seconds(20), seconds(20)];
    assert_eq!(passed, expected);
}
