//! Names of hosts and services, as programs ask for them.

use crate::fleet::Fleet;
use crate::seam::raw::NO_HINTS;
use expect_test::expect;
use std::cell::RefCell;
use std::ffi::{CStr, CString};
use std::fmt::Write as _;
use std::io;
use std::net::IpAddr;
use std::ptr::{null, null_mut};
use std::rc::Rc;
use tokio::net::{TcpListener, TcpStream};

fn fleet() -> Fleet {
    Fleet::start(&["client", "server"]).expect("machines start")
}

/// Runs a task on the client to its end.
fn on_client<T: 'static>(mut fleet: Fleet, task: impl Future<Output = T> + 'static) -> T {
    let result = Rc::new(RefCell::new(None));
    let into = result.clone();
    fleet.spawn("client", async move {
        let value = task.await;
        *into.borrow_mut() = Some(value);
    });
    fleet.run();
    result.take().expect("the task ends")
}

async fn listen(address: &str) -> TcpListener {
    TcpListener::bind(address).await.expect("the port is free")
}

#[test]
fn a_host_is_dialed_by_its_name() {
    let fleet = fleet();
    let address = fleet.address("server");
    fleet.spawn("server", async {
        // Its own name is the address that the others reach, so it may listen on it.
        listen("server:7").await.accept().await.expect("accept works");
    });
    let peer = on_client(fleet, async {
        let stream = TcpStream::connect("SERVER:7").await.expect("the server listens");
        stream.peer_addr().expect("it is connected")
    });
    assert_eq!(peer, (address, 7).into());
}

#[test]
fn localhost_is_the_host_s_own_loopback() {
    // Row A25: a listener on ::1 is not reached.
    let found = on_client(fleet(), async {
        let _v4 = listen("127.0.0.1:7").await;
        let _v6 = listen("[::1]:8").await;
        let stream = TcpStream::connect("localhost:7").await.expect("it listens");
        let refused = TcpStream::connect("localhost:8").await.expect_err("only ::1 listens");
        (stream.peer_addr().expect("it is connected").to_string(), refused.raw_os_error())
    });
    assert_eq!(found, ("127.0.0.1:7".to_owned(), Some(libc::ECONNREFUSED)));
}

#[test]
fn a_dial_tries_every_address_and_the_last_error_wins() {
    // Row A26, also for the addresses of one name.
    let fleet = fleet();
    let [client, server] = [fleet.host("client"), fleet.host("server")];
    fleet.world().with(|network| {
        network.add_name("both", server);
        network.add_name("both", client);
    });
    fleet.spawn("server", async {
        listen("0.0.0.0:7").await.accept().await.expect("accept works");
    });
    let server = fleet.address("server");
    let peer = on_client(fleet, async {
        let found: Vec<_> =
            tokio::net::lookup_host("both:7").await.expect("it is a name").collect();
        let [client, server, client_v6, server_v6] =
            ["10.0.0.1:7", "10.0.0.2:7", "[fd00::1]:7", "[fd00::2]:7"]
                .map(|text| text.parse().unwrap());
        assert_eq!(found, [client, server, client_v6, server_v6], "IPv4 comes first");
        let refused = TcpStream::connect("both:8").await.expect_err("nobody listens");
        assert_eq!(refused.raw_os_error(), Some(libc::ECONNREFUSED));
        let empty = TcpStream::connect(&[][..]).await.expect_err("there is no address");
        assert_eq!(empty.kind(), io::ErrorKind::InvalidInput);
        assert_eq!(empty.to_string(), "could not resolve to any address");
        TcpStream::connect("both:7").await.expect("one listens").peer_addr().expect("it is up").ip()
    });
    assert_eq!(peer, server);
}

#[test]
fn an_unknown_name_is_an_error() {
    // Row A27.
    let error = on_client(fleet(), TcpStream::connect("no-such-host.invalid:1"));
    let error = error.expect_err("nobody has the name");
    assert_eq!(error.raw_os_error(), None);
    assert_eq!(
        error.to_string(),
        "failed to lookup address information: Name or service not known"
    );
}

