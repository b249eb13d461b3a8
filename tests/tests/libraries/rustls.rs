//! tokio-rustls on ring, client and server, TLS 1.2 and 1.3, under a certificate that is made in
//! the run.
//!
//! Every reply equals its request. A stream that is closed says so to the other side
//! (`close_notify`), and one that ends without it is `UnexpectedEof`, never a clean end.

use super::script::{self, PORT, SERVER, Step, Visit};
use rcgen::{CertifiedKey, KeyPair};
use sim_core::{Sim, Target, always};
use std::io::{self, ErrorKind};
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{PrivateKeyDer, ServerName};
use tokio_rustls::rustls::version::{TLS12, TLS13};
use tokio_rustls::rustls::{ClientConfig, RootCertStore, ServerConfig, SupportedProtocolVersion};
use tokio_rustls::{TlsAcceptor, TlsConnector, client, server};

/// The longest message, in bytes: more than one record holds.
const LEN_MAX: usize = 20_000;

/// What a client asks of the server with a message.
const ECHO: u8 = 0;
/// To answer and then end without `close_notify`.
const CUT: u8 = 1;
/// To answer and then stop.
const STOP: u8 = 2;

/// The target of TLS 1.3.
pub(crate) fn tls13() -> Target {
    Target::new("library_tls13", |sim| build(sim, &TLS13))
}

/// The target of TLS 1.2.
pub(crate) fn tls12() -> Target {
    Target::new("library_tls12", |sim| build(sim, &TLS12))
}

fn build(sim: &mut Sim, version: &'static SupportedProtocolVersion) {
    let pair = rcgen::generate_simple_self_signed([SERVER.to_owned()]).expect("a key can be made");
    let (acceptor, connector) = configurations(&pair, version).expect("the certificate is right");
    script::build(
        sim,
        LEN_MAX,
        move || serve(acceptor.clone()),
        move |part| visit(part, connector.clone()),
    );
}

fn configurations(
    CertifiedKey { cert, signing_key }: &CertifiedKey<KeyPair>,
    version: &'static SupportedProtocolVersion,
) -> Result<(TlsAcceptor, TlsConnector), tokio_rustls::rustls::Error> {
    let provider = Arc::new(ring::default_provider());
    let key = PrivateKeyDer::try_from(signing_key.serialize_der()).expect("rcgen writes PKCS 8");
    let server = ServerConfig::builder_with_provider(provider.clone())
        .with_protocol_versions(&[version])?
        .with_no_client_auth()
        .with_single_cert(vec![cert.der().clone()], key)?;
    let mut roots = RootCertStore::empty();
    roots.add(cert.der().clone())?;
    let client = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[version])?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok((Arc::new(server).into(), Arc::new(client).into()))
}

async fn serve(acceptor: TlsAcceptor) {
    let listener = script::listen().await;
    let (stop, mut stopped) = mpsc::unbounded_channel();
    loop {
        let stream = tokio::select! {
            accepted = listener.accept() => accepted.expect("a connection came").0,
            _ = stopped.recv() => break,
        };
        let (acceptor, stop) = (acceptor.clone(), stop.clone());
        tokio::spawn(async move {
            let stream = acceptor.accept(stream).await.expect("the client speaks TLS");
            answer(stream, stop).await.expect("a client ends its stream well");
        });
    }
    drop(stop);
    // Streams that are under way end before the server does.
    while stopped.recv().await.is_some() {}
}

async fn answer(
    mut stream: server::TlsStream<TcpStream>,
    stop: mpsc::UnboundedSender<()>,
) -> io::Result<()> {
    while let Some((kind, payload)) = read_message(&mut stream).await? {
        write_message(&mut stream, kind, &payload).await?;
        match kind {
            CUT => return Ok(()),
            STOP => stop.send(()).expect("the server waits"),
            _ => {}
        }
    }
    stream.shutdown().await
}

/// A message: its kind, its length in four bytes, and as many bytes.
async fn write_message(
    stream: &mut (impl AsyncWriteExt + Unpin),
    kind: u8,
    payload: &[u8],
) -> io::Result<()> {
    stream.write_u8(kind).await?;
    stream.write_u32(payload.len() as u32).await?;
    stream.write_all(payload).await?;
    stream.flush().await
}

/// `None` where the stream ends well before a message.
async fn read_message(
    stream: &mut (impl AsyncReadExt + Unpin),
) -> io::Result<Option<(u8, Vec<u8>)>> {
    let mut kind = [0];
    if stream.read(&mut kind).await? == 0 {
        return Ok(None);
    }
    let len = stream.read_u32().await?;
    let mut payload = vec![0; len as usize];
    stream.read_exact(&mut payload).await?;
    Ok(Some((kind[0], payload)))
}

async fn visit(part: Visit, connector: TlsConnector) {
    let mut stream = dial(&connector).await.expect("the handshake ends well");
    for step in &part.steps {
        let is_cut = step.kind.is_multiple_of(4);
        exchange(&mut stream, if is_cut { CUT } else { ECHO }, step).await;
        if is_cut {
            let end = stream.read(&mut [0]).await.map_err(|error| error.kind());
            always!(end == Err(ErrorKind::UnexpectedEof), "a cut stream is not an end: {end:?}");
            stream = dial(&connector).await.expect("the next handshake ends well");
        }
    }
    if part.is_last() {
        exchange(&mut stream, STOP, &part.steps[0]).await;
    }
    let said = stream.shutdown().await;
    always!(said.is_ok(), "the client ends its stream, not {said:?}");
    let end = stream.read(&mut [0]).await.map_err(|error| error.kind());
    always!(end == Ok(0), "the server's end is clean, not {end:?}");
}

async fn dial(connector: &TlsConnector) -> io::Result<client::TlsStream<TcpStream>> {
    let stream = TcpStream::connect((SERVER, PORT)).await?;
    let name = ServerName::try_from(SERVER).expect("a host's name");
    connector.connect(name, stream).await
}

async fn exchange(stream: &mut client::TlsStream<TcpStream>, kind: u8, step: &Step) {
    let payload = step.payload();
    let reply = async {
        write_message(stream, kind, &payload).await?;
        read_message(stream).await
    };
    match reply.await {
        Ok(Some(reply)) => always!(reply == (kind, payload), "the reply to {step:?} equals it"),
        other => always!(false, "{step:?} is answered, not {:?}", other.map(|_| "a clean end")),
    }
}
