//! What is refused, and what becomes of a call that goes too far: asked of the real kernel.

use super::{Memory, Message, Outcome, Part, Parts, Use};
use libc::{c_int, c_ulong};
use std::mem::size_of;

/// Two ends of a connection.
fn pair(memory: &Memory) -> [c_int; 2] {
    let place = memory.fill(Use::List, 2 * size_of::<c_int>(), 0);
    let made = super::socketpair(libc::AF_UNIX, libc::SOCK_STREAM, 0, Some(place));
    assert_eq!(made, Outcome(Ok(0)));
    [8, 4].map(|from_end| c_int::from_ne_bytes(memory.array(Use::List, from_end)))
}

fn close(pair: [c_int; 2]) {
    for fd in pair {
        assert_eq!(super::close(fd), Outcome(Ok(0)));
    }
}

#[test]
fn a_call_that_goes_too_far_finds_forbidden_pages() {
    let memory = Memory::new();
    let [to, from] = pair(&memory);
    let bytes = memory.put(Use::Bytes, b"abcdefgh");
    assert_eq!(super::write(to, Some(bytes), 8), Outcome(Ok(8)));
    let short = memory.fill(Use::Address, 3, b'.');
    assert_eq!(super::recv(from, Some(short), 8, 0), Outcome(Err(libc::EFAULT)));
    assert_eq!(super::send(to, Some(short), 1 << 31, 0), Outcome(Err(libc::EFAULT)));
    memory.check(Use::Address, 3);
    close([to, from]);
}

#[test]
#[should_panic(expected = "a call wrote before Bytes 4")]
fn a_write_before_a_piece_is_found() {
    let memory = Memory::new();
    memory.take(Use::Bytes, 4);
    memory.fill(Use::Bytes, 5, 0);
    // As if a call had written there: the margin of the longer piece ends before that of this one.
    memory.check(Use::Bytes, 4);
}

#[test]
fn parts_and_messages_are_laid_out_for_the_call() {
    let memory = Memory::new();
    let [to, from] = pair(&memory);
    let bytes = memory.put(Use::Bytes, b"abcde");
    let parts = [Part::Of(bytes.part(3, 2)), Part::Null(0), Part::Of(bytes.part(0, 3))];
    assert_eq!(super::writev(&memory, to, Parts::Listed(&parts)), Outcome(Ok(5)));
    let negative = [Part::Negative(bytes)];
    let refused = super::writev(&memory, to, Parts::Listed(&negative));
    assert_eq!(refused, Outcome(Err(libc::EINVAL)));
    let place = memory.fill(Use::Bytes, 8, b'.');
    let parts = [Part::Of(place)];
    let name = None;
    let message = Message { name, name_len: 9, parts: Parts::Listed(&parts), control: None };
    let (outcome, told) = super::recvmsg(&memory, from, Some(&message), 0);
    assert_eq!((outcome, told.map(|told| told.flags)), (Outcome(Ok(5)), Some(0)));
    assert_eq!(memory.bytes(Use::Bytes, 8, 8), b"deabc...");
    assert_eq!(super::recvmsg(&memory, from, None, 0).0, Outcome(Err(libc::EFAULT)));
    close([to, from]);
}

#[test]
#[should_panic(expected = "no call opened descriptor 2")]
fn a_descriptor_of_somebody_else_is_refused() {
    super::dup(2);
}

#[test]
#[should_panic(expected = "no call opened descriptor")]
fn a_closed_descriptor_is_somebody_elses() {
    let [first, second] = pair(&Memory::new());
    close([first, second]);
    super::shutdown(first, libc::SHUT_RD);
}

#[test]
#[should_panic(expected = "may follow a pointer")]
fn a_request_that_follows_a_pointer_is_refused() {
    const SIOCGIFCONF: c_ulong = 0x8912;
    super::ioctl(-1, SIOCGIFCONF, None);
}

#[test]
#[should_panic(expected = "pieces of one call do not overlap")]
fn pieces_that_overlap_are_refused() {
    let memory = Memory::new();
    let piece = memory.take(Use::Bytes, 8);
    super::readv(&memory, -1, Parts::Listed(&[Part::Of(piece), Part::Of(piece.part(7, 1))]));
}

#[test]
#[should_panic(expected = "pieces of one call do not overlap")]
fn pieces_of_one_use_are_refused() {
    let memory = Memory::new();
    let piece = memory.take(Use::Bytes, 8);
    super::getsockname(-1, Some(piece.part(0, 4)), Some(piece.part(4, 4)));
}

#[test]
#[should_panic(expected = "a piece is aligned")]
fn a_place_for_a_number_is_aligned() {
    let memory = Memory::new();
    super::getsockname(-1, None, Some(memory.take(Use::Bytes, 5)));
}

#[test]
#[should_panic(expected = "pieces are not of Header")]
fn no_piece_is_of_memory_that_holds_pointers() {
    Memory::new().put(Use::Header, &[0; 56]);
}
