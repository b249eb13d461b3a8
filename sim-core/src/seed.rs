//! The seed tree: one root, a stream for every path of labels below it.
//!
//! It is where bytes without meaning come from: the feed of a sweep, a node's entropy, a
//! test's own random numbers. It is not where a run decides anything: every decision is a
//! draw on a [`Source`](crate::source::Source).
//!
//! Invariants:
//! - A stream depends on the root and on its own path, and on nothing else. A component that
//!   is added, removed or used more often never moves another one's bytes.
//! - The hashes and the generator are a format: a seed in an old report still gives the same
//!   run, so no constant in this file may ever change.

use core::convert::Infallible;
use core::fmt;

use rand_core::{SeedableRng, TryRng};
use rand_pcg::Pcg64;
use sha2::{Digest, Sha256};

/// Separates root seeds from every other use of SHA-256.
const ROOT_DOMAIN: &[u8] = b"sim-core/seed/1";

/// A node of the seed tree: 32 bytes that name a stream and everything below it.
///
/// ```
/// use rand_core::Rng;
/// use sim_core::seed::Seed;
///
/// let root = Seed::root(7);
/// let (disk, network) = (root.child("disk"), root.child("network"));
/// assert_ne!(disk.stream().next_u64(), network.stream().next_u64());
/// assert_eq!(disk.stream(), disk.stream(), "from its beginning each time");
/// assert_ne!(root.child_n("disk", 1), root.child_n("disk", 2));
/// assert_eq!(Seed::from_bytes(disk.bytes()), disk);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Seed([u8; 32]);

impl Seed {
    /// Makes the root of the tree that `number` names.
    ///
    /// ```
    /// use sim_core::seed::Seed;
    ///
    /// assert_eq!(Seed::root(7), Seed::root(7));
    /// assert_ne!(Seed::root(7), Seed::root(8));
    /// ```
    pub fn root(number: u64) -> Seed {
        let mut hash = Sha256::new();
        hash.update(ROOT_DOMAIN);
        hash.update(number.to_le_bytes());
        Seed(hash.finalize().into())
    }

    /// Makes a seed of bytes that came from elsewhere, as they are.
    ///
    /// ```
    /// use sim_core::seed::Seed;
    ///
    /// assert_eq!(Seed::from_bytes([7; 32]).bytes(), [7; 32]);
    /// ```
    pub const fn from_bytes(bytes: [u8; 32]) -> Seed {
        Seed(bytes)
    }

    /// Gives the child at `label`.
    ///
    /// ```
    /// use sim_core::seed::Seed;
    ///
    /// let root = Seed::root(7);
    /// assert_ne!(root.child("a").child("b"), root.child("ab"));
    /// ```
    pub fn child(&self, label: &str) -> Seed {
        Seed(self.labeled(label).finalize().into())
    }

    /// Gives the `n`-th child at `label`, which no [`child`](Seed::child) is equal to.
    ///
    /// ```
    /// use sim_core::seed::Seed;
    ///
    /// let host = |number| Seed::root(7).child_n("host", number);
    /// assert_ne!(host(0), host(1));
    /// assert_ne!(host(0), Seed::root(7).child("host"));
    /// ```
    pub fn child_n(&self, label: &str, n: u64) -> Seed {
        let mut hash = self.labeled(label);
        hash.update(n.to_le_bytes());
        Seed(hash.finalize().into())
    }

    /// Starts the stream of this seed, at its beginning each time.
    ///
    /// ```
    /// use rand_core::Rng;
    /// use sim_core::seed::Seed;
    ///
    /// let mut bytes = [0; 16];
    /// Seed::root(7).child("payload").stream().fill_bytes(&mut bytes);
    /// assert_ne!(bytes, [0; 16]);
    /// ```
    pub fn stream(&self) -> Stream {
        Stream(Pcg64::from_seed(self.0))
    }

    /// Gives the 32 bytes.
    ///
    /// ```
    /// use sim_core::seed::Seed;
    ///
    /// assert_ne!(Seed::root(7).bytes(), Seed::root(8).bytes());
    /// ```
    pub const fn bytes(&self) -> [u8; 32] {
        self.0
    }

    /// Hashes the parent and the label; the length keeps `a`, `b` apart from `ab`.
    fn labeled(&self, label: &str) -> Sha256 {
        let mut hash = Sha256::new();
        hash.update(self.0);
        hash.update((label.len() as u64).to_le_bytes());
        hash.update(label.as_bytes());
        hash
    }
}

impl fmt::Debug for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seed(")?;
        for byte in self.0 {
            write!(f, "{byte:02x}")?;
        }
        f.write_str(")")
    }
}

/// A random stream of the seed tree; a clone goes on from the same place.
///
/// PCG XSL RR 128/64, keyed by all 32 bytes of its [`Seed`]. Not for secrets.
///
/// ```
/// use rand_core::Rng;
/// use sim_core::seed::{Seed, Stream};
///
/// let mut stream: Stream = Seed::root(7).child("payloads").stream();
/// let first = stream.next_u64();
/// let mut copy = stream.clone();
/// assert_eq!(stream.next_u64(), copy.next_u64());
/// assert_ne!(stream.next_u64(), first);
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Stream(Pcg64);

impl TryRng for Stream {
    type Error = Infallible;

    #[inline]
    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        self.0.try_next_u32()
    }

    #[inline]
    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.0.try_next_u64()
    }

    #[inline]
    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        self.0.try_fill_bytes(bytes)
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
