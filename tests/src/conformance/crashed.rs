//! Facts about processes that are killed, stopped, or gone without a word, on two simulated hosts.
//!
//! The table measured them with processes of their own, which a row cannot have. Here the far
//! machine is dropped, as a kill drops a process; not run, as a stopped process is not; or taken off
//! the network and back, as a silent crash. The near machine's program sees the same. They do not
//! run on loopback.

use super::probe::{bare, close, millis, rd, settle, wr};
use hostsim::fleet::Fleet;
use std::cell::{Cell, RefCell};
use std::net::IpAddr;
use std::pin::Pin;
use std::rc::Rc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const PORT: u16 = 9;

/// What becomes of the far machine.
#[derive(Clone, Copy, Debug)]
enum Order {
    /// Its process is killed: its kernel closes what it had open.
    Kill,
    /// It does not run, and its kernel does.
    Stop,
    /// It runs again.
    Continue,
    /// It is gone without a word, and back with nothing.
    Crash,
}

/// Gives orders, from the near machine's program to who drives the machines.
#[derive(Clone, Default)]
struct Power(Rc<Cell<Option<Order>>>);

impl Power {
    /// Gives an order and waits until it is done and what follows has arrived.
    async fn give(&self, order: Order) {
        self.0.set(Some(order));
        settle().await;
    }
}

type Program = fn(IpAddr, Power) -> Pin<Box<dyn Future<Output = String>>>;

/// A fact: what the near machine's program sees.
#[derive(Clone, Copy)]
pub struct Crash {
    /// The id in the table.
    pub id: &'static str,
    /// What happens.
    pub name: &'static str,
    /// What is seen.
    pub expected: &'static str,
    program: Program,
}

/// The facts, sorted by id.
pub const CRASHES: &[Crash] = &[
    Crash {
        id: "F15",
        name: "the serving process is killed",
        expected: "C1 (all read) read Ok(0), read Ok(0); \
                   C2 (data unread) read Err(ConnectionReset, os 104), read Ok(0); \
                   C3 (backlog) read Err(ConnectionReset, os 104), write Err(BrokenPipe, os 32); \
                   dial Err(ConnectionRefused, os 111)",
        program: |server, power| Box::pin(killed(server, power)),
    },
    Crash {
        id: "F17",
        name: "the serving process is stopped",
        expected: "before read Ok(3 \"one\"); stopped: dial Ok, write Ok(3), read pending; \
                   continued: read Ok(3 \"two\")",
        program: |server, power| Box::pin(stopped(server, power)),
    },
    Crash {
        id: "F18",
        name: "the peer is gone without a word, and we keep writing",
        expected: "write Ok(1), read Err(ConnectionReset, os 104), write Err(BrokenPipe, os 32)",
        program: |server, power| Box::pin(crashed(server, power)),
    },
];

/// What a fact showed; as expected where it holds.
///
/// # Panics
/// Where the machines cannot be started or one cannot go on.
pub fn observe(crash: &Crash) -> String {
    let mut fleet = Fleet::start(&["near", "far"]).expect("machines start");
    let server = fleet.address("far");
    fleet.spawn("far", serve(server));
    let power = Power::default();
    let seen = Rc::new(RefCell::new(None));
    let (program, into) = ((crash.program)(server, power.clone()), seen.clone());
    fleet.spawn("near", async move {
        // The server listens by then.
        settle().await;
        *into.borrow_mut() = Some(program.await);
    });
    loop {
        if let Some(order) = power.0.take() {
            obey(&mut fleet, order);
        }
        if let Some(seen) = seen.take() {
            return seen;
        }
        let goes_on = fleet.step().unwrap_or_else(|trouble| panic!("{trouble:?}"));
        assert!(goes_on || seen.borrow().is_some(), "the program waits for what never comes");
    }
}

fn obey(fleet: &mut Fleet, order: Order) {
    let far = fleet.host("far");
    match order {
        Order::Kill => fleet.kill("far"),
        Order::Stop => fleet.pause("far"),
        Order::Continue => fleet.resume("far"),
        Order::Crash => {
            fleet.world().with(|network| network.fence(far));
            fleet.kill("far");
            fleet.world().with(|network| network.unfence(far));
        }
    }
}

/// Accepts two connections: reads from the first and answers, leaves the second unread. The third
/// stays in the backlog.
async fn serve(address: IpAddr) {
    let listener = TcpListener::bind((address, PORT)).await.expect("the port is free");
    let (mut first, _) = listener.accept().await.expect("accept");
    let _second = listener.accept().await;
    let mut bytes = [0; 3];
    while first.read_exact(&mut bytes).await.is_ok() {
        if first.write_all(&bytes).await.is_err() {
            return;
        }
    }
    std::future::pending::<()>().await;
}

async fn dial(server: IpAddr) -> TcpStream {
    TcpStream::connect((server, PORT)).await.expect("the server listens")
}

async fn killed(server: IpAddr, power: Power) -> String {
    let (mut c1, mut c2) = (dial(server).await, dial(server).await);
    c2.write_all(b"two").await.expect("write");
    let mut c3 = dial(server).await;
    settle().await;
    power.give(Order::Kill).await;
    let (first, second) = (rd(&mut c1).await, rd(&mut c1).await);
    let (third, fourth) = (rd(&mut c2).await, rd(&mut c2).await);
    let (fifth, sixth) = (rd(&mut c3).await, wr(&mut c3, b"x").await);
    let again = TcpStream::connect((server, PORT)).await;
    let again = again.map_or_else(|error| super::probe::err(&error), |_| "Ok".to_owned());
    format!(
        "C1 (all read) read {first}, read {second}; C2 (data unread) read {third}, read {fourth}; \
         C3 (backlog) read {fifth}, write {sixth}; dial {again}"
    )
}

async fn stopped(server: IpAddr, power: Power) -> String {
    let mut c1 = dial(server).await;
    let _second = dial(server).await;
    c1.write_all(b"one").await.expect("write");
    let before = rd(&mut c1).await;
    power.give(Order::Stop).await;
    let dialed = TcpStream::connect((server, PORT)).await;
    let (written, held) = (wr(&mut c1, b"two").await, rd(&mut c1).await);
    millis(500).await;
    power.give(Order::Continue).await;
    let after = rd(&mut c1).await;
    let text = format!(
        "before read {before}; stopped: dial {}, write {written}, read {held}; \
         continued: read {after}",
        bare(dialed)
    );
    close(c1).await;
    text
}

async fn crashed(server: IpAddr, power: Power) -> String {
    let mut c1 = dial(server).await;
    settle().await;
    power.give(Order::Crash).await;
    let written = wr(&mut c1, b"x").await;
    settle().await;
    let (read, again) = (rd(&mut c1).await, wr(&mut c1, b"x").await);
    format!("write {written}, read {read}, write {again}")
}
