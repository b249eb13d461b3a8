//! tonic's server and its channel with the default connector, with messages of prost: unary calls
//! and streams in each direction and in both.
//!
//! Every reply equals what was asked for, streams are whole and in order, and a server that is told
//! to stop answers what is under way. The service is what `tonic-build` would generate, by hand.

use super::script::{self, PORT, SERVER, SLOW, Step, Visit};
use futures_util::future::join_all;
use futures_util::{StreamExt, TryStreamExt, stream};
use sim_core::{Target, always};
use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use tokio::sync::Notify;
use tonic::body::Body;
use tonic::client::Grpc as Client;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::codegen::{BoxFuture, BoxStream, Context, Poll, Service, http};
use tonic::server::{Grpc, NamedService};
use tonic::transport::{Channel, Endpoint, Server};
use tonic::{Request, Response, Status, Streaming};
use tonic_prost::ProstCodec;

/// The longest message, in bytes.
const LEN_MAX: usize = 3_000;

/// How many messages a stream has.
const PARTS: u64 = 5;

/// A message of both directions.
#[derive(Clone, PartialEq, prost::Message)]
struct Packet {
    #[prost(uint64, tag = "1")]
    number: u64,
    #[prost(bytes = "vec", tag = "2")]
    payload: Vec<u8>,
}

type Codec = ProstCodec<Packet, Packet>;
type Reply<T> = Result<Response<T>, Status>;

/// The target.
pub(crate) fn target() -> Target {
    Target::new("library_tonic", |sim| script::build(sim, LEN_MAX, serve, visit))
}

async fn serve() {
    let stop = Arc::new(Notify::new());
    let told = stop.clone();
    let address = SocketAddr::from((Ipv4Addr::UNSPECIFIED, PORT));
    let server = Server::builder().add_service(Echo { stop });
    let ended = server.serve_with_shutdown(address, async move { told.notified().await });
    ended.await.expect("a server ends well");
}

/// The service.
#[derive(Clone)]
struct Echo {
    stop: Arc<Notify>,
}

impl NamedService for Echo {
    const NAME: &'static str = "test.Echo";
}

impl Service<http::Request<Body>> for Echo {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<Self::Response, Infallible>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let echo = self.clone();
        let mut grpc = Grpc::new(Codec::default());
        Box::pin(async move {
            Ok(match request.uri().path() {
                "/test.Echo/One" => grpc.unary(One(echo), request).await,
                "/test.Echo/Down" => grpc.server_streaming(Down, request).await,
                "/test.Echo/Up" => grpc.client_streaming(Up, request).await,
                "/test.Echo/Both" => grpc.streaming(Both, request).await,
                _ => Status::unimplemented("no such method").into_http(),
            })
        })
    }
}

/// Implements a method: what it takes, what it gives and how.
macro_rules! method {
    ($name:ty, $input:ty, $output:ty, $body:expr) => {
        impl Service<Request<$input>> for $name {
            type Response = Response<$output>;
            type Error = Status;
            type Future = BoxFuture<Self::Response, Status>;

            fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Status>> {
                Poll::Ready(Ok(()))
            }

            fn call(&mut self, request: Request<$input>) -> Self::Future {
                let body = $body;
                Box::pin(body(self, request.into_inner()))
            }
        }
    };
}

/// One message there, the same back. An empty one tells the server to stop.
struct One(Echo);
method!(One, Packet, Packet, |one: &One, packet: Packet| {
    let stop = one.0.stop.clone();
    async move {
        if packet.payload.is_empty() && packet.number == u64::MAX {
            stop.notify_one();
            tokio::time::sleep(SLOW).await;
        }
        Ok(Response::new(packet))
    }
});

/// One message there, it and its successors back.
struct Down;
method!(Down, Packet, BoxStream<Packet>, |_: &Down, packet: Packet| async move {
    let successors = (0..PARTS).map(move |add| {
        Ok(Packet { number: packet.number + add, payload: packet.payload.clone() })
    });
    Ok(Response::new(stream::iter(successors).boxed()))
});

