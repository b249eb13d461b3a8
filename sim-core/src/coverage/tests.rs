//! Which features a run has, and how they come to libFuzzer's table.

use super::*;
use crate::fuzz::{self, Case};
use crate::run::{Input, Run, run};
use crate::{Sim, Target, self_check};
use std::collections::BTreeSet;
use std::sync::atomic::AtomicU32;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::net::{TcpListener, TcpStream};

fn run_of(body: impl Fn(&mut Sim) + Send + Sync + 'static) -> Run {
    let run =
        run(&Target::new("covered", body), &Input::Bytes(Vec::new()), Duration::from_secs(60));
    assert_eq!(run.failure, None);
    run
}

/// The features of a run that tells these states.
fn told(states: &'static [u32]) -> BTreeSet<usize> {
    let tell = move |sim: &mut Sim| {
        sim.client("client", move |_| async { states.iter().for_each(observe) });
    };
    run_of(tell).features.iter().collect()
}

#[test]
fn a_state_is_one_feature_however_often_it_is_told() {
    let (none, one, two) = (told(&[]), told(&[7, 7, 7]), told(&[7, 8]));
    assert_eq!(one.len(), none.len() + 1);
    assert_eq!(two.len(), none.len() + 2);
    assert!(none.is_subset(&one) && one.is_subset(&two));
}

/// The table means the same in every process and version: a corpus is built upon it.
#[test]
fn the_counter_of_a_state_is_pinned() {
    let added: Vec<usize> = told(&[7]).difference(&told(&[])).copied().collect();
    assert_eq!(added, [PINNED]);
}

/// Of FNV-1a over the byte 1, which says state, and the bytes of 7.
const PINNED: usize = 2557;

#[test]
fn states_are_no_events() {
    let hash = |states: &'static [u32]| {
        let tell = move |sim: &mut Sim| {
            sim.client("client", move |_| async { states.iter().for_each(observe) });
        };
        run_of(tell).hash
    };
    assert_eq!(hash(&[]), hash(&[1, 2, 3]));
}

/// Every pair of an event and a state has a counter of its own, apart from those that are hashed.
#[test]
fn a_handshake_is_pairs_of_segments_and_states() {
    let run = run_of(|sim| {
        sim.node("server", |_| async {
            let listener = TcpListener::bind("0.0.0.0:7").await.expect("the port is free");
            while let Ok((stream, _)) = listener.accept().await {
                drop(stream);
            }
        });
        sim.client("client", |_| async {
            let mut stream = TcpStream::connect("server:7").await.expect("the server listens");
            let read = stream.read(&mut [0]).await;
            assert_eq!(read.expect("the stream ends"), 0);
        });
    });
    let pair = |event: Event, state: Option<State>| {
        let index = event as usize * STATES + state.map_or(0, |state| state as usize + 1);
        run.features.iter().any(|set| set == index)
    };
    assert!(pair(Event::Syn, None), "a SYN meets a listener");
    assert!(pair(Event::SynAck, Some(State::SynSent)), "its answer meets the dialer");
    assert!(pair(Event::Fin, Some(State::Established)), "the end meets a connection that stands");
    assert!(!pair(Event::Rst, Some(State::Established)));
    assert!(!pair(Event::Timer, None));
}

#[test]
fn a_segment_is_one_kind_of_event() {
    let segment = |flags, len| Segment { flags, seq: 0, ack: 0, window: 0, len };
    let cases = [
        (Flags::SYN, 0, Event::Syn),
        (Flags::SYN | Flags::ACK, 0, Event::SynAck),
        (Flags::ACK, 0, Event::Ack),
        (Flags::ACK, 3, Event::Bytes),
        (Flags::FIN | Flags::ACK, 3, Event::Fin),
        (Flags::RST | Flags::ACK, 0, Event::Rst),
    ];
    for (flags, len, event) in cases {
        assert_eq!(Event::of(&segment(flags, len)), event);
    }
}

/// A control is told apart by what was under way when it began.
#[test]
fn controls_pair_with_operations() {
    let features = |under_way: &[&'static str]| {
        let mut coverage = Coverage::default();
        coverage.on_control("control crash", under_way.iter().copied());
        assert!(coverage.marks.contains("control crash"));
        coverage.features.iter().collect::<Vec<usize>>()
    };
    let (none, send, both) = (features(&[]), features(&["Send"]), features(&["Send", "Close"]));
    assert_eq!((none.len(), send.len(), both.len()), (1, 1, 2));
    assert_ne!(none, send);
    assert!(both.contains(&send[0]));
}

/// What the table of the process shows of some work, which it is cleared before, as by libFuzzer. It
/// is one table, so one test at a time looks at it.
fn shown(work: impl FnOnce()) -> BTreeSet<usize> {
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    TABLE.0.iter().for_each(|counter| counter.store(0, Ordering::Relaxed));
    work();
    let counts = TABLE.0.iter().map(|counter| counter.load(Ordering::Relaxed));
    let set: Vec<(usize, u8)> = counts.enumerate().filter(|(_, count)| *count > 0).collect();
    assert!(set.iter().all(|(_, count)| *count == 1), "{set:?}");
    set.into_iter().map(|(at, _)| at).collect()
}

#[test]
fn what_is_published_is_what_the_run_set() {
    let mut features = Features::default();
    [0, 63, 64, COUNTERS - 1].into_iter().for_each(|index| features.set(index));
    let shown = shown(|| [(); 2].into_iter().for_each(|()| publish(&features)));
    assert_eq!(shown, [0, 63, 64, COUNTERS - 1].into());
    assert_eq!(features.iter().collect::<BTreeSet<usize>>(), shown);
}

/// Neither the runs of the self-check nor one to know the tape of an input that is mutated.
#[test]
fn the_first_run_of_an_input_alone_is_published() {
    static RUNS: AtomicU32 = AtomicU32::new(0);
    let runs = || RUNS.load(Ordering::Relaxed);
    // Each run tells a state of its own, which its history knows nothing of.
    let target = Target::new("published", |sim| {
        let run = RUNS.fetch_add(1, Ordering::Relaxed);
        sim.client("client", move |_| async move { observe(run) });
    });
    let one = |bytes: &[u8]| {
        let (first, case) = (runs(), Case(bytes));
        let shown = shown(|| assert!(fuzz::one(&target, case), "it passes"));
        let mut features = Features::default();
        let mut hash = start(Kind::State);
        first.hash(&mut hash);
        features.set_hashed(hash);
        let expected: BTreeSet<usize> = &told(&[]) | &features.iter().collect();
        assert_eq!(shown, expected, "of runs {first} to {}", runs());
        runs() - first
    };
    // The second input of a process is run again.
    assert_eq!([one(&[]), one(&[1])], [1, 1 + self_check::RERUNS]);
    let mut unknown = [1, 2, 3, 0];
    let before = runs();
    let mutated = || _ = fuzz::mutate(&target, &mut unknown, 3, 4, 1, |_, size, _| size);
    assert_eq!((shown(mutated), runs() - before), (BTreeSet::new(), 1));
}
