//! Random calls on random sockets, each judged against the model.

use super::flow::Flow;
use super::rig::{EDGE, Kind, Rig};
use super::silence::Silence;
use hostsim::address::Domain;
use hostsim::errno::{Errno, Sys};
use hostsim::kernel::HostId;
use hostsim::network::{Change, OptionName, OptionValue, WireId};
use hostsim::tcp::{Direction, Readiness};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

const IN: u32 = libc::EPOLLIN as u32;
const OUT: u32 = libc::EPOLLOUT as u32;

impl Rig {
    /// Makes one random call.
    pub(crate) fn call(&mut self) {
        let Some(id) = self.pick() else { return self.call_socket() };
        match self.random.below(100) {
            0..6 => self.call_socket(),
            6..12 => self.call_bind(id),
            12..20 => self.call_listen(id),
            20..32 => self.call_connect(id),
            32..44 => self.call_accept(id),
            44..60 => self.call_send(id),
            60..78 => self.call_receive(id),
            78..81 => self.call_shutdown(id),
            81..86 => self.call_close(id),
            86..88 => self.call_duplicate(id),
            88..92 => self.call_option(id),
            92..96 => self.call_control(id),
            96..97 => self.change_route(),
            97..98 => self.change_latencies(),
            98..99 => self.call_silence(),
            _ => self.look(id),
        }
    }

    pub(crate) fn call_socket(&mut self) {
        let host = self.host();
        let domain = self.random.of(&[Domain::V4, Domain::V4, Domain::V6]);
        let at = self.network.socket(host, domain, true).expect("there are descriptors");
        let id = self.open(at, Kind::Fresh);
        self.say(format!("{id} = socket {at:?} {domain:?}"));
        if !self.random.one_in(4) {
            assert!(self.watch(id, Change::Add, EDGE));
        }
    }

    fn address(&mut self) -> SocketAddr {
        let host = self.host();
        let own = self.own(host);
        let loopback = IpAddr::V4(Ipv4Addr::LOCALHOST);
        let wild = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
        let v6 = self.random.of(&[Domain::V6.unspecified(), "::1".parse().unwrap()]);
        let foreign = "192.0.2.1".parse().unwrap();
        let ip = self.random.of(&[own, own, own, own, loopback, wild, v6, foreign]);
        SocketAddr::new(ip, self.random.of(&[7, 7, 7, 8, 9, 0]))
    }

    /// An address of a host, of either family.
    fn own(&mut self, host: HostId) -> IpAddr {
        let [v4, v6] = [self.network.address(host), self.network.address_v6(host)];
        self.random.of(&[v4, v4, v6])
    }

    fn call_bind(&mut self, id: u64) {
        let (at, address) = (self.opens[&id].at(), self.address());
        if self.random.one_in(2) {
            self.set(id, libc::SOL_SOCKET, libc::SO_REUSEADDR, 1);
        }
        let address = if self.random.one_in(3) { address } else { self.own_address(id, address) };
        let result = self.network.bind(at, address);
        self.say(format!("{id} bind {address} = {result:?}"));
        let known = [Errno::EINVAL, Errno::EAFNOSUPPORT, Errno::EADDRNOTAVAIL, Errno::EADDRINUSE];
        assert!(result.is_ok() || known.contains(&result.unwrap_err()));
    }

    /// An address that the socket's host has, in its family.
    fn own_address(&mut self, id: u64, address: SocketAddr) -> SocketAddr {
        let at = self.opens[&id].at();
        let is_v6 = self.network.local_address(at).unwrap().is_ipv6();
        let own = match self.own(at.host) {
            IpAddr::V4(own) if is_v6 => own.to_ipv6_mapped().into(),
            IpAddr::V6(_) if !is_v6 => self.network.address(at.host),
            own => own,
        };
        let wild = if is_v6 { Domain::V6 } else { Domain::V4 }.unspecified();
        SocketAddr::new(self.random.of(&[own, wild]), address.port())
    }

    fn call_listen(&mut self, id: u64) {
        let at = self.opens[&id].at();
        let backlog = self.random.below(3) as i32;
        let result = self.network.listen(at, backlog);
        self.say(format!("{id} listen {backlog} = {result:?}"));
        let open = self.opens.get_mut(&id).unwrap();
        match (result, open.kind) {
            (Ok(()), Kind::Fresh | Kind::Listener) => open.kind = Kind::Listener,
            (Err(Errno::EINVAL), Kind::End { .. }) | (Err(Errno::EADDRINUSE), Kind::Fresh) => {}
            (result, kind) => panic!("listen on {kind:?} is {result:?}"),
        }
    }

