//! Which features a run has, and how they come to libFuzzer's table.

use super::*;
use crate::run::{Input, Run, run};
use crate::{Sim, Target};
use std::collections::BTreeSet;
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

#[test]
fn what_is_published_is_what_the_run_set() {
    let mut features = Features::default();
    [0, 63, 64, COUNTERS - 1].into_iter().for_each(|index| features.set(index));
    publish(&features);
    let shown: Vec<usize> =
        (0..COUNTERS).filter(|at| TABLE.0[*at].load(Ordering::Relaxed) > 0).collect();
    assert_eq!(shown, [0, 63, 64, COUNTERS - 1]);
    assert_eq!(features.iter().collect::<Vec<usize>>(), shown);
}
