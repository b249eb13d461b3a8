//! A server that answers lines, and how a client asks it once.

use sim_core::oracle::Struck;
use sim_tests::systems::parts::line::Lines;
use sim_tests::systems::parts::serve::PORT;
use std::io;
use std::net::IpAddr;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::time::timeout;

/// How long a dial and a reply may take in an operation.
pub(crate) const PATIENCE: Duration = Duration::from_secs(3);

/// Answers each line of each connection.
pub(crate) async fn serve<F>(address: IpAddr, answer: impl Fn(String) -> F + Clone + 'static)
where
    F: Future<Output = String> + 'static,
{
    let listener = TcpListener::bind((address, PORT)).await.expect("nothing else has the port");
    while let Ok((stream, _)) = listener.accept().await {
        let answer = answer.clone();
        tokio::task::spawn_local(async move {
            let mut lines = Lines::new(stream);
            while let Ok(request) = lines.read().await {
                let reply = answer(request).await;
                if lines.write(&reply).await.is_err() {
                    break;
                }
            }
        });
    }
}

/// Asks once, with some patience for the dial and for the reply; an error says where it struck.
pub(crate) async fn ask(
    server: IpAddr,
    request: &str,
    patience: Duration,
) -> Result<String, (Struck, io::Error)> {
    let late = |_| io::Error::from(io::ErrorKind::TimedOut);
    let dialed = timeout(patience, Lines::dial((server, PORT).into())).await;
    let before = |error| (Struck::Before, error);
    let mut lines = dialed.map_err(late).map_err(before)?.map_err(before)?;
    let exchange = async {
        lines.write(request).await?;
        lines.read().await
    };
    let after = |error| (Struck::After, error);
    timeout(patience, exchange).await.map_err(late).map_err(after)?.map_err(after)
}
