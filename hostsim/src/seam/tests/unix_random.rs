//! Random calls on Unix sockets, made of the real kernel and of the simulated one: both say the same.

use super::epoll::control;
use super::unix::{Place, address_of, bind_to, connect_to};
use super::{Log, Outcome, inside};
use libc::{EPOLLET, EPOLLIN, EPOLLONESHOT, EPOLLOUT, EPOLLRDHUP, MSG_DONTWAIT, MSG_NOSIGNAL};
use libc::{SOCK_NONBLOCK, SOCK_STREAM, c_int, epoll_event};
use std::ptr::null_mut;

/// How many conversations there are, and how many calls each has.
const CASES: u64 = 400;
const CALLS: usize = 120;

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((word ^ (word >> 31)) % count as u64) as usize
    }

    fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }
}

/// A conversation under way: its sockets, by a number of their own.
struct Play {
    random: Random,
    text: String,
    sockets: Vec<c_int>,
    epoll: c_int,
    places: Vec<Place>,
}

const NOWAIT: c_int = SOCK_STREAM | SOCK_NONBLOCK;

impl Play {
    fn note(&mut self, what: &str, outcome: impl std::fmt::Display) {
        self.text += &format!("{what} = {outcome}\n");
    }

    fn open(&mut self) {
        let mut pair = [0; 2];
        if self.random.below(2) == 0 {
            call!(socketpair(libc::AF_UNIX, NOWAIT, 0, pair.as_mut_ptr()));
            self.sockets.extend(pair);
        } else {
            self.sockets.push(call!(socket(libc::AF_UNIX, NOWAIT, 0)).descriptor());
        }
    }

    fn step(&mut self) {
        if self.sockets.is_empty() || self.sockets.len() < 12 && self.random.below(6) == 0 {
            return self.open();
        }
        let index = self.random.below(self.sockets.len());
        let fd = self.sockets[index];
        let place = self.random.below(self.places.len());
        match self.random.below(17) {
            0 => {
                let done = bind_to(fd, &self.places[place]);
                self.note(&format!("{index} bind {place}"), done);
            }
            1 => {
                let backlog = self.random.below(3) as c_int;
                self.note(&format!("{index} listen {backlog}"), call!(listen(fd, backlog)));
            }
            2 | 3 => {
                let done = connect_to(fd, &self.places[place]);
                self.note(&format!("{index} connect {place}"), done);
            }
            4 | 5 => self.accept(index, fd),
            6 | 7 => self.send(index, fd),
            8 | 9 => self.receive(index, fd),
            10 => {
                let how = self.random.below(3) as c_int;
                self.note(&format!("{index} shutdown {how}"), call!(shutdown(fd, how)));
            }
            11 => {
                self.sockets.swap_remove(index);
                self.note(&format!("{index} close"), call!(close(fd)));
            }
            12 => {
                let gone = self.places[place].remove();
                self.note(&format!("remove {place}"), gone);
            }
            13 | 14 => self.watch(index, fd),
            15 => self.collect(),
            _ => self.look(index, fd),
        }
    }

    fn accept(&mut self, index: usize, fd: c_int) {
        let accepted = call!(accept4(fd, null_mut(), null_mut(), SOCK_NONBLOCK));
        self.note(&format!("{index} accept"), accepted.is_done());
        if let Outcome(Ok(accepted)) = accepted {
            self.sockets.push(accepted as c_int);
        }
    }

    fn send(&mut self, index: usize, fd: c_int) {
        let len = self.random.of(&[0, 1, 5, 40]);
        let bytes = vec![b'a' + (self.text.len() % 26) as u8; len];
        let done = call!(send(fd, bytes.as_ptr().cast(), len, MSG_NOSIGNAL));
        self.note(&format!("{index} send {len}"), done);
    }

