//! Runs the table on the simulated kernel: both ends on one machine, or on two hosts.
//!
//! Each row has a network of its own and its events come in canonical order. Not a test: it judges.

use super::{Far, Faults, Kind, Observation, Place, Row, judge, observe};
use hostsim::fleet::Fleet;
use hostsim::kernel::Descriptor;
use hostsim::world::World;
use std::cell::RefCell;
use std::net::IpAddr;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::rc::Rc;
use std::time::Duration;

/// The way between the two hosts, in each direction.
const LATENCY: Duration = Duration::from_millis(1);

/// Makes an end deaf by order of the network.
struct Orders(Rc<World>);

impl Orders {
    fn set_deaf(&self, end: BorrowedFd<'_>, is_deaf: bool) {
        let at = Descriptor::from_raw(end.as_raw_fd()).expect("the end is simulated");
        self.0.with(|network| network.set_deaf(at, is_deaf)).expect("the end is a socket");
    }
}

impl Faults for Orders {
    fn deafen(&self, end: BorrowedFd<'_>) {
        self.set_deaf(end, true);
    }

    fn heal(&self, end: BorrowedFd<'_>) {
        self.set_deaf(end, false);
    }
}

/// Runs rows one after another.
///
/// # Panics
/// If a machine cannot be started.
pub fn run_simulated(rows: &[Row], kind: Kind) -> Vec<Observation> {
    rows.iter().map(|row| run_one(row, kind, Fleet::address)).collect()
}

/// Runs rows one after another on two hosts that reach each other by IPv6.
///
/// # Panics
/// If a machine cannot be started.
pub fn run_simulated_v6(rows: &[Row]) -> Vec<Observation> {
    rows.iter().map(|row| run_one(row, Kind::TwoHosts, Fleet::address_v6)).collect()
}

fn run_one(row: &Row, kind: Kind, address: fn(&Fleet, &str) -> IpAddr) -> Observation {
    let mut fleet = Fleet::start(&["near", "far"]).expect("machines start");
    let (near, far) = (fleet.host("near"), fleet.host("far"));
    fleet.world().with(|network| {
        network.set_latency(near, far, LATENCY);
        network.set_latency(far, near, LATENCY);
    });
    let place = match kind {
        Kind::TwoHosts => {
            let (far, agent) = Far::channel();
            fleet.spawn("far", agent.serve());
            Place::two_hosts(far, address(&fleet, "far")).named("far")
        }
        _ => Place::one_machine().named("near"),
    };
    let place = place.with_faults(Rc::new(Orders(fleet.world().clone())));
    let seen = Rc::new(RefCell::new(None));
    let (steps, into) = (*row, seen.clone());
    fleet.spawn("near", async move { *into.borrow_mut() = Some(observe(&steps, place).await) });
    let observed = follow(&mut fleet, &seen);
    let verdict = judge(kind, row, &observed);
    Observation { row: *row, observed, verdict }
}

/// Runs until the row said what it saw, or cannot go on.
fn follow(fleet: &mut Fleet, seen: &RefCell<Option<String>>) -> String {
    loop {
        if let Some(observed) = seen.take() {
            return observed;
        }
        match fleet.step() {
            Ok(true) => {}
            Ok(false) => return seen.take().unwrap_or_else(|| "DEADLOCK".to_owned()),
            Err(trouble) => return format!("TROUBLE {}", fleet.describe(&trouble)),
        }
        fleet.world().network().check_invariants();
    }
}
