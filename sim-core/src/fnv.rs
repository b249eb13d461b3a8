//! A hash that is the same in every process and build: FNV-1a of 64 bits.
//!
//! Not for tables that a stranger may fill, and not for histories: those have SHA-256.

use std::hash::Hasher;

/// What was hashed so far.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fnv(u64);

impl Fnv {
    /// The hash of nothing.
    pub(crate) const EMPTY: Fnv = Fnv(0xcbf2_9ce4_8422_2325);

    /// Adds bytes.
    pub(crate) const fn add(mut self, bytes: &[u8]) -> Fnv {
        let mut at = 0;
        while at < bytes.len() {
            self.0 = (self.0 ^ bytes[at] as u64).wrapping_mul(0x0000_0100_0000_01b3);
            at += 1;
        }
        self
    }

    /// Adds a text, so that two texts one after the other are not one long text.
    pub(crate) const fn add_text(self, text: &str) -> Fnv {
        self.add(text.as_bytes()).add(&[0xff])
    }

    /// The hash.
    pub(crate) const fn value(self) -> u64 {
        self.0
    }
}

impl Hasher for Fnv {
    fn write(&mut self, bytes: &[u8]) {
        *self = self.add(bytes);
    }

    fn finish(&self) -> u64 {
        self.value()
    }
}

#[cfg(test)]
mod tests {
    use super::Fnv;

    /// Values that are published with the hash.
    #[test]
    fn it_is_fnv_1a() {
        assert_eq!(Fnv::EMPTY.value(), 0xcbf2_9ce4_8422_2325);
        assert_eq!(Fnv::EMPTY.add(b"a").value(), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(Fnv::EMPTY.add(b"foobar").value(), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn two_texts_are_not_one() {
        let two = |one, other| Fnv::EMPTY.add_text(one).add_text(other).value();
        assert_ne!(two("ab", "c"), two("a", "bc"));
    }
}
