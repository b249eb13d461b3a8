//! Random calls on descriptors, options and watches, each judged against the model.

use super::rig::{EDGE, Kind, Rig};
use hostsim::errno::Errno;
use hostsim::kernel::Linger;
use hostsim::network::{Change, OptionName, OptionValue};
use std::time::Duration;

impl Rig {
    pub(crate) fn call_duplicate(&mut self, id: u64) {
        let copy = self.network.duplicate(self.opens[&id].at(), 0).expect("there are descriptors");
        self.say(format!("{id} dup = {copy:?}"));
        self.opens.get_mut(&id).unwrap().names.push(copy);
    }

    pub(crate) fn set(&mut self, id: u64, level: i32, name: i32, value: i32) {
        let at = self.opens[&id].at();
        self.say(format!("{id} option {level} {name} = {value}"));
        self.network.set_option(at, OptionName { level, name }, OptionValue::Int(value)).unwrap();
    }

    pub(crate) fn call_option(&mut self, id: u64) {
        let at = self.opens[&id].at();
        let size = self.random.of(&[0, 1, 3_000, 20_000, 1 << 30]);
        match self.random.below(5) {
            0 => self.set(id, libc::SOL_SOCKET, libc::SO_SNDBUF, size),
            1 => self.set(id, libc::SOL_SOCKET, libc::SO_RCVBUF, size),
            2 => self.set(id, libc::SOL_SOCKET, libc::SO_REUSEPORT, size & 1),
            3 => {
                let count = self.random.of(&[1, 2, 6, 40, 127]);
                self.set(id, libc::IPPROTO_TCP, libc::TCP_SYNCNT, count);
            }
            _ => {
                let linger = Linger { is_on: self.random.one_in(2), time: Duration::ZERO };
                let name = OptionName { level: libc::SOL_SOCKET, name: libc::SO_LINGER };
                self.network.set_option(at, name, OptionValue::Linger(linger)).unwrap();
                self.opens.get_mut(&id).unwrap().is_linger_zero = linger.is_on;
            }
        }
    }

    pub(crate) fn call_control(&mut self, id: u64) {
        let Some(watch) = self.opens[&id].watch else {
            assert!(self.watch(id, Change::Add, EDGE), "a file is watched anew");
            return;
        };
        let is_named = self.opens[&id].names.iter().any(|at| at.to_raw() == watch.raw);
        if !is_named {
            // The descriptor that the watch was added by is closed: no call reaches it any more.
            return;
        }
        assert!(!self.watch(id, Change::Add, EDGE), "it is watched");
        let level = EDGE & !(libc::EPOLLET as u32);
        let events = self.random.of(&[EDGE, EDGE, level, EDGE | libc::EPOLLONESHOT as u32]);
        assert!(self.watch(id, Change::Modify, events));
        if self.random.one_in(4) {
            assert!(self.watch(id, |_| Change::Delete, 0));
            self.opens.get_mut(&id).unwrap().watch = None;
        }
    }

    /// Calls that only look.
    pub(crate) fn look(&mut self, id: u64) {
        let (at, kind) = (self.opens[&id].at(), self.opens[&id].kind);
        self.network.local_address(at).unwrap();
        self.network.poll(at).unwrap();
        let peer = self.network.peer_address(at);
        match (kind, peer) {
            (Kind::End { flow, side }, Ok(peer)) => {
                let flow = &self.flows[flow];
                let seen = if side == 0 { flow.remote } else { flow.local };
                assert_eq!(hostsim::address::canonical(peer), seen);
            }
            (_, peer) => assert_eq!(peer, Err(Errno::ENOTCONN)),
        }
        let name = OptionName { level: libc::SOL_SOCKET, name: libc::SO_ERROR };
        match self.network.option(at, name).unwrap() {
            OptionValue::Int(0) => {}
            OptionValue::Int(error) if matches!(kind, Kind::End { .. }) => {
                self.on_failed(id, Errno(error));
            }
            value => assert_eq!((kind, value), (Kind::Fresh, OptionValue::Int(libc::ECONNRESET))),
        }
        let unread = self.network.unread(at);
        assert_eq!(unread.is_err(), kind == Kind::Listener);
    }
}
