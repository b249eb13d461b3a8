//! Reading and writing in parts, and messages.

use super::stream::{has_bytes, on_received, on_sent, receive_flags, send_flags};
use crate::kernel_fuzz::address::{self, Purpose};
use crate::kernel_fuzz::args::Args;
use crate::kernel_fuzz::flow::End;
use crate::kernel_fuzz::rig::Rig;
use hostsim::seam::raw::{self, Message, Outcome, Part, Use};
use libc::c_int;

/// Buffers in parts.
struct Parts<'a> {
    list: Vec<Part<'a>>,
    /// How many parts there are said to be where the list is null.
    null: Option<usize>,
    lens: Vec<usize>,
    /// The bytes of all of them.
    size: usize,
}

impl<'a> Parts<'a> {
    /// Parts of bytes: the next of the stream for a send, marks for a receive.
    fn new(rig: &mut Rig<'a>, args: &mut Args<'_>, end: Option<End>, sends: bool) -> Parts<'a> {
        let lens: Vec<usize> = (0..args.below(4)).map(|_| args.of(&[1, 3, 0, 50, 300])).collect();
        let size = lens.iter().sum();
        let bytes = if sends { rig.payload(end, size) } else { vec![0xee; size] };
        let bytes = rig.memory.put(Use::Bytes, &bytes);
        let mut at = 0;
        let mut list = Vec::new();
        for len in &lens {
            list.push(Part::Of(bytes.part(at, *len)));
            at += len;
        }
        let (oddness, mut null) = (args.byte(), None);
        match oddness {
            // How much moves before a later part is found to be null depends on segments.
            224..232 if !list.is_empty() => {
                let index = if rig.is_compared { 0 } else { list.len() - 1 };
                list[index] = Part::Null(lens[index]);
            }
            232..236 if !list.is_empty() => list[0] = Part::Negative(bytes.part(0, lens[0])),
            236..240 => list.resize(args.of(&[1024, 1025]), Part::Null(0)),
            240.. => {
                let counts = [1, 0, 1024, 1025, c_int::MAX as usize, u32::MAX as usize, 1 << 31];
                null = Some(args.of(&counts));
            }
            _ => {}
        }
        let count = null.unwrap_or(list.len());
        rig.say(format_args!(", {count} parts {lens:?} odd {oddness}"));
        Parts { list, null, lens, size }
    }

    /// The list for a call.
    fn listed(&self) -> raw::Parts<'_> {
        self.null.map_or(raw::Parts::Listed(&self.list), raw::Parts::Null)
    }

    fn len(&self) -> usize {
        if self.null.is_some() { 0 } else { self.lens.iter().sum() }
    }

    fn done(&self, rig: &mut Rig<'_>, end: Option<End>, outcome: Outcome, flags: c_int) -> Outcome {
        rig.check(&[(Use::Bytes, self.size)]);
        let is_null = self.list.iter().any(|part| part.is_fault());
        let is_kept = !is_null && flags & libc::MSG_TRUNC == 0;
        let count = if is_kept { outcome.count() } else { 0 };
        let bytes = rig.memory.bytes(Use::Bytes, self.size, count);
        // A part of negative length fails the call, so no length is more than the sum.
        on_received(rig, end, self.len(), &bytes, outcome, flags)
    }
}

pub(super) fn writev(rig: &mut Rig<'_>, args: &mut Args<'_>) -> Outcome {
    rig.say(format_args!("writev("));
    let on = rig.pick(args, has_bytes);
    let end = rig.end_of(on);
    let parts = Parts::new(rig, args, end, true);
    rig.say(format_args!(")"));
    let outcome = call!(rig, writev(rig.memory, on.raw, parts.listed()));
    on_sent(rig, end, parts.len(), outcome)
}

pub(super) fn readv(rig: &mut Rig<'_>, args: &mut Args<'_>) -> Outcome {
    rig.say(format_args!("readv("));
    let on = rig.pick(args, has_bytes);
    let end = rig.end_of(on);
    let parts = Parts::new(rig, args, end, false);
    rig.say(format_args!(")"));
    let outcome = call!(rig, readv(rig.memory, on.raw, parts.listed()));
    parts.done(rig, end, outcome, 0)
}

pub(super) fn sendmsg(rig: &mut Rig<'_>, args: &mut Args<'_>) -> Outcome {
    rig.say(format_args!("sendmsg("));
    let on = rig.pick(args, has_bytes);
    let end = rig.end_of(on);
    let parts = Parts::new(rig, args, end, true);
    let flags = send_flags(rig, args);
    let (name, name_len) = if args.one_in(4) {
        address::give(rig, args, on, Purpose::Bind)
    } else {
        (None, args.of(&[0, 16, u32::MAX]))
    };
    let message = Message { name, name_len, parts: parts.listed(), control: None };
    let given = Some(&message).filter(|_| !args.one_in(32));
    rig.say(format_args!(", name {name_len}, null {}, {flags:#x})", given.is_none()));
    let outcome = call!(rig, sendmsg(rig.memory, on.raw, given, flags));
    on_sent(rig, end, parts.len(), outcome)
}

pub(super) fn recvmsg(rig: &mut Rig<'_>, args: &mut Args<'_>) -> Outcome {
    rig.say(format_args!("recvmsg("));
    let on = rig.pick(args, has_bytes);
    let end = rig.end_of(on);
    let parts = Parts::new(rig, args, end, false);
    let flags = receive_flags(args);
    let name_len = args.of(&[0, 28, 1, 128, u32::MAX]);
    let name = rig.memory.fill(Use::Address, name_len.min(128) as usize, 0xee);
    let name = Some(name).filter(|_| args.one_in(2));
    let control = args.one_in(2).then(|| rig.memory.fill(Use::Control, 64, 0xee));
    let message = Message { name, name_len, parts: parts.listed(), control };
    let given = Some(&message).filter(|_| !args.one_in(32));
    let nulls = (name.is_none(), control.is_none(), given.is_none());
    rig.say(format_args!(", {}, null {nulls:?}, {flags:#x})", name_len.cast_signed()));
    rig.begin();
    let (outcome, told) = raw::recvmsg(rig.memory, on.raw, given, flags);
    rig.end(outcome);
    if let Some(told) = told {
        rig.say(format_args!(" {told:?}"));
    }
    parts.done(rig, end, outcome, flags)
}
