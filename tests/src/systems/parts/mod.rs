//! What the systems that store and retry have in common: lines or HTTP over connections, a log on
//! the disk, a server that ends when it is told to, and the life that befalls its hosts.

pub mod http;
#[cfg(test)]
pub mod judging;
pub mod life;
pub mod line;
pub mod log;
pub mod serve;