#[test]
fn an_address_without_a_port_is_an_error() {
    // Row A28.
    let error = on_client(fleet(), TcpStream::connect("127.0.0.1")).expect_err("it has no port");
    assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    assert_eq!(error.to_string(), "invalid socket address");
}

#[test]
fn a_host_knows_its_own_name() {
    // Row A42; here the name is the address that the others know.
    let fleet = fleet();
    let address = fleet.address("client");
    let peer = on_client(fleet, async {
        let name = host_name();
        assert_eq!(name, "client");
        let _listener = listen("0.0.0.0:7").await;
        let stream = TcpStream::connect(format!("{name}:7")).await.expect("it listens");
        stream.peer_addr().expect("it is connected").ip()
    });
    assert_eq!(peer, address);
}

#[test]
fn aliases_give_their_hosts_in_the_order_of_their_making() {
    let fleet = fleet();
    let [client, server] = [fleet.host("client"), fleet.host("server")];
    fleet.world().with(|network| {
        for host in [server, client, server] {
            network.add_name("All", host);
        }
    });
    let network = fleet.world().network();
    let [client, server, client_v6, server_v6] = ["10.0.0.1", "10.0.0.2", "fd00::1", "fd00::2"]
        .map(|ip| ip.parse::<IpAddr>().expect("an address"));
    assert_eq!(network.resolve("all"), [client, server, client_v6, server_v6]);
    assert_eq!(network.resolve("Server"), [server, server_v6]);
    assert!(network.resolve("nobody").is_empty());
}

#[expect(unsafe_code, reason = "the C interface is under test")]
fn host_name() -> String {
    let mut bytes = [0_u8; 64];
    // SAFETY: as many bytes to write as are said.
    let result = unsafe { libc::gethostname(bytes.as_mut_ptr().cast(), bytes.len()) };
    assert_eq!(result, 0);
    let name = CStr::from_bytes_until_nul(&bytes).expect("it ends");
    name.to_str().expect("names are text").to_owned()
}

/// One call of `getaddrinfo(3)`.
#[derive(Clone, Copy)]
struct Ask {
    node: Option<&'static str>,
    service: Option<&'static str>,
    flags: i32,
    family: i32,
    kind: (i32, i32),
}

const fn ask(node: &'static str) -> Ask {
    let kind = (libc::SOCK_STREAM, 0);
    Ask { node: Some(node), service: None, flags: 0, family: libc::AF_UNSPEC, kind }
}

/// Asks by C, and says in words what came.
#[expect(unsafe_code, reason = "the C interface is under test")]
fn answer(ask: Ask) -> String {
    let mut hints = NO_HINTS;
    (hints.ai_flags, hints.ai_family) = (ask.flags, ask.family);
    (hints.ai_socktype, hints.ai_protocol) = ask.kind;
    let [node, service] =
        [ask.node, ask.service].map(|text| text.map(|text| CString::new(text).expect("no zero")));
    let [node_text, service_text] =
        [&node, &service].map(|text| text.as_ref().map_or(null(), |text| text.as_ptr()));
    let mut list = null_mut();
    // SAFETY: C strings or null, hints, and a place for the list.
    let result = unsafe { libc::getaddrinfo(node_text, service_text, &hints, &mut list) };
    if result != 0 {
        // SAFETY: gives a text for every number.
        let text = unsafe { libc::gai_strerror(result) };
        // SAFETY: a C string that lives for ever.
        return unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned();
    }
    let mut told = String::new();
    let mut next = list;
    // SAFETY: null, or an entry of the list.
    while let Some(entry) = unsafe { next.as_ref() } {
        let mut buffer = [0_u8; 64];
        let (place, room) = (buffer.as_mut_ptr().cast(), buffer.len() as u32);
        let flags = libc::NI_NUMERICHOST;
        // SAFETY: an address of the length that is said, and a place of the size that is said.
        let result = unsafe {
            libc::getnameinfo(entry.ai_addr, entry.ai_addrlen, place, room, null_mut(), 0, flags)
        };
        assert_eq!(result, 0);
        let ip = CStr::from_bytes_until_nul(&buffer).expect("it ends").to_string_lossy();
        // SAFETY: both kinds of addresses have the port at the same place.
        let port = unsafe { (*entry.ai_addr.cast::<libc::sockaddr_in>()).sin_port };
        let (kind, protocol) = (entry.ai_socktype, entry.ai_protocol);
        write!(told, "[{ip}]:{} {kind}/{protocol}", u16::from_be(port)).expect("text grows");
        if !entry.ai_canonname.is_null() {
            // SAFETY: a C string of the list.
            let name = unsafe { CStr::from_ptr(entry.ai_canonname) };
            write!(told, " is {}", name.to_string_lossy()).expect("text grows");
        }
        told.push_str("; ");
        next = entry.ai_next;
    }
    // SAFETY: the list, once.
    unsafe { libc::freeaddrinfo(list) };
    told
}

