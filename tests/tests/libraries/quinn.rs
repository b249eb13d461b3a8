//! quinn's server and client, QUIC over UDP, on rustls with ring, under loss, duplication and
//! reordering of datagrams.
//!
//! Streams are whole and in order whatever becomes of the datagrams that carry them, and no
//! connection fails. The first client goes by IPv4, the second by IPv6.

use super::script::{PORT, SERVER, SLOW, Step, Visit, build};
use quinn::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn::{ClientConfig, Connection, ConnectionError, Endpoint, IdleTimeout, Incoming};
use quinn::{RecvStream, SendStream, ServerConfig, TransportConfig, VarInt};
use rcgen::{CertifiedKey, KeyPair};
use sim_core::{Sim, Target, always};
use std::net::{Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;
use tokio_rustls::rustls;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;
use tokio_rustls::rustls::version::TLS13;

/// The longest message, in bytes: some dozen packets.
const LEN_MAX: usize = 20_000;

/// How long a connection that hears nothing lives. A packet is sent again after twice as long each
/// time, so that some sixteen of them would have to be lost in a row.
const IDLE: Duration = Duration::from_secs(86_400);

/// The kind of the request for which the server stops.
const STOP: u8 = u8::MAX;

/// The target.
pub(crate) fn target() -> Target {
    Target::new("library_quinn", describe)
}

fn describe(sim: &mut Sim) {
    let pair = rcgen::generate_simple_self_signed([SERVER.to_owned()]).expect("a key can be made");
    let (server, client) = configurations(&pair).expect("the certificate is right");
    build(sim, LEN_MAX, move || serve(server.clone()), move |part| visit(part, client.clone()));
}

fn configurations(
    CertifiedKey { cert, signing_key }: &CertifiedKey<KeyPair>,
) -> Result<(ServerConfig, ClientConfig), rustls::Error> {
    let provider = Arc::new(ring::default_provider());
    let key = PrivateKeyDer::try_from(signing_key.serialize_der()).expect("rcgen writes PKCS 8");
    let server = rustls::ServerConfig::builder_with_provider(provider.clone())
        .with_protocol_versions(&[&TLS13])?
        .with_no_client_auth()
        .with_single_cert(vec![cert.der().clone()], key)?;
    let mut roots = rustls::RootCertStore::empty();
    roots.add(cert.der().clone())?;
    let client = rustls::ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&TLS13])?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let server = QuicServerConfig::try_from(server).expect("it has a suite for QUIC");
    let client = QuicClientConfig::try_from(client).expect("it has a suite for QUIC");
    let mut transport = TransportConfig::default();
    let idle = IdleTimeout::try_from(IDLE).expect("a variable integer holds it");
    transport.max_idle_timeout(Some(idle));
    let transport = Arc::new(transport);
    let mut server = ServerConfig::with_crypto(Arc::new(server));
    server.transport_config(transport.clone());
    let mut client = ClientConfig::new(Arc::new(client));
    client.transport_config(transport);
    Ok((server, client))
}

async fn serve(config: ServerConfig) {
    let address = SocketAddr::from((Ipv6Addr::UNSPECIFIED, PORT));
    let endpoint = Endpoint::server(config, address).expect("nothing else has the port");
    let stop = Arc::new(Notify::new());
    loop {
        let incoming = tokio::select! {
            incoming = endpoint.accept() => incoming.expect("the endpoint is open"),
            () = stop.notified() => break,
        };
        tokio::spawn(answer_all(incoming, stop.clone()));
    }
    endpoint.close(VarInt::from_u32(0), b"the server stops");
    endpoint.wait_idle().await;
}

/// Answers each stream of a connection until it ends. That a client closed it may be lost.
async fn answer_all(incoming: Incoming, stop: Arc<Notify>) {
    let Ok(connection) = incoming.await else { return };
    let error = loop {
        match connection.accept_bi().await {
            Ok((send, receive)) => tokio::spawn(answer(send, receive, stop.clone())),
            Err(error) => break error,
        };
    };
    let is_end = matches!(
        error,
        ConnectionError::ApplicationClosed(_)
            | ConnectionError::LocallyClosed
            | ConnectionError::TimedOut
    );
    always!(is_end, "a connection is closed, and not {error:?}");
}

async fn answer(mut send: SendStream, mut receive: RecvStream, stop: Arc<Notify>) {
    let request = receive.read_to_end(LEN_MAX + 1).await.expect("a stream is whole");
    let kind = request.first().copied().unwrap_or_default();
    if kind % 4 == 3 && kind != STOP {
        tokio::time::sleep(SLOW).await;
    }
    for part in request.rchunks(1_000) {
        send.write_all(part).await.expect("the client reads");
    }
    send.finish().expect("it ends once");
    // The client has all of it before the server stops; that it has may be lost with its close.
    let _ = send.stopped().await;
    if kind == STOP {
        stop.notify_one();
    }
}

async fn visit(part: Visit, config: ClientConfig) {
    let any = SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0));
    let mut endpoint = Endpoint::client(any).expect("a port is free");
    endpoint.set_default_client_config(config);
    let found = tokio::net::lookup_host((SERVER, PORT)).await.expect("the server has a name");
    let found: Vec<SocketAddr> = found.collect();
    let to = match found[part.client % found.len()] {
        SocketAddr::V4(v4) => (v4.ip().to_ipv6_mapped(), v4.port()).into(),
        v6 => v6,
    };
    let connection = endpoint.connect(to, SERVER).expect("the configuration is right").await;
    let connection = connection.expect("the server answers");
    for steps in part.steps.chunks(3) {
        let asked = steps.iter().map(|step| ask(connection.clone(), request(step)));
        futures_util::future::join_all(asked).await;
    }
    if part.is_last() {
        ask(connection.clone(), vec![STOP]).await;
    }
    connection.close(VarInt::from_u32(7), b"done");
    endpoint.wait_idle().await;
}

/// A stream of its own: the request, and back its thousands in reverse order.
async fn ask(connection: Connection, request: Vec<u8>) {
    let (mut send, mut receive) = connection.open_bi().await.expect("the connection stands");
    send.write_all(&request).await.expect("the server reads");
    send.finish().expect("it ends once");
    let reply = receive.read_to_end(LEN_MAX + 1).await;
    let expected: Vec<u8> = request.rchunks(1_000).flatten().copied().collect();
    let len = request.len();
    always!(reply == Ok(expected), "the reply to {len} bytes is what was asked for");
}

fn request(step: &Step) -> Vec<u8> {
    let mut request = vec![step.kind as u8 % 128];
    request.extend(step.payload());
    request
}
