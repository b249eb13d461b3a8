//! Routes in runs: replicas behind one name, and a set of them that changes while clients dial.

use hostsim::tcp::Flags;
use sim_core::control::{Connections, Control, Until};
use sim_core::failure::Class;
use sim_core::history::Event;
use sim_core::node::{Node, NodeSpec};
use sim_core::route::Route;
use sim_core::run::{Input, Run, run};
use sim_core::source::{Lane, Lanes};
use sim_core::workload::{Operation, Outcome, WorkloadSpec};
use sim_core::{Checker, Sim, Target, Violation, always};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const WATCHDOG: Duration = Duration::from_secs(60);
const PORT: u16 = 80;

/// How many runs of one input there are.
const RUNS: u32 = 300;

fn run_bytes(target: &Target, bytes: &[u8]) -> Run {
    run(target, &Input::Bytes(bytes.to_vec()), WATCHDOG)
}

/// Three replicas, each of which says who it is; the later ones take their time to listen.
fn replicas(sim: &mut Sim) -> Node {
    sim.node(NodeSpec::new("api").replicas(3..=3), |process| async move {
        let replica = process.replica() as u8;
        tokio::time::sleep(Duration::from_millis(20) * u32::from(replica)).await;
        let listener = TcpListener::bind(("0.0.0.0", PORT)).await.unwrap();
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                while stream.read_u8().await.is_ok() && stream.write_u8(replica).await.is_ok() {}
            });
        }
    })
}

/// Which replica answers on a connection.
async fn ask(stream: &mut TcpStream) -> usize {
    stream.write_u8(0).await.unwrap();
    usize::from(stream.read_u8().await.unwrap())
}

/// The hosts that were in the set since a moment, as the route's operations keep them.
type Sets = Rc<RefCell<Vec<BTreeSet<u32>>>>;

/// Judges that a route has a host, and that each host of it listens.
struct Ready(Node, Route);

impl Checker for Ready {
    fn step(&mut self) -> Result<(), Violation> {
        let Ready(node, route) = self;
        for host in route.hosts() {
            let replica = node.hosts().iter().position(|own| *own == host).expect("a replica");
            if !node.is_listening(replica, PORT) {
                return Err(Violation::new(format!("replica {replica} does not listen")));
            }
        }
        Ok(())
    }
}

/// Clients dial a route again and again while an operator adds each replica once it listens, then
/// takes the first one out.
fn build(sim: &mut Sim) {
    let node = replicas(sim);
    let route = sim.route("service", []);
    sim.check(Ready(node.clone(), route.clone()));
    let sets = Sets::default();
    let (hosts, told) = (node.clone(), sets.clone());
    sim.client("operator", move |_| {
        let (node, route, sets) = (hosts.clone(), route.clone(), told.clone());
        async move {
            for count in 1..=3 {
                node.listening(count - 1, PORT).await;
                set(&route, &sets, &node, 0..count);
                tokio::time::sleep(Duration::from_millis(7)).await;
            }
            tokio::time::sleep(Duration::from_millis(30)).await;
            set(&route, &sets, &node, 1..3);
        }
    });
    let spec = WorkloadSpec::new().pause(Duration::from_millis(20));
    let state = move |_| node.clone();
    sim.workload(&spec, state, move |node, _: Operation<u8>| converse(node, sets.clone()));
}

fn set(route: &Route, sets: &Sets, node: &Node, replicas: std::ops::Range<usize>) {
    let hosts = &node.hosts()[replicas];
    sets.borrow_mut().push(hosts.iter().map(|host| host.0).collect());
    route.set(hosts);
    assert_eq!(route.hosts(), hosts);
}

/// Dials, and asks twice who is there: a connection stays with its host, whatever the set is then.
async fn converse(node: Rc<Node>, sets: Sets) -> Outcome {
    let dialed_in = sets.borrow().len();
    let mut stream = match TcpStream::connect(("service", PORT)).await {
        Ok(stream) => stream,
        Err(error) => {
            always!(dialed_in == 0, "a dial fails while there are hosts: {error}");
            return Outcome::failed(error.to_string());
        }
    };
    let replica = ask(&mut stream).await;
    let host = node.hosts()[replica].0;
    let seen = sets.borrow()[dialed_in.saturating_sub(1)..].iter().any(|set| set.contains(&host));
    always!(seen, "replica {replica} is of no set since the dial");
    tokio::time::sleep(Duration::from_millis(50)).await;
    always!(ask(&mut stream).await == replica, "the connection moved from replica {replica}");
    Outcome::done().with(format!("by {replica}"))
}

fn target() -> Target {
    Target::new("route", build)
}

/// The hosts that answered a SYN of a client, by the history.
fn takers(run: &Run) -> BTreeSet<u32> {
    let bits = (Flags::SYN | Flags::ACK).0;
    let syn_ack = |event| match event {
        Event::Deliver { from, flags, .. } if flags == bits => Some(from),
        _ => None,
    };
    run.history.iter().filter_map(|record| syn_ack(record.event)).collect()
}

#[test]
fn a_set_that_changes_loses_no_connection_and_reaches_every_host() {
    let mut takers_of_all = BTreeSet::new();
    for seed in 0..300 {
        let run = run(&target(), &Input::Seed(seed), WATCHDOG);
        assert_eq!(run.failure, None, "seed {seed}: {}", run.history.trace());
        takers_of_all.extend(takers(&run));
    }
    assert_eq!(takers_of_all, BTreeSet::from([0, 1, 2]));
}

