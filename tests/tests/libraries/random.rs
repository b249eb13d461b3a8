//! Random bytes of a node, by each of the libraries that programs take them from.
//!
//! They are a function of the input: the same in two runs of one, others where its entropy is.

use rand::rngs::SysRng;
use rand::{Rng, TryRng};
use ring::rand::{SecureRandom, SystemRandom};
use sim_core::Target;
use sim_core::run::{Input, run};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use uuid::Uuid;

const WATCHDOG: Duration = Duration::from_secs(60);

type Bytes = [u8; 16];

/// Takes bytes by each library.
fn draw() -> Vec<(&'static str, Bytes)> {
    let (mut of_ring, mut of_thread, mut of_system) = ([0; 16], [0; 16], [0; 16]);
    SystemRandom::new().fill(&mut of_ring).expect("the system gives bytes");
    rand::rng().fill_bytes(&mut of_thread);
    SysRng.try_fill_bytes(&mut of_system).expect("the system gives bytes");
    let of_uuid = Uuid::new_v4().into_bytes();
    vec![
        ("ring::rand::SystemRandom", of_ring),
        ("rand::rng", of_thread),
        ("rand::rngs::SysRng", of_system),
        ("uuid::Uuid::new_v4", of_uuid),
    ]
}

/// What a node draws in a run of that entropy.
fn drawn(entropy: u8) -> Vec<(&'static str, Bytes)> {
    let drawn = Arc::new(Mutex::new(Vec::new()));
    let told = drawn.clone();
    let target = Target::new("random", move |sim| {
        let told = told.clone();
        sim.client("client", move |_| {
            let told = told.clone();
            async move { *told.lock().expect("nobody panicked") = draw() }
        });
    });
    // The swarm's lane has two bytes.
    let run = run(&target, &Input::Bytes(vec![2, entropy, 0]), WATCHDOG);
    assert_eq!(run.failure, None);
    let drawn = drawn.lock().expect("nobody panicked");
    drawn.clone()
}

#[test]
fn random_bytes_are_a_function_of_the_input() {
    let (first, again, other) = (drawn(1), drawn(1), drawn(2));
    assert_eq!(first.len(), 4);
    assert_eq!(first, again);
    for ((name, bytes), (_, others)) in first.iter().zip(&other) {
        assert_ne!(bytes, others, "{name}");
        let count = first.iter().filter(|(_, same)| same == bytes).count();
        assert_eq!(count, 1, "{name} gives bytes of its own");
    }
}