/// Many messages there, back the sum of their numbers and all their bytes.
struct Up;
method!(Up, Streaming<Packet>, Packet, |_: &Up, packets: Streaming<Packet>| async move {
    let joined = packets.try_fold(Packet::default(), |mut joined, packet| async move {
        joined.number += packet.number;
        joined.payload.extend(packet.payload);
        Ok(joined)
    });
    Ok(Response::new(joined.await?))
});

/// Many messages there, each back at once.
struct Both;
method!(Both, Streaming<Packet>, BoxStream<Packet>, |_: &Both, packets: Streaming<Packet>| {
    async move { Ok(Response::new(packets.boxed())) }
});

async fn visit(part: Visit) {
    let endpoint = Endpoint::from_shared(format!("http://{SERVER}:{PORT}"));
    let channel = endpoint.expect("the address is right").connect().await;
    let channel = channel.expect("the server listens");
    for steps in part.steps.chunks(3) {
        join_all(steps.iter().map(|step| ask(channel.clone(), step))).await;
    }
    if part.is_last() {
        let last = Packet { number: u64::MAX, payload: Vec::new() };
        let reply = one(channel, last.clone()).await.map(Response::into_inner);
        always!(reply.as_ref().is_ok_and(|reply| *reply == last), "the last reply is {reply:?}");
    }
}

async fn ask(channel: Channel, step: &Step) {
    let packet = Packet { number: u64::from(step.first), payload: step.payload() };
    let expected = expected(step, &packet);
    let reply = match step.kind % 4 {
        0 => one(channel, packet).await.map(|reply| vec![reply.into_inner()]),
        1 => down(channel, packet).await,
        2 => up(channel, packet).await.map(|reply| vec![reply.into_inner()]),
        _ => both(channel, packet).await,
    };
    match reply {
        Ok(reply) => always!(reply == expected, "the reply to {step:?} is what was asked for"),
        Err(status) => always!(false, "{step:?} is answered, not {status:?}"),
    }
}

fn expected(step: &Step, packet: &Packet) -> Vec<Packet> {
    match step.kind % 4 {
        0 => vec![packet.clone()],
        1 => parts(packet).collect(),
        2 => vec![Packet {
            number: parts(packet).map(|part| part.number).sum(),
            payload: packet.payload.repeat(PARTS as usize),
        }],
        _ => parts(packet).collect(),
    }
}

/// A message and its successors.
fn parts(packet: &Packet) -> impl Iterator<Item = Packet> + use<> {
    let packet = packet.clone();
    let part = move |add| Packet { number: packet.number + add, payload: packet.payload.clone() };
    (0..PARTS).map(part)
}

async fn client(channel: Channel) -> Result<Client<Channel>, Status> {
    let mut client = Client::new(channel);
    let ready = client.ready().await;
    ready.map_err(|error| Status::unknown(format!("not ready: {error:?}")))?;
    Ok(client)
}

fn path(name: &'static str) -> PathAndQuery {
    PathAndQuery::from_static(name)
}

async fn one(channel: Channel, packet: Packet) -> Reply<Packet> {
    let request = Request::new(packet);
    client(channel).await?.unary(request, path("/test.Echo/One"), Codec::default()).await
}

async fn down(channel: Channel, packet: Packet) -> Result<Vec<Packet>, Status> {
    let (request, path) = (Request::new(packet), path("/test.Echo/Down"));
    let reply = client(channel).await?.server_streaming(request, path, Codec::default()).await?;
    reply.into_inner().try_collect().await
}

async fn up(channel: Channel, packet: Packet) -> Reply<Packet> {
    let request = Request::new(stream::iter(parts(&packet)));
    client(channel).await?.client_streaming(request, path("/test.Echo/Up"), Codec::default()).await
}

async fn both(channel: Channel, packet: Packet) -> Result<Vec<Packet>, Status> {
    let (request, path) = (Request::new(stream::iter(parts(&packet))), path("/test.Echo/Both"));
    let reply = client(channel).await?.streaming(request, path, Codec::default()).await?;
    reply.into_inner().try_collect().await
}
