//! The process of the real operating system.

use crate::crash::CrashToken;
use crate::signal::Signal;
use crate::system::{Facts, Listen, Output, System};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::PathBuf;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::signal::unix::{self, SignalKind};

/// The real system.
pub(crate) struct Os {
    facts: Facts,
    token: CrashToken,
}

impl Os {
    pub(crate) fn new() -> Os {
        let args = std::env::args_os().map(|arg| arg.to_string_lossy().into_owned()).collect();
        let is_text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        let facts = Facts {
            args,
            vars: std::env::vars_os().filter_map(is_text).collect(),
            name: host_name(),
            replica: 0,
            address: IpAddr::V4(Ipv4Addr::UNSPECIFIED),
            address_v6: IpAddr::V6(Ipv6Addr::UNSPECIFIED),
        };
        Os { facts, token: CrashToken::new() }
    }
}

fn host_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name = name.trim();
    if name.is_empty() { "localhost".to_owned() } else { name.to_owned() }
}

impl System for Os {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn dir(&self) -> io::Result<PathBuf> {
        match std::env::var_os("STATE_DIRECTORY") {
            Some(folder) => Ok(PathBuf::from(folder)),
            None => std::env::current_dir(),
        }
    }

    fn stdin(&self) -> Box<dyn AsyncRead + Send + Unpin> {
        Box::new(tokio::io::stdin())
    }

    fn output(&self, output: Output) -> Box<dyn AsyncWrite + Send + Unpin> {
        match output {
            Output::Stdout => Box::new(tokio::io::stdout()),
            Output::Stderr => Box::new(tokio::io::stderr()),
        }
    }

    fn signals(&self, of: &[Signal]) -> io::Result<Box<dyn Listen>> {
        let listen =
            |signal: &Signal| Ok((*signal, unix::signal(SignalKind::from_raw(signal.number()))?));
        Ok(Box::new(Listening(of.iter().map(listen).collect::<io::Result<_>>()?)))
    }

    fn exit(&self, code: i32) -> ! {
        std::process::exit(code)
    }

    fn crash_token(&self) -> CrashToken {
        self.token.clone()
    }
}

struct Listening(Vec<(Signal, unix::Signal)>);

impl Listen for Listening {
    fn poll_recv(&mut self, context: &mut Context<'_>) -> Poll<Signal> {
        for (signal, stream) in &mut self.0 {
            if stream.poll_recv(context).is_ready() {
                return Poll::Ready(*signal);
            }
        }
        Poll::Pending
    }
}
