//! redis's client, by a multiplexed connection and by its connection manager, with mini-redis as
//! the server.
//!
//! A key holds what its client stored last, of operations at once each gets its own reply, and the
//! server ends after it is told to stop.

use super::script::{self, PORT, SERVER, Step, Visit};
use futures_util::future::join_all;
use redis::aio::{ConnectionLike, ConnectionManager, ConnectionManagerConfig};
use redis::{AsyncCommands, AsyncConnectionConfig, Client, RedisResult};
use sim_core::{Target, always};
use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use tokio::net::{TcpListener, TcpStream};

/// The longest value, in bytes.
const LEN_MAX: usize = 5_000;

/// How many keys a client has.
const KEYS: u32 = 3;

/// A connection to this port tells the server to stop.
const STOP: u16 = PORT + 1;

/// The target.
pub(crate) fn target() -> Target {
    Target::new("library_redis", |sim| script::build(sim, LEN_MAX, serve, visit))
}

async fn serve() {
    let listener = script::listen().await;
    let stop = TcpListener::bind((Ipv4Addr::UNSPECIFIED, STOP)).await;
    let stop = stop.expect("nothing else has the port");
    let ended = mini_redis::server::run(listener, stop.accept()).await;
    ended.expect("a server ends well");
}

async fn visit(part: Visit) {
    let client = Client::open(format!("redis://{SERVER}:{PORT}/")).expect("the url is right");
    // A slow link is no failure: by default a reply has half a second.
    if part.client == 0 {
        let config =
            AsyncConnectionConfig::new().set_connection_timeout(None).set_response_timeout(None);
        let connection = client.get_multiplexed_async_connection_with_config(&config).await;
        work(&part, connection.expect("the server listens")).await;
    } else {
        let config =
            ConnectionManagerConfig::new().set_connection_timeout(None).set_response_timeout(None);
        let connection = ConnectionManager::new_with_config(client, config).await;
        work(&part, connection.expect("the server listens")).await;
    }
    if part.is_last() {
        drop(TcpStream::connect((SERVER, STOP)).await.expect("the server listens for it"));
    }
}

async fn work<C>(part: &Visit, mut connection: C)
where
    C: ConnectionLike + Clone + Send + Sync,
{
    let mut model = BTreeMap::new();
    for steps in part.steps.chunks(2) {
        for step in steps {
            let key = key(part, step);
            let stored = connection.set(&key, step.payload()).await;
            always!(stored == Ok(()), "{step:?} is stored, not {stored:?}");
            model.insert(key, step.payload());
        }
        join_all(model.iter().map(|(key, value)| {
            let mut connection = connection.clone();
            async move {
                let found: RedisResult<Option<Vec<u8>>> = connection.get(key).await;
                always!(
                    found.as_ref() == Ok(&Some(value.clone())),
                    "{key} is what was stored last"
                );
            }
        }))
        .await;
    }
    let missing: RedisResult<Option<Vec<u8>>> = connection.get("missing").await;
    always!(missing == Ok(None), "a key that nobody stored is not there: {missing:?}");
    let receivers: RedisResult<u64> = connection.publish("nobody", "news").await;
    always!(receivers == Ok(0), "nobody listens: {receivers:?}");
}

fn key(part: &Visit, step: &Step) -> String {
    format!("{}/{}", part.client, step.kind % KEYS)
}