    fn receive(&mut self, index: usize, fd: c_int) {
        let mut bytes = [0_u8; 100];
        let len = self.random.of(&[0, 1, 7, 100]);
        let flags = self.random.of(&[0, 0, libc::MSG_PEEK, libc::MSG_TRUNC, MSG_DONTWAIT]);
        let count = call!(recv(fd, bytes.as_mut_ptr().cast(), len, flags));
        let text = bytes.escape_ascii().to_string().replace("\\x00", "");
        self.note(&format!("{index} recv {len} {flags}"), format!("{count} {text}"));
    }

    fn watch(&mut self, index: usize, fd: c_int) {
        let change =
            self.random.of(&[libc::EPOLL_CTL_ADD, libc::EPOLL_CTL_MOD, libc::EPOLL_CTL_DEL]);
        let how = self.random.of(&[EPOLLET, EPOLLET, 0, EPOLLONESHOT]);
        let events = self.random.of(&[EPOLLIN, EPOLLOUT, EPOLLIN | EPOLLOUT | EPOLLRDHUP]);
        let done = control(self.epoll, change, fd, events | how, index as u64);
        self.note(&format!("{index} watch {change} {:#x}", events | how), done);
    }

    fn collect(&mut self) {
        let mut events = [epoll_event { events: 0, u64: 0 }; 32];
        let count = call!(epoll_wait(self.epoll, events.as_mut_ptr(), 32, 0));
        let told = events[..count.0.unwrap_or(0) as usize].iter();
        let mut told: Vec<_> = told.map(|event| ({ event.u64 }, { event.events })).collect();
        told.sort_unstable();
        self.note("events", format!("{told:x?}"));
    }

    fn look(&mut self, index: usize, fd: c_int) {
        let mut entry = libc::pollfd { fd, events: -1, revents: 0 };
        call!(poll(&mut entry, 1, 0));
        self.note(&format!("{index} poll"), format!("{:#x}", entry.revents));
        for option in [libc::SO_ERROR, libc::SO_ACCEPTCONN] {
            let value = super::option::int(fd, libc::SOL_SOCKET, option);
            self.note(&format!("{index} option {option}"), value);
        }
        let mut count: c_int = -7;
        let outcome = call!(ioctl(fd, libc::FIONREAD, &mut count));
        self.note(&format!("{index} unread"), format!("{outcome} {count}"));
        // What a packet counts beside its bytes differs between versions of Linux.
        let outcome = call!(ioctl(fd, libc::TIOCOUTQ, &mut count));
        self.note(&format!("{index} unread there"), format!("{outcome} {}", count > 0));
        for is_peer in [false, true] {
            let told = address_of(fd, is_peer);
            self.note(&format!("{index} name, of the peer {is_peer}"), told);
        }
    }
}

/// What a conversation gives.
fn play(seed: u64) -> String {
    let places = ["a", "b"].map(|name| [Place::new(name, true), Place::new(name, false)]);
    let mut log = Log::default();
    let epoll = log.keep(call!(epoll_create1(0)));
    let places = places.into_iter().flatten().collect();
    let random = Random(seed);
    let mut play = Play { random, text: String::new(), sockets: Vec::new(), epoll, places };
    for _ in 0..CALLS {
        play.step();
    }
    play.collect();
    while let Some(fd) = play.sockets.pop() {
        call!(close(fd));
    }
    play.places.iter().for_each(|place| _ = place.remove());
    play.text
}

#[test]
fn both_kernels_say_the_same() {
    for seed in 0..CASES {
        let real = play(seed);
        let (simulated, trouble) = inside(move || play(seed));
        let first = simulated.lines().zip(real.lines()).position(|(one, other)| one != other);
        if let Some(line) = first {
            let until = |text: &str| text.lines().take(line + 1).collect::<Vec<_>>().join("\n");
            let really = real.lines().nth(line).unwrap_or_default();
            panic!("case {seed}: {}\nreally: {really}", until(&simulated));
        }
        assert_eq!((simulated, trouble), (real, None), "case {seed}");
    }
}