#[test]
fn one_input_has_one_hash() {
    let busiest = (0..50).map(|seed| run(&target(), &Input::Seed(seed), WATCHDOG));
    let first = busiest.max_by_key(|run| run.tape.to_bytes().len()).expect("there are runs");
    assert_eq!(takers(&first).len(), 3, "the run is worth looking at");
    let bytes = first.tape.to_bytes();
    let mut hashes = BTreeSet::from([first.hash]);
    for index in 0..RUNS {
        let again = run_bytes(&target(), &bytes);
        assert_eq!(first.history.divergence(&again.history), None, "run {index}");
        hashes.insert(again.hash);
    }
    assert_eq!(hashes.len(), 1);
}

/// Two dials to three replicas, on the bytes of a network lane.
fn two_dials(network: &[u8]) -> Run {
    let target = Target::new("two_dials", |sim| {
        let node = replicas(sim);
        let route = sim.route("service", &node);
        assert_eq!(route.hosts(), node.hosts());
        sim.client("client", move |_| {
            let node = node.clone();
            async move {
                node.listening(2, PORT).await;
                for _ in 0..2 {
                    let mut stream = TcpStream::connect(("service", PORT)).await.unwrap();
                    ask(&mut stream).await;
                }
            }
        });
    });
    run_bytes(&target, &lanes(network))
}

/// An input that has bytes for the network lane only.
fn lanes(network: &[u8]) -> Vec<u8> {
    let mut lanes = Lanes::default();
    *lanes.lane_mut(Lane::Network) = network.to_vec();
    lanes.encode()
}

#[test]
fn the_host_of_a_connection_is_one_byte_of_the_network_lane_and_zero_is_the_first() {
    assert_eq!(takers(&two_dials(&[])), BTreeSet::from([0]));
    assert_eq!(takers(&two_dials(&[1, 2])), BTreeSet::from([1, 2]));
    let run = two_dials(&[2, 4]);
    assert_eq!(takers(&run), BTreeSet::from([1, 2]));
    assert_eq!(run.tape.to_bytes(), lanes(&[2, 1]));
    let trace = run.history.trace().to_string();
    assert!(trace.contains("api-2        deliver from=client connection=0 SYN "), "{trace}");
    assert!(trace.contains("api-1        deliver from=client connection=1 SYN "), "{trace}");
}

#[test]
fn a_control_on_connections_to_a_host_meets_those_that_a_route_leads_there() {
    let target = Target::new("scenario", |sim| {
        let node = replicas(sim);
        sim.route("service", &node);
        let later = Duration::from_secs(5);
        let replies = Connections::to(node.hosts()[0]);
        sim.at(Duration::ZERO, Control::hold_replies(replies).until(Until::After(later)));
        sim.client("client", move |_| {
            let node = node.clone();
            async move {
                node.listening(2, PORT).await;
                let start = tokio::time::Instant::now();
                let mut stream = TcpStream::connect(("service", PORT)).await.unwrap();
                ask(&mut stream).await;
                always!(start.elapsed() > later / 2, "the reply came after {:?}", start.elapsed());
            }
        });
    });
    assert_eq!(run_bytes(&target, &[]).failure, None);
}

#[test]
fn a_change_of_a_route_is_in_the_trace() {
    let target = Target::new("scenario", |sim| {
        let node = replicas(sim);
        let route = sim.route("service", &node);
        sim.client("operator", move |_| {
            let (node, route) = (node.clone(), route.clone());
            async move {
                route.set([node.hosts()[2], node.hosts()[1]]);
                route.set([]);
                let error =
                    TcpStream::connect(("SERVICE", PORT)).await.expect_err("nobody is there");
                assert_eq!(error.kind(), std::io::ErrorKind::ConnectionRefused);
            }
        });
    });
    let run = run_bytes(&target, &[]);
    assert_eq!(run.failure, None);
    let trace = run.history.trace().to_string();
    let lines: Vec<&str> = trace
        .lines()
        .filter_map(|line| line.split_once("service      "))
        .map(|line| line.1)
        .collect();
    assert_eq!(lines, ["route to=api-0,api-1,api-2", "route to=api-1,api-2", "route to=nobody"]);
}

#[test]
fn a_route_may_be_set_from_any_code_of_a_run_and_what_is_dropped_after_it_is_not_recorded() {
    struct Drops(Route);
    impl Drop for Drops {
        fn drop(&mut self) {
            self.0.set([]);
        }
    }
    let target = Target::new("scenario", |sim| {
        let node = replicas(sim);
        let route = sim.route("service", &node);
        sim.client("client", move |_| {
            let drops = Drops(route.clone());
            let (node, route) = (node.clone(), route.clone());
            async move {
                let first = node.hosts()[0];
                tokio::spawn({
                    let route = route.clone();
                    async move { route.set([first]) }
                });
                tokio::task::spawn_blocking(move || route.set([first])).await.unwrap();
                let _drops = drops;
                std::future::pending::<()>().await;
            }
        });
    });
    let run = run_bytes(&target, &[]);
    assert_eq!(run.class(), Some(Class::Deadlock));
    let routes = run.history.iter().filter(|record| matches!(record.event, Event::Route { .. }));
    assert_eq!(routes.count(), 3);
}
