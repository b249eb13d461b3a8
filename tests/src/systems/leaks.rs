//! Systems that let the world in, and must be found out.
//!
//! Each is a canary of the self-check: two runs of one input differ, and the report names the first
//! event that does.
#![expect(clippy::disallowed_types, reason = "the order of a `HashMap` is one of the leaks")]

use hostsim::seam::outside;
use sim_core::{Sim, Target};
use std::collections::HashMap;
use std::rc::Rc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// A node that orders its sends by a `HashMap` that was filled on the test's thread.
pub fn map() -> Target {
    Target::with_setup("leak_map", filled_map, |sim, map| {
        let map = Rc::new(map);
        send_each(sim, move || map.keys().copied().collect());
    })
}

/// A node that reads the real clock past the seam and sends what it read.
pub fn clock() -> Target {
    Target::new("leak_clock", |sim| {
        send_each(sim, || (0..4).map(|_| outside::monotonic().subsec_nanos()).collect());
    })
}

fn filled_map() -> HashMap<u32, ()> {
    (0..32).map(|key| (key, ())).collect()
}

/// A node that sends numbers in the order in which it gets them.
fn send_each(sim: &mut Sim, numbers: impl Fn() -> Vec<u32> + 'static) {
    let server = sim.node("sink", |process| async move {
        let listener = TcpListener::bind((process.address(), 7)).await.expect("the port is free");
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut bytes = Vec::new();
            drop(stream.read_to_end(&mut bytes).await);
        }
    });
    let (address, numbers) = (server.addresses()[0], Rc::new(numbers));
    sim.client("source", move |_| {
        let numbers = numbers.clone();
        async move {
            let mut stream = TcpStream::connect((address, 7)).await.expect("the sink listens");
            for number in numbers() {
                stream.write_all(&number.to_be_bytes()).await.expect("the sink reads");
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        }
    });
}