/// What no configuration of a machine decides.
fn asks() -> Vec<Ask> {
    let any = (0, 0);
    let none = Ask { node: None, service: None, ..ask("") };
    let service = |service| Ask { service: Some(service), ..ask("1.2.3.4") };
    let with = |node, flags, family| Ask { flags, family, ..ask(node) };
    let (v4, v6) = (libc::AF_INET, libc::AF_INET6);
    vec![
        none,
        Ask { flags: libc::AI_CANONNAME, service: Some("80"), ..none },
        Ask { service: Some("80"), kind: any, ..none },
        Ask { service: Some("80"), flags: libc::AI_PASSIVE, family: v4, ..none },
        Ask { service: Some("80"), flags: libc::AI_PASSIVE, family: v6, ..none },
        Ask { kind: any, ..ask("1.2.3.4") },
        Ask { kind: any, ..service("http") },
        Ask { kind: (0, libc::IPPROTO_TCP), ..service("https") },
        Ask { kind: (libc::SOCK_DGRAM, 0), ..service("http") },
        Ask { kind: (libc::SOCK_RAW, 0), ..service("80") },
        Ask { kind: (0, 77), ..ask("1.2.3.4") },
        Ask { kind: (77, 0), ..ask("1.2.3.4") },
        Ask { kind: (libc::SOCK_STREAM, libc::IPPROTO_UDP), ..ask("1.2.3.4") },
        service("no-such-service"),
        Ask { flags: libc::AI_NUMERICSERV, ..service("no-such-service") },
        service("70000"),
        service("-1"),
        service(" 80"),
        service(""),
        service("*"),
        with("1.2.3.4", 0, v6),
        with("1.2.3.4", libc::AI_V4MAPPED, v6),
        with("1.2.3.4", libc::AI_CANONNAME, 0),
        with("1.2.3.4", 0x1_0000, 0),
        with("1.2.3.4", 0, libc::AF_UNIX),
        with("::1", 0, v4),
        with("::1", libc::AI_CANONNAME, v6),
        with("::ffff:1.2.3.4", 0, v4),
        with("::ffff:1.2.3.4", 0, 0),
        ask("127.1"),
        ask("0x7f.1"),
        ask("010.0.0.1"),
        ask("16909060"),
        ask("256.1.1.1"),
        ask("1.2.3.4.5"),
        ask("1..2"),
        ask("::1%nowhere"),
        with("localhost", libc::AI_NUMERICHOST, 0),
        with("localhost", 0, v4),
        with("no-such-host.invalid", libc::AI_NUMERICHOST, v4),
        ask(""),
    ]
}

#[test]
fn answers_are_those_of_glibc() {
    let real: Vec<String> = asks().into_iter().map(answer).collect();
    let simulated: Vec<String> =
        on_client(fleet(), async { asks().into_iter().map(answer).collect() });
    assert_eq!(simulated, real);
}

#[track_caller]
fn check(ask: Ask, expected: expect_test::Expect) {
    let fleet = fleet();
    let server = fleet.host("server");
    fleet.world().with(|network| network.add_name("alias", server));
    expected.assert_eq(&on_client(fleet, async move { answer(ask) }));
}

