//! A service: a book of orders behind a server of tonic.
//!
//! The server is what `tonic-build` would generate for methods that all take and give the same, by
//! hand. It drains: told to end, it lets no connection in any more, answers what is under way, and
//! only then ends.

use super::message::{Order, Version};
use crate::systems::parts::serve::PORT;
use sim_core::process::{Process, Signal};
use std::convert::Infallible;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::sleep;
use tonic::body::Body;
use tonic::codegen::{BoxFuture, Context, Poll, Service, http};
use tonic::server::{Grpc, NamedService};
use tonic::transport::Server;
use tonic::{Request, Response, Status};
use tonic_prost::ProstCodec;

/// What a service knows of orders.
pub trait Book: Send + 'static {
    /// The name of the service.
    const NAME: &'static str;

    /// Does what a method asks for, which of the same order may be asked for many times; whether it
    /// is done. None where there is no such method. The sender is known where both it and this
    /// service are of the second version.
    fn answer(&mut self, method: &str, order: Order, sender: Option<u32>) -> Option<bool>;
}

/// A book that is shared.
pub type Shared<B> = Arc<Mutex<B>>;

/// Serves a book until `SIGTERM`.
///
/// # Panics
/// Where the port is taken.
pub async fn serve<B: Book, V: Version>(process: &Process, book: Shared<B>) {
    let mut signals = process.signals(&[Signal::Terminate]).expect("there is such a signal");
    let told = async move {
        signals.recv().await;
    };
    let address = (process.address(), PORT).into();
    let server = Server::builder().add_service(Methods::<B, V> { book, version: PhantomData });
    server.serve_with_shutdown(address, told).await.expect("nothing else has the port");
}

/// The methods of a book.
struct Methods<B, V> {
    book: Shared<B>,
    version: PhantomData<V>,
}

impl<B, V> Clone for Methods<B, V> {
    fn clone(&self) -> Methods<B, V> {
        Methods { book: self.book.clone(), version: PhantomData }
    }
}

impl<B: Book, V> NamedService for Methods<B, V> {
    const NAME: &'static str = B::NAME;
}

impl<B: Book, V: Version> Service<http::Request<Body>> for Methods<B, V> {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<Self::Response, Infallible>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let path = request.uri().path();
        let name = path.rsplit('/').next().unwrap_or_default().to_owned();
        let method = Method { methods: self.clone(), name };
        let mut grpc = Grpc::new(ProstCodec::<V::Reply, V::Ask>::default());
        Box::pin(async move { Ok(grpc.unary(method, request).await) })
    }
}

/// One method.
struct Method<B, V> {
    methods: Methods<B, V>,
    name: String,
}

impl<B: Book, V: Version> Service<Request<V::Ask>> for Method<B, V> {
    type Response = Response<V::Reply>;
    type Error = Status;
    type Future = BoxFuture<Self::Response, Status>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Status>> {
        Poll::Ready(Ok(()))
    }

    /// Works, and then has the book answer: what is given up before that is not done.
    fn call(&mut self, request: Request<V::Ask>) -> Self::Future {
        let (order, sender) = V::read_ask(request.get_ref());
        let (book, name) = (self.methods.book.clone(), self.name.clone());
        Box::pin(async move {
            if order.millis > 0 {
                sleep(Duration::from_millis(order.millis.into())).await;
            }
            let mut book = book.lock().expect("nobody panics with the book");
            match book.answer(&name, order, sender) {
                Some(is_done) => Ok(Response::new(V::reply(is_done))),
                None => Err(Status::unimplemented("no such method")),
            }
        })
    }
}
