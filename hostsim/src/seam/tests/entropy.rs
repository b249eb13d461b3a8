//! `getrandom`, `getentropy` and `syscall`.

use super::{Log, Outcome, check, check_simulated, inside};
use expect_test::expect;
use libc::{GRND_INSECURE, GRND_NONBLOCK, GRND_RANDOM, SYS_getpid, SYS_getrandom};
use std::ptr::null_mut;

#[test]
fn getrandom_checks_flags_then_bytes() {
    check(
        |log| {
            let mut bytes = [0_u8; 16];
            say!(log, getrandom(null_mut(), 0, 0));
            say!(log, getrandom(null_mut(), 16, 0));
            say!(log, getrandom(bytes.as_mut_ptr().cast(), 16, 0));
            say!(log, getrandom(bytes.as_mut_ptr().cast(), 16, GRND_NONBLOCK));
            say!(log, getrandom(bytes.as_mut_ptr().cast(), 16, GRND_RANDOM | GRND_NONBLOCK));
            say!(log, getrandom(bytes.as_mut_ptr().cast(), 16, GRND_INSECURE));
            say!(log, getrandom(bytes.as_mut_ptr().cast(), 16, GRND_INSECURE | GRND_RANDOM));
            say!(log, getrandom(bytes.as_mut_ptr().cast(), 16, 8));
            say!(log, getrandom(null_mut(), 0, 8));
        },
        expect![[r#"
            getrandom(null_mut(), 0, 0) = 0
            getrandom(null_mut(), 16, 0) = EFAULT
            getrandom(bytes.as_mut_ptr().cast(), 16, 0) = 16
            getrandom(bytes.as_mut_ptr().cast(), 16, GRND_NONBLOCK) = 16
            getrandom(bytes.as_mut_ptr().cast(), 16, GRND_RANDOM | GRND_NONBLOCK) = 16
            getrandom(bytes.as_mut_ptr().cast(), 16, GRND_INSECURE) = 16
            getrandom(bytes.as_mut_ptr().cast(), 16, GRND_INSECURE | GRND_RANDOM) = EINVAL
            getrandom(bytes.as_mut_ptr().cast(), 16, 8) = EINVAL
            getrandom(null_mut(), 0, 8) = EINVAL
        "#]],
    );
}

#[test]
fn getentropy_gives_at_most_256_bytes() {
    check(
        |log| {
            let mut bytes = [0_u8; 257];
            say!(log, getentropy(null_mut(), 0));
            say!(log, getentropy(null_mut(), 1));
            say!(log, getentropy(bytes.as_mut_ptr().cast(), 256));
            say!(log, getentropy(bytes.as_mut_ptr().cast(), 257));
        },
        expect![[r#"
            getentropy(null_mut(), 0) = 0
            getentropy(null_mut(), 1) = EFAULT
            getentropy(bytes.as_mut_ptr().cast(), 256) = 0
            getentropy(bytes.as_mut_ptr().cast(), 257) = EIO
        "#]],
    );
}

#[test]
fn getrandom_by_its_number_is_getrandom() {
    check(
        |log| {
            let mut bytes = [0_u8; 16];
            say!(log, syscall(SYS_getrandom, null_mut::<u8>(), 0_usize, 0_u32, 0, 0, 0));
            say!(log, syscall(SYS_getrandom, null_mut::<u8>(), 1_usize, 0_u32, 0, 0, 0));
            say!(log, syscall(SYS_getrandom, bytes.as_mut_ptr(), 16_usize, 0_u32, 0, 0, 0));
            say!(log, syscall(SYS_getrandom, bytes.as_mut_ptr(), 16_usize, 8_u32, 0, 0, 0));
        },
        expect![[r#"
            syscall(SYS_getrandom, null_mut::<u8>(), 0_usize, 0_u32, 0, 0, 0) = 0
            syscall(SYS_getrandom, null_mut::<u8>(), 1_usize, 0_u32, 0, 0, 0) = EFAULT
            syscall(SYS_getrandom, bytes.as_mut_ptr(), 16_usize, 0_u32, 0, 0, 0) = 16
            syscall(SYS_getrandom, bytes.as_mut_ptr(), 16_usize, 8_u32, 0, 0, 0) = EINVAL
        "#]],
    );
}

fn draw(into: &mut [u8; 8], is_by_number: bool) {
    let place = into.as_mut_ptr();
    let outcome = match is_by_number {
        true => call!(syscall(SYS_getrandom, place, 8_usize, 0_u32, 0, 0, 0)),
        false => call!(getrandom(place.cast(), 8, 0)),
    };
    assert_eq!(outcome, Outcome(Ok(8)));
}

#[test]
fn both_ways_to_random_bytes_give_the_same_stream() {
    // std's hash maps draw their keys once a thread, and tokio has some.
    inside(|| ());
    let streams = [false, true].map(|is_by_number| {
        let (words, _) = inside(move || {
            let mut words = [[0; 8]; 2];
            words.iter_mut().for_each(|word| draw(word, is_by_number));
            words
        });
        assert_ne!(words[0], words[1], "the stream goes on");
        words
    });
    assert_eq!(streams[0], streams[1]);
}

#[test]
fn real_random_bytes_are_not_those_of_a_run() {
    let mut real = [0; 8];
    draw(&mut real, false);
    let (simulated, _) = inside(|| {
        let mut word = [0; 8];
        draw(&mut word, false);
        word
    });
    assert_ne!(real, simulated);
}

#[test]
fn other_system_calls_fall_through() {
    fn script(log: &mut Log) {
        let pid = i64::from(std::process::id());
        let is_own = call!(syscall(SYS_getpid, 0, 0, 0, 0, 0, 0)) == Outcome(Ok(pid));
        log.note("SYS_getpid is the process", is_own);
        // Not -1, which would be a call that failed before it reached the kernel.
        log.note("no such call", call!(syscall(-7, 0, 0, 0, 0, 0, 0)).0.is_err());
    }
    check(
        script,
        expect![[r#"
        SYS_getpid is the process = true
        no such call = true
    "#]],
    );
    check_simulated(
        script,
        expect![[r#"
        SYS_getpid is the process = true
        no such call = true
    "#]],
    );
}