#[test]
fn names_of_hosts_are_answered_by_family() {
    check(ask("server"), expect!["[10.0.0.2]:0 1/6; [fd00::2]:0 1/6; "]);
    let v4 = Ask { family: libc::AF_INET, ..ask("server") };
    check(v4, expect!["[10.0.0.2]:0 1/6; "]);
    let v6 = Ask { family: libc::AF_INET6, ..ask("server") };
    check(v6, expect!["[fd00::2]:0 1/6; "]);
    // What is of the family itself is not joined by what is mapped, unless all is asked for.
    check(Ask { flags: libc::AI_V4MAPPED, ..v6 }, expect!["[fd00::2]:0 1/6; "]);
    let all = Ask { flags: libc::AI_V4MAPPED | libc::AI_ALL, ..v6 };
    check(all, expect!["[::ffff:10.0.0.2]:0 1/6; [fd00::2]:0 1/6; "]);
    let named = Ask { flags: libc::AI_CANONNAME, service: Some("http"), ..ask("Alias") };
    check(named, expect!["[10.0.0.2]:80 1/6 is server; [fd00::2]:80 1/6; "]);
}

#[test]
fn a_route_is_dialed_by_its_name() {
    let fleet = fleet();
    let server = fleet.host("server");
    fleet.world().with(|network| network.add_route("Api", &[server]));
    let listening = fleet.listening("server", (fleet.address("server"), 7).into());
    fleet.spawn("server", async {
        listen("0.0.0.0:7").await.accept().await.expect("accept works");
    });
    let seen = on_client(fleet, async {
        listening.await;
        let stream = TcpStream::connect("API:7").await.expect("the server listens");
        let peer = stream.peer_addr().expect("it is connected");
        let named = answer(Ask { flags: libc::AI_CANONNAME, ..ask("aPI") });
        (peer.to_string(), named, name_info(peer, 0))
    });
    let (peer, named) = ("10.96.0.1:7".to_owned(), "[10.96.0.1]:0 1/6 is Api; ".to_owned());
    assert_eq!(seen, (peer, named, Ok("Api 7".to_owned())));
}

#[test]
fn a_list_outlives_its_world_and_lists_of_the_real_one_are_freed_too() {
    let ours = on_client(fleet(), async { std::net::ToSocketAddrs::to_socket_addrs("server:1") });
    assert_eq!(ours.expect("it is a name").count(), 2);
    assert_eq!(answer(ask("1.2.3.4")), "[1.2.3.4]:0 1/6; ");
}

#[test]
fn addresses_have_names() {
    let shown = |ip: &str, port, flags| {
        let address = std::net::SocketAddr::new(ip.parse().expect("an address"), port);
        on_client(fleet(), async move { name_info(address, flags) })
    };
    assert_eq!(shown("10.0.0.2", 80, 0), Ok("server http".to_owned()));
    assert_eq!(shown("::ffff:10.0.0.2", 7, 0), Ok("server 7".to_owned()));
    assert_eq!(shown("fd00::2", 7, 0), Ok("server 7".to_owned()));
    assert_eq!(shown("fd00::99", 7, 0), Ok("fd00::99 7".to_owned()));
    assert_eq!(shown("127.0.0.1", 443, 0), Ok("localhost https".to_owned()));
    assert_eq!(shown("10.0.0.99", 80, libc::NI_NUMERICSERV), Ok("10.0.0.99 80".to_owned()));
    assert_eq!(shown("10.0.0.2", 80, libc::NI_NUMERICHOST), Ok("10.0.0.2 http".to_owned()));
    assert_eq!(shown("10.0.0.99", 80, libc::NI_NAMEREQD), Err(libc::EAI_NONAME));
}

#[expect(unsafe_code, reason = "the C interface is under test")]
fn name_info(address: std::net::SocketAddr, flags: i32) -> Result<String, i32> {
    let address = socket2::SockAddr::from(address);
    let (mut node, mut service) = ([0_u8; 64], [0_u8; 64]);
    // SAFETY: an address of its length, and places of the sizes that are said.
    let result = unsafe {
        libc::getnameinfo(
            address.as_ptr().cast(),
            address.len(),
            node.as_mut_ptr().cast(),
            64,
            service.as_mut_ptr().cast(),
            64,
            flags,
        )
    };
    let [node, service] = [&node, &service].map(|text| {
        CStr::from_bytes_until_nul(text).expect("it ends").to_string_lossy().into_owned()
    });
    if result == 0 { Ok(format!("{node} {service}")) } else { Err(result) }
}