    fn call_connect(&mut self, id: u64) {
        let (at, kind) = (self.opens[&id].at(), self.opens[&id].kind);
        let mut address = self.address();
        if !self.random.one_in(8) {
            // Where somebody listens.
            let listeners = self.opens.values().filter(|open| open.kind == Kind::Listener);
            let places: Vec<_> = listeners.map(|open| open.at()).collect();
            if !places.is_empty() {
                let place = self.random.of(&places);
                let local = self.network.local_address(place).unwrap();
                address = SocketAddr::new(self.own(place.host), local.port());
            }
        }
        if self.random.one_in(5) {
            address.set_ip(self.route);
        }
        let is_v6 = self.network.domain(at) == Ok(Domain::V6);
        if let (IpAddr::V4(ip), true) = (address.ip(), is_v6) {
            address.set_ip(ip.to_ipv6_mapped().into());
        }
        let error = self.network.connect(at, address).err();
        self.say(format!("{id} connect {address} = {error:?}"));
        let open = self.opens.get_mut(&id).unwrap();
        match (kind, error) {
            (Kind::Fresh, Some(Errno::EINPROGRESS)) => self.on_dialed(id, address),
            (Kind::Fresh, Some(error)) => assert!(
                [Errno::EAFNOSUPPORT, Errno::ENETUNREACH, Errno::EADDRNOTAVAIL, Errno::EINVAL]
                    .contains(&error)
            ),
            (Kind::Listener, Some(Errno::EISCONN)) => {}
            (Kind::End { .. }, Some(Errno::EALREADY)) => open.missing |= OUT,
            (Kind::End { side: 0, .. }, None) | (Kind::End { .. }, Some(Errno::EISCONN)) => {}
            (Kind::End { .. }, Some(Errno::EINVAL)) => assert!(open.is_settled),
            (Kind::End { flow, side: 0 }, Some(error)) => {
                let flow = &mut self.flows[flow];
                let is_refused = [Errno::ECONNREFUSED, Errno::ETIMEDOUT, Errno::ECONNABORTED];
                assert!(is_refused.contains(&error) || flow.resets(), "{error:?} {flow:?}");
                // The socket is as it was before it dialed.
                open.kind = Kind::Fresh;
                open.is_shut_before = [false; 2];
                flow.may_reset = true;
            }
            (kind, error) => panic!("connect on {kind:?} is {error:?}"),
        }
    }

    fn on_dialed(&mut self, id: u64, to: SocketAddr) {
        let at = self.opens[&id].at();
        let local = self.network.local_address(at).unwrap();
        let mut remote = canonical(to);
        if remote.ip().is_unspecified() {
            // The wildcard means oneself.
            let v6 = IpAddr::V6(Ipv6Addr::LOCALHOST);
            remote.set_ip(if remote.is_ipv4() { canonical(local).ip() } else { v6 });
        }
        let flow = self.flows.len();
        self.flows.push(Flow::new(flow as u64, canonical(local), remote));
        let open = self.opens.get_mut(&id).unwrap();
        open.kind = Kind::End { flow, side: 0 };
        open.missing |= OUT;
        let [reads, writes] = open.is_shut_before;
        (open.has_failed, open.is_read_shut, open.is_settled) = (false, reads, false);
        self.flows[flow].lanes[0].has_ended = writes;
    }

