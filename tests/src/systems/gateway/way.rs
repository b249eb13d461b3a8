//! The way to a service: a channel of tonic, a breaker, retries, and the deadline of the order.
//!
//! One call to a service is up to [`ATTEMPTS`] attempts of it, so its breaker counts a service only
//! as failed that did not answer any of them: a process that makes room for the next one is away for
//! the length of its longest request, and no breaker opens for that. Each attempt tells the service
//! its time to answer, `grpc-timeout`, and both sides give it up when that is over.

use super::breaker::Breaker;
use super::message::{Order, Version};
use crate::systems::parts::serve::PORT;
use sim_core::reached;
use sim_process::retry::{Backoff, Exponential};
use std::marker::PhantomData;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;
use tokio::net::lookup_host;
use tokio::time::{Instant, timeout_at};
use tonic::client::Grpc;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::transport::{Channel, Endpoint};
use tonic::{Request, Status};
use tonic_prost::ProstCodec;

/// How many attempts a call has.
pub const ATTEMPTS: u32 = 6;

/// The waits between them.
pub const BACKOFF: Backoff = Backoff::new(Duration::from_millis(100), Duration::from_secs(1));

/// How long an attempt may take.
pub const ATTEMPT: Duration = Duration::from_secs(2);

/// After how long without a word of the other side, while a call is under way, it is asked for a
/// sign of life, and how long that may take: a connection whose host lost its power is given up.
const SILENCE: Duration = Duration::from_secs(2);

/// Why a call was not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failed {
    /// The breaker is open: nothing was sent.
    Open,
    /// The deadline came.
    Late,
    /// No attempt was answered.
    Down,
}

/// A way to a service.
#[derive(Debug)]
pub struct Way<V> {
    channel: Channel,
    breaker: Mutex<Breaker>,
    retry: Exponential,
    /// The number of who sends.
    sender: u32,
    version: PhantomData<V>,
}

impl<V: Version> Way<V> {
    /// The way to the only replica of a service; nothing is dialed yet.
    ///
    /// # Panics
    /// Where nobody has the name.
    pub async fn to(service: &str, sender: u32) -> Way<V> {
        let mut all = lookup_host((service, PORT)).await.expect("the name is known");
        let address = all.find(|one| one.is_ipv4()).expect("it has an address");
        let endpoint = Endpoint::from_shared(format!("http://{address}"));
        let endpoint = endpoint.expect("the address is right").connect_timeout(ATTEMPT);
        let endpoint = endpoint.http2_keep_alive_interval(SILENCE).keep_alive_timeout(SILENCE);
        Way {
            channel: endpoint.connect_lazy(),
            breaker: Mutex::default(),
            retry: Exponential::new(BACKOFF),
            sender,
            version: PhantomData,
        }
    }

    fn breaker(&self) -> MutexGuard<'_, Breaker> {
        self.breaker.lock().expect("nobody panics with the breaker")
    }

    /// Calls a method until it is answered: whether it is done, and by which version, where this
    /// one knows. The service may be asked many times.
    ///
    /// # Errors
    /// Why it is not known to be done.
    pub async fn call(
        &self,
        method: &'static str,
        order: Order,
        deadline: Instant,
    ) -> Result<(bool, Option<u32>), Failed> {
        if !self.breaker().admits(Instant::now()) {
            return Err(Failed::Open);
        }
        let attempts = self.retry.retry(ATTEMPTS, || self.attempt(method, order, deadline));
        match timeout_at(deadline, attempts).await {
            Ok(Ok(reply)) => {
                self.breaker().on_answer();
                Ok(V::read_reply(&reply))
            }
            Ok(Err(_)) => {
                self.breaker().on_failure(Instant::now());
                Err(Failed::Down)
            }
            Err(_) => {
                reached!("the deadline of an order strikes");
                self.breaker().on_failure(Instant::now());
                Err(Failed::Late)
            }
        }
    }

    async fn attempt(
        &self,
        method: &'static str,
        order: Order,
        deadline: Instant,
    ) -> Result<V::Reply, Status> {
        let mut client = Grpc::new(self.channel.clone());
        let ready = client.ready().await;
        ready.map_err(|error| Status::unavailable(error.to_string()))?;
        let mut request = Request::new(V::ask(order, self.sender));
        request.set_timeout(ATTEMPT.min(deadline.saturating_duration_since(Instant::now())));
        let path = PathAndQuery::from_static(method);
        let codec = ProstCodec::<V::Ask, V::Reply>::default();
        Ok(client.unary(request, path, codec).await?.into_inner())
    }
}