    fn call_accept(&mut self, id: u64) {
        let at = self.opens[&id].at();
        let result = self.network.accept(at, true);
        self.say(format!("{id} accept = {result:?}"));
        match (self.opens[&id].kind, result) {
            (Kind::Listener, Ok((accepted, remote))) => {
                let local = self.network.local_address(accepted).unwrap();
                // Connections are numbered by their dials, and so are flows.
                let (WireId(wire), side) = self.network.wire_of(accepted).unwrap().unwrap();
                let flow = wire as usize;
                let (dialer, mut dialed) = (self.flows[flow].local, self.flows[flow].remote);
                if dialed.ip() == self.route {
                    dialed.set_ip(self.network.address(at.host));
                }
                assert_eq!((dialer, dialed, side), (canonical(remote), canonical(local), 1));
                assert!(!self.flows[flow].is_accepted, "a connection is accepted once");
                self.flows[flow].is_accepted = true;
                let id = self.open(accepted, Kind::End { flow, side: 1 });
                // Options come from the listener, as it was when the handshake ended.
                let name = OptionName { level: libc::SOL_SOCKET, name: libc::SO_LINGER };
                let linger = self.network.option(accepted, name);
                let is_linger_zero = matches!(linger, Ok(OptionValue::Linger(l)) if l.is_reset());
                self.opens.get_mut(&id).unwrap().is_linger_zero = is_linger_zero;
                if !self.random.one_in(4) {
                    self.watch(id, Change::Add, EDGE);
                }
            }
            (Kind::Listener, Err(Errno::EAGAIN)) => {
                self.opens.get_mut(&id).unwrap().missing |= IN;
            }
            (Kind::Fresh | Kind::End { .. }, Err(Errno::EINVAL)) => {}
            (kind, result) => panic!("accept on {kind:?} is {result:?}"),
        }
    }

    /// How many bytes a call is about.
    fn size(&mut self) -> usize {
        let large = if self.random.one_in(8) { 200_000 } else { 5_000 };
        self.random.of(&[0, 1, 1, 2, 3, 50, 300, large])
    }

    fn call_send(&mut self, id: u64) {
        let (at, kind) = (self.opens[&id].at(), self.opens[&id].kind);
        let count = self.size();
        let Kind::End { flow, side } = kind else {
            let error = self.network.send(at, &[0]).unwrap_err();
            assert!([Errno::EPIPE, Errno::ECONNRESET].contains(&error), "{error:?}");
            return;
        };
        let result = self.network.send(at, &self.flows[flow].next(side, count));
        self.say(format!("{id} send {count} = {result:?}"));
        let open = self.opens.get_mut(&id).unwrap();
        let lane = &mut self.flows[flow].lanes[side];
        match result {
            Ok(sent) => {
                assert!(!lane.has_ended && sent <= count, "{sent} of {count}");
                lane.written += sent as u64;
                open.missing |= if sent < count { OUT } else { 0 };
            }
            Err(Errno::EAGAIN) => open.missing |= OUT,
            Err(Errno::EPIPE) if lane.has_ended || open.has_failed => {}
            Err(error) => self.on_failed(id, error),
        }
    }

    pub(crate) fn call_receive(&mut self, id: u64) {
        let count = self.size();
        let is_peek = self.random.one_in(6);
        let _ = self.receive(id, count, is_peek);
    }

    /// Receives up to `count` bytes; what came of it.
    pub(crate) fn receive(&mut self, id: u64, count: usize, is_peek: bool) -> Sys<usize> {
        let (at, kind) = (self.opens[&id].at(), self.opens[&id].kind);
        let mut bytes = vec![0; count];
        let result = self.network.receive(at, &mut bytes, is_peek);
        self.say(format!("{id} receive {count} {is_peek} = {result:?}"));
        let Kind::End { flow, side } = kind else {
            let is_shut = self.opens[&id].is_shut_before[0] && kind == Kind::Fresh;
            match result {
                Ok(count) => assert!(count == 0 && is_shut, "{count}"),
                Err(errno) => assert!([Errno::ENOTCONN, Errno::ECONNRESET].contains(&errno)),
            }
            return result;
        };
        let open = self.opens.get_mut(&id).unwrap();
        let flow = &mut self.flows[flow];
        match result {
            Ok(0) if count > 0 => {
                let lane = flow.lanes[side ^ 1];
                let is_whole = lane.has_ended && lane.read == lane.written;
                assert!(is_whole || open.is_read_shut || open.has_failed, "{lane:?} {open:?}");
            }
            Ok(got) => {
                flow.on_read(side ^ 1, &bytes[..got], is_peek);
                // Less than asked is the last of it, except before an end that is there already.
                let is_last = got < count && !is_peek && !self.is_readable(id);
                self.opens.get_mut(&id).unwrap().missing |= if is_last { IN } else { 0 };
            }
            Err(Errno::EAGAIN) => open.missing |= IN,
            Err(error) => self.on_failed(id, error),
        }
        result
    }

    fn is_readable(&mut self, id: u64) -> bool {
        let Readiness(now) = self.network.poll(self.opens[&id].at()).unwrap();
        now & IN != 0
    }

    /// A call said that the connection ended.
    pub(crate) fn on_failed(&mut self, id: u64, error: Errno) {
        let open = self.opens.get_mut(&id).unwrap();
        let Kind::End { flow, side } = open.kind else { panic!("{error:?} without connection") };
        let flow = &mut self.flows[flow];
        let is_dial = side == 0 && !flow.is_accepted;
        match error {
            Errno::ETIMEDOUT if self.silence == Silence::Long => {}
            Errno::ECONNREFUSED | Errno::ETIMEDOUT => assert!(is_dial, "{error:?} {flow:?}"),
            Errno::ECONNRESET | Errno::EPIPE if self.silence == Silence::Long => {}
            Errno::ECONNRESET | Errno::EPIPE => assert!(flow.resets(), "{error:?} {flow:?}"),
            error => panic!("{error:?}"),
        }
        assert!(!open.has_failed, "an error is told once");
        open.has_failed = true;
        flow.may_reset = true;
    }

    /// Whether a dial goes on: then, and only then, a poll sees nothing and there is no peer.
    fn is_dialing(&mut self, id: u64) -> bool {
        let at = self.opens[&id].at();
        let Readiness(now) = self.network.poll(at).unwrap();
        now & OUT == 0 && self.network.peer_address(at).is_err()
    }

    fn call_shutdown(&mut self, id: u64) {
        let (at, kind) = (self.opens[&id].at(), self.opens[&id].kind);
        let direction = self.random.of(&[Direction::Read, Direction::Write, Direction::Both]);
        let is_dialing = self.is_dialing(id);
        let result = self.network.shutdown(at, direction);
        self.say(format!("{id} shutdown {direction:?} = {result:?}"));
        let (reads, writes) = (direction != Direction::Write, direction != Direction::Read);
        let open = self.opens.get_mut(&id).unwrap();
        match (kind, result) {
            (Kind::Listener, Ok(())) if reads => {
                open.kind = Kind::Fresh;
                open.is_shut_before = [false; 2];
                self.on_listener_gone(at.host);
            }
            (Kind::Listener, Ok(())) => {}
            (Kind::End { flow, .. }, Ok(())) if is_dialing => {
                open.kind = Kind::Fresh;
                open.is_shut_before = [false; 2];
                self.flows[flow].may_reset = true;
            }
            (Kind::End { flow, side }, Ok(())) => {
                let lanes = &mut self.flows[flow].lanes;
                open.is_read_shut |= reads;
                lanes[side].has_ended |= writes;
                lanes[side ^ 1].is_unread |= open.is_read_shut && lanes[side].has_ended;
            }
            (Kind::Fresh, Err(Errno::ENOTCONN)) => {
                open.is_shut_before[0] |= reads;
                open.is_shut_before[1] |= writes;
            }
            (Kind::End { .. }, Err(Errno::ENOTCONN)) => open.is_settled = true,
            (kind, result) => panic!("shutdown on {kind:?} is {result:?}"),
        }
    }

    pub(crate) fn call_close(&mut self, id: u64) {
        let open = self.opens.get_mut(&id).unwrap();
        let index = self.random.below(open.names.len());
        let at = open.names.swap_remove(index);
        self.network.close(at).unwrap();
        if !open.names.is_empty() {
            return self.say(format!("{id} close {at:?} of several"));
        }
        let open = self.opens.remove(&id).unwrap();
        self.say(format!("{id} close {at:?}"));
        match open.kind {
            Kind::Fresh => {}
            Kind::Listener => self.on_listener_gone(at.host),
            Kind::End { flow, side } => {
                let flow = &mut self.flows[flow];
                flow.lanes[side].has_ended = true;
                flow.lanes[side ^ 1].is_unread = true;
                flow.may_reset |= open.is_linger_zero;
            }
        }
    }

    /// What waited to be accepted on a host may be reset.
    fn on_listener_gone(&mut self, host: HostId) {
        let own = [self.network.address(host), self.network.address_v6(host)];
        let route = self.route;
        let is_own = |ip: IpAddr| own.contains(&ip) || ip == route || ip.is_loopback();
        for flow in self.flows.iter_mut().filter(|flow| is_own(flow.remote.ip())) {
            flow.may_reset |= !flow.is_accepted;
        }
    }
}

fn canonical(address: SocketAddr) -> SocketAddr {
    hostsim::address::canonical(address)
}
